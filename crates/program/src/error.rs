//! What can be wrong with a program, with what it is given, and with the file it comes from.

use std::fmt::Display;

use thiserror::Error;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Where it went wrong, what was expected, and what was there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation that does not fit what reaches it.
    #[error("operation {index} ({op}): expected {expected}, got {got}")]
    Op {
        /// Its number, from 0.
        index: usize,
        /// Its kind.
        op: &'static str,
        /// What would fit.
        expected: String,
        /// What was given.
        got: String,
    },

    /// An input or a description that does not fit the program.
    #[error("{what}: expected {expected}, got {got}")]
    Misfit {
        /// Which quantity.
        what: &'static str,
        /// What would fit.
        expected: String,
        /// What was given.
        got: String,
    },

    /// A model file that is sound but does not say what a model must say.
    #[error("{origin}: {problem}")]
    Model {
        /// The file.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },

    /// From reading or writing files.
    #[error(transparent)]
    Data(#[from] invar_data::Error),

    /// From the candidate groups.
    #[error(transparent)]
    Algebra(#[from] invar_algebra::Error),

    /// From the kernels.
    #[error(transparent)]
    Kernel(#[from] invar_kernels::Error),
}

impl Error {
    #[allow(clippy::needless_pass_by_value, reason = "callers pass numbers and temporaries")]
    pub(crate) fn misfit(what: &'static str, expected: impl Display, got: impl Display) -> Self {
        Self::Misfit { what, expected: expected.to_string(), got: got.to_string() }
    }

    pub(crate) fn model(origin: &str, problem: impl Into<String>) -> Self {
        Self::Model { origin: origin.to_owned(), problem: problem.into() }
    }
}

/// A shape as it is written on the command line.
pub(crate) fn dims(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    if sizes.is_empty() { "a single value".to_owned() } else { sizes.join("x") }
}

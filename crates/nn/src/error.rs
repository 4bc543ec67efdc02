//! The one error type of the crate: each message names the operation, what was expected and what came.

use std::fmt::Display;

use thiserror::Error;

/// What can go wrong when building, training or reading out a network.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A size, length or shape does not fit.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Which quantity.
        what: &'static str,
        /// What would have been right.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A group could not be turned into an operator.
    #[error(transparent)]
    Algebra(#[from] invar_algebra::Error),
    /// A setting is outside its range.
    #[error("{name} should be {expected}, but is {got}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its allowed range, in words.
        expected: &'static str,
        /// What was given.
        got: String,
    },
    /// A model was given an input of the wrong kind.
    #[error("{model} takes {expected} as input, but got {got}")]
    Input {
        /// The model that refused.
        model: &'static str,
        /// The kind it accepts.
        expected: &'static str,
        /// The kind it was given.
        got: &'static str,
    },
    /// Somebody asked for an end before it came.
    #[error("the fit was cancelled")]
    Cancelled,
    /// The loss stopped being a number.
    #[error("the {stage} loss is {loss} in epoch {epoch}, step {step}: try a smaller learning rate than {learning_rate:e}")]
    Diverged {
        /// `training` or `validation`.
        stage: &'static str,
        /// The value seen.
        loss: f64,
        /// Epoch, counted from 1.
        epoch: usize,
        /// Step within the epoch, counted from 1 (0 for validation).
        step: usize,
        /// The learning rate in force.
        learning_rate: f64,
    },
    /// Snapped weights cannot be written in the layer's basis.
    #[error("snap leaves the layer's subspace: relative residual {residual:e}, expected at most {tolerance:e}")]
    OutsideBasis {
        /// Size of the part that the basis cannot express, relative to the weights.
        residual: f64,
        /// The largest residual accepted.
        tolerance: f64,
    },
    /// A network, or what it is asked to take, that no program can do.
    #[error("the network cannot be written as a program: {0}")]
    Lower(String),
    /// The backend failed.
    #[error("the backend failed while {operation}: {message}")]
    Backend {
        /// What was being done.
        operation: &'static str,
        /// The backend's own words.
        message: String,
    },
}

impl Error {
    /// A shape error from anything printable.
    #[allow(clippy::needless_pass_by_value, reason = "callers pass numbers and temporaries")]
    pub fn shape(what: &'static str, expected: impl Display, got: impl Display) -> Self {
        Self::Shape { what, expected: expected.to_string(), got: got.to_string() }
    }

    /// A settings error from anything printable.
    #[allow(clippy::needless_pass_by_value, reason = "callers pass numbers and temporaries")]
    pub fn setting(name: &'static str, expected: &'static str, got: impl Display) -> Self {
        Self::Setting { name, expected, got: got.to_string() }
    }
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

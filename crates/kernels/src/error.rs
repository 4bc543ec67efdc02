//! Everything that can be wrong with a call: sizes that do not fit, and an instruction set that is not there.

use thiserror::Error;

use crate::Level;

/// The result of a kernel call.
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong, where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A slice that does not have as many entries as the shape says.
    #[error("{operation}: {argument} has {found} entries, but the shape needs {expected}")]
    Length {
        /// The kernel that was called.
        operation: &'static str,
        /// The name of the argument.
        argument: &'static str,
        /// How many entries the shape asks for.
        expected: usize,
        /// How many it has.
        found: usize,
    },

    /// A shape that no kernel computes.
    #[error("{shape}: {reason}")]
    Shape {
        /// The shape as it was given.
        shape: String,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// An instruction set that this processor does not have.
    #[error("instruction set {level} is not available on this processor (available: {available})")]
    Unavailable {
        /// The one that was asked for.
        level: Level,
        /// Those that can be used here.
        available: String,
    },

    /// A name of an instruction set that does not exist.
    #[error("unknown instruction set {name:?} (known: portable, neon, avx2, avx512)")]
    UnknownLevel {
        /// The name as it was given.
        name: String,
    },

    /// `INVAR_SIMD` asks for something that cannot be had.
    #[error("environment variable INVAR_SIMD: {0}")]
    Environment(#[source] Box<Error>),
}

/// Checks that a slice has the length that the shape asks for.
pub(crate) fn check_length<T>(operation: &'static str, argument: &'static str, slice: &[T], expected: usize) -> Result<()> {
    if slice.len() == expected { Ok(()) } else { Err(Error::Length { operation, argument, expected, found: slice.len() }) }
}

//! Everything that can be wrong with a shape, a group or a list of candidates.

use thiserror::Error;

use crate::budget::bytes;

/// The result of an algebra operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong, where, and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A tensor shape that has no entries, or too many.
    #[error("shape {shape}: {reason}")]
    Shape {
        /// The shape as it was given.
        shape: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A shorthand that does not parse.
    #[error(transparent)]
    Parse(#[from] ParseError),

    /// A group that does not exist on this shape.
    #[error("{group}: {reason}")]
    Group {
        /// The candidate as it was given.
        group: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A generator given by the user that cannot generate a finite group.
    #[error("{group}: generator {index}: {reason}")]
    Generator {
        /// The candidate as it was given.
        group: String,
        /// Its position in the list of generators, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// Floating-point input for which a rank cannot be decided.
    #[error(
        "the rank of {what} cannot be decided in floating point: a singular value of {nonzero:.1e} \
         is only {gap:.1e} times the threshold {zero:.1e} (at least {wanted:.0e} times is needed); write the entries as integers or fractions to compute exactly"
    )]
    AmbiguousRank {
        /// The matrix in question.
        what: String,
        /// The singular value that is neither clearly zero nor clearly not.
        nonzero: f64,
        /// The threshold below which it would count as zero.
        zero: f64,
        /// Their ratio.
        gap: f64,
        /// The ratio below which the answer would be a guess.
        wanted: f64,
    },

    /// A lattice with more closed sets than the caller allows.
    #[error("the lattice has more than {cap} closed sets of candidate groups; {advice}")]
    TooManySets {
        /// The cap that was passed.
        cap: usize,
        /// What the caller can do.
        advice: String,
    },

    /// More memory than the caller allows, found out before it was used.
    #[error(
        "{what} would bring the memory in use to {}, but at most {} may be used; raise the limit (--memory)",
        bytes(*.needed), bytes(*.limit)
    )]
    TooLarge {
        /// What does not fit.
        what: String,
        /// Bytes that would be in use.
        needed: u64,
        /// Bytes that may be used.
        limit: u64,
    },

    /// A list of candidate groups that do not belong together.
    #[error("{0}")]
    Candidates(String),
}

/// A position in a shorthand where something else was expected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot read `{text}` at column {}: {message}", .position + 1)]
pub struct ParseError {
    /// The whole shorthand.
    pub text: String,
    /// Byte offset at which reading stopped.
    pub position: usize,
    /// What was expected there, and what was found.
    pub message: String,
}

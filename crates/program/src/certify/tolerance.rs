//! All numbers that certificates and measurements are judged by.
//!
//! None of them decides whether a proof holds: a proof is exact, or it states its own bound. They say which bounds are still
//! called small, where the search for an explanation ends, and how much work is done.

/// A program is called invariant *within* a bound when no output, and no difference of two outputs, changes by more than this part
/// of the range that it runs through on random inputs.
pub const WITHIN: f64 = 1e-3;

/// Random inputs that tell what range outputs run through.
pub(super) const SPREAD_EXAMPLES: usize = 256;

/// Weights that differ by more than this part of the largest weight of their row are not meant to be equal: the walk ends, and
/// says so. Those that differ by less are carried to the outputs.
pub(super) const NEAR: f64 = 1e-3;

/// Weights of a kept symmetry that differ by at most this part of the largest weight of their row differ by rounding alone, and
/// are made equal when a model is written.
pub(super) const ROUNDING: f64 = 1e-5;

/// Outputs of programs of others, whose rounding is not known, count as equal within this part of the largest output. It also caps
/// what is allowed for rounding in programs of ours, where deep networks have useless bounds.
pub const TOLERANCE: f64 = 1e-4;

/// Inputs of arrays are bounded by this in the statement of a bound, unless there is a normalisation.
pub(super) const RANGE: f64 = 1.0;

/// The same in units of the normalisation in front of the program, where there is one.
pub(super) const NORMALISED_RANGE: f64 = 4.0;

/// Multiplications that looking for the nearest rows may cost, per operation.
pub(super) const NEAREST_WORK: f64 = 1e10;

/// Multiplications in single precision that the search of one command may cost, about a second.
pub(super) const SEARCH_WORK: f64 = 1e10;

/// Billions of multiplications that a command may cost unless it is allowed more, about a minute.
pub const LIMIT: u64 = 300;

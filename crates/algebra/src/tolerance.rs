//! The only place where floating-point thresholds live.
//!
//! Ranks, orbits, orders and normality of permutations, signed permutations and rational matrices are computed in integer
//! arithmetic and need none of these. They serve user generators with real entries, and checks on `f64` bases.

use serde::{Deserialize, Serialize};

/// Thresholds for what has to be decided in floating point.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `zero` | 1e-9 | a singular value below `zero` times the largest counts as zero | (0, 1) |
/// | `gap` | 1e4 | a singular value between `zero` and `gap * zero` is neither: an error, not a guess | above 1 |
/// | `same` | 1e-8 | two real vectors are the same point of an orbit when no entry differs by more | (0, 1) |
/// | `basis` | 1e-10 | largest error allowed in orthonormality and invariance of an `f64` basis | (0, 1) |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// Relative size below which a singular value counts as zero.
    pub zero: f64,
    /// Least ratio between a singular value that counts as nonzero and the threshold `zero`.
    pub gap: f64,
    /// Largest difference between entries of real vectors that are the same point of an orbit.
    pub same: f64,
    /// Largest error in the orthonormality and invariance of an `f64` basis.
    pub basis: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { zero: 1e-9, gap: 1e4, same: 1e-8, basis: 1e-10 }
    }
}

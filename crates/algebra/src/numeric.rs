//! Subspaces in floating point, for generators that are not rational: every rank comes with its singular-value gap.

use nalgebra::DMatrix;

use crate::error::{Error, Result};
use crate::tolerance::Tolerance;

/// A rank decided in floating point: how clear the decision was.
///
/// The ratio between the smallest singular value taken for nonzero and the largest taken for zero (or the rounding level,
/// if that is larger). Infinite when there was nothing to decide.
pub(crate) type Gap = f64;

/// An orthonormal basis of `{x : A x = 0}`, and how clear the rank of A was. `rows` are the rows of A.
pub(crate) fn null_space(rows: &[Vec<f64>], width: usize, tolerance: &Tolerance, what: &str) -> Result<(Vec<Vec<f64>>, Gap)> {
    if width == 0 {
        return Ok((Vec::new(), f64::INFINITY));
    }
    // Padding with zero rows makes the decomposition return all right singular vectors.
    let height = rows.len().max(width);
    let a = DMatrix::from_fn(height, width, |i, j| rows.get(i).map_or(0.0, |row| row[j]));
    let svd = a.svd(false, true);
    let v_t = svd.v_t.expect("right singular vectors were asked for");
    let rank = decide_rank(svd.singular_values.as_slice(), tolerance, what)?;
    let basis = (rank.0..width).map(|k| v_t.row(k).iter().copied().collect()).collect();
    Ok((basis, rank.1))
}

/// The number of singular values (descending) that are not zero: above the threshold, and clearly so.
fn decide_rank(singular: &[f64], tolerance: &Tolerance, what: &str) -> Result<(usize, Gap)> {
    let scale = singular.first().copied().unwrap_or(0.0).max(1.0);
    let threshold = tolerance.zero * scale;
    let rank = singular.iter().take_while(|&&s| s > threshold).count();
    if rank == 0 {
        return Ok((0, f64::INFINITY));
    }
    let nonzero = singular[rank - 1];
    if nonzero < tolerance.gap * threshold {
        let gap = nonzero / threshold;
        return Err(Error::AmbiguousRank { what: what.into(), nonzero, zero: threshold, gap, wanted: tolerance.gap });
    }
    let zero = singular.get(rank).copied().unwrap_or(0.0).max(f64::EPSILON * scale);
    Ok((rank, nonzero / zero))
}

/// Makes vectors orthonormal in the order given.
///
/// The caller knows the vectors to be independent (dependent ones would come out as rounding noise of length 1); two passes of Gram-Schmidt keep the result orthonormal to rounding.
pub(crate) fn orthonormalise(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for k in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(k);
        let v = &mut rest[0];
        for _ in 0..2 {
            normalise(v);
            for q in &*done {
                let along = dot(q, v);
                if along != 0.0 {
                    v.iter_mut().zip(q).for_each(|(x, y)| *x -= along * y);
                }
            }
        }
        normalise(v);
    }
    for v in &mut vectors {
        fix_sign(v);
    }
    vectors
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn normalise(v: &mut [f64]) {
    let length = dot(v, v).sqrt();
    if length > 0.0 {
        for x in v {
            *x /= length;
        }
    }
}

/// Makes the first entry of largest magnitude positive, so that a basis does not depend on how it was found.
fn fix_sign(v: &mut [f64]) {
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    // Entries that are equal in exact arithmetic differ by rounding: the first within rounding of the largest decides.
    if v.iter().find(|x| x.abs() > largest * (1.0 - 1e-9)).is_some_and(|x| *x < 0.0) {
        for x in v {
            *x = -*x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_ranks_are_decided_and_unclear_ones_are_not() {
        let tolerance = Tolerance::default();
        let (basis, gap) = null_space(&[vec![1.0, 1.0, 0.0]], 3, &tolerance, "a").unwrap();
        assert_eq!(basis.len(), 2);
        assert!(gap > 1e12);
        assert!(basis.iter().all(|v| (v[0] + v[1]).abs() < 1e-12 && (dot(v, v) - 1.0).abs() < 1e-12));
        let error = null_space(&[vec![1.0, 0.0], vec![0.0, 5e-9]], 2, &tolerance, "a + b").unwrap_err();
        assert!(matches!(error, Error::AmbiguousRank { .. }), "{error}");
    }

    #[test]
    fn orthonormal_to_rounding_even_when_nearly_dependent() {
        let q = orthonormalise(vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 1.0 + 1e-7], vec![-1.0, 0.0, 0.0]]);
        for (i, a) in q.iter().enumerate() {
            for (j, b) in q.iter().enumerate() {
                assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }
}

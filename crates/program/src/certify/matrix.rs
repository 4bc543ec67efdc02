//! Generators that are matrices: a dense layer can absorb them, an orbit turns them into moves of its elements, and little else lets
//! them through.

use invar_algebra::Action;
use rayon::prelude::*;

use super::ball::{Balls, rounding};
use super::links::Gap;
use super::matching::{same, size};
use crate::op::Op;
use crate::tensor::Tensor;

/// A linear map of the entries, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    n: usize,
    rows: Vec<f64>,
    /// Whether every entry is a number of double precision, and none was rounded.
    exact: bool,
}

/// Below this, products lose digits.
const TINY: f64 = 1e-280;

impl Matrix {
    /// The matrix of an action that is one.
    pub(super) fn of(action: &Action) -> Option<Self> {
        let n = action.len();
        let mut exact = true;
        let mut at = |i: usize, j: usize| match action {
            Action::Rational(m) => {
                let rounded = m.at(i, j).to_f64();
                exact &= rounded.error_ref().is_none();
                Some(rounded.value())
            }
            Action::Real(m) => Some(m.at(i, j)),
            Action::Permutation(_) | Action::Signed(_) => None,
        };
        let rows = (0..n * n).map(|k| at(k / n, k % n)).collect::<Option<Vec<f64>>>()?;
        Some(Self { n, rows, exact })
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.rows[row * self.n + column]
    }

    /// An example moved by it.
    pub(super) fn moved(&self, x: &Balls) -> Balls {
        let mut moved = x.times(self.rows.par_chunks(self.n).map(<[f64]>::to_vec));
        if !self.exact {
            let size: f64 = x.sizes().iter().sum();
            for (radius, row) in moved.radius.iter_mut().zip(self.rows.chunks(self.n)) {
                *radius += f64::EPSILON * size * row.iter().fold(0.0, |largest: f64, r| largest.max(r.abs()));
            }
        }
        moved
    }

    /// Whether the operation lets the matrix through unchanged; what is left over.
    pub(super) fn passes(&self, op: &Op, near: f64) -> Result<Gap, String> {
        match op {
            Op::Reshape { .. } => Ok(Gap::default()),
            Op::Normalise { mean, scale } => self.normalised(mean, scale, near),
            _ => Err("not provable here: only a dense layer or an orbit can take a matrix that is no permutation".into()),
        }
    }

    /// W R - W, so that nothing moves behind the layer.
    pub(super) fn absorbed(&self, weight: &Tensor, near: f64) -> Result<Gap, String> {
        if weight.shape[1] != self.n {
            return Err("not provable here: the layer sees parts of what the matrix mixes".into());
        }
        let mut all = Gap::default();
        for (o, row) in weight.values.chunks(self.n).enumerate() {
            let largest = size(row);
            for j in 0..self.n {
                let (moved, error) = self.product(row, j);
                let gap = (moved - f64::from(row[j])).abs();
                if gap > near * largest {
                    return Err(format!(
                        "the weights w of output {o} are not fixed: w R differs from w by {gap:.1e}, and weights go up to {largest:.1e}"
                    ));
                }
                all.add(o, Some(j), widened(gap, error), largest);
            }
        }
        Ok(all)
    }

    /// Entry j of a row times the matrix, and a bound of its error, 0 where nothing was rounded.
    pub(super) fn product(&self, row: &[f32], j: usize) -> (f64, f64) {
        let terms = row.iter().enumerate().map(|(i, &w)| (f64::from(w), self.at(i, j)));
        summed(terms, self.exact)
    }

    /// (R x - m) s = R ((x - m) s) when s is one number and R m = m.
    fn normalised(&self, mean: &Tensor, scale: &Tensor, near: f64) -> Result<Gap, String> {
        let s = f64::from(scale.values[0]);
        if scale.values.iter().any(|&value| !same(value, scale.values[0])) {
            return Err("not provable here: entries are scaled by different numbers, and a matrix mixes them".into());
        }
        let m = |i: usize| f64::from(mean.values[i * mean.values.len() / self.n]);
        let largest = size(&mean.values);
        let mut all = Gap::default();
        for i in 0..self.n {
            let (moved, error) = summed((0..self.n).map(|j| (self.at(i, j), m(j))), self.exact);
            let gap = (moved - m(i)).abs();
            if gap > near * largest {
                return Err("the mean that is subtracted is not fixed by the matrix".into());
            }
            all.add(i, None, s.abs() * widened(gap, error), s.abs() * largest);
        }
        Ok(all)
    }
}

/// A difference of rounded numbers as a bound; equal ones that were not rounded stay equal.
pub(super) fn widened(gap: f64, error: f64) -> f64 {
    if gap == 0.0 && error == 0.0 { 0.0 } else { gap * (1.0 + f64::EPSILON) + error }
}

/// A sum of products, and a bound of its error: 0 if no product and no sum was rounded.
fn summed(terms: impl Iterator<Item = (f64, f64)>, exact: bool) -> (f64, f64) {
    let (mut sum, mut size, mut count, mut rounded) = (0.0f64, 0.0, 0, !exact);
    for (a, b) in terms {
        let product = a * b;
        let total = sum + product;
        // What the addition lost, exactly.
        let back = total - sum;
        let lost = (sum - (total - back)) + (product - back);
        let small = product.abs() < TINY && a != 0.0 && b != 0.0;
        rounded |= a.mul_add(b, -product) != 0.0 || lost != 0.0 || small;
        size += product.abs();
        sum = total;
        count += 1;
    }
    // Twice: the entries may be rounded, too.
    (sum, if rounded { 2.0 * rounding(count) * size + TINY } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_know_whether_they_were_rounded() {
        assert_eq!(summed([(3.0, 0.5), (-1.0, 2.0)].into_iter(), true), (-0.5, 0.0));
        let (sum, error) = summed([(0.1, 0.1), (1.0, 1.0)].into_iter(), true);
        assert!(error > 0.0 && error < 1e-14 && (sum - 1.01).abs() <= error);
        assert!(summed([(1.0, 1.0), (1e-30, 1.0)].into_iter(), true).1 > 0.0);
        assert!(summed([(1.0, 1.0)].into_iter(), false).1 > 0.0);
    }
}

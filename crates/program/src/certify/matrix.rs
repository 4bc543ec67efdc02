//! Generators that are matrices: a dense layer can absorb them, an orbit turns them into moves of its elements, and little else lets
//! them through.

use invar_algebra::Action;

use super::TOLERANCE;
use super::matching::size;
use crate::op::Op;
use crate::tensor::Tensor;

/// A linear map of the entries, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    n: usize,
    rows: Vec<f64>,
}

impl Matrix {
    /// The matrix of an action that is one.
    pub(super) fn of(action: &Action) -> Option<Self> {
        let n = action.len();
        let at = |i: usize, j: usize| match action {
            Action::Rational(m) => Some(m.at(i, j).to_f64().value()),
            Action::Real(m) => Some(m.at(i, j)),
            Action::Permutation(_) | Action::Signed(_) => None,
        };
        let rows = (0..n * n).map(|k| at(k / n, k % n)).collect::<Option<Vec<f64>>>()?;
        Some(Self { n, rows })
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.rows[row * self.n + column]
    }

    /// Whether the operation lets the matrix through unchanged; the largest relative difference met.
    pub(super) fn passes(&self, op: &Op) -> Result<f64, String> {
        match op {
            Op::Reshape { .. } => Ok(0.0),
            Op::Normalise { mean, scale } => self.normalised(mean, scale),
            _ => Err("not provable here: only a dense layer or an orbit can take a matrix that is no permutation".into()),
        }
    }

    /// Whether W R = W, so that nothing moves behind the layer; the largest relative difference met.
    pub(super) fn absorbed(&self, weight: &Tensor) -> Result<f64, String> {
        let largest = size(&weight.values);
        let mut worst = 0.0f64;
        for (o, row) in weight.values.chunks(self.n).enumerate() {
            for j in 0..self.n {
                let moved: f64 = row.iter().enumerate().map(|(i, &w)| f64::from(w) * self.rows[i * self.n + j]).sum();
                let gap = (moved - f64::from(row[j])).abs();
                if gap > TOLERANCE * largest {
                    return Err(format!(
                        "the weights w of output {o} are not fixed: w R differs from w by {gap:.1e}, and weights go up to {largest:.1e}"
                    ));
                }
                worst = worst.max(if largest > 0.0 { gap / largest } else { 0.0 });
            }
        }
        Ok(worst)
    }

    /// (R x - m) s = R ((x - m) s) when s is one number and R m = m.
    fn normalised(&self, mean: &Tensor, scale: &Tensor) -> Result<f64, String> {
        let same = |values: &[f32]| values.iter().all(|value| value.to_bits() == values[0].to_bits());
        if !same(&scale.values) {
            return Err("not provable here: entries are scaled by different numbers, and a matrix mixes them".into());
        }
        let m = |i: usize| f64::from(mean.values[i * mean.values.len() / self.n]);
        let largest = size(&mean.values);
        let mut worst = 0.0f64;
        for i in 0..self.n {
            let moved: f64 = (0..self.n).map(|j| self.rows[i * self.n + j] * m(j)).sum();
            let gap = (moved - m(i)).abs();
            if gap > TOLERANCE * largest {
                return Err("the mean that is subtracted is not fixed by the matrix".into());
            }
            worst = worst.max(if largest > 0.0 { gap / largest } else { 0.0 });
        }
        Ok(worst)
    }
}

//! Squared error and cross entropy, with their gradients.

use invar_kernels::dense::TINY;

use crate::data::{Dataset, Targets};
use crate::evaluate::{largest, right};
use crate::{Error, Result};

/// The loss on the targets of some data.
pub(super) struct Loss<'a> {
    targets: &'a Targets,
    width: usize,
}

impl<'a> Loss<'a> {
    pub(super) fn of(data: &'a Dataset, width: usize) -> Result<Self> {
        if width != data.outputs() {
            return Err(Error::shape("outputs of the network", data.outputs(), width));
        }
        Ok(Self { targets: data.targets(), width })
    }

    /// The mean loss of some examples, and its gradient with respect to their outputs.
    pub(super) fn gradient(&self, rows: &[usize], outputs: &[f32], gradient: &mut [f32]) -> f64 {
        let count = rows.len() as f32;
        let mut total = 0.0;
        for ((&row, output), gradient) in
            rows.iter().zip(outputs.chunks_exact(self.width)).zip(gradient.chunks_exact_mut(self.width))
        {
            total += self.example(row, output, gradient);
            for value in gradient {
                let share = *value / count;
                *value = if share.abs() > TINY { share } else { 0.0 };
            }
        }
        total / rows.len() as f64
    }

    /// The sum of losses, and how many are answered right.
    pub(super) fn judge(&self, rows: &[usize], outputs: &[f32]) -> (f64, usize) {
        let (mut total, mut hits) = (0.0, 0);
        let mut unused = vec![0.0; self.width];
        for (&row, output) in rows.iter().zip(outputs.chunks_exact(self.width)) {
            total += self.example(row, output, &mut unused);
            let answer = match self.targets {
                Targets::Values(_) => f64::from(output[0]),
                Targets::Classes { .. } => largest(output) as f64,
            };
            hits += usize::from(right(answer, self.targets, row));
        }
        (total, hits)
    }

    /// The loss of an example, and its gradient.
    fn example(&self, row: usize, output: &[f32], gradient: &mut [f32]) -> f64 {
        match self.targets {
            Targets::Values(values) => {
                let difference = output[0] - values[row];
                gradient[0] = 2.0 * difference;
                f64::from(difference) * f64::from(difference)
            }
            Targets::Classes { labels, .. } => {
                let top = output.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let mut sum = 0.0;
                for (to, &value) in gradient.iter_mut().zip(output) {
                    *to = (value - top).exp();
                    sum += *to;
                }
                for to in gradient.iter_mut() {
                    *to /= sum;
                }
                gradient[labels[row]] -= 1.0;
                f64::from(sum.ln() + top - output[labels[row]])
            }
        }
    }
}

//! Mean and variance of each feature.

use pulp::{Scalar, Simd};
use rayon::prelude::*;

use super::{NormShape, images_per_chunk};
use crate::{Result, Workspace, error::check_length, level::Kernel};

/// Mean and variance of each feature, of a batch or averaged over training.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moments {
    /// The mean of each feature.
    pub mean: Vec<f32>,
    /// The variance of each feature: the mean of the squared deviation (divided by the count, not by one less).
    pub variance: Vec<f32>,
}

impl Moments {
    /// Mean 0 and variance 1: where a running average starts.
    pub fn standard(features: usize) -> Self {
        Self { mean: vec![0.0; features], variance: vec![1.0; features] }
    }

    /// Moves a running average towards the moments of a batch by a fraction `rate`. The batch is `count` numbers per feature; its
    /// variance enters as the unbiased estimate.
    pub fn update(&mut self, batch: &Self, count: usize, rate: f32) -> Result<()> {
        check_length("running average", "mean", &batch.mean, self.mean.len())?;
        check_length("running average", "variance", &batch.variance, self.variance.len())?;
        let unbiased = count as f32 / count.saturating_sub(1).max(1) as f32;
        for (to, from) in self.mean.iter_mut().zip(&batch.mean) {
            *to += rate * (from - *to);
        }
        for (to, from) in self.variance.iter_mut().zip(&batch.variance) {
            *to += rate * (from * unbiased - *to);
        }
        Ok(())
    }

    pub(super) fn check(&self, operation: &'static str, shape: &NormShape) -> Result<()> {
        check_length(operation, "mean", &self.mean, shape.features)?;
        check_length(operation, "variance", &self.variance, shape.features)
    }

    pub(super) fn inverse_std(&self, feature: usize, epsilon: f32) -> f32 {
        (1.0 / (f64::from(self.variance[feature]) + f64::from(epsilon)).sqrt()) as f32
    }

    /// Computes the moments of a batch in one pass, around its first pixel: sums of squares far from zero would cancel.
    pub(super) fn compute(&mut self, shape: &NormShape, x: &[f32], workspace: &mut Workspace) {
        let channels = shape.channels();
        let chunk = images_per_chunk(shape) * shape.height * shape.width * channels;
        let origin = &x[..channels];
        let arch = workspace.arch;
        let sums = workspace.sums.zeros(x.len().div_ceil(chunk) * 2 * channels);
        sums.par_chunks_mut(2 * channels).zip(x.par_chunks(chunk)).for_each(|(sums, x)| {
            let (sums, squares) = sums.split_at_mut(channels);
            arch.run(Accumulate { x, origin, sums, squares });
        });
        self.mean.resize(shape.features, 0.0);
        self.variance.resize(shape.features, 0.0);
        let count = shape.count() as f64;
        for feature in 0..shape.features {
            let fibre = feature * shape.fibre..(feature + 1) * shape.fibre;
            // Moments around the origin of the first channel of the feature: the others are moved there.
            let base = f64::from(origin[fibre.start]);
            let pixels = count / shape.fibre as f64;
            let (mut total, mut squares) = (0.0, 0.0);
            for channel in fibre {
                let (sum, square) = column_sums(sums, channels, channel);
                let move_by = f64::from(origin[channel]) - base;
                total += sum + pixels * move_by;
                squares += square + 2.0 * move_by * sum + pixels * move_by * move_by;
            }
            let mean = total / count;
            self.mean[feature] = (base + mean) as f32;
            self.variance[feature] = (squares / count - mean * mean).max(0.0) as f32;
        }
    }
}

/// Adds up the two sums of a channel over all parts, in order.
pub(super) fn column_sums(sums: &[f32], channels: usize, channel: usize) -> (f64, f64) {
    sums.chunks_exact(2 * channels).fold((0.0, 0.0), |(first, second), part| {
        (first + f64::from(part[channel]), second + f64::from(part[channels + channel]))
    })
}

/// Sums and sums of squares of x - origin over some pixels.
struct Accumulate<'a> {
    x: &'a [f32],
    origin: &'a [f32],
    sums: &'a mut [f32],
    squares: &'a mut [f32],
}

impl Kernel for Accumulate<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (origin, last_origin) = S::as_simd_f32s(self.origin);
        let (sums, last_sums) = S::as_mut_simd_f32s(self.sums);
        let (squares, last_squares) = S::as_mut_simd_f32s(self.squares);
        for x in self.x.chunks_exact(self.origin.len()) {
            let (x, last_x) = S::as_simd_f32s(x);
            add_pixel(simd, x, origin, sums, squares);
            add_pixel(Scalar, last_x, last_origin, last_sums, last_squares);
        }
    }
}

#[inline(always)]
fn add_pixel<S: Simd>(simd: S, x: &[S::f32s], origin: &[S::f32s], sums: &mut [S::f32s], squares: &mut [S::f32s]) {
    for (((x, origin), sum), square) in x.iter().zip(origin).zip(sums).zip(squares) {
        let d = simd.sub_f32s(*x, *origin);
        *sum = simd.add_f32s(*sum, d);
        *square = simd.mul_add_e_f32s(d, d, *square);
    }
}

//! One step of an optimiser over a flat slice of parameters, in one pass over memory.

use pulp::{Scalar, Simd};
use rayon::prelude::*;

use crate::{Result, Workspace, dense::TINY, error::check_length, level::Kernel};

/// Parameters that one task updates.
const CHUNK: usize = 16 * 1024;

/// Zeros in place of what is closer to them than [`TINY`].
#[inline(always)]
fn not_tiny<S: Simd>(simd: S, value: S::f32s) -> S::f32s {
    let large = simd.greater_than_f32s(simd.abs_f32s(value), simd.splat_f32s(TINY));
    simd.select_f32s(large, value, simd.splat_f32s(0.0))
}

/// Stochastic gradient descent with momentum: v = momentum v + (g + decay w), w = w - rate v.
///
/// With Nesterov's rule, w = w - rate (g + decay w + momentum v). A weight or velocity below [`TINY`](crate::dense::TINY)
/// counts as 0, as in [`Adam`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sgd {
    /// The learning rate.
    pub rate: f32,
    /// How much of the last step is kept.
    pub momentum: f32,
    /// The factor of the weights that is added to their gradient.
    pub decay: f32,
    /// Whether to look ahead by a step of the momentum.
    pub nesterov: bool,
}

impl Sgd {
    /// Takes a step. `velocity` starts at zero.
    pub fn step(&self, weights: &mut [f32], gradient: &[f32], velocity: &mut [f32], workspace: &mut Workspace) -> Result<()> {
        check_length("SGD", "gradient", gradient, weights.len())?;
        check_length("SGD", "velocity", velocity, weights.len())?;
        let arch = workspace.arch;
        weights
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(velocity.par_chunks_mut(CHUNK))
            .for_each(|((weights, gradient), velocity)| arch.run(SgdStep { sgd: self, weights, gradient, velocity }));
        Ok(())
    }

    #[inline(always)]
    fn update<S: Simd>(&self, simd: S, weights: &mut [S::f32s], gradient: &[S::f32s], velocity: &mut [S::f32s]) {
        let [minus_rate, momentum, decay] = [-self.rate, self.momentum, self.decay].map(|value| simd.splat_f32s(value));
        for ((w, g), v) in weights.iter_mut().zip(gradient).zip(velocity) {
            let g = simd.mul_add_e_f32s(decay, *w, *g);
            let velocity = simd.mul_add_e_f32s(momentum, *v, g);
            *v = not_tiny(simd, velocity);
            let direction = if self.nesterov { simd.mul_add_e_f32s(momentum, *v, g) } else { *v };
            *w = not_tiny(simd, simd.mul_add_e_f32s(minus_rate, direction, *w));
        }
    }
}

struct SgdStep<'a> {
    sgd: &'a Sgd,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    velocity: &'a mut [f32],
}

impl Kernel for SgdStep<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (weights, last_weights) = S::as_mut_simd_f32s(self.weights);
        let (gradient, last_gradient) = S::as_simd_f32s(self.gradient);
        let (velocity, last_velocity) = S::as_mut_simd_f32s(self.velocity);
        self.sgd.update(simd, weights, gradient, velocity);
        self.sgd.update(Scalar, last_weights, last_gradient, last_velocity);
    }
}

/// Adam: m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g², w = w - rate m̂ / (sqrt(v̂) + epsilon),
/// with m̂ = m / (1 - beta1^t) and v̂ = v / (1 - beta2^t) at step t = 1, 2, ...
///
/// Weights, gradients and means below [`TINY`](crate::dense::TINY), and squares below its square, count as 0: those of a unit that has gone
/// silent would else decay through numbers that processors are slow with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// The learning rate.
    pub rate: f32,
    /// How much of the mean of gradients is kept.
    pub beta1: f32,
    /// How much of the mean of squared gradients is kept.
    pub beta2: f32,
    /// Added to the root.
    pub epsilon: f32,
}

impl Adam {
    /// Takes step `t`, counted from 1. `mean` and `square` start at zero.
    pub fn step(
        &self,
        t: u32,
        weights: &mut [f32],
        gradient: &[f32],
        mean: &mut [f32],
        square: &mut [f32],
        workspace: &mut Workspace,
    ) -> Result<()> {
        check_length("Adam", "gradient", gradient, weights.len())?;
        check_length("Adam", "mean", mean, weights.len())?;
        check_length("Adam", "square", square, weights.len())?;
        let arch = workspace.arch;
        // A step before the first has no meaning; it is taken as the first.
        let power = |beta: f32| 1.0 - f64::from(beta).powf(f64::from(t.max(1)));
        let factors =
            Factors { rate: (f64::from(self.rate) / power(self.beta1)) as f32, root: (1.0 / power(self.beta2).sqrt()) as f32 };
        weights
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(mean.par_chunks_mut(CHUNK).zip(square.par_chunks_mut(CHUNK)))
            .for_each(|((weights, gradient), (mean, square))| {
                arch.run(AdamStep { adam: self, factors, weights, gradient, mean, square });
            });
        Ok(())
    }

    #[inline(always)]
    fn update<S: Simd>(
        &self,
        simd: S,
        factors: Factors,
        weights: &mut [S::f32s],
        gradient: &[S::f32s],
        mean: &mut [S::f32s],
        square: &mut [S::f32s],
    ) {
        let splat = |value| simd.splat_f32s(value);
        let (beta1, rest1, beta2, rest2) =
            (splat(self.beta1), splat(1.0 - self.beta1), splat(self.beta2), splat(1.0 - self.beta2));
        let (rate, root, epsilon) = (splat(factors.rate), splat(factors.root), splat(self.epsilon));
        let (zero, tiny_square) = (splat(0.0), splat(TINY * TINY));
        for (((w, g), m), v) in weights.iter_mut().zip(gradient).zip(mean).zip(square) {
            let g = not_tiny(simd, *g);
            *m = not_tiny(simd, simd.mul_add_e_f32s(beta1, *m, simd.mul_f32s(rest1, g)));
            let square = simd.mul_add_e_f32s(beta2, *v, simd.mul_f32s(rest2, simd.mul_f32s(g, g)));
            *v = simd.select_f32s(simd.greater_than_f32s(square, tiny_square), square, zero);
            let below = simd.mul_add_e_f32s(simd.sqrt_f32s(*v), root, epsilon);
            *w = not_tiny(simd, simd.sub_f32s(*w, simd.div_f32s(simd.mul_f32s(rate, *m), below)));
        }
    }
}

/// The corrections of a step: w = w - rate m / (root sqrt(v) + epsilon).
#[derive(Debug, Clone, Copy)]
struct Factors {
    rate: f32,
    root: f32,
}

struct AdamStep<'a> {
    adam: &'a Adam,
    factors: Factors,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    mean: &'a mut [f32],
    square: &'a mut [f32],
}

impl Kernel for AdamStep<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (weights, last_weights) = S::as_mut_simd_f32s(self.weights);
        let (gradient, last_gradient) = S::as_simd_f32s(self.gradient);
        let (mean, last_mean) = S::as_mut_simd_f32s(self.mean);
        let (square, last_square) = S::as_mut_simd_f32s(self.square);
        self.adam.update(simd, self.factors, weights, gradient, mean, square);
        self.adam.update(Scalar, self.factors, last_weights, last_gradient, last_mean, last_square);
    }
}

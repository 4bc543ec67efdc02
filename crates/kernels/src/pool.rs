//! Pooling over all pixels of an image.

use pulp::{Scalar, Simd};
use rayon::prelude::*;

use crate::{Result, Workspace, error::check_length, level::Kernel};

/// How the pixels of an image become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pooling {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
}

/// Images to pool: `[batch, pixels, channels]` becomes `[batch, channels]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PoolShape {
    /// The number of images.
    pub batch: usize,
    /// Height times width.
    pub pixels: usize,
    /// The number of channels.
    pub channels: usize,
    /// Sum or mean.
    pub pooling: Pooling,
}

impl PoolShape {
    /// The number of input entries.
    pub fn input_len(&self) -> usize {
        self.batch * self.pixels * self.channels
    }

    /// The number of output entries.
    pub fn output_len(&self) -> usize {
        self.batch * self.channels
    }

    fn factor(&self) -> f32 {
        match self.pooling {
            Pooling::Sum => 1.0,
            Pooling::Mean => 1.0 / self.pixels as f32,
        }
    }
}

/// y = sum or mean of x over the pixels of each image.
pub fn forward(shape: &PoolShape, x: &[f32], y: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    check_length("pooling", "x", x, shape.input_len())?;
    check_length("pooling", "y", y, shape.output_len())?;
    if x.is_empty() {
        y.fill(0.0);
        return Ok(());
    }
    let (arch, factor) = (workspace.arch, shape.factor());
    y.par_chunks_mut(shape.channels)
        .zip(x.par_chunks(shape.pixels * shape.channels))
        .for_each(|(y, x)| arch.run(Sum { x, y, factor }));
    Ok(())
}

/// Every pixel gets the gradient of its image.
pub fn backward(shape: &PoolShape, dy: &[f32], dx: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    check_length("gradient of pooling", "dy", dy, shape.output_len())?;
    check_length("gradient of pooling", "dx", dx, shape.input_len())?;
    if dx.is_empty() {
        return Ok(());
    }
    let (arch, factor) = (workspace.arch, shape.factor());
    dx.par_chunks_mut(shape.pixels * shape.channels)
        .zip(dy.par_chunks(shape.channels))
        .for_each(|(dx, dy)| arch.run(Spread { dy, dx, factor }));
    Ok(())
}

/// y = factor times the sum of the pixels of x.
pub(crate) struct Sum<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) y: &'a mut [f32],
    pub(crate) factor: f32,
}

impl Kernel for Sum<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        self.y.fill(0.0);
        let channels = self.y.len();
        let (y, last_y) = S::as_mut_simd_f32s(self.y);
        for x in self.x.chunks_exact(channels) {
            let (x, last_x) = S::as_simd_f32s(x);
            add(simd, x, y);
            add(Scalar, last_x, last_y);
        }
        self.y.iter_mut().for_each(|y| *y *= self.factor);
    }
}

#[inline(always)]
fn add<S: Simd>(simd: S, x: &[S::f32s], y: &mut [S::f32s]) {
    for (x, y) in x.iter().zip(y) {
        *y = simd.add_f32s(*y, *x);
    }
}

struct Spread<'a> {
    dy: &'a [f32],
    dx: &'a mut [f32],
    factor: f32,
}

impl Kernel for Spread<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (dy, last_dy) = S::as_simd_f32s(self.dy);
        for dx in self.dx.chunks_exact_mut(self.dy.len()) {
            let (dx, last_dx) = S::as_mut_simd_f32s(dx);
            scale(simd, dy, dx, simd.splat_f32s(self.factor));
            scale(Scalar, last_dy, last_dx, self.factor);
        }
    }
}

#[inline(always)]
fn scale<S: Simd>(simd: S, from: &[S::f32s], to: &mut [S::f32s], factor: S::f32s) {
    for (from, to) in from.iter().zip(to) {
        *to = simd.mul_f32s(*from, factor);
    }
}

//! The affine map with rectification and pooling.

use pulp::{Scalar, Simd};
use rayon::prelude::*;

use super::{Activation, Coefficients, NormShape, images_per_chunk};
use crate::level::{Arch, Kernel};

/// y = activation(scale x + shift).
pub(super) fn apply(arch: Arch, shape: &NormShape, coefficients: &Coefficients<'_>, x: &[f32], y: &mut [f32]) {
    let (height, width) = shape.output_size();
    if height * width == 0 {
        return;
    }
    let (images, channels) = (images_per_chunk(shape), shape.channels());
    let (from, to) = (images * shape.height * shape.width * channels, images * height * width * channels);
    x.par_chunks(from).zip(y.par_chunks_mut(to)).for_each(|(x, y)| arch.run(Apply { shape, coefficients, x, y }));
}

struct Apply<'a> {
    shape: &'a NormShape,
    coefficients: &'a Coefficients<'a>,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Apply<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let channels = self.shape.channels();
        let (scale, last_scale) = S::as_simd_f32s(self.coefficients.scale);
        let (shift, last_shift) = S::as_simd_f32s(self.coefficients.shift);
        if self.shape.activation == Activation::ReluPool {
            for (square, y) in squares(self.shape, self.x).zip(self.y.chunks_exact_mut(channels)) {
                let parts = square.map(S::as_simd_f32s);
                let (y, last_y) = S::as_mut_simd_f32s(y);
                pool_pixel(simd, parts.map(|part| part.0), scale, shift, y);
                pool_pixel(Scalar, parts.map(|part| part.1), last_scale, last_shift, last_y);
            }
        } else {
            let relu = self.shape.activation == Activation::Relu;
            for (x, y) in self.x.chunks_exact(channels).zip(self.y.chunks_exact_mut(channels)) {
                let (x, last_x) = S::as_simd_f32s(x);
                let (y, last_y) = S::as_mut_simd_f32s(y);
                map_pixel(simd, x, scale, shift, y, relu);
                map_pixel(Scalar, last_x, last_scale, last_shift, last_y, relu);
            }
        }
    }
}

/// The four pixels of each 2x2 square of some images, in the order of the pooled image.
#[inline(always)]
pub(super) fn squares<'a>(shape: &NormShape, x: &'a [f32]) -> impl Iterator<Item = [&'a [f32]; 4]> {
    let (channels, width) = (shape.channels(), shape.width);
    x.chunks_exact(shape.height * width * channels).flat_map(move |image| {
        image.chunks_exact(2 * width * channels).flat_map(move |lines| {
            let (top, bottom) = lines.split_at(width * channels);
            top.chunks_exact(2 * channels).zip(bottom.chunks_exact(2 * channels)).map(move |(top, bottom)| {
                let ((a, b), (c, d)) = (top.split_at(channels), bottom.split_at(channels));
                [a, b, c, d]
            })
        })
    })
}

/// max(0, z), and not a number if z is not.
#[inline(always)]
fn rectify<S: Simd>(simd: S, z: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    simd.select_f32s(simd.less_than_f32s(z, zero), zero, z)
}

#[inline(always)]
fn map_pixel<S: Simd>(simd: S, x: &[S::f32s], scale: &[S::f32s], shift: &[S::f32s], y: &mut [S::f32s], relu: bool) {
    for (((x, scale), shift), y) in x.iter().zip(scale).zip(shift).zip(y) {
        let z = simd.mul_add_e_f32s(*x, *scale, *shift);
        *y = if relu { rectify(simd, z) } else { z };
    }
}

#[inline(always)]
fn pool_pixel<S: Simd>(simd: S, x: [&[S::f32s]; 4], scale: &[S::f32s], shift: &[S::f32s], y: &mut [S::f32s]) {
    let [a, b, c, d] = x;
    for ((((((a, b), c), d), scale), shift), y) in a.iter().zip(b).zip(c).zip(d).zip(scale).zip(shift).zip(y) {
        let z = [a, b, c, d].map(|x| simd.mul_add_e_f32s(*x, *scale, *shift));
        let larger = |a, b| simd.select_f32s(simd.less_than_f32s(a, b), b, a);
        *y = rectify(simd, larger(larger(z[0], z[1]), larger(z[2], z[3])));
    }
}

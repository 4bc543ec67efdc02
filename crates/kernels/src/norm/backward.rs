//! The gradients of batch norm.
//!
//! With dz the gradient of z, d = x - mean, and averages over the batch written < >:
//!
//! ```text
//! dbeta = sum dz,   dgamma = sum dz d / std,   dx = gamma / std (dz - <dz> - d <dz d> / variance)
//! ```

use pulp::{Scalar, Simd};
use rayon::prelude::*;

use super::{
    Activation, Affine, AffineGradients, Coefficients, Moments, NormShape, forward::squares, images_per_chunk,
    moments::column_sums,
};
use crate::{Workspace, level::Kernel};

#[allow(clippy::too_many_arguments, reason = "two tensors in, one out, and what belongs to each")]
pub(super) fn gradients(
    shape: &NormShape,
    affine: &Affine<'_>,
    moments: &Moments,
    x: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    gradients: &mut AffineGradients<'_>,
    workspace: &mut Workspace,
) {
    let Workspace { arch, coefficients: buffer, sums, .. } = workspace;
    let channels = shape.channels();
    let (height, width) = shape.output_size();
    let images = images_per_chunk(shape);
    let chunk = images * shape.height * shape.width * channels;
    // Where nothing comes out there is no gradient, but there are still as many parts.
    let out = images * height * width * channels;
    let part = |at: usize| &dy[(at * out).min(dy.len())..((at + 1) * out).min(dy.len())];

    let coefficients = Coefficients::fill(buffer, shape, affine, moments);
    let sums = sums.zeros(x.len().div_ceil(chunk) * 2 * channels);
    sums.par_chunks_mut(2 * channels).zip(x.par_chunks(chunk)).enumerate().for_each(|(at, (sums, x))| {
        let (dz, dz_d) = sums.split_at_mut(channels);
        arch.run(Sums { shape, coefficients: &coefficients, x, dy: part(at), dz, dz_d });
    });

    let all = buffer.stale(5 * channels);
    let count = shape.count() as f64;
    for feature in 0..shape.features {
        let inverse_std = f64::from(moments.inverse_std(feature, affine.epsilon));
        let fibre = feature * shape.fibre..(feature + 1) * shape.fibre;
        let (dz, dz_d) =
            fibre.clone().map(|channel| column_sums(sums, channels, channel)).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        gradients.beta[feature] = dz as f32;
        gradients.gamma[feature] = (dz_d * inverse_std) as f32;
        let scale = f64::from(affine.gamma[feature]) * inverse_std;
        for channel in fibre {
            all[3 * channels + channel] = (-scale * inverse_std * inverse_std * dz_d / count) as f32;
            all[4 * channels + channel] = (-scale * dz / count) as f32;
        }
    }

    let coefficients = Coefficients::read(all, channels);
    dx.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).enumerate().for_each(|(at, (dx, x))| {
        arch.run(Apply { shape, coefficients: &coefficients, x, dy: part(at), dx });
    });
}

/// Sums of dz and of dz d over some images.
struct Sums<'a> {
    shape: &'a NormShape,
    coefficients: &'a Coefficients<'a>,
    x: &'a [f32],
    dy: &'a [f32],
    dz: &'a mut [f32],
    dz_d: &'a mut [f32],
}

impl Kernel for Sums<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let channels = self.shape.channels();
        let (at, last_at) = Vectors::<S>::split(self.coefficients);
        let (dz, last_dz) = S::as_mut_simd_f32s(self.dz);
        let (dz_d, last_dz_d) = S::as_mut_simd_f32s(self.dz_d);
        match self.shape.activation {
            Activation::ReluPool => {
                for (square, dy) in squares(self.shape, self.x).zip(self.dy.chunks_exact(channels)) {
                    let parts = square.map(S::as_simd_f32s);
                    let (dy, last_dy) = S::as_simd_f32s(dy);
                    at.add_square(simd, parts.map(|part| part.0), dy, dz, dz_d);
                    last_at.add_square(Scalar, parts.map(|part| part.1), last_dy, last_dz, last_dz_d);
                }
            }
            activation => {
                let relu = activation == Activation::Relu;
                for (x, dy) in self.x.chunks_exact(channels).zip(self.dy.chunks_exact(channels)) {
                    let ((x, last_x), (dy, last_dy)) = (S::as_simd_f32s(x), S::as_simd_f32s(dy));
                    at.add_pixel(simd, x, dy, dz, dz_d, relu);
                    last_at.add_pixel(Scalar, last_x, last_dy, last_dz, last_dz_d, relu);
                }
            }
        }
    }
}

/// The gradient of some images.
struct Apply<'a> {
    shape: &'a NormShape,
    coefficients: &'a Coefficients<'a>,
    x: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for Apply<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let channels = self.shape.channels();
        let (at, last_at) = Vectors::<S>::split(self.coefficients);
        match self.shape.activation {
            Activation::ReluPool => {
                let (height, width) = self.shape.output_size();
                let line = self.shape.width * channels;
                let image = self.shape.height * line;
                let mut dys = self.dy.chunks_exact(channels);
                for (x, dx) in self.x.chunks_exact(image).zip(self.dx.chunks_exact_mut(image)) {
                    for y in 0..height {
                        let lines = 2 * y * line..2 * (y + 1) * line;
                        let (x, dx) = (&x[lines.clone()], &mut dx[lines]);
                        let (x_top, x_bottom) = x.split_at(line);
                        let (dx_top, dx_bottom) = dx.split_at_mut(line);
                        for pixel in 0..width {
                            let Some(dy) = dys.next() else { return };
                            let left = 2 * pixel * channels..(2 * pixel + 1) * channels;
                            let right = left.end..left.end + channels;
                            let both = left.start..right.end;
                            let x = [&x_top[left.clone()], &x_top[right.clone()], &x_bottom[left], &x_bottom[right]];
                            let (dx_a, dx_b) = dx_top[both.clone()].split_at_mut(channels);
                            let (dx_c, dx_d) = dx_bottom[both].split_at_mut(channels);
                            let x = x.map(S::as_simd_f32s);
                            let [(a, last_a), (b, last_b), (c, last_c), (d, last_d)] =
                                [dx_a, dx_b, dx_c, dx_d].map(S::as_mut_simd_f32s);
                            let (dy, last_dy) = S::as_simd_f32s(dy);
                            at.square(simd, x.map(|x| x.0), dy, [a, b, c, d]);
                            last_at.square(Scalar, x.map(|x| x.1), last_dy, [last_a, last_b, last_c, last_d]);
                        }
                    }
                    // The odd column and row that no square covers.
                    let dropped = (0..2 * height)
                        .filter(|_| 2 * width < self.shape.width)
                        .map(|y| (y + 1) * self.shape.width - 1)
                        .chain(2 * height * self.shape.width..self.shape.height * self.shape.width);
                    for pixel in dropped {
                        let (x, last_x) = S::as_simd_f32s(&x[pixel * channels..][..channels]);
                        let (dx, last_dx) = S::as_mut_simd_f32s(&mut dx[pixel * channels..][..channels]);
                        at.dropped(simd, x, dx);
                        last_at.dropped(Scalar, last_x, last_dx);
                    }
                }
            }
            activation => {
                let relu = activation == Activation::Relu;
                let pixels = self.x.chunks_exact(channels).zip(self.dy.chunks_exact(channels));
                for ((x, dy), dx) in pixels.zip(self.dx.chunks_exact_mut(channels)) {
                    let ((x, last_x), (dy, last_dy)) = (S::as_simd_f32s(x), S::as_simd_f32s(dy));
                    let (dx, last_dx) = S::as_mut_simd_f32s(dx);
                    at.pixel(simd, x, dy, dx, relu);
                    last_at.pixel(Scalar, last_x, last_dy, last_dx, relu);
                }
            }
        }
    }
}

/// The coefficients of a number of channels as vectors.
struct Vectors<'a, S: Simd> {
    scale: &'a [S::f32s],
    shift: &'a [S::f32s],
    mean: &'a [S::f32s],
    slope: &'a [S::f32s],
    constant: &'a [S::f32s],
}

impl<'a, S: Simd> Vectors<'a, S> {
    /// Whole vectors, and the channels that are left.
    #[inline(always)]
    fn split(all: &Coefficients<'a>) -> (Self, Vectors<'a, Scalar>) {
        let [scale, shift, mean, slope, constant] =
            [all.scale, all.shift, all.mean, all.slope, all.constant].map(S::as_simd_f32s);
        (
            Self { scale: scale.0, shift: shift.0, mean: mean.0, slope: slope.0, constant: constant.0 },
            Vectors { scale: scale.1, shift: shift.1, mean: mean.1, slope: slope.1, constant: constant.1 },
        )
    }

    /// The gradient of z at a channel: that of y where z was positive.
    #[inline(always)]
    fn dz(&self, simd: S, i: usize, x: S::f32s, dy: S::f32s, relu: bool) -> S::f32s {
        if !relu {
            return dy;
        }
        let zero = simd.splat_f32s(0.0);
        let z = simd.mul_add_e_f32s(x, self.scale[i], self.shift[i]);
        simd.select_f32s(simd.less_than_or_equal_f32s(z, zero), zero, dy)
    }

    /// scale dz + slope d + constant.
    #[inline(always)]
    fn dx(&self, simd: S, i: usize, x: S::f32s, dz: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(self.scale[i], dz, self.without_dz(simd, i, x))
    }

    #[inline(always)]
    fn without_dz(&self, simd: S, i: usize, x: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(self.slope[i], simd.sub_f32s(x, self.mean[i]), self.constant[i])
    }

    #[inline(always)]
    fn add_pixel(&self, simd: S, x: &[S::f32s], dy: &[S::f32s], sum: &mut [S::f32s], sum_d: &mut [S::f32s], relu: bool) {
        for (i, (((x, dy), sum), sum_d)) in x.iter().zip(dy).zip(sum).zip(sum_d).enumerate() {
            let dz = self.dz(simd, i, *x, *dy, relu);
            *sum = simd.add_f32s(*sum, dz);
            *sum_d = simd.mul_add_e_f32s(dz, simd.sub_f32s(*x, self.mean[i]), *sum_d);
        }
    }

    #[inline(always)]
    fn add_square(&self, simd: S, x: [&[S::f32s]; 4], dy: &[S::f32s], sum: &mut [S::f32s], sum_d: &mut [S::f32s]) {
        let [a, b, c, d] = x;
        for (i, ((((((a, b), c), d), dy), sum), sum_d)) in a.iter().zip(b).zip(c).zip(d).zip(dy).zip(sum).zip(sum_d).enumerate() {
            let z = [a, b, c, d].map(|x| simd.mul_add_e_f32s(*x, self.scale[i], self.shift[i]));
            let (zero, mut largest, mut x) = (simd.splat_f32s(0.0), z[0], *a);
            for (z, candidate) in [(z[1], b), (z[2], c), (z[3], d)] {
                let larger = simd.less_than_f32s(largest, z);
                largest = simd.select_f32s(larger, z, largest);
                x = simd.select_f32s(larger, *candidate, x);
            }
            let dz = simd.select_f32s(simd.less_than_or_equal_f32s(largest, zero), zero, *dy);
            *sum = simd.add_f32s(*sum, dz);
            *sum_d = simd.mul_add_e_f32s(dz, simd.sub_f32s(x, self.mean[i]), *sum_d);
        }
    }

    #[inline(always)]
    fn pixel(&self, simd: S, x: &[S::f32s], dy: &[S::f32s], dx: &mut [S::f32s], relu: bool) {
        for (i, ((x, dy), dx)) in x.iter().zip(dy).zip(dx).enumerate() {
            *dx = self.dx(simd, i, *x, self.dz(simd, i, *x, *dy, relu));
        }
    }

    #[inline(always)]
    fn dropped(&self, simd: S, x: &[S::f32s], dx: &mut [S::f32s]) {
        for (i, (x, dx)) in x.iter().zip(dx).enumerate() {
            *dx = self.without_dz(simd, i, *x);
        }
    }

    /// The gradient of a square goes to the first of its largest entries.
    #[inline(always)]
    fn square(&self, simd: S, x: [&[S::f32s]; 4], dy: &[S::f32s], dx: [&mut [S::f32s]; 4]) {
        let ([a, b, c, d], [dx_a, dx_b, dx_c, dx_d]) = (x, dx);
        let inputs = a.iter().zip(b).zip(c).zip(d).zip(dy);
        let outputs = dx_a.iter_mut().zip(dx_b).zip(dx_c).zip(dx_d);
        for (i, (((((a, b), c), d), dy), (((dx_a, dx_b), dx_c), dx_d))) in inputs.zip(outputs).enumerate() {
            let x = [*a, *b, *c, *d];
            let z = x.map(|x| simd.mul_add_e_f32s(x, self.scale[i], self.shift[i]));
            let zero = simd.splat_f32s(0.0);
            let larger = |a, b| simd.select_f32s(simd.less_than_f32s(a, b), b, a);
            let largest = larger(larger(z[0], z[1]), larger(z[2], z[3]));
            let mut left = simd.select_f32s(simd.less_than_or_equal_f32s(largest, zero), zero, *dy);
            for (at, to) in [dx_a, dx_b, dx_c, dx_d].into_iter().enumerate() {
                let here = simd.equal_f32s(z[at], largest);
                *to = self.dx(simd, i, x[at], simd.select_f32s(here, left, zero));
                left = simd.select_f32s(here, zero, left);
            }
        }
    }
}

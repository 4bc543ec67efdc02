//! Slow and obvious versions of the kernels in double precision, and random numbers to feed them.
#![allow(dead_code, reason = "every test file takes what it needs")]

use invar_kernels::{Activation, ConvShape, Level, NormShape, Workspace};

/// Numbers in (-1, 1) that depend on nothing but the seed.
pub(crate) fn random(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

/// A workspace for every instruction set of this processor.
pub(crate) fn workspaces() -> impl Iterator<Item = Workspace> {
    Level::available().map(|level| Workspace::with_level(level).expect("it is available"))
}

/// Calls a function with every pair of pixels that a kernel position connects: output pixel, input pixel, position.
fn connections(shape: &ConvShape, mut visit: impl FnMut(usize, usize, usize)) {
    let reach = (shape.kernel / 2) as isize;
    for n in 0..shape.batch {
        for y in 0..shape.height {
            for x in 0..shape.width {
                for tap in 0..shape.kernel * shape.kernel {
                    let from_y = y as isize + (tap / shape.kernel) as isize - reach;
                    let from_x = x as isize + (tap % shape.kernel) as isize - reach;
                    if (0..shape.height as isize).contains(&from_y) && (0..shape.width as isize).contains(&from_x) {
                        let pixel = |y: usize, x: usize| (n * shape.height + y) * shape.width + x;
                        visit(pixel(y, x), pixel(from_y as usize, from_x as usize), tap);
                    }
                }
            }
        }
    }
}

/// y = x * w + b.
pub(crate) fn forward(shape: &ConvShape, x: &[f32], w: &[f32], bias: &[f32]) -> Vec<f64> {
    let mut y: Vec<f64> = (0..shape.output_len()).map(|at| f64::from(bias[at % shape.outputs])).collect();
    let taps = shape.kernel * shape.kernel;
    connections(shape, |to, from, tap| {
        for o in 0..shape.outputs {
            for i in 0..shape.inputs {
                let weight = f64::from(w[(o * shape.inputs + i) * taps + tap]);
                y[to * shape.outputs + o] += f64::from(x[from * shape.inputs + i]) * weight;
            }
        }
    });
    y
}

/// The gradients of input and weights.
pub(crate) fn backward(shape: &ConvShape, x: &[f32], w: &[f32], dy: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let (mut dx, mut dw) = (vec![0.0; x.len()], vec![0.0; w.len()]);
    let taps = shape.kernel * shape.kernel;
    connections(shape, |to, from, tap| {
        for o in 0..shape.outputs {
            let dy = f64::from(dy[to * shape.outputs + o]);
            for i in 0..shape.inputs {
                let (weight, input) = ((o * shape.inputs + i) * taps + tap, from * shape.inputs + i);
                dx[input] += dy * f64::from(w[weight]);
                dw[weight] += dy * f64::from(x[input]);
            }
        }
    });
    (dx, dw)
}

/// Mean and variance of each feature.
pub(crate) fn moments(shape: &NormShape, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut mean, mut variance) = (vec![0.0; shape.features], vec![0.0; shape.features]);
    let feature = |at: usize| at % shape.channels() / shape.fibre;
    let count = shape.count() as f64;
    x.iter().enumerate().for_each(|(at, x)| mean[feature(at)] += x / count);
    x.iter().enumerate().for_each(|(at, x)| variance[feature(at)] += (x - mean[feature(at)]).powi(2) / count);
    (mean, variance)
}

/// Batch norm with given moments and what follows it.
pub(crate) fn normalise(
    shape: &NormShape,
    (mean, variance): &(Vec<f64>, Vec<f64>),
    (gamma, beta, epsilon): (&[f64], &[f64], f64),
    x: &[f64],
) -> Vec<f64> {
    let channels = shape.channels();
    let z: Vec<f64> = (0..x.len())
        .map(|at| {
            let f = at % channels / shape.fibre;
            gamma[f] * (x[at] - mean[f]) / (variance[f] + epsilon).sqrt() + beta[f]
        })
        .collect();
    match shape.activation {
        Activation::Identity => z,
        Activation::Relu => z.into_iter().map(|z| z.max(0.0)).collect(),
        Activation::ReluPool => {
            let (height, width) = shape.output_size();
            let mut y = vec![0.0_f64; shape.output_len()];
            for (at, y) in y.iter_mut().enumerate() {
                let (channel, pixel) = (at % channels, at / channels);
                let (n, row, column) = (pixel / (height * width), pixel / width % height, pixel % width);
                for (dy, dx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let from = (n * shape.height + 2 * row + dy) * shape.width + 2 * column + dx;
                    *y = y.max(z[from * channels + channel]);
                }
            }
            y
        }
    }
}

/// Asserts that sums are right up to rounding, given the sums of the absolute values of their terms.
#[track_caller]
pub(crate) fn assert_rounded(what: &str, found: &[f32], expected: &[f64], sizes: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}: length");
    for (at, ((found, expected), size)) in found.iter().zip(expected).zip(sizes).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 5e-7 * size, "{what}: entry {at} is {found}, expected {expected}");
    }
}

/// Asserts that numbers agree up to a part of their size, or of 1 if that is larger.
#[track_caller]
pub(crate) fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: length");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= tolerance * (1.0 + expected.abs()), "{what}: entry {at} is {found}, expected {expected}");
    }
}

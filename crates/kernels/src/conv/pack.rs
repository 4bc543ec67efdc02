//! Weights in the order in which the register blocks read them.

use rayon::prelude::*;

use super::ConvShape;
use crate::buffer::Buffer;

/// `[tile of outputs][kernel position][input][output within the tile]`; outputs past the last are zero.
pub(super) fn pack<'a>(shape: &ConvShape, weights: &[f32], lanes: usize, packed: &'a mut Buffer) -> &'a [f32] {
    let taps = shape.taps();
    let packed = packed.stale(shape.outputs.div_ceil(lanes) * taps * shape.inputs * lanes);
    packed.par_chunks_mut(taps * shape.inputs * lanes).enumerate().for_each(|(tile, packed)| {
        for lane in 0..lanes {
            let output = tile * lanes + lane;
            if output < shape.outputs {
                let weights = &weights[output * shape.inputs * taps..][..shape.inputs * taps];
                for (input, weights) in weights.chunks_exact(taps).enumerate() {
                    for (tap, weight) in weights.iter().enumerate() {
                        packed[(tap * shape.inputs + input) * lanes + lane] = *weight;
                    }
                }
            } else {
                packed.iter_mut().skip(lane).step_by(lanes).for_each(|weight| *weight = 0.0);
            }
        }
    });
    packed
}

/// The same for the gradient of the input: inputs and outputs exchanged, the kernel turned by half a turn.
pub(super) fn pack_transposed<'a>(shape: &ConvShape, weights: &[f32], lanes: usize, packed: &'a mut Buffer) -> &'a [f32] {
    let taps = shape.taps();
    let packed = packed.stale(shape.inputs.div_ceil(lanes) * taps * shape.outputs * lanes);
    packed.par_chunks_mut(taps * shape.outputs * lanes).enumerate().for_each(|(tile, packed)| {
        let inputs = tile * lanes..shape.inputs.min((tile + 1) * lanes);
        if inputs.len() < lanes {
            packed.fill(0.0);
        }
        for output in 0..shape.outputs {
            let weights = &weights[(output * shape.inputs + inputs.start) * taps..][..inputs.len() * taps];
            for (lane, weights) in weights.chunks_exact(taps).enumerate() {
                for (tap, weight) in weights.iter().rev().enumerate() {
                    packed[(tap * shape.outputs + output) * lanes + lane] = *weight;
                }
            }
        }
    });
    packed
}

//! Weights in the order in which the register blocks read them.

use rayon::prelude::*;

use super::ConvShape;
use crate::buffer::Buffer;

/// The weights and the bias of a convolution, for register blocks of this many lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'a> {
    /// `[tile of outputs][kernel position][input][output within the tile]`, with zeros past the last output.
    pub(super) weights: &'a [f32],
    /// `[tile of outputs][output within the tile]`.
    pub(super) bias: &'a [f32],
}

/// Packs weights for the forward pass.
pub(super) fn pack<'a>(
    shape: &ConvShape,
    weights: &[f32],
    bias: Option<&[f32]>,
    lanes: usize,
    buffer: &'a mut Buffer,
) -> Packed<'a> {
    let taps = shape.taps();
    let (packed, packed_bias) = split(shape, lanes, buffer);
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
    if let Some(bias) = bias {
        packed_bias[..bias.len()].copy_from_slice(bias);
    }
    Packed { weights: packed, bias: packed_bias }
}

/// Packs weights for the gradient of the input: inputs and outputs exchanged, the kernel turned by half a turn.
pub(super) fn pack_transposed<'a>(shape: &ConvShape, weights: &[f32], lanes: usize, buffer: &'a mut Buffer) -> Packed<'a> {
    let taps = shape.taps();
    let (packed, bias) = split(&shape.transposed(), lanes, buffer);
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
    Packed { weights: packed, bias }
}

/// Room for the weights, and a bias of zero.
fn split<'a>(shape: &ConvShape, lanes: usize, buffer: &'a mut Buffer) -> (&'a mut [f32], &'a mut [f32]) {
    let outputs = shape.outputs.div_ceil(lanes) * lanes;
    let weights = outputs * shape.taps() * shape.inputs;
    let (weights, bias) = buffer.stale(weights + outputs).split_at_mut(weights);
    bias.fill(0.0);
    (weights, bias)
}

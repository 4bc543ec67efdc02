//! Operations on images that lie channels last.

use invar_kernels::{ConvShape, PoolShape, Workspace, conv, pool};
use rayon::prelude::*;

use super::Batch;
use super::vector::affine;
use crate::error::Result;
use crate::op::{Op, Pooling};
use crate::program::wrong;

/// One operation; `shape` is what it makes of an example.
pub(super) fn apply(op: &Op, shape: Vec<usize>, batch: Batch, workspace: &mut Workspace) -> Result<Batch> {
    let (channels, height, width) = (batch.shape[0], batch.shape[1], batch.shape[2]);
    match op {
        Op::Conv { filters, bias } => {
            let sizes =
                ConvShape { batch: batch.examples, height, width, inputs: channels, outputs: shape[0], kernel: filters.shape[2] };
            let mut y = vec![0.0; sizes.output_len()];
            let bias = bias.as_ref().map(|bias| bias.values.as_slice());
            conv::forward(&sizes, &batch.values, &filters.values, bias, &mut y, workspace)?;
            Ok(Batch::last(batch.examples, shape, y))
        }
        Op::BatchNorm { .. } => batch_norm(op, batch),
        Op::MaxPool { window, stride } => Ok(max_pool(*window, *stride, shape, &batch)),
        Op::GroupMax { size } => {
            let values = batch.values.par_chunks(*size).map(largest).collect();
            Ok(Batch::last(batch.examples, shape, values))
        }
        Op::SumChannels => {
            let values = batch.values.par_chunks(channels).map(|pixel| pixel.iter().sum()).collect();
            Ok(Batch::last(batch.examples, shape, values))
        }
        Op::PoolSpace { pooling } => {
            let pooling = match pooling {
                Pooling::Sum => invar_kernels::Pooling::Sum,
                Pooling::Mean => invar_kernels::Pooling::Mean,
            };
            let sizes = PoolShape { batch: batch.examples, pixels: height * width, channels, pooling };
            let mut y = vec![0.0; sizes.output_len()];
            pool::forward(&sizes, &batch.values, &mut y, workspace)?;
            Ok(Batch::new(batch.examples, shape, y))
        }
        _ => Err(wrong(0, op, ("an operation on images".into(), "another".into()))),
    }
}

fn batch_norm(op: &Op, mut batch: Batch) -> Result<Batch> {
    let (scale, shift) = affine(op)?;
    batch.values.par_chunks_mut(batch.shape.iter().product()).for_each(|image| {
        for pixel in image.chunks_mut(scale.len()) {
            pixel.iter_mut().zip(scale.iter().zip(&shift)).for_each(|(x, (scale, shift))| *x = *x * scale + shift);
        }
    });
    Ok(batch)
}

fn max_pool(window: [usize; 2], stride: [usize; 2], shape: Vec<usize>, batch: &Batch) -> Batch {
    let (channels, width) = (batch.shape[0], batch.shape[2]);
    let (rows, columns) = (shape[1], shape[2]);
    let mut values = vec![f32::NEG_INFINITY; batch.examples * rows * columns * channels];
    let images = batch.values.par_chunks(batch.width());
    values.par_chunks_mut(rows * columns * channels).zip(images).for_each(|(to, image)| {
        for (place, to) in to.chunks_mut(channels).enumerate() {
            let (top, left) = (place / columns * stride[0], place % columns * stride[1]);
            for row in top..top + window[0] {
                for pixel in image[(row * width + left) * channels..][..window[1] * channels].chunks(channels) {
                    to.iter_mut().zip(pixel).for_each(|(to, x)| *to = to.max(*x));
                }
            }
        }
    });
    Batch::last(batch.examples, shape, values)
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

//! Operations on examples that lie as their shape says.

use rayon::prelude::*;

use super::Batch;
use crate::error::{Error, Result};
use crate::op::Op;
use crate::row_sets::RowSets;
use crate::tensor::Tensor;

/// Sums that run side by side: as fast as the processor can, and rounding less than a single one.
const LANES: usize = 8;

/// A row of the table for every token.
pub(super) fn gather(table: &Tensor, vocabulary: usize, batch: &Batch) -> Result<Batch> {
    let width = table.shape[1];
    let token = |&value: &f32| {
        if value >= 0.0 && value < vocabulary as f32 && value.fract() == 0.0 {
            return Ok(value as usize);
        }
        Err(Error::misfit("token", format!("a whole number below {vocabulary}"), value))
    };
    let tokens = batch.values.iter().map(token).collect::<Result<Vec<usize>>>()?;
    let values = tokens.iter().flat_map(|&token| &table.values[token * width..][..width]).copied().collect();
    Ok(Batch::new(batch.examples, vec![batch.shape[0], width], values))
}

/// (x - mean) * scale.
pub(super) fn normalise(mean: &Tensor, scale: &Tensor, mut batch: Batch) -> Batch {
    let each = batch.width() / mean.values.len();
    batch.values.par_chunks_mut(batch.shape.iter().product()).for_each(|example| {
        for (part, (mean, scale)) in example.chunks_mut(each).zip(mean.values.iter().zip(&scale.values)) {
            for x in part {
                *x = (*x - mean) * scale;
            }
        }
    });
    batch
}

/// The same as for images, when there is no space or only one axis of it.
pub(super) fn batch_norm(op: &Op, mut batch: Batch) -> Result<Batch> {
    let (scale, shift) = affine(op)?;
    let each = batch.width() / scale.len();
    batch.values.par_chunks_mut(batch.shape.iter().product()).for_each(|example| {
        for (part, (scale, shift)) in example.chunks_mut(each).zip(scale.iter().zip(&shift)) {
            for x in part {
                *x = *x * scale + shift;
            }
        }
    });
    Ok(batch)
}

/// A batch norm as what it multiplies with and what it adds, per channel.
pub(crate) fn affine(op: &Op) -> Result<(Vec<f32>, Vec<f32>)> {
    let Op::BatchNorm { gamma, beta, mean, variance, epsilon } = op else {
        return Err(Error::misfit("operation", "a batch norm", op.name()));
    };
    let scale: Vec<f32> =
        gamma.values.iter().zip(&variance.values).map(|(gamma, variance)| gamma / (variance + epsilon).sqrt()).collect();
    let shift = beta.values.iter().zip(&mean.values).zip(&scale).map(|((beta, mean), scale)| beta - mean * scale).collect();
    Ok((scale, shift))
}

/// The axes in another order.
pub(super) fn transpose(order: &[usize], batch: &Batch) -> Batch {
    let from = transposed(&batch.shape, order);
    let shape = order.iter().map(|&axis| batch.shape[axis]).collect();
    let mut values = vec![0.0; batch.values.len()];
    let width = from.len();
    values.par_chunks_mut(width).zip(batch.values.par_chunks(width)).for_each(|(to, example)| {
        to.iter_mut().zip(&from).for_each(|(to, &from)| *to = example[from]);
    });
    Batch::new(batch.examples, shape, values)
}

/// For each entry of the transposed tensor the entry it comes from.
pub(crate) fn transposed(shape: &[usize], order: &[usize]) -> Vec<usize> {
    let strides: Vec<usize> = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect();
    let mut from = vec![0];
    for &axis in order {
        from =
            from.iter().flat_map(|&base| (0..shape[axis]).map(move |i| (base, i))).map(|(b, i)| b + i * strides[axis]).collect();
    }
    from
}

/// Sums and largest values of sets of rows, `shape` being that of the result.
pub(super) fn pool_rows(sums: &Tensor, largest: &Tensor, shape: Vec<usize>, batch: &Batch) -> Batch {
    let width = batch.shape[1];
    let mut values = vec![0.0; batch.examples * shape[0]];
    // The shape was found from the same sets.
    if let Some(sets) = RowSets::of(sums, largest) {
        values.par_chunks_mut(shape[0]).zip(batch.values.par_chunks(batch.shape.iter().product())).for_each(|(to, example)| {
            for (to, (set, is_largest)) in to.chunks_mut(width).zip(sets.all()) {
                to.copy_from_slice(&example[set[0] * width..][..width]);
                for &row in &set[1..] {
                    let values = to.iter_mut().zip(&example[row * width..][..width]);
                    if is_largest {
                        values.for_each(|(to, &x)| *to = if x > *to || x.is_nan() { x } else { *to });
                    } else {
                        values.for_each(|(to, &x)| *to += x);
                    }
                }
            }
        });
    }
    Batch::new(batch.examples, shape, values)
}

/// W x + b of every row, `shape` being that of the result.
pub(super) fn linear(weight: &Tensor, bias: Option<&Tensor>, shape: Vec<usize>, batch: &Batch) -> Batch {
    let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
    let mut values = vec![0.0; batch.examples * shape.iter().product::<usize>()];
    values.par_chunks_mut(outputs).zip(batch.values.par_chunks(inputs)).for_each(|(to, x)| {
        for (o, (to, row)) in to.iter_mut().zip(weight.values.chunks(inputs)).enumerate() {
            *to = dot(row, x) + bias.map_or(0.0, |bias| bias.values[o]);
        }
    });
    Batch::new(batch.examples, shape, values)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (wide_a, rest_a) = a.as_chunks::<LANES>();
    let (wide_b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in wide_a.iter().zip(wide_b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

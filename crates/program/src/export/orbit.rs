//! An orbit as ONNX nodes: all views side by side, elements as an axis of their own, or for images as groups of channels.

use invar_data::onnx::{Keep, Value, Window};

use super::onnx::{At, batch};
use crate::error::{Error, Result};
use crate::op::{Op, Pooling};
use crate::tensor::Tensor;
use crate::views::{Seen, Views};

/// A value between inner operations.
struct Inside {
    value: Value,
    /// The shape of one view.
    shape: Vec<usize>,
    /// Whether elements and channels are one axis, elements outermost: so that convolutions can be grouped by element.
    stacked: bool,
}

/// Adds the views and all inner operations; the result is batch x elements x features.
pub(super) fn add(at: &mut At<'_>, views: &Tensor, ops: &[Op], x: Value) -> Result<Value> {
    let views = Views::on(at.before, views)?;
    let Views { elements, entries, .. } = views;
    let flat = at.graph.reshape(x, &batch(&[entries]))?;
    let seen = match &views.seen {
        Seen::Entries(seen) => {
            let numbers: Vec<i64> = seen.iter().map(|&(entry, _)| entry as i64).collect();
            let list = at.graph.integers(&format!("{}.views", at.name), &[elements, entries], &numbers)?;
            let found = at.graph.gather_along(flat, list, 1)?;
            if seen.iter().any(|&(_, minus)| minus) {
                let signs: Vec<f32> = seen.iter().map(|&(_, minus)| if minus { -1.0 } else { 1.0 }).collect();
                let signs = at.floats("signs", &[elements, entries], &signs)?;
                at.graph.mul(found, signs)?
            } else {
                found
            }
        }
        Seen::Matrices(values) => {
            // Entry j of the example meets column j of every matrix.
            let width = elements * entries;
            let across: Vec<f32> = (0..entries * width).map(|k| values[k % width * entries + k / width]).collect();
            let matrices = at.floats("views", &[entries, width], &across)?;
            let found = at.graph.matmul(flat, matrices)?;
            at.graph.reshape(found, &batch(&[elements, entries]))?
        }
    };
    let mut inside = Inside { value: seen, shape: at.before.to_vec(), stacked: false };
    let outer = at.name.clone();
    for (index, op) in ops.iter().enumerate() {
        at.name = format!("{outer}.inner.{index}");
        let shape = op.output(&inside.shape).map_err(|misfit| crate::program::wrong(index, op, misfit))?;
        inside = step(at, op, &inside, shape, elements)?;
    }
    at.name = outer;
    Ok(inside.value)
}

fn step(at: &mut At<'_>, op: &Op, inside: &Inside, shape: Vec<usize>, elements: usize) -> Result<Inside> {
    let apart = |shape: &[usize]| batch(&[&[elements], shape].concat());
    let (value, stacked) = match op {
        Op::Gather { table } => {
            let table = at.constant("table", table)?;
            (at.graph.gather(table, inside.value)?, false)
        }
        Op::Reshape { .. } => (at.graph.reshape(inside.value, &apart(&shape))?, false),
        Op::Activate { activation } => (at.activate(*activation, inside.value)?, inside.stacked),
        Op::Linear { weight, bias } => {
            let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
            // The product over the last axis takes the weights the other way round.
            let across: Vec<f32> = (0..inputs * outputs).map(|k| weight.values[k % outputs * inputs + k / outputs]).collect();
            let weight = at.floats("weight", &[inputs, outputs], &across)?;
            let mut y = at.graph.matmul(inside.value, weight)?;
            if let Some(bias) = bias {
                let bias = at.constant("bias", bias)?;
                y = at.graph.add(y, bias)?;
            }
            (y, false)
        }
        Op::Conv { filters, bias } => {
            let x = stack(at, inside, elements)?;
            let [outputs, inputs, k, _] = filters.shape[..] else { return Err(unknown(op)) };
            let every = at.floats("filters", &[elements * outputs, inputs, k, k], &filters.values.repeat(elements))?;
            let bias = bias.as_ref().map(|b| at.floats("bias", &[elements * outputs], &b.values.repeat(elements))).transpose()?;
            let same = Window { pads: [k / 2; 4], ..Window::default() };
            (at.graph.conv(x, every, bias, elements, same)?, true)
        }
        Op::BatchNorm { gamma, beta, mean, variance, epsilon } => {
            let x = stack(at, inside, elements)?;
            let named = [("gamma", gamma), ("beta", beta), ("mean", mean), ("variance", variance)];
            let [a, b, c, d] = named.map(|(name, t)| at.floats(name, &[elements * t.values.len()], &t.values.repeat(elements)));
            (at.graph.batch_norm(x, [a?, b?, c?, d?], *epsilon)?, true)
        }
        Op::MaxPool { window, stride } => {
            let x = stack(at, inside, elements)?;
            (at.graph.max_pool(x, *window, Window { strides: *stride, ..Window::default() })?, true)
        }
        Op::PoolSpace { pooling } => {
            let x = stack(at, inside, elements)?;
            let pooled = match pooling {
                Pooling::Sum => at.graph.reduce_sum(x, &[2, 3], Keep::Nothing)?,
                Pooling::Mean => at.graph.reduce_mean(x, &[2, 3], Keep::Nothing)?,
            };
            (at.graph.reshape(pooled, &apart(&shape))?, false)
        }
        Op::Normalise { .. }
        | Op::Transpose { .. }
        | Op::GroupMax { .. }
        | Op::SumChannels
        | Op::PoolRows { .. }
        | Op::Orbit { .. }
        | Op::Median { .. } => {
            return Err(unknown(op));
        }
    };
    Ok(Inside { value, shape, stacked })
}

/// Images with elements and channels as one axis.
fn stack(at: &mut At<'_>, inside: &Inside, elements: usize) -> Result<Value> {
    if inside.stacked {
        return Ok(inside.value);
    }
    match inside.shape[..] {
        [channels, height, width] => Ok(at.graph.reshape(inside.value, &batch(&[elements * channels, height, width]))?),
        _ => Err(Error::misfit("an inner operation on images", "channels x height x width", inside.shape.len())),
    }
}

fn unknown(op: &Op) -> Error {
    Error::misfit("an inner operation of an orbit, for ONNX", "one of feedforward and small convolutional networks", op.name())
}

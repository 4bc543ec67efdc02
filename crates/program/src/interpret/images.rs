//! Operators on images: batch x channels x height x width.

use super::array::Array;
use super::{Step, Taken};
use crate::error::dims;

/// How the pixels of a window become one.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pool {
    Largest,
    Mean,
}

/// How a window moves over one side.
#[derive(Clone, Copy)]
struct Moving {
    /// Its own side.
    size: usize,
    stride: usize,
    before: usize,
    /// Places it has.
    places: usize,
}

impl Moving {
    /// Positions of the image under the window at a place, each with its position in the window.
    fn under(self, place: usize, side: usize) -> impl Iterator<Item = (usize, usize)> {
        let at = move |k: usize| (place * self.stride + k).checked_sub(self.before).map(|at| (at, k));
        (0..self.size).filter_map(at).filter(move |&(at, _)| at < side)
    }
}

/// How windows move, from the attributes of a node.
fn moving(taken: &Taken<'_>, sides: [usize; 2], sizes: [usize; 2]) -> Step<[Moving; 2]> {
    let numbers = |name: &str, default: usize, count: usize| -> Step<Vec<usize>> {
        let Some(values) = taken.integers(name) else { return Ok(vec![default; count]) };
        let values = values.iter().map(|&value| usize::try_from(value).ok().filter(|&value| value < 1 << 20));
        let values = values.collect::<Option<Vec<_>>>().filter(|values| values.len() == count);
        values.ok_or_else(|| format!("expected {count} numbers as {name}"))
    };
    if numbers("dilations", 1, 2)? != [1, 1] {
        return Err("dilations are not known here".into());
    }
    let padded = taken
        .node
        .attributes
        .get("auto_pad")
        .is_some_and(|pad| !matches!(pad, invar_data::onnx::Attribute::Text(text) if text == "NOTSET"));
    if padded || taken.integer("ceil_mode", 0) != 0 {
        return Err("only plain padding is known here: neither auto_pad nor ceil_mode".into());
    }
    let (strides, pads) = (numbers("strides", 1, 2)?, numbers("pads", 0, 4)?);
    let one = |axis: usize| -> Step<Moving> {
        let (size, stride) = (sizes[axis], strides[axis]);
        let room = (sides[axis] + pads[axis] + pads[axis + 2]).checked_sub(size);
        let places = room.filter(|_| size > 0 && stride > 0).map(|room| room / stride + 1);
        let places = places.ok_or_else(|| format!("a window of {size} does not fit a side of {}", sides[axis]))?;
        Ok(Moving { size, stride, before: pads[axis], places })
    };
    Ok([one(0)?, one(1)?])
}

fn image(x: &Array) -> Step<[usize; 4]> {
    x.shape.as_slice().try_into().map_err(|_| format!("expected batch x channels x height x width, got {}", dims(&x.shape)))
}

pub(super) fn conv(taken: &Taken<'_>) -> Step<Array> {
    let (x, filters) = (taken.array(0)?, taken.array(1)?);
    let ([batch, channels, height, width], [outputs, each, tall, wide]) = (image(x)?, image(filters)?);
    let groups = usize::try_from(taken.integer("group", 1)).unwrap_or(0);
    if groups == 0 || outputs % groups != 0 || each.checked_mul(groups) != Some(channels) {
        return Err(format!("filters {} in {groups} groups do not fit {}", dims(&filters.shape), dims(&x.shape)));
    }
    // Runtimes differ in which of the two they believe.
    if let Some(stated) = taken.integers("kernel_shape").filter(|stated| *stated != [tall as i64, wide as i64]) {
        return Err(format!("kernel_shape {stated:?} contradicts its weights, which are {tall}x{wide}"));
    }
    let [rows, columns] = moving(taken, [height, width], [tall, wide])?;
    let bias = taken.optional(2).map(Array::as_floats).transpose()?;
    if bias.is_some_and(|bias| bias.len() != outputs) {
        return Err(format!("expected {outputs} biases"));
    }
    let shape = [batch, outputs, rows.places, columns.places];
    let (values, weights) = (x.as_floats()?, filters.as_floats()?);
    let entries = taken.ledger.room(&shape)?;
    taken.ledger.work(entries as f64 * each as f64 * (1 + tall) as f64 * (1 + wide) as f64)?;
    let mut made = Vec::with_capacity(entries);
    for (n, o) in (0..batch).flat_map(|n| (0..outputs).map(move |o| (n, o))) {
        let first = o / (outputs / groups) * each;
        for (row, column) in (0..rows.places).flat_map(|row| (0..columns.places).map(move |column| (row, column))) {
            let mut sum = bias.map_or(0.0, |bias| f64::from(bias[o]));
            for i in 0..each {
                let (plane, filter) = ((n * channels + first + i) * height, (o * each + i) * tall);
                for (y, a) in rows.under(row, height) {
                    for (x, b) in columns.under(column, width) {
                        sum += f64::from(values[(plane + y) * width + x]) * f64::from(weights[(filter + a) * wide + b]);
                    }
                }
            }
            made.push(sum as f32);
        }
    }
    Array::floats(&shape, made)
}

pub(super) fn pool(taken: &Taken<'_>, of: Pool) -> Step<Array> {
    let x = taken.array(0)?;
    let [batch, channels, height, width] = image(x)?;
    let kernel = taken.integers("kernel_shape").and_then(|kernel| {
        let sizes: Vec<usize> = kernel.iter().map(|&side| usize::try_from(side).unwrap_or(0)).collect();
        <[usize; 2]>::try_from(sizes).ok()
    });
    let [rows, columns] = moving(taken, [height, width], kernel.ok_or("expected a window of two sides")?)?;
    let counts_padding = taken.integer("count_include_pad", 0) != 0;
    let shape = [batch, channels, rows.places, columns.places];
    let values = x.as_floats()?;
    let entries = taken.ledger.room(&shape)?;
    taken.ledger.work(entries as f64 * (rows.size + height.min(rows.size) * columns.size) as f64)?;
    let mut made = Vec::with_capacity(entries);
    for plane in values.chunks((height * width).max(1)) {
        for (row, column) in (0..rows.places).flat_map(|row| (0..columns.places).map(move |column| (row, column))) {
            let under = rows.under(row, height).flat_map(|(y, _)| columns.under(column, width).map(move |(x, _)| y * width + x));
            let seen: Vec<f32> = under.map(|place| plane[place]).collect();
            made.push(match of {
                Pool::Largest => seen.iter().copied().fold(f32::NEG_INFINITY, f32::max),
                Pool::Mean => mean(&seen, if counts_padding { rows.size * columns.size } else { seen.len() }),
            });
        }
    }
    Array::floats(&shape, made)
}

pub(super) fn global(taken: &Taken<'_>, of: Pool) -> Step<Array> {
    let x = taken.array(0)?;
    let [batch, channels, height, width] = image(x)?;
    let each = |plane: &[f32]| match of {
        Pool::Largest => plane.iter().copied().fold(f32::NEG_INFINITY, f32::max),
        Pool::Mean => mean(plane, plane.len()),
    };
    Array::floats(&[batch, channels, 1, 1], x.as_floats()?.chunks((height * width).max(1)).map(each).collect())
}

fn mean(values: &[f32], count: usize) -> f32 {
    (values.iter().copied().map(f64::from).sum::<f64>() / count as f64) as f32
}

pub(super) fn batch_norm(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let channels = *x.shape.get(1).ok_or("it needs a second axis, the channels")?;
    let inner: usize = x.shape[2..].iter().product();
    let mut parameters = Vec::new();
    for index in 1..5 {
        let values = taken.array(index)?.as_floats()?;
        if values.len() != channels {
            return Err(format!("expected {channels} parameters, got {}", values.len()));
        }
        parameters.push(values);
    }
    let epsilon = taken.float("epsilon", 1e-5);
    let mut values = x.as_floats()?.to_vec();
    for (plane, part) in values.chunks_mut(inner.max(1)).enumerate() {
        let c = plane % channels;
        let scale = parameters[0][c] / (parameters[3][c] + epsilon).sqrt();
        for x in part {
            *x = (*x - parameters[2][c]) * scale + parameters[1][c];
        }
    }
    Array::floats(&x.shape, values)
}

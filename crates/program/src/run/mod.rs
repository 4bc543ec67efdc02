//! Running a program, a few examples at a time.

mod batch;
mod image;
pub(crate) mod vector;

use invar_kernels::Workspace;

use crate::error::{Error, Result, dims};
use crate::op::Op;
use crate::program::{Program, member_shapes, wrong};
use crate::views::Views;
use crate::{Activation, Input, Tensor};
use batch::Batch;

/// Entries of the largest layer that are worked on at once: they stay near the processor, and every core has its part.
const ENTRIES: usize = 1 << 20;

/// The outputs of all examples; the program has passed its check.
pub(crate) fn run(program: &Program, examples: &[f32]) -> Result<Vec<f32>> {
    let (shapes, width) = (program.shapes()?, program.inputs());
    if !examples.len().is_multiple_of(width) {
        let expected = format!("a multiple of {width}, the entries of {}", dims(&program.input.sides()));
        return Err(Error::misfit("entries of the examples", expected, examples.len()));
    }
    let widest = widest(&program.ops, &shapes, program.input.vocabulary())?;
    let outputs = shapes.last().map_or(0, |last| last[0]);
    let mut workspace = Workspace::new()?;
    let mut all = Vec::with_capacity(examples.len() / width * outputs);
    for part in examples.chunks((ENTRIES / widest).max(1) * width) {
        let batch = Batch::new(part.len() / width, program.input.sides(), part.to_vec());
        all.extend(list(&program.ops, &program.input, batch, &mut workspace)?.into_first()?.values);
    }
    Ok(all)
}

/// One operation after the other.
fn list(ops: &[Op], input: &Input, mut batch: Batch, workspace: &mut Workspace) -> Result<Batch> {
    for (index, op) in ops.iter().enumerate() {
        batch = match op {
            Op::Orbit { views, ops } => orbit(views, ops, input, &batch.into_first()?, workspace)?,
            Op::Median { members } => median(members, input, &batch, workspace)?,
            Op::Gather { table } => {
                let Input::Tokens { vocabulary, .. } = input else {
                    return Err(wrong(index, op, ("tokens".into(), input.kind().into())));
                };
                vector::gather(table, *vocabulary, &batch.into_first()?)?
            }
            _ => step(op, batch, workspace)?,
        };
    }
    Ok(batch)
}

fn step(op: &Op, batch: Batch, workspace: &mut Workspace) -> Result<Batch> {
    let fit = |batch: &Batch| op.output(&batch.shape).map_err(|misfit| wrong(0, op, misfit));
    match op {
        Op::Normalise { mean, scale } => Ok(vector::normalise(mean, scale, batch.into_first()?)),
        Op::Reshape { .. } => {
            let batch = batch.into_first()?;
            Ok(Batch::new(batch.examples, fit(&batch)?, batch.values))
        }
        Op::Transpose { order } => Ok(vector::transpose(order, &batch.into_first()?)),
        Op::Linear { weight, bias } => {
            let batch = batch.into_first()?;
            Ok(vector::linear(weight, bias.as_ref(), fit(&batch)?, &batch))
        }
        Op::PoolRows { sums, largest } => {
            let batch = batch.into_first()?;
            Ok(vector::pool_rows(sums, largest, fit(&batch)?, &batch))
        }
        Op::Activate { activation } => Ok(activate(*activation, batch)),
        Op::BatchNorm { .. } if batch.shape.len() != 3 => vector::batch_norm(op, batch.into_first()?),
        Op::Conv { .. }
        | Op::BatchNorm { .. }
        | Op::MaxPool { .. }
        | Op::GroupMax { .. }
        | Op::SumChannels
        | Op::PoolSpace { .. } => {
            let shape = fit(&batch)?;
            image::apply(op, shape, batch.into_last()?, workspace)
        }
        Op::Gather { .. } | Op::Orbit { .. } | Op::Median { .. } => {
            Err(wrong(0, op, ("to be the first operation".into(), "another place".into())))
        }
    }
}

/// Every view of every example through the inner operations.
fn orbit(views: &Tensor, ops: &[Op], input: &Input, batch: &Batch, workspace: &mut Workspace) -> Result<Batch> {
    let views = Views::on(&batch.shape, views)?;
    let elements = views.elements;
    let mut answers = Vec::new();
    for example in batch.values.chunks(views.entries) {
        let inner = Batch::new(elements, batch.shape.clone(), views.see(example));
        answers.extend(list(ops, input, inner, workspace)?.into_first()?.values);
    }
    let features = answers.len() / (batch.examples * elements).max(1);
    Ok(Batch::new(batch.examples, vec![elements, features], answers))
}

/// The median over members, entry by entry.
fn median(members: &[Vec<Op>], input: &Input, batch: &Batch, workspace: &mut Workspace) -> Result<Batch> {
    let answer = |ops: &Vec<Op>| list(ops, input, batch.clone(), workspace)?.into_first();
    let answers: Vec<Batch> = members.iter().map(answer).collect::<Result<_>>()?;
    let Some(first) = answers.first() else { return Err(Error::misfit("a median", "at least one member", 0)) };
    let mut column = vec![0.0; answers.len()];
    let middle = |entry: usize| {
        column.iter_mut().zip(&answers).for_each(|(value, answer)| *value = answer.values[entry]);
        column.sort_by(f32::total_cmp);
        // Where one has no answer there is none: it could be on either side of the others.
        if column.iter().any(|value| value.is_nan()) { f32::NAN } else { column[column.len() / 2] }
    };
    let values = (0..first.values.len()).map(middle).collect();
    Ok(Batch::new(first.examples, first.shape.clone(), values))
}

/// The largest number of entries that an example has anywhere on its way.
fn widest(ops: &[Op], shapes: &[Vec<usize>], vocabulary: Option<usize>) -> Result<usize> {
    let mut widest = shapes.iter().map(|shape| shape.iter().product()).max().unwrap_or(1);
    for (index, op) in ops.iter().enumerate() {
        let Op::Median { members } = op else { continue };
        for ops in members {
            let vocabulary = vocabulary.filter(|_| index == 0);
            widest = widest.max(self::widest(ops, &member_shapes(&shapes[index], vocabulary, ops)?, vocabulary)?);
        }
    }
    Ok(widest.max(1))
}

fn activate(activation: Activation, mut batch: Batch) -> Batch {
    use rayon::prelude::*;
    batch.values.par_chunks_mut(1 << 14).for_each(|part| part.iter_mut().for_each(|x| *x = activation.apply(*x)));
    batch
}

impl Activation {
    /// Its value at a point.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            // Not `max`, which would make a number of what is none.
            Self::Relu => {
                if x > 0.0 || x.is_nan() {
                    x
                } else {
                    0.0
                }
            }
            Self::LeakyRelu => {
                if x > 0.0 {
                    x
                } else {
                    0.01 * x
                }
            }
            Self::Gelu => (f64::from(x) * 0.5 * (1.0 + erf(f64::from(x) / std::f64::consts::SQRT_2))) as f32,
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Tanh => x.tanh(),
        }
    }
}

/// The error function, by its Taylor series, to some 1e-9: more than single precision needs.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[cfg(test)]
mod tests;

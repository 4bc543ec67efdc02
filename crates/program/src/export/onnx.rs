//! A program as an ONNX graph.

use invar_data::Layout;
use invar_data::onnx::{Dim, Gemm, Graph, Keep, Kind, Value, Window};

use super::orbit;
use super::{INPUT, OUTPUT, PROBABILITIES};
use crate::error::Result;
use crate::op::{Op, Pooling};
use crate::program::{Program, member_shapes};
use crate::row_sets::RowSets;
use crate::tensor::Tensor;
use crate::{Activation, Input, Reading};

/// The graph of a program, with the softmax of its outputs beside them if asked for. With `reading` it takes examples in the shape that
/// they have in files.
pub fn graph(program: &Program, probabilities: bool, reading: Option<&Reading>) -> Result<Graph> {
    let shapes = program.shapes()?;
    let mut graph = Graph::new("invar");
    let kind = if matches!(program.input, Input::Tokens { .. }) { Kind::Integer } else { Kind::Float };
    let stored = reading.and_then(|reading| Some((reading, reading.stored.as_deref()?)));
    let input = match stored {
        Some((reading, stored)) => {
            let input = graph.input(INPUT, kind, &batch(stored))?;
            arrange(&mut graph, input, stored, reading, &shapes[0])?
        }
        None => graph.input(INPUT, kind, &batch(&shapes[0]))?,
    };
    let vocabulary = program.input.vocabulary();
    let value = list(&mut graph, &program.ops, &shapes, vocabulary, "", input)?;
    graph.output(OUTPUT, value)?;
    if probabilities {
        let shares = graph.softmax(value, 1)?;
        graph.output(PROBABILITIES, shares)?;
    }
    Ok(graph)
}

/// What a reader does to the shape of examples: another form, channels to the front.
fn arrange(graph: &mut Graph, mut value: Value, stored: &[usize], reading: &Reading, sides: &[usize]) -> Result<Value> {
    let mut shape = stored.to_vec();
    if let Some(form) = reading.shape.as_ref().filter(|form| **form != shape) {
        shape.clone_from(form);
        value = graph.reshape(value, &batch(&shape))?;
    }
    if reading.layout == Layout::ChannelsLast && shape.len() > 1 {
        let order: Vec<usize> = [0, shape.len()].into_iter().chain(1..shape.len()).collect();
        value = graph.transpose(value, &order)?;
        shape.rotate_right(1);
    }
    Ok(if shape == sides { value } else { graph.reshape(value, &batch(sides))? })
}

/// One operation after the other, their numbers behind `names`; of tokens the vocabulary is known.
fn list(
    graph: &mut Graph,
    ops: &[Op],
    shapes: &[Vec<usize>],
    vocabulary: Option<usize>,
    names: &str,
    mut value: Value,
) -> Result<Value> {
    for (index, op) in ops.iter().enumerate() {
        let (name, vocabulary) = (format!("{names}{index}"), vocabulary.filter(|_| index == 0));
        value = At { graph, name, before: &shapes[index], after: &shapes[index + 1], vocabulary }.add(op, value)?;
    }
    Ok(value)
}

/// A shape behind the axis of the batch.
pub(super) fn batch(shape: &[usize]) -> Vec<Dim> {
    std::iter::once(Dim::Batch).chain(shape.iter().map(|&side| Dim::Fixed(side))).collect()
}

/// Where an operation is added: the names of its constants begin with `name`.
pub(super) struct At<'a> {
    pub(super) graph: &'a mut Graph,
    pub(super) name: String,
    pub(super) before: &'a [usize],
    pub(super) after: &'a [usize],
    /// Of tokens.
    vocabulary: Option<usize>,
}

impl At<'_> {
    pub(super) fn constant(&mut self, name: &str, tensor: &Tensor) -> Result<Value> {
        self.floats(name, &tensor.shape, &tensor.values)
    }

    pub(super) fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<Value> {
        Ok(self.graph.floats(&format!("{}.{name}", self.name), shape, values)?)
    }

    fn optional(&mut self, name: &str, tensor: Option<&Tensor>) -> Result<Option<Value>> {
        tensor.map(|tensor| self.constant(name, tensor)).transpose()
    }

    fn add(&mut self, op: &Op, x: Value) -> Result<Value> {
        Ok(match op {
            Op::Gather { table } => {
                let table = self.constant("table", table)?;
                self.graph.gather(table, x)?
            }
            Op::Normalise { mean, scale } => self.normalise(mean, scale, x)?,
            Op::Reshape { shape } => self.graph.reshape(x, &batch(shape))?,
            Op::Transpose { order } => {
                let order: Vec<usize> = std::iter::once(0).chain(order.iter().map(|axis| axis + 1)).collect();
                self.graph.transpose(x, &order)?
            }
            Op::Linear { weight, bias } if self.before.len() > 1 => self.linear_rows(weight, bias.as_ref(), x)?,
            Op::PoolRows { sums, largest } => self.pool_rows(sums, largest, x)?,
            Op::Linear { weight, bias } => {
                let (weight, bias) = (self.constant("weight", weight)?, self.optional("bias", bias.as_ref())?);
                self.graph.gemm(x, weight, bias, Gemm::Transposed)?
            }
            Op::Conv { filters, bias } => {
                let same = Window { pads: [filters.shape[2] / 2; 4], ..Window::default() };
                let (filters, bias) = (self.constant("filters", filters)?, self.optional("bias", bias.as_ref())?);
                self.graph.conv(x, filters, bias, 1, same)?
            }
            Op::BatchNorm { gamma, beta, mean, variance, epsilon } => {
                let values = [("gamma", gamma), ("beta", beta), ("mean", mean), ("variance", variance)];
                let [a, b, c, d] = values.map(|(name, tensor)| self.constant(name, tensor));
                self.graph.batch_norm(x, [a?, b?, c?, d?], *epsilon)?
            }
            Op::Activate { activation } => self.activate(*activation, x)?,
            Op::MaxPool { window, stride } => {
                self.graph.max_pool(x, *window, Window { strides: *stride, ..Window::default() })?
            }
            Op::GroupMax { size } => {
                let area: usize = self.before[1..].iter().product();
                let groups = self.graph.reshape(x, &batch(&[self.after[0], *size, area]))?;
                let largest = self.graph.reduce_max(groups, &[2], Keep::Nothing)?;
                self.graph.reshape(largest, &batch(self.after))?
            }
            Op::SumChannels => self.graph.reduce_sum(x, &[1], Keep::Axes)?,
            Op::PoolSpace { pooling: Pooling::Sum } => self.graph.reduce_sum(x, &[2, 3], Keep::Nothing)?,
            Op::PoolSpace { pooling: Pooling::Mean } => self.graph.reduce_mean(x, &[2, 3], Keep::Nothing)?,
            Op::Orbit { views, ops } => orbit::add(self, views, ops, x)?,
            Op::Median { members } => self.median(members, x)?,
        })
    }

    /// A dense layer of every row: a matrix product, then the bias.
    fn linear_rows(&mut self, weight: &Tensor, bias: Option<&Tensor>, x: Value) -> Result<Value> {
        let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
        let across: Vec<f32> = (0..inputs * outputs).map(|k| weight.values[k % outputs * inputs + k / outputs]).collect();
        let weight = self.floats("weight", &[inputs, outputs], &across)?;
        let product = self.graph.matmul(x, weight)?;
        match self.optional("bias", bias)? {
            Some(bias) => Ok(self.graph.add(product, bias)?),
            None => Ok(product),
        }
    }

    /// Sums as a product with zeros and ones; largest values of the rows of a set, set by set.
    fn pool_rows(&mut self, sums: &Tensor, largest: &Tensor, x: Value) -> Result<Value> {
        let (rows, width) = (self.before[0], self.before[1]);
        let Some(sets) = RowSets::of(sums, largest) else {
            return Err(crate::Error::misfit("sets of rows", "every row in a set", "others"));
        };
        let mut member = vec![0.0; sets.sums.len() * rows];
        for (set, member) in sets.sums.iter().zip(member.chunks_mut(rows)) {
            for &row in set {
                member[row] = 1.0;
            }
        }
        let member = self.floats("member", &[sets.sums.len(), rows], &member)?;
        let summed = self.graph.matmul(member, x)?;
        let mut parts = vec![self.graph.reshape(summed, &batch(&[sets.sums.len() * width]))?];
        for (k, set) in sets.largest.iter().enumerate() {
            let numbers: Vec<i64> = set.iter().map(|&row| row as i64).collect();
            let list = self.graph.integers(&format!("{}.largest{k}", self.name), &[numbers.len()], &numbers)?;
            let chosen = self.graph.gather_along(x, list, 1)?;
            parts.push(self.graph.reduce_max(chosen, &[1], Keep::Nothing)?);
        }
        Ok(if parts.len() == 1 { parts[0] } else { self.graph.concat(&parts, 1)? })
    }

    /// The middle of what the members make. They are sorted entry by entry with the smaller and the larger of neighbours, as many
    /// rounds as there are members.
    fn median(&mut self, members: &[Vec<Op>], x: Value) -> Result<Value> {
        let mut sorted = Vec::new();
        for (k, ops) in members.iter().enumerate() {
            let shapes = member_shapes(self.before, self.vocabulary, ops)?;
            sorted.push(list(self.graph, ops, &shapes, self.vocabulary, &format!("{}.member{k}.", self.name), x)?);
        }
        for round in 0..sorted.len() {
            for low in (round % 2..sorted.len().saturating_sub(1)).step_by(2) {
                let (a, b) = (sorted[low], sorted[low + 1]);
                (sorted[low], sorted[low + 1]) = (self.graph.min(a, b)?, self.graph.max(a, b)?);
            }
        }
        Ok(sorted[sorted.len() / 2])
    }

    /// (x + (-mean)) * scale, in the same order and so with the same rounding.
    fn normalise(&mut self, mean: &Tensor, scale: &Tensor, x: Value) -> Result<Value> {
        let entries: usize = self.before.iter().product();
        let shape = match mean.values.len() {
            count if count == entries => self.before.to_vec(),
            count => std::iter::once(count).chain(self.before.iter().skip(1).map(|_| 1)).collect(),
        };
        let minus: Vec<f32> = mean.values.iter().map(|mean| -mean).collect();
        let (minus, scale) = (self.floats("minus_mean", &shape, &minus)?, self.floats("scale", &shape, &scale.values)?);
        let centred = self.graph.add(x, minus)?;
        Ok(self.graph.mul(centred, scale)?)
    }

    pub(super) fn activate(&mut self, activation: Activation, x: Value) -> Result<Value> {
        Ok(match activation {
            Activation::Relu => self.graph.relu(x)?,
            Activation::LeakyRelu => self.graph.leaky_relu(x, 0.01)?,
            Activation::Sigmoid => self.graph.sigmoid(x)?,
            Activation::Tanh => self.graph.tanh(x)?,
            // GELU became an operator later: x (1 + erf(x / sqrt 2)) / 2.
            Activation::Gelu => {
                let narrow = self.floats("narrow", &[1], &[std::f32::consts::FRAC_1_SQRT_2])?;
                let (one, half) = (self.floats("one", &[1], &[1.0])?, self.floats("half", &[1], &[0.5])?);
                let scaled = self.graph.mul(x, narrow)?;
                let error = self.graph.erf(scaled)?;
                let shifted = self.graph.add(error, one)?;
                let halved = self.graph.mul(shifted, half)?;
                self.graph.mul(x, halved)?
            }
        })
    }
}

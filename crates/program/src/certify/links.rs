//! Which weights a step takes to be equal, and by how much they are not.

use super::ball::affine;
use super::matching::{same, size};
use super::moves::Moves;
use crate::error::Result;
use crate::op::Op;
use crate::tensor::Tensor;

/// What a step rests on.
#[derive(Debug, Clone)]
pub(super) enum Link {
    /// No weights.
    Free,
    /// Rows of weights that go to rows.
    Rows(Rows),
    /// Parameters of channels that go to channels, as the entries do.
    Channels(Moves),
    /// Weights that a matrix mixes: what is left over is known already.
    Known(Gap),
}

/// Weight (o, i) is to be weight (`outputs` of o, `columns` of i), with the signs of both.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) columns: Moves,
    pub(super) outputs: Moves,
    /// For each column its place in a row of the tensor.
    pub(super) place: Vec<usize>,
    /// For each column the input, or the channel, that it is multiplied with.
    pub(super) input: Vec<usize>,
}

/// By how much an operation misses A P = Q A: entry by entry, nothing where it holds exactly.
#[derive(Debug, Clone, Default)]
pub(super) struct Gap {
    pub(super) terms: Vec<Term>,
    /// The largest difference of weights as a part of the largest weight of their row.
    pub(super) share: f64,
}

/// A difference of two weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// The output, or channel, that changes.
    pub(super) output: usize,
    /// The input, or channel, that the weight is multiplied with; nothing for what is added.
    pub(super) input: Option<usize>,
    /// The size of the difference.
    pub(super) by: f64,
}

impl Gap {
    pub(super) fn is_none(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn add(&mut self, output: usize, input: Option<usize>, by: f64, largest: f64) {
        if by > 0.0 {
            self.terms.push(Term { output, input, by });
            self.share = self.share.max(if largest > 0.0 { by / largest } else { 1.0 });
        }
    }
}

impl Link {
    /// What the weights of an operation leave over.
    pub(super) fn gap(&self, op: &Op) -> Result<Gap> {
        let mut gap = Gap::default();
        match (self, op) {
            (Self::Rows(rows), Op::Linear { weight, bias } | Op::Conv { filters: weight, bias }) => {
                rows.gap(weight, bias.as_ref(), &mut gap);
            }
            (Self::Channels(moves), _) => {
                let each = moves.len() / op.tensors().first().map_or(1, |(_, tensor)| tensor.values.len());
                let all = affine(op)?;
                let pairs = moves.to.iter().enumerate().map(|(i, &to)| (i, to, i / each, to / each));
                for (i, to, a, b) in pairs.filter(|&(_, _, a, b)| !same_channel(op, a, b)) {
                    let slack = 8.0 * f64::EPSILON;
                    let by = (all[a].scale - all[b].scale).abs() + slack * (all[a].scale.abs() + all[b].scale.abs());
                    gap.add(to, Some(i), by, all[a].scale.abs());
                    let by = (all[a].shift - all[b].shift).abs() + slack * (all[a].size + all[b].size);
                    gap.add(to, None, by, all[a].size);
                }
            }
            (Self::Known(known), _) => gap = known.clone(),
            _ => {}
        }
        Ok(gap)
    }

    /// Calls `tie` with every pair of entries of a tensor of the operation that are to be equal, and whether up to sign; tensors
    /// have the order of [`Op::tensors`].
    pub(super) fn pairs(&self, op: &Op, mut tie: impl FnMut(usize, usize, usize, bool)) {
        match (self, op) {
            (Self::Rows(rows), Op::Linear { bias, .. } | Op::Conv { bias, .. }) => {
                let width = op.tensors()[0].1.values.len() / rows.outputs.len();
                rows.pairs(width, |a, b, negative| tie(0, a, b, negative));
                for (o, &to) in rows.outputs.to.iter().enumerate().filter(|_| bias.is_some()) {
                    tie(1, o, to, rows.outputs.negative[o]);
                }
            }
            (Self::Channels(moves), _) => {
                for (number, (_, tensor)) in op.tensors().iter().enumerate() {
                    let each = moves.len() / tensor.values.len();
                    moves.to.iter().enumerate().for_each(|(i, &to)| tie(number, i / each, to / each, false));
                }
            }
            _ => {}
        }
    }
}

impl Rows {
    fn pairs(&self, width: usize, mut each: impl FnMut(usize, usize, bool)) {
        for (o, &to) in self.outputs.to.iter().enumerate() {
            for (i, &column) in self.columns.to.iter().enumerate() {
                let negative = self.outputs.negative[o] ^ self.columns.negative[i];
                each(o * width + self.place[i], to * width + self.place[column], negative);
            }
        }
    }

    fn gap(&self, weight: &Tensor, bias: Option<&Tensor>, gap: &mut Gap) {
        let width = weight.values.len() / self.outputs.len();
        let apart = |a: f32, b: f32, negative: bool| (f64::from(b) - f64::from(if negative { -a } else { a })).abs();
        for (o, &to) in self.outputs.to.iter().enumerate() {
            let mut largest = None;
            let mut largest = || *largest.get_or_insert_with(|| size(&weight.values[o * width..][..width]));
            for (i, &column) in self.columns.to.iter().enumerate() {
                let negative = self.outputs.negative[o] ^ self.columns.negative[i];
                let by =
                    apart(weight.values[o * width + self.place[i]], weight.values[to * width + self.place[column]], negative);
                if by > 0.0 {
                    gap.add(to, Some(self.input[i]), by, largest());
                }
            }
            if let Some(bias) = bias {
                let by = apart(bias.values[o], bias.values[to], self.outputs.negative[o]);
                gap.add(to, None, by, f64::from(bias.values[o].abs()));
            }
        }
    }
}

/// Whether all parameters of two channels are equal to the last bit.
fn same_channel(op: &Op, a: usize, b: usize) -> bool {
    a == b || op.tensors().iter().all(|(_, tensor)| same(tensor.values[a], tensor.values[b]))
}

//! What makes features of the examples.

use burn::nn::Linear;
use invar_kernels::{DenseShape, Workspace, dense};

use super::layer::{Dense, Rows, Weights, kernel};
use super::sized;
use super::tokens::{Table, Tokens, where_positive};
use crate::data::{Inputs, Picked};
use crate::embedding::FixedEmbedding;
use crate::feed_forward::CgFeedForward;
use crate::pairs::{self, Pairs};
use crate::{Error, Result};

/// From examples to rows of features.
pub(super) enum Front {
    /// The entries themselves.
    Entries(usize),
    /// A fixed vector for every token.
    Embedded(Table),
    /// phi of a fixed vector, for every token in the order of the pool.
    Tokens(Box<Tokens>),
    /// Features of entries and of pairs of them.
    Numbers(Box<Numbers>),
}

pub(super) struct Numbers {
    weight: Weights,
    bias: Weights,
    second: Dense,
    on_pairs: bool,
    place: Vec<usize>,
    point: Vec<usize>,
    order: Vec<usize>,
    entries: usize,
    signed: bool,
    parts: usize,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    /// Examples with their negatives, where signs change.
    points: Vec<f32>,
    /// Weights and biases for all pairs, or points, and their gradients.
    full: Vec<f32>,
    shift: Vec<f32>,
    d_full: Vec<f32>,
    d_shift: Vec<f32>,
    first: Vec<f32>,
    d_first: Vec<f32>,
    d_second: Vec<f32>,
}

impl Front {
    pub(super) fn of_plain(embedding: Option<&FixedEmbedding>, inputs: usize) -> Result<Self> {
        Ok(match embedding {
            Some(embedding) => Self::Embedded(Table::of(embedding, inputs / embedding.width())?),
            None => Self::Entries(inputs),
        })
    }

    pub(super) fn of_pairs(model: &Pairs) -> Result<Self> {
        let order = model.pool.order.clone();
        Ok(match &model.front {
            pairs::Front::Tokens(front) => Self::Tokens(Box::new(Tokens::of(&front.embedding, &front.phi, order, false)?)),
            pairs::Front::Numbers(front) => {
                let places = |places: &[i32]| places.iter().map(|&place| place as usize).collect();
                Self::Numbers(Box::new(Numbers {
                    weight: Weights::of(&front.weight)?,
                    bias: Weights::of(&front.bias)?,
                    second: Dense::of(&front.second)?,
                    on_pairs: front.on_pairs,
                    place: places(&front.place),
                    point: places(&front.point),
                    order,
                    entries: model.entries,
                    signed: front.signed,
                    parts: front.parts(),
                    buffers: Buffers::default(),
                }))
            }
        })
    }

    pub(super) fn of_cg(model: &CgFeedForward) -> Result<Self> {
        let positions = model.cg.positions();
        Ok(match &model.front {
            Some(front) => {
                let summed = model.cg.features() == 1;
                Self::Tokens(Box::new(Tokens::of(&front.embedding, &front.phi, (0..positions).collect(), summed)?))
            }
            None => Self::Entries(positions * model.cg.features()),
        })
    }

    /// Writes the layer that tokens pass through.
    pub(super) fn write_phi_to(&self, phi: &mut Linear) {
        if let Self::Tokens(front) = self {
            front.phi.write_to(phi);
        }
    }

    pub(super) fn write_to(&self, model: &mut Pairs) {
        match (self, &mut model.front) {
            (Self::Tokens(own), pairs::Front::Tokens(front)) => own.phi.write_to(&mut front.phi),
            (Self::Numbers(own), pairs::Front::Numbers(front)) => {
                own.weight.write_to(&mut front.weight);
                own.bias.write_to(&mut front.bias);
                own.second.write_to(&mut front.second);
            }
            _ => {}
        }
    }

    /// Features of a point.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Entries(_) => 1,
            Self::Embedded(table) => table.width,
            Self::Tokens(front) => front.width(),
            Self::Numbers(front) => front.width(),
        }
    }

    /// Features of an example.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Entries(entries) => *entries,
            Self::Embedded(table) => table.width * table.positions,
            Self::Tokens(front) => front.width() * front.order.len(),
            Self::Numbers(front) => front.width() * front.order.len(),
        }
    }

    /// Whether there is anything in it to train.
    pub(super) fn is_trained(&self) -> bool {
        matches!(self, Self::Tokens(_) | Self::Numbers(_))
    }

    /// Does something with all weights.
    pub(super) fn each_weights(&mut self, mut work: impl FnMut(&mut Weights) -> Result<()>) -> Result<()> {
        match self {
            Self::Entries(_) | Self::Embedded(_) => Ok(()),
            Self::Tokens(front) => [&mut front.phi.weight, &mut front.phi.bias].into_iter().try_for_each(work),
            Self::Numbers(front) => {
                let Numbers { weight, bias, second, .. } = &mut **front;
                [weight, bias, &mut second.weight, &mut second.bias].into_iter().try_for_each(&mut work)
            }
        }
    }

    pub(super) fn check(&self, inputs: &Inputs) -> Result<()> {
        let (kind, entries) = match self {
            Self::Entries(entries) => ("arrays", *entries),
            Self::Embedded(table) => ("tokens", table.positions),
            Self::Tokens(front) => ("tokens", front.order.len()),
            Self::Numbers(front) => ("arrays", front.entries),
        };
        let (got, width) = match inputs {
            Inputs::Tokens { length, .. } => ("tokens", *length),
            Inputs::Array { dim, .. } => ("arrays", *dim),
            Inputs::Images { .. } => ("images", 0),
        };
        match (kind == got, width == entries) {
            (true, true) => Ok(()),
            (true, false) => Err(Error::shape("entries of the input", entries, width)),
            (false, _) => Err(Error::Input { model: "this dense network", expected: kind, got }),
        }
    }

    pub(super) fn forward(&mut self, picked: &Picked, features: &mut [f32], workspace: &mut Workspace) -> Result<()> {
        match (self, picked) {
            (Self::Entries(_), Picked::Array(values)) => features.copy_from_slice(values),
            (Self::Embedded(table), Picked::Tokens(tokens)) => {
                for (to, &token) in features.chunks_exact_mut(table.width).zip(tokens) {
                    to.copy_from_slice(&table.rows[token as usize * table.width..][..table.width]);
                }
            }
            (Self::Tokens(front), Picked::Tokens(tokens)) => front.forward(tokens, features, workspace)?,
            (Self::Numbers(front), Picked::Array(values)) => front.forward(values, features, workspace)?,
            _ => return Err(Error::Input { model: "this dense network", expected: "examples of its kind", got: "others" }),
        }
        Ok(())
    }

    /// The gradients of its weights, after [`Self::forward`].
    pub(super) fn backward(
        &mut self,
        picked: &Picked,
        features: &[f32],
        d_features: &[f32],
        workspace: &mut Workspace,
    ) -> Result<()> {
        match (self, picked) {
            (Self::Tokens(front), Picked::Tokens(tokens)) => front.backward(tokens, d_features, workspace),
            (Self::Numbers(front), Picked::Array(values)) => front.backward(values, features, d_features, workspace),
            _ => Ok(()),
        }
    }
}

impl Numbers {
    fn width(&self) -> usize {
        self.second.outputs + self.parts
    }

    /// All points of some examples: entries, and their negatives where signs change.
    fn points<'a>(entries: usize, signed: bool, values: &'a [f32], buffer: &'a mut Vec<f32>) -> &'a [f32] {
        if !signed {
            return values;
        }
        let points = sized(buffer, 2 * values.len());
        for (to, from) in points.chunks_exact_mut(2 * entries).zip(values.chunks_exact(entries)) {
            to[..entries].copy_from_slice(from);
            to[entries..].iter_mut().zip(from).for_each(|(to, from)| *to = -from);
        }
        points
    }

    fn forward(&mut self, values: &[f32], features: &mut [f32], workspace: &mut Workspace) -> Result<()> {
        let (n, inner, width, count) = (self.order.len(), self.second.inputs, self.width(), values.len() / self.entries);
        let Self { weight, bias, second, on_pairs, place, point, order, entries, signed, buffers, .. } = self;
        let points = Self::points(*entries, *signed, values, &mut buffers.points);
        let full = sized(&mut buffers.full, place.len() * inner);
        spread(&weight.value, place, inner, full);
        let shift = sized(&mut buffers.shift, n * inner);
        spread(&bias.value, point, inner, shift);
        let first = sized(&mut buffers.first, count * n * inner);
        if *on_pairs {
            let shape = DenseShape::new(count, n, n * inner);
            kernel(dense::forward(&shape, points, full, shift, true, first, workspace))?;
        } else {
            for (to, from) in first.chunks_exact_mut(n * inner).zip(points.chunks_exact(n)) {
                for ((to, &i), (weight, shift)) in
                    to.chunks_exact_mut(inner).zip(order.iter()).zip(full.chunks_exact(inner).zip(shift.chunks_exact(inner)))
                {
                    for ((to, weight), shift) in to.iter_mut().zip(weight).zip(shift) {
                        let value = from[i] * weight + shift;
                        *to = if value > dense::TINY { value } else { 0.0 };
                    }
                }
            }
        }
        let learned = second.outputs;
        second.forward_into(Rows::of(first, inner, count * n), true, features, width, workspace)?;
        for (to, from) in features.chunks_exact_mut(n * width).zip(points.chunks_exact(n)) {
            for (to, &i) in to.chunks_exact_mut(width).zip(order.iter()) {
                let (_, parts) = to.split_at_mut(learned);
                parts[0] = from[i].max(0.0);
                if let Some(negative) = parts.get_mut(1) {
                    *negative = (-from[i]).max(0.0);
                }
            }
        }
        Ok(())
    }

    fn backward(&mut self, values: &[f32], features: &[f32], d_features: &[f32], workspace: &mut Workspace) -> Result<()> {
        let (n, inner, width, count) = (self.order.len(), self.second.inputs, self.width(), values.len() / self.entries);
        let Self { weight, bias, second, on_pairs, place, point, order, entries, signed, buffers, .. } = self;
        let points = Self::points(*entries, *signed, values, &mut buffers.points);
        let learned = second.outputs;
        let d_second = sized(&mut buffers.d_second, count * n * learned);
        for (to, (from, features)) in
            d_second.chunks_exact_mut(learned).zip(d_features.chunks_exact(width).zip(features.chunks_exact(width)))
        {
            to.copy_from_slice(&from[..learned]);
            where_positive(to, &features[..learned]);
        }
        let first = &buffers.first[..count * n * inner];
        let d_first = sized(&mut buffers.d_first, count * n * inner);
        second.backward(Rows::of(first, inner, count * n), d_second, Some((&mut *d_first, true)), workspace)?;
        let d_full = sized(&mut buffers.d_full, place.len() * inner);
        let d_shift = sized(&mut buffers.d_shift, n * inner);
        if *on_pairs {
            let shape = DenseShape::new(count, n, n * inner);
            kernel(dense::backward_weights(&shape, points, d_first, d_full, d_shift, workspace))?;
        } else {
            d_full.fill(0.0);
            d_shift.fill(0.0);
            for (from, x) in d_first.chunks_exact(n * inner).zip(points.chunks_exact(n)) {
                d_shift.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                for ((from, &i), to) in from.chunks_exact(inner).zip(order.iter()).zip(d_full.chunks_exact_mut(inner)) {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += x[i] * from);
                }
            }
        }
        gather(d_full, place, inner, &mut weight.gradient);
        gather(d_shift, point, inner, &mut bias.gradient);
        Ok(())
    }
}

/// Rows of weights at all their places.
fn spread(weights: &[f32], places: &[usize], width: usize, to: &mut [f32]) {
    for (to, &class) in to.chunks_exact_mut(width).zip(places) {
        to.copy_from_slice(&weights[class * width..][..width]);
    }
}

/// The sums of gradients over all places of a row of weights.
fn gather(gradients: &[f32], places: &[usize], width: usize, to: &mut [f32]) {
    to.fill(0.0);
    for (from, &class) in gradients.chunks_exact(width).zip(places) {
        to[class * width..][..width].iter_mut().zip(from).for_each(|(to, from)| *to += from);
    }
}

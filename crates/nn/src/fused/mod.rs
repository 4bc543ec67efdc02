//! Training written out for dense networks on arrays and sequences: a forward and a backward pass on plain slices, with the kernels of
//! `invar-kernels` and Adam. Automatic differentiation gives the same gradients (the tests compare them) in several times the time.
//!
//! Numbers that are next to nothing become exact zeros where they are written (see [`invar_kernels::dense::TINY`]): the gradients of
//! units that have gone silent would else decay through denormal numbers.
//!
//! Flow: [`Fused::of`] a network -> [`Fused::step`] -> [`Fused::written_to`] the network.

mod chain;
mod front;
mod layer;
mod loss;
mod pooling;
mod tokens;

use burn::nn::Linear;
use invar_kernels::{Adam, Workspace};

use crate::data::{Augmentation, Dataset, Picked};
use crate::init::Rng;
use crate::network::Network;
use crate::{Error, Result};

use chain::{Chain, Link};
use front::Front;
use layer::kernel;
use loss::Loss;
use pooling::Pooling;

/// Examples per pass in evaluation.
const EVALUATION: usize = 256;

/// A dense network in training.
pub struct Fused {
    front: Front,
    pooling: Option<Pooling>,
    chain: Chain,
    passes: Passes,
    workspace: Workspace,
    /// Steps taken.
    steps: u32,
}

/// What comes before the layers, and gradients with respect to it, kept from one pass to the next.
#[derive(Default)]
struct Passes {
    /// What the front and the pooling have made of the examples.
    features: Vec<f32>,
    pooled: Vec<f32>,
    d_pooled: Vec<f32>,
    d_features: Vec<f32>,
}

/// A buffer of so many numbers, whatever they are.
fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

impl Fused {
    /// Networks for which this is written out; none for others.
    pub(crate) fn of(network: &Network) -> Result<Option<Self>> {
        let mut workspace = kernel(Workspace::new())?;
        let (front, pooling, links) = match network {
            Network::Pairs(model) => {
                let front = Front::of_pairs(model)?;
                let pooling = Pooling::of(&model.pool, front.width());
                (front, pooling, dense([&model.cg, &model.hidden, &model.output])?)
            }
            Network::Plain(model) => {
                let front = Front::of_plain(model.embedding.as_ref(), model.first.weight.dims()[0])?;
                (front, None, dense([&model.first, &model.rho.hidden, &model.rho.output])?)
            }
            Network::Cg(model) if model.is_written_out() => {
                let Some(cg) = Link::of_cg(&model.cg, &mut workspace)? else { return Ok(None) };
                let hidden = model.hidden.as_ref().map(|hidden| Link::of(hidden, true)).transpose()?;
                let links = [Some(cg), hidden, Some(Link::of(&model.output, false)?)];
                (Front::of_cg(model)?, None, links.into_iter().flatten().collect())
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { front, pooling, chain: Chain::new(links), passes: Passes::default(), workspace, steps: 0 }))
    }

    /// The network with the weights that were trained.
    pub(crate) fn written_to(&self, network: Network) -> Network {
        let links = &self.chain.links;
        match network {
            Network::Pairs(mut model) => {
                self.front.write_to(&mut model);
                let layers = [&mut model.cg, &mut model.hidden, &mut model.output];
                layers.into_iter().zip(links).for_each(|(layer, link)| link.write_to(layer));
                Network::Pairs(model)
            }
            Network::Plain(mut model) => {
                let layers = [&mut model.first, &mut model.rho.hidden, &mut model.rho.output];
                layers.into_iter().zip(links).for_each(|(layer, link)| link.write_to(layer));
                Network::Plain(model)
            }
            Network::Cg(mut model) => {
                if let Some(front) = &mut model.front {
                    self.front.write_phi_to(&mut front.phi);
                }
                links[0].write_to_cg(&mut model.cg);
                let layers = model.hidden.iter_mut().chain([&mut model.output]);
                layers.zip(&links[1..]).for_each(|(layer, link)| link.write_to(layer));
                Network::Cg(model)
            }
            other => other,
        }
    }

    /// One step of Adam on some examples; its loss before the step. A loss that is not finite moves nothing.
    pub(crate) fn step(
        &mut self,
        data: &Dataset,
        rows: &[usize],
        rate: f64,
        augment: Option<(Augmentation, &mut Rng)>,
    ) -> Result<f64> {
        let picked = data.picked(rows, augment);
        let loss = self.gradients(&picked, data, rows)?;
        if loss.is_finite() {
            self.steps += 1;
            let adam = Adam { rate: rate as f32, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
            self.front.each_weights(|weights| weights.step(&adam, self.steps, &mut self.workspace))?;
            for link in &mut self.chain.links {
                link.each_weights(|weights| weights.step(&adam, self.steps, &mut self.workspace))?;
                link.settle(&mut self.workspace)?;
            }
        }
        Ok(loss)
    }

    /// Forward and backward: the gradients of all weights, and the mean loss.
    fn gradients(&mut self, picked: &Picked, data: &Dataset, rows: &[usize]) -> Result<f64> {
        let count = rows.len();
        self.forward(picked, count)?;
        let Self { front, pooling, chain, passes, workspace, .. } = self;
        let loss = Loss::of(data, chain.width())?;
        let (answers, gradient) = chain.answers(count);
        let total = loss.gradient(rows, answers, gradient);
        if !total.is_finite() {
            return Ok(total);
        }
        let inputs = if pooling.is_some() { &passes.pooled } else { &passes.features };
        if !front.is_trained() {
            chain.backward(inputs, None, count, workspace)?;
            return Ok(total);
        }
        let d_features = sized(&mut passes.d_features, count * front.len());
        match pooling {
            Some(pooling) => {
                let d_pooled = sized(&mut passes.d_pooled, count * chain.inputs());
                chain.backward(inputs, Some(d_pooled), count, workspace)?;
                pooling.backward(d_pooled, d_features, count);
            }
            None => chain.backward(inputs, Some(d_features), count, workspace)?,
        }
        front.backward(picked, &passes.features[..count * front.len()], d_features, workspace)?;
        Ok(total)
    }

    /// What the network says about the examples, for [`Chain::answers`].
    fn forward(&mut self, picked: &Picked, count: usize) -> Result<()> {
        let Self { front, pooling, chain, passes, workspace, .. } = self;
        let features = sized(&mut passes.features, count * front.len());
        front.forward(picked, features, workspace)?;
        let inputs: &[f32] = match pooling {
            Some(pooling) => {
                let pooled = sized(&mut passes.pooled, count * chain.inputs());
                pooling.forward(features, pooled, count);
                pooled
            }
            None => features,
        };
        chain.forward(inputs, count, workspace)
    }

    /// Mean loss and accuracy.
    pub(crate) fn losses(&mut self, data: &Dataset) -> Result<(f64, f64)> {
        let rows: Vec<usize> = (0..data.len()).collect();
        let loss = Loss::of(data, self.chain.width())?;
        let (mut total, mut right) = (0.0, 0);
        for rows in rows.chunks(EVALUATION) {
            let picked = data.picked(rows, None);
            self.forward(&picked, rows.len())?;
            let (sum, hits) = loss.judge(rows, self.chain.answers(rows.len()).0);
            total += sum;
            right += hits;
        }
        let count = data.len() as f64;
        Ok((total / count, right as f64 / count))
    }

    /// Refuses examples of another kind or size.
    pub(crate) fn check(&self, data: &Dataset) -> Result<()> {
        self.front.check(data.inputs())?;
        let width = self.chain.width();
        if width == data.outputs() { Ok(()) } else { Err(Error::shape("outputs of the network", data.outputs(), width)) }
    }
}

/// Dense layers with a ReLU behind each but the last.
fn dense(layers: [&Linear; 3]) -> Result<Vec<Link>> {
    layers.into_iter().zip([true, true, false]).map(|(layer, relu)| Link::of(layer, relu)).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

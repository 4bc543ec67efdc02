//! Training written out for dense networks on arrays and sequences: a forward and a backward pass on plain slices, with the kernels of
//! `invar-kernels` and Adam. Automatic differentiation gives the same gradients (the tests compare them) in several times the time.
//!
//! Numbers that are next to nothing become exact zeros where they are written (see [`invar_kernels::dense::TINY`]): the gradients of
//! units that have gone silent would else decay through denormal numbers.
//!
//! Flow: [`Fused::of`] a network -> [`Fused::step`] -> [`Fused::written_to`] the network.

mod front;
mod layer;
mod loss;
mod pooling;

use invar_kernels::{Adam, Workspace};

use crate::data::{Augmentation, Dataset, Picked};
use crate::init::Rng;
use crate::network::Network;
use crate::{Error, Result};

use front::Front;
use layer::{Dense, Rows, kernel};
use loss::Loss;
use pooling::Pooling;

/// Examples per pass in evaluation.
const EVALUATION: usize = 256;

/// A dense network in training.
pub struct Fused {
    front: Front,
    pooling: Option<Pooling>,
    layers: [Dense; 3],
    /// Outputs of all layers, and gradients with respect to them.
    passes: Passes,
    workspace: Workspace,
    /// Steps taken.
    steps: u32,
}

/// What a pass writes, kept from one to the next.
#[derive(Default)]
struct Passes {
    /// What the front and the pooling have made of the examples.
    features: Vec<f32>,
    pooled: Vec<f32>,
    /// Of the three dense layers.
    outputs: [Vec<f32>; 3],
    /// With respect to the outputs.
    gradients: [Vec<f32>; 3],
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
        let (front, pooling, layers) = match network {
            Network::Pairs(model) => {
                let front = Front::of_pairs(model)?;
                let pooling = Pooling::of(&model.pool, front.width());
                (front, pooling, [&model.cg, &model.hidden, &model.output])
            }
            Network::Plain(model) => {
                let inputs = model.first.weight.dims()[0];
                (Front::of_plain(model.embedding.as_ref(), inputs)?, None, [&model.first, &model.rho.hidden, &model.rho.output])
            }
            _ => return Ok(None),
        };
        let [first, second, third] = layers;
        let layers = [Dense::of(first)?, Dense::of(second)?, Dense::of(third)?];
        let workspace = kernel(Workspace::new())?;
        Ok(Some(Self { front, pooling, layers, passes: Passes::default(), workspace, steps: 0 }))
    }

    /// The network with the weights that were trained.
    pub(crate) fn written_to(&self, network: Network) -> Network {
        let [first, second, third] = &self.layers;
        match network {
            Network::Pairs(mut model) => {
                self.front.write_to(&mut model);
                first.write_to(&mut model.cg);
                second.write_to(&mut model.hidden);
                third.write_to(&mut model.output);
                Network::Pairs(model)
            }
            Network::Plain(mut model) => {
                first.write_to(&mut model.first);
                second.write_to(&mut model.rho.hidden);
                third.write_to(&mut model.rho.output);
                Network::Plain(model)
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
            for layer in &mut self.layers {
                layer.step(&adam, self.steps, &mut self.workspace)?;
            }
        }
        Ok(loss)
    }

    /// Forward and backward: the gradients of all weights, and the mean loss.
    fn gradients(&mut self, picked: &Picked, data: &Dataset, rows: &[usize]) -> Result<f64> {
        let count = rows.len();
        self.forward(picked, count)?;
        let Self { front, pooling, layers, passes, workspace, .. } = self;
        let [first, second, third] = layers;
        let [a, b, c] = &mut passes.outputs;
        let [da, db, dc] = &mut passes.gradients;
        let loss = Loss::of(data, third.outputs)?;
        let dc = sized(dc, count * third.outputs);
        let total = loss.gradient(rows, &c[..count * third.outputs], dc);
        if !total.is_finite() {
            return Ok(total);
        }
        let db = sized(db, count * second.outputs);
        third.backward(Rows::of(b, third.inputs, count), dc, Some((db, true)), workspace)?;
        let da = sized(da, count * first.outputs);
        second.backward(Rows::of(a, second.inputs, count), db, Some((da, true)), workspace)?;
        let inputs = if pooling.is_some() { &passes.pooled } else { &passes.features };
        if !front.is_trained() {
            first.backward(Rows::of(inputs, first.inputs, count), da, None, workspace)?;
            return Ok(total);
        }
        let d_features = sized(&mut passes.d_features, count * front.len());
        match pooling {
            Some(pooling) => {
                let d_pooled = sized(&mut passes.d_pooled, count * first.inputs);
                first.backward(Rows::of(inputs, first.inputs, count), da, Some((d_pooled, false)), workspace)?;
                pooling.backward(d_pooled, d_features, count);
            }
            None => first.backward(Rows::of(inputs, first.inputs, count), da, Some((d_features, false)), workspace)?,
        }
        front.backward(picked, &passes.features[..count * front.len()], d_features, workspace)?;
        Ok(total)
    }

    /// Fills `passes.outputs`.
    fn forward(&mut self, picked: &Picked, count: usize) -> Result<()> {
        let Self { front, pooling, layers, passes, workspace, .. } = self;
        let [first, second, third] = layers;
        let features = sized(&mut passes.features, count * front.len());
        front.forward(picked, features, workspace)?;
        let inputs: &[f32] = match pooling {
            Some(pooling) => {
                let pooled = sized(&mut passes.pooled, count * first.inputs);
                pooling.forward(features, pooled, count);
                pooled
            }
            None => features,
        };
        let [a, b, c] = &mut passes.outputs;
        let (a, b) = (sized(a, count * first.outputs), sized(b, count * second.outputs));
        first.forward(Rows::of(inputs, first.inputs, count), true, a, workspace)?;
        second.forward(Rows::of(a, second.inputs, count), true, b, workspace)?;
        third.forward(Rows::of(b, third.inputs, count), false, sized(c, count * third.outputs), workspace)
    }

    /// Mean loss and accuracy.
    pub(crate) fn losses(&mut self, data: &Dataset) -> Result<(f64, f64)> {
        let rows: Vec<usize> = (0..data.len()).collect();
        let loss = Loss::of(data, self.layers[2].outputs)?;
        let (mut total, mut right) = (0.0, 0);
        for rows in rows.chunks(EVALUATION) {
            let picked = data.picked(rows, None);
            self.forward(&picked, rows.len())?;
            let outputs = &self.passes.outputs[2][..rows.len() * self.layers[2].outputs];
            let (sum, hits) = loss.judge(rows, outputs);
            total += sum;
            right += hits;
        }
        let count = data.len() as f64;
        Ok((total / count, right as f64 / count))
    }

    /// Refuses examples of another kind or size.
    pub(crate) fn check(&self, data: &Dataset) -> Result<()> {
        self.front.check(data.inputs())?;
        let width = self.layers[2].outputs;
        if width == data.outputs() { Ok(()) } else { Err(Error::shape("outputs of the network", data.outputs(), width)) }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

//! Janossy pooling (Murphy et al., 2019): a permutation-sensitive f averaged over orderings of the input.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, TensorData, activation};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{GruCell, Rho};
use crate::{EMBEDDING, Error, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result, rng};

/// Seed of the orderings averaged in evaluation: the same for every model and example.
const ORDERINGS: u64 = 0x6a61_6e6f;

/// Largest number of k-tuples of positions a layer may average over.
const MOST_TUPLES: usize = 10_000;

/// Which orderings are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// All ordered k-tuples of distinct positions; f is a dense layer with ReLU on the tuple. Exactly invariant.
    Kary(usize),
    /// f is a GRU over the whole sequence: one random ordering per example in training (pi-SGD), the mean over this many in
    /// evaluation.
    Sampled(usize),
}

/// Settings of [`Janossy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JanossyConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Which orderings.
    pub pooling: Pooling,
}

impl JanossyConfig {
    /// Default sizes.
    pub fn new(vocabulary: usize, outputs: usize, pooling: Pooling) -> Self {
        Self { vocabulary, outputs, pooling }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<Janossy> {
        let embedding = FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?;
        let (Pooling::Kary(count) | Pooling::Sampled(count)) = self.pooling;
        if count == 0 {
            return Err(Error::setting("Janossy k or number of permutations", "at least 1", count));
        }
        let (inner, width) = match self.pooling {
            Pooling::Kary(k) => (Inner::Kary(Kary::new(k, init)), NEURONS),
            Pooling::Sampled(permutations) => {
                (Inner::Sampled(Sampled { cell: GruCell::new(EMBEDDING, 64, init), permutations }), 64)
            }
        };
        Ok(Janossy { embedding, inner, rho: Rho::new(width, self.outputs, init)? })
    }
}

/// rho(mean over orderings of f(ordered input)).
#[derive(Module, Debug)]
pub struct Janossy {
    embedding: FixedEmbedding,
    inner: Inner,
    rho: Rho,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a box is not a module, and a program holds few networks")]
enum Inner {
    Kary(Kary),
    Sampled(Sampled),
}

/// f(x_1, ..., x_k) = relu(sum over j of W_j x_j + b), a dense layer on the tuple.
#[derive(Module, Debug)]
struct Kary {
    slots: Vec<Linear>,
    bias: Param<Tensor<1>>,
}

impl Kary {
    fn new(k: usize, init: &mut Init) -> Self {
        let bound = 1.0 / ((k * EMBEDDING) as f64).sqrt();
        let slots = (0..k).map(|_| Linear { weight: init.uniform([EMBEDDING, NEURONS], bound), bias: None }).collect();
        Self { slots, bias: init.uniform([NEURONS], bound) }
    }

    fn forward(&self, embedding: &Tensor<2>, tokens: &Tensor<2, Int>) -> Result<Tensor<2>> {
        let [batch, positions] = tokens.dims();
        let tuples = tuples(positions, self.slots.len())?;
        let count = tuples.len();
        let mut sum: Option<Tensor<2>> = None;
        for (j, slot) in self.slots.iter().enumerate() {
            let at: Vec<i32> = tuples.iter().map(|tuple| tuple[j] as i32).collect();
            let at = Tensor::<1, Int>::from_data(TensorData::new(at, [count]), &tokens.device());
            // W_j x once per vocabulary entry, then looked up for every tuple.
            let part = slot.forward(embedding.clone()).select(0, tokens.clone().select(1, at).reshape([batch * count]));
            sum = Some(match sum {
                Some(sum) => sum + part,
                None => part,
            });
        }
        let sum = sum.ok_or_else(|| Error::setting("Janossy k", "at least 1", 0))?;
        let f = activation::relu(sum + self.bias.val().unsqueeze());
        Ok(f.reshape([batch, count, NEURONS]).mean_dim(1).reshape([batch, NEURONS]))
    }
}

/// All ordered k-tuples of distinct positions.
fn tuples(positions: usize, k: usize) -> Result<Vec<Vec<usize>>> {
    let count = (0..k).try_fold(1usize, |count, i| count.checked_mul(positions.saturating_sub(i)));
    if !count.is_some_and(|count| (1..=MOST_TUPLES).contains(&count)) {
        return Err(Error::setting("Janossy k", "small enough for at most 10,000 tuples and at most the length", k));
    }
    let mut tuples = vec![vec![]];
    for _ in 0..k {
        tuples = tuples
            .iter()
            .flat_map(|t: &Vec<usize>| (0..positions).filter(|p| !t.contains(p)).map(|p| [t.as_slice(), &[p]].concat()))
            .collect();
    }
    Ok(tuples)
}

#[derive(Module, Debug)]
struct Sampled {
    cell: GruCell,
    #[module(skip)]
    permutations: usize,
}

impl Sampled {
    fn forward(&self, embedding: &Tensor<2>, tokens: &Tensor<2, Int>, pass: &mut Pass) -> Result<Tensor<2>> {
        let [batch, positions] = tokens.dims();
        let device = tokens.device();
        if let Some(rng) = pass.rng() {
            let mut orders = Vec::with_capacity(batch * positions);
            for _ in 0..batch {
                let mut order: Vec<i32> = (0..positions as i32).collect();
                order.shuffle(rng);
                orders.extend(order);
            }
            let orders = Tensor::<2, Int>::from_data(TensorData::new(orders, [batch, positions]), &device);
            return Ok(self.cell.run(embedding.clone(), &tokens.clone().gather(1, orders)));
        }
        let mut rng = rng(ORDERINGS, 0);
        let mut order: Vec<i32> = (0..positions as i32).collect();
        let mut sum: Option<Tensor<2>> = None;
        for _ in 0..self.permutations {
            order.shuffle(&mut rng);
            let at = Tensor::<1, Int>::from_data(TensorData::new(order.clone(), [positions]), &device);
            let state = self.cell.run(embedding.clone(), &tokens.clone().select(1, at));
            sum = Some(match sum {
                Some(sum) => sum + state,
                None => state,
            });
        }
        let sum = sum.ok_or_else(|| Error::setting("number of permutations", "at least 1", 0))?;
        Ok(sum.div_scalar(self.permutations as f64))
    }
}

impl Model for Janossy {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let tokens = input.tokens("Janossy pooling")?;
        let embedding = self.embedding.table.val();
        Ok(self.rho.forward(match &self.inner {
            Inner::Kary(kary) => kary.forward(&embedding, &tokens)?,
            Inner::Sampled(sampled) => sampled.forward(&embedding, &tokens, pass)?,
        }))
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        match &self.inner {
            Inner::Kary(kary) => {
                format!("Janossy pooling: {}-tuples, dense {NEURONS} ReLU, mean, dense {NEURONS} ReLU, output", kary.slots.len())
            }
            Inner::Sampled(sampled) => format!(
                "Janossy pooling: GRU 64 over one random ordering in training, mean over {} in evaluation, dense {NEURONS} ReLU, output",
                sampled.permutations
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_ordered_and_distinct() {
        assert_eq!(tuples(3, 2).unwrap(), [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]);
        assert_eq!(tuples(10, 2).unwrap().len(), 90);
        assert!(tuples(2, 3).is_err() && tuples(100, 5).is_err());
    }
}

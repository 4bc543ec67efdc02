//! DeepSets (Zaheer et al., 2017): rho(sum over i of phi(x_i)).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};

use super::Rho;
use crate::{EMBEDDING, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result, gather};

/// Settings of [`DeepSets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeepSetsConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Width of both layers of phi.
    pub width: usize,
}

impl DeepSetsConfig {
    /// Default sizes.
    pub fn new(vocabulary: usize, outputs: usize) -> Self {
        Self { vocabulary, outputs, width: NEURONS }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<DeepSets> {
        Ok(DeepSets {
            embedding: FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?,
            first: init.linear(EMBEDDING, self.width),
            second: init.linear(self.width, self.width),
            rho: Rho::new(self.width, self.outputs, init)?,
        })
    }
}

/// rho(sum over i of phi(x_i)), phi of two layers, evaluated once per vocabulary entry.
#[derive(Module, Debug)]
pub struct DeepSets {
    embedding: FixedEmbedding,
    first: Linear,
    second: Linear,
    rho: Rho,
}

impl Model for DeepSets {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let tokens = input.tokens("DeepSets")?;
        let table = self.second.forward(activation::relu(self.first.forward(self.embedding.table.val())));
        let width = table.dims()[1];
        let [batch, _] = tokens.dims();
        Ok(self.rho.forward(gather(table, tokens).sum_dim(1).reshape([batch, width])))
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        let width = self.second.weight.dims()[1];
        format!("DeepSets: phi {width} ReLU {width}, sum, dense {NEURONS} ReLU, output")
    }
}

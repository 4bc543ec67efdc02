//! A plain feedforward network on the flattened input: no symmetry at all.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};

use super::Rho;
use crate::{EMBEDDING, Error, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result};

/// Settings of [`Plain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainConfig {
    /// Number of distinct tokens, or nothing for real vectors.
    pub vocabulary: Option<usize>,
    /// Positions of a sequence, or entries of a vector.
    pub length: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Width of the first layer.
    pub width: usize,
}

impl PlainConfig {
    /// Default sizes for sequences.
    pub fn tokens(vocabulary: usize, length: usize, outputs: usize) -> Self {
        Self { vocabulary: Some(vocabulary), length, outputs, width: 64 }
    }

    /// Default sizes for real vectors.
    pub fn array(dim: usize, outputs: usize) -> Self {
        Self { vocabulary: None, length: dim, outputs, width: NEURONS }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<Plain> {
        if self.length == 0 || self.width == 0 {
            return Err(Error::setting("length and width", "at least 1", format!("{} and {}", self.length, self.width)));
        }
        let embedding = self.vocabulary.map(|v| FixedEmbedding::new(v, EMBEDDING, init)).transpose()?;
        let inputs = self.length * embedding.as_ref().map_or(1, FixedEmbedding::width);
        Ok(Plain { embedding, first: init.linear(inputs, self.width), rho: Rho::new(self.width, self.outputs, init)? })
    }
}

/// rho(relu(W x + b)), x being the embedded sequence in one piece, or a real vector.
#[derive(Module, Debug)]
pub struct Plain {
    pub(crate) embedding: Option<FixedEmbedding>,
    pub(crate) first: Linear,
    pub(crate) rho: Rho,
}

impl Model for Plain {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let x: Tensor<2> = match (&self.embedding, input) {
            (Some(embedding), Input::Tokens(tokens)) => embedding.forward(tokens).flatten(1, 2),
            (None, Input::Array(x)) => x,
            (Some(_), other) => {
                return Err(Error::Input { model: "this plain network", expected: "tokens", got: other.kind() });
            }
            (None, other) => {
                return Err(Error::Input { model: "this plain network", expected: "arrays", got: other.kind() });
            }
        };
        let expected = self.first.weight.dims()[0];
        if x.dims()[1] != expected {
            return Err(Error::shape("flattened input", expected, x.dims()[1]));
        }
        Ok(self.rho.forward(activation::relu(self.first.forward(x))))
    }

    fn vocabulary(&self) -> Option<usize> {
        self.embedding.as_ref().map(FixedEmbedding::vocabulary)
    }

    fn describe(&self) -> String {
        let [inputs, width] = self.first.weight.dims();
        format!("Plain feedforward: {inputs} inputs, dense {width} ReLU, dense {NEURONS} ReLU, output")
    }
}

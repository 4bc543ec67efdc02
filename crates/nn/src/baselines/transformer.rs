//! Transformer encoder (Vaswani et al., 2017) with sinusoidal positional encoding.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::{AttentionBlock, Rho};
use crate::{EMBEDDING, Error, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result, gather};

/// Settings of [`Transformer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransformerConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Positions of a sequence.
    pub length: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Width of the model.
    pub width: usize,
    /// Attention heads; must divide the width.
    pub heads: usize,
    /// Encoder layers.
    pub layers: usize,
    /// Width of the feedforward part of each layer.
    pub feed_forward: usize,
}

impl TransformerConfig {
    /// Default sizes: two layers of width 64 with four heads.
    pub fn new(vocabulary: usize, length: usize, outputs: usize) -> Self {
        Self { vocabulary, length, outputs, width: 64, heads: 4, layers: 2, feed_forward: 128 }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<Transformer> {
        let mut encoder = Vec::with_capacity(self.layers);
        for _ in 0..self.layers {
            encoder.push(AttentionBlock::new(self.width, self.heads, Some(self.feed_forward), init)?);
        }
        Ok(Transformer {
            embedding: FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?,
            project: init.linear(EMBEDDING, self.width),
            positions: init.fixed(sinusoids(self.length, self.width), [self.length, self.width]),
            encoder,
            heads: self.heads,
            feed_forward: self.feed_forward,
            rho: Rho::new(self.width, self.outputs, init)?,
        })
    }
}

/// sin(t / 10000^(2i/d)) in even columns, the cosine in odd ones.
fn sinusoids(length: usize, width: usize) -> Vec<f32> {
    let entry = |t: usize, column: usize| {
        let angle = t as f64 / 10_000f64.powf((column - column % 2) as f64 / width as f64);
        (if column.is_multiple_of(2) { angle.sin() } else { angle.cos() }) as f32
    };
    (0..length).flat_map(|t| (0..width).map(move |column| entry(t, column))).collect()
}

/// rho(sum over positions of the encoder's outputs).
#[derive(Module, Debug)]
pub struct Transformer {
    embedding: FixedEmbedding,
    project: Linear,
    positions: Param<Tensor<2>>,
    encoder: Vec<AttentionBlock>,
    rho: Rho,
    #[module(skip)]
    heads: usize,
    #[module(skip)]
    feed_forward: usize,
}

impl Model for Transformer {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let tokens = input.tokens("Transformer")?;
        let [batch, length] = tokens.dims();
        let [longest, width] = self.positions.dims();
        if length != longest {
            return Err(Error::shape("positions of a sequence", longest, length));
        }
        let x = gather(self.project.forward(self.embedding.table.val()), tokens);
        let mut x = x + self.positions.val().unsqueeze_dim::<3>(0);
        for block in &self.encoder {
            x = block.forward(x.clone(), x);
        }
        Ok(self.rho.forward(x.sum_dim(1).reshape([batch, width])))
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        format!(
            "Transformer: {} encoder layers of width {}, {} heads, feedforward {}, sum, dense {NEURONS} ReLU, output",
            self.encoder.len(),
            self.positions.dims()[1],
            self.heads,
            self.feed_forward
        )
    }
}

#[cfg(test)]
mod tests {
    use super::sinusoids;

    #[test]
    fn sinusoids_by_hand() {
        let s = sinusoids(2, 4);
        let expected = [0.0, 1.0, 0.0, 1.0, 1f32.sin(), 1f32.cos(), 0.01f32.sin(), 0.01f32.cos()];
        assert!(s.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{s:?}");
    }
}

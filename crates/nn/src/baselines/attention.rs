//! Multi-head attention and the block around it, shared by the Transformer and the Set Transformer.
//!
//! Dense layers run on `[batch * positions, width]`: their weight gradient is then one product instead of one per example.

use burn::module::Module;
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::{Tensor, activation};

use crate::{Error, Init, Result};

/// softmax(Q K^T / sqrt(width / heads)) V per head, then a dense layer (Vaswani et al., 2017, Section 3.2).
#[derive(Module, Debug)]
pub struct Attention {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) output: Linear,
    #[module(skip)]
    heads: usize,
}

impl Attention {
    /// Draws the four dense layers; the heads must divide the width.
    pub fn new(width: usize, heads: usize, init: &mut Init) -> Result<Self> {
        if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
            return Err(Error::setting("heads", "a divisor of the width", format!("{heads} for {width}")));
        }
        let mut linear = || init.linear(width, width);
        Ok(Self { query: linear(), key: linear(), value: linear(), output: linear(), heads })
    }

    /// Attends from each row of `x` to the rows of `y`.
    ///
    /// # Shapes
    /// - x: `[batch, n, width]`
    /// - y: `[batch, k, width]`
    /// - output: `[batch, n, width]`
    pub fn forward(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        let [batch, n, width] = x.dims();
        let scale = 1.0 / ((width / self.heads) as f64).sqrt();
        let query = self.split(&self.query, x).mul_scalar(scale);
        let scores = query.matmul(self.split(&self.key, y.clone()).swap_dims(2, 3));
        let mixed = activation::softmax(scores, 3).matmul(self.split(&self.value, y));
        rows(&self.output, mixed.swap_dims(1, 2).reshape([batch, n, width]))
    }

    /// `[batch, n, width]` to `[batch, heads, n, width / heads]`.
    fn split(&self, linear: &Linear, x: Tensor<3>) -> Tensor<4> {
        let [batch, n, width] = x.dims();
        rows(linear, x).reshape([batch, n, self.heads, width / self.heads]).swap_dims(1, 2)
    }
}

/// A dense layer on every row.
pub(super) fn rows(linear: &Linear, x: Tensor<3>) -> Tensor<3> {
    let [batch, n, width] = x.dims();
    let y = linear.forward(x.reshape([batch * n, width]));
    let width = y.dims()[1];
    y.reshape([batch, n, width])
}

/// LN(h + F(h)) with h = LN(x + Attention(x, y)). F is relu(W h) in the Set Transformer (its rFF) and W2 relu(W1 h) in the
/// Transformer.
#[derive(Module, Debug)]
pub struct AttentionBlock {
    attention: Attention,
    after_attention: LayerNorm,
    inner: Linear,
    outer: Option<Linear>,
    after_feed_forward: LayerNorm,
}

impl AttentionBlock {
    /// Draws a block; `feed_forward` is the inner width of a two-layer F.
    pub fn new(width: usize, heads: usize, feed_forward: Option<usize>, init: &mut Init) -> Result<Self> {
        let attention = Attention::new(width, heads, init)?;
        let inner = init.linear(width, feed_forward.unwrap_or(width));
        let outer = feed_forward.map(|inner| init.linear(inner, width));
        let norm = |init: &Init| LayerNormConfig::new(width).init(init.device());
        Ok(Self { attention, inner, outer, after_attention: norm(init), after_feed_forward: norm(init) })
    }

    /// `[batch, n, width]` and `[batch, k, width]` to `[batch, n, width]`.
    pub fn forward(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        let h = self.after_attention.forward(x.clone() + self.attention.forward(x, y));
        let mut f = activation::relu(rows(&self.inner, h.clone()));
        if let Some(outer) = &self.outer {
            f = rows(outer, f);
        }
        self.after_feed_forward.forward(h + f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::attention::{MhaInput, MultiHeadAttentionConfig};
    use burn::tensor::Device;

    #[test]
    fn agrees_with_burns_attention() {
        let device = Device::flex();
        let mut init = Init::new(2, &device);
        let ours = Attention::new(12, 3, &mut init).unwrap();
        let mut reference = MultiHeadAttentionConfig::new(12, 3).with_dropout(0.0).init(&device);
        reference.query = ours.query.clone();
        reference.key = ours.key.clone();
        reference.value = ours.value.clone();
        reference.output = ours.output.clone();
        let (x, y) = (init.normal([4, 5, 12], 1.0).val(), init.normal([4, 7, 12], 1.0).val());
        let theirs = reference.forward(MhaInput::new(x.clone(), y.clone(), y.clone())).context;
        let gap: f32 = (ours.forward(x, y) - theirs).abs().max().into_scalar();
        assert!(gap < 1e-5, "{gap}");
    }

    #[test]
    fn heads_must_divide_the_width() {
        let mut init = Init::new(2, &Device::flex());
        assert!(Attention::new(12, 5, &mut init).is_err() && Attention::new(12, 0, &mut init).is_err());
    }
}

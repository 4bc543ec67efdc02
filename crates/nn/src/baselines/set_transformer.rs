//! Set Transformer (Lee et al., 2019): attention between the elements of a set, pooled by attention.

use burn::module::{Module, Param};
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::{Tensor, activation};

use super::Rho;
use crate::{EMBEDDING, Error, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result, gather};

/// Settings of [`SetTransformer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTransformerConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Width of every attention block.
    pub width: usize,
    /// Attention heads; must divide the width.
    pub heads: usize,
    /// Encoder blocks.
    pub blocks: usize,
    /// Inducing points of an ISAB encoder; none makes the blocks SABs, the cheaper choice for short sequences.
    pub inducing: Option<usize>,
}

impl SetTransformerConfig {
    /// Default sizes: two SABs.
    pub fn new(vocabulary: usize, outputs: usize) -> Self {
        Self {
            vocabulary,
            outputs,
            width: 64,
            heads: 4,
            blocks: 2,
            inducing: None,
        }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<SetTransformer> {
        if self.heads == 0 || !self.width.is_multiple_of(self.heads) {
            return Err(Error::setting(
                "heads",
                "a divisor of the width",
                self.heads,
            ));
        }
        let encoder = (0..self.blocks)
            .map(|_| EncoderBlock {
                inducing: self.inducing.map(|points| Inducing {
                    points: seeds(points, self.width, init),
                    block: Mab::new(self.width, self.heads, init),
                }),
                block: Mab::new(self.width, self.heads, init),
            })
            .collect();
        Ok(SetTransformer {
            embedding: FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?,
            project: init.linear(EMBEDDING, self.width),
            encoder,
            before_pooling: init.linear(self.width, self.width),
            seed: seeds(1, self.width, init),
            pooling: Mab::new(self.width, self.heads, init),
            rho: Rho::new(self.width, self.outputs, init)?,
        })
    }
}

/// Learned rows that queries come from, Xavier uniform as in the paper's code.
fn seeds(count: usize, width: usize, init: &mut Init) -> Param<Tensor<2>> {
    init.uniform([count, width], (6.0 / (count + width) as f64).sqrt())
}

/// MAB(X, Y) = LN(H + rFF(H)) with H = LN(X + Multihead(X, Y, Y)).
#[derive(Module, Debug)]
struct Mab {
    attention: MultiHeadAttention,
    after_attention: LayerNorm,
    feed_forward: Linear,
    after_feed_forward: LayerNorm,
}

impl Mab {
    fn new(width: usize, heads: usize, init: &mut Init) -> Self {
        let device = init.device().clone();
        let attention = MultiHeadAttentionConfig::new(width, heads)
            .with_dropout(0.0)
            .init(&device);
        Self {
            attention: init.redraw(attention),
            after_attention: LayerNormConfig::new(width).init(&device),
            feed_forward: init.linear(width, width),
            after_feed_forward: LayerNormConfig::new(width).init(&device),
        }
    }

    fn forward(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        let attended = self
            .attention
            .forward(MhaInput::new(x.clone(), y.clone(), y))
            .context;
        let h = self.after_attention.forward(x + attended);
        self.after_feed_forward
            .forward(h.clone() + activation::relu(self.feed_forward.forward(h)))
    }
}

#[derive(Module, Debug)]
struct Inducing {
    points: Param<Tensor<2>>,
    block: Mab,
}

/// SAB(X) = MAB(X, X), or ISAB(X) = MAB(X, MAB(I, X)) with inducing points I.
#[derive(Module, Debug)]
struct EncoderBlock {
    inducing: Option<Inducing>,
    block: Mab,
}

impl EncoderBlock {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let y = match &self.inducing {
            Some(inducing) => inducing
                .block
                .forward(repeat(inducing.points.val(), x.dims()[0]), x.clone()),
            None => x.clone(),
        };
        self.block.forward(x, y)
    }
}

fn repeat(rows: Tensor<2>, batch: usize) -> Tensor<3> {
    let [count, width] = rows.dims();
    rows.unsqueeze_dim::<3>(0).expand([batch, count, width])
}

/// rho(PMA(SAB(SAB(x)))), PMA(Z) = MAB(S, rFF(Z)) with one learned seed S.
#[derive(Module, Debug)]
pub struct SetTransformer {
    embedding: FixedEmbedding,
    project: Linear,
    encoder: Vec<EncoderBlock>,
    before_pooling: Linear,
    seed: Param<Tensor<2>>,
    pooling: Mab,
    rho: Rho,
}

impl Model for SetTransformer {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let tokens = input.tokens("Set Transformer")?;
        let mut x = gather(self.project.forward(self.embedding.table.val()), tokens);
        for block in &self.encoder {
            x = block.forward(x);
        }
        let [batch, _, width] = x.dims();
        let x = activation::relu(self.before_pooling.forward(x));
        let pooled = self.pooling.forward(repeat(self.seed.val(), batch), x);
        Ok(self.rho.forward(pooled.reshape([batch, width])))
    }

    fn describe(&self) -> String {
        let kind = match self
            .encoder
            .first()
            .and_then(|block| block.inducing.as_ref())
        {
            Some(inducing) => format!("ISAB with {} inducing points", inducing.points.dims()[0]),
            None => "SAB".to_owned(),
        };
        let width = self.seed.dims()[1];
        format!(
            "Set Transformer: {} x {kind} of width {width}, PMA, dense {NEURONS} ReLU, output",
            self.encoder.len()
        )
    }
}

//! Set Transformer (Lee et al., 2019): attention between the elements of a set, pooled by attention.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};

use super::attention::rows;
use super::{AttentionBlock, Rho};
use crate::{EMBEDDING, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result, gather};

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
        Self { vocabulary, outputs, width: 64, heads: 4, blocks: 2, inducing: None }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<SetTransformer> {
        // MAB(X, Y) = LN(H + rFF(H)) with H = LN(X + Multihead(X, Y, Y)).
        let mab = |init: &mut Init| AttentionBlock::new(self.width, self.heads, None, init);
        let mut encoder = Vec::with_capacity(self.blocks);
        for _ in 0..self.blocks {
            let inducing = match self.inducing {
                Some(points) => Some(Inducing { points: seeds(points, self.width, init), block: mab(init)? }),
                None => None,
            };
            encoder.push(EncoderBlock { inducing, block: mab(init)? });
        }
        Ok(SetTransformer {
            embedding: FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?,
            project: init.linear(EMBEDDING, self.width),
            encoder,
            before_pooling: init.linear(self.width, self.width),
            seed: seeds(1, self.width, init),
            pooling: mab(init)?,
            rho: Rho::new(self.width, self.outputs, init)?,
        })
    }
}

/// Learned rows that queries come from, Xavier uniform as in the paper's code.
fn seeds(count: usize, width: usize, init: &mut Init) -> Param<Tensor<2>> {
    init.uniform([count, width], (6.0 / (count + width) as f64).sqrt())
}

#[derive(Module, Debug)]
struct Inducing {
    points: Param<Tensor<2>>,
    block: AttentionBlock,
}

/// SAB(X) = MAB(X, X), or ISAB(X) = MAB(X, MAB(I, X)) with inducing points I.
#[derive(Module, Debug)]
struct EncoderBlock {
    inducing: Option<Inducing>,
    block: AttentionBlock,
}

impl EncoderBlock {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let y = match &self.inducing {
            Some(inducing) => inducing.block.forward(repeat(inducing.points.val(), x.dims()[0]), x.clone()),
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
    pooling: AttentionBlock,
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
        let x = activation::relu(rows(&self.before_pooling, x));
        let pooled = self.pooling.forward(repeat(self.seed.val(), batch), x);
        Ok(self.rho.forward(pooled.reshape([batch, width])))
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        let kind = match self.encoder.first().and_then(|block| block.inducing.as_ref()) {
            Some(inducing) => format!("ISAB with {} inducing points", inducing.points.dims()[0]),
            None => "SAB".to_owned(),
        };
        let width = self.seed.dims()[1];
        format!("Set Transformer: {} x {kind} of width {width}, PMA, dense {NEURONS} ReLU, output", self.encoder.len())
    }
}

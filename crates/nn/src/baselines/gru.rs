//! A gated recurrent unit (Cho et al., 2014) over the sequence.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, activation};

use super::Rho;
use crate::{EMBEDDING, FixedEmbedding, Init, Input, Model, NEURONS, Pass, Result};

/// One GRU layer, gates side by side: update z, reset r, candidate n.
///
/// z = s(Wz x + Uz h), r = s(Wr x + Ur h), n = tanh(Wn x + r * (Un h)), h' = (1 - z) n + z h, each product with its bias.
#[derive(Module, Debug)]
pub struct GruCell {
    /// W of the three gates, `[inputs, 3 * hidden]`.
    pub(super) input: Linear,
    /// U of the three gates, `[hidden, 3 * hidden]`.
    pub(super) recurrent: Linear,
}

impl GruCell {
    /// Draws the cell.
    pub fn new(inputs: usize, hidden: usize, init: &mut Init) -> Self {
        Self { input: init.linear(inputs, 3 * hidden), recurrent: init.linear(hidden, 3 * hidden) }
    }

    /// The state after the last token. Products with the fixed embedding are made once per vocabulary entry.
    ///
    /// # Shapes
    /// - embedding: `[vocabulary, inputs]`
    /// - tokens: `[batch, positions]`
    /// - output: `[batch, hidden]`
    pub fn run(&self, embedding: Tensor<2>, tokens: &Tensor<2, Int>) -> Tensor<2> {
        let [batch, positions] = tokens.dims();
        let hidden = self.recurrent.weight.dims()[0];
        let table = self.input.forward(embedding);
        let mut state = Tensor::zeros([batch, hidden], &table.device());
        for t in 0..positions {
            let token = tokens.clone().slice([0..batch, t..t + 1]).reshape([batch]);
            state = self.step(table.clone().select(0, token), state);
        }
        state
    }

    fn step(&self, x: Tensor<2>, state: Tensor<2>) -> Tensor<2> {
        let [batch, hidden] = state.dims();
        let h = self.recurrent.forward(state.clone());
        let (gates, candidate) = (0..2 * hidden, 2 * hidden..3 * hidden);
        let gates = activation::sigmoid(x.clone().slice([0..batch, gates.clone()]) + h.clone().slice([0..batch, gates]));
        let update = gates.clone().slice([0..batch, 0..hidden]);
        let reset = gates.slice([0..batch, hidden..2 * hidden]);
        let new = activation::tanh(x.slice([0..batch, candidate.clone()]) + reset * h.slice([0..batch, candidate]));
        new.clone() + update * (state - new)
    }
}

/// Settings of [`GruNet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GruNetConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Size of the state.
    pub hidden: usize,
}

impl GruNetConfig {
    /// Default sizes.
    pub fn new(vocabulary: usize, outputs: usize) -> Self {
        Self { vocabulary, outputs, hidden: 64 }
    }

    /// Draws the network.
    pub fn init(&self, init: &mut Init) -> Result<GruNet> {
        Ok(GruNet {
            embedding: FixedEmbedding::new(self.vocabulary, EMBEDDING, init)?,
            rho: Rho::new(self.hidden, self.outputs, init)?,
            cell: GruCell::new(EMBEDDING, self.hidden, init),
        })
    }
}

/// rho(last state of a GRU).
#[derive(Module, Debug)]
pub struct GruNet {
    embedding: FixedEmbedding,
    cell: GruCell,
    rho: Rho,
}

impl Model for GruNet {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let tokens = input.tokens("GRU")?;
        Ok(self.rho.forward(self.cell.run(self.embedding.table.val(), &tokens)))
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        format!("GRU: state {}, dense {NEURONS} ReLU, output", self.cell.recurrent.weight.dims()[0])
    }
}

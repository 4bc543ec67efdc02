//! The dense readout that every baseline shares with the CG network.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};

use crate::{Error, Init, NEURONS, Result};

/// One hidden layer of 128 with ReLU, then the outputs: the rho of Appendix E.2.
#[derive(Module, Debug)]
pub struct Rho {
    pub(crate) hidden: Linear,
    pub(crate) output: Linear,
}

impl Rho {
    /// Draws the readout of `inputs` numbers.
    pub fn new(inputs: usize, outputs: usize, init: &mut Init) -> Result<Self> {
        if inputs == 0 || outputs == 0 {
            return Err(Error::setting("width and outputs", "at least 1", format!("{inputs} and {outputs}")));
        }
        Ok(Self { hidden: init.linear(inputs, NEURONS), output: init.linear(NEURONS, outputs) })
    }

    /// `[batch, inputs]` to `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(activation::relu(self.hidden.forward(x)))
    }
}

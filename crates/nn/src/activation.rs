//! Pointwise activations.

use burn::tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};

/// The nonlinearity sigma of Eq. 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// None: as in the published network, where the dense layers behind bend instead.
    #[default]
    Identity,
    /// max(x, 0).
    Relu,
    /// x for positive inputs, 0.01 x else.
    LeakyRelu,
    /// Gaussian error linear unit.
    Gelu,
    /// Logistic function.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// Applies it entry by entry.
    pub fn forward<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => x,
            Self::Relu => activation::relu(x),
            Self::LeakyRelu => activation::leaky_relu(x, 0.01),
            Self::Gelu => activation::gelu(x),
            Self::Sigmoid => activation::sigmoid(x),
            Self::Tanh => activation::tanh(x),
        }
    }
}

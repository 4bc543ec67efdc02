//! What follows an equivariant backbone: a CG layer whose lattice lives on the elements of the group, then dense layers. With
//! the weights inside Bt(M) the whole network is exactly invariant to the groups of M.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};
use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use crate::cg_linear::{Bias, CgLinear, CgLinearConfig};
use crate::lattices::LayerLattice;
use crate::pass::check_dropout;
use crate::{Activation, Error, Head, Init, NEURONS, Pass, Result};

/// Settings of a [`CgHead`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `neurons` | 128 | of the CG layer, which has a ReLU behind it, and of the hidden layer | >= 1 |
/// | `head` | affine | what follows the CG layer | |
/// | `dropout` | 0 | before the outputs | [0, 1) |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CgHeadConfig {
    /// Width of the CG layer and of the hidden layer.
    pub neurons: usize,
    /// What follows the CG layer.
    pub head: Head,
    /// Dropout before the outputs.
    pub dropout: f64,
}

impl Default for CgHeadConfig {
    fn default() -> Self {
        Self { neurons: NEURONS, head: Head::Affine, dropout: 0.0 }
    }
}

impl CgHeadConfig {
    /// Draws the head for `features` values per element; with `imposed`, invariant to those candidates.
    pub(crate) fn init(
        &self,
        lattice: &LayerLattice,
        imposed: Option<&GroupSet>,
        features: usize,
        outputs: usize,
        init: &mut Init,
    ) -> Result<CgHead> {
        check_dropout(self.dropout)?;
        if outputs == 0 {
            return Err(Error::setting("outputs", "at least 1", outputs));
        }
        let mut layer = CgLinearConfig::new(lattice.bases().clone(), self.neurons).per_feature(features);
        layer = layer.bias(Bias::PerNeuron).activation(Activation::Relu);
        if let Some(set) = imposed {
            layer = layer.imposed(lattice.invariant_basis(set)?);
        }
        let cg = layer.init(init)?;
        let hidden = (self.head == Head::Hidden).then(|| init.linear(self.neurons, self.neurons));
        Ok(CgHead { cg, hidden, output: init.linear(self.neurons, outputs), dropout: self.dropout })
    }
}

/// A CG layer on the elements of a group, then dense layers.
#[derive(Module, Debug)]
pub struct CgHead {
    /// The CG-invariant layer.
    pub cg: CgLinear,
    pub(crate) hidden: Option<Linear>,
    pub(crate) output: Linear,
    #[module(skip)]
    dropout: f64,
}

impl CgHead {
    /// `[batch, elements, features]` to `[batch, outputs]`.
    pub(crate) fn forward(&self, x: Tensor<3>, pass: &mut Pass) -> Tensor<2> {
        let mut x = self.cg.forward_features(x);
        if let Some(hidden) = &self.hidden {
            x = activation::relu(hidden.forward(x));
        }
        self.output.forward(pass.dropout(x, self.dropout))
    }

    pub(crate) fn describe(&self) -> String {
        let hidden = if self.hidden.is_some() { format!("dense {} ReLU, ", self.cg.neurons()) } else { String::new() };
        format!(
            "CG layer {} elements x {} features -> {} ReLU over {} subspaces, {hidden}output {}",
            self.cg.positions(),
            self.cg.features(),
            self.cg.neurons(),
            self.cg.layout().blocks.len(),
            self.output.weight.dims()[1]
        )
    }
}

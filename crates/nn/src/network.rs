//! One trait for every model and one enum over them, so that training, evaluation and records need no type parameters.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::averaged::Averaged;
use crate::baselines::{DeepSets, GruNet, Janossy, Plain, SetTransformer, Transformer};
use crate::feed_forward::CgFeedForward;
use crate::fused::Fused;
use crate::init::trained;
use crate::{CgWeights, Cnn, Input, Lift, Orbit, Pairs, Pass, Penalty, Result};

/// A network that can be trained.
pub trait Model: Module {
    /// Outputs `[batch, outputs]`.
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>>;

    /// The weights of the CG layers, from the input on.
    fn cg_layers(&self) -> Vec<&CgWeights> {
        Vec::new()
    }

    /// The same, to be replaced.
    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        Vec::new()
    }

    /// The sum of the penalty over CG layers, or nothing when there are none.
    fn penalty(&self, penalty: &Penalty) -> Result<Option<Tensor<1>>> {
        penalty.total(&self.cg_layers())
    }

    /// Training written out for this network, if it is; else automatic differentiation trains it.
    fn fused(&self) -> Result<Option<Fused>> {
        Ok(None)
    }

    /// The network with the weights that were trained so.
    #[must_use]
    fn with_weights(self, _trained: &Fused) -> Self {
        self
    }

    /// Examples per pass in evaluation: large enough to be fast, small enough for memory.
    fn batch(&self) -> usize {
        1000
    }

    /// Number of distinct tokens the network knows, if it takes tokens; the largest token is one less.
    fn vocabulary(&self) -> Option<usize> {
        None
    }

    /// Number of trained parameters; fixed embeddings and bases do not count.
    fn parameters(&self) -> usize {
        trained(self)
    }

    /// One line: layers and sizes.
    fn describe(&self) -> String;
}

/// Any model of this crate.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a box is not a module, and a program holds few networks")]
pub enum Network {
    /// The CG-invariant feedforward network (Appendix E.2).
    Cg(CgFeedForward),
    /// Transformer encoder.
    Transformer(Transformer),
    /// Gated recurrent unit.
    Gru(GruNet),
    /// DeepSets.
    DeepSets(DeepSets),
    /// Janossy pooling.
    Janossy(Janossy),
    /// Set Transformer.
    SetTransformer(SetTransformer),
    /// Plain feedforward network.
    Plain(Plain),
    /// Convolutional network for images (Appendix E.1).
    Cnn(Cnn),
    /// Group convolutions with a CG head.
    Lift(Lift),
    /// Any network from every side, with a CG head.
    Orbit(Orbit),
    /// Weights on pairs of entries, tied along what is imposed.
    Pairs(Pairs),
    /// A plain network, averaged over a group.
    Averaged(Averaged),
}

macro_rules! each {
    ($network:expr, $model:ident => $body:expr) => {
        match $network {
            Network::Cg($model) => $body,
            Network::Transformer($model) => $body,
            Network::Gru($model) => $body,
            Network::DeepSets($model) => $body,
            Network::Janossy($model) => $body,
            Network::SetTransformer($model) => $body,
            Network::Plain($model) => $body,
            Network::Cnn($model) => $body,
            Network::Lift($model) => $body,
            Network::Orbit($model) => $body,
            Network::Pairs($model) => $body,
            Network::Averaged($model) => $body,
        }
    };
}

impl Network {
    /// The CG network, when it is one.
    pub fn cg(&self) -> Option<&CgFeedForward> {
        match self {
            Self::Cg(model) => Some(model),
            _ => None,
        }
    }
}

impl From<CgFeedForward> for Network {
    fn from(model: CgFeedForward) -> Self {
        Self::Cg(model)
    }
}

impl From<Cnn> for Network {
    fn from(model: Cnn) -> Self {
        Self::Cnn(model)
    }
}

impl From<Lift> for Network {
    fn from(model: Lift) -> Self {
        Self::Lift(model)
    }
}

impl From<Orbit> for Network {
    fn from(model: Orbit) -> Self {
        Self::Orbit(model)
    }
}

impl From<Pairs> for Network {
    fn from(model: Pairs) -> Self {
        Self::Pairs(model)
    }
}

impl From<Averaged> for Network {
    fn from(model: Averaged) -> Self {
        Self::Averaged(model)
    }
}

impl Model for Network {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        each!(self, model => model.forward(input, pass))
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        each!(self, model => model.cg_layers())
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        each!(self, model => model.cg_layers_mut())
    }

    fn fused(&self) -> Result<Option<Fused>> {
        Fused::of(self)
    }

    fn with_weights(self, trained: &Fused) -> Self {
        trained.written_to(self)
    }

    fn batch(&self) -> usize {
        each!(self, model => model.batch())
    }

    fn vocabulary(&self) -> Option<usize> {
        each!(self, model => model.vocabulary())
    }

    fn describe(&self) -> String {
        each!(self, model => model.describe())
    }
}

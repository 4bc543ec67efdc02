//! The equivariant lift for any small group: any network, asked about the input from every side, and a CG head.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::kind::Basic;
use invar_algebra::{Group, GroupSet};
use serde::{Deserialize, Serialize};

use crate::baselines::{Plain, PlainConfig};
use crate::cg_head::{CgHead, CgHeadConfig};
use crate::cnn::{Cnn, CnnConfig, Depth};
use crate::directions::rows;
use crate::elements::Elements;
use crate::lattices::Lattices;
use crate::{CgWeights, Error, Init, Input, Model, Pass, Result};

/// Inner examples per pass in evaluation.
const BATCH: usize = 1024;

/// The network that looks at the input from every side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InnerConfig {
    /// Dense layers on an embedded sequence; groups act on its positions.
    Tokens {
        /// Number of distinct tokens; the largest token is one less.
        vocabulary: usize,
    },
    /// Dense layers on a real vector.
    Array,
    /// A small convolutional network; groups act on `channels x height x width`.
    Images {
        /// Multiplies the channels of every convolution.
        width: f64,
    },
}

/// Settings of an [`Orbit`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `inner` | | the network f | |
/// | `outputs` | 1 | 1 for regression, else classes | >= 1 |
/// | `features` | 32 | outputs of f | >= 1 |
/// | `head` | see [`CgHeadConfig`] | | |
/// | `imposed` | none | candidates the whole network must be invariant to | |
/// | `cap` | 256 | largest group: f runs once per element | >= 1 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrbitConfig {
    /// The network f.
    pub inner: InnerConfig,
    /// Number of outputs.
    pub outputs: usize,
    /// Outputs of f.
    pub features: usize,
    /// CG layer and what follows it.
    pub head: CgHeadConfig,
    /// Candidates that are imposed; nothing: the penalty decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imposed: Option<GroupSet>,
    /// Largest group.
    pub cap: usize,
}

impl OrbitConfig {
    /// Default sizes.
    pub fn new(inner: InnerConfig, outputs: usize) -> Self {
        Self { inner, outputs, features: 32, head: CgHeadConfig::default(), imposed: None, cap: 256 }
    }

    /// The lattice of the head, on the elements of the group that all candidates generate.
    pub fn lattices(&self, groups: &[Group]) -> Result<Lattices> {
        let layer = self.elements(groups)?.lattice(groups.iter().enumerate())?;
        Lattices::new(groups.len(), vec![layer])
    }

    /// Draws the network for candidates that act on the input, on the lattice of [`OrbitConfig::lattices`].
    pub fn init(&self, groups: &[Group], lattices: &Lattices, init: &mut Init) -> Result<Orbit> {
        let elements = self.elements(groups)?;
        let [layer] = lattices.layers() else {
            return Err(Error::shape("lattices of an orbit network", 1, lattices.layers().len()));
        };
        if layer.bases().dim != elements.list().len() {
            return Err(Error::shape("lattice of an orbit network", elements.list().len(), layer.bases().dim));
        }
        let shape = groups[0].shape();
        let inner = match self.inner {
            InnerConfig::Tokens { vocabulary } => {
                Inner::Dense(PlainConfig::tokens(vocabulary, shape.len(), self.features).init(init)?)
            }
            InnerConfig::Array => Inner::Dense(PlainConfig::array(shape.len(), self.features).init(init)?),
            InnerConfig::Images { width } => {
                let &[channels, _, _] = shape.sides() else {
                    return Err(Error::shape("shape of the candidates", "channels x height x width", shape));
                };
                let config = CnnConfig { channels, width, depth: Depth::Small, dropout: 0.0, ..CnnConfig::new(self.features) };
                Inner::Images(config.init(None, init)?)
            }
        };
        // (g^-1 x)(i) = x(g i).
        let views = elements.list().iter().flat_map(|g| g.images().iter().map(|i| *i as i32)).collect();
        Ok(Orbit {
            inner,
            head: self.head.init(layer, self.imposed.as_ref(), self.features, self.outputs, init)?,
            views,
            sides: shape.sides().to_vec(),
        })
    }

    fn elements(&self, groups: &[Group]) -> Result<Elements> {
        if groups.is_empty() {
            return Err(Error::setting("candidates", "at least one group", 0));
        }
        Elements::of(&Group::join("all candidates", groups)?, self.cap)
    }
}

/// The kinds of inner network.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a program holds few networks")]
pub(crate) enum Inner {
    Dense(Plain),
    Images(Cnn),
}

/// Phi(x)_g = f(g^-1 x) for every element g, and a CG head on the elements. Moving x by h moves Phi from g to h g, whatever f
/// is. See [`OrbitConfig`].
#[derive(Module, Debug)]
pub struct Orbit {
    pub(crate) inner: Inner,
    /// The CG layer on the elements and what follows it.
    pub head: CgHead,
    /// For each element g and entry i of the input the entry g i, elements x entries.
    #[module(skip)]
    pub(crate) views: Vec<i32>,
    #[module(skip)]
    sides: Vec<usize>,
}

impl Orbit {
    /// Number of elements of the group.
    pub fn elements(&self) -> usize {
        self.head.cg.positions()
    }

    /// The input from every side: `[batch, entries]` to `[batch * elements, entries]`.
    fn views<K: Basic>(&self, x: Tensor<2, K>) -> Result<Tensor<2, K>> {
        let [batch, entries] = x.dims();
        let expected = self.views.len() / self.elements();
        if entries != expected {
            return Err(Error::shape("entries of the input", expected, entries));
        }
        let index = rows(&self.views, &x.device());
        Ok(x.select(1, index).reshape([batch * self.elements(), entries]))
    }
}

impl Model for Orbit {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let features = match (&self.inner, input) {
            (Inner::Dense(f), Input::Tokens(tokens)) => f.forward(Input::Tokens(self.views(tokens)?), pass)?,
            (Inner::Dense(f), Input::Array(x)) => f.forward(Input::Array(self.views(x)?), pass)?,
            (Inner::Images(f), Input::Images(x)) => {
                let [batch, channels, height, width] = x.dims();
                if self.sides != [channels, height, width] {
                    return Err(Error::shape("images", format!("{:?}", self.sides), format!("{:?}", [channels, height, width])));
                }
                let views = self.views(x.reshape([batch, channels * height * width]))?;
                f.forward(Input::Images(views.reshape([batch * self.elements(), channels, height, width])), pass)?
            }
            (Inner::Dense(_), other) => {
                return Err(Error::Input { model: "this orbit network", expected: "tokens or arrays", got: other.kind() });
            }
            (Inner::Images(_), other) => {
                return Err(Error::Input { model: "this orbit network", expected: "images", got: other.kind() });
            }
        };
        let [rows, width] = features.dims();
        let features = features.reshape([rows / self.elements(), self.elements(), width]);
        Ok(self.head.forward(features, pass))
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        vec![&self.head.cg.weights]
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        vec![&mut self.head.cg.weights]
    }

    fn vocabulary(&self) -> Option<usize> {
        match &self.inner {
            Inner::Dense(f) => f.vocabulary(),
            Inner::Images(f) => f.vocabulary(),
        }
    }

    fn batch(&self) -> usize {
        BATCH.div_ceil(self.elements())
    }

    fn describe(&self) -> String {
        let inner = match &self.inner {
            Inner::Dense(f) => f.describe(),
            Inner::Images(f) => f.describe(),
        };
        format!("Orbit of {} elements of ({inner}), {}", self.elements(), self.head.describe())
    }
}

#[cfg(test)]
#[path = "orbit_tests.rs"]
mod tests;

//! The equivariant lift for any small group: any network, asked about the input from every side, and a CG head.

use burn::module::Module;
use burn::tensor::kind::Basic;
use burn::tensor::{Int, Tensor, TensorData};
use invar_algebra::{Action, Group, GroupSet};
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
/// Most numbers in the matrices of all elements together.
const ENTRIES: usize = 1 << 24;

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
        let views = Views::of(&elements)?;
        if matches!(self.inner, InnerConfig::Tokens { .. }) && !matches!(views, Views::Places(_)) {
            return Err(Error::shape("candidates on tokens", "permutations of positions", "signs or matrices"));
        }
        let head = self.head.init(layer, self.imposed.as_ref(), self.features, self.outputs, init)?;
        Ok(Orbit { inner, head, views, sides: shape.sides().to_vec() })
    }

    /// The elements of the group that all candidates generate: the sides that f sees the input from.
    pub fn elements(&self, groups: &[Group]) -> Result<Elements> {
        if groups.is_empty() {
            return Err(Error::setting("candidates", "at least one group", 0));
        }
        Elements::of(&Group::join("all candidates", groups)?, self.cap)
    }
}

/// The input from every side, g^-1 x for every element g.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Views {
    /// For each element and entry i of its view the entry of the input that is seen there, g i: elements x entries.
    Places(Vec<i32>),
    /// The same, and what it is multiplied with, 1 or -1.
    Signed(Vec<i32>, Vec<f32>),
    /// The matrix of g^-1 for each element, by rows: elements x entries x entries.
    Matrices(Vec<f32>),
}

impl Views {
    pub(crate) fn of(elements: &Elements) -> Result<Self> {
        let list = elements.list();
        if list.iter().any(|g| matches!(g, Action::Rational(_) | Action::Real(_))) {
            return Self::matrices(list);
        }
        let (mut places, mut signs) = (Vec::new(), Vec::new());
        for g in list {
            let (moves, negative) = match g {
                Action::Signed(signed) => (signed.permutation(), signed.negative().to_vec()),
                Action::Permutation(moves) => (moves, vec![false; moves.len()]),
                Action::Rational(_) | Action::Real(_) => unreachable!("there are no matrices"),
            };
            places.extend(moves.images().iter().map(|i| *i as i32));
            signs.extend(negative.into_iter().map(|minus| if minus { -1.0 } else { 1.0 }));
        }
        Ok(if signs.iter().all(|sign| *sign > 0.0) { Self::Places(places) } else { Self::Signed(places, signs) })
    }

    fn matrices(list: &[Action]) -> Result<Self> {
        let n = list[0].len();
        if list.len() * n * n > ENTRIES {
            let expected = format!("few and small enough for {ENTRIES} numbers in all");
            return Err(Error::shape("matrices of the elements", expected, format!("{} of {n}x{n}", list.len())));
        }
        let mut values = vec![0.0; list.len() * n * n];
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for (g, matrix) in list.iter().zip(values.chunks_mut(n * n)) {
            let undo = g.inverse().expect("elements of a group have inverses");
            for j in 0..n {
                unit[j] = 1.0;
                undo.apply(&unit, &mut column);
                unit[j] = 0.0;
                column.iter().enumerate().for_each(|(i, &entry)| matrix[i * n + j] = entry as f32);
            }
        }
        match values.iter().find(|value| !value.is_finite()) {
            Some(_) => Err(Error::shape("matrices of the elements", "entries below 1e38", "larger ones")),
            None => Ok(Self::Matrices(values)),
        }
    }

    /// Entries of a view.
    pub(crate) fn entries(&self, elements: usize) -> usize {
        match self {
            Self::Places(places) | Self::Signed(places, _) => places.len() / elements,
            Self::Matrices(values) => (values.len() / elements).isqrt(),
        }
    }

    /// The input from every side: `[batch, entries]` to `[batch * elements, entries]`.
    pub(crate) fn of_numbers(&self, x: Tensor<2>, elements: usize) -> Tensor<2> {
        let ([batch, entries], device) = (x.dims(), x.device());
        let width = elements * entries;
        let seen = match self {
            Self::Places(places) => x.select(1, rows(places, &device)),
            Self::Signed(places, signs) => {
                let signs = Tensor::<2>::from_data(TensorData::new(signs.clone(), [1, width]), &device);
                x.select(1, rows(places, &device)) * signs
            }
            Self::Matrices(values) => {
                let stacked = Tensor::<2>::from_data(TensorData::new(values.clone(), [width, entries]), &device);
                x.matmul(stacked.transpose())
            }
        };
        seen.reshape([batch * elements, entries])
    }

    /// As the operation of a program has them.
    pub(crate) fn tensor(&self, elements: usize) -> invar_program::Result<invar_program::Tensor> {
        // Whole numbers up to 16 million are exact.
        let (shape, values) = match self {
            Self::Places(places) => (vec![places.len() / elements], places.iter().map(|&i| i as f32).collect()),
            Self::Signed(places, signs) => {
                let entry = |(&i, &sign): (&i32, &f32)| if sign < 0.0 { -1.0 - i as f32 } else { i as f32 };
                (vec![places.len() / elements], places.iter().zip(signs).map(entry).collect())
            }
            Self::Matrices(values) => (vec![(values.len() / elements).isqrt(); 2], values.clone()),
        };
        invar_program::Tensor::new([vec![elements], shape].concat(), values)
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
    #[module(skip)]
    pub(crate) views: Views,
    #[module(skip)]
    sides: Vec<usize>,
}

impl Orbit {
    /// Number of elements of the group.
    pub fn elements(&self) -> usize {
        self.head.cg.positions()
    }

    /// The input from every side: `[batch, entries]` to `[batch * elements, entries]`.
    fn numbers(&self, x: Tensor<2>) -> Result<Tensor<2>> {
        self.check(&x)?;
        Ok(self.views.of_numbers(x, self.elements()))
    }

    /// The same for tokens, which have neither signs nor sums.
    fn tokens(&self, x: Tensor<2, Int>) -> Result<Tensor<2, Int>> {
        let [batch, entries] = self.check(&x)?;
        let Views::Places(places) = &self.views else {
            return Err(Error::Input { model: "this orbit network", expected: "arrays", got: "tokens" });
        };
        let index = rows(places, &x.device());
        Ok(x.select(1, index).reshape([batch * self.elements(), entries]))
    }

    /// The shape of an input whose examples have as many entries as the candidates move.
    fn check<K: Basic>(&self, x: &Tensor<2, K>) -> Result<[usize; 2]> {
        let (shape, expected): (_, usize) = (x.dims(), self.sides.iter().product());
        if shape[1] == expected { Ok(shape) } else { Err(Error::shape("entries of the input", expected, shape[1])) }
    }
}

impl Model for Orbit {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let features = match (&self.inner, input) {
            (Inner::Dense(f), Input::Tokens(tokens)) => f.forward(Input::Tokens(self.tokens(tokens)?), pass)?,
            (Inner::Dense(f), Input::Array(x)) => f.forward(Input::Array(self.numbers(x)?), pass)?,
            (Inner::Images(f), Input::Images(x)) => {
                let [batch, channels, height, width] = x.dims();
                if self.sides != [channels, height, width] {
                    return Err(Error::shape("images", format!("{:?}", self.sides), format!("{:?}", [channels, height, width])));
                }
                let views = self.numbers(x.reshape([batch, channels * height * width]))?;
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

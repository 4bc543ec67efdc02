//! The CG-invariant layer (Eq. 10): neurons whose weights are learned combinations of invariant subspaces.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::bases::{Bases, check_vectors};
use crate::dense::orthonormal;
use crate::layout::{BlockRows, Layout};
use crate::readout::replace;
use crate::{Activation, Error, Init, Result};

/// How many biases a layer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// None.
    None,
    /// One for the whole layer, as published.
    #[default]
    Single,
    /// One per neuron, b_h of Eq. 10.
    PerNeuron,
}

/// Settings of a [`CgLinear`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `neurons` | | outputs H | >= 1 |
/// | `features` | 1 | inputs per position with coefficients of their own; 1 = shared | >= 1 |
/// | `bias` | one for the layer | | |
/// | `activation` | none | | |
/// | `imposed` | none | basis of a subspace the weights must stay in | |
#[derive(Debug, Clone, PartialEq)]
pub struct CgLinearConfig {
    bases: Bases,
    neurons: usize,
    features: usize,
    bias: Bias,
    activation: Activation,
    imposed: Option<Vec<Vec<f64>>>,
}

impl CgLinearConfig {
    /// A layer of `neurons` on the space of `bases`, coefficients shared by all features.
    pub fn new(bases: Bases, neurons: usize) -> Self {
        Self { bases, neurons, features: 1, bias: Bias::default(), activation: Activation::default(), imposed: None }
    }

    /// Gives each of `features` its own coefficients.
    #[must_use]
    pub fn per_feature(mut self, features: usize) -> Self {
        self.features = features;
        self
    }

    /// Chooses the biases.
    #[must_use]
    pub fn bias(mut self, bias: Bias) -> Self {
        self.bias = bias;
        self
    }

    /// Chooses the activation.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Keeps the weights inside the span of `vectors`, such as a basis of Bt(M) when the groups of M are imposed. They need
    /// not be orthonormal. Such a layer has one block, which is free: what is imposed needs no penalty.
    #[must_use]
    pub fn imposed(mut self, vectors: Vec<Vec<f64>>) -> Self {
        self.imposed = Some(vectors);
        self
    }

    /// Draws the layer: coefficients uniform in +-1/sqrt(positions x features).
    pub fn init(&self, init: &mut Init) -> Result<CgLinear> {
        self.bases.check()?;
        for (name, value) in [("neurons", self.neurons), ("features", self.features)] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", value));
            }
        }
        let dim = self.bases.dim;
        let (layout, vectors) = match &self.imposed {
            None => {
                let sizes = self.bases.blocks.iter().map(|block| (block.level, block.vectors.len()));
                let vectors = self.bases.blocks.iter().flat_map(|block| block.vectors.clone()).collect();
                (Layout::new(self.bases.groups, sizes), vectors)
            }
            Some(given) => {
                check_vectors("vector of the imposed subspace", given, dim)?;
                let vectors = orthonormal(given);
                if vectors.is_empty() {
                    return Err(Error::shape("imposed subspace", "at least one nonzero vector", 0));
                }
                (Layout::new(self.bases.groups, std::iter::once((self.bases.groups, vectors.len()))), vectors)
            }
        };
        let rank = vectors.len();
        let (basis, membership) = constants(&layout, &vectors);
        let bound = 1.0 / ((dim * self.features) as f64).sqrt();
        Ok(CgLinear {
            coefficients: init.uniform([rank, self.features * self.neurons], bound),
            bias: match self.bias {
                Bias::None => None,
                Bias::Single => Some(init.uniform([1], bound)),
                Bias::PerNeuron => Some(init.uniform([self.neurons], bound)),
            },
            basis: init.fixed(basis, [dim, rank]),
            membership: init.fixed(membership, [layout.blocks.len(), rank]),
            layout,
            features: self.features,
            activation: self.activation,
        })
    }
}

/// The fixed matrices of a layer: basis vectors as columns, and which row of coefficients belongs to which block.
pub(crate) fn constants(layout: &Layout, vectors: &[Vec<f64>]) -> (Vec<f32>, Vec<f32>) {
    let (dim, rank) = (vectors[0].len(), vectors.len());
    let basis = (0..dim).flat_map(|i| vectors.iter().map(move |v| v[i] as f32)).collect();
    let belongs = |block: &BlockRows, r: usize| (block.start..block.start + block.len).contains(&r);
    let member = |block| (0..rank).map(move |r| f32::from(u8::from(belongs(block, r))));
    (basis, layout.blocks.iter().flat_map(member).collect())
}

/// Neurons sigma(x^T sum_M B(M) omega(M, h) + b) (Eq. 10).
///
/// Where:
/// - B(M): columns of `basis`, fixed;
/// - omega(M, .): the rows of `coefficients` that [`Layout`] assigns to M, trained.
#[derive(Module, Debug)]
pub struct CgLinear {
    /// Omega (Eq. 9), `[rank, features * neurons]`.
    pub coefficients: Param<Tensor<2>>,
    /// `[1]` or `[neurons]`.
    pub bias: Option<Param<Tensor<1>>>,
    /// All B(M) side by side, `[positions, rank]`; not trained.
    pub(crate) basis: Param<Tensor<2>>,
    /// 1 where a row belongs to a block, `[blocks, rank]`; not trained.
    pub(crate) membership: Param<Tensor<2>>,
    #[module(skip)]
    pub(crate) layout: Layout,
    #[module(skip)]
    pub(crate) features: usize,
    #[module(skip)]
    pub(crate) activation: Activation,
}

impl CgLinear {
    /// Number of positions the groups act on.
    pub fn positions(&self) -> usize {
        self.basis.dims()[0]
    }

    /// Number of neurons H.
    pub fn neurons(&self) -> usize {
        self.coefficients.dims()[1] / self.features
    }

    /// Features per position with their own coefficients; 1 when shared.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The subspace blocks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The activation behind the layer, which [`CgLinear::fold`] leaves to the caller.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// W = sum_M B(M) omega(M), `[positions, features * neurons]`.
    pub fn weights(&self) -> Tensor<2> {
        self.basis.val().matmul(self.coefficients.val())
    }

    /// Applies the layer.
    ///
    /// # Shapes
    /// - input: `[batch, positions * features]`, features of a position side by side
    /// - output: `[batch, neurons]`
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let weights = self.weights();
        let weights = match self.features {
            1 => weights,
            features => weights.reshape([self.positions() * features, self.neurons()]),
        };
        let y = x.matmul(weights);
        let y = match &self.bias {
            Some(bias) => y + bias.val().unsqueeze(),
            None => y,
        };
        self.activation.forward(y)
    }

    /// Applies the layer to vectors at each position. Shared coefficients see the sum over features, which is the same as
    /// repeating each weight but never builds a tensor of batch x neurons x positions x features.
    ///
    /// # Shapes
    /// - input: `[batch, positions, features]`
    /// - output: `[batch, neurons]`
    pub fn forward_features(&self, x: Tensor<3>) -> Tensor<2> {
        let [batch, positions, features] = x.dims();
        self.forward(match self.features {
            1 => x.sum_dim(2).reshape([batch, positions]),
            _ => x.reshape([batch, positions * features]),
        })
    }

    /// Squared norm of each block's coefficients ||omega(M, .)||^2, `[blocks]`.
    pub fn block_squares(&self) -> Tensor<1> {
        let rows = self.coefficients.val().square().sum_dim(1);
        let blocks = if self.layout.rows_are_blocks() { rows } else { self.membership.val().matmul(rows) };
        blocks.reshape([self.layout.blocks.len()])
    }

    /// Replaces the coefficients, row by row.
    pub fn set_coefficients(mut self, values: Vec<f32>) -> Result<Self> {
        let [rank, columns] = self.coefficients.dims();
        if values.len() != rank * columns {
            return Err(Error::shape("coefficients", format!("{rank} x {columns} values"), values.len()));
        }
        self.coefficients = replace(self.coefficients, values, [rank, columns]);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn values<const D: usize>(x: Tensor<D>) -> Vec<f32> {
        x.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn forward_by_hand() {
        // n = 2: B = [1,1]/sqrt2 (level 1) and [1,-1]/sqrt2 (level 0); omega = (sqrt2, 2 sqrt2) gives w = (3, -1).
        let mut init = Init::new(0, &Device::flex());
        let layer = CgLinearConfig::new(Bases::sequence(2), 1).bias(Bias::None).init(&mut init).unwrap();
        let layer = layer.set_coefficients(vec![2f32.sqrt(), 2.0 * 2f32.sqrt()]).unwrap();
        let y = layer.forward(Tensor::from_floats([[1.0, 10.0], [2.0, -1.0]], &Device::flex()));
        for (got, expected) in values(y).into_iter().zip([-7.0, 7.0]) {
            assert!((got - expected).abs() < 1e-5, "{got} {expected}");
        }
    }

    #[test]
    fn shared_coefficients_equal_repeated_per_feature_ones() {
        let device = Device::flex();
        let shared = CgLinearConfig::new(Bases::sequence(4), 3).init(&mut Init::new(1, &device)).unwrap();
        let own = CgLinearConfig::new(Bases::sequence(4), 3).per_feature(2).init(&mut Init::new(2, &device)).unwrap();
        let repeated = values(shared.coefficients.val()).chunks(3).flat_map(|row| [row, row].concat()).collect();
        let mut own = own.set_coefficients(repeated).unwrap();
        own.bias = shared.bias.clone();
        let x = Init::new(3, &device).normal([5, 4, 2], 1.0).val();
        for (a, b) in values(shared.forward_features(x.clone())).into_iter().zip(values(own.forward_features(x))) {
            assert!((a - b).abs() < 1e-5);
        }
    }

    #[test]
    fn imposed_weights_stay_in_the_subspace() {
        let device = Device::flex();
        let imposed = vec![vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 3.0], vec![2.0, 2.0, 3.0]];
        let layer = CgLinearConfig::new(Bases::sequence(3), 4).imposed(imposed).init(&mut Init::new(1, &device)).unwrap();
        assert_eq!(layer.coefficients.dims(), [2, 4]);
        let w = values(layer.weights());
        for h in 0..4 {
            assert!((w[h] - w[4 + h]).abs() < 1e-6);
        }
        assert!(CgLinearConfig::new(Bases::sequence(3), 4).imposed(vec![vec![0.0; 3]]).init(&mut Init::new(1, &device)).is_err());
    }

    #[test]
    fn one_bias_or_one_per_neuron() {
        let mut init = Init::new(0, &Device::flex());
        let config = CgLinearConfig::new(Bases::sequence(3), 5);
        assert_eq!(crate::trained(&config.init(&mut init).unwrap()), 3 * 5 + 1);
        assert_eq!(crate::trained(&config.clone().bias(Bias::PerNeuron).init(&mut init).unwrap()), 3 * 5 + 5);
        assert!(config.per_feature(0).init(&mut init).unwrap_err().to_string().contains("features should be at least 1"));
    }

    #[test]
    fn basis_and_membership_get_no_gradient() {
        let device = Device::flex().autodiff();
        let layer = CgLinearConfig::new(Bases::sequence(3), 2).init(&mut Init::new(0, &device)).unwrap();
        let grads = layer.forward(Tensor::ones([4, 3], &device)).sum().backward();
        assert!(layer.coefficients.val().grad(&grads).is_some());
        assert!(layer.basis.val().grad(&grads).is_none());
    }
}

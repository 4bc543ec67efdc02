//! The CG-invariant layer (Eq. 10): neurons whose weights are learned combinations of invariant subspaces.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::cg_weights::{CgWeights, bound};
use crate::{Activation, Bases, Init, Layout, Result, Reynolds};

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

    /// Keeps the weights inside the span of `vectors`: see [`CgWeights::new`].
    #[must_use]
    pub fn imposed(mut self, vectors: Vec<Vec<f64>>) -> Self {
        self.imposed = Some(vectors);
        self
    }

    /// Draws the layer: coefficients uniform in +-1/sqrt(positions x features).
    pub fn init(&self, init: &mut Init) -> Result<CgLinear> {
        let weights = CgWeights::new(&self.bases, self.imposed.as_deref(), self.features, self.neurons, init)?;
        let bound = bound(self.bases.dim * self.features);
        Ok(CgLinear {
            weights,
            bias: match self.bias {
                Bias::None => None,
                Bias::Single => Some(init.uniform([1], bound)),
                Bias::PerNeuron => Some(init.uniform([self.neurons], bound)),
            },
            activation: self.activation,
        })
    }
}

/// Neurons sigma(x^T sum_M B(M) omega(M, h) + b) (Eq. 10).
#[derive(Module, Debug)]
pub struct CgLinear {
    /// sum_M B(M) omega(M).
    pub weights: CgWeights,
    /// `[1]` or `[neurons]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    pub(crate) activation: Activation,
}

impl CgLinear {
    /// Number of positions the groups act on.
    pub fn positions(&self) -> usize {
        self.weights.dim()
    }

    /// Number of neurons H.
    pub fn neurons(&self) -> usize {
        self.weights.neurons()
    }

    /// Features per position with their own coefficients; 1 when shared.
    pub fn features(&self) -> usize {
        self.weights.features()
    }

    /// The subspace blocks.
    pub fn layout(&self) -> &Layout {
        self.weights.layout()
    }

    /// The activation behind the layer, which [`CgLinear::fold`] leaves to the caller.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Applies the layer.
    ///
    /// # Shapes
    /// - input: `[batch, positions * features]`, features of a position side by side
    /// - output: `[batch, neurons]`
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let weights = self.weights.weights();
        let weights = match self.features() {
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
        self.forward(match self.features() {
            1 => x.sum_dim(2).reshape([batch, positions]),
            _ => x.reshape([batch, positions * features]),
        })
    }

    /// For each group whether it is kept, with the relative violation: see [`CgWeights::kept`].
    pub fn kept(&self, reynolds: &Reynolds, tolerance: f64) -> Result<Vec<(bool, f64)>> {
        self.weights.kept(reynolds, tolerance)
    }

    /// The layer with its weights projected onto a subspace: see [`CgWeights::snap`].
    pub fn snap(self, projector: &[f64]) -> Result<Self> {
        Ok(Self { weights: self.weights.snap(projector)?, ..self })
    }

    /// The layer confined to the span of `vectors`: see [`CgWeights::impose`].
    pub fn impose(self, vectors: &[Vec<f64>]) -> Result<Self> {
        Ok(Self { weights: self.weights.impose(vectors)?, ..self })
    }

    /// Norm of each block's coefficients: see [`CgWeights::block_norms`].
    pub fn block_norms(&self) -> Result<Vec<f64>> {
        self.weights.block_norms()
    }

    /// Hard R of this layer (Eq. 12).
    pub fn hard_penalty(&self, threshold: f64) -> Result<usize> {
        self.weights.hard_penalty(threshold)
    }

    /// Replaces the coefficients, row by row.
    pub fn set_coefficients(self, values: Vec<f32>) -> Result<Self> {
        Ok(Self { weights: self.weights.set_coefficients(values)?, ..self })
    }

    /// The same layer as an ordinary dense one, bases multiplied out; its activation is left to the caller.
    pub fn fold(&self) -> Linear {
        let shape = [self.positions() * self.features(), self.neurons()];
        let weight = self.weights.weights().detach().reshape(shape);
        let bias = self.bias.as_ref().map(|b| Param::from_tensor(b.val().detach().expand([self.neurons()])));
        Linear { weight: Param::from_tensor(weight), bias }
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
        let repeated = values(shared.weights.coefficients.val()).chunks(3).flat_map(|row| [row, row].concat()).collect();
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
        assert_eq!(layer.weights.coefficients.dims(), [2, 4]);
        let w = values(layer.weights.weights());
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
}

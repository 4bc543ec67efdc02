//! The CG-invariant feedforward network (Appendix E.2): fixed embedding, pointwise phi, CG layer, dense rho.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};

use crate::cg_linear::{Bias, CgLinear, CgLinearConfig};
use crate::embedding::{EMBEDDING, FixedEmbedding};
use crate::network::Model;
use crate::pass::check_dropout;
use crate::{Activation, Bases, CgWeights, Error, Init, Input, Pass, Result};

/// Neurons of the CG layer and of the hidden layer behind it, as published.
pub const NEURONS: usize = 128;

/// What follows the CG layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// One hidden layer with ReLU, then the outputs: as published.
    #[default]
    Hidden,
    /// The outputs at once: a simpler function, which extrapolates further where it fits.
    Affine,
}

impl Head {
    /// "hidden head", "affine head".
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Hidden => "hidden head",
            Self::Affine => "affine head",
        }
    }
}

/// What enters the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Sequences over a vocabulary: embedding and phi come before the CG layer.
    Tokens {
        /// Number of distinct tokens; the largest token is one less.
        vocabulary: usize,
        /// Whether each feature of phi has coefficients of its own, or all share them as published.
        per_feature: bool,
    },
    /// Real vectors (graphs, arrays), straight into the CG layer.
    Array,
}

/// Settings of a [`CgFeedForward`].
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `entry` | | tokens or arrays | |
/// | `outputs` | 1 | 1 for regression, else classes | >= 1 |
/// | `neurons` | 128 | CG layer and hidden layer | >= 1 |
/// | `head` | hidden | | |
/// | `bias` | one for the layer | of the CG layer | |
/// | `activation` | none | behind the CG layer | |
/// | `dropout` | 0 | behind the hidden layer | [0, 1) |
/// | `imposed` | none | subspace the CG weights must stay in | |
#[derive(Debug, Clone, PartialEq)]
pub struct CgFeedForwardConfig {
    /// What enters.
    pub entry: Entry,
    /// Number of outputs.
    pub outputs: usize,
    /// Width of the CG layer and of the hidden layer.
    pub neurons: usize,
    /// What follows the CG layer.
    pub head: Head,
    /// Biases of the CG layer.
    pub bias: Bias,
    /// Activation behind the CG layer.
    pub activation: Activation,
    /// Dropout behind the hidden layer.
    pub dropout: f64,
    /// Basis of an imposed subspace of the CG layer.
    pub imposed: Option<Vec<Vec<f64>>>,
}

impl CgFeedForwardConfig {
    /// The published network for sequences over `vocabulary` tokens.
    pub fn tokens(vocabulary: usize) -> Self {
        Self::new(Entry::Tokens { vocabulary, per_feature: false })
    }

    /// The network for real vectors.
    pub fn array() -> Self {
        Self::new(Entry::Array)
    }

    fn new(entry: Entry) -> Self {
        Self {
            entry,
            outputs: 1,
            neurons: NEURONS,
            head: Head::default(),
            bias: Bias::default(),
            activation: Activation::default(),
            dropout: 0.0,
            imposed: None,
        }
    }

    /// Draws the network on the space of `bases`.
    pub fn init(&self, bases: &Bases, init: &mut Init) -> Result<CgFeedForward> {
        check_dropout(self.dropout)?;
        if self.outputs == 0 {
            return Err(Error::setting("outputs", "at least 1", 0));
        }
        let (front, features) = match self.entry {
            Entry::Array => (None, 1),
            Entry::Tokens { vocabulary, per_feature } => {
                let embedding = FixedEmbedding::new(vocabulary, EMBEDDING, init)?;
                let phi = init.linear(EMBEDDING, EMBEDDING);
                (Some(Front { embedding, phi }), if per_feature { EMBEDDING } else { 1 })
            }
        };
        let mut layer = CgLinearConfig::new(bases.clone(), self.neurons).per_feature(features);
        layer = layer.bias(self.bias).activation(self.activation);
        if let Some(vectors) = &self.imposed {
            layer = layer.imposed(vectors.clone());
        }
        let cg = layer.init(init)?;
        let hidden = (self.head == Head::Hidden).then(|| init.linear(self.neurons, self.neurons));
        Ok(CgFeedForward { front, cg, hidden, output: init.linear(self.neurons, self.outputs), dropout: self.dropout })
    }
}

/// Embedding and pointwise phi, functions of one token each.
#[derive(Module, Debug)]
pub(crate) struct Front {
    pub(crate) embedding: FixedEmbedding,
    pub(crate) phi: Linear,
}

impl Front {
    /// phi of every vocabulary entry, looked up per token: `[batch, positions * features]`. Shared coefficients only see
    /// the sum over features, so then the table has one column.
    fn forward(&self, tokens: Tensor<2, burn::tensor::Int>, shared: bool) -> Tensor<2> {
        let [batch, positions] = tokens.dims();
        let table = activation::relu(self.phi.forward(self.embedding.table.val()));
        let table = if shared { table.sum_dim(1) } else { table };
        let width = table.dims()[1];
        table.select(0, tokens.reshape([batch * positions])).reshape([batch, positions * width])
    }
}

/// rho(CG(phi(embedding(x)))), rho being dense. See [`CgFeedForwardConfig`].
#[derive(Module, Debug)]
pub struct CgFeedForward {
    pub(crate) front: Option<Front>,
    /// The CG-invariant layer.
    pub cg: CgLinear,
    pub(crate) hidden: Option<Linear>,
    pub(crate) output: Linear,
    #[module(skip)]
    dropout: f64,
}

impl CgFeedForward {
    /// The same network with its CG layer replaced, as after [`CgLinear::snap`].
    #[must_use]
    pub fn with_cg(mut self, cg: CgLinear) -> Self {
        self.cg = cg;
        self
    }

    /// Whether training is written out for it: nothing is dropped at random, and nothing must hold between its weights.
    pub(crate) fn is_written_out(&self) -> bool {
        self.dropout == 0.0
    }

    /// What follows the CG layer.
    pub fn head(&self) -> Head {
        if self.hidden.is_some() { Head::Hidden } else { Head::Affine }
    }
}

impl Model for CgFeedForward {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let x = match (input, &self.front) {
            (Input::Tokens(tokens), Some(front)) => front.forward(tokens, self.cg.features() == 1),
            (Input::Array(x), None) => x,
            (other, Some(_)) => {
                return Err(Error::Input { model: "this CG network", expected: "tokens", got: other.kind() });
            }
            (other, None) => {
                return Err(Error::Input { model: "this CG network", expected: "arrays", got: other.kind() });
            }
        };
        let width = self.cg.positions() * self.cg.features();
        if x.dims()[1] != width {
            return Err(Error::shape("input of the CG layer", width, x.dims()[1]));
        }
        let mut x = self.cg.forward(x);
        if let Some(hidden) = &self.hidden {
            x = pass.dropout(activation::relu(hidden.forward(x)), self.dropout);
        }
        Ok(self.output.forward(x))
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        vec![&self.cg.weights]
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        vec![&mut self.cg.weights]
    }

    fn vocabulary(&self) -> Option<usize> {
        self.front.as_ref().map(|front| front.embedding.vocabulary())
    }

    fn describe(&self) -> String {
        let front = match &self.front {
            Some(front) => {
                format!("embedding {} x {} (fixed), phi {EMBEDDING} ReLU, ", front.embedding.table.dims()[0], EMBEDDING)
            }
            None => String::new(),
        };
        let head = if self.hidden.is_some() { format!("dense {} ReLU, ", self.cg.neurons()) } else { String::new() };
        format!(
            "CG feedforward: {front}CG layer {} positions x {} features -> {} over {} subspaces, {head}output {}",
            self.cg.positions(),
            self.cg.features(),
            self.cg.neurons(),
            self.cg.layout().blocks.len(),
            self.output.weight.dims()[1]
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, Int};

    fn tokens(device: &Device) -> Tensor<2, Int> {
        Tensor::from_ints([[1, 2, 3, 4], [4, 4, 0, 9]], device)
    }

    #[test]
    fn published_size() {
        let model = CgFeedForwardConfig::tokens(100).init(&Bases::sequence(10), &mut Init::new(0, &Device::flex())).unwrap();
        // phi 128*128+128, CG 10*128+1, rho 128*128+128 + 128+1.
        assert_eq!(model.parameters(), 16_512 + 1_281 + 16_512 + 129);
        assert!(model.describe().contains("10 positions x 1 features -> 128 over 10 subspaces"));
    }

    #[test]
    fn table_equals_token_by_token() {
        let device = Device::flex();
        for per_feature in [false, true] {
            let mut config = CgFeedForwardConfig::tokens(10);
            config.entry = Entry::Tokens { vocabulary: 10, per_feature };
            let model = config.init(&Bases::sequence(4), &mut Init::new(1, &device)).unwrap();
            let fast = model.forward(Input::Tokens(tokens(&device)), &mut Pass::evaluate()).unwrap();
            let front = model.front.as_ref().unwrap();
            let z = activation::relu(front.phi.forward(front.embedding.forward(tokens(&device))));
            let slow = model.cg.forward_features(z);
            let slow = model.output.forward(activation::relu(model.hidden.as_ref().unwrap().forward(slow)));
            let gap: f32 = (fast - slow).abs().max().into_scalar();
            assert!(gap < 1e-4, "{gap}");
        }
    }

    #[test]
    fn a_snapped_layer_makes_the_whole_network_invariant() {
        let device = Device::flex();
        let model = CgFeedForwardConfig::tokens(10).init(&Bases::sequence(4), &mut Init::new(1, &device)).unwrap();
        let average = vec![0.25; 16];
        let snapped = model.clone().with_cg(model.cg.clone().snap(&average).unwrap());
        let run = |model: &CgFeedForward, x: [[i32; 4]; 1]| -> f32 {
            let x = Input::Tokens(Tensor::from_ints(x, &device));
            model.forward(x, &mut Pass::evaluate()).unwrap().into_scalar()
        };
        let (x, moved) = ([[1, 2, 3, 4]], [[3, 1, 4, 2]]);
        assert!((run(&model, x) - run(&model, moved)).abs() > 1e-3);
        assert!((run(&snapped, x) - run(&snapped, moved)).abs() < 1e-4);
    }

    #[test]
    fn array_input_affine_head_and_wrong_inputs() {
        let device = Device::flex();
        let mut config = CgFeedForwardConfig::array();
        config.head = Head::Affine;
        config.outputs = 3;
        let model = config.init(&Bases::sequence(4), &mut Init::new(1, &device)).unwrap();
        let y = model.forward(Input::Array(Tensor::ones([2, 4], &device)), &mut Pass::evaluate()).unwrap();
        assert_eq!(y.dims(), [2, 3]);
        let error = model.forward(Input::Tokens(tokens(&device)), &mut Pass::evaluate()).unwrap_err();
        assert_eq!(error.to_string(), "this CG network takes arrays as input, but got tokens");
        assert!(model.forward(Input::Array(Tensor::ones([2, 5], &device)), &mut Pass::evaluate()).is_err());
        config.dropout = 1.0;
        assert!(config.init(&Bases::sequence(4), &mut Init::new(1, &device)).is_err());
    }
}

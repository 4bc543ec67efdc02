//! What a forward pass is given: the input, and whether it may draw random numbers.

use burn::module::Param;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::Rng as _;

use crate::batch_norm::Statistics;
use crate::init::Rng;
use crate::{Error, Result};

/// A batch of inputs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// Sequences of vocabulary entries, `[batch, positions]`.
    Tokens(Tensor<2, Int>),
    /// Real vectors, `[batch, dim]`.
    Array(Tensor<2>),
    /// Images, `[batch, channels, height, width]`.
    Images(Tensor<4>),
}

impl Input {
    /// The kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Array(_) => "arrays",
            Self::Images(_) => "images",
        }
    }

    /// The tokens, or an error that names the model.
    pub fn tokens(self, model: &'static str) -> Result<Tensor<2, Int>> {
        match self {
            Self::Tokens(tokens) => Ok(tokens),
            other => Err(Error::Input { model, expected: "tokens", got: other.kind() }),
        }
    }

    /// The images, or an error that names the model.
    pub fn images(self, model: &'static str) -> Result<Tensor<4>> {
        match self {
            Self::Images(images) => Ok(images),
            other => Err(Error::Input { model, expected: "images", got: other.kind() }),
        }
    }
}

/// One pass through a network. In training it carries the generator of dropout masks and sampled permutations; the
/// backend's own generator is shared between threads and would make a fit depend on its neighbours. It also collects the
/// batch statistics that norm layers see, so that a forward pass changes no model.
#[derive(Debug)]
pub struct Pass {
    rng: Option<Rng>,
    statistics: Statistics,
}

impl Pass {
    /// Training: random masks and permutations come from `rng`.
    pub fn train(rng: Rng) -> Self {
        Self { rng: Some(rng), statistics: Statistics::default() }
    }

    /// Evaluation: nothing is random.
    pub fn evaluate() -> Self {
        Self { rng: None, statistics: Statistics::default() }
    }

    /// The generator, in training only.
    pub fn rng(&mut self) -> Option<&mut Rng> {
        self.rng.as_mut()
    }

    /// Whether this is training.
    pub fn is_training(&self) -> bool {
        self.rng.is_some()
    }

    /// Notes what a running statistic should move towards; see [`Statistics::absorb`].
    pub(crate) fn observe(&mut self, running: &Param<Tensor<1>>, seen: Tensor<1>) {
        self.statistics.0.push((running.id, seen.detach()));
    }

    /// What the norm layers saw since the last call.
    pub fn take_statistics(&mut self) -> Statistics {
        std::mem::take(&mut self.statistics)
    }

    /// Dropout: in training, entries become 0 with the given probability and the others grow to keep the mean.
    pub fn dropout<const D: usize>(&mut self, x: Tensor<D>, probability: f64) -> Tensor<D> {
        match &mut self.rng {
            Some(rng) if probability > 0.0 => x.clone() * mask(rng, x.dims(), probability, &x.device()),
            _ => x,
        }
    }
}

fn mask<const D: usize>(rng: &mut Rng, shape: [usize; D], probability: f64, device: &Device) -> Tensor<D> {
    let scale = (1.0 / (1.0 - probability)) as f32;
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| if rng.random_bool(probability) { 0.0 } else { scale }).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// A dropout probability must leave something over.
pub(crate) fn check_dropout(probability: f64) -> Result<()> {
    if (0.0..1.0).contains(&probability) {
        return Ok(());
    }
    Err(Error::setting("dropout", "in the range [0, 1)", probability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::rng;

    #[test]
    fn dropout_keeps_the_mean_in_training_and_everything_in_evaluation() {
        let x = Tensor::<2>::ones([100, 100], &Device::flex());
        let mut pass = Pass::train(rng(0, 0));
        let mean: f32 = pass.dropout(x.clone(), 0.5).mean().into_scalar();
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        let sum: f32 = Pass::evaluate().dropout(x, 0.5).sum().into_scalar();
        assert!((sum - 10_000.0).abs() < 1e-3);
        assert!(check_dropout(1.0).is_err() && check_dropout(0.0).is_ok());
    }
}

//! The optimisers on offer, and their steps over all parameters of a network.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::tensor::{Gradients, Tensor, TensorData};
use invar_kernels::{Adam, Sgd};
use serde::{Deserialize, Serialize};

use crate::kernels::memory::{keep, with_workspace};
use crate::{Error, Result};

/// How gradients become steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Optimizer {
    /// Adam with the usual moments 0.9 and 0.999 and epsilon 1e-8.
    Adam {
        /// Step size.
        learning_rate: f64,
    },
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// Step size.
        learning_rate: f64,
        /// Share of the last step that is kept, in [0, 1).
        momentum: f64,
    },
}

impl Optimizer {
    /// Step size before any schedule.
    pub fn learning_rate(&self) -> f64 {
        let (Self::Adam { learning_rate } | Self::Sgd { learning_rate, .. }) = self;
        *learning_rate
    }

    pub(crate) fn check(&self) -> Result<()> {
        let rate = self.learning_rate();
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::setting("learning rate", "a positive number", rate));
        }
        match self {
            Self::Sgd { momentum, .. } if !(0.0..1.0).contains(momentum) => {
                Err(Error::setting("momentum", "in the range [0, 1)", momentum))
            }
            _ => Ok(()),
        }
    }
}

/// An optimiser at work. Each parameter is updated in one pass over memory, by the kernels, and what is next to nothing in the moments of
/// Adam or the velocity of gradient descent becomes an exact zero.
pub(crate) struct Steps {
    optimizer: Optimizer,
    moments: HashMap<ParamId, Moments>,
}

/// What an optimiser keeps of the gradients of a parameter.
#[derive(Default)]
struct Moments {
    steps: u32,
    /// Mean of the gradients, or velocity.
    first: Vec<f32>,
    /// Mean of their squares, for Adam.
    second: Vec<f32>,
}

impl Steps {
    pub(crate) fn new(optimizer: Optimizer) -> Self {
        Self { optimizer, moments: HashMap::new() }
    }

    /// The network after a step; parameters without a gradient stay.
    pub(crate) fn step<M: Module>(&mut self, rate: f64, model: M, gradients: Gradients) -> Result<M> {
        let mut step =
            Step { optimizer: self.optimizer, moments: &mut self.moments, rate: rate as f32, gradients, outcome: Ok(()) };
        let model = model.map(&mut step);
        step.outcome.map(|()| model)
    }

    /// Numbers that processors are slow with.
    #[cfg(test)]
    pub(crate) fn denormals(&self) -> usize {
        let numbers = self.moments.values().flat_map(|moments| moments.first.iter().chain(&moments.second));
        numbers.filter(|value| value.is_subnormal()).count()
    }
}

struct Step<'a> {
    optimizer: Optimizer,
    moments: &'a mut HashMap<ParamId, Moments>,
    rate: f32,
    gradients: Gradients,
    outcome: Result<()>,
}

impl Step<'_> {
    fn update(&mut self, id: ParamId, weights: &mut [f32], gradient: &[f32]) {
        let moments = self.moments.entry(id).or_default();
        moments.steps += 1;
        moments.first.resize(weights.len(), 0.0);
        let rate = self.rate;
        with_workspace(|workspace| match self.optimizer {
            Optimizer::Adam { .. } => {
                moments.second.resize(weights.len(), 0.0);
                let adam = Adam { rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
                adam.step(moments.steps, weights, gradient, &mut moments.first, &mut moments.second, workspace)
            }
            Optimizer::Sgd { momentum, .. } => {
                let sgd = Sgd { rate, momentum: momentum as f32, decay: 0.0, nesterov: false };
                sgd.step(weights, gradient, &mut moments.first, workspace)
            }
        });
    }

    /// A parameter and its gradient, both without derivatives.
    fn updated<const D: usize>(&mut self, id: ParamId, weights: Tensor<D>, gradient: Tensor<D>) -> Result<Tensor<D>> {
        let (shape, device) = (weights.dims(), weights.device());
        let read = |tensor: Tensor<D>| {
            let values = tensor.into_data().try_into_vec::<f32>();
            values.map_err(|error| Error::Backend { operation: "reading a parameter", message: format!("{error:?}") })
        };
        let (mut weights, gradient) = (read(weights)?, read(gradient)?);
        self.update(id, &mut weights, &gradient);
        keep(gradient);
        Ok(Tensor::from_data(TensorData::new(weights, shape), &device))
    }
}

impl ModuleMapper for Step<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = parameter.consume();
        let gradient = tensor.grad_remove(&mut self.gradients).filter(|_| self.outcome.is_ok());
        let Some(gradient) = gradient else { return Param::from_mapped_value(id, tensor, mapper) };
        let (shape, device) = (tensor.dims(), tensor.device());
        let updated = self.updated(id, tensor.inner(), gradient).unwrap_or_else(|error| {
            self.outcome = Err(error);
            Tensor::zeros(shape, &device.inner())
        });
        Param::from_mapped_value(id, Tensor::from_inner(updated).require_grad(), mapper)
    }
}

#[cfg(test)]
#[path = "optimizer_tests.rs"]
mod tests;

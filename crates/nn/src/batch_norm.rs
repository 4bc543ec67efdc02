//! Batch normalisation followed by ReLU and pooling, with running statistics that belong to the model.

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::tensor::Tensor;

use crate::kernels::{self, Scaling, Window};
use crate::{Error, Init, Pass, Result};

/// Added to every variance.
pub(crate) const EPSILON: f64 = 1e-5;

/// How far a running statistic moves towards that of a batch.
const MOMENTUM: f64 = 0.1;

/// y = max(0, gamma (x - mean) / sqrt(variance + epsilon) + beta), per feature: a channel, or neighbouring channels that share
/// everything, such as the directions of a group convolution, which would else differ by more than a turn.
///
/// In training mean and variance are those of the batch, and the [`Pass`] takes them along; in evaluation they are the
/// running ones. These are ordinary parameters that no gradient reaches: a copy of a model keeps the statistics of that
/// moment, as it keeps the weights.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Scale, `[features]`.
    pub gamma: Param<Tensor<1>>,
    /// Shift, `[features]`.
    pub beta: Param<Tensor<1>>,
    /// Running mean, `[features]`; not trained.
    pub mean: Param<Tensor<1>>,
    /// Running variance, `[features]`; not trained.
    pub variance: Param<Tensor<1>>,
    /// Channels of a feature.
    #[module(skip)]
    fibre: usize,
}

impl BatchNorm {
    /// The identity up to the ReLU: scale 1, shift 0, statistics 0 and 1.
    pub fn new(features: usize, init: &Init) -> Result<Self> {
        if features == 0 {
            return Err(Error::setting("features", "at least 1", features));
        }
        Ok(Self {
            gamma: init.filled(1.0, [features]),
            beta: init.filled(0.0, [features]),
            mean: init.fixed(vec![0.0; features], [features]),
            variance: init.fixed(vec![1.0; features], [features]),
            fibre: 1,
        })
    }

    /// The same with `fibre` channels per feature.
    #[must_use]
    pub fn shared_by(self, fibre: usize) -> Self {
        Self { fibre, ..self }
    }

    /// Channels of a feature.
    pub fn fibre(&self) -> usize {
        self.fibre
    }

    /// Norm, ReLU, and max pooling when there is a window.
    ///
    /// # Shapes
    /// - input: `[batch, height, width, features * fibre]`
    /// - output: the same, height and width smaller by the window
    pub fn forward(&self, x: Tensor<4>, window: Option<Window>, pass: &mut Pass) -> Tensor<4> {
        let scaling = Scaling { gamma: self.gamma.val(), beta: self.beta.val(), fibre: self.fibre, epsilon: EPSILON };
        if !pass.is_training() {
            return kernels::norm_relu_pool(x, scaling, [self.mean.val(), self.variance.val()], window);
        }
        let [batch, height, width, _] = x.dims();
        let count = batch * height * width * self.fibre;
        let normed = kernels::norm_relu_pool_train(x, scaling, window);
        // The variance of a sample underestimates that of its source.
        let unbiased = if count > 1 { count as f64 / (count as f64 - 1.0) } else { 1.0 };
        pass.observe(&self.mean, normed.mean);
        pass.observe(&self.variance, normed.variance.mul_scalar(unbiased));
        normed.output
    }
}

/// Batch statistics seen during a training pass, each with the running parameter it belongs to.
#[derive(Debug, Default)]
pub struct Statistics(pub(crate) Vec<(ParamId, Tensor<1>)>);

impl Statistics {
    /// The model with its running statistics moved: running <- 0.9 running + 0.1 seen, in the order seen.
    #[must_use]
    pub fn absorb<M: Module>(self, model: M) -> M {
        if self.0.is_empty() { model } else { model.map(&mut Absorb(&self.0)) }
    }
}

struct Absorb<'a>(&'a [(ParamId, Tensor<1>)]);

impl ModuleMapper for Absorb<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let id = param.id;
        if !self.0.iter().any(|(owner, _)| *owner == id) {
            return param;
        }
        param.map(|running| {
            let seen = self.0.iter().filter(|(owner, _)| *owner == id);
            let moved = seen.fold(running, |running, (_, seen)| {
                let seen = seen.clone().reshape(running.dims());
                running.mul_scalar(1.0 - MOMENTUM) + seen.mul_scalar(MOMENTUM)
            });
            moved.detach().set_require_grad(false)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rng, trained};
    use burn::tensor::Device;

    fn values<const D: usize>(x: Tensor<D>) -> Vec<f32> {
        x.into_data().try_to_vec().unwrap()
    }

    fn close(got: &[f32], expected: &[f32]) {
        assert_eq!(got.len(), expected.len());
        assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{got:?} {expected:?}");
    }

    #[test]
    fn training_uses_the_batch_and_moves_the_running_statistics() {
        let device = Device::flex().autodiff();
        let norm = BatchNorm::new(1, &Init::new(0, &device)).unwrap();
        let x = Tensor::<4>::from_floats([[[[1.0], [3.0]]], [[[5.0], [7.0]]]], &device);
        let mut pass = Pass::train(rng(0, 0));
        // Mean 4, variance 5: (-3, -1, 1, 3) / sqrt 5 behind the ReLU.
        let y = values(norm.forward(x.clone(), None, &mut pass));
        close(&y, &[0.0, 0.0, 1.0 / 5f32.sqrt(), 3.0 / 5f32.sqrt()]);
        close(&values(norm.mean.val()), &[0.0]);
        let before = norm.clone();
        let moved = pass.take_statistics().absorb(norm);
        close(&values(moved.mean.val()), &[0.4]);
        close(&values(moved.variance.val()), &[0.9 + 0.1 * 20.0 / 3.0]);
        // The copy from before is untouched, and evaluation reads the running statistics of its own model.
        close(&values(before.mean.val()), &[0.0]);
        let evaluated = values(before.valid().forward(x.clone().inner(), None, &mut Pass::evaluate()));
        close(&evaluated, &[1.0, 3.0, 5.0, 7.0]);
        assert!(pass.take_statistics().0.is_empty());
        assert_eq!(trained(&moved), 2);
    }

    #[test]
    fn gradients_reach_scale_and_shift_only() {
        let device = Device::flex().autodiff();
        let norm = BatchNorm::new(2, &Init::new(0, &device)).unwrap();
        let x = Init::new(1, &device).normal([3, 2, 2, 2], 1.0).val();
        let grads = norm.forward(x, None, &mut Pass::train(rng(0, 0))).square().sum().backward();
        assert!(norm.gamma.val().grad(&grads).is_some() && norm.beta.val().grad(&grads).is_some());
        assert!(norm.mean.val().grad(&grads).is_none() && norm.variance.val().grad(&grads).is_none());
    }
}

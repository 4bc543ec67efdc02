//! One step of training.

use std::sync::atomic::AtomicBool;

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::data::{Augmentation, Dataset};
use crate::init::{Rng, rng};
use crate::network::Model;
use crate::optimizer::Steps;
use crate::train::TrainConfig;
use crate::{Error, Pass, Penalty, Result};

/// Streams of the seed: augmentation and masks must not move each other.
pub(crate) const AUGMENT: u64 = 2;
const MASKS: u64 = 3;

/// What to fit on, beside the settings.
#[derive(Clone, Copy, Default)]
pub struct Extras<'a> {
    /// The penalty, if the network has CG layers; without it lambda is not used.
    pub penalty: Option<&'a Penalty>,
    /// Forced data augmentation of training examples.
    pub augmentation: Option<Augmentation<'a>>,
    /// Looked at before every step: a fit that is cancelled ends with an error and keeps nothing.
    pub cancel: Option<&'a AtomicBool>,
}

/// What a step saw before it moved the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Mean loss of the batch.
    pub loss: f64,
    /// Loss + lambda * penalty.
    pub objective: f64,
}

/// A model in training with its optimiser and generators.
pub struct Stepper<M> {
    pub(crate) model: M,
    /// The device without gradients, for validation.
    pub(crate) plain: Device,
    device: Device,
    pub(crate) optimizer: Steps,
    augmenting: Rng,
    pass: Pass,
    lambda: f64,
}

impl<M: Model> Stepper<M> {
    /// Prepares a model for training on the device it was drawn on.
    pub fn new(model: M, config: &TrainConfig) -> Result<Self> {
        config.check()?;
        let plain = device_of(&model)?;
        Ok(Self {
            model: model.train(),
            device: plain.clone().autodiff(),
            plain,
            optimizer: Steps::new(config.optimizer),
            augmenting: rng(config.seed, AUGMENT),
            pass: Pass::train(rng(config.seed, MASKS)),
            lambda: config.lambda,
        })
    }

    /// One step on the chosen examples. An objective that is not finite moves nothing.
    pub fn step(&mut self, data: &Dataset, rows: &[usize], learning_rate: f64, extras: Extras) -> Result<Step> {
        let augment = extras.augmentation.map(|augment| (augment, &mut self.augmenting));
        let (input, goal) = data.batch(rows, augment, &self.device);
        let outputs = self.model.forward(input, &mut self.pass)?;
        check_outputs(&outputs, data)?;
        let loss = goal.loss(outputs);
        let mut step = Step { loss: f64::from(loss.clone().into_scalar::<f32>()), objective: 0.0 };
        let penalty = extras.penalty.filter(|_| self.lambda > 0.0);
        let penalty = penalty.map(|p| self.model.penalty(p)).transpose()?.flatten();
        let mut objective = loss;
        step.objective = step.loss;
        if let Some(penalty) = penalty {
            objective = objective + penalty.mul_scalar(self.lambda);
            step.objective = f64::from(objective.clone().into_scalar::<f32>());
        }
        let seen = self.pass.take_statistics();
        if step.objective.is_finite() {
            let gradients = objective.backward();
            self.model = seen.absorb(self.optimizer.step(learning_rate, self.model.clone(), gradients)?);
        }
        Ok(step)
    }
}

/// Refuses data with tokens that the network has no embedding for: the lookup itself would not.
pub(crate) fn check_tokens<M: Model>(model: &M, data: &Dataset) -> Result<()> {
    match (model.vocabulary(), data.largest_token()) {
        (Some(vocabulary), Some(token)) if token as usize >= vocabulary => {
            Err(Error::shape("token", format!("below the vocabulary size {vocabulary}"), token))
        }
        _ => Ok(()),
    }
}

/// Refuses outputs that do not fit the targets.
pub(crate) fn check_outputs(outputs: &Tensor<2>, data: &Dataset) -> Result<()> {
    let width = outputs.dims()[1];
    if width == data.outputs() {
        return Ok(());
    }
    Err(Error::shape("outputs of the network", data.outputs(), width))
}

/// The plain device a model lives on.
pub(crate) fn device_of<M: Module>(model: &M) -> Result<Device> {
    let device = model.devices().into_iter().next();
    device.map(Device::inner).ok_or_else(|| Error::setting("model", "a network with parameters", "empty"))
}

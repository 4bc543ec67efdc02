//! The one training loop: minimises loss + lambda * penalty (Eq. 12's objective), keeps the weights with the best
//! validation loss plus penalty, and stops when patience runs out.

use std::ops::ControlFlow;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::data::{Augmentation, Dataset};
use crate::evaluate::losses;
use crate::init::rng;
use crate::network::Model;
use crate::optimizer::Optimizer;
use crate::schedule::Schedule;
use crate::stopping::{Stopping, StoppingConfig};
use crate::{Error, Pass, Penalty, Result};

/// Streams of the seed: shuffling, augmentation and masks must not move each other.
const SHUFFLE: u64 = 1;
const AUGMENT: u64 = 2;
const MASKS: u64 = 3;

/// Settings of a fit.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `optimizer` | Adam, 1e-3 | | rate > 0 |
/// | `schedule` | constant | | |
/// | `batch` | 128 | examples per step | >= 1 |
/// | `max_epochs` | 1000 | | >= 1 |
/// | `stopping` | see [`StoppingConfig`] | | |
/// | `lambda` | 0 | weight of the penalty | >= 0 |
/// | `seed` | 0 | shuffling, masks, augmentation | |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// How gradients become steps.
    pub optimizer: Optimizer,
    /// How the learning rate moves.
    #[serde(default)]
    pub schedule: Schedule,
    /// Examples per step; the last batch of an epoch may be smaller.
    pub batch: usize,
    /// Epochs at most.
    pub max_epochs: usize,
    /// Early stopping.
    #[serde(default)]
    pub stopping: StoppingConfig,
    /// Weight of the penalty.
    pub lambda: f64,
    /// Seed of everything random in the loop; initial weights have their own.
    pub seed: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            optimizer: Optimizer::Adam {
                learning_rate: 1e-3,
            },
            schedule: Schedule::default(),
            batch: 128,
            max_epochs: 1000,
            stopping: StoppingConfig::default(),
            lambda: 0.0,
            seed: 0,
        }
    }
}

impl TrainConfig {
    fn check(&self) -> Result<()> {
        self.optimizer.check()?;
        self.stopping.check()?;
        for (name, value) in [
            ("batch size", self.batch),
            ("number of epochs", self.max_epochs),
        ] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", value));
            }
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return Err(Error::setting(
                "lambda",
                "a number of at least 0",
                self.lambda,
            ));
        }
        Ok(())
    }
}

/// What to fit on, beside the settings.
#[derive(Clone, Copy, Default)]
pub struct Extras<'a> {
    /// The penalty, if the network has CG layers; without it lambda is not used.
    pub penalty: Option<&'a Penalty>,
    /// Forced data augmentation of training examples.
    pub augmentation: Option<Augmentation<'a>>,
}

/// One line of the learning curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: usize,
    /// Mean loss over training batches, without the penalty.
    pub train_loss: f64,
    /// Mean loss over validation examples.
    pub validation_loss: f64,
    /// Share of validation examples answered right.
    pub validation_accuracy: f64,
    /// The penalty after the epoch, not multiplied by lambda; 0 without one.
    pub penalty: f64,
}

/// Why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Patience ran out.
    Patience,
    /// The last epoch allowed was done.
    MaxEpochs,
    /// The observer asked to stop.
    Interrupted,
}

/// A finished fit.
#[derive(Debug, Clone)]
pub struct Fit<M> {
    /// The network with the best validation loss plus penalty, on the plain device.
    pub model: M,
    /// Epoch of those weights.
    pub best_epoch: usize,
    /// Their validation loss plus lambda times penalty.
    pub best_score: f64,
    /// Why it ended.
    pub end: End,
    /// The learning curve.
    pub curve: Vec<Epoch>,
}

/// Trains `model` on the device it was drawn on. The observer sees every epoch and may stop the fit, which then returns the
/// best so far.
pub fn train<M: Model>(
    model: M,
    training: &Dataset,
    validation: &Dataset,
    config: &TrainConfig,
    extras: Extras,
    mut observer: impl FnMut(&Epoch) -> ControlFlow<()>,
) -> Result<Fit<M>> {
    config.check()?;
    let plain = device_of(&model)?;
    let mut model = model.train();
    let mut optimizer = config.optimizer.build();
    let mut stopping = Stopping::new(config.stopping);
    let mut best = model.valid();
    let mut curve = Vec::new();
    let mut order: Vec<usize> = (0..training.len()).collect();
    let (mut shuffling, mut augmenting) = (rng(config.seed, SHUFFLE), rng(config.seed, AUGMENT));
    let mut pass = Pass::train(rng(config.seed, MASKS));
    let per_epoch = training.len().div_ceil(config.batch);
    let device = plain.clone().autodiff();
    let mut end = End::MaxEpochs;

    for epoch in 1..=config.max_epochs {
        order.shuffle(&mut shuffling);
        let mut total = 0.0;
        for (step, rows) in order.chunks(config.batch).enumerate() {
            let done = (epoch - 1) * per_epoch + step;
            let rate = config.optimizer.learning_rate()
                * config.schedule.factor(done, per_epoch * config.max_epochs);
            let augment = extras
                .augmentation
                .map(|augment| (augment, &mut augmenting));
            let (input, goal) = training.batch(rows, augment, &device);
            let loss = goal.loss(model.forward(input, &mut pass)?);
            let objective = match extras
                .penalty
                .filter(|_| config.lambda > 0.0)
                .and_then(|p| model.penalty(p))
            {
                Some(penalty) => loss.clone() + penalty.mul_scalar(config.lambda),
                None => loss.clone(),
            };
            let value = f64::from(objective.clone().into_scalar::<f32>());
            if !value.is_finite() {
                return Err(Error::Diverged {
                    stage: "training",
                    loss: value,
                    epoch,
                    step: step + 1,
                    learning_rate: rate,
                });
            }
            total += f64::from(loss.into_scalar::<f32>()) * rows.len() as f64;
            let gradients = GradientsParams::from_grads(objective.backward(), &model);
            model = optimizer.step(rate, model, gradients);
        }
        let current = model.valid();
        let (validation_loss, validation_accuracy) = losses(&current, validation, &plain)?;
        let penalty = match extras.penalty.and_then(|p| current.penalty(p)) {
            Some(penalty) => f64::from(penalty.into_scalar::<f32>()),
            None => 0.0,
        };
        let score = validation_loss + config.lambda * penalty;
        if !score.is_finite() {
            let learning_rate = config.optimizer.learning_rate();
            return Err(Error::Diverged {
                stage: "validation",
                loss: score,
                epoch,
                step: 0,
                learning_rate,
            });
        }
        let line = Epoch {
            epoch,
            train_loss: total / training.len() as f64,
            validation_loss,
            validation_accuracy,
            penalty,
        };
        curve.push(line);
        let verdict = stopping.see(epoch, score);
        if verdict.best {
            best = current;
        }
        if observer(&line).is_break() {
            end = End::Interrupted;
            break;
        }
        if verdict.stop {
            end = End::Patience;
            break;
        }
    }
    let (best_epoch, best_score) = stopping.best();
    Ok(Fit {
        model: best,
        best_epoch,
        best_score,
        end,
        curve,
    })
}

/// The plain device a model lives on.
pub(crate) fn device_of<M: Module>(model: &M) -> Result<Device> {
    let device = model.devices().into_iter().next();
    device
        .map(Device::inner)
        .ok_or_else(|| Error::setting("model", "a network with parameters", "empty"))
}

#[cfg(test)]
#[path = "train_tests.rs"]
mod tests;

//! The one training loop: minimises loss + lambda * penalty (Eq. 11), keeps the weights with the best
//! validation loss plus penalty, and stops when patience runs out.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::init::rng;
use crate::network::Model;
use crate::optimizer::Optimizer;
use crate::schedule::Schedule;
use crate::step::{Extras, Step, check_tokens};
use crate::stopping::{Stopping, StoppingConfig};
use crate::trainer::Trainer;
use crate::{Error, Result};

/// Stream of the seed that orders the examples; steps have their own.
const SHUFFLE: u64 = 1;

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
            optimizer: Optimizer::Adam { learning_rate: 1e-3 },
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
    pub(crate) fn check(&self) -> Result<()> {
        self.optimizer.check()?;
        self.stopping.check()?;
        for (name, value) in [("batch size", self.batch), ("number of epochs", self.max_epochs)] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", value));
            }
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return Err(Error::setting("lambda", "a number of at least 0", self.lambda));
        }
        Ok(())
    }
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
    /// The loss was no longer a number. [`train`] reports that as an error; records need a word for it.
    Diverged,
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
    check_tokens(&model, training)?;
    check_tokens(&model, validation)?;
    let mut trainer = Trainer::new(model, config, extras)?;
    trainer.check(training)?;
    trainer.check(validation)?;
    let mut stopping = Stopping::new(config.stopping);
    let mut best = trainer.model();
    let mut curve = Vec::new();
    let mut order: Vec<usize> = (0..training.len()).collect();
    let mut shuffling = rng(config.seed, SHUFFLE);
    let per_epoch = batches(&order, config.batch).count();
    let mut end = End::MaxEpochs;

    for epoch in 1..=config.max_epochs {
        order.shuffle(&mut shuffling);
        let mut total = 0.0;
        for (step, rows) in batches(&order, config.batch).enumerate() {
            if extras.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(Error::Cancelled);
            }
            let done = (epoch - 1) * per_epoch + step;
            let factor = config.schedule.factor(done, per_epoch * config.max_epochs);
            let learning_rate = config.optimizer.learning_rate() * factor;
            let Step { loss, objective } = trainer.step(training, rows, learning_rate, extras)?;
            if !objective.is_finite() {
                return Err(Error::Diverged { stage: "training", loss: objective, epoch, step: step + 1, learning_rate });
            }
            total += loss * rows.len() as f64;
        }
        let (validation_loss, validation_accuracy) = trainer.losses(validation)?;
        let penalty = trainer.penalty(extras.penalty)?;
        let line = Epoch { epoch, train_loss: total / training.len() as f64, validation_loss, validation_accuracy, penalty };
        let score = line.validation_loss + config.lambda * line.penalty;
        if !score.is_finite() {
            let learning_rate = config.optimizer.learning_rate();
            return Err(Error::Diverged { stage: "validation", loss: score, epoch, step: 0, learning_rate });
        }
        curve.push(line);
        let verdict = stopping.see(epoch, [line.validation_loss, config.lambda * line.penalty]);
        if verdict.best {
            best = trainer.model();
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
    Ok(Fit { model: best, best_epoch, best_score, end, curve })
}

/// The batches of an epoch. A remainder of less than half a batch joins the batch before it: a few examples are poor statistics for the
/// norms of a network, and a step that counts as much as others.
fn batches(order: &[usize], batch: usize) -> impl Iterator<Item = &[usize]> {
    let rest = order.len() % batch;
    let joined = if 2 * rest < batch { rest } else { 0 };
    let last = if joined > 0 && order.len() > batch { batch + joined } else { 0 };
    let (even, last) = order.split_at(order.len() - last);
    even.chunks(batch).chain((!last.is_empty()).then_some(last))
}

#[cfg(test)]
#[path = "train_tests.rs"]
mod tests;

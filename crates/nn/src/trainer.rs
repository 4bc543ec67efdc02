//! What takes the steps of a fit: training written out for the network where it is, else automatic differentiation.

use crate::data::Dataset;
use crate::evaluate::losses;
use crate::fused::Fused;
use crate::init::{Rng, rng};
use crate::network::Model;
use crate::optimizer::Optimizer;
use crate::step::{AUGMENT, Extras, Step, Stepper};
use crate::train::TrainConfig;
use crate::{Penalty, Result};

/// A model in training.
pub struct Trainer<M>(Way<M>);

enum Way<M> {
    /// By kernels that know the network; the model is as it was drawn.
    Fused { fused: Box<Fused>, drawn: Box<M>, augmenting: Box<Rng> },
    /// By automatic differentiation.
    Differentiated(Box<Stepper<M>>),
}

impl<M: Model> Trainer<M> {
    /// Prepares a model for training on the device it was drawn on; `extras` are those of all steps.
    pub fn new(model: M, config: &TrainConfig, extras: Extras) -> Result<Self> {
        config.check()?;
        let plain_adam = matches!(config.optimizer, Optimizer::Adam { .. });
        // Only automatic differentiation knows penalties.
        let only_loss = extras.penalty.is_none() || config.lambda == 0.0;
        if plain_adam
            && only_loss
            && let Some(fused) = model.fused()?
        {
            return Ok(Self(Way::Fused {
                fused: Box::new(fused),
                drawn: Box::new(model.valid()),
                augmenting: Box::new(rng(config.seed, AUGMENT)),
            }));
        }
        Ok(Self(Way::Differentiated(Box::new(Stepper::new(model, config)?))))
    }

    /// Refuses data of another kind or size.
    pub(crate) fn check(&self, data: &Dataset) -> Result<()> {
        match &self.0 {
            Way::Fused { fused, .. } => fused.check(data),
            // It is checked by every pass.
            Way::Differentiated(_) => Ok(()),
        }
    }

    /// One step on the chosen examples. An objective that is not finite moves nothing.
    pub fn step(&mut self, data: &Dataset, rows: &[usize], learning_rate: f64, extras: Extras) -> Result<Step> {
        match &mut self.0 {
            Way::Fused { fused, augmenting, .. } => {
                let loss =
                    fused.step(data, rows, learning_rate, extras.augmentation.map(|augment| (augment, &mut **augmenting)))?;
                Ok(Step { loss, objective: loss })
            }
            Way::Differentiated(stepper) => stepper.step(data, rows, learning_rate, extras),
        }
    }

    /// The network as it is now, on the plain device.
    pub(crate) fn model(&self) -> M {
        match &self.0 {
            Way::Fused { fused, drawn, .. } => drawn.as_ref().clone().with_weights(fused),
            Way::Differentiated(stepper) => stepper.model.valid(),
        }
    }

    /// Mean loss and accuracy.
    pub(crate) fn losses(&mut self, data: &Dataset) -> Result<(f64, f64)> {
        match &mut self.0 {
            Way::Fused { fused, .. } => fused.losses(data),
            Way::Differentiated(stepper) => losses(&stepper.model.valid(), data, &stepper.plain),
        }
    }

    /// The penalty, not multiplied by lambda; 0 for networks without one.
    pub(crate) fn penalty(&self, penalty: Option<&Penalty>) -> Result<f64> {
        let Some(penalty) = penalty else { return Ok(0.0) };
        let penalty = self.model().penalty(penalty)?;
        Ok(penalty.map_or(0.0, |penalty| f64::from(penalty.into_scalar::<f32>())))
    }
}

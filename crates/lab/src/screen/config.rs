//! What decides a screen.

use invar_algebra::GroupSet;
use invar_nn::Inputs;
use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::error::{Error, Result};
use crate::networks::Backbone;
use crate::problem::{Data, Problem};

/// Fewer labelled examples than this are decided on in folds.
const FEW: usize = 2000;
/// Folds for few examples.
const FOLDS: usize = 5;
/// Fits that conflicts may take by default.
const BUDGET: usize = 60;

/// How a screen trains.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `epochs` | by the number of examples | of every fit, at least | >= 1 |
/// | `learning_rate` | 4e-3 | highest of the one-cycle schedule | > 0 |
/// | `batch` | 128, of images 64 | examples per step | >= 1 |
/// | `restarts` | 2, of images 1 | initialisations of the final model | >= 1 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Epochs of every fit, at least: they are doubled where a network is still learning when they end.
    pub epochs: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// Examples per step.
    pub batch: usize,
    /// Initialisations of the final model, of which the one with the smallest validation loss is taken.
    pub restarts: usize,
}

/// Steps that a fit of arrays should have, as far as `ARRAY_EPOCHS` allow.
const ARRAY_STEPS: usize = 2500;
const ARRAY_EPOCHS: std::ops::RangeInclusive<usize> = 40..=250;

/// The same for images: 8 epochs of 9,600 images.
const IMAGE_STEPS: usize = 1200;
const IMAGE_EPOCHS: std::ops::RangeInclusive<usize> = 5..=40;

impl Settings {
    /// Those that fit the data.
    pub fn of(problem: &Problem) -> Self {
        let (learning_rate, examples) = (4e-3, problem.train.len());
        match problem.train.inputs() {
            Inputs::Images { .. } => {
                let batch = 64;
                let epochs = IMAGE_STEPS.div_ceil(examples.div_ceil(batch)).clamp(*IMAGE_EPOCHS.start(), *IMAGE_EPOCHS.end());
                Self { epochs, learning_rate, batch, restarts: 1 }
            }
            Inputs::Tokens { .. } => Self { epochs: 150, learning_rate, batch: 128, restarts: 2 },
            Inputs::Array { .. } => {
                let batch = 128;
                let epochs = ARRAY_STEPS.div_ceil(examples.div_ceil(batch)).clamp(*ARRAY_EPOCHS.start(), *ARRAY_EPOCHS.end());
                Self { epochs, learning_rate, batch, restarts: 2 }
            }
        }
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [
            ("number of epochs", self.epochs),
            ("number of restarts", self.restarts),
            ("number of examples per step", self.batch),
        ] {
            if value == 0 {
                return Err(Error::Setting { name, expected: "at least 1".into(), got: "0".into() });
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            let got = self.learning_rate.to_string();
            return Err(Error::Setting { name: "learning rate", expected: "a number above 0".into(), got });
        }
        Ok(())
    }
}

/// Everything that decides a screen. Two screens with equal configurations have equal results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenConfig {
    /// The task and its sizes.
    pub data: Data,
    /// How to train.
    pub settings: Settings,
    /// What may be kept.
    pub rule: Rule,
    /// Which network; none for the one that learns most, by validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Backbone>,
    /// Folds that decide in turn; 1 for a single split.
    pub folds: usize,
    /// Fits that conflicts may take.
    pub budget: usize,
    /// Whether every candidate is fitted alone, for the picture of costs.
    #[serde(default)]
    pub all_alone: bool,
    /// Whether the final model is compared with a plain network that is augmented by every candidate that does not hurt.
    #[serde(default)]
    pub augment: bool,
    /// Fresh examples of the training environment on which the true cost of every set is measured; 0 for none. They decide nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fresh: usize,
    /// Candidates that are imposed whatever they cost.
    #[serde(default = "GroupSet::empty", skip_serializing_if = "GroupSet::is_empty")]
    pub required: GroupSet,
    /// Seed of everything random.
    pub seed: u64,
}

/// So many epochs, doubled so often.
pub(super) fn doubled(epochs: usize, doublings: u32) -> usize {
    epochs.saturating_mul(1 << doublings)
}

/// Refuses more folds than so many labelled examples make.
pub(crate) fn check_folds(folds: usize, examples: usize) -> Result<()> {
    let most = (examples / 4).max(1);
    if (1..=most).contains(&folds) {
        return Ok(());
    }
    let expected = format!("from 1 to {most}, so that each has four examples");
    Err(Error::Setting { name: "number of folds", expected, got: folds.to_string() })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ScreenConfig {
    /// The default screen of a problem.
    pub fn new(data: Data, problem: &Problem) -> Self {
        let few = problem.train.len() + problem.validation.len() < FEW;
        let rule = match (data, problem.measure) {
            (Data::Files(_) | Data::Arrays(_), super::Measure::Accuracy) => Rule::ACCURACY,
            (_, super::Measure::RSquared { .. }) => Rule::NUMBERS,
            _ => Rule::PAPER,
        };
        Self {
            data,
            settings: Settings::of(problem),
            rule,
            network: None,
            folds: if few { FOLDS } else { 1 },
            budget: BUDGET,
            all_alone: false,
            augment: false,
            fresh: 0,
            required: GroupSet::empty(),
            seed: 0,
        }
    }

    /// Refuses settings that cannot be.
    pub(crate) fn check(&self, problem: &Problem) -> Result<()> {
        self.settings.check()?;
        check_folds(self.folds, problem.train.len() + problem.validation.len())?;
        self.rule.check()
    }
}

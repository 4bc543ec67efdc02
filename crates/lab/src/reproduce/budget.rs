//! How much of an experiment to run.

use std::str::FromStr;

use invar_nn::{Progress, Schedule, StoppingConfig};
use serde::{Deserialize, Serialize};

use super::pace::{CONSTANT, Pace, TEXT, constant, one_cycle};
use crate::cgreg::LAMBDAS;
use crate::fit::{FitConfig, Method};

/// Paces of the sequence tables.
const ONE_CYCLE: [Pace; 2] = [one_cycle(3e-3), one_cycle(1e-3)];
const TUNED: [Pace; 3] = [constant(1e-3), one_cycle(3e-3), one_cycle(1e-3)];

/// A named amount of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Seconds: does everything still run? Its figures mean nothing.
    Smoke,
    /// About ten minutes on two cores: two seeds, one learning rate, few epochs.
    Quick,
    /// Two hours on two cores: five seeds, learning rates chosen on the first.
    Standard,
    /// Some two hours a row on one core: one fold of MNIST with all of its images. Of sequences nothing is left to add to `standard`.
    Fold,
    /// Rate and schedule chosen for each of five seeds or folds by validation, constant ones included; no fit ends while loss or penalty
    /// still falls.
    Tuned,
    /// The settings of the published code: constant rate 1e-3, its epochs, patience, batches and six layers; five seeds or folds.
    Published,
    /// The settings of the text: eight layers, three constant rates for each of five seeds or folds.
    Paper,
}

impl Budget {
    /// All of them, cheapest first.
    pub const ALL: [Self; 7] = [Self::Smoke, Self::Quick, Self::Standard, Self::Fold, Self::Tuned, Self::Published, Self::Paper];

    /// The name used for files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Fold => "fold",
            Self::Tuned => "tuned",
            Self::Published => "published",
            Self::Paper => "paper",
        }
    }

    /// How many seeds, from 0.
    pub fn seeds(self) -> u64 {
        match self {
            Self::Smoke => 1,
            Self::Quick => 2,
            Self::Standard | Self::Fold | Self::Tuned | Self::Published | Self::Paper => 5,
        }
    }

    /// Strengths of the penalty.
    pub fn lambdas(self) -> &'static [f64] {
        match self {
            Self::Smoke => &[0.0, 10.0],
            _ => &LAMBDAS,
        }
    }

    /// Learning rates and schedules tried for a seed, before a choice is made; none where the choice for seed 0 is used.
    pub fn paces(self, seed: u64) -> &'static [Pace] {
        match self {
            Self::Smoke | Self::Quick | Self::Published => &CONSTANT,
            Self::Standard | Self::Fold if seed > 0 => &[],
            Self::Standard | Self::Fold => &ONE_CYCLE,
            Self::Tuned => &TUNED,
            Self::Paper => &TEXT,
        }
    }

    /// The fit with this budget's epochs, patience and batches, at a pace.
    ///
    /// At a constant rate Adam's noise hides how well a penalised network fits: validation accuracy jumps by 30 points from one
    /// epoch to the next, and the published patience can run out before it settles. `standard` therefore lets the rate fall to nothing;
    /// `tuned` and `paper` wait for as long as loss or penalty falls; `published` is as published.
    pub(crate) fn apply(self, fit: &FitConfig, pace: Pace) -> FitConfig {
        let epochs = self.max_epochs(fit.method);
        let fit = FitConfig { learning_rate: pace.rate, ..fit.clone() };
        match self {
            Self::Published => published(&FitConfig { batch: 64, ..fit }, epochs),
            Self::Paper => {
                let stopping = StoppingConfig { patience: (epochs / 10).max(10), ..fit.stopping };
                FitConfig { max_epochs: epochs, stopping, ..fit }
            }
            Self::Tuned if pace.schedule == Schedule::OneCycle => {
                let epochs = if is_slow(fit.method) { 30 } else { 300 };
                fit.with_schedule(Schedule::OneCycle, epochs)
            }
            Self::Smoke | Self::Quick | Self::Standard | Self::Fold | Self::Tuned => fit.with_schedule(pace.schedule, epochs),
        }
    }

    /// Epochs at most. Recurrence and attention cost some twenty times as much an epoch as the feedforward networks.
    pub fn max_epochs(self, method: Method) -> usize {
        match (self, is_slow(method)) {
            (Self::Smoke, _) => 2,
            (Self::Quick, false) => 100,
            (Self::Quick, true) => 15,
            (Self::Standard | Self::Fold, false) => 500,
            (Self::Standard | Self::Fold, true) => 30,
            (Self::Tuned, true) => 60,
            (Self::Tuned | Self::Published | Self::Paper, _) => 1000,
        }
    }

    /// Training and validation examples, test examples.
    pub fn examples(self) -> (usize, usize) {
        match self {
            Self::Smoke => (320, 100),
            _ => (8000, 2000),
        }
    }

    /// What a reader of a table over so many seeds must know.
    pub fn describe(self, seeds: u64) -> String {
        let rates = match self {
            Self::Smoke | Self::Quick => "learning rate 1e-3",
            Self::Standard | Self::Fold => {
                "one-cycle learning rate with a peak of 3e-3 or 1e-3, chosen by validation loss on seed 0"
            }
            Self::Tuned => {
                "learning rate constant at 1e-3, or one-cycle with a peak of 3e-3 or 1e-3 over 300 epochs, chosen for each seed by \
                 validation loss plus weighted penalty, no fit ended while either fell"
            }
            Self::Published => {
                "learning rate 1e-3, batches of 64 and early stopping as in the published code (where batches are not drawn anew in \
                 every epoch, as they are here)"
            }
            Self::Paper => "learning rate in {1e-2, 1e-3, 1e-4} chosen by validation loss for each seed",
        };
        let (fast, slow) = (self.max_epochs(Method::Cgreg), self.max_epochs(Method::Gru));
        let epochs = if fast == slow {
            format!("at most {fast} epochs")
        } else {
            format!("at most {fast} epochs ({slow} for recurrence and attention)")
        };
        format!("Budget {}: {}, {} training examples, {rates}, {epochs}.", self.name(), super::seeds(seeds), self.examples().0)
    }
}

/// Whether an epoch takes some twenty times as long as that of a feedforward network.
fn is_slow(method: Method) -> bool {
    matches!(method, Method::Transformer | Method::Gru | Method::Janossy | Method::SetTransformer)
}

/// Epochs and early stopping of the published code.
pub(super) fn published(fit: &FitConfig, epochs: usize) -> FitConfig {
    let stopping = StoppingConfig { patience: (epochs / 10).max(10), progress: Progress::Score, ..fit.stopping };
    FitConfig { max_epochs: epochs, stopping, ..fit.clone() }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|budget| budget.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|budget| budget.name()).collect();
            format!("unknown budget `{text}`; expected one of {}", names.join(", "))
        })
    }
}

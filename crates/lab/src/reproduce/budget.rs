//! How much of an experiment to run.

use std::str::FromStr;

use invar_nn::{Schedule, StoppingConfig};
use serde::{Deserialize, Serialize};

use crate::cgreg::{LAMBDAS, LEARNING_RATES};
use crate::fit::{FitConfig, Method};

/// Largest learning rates of a one-cycle schedule.
const ONE_CYCLE_RATES: [f64; 2] = [3e-3, 1e-3];

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
    /// Everything as printed: five seeds, every learning rate for each.
    Paper,
}

impl Budget {
    /// All of them, cheapest first.
    pub const ALL: [Self; 5] = [Self::Smoke, Self::Quick, Self::Standard, Self::Fold, Self::Paper];

    /// The name used for files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Fold => "fold",
            Self::Paper => "paper",
        }
    }

    /// How many seeds, from 0.
    pub fn seeds(self) -> u64 {
        match self {
            Self::Smoke => 1,
            Self::Quick => 2,
            Self::Standard | Self::Fold | Self::Paper => 5,
        }
    }

    /// Strengths of the penalty.
    pub fn lambdas(self) -> &'static [f64] {
        match self {
            Self::Smoke => &[0.0, 10.0],
            _ => &LAMBDAS,
        }
    }

    /// Learning rates tried for a seed, before a choice is made.
    pub fn learning_rates(self, seed: u64) -> &'static [f64] {
        match self {
            Self::Smoke | Self::Quick => &[1e-3],
            Self::Standard | Self::Fold if seed > 0 => &[],
            Self::Standard | Self::Fold => &ONE_CYCLE_RATES,
            Self::Paper => &LEARNING_RATES,
        }
    }

    /// The fit with this budget's epochs, schedule and patience.
    ///
    /// At a constant rate Adam's noise hides how well a penalised network fits: validation accuracy jumps by 30 points from one
    /// epoch to the next, and patience runs out before it settles. `standard` therefore lets the rate fall to nothing;
    /// `paper` is as published, with a patience of a tenth of the epochs.
    pub(crate) fn apply(self, fit: FitConfig) -> FitConfig {
        let epochs = self.max_epochs(fit.method);
        match self {
            Self::Standard | Self::Fold => fit.with_schedule(Schedule::OneCycle, epochs),
            Self::Paper => {
                let stopping = StoppingConfig { patience: (epochs / 10).max(10), ..fit.stopping };
                FitConfig { max_epochs: epochs, stopping, ..fit }
            }
            Self::Smoke | Self::Quick => FitConfig { max_epochs: epochs, ..fit },
        }
    }

    /// Epochs at most. Recurrence and attention cost some twenty times as much an epoch as the feedforward networks.
    pub fn max_epochs(self, method: Method) -> usize {
        let slow = matches!(method, Method::Transformer | Method::Gru | Method::Janossy | Method::SetTransformer);
        match (self, slow) {
            (Self::Smoke, _) => 2,
            (Self::Quick, false) => 100,
            (Self::Quick, true) => 15,
            (Self::Standard | Self::Fold, false) => 500,
            (Self::Standard | Self::Fold, true) => 30,
            (Self::Paper, _) => 1000,
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

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|budget| budget.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|budget| budget.name()).collect();
            format!("unknown budget `{text}`; expected one of {}", names.join(", "))
        })
    }
}

//! What decides a screen.

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::error::{Error, Result};
use crate::networks::Backbone;
use crate::problem::Data;

/// How a screen trains and tests.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `epochs` | 300 | of a full fit | >= 1 |
/// | `refit_epochs` | 40 | of a refit | >= 1 |
/// | `learning_rate` | 4e-3 | highest of the one-cycle schedule | > 0 |
/// | `batch` | 128 | examples per step | >= 1 |
/// | `starts` | 3 | fresh starts of what was chosen; from three on they answer together where answers are numbers | >= 1 |
/// | `alpha` | 0.05 | level of every test | above 0, at most 0.5 |
/// | `grown` | yes | whether a hidden head begins as the fitted affine one; in feedforward networks with fewer than 64 outputs | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Epochs of a full fit.
    pub epochs: usize,
    /// Epochs of a refit.
    pub refit_epochs: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// Examples per step.
    pub batch: usize,
    /// Fresh starts of what was chosen.
    pub starts: usize,
    /// Level of every test.
    pub alpha: f64,
    /// Whether a hidden head begins as the affine one that was fitted, and bends from there; absent in older records, where it begins
    /// with fresh weights.
    #[serde(default)]
    pub grown: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { epochs: 300, refit_epochs: 40, learning_rate: 4e-3, batch: 128, starts: 3, alpha: 0.05, grown: true }
    }
}

impl Settings {
    /// For the lifted network on images: few epochs of many steps. A refit needs half of them, since imposing a symmetry on the
    /// eight directions changes more than on the positions of a sequence. Its heads do not grow: behind the ReLU of its CG layer even the
    /// affine one is no straight function.
    pub fn images() -> Self {
        Self { epochs: 8, refit_epochs: 4, batch: 64, starts: 2, grown: false, ..Self::default() }
    }

    /// With so many epochs, if another number is asked for; refits are as much shorter as before.
    #[must_use]
    pub fn with_epochs(self, epochs: Option<usize>) -> Self {
        let epochs = epochs.unwrap_or(self.epochs);
        Self { epochs, refit_epochs: (epochs * self.refit_epochs / self.epochs).max(1).min(epochs), ..self }
    }
}

/// Everything that decides a screen. Two screens with equal configurations have equal results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenConfig {
    /// The task and its sizes.
    pub data: Data,
    /// How to train and test.
    pub settings: Settings,
    /// What may be kept; each rule gets its own answer from the same fits.
    pub rules: Vec<Rule>,
    /// Which network; none for the one whose whole answer is invariant to what is imposed, for images the lifted one without a norm
    /// before its head, as it was when records had no word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backbone: Option<Backbone>,
    /// Seed of everything random.
    pub seed: u64,
}

impl ScreenConfig {
    /// The default screen of a task.
    pub fn new(data: Data) -> Self {
        let backbone = Backbone::equivariant(&data);
        Self { data, settings: Settings::default(), rules: vec![Rule::default()], backbone, seed: 0 }
    }

    pub(super) fn check(&self) -> Result<()> {
        let Settings { epochs, refit_epochs, starts, alpha, .. } = self.settings;
        for (name, value) in
            [("number of epochs", epochs), ("number of refit epochs", refit_epochs), ("number of starts", starts)]
        {
            if value == 0 {
                return Err(Error::Setting { name, expected: "at least 1".into(), got: "0".into() });
            }
        }
        if !(alpha > 0.0 && alpha <= 0.5) {
            return Err(Error::Setting { name: "alpha", expected: "above 0 and at most 0.5".into(), got: alpha.to_string() });
        }
        self.rules.iter().try_for_each(Rule::check)
    }
}

//! Early stopping with growing patience, as in the published setting, or until neither loss nor penalty falls any more.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A quantity below this share of the score is as good as none, however fast it still falls.
const NEGLIGIBLE: f64 = 1e-3;

/// What an improvement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The score falls below a share of the best one before, as in the published code. A score that falls slowly but steadily never
    /// does: each epoch is compared with the one before it.
    #[default]
    Score,
    /// Validation loss or penalty, each for itself, falls below a share of what it was at its last improvement, in however many epochs.
    Either,
}

impl Progress {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_published(&self) -> bool {
        *self == Self::Score
    }
}

/// Settings of early stopping.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `patience` | 20 | epochs always granted | >= 1 |
/// | `threshold` | 0.995 | what falls below this share is a real improvement | (0, 1] |
/// | `progress` | score | of what | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoppingConfig {
    /// Epochs granted from the start.
    pub patience: usize,
    /// Share that a real improvement must fall below.
    pub threshold: f64,
    /// What must improve.
    #[serde(default, skip_serializing_if = "Progress::is_published")]
    pub progress: Progress,
}

impl Default for StoppingConfig {
    fn default() -> Self {
        Self { patience: 20, threshold: 0.995, progress: Progress::default() }
    }
}

impl StoppingConfig {
    pub(crate) fn check(&self) -> Result<()> {
        if self.patience == 0 {
            return Err(Error::setting("patience", "at least 1", 0));
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::setting("improvement threshold", "in the range (0, 1]", self.threshold));
        }
        Ok(())
    }
}

/// Patience becomes twice the epoch of the last real improvement, so a run that still learns is never cut short.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    config: StoppingConfig,
    patience: usize,
    best: f64,
    best_epoch: usize,
    /// Loss and weighted penalty at the last improvement of each.
    marks: [f64; 2],
}

/// What one epoch's score means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The best so far: keep these weights.
    pub(crate) best: bool,
    /// Patience is used up.
    pub(crate) stop: bool,
}

impl Stopping {
    pub(crate) fn new(config: StoppingConfig) -> Self {
        Self { config, patience: config.patience, best: f64::INFINITY, best_epoch: 0, marks: [f64::INFINITY; 2] }
    }

    /// Takes validation loss and weighted penalty of an epoch, counted from 1. Their sum is the score.
    pub(crate) fn see(&mut self, epoch: usize, parts: [f64; 2]) -> Verdict {
        let score = parts[0] + parts[1];
        let improved = match self.config.progress {
            Progress::Score => score < self.best * self.config.threshold,
            Progress::Either => self.falls(parts),
        };
        if improved {
            self.patience = self.patience.max(2 * epoch);
        }
        let best = score < self.best;
        if best {
            (self.best, self.best_epoch) = (score, epoch);
        }
        Verdict { best, stop: epoch >= self.patience }
    }

    /// Whether loss or penalty is now really below what it was at its last improvement.
    fn falls(&mut self, parts: [f64; 2]) -> bool {
        let score = parts[0] + parts[1];
        let mut any = false;
        for (mark, part) in self.marks.iter_mut().zip(parts) {
            if part < *mark * self.config.threshold && part > NEGLIGIBLE * score {
                *mark = part;
                any = true;
            }
        }
        any
    }

    pub(crate) fn best(&self) -> (usize, f64) {
        (self.best_epoch, self.best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(patience: usize, scores: &[f64]) -> (usize, usize) {
        let mut stopping = Stopping::new(StoppingConfig { patience, ..StoppingConfig::default() });
        for (i, &score) in scores.iter().enumerate() {
            if stopping.see(i + 1, [score, 0.0]).stop {
                return (i + 1, stopping.best().0);
            }
        }
        (scores.len(), stopping.best().0)
    }

    #[test]
    fn stops_after_the_granted_patience_without_improvement() {
        assert_eq!(run(3, &[1.0, 1.0, 1.0, 1.0, 1.0]), (3, 1));
    }

    #[test]
    fn a_real_improvement_doubles_the_horizon() {
        // Improvement at epoch 3: patience 6.
        assert_eq!(run(3, &[1.0, 1.0, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6]), (6, 3));
    }

    #[test]
    fn a_tiny_improvement_keeps_the_weights_but_buys_no_time() {
        assert_eq!(run(3, &[1.0, 0.999, 0.998, 0.5]), (3, 3));
    }

    #[test]
    fn a_score_that_is_not_a_number_is_never_best() {
        let mut stopping = Stopping::new(StoppingConfig::default());
        assert!(!stopping.see(1, [f64::NAN, 0.0]).best);
    }

    #[test]
    fn settings_are_checked() {
        assert!(StoppingConfig { patience: 0, ..StoppingConfig::default() }.check().is_err());
        assert!(StoppingConfig { threshold: 1.1, ..StoppingConfig::default() }.check().is_err());
    }

    /// The epoch at which a fit ends whose loss and weighted penalty these are.
    fn end(progress: Progress, epochs: usize, parts: impl Fn(usize) -> [f64; 2]) -> usize {
        let mut stopping = Stopping::new(StoppingConfig { patience: 50, progress, ..StoppingConfig::default() });
        (1..epochs).find(|&epoch| stopping.see(epoch, parts(epoch)).stop).unwrap_or(epochs)
    }

    #[test]
    fn a_penalty_that_falls_slowly_is_waited_for() {
        // Three per mille an epoch, an improvement in every second one, beside a loss that has settled; from epoch 401 on nothing moves.
        let slow = |epoch: usize| [0.01, 60.0 * 0.997_f64.powi(epoch.min(401) as i32)];
        assert_eq!(end(Progress::Score, 1000, slow), 50);
        assert_eq!(end(Progress::Either, 1000, slow), 2 * 401);
    }

    #[test]
    fn a_loss_that_falls_behind_a_large_penalty_is_seen() {
        let hidden = |epoch: usize| [5.0 * 0.97_f64.powi(epoch.min(100) as i32), 60.0];
        assert_eq!(end(Progress::Score, 1000, hidden), 50);
        assert_eq!(end(Progress::Either, 1000, hidden), 200);
    }

    #[test]
    fn what_is_as_good_as_nothing_may_go_on_falling() {
        let vanishing = |epoch: usize| [1.0, 0.5_f64.powi(epoch as i32)];
        // A thousandth is reached in epoch 10.
        assert_eq!(end(Progress::Either, 1000, vanishing), 50);
        assert_eq!(end(Progress::Either, 1000, |_| [1.0, 0.0]), 50, "without a penalty the loss alone counts");
    }

    #[test]
    fn settings_without_a_word_on_progress_are_the_published_ones() {
        let old: StoppingConfig = serde_json::from_str(r#"{"patience":50,"threshold":0.995}"#).unwrap();
        assert_eq!(old.progress, Progress::Score);
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"patience":50,"threshold":0.995}"#);
    }
}

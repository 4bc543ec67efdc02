//! Early stopping with growing patience, as in the published setting.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Settings of early stopping.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `patience` | 20 | epochs always granted | >= 1 |
/// | `threshold` | 0.995 | a score below this share of the best is a real improvement | (0, 1] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoppingConfig {
    /// Epochs granted from the start.
    pub patience: usize,
    /// Share of the best score that a real improvement must fall below.
    pub threshold: f64,
}

impl Default for StoppingConfig {
    fn default() -> Self {
        Self { patience: 20, threshold: 0.995 }
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
    patience: usize,
    threshold: f64,
    best: f64,
    best_epoch: usize,
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
        Self { patience: config.patience, threshold: config.threshold, best: f64::INFINITY, best_epoch: 0 }
    }

    /// Takes the score (validation loss plus penalty) of an epoch, counted from 1.
    pub(crate) fn see(&mut self, epoch: usize, score: f64) -> Verdict {
        let best = score < self.best;
        if best {
            if score < self.best * self.threshold {
                self.patience = self.patience.max(2 * epoch);
            }
            self.best = score;
            self.best_epoch = epoch;
        }
        Verdict { best, stop: epoch >= self.patience }
    }

    pub(crate) fn best(&self) -> (usize, f64) {
        (self.best_epoch, self.best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(patience: usize, scores: &[f64]) -> (usize, usize) {
        let mut stopping = Stopping::new(StoppingConfig { patience, threshold: 0.995 });
        for (i, &score) in scores.iter().enumerate() {
            if stopping.see(i + 1, score).stop {
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
        assert!(!stopping.see(1, f64::NAN).best);
    }

    #[test]
    fn settings_are_checked() {
        assert!(StoppingConfig { patience: 0, threshold: 0.9 }.check().is_err());
        assert!(StoppingConfig { patience: 1, threshold: 1.1 }.check().is_err());
    }
}

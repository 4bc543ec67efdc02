//! Learning rate over the course of a run.

use serde::{Deserialize, Serialize};

/// How the learning rate moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The same throughout.
    #[default]
    Constant,
    /// Cosine rise from 1/25 to the full rate over the first 30 % of all steps, then cosine fall to almost nothing.
    OneCycle,
}

/// Share of steps spent rising, and the divisors at either end.
const RISE: f64 = 0.3;
const START: f64 = 25.0;
const END: f64 = 1e4;

impl Schedule {
    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::OneCycle => "one-cycle",
        }
    }

    /// Factor on the learning rate at `step` of `steps`.
    pub fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::OneCycle => {
                let at = step as f64 / (steps.saturating_sub(1)).max(1) as f64;
                if at < RISE {
                    cosine(1.0 / START, 1.0, at / RISE)
                } else {
                    cosine(1.0, 1.0 / (START * END), (at - RISE) / (1.0 - RISE))
                }
            }
        }
    }
}

fn cosine(from: f64, to: f64, t: f64) -> f64 {
    to + (from - to) * 0.5 * (1.0 + (std::f64::consts::PI * t.clamp(0.0, 1.0)).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cycle_rises_and_falls() {
        let at = |step| Schedule::OneCycle.factor(step, 101);
        assert!((at(0) - 0.04).abs() < 1e-12);
        assert!((at(30) - 1.0).abs() < 1e-9);
        assert!(at(15) > at(0) && at(15) < at(30) && at(60) < at(30));
        assert!(at(100) < 1e-5);
        assert!((Schedule::Constant.factor(7, 10) - 1.0).abs() < 1e-12);
        assert!(Schedule::OneCycle.factor(0, 1).is_finite());
    }
}

//! What models are judged by.

use invar_nn::{Dataset, Model, Targets, evaluate};
use serde::{Deserialize, Serialize};

use super::cost::{PerExample, Scores};
use crate::error::Result;

/// What scores are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Answers that are right: classes, or whole numbers after rounding.
    Accuracy,
    /// R²: numbers in general define no accuracy.
    RSquared {
        /// Variance of the validation targets.
        variance: f64,
    },
}

/// An R² in a few digits. It has no lower end: far off it is told by its size.
pub fn r_squared(score: f64) -> String {
    if score.abs() < 1e4 { format!("{score:.3}") } else { format!("{score:.1e}") }
}

impl Measure {
    /// The measure of data of which nothing else is known: accuracy of classes, R² of numbers.
    pub fn of(data: &Dataset) -> Self {
        Self::variance(data).map_or(Self::Accuracy, |variance| Self::RSquared { variance })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::RSquared { .. } => "R²",
        }
    }

    /// What a cost is in, after a number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Accuracy => "points",
            Self::RSquared { .. } => "% of the error",
        }
    }

    /// A score as people read it.
    pub fn show(self, score: f64) -> String {
        match self {
            Self::Accuracy => format!("{:.1} %", 100.0 * score),
            Self::RSquared { .. } => format!("R² {}", r_squared(score)),
        }
    }

    /// The variance of targets that are numbers, never quite 0.
    pub(crate) fn variance(data: &Dataset) -> Option<f64> {
        let Targets::Values(values) = data.targets() else { return None };
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / values.len() as f64;
        Some(variance.max(f64::MIN_POSITIVE))
    }

    /// The score of every example.
    pub(crate) fn scores<M: Model>(self, network: &M, data: &Dataset) -> Result<Scores> {
        let found = evaluate(network, data)?;
        let each = match (self, data.targets()) {
            (Self::RSquared { variance }, Targets::Values(values)) => {
                let error = |(p, y): (&f64, &f32)| (p - f64::from(*y)).powi(2) / variance;
                PerExample::Error(found.predictions.iter().zip(values).map(error).collect())
            }
            _ => PerExample::Right(found.correct(data)),
        };
        Ok(Scores { each, loss: found.loss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_short_however_bad_they_are() {
        let show = |score| Measure::RSquared { variance: 1.0 }.show(score);
        assert_eq!([0.5, -12.25, -9_999.0, f64::NEG_INFINITY].map(show), ["R² 0.500", "R² -12.250", "R² -9999.000", "R² -inf"]);
        assert_eq!(show(-1.234e78), "R² -1.2e78");
    }
}

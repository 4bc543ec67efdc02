//! The paper's learner: a grid over the strength of the penalty, and the rule that picks one.

use invar_nn::{Inputs, Schedule};

use crate::problem::Problem;
use crate::record::Record;
use crate::screen::Settings;
use crate::stats::Mean;

/// Strengths tried on sequences.
pub const LAMBDAS: [f64; 6] = [0.0, 0.1, 1.0, 2.0, 10.0, 100.0];
/// Strengths tried on images: the paper's table stops at 10.
pub const IMAGE_LAMBDAS: [f64; 5] = [0.0, 0.1, 1.0, 2.0, 10.0];
/// Learning rates tried for every model.
pub const LEARNING_RATES: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// How far below the best validation accuracy a stronger penalty may fall: 5 points.
pub const TOLERANCE: f64 = 0.05;

/// How the learner trains where nothing else is asked for.
///
/// | Data | epochs | learning rate | schedule | batch |
/// | --- | --- | --- | --- | --- |
/// | sequences | 300 | 1e-3, as published | constant | 128 |
/// | arrays | 150 | 2e-3 | one-cycle | 64 |
/// | images | by the number of examples, as for `screen` | 4e-3 | one-cycle | 64 |
#[derive(Debug, Clone, PartialEq)]
pub struct Defaults {
    /// Epochs at most.
    pub epochs: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// How it moves.
    pub schedule: Schedule,
    /// Examples per step.
    pub batch: usize,
    /// Strengths of the penalty.
    pub lambdas: &'static [f64],
}

impl Defaults {
    /// Those that fit the data.
    pub fn of(problem: &Problem) -> Self {
        match problem.train.inputs() {
            Inputs::Tokens { .. } => {
                Self { epochs: 300, learning_rate: 1e-3, schedule: Schedule::Constant, batch: 128, lambdas: &LAMBDAS }
            }
            Inputs::Array { .. } => {
                Self { epochs: 150, learning_rate: 2e-3, schedule: Schedule::OneCycle, batch: 64, lambdas: &LAMBDAS }
            }
            Inputs::Images { .. } => {
                let Settings { epochs, learning_rate, batch, .. } = Settings::of(problem);
                Self { epochs, learning_rate, schedule: Schedule::OneCycle, batch, lambdas: &IMAGE_LAMBDAS }
            }
        }
    }
}

/// The largest lambda whose validation accuracy is within the tolerance of the best (Section 4.2, last paragraph).
///
/// ```
/// # use invar_lab::cgreg::choose_lambda;
/// assert_eq!(choose_lambda(&[(0.0, 0.99), (1.0, 0.97), (10.0, 0.95), (100.0, 0.60)], 0.05), Some(10.0));
/// ```
pub fn choose_lambda(accuracies: &[(f64, f64)], tolerance: f64) -> Option<f64> {
    let best = accuracies.iter().map(|&(_, accuracy)| accuracy).fold(f64::NEG_INFINITY, f64::max);
    // A difference of exactly the tolerance counts as within it, whatever the last bit says.
    let within = accuracies.iter().filter(|&&(_, accuracy)| accuracy >= best - tolerance - 1e-12);
    within.map(|&(lambda, _)| lambda).max_by(f64::total_cmp)
}

/// The record with the smallest validation loss: how learning rates are chosen.
pub fn best_by_validation_loss<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<&'a Record> {
    records.into_iter().min_by(|a, b| a.validation.loss.total_cmp(&b.validation.loss))
}

/// The lambda that the rule picks on mean validation accuracy over the records of one task.
///
/// Only seeds (folds of images) that every lambda has been tried with count, so that a run cut short compares like with like.
pub fn choose(records: &[&Record]) -> Option<f64> {
    let mut lambdas: Vec<f64> = records.iter().map(|record| record.config.lambda).collect();
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    let of = |lambda: f64| records.iter().filter(move |record| record.config.lambda.total_cmp(&lambda).is_eq());
    let common = |repeat: u64| lambdas.iter().all(|&lambda| of(lambda).any(|record| record.config.repeat() == repeat));
    let mean = |lambda: f64| {
        let values: Vec<f64> =
            of(lambda).filter(|record| common(record.config.repeat())).map(|record| record.validation.accuracy).collect();
        Mean::of(&values).map(|mean| (lambda, mean.mean))
    };
    choose_lambda(&lambdas.iter().copied().filter_map(mean).collect::<Vec<_>>(), TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_takes_the_strongest_within_five_points() {
        assert_eq!(choose_lambda(&[], 0.05), None);
        assert_eq!(choose_lambda(&[(0.0, 0.5), (1.0, 0.2)], 0.05), Some(0.0));
        assert_eq!(choose_lambda(&[(100.0, 0.95), (0.0, 1.0)], 0.05), Some(100.0), "exactly five points are within");
        assert_eq!(choose_lambda(&[(0.0, 0.80), (100.0, 1.0)], 0.05), Some(100.0));
    }
}

//! What a finished model answers: scores with intervals, confusions, and whether it keeps its word under symmetries.

use invar_algebra::Group;
use invar_data::{Labels, Table};
use invar_program::Program;
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::scaling::TargetScaling;
use crate::screen::{Measure, PerExample, Scores};
use crate::stats::{Mean, proportion};

/// Two predicted numbers count as the same when they differ by at most this share of the deviation of the training targets.
const SAME: f64 = 1e-3;
/// Elements of the kept group come from a stream of their own.
const STREAM: u64 = 0xc0;

/// How well a model does on one part of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartScore {
    /// Validation or test.
    pub part: String,
    /// Examples.
    pub examples: usize,
    /// Share answered right, or R².
    pub score: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Regression: root of the mean squared error, in the units of the labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Classification: how often class i (row) was answered as class j.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<usize>>,
}

/// The answers of a model to examples as they come from files.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answers {
    /// Classes, by number, with the probability that the model gives them.
    Classes(Vec<(usize, f64)>),
    /// Numbers.
    Values(Vec<f64>),
}

/// Asks a model about all examples of a table.
pub(super) fn answers(program: &Program, inputs: &[f32], labels: &Labels) -> Result<Answers> {
    let outputs = program.run(inputs)?;
    let width = program.outputs()?.max(1);
    Ok(match labels {
        Labels::Classes { .. } => Answers::Classes(outputs.chunks(width).map(class).collect()),
        _ => Answers::Values(outputs.iter().map(|&value| f64::from(value)).collect()),
    })
}

/// The largest of some outputs, with its share after softmax.
fn class(outputs: &[f32]) -> (usize, f64) {
    let best = (0..outputs.len()).fold(0, |best, i| if outputs[i] > outputs[best] { i } else { best });
    let sum: f64 = outputs.iter().map(|&output| f64::from(output - outputs[best]).exp()).sum();
    (best, 1.0 / sum)
}

impl PartScore {
    /// Compares answers with labels.
    pub(super) fn of(part: &str, table: &Table, answers: &Answers, measure: Measure) -> Self {
        let (part, examples) = (part.to_string(), table.len());
        match (&table.labels, answers) {
            (Labels::Values(_), Answers::Values(_)) if measure == Measure::Accuracy => {
                let right = match scored(table, answers, measure).each {
                    PerExample::Right(right) => right.into_iter().filter(|&right| right).count(),
                    PerExample::Error(_) => 0,
                };
                let score = right as f64 / examples.max(1) as f64;
                Self { part, examples, score, interval: proportion(right, examples), error: None, confusion: Vec::new() }
            }
            (Labels::Classes { names, values }, Answers::Classes(found)) => {
                let mut confusion = vec![vec![0; names.len()]; names.len()];
                values.iter().zip(found).for_each(|(&truth, &(answer, _))| confusion[truth][answer] += 1);
                let right: usize = (0..names.len()).map(|class| confusion[class][class]).sum();
                let score = right as f64 / examples.max(1) as f64;
                Self { part, examples, score, interval: proportion(right, examples), error: None, confusion }
            }
            (Labels::Values(values), Answers::Values(found)) => {
                let squares: f64 = values.iter().zip(found).map(|(&v, a)| (a - f64::from(v)).powi(2)).sum();
                let shares = match scored(table, answers, measure).each {
                    PerExample::Error(errors) => errors.into_iter().map(|error| 1.0 - error).collect(),
                    PerExample::Right(_) => Vec::new(),
                };
                let (score, half) = Mean::of(&shares).map_or((0.0, 0.0), |mean| (mean.mean, mean.interval.unwrap_or(0.0)));
                let error = Some((squares / examples.max(1) as f64).sqrt());
                Self { part, examples, score, interval: [score - half, (score + half).min(1.0)], error, confusion: Vec::new() }
            }
            _ => Self { part, examples, score: 0.0, interval: [0.0, 1.0], error: None, confusion: Vec::new() },
        }
    }
}

/// The score of every example, to compare two models with.
pub(super) fn scored(table: &Table, answers: &Answers, measure: Measure) -> Scores {
    let each = match (&table.labels, answers) {
        // Whole numbers: an answer is right or not.
        (Labels::Values(values), Answers::Values(found)) if measure == Measure::Accuracy => {
            PerExample::Right(values.iter().zip(found).map(|(&v, a)| (a.round() - f64::from(v)).abs() < 0.5).collect())
        }
        (Labels::Values(values), Answers::Values(found)) => {
            let count = values.len().max(1) as f64;
            let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
            let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / count;
            let error = |(&v, a): (&f32, &f64)| (a - f64::from(v)).powi(2) / variance.max(f64::MIN_POSITIVE);
            PerExample::Error(values.iter().zip(found).map(error).collect())
        }
        (Labels::Classes { values, .. }, Answers::Classes(found)) => {
            PerExample::Right(values.iter().zip(found).map(|(&truth, &(answer, _))| truth == answer).collect())
        }
        _ => PerExample::Right(vec![false; table.len()]),
    };
    Scores { each, loss: 0.0 }
}

/// The entries of an example moved by an element of a group.
pub(super) fn moved(action: &invar_algebra::Action, example: &[f32]) -> Vec<f32> {
    let x: Vec<f64> = example.iter().map(|&v| f64::from(v)).collect();
    let mut out = vec![0.0; x.len()];
    action.apply(&x, &mut out);
    out.into_iter().map(|v| v as f32).collect()
}

/// By how much two predicted numbers may differ and still count as the same.
pub(super) fn same_number(measure: Measure, targets: Option<TargetScaling>) -> f64 {
    match measure {
        Measure::Accuracy => 0.5,
        Measure::RSquared { variance } => SAME * targets.map_or(variance.sqrt(), |targets| targets.deviation),
    }
}

/// Share of examples that are answered alike before and after a random element of a group has moved them.
pub(super) fn consistency(
    program: &Program,
    table: &Table,
    group: &Group,
    before: &Answers,
    same: f64,
    seed: u64,
) -> Result<f64> {
    let mut rng = invar_nn::rng(seed, STREAM);
    let inputs: Vec<f32> =
        (0..table.len()).flat_map(|k| moved(&group.sample(&mut |n| rng.random_range(0..n)), table.example(k))).collect();
    let after = answers(program, &inputs, &table.labels)?;
    let alike = match (before, &after) {
        (Answers::Classes(before), Answers::Classes(after)) => before.iter().zip(after).filter(|(a, b)| a.0 == b.0).count(),
        (Answers::Values(before), Answers::Values(after)) => {
            before.iter().zip(after).filter(|(a, b)| (*a - *b).abs() <= same).count()
        }
        _ => 0,
    };
    Ok(alike as f64 / table.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(labels: Labels) -> Table {
        let inputs = vec![0.0; labels.len()];
        Table::new(vec![1], inputs, labels, "")
    }

    #[test]
    fn classes_are_counted_by_truth_and_answer() {
        let table = table(Labels::Classes { names: vec!["a".into(), "b".into()], values: vec![0, 0, 1, 1] });
        let score = PartScore::of(
            "validation",
            &table,
            &Answers::Classes(vec![(0, 1.0), (1, 0.6), (1, 1.0), (1, 0.9)]),
            Measure::Accuracy,
        );
        assert_eq!((score.score, score.confusion), (0.75, vec![vec![1, 1], vec![0, 2]]));
        assert!(score.interval[0] > 0.2 && score.interval[0] < 0.75 && score.interval[1] > 0.75 && score.interval[1] < 1.0);
        let (best, share) = class(&[1.0, 1.0 + 3f32.ln(), 1.0]);
        assert!(best == 1 && (share - 0.6).abs() < 1e-6);
    }

    #[test]
    fn numbers_are_judged_by_r_squared() {
        let table = table(Labels::Values(vec![0.0, 2.0, 4.0]));
        let score =
            PartScore::of("test", &table, &Answers::Values(vec![0.0, 2.0, 2.0]), Measure::RSquared { variance: 8.0 / 3.0 });
        // The errors have a mean square of 4/3, the labels a variance of 8/3.
        assert!((score.score - 0.5).abs() < 1e-9 && (score.error.unwrap() - (4f64 / 3.0).sqrt()).abs() < 1e-9);
    }
}

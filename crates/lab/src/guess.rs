//! What one gets without looking at the input.

use invar_nn::{Dataset, Targets};

use crate::problem::Problem;
use crate::screen::Measure;

/// How often the most frequent target of one dataset is right in another, of equals the smallest class. Where scores are R² it is 0,
/// the score of the mean.
pub(crate) fn most_frequent(measure: Measure, train: &Dataset, other: &Dataset) -> f64 {
    let targets = |data: &Dataset| -> Vec<u64> {
        match data.targets() {
            Targets::Values(values) => values.iter().map(|value| u64::from(value.to_bits())).collect(),
            Targets::Classes { labels, .. } => labels.iter().map(|&label| label as u64).collect(),
        }
    };
    if measure != Measure::Accuracy {
        return 0.0;
    }
    let (mut train, other) = (targets(train), targets(other));
    train.sort_unstable();
    let most = train.chunk_by(|a, b| a == b).rev().max_by_key(|run| run.len()).map(|run| run[0]);
    other.iter().filter(|&&target| Some(target) == most).count() as f64 / other.len().max(1) as f64
}

impl Problem {
    /// What the most frequent training target reaches on validation examples.
    pub fn guess(&self) -> f64 {
        most_frequent(self.measure, &self.train, &self.validation)
    }
}

#[cfg(test)]
mod tests {
    use invar_tasks::{SequenceTask, Sequences, Sizes};

    use super::*;
    use crate::problem::Data;

    #[test]
    fn a_guess_is_the_most_frequent_training_target() {
        let sizes = Sizes { examples: 50, test: 5, ..Sizes::default() };
        let data = Data::Sequences(Sequences { sizes, ..Sequences::new(SequenceTask::Sum) });
        let mut problem = data.problem(0).unwrap();
        let with = |targets: &[f32]| {
            let values = vec![1; targets.len() * 10];
            Dataset::sequences(10, values, targets.to_vec()).unwrap()
        };
        (problem.train, problem.validation) = (with(&[3.0, 1.0, 1.0, 2.0]), with(&[1.0, 1.0, 1.0, 3.0]));
        assert!((problem.guess() - 0.75).abs() < 1e-12);
        problem.measure = Measure::RSquared { variance: 1.0 };
        assert!(problem.guess().abs() < 1e-12);
    }
}

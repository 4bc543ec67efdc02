//! Whether a network has learned enough for what it keeps to say anything.

use invar_nn::{Dataset, Targets};

use crate::problem::Problem;
use crate::screen::{Measure, Rule};

/// Of what there is to gain over guessing, a share that says that the task is not learned.
const LITTLE: f64 = 0.2;

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

    /// Where a network that may break every symmetry gains no more over guessing than symmetries may cost, or strictly than could be
    /// seen, one that undoes all that it has learned would be kept. `who` has this score.
    pub(crate) fn doubt(&self, who: &str, score: f64, rule: Rule, detectable: f64) -> Option<String> {
        let limit = if rule.strict { detectable.min(rule.tolerance) } else { rule.tolerance };
        let guess = self.guess();
        let gain = score - guess;
        if 100.0 * gain > limit {
            return None;
        }
        let learned = match self.measure {
            Measure::Accuracy => {
                let [score, guess] = [score, guess].map(|share| 100.0 * share);
                format!("{who} {score:.1} % of the validation examples right, and the most frequent training answer {guess:.1} %")
            }
            Measure::RSquared { .. } => format!("{who} an R² of {score:.3} on validation examples, and their mean one of 0"),
        };
        let advice = match (gain < LITTLE * (1.0 - guess), rule.strict) {
            (true, _) => "Train longer, with other settings or on more data",
            (false, true) => "Hold out more examples",
            (false, false) => "Lower the tolerance",
        };
        let within = if rule.strict && detectable < rule.tolerance {
            format!("could cost less than the {limit:.1} points that can be told from none")
        } else {
            format!("would be within the tolerance of {limit} points")
        };
        Some(format!(
            "{learned}: a symmetry that undoes all that was learned {within}, so that one is kept says little. {advice}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use invar_tasks::{SequenceTask, Sequences, Sizes};

    use super::*;
    use crate::problem::Data;

    #[test]
    fn what_has_hardly_learned_anything_is_doubted() {
        let sizes = Sizes { examples: 200, test: 20, ..Sizes::default() };
        let data = Data::Sequences(Sequences { sizes, ..Sequences::new(SequenceTask::EvenMinusOdd) });
        let problem = data.problem(0).unwrap();
        let guess = problem.guess();
        assert!((0.0..0.2).contains(&guess), "{guess}");
        let doubt = |gain: f64, rule| problem.doubt("it has", guess + gain, rule, 10.0);
        let strict = Rule { strict: true, ..Rule::default() };
        let told = doubt(0.04, Rule::default()).unwrap();
        assert!(told.starts_with("it has ") && told.contains("within the tolerance of 5 points"), "{told}");
        assert!(told.ends_with("Train longer, with other settings or on more data"), "{told}");
        assert!(doubt(0.06, Rule::default()).is_none());
        let wide = Rule { tolerance: 50.0, strict: false };
        assert!(doubt(0.4, wide).unwrap().ends_with("Lower the tolerance"));
        // Strictly what can be seen counts, and no more than the tolerance: beyond that nothing is accepted.
        assert!(doubt(0.06, strict).is_none());
        assert!(doubt(0.04, strict).unwrap().contains("within the tolerance of 5 points"));
        let strict = Rule { strict: true, ..wide };
        assert!(doubt(0.06, strict).unwrap().contains("less than the 10.0 points that can be told from none"));
        assert!(doubt(0.11, strict).is_none());
        assert!(problem.doubt("it has", guess + 0.4, strict, 50.0).unwrap().ends_with("Hold out more examples"));
    }

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

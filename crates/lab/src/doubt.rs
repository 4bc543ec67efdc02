//! Whether a network has learned enough for what it keeps to say anything.

use invar_nn::Targets;

use crate::problem::Problem;
use crate::screen::{Measure, Rule};

/// Of what there is to gain over guessing, a share that says that the task is not learned.
const LITTLE: f64 = 0.2;

impl Problem {
    /// Share of the validation examples that the most frequent training target is right about. Where scores are R² it is 0, the score
    /// of the mean.
    pub fn guess(&self) -> f64 {
        let targets = |targets: &Targets| -> Vec<u64> {
            match targets {
                Targets::Values(values) => values.iter().map(|value| u64::from(value.to_bits())).collect(),
                Targets::Classes { labels, .. } => labels.iter().map(|&label| label as u64).collect(),
            }
        };
        if self.measure != Measure::Accuracy {
            return 0.0;
        }
        let (mut train, validation) = (targets(self.train.targets()), targets(self.validation.targets()));
        train.sort_unstable();
        // The first of equals.
        let most = train.chunk_by(|a, b| a == b).rev().max_by_key(|run| run.len()).map(|run| run[0]);
        validation.iter().filter(|&&target| Some(target) == most).count() as f64 / validation.len().max(1) as f64
    }

    /// Where a network that may break every symmetry gains no more over guessing than symmetries may cost, or strictly than could be
    /// seen, one that undoes all that it has learned would be kept. `who` has this score.
    pub(crate) fn doubt(&self, who: &str, score: f64, rule: Rule, detectable: f64) -> Option<String> {
        let (guess, limit) = (self.guess(), if rule.strict { detectable } else { rule.tolerance });
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
        let little = rule.strict || gain < LITTLE * (1.0 - guess);
        let advice = if little { "Train longer, with other settings or on more data" } else { "Lower the tolerance" };
        let within = if rule.strict {
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
        assert!(doubt(0.06, Rule::default()).is_none() && doubt(0.11, strict).is_none());
        assert!(doubt(0.06, strict).unwrap().contains("less than the 10.0 points that can be told from none"));
        let wide = Rule { tolerance: 50.0, strict: false };
        assert!(doubt(0.4, wide).unwrap().ends_with("Lower the tolerance"));
    }

    #[test]
    fn a_guess_is_the_most_frequent_training_target() {
        let sizes = Sizes { examples: 50, test: 5, ..Sizes::default() };
        let data = Data::Sequences(Sequences { sizes, ..Sequences::new(SequenceTask::Sum) });
        let mut problem = data.problem(0).unwrap();
        let with = |targets: &[f32]| {
            let values = vec![1; targets.len() * 10];
            invar_nn::Dataset::sequences(10, values, targets.to_vec()).unwrap()
        };
        (problem.train, problem.validation) = (with(&[3.0, 1.0, 1.0, 2.0]), with(&[1.0, 1.0, 1.0, 3.0]));
        assert!((problem.guess() - 0.75).abs() < 1e-12);
        problem.measure = Measure::RSquared { variance: 1.0 };
        assert!(problem.guess().abs() < 1e-12);
    }
}

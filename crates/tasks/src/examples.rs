//! Sets of examples in their plainest form, and what can be said of them without a model.

use crate::error::{Error, Result};

/// Examples of one width, one after the other, with a target each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Examples<T> {
    /// The entries of all examples.
    pub inputs: Vec<T>,
    /// Number of entries of one example.
    pub width: usize,
    /// One target an example: a number to predict, or the index of a class.
    pub targets: Vec<f32>,
}

impl<T: Copy> Examples<T> {
    /// No examples yet, with room for `count`.
    pub fn with_capacity(width: usize, count: usize) -> Self {
        Self { inputs: Vec::with_capacity(width * count), width, targets: Vec::with_capacity(count) }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The entries of one example.
    pub fn input(&self, index: usize) -> &[T] {
        &self.inputs[index * self.width..(index + 1) * self.width]
    }

    /// Adds an example of the common width.
    pub fn push(&mut self, input: &[T], target: f32) {
        assert_eq!(input.len(), self.width, "an example has {} entries, the others have {}", input.len(), self.width);
        self.inputs.extend_from_slice(input);
        self.targets.push(target);
    }

    /// All examples as (entries, target).
    pub fn iter(&self) -> impl Iterator<Item = (&[T], f32)> {
        (0..self.len()).map(|index| (self.input(index), self.targets[index]))
    }

    /// The examples at these places, in this order.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        let mut chosen = Self::with_capacity(self.width, places.len());
        for &place in places {
            chosen.push(self.input(place), self.targets[place]);
        }
        chosen
    }
}

/// Data for one experiment: one environment to learn from, another to be judged in.
#[derive(Debug, Clone, PartialEq)]
pub struct Split<T> {
    /// To fit.
    pub train: Examples<T>,
    /// To choose by: the same distribution as `train`.
    pub validation: Examples<T>,
    /// To extrapolate to: the counterfactual environment.
    pub test: Examples<T>,
}

/// What one gets without looking at the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// The most frequent target in training; the smallest of them if several are.
    pub target: f32,
    /// The share of test examples that have it.
    pub accuracy: f64,
}

impl<T: Copy> Split<T> {
    /// The chance row of a table: always answer the most frequent target of the training set.
    ///
    /// An empty training set has no such target: the answer is then NaN with accuracy 0.
    pub fn chance(&self) -> Chance {
        let mut sorted = self.train.targets.clone();
        sorted.sort_by(f32::total_cmp);
        let mut target = f32::NAN;
        let mut most = 0;
        for run in sorted.chunk_by(|a, b| a == b) {
            if run.len() > most {
                (target, most) = (run[0], run.len());
            }
        }
        let hits = self.test.targets.iter().filter(|&&y| y == target).count();
        Chance { target, accuracy: hits as f64 / self.test.len().max(1) as f64 }
    }
}

/// Coupled examples (Definition 1): the same X(hid), U_D and U_Y, another U_I, therefore the same target.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<T> {
    /// X, as the training environment would show it.
    pub observed: Examples<T>,
    /// X with U_I replaced, as the test environment shows it.
    pub counterfactual: Examples<T>,
}

/// The share of coupled pairs on which a model agrees with itself: 1 for a counterfactually invariant Γ (Definition 2),
/// where Γ(X) = Γ(X with U_I replaced).
///
/// Predictions are compared by equality: pass classes, or predictions rounded as the accuracy rounds them.
pub fn consistency<P: PartialEq>(observed: &[P], counterfactual: &[P]) -> Result<f64> {
    if observed.is_empty() {
        return Err(Error::Count { what: "predictions on coupled pairs", expected: "at least 1".into(), got: 0 });
    }
    if observed.len() != counterfactual.len() {
        let expected = format!("{} on X and as many on its counterfactual", observed.len());
        return Err(Error::Count { what: "predictions on coupled pairs", expected, got: counterfactual.len() });
    }
    let equal = observed.iter().zip(counterfactual).filter(|(a, b)| a == b).count();
    Ok(equal as f64 / observed.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(targets: &[f32]) -> Examples<i32> {
        Examples { inputs: vec![0; targets.len()], width: 1, targets: targets.to_vec() }
    }

    #[test]
    fn chance_is_the_commonest_training_target_on_test() {
        let split = Split {
            train: examples(&[2.0, 5.0, 5.0, 2.0, 1.0]),
            validation: examples(&[9.0; 9]),
            test: examples(&[2.0, 5.0, 5.0, 5.0]),
        };
        assert_eq!(split.chance(), Chance { target: 2.0, accuracy: 0.25 });
        let empty = Split { train: examples(&[]), validation: examples(&[]), test: examples(&[]) };
        assert!(empty.chance().target.is_nan() && empty.chance().accuracy == 0.0);
    }

    #[test]
    fn consistency_counts_equal_predictions() {
        assert_eq!(consistency(&[1, 2, 3, 4], &[1, 2, 0, 4]), Ok(0.75));
        let error = consistency(&[1, 2], &[1]).unwrap_err().to_string();
        assert_eq!(error, "predictions on coupled pairs: expected 2 on X and as many on its counterfactual, got 1");
        assert!(consistency::<i32>(&[], &[]).unwrap_err().to_string().contains("at least 1, got 0"));
    }

    #[test]
    fn selection_keeps_inputs_with_their_targets() {
        let all = Examples { inputs: vec![1, 1, 2, 2, 3, 3], width: 2, targets: vec![10.0, 20.0, 30.0] };
        let chosen = all.select(&[2, 0]);
        assert_eq!(chosen, Examples { inputs: vec![3, 3, 1, 1], width: 2, targets: vec![30.0, 10.0] });
        assert_eq!(chosen.iter().map(|(x, y)| (x[0], y)).collect::<Vec<_>>(), [(3, 30.0), (1, 10.0)]);
    }
}

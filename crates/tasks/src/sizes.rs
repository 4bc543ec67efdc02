//! How many examples a task makes, and how they are split.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::examples::{Examples, Split};
use crate::random::shuffled;

/// Far above any published task: a mistyped size must not exhaust the memory.
const MAX_ENTRIES: usize = 1 << 30;

/// Numbers of examples.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `examples` | 8,000 | training and validation together | at least 2 |
/// | `validation` | 0.2 | the share of them held out | leaves at least one on each side |
/// | `test` | 2,000 | the counterfactual test set | at least 1 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sizes {
    /// Number of examples for training and validation.
    pub examples: usize,
    /// Share of `examples` held out for validation.
    pub validation: f64,
    /// Number of test examples.
    pub test: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { examples: 8000, validation: 0.2, test: 2000 }
    }
}

impl Sizes {
    /// Number of examples held out.
    pub fn held_out(&self) -> usize {
        (self.examples as f64 * self.validation).round() as usize
    }

    /// Checks the sizes for examples of `width` entries.
    pub(crate) fn check(&self, width: usize) -> Result<()> {
        if self.examples < 2 {
            return Err(Error::parameter("number of examples", "at least 2, one to train on and one to validate", self.examples));
        }
        if self.test == 0 {
            return Err(Error::parameter("number of test examples", "at least 1", 0));
        }
        if !(0.0..1.0).contains(&self.validation) || !(1..self.examples).contains(&self.held_out()) {
            let expected = format!("between 0 and 1, leaving at least 1 of {} examples on each side", self.examples);
            return Err(Error::parameter("validation share", expected, self.validation));
        }
        let entries = self.examples.checked_add(self.test).and_then(|count| count.checked_mul(width));
        if entries.is_none_or(|entries| entries > MAX_ENTRIES) {
            let most = MAX_ENTRIES / width;
            return Err(Error::parameter(
                "number of examples",
                format!("at most {most} of {width} entries, training and test together"),
                self.examples.saturating_add(self.test),
            ));
        }
        Ok(())
    }

    /// Checks a number of coupled pairs.
    pub(crate) fn check_pairs(count: usize, width: usize) -> Result<()> {
        let most = MAX_ENTRIES / width;
        if !(1..=most).contains(&count) {
            return Err(Error::parameter("number of pairs", format!("1 to {most} for {width} entries"), count));
        }
        Ok(())
    }

    /// Shuffles the examples and holds out the last of them.
    pub(crate) fn split<T: Copy>(&self, all: &Examples<T>, test: Examples<T>, rng: &mut ChaCha8Rng) -> Split<T> {
        let order = shuffled(all.len(), rng);
        let (train, validation) = order.split_at(all.len() - self.held_out());
        Split { train: all.select(train), validation: all.select(validation), test }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_say_why() {
        let good = Sizes::default();
        assert_eq!(good.held_out(), 1600);
        assert!(good.check(10).is_ok());
        for (sizes, width, message) in [
            (
                Sizes { examples: 0, ..good },
                10,
                "number of examples must be at least 2, one to train on and one to validate, got 0",
            ),
            (Sizes { test: 0, ..good }, 10, "number of test examples must be at least 1, got 0"),
            (Sizes { validation: 1.0, ..good }, 10, "validation share must be between 0 and 1"),
            (Sizes { validation: f64::NAN, ..good }, 10, "got NaN"),
            (Sizes { validation: -0.1, ..good }, 10, "got -0.1"),
            (Sizes { examples: 3, validation: 0.1, test: 1 }, 10, "leaving at least 1 of 3 examples on each side, got 0.1"),
            (Sizes { examples: usize::MAX, ..good }, 10, "training and test together"),
            (Sizes { examples: 200_000_000, ..good }, 10, "at most 107374182 of 10 entries"),
        ] {
            let error = sizes.check(width).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}

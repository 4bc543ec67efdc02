//! One rule: what a joint cost with its bounds says about the symmetries imposed.

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use crate::error::{Error, Result};

/// How much keeping symmetries may cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Percentage points of accuracy; for numbers percent of the error that is left (see [`Cost`]).
    pub tolerance: f64,
    /// Keep only what is shown to be harmless.
    pub only_shown: bool,
}

impl Rule {
    /// The paper's: 5 points, and what is not contradicted is kept.
    pub const PAPER: Self = Self { tolerance: 5.0, only_shown: false };
    /// Of own data: 2 points of accuracy.
    pub const ACCURACY: Self = Self { tolerance: 2.0, only_shown: false };
    /// Of own data: numbers.
    pub const NUMBERS: Self = Self { tolerance: 5.0, only_shown: false };

    /// Refuses what is no tolerance.
    pub fn check(&self) -> Result<()> {
        if (0.0..=100.0).contains(&self.tolerance) {
            return Ok(());
        }
        let expected = "a number of points from 0 to 100".into();
        Err(Error::Setting { name: "tolerance", expected, got: self.tolerance.to_string() })
    }

    /// In words.
    pub fn in_words(&self, measure: super::Measure) -> String {
        let only = if self.only_shown { ", shown with 95 % confidence" } else { "" };
        format!("symmetries may cost up to {} {}{only}", self.tolerance, measure.unit())
    }

    /// What a cost says; `contradicts` is whether a lower bound above the tolerance counts, as corrected for how many were asked.
    pub fn verdict(&self, cost: &Cost, contradicts: bool) -> Verdict {
        // A cost of exactly the tolerance counts as within it, whatever the last bit says.
        let tolerance = self.tolerance + 1e-9;
        if cost.upper <= tolerance {
            Verdict::ShownHarmless
        } else if cost.points <= tolerance {
            Verdict::NotContradicted
        } else if contradicts && cost.lower > tolerance {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        }
    }

    /// Whether a set of symmetries with this verdict is kept.
    pub fn keeps(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::ShownHarmless => true,
            Verdict::NotContradicted => !self.only_shown,
            Verdict::Undecided | Verdict::Contradicted | Verdict::CannotTell => false,
        }
    }
}

/// What the data say about a symmetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The upper bound of the cost is within the tolerance.
    ShownHarmless,
    /// The estimate is within the tolerance, the upper bound is not: kept, as in the paper's hypothesis.
    NotContradicted,
    /// The estimate is beyond the tolerance, the lower bound is not.
    Undecided,
    /// The lower bound is beyond the tolerance.
    Contradicted,
    /// The network has not learned the task, or has no invariant weights.
    CannotTell,
}

impl Verdict {
    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::ShownHarmless => "shown harmless",
            Self::NotContradicted => "not contradicted",
            Self::Undecided => "undecided",
            Self::Contradicted => "contradicted",
            Self::CannotTell => "the network cannot tell",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(points: f64, half: f64) -> Cost {
        Cost { points, lower: points - half, upper: points + half, error: half / 2.0, examples: 100, discordant: None }
    }

    #[test]
    fn four_verdicts() {
        let (rule, shown) = (Rule::ACCURACY, Rule { only_shown: true, ..Rule::ACCURACY });
        for (points, half, expected, kept) in [
            (0.5, 1.0, Verdict::ShownHarmless, [true, true]),
            (1.5, 1.0, Verdict::NotContradicted, [true, false]),
            (2.5, 1.0, Verdict::Undecided, [false, false]),
            (5.0, 1.0, Verdict::Contradicted, [false, false]),
        ] {
            let verdict = rule.verdict(&cost(points, half), true);
            assert_eq!((verdict, [rule.keeps(verdict), shown.keeps(verdict)]), (expected, kept));
        }
        assert_eq!(rule.verdict(&cost(5.0, 1.0), false), Verdict::Undecided, "one of many that were asked");
        assert_eq!(rule.verdict(&cost(2.0, 0.0), true), Verdict::ShownHarmless);
        assert!(!rule.keeps(Verdict::CannotTell));
    }

    #[test]
    fn tolerances_are_points() {
        for bad in [-1.0, 101.0, f64::NAN] {
            let error = Rule { tolerance: bad, only_shown: false }.check().unwrap_err().to_string();
            assert!(error.starts_with("tolerance should be a number of points from 0 to 100, but is"), "{error}");
        }
    }
}

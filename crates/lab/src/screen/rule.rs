//! When a cost is too high, and what the evidence says about a candidate.

use serde::{Deserialize, Serialize};

use super::evidence::Cost;
use crate::error::{Error, Result};

/// How much a symmetry may cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Points of validation score that keeping symmetries may cost altogether.
    pub tolerance: f64,
    /// Accept only what has no significant cost at all, and none beyond the tolerance that too few examples could show.
    pub strict: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Self { tolerance: 5.0, strict: false }
    }
}

/// What the fits with one group imposed say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// No significant cost.
    Free,
    /// A significant cost within the tolerance.
    Tolerable,
    /// A significant cost, and beyond the tolerance (strict: any).
    Contradicted,
    /// The interval spans the tolerance, or is beyond it by what could be chance: more validation examples are needed to tell.
    Undecided,
}

impl Rule {
    /// Refuses what is no tolerance.
    pub fn check(&self) -> Result<()> {
        if (0.0..=100.0).contains(&self.tolerance) {
            return Ok(());
        }
        let expected = "a number of points from 0 to 100".into();
        Err(Error::Setting { name: "tolerance", expected, got: self.tolerance.to_string() })
    }

    /// In words.
    pub fn in_words(&self) -> String {
        let strict = if self.strict { " and no significant cost" } else { "" };
        format!("tolerance {} points{strict}", self.tolerance)
    }

    /// Whether a constraint with this cost may be imposed.
    pub fn accepts(&self, cost: &Cost, alpha: f64) -> bool {
        // A cost of exactly the tolerance counts as within it, whatever the last bit says.
        cost.points <= self.tolerance + 1e-9 && (!self.strict || cost.p >= alpha)
    }

    /// What a candidate's own cost says; `adjusted` is its p-value corrected over all candidates. The 95 % interval is not corrected:
    /// one beyond the tolerance contradicts only if the corrected test agrees that there is a cost at all, so that a candidate without
    /// any is not contradicted for being one of many.
    pub fn finding(&self, cost: &Cost, adjusted: f64, alpha: f64) -> Finding {
        let (significant, [low, high]) = (adjusted < alpha, cost.interval);
        if significant && (self.strict || low > self.tolerance) {
            Finding::Contradicted
        } else if high > self.tolerance {
            Finding::Undecided
        } else if significant {
            Finding::Tolerable
        } else {
            Finding::Free
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(points: f64, half: f64, p: f64) -> Cost {
        Cost { points, interval: [points - half, points + half], p, discordant: None }
    }

    #[test]
    fn findings_follow_the_interval_and_the_corrected_test() {
        let rule = Rule::default();
        let of = |points, half, p| rule.finding(&cost(points, half, p), p, 0.05);
        assert_eq!(of(0.1, 0.5, 0.4), Finding::Free);
        assert_eq!(of(2.0, 0.5, 0.001), Finding::Tolerable);
        assert_eq!(of(4.8, 0.5, 0.001), Finding::Undecided);
        assert_eq!(of(5.2, 0.5, 0.001), Finding::Undecided);
        assert_eq!(of(80.0, 0.5, 0.0), Finding::Contradicted);
        assert_eq!(of(0.0, 6.0, 1.0), Finding::Undecided, "a small validation set cannot say that it is free");
        assert_eq!(of(12.0, 6.0, 0.2), Finding::Undecided, "one of many candidates can look this bad by chance");
    }

    #[test]
    fn strict_refuses_every_significant_cost() {
        let strict = Rule { strict: true, ..Rule::default() };
        let small = cost(1.0, 0.3, 0.001);
        assert_eq!(strict.finding(&small, 0.01, 0.05), Finding::Contradicted);
        assert_eq!(strict.finding(&small, 0.2, 0.05), Finding::Free, "the correction over candidates counts");
        assert!(!strict.accepts(&small, 0.05) && Rule::default().accepts(&small, 0.05));
        assert!(!strict.accepts(&cost(20.0, 30.0, 0.0625), 0.05), "four of twenty lost are not significant, but many");
        assert!(Rule::default().accepts(&cost(5.0, 0.3, 0.0), 0.05) && !Rule::default().accepts(&cost(5.1, 0.3, 0.0), 0.05));
    }

    #[test]
    fn tolerances_are_points() {
        for bad in [-1.0, 101.0, f64::NAN, f64::INFINITY] {
            let error = Rule { tolerance: bad, strict: false }.check().unwrap_err().to_string();
            assert!(error.starts_with("tolerance should be a number of points from 0 to 100, but is"), "{error}");
        }
        assert!(Rule { tolerance: 0.0, strict: true }.check().is_ok());
    }
}

//! What imposing symmetries costs: one model against another on the same examples, with one-sided bounds.

use std::fmt;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Every bound holds with this probability, one-sided.
pub const LEVEL: f64 = 0.95;
/// Of the variance of the labels a share that counts as error even where a model leaves none: without it, what two trainings of one
/// network differ by would look like a cost.
pub(super) const FLOOR: f64 = 0.07;

/// The score of every example.
#[derive(Debug, Clone, PartialEq)]
pub enum PerExample {
    /// Answered right or not.
    Right(Vec<bool>),
    /// Squared error as a share of the variance of the labels.
    Error(Vec<f64>),
}

/// What a model reached on some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Example by example, always in the same order.
    pub each: PerExample,
    /// Mean loss.
    pub loss: f64,
}

impl Scores {
    /// Number of examples.
    pub fn count(&self) -> usize {
        match &self.each {
            PerExample::Right(right) => right.len(),
            PerExample::Error(errors) => errors.len(),
        }
    }

    /// Accuracy, or R².
    pub fn share(&self) -> f64 {
        let count = self.count().max(1) as f64;
        match &self.each {
            PerExample::Right(right) => right.iter().filter(|right| **right).count() as f64 / count,
            PerExample::Error(errors) => 1.0 - errors.iter().sum::<f64>() / count,
        }
    }

    /// The cost in points of a fit against a reference, of which the accuracies or R² are known.
    pub(super) fn points_between(&self, reference: f64, fit: f64) -> f64 {
        match self.each {
            PerExample::Right(_) => 100.0 * (reference - fit),
            PerExample::Error(_) => 100.0 * (reference - fit) / (1.0 - reference + FLOOR),
        }
    }

    /// These examples, then those of another.
    #[must_use]
    pub fn followed_by(mut self, more: &Self) -> Self {
        let (one, other) = (self.count() as f64, more.count() as f64);
        self.loss = (self.loss * one + more.loss * other) / (one + other).max(1.0);
        match (&mut self.each, &more.each) {
            (PerExample::Right(all), PerExample::Right(right)) => all.extend(right),
            (PerExample::Error(all), PerExample::Error(errors)) => all.extend(errors),
            _ => {}
        }
        self
    }
}

/// How much worse a model is than a reference on the same examples.
///
/// Where answers are right or wrong it is in percentage points of accuracy. Where they are numbers it is in percent of the error that
/// the reference leaves: 100 (E_fit - E_ref) / (E_ref + 0.07), E being the mean squared error as a share of the variance of the labels.
/// A rise from R² 0.998 to 0.953 would be 4.5 points of R² only, but is 23 times the error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The estimate; negative when the model is better.
    pub points: f64,
    /// It is at least this, with 95 % confidence.
    pub lower: f64,
    /// It is at most this, with 95 % confidence.
    pub upper: f64,
    /// Standard error, for how many examples it would take.
    pub error: f64,
    /// Number of examples.
    pub examples: usize,
    /// Examples that only the reference, and that only the model answers right; absent for numbers.
    pub discordant: Option<[usize; 2]>,
}

impl Cost {
    /// The cost of `fit` against `reference`, which were scored on the same examples.
    pub fn between(reference: &Scores, fit: &Scores) -> Self {
        match (&reference.each, &fit.each) {
            (PerExample::Right(a), PerExample::Right(b)) => {
                let lost = a.iter().zip(b).filter(|(a, b)| **a && !**b).count();
                let gained = a.iter().zip(b).filter(|(a, b)| !**a && **b).count();
                Self::of_answers(lost, gained, a.len())
            }
            (PerExample::Error(a), PerExample::Error(b)) => Self::of_errors(a, b),
            _ => Self::of_answers(0, 0, 0),
        }
    }

    /// From the numbers of answers lost and gained among `count`, with Tango's score bounds, which stay honest when there are next to
    /// no differences.
    pub fn of_answers(lost: usize, gained: usize, count: usize) -> Self {
        let (b, c, n) = (lost as f64, gained as f64, count.max(1) as f64);
        let z = Normal::standard().inverse_cdf(LEVEL);
        let difference = (b - c) / n;
        Self {
            points: 100.0 * difference,
            lower: 100.0 * tango_bound(b, c, n, z),
            upper: 100.0 * tango_bound(b, c, n, -z),
            error: 100.0 * (((b + c + 1.0) / n - difference * difference).max(1.0 / n) / n).sqrt(),
            examples: count,
            discordant: Some([lost, gained]),
        }
    }

    fn of_errors(reference: &[f64], fit: &[f64]) -> Self {
        let count = reference.len();
        let n = count.max(1) as f64;
        let left = reference.iter().sum::<f64>() / n + FLOOR;
        let differences: Vec<f64> = reference.iter().zip(fit).map(|(a, b)| 100.0 * (b - a) / left).collect();
        let points = differences.iter().sum::<f64>() / n;
        // One difference has no spread: it tells nothing. Records are JSON, which has no infinity.
        let Ok(t) = StudentsT::new(0.0, 1.0, n - 1.0) else {
            return Self { points, lower: f64::MIN, upper: f64::MAX, error: f64::MAX, examples: count, discordant: None };
        };
        let variance = differences.iter().map(|d| (d - points).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        let half = t.inverse_cdf(LEVEL) * error;
        Self { points, lower: points - half, upper: points + half, error, examples: count, discordant: None }
    }

    /// The p-value of "it costs at most so much".
    pub fn p_at_most(&self, tolerance: f64) -> f64 {
        match self.discordant {
            Some([lost, gained]) => {
                let n = self.examples.max(1) as f64;
                1.0 - Normal::standard().cdf(tango(lost as f64, gained as f64, n, tolerance / 100.0))
            }
            None if self.error > 0.0 && self.examples > 1 => {
                let t = StudentsT::new(0.0, 1.0, self.examples as f64 - 1.0);
                t.map_or(1.0, |t| 1.0 - t.cdf((self.points - tolerance) / self.error))
            }
            None => f64::from(u8::from(self.points <= tolerance)),
        }
    }

    /// About how many examples would tell whether it is above or below a tolerance; none where no number would.
    pub fn examples_to_tell(&self, tolerance: f64) -> Option<usize> {
        let distance = (self.points - tolerance).abs();
        let needed = (Normal::standard().inverse_cdf(LEVEL) * self.error / distance).powi(2) * self.examples as f64;
        (distance > 0.0 && needed.is_finite() && needed < 1e7).then(|| needed.ceil() as usize)
    }

    /// The same, but no larger than everything there is to lose.
    #[must_use]
    pub fn at_most(self, most: f64) -> Self {
        let most = most.max(0.0);
        Self { points: self.points.min(most), lower: self.lower.min(most), upper: self.upper.min(most), ..self }
    }
}

/// `2.5 (2.1 to 2.9)`: the estimate and both bounds.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.error >= f64::MAX {
            return write!(f, "{:.1} (anything)", tenths(self.points));
        }
        write!(f, "{:.1} ({:.1} to {:.1})", tenths(self.points), tenths(self.lower), tenths(self.upper))
    }
}

/// To the precision that is shown, and never minus nothing.
fn tenths(points: f64) -> f64 {
    let rounded = (10.0 * points).round() / 10.0;
    if rounded.abs() < 0.05 { 0.0 } else { rounded }
}

/// Tango's score statistic of a difference of paired proportions: `b` lost and `c` gained of `n`, against a difference of `delta`.
fn tango(b: f64, c: f64, n: f64, delta: f64) -> f64 {
    // The most likely probability of a gain, were the difference delta.
    let (qa, qb, qc) = (2.0 * n, (2.0 * n - b + c) * delta - b - c, -c * delta * (1.0 - delta));
    let q = ((qb * qb - 4.0 * qa * qc).max(0.0).sqrt() - qb) / (2.0 * qa);
    let variance = n * (2.0 * q + delta * (1.0 - delta));
    let distance = b - c - n * delta;
    if variance > 0.0 {
        distance / variance.sqrt()
    } else {
        distance.signum() * if distance == 0.0 { 0.0 } else { f64::INFINITY }
    }
}

/// The difference at which the statistic is `z`; it falls with the difference.
fn tango_bound(b: f64, c: f64, n: f64, z: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if tango(b, c, n, middle) > z { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Holm's correction: each p-value as it counts among all of them.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0f64);
    for (rank, &k) in order.iter().enumerate() {
        largest = largest.max(((p.len() - rank) as f64 * p[k]).min(1.0));
        adjusted[k] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn tangos_bounds_solve_the_score_equation() {
        // With no difference at all the upper bound solves n d / (1 - d) = z^2.
        let z = Normal::standard().inverse_cdf(LEVEL);
        for n in [50, 200, 1600] {
            let cost = Cost::of_answers(0, 0, n);
            assert!(close(cost.upper, 100.0 * z * z / (n as f64 + z * z)), "{cost:?}");
            assert!(close(cost.lower, -cost.upper));
        }
        // 14 lost and 5 gained of 100, by a fine grid.
        let cost = Cost::of_answers(14, 5, 100);
        let grid = (0..200_000).map(|k| f64::from(k) / 100_000.0 - 1.0);
        let inside: Vec<f64> = grid.filter(|&d| tango(14.0, 5.0, 100.0, d).abs() <= z).collect();
        assert!((cost.lower / 100.0 - inside[0]).abs() < 1e-4 && (cost.upper / 100.0 - inside[inside.len() - 1]).abs() < 1e-4);
    }

    proptest! {
        #[test]
        fn bounds_hold_the_estimate_and_agree_with_the_test(lost in 0usize..40, gained in 0usize..40, more in 1usize..500, tolerance in 0.0f64..30.0) {
            let cost = Cost::of_answers(lost, gained, lost + gained + more);
            prop_assert!(cost.lower <= cost.points + 1e-9 && cost.points <= cost.upper + 1e-9);
            let p = cost.p_at_most(tolerance);
            prop_assert!((0.0..=1.0).contains(&p));
            if (cost.lower - tolerance).abs() > 1e-6 {
                prop_assert_eq!(cost.lower > tolerance, p < 1.0 - LEVEL, "{:?} {}", cost, p);
            }
        }
    }

    #[test]
    fn errors_are_compared_by_what_is_left() {
        let scores = |errors: Vec<f64>| Scores { each: PerExample::Error(errors), loss: 0.0 };
        // R² 0.998 falls to 0.953.
        let cost = Cost::between(&scores(vec![0.002; 4]), &scores(vec![0.046, 0.048, 0.046, 0.048]));
        assert!((cost.points - 100.0 * 0.045 / 0.072).abs() < 1e-9 && cost.lower > 58.0, "{cost:?}");
        assert!(cost.p_at_most(5.0) < 1e-4 && cost.p_at_most(66.0) > 0.9);
        // A reference that leaves half of the variance: 0.03 more is 5.3 percent.
        let cost = Cost::between(&scores(vec![0.5; 2]), &scores(vec![0.53; 2]));
        assert!((cost.points - 100.0 * 0.03 / 0.57).abs() < 1e-9);
        let single = Cost::between(&scores(vec![0.5]), &scores(vec![0.6]));
        assert!(single.upper > 1e300 && single.to_string().contains("anything"));
    }

    #[test]
    fn more_examples_tell_more() {
        let cost = Cost::of_answers(3, 1, 100);
        let enough = cost.examples_to_tell(5.0).unwrap();
        assert!((20..2000).contains(&enough), "{enough}");
        assert!(Cost::of_answers(30, 10, 1000).examples_to_tell(2.0).is_none());
        assert!(close(Cost::of_answers(50, 0, 100).at_most(20.0).points, 20.0));
    }

    #[test]
    fn holm_by_hand() {
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        assert!(close(adjusted[0], 0.03) && close(adjusted[1], 0.06) && close(adjusted[2], 0.06));
    }

    #[test]
    fn parts_are_pooled() {
        let one = Scores { each: PerExample::Right(vec![true]), loss: 1.0 };
        let both = one.clone().followed_by(&Scores { each: PerExample::Right(vec![false, false, true]), loss: 2.0 });
        assert!((both.share() - 0.5).abs() < 1e-12 && (both.loss - 1.75).abs() < 1e-12 && both.count() == 4);
    }
}

//! What a fit says about a constraint: its cost against a reference on the same validation examples.

use std::fmt;

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// The score of every validation example; the mean of them, times 100, is the score of a fit in points.
#[derive(Debug, Clone, PartialEq)]
pub enum PerExample {
    /// Answered right or not: points of accuracy.
    Right(Vec<bool>),
    /// 1 - squared error / variance of the targets: points of R².
    Share(Vec<f64>),
}

/// What a fit reached on the validation examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Example by example, always in the same order.
    pub each: PerExample,
    /// Mean loss: what decides between starts.
    pub loss: f64,
}

impl Scores {
    /// Number of examples.
    pub fn count(&self) -> usize {
        match &self.each {
            PerExample::Right(right) => right.len(),
            PerExample::Share(share) => share.len(),
        }
    }

    /// The score in points.
    pub fn points(&self) -> f64 {
        let sum = match &self.each {
            PerExample::Right(right) => right.iter().filter(|right| **right).count() as f64,
            PerExample::Share(share) => share.iter().sum(),
        };
        100.0 * sum / self.count().max(1) as f64
    }
}

/// How much worse a fit is than a reference, in points, paired over examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Score of the reference minus score of the fit; negative when the fit is better.
    pub points: f64,
    /// 95 % confidence interval over examples.
    pub interval: [f64; 2],
    /// One-sided p-value of "the fit is no worse": exact McNemar test, or paired t-test for R².
    pub p: f64,
    /// Examples that only the reference, and that only the fit answers right; absent for R².
    pub discordant: Option<[usize; 2]>,
}

impl Cost {
    /// The cost of `fit` against `reference`, which were scored on the same examples.
    pub fn between(reference: &Scores, fit: &Scores) -> Self {
        if let (PerExample::Right(a), PerExample::Right(b)) = (&reference.each, &fit.each) {
            let lost = a.iter().zip(b).filter(|(a, b)| **a && !**b).count();
            let gained = a.iter().zip(b).filter(|(a, b)| !**a && **b).count();
            return Self::of_answers(lost, gained, a.len());
        }
        let differences: Vec<f64> = shares(reference).into_iter().zip(shares(fit)).map(|(a, b)| 100.0 * (a - b)).collect();
        Self::of_differences(&differences)
    }

    /// The same comparison, had the fit answered nothing and the reference everything.
    #[must_use]
    pub fn of_everything(self) -> Self {
        Self { points: 100.0, interval: [100.0; 2], p: 0.0, ..self }
    }

    /// From the numbers of answers lost and gained among `count`. The interval is Bonett and Price's: a normal interval with
    /// one example added to each kind of difference, which stays honest when there are next to none.
    fn of_answers(lost: usize, gained: usize, count: usize) -> Self {
        let points = 100.0 * (lost as f64 - gained as f64) / count.max(1) as f64;
        let total = count as f64 + 2.0;
        let (minus, plus) = ((lost + 1) as f64 / total, (gained + 1) as f64 / total);
        let half = normal(0.975) * ((minus + plus - (minus - plus).powi(2)) / total).sqrt();
        let interval = [100.0 * (minus - plus - half), 100.0 * (minus - plus + half)];
        Self { points, interval, p: mcnemar(lost, gained), discordant: Some([lost, gained]) }
    }

    fn of_differences(differences: &[f64]) -> Self {
        let count = differences.len();
        let points = differences.iter().sum::<f64>() / count.max(1) as f64;
        // One difference has no spread: it tells nothing. Records are JSON, which has no infinity.
        let freedom = count.saturating_sub(1) as f64;
        let Ok(t) = StudentsT::new(0.0, 1.0, freedom) else {
            return Self { points, interval: [f64::MIN, f64::MAX], p: 1.0, discordant: None };
        };
        let variance = differences.iter().map(|d| (d - points).powi(2)).sum::<f64>() / freedom;
        let error = (variance / count as f64).sqrt();
        let half = t.inverse_cdf(0.975) * error;
        let p = if error > 0.0 { 1.0 - t.cdf(points / error) } else { f64::from(u8::from(points <= 0.0)) };
        Self { points, interval: [points - half, points + half], p, discordant: None }
    }
}

/// `2.5 [2.1, 2.9]`: points and interval.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.interval.map(tenths);
        // The interval of a single difference is everything.
        if high.is_infinite() {
            return write!(f, "{:.1} [anything]", tenths(self.points));
        }
        write!(f, "{:.1} [{low:.1}, {high:.1}]", tenths(self.points))
    }
}

/// To the precision that is shown, and never minus nothing.
fn tenths(points: f64) -> f64 {
    let rounded = (10.0 * points).round() / 10.0;
    if rounded.abs() < 0.05 { 0.0 } else { rounded }
}

/// A p-value as it is shown.
pub fn p_in_words(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

fn shares(scores: &Scores) -> Vec<f64> {
    match &scores.each {
        PerExample::Right(right) => right.iter().map(|right| f64::from(u8::from(*right))).collect(),
        PerExample::Share(share) => share.clone(),
    }
}

fn normal(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// P(at least `lost` of `lost + gained` differences are losses) when each is as likely a gain: the exact one-sided McNemar
/// test.
fn mcnemar(lost: usize, gained: usize) -> f64 {
    if lost == 0 {
        return 1.0;
    }
    Binomial::new(0.5, (lost + gained) as u64).map_or(1.0, |b| b.sf(lost as u64 - 1))
}

/// Holm's adjustment of p-values: reject where the adjusted value is below the level, and the chance of any false rejection
/// stays below it.
///
/// ```
/// # use invar_lab::screen::holm;
/// assert_eq!(holm(&[0.01, 0.5, 0.02]), [0.03, 0.5, 0.04]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, &k) in order.iter().enumerate() {
        largest = largest.max((p[k] * (p.len() - rank) as f64).min(1.0));
        adjusted[k] = largest;
    }
    adjusted
}

/// The smallest cost in points that a test on so many examples could call significant for the first of the candidates with
/// these costs (Holm's strictest step). For answers: so many lost and none gained. For R²: so many standard errors, where each
/// candidate has its own and the smallest counts: what could be seen at best.
pub fn detectable(costs: &[Cost], examples: usize, alpha: f64) -> f64 {
    let level = alpha / costs.len().max(1) as f64;
    if costs.iter().all(|cost| cost.discordant.is_some()) {
        let lost = (1..=examples).find(|&lost| mcnemar(lost, 0) < level).unwrap_or(examples);
        return 100.0 * lost as f64 / examples.max(1) as f64;
    }
    // A fit that diverged has no spread to tell from, and a single example has any.
    let spread = |cost: &Cost| (cost.interval[1] - cost.interval[0]) / (2.0 * normal(0.975));
    let smallest = costs.iter().map(spread).filter(|&error| error > 0.0 && error.is_finite()).min_by(f64::total_cmp);
    // Where none is left, any cost below everything goes unseen.
    smallest.map_or(100.0, |error| (normal(1.0 - level) * error).min(100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(wrong: std::ops::Range<usize>) -> Scores {
        Scores { each: PerExample::Right((0..100).map(|i| !wrong.contains(&i)).collect()), loss: 0.0 }
    }

    #[test]
    fn mcnemar_by_hand() {
        // 5 losses and no gain: (1/2)^5. 3 losses and 1 gain: (4 + 1) / 16.
        assert!((mcnemar(5, 0) - 1.0 / 32.0).abs() < 1e-12);
        assert!((mcnemar(3, 1) - 5.0 / 16.0).abs() < 1e-12);
        assert!((mcnemar(0, 7) - 1.0).abs() < 1e-12 && (mcnemar(0, 0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn costs_are_paired() {
        let cost = Cost::between(&right(0..2), &right(0..10));
        assert!((cost.points - 8.0).abs() < 1e-9 && cost.discordant == Some([8, 0]));
        assert!(cost.interval[0] > 1.9 && cost.interval[1] < 14.0 && cost.p < 0.005);
        // As many wrong, but others: eight differences each way tell of no cost.
        let other = Cost::between(&right(0..8), &right(8..16));
        assert!(other.points.abs() < 1e-9 && other.p > 0.5 && other.interval[0] < -5.0 && other.interval[1] > 5.0);
        let better = Cost::between(&right(0..10), &right(0..2));
        assert!(better.points < 0.0 && (better.p - 1.0).abs() < 1e-12);
    }

    #[test]
    fn costs_are_shown_to_a_tenth_of_a_point() {
        let of = |points: f64, half: f64| Cost { points, interval: [points - half, points + half], p: 0.5, discordant: None };
        assert_eq!(of(2.54, 0.41).to_string(), "2.5 [2.1, 3.0]");
        assert_eq!(of(-0.02, 0.02).to_string(), "0.0 [0.0, 0.0]");
        assert_eq!(of(-0.26, 0.1).to_string(), "-0.3 [-0.4, -0.2]");
        assert_eq!((p_in_words(0.0002), p_in_words(0.25)), ("< 0.001".to_string(), "0.250".to_string()));
    }

    #[test]
    fn no_difference_still_has_an_interval() {
        let cost = Cost::between(&right(0..2), &right(0..2));
        assert!(cost.interval[0] < -1.0 && cost.interval[1] > 1.0 && (cost.p - 1.0).abs() < 1e-12);
        let large = Cost::of_answers(0, 0, 1600);
        assert!((large.interval[1] - 0.173).abs() < 0.001, "{large:?}");
    }

    #[test]
    fn points_of_r_squared() {
        let share =
            |x: f64| Scores { each: PerExample::Share((0..50).map(|i| x + 0.01 * f64::from(i % 5)).collect()), loss: 0.0 };
        let cost = Cost::between(&share(0.9), &share(0.8));
        assert!((cost.points - 10.0).abs() < 1e-9 && cost.p < 1e-9 && cost.discordant.is_none());
        assert!((Cost::between(&share(0.8), &share(0.8)).p - 1.0).abs() < 1e-12);
        assert!((share(0.9).points() - 92.0).abs() < 1e-9);
        let one = |x: f64| Scores { each: PerExample::Share(vec![x]), loss: 0.0 };
        let alone = Cost::between(&one(0.9), &one(0.1));
        assert!((alone.p - 1.0).abs() < 1e-12 && alone.interval[0] < -1e9 && alone.interval[1] > 1e9, "{alone:?}");
    }

    #[test]
    fn holm_is_monotone_and_never_below_the_raw_value() {
        let p = [0.04, 0.001, 0.03, 0.9, 0.002];
        let adjusted = holm(&p);
        assert!(adjusted.iter().zip(&p).all(|(a, p)| a >= p && *a <= 1.0));
        for (expected, got) in [0.09, 0.005, 0.09, 0.9, 0.008].iter().zip(&adjusted) {
            assert!((expected - got).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn what_a_validation_set_can_detect() {
        // 0.05 / 45 needs ten losses against none: 10 of 1600.
        let answers = |examples, tests| detectable(&vec![Cost::of_answers(1, 0, examples); tests], examples, 0.05);
        assert!((answers(1600, 45) - 0.625).abs() < 1e-9);
        assert!((answers(1600, 1) - 0.3125).abs() < 1e-9);
        assert!((answers(3, 45) - 100.0).abs() < 1e-9, "a handful of examples detects nothing");
        // A standard error of 0.1 points, one candidate: 1.645 of them.
        let share = Cost { points: 0.0, interval: [-0.196, 0.196], p: 0.5, discordant: None };
        assert!((detectable(&[share], 1600, 0.05) - 0.1645).abs() < 1e-3);
        let diverged = share.of_everything();
        assert!(detectable(&[diverged, diverged, share], 1600, 0.05) > 0.1645);
        let wide = Cost { interval: [-1.96, 1.96], ..share };
        let [alone, among] = [vec![share; 3], vec![wide, share, wide]].map(|costs| detectable(&costs, 1600, 0.05));
        assert!((alone - among).abs() < 1e-12, "what one candidate can show is not lost among others");
        let single = Cost::of_differences(&[0.3]);
        for none in [diverged, single] {
            assert!((detectable(&[none], 1600, 0.05) - 100.0).abs() < 1e-9);
        }
        assert_eq!(single.to_string(), "0.3 [anything]");
    }
}

//! Means with confidence intervals, and paired tests.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// A mean over seeds with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval, by Student's t; absent for a single value.
    pub interval: Option<f64>,
    /// How many values.
    pub count: usize,
}

impl Mean {
    /// The mean of some values; none of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let interval = (count > 1).then(|| quantile(count - 1) * deviation(values, mean) / (count as f64).sqrt());
        Some(Self { mean, interval, count })
    }
}

fn deviation(values: &[f64], mean: f64) -> f64 {
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// The 97.5 % point of Student's t.
fn quantile(freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::NAN, |t| t.inverse_cdf(0.975))
}

/// Wilson's 95 % interval of a share: it stays inside 0 to 1, and is honest when all or none are hits.
pub fn proportion(hits: usize, count: usize) -> [f64; 2] {
    if count == 0 {
        return [0.0, 1.0];
    }
    let (n, z) = (count as f64, 1.959_963_984_540_054_f64);
    let share = hits as f64 / n;
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    [(centre - half).max(0.0), (centre + half).min(1.0)]
}

/// The exact 95 % interval of a share, after Clopper and Pearson.
pub fn exact_proportion(hits: usize, count: usize) -> [f64; 2] {
    let (k, n) = (hits as f64, count as f64);
    let point = |a: f64, b: f64, p: f64| Beta::new(a, b).map_or(f64::NAN, |beta| beta.inverse_cdf(p));
    let low = if hits == 0 { 0.0 } else { point(k, n - k + 1.0, 0.025) };
    let high = if hits >= count { 1.0 } else { point(k + 1.0, n - k, 0.975) };
    [low, high]
}

/// Two-sided p-value of the paired t-test that `a` and `b` have the same mean; none for fewer than two pairs.
pub fn paired_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len();
    if n < 2 || b.len() != n {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
    let mean = differences.iter().sum::<f64>() / n as f64;
    let error = deviation(&differences, mean) / (n as f64).sqrt();
    if error == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    Some(2.0 * (1.0 - t.cdf((mean / error).abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_intervals_by_hand() {
        // With no hit of n the upper end solves (1 - p)^n = 0.025; with all of them it is the other way round.
        for n in [1, 10, 200] {
            let end = 1.0 - 0.025f64.powf(1.0 / n as f64);
            let [none, all] = [exact_proportion(0, n), exact_proportion(n, n)];
            assert!(none[0] == 0.0 && (none[1] - end).abs() < 1e-6 && (all[0] - (1.0 - end)).abs() < 1e-6 && all[1] >= 1.0);
        }
        // 4 of 20, from tables.
        let [low, high] = exact_proportion(4, 20);
        assert!((low - 0.0573).abs() < 1e-3 && (high - 0.4366).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn intervals_are_students() {
        // Five values with deviation 1: t(4) = 2.776, so the half width is 2.776 / sqrt(5).
        let values = [-1.264_911, -0.632_456, 0.0, 0.632_456, 1.264_911];
        let mean = Mean::of(&values).unwrap();
        assert!(mean.mean.abs() < 1e-9 && (mean.interval.unwrap() - 2.776_445 / 5f64.sqrt()).abs() < 1e-4);
        assert_eq!(Mean::of(&[3.0]).unwrap().interval, None);
        assert!(Mean::of(&[]).is_none());
    }

    #[test]
    fn shares_have_wilsons_interval() {
        let [low, high] = proportion(9, 10);
        assert!((low - 0.596).abs() < 1e-3 && (high - 0.982).abs() < 1e-3, "{low} {high}");
        assert!(proportion(0, 10)[0].abs() < 1e-12 && (proportion(10, 10)[1] - 1.0).abs() < 1e-12);
        assert!(proportion(0, 0)[0] <= 0.0 && proportion(0, 0)[1] >= 1.0);
    }

    #[test]
    fn paired_tests_see_consistent_differences_only() {
        assert!(paired_p(&[1.0, 2.0, 3.0, 4.0], &[0.9, 1.8, 2.9, 3.8]).unwrap() < 0.05);
        assert!(paired_p(&[1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, 4.0, 3.0]).unwrap() > 0.9);
        assert_eq!(paired_p(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(paired_p(&[1.0], &[1.0]), None);
    }
}

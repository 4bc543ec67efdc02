//! Numbers of a size that networks like, in a way that leaves every candidate acting as before.

use invar_algebra::{Group, Orbits};
use invar_data::Table;
use serde::{Deserialize, Serialize};

/// (x - mean) * scale, entry by entry: one number for all entries, or one for each.
///
/// A symmetry g acts on scaled examples as on others only when scaling commutes with it. So images get one number for all entries, and
/// entries that an imposed symmetry exchanges share theirs, up to sign. Where matrices act one scale serves all. What is not imposed
/// changes nothing: columns of different units keep their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// Subtracted.
    pub mean: Vec<f32>,
    /// Multiplied with.
    pub scale: Vec<f32>,
}

/// Targets of a regression as the network sees them: (y - mean) / deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetScaling {
    /// Mean of the training targets.
    pub mean: f64,
    /// Their standard deviation, never 0.
    pub deviation: f64,
}

impl Scaling {
    /// Of images: from 0 to 1, one rule for all entries; nothing when they are there already.
    pub fn of_images(train: &Table) -> Option<Self> {
        let range =
            |values: &[f32]| values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let (low, high) = range(&train.inputs);
        if low >= 0.0 && high <= 1.0 {
            return None;
        }
        let width = if high > low { high - low } else { 1.0 };
        Some(Self { mean: vec![low], scale: vec![1.0 / width] })
    }

    /// Of arrays: mean 0 and deviation 1 over each orbit of the symmetries that are imposed. Where one of them is a matrix, one scale
    /// serves all entries.
    pub fn of_arrays<'a>(inputs: &[f32], width: usize, imposed: impl IntoIterator<Item = &'a Group>) -> Self {
        let imposed: Vec<&Group> = imposed.into_iter().collect();
        // The orbits of the group that all of them generate are those of all their generators.
        let Some(orbits) = Orbits::of(width, imposed.iter().flat_map(|group| group.generators())) else {
            return Self::of_one_scale(inputs, width);
        };
        let minus: Vec<bool> = (0..width).map(|entry| orbits.is_reversed(entry)).collect();
        let cancelled: Vec<bool> = (0..orbits.count()).map(|orbit| orbits.is_cancelled(orbit)).collect();
        let orbit: Vec<usize> = (0..width).map(|entry| orbits.orbit(entry)).collect();
        let mut sums = vec![(0.0f64, 0usize); orbits.count()];
        for (k, &value) in inputs.iter().enumerate() {
            let entry = k % width;
            let (sum, n) = &mut sums[orbit[entry]];
            *sum += f64::from(if minus[entry] { -value } else { value });
            *n += 1;
        }
        // An orbit that meets its own negative has no mean but 0.
        let mean = |k: usize| if cancelled[k] { 0.0 } else { sums[k].0 / sums[k].1.max(1) as f64 };
        let means: Vec<f64> = (0..width).map(|entry| mean(orbit[entry]) * if minus[entry] { -1.0 } else { 1.0 }).collect();
        let mut squares = vec![0.0f64; orbits.count()];
        for (k, &value) in inputs.iter().enumerate() {
            squares[orbit[k % width]] += (f64::from(value) - means[k % width]).powi(2);
        }
        let scale = |entry: usize| {
            let deviation = (squares[orbit[entry]] / sums[orbit[entry]].1.max(1) as f64).sqrt();
            if differs(deviation, means[entry]) { 1.0 / deviation } else { 1.0 }
        };
        Self {
            scale: (0..width).map(|entry| scale(entry) as f32).collect(),
            mean: means.iter().map(|&mean| mean as f32).collect(),
        }
    }

    /// What commutes with any matrix.
    fn of_one_scale(inputs: &[f32], width: usize) -> Self {
        let square = inputs.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / inputs.len().max(1) as f64;
        let scale = if differs(square.sqrt(), 0.0) { 1.0 / square.sqrt() } else { 1.0 };
        Self { mean: vec![0.0; width], scale: vec![scale as f32; width] }
    }

    /// An entry of an example, scaled.
    pub fn entry(&self, place: usize, value: f32) -> f32 {
        let at = |of: &[f32]| if of.len() == 1 { of[0] } else { of[place] };
        (value - at(&self.mean)) * at(&self.scale)
    }

    /// The inputs of a table, scaled.
    pub fn apply(&self, inputs: &[f32], width: usize) -> Vec<f32> {
        inputs.iter().enumerate().map(|(k, &x)| self.entry(k % width, x)).collect()
    }
}

impl TargetScaling {
    /// Of the training targets.
    pub fn of(values: &[f32]) -> Self {
        let n = values.len().max(1) as f64;
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
        let deviation = (values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n).sqrt();
        Self { mean, deviation: if differs(deviation, mean) { deviation } else { 1.0 } }
    }

    /// A target as the network sees it.
    pub fn scaled(&self, value: f32) -> f32 {
        ((f64::from(value) - self.mean) / self.deviation) as f32
    }
}

/// Whether a deviation is that of numbers that differ, and not what rounding leaves of equal ones; in any unit that leaves `f32`
/// something to count with.
fn differs(deviation: f64, mean: f64) -> bool {
    deviation > 1e-12 * mean.abs() && deviation > f64::from(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::candidates;
    use invar_data::Labels;
    use proptest::prelude::*;

    fn table(width: usize, inputs: Vec<f32>) -> Table {
        Table::new(vec![width], inputs, Labels::None, "")
    }

    #[test]
    fn units_do_not_matter() {
        let values: Vec<f32> = (0..12u8).map(|k| f32::from(k * k % 7)).collect();
        let scaled = |factor: f32| {
            let table = table(3, values.iter().map(|x| x * factor).collect());
            let groups = candidates(&"3".parse().unwrap(), ["permute(0)"]).unwrap();
            Scaling::of_arrays(&table.inputs, 3, &groups).apply(&table.inputs, 3)
        };
        for factor in [1e-30, 1e-13, 1e20] {
            for (a, b) in scaled(1.0).iter().zip(scaled(factor)) {
                assert!((a - b).abs() < 1e-4, "{factor}: {a} {b}");
            }
            let targets = TargetScaling::of(&values.iter().map(|x| x * factor).collect::<Vec<_>>());
            let (a, b) = (TargetScaling::of(&values).scaled(values[2]), targets.scaled(values[2] * factor));
            assert!((a - b).abs() < 1e-4, "{factor}: {a} {b}");
        }
        // Equal numbers have no unit of their own.
        assert!((TargetScaling::of(&[0.1; 1000]).deviation - 1.0).abs() < 1e-15);
    }

    proptest! {
        /// Moving an example and scaling it can be exchanged, whatever the candidates are.
        #[test]
        fn scaling_commutes_with_every_candidate(
            inputs in prop::collection::vec(-50.0f32..80.0, 24),
            list in prop::sample::select(vec![
                vec!["swap(0;0,1)", "cycle(0)"],
                vec!["swap(0;0,1)", "swap(0;2,3)"],
                vec!["negate"],
                vec!["generators([[-1,0,2,3]])"],
                vec!["generators([[[0,1/2,0,0],[2,0,0,0],[0,0,1,0],[0,0,0,1]]])", "flip(0)"],
            ]),
        ) {
            let shape = "4".parse().unwrap();
            let groups = candidates(&shape, list).unwrap();
            let scaling = Scaling::of_arrays(&inputs, 4, &groups);
            let example: Vec<f64> = inputs[..4].iter().map(|&v| f64::from(v)).collect();
            for generator in groups.iter().flat_map(Group::generators) {
                let moved = |x: &[f64]| { let mut out = vec![0.0; 4]; generator.apply(x, &mut out); out };
                let scaled = |x: &[f64]| {
                    let x: Vec<f32> = x.iter().map(|&v| v as f32).collect();
                    scaling.apply(&x, 4).into_iter().map(f64::from).collect::<Vec<_>>()
                };
                for (a, b) in moved(&scaled(&example)).into_iter().zip(scaled(&moved(&example))) {
                    prop_assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{} {}", a, b);
                }
            }
        }
    }

    #[test]
    fn orbits_have_mean_zero_and_deviation_one() {
        let shape = "3".parse().unwrap();
        let groups = candidates(&shape, ["swap(0;0,1)"]).unwrap();
        let scaling = Scaling::of_arrays(&[1.0, 3.0, 7.0, 5.0, 7.0, 7.0], 3, &groups);
        assert_eq!((scaling.mean.clone(), scaling.scale[2]), (vec![4.0, 4.0, 7.0], 1.0));
        assert!((scaling.scale[0] - 1.0 / 5f32.sqrt()).abs() < 1e-6);
        assert!((scaling.scale[0] - scaling.scale[1]).abs() < 1e-9);
        assert_eq!(scaling.apply(&[4.0, 4.0, 9.0], 3), [0.0, 0.0, 2.0]);
    }

    #[test]
    fn only_what_is_imposed_shares_a_scale() {
        let inputs = [1.0, 100.0, 3.0, 300.0];
        let own = Scaling::of_arrays(&inputs, 2, []);
        assert_eq!((own.mean.clone(), own.scale[0]), (vec![2.0, 200.0], 1.0));
        let groups = candidates(&"2".parse().unwrap(), ["generators([[-1,-0]])", "negate"]).unwrap();
        // x0 and -x1 are one orbit: their mean is that of 1, 3, -100, -300.
        let signed = Scaling::of_arrays(&inputs, 2, &groups[..1]);
        assert_eq!(signed.mean, vec![-99.0, 99.0]);
        assert_eq!(Scaling::of_arrays(&inputs, 2, &groups).mean, vec![0.0, 0.0]);
    }

    #[test]
    fn images_go_from_zero_to_one() {
        assert_eq!(Scaling::of_images(&table(2, vec![0.0, 0.5])), None);
        let scaling = Scaling::of_images(&table(2, vec![0.0, 16.0, 4.0, 2.0])).unwrap();
        assert_eq!(scaling.apply(&[0.0, 4.0, 16.0], 3), [0.0, 0.25, 1.0]);
        let targets = TargetScaling::of(&[1.0, 3.0]);
        assert_eq!((targets.mean, targets.deviation, targets.scaled(3.0)), (2.0, 1.0, 1.0));
        assert!(TargetScaling::of(&[2.0, 2.0]).scaled(2.0).abs() < 1e-9);
    }
}

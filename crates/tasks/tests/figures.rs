//! Appendix A and the counterexample in the proof of Theorem 1: invariant to G_I, yet not counterfactually invariant.
#![allow(clippy::float_cmp, reason = "sums of pixels that are 0 or 1")]

use invar_algebra::{Action, Group, GroupSet, Shape, candidates};
use invar_tasks::{Base, Causal, Composition, Draw, Examples, Figures, Sizes, consistency};
use proptest::prelude::*;

const SIDE: usize = 60;

fn apply(action: &Action, x: &[f32]) -> Vec<f32> {
    let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
    let mut out = vec![0.0; x.len()];
    action.apply(&x, &mut out);
    out.into_iter().map(|v| v as f32).collect()
}

fn times(group: &Group, power: usize, x: &[f32]) -> Vec<f32> {
    (0..power).fold(x.to_vec(), |x, _| apply(&group.generators()[0], &x))
}

#[test]
fn training_shows_four_figures_and_the_test_set_shifts_them_before_the_turn() {
    let task = Figures::default();
    let groups = task.groups().unwrap();
    let data = task.generate(1).unwrap();
    let upright = data.train.iter().find(|(_, y)| *y == 0.0).unwrap().0.to_vec();
    for (x, y) in data.train.iter().chain(data.validation.iter()) {
        assert_eq!(x, times(&groups[0], y as usize, &upright));
        assert_eq!(Figures::angle(y), 90 * y as usize);
    }
    let mut shifts = std::collections::BTreeSet::new();
    for (x, y) in data.test.iter() {
        let back = times(&groups[0], (4 - y as usize) % 4, x);
        let shift = (0..SIDE).find(|&k| times(&groups[1], k, &upright) == back).expect("a shifted figure");
        shifts.insert(shift);
    }
    assert!(!shifts.contains(&0) && shifts.len() > 50, "{shifts:?}");
    assert_eq!(data, task.generate(1).unwrap());
    assert_ne!(data.test, task.generate(2).unwrap().test);
}

#[test]
fn the_figure_has_no_symmetry_of_its_own() {
    let data = Figures::default().generate(0).unwrap();
    let upright = data.train.iter().find(|(_, y)| *y == 0.0).unwrap().0.to_vec();
    let shape: Shape = "60x60".parse().unwrap();
    let groups = candidates(&shape, ["rot90(0,1)", "flip(0)", "shift(0)", "shift(1)"]).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for turn in 0..4 {
        for flip in 0..2 {
            let x = times(&groups[1], flip, &times(&groups[0], turn, &upright));
            // Over all shifts the smallest image stands for the figure, so that equal figures are found wherever they are.
            let bits = |x: &[f32]| x.iter().map(|&v| v == 1.0).collect::<Vec<bool>>();
            let (mut row, mut least) = (x.clone(), bits(&x));
            for _ in 0..SIDE {
                least = (0..SIDE).fold(least, |least, _| {
                    row = apply(&groups[3].generators()[0], &row);
                    least.min(bits(&row))
                });
                row = apply(&groups[2].generators()[0], &row);
            }
            seen.insert(least);
        }
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn a_shift_invariant_representation_fails_on_quarter_turns_only() {
    // The sums of all rows: invariant to sideways shifts, and different for the four training figures.
    let rows = |x: &[f32]| x.chunks(SIDE).map(|row| row.iter().sum::<f32>()).collect::<Vec<_>>();
    let task = Figures::default();
    let data = task.generate(3).unwrap();
    let known: Vec<(Vec<f32>, f32)> = data.train.iter().map(|(x, y)| (rows(x), y)).collect();
    assert!(known.iter().all(|(a, y)| known.iter().all(|(b, z)| (a == b) == (y == z))), "100 % in training");
    for (x, y) in data.test.iter() {
        let found = known.iter().find(|(seen, _)| *seen == rows(x)).map(|(_, z)| *z);
        let quarter = Figures::angle(y) % 180 == 90;
        assert_eq!(found, (!quarter).then_some(y));
    }
    let pairs = task.pairs(200, 3).unwrap();
    assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
    let of = |set: &Examples<f32>| set.iter().map(|(x, _)| rows(x)).collect::<Vec<_>>();
    let agreement = consistency(&of(&pairs.observed), &of(&pairs.counterfactual)).unwrap();
    assert!((0.4..0.6).contains(&agreement), "{agreement}");
}

#[test]
fn figures_without_an_orientation_are_refused() {
    let sizes = Sizes { examples: 4, validation: 0.25, test: 1 };
    let error = Figures { sizes, draw: Draw::Uniform }.generate(0).unwrap_err().to_string();
    assert!(error.starts_with("no example of class `turned ") && error.ends_with("images; take more images"), "{error}");
    assert!(Figures::default().pairs(0, 0).is_err());
    let spec: Figures = toml::from_str("sizes = { test = 50, examples = 40 }\ndraw = \"uniform\"").unwrap();
    assert_eq!((spec.sizes.test, spec.sizes.examples, spec.draw), (50, 40, Draw::Uniform));
    assert!(toml::from_str::<Figures>("size = 3").is_err());
}

/// X(hid) of the proof: an upright rod of one column, in the middle of (2n + 1) x (2n + 1) pixels, one pixel off each edge.
fn rod(n: usize) -> Vec<f32> {
    let side = 2 * n + 1;
    (0..side * side).map(|at| f32::from(u8::from(at % side == n && (1..side - 1).contains(&(at / side))))).collect()
}

/// Γ of the proof: the sum over the middle row. Sideways shifts move pixels within their row, so Γ does not see them.
fn middle_row(n: usize, x: &[f32]) -> f32 {
    let side = 2 * n + 1;
    x[n * side..(n + 1) * side].iter().sum()
}

/// The causal model of the proof: D = turns, I = sideways shifts, the label whether the rod lies flat.
fn rod_model(n: usize) -> (Causal, Examples<f32>) {
    let side = 2 * n + 1;
    let shape = Shape::new(&[side, side]).unwrap();
    let groups = candidates(&shape, ["rot90(0,1)", "shift(1)"]).unwrap();
    let causal = Causal::new(&shape, &groups, &GroupSet::empty().with(1), &GroupSet::empty().with(0)).unwrap();
    let base = Examples { inputs: rod(n).repeat(200), width: side * side, targets: vec![0.0; 200] };
    (causal.with_powers().unwrap(), base)
}

fn flat(base: Base<'_, f32>, _: &Action) -> f32 {
    (base.powers[0] % 2) as f32
}

#[test]
fn theorem_1_invariance_to_g_i_is_not_counterfactual_invariance() {
    let n = 5;
    let (causal, base) = rod_model(n);
    // (a) Γ tells the labels apart in training: 1 pixel of an upright rod, all 2n - 1 of a flat one.
    for (x, y) in causal.train(&base, flat, 0).unwrap().iter() {
        assert_eq!(middle_row(n, x), if y == 0.0 { 1.0 } else { 9.0 });
    }
    // The printed example: T(90°) T(+5) X(hid) against T(90°) X(hid).
    let (turn, shift) = (causal.depends(), causal.irrelevant());
    assert_eq!(middle_row(n, &times(turn, 1, &rod(n))), 9.0);
    assert_eq!(middle_row(n, &times(turn, 1, &times(shift, 5, &rod(n)))), 0.0);
    // Over all coupled pairs: upright rods agree, flat ones never do.
    let first = causal.clone().with_composition(Composition::IThenD).pairs(&base, flat, 0).unwrap();
    for ((x, y), (cf, z)) in first.observed.iter().zip(first.counterfactual.iter()) {
        assert_eq!(y, z);
        assert_eq!(middle_row(n, x) == middle_row(n, cf), y == 0.0);
    }
    // Were the shift applied last, invariance to it would be enough.
    let last = causal.pairs(&base, flat, 0).unwrap();
    let of = |set: &Examples<f32>| set.iter().map(|(x, _)| middle_row(n, x)).collect::<Vec<_>>();
    assert_eq!(consistency(&of(&last.observed), &of(&last.counterfactual)), Ok(1.0));
    assert!(causal.warning().is_some(), "Theorem 2 does not apply");
}

proptest! {
    /// (b) Γ is invariant to sideways shifts, whatever the image.
    #[test]
    fn the_middle_row_is_invariant_to_shifts(
        (n, x) in (1usize..6).prop_flat_map(|n| (Just(n), proptest::collection::vec(0u8..9, (2 * n + 1) * (2 * n + 1)))),
        power in 0usize..12,
    ) {
        let x: Vec<f32> = x.into_iter().map(f32::from).collect();
        let (causal, _) = rod_model(n);
        prop_assert_eq!(middle_row(n, &times(causal.irrelevant(), power, &x)), middle_row(n, &x));
    }
}

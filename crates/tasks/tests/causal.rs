//! The causal model keeps what the paper says of it: what is shared, what is replaced, and what is refused.
#![allow(clippy::float_cmp, reason = "labels are whole numbers")]

use invar_algebra::{Action, Group, GroupSet, Shape, candidates};
use invar_tasks::{Base, Causal, Composition, Draw, Examples, consistency};

fn set(groups: &[usize]) -> GroupSet {
    groups.iter().copied().collect()
}

fn model(shape: &str, groups: &[&str], irrelevant: &[usize], depends: &[usize]) -> Causal {
    let shape: Shape = shape.parse().unwrap();
    let groups = candidates(&shape, groups.iter().copied()).unwrap();
    Causal::new(&shape, &groups, &set(irrelevant), &set(depends)).unwrap()
}

/// Examples with all entries different, so that an element of the group can be read off its result.
fn distinct(width: usize, count: usize) -> Examples<i32> {
    let inputs = (0..width * count).map(|k| k as i32).collect();
    Examples { inputs, width, targets: (0..count).map(|k| (k % 3) as f32).collect() }
}

fn base_label(base: Base<'_, i32>, _: &Action) -> f32 {
    base.label
}

fn apply(action: &Action, x: &[i32]) -> Vec<i32> {
    let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
    let mut out = vec![0.0; x.len()];
    action.apply(&x, &mut out);
    out.into_iter().map(|v| v as i32).collect()
}

/// The place of an element among the quarter turns of a group with one generator.
fn power(group: &Group, element: &Action) -> usize {
    let mut product = Action::identity(element.len());
    for k in 0.. {
        if product == *element {
            return k;
        }
        product = group.generators()[0].after(&product);
    }
    unreachable!()
}

#[test]
fn economical_training_shows_the_identity_only() {
    let causal = model("4", &["permute(0)"], &[0], &[]);
    let base = distinct(4, 50);
    let train = causal.train(&base, base_label, 3).unwrap();
    assert_eq!(train, base);
}

#[test]
fn non_identity_moves_every_example_and_reaches_every_other_element() {
    let causal = model("4", &["cycle(0)"], &[0], &[]);
    let base = distinct(4, 3000);
    let test = causal.test(&base, base_label, 3).unwrap();
    let mut counts = [0; 4];
    for ((x, _), (moved, _)) in base.iter().zip(test.iter()) {
        counts[moved.iter().position(|&v| v == x[0]).unwrap()] += 1;
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1..].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    let uniform = causal.with_draw(Draw::Uniform).test(&base, base_label, 3).unwrap();
    let still = base.iter().zip(uniform.iter()).filter(|((x, _), (moved, _))| x == moved).count();
    assert!((620..880).contains(&still), "{still}");
}

#[test]
fn a_trivial_group_has_nothing_but_the_identity_to_draw() {
    let causal = model("4", &["permute(0)"], &[], &[]);
    let base = distinct(4, 5);
    assert_eq!(causal.test(&base, base_label, 0).unwrap(), base);
}

#[test]
fn the_label_follows_the_element_of_d() {
    let causal = model("3x4x4", &["rot90(1,2)", "cycle(0)"], &[1], &[0]);
    let base = distinct(48, 400);
    let turn = causal.depends().clone();
    let label = |base: Base<'_, i32>, d: &Action| base.label + 10.0 * power(&turn, d) as f32;
    let made = causal.generate(&base, &base, label, 1).unwrap();
    assert!(made.warning.is_none());
    let mut seen = set(&[]);
    for ((x, y), index) in made.train.iter().zip(0..) {
        let turns = (y / 10.0) as usize;
        seen.insert(turns);
        let moved = (0..turns).fold(base.input(index).to_vec(), |x, _| apply(&turn.generators()[0], &x));
        assert_eq!(x, moved, "training moves by D alone");
        assert_eq!(y % 10.0, base.targets[index]);
    }
    assert_eq!(seen, GroupSet::full(4));
    assert_ne!(made.train.inputs, made.test.inputs);
}

#[test]
fn powers_are_drawn_evenly_and_act_in_the_order_of_the_candidates() {
    let causal = model("2x4x4", &["rot90(1,2)", "cycle(0)", "flip(1)"], &[1], &[0, 2]).with_powers().unwrap();
    let base = distinct(32, 1600);
    let label = |base: Base<'_, i32>, _: &Action| (2 * base.powers[0] + base.powers[1]) as f32;
    let train = causal.train(&base, label, 1).unwrap();
    let groups = candidates(&"2x4x4".parse().unwrap(), ["rot90(1,2)", "flip(1)"]).unwrap();
    let (turn, flip) = (&groups[0].generators()[0], &groups[1].generators()[0]);
    let mut counts = [0; 8];
    for ((x, y), index) in train.iter().zip(0..) {
        let (turns, mirrored) = (y as usize / 2, y as usize % 2 == 1);
        let turned = (0..turns).fold(base.input(index).to_vec(), |x, _| apply(turn, &x));
        assert_eq!(x, if mirrored { apply(flip, &turned) } else { turned }, "first the turn, then the flip");
        counts[y as usize] += 1;
    }
    assert!(counts.iter().all(|count| (150..250).contains(count)), "{counts:?}");
    let none = |base: Base<'_, i32>, _: &Action| base.powers.len() as f32;
    assert_eq!(model("4", &["cycle(0)"], &[], &[0]).train(&distinct(4, 1), none, 0).unwrap().targets, [0.0]);
}

#[test]
fn only_cyclic_groups_have_powers() {
    let error = model("4", &["permute(0)"], &[], &[0]).with_powers().unwrap_err().to_string();
    assert_eq!(error, "generators of a group in D that is drawn by powers: expected 1 for permute(0), got 2");
    let error = model("1025", &["cycle(0)"], &[], &[0]).with_powers().unwrap_err().to_string();
    assert_eq!(error, "order of a group in D that is drawn by powers must be at most 1024, got 1025");
    let one = model("1x4", &["cycle(0)"], &[], &[0]).with_powers().unwrap();
    let powers = |base: Base<'_, i32>, _: &Action| base.powers.iter().sum::<usize>() as f32;
    assert_eq!(one.train(&distinct(4, 1), powers, 0).unwrap().targets, [0.0]);
}

#[test]
fn coupled_pairs_share_the_label_and_differ_in_u_i() {
    let causal = model("3x4x4", &["rot90(1,2)", "cycle(0)"], &[1], &[0]);
    let base = distinct(48, 200);
    let turn = causal.depends().clone();
    let label = |base: Base<'_, i32>, d: &Action| base.label + 10.0 * power(&turn, d) as f32;
    let pairs = causal.pairs(&base, label, 5).unwrap();
    assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
    assert_eq!(pairs.counterfactual, causal.test(&base, label, 5).unwrap());
    let colours = causal.irrelevant().generators()[0].clone();
    for ((x, _), (cf, _)) in pairs.observed.iter().zip(pairs.counterfactual.iter()) {
        let once = apply(&colours, x);
        assert!(cf == once || cf == apply(&colours, &once), "X and its counterfactual differ by an element of G_I");
    }
    // The sum of all entries does not see the colour cycle, the first entry does.
    let invariant =
        |set: &Examples<i32>| -> Vec<i64> { set.iter().map(|(x, _)| x.iter().map(|&v| i64::from(v)).sum()).collect() };
    let first = |set: &Examples<i32>| -> Vec<i32> { set.iter().map(|(x, _)| x[0]).collect() };
    assert_eq!(consistency(&invariant(&pairs.observed), &invariant(&pairs.counterfactual)), Ok(1.0));
    assert_eq!(consistency(&first(&pairs.observed), &first(&pairs.counterfactual)), Ok(0.0));
}

#[test]
fn order_of_composition_is_honoured() {
    let base = distinct(9, 300);
    let plain = model("3x3", &["rot90(0,1)", "shift(1)"], &[1], &[0]);
    let turn = plain.depends().clone();
    let label = |_: Base<'_, i32>, d: &Action| power(&turn, d) as f32;
    let shift = plain.irrelevant().generators()[0].clone();
    let later = plain.clone().with_composition(Composition::IThenD).test(&base, label, 2).unwrap();
    let earlier = plain.test(&base, label, 2).unwrap();
    let turned = |x: &[i32], times: usize| (0..times).fold(x.to_vec(), |x, _| apply(&turn.generators()[0], &x));
    let shifts = |x: &[i32]| [apply(&shift, x), apply(&shift, &apply(&shift, x))];
    for index in 0..base.len() {
        let (x, y) = (base.input(index), later.targets[index] as usize);
        assert!(shifts(x).iter().any(|moved| turned(moved, y) == later.input(index)), "I then D");
        assert!(shifts(&turned(x, y)).iter().any(|moved| moved == earlier.input(index)), "D then I");
    }
    assert_ne!(later.inputs, earlier.inputs);
}

#[test]
fn a_partial_support_is_drawn_from_evenly() {
    let causal = model("4", &["cycle(0)"], &[0], &[]);
    let step = causal.irrelevant().generators()[0].clone();
    let base = distinct(4, 1000);
    let causal = causal.with_support(vec![Action::identity(4), step.clone()]).unwrap();
    let train = causal.train(&base, base_label, 9).unwrap();
    let still = base.iter().zip(train.iter()).filter(|((x, _), (moved, _))| x == moved).count();
    let stepped = base.iter().zip(train.iter()).filter(|((x, _), (moved, _))| apply(&step, x) == *moved).count();
    assert_eq!(still + stepped, 1000);
    assert!((430..570).contains(&still), "{still}");
    let constant = causal.clone().with_support(vec![step.clone()]).unwrap().train(&base, base_label, 9).unwrap();
    assert!(base.iter().zip(constant.iter()).all(|((x, _), (moved, _))| apply(&step, x) == moved));
    let flip = candidates(&"4".parse().unwrap(), ["flip(0)"]).unwrap()[0].generators()[0].clone();
    let error = causal.clone().with_support(vec![step, flip]).unwrap_err().to_string();
    assert!(
        error.starts_with("support of U_I: expected elements of the group generated by I") && error.ends_with("position 1"),
        "{error}"
    );
    assert!(causal.with_support(vec![]).unwrap_err().to_string().contains("at least 1"));
}

#[test]
fn label_noise_replaces_the_share_it_says_and_nothing_else() {
    let base = distinct(4, 4000);
    let clean = model("4", &["permute(0)"], &[0], &[]);
    let noisy = clean.clone().with_label_noise(0.25).unwrap();
    let (a, b) = (clean.test(&base, base_label, 4).unwrap(), noisy.test(&base, base_label, 4).unwrap());
    assert_eq!(a.inputs, b.inputs);
    let replaced = a.targets.iter().zip(&b.targets).filter(|(a, b)| a != b).count();
    assert!((890..1110).contains(&replaced), "{replaced}");
    assert!(b.targets.iter().all(|y| [0.0, 1.0, 2.0].contains(y)));
    let all = clean.clone().with_label_noise(1.0).unwrap().train(&base, base_label, 4).unwrap();
    assert!(all.targets.iter().zip(&base.targets).all(|(a, b)| a != b));
    let pairs = noisy.pairs(&base, base_label, 4).unwrap();
    assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
    for wrong in [-0.1, 1.5, f64::NAN] {
        let error = clean.clone().with_label_noise(wrong).unwrap_err().to_string();
        assert_eq!(error, format!("label noise must be a probability in [0, 1], got {wrong}"));
    }
    let error = noisy.train(&distinct(4, 1), base_label, 4).unwrap_err().to_string();
    assert!(error.contains("at least 2 different ones"), "{error}");
}

#[test]
fn the_seed_decides_everything() {
    let causal = model("6", &["swaps(0)"], &[0, 1, 5], &[]).with_label_noise(0.1).unwrap();
    let base = distinct(6, 100);
    let test = |seed| causal.test(&base, base_label, seed).unwrap();
    assert_eq!(test(1), test(1));
    assert_ne!(test(1).inputs, test(2).inputs);
    assert_ne!(test(1).targets, test(2).targets);
}

#[test]
fn groups_in_both_subsets_are_refused_by_name() {
    let shape: Shape = "3x4x4".parse().unwrap();
    let groups = candidates(&shape, ["rot=rot90(1,2)", "flip(1)", "colour=cycle(0)"]).unwrap();
    let error = Causal::new(&shape, &groups, &set(&[0, 2]), &set(&[0, 1, 2])).unwrap_err().to_string();
    assert_eq!(error, "I and D must be disjoint, but both contain rot, colour");
    let error = Causal::new(&shape, &groups, &set(&[0]), &set(&[7])).unwrap_err().to_string();
    assert_eq!(error, "D: expected groups among 3 candidates, numbered from 0, got group 7");
    let error = Causal::new(&"5".parse().unwrap(), &groups, &set(&[0]), &set(&[])).unwrap_err().to_string();
    assert_eq!(error, "rot on shape 3x4x4, in a model on shape 5: expected 5 entries, got 48");
}

#[test]
fn appendix_a_is_warned_of_with_a_witness() {
    let causal = model("6x6", &["rot90(0,1)", "shift(1)"], &[1], &[0]);
    let warning = causal.warning().unwrap();
    assert_eq!((warning.irrelevant.as_str(), warning.witness.of.as_str()), ("shift(1)", "rot90(0,1)"));
    let (g, h) = (&warning.witness.g, &warning.witness.h);
    let conjugate = g.after(h).after(&g.inverse().unwrap());
    assert!(causal.irrelevant().contains(h) && !causal.irrelevant().contains(&conjugate));
    assert!(warning.to_string().starts_with("shift(1) is not normal in the group generated by I and D: with g = "));
    assert!(model("6x6", &["rot90(0,1)", "shift(1)"], &[1], &[]).warning().is_none(), "nothing of D acts");
    assert!(model("6x6", &["rot90(0,1)", "shift(1)"], &[], &[0]).warning().is_none(), "the trivial group is normal");
    assert!(model("6", &["swaps(0)"], &[0], &[1]).warning().is_some());
    let made = causal.generate(&distinct(36, 3), &distinct(36, 3), base_label, 0).unwrap();
    assert!(made.warning.is_some());
}

#[test]
fn examples_that_do_not_fit_are_refused() {
    let causal = model("4", &["negate"], &[0], &[]);
    let fail = |base: &Examples<i32>| causal.train(base, base_label, 0).unwrap_err().to_string();
    assert_eq!(fail(&distinct(5, 2)), "base example: expected 4 entries, got 5");
    assert_eq!(fail(&distinct(4, 0)), "base examples: expected at least 1, got 0");
    let torn = Examples { inputs: vec![1; 7], width: 4, targets: vec![0.0; 2] };
    assert_eq!(fail(&torn), "entries of the base examples: expected 8 for 2 examples, got 7");
    let bytes = Examples { inputs: vec![1u8; 4], width: 4, targets: vec![0.0] };
    let error = causal.train(&bytes, |base, _| base.label, 0).unwrap_err().to_string();
    assert_eq!(error, "negate needs entries of type i32 or f32, got u8");
    let error = causal.train(&distinct(4, 2), |_, _| f32::NAN, 0).unwrap_err().to_string();
    assert_eq!(error, "label of example 0: expected a finite number, got NaN");
}

#[test]
fn a_spanning_forest_of_swaps_generates_the_same_group() {
    let shape: Shape = "12".parse().unwrap();
    let groups = candidates(&shape, ["swaps(0)", "cycle(0)"]).unwrap();
    let all = Causal::new(&shape, &groups[..66], &GroupSet::full(66), &set(&[])).unwrap();
    assert_eq!(all.irrelevant().generators().len(), 11);
    assert!(all.irrelevant().is_same_as(&Group::join("all", &groups).unwrap()));
    let part = set(&[0, 1, 11, 65]);
    let some = Causal::new(&shape, &groups, &part, &set(&[])).unwrap();
    assert!(some.irrelevant().is_same_as(&Group::join("some", part.iter().map(|i| &groups[i])).unwrap()));
}

#[test]
fn signed_and_matrix_groups_move_real_entries() {
    let causal = model("2", &["negate", "generators([[[1,-1],[1,0]]])"], &[0], &[1]);
    let base = Examples { inputs: vec![5.0f32, 3.0], width: 2, targets: vec![1.0] };
    let made = causal.pairs(&base, |base, _| base.label, 0).unwrap();
    let negated: Vec<f32> = made.observed.inputs.iter().map(|x| -x).collect();
    assert_eq!(made.counterfactual.inputs, negated);
}

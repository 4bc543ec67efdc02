//! The array tasks: the claimed symmetry holds and no more, training shows one side of it and contradicts every other candidate.
#![allow(clippy::float_cmp, reason = "targets are classes or come from one and the same computation")]

use std::collections::BTreeSet;

use invar_algebra::{Action, Group, GroupSet, Lattice, Options, Subspace};
use invar_tasks::{ArrayTask, Arrays, Examples, Sizes};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn small(task: ArrayTask) -> Arrays {
    Arrays { sizes: Sizes { examples: 500, validation: 0.2, test: 1000 }, ..Arrays::new(task) }
}

fn moved(action: &Action, x: &[f32]) -> Vec<f32> {
    let x: Vec<f64> = x.iter().map(|&value| f64::from(value)).collect();
    let mut out = vec![0.0; x.len()];
    action.apply(&x, &mut out);
    out.into_iter().map(|value| value as f32).collect()
}

fn arranged(task: ArrayTask, x: &[f32]) -> Vec<f32> {
    let mut x = x.to_vec();
    task.arrange(&mut x);
    x
}

/// Comparable with itself: equal numbers are equal bits, but for the two zeros.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|&value| (value + 0.0).to_bits()).collect()
}

/// The groups that hold, as generators.
fn true_generators(spec: &Arrays) -> Vec<Action> {
    let groups = spec.groups().unwrap();
    spec.symmetry().iter().flat_map(|group| groups[group].generators().to_vec()).collect()
}

/// The group that the truth generates, with one more candidate; none without any.
fn together(spec: &Arrays, more: Option<usize>) -> Option<Group> {
    let groups = spec.groups().unwrap();
    let parts: Vec<&Group> = spec.symmetry().iter().chain(more).map(|group| &groups[group]).collect();
    if parts.is_empty() { None } else { Some(Group::join("together", parts).unwrap()) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<_>>())
}

#[test]
fn a_candidate_holds_exactly_when_the_task_says_so() {
    for task in ArrayTask::ALL {
        let spec = small(task);
        let data = spec.generate(0).unwrap().test;
        let groups = spec.groups().unwrap();
        assert!(groups.len() >= spec.symmetry().len() + 2, "{}: fewer than two false candidates", task.name());
        for (k, group) in groups.iter().enumerate() {
            let keeps = |action: &Action| data.iter().all(|(x, y)| task.target(&moved(action, x)) == y);
            let holds = group.generators().iter().all(keeps);
            assert_eq!(holds, spec.symmetry().contains(k), "{}: {}", task.name(), group.name());
        }
    }
}

#[test]
fn the_symmetry_is_closed_and_every_list_has_a_lattice() {
    for task in ArrayTask::ALL {
        let spec = small(task);
        let groups = spec.groups().unwrap();
        let inside = |k: usize| match together(&spec, None) {
            Some(truth) => groups[k].is_subgroup_of(&truth),
            None => false,
        };
        let closed: GroupSet = (0..groups.len()).filter(|&k| inside(k)).collect();
        assert_eq!(closed, spec.symmetry(), "{}", task.name());
        let lattice = Lattice::new(groups, &Options::default()).unwrap();
        let dimensions: usize = lattice.subspaces().iter().map(Subspace::dimension).sum();
        assert_eq!(dimensions, spec.shape().unwrap().len(), "{}", task.name());
    }
}

/// All images of an array under some generators.
fn orbit(generators: &[Action], x: &[f32]) -> Vec<Vec<f32>> {
    let mut known = BTreeSet::from([bits(x)]);
    let mut images = vec![x.to_vec()];
    let mut next = 0;
    while next < images.len() {
        for generator in generators {
            let image = moved(generator, &images[next]);
            if known.insert(bits(&image)) {
                images.push(image);
            }
        }
        next += 1;
    }
    images
}

#[test]
fn training_shows_one_array_of_every_orbit() {
    for task in ArrayTask::ALL {
        let spec = small(task);
        let data = spec.generate(1).unwrap();
        let generators = true_generators(&spec);
        for (x, _) in data.test.iter().take(3) {
            let images = orbit(&generators, x);
            let place = bits(&arranged(task, x));
            assert!(images.iter().all(|image| bits(&arranged(task, image)) == place), "{}", task.name());
            assert!(images.iter().any(|image| bits(image) == place), "{}", task.name());
        }
        let in_place = |(x, _): &(&[f32], f32)| bits(&arranged(task, x)) == bits(x);
        assert!(data.train.iter().chain(data.validation.iter()).all(|example| in_place(&example)), "{}", task.name());
        let places = data.test.iter().filter(in_place).count();
        let most = if task == ArrayTask::Unlike { 1000 } else { 250 };
        assert!(places <= most, "{}: {places} of 1000 test arrays are arranged", task.name());
        let right = |(x, y): (&[f32], f32)| task.target(x) == y;
        assert!(data.train.iter().chain(data.validation.iter()).chain(data.test.iter()).all(right), "{}", task.name());
    }
}

/// The share of the target that the best function constant on the orbits of a group explains on training data: accuracy, or R².
///
/// All entries are drawn alike and independently, and from a distribution that is even where signs change: so no candidate changes
/// what is drawn. Training shows one array of each orbit of the truth. All orbits of the truth within one orbit of a larger group
/// are then equally likely, and what can be known is the distribution of the target over random elements of that group. Samples
/// are finite, which errs towards a better fit of classes.
fn best_fit(spec: &Arrays, group: &Group, free: &Examples<f32>) -> f64 {
    const ELEMENTS: usize = 60;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut below = |k: usize| rng.random_range(0..k);
    let elements: Vec<Action> = (0..ELEMENTS * 20).map(|_| group.sample(&mut below)).collect();
    let (mut hits, mut rest) = (Vec::new(), Vec::new());
    for (index, (x, _)) in free.iter().enumerate() {
        let over = |place: usize| f64::from(spec.task.target(&moved(&elements[(index * 7 + place) % elements.len()], x)));
        let targets: Vec<f64> = (0..ELEMENTS).map(|place| over(place * 20)).collect();
        hits.push(mean(&targets).max(1.0 - mean(&targets)));
        rest.push(variance(&targets) * ELEMENTS as f64 / (ELEMENTS - 1) as f64);
    }
    let targets: Vec<f64> = free.targets.iter().map(|&y| f64::from(y)).collect();
    if spec.task.classes().is_some() { mean(&hits) } else { 1.0 - mean(&rest) / variance(&targets) }
}

#[test]
fn training_contradicts_every_candidate_that_does_not_hold() {
    for task in ArrayTask::ALL {
        let spec = small(task);
        let free = spec.generate(2).unwrap().test;
        let groups = spec.groups().unwrap();
        if let Some(truth) = together(&spec, None) {
            assert!(best_fit(&spec, &truth, &free) > 1.0 - 1e-9, "{}", task.name());
        }
        let mut seen: Vec<Group> = Vec::new();
        for k in (0..groups.len()).filter(|&k| !spec.symmetry().contains(k)) {
            let both = together(&spec, Some(k)).unwrap();
            if seen.iter().any(|other| other.is_same_as(&both)) {
                continue;
            }
            let fit = best_fit(&spec, &both, &free);
            assert!(fit < 0.95, "{}: {} costs too little, {fit}", task.name(), groups[k].name());
            seen.push(both);
        }
    }
}

#[test]
fn classes_are_balanced_and_numbers_spread_as_told() {
    for task in ArrayTask::ALL {
        let data = Arrays::new(task).generate(3).unwrap();
        let targets: Vec<f64> = data.train.targets.iter().map(|&y| f64::from(y)).collect();
        if let Some(deviation) = task.deviation() {
            let found = variance(&targets).sqrt();
            assert!((found / f64::from(deviation) - 1.0).abs() < 0.05, "{}: {found}", task.name());
        } else {
            assert!(targets.iter().all(|&y| y == 0.0 || y == 1.0));
            assert!((0.4..0.6).contains(&mean(&targets)), "{}: {}", task.name(), mean(&targets));
            assert!((0.4..0.6).contains(&data.chance().accuracy), "{}", task.name());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_data_and_sets_are_apart() {
    for task in ArrayTask::ALL {
        let spec = Arrays { noise: 0.1, conflict: if has_symmetry(task) { 0.1 } else { 0.0 }, ..small(task) };
        let data = spec.generate(7).unwrap();
        assert_eq!(data, spec.generate(7).unwrap(), "{}", task.name());
        assert_ne!(data.train, spec.generate(8).unwrap().train, "{}", task.name());
        let fresh = spec.fresh(500, 7).unwrap();
        assert_eq!(fresh, spec.fresh(500, 7).unwrap());
        assert_eq!(fresh.len(), 500);
        let known: BTreeSet<Vec<u32>> = data.train.iter().chain(data.validation.iter()).map(|(x, _)| bits(x)).collect();
        let again = fresh.iter().filter(|(x, _)| known.contains(&bits(x))).count();
        // Graphs of so few nodes come up again by themselves.
        assert!(again < 25, "{}: {again} of 500 fresh examples are known", task.name());
    }
}

fn has_symmetry(task: ArrayTask) -> bool {
    !small(task).symmetry().is_empty()
}

#[test]
fn noise_replaces_its_share_of_training_labels_alone() {
    for task in ArrayTask::ALL {
        let clean = Arrays::new(task);
        let noisy = Arrays { noise: 0.2, ..clean };
        let (a, b) = (clean.generate(4).unwrap(), noisy.generate(4).unwrap());
        assert_eq!((&a.test, &a.train.inputs), (&b.test, &b.train.inputs));
        let fresh = noisy.fresh(2000, 4).unwrap();
        for (examples, what) in [(&b.train, "train"), (&b.validation, "validation"), (&fresh, "fresh")] {
            let wrong: Vec<f64> = examples.iter().map(|(x, y)| f64::from(y - task.target(x))).collect();
            let found = match task.deviation() {
                Some(deviation) => variance(&wrong).sqrt() / f64::from(deviation),
                None => mean(&wrong.iter().map(|error| error.abs()).collect::<Vec<_>>()),
            };
            assert!((0.15..0.25).contains(&found), "{} {what}: {found}", task.name());
        }
    }
}

#[test]
fn conflicts_show_moved_examples_with_wrong_targets() {
    for task in ArrayTask::ALL.into_iter().filter(|&task| has_symmetry(task)) {
        let clean = Arrays::new(task);
        let near = Arrays { conflict: 0.25, ..clean };
        let (a, b) = (clean.generate(5).unwrap(), near.generate(5).unwrap());
        assert_eq!(a.test, b.test);
        let mut conflicts = 0;
        for ((x, y), (moved, wrong)) in a.train.iter().zip(b.train.iter()) {
            if wrong == y {
                assert_eq!(x, moved);
                continue;
            }
            conflicts += 1;
            assert_eq!(bits(&arranged(task, moved)), bits(x), "{}", task.name());
            let expected = task.deviation().map_or(1.0 - y, |deviation| y + 2.0 * deviation);
            assert_eq!(wrong, expected, "{}", task.name());
        }
        assert!((700..900).contains(&conflicts), "{}: {conflicts} of 3200", task.name());
        let fresh = near.fresh(2000, 5).unwrap();
        let out = fresh.iter().filter(|(x, y)| task.target(x) != *y).count();
        assert!((420..580).contains(&out), "{}: {out} of 2000 fresh ones", task.name());
        // More conflicts are conflicts added; noise leaves them as they are.
        let more = Arrays { conflict: 0.5, ..near }.generate(5).unwrap();
        let kept = |k: usize| b.train.targets[k] == a.train.targets[k] || b.train.input(k) == more.train.input(k);
        assert!((0..a.train.len()).all(kept), "{}", task.name());
        let all = Arrays { conflict: 1.0, noise: 1.0, ..near }.fresh(50, 0).unwrap();
        assert!(all.iter().all(|(x, y)| task.target(x) != y), "{}", task.name());
    }
}

#[test]
fn pairs_differ_by_the_symmetry_alone() {
    for task in ArrayTask::ALL {
        let spec = Arrays { noise: 0.5, ..small(task) };
        let pairs = spec.pairs(200, 6).unwrap();
        assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
        let mut differ = 0;
        for ((x, y), (other, _)) in pairs.observed.iter().zip(pairs.counterfactual.iter()) {
            assert_eq!((task.target(x), task.target(other)), (y, y), "{}", task.name());
            assert_eq!((bits(&arranged(task, x)), bits(&arranged(task, other))), (bits(x), bits(x)), "{}", task.name());
            differ += usize::from(x != other);
        }
        assert_eq!(differ > 150, has_symmetry(task), "{}: {differ} of 200 pairs differ", task.name());
    }
}

#[test]
fn impossible_settings_say_why() {
    let good = small(ArrayTask::Unlike);
    for (spec, message) in [
        (Arrays { noise: -0.1, ..good }, "noise must be a share between 0 and 1, got -0.1"),
        (Arrays { noise: f64::NAN, ..good }, "noise must be a share between 0 and 1, got NaN"),
        (Arrays { conflict: 1.5, ..good }, "conflict must be a share between 0 and 1, got 1.5"),
        (Arrays { conflict: 0.1, ..good }, "conflict must be 0 for unlike: it has no symmetry to contradict, got 0.1"),
        (Arrays { sizes: Sizes { test: 0, ..good.sizes }, ..good }, "number of test examples must be at least 1, got 0"),
    ] {
        let error = spec.generate(0).unwrap_err().to_string();
        assert_eq!(error, message);
    }
    assert!(good.fresh(usize::MAX, 0).unwrap_err().to_string().contains("number of examples must be at most"));
    assert!(good.pairs(0, 0).unwrap_err().to_string().contains("number of pairs must be 1 to"));
}

#[test]
fn a_task_alone_is_a_whole_specification() {
    let read: Arrays = toml::from_str("task = \"sensors\"").unwrap();
    assert_eq!(read, Arrays::new(ArrayTask::Sensors));
    assert!(toml::from_str::<Arrays>("task = \"sensors\"\nconflit = 0.1").is_err());
}

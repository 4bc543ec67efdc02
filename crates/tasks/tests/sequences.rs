//! The sequence tasks are what the paper says: targets, canonical order, true symmetry.
#![allow(clippy::float_cmp, reason = "targets are whole numbers")]

use invar_tasks::{Arrangement, Draw, Examples, Labels, SequenceTask, Sequences, Sizes, TestOrder};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn small(task: SequenceTask) -> Sequences {
    Sequences { sizes: Sizes { examples: 400, validation: 0.2, test: 300 }, ..Sequences::new(task) }
}

fn ascending(x: &[i32]) -> bool {
    x.is_sorted()
}

fn descending(x: &[i32]) -> bool {
    x.iter().rev().is_sorted()
}

fn share(examples: &Examples<i32>, holds: impl Fn(&[i32]) -> bool) -> f64 {
    examples.iter().filter(|(x, _)| holds(x)).count() as f64 / examples.len() as f64
}

#[test]
fn published_sizes() {
    let data = Sequences::new(SequenceTask::Sum).generate(0).unwrap();
    assert_eq!([data.train.len(), data.validation.len(), data.test.len()], [6400, 1600, 2000]);
    assert_eq!(data.train.width, 10);
    let (low, high) = (data.train.inputs.iter().min(), data.train.inputs.iter().max());
    assert_eq!((low, high), (Some(&1), Some(&99)));
}

#[test]
fn every_target_is_that_of_its_own_sequence() {
    for task in SequenceTask::ALL {
        for test_order in [TestOrder::Unsorted, TestOrder::Symmetry] {
            let data = Sequences { test_order, ..small(task) }.generate(1).unwrap();
            for set in [&data.train, &data.validation, &data.test] {
                assert!(set.iter().all(|(x, y)| task.target(x) == y), "{}", task.name());
            }
        }
    }
}

#[test]
fn training_is_in_canonical_order_and_the_test_set_is_not() {
    for task in SequenceTask::ALL {
        let data = small(task).generate(2).unwrap();
        let low = |x: &[i32]| x.iter().all(|&token| (1..=49).contains(&token));
        let high = |x: &[i32]| x.iter().all(|&token| (50..=99).contains(&token));
        for set in [&data.train, &data.validation] {
            match task.arrangement() {
                Arrangement::Ascending => assert_eq!(share(set, ascending), 1.0),
                Arrangement::Halves => {
                    assert_eq!(share(set, |x| low(x) && ascending(x) || high(x) && descending(x)), 1.0);
                    assert!((0.38..0.62).contains(&share(set, low)), "the held-out part mixes both halves");
                }
                Arrangement::Any => assert_eq!(share(set, |x| ascending(x) || descending(x)), 0.0),
            }
        }
        assert_eq!(share(&data.test, |x| ascending(x) || descending(x)), 0.0, "{}", task.name());
        if task.arrangement() == Arrangement::Halves {
            assert_eq!((share(&data.test, low), share(&data.test, high)), (0.5, 0.5));
        }
    }
}

#[test]
fn shuffled_labels_are_the_same_labels_and_leave_the_sequences_alone() {
    let own = small(SequenceTask::Geometric);
    let shuffled = Sequences { labels: Labels::Shuffled, ..own };
    let sorted = |sets: [&Examples<i32>; 2]| {
        let mut targets: Vec<i32> = sets.iter().flat_map(|set| set.targets.iter().map(|&y| y as i32)).collect();
        targets.sort_unstable();
        targets
    };
    let (one, other) = (own.generate(5).unwrap(), shuffled.generate(5).unwrap());
    assert_eq!((&one.train.inputs, &one.test.inputs), (&other.train.inputs, &other.test.inputs));
    assert_ne!(one.train.targets, other.train.targets);
    assert_eq!(sorted([&one.train, &one.validation]), sorted([&other.train, &other.validation]));
    assert_eq!((own.symmetry().len(), shuffled.symmetry().len()), (0, shuffled.groups().unwrap().len()));
}

#[test]
fn a_test_set_by_symmetry_keeps_what_the_task_tells_apart() {
    let task = Sequences { test_order: TestOrder::Symmetry, ..small(SequenceTask::Sum2) };
    let data = task.generate(3).unwrap();
    let first_is_extreme = |x: &[i32]| x.iter().all(|&token| token >= x[0]) || x.iter().all(|&token| token <= x[0]);
    assert_eq!(share(&data.test, first_is_extreme), 1.0);
    assert!(share(&data.test, |x| ascending(x) || descending(x)) < 0.01);
    let unsorted = small(SequenceTask::Sum2).generate(3).unwrap();
    assert!(share(&unsorted.test, first_is_extreme) < 0.5);
}

#[test]
fn the_seed_decides_everything_and_sizes_do_not_interfere() {
    for task in SequenceTask::ALL {
        let spec = small(task);
        assert_eq!(spec.generate(5).unwrap(), spec.generate(5).unwrap());
        assert_ne!(spec.generate(5).unwrap().train, spec.generate(6).unwrap().train);
        assert_ne!(spec.generate(5).unwrap().test, spec.generate(6).unwrap().test);
        let fewer = Sequences { sizes: Sizes { test: 10, ..spec.sizes }, ..spec };
        assert_eq!(spec.generate(5).unwrap().train, fewer.generate(5).unwrap().train);
        assert_eq!(spec.pairs(20, 5).unwrap(), fewer.pairs(20, 5).unwrap());
        let data = spec.generate(5).unwrap();
        assert_ne!(data.train.input(0), data.test.input(0));
    }
}

#[test]
fn the_data_of_a_seed_never_change() {
    let first = |task| small(task).generate(0).unwrap().train.input(0).to_vec();
    assert_eq!(first(SequenceTask::Sum), [3, 7, 12, 22, 24, 35, 43, 72, 95, 99]);
    assert_eq!(first(SequenceTask::Geometric), [3, 35, 22, 7, 24, 12, 95, 43, 99, 72]);
    let pairs = small(SequenceTask::EvenMinusOdd).pairs(1, 0).unwrap();
    assert_eq!(pairs.observed.inputs, [4, 5, 6, 17, 17, 32, 34, 35, 41, 45]);
    assert_eq!(pairs.counterfactual.inputs, [34, 5, 41, 35, 6, 45, 17, 17, 4, 32]);
}

#[test]
fn coupled_pairs_share_target_and_tokens() {
    for task in SequenceTask::ALL {
        let spec = small(task);
        let pairs = spec.pairs(200, 7).unwrap();
        assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
        let blocks = spec.partition().blocks();
        let mut moved = 0;
        for ((x, y), (cf, _)) in pairs.observed.iter().zip(pairs.counterfactual.iter()) {
            assert_eq!(task.target(cf), y, "{}", task.name());
            for block in &blocks {
                let tokens = |x: &[i32]| {
                    let mut tokens: Vec<i32> = block.iter().map(|&i| x[i]).collect();
                    tokens.sort_unstable();
                    tokens
                };
                assert_eq!(tokens(x), tokens(cf));
            }
            moved += usize::from(x != cf);
        }
        let expected = if spec.symmetry().is_empty() { 0..=0 } else { 195..=200 };
        assert!(expected.contains(&moved), "{}: {moved} moved", task.name());
    }
}

#[test]
fn candidates_symmetry_and_d_speak_of_the_same_groups() {
    for task in SequenceTask::ALL {
        let spec = Sequences { length: 6, ..small(task) };
        let groups = spec.groups().unwrap();
        assert_eq!((groups.len(), spec.candidates()), (15, vec!["swaps(0)"]));
        for (k, group) in groups.iter().enumerate() {
            let swap = group.swap().unwrap();
            assert_eq!(spec.symmetry().contains(k), spec.partition().together(swap.i, swap.j));
        }
        assert_eq!(spec.depends().len(), if task == SequenceTask::Geometric { 15 } else { 0 });
    }
}

#[test]
fn chance_is_low_where_targets_spread_and_high_where_they_do_not() {
    let sum = Sequences::new(SequenceTask::Sum).generate(0).unwrap().chance();
    assert!(sum.accuracy < 0.02, "{sum:?}");
    // P(run of length 0) = 19/99 and P(run of length 10) = (80/99)^10 = 0.119: answering 0 is right in 19 %.
    let geometric = Sequences::new(SequenceTask::Geometric).generate(0).unwrap().chance();
    assert_eq!(geometric.target, 0.0);
    assert!((0.16..0.23).contains(&geometric.accuracy), "{geometric:?}");
}

#[test]
fn impossible_sizes_say_what_is_possible() {
    use SequenceTask as Task;
    let of = Sequences::new;
    for (spec, message) in [
        (
            Sequences { length: 0, ..of(Task::Sum) },
            "sequence length must be at least 2 for sum: otherwise no two positions can be exchanged, got 0",
        ),
        (Sequences { length: 1, ..of(Task::EvenMinusOdd) }, "at least 2 for even_minus_odd"),
        (
            Sequences { length: 7, ..of(Task::EvenMinusOdd) },
            "sequence length must be even for even_minus_odd: positions come in pairs, got 7",
        ),
        (
            Sequences { length: 2, ..of(Task::ThirdPlusLarge) },
            "at least 3 for third_plus_large: the third position counts, got 2",
        ),
        (
            Sequences { length: 3, ..of(Task::Thirds) },
            "at least 4 for thirds: otherwise no two positions can be exchanged, got 3",
        ),
        (Sequences { length: 257, ..of(Task::Sum) }, "at most 256"),
        (Sequences { vocabulary: 0, ..of(Task::Sum) }, "vocabulary must be at least 2 for sum"),
        (Sequences { vocabulary: 3, ..of(Task::Sum2) }, "vocabulary must be at least 4 for sum2"),
        (Sequences { vocabulary: 19, ..of(Task::Geometric) }, "at least 20 for geometric"),
        (Sequences { vocabulary: 50, ..of(Task::ThirdPlusLarge) }, "at least 51 for third_plus_large"),
        (Sequences { vocabulary: 2_000_000, ..of(Task::Sum) }, "targets must be exact in f32, got 2000000"),
        (Sequences { vocabulary: 600_000, ..of(Task::Thirds) }, "targets must be exact in f32, got 600000"),
        (
            Sequences { sizes: Sizes { test: 0, ..Sizes::default() }, ..of(Task::Sum) },
            "number of test examples must be at least 1, got 0",
        ),
    ] {
        let error = spec.generate(0).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(spec.pairs(1, 0).is_err());
    }
    let error = of(Task::Sum).pairs(0, 0).unwrap_err().to_string();
    assert!(error.starts_with("number of pairs must be 1 to "), "{error}");
}

#[test]
fn the_smallest_and_a_large_size_work() {
    for task in SequenceTask::ALL {
        let length = match task {
            SequenceTask::ThirdPlusLarge => 3,
            SequenceTask::Thirds => 4,
            _ => 2,
        };
        let sizes = Sizes { examples: 2, validation: 0.5, test: 1 };
        let data = Sequences { length, sizes, ..Sequences::new(task) }.generate(0).unwrap();
        assert_eq!([data.train.len(), data.validation.len(), data.test.len()], [1, 1, 1]);
    }
    for task in [SequenceTask::Geometric, SequenceTask::EvenMinusOdd] {
        let sizes = Sizes { examples: 50, validation: 0.2, test: 10 };
        let spec = Sequences { length: 100, vocabulary: 999, sizes, test_order: TestOrder::Symmetry, ..Sequences::new(task) };
        assert!(spec.generate(0).unwrap().test.iter().all(|(x, y)| task.target(x) == y));
    }
}

#[test]
fn a_task_can_be_written_in_toml() {
    let spec: Sequences =
        toml::from_str("task = \"even_minus_odd\"\nlength = 6\ndraw = \"uniform\"\nsizes = { test = 5 }").unwrap();
    let sizes = Sizes { test: 5, ..Sizes::default() };
    assert_eq!(spec, Sequences { length: 6, draw: Draw::Uniform, sizes, ..Sequences::new(SequenceTask::EvenMinusOdd) });
    assert_eq!(toml::from_str::<Sequences>(&toml::to_string(&spec).unwrap()).unwrap(), spec);
    assert!(toml::from_str::<Sequences>("task = \"sum\"\nlenght = 6").unwrap_err().to_string().contains("lenght"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The label is invariant to every transposition in the true symmetry; each other one changes it for some sequence.
    #[test]
    fn the_true_symmetry_is_exactly_that(seed: u64, pick in 0..SequenceTask::ALL.len(), half in 1usize..7, odd: bool) {
        let task = SequenceTask::ALL[pick];
        let n = if task == SequenceTask::EvenMinusOdd { 2 * half } else { 2 * half + usize::from(odd) };
        let n = if task == SequenceTask::ThirdPlusLarge { n.max(3) } else { n };
        let partition = task.symmetry(n);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let sequences: Vec<Vec<i32>> = (0..300).map(|_| (0..n).map(|_| rng.random_range(1..=99)).collect()).collect();
        for i in 0..n {
            for j in i + 1..n {
                let changed = sequences.iter().filter(|x| {
                    let mut swapped = (*x).clone();
                    swapped.swap(i, j);
                    task.target(&swapped) != task.target(x)
                });
                let changed = changed.count();
                // Late positions of the geometric task are reached by (80/99)^i of the sequences; raise the tokens before.
                let changed = if task == SequenceTask::Geometric {
                    let mut x = vec![99; n];
                    x[j] = 1;
                    let mut swapped = x.clone();
                    swapped.swap(i, j);
                    changed + usize::from(task.target(&swapped) != task.target(&x))
                } else {
                    changed
                };
                prop_assert_eq!(changed == 0, partition.together(i, j), "{} swaps {} and {}", task.name(), i, j);
            }
        }
    }
}

//! The image tasks: what is moved can be moved back, labels say how, folds and sizes are as published.
#![allow(clippy::float_cmp, reason = "pixels and classes are whole numbers")]

use std::collections::BTreeSet;

use invar_algebra::{Action, Group, candidates};
use invar_tasks::{Draw, Examples, ImageGroup, ImageTask, Images, Invariant, Mnist, SIDE};

const PIXELS: usize = SIDE * SIDE;

fn small(task: ImageTask, invariant: Invariant) -> Images {
    Images { invariant, count: Some(4000), ..Images::new(task) }
}

fn apply(action: &Action, x: &[f32]) -> Vec<f32> {
    let Action::Permutation(p) = action else { panic!("the groups permute pixels") };
    let mut out = vec![0.0; x.len()];
    p.images().iter().zip(x).for_each(|(&to, &from)| out[to as usize] = from);
    out
}

/// The groups that move the data: turns, cycled colours, flips.
fn movers() -> Vec<Group> {
    candidates(&"3x28x28".parse().unwrap(), ["rot90(1,2)", "cycle(0)", "flip(1)"]).unwrap()
}

/// The digits of a task, with the ink of each.
fn known(task: ImageTask) -> BTreeSet<(Vec<bool>, u8)> {
    let mnist = Mnist::embedded().unwrap();
    let of = |digits: &'static invar_tasks::Digits| {
        digits.labels().iter().enumerate().map(|(k, &label)| (digits.pixels(k).map(|ink| ink == 1).collect(), label))
    };
    of(&mnist.train).chain(of(&mnist.test)).filter(|(_, label)| task.digits().contains(label)).collect()
}

/// The digit in red that an image is, unless some of it is in another colour.
fn red(x: &[f32]) -> Option<Vec<bool>> {
    x[PIXELS..].iter().all(|&v| v == 0.0).then(|| x[..PIXELS].iter().map(|&v| v == 1.0).collect())
}

#[test]
fn published_sizes() {
    let sizes = |spec: Images| {
        let data = spec.generate(0).unwrap();
        [data.train.len(), data.validation.len(), data.test.len()]
    };
    // There are 6,131 + 5,842 digits 3 and 4 to learn from: four fifths are kept, a fifth of those for validation.
    let all = Images::new(ImageTask::Mnist34);
    assert_eq!(sizes(all), [7662, 1916, 1593]);
    assert_eq!(sizes(Images { fold: 4, ..all }), [7663, 1916, 1594]);
    assert_eq!(sizes(Images { count: Some(1000), test_count: Some(100), ..all }), [800, 200, 100]);
    let mnist = Images { count: Some(5000), ..Images::new(ImageTask::Mnist) };
    assert_eq!(sizes(mnist), [4000, 1000, 8000]);
}

#[test]
fn every_fold_leaves_out_other_images_and_together_they_leave_out_all() {
    // With nothing moved, an image is recognised by its ink.
    let of = |fold: usize| {
        let data = Images { fold, draw: Draw::Uniform, ..Images::new(ImageTask::Mnist34) }.generate(7).unwrap();
        let ink = |set: &Examples<f32>| set.iter().map(|(x, _)| red(x).unwrap()).collect::<Vec<_>>();
        let (train, validation) = (ink(&data.train), ink(&data.validation));
        let held: BTreeSet<_> = validation.iter().cloned().collect();
        let both = train.iter().filter(|image| held.contains(*image)).count();
        assert!(both <= 2, "only images that stand twice in the database are in both, got {both}");
        train.into_iter().chain(validation).collect::<Vec<_>>()
    };
    let everything: Vec<Vec<bool>> = (0..5).flat_map(of).collect();
    let mut counts = std::collections::BTreeMap::new();
    for image in &everything {
        *counts.entry(image).or_insert(0) += 1;
    }
    let total = 6131 + 5842;
    assert_eq!(everything.len(), 4 * total);
    // Each image is left out exactly once: it is there four times (images that stand twice, eight times).
    assert!(counts.values().all(|count| count % 4 == 0));
}

#[test]
fn undoing_what_the_label_says_gives_the_digit_in_red() {
    let movers = movers();
    for task in ImageTask::ALL {
        let known = known(task);
        let spec = small(task, Invariant::None);
        let data = spec.generate(2).unwrap();
        for (x, y) in data.train.iter().take(300).chain(data.test.iter().take(300)) {
            let name = spec.class_name(y as usize).unwrap();
            // Of the 24 ways in which the image can have been moved, exactly those that the label allows may lead back.
            let mut found = false;
            for (turns, colour, flip) in (0..24).map(|k| (k / 6, k / 2 % 3, k % 2)) {
                let powers = [turns, colour, flip];
                let mut back = x.to_vec();
                for (group, power) in movers.iter().zip(powers).rev() {
                    let undo = group.generators()[0].inverse().unwrap();
                    back = (0..power).fold(back, |x, _| apply(&undo, &x));
                }
                let Some(ink) = red(&back) else { continue };
                let digit = name.split(',').next().unwrap().parse().unwrap();
                found |= known.contains(&(ink, digit)) && says(task, &name, powers);
            }
            assert!(found, "{name}");
        }
    }
}

/// Whether a class name is true of an image moved by these powers.
fn says(task: ImageTask, name: &str, [turns, colour, flip]: [usize; 3]) -> bool {
    let (turn, tint) = match task {
        ImageTask::Mnist34 => (["upright", "turned 90°", "turned 180°", "turned 270°"][turns], ["red", "green", "blue"][colour]),
        ImageTask::Mnist => (["0° or 90°", "180° or 270°"][turns / 2], if colour == 0 { "red" } else { "not red" }),
    };
    let words: Vec<&str> = name.split(", ").skip(1).collect();
    words.contains(&turn) && words.contains(&tint) && words.contains(&"mirrored") == (flip == 1)
}

#[test]
fn training_is_moved_by_d_alone_and_the_test_set_by_i_as_well() {
    let upright = |known: &BTreeSet<(Vec<bool>, u8)>, x: &[f32]| {
        let grey: Vec<bool> = (0..PIXELS).map(|k| (0..3).any(|channel| x[channel * PIXELS + k] == 1.0)).collect();
        known.contains(&(grey.clone(), 3)) || known.contains(&(grey, 4))
    };
    let channel = |x: &[f32]| (0..3).find(|c| x[c * PIXELS..(c + 1) * PIXELS].contains(&1.0)).unwrap();
    let known = known(ImageTask::Mnist34);
    for invariant in Invariant::ALL {
        let data = small(ImageTask::Mnist34, invariant).generate(3).unwrap();
        let share = |set: &Examples<f32>, is: &dyn Fn(&[f32]) -> bool| {
            set.iter().filter(|(x, _)| is(x)).count() as f64 / set.len() as f64
        };
        let (is_red, is_upright) = (|x: &[f32]| channel(x) == 0, |x: &[f32]| upright(&known, x));
        let colours = (share(&data.train, &is_red), share(&data.test, &is_red));
        let turns = (share(&data.train, &is_upright), share(&data.test, &is_upright));
        let around = |share: f64, expected: f64| (share - expected).abs() < 0.05;
        match invariant {
            Invariant::None => assert!(around(colours.0, 1.0 / 3.0) && around(turns.0, 0.125) && around(turns.1, 0.125)),
            // The identity is never drawn from G_I: no test digit is in its training colour.
            Invariant::Color => assert!(colours == (1.0, 0.0) && around(turns.1, 0.125), "{colours:?}"),
            Invariant::RotVflip => assert!(turns.0 == 1.0 && turns.1 < 0.01 && around(colours.1, 1.0 / 3.0), "{turns:?}"),
            Invariant::RotColorVflip => {
                // 23 of 24 elements are left: 7 of them red, 2 of them upright.
                assert!(colours.0 == 1.0 && turns.0 == 1.0);
                assert!(around(colours.1, 7.0 / 23.0) && around(turns.1, 2.0 / 23.0), "{colours:?} {turns:?}");
            }
        }
    }
}

#[test]
fn classes_are_drawn_evenly_within_a_digit() {
    let data = Images { invariant: Invariant::None, ..Images::new(ImageTask::Mnist34) }.generate(4).unwrap();
    let mut counts = [0usize; 48];
    data.train.targets.iter().for_each(|&class| counts[class as usize] += 1);
    let expected = 7662.0 / 48.0;
    assert!(counts.iter().all(|&count| (count as f64 - expected).abs() < 60.0), "{counts:?}");
    let coarse = Images { invariant: Invariant::RotVflip, ..Images::new(ImageTask::Mnist) };
    let data = coarse.pairs(5000, 4).unwrap();
    let not_red = data.observed.targets.iter().filter(|&&class| class as usize % 2 == 1).count();
    assert!((3200..3470).contains(&not_red), "two of three colours are not red, got {not_red}");
}

#[test]
fn coupled_pairs_share_the_label_and_differ_by_an_element_of_g_i() {
    let spec = small(ImageTask::Mnist34, Invariant::RotVflip);
    let pairs = spec.pairs(100, 5).unwrap();
    assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
    let movers = movers();
    let (turn, flip) = (&movers[0].generators()[0], &movers[2].generators()[0]);
    for ((x, _), (cf, _)) in pairs.observed.iter().zip(pairs.counterfactual.iter()) {
        let reached = (1..8).any(|k| {
            let turned = (0..k / 2).fold(x.to_vec(), |x, _| apply(turn, &x));
            cf == if k % 2 == 1 { apply(flip, &turned) } else { turned }
        });
        assert!(reached);
    }
    let none = small(ImageTask::Mnist34, Invariant::None).pairs(10, 5).unwrap();
    assert_eq!(none.observed, none.counterfactual);
}

#[test]
fn the_seed_decides_everything_and_sizes_do_not_interfere() {
    let spec = Images { test_count: Some(50), ..small(ImageTask::Mnist34, Invariant::RotVflip) };
    let data = spec.generate(5).unwrap();
    assert_eq!(data, spec.generate(5).unwrap());
    let other = spec.generate(6).unwrap();
    assert!(data.train != other.train && data.test != other.test);
    let more = Images { test_count: Some(60), ..spec }.generate(5).unwrap();
    assert_eq!((&data.train, data.test.input(7)), (&more.train, more.test.input(7)));
    let few = spec.samples(20, 5).unwrap();
    assert_eq!((few.training.len(), few.another.len()), (20, 20));
    assert_eq!(few.another.input(7), data.test.input(7));
    assert_eq!(spec.samples(1, 5).unwrap().training.input(0), few.training.input(0));
    // The data of a seed never change.
    let sum = |set: &Examples<f32>| (set.targets[..8].to_vec(), set.input(0).iter().sum::<f32>());
    assert_eq!(sum(&few.training), (vec![0.0, 5.0, 5.0, 4.0, 1.0, 2.0, 0.0, 5.0], 153.0));
}

#[test]
fn candidates_are_what_a_learner_is_offered() {
    let spec = Images::new(ImageTask::Mnist);
    let groups = spec.groups().unwrap();
    let shown: Vec<(&str, String)> = groups.iter().map(|group| (group.name(), group.order().to_string())).collect();
    assert_eq!(shown, [("rot", "4".into()), ("color", "6".into()), ("vflip", "2".into())], "all colour permutations");
    for (group, kind) in groups.iter().zip(ImageGroup::ALL) {
        assert_eq!(group.name(), kind.name());
    }
    for invariant in Invariant::ALL {
        let spec = Images { invariant, ..spec };
        let names = |set: invar_algebra::GroupSet| set.iter().map(|k| groups[k].name()).collect::<Vec<_>>().join(",");
        assert_eq!(names(spec.symmetry()), if invariant == Invariant::None { "" } else { invariant.name() });
        assert_eq!(spec.symmetry().len() + spec.depends().len(), 3);
    }
}

#[test]
fn a_class_without_images_is_named() {
    let spec = Images { count: Some(60), ..small(ImageTask::Mnist34, Invariant::None) };
    let error = spec.generate(0).unwrap_err().to_string();
    assert!(error.starts_with("no example of class `") && error.contains("among 48 training images"), "{error}");
    let spec = Images { count: Some(30), ..Images::new(ImageTask::Mnist) };
    let error = spec.generate(0).unwrap_err().to_string();
    assert!(error.contains("validation images; take more images") || error.contains("training images"), "{error}");
}

#[test]
fn impossible_sizes_say_what_is_possible() {
    let good = Images::new(ImageTask::Mnist34);
    for (spec, message) in [
        (Images { fold: 5, ..good }, "fold must be below 5, from 0, got 5"),
        (
            Images { count: Some(9579), ..good },
            "number of training images must be at most 9578, which are left without fold 0, got 9579",
        ),
        (Images { test_count: Some(usize::MAX), ..good }, "number of test images must be at most 1593"),
        (Images { count: Some(0), ..good }, "number of examples must be at least 2"),
        (Images { count: Some(2), ..good }, "validation share must be between 0 and 1"),
        (Images { test_count: Some(0), ..good }, "number of test examples must be at least 1, got 0"),
    ] {
        let error = spec.generate(0).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(spec.pairs(1, 0).is_err());
    }
    for count in [0, 1594] {
        let error = good.pairs(count, 0).unwrap_err().to_string();
        assert_eq!(error, format!("number of pairs must be 1 to 1593, the test images without fold 0, got {count}"));
    }
    assert!(good.samples(2000, 0).is_err());
}

#[test]
fn a_task_can_be_written_in_toml() {
    let spec: Images =
        toml::from_str("task = \"mnist34\"\ninvariant = \"rot,vflip\"\nfold = 2\ncount = 50\ndraw = \"uniform\"").unwrap();
    let expected = Images {
        invariant: Invariant::RotVflip,
        fold: 2,
        count: Some(50),
        draw: Draw::Uniform,
        ..Images::new(ImageTask::Mnist34)
    };
    assert_eq!(spec, expected);
    assert_eq!(toml::from_str::<Images>(&toml::to_string(&spec).unwrap()).unwrap(), spec);
    assert!(toml::from_str::<Images>("task = \"mnist\"\nfolds = 6").unwrap_err().to_string().contains("folds"));
    assert!(toml::from_str::<Images>("task = \"mnist\"\ninvariant = \"rot\"").is_err());
}

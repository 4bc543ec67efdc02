use std::ops::ControlFlow;

use super::*;
use crate::{
    Dataset, Epoch, Extras, Inputs, Network, Optimizer, PenaltyConfig, Pixels, Targets, TrainConfig, evaluate, rng, train,
};
use burn::tensor::Device;
use invar_algebra::{Shape, candidates};
use proptest::prelude::*;
use rand::Rng as _;

const ROT: usize = 0;
const FLIP: usize = 1;
const COLOUR: usize = 2;

fn groups() -> ImageGroups {
    let shape: Shape = "3x3x3".parse().unwrap();
    ImageGroups::new(&candidates(&shape, ["rot90(1,2)", "flip(1)", "permute(0)"]).unwrap()).unwrap()
}

/// A drawn network whose running statistics fit its weights, so that signals reach the outputs.
fn warmed(config: &LiftConfig, seed: u64) -> (Lift, Lattices) {
    let device = Device::flex();
    let lattices = config.lattices(&groups()).unwrap();
    let mut model = config.init(&lattices, &mut Init::new(seed, &device)).unwrap();
    let x = Init::new(8, &device).normal([8, 3, 8, 8], 1.0).val();
    for step in 0..40 {
        let mut pass = Pass::train(rng(0, step));
        model.forward(Input::Images(x.clone()), &mut pass).unwrap();
        model = pass.take_statistics().absorb(model);
    }
    (model, lattices)
}

/// Largest change of the outputs, relative to their spread over images, under each candidate.
fn changes(model: &Lift, side: usize, seed: u64) -> [f32; 3] {
    let device = Device::flex();
    let x = Init::new(seed, &device).normal([3, 3, side, side], 1.0).val();
    let run = |x: Tensor<4>| model.forward(Input::Images(x), &mut Pass::evaluate()).unwrap();
    let y = run(x.clone());
    let size: f32 = (y.clone() - y.clone().mean_dim(0)).abs().max().into_scalar();
    let turned = x.clone().swap_dims(2, 3).flip([3]);
    let swapped = x.clone().select(1, Tensor::from_ints([1, 0, 2], &device));
    [turned, x.flip([2]), swapped].map(|moved| (run(moved) - y.clone()).abs().max().into_scalar::<f32>() / size)
}

#[test]
fn the_whole_network_is_invariant_to_what_is_imposed_and_to_nothing_else() {
    // Every set of the three candidates is closed here: no two of these groups generate the third.
    for bits in 0..8usize {
        let set: GroupSet = (0..3).filter(|i| bits >> i & 1 == 1).collect();
        for seed in [1, 2] {
            let config = LiftConfig { widths: vec![2, 3, 3, 4], imposed: Some(set.clone()), ..LiftConfig::new(3) };
            let (model, lattices) = warmed(&config, seed);
            for side in [8, 12, 28] {
                let changes = changes(&model, side, seed);
                for (candidate, change) in changes.into_iter().enumerate() {
                    let fine = if set.contains(candidate) { change < 1e-4 } else { change > 1e-3 };
                    assert!(fine, "{set:?} side {side}: {changes:?}");
                }
            }
            let kept: GroupSet =
                lattices.kept(&model, 1e-9).unwrap().into_iter().enumerate().filter(|(_, k)| k.0).map(|k| k.0).collect();
            assert_eq!(kept, set);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any set of candidates, any weights, any size of images, with a norm before the head and without: an element that the set
    /// generates, a turn, a mirror and a permutation of colours at once, changes no answer.
    #[test]
    fn no_element_of_what_is_imposed_changes_an_answer(
        bits in 1..8usize,
        seed in 0..1000u64,
        side in prop::sample::select(vec![5, 6, 7, 8, 9, 12, 15]),
        turns in 0..4usize,
        flipped: bool,
        colours in prop::sample::select(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 0, 1]]),
        normed: bool,
    ) {
        let set: GroupSet = (0..3).filter(|i| bits >> i & 1 == 1).collect();
        let config = LiftConfig { widths: vec![2, 3, 4], normed, imposed: Some(set.clone()), ..LiftConfig::new(3) };
        let (model, _) = warmed(&config, seed);
        let device = Device::flex();
        let x = Init::new(seed + 1, &device).normal([3, 3, side, side], 1.0).val();
        let mut moved = x.clone();
        for _ in 0..if set.contains(ROT) { turns } else { 0 } {
            moved = moved.swap_dims(2, 3).flip([3]);
        }
        if set.contains(FLIP) && flipped {
            moved = moved.flip([2]);
        }
        if set.contains(COLOUR) {
            moved = moved.select(1, Tensor::from_ints(colours, &device));
        }
        let run = |x: Tensor<4>| model.forward(Input::Images(x), &mut Pass::evaluate()).unwrap();
        let (before, after) = (run(x), run(moved));
        let size: f32 = (before.clone() - before.clone().mean_dim(0)).abs().max().into_scalar();
        let gap: f32 = (after - before).abs().max().into_scalar();
        // Where images are answered alike there is nothing to compare with.
        prop_assume!(size > 1e-3);
        prop_assert!(gap < 1e-4 * size, "{:?}, side {}: {} of {}", set, side, gap, size);
    }
}

#[test]
fn snapping_a_free_network_makes_it_exact() {
    let config = LiftConfig { widths: vec![2, 3, 4], ..LiftConfig::new(3) };
    let (free, lattices) = warmed(&config, 4);
    for set in [vec![ROT], vec![FLIP, COLOUR], vec![ROT, FLIP, COLOUR]] {
        let set: GroupSet = set.into_iter().collect();
        for model in [lattices.snap(free.clone(), &set).unwrap(), lattices.impose(free.clone(), &set).unwrap()] {
            for (candidate, change) in changes(&model, 8, 5).into_iter().enumerate() {
                assert_eq!(change < 1e-4, set.contains(candidate), "{set:?} {candidate} {change}");
            }
        }
    }
}

#[test]
fn each_candidate_lives_on_one_lattice_and_the_penalty_is_their_sum() {
    let config = LiftConfig::new(10);
    let lattices = config.lattices(&groups()).unwrap();
    let [channels, directions] = lattices.layers() else { panic!("two lattices expected") };
    assert_eq!((channels.candidates(), channels.bases().dim), (&[COLOUR][..], 3));
    assert_eq!((directions.candidates(), directions.bases().dim), (&[ROT, FLIP][..], 8));
    // On the eight elements: 1 invariant to both, 1 more to turns alone, 3 more to the mirror alone, 3 to nothing.
    let dims: Vec<(usize, usize)> = directions.bases().blocks.iter().map(|b| (b.level, b.vectors.len())).collect();
    assert_eq!(dims, [(2, 1), (1, 1), (1, 3), (0, 3)]);
    let device = Device::flex();
    let model = config.init(&lattices, &mut Init::new(0, &device)).unwrap();
    for config in [PenaltyConfig::default(), PenaltyConfig::violations()] {
        let penalty = config.build_layers(&lattices.reynolds(), &device).unwrap();
        let layers = model.cg_layers();
        let parts: f32 = (0..2).map(|i| penalty.soft(i, layers[i]).unwrap().into_scalar::<f32>()).sum();
        let total: f32 = model.penalty(&penalty).unwrap().unwrap().into_scalar();
        assert!((total - parts).abs() < 1e-5 && total > 0.0);
    }
    assert!(model.describe().contains("8-16-16-32 x 8 directions, mean pooling, norm ReLU, CG"), "{}", model.describe());
}

/// Small images of an L, standing (class 0) or mirrored (class 1).
fn letters(count: usize, seed: u64) -> Dataset {
    let mut rng = rng(seed, 9);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (label, top, left) = (rng.random_range(0..2), rng.random_range(0..4), rng.random_range(0..5));
        let stem = left + 2 * label;
        let lit =
            |i: usize, j: usize| (top..top + 5).contains(&i) && (j == stem || (i == top + 4 && (left..left + 3).contains(&j)));
        values.extend((0..192).map(|k| if k < 64 && lit(k / 8, k % 8) { 255 } else { 0 }));
        labels.push(label);
    }
    let inputs = Inputs::Images { channels: 3, height: 8, width: 8, values: Pixels::Bytes(values) };
    Dataset::new(inputs, Targets::Classes { count: 2, labels }).unwrap()
}

#[test]
fn learns_with_turns_imposed_but_not_with_the_mirror_that_the_label_contradicts() {
    let accuracy = |imposed: Vec<usize>| {
        let config = LiftConfig { widths: vec![4, 4, 8], imposed: Some(imposed.into_iter().collect()), ..LiftConfig::new(2) };
        let lattices = config.lattices(&groups()).unwrap();
        let model: Network = config.init(&lattices, &mut Init::new(3, &Device::flex())).unwrap().into();
        let training = TrainConfig {
            batch: 32,
            max_epochs: 5,
            optimizer: Optimizer::Adam { learning_rate: 1e-2 },
            seed: 5,
            ..TrainConfig::default()
        };
        let go = |_: &Epoch| ControlFlow::Continue(());
        let fit = train(model, &letters(256, 1), &letters(64, 2), &training, Extras::default(), go).unwrap();
        let again = evaluate(&fit.model, &letters(64, 2)).unwrap();
        assert!((again.loss - fit.best_score).abs() < 1e-9);
        evaluate(&fit.model, &letters(200, 3)).unwrap().accuracy
    };
    let turns = accuracy(vec![ROT, COLOUR]);
    assert!(turns > 0.95, "{turns}");
    let all = accuracy(vec![ROT, FLIP, COLOUR]);
    assert!(all < 0.7, "{all}");
}

#[test]
fn wrong_candidates_and_inputs_are_named() {
    let shape: Shape = "3x3x3".parse().unwrap();
    let of = |list: &[&str]| ImageGroups::new(&candidates(&shape, list.iter().copied()).unwrap()).unwrap();
    let config = LiftConfig::new(2);
    let mixed = config.lattices(&of(&["both=join(rot90(1,2),permute(0))"])).unwrap_err().to_string();
    assert!(mixed.contains("feedforward and orbit take both") && mixed.contains("got both"), "{mixed}");
    let shift = config.lattices(&of(&["shift(2)"])).unwrap_err().to_string();
    assert!(shift.contains("expected elements of the network's group, got shift(2)"), "{shift}");
    let lattices = config.lattices(&groups()).unwrap();
    let device = Device::flex();
    let mut init = Init::new(0, &device);
    assert!(LiftConfig { widths: Vec::new(), ..config.clone() }.init(&lattices, &mut init).is_err());
    assert!(
        LiftConfig { channels: 1, ..config.clone() }
            .init(&lattices, &mut init)
            .unwrap_err()
            .to_string()
            .contains("channel lattice")
    );
    let model = config.init(&lattices, &mut init).unwrap();
    let grey = model.forward(Input::Images(Tensor::ones([1, 1, 8, 9], &device)), &mut Pass::evaluate()).unwrap_err();
    assert_eq!(grey.to_string(), "images: expected 3 x height x width, got 1 x 8 x 9");
    // Rectangles are pictures, too.
    let oblong = model.forward(Input::Images(Tensor::ones([1, 3, 8, 9], &device)), &mut Pass::evaluate()).unwrap();
    assert_eq!(oblong.dims()[0], 1);
}

#[test]
fn settings_can_be_written_down() {
    for imposed in [None, Some(GroupSet::full(2))] {
        let config = LiftConfig { imposed, ..LiftConfig::new(4) };
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<LiftConfig>(&text).unwrap(), config);
    }
}

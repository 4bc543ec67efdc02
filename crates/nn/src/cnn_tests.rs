use std::ops::ControlFlow;

use super::*;
use crate::{
    Dataset, Epoch, Extras, Fit, Inputs, Network, Optimizer, PenaltyConfig, Pixels, Targets, TrainConfig, evaluate, rng, train,
};
use burn::tensor::Device;
use invar_algebra::{Shape, candidates};
use rand::Rng as _;

fn groups() -> ImageGroups {
    let shape: Shape = "3x3x3".parse().unwrap();
    ImageGroups::new(&candidates(&shape, ["rot90(1,2)", "flip(1)", "permute(0)"]).unwrap()).unwrap()
}

fn all() -> Filters {
    Filters::Cg { imposed: Some(GroupSet::full(3)) }
}

fn config(depth: Depth, pool: Pool, filters: Filters) -> CnnConfig {
    CnnConfig { depth, pool, filters, width: 0.125, ..CnnConfig::new(4) }
}

fn model(config: &CnnConfig, seed: u64) -> Cnn {
    let lattices = config.lattices(&groups()).unwrap();
    config.init(Some(&lattices), &mut Init::new(seed, &Device::flex())).unwrap()
}

/// A network whose running statistics fit its weights: without them signals die out on the way, and biases alone, which are
/// always invariant, would decide the outputs.
fn warmed(config: &CnnConfig) -> Cnn {
    let mut model = model(config, 1);
    let x = Init::new(8, &Device::flex()).normal([8, 3, 12, 12], 1.0).val();
    for step in 0..40 {
        let mut pass = Pass::train(rng(0, step));
        model.forward(Input::Images(x.clone()), &mut pass).unwrap();
        model = pass.take_statistics().absorb(model);
    }
    model
}

/// Largest change of the outputs, relative to their spread over images, when the image is turned, mirrored, or its colours
/// change.
fn changes(model: &Cnn, side: usize) -> [f32; 3] {
    let device = Device::flex();
    let x = Init::new(9, &device).normal([4, 3, side, side], 1.0).val();
    let run = |x: Tensor<4>| model.forward(Input::Images(x), &mut Pass::evaluate()).unwrap();
    let y = run(x.clone());
    let size: f32 = (y.clone() - y.clone().mean_dim(0)).abs().max().into_scalar();
    let turned = x.clone().swap_dims(2, 3).flip([3]);
    let coloured = x.clone().select(1, Tensor::from_ints([2, 0, 1], &device));
    [turned, x.flip([2]), coloured].map(|moved| {
        let gap: f32 = (run(moved) - y.clone()).abs().max().into_scalar();
        gap / size
    })
}

#[test]
fn imposed_filters_and_symmetric_pooling_make_an_exact_network() {
    for depth in [Depth::Paper, Depth::Reference] {
        for filters in [all(), Filters::P4m] {
            let model = warmed(&config(depth, Pool::Symmetric, filters.clone()));
            for side in [8, 14, 28] {
                assert!(changes(&model, side).into_iter().all(|c| c < 1e-4), "{filters:?} {side}: {:?}", changes(&model, side));
            }
        }
    }
    // Only what is imposed: turns and mirrors change the outputs of this one, colours do not.
    let colour = Filters::Cg { imposed: Some([2].into_iter().collect()) };
    let [turn, flip, colours] = changes(&warmed(&config(Depth::Paper, Pool::Symmetric, colour)), 28);
    assert!(turn > 1e-2 && flip > 1e-2 && colours < 1e-4);
    let plain = changes(&warmed(&config(Depth::Paper, Pool::Symmetric, Filters::Plain)), 28);
    assert!(plain.into_iter().all(|c| c > 1e-2), "{plain:?}");
}

#[test]
fn floor_pooling_breaks_turns_and_mirrors_on_odd_sides() {
    for filters in [all(), Filters::P4m] {
        let floor = warmed(&config(Depth::Paper, Pool::Floor, filters));
        // 28-14-7-3-1 loses a row at 7; 16-8-4-2-1 loses none.
        let [turn, flip, colours] = changes(&floor, 28);
        assert!(turn > 1e-2 && flip > 1e-2 && colours < 1e-4, "{turn} {flip} {colours}");
        assert!(changes(&floor, 16).into_iter().all(|c| c < 1e-4));
    }
}

#[test]
fn both_poolings_halve_alike() {
    for side in 2..40 {
        let sizes = [Pool::Floor, Pool::Symmetric].map(|pool| {
            let window = pool.window([side, side]).unwrap();
            (side - window.size[0]) / window.stride[0] + 1
        });
        assert_eq!(sizes, [side / 2; 2], "{side}");
    }
    assert_eq!(Pool::Floor.window([1, 1]), None);
    assert_eq!(Pool::Symmetric.window([1, 7]), Some(Window { size: [1, 3], stride: [1, 2] }));
}

#[test]
fn a_snapped_network_is_invariant_and_kept_says_so() {
    let config = config(Depth::Reference, Pool::Symmetric, Filters::Cg { imposed: None });
    let lattices = config.lattices(&groups()).unwrap();
    let free = warmed(&config);
    assert_eq!(free.cg_layers().len(), 6);
    assert!(lattices.kept(&free, 1e-3).unwrap().into_iter().all(|(kept, violation)| !kept && violation > 0.1));
    for set in [vec![], vec![1], vec![2], vec![0, 1], vec![0, 1, 2]] {
        let set: GroupSet = set.into_iter().collect();
        for snapped in [lattices.snap(free.clone(), &set).unwrap(), lattices.impose(free.clone(), &set).unwrap()] {
            let kept = lattices.kept(&snapped, 1e-9).unwrap();
            let found: GroupSet = (0..3).filter(|&i| kept[i].0).collect();
            assert_eq!(found, set);
            let exact: GroupSet = changes(&snapped, 14).into_iter().enumerate().filter(|(_, c)| *c < 1e-4).map(|c| c.0).collect();
            assert_eq!(exact, set);
            let folded = snapped.clone().fold();
            let x = Input::Images(Init::new(4, &Device::flex()).normal([2, 3, 9, 9], 1.0).val());
            let [a, b] = [&snapped, &folded].map(|m| m.forward(x.clone(), &mut Pass::evaluate()).unwrap());
            assert!((a - b).abs().max().into_scalar::<f32>() < 1e-4);
            assert!(folded.cg_layers().is_empty());
        }
    }
    assert!(lattices.kept(&free.fold(), 1e-3).unwrap_err().to_string().contains("expected 6, got 0"));
}

#[test]
fn one_layer_that_breaks_a_group_is_enough() {
    let config = config(Depth::Small, Pool::Symmetric, Filters::Cg { imposed: None });
    let lattices = config.lattices(&groups()).unwrap();
    let free = model(&config, 2);
    for broken in 0..3 {
        let mut snapped = lattices.snap(free.clone(), &GroupSet::full(3)).unwrap();
        *snapped.cg_layers_mut()[broken] = free.cg_layers()[broken].clone();
        let kept: Vec<bool> = lattices.kept(&snapped, 1e-9).unwrap().into_iter().map(|k| k.0).collect();
        // Colours act on the first layer alone.
        assert_eq!(kept, [false, false, broken != 0]);
    }
}

#[test]
fn published_sizes() {
    let convolutions = |channels: &[usize]| channels.windows(2).map(|c| 9 * c[0] * c[1] + 2 * c[1]).sum::<usize>();
    let dense = 128 * 50 + 50 + 50 * 10 + 10;
    let paper = [3, 64, 128, 128, 128, 128, 128, 128, 128];
    for filters in [Filters::Plain, Filters::Cg { imposed: None }] {
        let config = CnnConfig { filters, ..CnnConfig::new(10) };
        assert_eq!(model(&config, 0).parameters(), convolutions(&paper) + dense);
    }
    let reference = CnnConfig { depth: Depth::Reference, ..CnnConfig::new(10) };
    let affine = model(&CnnConfig { head: Head::Affine, ..reference.clone() }, 0);
    assert_eq!(affine.parameters(), convolutions(&paper[..7]) + 128 * 10 + 10);
    assert!(affine.describe().ends_with("sum pooling, output 10"), "{}", affine.describe());
    let model = model(&reference, 0);
    assert_eq!(model.parameters(), convolutions(&paper[..7]) + dense);
    assert!(model.describe().contains("filters: 64 M 128 M 128 128 M 128 128 M; sum pooling, dense 50 ReLU, output 10"));
}

/// Small images with a bright bar, lying (class 0) or standing (class 1), in a random place and colour.
fn bars(count: usize, seed: u64) -> Dataset {
    let mut rng = rng(seed, 9);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (label, at, colour) = (rng.random_range(0..2), rng.random_range(1..7), rng.random_range(0..3));
        let lit = |c: usize, i: usize, j: usize| c == colour && at == if label == 0 { i } else { j };
        values.extend((0..192).map(|k| if lit(k / 64, k / 8 % 8, k % 8) { 255 } else { 0 }));
        labels.push(label);
    }
    let inputs = Inputs::Images { channels: 3, height: 8, width: 8, values: Pixels::Bytes(values) };
    Dataset::new(inputs, Targets::Classes { count: 2, labels }).unwrap()
}

fn fit(filters: Filters, epochs: usize, lambda: f64) -> Fit<Network> {
    let config = CnnConfig { depth: Depth::Small, filters, width: 0.25, hidden: 16, dropout: 0.1, ..CnnConfig::new(2) };
    let lattices = config.lattices(&groups()).unwrap();
    let model = config.init(Some(&lattices), &mut Init::new(3, &Device::flex())).unwrap();
    let penalty = PenaltyConfig::default().build_layers(&lattices.reynolds(), &Device::flex()).unwrap();
    let training = TrainConfig {
        batch: 32,
        max_epochs: epochs,
        optimizer: Optimizer::Adam { learning_rate: 1e-2 },
        lambda,
        seed: 5,
        ..TrainConfig::default()
    };
    let extras = Extras { penalty: Some(&penalty), ..Extras::default() };
    train(model.into(), &bars(256, 1), &bars(64, 2), &training, extras, |_: &Epoch| ControlFlow::Continue(())).unwrap()
}

#[test]
fn learns_to_tell_bars_apart() {
    for filters in [Filters::Plain, Filters::Cg { imposed: None }] {
        let fit = fit(filters.clone(), 6, 0.0);
        let evaluation = evaluate(&fit.model, &bars(100, 3)).unwrap();
        assert!(evaluation.accuracy > 0.95, "{filters:?}: {}", evaluation.accuracy);
        assert!(evaluation.predictions.iter().all(|p| [0.0, 1.0].contains(p)));
        // The weights that were kept come with the running statistics of their epoch.
        let again = evaluate(&fit.model, &bars(64, 2)).unwrap();
        assert!((again.loss - fit.best_score).abs() < 1e-9, "{} {}", again.loss, fit.best_score);
    }
}

#[test]
fn what_the_label_contradicts_cannot_be_fitted() {
    // A turn changes lying into standing: with everything imposed the two classes look alike.
    let fit = fit(all(), 3, 0.0);
    let accuracy = evaluate(&fit.model, &bars(200, 3)).unwrap().accuracy;
    assert!(accuracy < 0.7, "{accuracy}");
}

#[test]
fn bit_identical_for_a_seed_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let fit = fit(Filters::Cg { imposed: None }, 2, 0.1);
            let curve = fit.curve.iter().flat_map(|e| [e.train_loss.to_bits(), e.validation_loss.to_bits(), e.penalty.to_bits()]);
            curve.collect::<Vec<_>>()
        })
    };
    let one = on(1);
    assert_eq!(one, on(1));
    assert_eq!(one, on(2));
}

#[test]
fn wrong_settings_and_inputs_are_named() {
    let device = Device::flex();
    let mut init = Init::new(0, &device);
    let plain = config(Depth::Small, Pool::Floor, Filters::Plain);
    let model = plain.init(None, &mut init).unwrap();
    let refuse = |input: Input| model.forward(input, &mut Pass::evaluate()).unwrap_err().to_string();
    assert_eq!(
        refuse(Input::Array(Tensor::ones([1, 4], &device))),
        "this convolutional network takes images as input, but got arrays"
    );
    assert_eq!(refuse(Input::Images(Tensor::ones([1, 1, 8, 8], &device))), "channels of the images: expected 3, got 1");
    let cg = config(Depth::Small, Pool::Floor, Filters::Cg { imposed: None });
    assert_eq!(cg.init(None, &mut init).unwrap_err().to_string(), "lattices of CG layers: expected 3, got 0");
    let grey = CnnConfig { channels: 1, ..cg.clone() };
    assert!(grey.lattices(&groups()).unwrap_err().to_string().contains("expected 1 x 3 x 3, got 3 x 3 x 3"));
    for bad in [
        CnnConfig { width: 0.0, ..plain.clone() },
        CnnConfig { outputs: 0, ..plain.clone() },
        CnnConfig { dropout: 1.0, ..plain },
    ] {
        assert!(bad.init(None, &mut init).is_err());
    }
}

#[test]
fn settings_can_be_written_down() {
    for filters in [Filters::Plain, Filters::P4m, Filters::Cg { imposed: None }, all()] {
        let config = config(Depth::Reference, Pool::Symmetric, filters);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<CnnConfig>(&text).unwrap(), config);
    }
}

use super::*;
use crate::{Lattices, rng};
use burn::tensor::{Device, Int, TensorData};
use invar_algebra::{Action, Lattice, Options, Shape, candidates};
use rand::Rng as _;

fn groups(shape: &str, of: &[&str]) -> Vec<Group> {
    let shape: Shape = shape.parse().unwrap();
    candidates(&shape, of.iter().copied()).unwrap()
}

fn model(config: &OrbitConfig, groups: &[Group], seed: u64) -> (Orbit, Lattices) {
    let lattices = config.lattices(groups).unwrap();
    let model = config.init(groups, &lattices, &mut Init::new(seed, &Device::flex())).unwrap();
    (model, lattices)
}

/// A batch of entries moved by an action.
fn moved(x: &[f32], action: &Action) -> Vec<f32> {
    let size = action.len();
    x.chunks(size)
        .flat_map(|example| {
            let mut out = vec![0.0; size];
            action.apply(&example.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(), &mut out);
            out.into_iter().map(|v| v as f32)
        })
        .collect()
}

/// Largest change of the outputs under the generators of a group, relative to their spread over examples.
fn change(model: &Orbit, x: &[f32], group: &Group, input: &dyn Fn(Vec<f32>) -> Input) -> f32 {
    let run = |x: Vec<f32>| model.forward(input(x), &mut Pass::evaluate()).unwrap();
    let y = run(x.to_vec());
    let size: f32 = (y.clone() - y.clone().mean_dim(0)).abs().max().into_scalar();
    let gap = |g: &Action| (run(moved(x, g)) - y.clone()).abs().max().into_scalar::<f32>() / size;
    group.generators().iter().map(gap).fold(0.0, f32::max)
}

/// With M imposed the network must be invariant to the candidates of M, and to no other one unless M generates it.
fn check(config: &OrbitConfig, groups: &[Group], x: &[f32], input: &dyn Fn(Vec<f32>) -> Input) {
    let lattice = Lattice::new(groups.to_vec(), &Options::default()).unwrap();
    let mut seen = Vec::new();
    for bits in 0..1usize << groups.len() {
        let set: GroupSet = (0..groups.len()).filter(|i| bits >> i & 1 == 1).collect();
        // Sets with the same closure are the same constraint.
        let set = if set.is_empty() { set } else { lattice.closure(&set).unwrap() };
        if seen.contains(&set) {
            continue;
        }
        let config = OrbitConfig { imposed: Some(set.clone()), ..config.clone() };
        let (model, lattices) = model(&config, groups, seen.len() as u64);
        let kept = lattices.kept(&model, 1e-9).unwrap();
        for (candidate, group) in groups.iter().enumerate() {
            let change = change(&model, x, group, input);
            let fine = if set.contains(candidate) { change < 1e-4 } else { change > 1e-4 };
            assert!(fine, "{set:?} {}: {change}", group.name());
            assert_eq!(kept[candidate].0, set.contains(candidate));
        }
        seen.push(set);
    }
}

#[test]
fn short_sequences_under_all_swaps() {
    let groups = groups("4", &["swaps(0)"]);
    let config = OrbitConfig { features: 6, ..OrbitConfig::new(InnerConfig::Tokens { vocabulary: 9 }, 2) };
    let mut rng = rng(1, 0);
    let x: Vec<f32> = (0..20).map(|_| rng.random_range(0..9) as f32).collect();
    let input = |x: Vec<f32>| {
        let tokens: Vec<i32> = x.into_iter().map(|v| v as i32).collect();
        Input::Tokens(Tensor::<2, Int>::from_data(TensorData::new(tokens, [5, 4]), &Device::flex()))
    };
    check(&config, &groups, &x, &input);
    assert_eq!(model(&config, &groups, 0).0.elements(), 24);
}

#[test]
fn small_graphs_under_node_permutations() {
    let groups = groups("4x4", &["node_swaps(0,1)"]);
    let config = OrbitConfig { features: 6, ..OrbitConfig::new(InnerConfig::Array, 1) };
    let mut rng = rng(2, 0);
    let x: Vec<f32> = (0..48).map(|_| rng.random::<f32>()).collect();
    let input = |x: Vec<f32>| Input::Array(Tensor::from_data(TensorData::new(x, [3, 16]), &Device::flex()));
    check(&config, &groups, &x, &input);
}

#[test]
fn images_under_turns_mirrors_and_colours_at_once() {
    let groups = groups("3x8x8", &["rot90(1,2)", "flip(1)", "both=join(flip(2),cycle(0))"]);
    let config = OrbitConfig { features: 6, ..OrbitConfig::new(InnerConfig::Images { width: 0.25 }, 2) };
    let mut rng = rng(3, 0);
    let x: Vec<f32> = (0..3 * 192).map(|_| 40.0 * rng.random::<f32>()).collect();
    let input = |x: Vec<f32>| Input::Images(Tensor::from_data(TensorData::new(x, [3, 3, 8, 8]), &Device::flex()));
    check(&config, &groups, &x, &input);
    assert_eq!(model(&config, &groups, 0).0.elements(), 24);
}

#[test]
fn large_groups_and_wrong_inputs_are_named() {
    let config = OrbitConfig::new(InnerConfig::Tokens { vocabulary: 9 }, 1);
    let message = config.lattices(&groups("10", &["permute(0)"])).unwrap_err().to_string();
    assert!(message.contains("at most 256 elements") && message.contains("3628800"), "{message}");
    assert!(config.lattices(&[]).is_err());
    let groups = groups("3", &["permute(0)"]);
    let (model, _) = model(&config, &groups, 0);
    let device = Device::flex();
    let refuse = |input: Input| model.forward(input, &mut Pass::evaluate()).unwrap_err().to_string();
    assert_eq!(refuse(Input::Tokens(Tensor::from_ints([[1, 2]], &device))), "entries of the input: expected 3, got 2");
    assert!(refuse(Input::Images(Tensor::ones([1, 1, 1, 3], &device))).contains("takes tokens or arrays"));
    assert_eq!((model.vocabulary(), model.batch()), (Some(9), 171));
    let images = OrbitConfig::new(InnerConfig::Images { width: 1.0 }, 1);
    let lattices = images.lattices(&groups).unwrap();
    assert!(
        images
            .init(&groups, &lattices, &mut Init::new(0, &device))
            .unwrap_err()
            .to_string()
            .contains("channels x height x width")
    );
}

#[test]
fn settings_can_be_written_down() {
    for inner in [InnerConfig::Array, InnerConfig::Tokens { vocabulary: 9 }, InnerConfig::Images { width: 0.5 }] {
        let config = OrbitConfig::new(inner, 4);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<OrbitConfig>(&text).unwrap(), config);
    }
}

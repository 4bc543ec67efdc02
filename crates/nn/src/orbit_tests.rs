use super::*;
use crate::{Lattices, rng};
use burn::tensor::{Device, Int, TensorData};
use invar_algebra::{Action, Shape, candidates};
use proptest::prelude::*;
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
    let closures = config.lattices(groups).unwrap();
    let mut seen = Vec::new();
    for bits in 0..1usize << groups.len() {
        let set: GroupSet = (0..groups.len()).filter(|i| bits >> i & 1 == 1).collect();
        // Sets with the same closure are the same constraint.
        let set = closures.closure(&set).unwrap();
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
fn arrays_whose_signs_change() {
    let groups = groups("3", &["swaps(0)", "negate", "generators([[-0,1,2]])"]);
    let config = OrbitConfig { features: 6, ..OrbitConfig::new(InnerConfig::Array, 2) };
    check(&config, &groups, &drawn(4, 12), &arrays(3));
    // All permutations with all signs.
    assert_eq!(model(&config, &groups, 0).0.elements(), 48);
}

#[test]
fn arrays_under_matrices() {
    // Turns and mirrors of a hexagon in a basis in which they are integers, and a reflection with fractions.
    let hexagon = groups("2", &["generators([[[0,-1],[1,1]]])", "swap(0;0,1)", "negate"]);
    let config = OrbitConfig { features: 6, ..OrbitConfig::new(InnerConfig::Array, 2) };
    check(&config, &hexagon, &drawn(5, 10), &arrays(2));
    assert_eq!(model(&config, &hexagon, 0).0.elements(), 12);
    let reflection = groups("2", &["generators([[[3/5,4/5],[4/5,-3/5]]])", "negate"]);
    check(&config, &reflection, &drawn(6, 10), &arrays(2));
}

/// Numbers that are not all positive.
fn drawn(seed: u64, count: usize) -> Vec<f32> {
    let mut rng = rng(seed, 0);
    (0..count).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect()
}

fn arrays(entries: usize) -> impl Fn(Vec<f32>) -> Input {
    move |x| Input::Array(Tensor::from_data(TensorData::new(x.clone(), [x.len() / entries, entries]), &Device::flex()))
}

/// Candidates on sequences, graphs, arrays and images of several sizes.
fn any_case() -> impl Strategy<Value = (InnerConfig, String, Vec<&'static str>)> {
    let tokens = InnerConfig::Tokens { vocabulary: 9 };
    prop_oneof![
        (2..=5usize).prop_map(move |n| (tokens, n.to_string(), vec!["swaps(0)"])),
        (3..=6usize).prop_map(move |n| (tokens, n.to_string(), vec!["cycle(0)", "flip(0)"])),
        (2..=4usize).prop_map(|n| (InnerConfig::Array, format!("{n}x{n}"), vec!["node_swaps(0,1)"])),
        (2..=3usize).prop_map(|n| (InnerConfig::Array, n.to_string(), vec!["permute(0)", "negate", "generators([[-0]])"])),
        Just((InnerConfig::Array, "2".into(), vec!["generators([[[0,-1],[1,1]]])", "swap(0;0,1)", "negate"])),
        (1..=3usize, 4..=9usize).prop_map(|(channels, side)| {
            let shape = format!("{channels}x{side}x{side}");
            (InnerConfig::Images { width: 0.25 }, shape, vec!["rot90(1,2)", "flip(1)", "permute(0)"])
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any candidates, any set of them imposed, any weights: a product of generators of the set changes no answer.
    #[test]
    fn no_element_of_what_is_imposed_changes_an_answer(
        (inner, shape, of) in any_case(),
        seed in 0..1000u64,
        bits in 1..1u32 << 10,
        word in prop::collection::vec(0..1000usize, 1..6),
    ) {
        // A sign of one entry is written for as many entries as there are.
        let rest: Vec<String> = (1..shape.parse::<usize>().unwrap_or(1)).map(|i| format!(",{i}")).collect();
        let of: Vec<String> = of.into_iter().map(|text| text.replace("[-0]", &format!("[-0{}]", rest.concat()))).collect();
        let groups = groups(&shape, &of.iter().map(String::as_str).collect::<Vec<_>>());
        let set: GroupSet = (0..groups.len()).filter(|i| bits >> i & 1 == 1).collect();
        let config = OrbitConfig { features: 4, imposed: Some(set.clone()), ..OrbitConfig::new(inner, 2) };
        let (model, _) = model(&config, &groups, seed);
        let generators: Vec<&Action> = set.iter().flat_map(|group| groups[group].generators()).collect();
        prop_assume!(!generators.is_empty());
        let element = word.iter().fold(Action::identity(groups[0].shape().len()), |product, k| {
            generators[k % generators.len()].after(&product)
        });
        let (entries, examples) = (element.len(), 3);
        let x: Vec<f32> = match inner {
            InnerConfig::Tokens { .. } => drawn(seed, examples * entries).into_iter().map(|v| (4.0 * v + 4.0).floor()).collect(),
            InnerConfig::Array => drawn(seed, examples * entries),
            InnerConfig::Images { .. } => drawn(seed, examples * entries).into_iter().map(|v| 20.0 * (v + 1.0)).collect(),
        };
        let input = |x: Vec<f32>| match (inner, groups[0].shape().sides()) {
            (InnerConfig::Tokens { .. }, _) => {
                let tokens: Vec<i32> = x.into_iter().map(|v| v as i32).collect();
                Input::Tokens(Tensor::<2, Int>::from_data(TensorData::new(tokens, [examples, entries]), &Device::flex()))
            }
            (InnerConfig::Images { .. }, &[channels, height, width]) => {
                let data = TensorData::new(x, [examples, channels, height, width]);
                Input::Images(Tensor::from_data(data, &Device::flex()))
            }
            _ => arrays(entries)(x),
        };
        let run = |x: Vec<f32>| model.forward(input(x), &mut Pass::evaluate()).unwrap();
        let (before, after) = (run(x.clone()), run(moved(&x, &element)));
        let size: f32 = (before.clone() - before.clone().mean_dim(0)).abs().max().into_scalar();
        let gap: f32 = (after - before).abs().max().into_scalar();
        prop_assume!(size > 1e-3);
        prop_assert!(gap < 1e-4 * size, "{of:?} on {shape}, {set:?}: {gap} of {size}");
    }
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
    let signed = self::groups("3", &["negate"]);
    let refused = config.init(&signed, &config.lattices(&signed).unwrap(), &mut Init::new(0, &device)).unwrap_err();
    assert!(refused.to_string().contains("candidates on tokens: expected permutations of positions"), "{refused}");
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

use super::*;
use crate::baselines::{GruNetConfig, PlainConfig};
use crate::cg_linear::Bias;
use crate::{
    Bases, CgFeedForwardConfig, CnnConfig, Depth, Elements, Entry, FrontKind, Head, ImageGroups, Init, InnerConfig, LiftConfig,
    Model, OrbitConfig, PairsConfig, Pass, Points,
};
use burn::tensor::{Device, Int, TensorData};
use invar_algebra::{Group, Shape, candidates};
use invar_program::certify::numeric;
use invar_program::{certify, tied};

fn device() -> Device {
    Device::flex()
}

fn groups(shape: &str, of: &[&str]) -> Vec<Group> {
    candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap()
}

/// Random examples as the program takes them, and as the network does.
fn examples(input: &Input, count: usize) -> (Vec<f32>, crate::Input) {
    let mut x = numeric::random(input, count, 5);
    if !matches!(input, Input::Tokens { .. }) {
        // Some darker than others: random pixels alone have nearly the same mean.
        let width = x.len() / count;
        x.iter_mut().enumerate().for_each(|(i, value)| *value *= (i / width + 1) as f32 / count as f32);
    }
    let given = match *input {
        Input::Tokens { length, .. } => {
            let tokens: Vec<i32> = x.iter().map(|&token| token as i32).collect();
            crate::Input::Tokens(Tensor::<2, Int>::from_data(TensorData::new(tokens, [count, length]), &device()))
        }
        Input::Array { .. } => {
            let width = x.len() / count;
            crate::Input::Array(Tensor::from_data(TensorData::new(x.clone(), [count, width]), &device()))
        }
        Input::Images { channels, height, width } => {
            crate::Input::Images(Tensor::from_data(TensorData::new(x.clone(), [count, channels, height, width]), &device()))
        }
    };
    (x, given)
}

/// The program answers as the network does in evaluation.
fn agrees(network: &Network, input: &Input) -> Program {
    let program = lower(network, input).unwrap();
    let (x, given) = examples(input, 4);
    let expected: Vec<f32> = network.forward(given, &mut Pass::evaluate()).unwrap().into_data().try_to_vec().unwrap();
    let got = program.run(&x).unwrap();
    let size = expected.iter().fold(0.0f32, |size, y| size.max(y.abs()));
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() <= 1e-5 * size, "{got} {expected}");
    }
    // Examples differ, so that the agreement says something.
    assert!(expected.chunks(expected.len() / 4).any(|y| (y[0] - expected[0]).abs() > 1e-4 * size));
    program
}

/// Statistics and parameters that are not those of the beginning.
fn shaken(norm: &mut BatchNorm, init: &mut Init) {
    let channels = norm.gamma.dims()[0];
    norm.gamma = init.uniform([channels], 1.0);
    // Most units are alive, and see differences between examples.
    norm.beta = init.uniform([channels], 0.5).map(|beta| beta.add_scalar(0.4));
    norm.mean = init.uniform([channels], 0.1);
    norm.variance = norm.variance.clone().map(|variance| variance.mul_scalar(0.05));
}

fn small_cnn(filters: Filters, pool: Pool, head: Head, groups: &ImageGroups, init: &mut Init) -> Cnn {
    let config = CnnConfig { depth: Depth::Small, width: 0.25, filters, pool, head, hidden: 7, ..CnnConfig::new(3) };
    let lattices = config.lattices(groups).unwrap();
    let mut model = config.init(Some(&lattices), init).unwrap();
    model.blocks.iter_mut().for_each(|block| shaken(&mut block.norm, init));
    model
}

/// Which groups are proved, to the last bit, when the program is written for all of them.
fn proved(program: &Program, groups: &[Group]) -> Vec<bool> {
    let written = tied(program.clone(), groups).unwrap();
    // Nothing but rounding is taken away.
    let x = numeric::random(&program.input, 4, 9);
    let (before, after) = (program.run(&x).unwrap(), written.run(&x).unwrap());
    let size = before.iter().fold(0.0f32, |size, y| size.max(y.abs()));
    assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() <= 1e-5 * size));
    groups.iter().map(|group| certify(&written, group).unwrap().is_exact()).collect()
}

#[test]
fn feed_forward_networks_of_every_kind() {
    let mut init = Init::new(1, &device());
    for per_feature in [false, true] {
        for (head, activation) in [(Head::Hidden, Activation::Identity), (Head::Affine, Activation::Gelu)] {
            let mut config = CgFeedForwardConfig::tokens(9);
            config.entry = Entry::Tokens { vocabulary: 9, per_feature };
            (config.head, config.activation, config.outputs, config.neurons) = (head, activation, 2, 16);
            let model = config.init(&Bases::sequence(4), &mut init).unwrap();
            agrees(&model.into(), &Input::Tokens { length: 4, vocabulary: 9 });
        }
    }
    for activation in [Activation::LeakyRelu, Activation::Sigmoid, Activation::Tanh] {
        let config = CgFeedForwardConfig { activation, bias: Bias::PerNeuron, neurons: 8, ..CgFeedForwardConfig::array() };
        let model = config.init(&Bases::sequence(6), &mut init).unwrap();
        agrees(&model.into(), &Input::Array { shape: vec![2, 3] });
    }
    agrees(&Network::Plain(PlainConfig::array(6, 3).init(&mut init).unwrap()), &Input::Array { shape: vec![2, 3] });
    let tokens = PlainConfig::tokens(5, 3, 2).init(&mut init).unwrap();
    agrees(&Network::Plain(tokens), &Input::Tokens { length: 3, vocabulary: 5 });
}

#[test]
fn what_is_imposed_on_a_feed_forward_network_is_proved() {
    let mut init = Init::new(1, &device());
    let imposed = Some(vec![vec![1.0, 1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0, 0.0], vec![0.0, 0.0, 0.0, 1.0]]);
    let config = CgFeedForwardConfig { imposed, neurons: 8, ..CgFeedForwardConfig::tokens(9) };
    let model = config.init(&Bases::sequence(4), &mut init).unwrap();
    let program = agrees(&model.into(), &Input::Tokens { length: 4, vocabulary: 9 });
    let kept = proved(&program, &groups("4", &["swaps(0)"]));
    assert_eq!(kept, [true, false, false, false, false, false]);
}

#[test]
fn convolutional_networks_of_every_kind() {
    let mut init = Init::new(2, &device());
    let patch = ImageGroups::new(&groups("3x3x3", &["rot90(1,2)", "flip(1)", "permute(0)"])).unwrap();
    let on = |side: usize| groups(&format!("3x{side}x{side}"), &["rot90(1,2)", "flip(1)", "permute(0)"]);
    let all = Filters::Cg { imposed: Some([0, 1, 2].into_iter().collect()) };
    let colours = Filters::Cg { imposed: Some([2].into_iter().collect()) };
    for (filters, keeps) in [
        (Filters::Plain, [false; 3]),
        (Filters::Cg { imposed: None }, [false; 3]),
        (all, [true; 3]),
        (colours, [false, false, true]),
        (Filters::P4m, [true; 3]),
    ] {
        let heads = [Head::Affine, Head::Hidden];
        for (pool, head) in [Pool::Floor, Pool::Symmetric].into_iter().flat_map(|pool| heads.map(|head| (pool, head))) {
            let model = Network::from(small_cnn(filters.clone(), pool, head, &patch, &mut init));
            for side in [6, 7] {
                let program = agrees(&model, &Input::Images { channels: 3, height: side, width: side });
                let found = proved(&program, &on(side));
                // Windows of 2 drop a row of 7 and of 3: then turns and mirrors are not exact.
                let exact = pool == Pool::Symmetric;
                assert_eq!(found, [keeps[0] && exact, keeps[1] && exact, keeps[2]], "{filters:?} {pool:?} {side}");
            }
        }
    }
    let wide = small_cnn(Filters::Plain, Pool::Symmetric, Head::Hidden, &patch, &mut init);
    agrees(&wide.into(), &Input::Images { channels: 3, height: 5, width: 8 });
}

#[test]
fn lifted_networks() {
    let mut init = Init::new(3, &device());
    let patch = ImageGroups::new(&groups("3x3x3", &["rot90(1,2)", "flip(1)", "permute(0)"])).unwrap();
    for (imposed, keeps) in [(None, [false; 3]), (Some([0, 2].into_iter().collect()), [true, false, true])] {
        for (head, normed) in [(Head::Affine, true), (Head::Hidden, true), (Head::Affine, false)] {
            let mut config = LiftConfig { widths: vec![2, 3, 4], normed, imposed: imposed.clone(), ..LiftConfig::new(2) };
            (config.head.neurons, config.head.head) = (16, head);
            let mut model = config.init(&config.lattices(&patch).unwrap(), &mut init).unwrap();
            model.norms.iter_mut().chain(&mut model.pooled_norm).for_each(|norm| shaken(norm, &mut init));
            let network = Network::from(model);
            for side in [6, 7] {
                let program = agrees(&network, &Input::Images { channels: 3, height: side, width: side });
                let candidates = groups(&format!("3x{side}x{side}"), &["rot90(1,2)", "flip(1)", "permute(0)"]);
                let found = proved(&program, &candidates);
                assert_eq!(found, keeps, "{head:?} {side}");
            }
        }
    }
}

#[test]
fn orbits() {
    let mut init = Init::new(4, &device());
    for (inner, shape, of, input) in [
        (InnerConfig::Array, "3", ["cycle(0)", "flip(0)"], Input::Array { shape: vec![3] }),
        (InnerConfig::Tokens { vocabulary: 4 }, "3", ["cycle(0)", "flip(0)"], Input::Tokens { length: 3, vocabulary: 4 }),
        (InnerConfig::Array, "3", ["generators([[-1,2,0]])", "swap(0;0,1)"], Input::Array { shape: vec![3] }),
        (InnerConfig::Array, "2", ["generators([[[0,-1],[1,1]]])", "swap(0;0,1)"], Input::Array { shape: vec![2] }),
        (InnerConfig::Array, "2", ["swap(0;0,1)", "generators([[[0,-1],[1,1]]])"], Input::Array { shape: vec![2] }),
        (
            InnerConfig::Images { width: 0.2 },
            "2x4x4",
            ["rot90(1,2)", "permute(0)"],
            Input::Images { channels: 2, height: 4, width: 4 },
        ),
    ] {
        let groups = groups(shape, &of);
        let config = OrbitConfig { features: 3, imposed: Some([0].into_iter().collect()), ..OrbitConfig::new(inner, 2) };
        let model = config.init(&groups, &config.lattices(&groups).unwrap(), &mut init).unwrap();
        let program = agrees(&model.into(), &input);
        assert_eq!(proved(&program, &groups), [true, false], "{of:?}");
    }
}

#[test]
fn networks_on_pairs() {
    let mut init = Init::new(6, &device());
    for (shape, of, front) in [
        ("5", ["swap(0;1,3)", "permute(0)"], FrontKind::Pairs),
        ("5", ["swap(0;1,3)", "permute(0)"], FrontKind::Pointwise),
        ("5", ["swap(0;1,3)", "permute(0)"], FrontKind::Tokens { vocabulary: 4 }),
        ("6", ["cycle(0)", "flip(0)"], FrontKind::Pairs),
        ("4x2", ["permute(0)", "swap(1;0,1)"], FrontKind::Pairs),
        ("3", ["negate", "swap(0;0,1)"], FrontKind::Pairs),
    ] {
        let groups = groups(shape, &of);
        let sides = groups[0].shape().sides().to_vec();
        let points = Points::of(sides.iter().product(), &groups).unwrap();
        let (imposed, all) = (points.ties(&groups[..1]).unwrap(), points.ties(&groups).unwrap());
        let input = match front {
            FrontKind::Tokens { vocabulary } => Input::Tokens { length: sides[0], vocabulary },
            _ => Input::Array { shape: sides },
        };
        // The front tied along what is imposed, or along everything: then more may follow.
        for tied in [&imposed, &all] {
            let model = PairsConfig::new(front, 2).init(points, tied, &imposed, &mut init).unwrap();
            let program = agrees(&model.into(), &input);
            let proved = proved(&program, &groups);
            assert!(proved[0] && (!proved[1] || tied == &all), "{shape} {front:?}");
        }
    }
}

#[test]
fn means_over_views() {
    let mut init = Init::new(7, &device());
    for (shape, of) in [("4", ["cycle(0)", "swap(0;0,1)"]), ("3", ["generators([[-1,2,0]])", "swap(0;0,1)"])] {
        let groups = groups(shape, &of);
        let dim = groups[0].shape().len();
        let plain = Network::Plain(PlainConfig::array(dim, 2).init(&mut init).unwrap());
        let model = Averaged::new(plain, &Elements::of(&groups[0], 256).unwrap()).unwrap();
        let program = agrees(&model.into(), &Input::Array { shape: vec![dim] });
        assert_eq!(proved(&program, &groups), [true, false], "{of:?}");
    }
}

#[test]
fn what_has_no_program_says_so() {
    let mut init = Init::new(5, &device());
    let recurrent = Network::Gru(GruNetConfig::new(5, 1).init(&mut init).unwrap());
    let message = lower(&recurrent, &Input::Tokens { length: 3, vocabulary: 5 }).unwrap_err().to_string();
    assert_eq!(message, "the network cannot be written as a program: a recurrent network is a baseline, and has no program");
    let plain = Network::Plain(PlainConfig::array(6, 3).init(&mut init).unwrap());
    let message = lower(&plain, &Input::Array { shape: vec![5] }).unwrap_err().to_string();
    assert!(message.contains("operation 0 (reshape): expected as many entries as 6, got 5"), "{message}");
    let config = CnnConfig { depth: Depth::Small, ..CnnConfig::new(2) };
    let cnn = Network::from(config.init(None, &mut init).unwrap());
    let message = lower(&cnn, &Input::Array { shape: vec![3, 4, 4] }).unwrap_err().to_string();
    assert_eq!(message, "this convolutional network takes images as input, but got arrays");
}

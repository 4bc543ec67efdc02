use burn::module::Module;
use burn::tensor::{Device, Gradients, Tensor};
use invar_algebra::{Group, Shape, candidates};
use rand::Rng as _;

use super::layer::Weights;
use super::*;
use crate::baselines::PlainConfig;
use crate::init::rng;
use crate::{
    Activation, Bases, Bias, CgFeedForwardConfig, Entry, FrontKind, Head, Init, Inputs, Model, PairsConfig, Pass, Points, Targets,
};

const COUNT: usize = 37;

fn groups(shape: &str, of: &[&str]) -> Vec<Group> {
    candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap()
}

fn pairs(shape: &str, of: &[&str], imposed: usize, front: FrontKind, free: bool, outputs: usize) -> Network {
    let all = groups(shape, of);
    let points = Points::of(all[0].shape().len(), &all).unwrap();
    let ties = points.ties(&all[..imposed]).unwrap();
    // A front that treats more alike than what is imposed.
    let pooled = if free { points.ties(&all[..imposed.min(1)]).unwrap() } else { ties.clone() };
    PairsConfig::new(front, outputs).init(points, &ties, &pooled, &mut Init::new(7, &Device::flex())).unwrap().into()
}

/// Random examples of so many entries: tokens below 9, or numbers; numbers to predict, or three classes.
fn data(entries: usize, tokens: bool, classes: bool) -> Dataset {
    let mut rng = rng(11, 0);
    let inputs = if tokens {
        Inputs::Tokens { length: entries, values: (0..COUNT * entries).map(|_| rng.random_range(0..9)).collect() }
    } else {
        Inputs::Array { dim: entries, values: (0..COUNT * entries).map(|_| rng.random_range(-2.0..2.0f32)).collect() }
    };
    let targets = if classes {
        Targets::Classes { count: 3, labels: (0..COUNT).map(|_| rng.random_range(0..3)).collect() }
    } else {
        Targets::Values((0..COUNT).map(|_| rng.random_range(-2.0..2.0f32)).collect())
    };
    Dataset::new(inputs, targets).unwrap()
}

/// Every network and kind of data that is written out.
fn cases() -> Vec<(&'static str, Network, Dataset)> {
    let (swaps, signs): (&[&str], &[&str]) = (&["swap(0;0,1)", "swap(0;1,2)", "swaps(0)"], &["negate", "swap(0;0,1)"]);
    let plain = |tokens: bool| {
        let config = if tokens { PlainConfig::tokens(9, 4, 3) } else { PlainConfig::array(4, 1) };
        Network::Plain(config.init(&mut Init::new(7, &Device::flex())).unwrap())
    };
    let tokens = FrontKind::Tokens { vocabulary: 9 };
    let mut per_feature = CgFeedForwardConfig { outputs: 3, ..CgFeedForwardConfig::tokens(9) };
    per_feature.entry = Entry::Tokens { vocabulary: 9, per_feature: true };
    let affine = CgFeedForwardConfig { head: Head::Affine, bias: Bias::PerNeuron, ..CgFeedForwardConfig::array() };
    let mut imposed = CgFeedForwardConfig { outputs: 3, bias: Bias::None, activation: Activation::Relu, ..affine.clone() };
    (imposed.head, imposed.imposed) = (Head::Hidden, Some(vec![vec![1.0; 4], vec![1.0, -1.0, 0.0, 0.0]]));
    vec![
        ("pairs, three positions tied", pairs("5", swaps, 2, FrontKind::Pairs, false, 3), data(5, false, true)),
        ("pairs, nothing imposed", pairs("5", swaps, 0, FrontKind::Pairs, false, 1), data(5, false, false)),
        ("pairs, front tied", pairs("5", swaps, 3, FrontKind::Pairs, true, 1), data(5, false, false)),
        ("pairs, signs", pairs("4", signs, 1, FrontKind::Pairs, false, 1), data(4, false, false)),
        ("entries", pairs("5", swaps, 2, FrontKind::Pointwise, false, 1), data(5, false, false)),
        ("entries, signs", pairs("4", signs, 2, FrontKind::Pointwise, false, 3), data(4, false, true)),
        ("tokens", pairs("5", swaps, 2, tokens, false, 1), data(5, true, false)),
        ("CG layer on tokens", cg(&CgFeedForwardConfig::tokens(9), 5), data(5, true, false)),
        ("CG layer on tokens, per feature", cg(&per_feature, 5), data(5, true, true)),
        ("CG layer on entries, affine", cg(&affine, 4), data(4, false, false)),
        ("CG layer on entries, imposed", cg(&imposed, 4), data(4, false, true)),
        ("plain, tokens", plain(true), data(4, true, true)),
        ("plain, entries", plain(false), data(4, false, false)),
    ]
}

fn cg(config: &CgFeedForwardConfig, positions: usize) -> Network {
    config.init(&Bases::sequence(positions), &mut Init::new(7, &Device::flex())).unwrap().into()
}

fn gap(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().map(|value| f64::from(value.abs())).fold(1e-3, f64::max);
    a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max) / size
}

/// The gradients of all weights in the order in which the network visits them.
struct Visitor<'a> {
    gradients: &'a Gradients,
    found: Vec<Vec<f32>>,
}

impl burn::module::ModuleVisitor for Visitor<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &burn::module::Param<Tensor<D>>) {
        if let Some(gradient) = parameter.val().grad(self.gradients) {
            self.found.push(gradient.into_data().try_to_vec().unwrap());
        }
    }
}

#[test]
fn gradients_are_those_of_automatic_differentiation() {
    for (name, network, data) in cases() {
        let rows: Vec<usize> = (0..COUNT).collect();
        let mut fused = Fused::of(&network).unwrap().unwrap();
        let loss = fused.gradients(&data.picked(&rows, None), &data, &rows).unwrap();
        let mut own = Vec::new();
        let mut keep = |weights: &mut Weights| {
            own.push(weights.gradient.clone());
            Ok(())
        };
        fused.front.each_weights(&mut keep).unwrap();
        fused.chain.links.iter_mut().try_for_each(|link| link.each_weights(&mut keep)).unwrap();

        let device = Device::flex().autodiff();
        let model = network.train();
        let (input, goal) = data.batch(&rows, None, &device);
        let expected = goal.loss(model.forward(input, &mut Pass::evaluate()).unwrap());
        let value = f64::from(expected.clone().into_scalar::<f32>());
        assert!((loss - value).abs() < 1e-5 * value.abs().max(1.0), "{name}: loss {loss} for {value}");
        let gradients = expected.backward();
        let mut visitor = Visitor { gradients: &gradients, found: Vec::new() };
        model.visit(&mut visitor);
        assert_eq!(visitor.found.len(), own.len(), "{name}");
        // Automatic differentiation visits a layer's weights in its own order; sizes and values tell them apart.
        for expected in &visitor.found {
            let nearest =
                own.iter().filter(|own| own.len() == expected.len()).map(|own| gap(own, expected)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 2e-4, "{name}: a gradient of {} entries differs by {nearest:.1e}", expected.len());
        }
    }
}

#[test]
fn losses_are_those_of_the_network() {
    for (name, network, data) in cases() {
        let mut fused = Fused::of(&network).unwrap().unwrap();
        let rows: Vec<usize> = (0..COUNT).collect();
        for _ in 0..5 {
            fused.step(&data, &rows, 1e-2, None).unwrap();
        }
        let (loss, accuracy) = fused.losses(&data).unwrap();
        let found = crate::evaluate(&fused.written_to(network), &data).unwrap();
        assert!((loss - found.loss).abs() < 1e-4 * found.loss.max(1.0), "{name}: {loss} for {}", found.loss);
        assert!((accuracy - found.accuracy).abs() < 1e-9, "{name}");
    }
}

#[test]
fn a_long_fit_ends_without_denormal_numbers() {
    // Labels that are learned to the end: gradients vanish, and moments decay.
    for (name, network, data) in cases() {
        let mut fused = Fused::of(&network).unwrap().unwrap();
        let rows: Vec<usize> = (0..COUNT).collect();
        let first = fused.losses(&data).unwrap().0;
        for step in 0..1500 {
            let rate = if step < 1000 { 1e-2 } else { 0.0 };
            fused.step(&data, &rows[step % 3..], rate, None).unwrap();
        }
        // A linear output cannot learn all of it.
        let last = fused.losses(&data).unwrap().0;
        assert!(last < 0.95 * first, "{name} has learned something: {last} after {first}");
        let mut denormals = 0;
        let mut count = |weights: &mut Weights| {
            denormals += weights.denormals();
            Ok(())
        };
        fused.front.each_weights(&mut count).unwrap();
        fused.chain.links.iter_mut().try_for_each(|link| link.each_weights(&mut count)).unwrap();
        let (passes, chain) = (&fused.passes, &fused.chain);
        let buffers = chain.outputs.iter().chain(&chain.gradients).chain([
            &passes.features,
            &passes.pooled,
            &passes.d_pooled,
            &passes.d_features,
        ]);
        denormals += buffers.flatten().filter(|value| value.is_subnormal()).count();
        assert_eq!(denormals, 0, "{name}");
    }
}

#[test]
fn data_of_another_kind_are_refused() {
    let network = pairs("5", &["swaps(0)"], 1, FrontKind::Pairs, false, 3);
    let fused = Fused::of(&network).unwrap().unwrap();
    assert!(fused.check(&data(5, false, true)).is_ok());
    for (wrong, reason) in
        [(data(4, false, true), "entries"), (data(5, true, true), "arrays"), (data(5, false, false), "outputs")]
    {
        let error = fused.check(&wrong).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

use burn::module::ModuleVisitor;
use burn::tensor::Device;
use invar_algebra::{Shape, candidates};

use super::*;
use crate::baselines::{DeepSetsConfig, GruNetConfig, TransformerConfig};
use crate::{
    Bases, CgFeedForwardConfig, CnnConfig, ImageGroups, Init, InnerConfig, Input, LiftConfig, Model, Network, OrbitConfig, Pass,
    rng,
};

/// Every kind of network that automatic differentiation trains, with something to put in.
fn networks() -> Vec<(&'static str, Network, Input)> {
    let device = Device::flex();
    let mut init = Init::new(3, &device);
    let tokens = || Input::Tokens(Tensor::from_ints([[1, 2, 3, 4], [4, 4, 0, 9]], &device.clone().autodiff()));
    let groups = |shape: &str, of: &[&str]| candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap();
    let squares = ImageGroups::new(&groups("3x3x3", &["rot90(1,2)", "permute(0)"])).unwrap();
    let image = || Input::Images(Init::new(4, &device.clone().autodiff()).normal([2, 3, 8, 8], 1.0).val().detach());
    let cnn = CnnConfig { width: 0.125, ..CnnConfig::new(4) };
    let lift = LiftConfig::new(4);
    let entries = groups("4", &["negate", "swap(0;0,1)"]);
    let orbit = OrbitConfig::new(InnerConfig::Array, 3);
    let array = Input::Array(Init::new(5, &device.clone().autodiff()).normal([2, 4], 1.0).val().detach());
    vec![
        ("CG", CgFeedForwardConfig::tokens(10).init(&Bases::sequence(4), &mut init).unwrap().into(), tokens()),
        ("GRU", Network::Gru(GruNetConfig::new(10, 1).init(&mut init).unwrap()), tokens()),
        ("deep sets", Network::DeepSets(DeepSetsConfig::new(10, 1).init(&mut init).unwrap()), tokens()),
        ("transformer", Network::Transformer(TransformerConfig::new(10, 4, 1).init(&mut init).unwrap()), tokens()),
        ("images", cnn.init(Some(&cnn.lattices(&squares).unwrap()), &mut init).unwrap().into(), image()),
        ("lift", lift.init(&lift.lattices(&squares).unwrap(), &mut init).unwrap().into(), image()),
        ("orbit", orbit.init(&entries, &orbit.lattices(&entries).unwrap(), &mut init).unwrap().into(), array),
    ]
}

/// Counts numbers that processors are slow with.
struct Denormals(usize);

impl ModuleVisitor for Denormals {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let values = parameter.val().into_data().try_into_vec::<f32>().unwrap();
        self.0 += values.into_iter().filter(|value| value.is_subnormal()).count();
    }
}

/// Gradients that have become 0: what is kept of earlier ones must reach 0, too, and not stop on the way.
#[test]
fn what_has_gone_silent_ends_without_denormal_numbers() {
    for optimizer in [Optimizer::Adam { learning_rate: 1e-3 }, Optimizer::Sgd { learning_rate: 1e-2, momentum: 0.9 }] {
        for (name, network, input) in networks() {
            let (mut steps, mut model, before) = (Steps::new(optimizer), network.clone().train(), network);
            for step in 0..1100 {
                let output = model.forward(input.clone(), &mut Pass::train(rng(0, step))).unwrap();
                let factor = if step < 3 { 1.0 } else { 0.0 };
                let gradients = output.square().sum().mul_scalar(factor).backward();
                model = steps.step(1e-3, model, gradients).unwrap();
            }
            let mut denormals = Denormals(steps.denormals());
            model.valid().visit(&mut denormals);
            assert_eq!(denormals.0, 0, "{name}, {optimizer:?}");
            let silent = steps.moments.values().all(|moments| moments.first.iter().all(|value| *value == 0.0));
            assert!(silent && !steps.moments.is_empty(), "{name}: moments of gradients that are gone");
            assert!(trained(&before) != trained(&model.valid()), "{name} has moved");
        }
    }
}

/// All weights.
fn trained(model: &Network) -> Vec<f32> {
    struct All(Vec<f32>);
    impl ModuleVisitor for All {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            self.0.extend(parameter.val().into_data().try_into_vec::<f32>().unwrap());
        }
    }
    let mut all = All(Vec::new());
    model.visit(&mut all);
    all.0
}

//! Laws that every baseline must obey, on random inputs.

use burn::nn::gru::GruConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::Rng as _;
use rand::seq::SliceRandom;

use super::*;
use crate::{EMBEDDING, FixedEmbedding, Init, Input, Model, Network, Pass, rng};

fn all(device: &Device) -> Vec<(&'static str, bool, usize, Network)> {
    let mut init = Init::new(4, device);
    let induced = SetTransformerConfig { inducing: Some(4), ..SetTransformerConfig::new(100, 1) };
    vec![
        ("transformer", false, 83_649, Network::Transformer(TransformerConfig::new(100, 10, 1).init(&mut init).unwrap())),
        ("gru", false, 45_697, Network::Gru(GruNetConfig::new(100, 1).init(&mut init).unwrap())),
        ("deep sets", true, 49_665, Network::DeepSets(DeepSetsConfig::new(100, 1).init(&mut init).unwrap())),
        ("janossy", true, 49_537, Network::Janossy(JanossyConfig::new(100, 1, Pooling::Kary(2)).init(&mut init).unwrap())),
        ("sampled", false, 45_697, Network::Janossy(JanossyConfig::new(100, 1, Pooling::Sampled(5)).init(&mut init).unwrap())),
        ("set transformer", true, 84_097, Network::SetTransformer(SetTransformerConfig::new(100, 1).init(&mut init).unwrap())),
        ("induced", true, 0, Network::SetTransformer(induced.init(&mut init).unwrap())),
        ("plain", false, 90_433, Network::Plain(PlainConfig::tokens(100, 10, 1).init(&mut init).unwrap())),
    ]
}

fn sequences(seed: u64) -> Vec<Vec<i32>> {
    let mut rng = rng(seed, 0);
    (0..6).map(|_| (0..10).map(|_| rng.random_range(1..100)).collect()).collect()
}

fn tensor(rows: &[Vec<i32>], device: &Device) -> Tensor<2, Int> {
    Tensor::from_data(TensorData::new(rows.concat(), [rows.len(), rows[0].len()]), device)
}

fn run(model: &Network, rows: &[Vec<i32>], device: &Device) -> Vec<f32> {
    let y = model.forward(Input::Tokens(tensor(rows, device)), &mut Pass::evaluate()).unwrap();
    assert_eq!(y.dims(), [rows.len(), 1]);
    y.into_data().try_to_vec().unwrap()
}

#[test]
fn invariant_exactly_when_they_claim_to_be() {
    let device = Device::flex();
    let rows = sequences(1);
    let mut moved = rows.clone();
    let mut rng = rng(2, 0);
    for row in &mut moved {
        row.shuffle(&mut rng);
    }
    for (name, invariant, _, model) in all(&device) {
        let (a, b) = (run(&model, &rows, &device), run(&model, &moved, &device));
        let gap = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert_eq!(gap < 1e-5, invariant, "{name}: {gap}");
    }
}

#[test]
fn documented_sizes() {
    for (name, _, size, model) in all(&Device::flex()) {
        assert!(size == 0 || model.parameters() == size, "{name}: {} {size}", model.parameters());
    }
}

#[test]
fn rows_of_a_batch_do_not_see_each_other() {
    let device = Device::flex();
    let rows = sequences(3);
    for (name, _, _, model) in all(&device) {
        let together = run(&model, &rows, &device);
        let alone = run(&model, &rows[2..3], &device);
        assert!((together[2] - alone[0]).abs() < 1e-5, "{name}");
    }
}

/// Counts parameters that ask for a gradient, and those that have one.
struct Trained<'a> {
    gradients: &'a burn::tensor::Gradients,
    asking: usize,
    found: usize,
}

impl burn::module::ModuleVisitor for Trained<'_> {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.asking += usize::from(param.val().is_require_grad());
        self.found += usize::from(param.val().grad(self.gradients).is_some());
    }
}

#[test]
fn the_embedding_is_not_trained_and_everything_else_is() {
    let device = Device::flex().autodiff();
    for (name, _, _, model) in all(&device) {
        let y = model.forward(Input::Tokens(tensor(&sequences(1), &device)), &mut Pass::train(rng(0, 0))).unwrap();
        let gradients = y.square().sum().backward();
        let mut trained = Trained { gradients: &gradients, asking: 0, found: 0 };
        burn::module::Module::visit(&model, &mut trained);
        assert_eq!(trained.found, trained.asking, "{name}");
    }
}

#[test]
fn wrong_inputs_are_refused() {
    let device = Device::flex();
    for (name, _, _, model) in all(&device) {
        let array = Input::Array(Tensor::ones([2, 10], &device));
        assert!(model.forward(array, &mut Pass::evaluate()).unwrap_err().to_string().contains("takes tokens"), "{name}");
    }
}

#[test]
fn the_cell_agrees_with_burns_gru() {
    let device = Device::flex();
    let mut init = Init::new(9, &device);
    let cell = GruCell::new(EMBEDDING, 5, &mut init);
    let mut reference = GruConfig::new(EMBEDDING, 5, true).with_reset_after(true).init(&device);
    let part = |linear: &burn::nn::Linear, gate: usize| {
        let [rows, _] = linear.weight.dims();
        let columns = gate * 5..gate * 5 + 5;
        burn::nn::Linear {
            weight: burn::module::Param::from_tensor(linear.weight.val().slice([0..rows, columns.clone()])),
            bias: linear.bias.as_ref().map(|b| burn::module::Param::from_tensor(b.val().slice([columns]))),
        }
    };
    for (gate, target) in [&mut reference.update_gate, &mut reference.reset_gate, &mut reference.new_gate].into_iter().enumerate()
    {
        target.input_transform = part(&cell.input, gate);
        target.hidden_transform = part(&cell.recurrent, gate);
    }
    let embedding = FixedEmbedding::new(100, EMBEDDING, &mut init).unwrap();
    let tokens = tensor(&sequences(5), &device);
    let ours = cell.run(embedding.table.val(), &tokens);
    let theirs = reference.forward(embedding.forward(tokens), None).slice([0..6, 9..10, 0..5]).reshape([6, 5]);
    let gap: f32 = (ours - theirs).abs().max().into_scalar();
    assert!(gap < 1e-5, "{gap}");
}

#[test]
fn plain_takes_arrays_when_told() {
    let device = Device::flex();
    let model = PlainConfig::array(7, 3).init(&mut Init::new(0, &device)).unwrap();
    let y = model.forward(Input::Array(Tensor::ones([2, 7], &device)), &mut Pass::evaluate()).unwrap();
    assert_eq!(y.dims(), [2, 3]);
}

//! Initial weights drawn from an explicit seed. Burn's device seed is shared by all threads, so fits that run side by
//! side would disturb each other; every draw of this crate comes from a generator that its owner passes along.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{Rng as _, SeedableRng};

/// The generator behind every random choice: portable and the same on every machine.
pub type Rng = rand_chacha::ChaCha8Rng;

/// A generator for one purpose (`stream`) of one seed, so that adding a draw in one place moves no other.
pub fn rng(seed: u64, stream: u64) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Draws parameters on a device.
#[derive(Debug)]
pub struct Init {
    rng: Rng,
    device: Device,
}

impl Init {
    /// All parameters of a model follow from `seed`.
    pub fn new(seed: u64, device: &Device) -> Self {
        Self { rng: rng(seed, 0), device: device.clone() }
    }

    /// Where the parameters live.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Uniform in +-bound.
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let bound = bound as f32;
        let values = (0..shape.iter().product()).map(|_| (self.rng.random::<f32>() * 2.0 - 1.0) * bound).collect();
        self.param(values, shape)
    }

    /// Normal with mean 0 and the given deviation (Box-Muller).
    pub fn normal<const D: usize>(&mut self, shape: [usize; D], deviation: f64) -> Param<Tensor<D>> {
        let draw = |rng: &mut Rng| {
            let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
            (deviation * radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()) as f32
        };
        let values = (0..shape.iter().product()).map(|_| draw(&mut self.rng)).collect();
        self.param(values, shape)
    }

    /// A constant that is saved with the model but not trained.
    pub fn fixed<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        self.param(values, shape).set_require_grad(false)
    }

    /// Trained, the same number everywhere at first.
    pub fn filled<const D: usize>(&self, value: f32, shape: [usize; D]) -> Param<Tensor<D>> {
        self.param(vec![value; shape.iter().product()], shape)
    }

    /// A dense layer, weights and bias uniform in +-1/sqrt(inputs).
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let bound = 1.0 / (inputs as f64).sqrt();
        Linear { weight: self.uniform([inputs, outputs], bound), bias: Some(self.uniform([outputs], bound)) }
    }

    /// Replaces what Burn would draw inside one of its own modules: matrices `[inputs, outputs]` and the bias that follows
    /// each become uniform in +-1/sqrt(inputs). Norm layers (`gamma`, `beta`) keep their constants.
    pub fn redraw<M: Module>(&mut self, module: M) -> M {
        module.map(&mut Redraw { init: self, field: Vec::new(), inputs: 1 })
    }

    fn param<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        Param::from_data(TensorData::new(values, shape), &self.device)
    }
}

struct Redraw<'a> {
    init: &'a mut Init,
    field: Vec<String>,
    inputs: usize,
}

impl ModuleMapper for Redraw<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.field.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.field.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if matches!(self.field.last().map(String::as_str), Some("gamma" | "beta")) {
            return param;
        }
        let shape = param.lazy_shape().dims::<D>();
        if D > 1 {
            self.inputs = shape[0];
        }
        self.init.uniform(shape, 1.0 / (self.inputs as f64).sqrt())
    }
}

/// Number of trained parameters: fixed embeddings and bases do not count.
pub fn trained<M: Module>(module: &M) -> usize {
    struct Count(usize);
    impl ModuleVisitor for Count {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if param.val().is_require_grad() {
                self.0 += param.lazy_shape().num_elements();
            }
        }
    }
    // Whether a parameter is trained shows on the autodiff device only.
    let mut count = Count(0);
    module.clone().train().visit(&mut count);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::LayerNormConfig;
    use burn::nn::attention::MultiHeadAttentionConfig;

    #[test]
    fn draws_follow_the_seed_alone() {
        let device = Device::flex();
        let draw = |seed| Init::new(seed, &device).uniform([3, 4], 0.5).val().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(1).iter().all(|x| x.abs() <= 0.5));
    }

    #[test]
    fn normal_has_the_right_moments() {
        let x = Init::new(3, &Device::flex()).normal([20_000], 2.0).val().into_data().try_to_vec::<f32>().unwrap();
        let mean = x.iter().sum::<f32>() / 20_000.0;
        let square = x.iter().map(|v| v * v).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.06 && (square - 4.0).abs() < 0.15, "{mean} {square}");
    }

    #[test]
    fn redraw_reaches_every_weight_of_burns_modules_but_not_the_norms() {
        let device = Device::flex();
        let draw = || Init::new(5, &device).redraw(MultiHeadAttentionConfig::new(8, 2).init(&device));
        let read = |m: &burn::nn::attention::MultiHeadAttention| m.output.bias.as_ref().unwrap().val().into_data();
        assert_eq!(read(&draw()), read(&draw()));
        let norm = Init::new(5, &device).redraw(LayerNormConfig::new(4).init(&device));
        assert_eq!(norm.gamma.val().into_data().try_to_vec::<f32>().unwrap(), [1.0; 4]);
    }

    #[test]
    fn fixed_parameters_are_not_counted() {
        let mut init = Init::new(0, &Device::flex());
        assert_eq!(trained(&init.linear(3, 2)), 8);
        assert_eq!(trained(&init.fixed(vec![0.0; 6], [2, 3])), 0);
    }
}

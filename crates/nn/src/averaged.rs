//! The Reynolds operator on a network: its mean answer over every view of the input is exactly invariant, whatever the network is.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::baselines::Plain;
use crate::elements::Elements;
use crate::orbit::Views;
use crate::{Error, Input, Model, Network, Pass, Result};

/// Views per pass in evaluation.
const BATCH: usize = 4096;

/// A plain network on arrays, averaged over the elements of a group: the mean of f(g^-1 x) over all g.
///
/// It is meant for a network that was trained on examples moved by the group: averaging then removes what augmentation left over.
#[derive(Module, Debug)]
pub struct Averaged {
    pub(crate) inner: Plain,
    #[module(skip)]
    pub(crate) views: Views,
    #[module(skip)]
    pub(crate) elements: usize,
}

impl Averaged {
    /// Averages a plain network over the elements of a group that acts on its inputs.
    pub fn new(inner: Network, elements: &Elements) -> Result<Self> {
        let Network::Plain(inner) = inner else {
            return Err(Error::shape("network that is averaged", "a plain network", inner.describe()));
        };
        if inner.vocabulary().is_some() {
            return Err(Error::Input { model: "the average of a network", expected: "arrays", got: "tokens" });
        }
        Ok(Self { inner, views: Views::of(elements)?, elements: elements.list().len() })
    }
}

impl Model for Averaged {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let Input::Array(x) = input else {
            return Err(Error::Input { model: "the average of a network", expected: "arrays", got: input.kind() });
        };
        let [batch, entries] = x.dims();
        let expected = self.views.entries(self.elements);
        if entries != expected {
            return Err(Error::shape("entries of the input", expected, entries));
        }
        let answers = self.inner.forward(Input::Array(self.views.of_numbers(x, self.elements)), pass)?;
        let outputs = answers.dims()[1];
        Ok(answers.reshape([batch, self.elements, outputs]).mean_dim(1).reshape([batch, outputs]))
    }

    fn batch(&self) -> usize {
        BATCH.div_ceil(self.elements)
    }

    fn describe(&self) -> String {
        format!("Mean over {} views of ({})", self.elements, self.inner.describe())
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};
    use invar_algebra::{Group, Shape, candidates};

    use super::*;
    use crate::Init;
    use crate::baselines::PlainConfig;

    fn averaged(shape: &str, of: &[&str]) -> (Averaged, Group) {
        let all = candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap();
        let group = Group::join("all", &all).unwrap();
        let config = PlainConfig::array(group.shape().len(), 2);
        let plain = config.init(&mut Init::new(3, &Device::flex())).unwrap();
        (Averaged::new(Network::Plain(plain), &Elements::of(&group, 256).unwrap()).unwrap(), group)
    }

    fn answers(model: &impl Model, x: &[f64]) -> Vec<f32> {
        let x: Vec<f32> = x.iter().map(|&entry| entry as f32).collect();
        let input = Tensor::<2>::from_data(TensorData::new(x.clone(), [1, x.len()]), &Device::flex());
        model.forward(Input::Array(input), &mut Pass::evaluate()).unwrap().into_data().try_to_vec().unwrap()
    }

    #[test]
    fn the_average_is_invariant_and_is_the_mean_of_all_views() {
        for (shape, of) in [("4", &["swaps(0)"][..]), ("3x3", &["rot90(0,1)", "flip(1)"]), ("3", &["negate", "swap(0;0,1)"])] {
            let (model, group) = averaged(shape, of);
            let x: Vec<f64> = (0..group.shape().len()).map(|i| (i as f64 * 1.7).sin()).collect();
            let before = answers(&model, &x);
            let mut mean = vec![0.0; before.len()];
            for g in Elements::of(&group, 256).unwrap().list() {
                let mut moved = x.clone();
                g.apply(&x, &mut moved);
                assert!(answers(&model, &moved).iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-5));
                mean.iter_mut().zip(answers(&model.inner, &moved)).for_each(|(sum, one)| *sum += one / model.elements as f32);
            }
            assert!(mean.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-5), "{mean:?} {before:?}");
        }
    }

    #[test]
    fn wrong_networks_and_inputs_are_named() {
        let (model, group) = averaged("4", &["swaps(0)"]);
        let elements = Elements::of(&group, 256).unwrap();
        let tokens = PlainConfig::tokens(5, 4, 1).init(&mut Init::new(0, &Device::flex())).unwrap();
        assert!(Averaged::new(Network::Plain(tokens), &elements).unwrap_err().to_string().contains("arrays"));
        let short = Tensor::<2>::zeros([1, 3], &Device::flex());
        let error = model.forward(Input::Array(short), &mut Pass::evaluate()).unwrap_err().to_string();
        assert!(error.contains('4') && error.contains('3'), "{error}");
    }
}

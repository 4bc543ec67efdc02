//! A hidden layer that begins as an affine head and bends from there.
//!
//! A hidden layer drawn at random bends everywhere, also where no example is, and nothing in the data takes such a bend back: among the
//! functions that fit, training finds a crooked one, and in another environment it shows. One that begins straight and pays a little for
//! every bend stays straight where it may.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::Tensor;

use crate::feed_forward::CgFeedForward;
use crate::{Head, Init};

impl CgFeedForward {
    /// The network with an affine head as one with a hidden layer that computes the same: two units an output, since
    /// z = ReLU(z) - ReLU(-z). The other units are drawn and count for nothing yet.
    ///
    /// None for a network that has a hidden layer already, or no [room](Self::has_room) for it.
    #[must_use]
    pub fn grow(mut self, init: &mut Init) -> Option<Self> {
        if self.head() == Head::Hidden || !self.has_room() {
            return None;
        }
        let ([_, drawn], [neurons, outputs]) = (self.units(), self.output.weight.dims());
        let (z, shift) = (self.output.weight.val(), self.output.bias.as_ref()?.val());
        let bends = init.linear(neurons, neurons);
        let (w, b) = (bends.weight.val().narrow(1, 0, drawn), bends.bias?.val().narrow(0, 0, drawn));
        let (one, nothing) = (Tensor::<2>::eye(outputs, init.device()), Tensor::zeros([drawn, outputs], init.device()));
        let linear = |weight, bias| Linear { weight: Param::from_tensor(weight), bias: Some(Param::from_tensor(bias)) };
        let hidden = linear(Tensor::cat(vec![z.clone(), -z, w], 1), Tensor::cat(vec![shift.clone(), -shift, b], 0));
        let output = linear(Tensor::cat(vec![one.clone(), -one, nothing], 0), Tensor::zeros([outputs], init.device()));
        (self.hidden, self.output, self.grown) = (Some(hidden), output, true);
        Some(self)
    }

    /// Whether the hidden layer has [grown](Self::grow) from an affine head.
    pub fn is_grown(&self) -> bool {
        self.grown
    }

    /// Whether a hidden layer has two units an output, and others to bend with.
    pub fn has_room(&self) -> bool {
        self.units()[1] > 0
    }

    /// How many units of a grown network are straight together, and how many bend.
    fn units(&self) -> [usize; 2] {
        let [neurons, outputs] = self.output.weight.dims();
        [2 * outputs, neurons.saturating_sub(2 * outputs)]
    }

    /// The sum of squares of all weights w into and v out of the units of a grown network that may bend. For given answers of the CG
    /// layer it is least where ||v|| = ||w|| in every unit, so that each pays for its bend, 2 ||v|| ||w||; a straight function pays
    /// nothing.
    pub(crate) fn bends(&self) -> Option<Tensor<1>> {
        let hidden = self.hidden.as_ref().filter(|_| self.grown)?;
        let [straight, drawn] = self.units();
        let inward = hidden.weight.val().narrow(1, straight, drawn).square().sum();
        let outward = self.output.weight.val().narrow(0, straight, drawn).square().sum();
        Some(inward + outward)
    }

    /// Makes the two units of every output opposites again, which steps of training on either side of z = 0 would tell apart: a bend
    /// that nothing pays for.
    pub(crate) fn straighten(mut self) -> Self {
        if !self.grown {
            return self;
        }
        let half = self.units()[0] / 2;
        self.hidden = self.hidden.map(|Linear { weight, bias }| Linear {
            weight: weight.map(|weight| opposite(weight, 1, half)),
            bias: bias.map(|bias| bias.map(|bias| opposite(bias, 0, half))),
        });
        self.output.weight = self.output.weight.map(|weight| opposite(weight, 0, half));
        self
    }
}

/// Along an axis the first `half` entries and the next as opposites, each the mean of what they were.
fn opposite<const D: usize>(tensor: Tensor<D>, axis: usize, half: usize) -> Tensor<D> {
    // Nothing of this is to be differentiated.
    let (trained, tensor) = (tensor.is_require_grad(), tensor.set_require_grad(false));
    let rest = tensor.dims()[axis] - 2 * half;
    let one = (tensor.clone().narrow(axis, 0, half) - tensor.clone().narrow(axis, half, half)).div_scalar(2.0);
    let whole = Tensor::cat(vec![one.clone(), -one, tensor.narrow(axis, 2 * half, rest)], axis);
    whole.set_require_grad(trained)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use burn::tensor::{Device, Tensor};

    use crate::{
        Bases, CgFeedForward, CgFeedForwardConfig, Dataset, Extras, Head, Init, Input, Inputs, Model, Optimizer, Pass, Targets,
        TrainConfig, train,
    };

    fn network(head: Head, outputs: usize) -> CgFeedForward {
        let config = CgFeedForwardConfig { outputs, head, ..CgFeedForwardConfig::tokens(10) };
        config.init(&Bases::sequence(4), &mut Init::new(1, &Device::flex())).unwrap()
    }

    fn grown(network: CgFeedForward) -> Option<CgFeedForward> {
        network.grow(&mut Init::new(2, &Device::flex()))
    }

    fn answers(network: &CgFeedForward) -> Vec<f32> {
        let tokens = Tensor::from_ints([[1, 2, 3, 4], [4, 4, 0, 9]], &Device::flex());
        let answers = network.forward(Input::Tokens(tokens), &mut Pass::evaluate()).unwrap();
        answers.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn a_grown_network_answers_as_before_and_has_the_published_size() {
        let affine = network(Head::Affine, 3);
        let richer = grown(affine.clone()).unwrap();
        assert_eq!(richer.head(), Head::Hidden);
        let (before, after) = (answers(&affine), answers(&richer));
        let size = before.iter().fold(0f32, |size, answer| size.max(answer.abs()));
        let gap = before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(gap < 1e-5 * size, "{gap} of {size}");
        assert_eq!(richer.parameters(), network(Head::Hidden, 3).parameters());
        assert!(grown(richer).is_none(), "it has a hidden layer already");
    }

    #[test]
    fn there_must_be_units_to_bend_with() {
        assert!(network(Head::Affine, 63).has_room());
        for outputs in [64, 65] {
            let full = network(Head::Affine, outputs);
            assert!(!full.has_room() && grown(full).is_none());
        }
    }

    #[test]
    fn bending_counts_what_was_drawn_and_nothing_else() {
        let affine = network(Head::Affine, 1);
        assert!(affine.bending().is_none() && network(Head::Hidden, 1).bending().is_none());
        let richer = grown(affine).unwrap();
        // Uniform in +-1/sqrt(128): each of 126 columns of 128 has a sum of squares of about 1/3; nothing goes out of them yet.
        let bending: f32 = richer.bending().unwrap().into_scalar();
        assert!((bending - 42.0).abs() < 1.0, "{bending}");
    }

    fn fit(network: CgFeedForward, data: &Dataset, max_epochs: usize, bending: f64) -> CgFeedForward {
        let config = TrainConfig { optimizer: Optimizer::Adam { learning_rate: 1e-2 }, max_epochs, ..TrainConfig::default() };
        let extras = Extras { bending, ..Extras::default() };
        train(network, data, data, &config, extras, |_| ControlFlow::Continue(())).unwrap().model
    }

    fn sequences() -> Vec<i32> {
        (0..400).map(|i| (i * 7 + i / 3) % 10).collect()
    }

    #[test]
    fn what_bends_for_nothing_is_pressed_down() {
        let targets = sequences().chunks(4).map(|x| x.iter().sum::<i32>() as f32).collect();
        let data = Dataset::sequences(4, sequences(), targets).unwrap();
        let after = |bending: f64| -> f32 {
            fit(grown(network(Head::Affine, 1)).unwrap(), &data, 60, bending).bending().unwrap().into_scalar()
        };
        let (free, pressed) = (after(0.0), after(1.0));
        assert!(pressed < 0.5 * free, "{pressed} against {free}");
    }

    #[test]
    fn the_straight_units_stay_opposites_in_training() {
        let labels = sequences().chunks(4).map(|x| (x[0] % 3) as usize).collect();
        let inputs = Inputs::Tokens { length: 4, values: sequences() };
        let data = Dataset::new(inputs, Targets::Classes { count: 3, labels }).unwrap();
        // By how much weights in, shifts and weights out of the units z and -z of three outputs are not opposites.
        let apart = |network: &CgFeedForward| -> [f32; 3] {
            let hidden = network.hidden.as_ref().unwrap();
            let (weight, output) = (hidden.weight.val(), network.output.weight.val());
            let shift = hidden.bias.as_ref().unwrap().val().reshape([1, 128]);
            let gap = |a: Tensor<2>, b: Tensor<2>| (a + b).abs().max().into_scalar();
            [
                gap(weight.clone().narrow(1, 0, 3), weight.narrow(1, 3, 3)),
                gap(shift.clone().narrow(1, 0, 3), shift.narrow(1, 3, 3)),
                gap(output.clone().narrow(0, 0, 3), output.narrow(0, 3, 3)),
            ]
        };
        let begun = grown(network(Head::Affine, 3)).unwrap();
        let after = fit(begun.clone(), &data, 5, 0.0);
        assert!(apart(&after).iter().all(|gap| gap.abs() < f32::MIN_POSITIVE), "{:?}", apart(&after));
        let moved: f32 = (after.output.weight.val() - begun.output.weight.val()).narrow(0, 0, 6).abs().max().into_scalar();
        assert!(moved > 1e-3, "{moved}");
        let other = apart(&fit(network(Head::Hidden, 3), &data, 5, 0.0));
        assert!(other.iter().all(|&gap| gap > 1e-3), "other networks are left alone: {other:?}");
    }
}

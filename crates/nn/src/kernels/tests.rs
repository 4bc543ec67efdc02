//! Every kernel against the backend's own operations, outputs and gradients, over random shapes. `INVAR_SIMD` chooses the
//! instruction set; the checks of the project run this with each.

use burn::tensor::{Device, Tensor};
use proptest::prelude::*;
use rand::Rng as _;
use rand::seq::SliceRandom as _;

use super::*;
use crate::{Init, rng};

const EPSILON: f64 = 1e-5;

fn draw<const D: usize>(seed: u64, shape: [usize; D]) -> Tensor<D> {
    Init::new(seed, &Device::flex()).normal(shape, 1.0).val().detach()
}

/// The same entries on another device.
fn on<const D: usize>(x: &Tensor<D>, device: &Device) -> Tensor<D> {
    Tensor::from_data(x.to_data(), device)
}

fn scaling(gamma: &Tensor<1>, beta: &Tensor<1>, fibre: usize) -> Scaling {
    Scaling { gamma: gamma.clone(), beta: beta.clone(), fibre, epsilon: EPSILON }
}

/// Images, scales and shifts for a norm with a ReLU behind it, such that rounding decides nothing. On either side of a kink gradients
/// differ by a whole, so no entry may stand too near to one: the entries of a feature are the rungs of a ladder in random order, and
/// its ReLU switches halfway between two of them.
fn clear_of_kinks(seed: u64, [batch, height, width, features]: [usize; 4], fibre: usize) -> (Tensor<4>, [Tensor<1>; 2]) {
    let (mut rng, device) = (rng(seed, 0), Device::flex());
    let (places, count) = (batch * height * width, batch * height * width * fibre);
    let rung = |k: usize| (k as f64 + 0.5) * 6.0 / count as f64 - 3.0;
    let variance = (0..count).map(|k| rung(k).powi(2)).sum::<f64>() / count as f64;
    let gamma = draw::<1>(seed + 1, [features]);
    let (mut values, mut beta) = (vec![0.0; count * features], Vec::new());
    for (feature, &gamma) in gamma.to_data().try_to_vec::<f32>().unwrap().iter().enumerate() {
        let mut rungs: Vec<usize> = (0..count).collect();
        rungs.shuffle(&mut rng);
        for (k, rung_of_entry) in rungs.into_iter().enumerate() {
            values[(k % places * features + feature) * fibre + k / places] = (rung(rung_of_entry) + 0.7) as f32;
        }
        let below = rng.random_range(0..count - 1);
        beta.push((-f64::from(gamma) * (rung(below) + rung(below + 1)) / 2.0 / (variance + EPSILON).sqrt()) as f32);
    }
    let x = Tensor::<1>::from_floats(values.as_slice(), &device).reshape([batch, height, width, features * fibre]);
    (x, [gamma, Tensor::from_floats(beta.as_slice(), &device)])
}

/// Largest difference, relative to the largest entry, or to the size of the terms where those may cancel.
fn gap<const D: usize>(a: Tensor<D>, b: Tensor<D>, terms: f32) -> f32 {
    assert_eq!(a.dims(), b.dims());
    let size: f32 = b.clone().abs().max().into_scalar();
    let gap: f32 = (a - b).abs().max().into_scalar();
    gap / size.max(terms)
}

/// Nothing of note cancels.
const WHOLE: f32 = 1e-3;

/// Sums are long: a thousand terms lose three digits of seven.
const CLOSE: f32 = 2e-4;

/// A function of images and vectors.
type Function<'a, const D: usize> = &'a dyn Fn(&[Tensor<4>], &[Tensor<1>]) -> Tensor<D>;

/// Outputs and all gradients of a function agree with those of another, as far as terms of this size can.
fn agree<const D: usize>(terms: f32, inputs: &[Tensor<4>], vectors: &[Tensor<1>], one: Function<'_, D>, other: Function<'_, D>) {
    let device = Device::flex().autodiff();
    let mut seen: Vec<(Tensor<D>, Vec<Tensor<4>>, Vec<Tensor<1>>)> = Vec::new();
    for function in [one, other] {
        let tracked: Vec<_> = inputs.iter().map(|x| on(x, &device).require_grad()).collect();
        let vectors: Vec<_> = vectors.iter().map(|x| on(x, &device).require_grad()).collect();
        let y = function(&tracked, &vectors);
        let weights = on(&draw(99, y.dims()), &device);
        let grads = (y.clone() * weights).sum().backward();
        let images = tracked.iter().map(|x| x.grad(&grads).expect("a gradient")).collect();
        let rows = vectors.iter().map(|x| x.grad(&grads).expect("a gradient")).collect();
        seen.push((y.inner(), images, rows));
    }
    let (y2, images2, rows2) = seen.pop().expect("two");
    let (y1, images1, rows1) = seen.pop().expect("two");
    assert!(gap(y1, y2, terms) < CLOSE, "outputs");
    for (k, (a, b)) in images1.into_iter().zip(images2).enumerate() {
        assert!(gap(a, b, terms) < CLOSE, "gradient of image {k}");
    }
    for (k, (a, b)) in rows1.into_iter().zip(rows2).enumerate() {
        assert!(gap(a, b, terms) < CLOSE, "gradient of vector {k}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn convolution(batch in 1usize..4, height in 1usize..9, width in 1usize..9, inputs in 1usize..131, outputs in 1usize..131,
                   reach in 0usize..3, seed in 0u64..1000) {
        let (x, w) = (draw(seed, [batch, height, width, inputs]), draw(seed + 1, [outputs, inputs, 2 * reach + 1, 2 * reach + 1]));
        agree(WHOLE, &[x, w], &[], &|t, _| conv2d(t[0].clone(), t[1].clone()), &|t, _| reference::conv2d(t[0].clone(), t[1].clone()));
    }

    #[test]
    fn norm(batch in 1usize..4, height in 1usize..9, width in 1usize..9, features in 1usize..40, fibre in 1usize..9,
            pool in 0usize..4, seed in 0u64..1000) {
        prop_assume!(batch * height * width * fibre > 1);
        let (x, vectors) = clear_of_kinks(seed, [batch, height, width, features], fibre);
        let size = pool.clamp(1, height.min(width));
        let window = (pool > 0).then_some(Window { size: [size; 2], stride: [size.min(2); 2] });
        // Gradients of a norm are differences of sums, of weights of about 1.
        agree(
            1.0, &[x], &vectors,
            &|t, v| norm_relu_pool_train(t[0].clone(), scaling(&v[0], &v[1], fibre), window).output,
            &|t, v| reference::norm_relu_pool_train(t[0].clone(), scaling(&v[0], &v[1], fibre), window).output,
        );
    }

    #[test]
    fn statistics_and_evaluation(batch in 1usize..4, side in 2usize..9, features in 1usize..40, fibre in 1usize..9, seed in 0u64..1000) {
        let x = draw(seed, [batch, side, side, features * fibre]).add_scalar(3.0);
        for (a, b) in moments(x.clone(), fibre).into_iter().zip(reference::moments(x.clone(), fibre)) {
            prop_assert!(gap(a, b, WHOLE) < CLOSE);
        }
        let [gamma, beta, mean] = [1, 2, 3].map(|k| draw(seed + k, [features]));
        let variance = draw(seed + 4, [features]).square().add_scalar(0.1);
        let window = Some(Window { size: [2, 2], stride: [2, 2] });
        let [kernel, own] = [norm_relu_pool, reference::norm_relu_pool]
            .map(|f| f(x.clone(), scaling(&gamma, &beta, fibre), [mean.clone(), variance.clone()], window));
        prop_assert!(gap(kernel, own, WHOLE) < CLOSE);
    }

    #[test]
    fn pooling(batch in 1usize..4, height in 1usize..9, width in 1usize..9, groups in 1usize..20, fibre in 1usize..9, seed in 0u64..1000) {
        let x = [draw(seed, [batch, height, width, groups * fibre])];
        agree(WHOLE, &x, &[], &|t, _| sum_pool(t[0].clone()), &|t, _| reference::sum_pool(t[0].clone()));
        let area = (height * width) as f32;
        agree(WHOLE, &x, &[], &|t, _| mean_pool(t[0].clone()), &|t, _| reference::sum_pool(t[0].clone()).div_scalar(area));
        agree(WHOLE, &x, &[], &|t, _| fibre_max(t[0].clone(), fibre), &|t, _| reference::fibre_max(t[0].clone(), fibre));
    }
}

#[test]
fn a_second_step_reuses_buffers_and_gives_the_same() {
    let device = Device::flex().autodiff();
    let x = on(&draw(1, [8, 14, 14, 16]), &device);
    let w = on(&draw(2, [32, 16, 3, 3]), &device).require_grad();
    let (gamma, beta) = (Tensor::<1>::ones([32], &device), Tensor::<1>::zeros([32], &device));
    let step = || {
        let y = conv2d(x.clone(), w.clone());
        let normed = norm_relu_pool_train(y, scaling(&gamma, &beta, 1), None);
        let y = conv2d(normed.output, on(&draw(3, [8, 32, 3, 3]), &device));
        let grads = sum_pool(y).square().sum().backward();
        w.grad(&grads).expect("a gradient").into_data().try_to_vec::<f32>().unwrap()
    };
    let first = step();
    for _ in 0..3 {
        assert_eq!(first, step());
    }
}

/// Filters and the gradients of what they are made of.
fn made<const D: usize>(trained: &Tensor<2>, filters: impl Fn(Tensor<2>) -> Tensor<D>) -> (Tensor<D>, Tensor<2>) {
    let trained = on(trained, &Device::flex().autodiff()).require_grad();
    let filters = filters(trained.clone());
    // A gradient that differs from weight to weight.
    let gradients = filters.clone().square().sum().backward();
    (filters.inner(), trained.grad(&gradients).unwrap())
}

#[test]
fn filters_from_bases_and_in_all_directions_are_those_of_the_reference() {
    for (points, rank, features, outputs) in [(9, 9, 4, 32), (9, 3, 5, 7), (27, 6, 1, 18)] {
        let (basis, coefficients) = (draw::<2>(1, [points, rank]), draw::<2>(2, [rank, features * outputs]));
        let (found, gradient) = made(&coefficients, |c| combine(on(&basis, &c.device()), c, features));
        let (expected, d_expected) = made(&coefficients, |c| reference::combine(on(&basis, &c.device()), c, features));
        assert!(gap(found, expected, WHOLE) < CLOSE && gap(gradient, d_expected, WHOLE) < CLOSE);
    }
    let from: Vec<usize> = vec![0, 1, 2, 3, 4, 5, 5, 3, 1, 0, 2, 4];
    for (inputs, outputs) in [(3, 16), (1, 5), (2, 33)] {
        let (trained, turns) = (draw::<2>(3, [6, inputs * outputs]), Turns { from: from.clone().into(), points: 3, inputs });
        let (found, gradient) = made(&trained, |t| turn(t, turns.clone()));
        let (expected, d_expected) = made(&trained, |t| reference::turn(t, &turns));
        assert!(gap(found, expected, WHOLE) < CLOSE && gap(gradient, d_expected, WHOLE) < CLOSE);
    }
}

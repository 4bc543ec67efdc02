//! Batch norm against its definition, and its gradient against differences.

mod support;

use invar_kernels::{Activation, Affine, AffineGradients, Level, Moments, NormShape, Workspace, norm};
use proptest::prelude::*;
use support::{assert_close, moments, normalise, random, workspaces};

const EPSILON: f32 = 1e-5;

fn shapes() -> impl Strategy<Value = NormShape> {
    let activation = prop_oneof![Just(Activation::Identity), Just(Activation::Relu), Just(Activation::ReluPool)];
    let features = prop_oneof![3 => 1usize..20, 1 => 20usize..131];
    (1usize..7, 1usize..8, 1usize..8, features, prop_oneof![Just(1usize), Just(8)], activation)
        .prop_filter("one number has no variance", |(n, h, w, _, fibre, _)| n * h * w * fibre > 3)
        .prop_map(|(batch, height, width, features, fibre, activation)| NormShape {
            batch,
            height,
            width,
            features,
            fibre,
            activation,
        })
}

/// An input whose features lie far apart, and parameters of both signs.
struct Case {
    x: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    dy: Vec<f32>,
}

impl Case {
    fn new(shape: &NormShape, seed: u64) -> Self {
        let mut x = random(shape.input_len(), seed);
        let channels = shape.channels();
        x.iter_mut().enumerate().for_each(|(at, x)| *x += (at % channels / shape.fibre % 5) as f32 - 2.0);
        Self {
            x,
            gamma: random(shape.features, seed + 1).into_iter().map(|g| g + 0.2 * g.signum()).collect(),
            beta: random(shape.features, seed + 2).into_iter().map(|b| b * 0.5).collect(),
            dy: random(shape.output_len(), seed + 3),
        }
    }

    fn affine(&self) -> Affine<'_> {
        Affine { gamma: &self.gamma, beta: &self.beta, epsilon: EPSILON }
    }

    /// The sum of dy y as a function of x, gamma and beta, in double precision.
    fn loss(&self, shape: &NormShape, x: &[f64], gamma: &[f64], beta: &[f64]) -> f64 {
        let y = normalise(shape, &moments(shape, x), (gamma, beta, f64::from(EPSILON)), x);
        y.iter().zip(&self.dy).map(|(y, dy)| y * f64::from(*dy)).sum()
    }
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    #[cfg_attr(miri, ignore)]
    fn forward_agrees_with_the_definition(shape in shapes(), seed in 0u64..1000) {
        let case = Case::new(&shape, seed);
        let x = double(&case.x);
        let expected_moments = moments(&shape, &x);
        let parameters = (&double(&case.gamma)[..], &double(&case.beta)[..], f64::from(EPSILON));
        let expected = normalise(&shape, &expected_moments, parameters, &x);
        for mut workspace in workspaces() {
            let (mut y, mut found) = (vec![f32::NAN; shape.output_len()], Moments::default());
            norm::forward_training(&shape, &case.affine(), &case.x, &mut y, &mut found, &mut workspace).unwrap();
            assert_close("mean", &found.mean, &expected_moments.0, 1e-5);
            assert_close("variance", &found.variance, &expected_moments.1, 1e-5);
            assert_close("y", &y, &expected, 2e-4);

            // With the moments of the batch as given ones, evaluation is the same computation.
            let mut again = vec![f32::NAN; shape.output_len()];
            norm::forward_evaluation(&shape, &case.affine(), &found, &case.x, &mut again, &mut workspace).unwrap();
            prop_assert_eq!(&again, &y);
        }
    }
}

/// Central differences of the double-precision reference, entry by entry.
fn check_gradient(shape: &NormShape, seed: u64) {
    let case = Case::new(shape, seed);
    let (x, gamma, beta) = (double(&case.x), double(&case.gamma), double(&case.beta));
    let difference = |values: &[f64], at: usize, loss: &dyn Fn(&[f64]) -> f64| {
        let step = 1e-6;
        let mut moved = values.to_vec();
        moved[at] += step;
        let above = loss(&moved);
        moved[at] -= 2.0 * step;
        (above - loss(&moved)) / (2.0 * step)
    };
    let expected_dx: Vec<f64> = (0..x.len()).map(|at| difference(&x, at, &|x| case.loss(shape, x, &gamma, &beta))).collect();
    let expected_gamma: Vec<f64> =
        (0..gamma.len()).map(|at| difference(&gamma, at, &|gamma| case.loss(shape, &x, gamma, &beta))).collect();
    let expected_beta: Vec<f64> =
        (0..beta.len()).map(|at| difference(&beta, at, &|beta| case.loss(shape, &x, &gamma, beta))).collect();
    for mut workspace in workspaces() {
        let (mut y, mut found) = (vec![0.0; shape.output_len()], Moments::default());
        norm::forward_training(shape, &case.affine(), &case.x, &mut y, &mut found, &mut workspace).unwrap();
        let mut dx = vec![f32::NAN; x.len()];
        let (mut dgamma, mut dbeta) = (vec![f32::NAN; shape.features], vec![f32::NAN; shape.features]);
        let mut gradients = AffineGradients { gamma: &mut dgamma, beta: &mut dbeta };
        norm::backward(shape, &case.affine(), &found, &case.x, &case.dy, &mut dx, &mut gradients, &mut workspace).unwrap();
        let what = |name: &str| format!("{shape}, {:?}, {}: {name}", shape.activation, workspace.level());
        assert_close(&what("dx"), &dx, &expected_dx, 1e-3);
        assert_close(&what("gamma"), &dgamma, &expected_gamma, 1e-3);
        assert_close(&what("beta"), &dbeta, &expected_beta, 1e-3);
    }
}

#[test]
fn the_gradient_agrees_with_differences() {
    let sizes: &[_] =
        if cfg!(miri) { &[(2, 3, 2, 3, 1)] } else { &[(2, 3, 2, 3, 1), (3, 5, 4, 9, 1), (2, 4, 5, 2, 8), (1, 6, 6, 17, 1)] };
    for activation in [Activation::Identity, Activation::Relu, Activation::ReluPool] {
        for &(batch, height, width, features, fibre) in sizes {
            check_gradient(&NormShape { batch, height, width, features, fibre, activation }, 5);
        }
    }
}

/// Far from zero the naive sum of squares would lose the variance altogether.
#[test]
fn a_large_offset_does_not_cancel() {
    let shape = NormShape { batch: 4, height: 8, width: 8, features: 3, fibre: 1, activation: Activation::Identity };
    let x: Vec<f32> = random(shape.input_len(), 3).into_iter().map(|x| 1000.0 + x / 8.0).collect();
    let (_, expected) = moments(&shape, &double(&x));
    let affine = Affine { gamma: &[1.0; 3], beta: &[0.0; 3], epsilon: EPSILON };
    for mut workspace in workspaces() {
        let (mut y, mut found) = (vec![0.0; x.len()], Moments::default());
        norm::forward_training(&shape, &affine, &x, &mut y, &mut found, &mut workspace).unwrap();
        for (found, expected) in found.variance.iter().zip(&expected) {
            assert!((f64::from(*found) / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
        }
    }
}

/// Of equal entries the first gets the whole gradient.
#[test]
fn ties_go_to_the_first() {
    let shape = NormShape { batch: 2, height: 2, width: 2, features: 1, fibre: 1, activation: Activation::ReluPool };
    let x = [1.0, 3.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let affine = Affine { gamma: &[1.0], beta: &[0.0], epsilon: EPSILON };
    for mut workspace in workspaces() {
        let (mut y, mut found) = ([0.0; 2], Moments::default());
        norm::forward_training(&shape, &affine, &x, &mut y, &mut found, &mut workspace).unwrap();
        let (mut dx, mut dgamma, mut dbeta) = ([0.0; 8], [0.0], [0.0]);
        let mut gradients = AffineGradients { gamma: &mut dgamma, beta: &mut dbeta };
        norm::backward(&shape, &affine, &found, &x, &[1.0, 1.0], &mut dx, &mut gradients, &mut workspace).unwrap();
        assert!(dx[1] > dx[2] + 0.5, "{dx:?}");
        assert!((dx[0] - dx[3]).abs() < 1e-6, "{dx:?}");
        // The second image lies below the mean, so it is rectified away.
        assert!((dbeta[0] - 1.0).abs() < 1e-6, "{dbeta:?}");
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    let shape = NormShape { batch: 1, height: 2, width: 2, features: 9, fibre: 1, activation: Activation::Relu };
    let affine = Affine { gamma: &[1.0; 9], beta: &[0.0; 9], epsilon: EPSILON };
    let mut x = random(shape.input_len(), 1);
    x[3] = f32::NAN;
    x[8] = f32::NAN;
    for mut workspace in workspaces() {
        let mut y = vec![0.0; x.len()];
        norm::forward_evaluation(&shape, &affine, &Moments::standard(9), &x, &mut y, &mut workspace).unwrap();
        assert!(y[3].is_nan() && y[8].is_nan(), "{}", workspace.level());
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn the_number_of_threads_changes_no_bit() {
    let shape = NormShape { batch: 33, height: 7, width: 9, features: 21, fibre: 1, activation: Activation::ReluPool };
    let case = Case::new(&shape, 9);
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut workspace = Workspace::with_level(Level::best()).unwrap();
            let (mut y, mut found) = (vec![0.0; shape.output_len()], Moments::default());
            norm::forward_training(&shape, &case.affine(), &case.x, &mut y, &mut found, &mut workspace).unwrap();
            let (mut dx, mut gamma, mut beta) = (vec![0.0; case.x.len()], vec![0.0; 21], vec![0.0; 21]);
            let mut gradients = AffineGradients { gamma: &mut gamma, beta: &mut beta };
            norm::backward(&shape, &case.affine(), &found, &case.x, &case.dy, &mut dx, &mut gradients, &mut workspace).unwrap();
            [y, found.mean, found.variance, dx, gamma, beta]
                .map(|values| values.into_iter().map(f32::to_bits).collect::<Vec<_>>())
        })
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(5));
}

#[test]
fn running_moments_follow_the_batches() {
    let mut running = Moments::standard(1);
    let batch = Moments { mean: vec![2.0], variance: vec![3.0] };
    running.update(&batch, 4, 0.1).unwrap();
    assert!((running.mean[0] - 0.2).abs() < 1e-6);
    // 0.9 * 1 + 0.1 * 3 * 4/3
    assert!((running.variance[0] - 1.3).abs() < 1e-6);
    assert!(running.update(&Moments::standard(2), 4, 0.1).is_err());
}

#[test]
fn wrong_sizes_are_named() {
    let mut workspace = Workspace::new().unwrap();
    let shape = NormShape { batch: 1, height: 1, width: 2, features: 2, fibre: 1, activation: Activation::Relu };
    let affine = Affine { gamma: &[1.0], beta: &[0.0; 2], epsilon: EPSILON };
    let error = norm::forward_training(&shape, &affine, &[0.0; 4], &mut [0.0; 4], &mut Moments::default(), &mut workspace);
    assert_eq!(error.unwrap_err().to_string(), "batch norm: gamma has 1 entries, but the shape needs 2");
    let empty = NormShape { batch: 0, ..shape };
    let error = norm::forward_training(&empty, &affine, &[], &mut [], &mut Moments::default(), &mut workspace);
    assert!(error.unwrap_err().to_string().ends_with("there is nothing to average over"));
}

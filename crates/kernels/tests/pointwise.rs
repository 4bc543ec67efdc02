//! Pooling, layouts, optimisers and the choice of a level.

mod support;

use invar_kernels::{Adam, ENVIRONMENT, Error, ImageShape, Level, PoolShape, Pooling, Sgd, Workspace, layout, pool};
use proptest::prelude::*;
use support::{assert_close, random, workspaces};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]

    #[test]
    fn pooling_sums_or_averages(batch in 1usize..4, pixels in 1usize..10, channels in 1usize..40, mean: bool, seed in 0u64..100) {
        let pooling = if mean { Pooling::Mean } else { Pooling::Sum };
        let shape = PoolShape { batch, pixels, channels, pooling };
        let factor = if mean { 1.0 / pixels as f64 } else { 1.0 };
        let (x, dy) = (random(shape.input_len(), seed), random(shape.output_len(), seed + 1));
        let image = |at: usize| at / (pixels * channels) * channels + at % channels;
        let mut expected_y = vec![0.0; shape.output_len()];
        x.iter().enumerate().for_each(|(at, x)| expected_y[image(at)] += f64::from(*x) * factor);
        let expected_dx: Vec<f64> = (0..x.len()).map(|at| f64::from(dy[image(at)]) * factor).collect();
        for mut workspace in workspaces() {
            let (mut y, mut dx) = (vec![f32::NAN; dy.len()], vec![f32::NAN; x.len()]);
            pool::forward(&shape, &x, &mut y, &mut workspace).unwrap();
            pool::backward(&shape, &dy, &mut dx, &mut workspace).unwrap();
            assert_close("y", &y, &expected_y, 1e-5);
            assert_close("dx", &dx, &expected_dx, 1e-5);
        }
    }

    #[test]
    fn layouts_are_transposes(batch in 1usize..4, pixels in 1usize..50, channels in 1usize..70) {
        let shape = ImageShape { batch, pixels, channels };
        let first: Vec<f32> = (0..shape.entries()).map(|at| at as f32).collect();
        let (mut last, mut back) = (vec![f32::NAN; first.len()], vec![f32::NAN; first.len()]);
        layout::to_channels_last(&shape, &first, &mut last).unwrap();
        layout::to_channels_first(&shape, &last, &mut back).unwrap();
        prop_assert_eq!(&back, &first);
        let (n, pixel, channel) = (batch - 1, pixels / 2, channels - 1);
        let (to, from) = ((n * pixels + pixel) * channels + channel, (n * channels + channel) * pixels + pixel);
        prop_assert_eq!(last[to].to_bits(), first[from].to_bits());
    }

    #[test]
    fn optimisers_follow_their_formulas(len in 1usize..70, nesterov: bool, seed in 0u64..100) {
        let sgd = Sgd { rate: 0.1, momentum: 0.9, decay: 0.01, nesterov };
        let adam = Adam { rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
        for mut workspace in workspaces() {
            let start = random(len, seed);
            let (mut w, mut v) = (start.clone(), vec![0.0; len]);
            let mut expected: Vec<(f64, f64)> = start.iter().map(|w| (f64::from(*w), 0.0)).collect();
            let (mut a, mut mean, mut square) = (start.clone(), vec![0.0; len], vec![0.0; len]);
            let mut expected_adam: Vec<(f64, f64, f64)> = start.iter().map(|w| (f64::from(*w), 0.0, 0.0)).collect();
            for t in 1..4u32 {
                let g = random(len, seed + u64::from(t));
                sgd.step(&mut w, &g, &mut v, &mut workspace).unwrap();
                adam.step(t, &mut a, &g, &mut mean, &mut square, &mut workspace).unwrap();
                for ((w, v), g) in expected.iter_mut().zip(&g) {
                    let g = f64::from(*g) + 0.01 * *w;
                    *v = 0.9 * *v + g;
                    *w -= 0.1 * if nesterov { g + 0.9 * *v } else { *v };
                }
                for ((w, m, s), g) in expected_adam.iter_mut().zip(&g) {
                    let g = f64::from(*g);
                    (*m, *s) = (0.9 * *m + 0.1 * g, 0.999 * *s + 0.001 * g * g);
                    let (m, s) = (*m / (1.0 - 0.9f64.powi(t as i32)), *s / (1.0 - 0.999f64.powi(t as i32)));
                    *w -= 0.01 * m / (s.sqrt() + 1e-8);
                }
            }
            assert_close("SGD", &w, &expected.iter().map(|entry| entry.0).collect::<Vec<_>>(), 1e-5);
            assert_close("Adam", &a, &expected_adam.iter().map(|entry| entry.0).collect::<Vec<_>>(), 1e-4);
        }
    }
}

#[test]
fn levels_have_names() {
    for level in Level::ALL {
        assert_eq!(level.to_string().parse(), Ok(level));
    }
    let error = "sse".parse::<Level>().unwrap_err();
    assert_eq!(error.to_string(), "unknown instruction set \"sse\" (known: portable, neon, avx2, avx512)");
}

/// What [`the_environment_forces_a_level`] runs in processes of its own, because the variable is read once.
#[test]
fn child() {
    if let Ok(expected) = std::env::var("EXPECTED_LEVEL") {
        let found = Level::current().map_or_else(|error| error.to_string(), |level| level.to_string());
        assert_eq!(found, expected);
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn the_environment_forces_a_level() {
    let unknown = "environment variable INVAR_SIMD: unknown instruction set \"mmx\" (known: portable, neon, avx2, avx512)";
    let best = Level::best().to_string();
    for (value, expected) in [(Some("portable"), "portable"), (Some(&*best), &*best), (None, &*best), (Some("mmx"), unknown)] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child"]).env("EXPECTED_LEVEL", expected).env_remove(ENVIRONMENT);
        if let Some(value) = value {
            command.env(ENVIRONMENT, value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{value:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// The moments of a weight whose gradient has become 0 decay: through numbers that processors are slow with, if nothing is done.
#[test]
fn silent_weights_end_without_denormal_numbers() {
    let sgd = Sgd { rate: 0.1, momentum: 0.9, decay: 0.0, nesterov: false };
    let adam = Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
    for mut workspace in workspaces() {
        let [mut weights, gradient, zeros] = [random(100, 1), random(100, 2), vec![0.0; 100]];
        let [mut velocity, mut mean, mut square] = [const { [0.0; 100] }; 3];
        for t in 1..100_000 {
            let gradient = if t == 1 { &gradient } else { &zeros };
            sgd.step(&mut weights, gradient, &mut velocity, &mut workspace).unwrap();
            adam.step(t, &mut weights, gradient, &mut mean, &mut square, &mut workspace).unwrap();
            let all = weights.iter().chain(&velocity).chain(&mean).chain(&square);
            assert_eq!(all.filter(|value| value.is_subnormal()).count(), 0, "step {t}");
        }
        assert!(velocity.iter().chain(&mean).chain(&square).all(|value| *value == 0.0));
    }
}

#[test]
fn a_level_that_is_not_there_is_refused() {
    let missing = Level::ALL.into_iter().find(|level| !Level::available().any(|here| here == *level)).unwrap();
    let error = Workspace::with_level(missing).unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }));
    assert!(error.to_string().contains("available: portable"), "{error}");
}

#[test]
fn wrong_sizes_are_named() {
    let mut workspace = Workspace::new().unwrap();
    let shape = PoolShape { batch: 1, pixels: 2, channels: 2, pooling: Pooling::Sum };
    let error = pool::forward(&shape, &[0.0; 3], &mut [0.0; 2], &mut workspace).unwrap_err();
    assert_eq!(error.to_string(), "pooling: x has 3 entries, but the shape needs 4");
    let sgd = Sgd { rate: 0.1, momentum: 0.0, decay: 0.0, nesterov: false };
    let error = sgd.step(&mut [0.0; 2], &[0.0; 1], &mut [0.0; 2], &mut workspace).unwrap_err();
    assert_eq!(error.to_string(), "SGD: gradient has 1 entries, but the shape needs 2");
}

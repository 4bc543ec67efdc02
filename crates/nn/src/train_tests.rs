use std::sync::atomic::AtomicBool;

use burn::tensor::Device;

use super::*;
use crate::{Bases, CgFeedForward, CgFeedForwardConfig, Head, Init, Network, PenaltyConfig, Reynolds, evaluate};
use rand::Rng as _;

/// Sequences of four tokens below 10 with their sum.
fn sums(count: usize, seed: u64) -> Dataset {
    let mut rng = rng(seed, 9);
    let tokens: Vec<i32> = (0..4 * count).map(|_| rng.random_range(0..10)).collect();
    let targets = tokens.chunks(4).map(|row| row.iter().sum::<i32>() as f32).collect();
    Dataset::sequences(4, tokens, targets).unwrap()
}

fn model(seed: u64) -> CgFeedForward {
    let config = CgFeedForwardConfig::tokens(10);
    config.init(&Bases::sequence(4), &mut Init::new(seed, &Device::flex())).unwrap()
}

fn config(epochs: usize) -> TrainConfig {
    TrainConfig { batch: 32, max_epochs: epochs, seed: 5, ..TrainConfig::default() }
}

fn fit(config: &TrainConfig, extras: Extras) -> Fit<Network> {
    let go = |_: &Epoch| ControlFlow::Continue(());
    train(Network::Cg(model(1)), &sums(256, 1), &sums(64, 2), config, extras, go).unwrap()
}

fn weights(fit: &Fit<Network>) -> Vec<u32> {
    let data = fit.model.cg().unwrap().cg.weights.coefficients.val().into_data().try_to_vec::<f32>().unwrap();
    data.into_iter().map(f32::to_bits).collect()
}

#[test]
fn learns_a_sum() {
    let fit = fit(&config(20), Extras::default());
    let (first, last) = (fit.curve[0].validation_loss, fit.best_score);
    assert!(last < 0.1 * first, "{first} -> {last}");
    let held_out = sums(100, 3);
    let evaluation = evaluate(&fit.model, &held_out).unwrap();
    assert_eq!(evaluation.predictions.len(), 100);
    let right = evaluation.correct(&held_out).into_iter().filter(|c| *c).count();
    assert!((evaluation.accuracy - right as f64 / 100.0).abs() < 1e-12);
}

#[test]
fn the_kept_weights_are_those_of_the_best_epoch() {
    let fit = fit(&config(6), Extras::default());
    let again = evaluate(&fit.model, &sums(64, 2)).unwrap();
    // Kernels and Burn add in another order.
    assert!((again.loss - fit.best_score).abs() < 1e-5 * again.loss.max(1.0), "{} for {}", again.loss, fit.best_score);
    let recorded = fit.curve[fit.best_epoch - 1].validation_loss;
    assert!((fit.best_score - recorded).abs() < 1e-12);
    assert_eq!(fit.end, End::MaxEpochs);
}

#[test]
fn bit_identical_for_a_seed_on_any_number_of_threads() {
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| weights(&fit(&TrainConfig { seed, ..config(2) }, Extras::default())))
    };
    let one = on(1, 5);
    assert_eq!(one, on(1, 5));
    assert_eq!(one, on(2, 5));
    assert_ne!(one, on(1, 6));
}

#[test]
fn fits_side_by_side_do_not_disturb_each_other() {
    let alone = weights(&fit(&config(2), Extras::default()));
    let both: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let spawn = || scope.spawn(|| weights(&fit(&config(2), Extras::default())));
        [spawn(), spawn()].map(|handle| handle.join().unwrap()).into()
    });
    assert!(both.iter().all(|weights| *weights == alone));
}

#[test]
fn a_strong_penalty_keeps_every_swap() {
    // The smooth count saturates at temperature 100, so from a random start it needs a far larger weight than R.
    for (penalty, strong) in [(PenaltyConfig::default(), 100.0), (PenaltyConfig::violations(), 1e4)] {
        let penalty = penalty.build(Some(&Reynolds::swaps(4)), &Device::flex()).unwrap();
        let worst = |lambda: f64| {
            let fit = fit(
                &TrainConfig {
                    lambda,
                    // A large constant penalty hides progress from the improvement threshold.
                    stopping: StoppingConfig { patience: 60, threshold: 1.0, ..StoppingConfig::default() },
                    optimizer: Optimizer::Adam { learning_rate: 1e-2 },
                    ..config(60)
                },
                Extras { penalty: Some(&penalty), ..Extras::default() },
            );
            let kept = fit.model.cg().unwrap().cg.kept(&Reynolds::swaps(4), 1e-2).unwrap();
            kept.into_iter().map(|k| k.1).fold(0.0, f64::max)
        };
        let (free, penalised) = (worst(0.0), worst(strong));
        assert!(penalised < 0.3 * free, "{free} {penalised}");
    }
}

#[test]
fn divergence_is_an_error_that_names_the_rate() {
    let config = TrainConfig { optimizer: Optimizer::Sgd { learning_rate: 1e6, momentum: 0.9 }, ..config(5) };
    let go = |_: &Epoch| ControlFlow::Continue(());
    let error = train(model(1), &sums(64, 1), &sums(64, 2), &config, Extras::default(), go).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }) && error.to_string().contains("1e6"), "{error}");
}

#[test]
fn a_cancelled_fit_takes_no_further_step() {
    let (cancel, seen) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    // The first example of the second of four batches asks for the end.
    let count = |_: &mut crate::Rng, _: crate::Example| {
        cancel.store(seen.fetch_add(1, Ordering::Relaxed) >= 64, Ordering::Relaxed);
    };
    let config = TrainConfig { batch: 64, ..config(50) };
    let extras = Extras { cancel: Some(&cancel), augmentation: Some(&count), ..Extras::default() };
    let go = |_: &Epoch| ControlFlow::Continue(());
    let error = train(model(1), &sums(256, 1), &sums(64, 2), &config, extras, go).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(seen.into_inner(), 128);
}

#[test]
fn the_observer_stops_the_fit_and_the_best_so_far_is_kept() {
    let stop = |epoch: &Epoch| {
        if epoch.epoch == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = train(model(1), &sums(64, 1), &sums(64, 2), &config(50), Extras::default(), stop).unwrap();
    assert_eq!((fit.curve.len(), fit.end), (2, End::Interrupted));
    assert!(fit.best_epoch >= 1);
}

#[test]
fn patience_ends_a_fit() {
    let stopping = StoppingConfig { patience: 2, threshold: 1e-9, ..StoppingConfig::default() };
    let fit = fit(&TrainConfig { stopping, ..config(50) }, Extras::default());
    // The first epoch always counts as a real improvement (from infinity), which grants two epochs.
    assert_eq!((fit.curve.len(), fit.end), (2, End::Patience));
}

#[test]
fn augmentation_sees_training_examples_only() {
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let count = |_: &mut crate::Rng, _: crate::Example| {
        seen.fetch_add(1, Ordering::Relaxed);
    };
    fit(&config(3), Extras { augmentation: Some(&count), ..Extras::default() });
    assert_eq!(seen.load(Ordering::Relaxed), 3 * 256);
}

#[test]
fn sgd_and_one_cycle_train_too() {
    let mut small = CgFeedForwardConfig::array();
    small.head = Head::Affine;
    let model = small.init(&Bases::sequence(4), &mut Init::new(0, &Device::flex())).unwrap();
    let mut rng = rng(3, 0);
    let values: Vec<f32> = (0..400).map(|_| rng.random::<f32>()).collect();
    let labels = values.chunks(4).map(|x| usize::from(x[0] > x[1])).collect();
    let inputs = crate::Inputs::Array { dim: 4, values };
    let data = Dataset::new(inputs, crate::Targets::Classes { count: 2, labels }).unwrap();
    assert_eq!(data.outputs(), 2);
    small.outputs = 2;
    assert!(model.parameters() > 0);
    let model = small.init(&Bases::sequence(4), &mut Init::new(0, &Device::flex())).unwrap();
    let config = TrainConfig {
        optimizer: Optimizer::Sgd { learning_rate: 0.05, momentum: 0.9 },
        schedule: Schedule::OneCycle,
        ..config(30)
    };
    let go = |_: &Epoch| ControlFlow::Continue(());
    let fit = train(model, &data, &data, &config, Extras::default(), go).unwrap();
    let accuracy = evaluate(&fit.model, &data).unwrap().accuracy;
    assert!(accuracy > 0.9, "{accuracy}");
}

#[test]
fn settings_are_checked() {
    let go = |_: &Epoch| ControlFlow::Continue(());
    let refuse =
        |config: TrainConfig| train(model(1), &sums(8, 1), &sums(8, 2), &config, Extras::default(), go).unwrap_err().to_string();
    assert!(refuse(TrainConfig { lambda: -1.0, ..config(1) }).contains("lambda should be a number of at least 0, but is -1"));
    assert!(refuse(TrainConfig { batch: 0, ..config(1) }).contains("batch size"));
    assert!(refuse(TrainConfig { optimizer: Optimizer::Adam { learning_rate: 0.0 }, ..config(1) }).contains("learning rate"));
}

#[test]
fn data_that_does_not_fit_the_network_is_refused() {
    let strange = Dataset::sequences(4, vec![1, 2, 3, 10], vec![1.0]).unwrap();
    let message = evaluate(&model(1), &strange).unwrap_err().to_string();
    assert_eq!(message, "token: expected below the vocabulary size 10, got 10");
    let inputs = crate::Inputs::Tokens { length: 4, values: vec![1; 4] };
    let classes = crate::Targets::Classes { count: 3, labels: vec![2] };
    let classes = Dataset::new(inputs, classes).unwrap();
    let message = evaluate(&model(1), &classes).unwrap_err().to_string();
    assert_eq!(message, "outputs of the network: expected 3, got 1");
    let go = |_: &Epoch| ControlFlow::Continue(());
    assert!(train(model(1), &strange, &sums(8, 2), &config(1), Extras::default(), go).is_err());
    assert!(train(model(1), &classes, &classes, &config(1), Extras::default(), go).is_err());
}

#[test]
fn a_few_examples_that_are_left_join_the_batch_before_them() {
    for (examples, sizes) in [(8, &[4, 4][..]), (9, &[4, 5]), (10, &[4, 4, 2]), (11, &[4, 4, 3]), (5, &[5]), (4, &[4]), (1, &[1])]
    {
        let order: Vec<usize> = (0..examples).collect();
        assert_eq!(batches(&order, 4).map(<[usize]>::len).collect::<Vec<_>>(), sizes);
        assert_eq!(batches(&order, 4).flatten().copied().collect::<Vec<_>>(), order);
    }
    assert_eq!(batches(&[7, 8], 1).count(), 2);
}

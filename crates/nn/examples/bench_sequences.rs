//! Times one training step of the published CG sequence network and prints a JSON line; with `--epochs`, times one epoch of
//! 6,400 examples for every model instead.
//!
//!     cargo run --release -p invar-nn --example bench_sequences -- [--seconds 5] [--epochs [--only MODEL]]

use std::ops::ControlFlow;
use std::time::Instant;

use burn::tensor::Device;
use invar_nn::baselines::{
    DeepSetsConfig, GruNetConfig, JanossyConfig, PlainConfig, Pooling, SetTransformerConfig, TransformerConfig,
};
use invar_nn::{
    Bases, CgFeedForwardConfig, Dataset, Epoch, Extras, Init, Model, Network, PenaltyConfig, Result, Reynolds, Stepper,
    TrainConfig, rng, train,
};
use rand::Rng as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const POSITIONS: usize = 10;

/// Random sequences of ten tokens below 100 with their sum, over 100 as in the PyTorch counterpart.
fn data(count: usize) -> Result<Dataset> {
    let mut rng = rng(0, 0);
    let tokens: Vec<i32> = (0..POSITIONS * count).map(|_| rng.random_range(1..100)).collect();
    let targets = tokens.chunks(POSITIONS).map(|row| row.iter().sum::<i32>() as f32 / 100.0).collect();
    Dataset::sequences(POSITIONS, tokens, targets)
}

fn step(seconds: f64) -> Result<()> {
    let device = Device::flex();
    let model = CgFeedForwardConfig::tokens(100).init(&Bases::sequence(POSITIONS), &mut Init::new(0, &device))?;
    let (data, rows) = (data(128)?, (0..128).collect::<Vec<_>>());
    let mut stepper = Stepper::new(Network::Cg(model), &TrainConfig::default())?;
    let mut once = || stepper.step(&data, &rows, 1e-3, Extras::default());
    let first = once()?.loss;
    for _ in 0..3 {
        once()?;
    }
    let (mut best, mut last, start) = (f64::INFINITY, first, Instant::now());
    while start.elapsed().as_secs_f64() < seconds {
        let before = Instant::now();
        last = once()?.loss;
        best = best.min(before.elapsed().as_secs_f64());
    }
    println!(r#"{{"workload":"sequences:table","unit":"steps/s","rate":{:.1},"loss":[{first:.4},{last:.4}]}}"#, 1.0 / best);
    Ok(())
}

fn epochs() -> Result<()> {
    let device = Device::flex();
    let mut init = Init::new(0, &device);
    let cg = CgFeedForwardConfig::tokens(100).init(&Bases::sequence(POSITIONS), &mut init)?;
    let models = vec![
        ("cg", Network::Cg(cg.clone())),
        ("cg + R", Network::Cg(cg.clone())),
        ("cg + violations", Network::Cg(cg)),
        ("transformer", Network::Transformer(TransformerConfig::new(100, POSITIONS, 1).init(&mut init)?)),
        ("gru", Network::Gru(GruNetConfig::new(100, 1).init(&mut init)?)),
        ("deep sets", Network::DeepSets(DeepSetsConfig::new(100, 1).init(&mut init)?)),
        ("janossy 2", Network::Janossy(JanossyConfig::new(100, 1, Pooling::Kary(2)).init(&mut init)?)),
        ("janossy sampled", Network::Janossy(JanossyConfig::new(100, 1, Pooling::Sampled(20)).init(&mut init)?)),
        ("set transformer", Network::SetTransformer(SetTransformerConfig::new(100, 1).init(&mut init)?)),
        ("plain", Network::Plain(PlainConfig::tokens(100, POSITIONS, 1).init(&mut init)?)),
    ];
    let (training, validation) = (data(6400)?, data(1600)?);
    let swaps = Reynolds::swaps(POSITIONS);
    let only = std::env::args().skip_while(|a| a != "--only").nth(1);
    for (name, model) in models {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let penalty = match name {
            "cg + R" => Some(PenaltyConfig::default().build(None, &device)?),
            "cg + violations" => Some(PenaltyConfig::violations().build(Some(&swaps), &device)?),
            _ => None,
        };
        let config = TrainConfig { max_epochs: 3, lambda: 1.0, ..TrainConfig::default() };
        let extras = Extras { penalty: penalty.as_ref(), ..Extras::default() };
        let (mut best, mut last) = (f64::INFINITY, Instant::now());
        let time = |_: &Epoch| {
            best = best.min(last.elapsed().as_secs_f64());
            last = Instant::now();
            ControlFlow::Continue(())
        };
        let parameters = model.parameters();
        let fit = train(model, &training, &validation, &config, extras, time)?;
        println!(
            r#"{{"model":"{name}","parameters":{parameters},"seconds_per_epoch":{best:.4},"validation_loss":{:.4}}}"#,
            fit.best_score
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.iter().position(|a| a == "--seconds").and_then(|i| arguments.get(i + 1)).and_then(|s| s.parse().ok());
    if arguments.iter().any(|a| a == "--epochs") {
        return epochs();
    }
    step(seconds.unwrap_or(5.0))
}

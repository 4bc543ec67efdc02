//! Times training steps of the image networks on random 3x28x28 images in batches of 64, one JSON line each.
//!
//!     cargo run --release --example bench_images -- [--seconds 5] [--width 1.0]

use std::time::Instant;

use burn::tensor::Device;
use invar_algebra::{Shape, candidates};
use invar_nn::{
    CnnConfig, Dataset, Depth, Extras, Filters, ImageGroups, Init, Inputs, LiftConfig, Model, Network, Optimizer, Result,
    Stepper, Targets, TrainConfig, rng,
};
use rand::Rng as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCH: usize = 64;

fn data() -> Result<Dataset> {
    let mut rng = rng(0, 0);
    let values = (0..BATCH * 3 * 28 * 28).map(|_| if rng.random_bool(0.2) { 255 } else { 0 }).collect();
    let inputs = Inputs::Images { channels: 3, height: 28, width: 28, values };
    Dataset::new(inputs, Targets::Classes { count: 10, labels: (0..BATCH).map(|i| i % 10).collect() })
}

fn networks(width: f64) -> Result<Vec<(&'static str, Network)>> {
    let groups = candidates(&Shape::new(&[3, 3, 3])?, ["rot90(1,2)", "flip(1)", "permute(0)"])?;
    let groups = ImageGroups::new(&groups)?;
    let cnn = |depth: Depth, filters: Filters| -> Result<Network> {
        let config = CnnConfig { depth, filters, width, ..CnnConfig::new(10) };
        Ok(config.init(Some(&config.lattices(&groups)?), &mut Init::new(0, &Device::flex()))?.into())
    };
    let lift = LiftConfig::new(10);
    let lift = lift.init(&lift.lattices(&groups)?, &mut Init::new(0, &Device::flex()))?;
    Ok(vec![
        ("lift", lift.into()),
        ("vgg_reference", cnn(Depth::Reference, Filters::Plain)?),
        ("cg_reference", cnn(Depth::Reference, Filters::Cg { imposed: None })?),
        ("vgg_paper", cnn(Depth::Paper, Filters::Plain)?),
        ("cg_paper", cnn(Depth::Paper, Filters::Cg { imposed: None })?),
        ("p4m_reference", cnn(Depth::Reference, Filters::P4m)?),
    ])
}

fn option(name: &str, default: f64) -> f64 {
    let arguments: Vec<String> = std::env::args().collect();
    let value = arguments.windows(2).find(|pair| pair[0] == name).and_then(|pair| pair[1].parse().ok());
    value.unwrap_or(default)
}

fn main() -> Result<()> {
    let (seconds, width) = (option("--seconds", 5.0), option("--width", 1.0));
    let (data, rows) = (data()?, (0..BATCH).collect::<Vec<_>>());
    let optimizer = Optimizer::Sgd { learning_rate: 1e-2, momentum: 0.9 };
    for (name, network) in networks(width)? {
        let parameters = network.parameters();
        let mut stepper = Stepper::new(network, &TrainConfig { optimizer, ..TrainConfig::default() })?;
        stepper.step(&data, &rows, 1e-2, Extras::default())?;
        let (start, mut best, mut steps) = (Instant::now(), f64::INFINITY, 0);
        while start.elapsed().as_secs_f64() < seconds {
            let step = Instant::now();
            stepper.step(&data, &rows, 1e-2, Extras::default())?;
            best = best.min(step.elapsed().as_secs_f64());
            steps += 1;
        }
        let mean = BATCH as f64 * f64::from(steps) / start.elapsed().as_secs_f64();
        println!(
            "{{\"network\":\"{name}\",\"parameters\":{parameters},\"images_per_second\":{mean:.1},\"best\":{:.1}}}",
            BATCH as f64 / best
        );
    }
    Ok(())
}

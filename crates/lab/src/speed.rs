//! The workloads that benches time.

use burn::tensor::Device;
use invar_algebra::{Lattice, Options, Shape, candidates};
use invar_nn::{
    Bases, CgFeedForwardConfig, CnnConfig, Dataset, Depth, Extras, Filters, FrontKind, ImageGroups, Init, Inputs, LiftConfig,
    Network, Optimizer, PairsConfig, Pixels, Points, Targets, TrainConfig, Trainer, kernels, rng,
};
use rand::Rng as _;

use crate::error::{Error, Result};

const POSITIONS: usize = 10;
/// Sequences, or arrays, of a batch.
const SEQUENCES: usize = 128;

const IMAGE: [usize; 3] = [3, 28, 28];
const IMAGES: usize = 64;
const CLASSES: usize = 10;

/// A network and data to time one step of training on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// The published CG sequence network: ten positions, batch 128, Adam, mean squared error.
    Sequences,
    /// The VGG of six convolutions with ordinary filters: 3x28x28, batch 64, SGD with momentum, cross entropy.
    Images,
    /// The same with CG-invariant filters.
    ImagesCg,
    /// The p4m network 8-16-16-32 with its CG head.
    Lift,
    /// The network on pairs of ten entries, all of which may be exchanged: 32 features, batch 128, Adam, mean squared error.
    Pairs10,
    /// The same with thirty entries.
    Pairs30,
}

/// What a bench computes with: the instruction set of the kernels, and the number of threads.
pub fn processor() -> Result<(String, usize)> {
    Ok((kernels::level()?, rayon::current_num_threads()))
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Images, Self::ImagesCg, Self::Lift, Self::Sequences, Self::Pairs10, Self::Pairs30];

    /// The name that results go by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequences => "sequences",
            Self::Images => "images",
            Self::ImagesCg => "images_cg",
            Self::Lift => "lift",
            Self::Pairs10 => "pairs_10",
            Self::Pairs30 => "pairs_30",
        }
    }

    /// What is counted, and how many of it a step does.
    pub fn unit(self) -> (&'static str, usize) {
        match self {
            Self::Sequences | Self::Pairs10 | Self::Pairs30 => ("steps/s", 1),
            Self::Images | Self::ImagesCg | Self::Lift => ("images/s", IMAGES),
        }
    }

    /// A function that takes a step at each call and returns the loss before it.
    pub fn step(self) -> Result<impl FnMut() -> Result<f64>> {
        let adam = Optimizer::Adam { learning_rate: 1e-3 };
        let (network, data, optimizer) = match self {
            Self::Sequences => (sequence_network()?, sequences()?, adam),
            Self::Pairs10 => (pairs_network(10)?, arrays(10)?, adam),
            Self::Pairs30 => (pairs_network(30)?, arrays(30)?, adam),
            Self::Images | Self::ImagesCg | Self::Lift => {
                (self.image_network()?, images()?, Optimizer::Sgd { learning_rate: 1e-2, momentum: 0.9 })
            }
        };
        let rows: Vec<usize> = (0..data.len()).collect();
        let config = TrainConfig { optimizer, ..TrainConfig::default() };
        let mut trainer = Trainer::new(network, &config, Extras::default())?;
        Ok(move || Ok(trainer.step(&data, &rows, optimizer.learning_rate(), Extras::default())?.loss))
    }

    fn image_network(self) -> Result<Network> {
        let groups = candidates(&Shape::new(&[3, 3, 3])?, ["rot90(1,2)", "flip(1)", "permute(0)"])?;
        let (groups, mut init) = (ImageGroups::new(&groups)?, Init::new(0, &Device::flex()));
        if self == Self::Lift {
            let config = LiftConfig::new(CLASSES);
            return Ok(config.init(&config.lattices(&groups)?, &mut init)?.into());
        }
        let filters = if self == Self::ImagesCg { Filters::Cg { imposed: None } } else { Filters::Plain };
        let config = CnnConfig { depth: Depth::Reference, filters, dropout: 0.0, ..CnnConfig::new(CLASSES) };
        Ok(config.init(Some(&config.lattices(&groups)?), &mut init)?.into())
    }
}

fn sequence_network() -> Result<Network> {
    let shape = Shape::new(&[POSITIONS])?;
    let lattice = Lattice::new(candidates(&shape, ["swaps(0)"])?, &Options::default())?;
    let mut init = Init::new(0, &Device::flex());
    Ok(Network::Cg(CgFeedForwardConfig::tokens(100).init(&Bases::of(&lattice), &mut init)?))
}

fn sequences() -> Result<Dataset> {
    let mut rng = rng(0, 0);
    let tokens: Vec<i32> = (0..POSITIONS * SEQUENCES).map(|_| rng.random_range(1..100)).collect();
    let targets = tokens.chunks(POSITIONS).map(|row| row.iter().sum::<i32>() as f32 / 100.0).collect();
    Ok(Dataset::sequences(POSITIONS, tokens, targets)?)
}

fn pairs_network(entries: usize) -> Result<Network> {
    let groups = candidates(&Shape::new(&[entries])?, ["swaps(0)"])?;
    let points = Points::of(entries, &groups).ok_or_else(|| Error::Setting {
        name: "candidates of a workload",
        expected: "permutations".into(),
        got: "matrices".into(),
    })?;
    let ties = points.ties(&groups)?;
    let mut init = Init::new(0, &Device::flex());
    Ok(PairsConfig::new(FrontKind::Pairs, 1).init(points, &ties, &ties, &mut init)?.into())
}

/// Numbers in (-1, 1), and the sum of their squares as a share of the largest there is.
fn arrays(entries: usize) -> Result<Dataset> {
    let mut rng = rng(0, 0);
    let values: Vec<f32> = (0..entries * SEQUENCES).map(|_| rng.random_range(-1.0..1.0)).collect();
    let targets = values.chunks(entries).map(|row| row.iter().map(|x| x * x).sum::<f32>() / entries as f32).collect();
    Ok(Dataset::new(Inputs::Array { dim: entries, values }, Targets::Values(targets))?)
}

fn images() -> Result<Dataset> {
    let mut rng = rng(0, 0);
    let [channels, height, width] = IMAGE;
    let values = (0..IMAGES * channels * height * width).map(|_| rng.random_range(0..=255)).collect();
    let inputs = Inputs::Images { channels, height, width, values: Pixels::Bytes(values) };
    let labels = (0..IMAGES).map(|i| i % CLASSES).collect();
    Ok(Dataset::new(inputs, Targets::Classes { count: CLASSES, labels })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_learns() {
        for workload in Workload::ALL {
            let mut step = workload.step().unwrap();
            let first = step().unwrap();
            let last = (0..4).map(|_| step().unwrap()).last().unwrap();
            assert!(last < first, "{}: {first} {last}", workload.name());
        }
    }
}

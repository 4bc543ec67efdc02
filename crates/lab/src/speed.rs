//! The workloads that benches time.

use burn::tensor::Device;
use invar_algebra::{Lattice, Options, Shape, candidates};
use invar_nn::{Bases, CgFeedForwardConfig, Dataset, Extras, Init, Network, Stepper, TrainConfig, rng};
use rand::Rng as _;

use crate::error::Result;

const POSITIONS: usize = 10;
const BATCH: usize = 128;

/// One training step of the published CG sequence network: batch 128, ten positions, Adam, mean squared error. Each call
/// takes a step and returns the loss before it.
pub fn sequence_step() -> Result<impl FnMut() -> Result<f64>> {
    let shape = Shape::new(&[POSITIONS])?;
    let lattice = Lattice::new(candidates(&shape, ["swaps(0)"])?, &Options::default())?;
    let mut init = Init::new(0, &Device::flex());
    let network = Network::Cg(CgFeedForwardConfig::tokens(100).init(&Bases::of(&lattice), &mut init)?);
    let mut rng = rng(0, 0);
    let tokens: Vec<i32> = (0..POSITIONS * BATCH).map(|_| rng.random_range(1..100)).collect();
    let targets = tokens.chunks(POSITIONS).map(|row| row.iter().sum::<i32>() as f32 / 100.0).collect();
    let data = Dataset::sequences(POSITIONS, tokens, targets)?;
    let rows: Vec<usize> = (0..BATCH).collect();
    let mut stepper = Stepper::new(network, &TrainConfig::default())?;
    Ok(move || Ok(stepper.step(&data, &rows, 1e-3, Extras::default())?.loss))
}

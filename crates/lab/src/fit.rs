//! One fit: a method on a task with settings and a seed, from its configuration to its record.

use std::ops::ControlFlow;
use std::time::Instant;

use burn::tensor::Device;
use invar_algebra::{Action, Group};
use invar_nn::{
    Augmentation, Epoch, Example, Extras, Head, Lattices, Model, Network, Optimizer, PenaltyConfig, Progress, Rng, Schedule,
    StoppingConfig, TrainConfig, train,
};
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::networks::Backbone;
use crate::problem::{Data, Problem};
use crate::queue::Stop;
use crate::record::Record;

/// A group counts as kept when the layer's relative violation is at most this.
pub const KEPT: f64 = 1e-5;
/// A subspace counts as used when its share of the layer's weights, in norm, is above this.
pub const USED: f64 = 1e-2;

/// How a network treats symmetries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The paper's: weights in invariant subspaces, penalised by how much invariance they give up.
    Cgreg,
    /// The true symmetry imposed: what a perfect decision would reach.
    Oracle,
    /// Transformer encoder.
    Transformer,
    /// Gated recurrent unit.
    Gru,
    /// DeepSets: invariant to all permutations.
    DeepSets,
    /// Janossy pooling: invariant to all permutations.
    Janossy,
    /// Set Transformer: invariant to all permutations.
    SetTransformer,
    /// The same network without symmetries: feedforward, or VGG for images.
    Plain,
    /// Plain feedforward network, trained on random transformations by all candidates.
    Augmented,
    /// Convolutions that are invariant to turns, mirrors and colours: the paper's +G-inv for images.
    GInvariant,
}

impl Method {
    /// As it stands in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cgreg => "FF + CG-reg.",
            Self::Oracle => "oracle",
            Self::Transformer => "Transformer",
            Self::Gru => "GRU",
            Self::DeepSets => "DeepSets",
            Self::Janossy => "Janossy pooling",
            Self::SetTransformer => "Set Transformer",
            Self::Plain => "plain FF",
            Self::Augmented => "FF + augmentation",
            Self::GInvariant => "G-CNN",
        }
    }
}

/// How gradients become steps, before the learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Descent {
    /// Adam, as published for sequences.
    #[default]
    Adam,
    /// Stochastic gradient descent with momentum 0.9, as published for images.
    Momentum,
}

impl Descent {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_adam(&self) -> bool {
        *self == Self::Adam
    }

    fn optimizer(self, learning_rate: f64) -> Optimizer {
        match self {
            Self::Adam => Optimizer::Adam { learning_rate },
            Self::Momentum => Optimizer::Sgd { learning_rate, momentum: 0.9 },
        }
    }
}

/// Everything that decides the outcome of a fit. Two fits with equal configurations have equal results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitConfig {
    /// The task and its sizes.
    pub data: Data,
    /// How symmetries are treated.
    pub method: Method,
    /// What follows the CG layer.
    pub head: Head,
    /// Weight of the penalty; only `cgreg` uses it.
    pub lambda: f64,
    /// The penalty; only `cgreg` uses it.
    pub penalty: PenaltyConfig,
    /// Learning rate.
    pub learning_rate: f64,
    /// How gradients become steps.
    #[serde(default, skip_serializing_if = "Descent::is_adam")]
    pub descent: Descent,
    /// The network for images; for others, what replaces the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backbone: Option<Backbone>,
    /// How it moves.
    pub schedule: Schedule,
    /// Examples per step.
    pub batch: usize,
    /// Epochs at most.
    pub max_epochs: usize,
    /// Early stopping.
    pub stopping: StoppingConfig,
    /// Seed of the data, the initial weights and the order of examples.
    pub seed: u64,
}

impl FitConfig {
    /// The published setting for a task and a method.
    pub fn new(data: Data, method: Method) -> Self {
        Self {
            data,
            method,
            head: Head::Hidden,
            lambda: 0.0,
            penalty: PenaltyConfig::default(),
            learning_rate: 1e-3,
            descent: Descent::default(),
            backbone: None,
            schedule: Schedule::default(),
            batch: 128,
            max_epochs: 1000,
            stopping: StoppingConfig { patience: 50, progress: Progress::Either, ..StoppingConfig::default() },
            seed: 0,
        }
    }

    /// Moves the learning rate over `epochs` epochs. A rate that falls to nothing needs all of them: then nothing stops a fit
    /// early.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule, epochs: usize) -> Self {
        let stopping = match schedule {
            Schedule::OneCycle => StoppingConfig { patience: epochs.max(1), progress: Progress::Score, ..self.stopping },
            Schedule::Constant => self.stopping,
        };
        Self { schedule, max_epochs: epochs, stopping, ..self }
    }

    /// Which repeat of an experiment it is: the fold of images, else the seed.
    pub(crate) fn repeat(&self) -> u64 {
        match self.data {
            Data::Images(images) => images.fold as u64,
            Data::Sequences(_) | Data::Graphs(_) | Data::Arrays(_) | Data::Files(_) => self.seed,
        }
    }

    /// Refuses settings that no fit can have.
    pub fn check(&self) -> Result<()> {
        if self.lambda >= 0.0 && self.lambda.is_finite() {
            return Ok(());
        }
        Err(Error::Setting { name: "lambda", expected: "a number of at least 0".into(), got: self.lambda.to_string() })
    }

    fn train_config(&self) -> TrainConfig {
        TrainConfig {
            optimizer: self.descent.optimizer(self.learning_rate),
            schedule: self.schedule,
            batch: self.batch,
            max_epochs: self.max_epochs,
            stopping: self.stopping,
            lambda: if self.method == Method::Cgreg { self.lambda } else { 0.0 },
            seed: self.seed,
        }
    }

    /// Trains and evaluates. The observer sees every epoch and may stop the fit early, which keeps the best so far.
    pub fn run(&self, problem: &Problem, observer: impl FnMut(&Epoch) -> ControlFlow<()>) -> Result<Outcome> {
        self.train(problem, None, observer)
    }

    /// Trains and evaluates unless a stop is asked for, which ends the fit at once and keeps nothing.
    pub fn run_unless(&self, problem: &Problem, stop: &Stop, mut observer: impl FnMut(&Epoch)) -> Result<Outcome> {
        let observer = |epoch: &Epoch| {
            observer(epoch);
            ControlFlow::Continue(())
        };
        match self.train(problem, Some(stop), observer) {
            Err(Error::Network(invar_nn::Error::Cancelled)) => Err(Error::Stopped),
            outcome => outcome,
        }
    }

    /// The same with a plain network that is augmented by some candidates alone.
    pub(crate) fn run_augmented(
        &self,
        problem: &Problem,
        by: Vec<&Group>,
        stop: &Stop,
        mut observer: impl FnMut(&Epoch),
    ) -> Result<Outcome> {
        let observer = |epoch: &Epoch| {
            observer(epoch);
            ControlFlow::Continue(())
        };
        match self.train_by(problem, by, Some(stop), observer) {
            Err(Error::Network(invar_nn::Error::Cancelled)) => Err(Error::Stopped),
            outcome => outcome,
        }
    }

    fn train(&self, problem: &Problem, stop: Option<&Stop>, observer: impl FnMut(&Epoch) -> ControlFlow<()>) -> Result<Outcome> {
        let by = if self.method == Method::Augmented { problem.groups().iter().collect() } else { Vec::new() };
        self.train_by(problem, by, stop, observer)
    }

    fn train_by(
        &self,
        problem: &Problem,
        by: Vec<&Group>,
        stop: Option<&Stop>,
        observer: impl FnMut(&Epoch) -> ControlFlow<()>,
    ) -> Result<Outcome> {
        self.check()?;
        let start = Instant::now();
        let device = Device::flex();
        let built = self.build(problem, &device)?;
        let parameters = built.network.parameters();
        let penalty = match self.method {
            Method::Cgreg => Some(self.penalty.build_layers(&built.reynolds(problem)?, &device)?),
            _ => None,
        };
        // Only then: candidates of the user's may generate no finite group.
        let whole = (!by.is_empty()).then(|| Group::join("all", by)).transpose()?;
        let transform = whole
            .map(|whole| move |rng: &mut Rng, example: Example| move_by(&whole.sample(&mut |k| rng.random_range(0..k)), example));
        let augmentation = transform.as_ref().map(|transform| transform as Augmentation);
        let extras = Extras { penalty: penalty.as_ref(), augmentation, cancel: stop.map(Stop::flag) };
        let fit = train(built.network.clone(), &problem.train, &problem.validation, &self.train_config(), extras, observer)?;

        let (validation, extrapolation) = problem.metrics(&fit.model)?;
        let record = Record {
            config: self.clone(),
            parameters,
            epochs: fit.curve.len(),
            best_epoch: fit.best_epoch,
            end: fit.end,
            seconds: start.elapsed().as_secs_f64(),
            validation,
            extrapolation,
            consistency: problem.consistency(&fit.model)?,
            chance: problem.chance,
            layer: built.read(&fit.model, problem)?,
            curve: Record::thinned_with(&fit.curve, fit.best_epoch),
        };
        Ok(Outcome { record, network: fit.model, lattices: built.lattices })
    }
}

/// A finished fit with its network.
#[derive(Debug)]
pub struct Outcome {
    /// What is written down.
    pub record: Record,
    /// The trained network.
    pub network: Network,
    /// The lattices of its CG layers, where these are not the one of the problem.
    pub lattices: Option<Lattices>,
}

/// Applies a transformation to one example in place.
fn move_by(action: &Action, example: Example) {
    match (action, example) {
        (Action::Permutation(p), Example::Tokens(tokens)) => scatter(p.images(), tokens),
        (Action::Permutation(p), Example::Array(entries)) => scatter(p.images(), entries),
        // Tokens have no signs, and candidates that change some are refused before.
        (_, Example::Tokens(_)) => {}
        (action, Example::Array(entries)) => {
            let x: Vec<f64> = entries.iter().map(|&entry| f64::from(entry)).collect();
            let mut moved = vec![0.0; x.len()];
            action.apply(&x, &mut moved);
            entries.iter_mut().zip(moved).for_each(|(entry, moved)| *entry = moved as f32);
        }
    }
}

fn scatter<T: Copy>(images: &[u32], values: &mut [T]) {
    let old = values.to_vec();
    images.iter().zip(old).for_each(|(&to, value)| values[to as usize] = value);
}

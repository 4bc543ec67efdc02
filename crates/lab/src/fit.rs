//! One fit: a method on a task with settings and a seed, from its configuration to its record.

use std::ops::ControlFlow;
use std::time::Instant;

use burn::tensor::Device;
use invar_algebra::{Action, Group};
use invar_nn::baselines::{
    DeepSetsConfig, GruNetConfig, JanossyConfig, PlainConfig, Pooling, SetTransformerConfig, TransformerConfig,
};
use invar_nn::{
    Augmentation, CgFeedForward, CgFeedForwardConfig, Epoch, Example, Extras, Head, Init, Model, Network, Optimizer,
    PenaltyConfig, Rng, Schedule, StoppingConfig, TrainConfig, evaluate, train,
};
use invar_tasks::consistency;
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::{Data, Problem};
use crate::record::{KeptGroup, Metrics, Record};

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
    /// Plain feedforward network.
    Plain,
    /// Plain feedforward network, trained on random transformations by all candidates.
    Augmented,
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
    /// Learning rate of Adam.
    pub learning_rate: f64,
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
            schedule: Schedule::default(),
            batch: 128,
            max_epochs: 1000,
            stopping: StoppingConfig { patience: 50, ..StoppingConfig::default() },
            seed: 0,
        }
    }

    /// Moves the learning rate over `epochs` epochs. A rate that falls to nothing needs all of them: then nothing stops a fit
    /// early.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule, epochs: usize) -> Self {
        let patience = if schedule == Schedule::OneCycle { epochs.max(1) } else { self.stopping.patience };
        Self { schedule, max_epochs: epochs, stopping: StoppingConfig { patience, ..self.stopping }, ..self }
    }

    /// Which repeat of an experiment it is: the seed.
    pub(crate) fn repeat(&self) -> u64 {
        self.seed
    }

    fn check(&self) -> Result<()> {
        if self.lambda >= 0.0 && self.lambda.is_finite() {
            return Ok(());
        }
        Err(Error::Setting { name: "lambda", expected: "a number of at least 0".into(), got: self.lambda.to_string() })
    }

    fn train_config(&self) -> TrainConfig {
        TrainConfig {
            optimizer: Optimizer::Adam { learning_rate: self.learning_rate },
            schedule: self.schedule,
            batch: self.batch,
            max_epochs: self.max_epochs,
            stopping: self.stopping,
            lambda: if self.method == Method::Cgreg { self.lambda } else { 0.0 },
            seed: self.seed,
        }
    }

    /// Draws the network.
    fn network(&self, problem: &Problem, device: &Device) -> Result<Network> {
        let mut init = Init::new(self.seed, device);
        let outputs = problem.train.outputs();
        let length = problem.lattice.shape().side(0);
        let tokens = || {
            problem.vocabulary.ok_or_else(|| Error::Setting {
                name: "method",
                expected: "cgreg, oracle, plain or augmented, which take arrays".into(),
                got: self.method.title().into(),
            })
        };
        Ok(match self.method {
            Method::Cgreg => Network::Cg(self.cg(problem).init(&problem.bases, &mut init)?),
            Method::Oracle => {
                let imposed = Some(problem.invariant_basis(&problem.symmetry)?);
                Network::Cg(CgFeedForwardConfig { imposed, ..self.cg(problem) }.init(&problem.bases, &mut init)?)
            }
            Method::Transformer => Network::Transformer(TransformerConfig::new(tokens()?, length, outputs).init(&mut init)?),
            Method::Gru => Network::Gru(GruNetConfig::new(tokens()?, outputs).init(&mut init)?),
            Method::DeepSets => Network::DeepSets(DeepSetsConfig::new(tokens()?, outputs).init(&mut init)?),
            Method::Janossy => Network::Janossy(JanossyConfig::new(tokens()?, outputs, Pooling::Kary(2)).init(&mut init)?),
            Method::SetTransformer => Network::SetTransformer(SetTransformerConfig::new(tokens()?, outputs).init(&mut init)?),
            Method::Plain | Method::Augmented => Network::Plain(match problem.vocabulary {
                Some(vocabulary) => PlainConfig::tokens(vocabulary, length, outputs).init(&mut init)?,
                None => PlainConfig::array(problem.bases.dim, outputs).init(&mut init)?,
            }),
        })
    }

    fn cg(&self, problem: &Problem) -> CgFeedForwardConfig {
        let config = problem.vocabulary.map_or_else(CgFeedForwardConfig::array, CgFeedForwardConfig::tokens);
        CgFeedForwardConfig { head: self.head, outputs: problem.train.outputs(), ..config }
    }

    /// Trains and evaluates. The observer sees every epoch and may stop the fit early, which keeps the best so far.
    pub fn run(&self, problem: &Problem, observer: impl FnMut(&Epoch) -> ControlFlow<()>) -> Result<Outcome> {
        self.check()?;
        let start = Instant::now();
        let device = Device::flex();
        let network = self.network(problem, &device)?;
        let parameters = network.parameters();
        let penalty = match self.method {
            Method::Cgreg => Some(self.penalty.build(Some(&problem.reynolds), &device)?),
            _ => None,
        };
        let whole = Group::join("all", problem.groups())?;
        let transform = |rng: &mut Rng, example: Example| move_by(&whole.sample(&mut |k| rng.random_range(0..k)), example);
        let augmentation: Option<Augmentation> = if self.method == Method::Augmented { Some(&transform) } else { None };
        let extras = Extras { penalty: penalty.as_ref(), augmentation };
        let fit = train(network, &problem.train, &problem.validation, &self.train_config(), extras, observer)?;

        let metrics = |data| -> Result<Metrics> {
            let found = evaluate(&fit.model, data)?;
            Ok(Metrics { loss: found.loss, accuracy: found.accuracy })
        };
        let answers =
            |data| -> Result<Vec<i64>> { Ok(evaluate(&fit.model, data)?.predictions.iter().map(|p| p.round() as i64).collect()) };
        let [observed, counterfactual] = &problem.pairs;
        let consistency = if problem.symmetry.is_empty() {
            // Without irrelevant groups both halves of a pair are the same example.
            None
        } else {
            Some(consistency(&answers(observed)?, &answers(counterfactual)?)?)
        };
        let record = Record {
            config: self.clone(),
            parameters,
            epochs: fit.curve.len(),
            best_epoch: fit.best_epoch,
            end: fit.end,
            seconds: start.elapsed().as_secs_f64(),
            validation: metrics(&problem.validation)?,
            extrapolation: metrics(&problem.test)?,
            consistency,
            chance: problem.chance,
            layer: fit.model.cg().map(|cg| read_layer(cg, problem)).transpose()?,
            curve: Record::thinned(&fit.curve),
        };
        Ok(Outcome { record, network: fit.model })
    }
}

/// A finished fit with its network.
#[derive(Debug)]
pub struct Outcome {
    /// What is written down.
    pub record: Record,
    /// The trained network.
    pub network: Network,
}

/// What the CG layer kept and used.
fn read_layer(network: &CgFeedForward, problem: &Problem) -> Result<crate::record::Layer> {
    let kept = network.cg.kept(&problem.reynolds, KEPT)?;
    let groups = kept.into_iter().enumerate().map(|(group, (kept, violation))| KeptGroup { group, kept, violation }).collect();
    Ok(crate::record::Layer { groups, norms: network.cg.block_norms()? })
}

/// Applies a permutation of positions to one example in place.
fn move_by(action: &Action, example: Example) {
    let Action::Permutation(p) = action else {
        unreachable!("built-in tasks have permutations as candidates");
    };
    match example {
        Example::Tokens(tokens) => scatter(p.images(), tokens),
        Example::Array(entries) => scatter(p.images(), entries),
    }
}

fn scatter<T: Copy>(images: &[u32], values: &mut [T]) {
    let old = values.to_vec();
    images.iter().zip(old).for_each(|(&to, value)| values[to as usize] = value);
}

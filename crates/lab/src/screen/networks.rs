//! The networks that a screen fits: those with CG layers on a problem, with any constraint on these.

use std::ops::ControlFlow;

use burn::tensor::Device;
use invar_algebra::GroupSet;
use invar_data::Digest;
use invar_nn::{
    CgFeedForward, Dataset, Ensemble, Epoch, Extras, Head, Init, Inputs, Model, Network, Optimizer, Schedule, StoppingConfig,
    Targets, TrainConfig, evaluate, train,
};
use serde::{Deserialize, Serialize};

use super::evidence::{PerExample, Scores};
use super::fitter::{Begin, Effort, Ending, Fitted, Fitter, Limits, Request, Watch};
use super::memory::{About, Memory};
use super::watch::Watcher;
use super::{ScreenConfig, Settings};
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::networks::{Backbone, Built};
use crate::problem::Problem;
use crate::queue::Stop;

/// What scores are points of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Answers that are right: classes, or whole numbers after rounding.
    Accuracy,
    /// R²: numbers in general define no accuracy.
    RSquared {
        /// Variance of the validation targets.
        variance: f64,
    },
}

impl Measure {
    /// The measure of data of which nothing else is known: accuracy of classes, R² of numbers.
    pub fn of(data: &Dataset) -> Self {
        Self::variance(data).map_or(Self::Accuracy, |variance| Self::RSquared { variance })
    }

    /// What it means that a cost of so many points could be significant.
    pub fn in_words(self, detectable: f64) -> String {
        match self {
            Self::Accuracy => format!("a cost below {detectable:.1} points cannot be told from none"),
            Self::RSquared { .. } if detectable < 0.01 => {
                "at best a cost of less than 0.01 points could be told from none".into()
            }
            Self::RSquared { .. } => format!("at best a cost of {detectable:.2} points could be told from none"),
        }
    }

    /// The variance of targets that are numbers, never quite 0.
    pub(crate) fn variance(data: &Dataset) -> Option<f64> {
        let Targets::Values(values) = data.targets() else { return None };
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / values.len() as f64;
        Some(variance.max(f64::MIN_POSITIVE))
    }

    /// The score after an epoch, in points.
    pub(super) fn points(self, epoch: &Epoch) -> f64 {
        match self {
            Self::Accuracy => 100.0 * epoch.validation_accuracy,
            Self::RSquared { variance } => 100.0 * (1.0 - epoch.validation_loss / variance),
        }
    }

    /// The score of every example.
    pub(crate) fn scores<M: Model>(self, network: &M, data: &Dataset) -> Result<Scores> {
        let found = evaluate(network, data)?;
        let each = match (self, data.targets()) {
            (Self::RSquared { variance }, Targets::Values(values)) => {
                let share = |(p, y): (&f64, &f32)| 1.0 - (p - f64::from(*y)).powi(2) / variance;
                PerExample::Share(found.predictions.iter().zip(values).map(share).collect())
            }
            _ => PerExample::Right(found.correct(data)),
        };
        Ok(Scores { each, loss: found.loss })
    }
}

/// A network with its learning curve.
#[derive(Debug)]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// Every epoch.
    pub curve: Vec<Epoch>,
    /// What it is known by, where fits are remembered.
    pub key: Option<Digest>,
}

/// Fits CG networks with one kind of head on a problem.
pub struct Networks<'a> {
    /// The data and the candidates.
    pub problem: &'a Problem,
    /// Which network, with which head.
    pub base: FitConfig,
    /// One such network: it knows its CG layers.
    pub(super) built: Built,
    /// How to train.
    pub settings: &'a Settings,
    /// Decides everything random.
    pub seed: u64,
    /// What is measured.
    pub measure: Measure,
    /// Ends fits early.
    pub stop: &'a Stop,
    /// Hears of epochs as they pass; those that an early end saves count as passed.
    pub epochs: &'a (dyn Fn(usize) + Sync),
    /// Finished fits, where they are remembered.
    pub memory: Option<&'a Memory>,
}

/// Refits shuffle alike, so that a refit and its control differ in the constraint alone.
const REFIT_STREAM: u64 = 0xffff;
/// What is drawn for a grown network is not what its affine beginning was drawn from.
const GROWN_STREAM: u64 = 0xff00;
/// The highest learning rate of a grown network, of that of others: it begins near a solution, and larger steps move the bends that
/// held-out examples do not see.
const GROWN_RATE: f64 = 0.25;
/// Weight of what bends in a grown network, by the deviation of the targets, since bends grow with them and losses with their square:
/// too small to hold back a bend that the data ask for; where they ask for none, Adam makes steps of full size of it.
const BENDING: f64 = 4e-6;

impl<'a> Networks<'a> {
    /// Networks with a given head for the data of a problem: those asked for, or else equivariant ones where the paper's is not.
    pub fn new(
        problem: &'a Problem,
        config: &'a ScreenConfig,
        head: Head,
        stop: &'a Stop,
        epochs: &'a (dyn Fn(usize) + Sync),
        memory: Option<&'a Memory>,
    ) -> Result<Self> {
        // The user's own images, too. Without a word about the network it is that of the records which have none.
        let images = matches!(problem.train.inputs(), Inputs::Images { .. });
        let own = if images { Some(Backbone::Lift { normed: false }) } else { Backbone::equivariant(&config.data) };
        let backbone = config.backbone.or(own);
        if !images && matches!(backbone, Some(Backbone::Patch { .. } | Backbone::Lift { .. })) {
            let (expected, got) = ("`orbit` or `feedforward`: these data are no images".into(), "one for images".into());
            return Err(Error::Setting { name: "backbone", expected, got });
        }
        let (settings, seed) = (&config.settings, config.seed);
        let base = FitConfig { head, backbone, seed, ..FitConfig::new(config.data, Method::Cgreg) };
        let built = base.build(problem, &Device::flex())?;
        let measure = problem.measure;
        Ok(Self { problem, base, built, settings, seed, measure, stop, epochs, memory })
    }

    /// A seed of its own for every fresh start; the first is the seed itself.
    fn start_seed(&self, start: u64) -> u64 {
        self.seed ^ (start << 32)
    }

    fn begin(&self, begin: Begin<'_, Trained>, imposed: &GroupSet) -> Result<(Network, u64)> {
        match begin {
            Begin::From(model) => {
                let network = self.built.impose(model.network.clone(), imposed, self.problem)?;
                Ok((network, self.start_seed(REFIT_STREAM)))
            }
            Begin::Fresh(start) => {
                let seed = self.start_seed(start as u64);
                let config = FitConfig { seed, ..self.base.clone() };
                Ok((config.build_with(self.problem, Some(imposed), &Device::flex())?.network, seed))
            }
            Begin::Grown(simpler, start) => {
                let seed = self.start_seed(start as u64 ^ GROWN_STREAM);
                let grown = simpler.network.cg().cloned().and_then(|affine| affine.grow(&mut Init::new(seed, &Device::flex())));
                let grown = grown.expect("only networks that have room for it are grown");
                Ok((grown.into(), seed))
            }
        }
    }

    /// Of targets that are numbers; classes have none, and losses of about 1.
    fn deviation(&self) -> f64 {
        Measure::variance(&self.problem.train).map_or(1.0, f64::sqrt)
    }

    /// What a fit is known by. Equal keys have equal results.
    fn key(&self, request: &Request<'_, Trained>) -> Option<Digest> {
        let begin = match request.begin {
            Begin::Fresh(start) => format!("fresh {start}"),
            Begin::From(model) => format!("from {}", model.key?),
            Begin::Grown(simpler, start) => format!("grown {start} {}", simpler.key?),
        };
        let watch = match request.watch {
            Some(Watch { control, limits: Limits { goal, slack, tolerance } }) => {
                format!("{} {:x} {:x} {:x}", control.key?, goal.to_bits(), slack.to_bits(), tolerance.to_bits())
            }
            None => "none".into(),
        };
        let imposed: Vec<usize> = request.imposed.iter().collect();
        let parts = [format!("{:?} {:?} {imposed:?}", self.base.head, request.effort), begin, watch];
        self.memory?.key(&parts)
    }

    fn watcher<'w>(&self, watch: Watch<'w, Trained>) -> Watcher<'w> {
        Watcher::new(&watch.control.curve, self.measure, watch.limits, self.problem.validation.len())
    }
}

impl Fitter for Networks<'_> {
    type Model = Trained;

    fn candidates(&self) -> usize {
        self.problem.groups().len()
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        self.built.closure(set, self.problem)
    }

    fn fit(&self, request: &Request<'_, Trained>) -> Result<Fitted<Trained>> {
        if self.built.vanishes(request.imposed, self.problem)? {
            // Signs can cancel everything: a layer that must vanish answers nothing.
            let (blind, _) = self.begin(Begin::Fresh(0), &GroupSet::empty())?;
            return Ok(self.diverged(blind, 0));
        }
        let (network, seed) = self.begin(request.begin, request.imposed)?;
        let max_epochs = match request.effort {
            Effort::Full => self.settings.epochs,
            Effort::Brief => self.settings.refit_epochs,
        };
        let grown = network.cg().is_some_and(CgFeedForward::is_grown);
        let key = self.key(request);
        let known = self.memory.zip(key).and_then(|(memory, key)| memory.recall(&key, network.clone()));
        if let Some((network, About { curve, epochs, ending })) = known {
            (self.epochs)(max_epochs);
            let scores = self.measure.scores(&network, &self.problem.validation)?;
            return Ok(Fitted { scores, model: Trained { network, curve, key }, epochs, ending });
        }
        let learning_rate = self.settings.learning_rate * if grown { GROWN_RATE } else { 1.0 };
        let config = TrainConfig {
            optimizer: Optimizer::Adam { learning_rate },
            schedule: Schedule::OneCycle,
            batch: self.settings.batch,
            max_epochs,
            stopping: StoppingConfig { patience: max_epochs.max(1), ..StoppingConfig::default() },
            lambda: 0.0,
            seed,
        };
        let mut watcher = request.watch.map(|watch| self.watcher(watch));
        let (mut ending, mut passed) = (Ending::Finished, 0);
        let observer = |epoch: &Epoch| {
            (self.epochs)(1);
            passed = epoch.epoch;
            match watcher.as_mut().and_then(|watcher| watcher.see(epoch)) {
                Some(early) => {
                    ending = early;
                    ControlFlow::Break(())
                }
                None => ControlFlow::Continue(()),
            }
        };
        let start = network.clone();
        let bending = if grown { BENDING * self.deviation() } else { 0.0 };
        let extras = Extras { bending, cancel: Some(self.stop.flag()), ..Extras::default() };
        let outcome = train(network, &self.problem.train, &self.problem.validation, &config, extras, observer);
        (self.epochs)(max_epochs.saturating_sub(passed));
        match outcome {
            Ok(fit) => {
                let scores = self.measure.scores(&fit.model, &self.problem.validation)?;
                if let Some((memory, key)) = self.memory.zip(key) {
                    memory.keep(&key, &fit.model, &About { curve: fit.curve.clone(), epochs: passed, ending })?;
                }
                let model = Trained { network: fit.model, curve: fit.curve, key };
                Ok(Fitted { scores, model, epochs: passed, ending })
            }
            Err(invar_nn::Error::Cancelled) => Err(Error::Stopped),
            Err(invar_nn::Error::Diverged { .. }) => Ok(self.diverged(start, passed)),
            Err(error) => Err(error.into()),
        }
    }

    /// The paper's network for sequences does: its affine head is an affine function of the sums over positions, and a hidden layer
    /// that grows from it bends no more than the data ask for.
    fn grows(&self) -> bool {
        let grows = |network: &CgFeedForward| network.head() == Head::Hidden && network.has_room();
        self.settings.grown && self.built.network.cg().is_some_and(grows)
    }

    fn together(&self, models: &[&Trained]) -> Result<Option<Scores>> {
        // Scores of classes have no median.
        let Targets::Values(_) = self.problem.validation.targets() else { return Ok(None) };
        self.measure.scores(&Trained::together(models)?, &self.problem.validation).map(Some)
    }
}

impl Trained {
    /// The networks of several fits as one that answers for all of them.
    pub fn together(models: &[&Self]) -> Result<Network> {
        let mut networks: Vec<Network> = models.iter().map(|model| model.network.clone()).collect();
        Ok(if networks.len() == 1 { networks.remove(0) } else { Ensemble::new(networks)?.into() })
    }
}

impl Networks<'_> {
    /// A fit whose loss left the numbers answers nothing.
    fn diverged(&self, network: Network, epochs: usize) -> Fitted<Trained> {
        let count = self.problem.validation.len();
        let each = match self.measure {
            Measure::Accuracy => PerExample::Right(vec![false; count]),
            Measure::RSquared { .. } => PerExample::Share(vec![0.0; count]),
        };
        let scores = Scores { each, loss: f64::MAX };
        Fitted { scores, model: Trained { network, curve: Vec::new(), key: None }, epochs, ending: Ending::Diverged }
    }
}

#[cfg(test)]
#[path = "networks_tests.rs"]
mod tests;

//! The networks that a screen fits: one kind on a problem, with any symmetries imposed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use burn::tensor::Device;
use invar_algebra::{Group, GroupSet};
use invar_nn::{
    Averaged, Dataset, Elements, Epoch, Extras, Head, Init, Inputs, Model, Network, Optimizer, Schedule, StoppingConfig, Targets,
    TrainConfig, evaluate, train,
};
use serde::{Deserialize, Serialize};

use super::config::{ScreenConfig, Settings, doubled};
use super::cost::{Cost, PerExample, Scores};
use super::fitter::{Exchange, Fitted, Fitter, Request};
use super::folds::{Fold, Folds, Ground, scaled};
use super::measure::Measure;
use super::memory::Memory;
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::networks::{Backbone, Built};
use crate::on_points::{OnPoints, Tied};
use crate::problem::Problem;
use crate::queue::Stop;
use crate::scaling::{Scaling, TargetScaling};

/// Most views that a plain network is averaged over.
const VIEWS: usize = 256;

/// A kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A function that is linear in features of one entry each: of arrays in the entries themselves.
    Linear,
    /// A network.
    Network(Backbone),
    /// A plain network that is trained on examples moved by what is imposed, and averaged over all views of an example. It can be a
    /// final model, and decides nothing.
    Averaged,
}

impl Kind {
    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Linear => "linear output",
            Self::Network(Backbone::Patch { .. }) => "convolutional network",
            Self::Network(Backbone::Lift { .. }) => "group-convolutional network",
            Self::Network(Backbone::Orbit) => "network on every view",
            Self::Network(Backbone::Feedforward) => "network with a hidden layer",
            Self::Network(Backbone::Pairs) => "network on pairs",
            Self::Averaged => "plain network averaged over views",
        }
    }
}

/// What is asked of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Constraint<'a> {
    /// It is exactly invariant to this set.
    imposed: &'a GroupSet,
    /// What its front treats alike, where it is one on points.
    front: Tied,
}

/// A trained network, with what was done to its inputs.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// What was done to the entries of an example; none where nothing was.
    pub scaling: Option<Scaling>,
    /// Every epoch.
    pub curve: Vec<Epoch>,
    /// On the examples that stopped it.
    pub scores: Scores,
}

/// Fits networks of one kind.
pub(super) struct Networks<'a> {
    pub(super) problem: &'a Problem,
    pub(super) kind: Kind,
    config: &'a ScreenConfig,
    settings: Settings,
    stop: &'a Stop,
    epochs: &'a (dyn Fn(usize) + Sync),
    memory: Option<&'a Memory>,
    folds: &'a Folds,
    /// Where candidates act on points.
    points: Option<OnPoints<'a>>,
    /// One such network where its CG layers know closures.
    built: Option<Built>,
    /// References by fold: a choice between kinds of networks has fitted them already.
    references: Mutex<HashMap<usize, (Fitted, Tied)>>,
}

impl<'a> Networks<'a> {
    pub(super) fn new(ground: Ground<'a>, kind: Kind) -> Result<Self> {
        let Ground { problem, config, folds, stop, epochs, memory } = ground;
        let mut networks = Self {
            problem,
            kind,
            config,
            settings: config.settings,
            stop,
            epochs,
            memory,
            folds,
            points: None,
            built: None,
            references: Mutex::default(),
        };
        match kind {
            Kind::Network(Backbone::Pairs) => networks.points = Some(OnPoints::of(problem)?),
            Kind::Network(Backbone::Orbit | Backbone::Lift { .. } | Backbone::Patch { .. }) => {
                networks.built = Some(networks.base(0).build_with(problem, None, &Device::flex())?);
            }
            Kind::Linear | Kind::Network(Backbone::Feedforward) | Kind::Averaged => {}
        }
        Ok(networks)
    }

    /// The settings of a network of this kind.
    fn base(&self, restart: usize) -> FitConfig {
        let (backbone, head) = match self.kind {
            Kind::Linear => (Backbone::Feedforward, Head::Affine),
            // The plain one has a method of its own.
            Kind::Network(Backbone::Feedforward) | Kind::Averaged => (Backbone::Feedforward, Head::Hidden),
            Kind::Network(backbone) => (backbone, Head::Affine),
        };
        let seed = self.config.seed ^ ((restart as u64) << 32);
        FitConfig { head, backbone: Some(backbone), seed, ..FitConfig::new(self.config.data, Method::Cgreg) }
    }

    fn draw(&self, constraint: Constraint<'_>, restart: usize) -> Result<Network> {
        let base = self.base(restart);
        let device = Device::flex();
        match &self.points {
            Some(points) => points.network(constraint.imposed, constraint.front, &mut Init::new(base.seed, &device)),
            None => Ok(base.build_with(self.problem, Some(constraint.imposed), &device)?.network),
        }
    }

    /// Scaling that commutes with what is imposed, or with all candidates where the front treats them alike.
    fn scaling(&self, constraint: Constraint<'_>, train: &Dataset) -> Option<Scaling> {
        let Inputs::Array { dim, values } = train.inputs() else { return None };
        let groups = self.problem.groups();
        // A network that looks at every view needs entries that all candidates move alike.
        let all = constraint.front == Tied::Everywhere || matches!(self.kind, Kind::Network(Backbone::Orbit));
        let imposed = || constraint.imposed.iter().map(|group| &groups[group]).collect::<Vec<_>>();
        Some(Scaling::of_arrays(values, *dim, if all { groups.iter().collect() } else { imposed() }))
    }

    /// A network on points learns numbers as of mean 0 and deviation 1: far from 0 most of its steps would go into the mean.
    fn target_scaling(&self, train: &Dataset) -> Option<TargetScaling> {
        match (self.kind, train.targets()) {
            (Kind::Network(Backbone::Pairs), Targets::Values(values)) => Some(TargetScaling::of(values)),
            _ => None,
        }
    }

    /// Trains on some examples until others stop it.
    fn train(&self, constraint: Constraint<'_>, data: [&Dataset; 2], restart: usize, epochs: usize) -> Result<Option<Trained>> {
        let network = self.draw(constraint, restart)?;
        let scaling = self.scaling(constraint, data[0]);
        let targets = self.target_scaling(data[0]);
        let [training, stopping] = data.map(|data| {
            let data = scaled(scaling.as_ref(), data);
            data.with_values(|value| targets.map_or(value, |targets| targets.scaled(value)))
        });
        let Settings { learning_rate, batch, .. } = self.settings;
        let config = TrainConfig {
            optimizer: Optimizer::Adam { learning_rate },
            schedule: Schedule::OneCycle,
            batch,
            max_epochs: epochs,
            stopping: StoppingConfig { patience: epochs, ..StoppingConfig::default() },
            lambda: 0.0,
            seed: self.config.seed ^ ((restart as u64) << 32),
        };
        let observer = |_: &Epoch| {
            (self.epochs)(1);
            ControlFlow::Continue(())
        };
        let extras = Extras { cancel: Some(self.stop.flag()), ..Extras::default() };
        match train(network, &training, &stopping, &config, extras, observer) {
            Ok(fit) => {
                let network = match (fit.model, targets) {
                    (Network::Pairs(pairs), Some(TargetScaling { mean, deviation })) => {
                        pairs.stretched(mean as f32, deviation as f32).into()
                    }
                    (network, _) => network,
                };
                let scores = self.problem.measure.scores(&network, &scaled(scaling.as_ref(), data[1]))?;
                Ok(Some(Trained { network, scaling, curve: fit.curve, scores }))
            }
            Err(invar_nn::Error::Cancelled) => Err(Error::Stopped),
            Err(invar_nn::Error::Diverged { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// One fit of a fold, remembered if there is a memory.
    fn fitted(&self, constraint: Constraint<'_>, fold: usize, restart: usize, epochs: usize) -> Result<Fitted> {
        let parts = (self.kind, constraint.imposed, constraint.front, fold, restart, epochs);
        let key = self.memory.and_then(|memory| memory.key(&parts));
        if let Some(known) = self.memory.zip(key).and_then(|(memory, key)| memory.recall(&key)) {
            (self.epochs)(epochs);
            return Ok(known);
        }
        let Fold { train, selection, decision } = &self.folds.each[fold];
        let fitted = match self.train(constraint, [train, selection], restart, epochs)? {
            Some(trained) => {
                let decision = trained.scores_on(self.problem.measure, decision)?;
                let fresh = self.folds.on_fresh(self.problem, &trained.network, trained.scaling.as_ref())?;
                Fitted { selection: trained.scores, decision, fresh }
            }
            None => Fitted {
                selection: self.nothing(selection),
                decision: self.nothing(decision),
                fresh: self.folds.fresh.as_ref().map(|_| 0.0),
            },
        };
        if let Some((memory, key)) = self.memory.zip(key) {
            memory.keep(&key, &fitted)?;
        }
        Ok(fitted)
    }

    /// With nothing imposed the better of all fronts, and which that is.
    fn best_reference(&self, fold: usize) -> Result<(Fitted, Tied)> {
        if let Some(found) = self.references.lock().unwrap_or_else(PoisonError::into_inner).get(&fold) {
            return Ok(found.clone());
        }
        let nothing = GroupSet::empty();
        let mut best: Option<(Fitted, Tied)> = None;
        for &front in self.fronts() {
            let fitted = self.fitted(Constraint { imposed: &nothing, front }, fold, 0, self.settings.epochs)?;
            if best.as_ref().is_none_or(|(best, _)| fitted.selection.loss < best.selection.loss) {
                best = Some((fitted, front));
            }
        }
        let best = best.ok_or(Error::Stopped)?;
        self.references.lock().unwrap_or_else(PoisonError::into_inner).insert(fold, best.clone());
        Ok(best)
    }

    /// Whether the network with nothing imposed is still learning in the first fold when its epochs end: with half of them it would
    /// surely lose more than symmetries may cost.
    pub(super) fn is_still_learning(&self) -> Result<bool> {
        let (reference, front) = self.best_reference(0)?;
        let half = self.settings.epochs / 2;
        if half == 0 {
            return Ok(true);
        }
        let half = self.fitted(Constraint { imposed: &GroupSet::empty(), front }, 0, 0, half)?;
        Ok(Cost::between(&reference.selection, &half.selection).lower > self.config.rule.tolerance)
    }

    /// A fit whose loss left the numbers answers nothing.
    fn nothing(&self, data: &Dataset) -> Scores {
        let each = match self.problem.measure {
            Measure::Accuracy => PerExample::Right(vec![false; data.len()]),
            Measure::RSquared { .. } => PerExample::Error(vec![1.0; data.len()]),
        };
        Scores { each, loss: f64::MAX }
    }

    /// What the front of a network may treat alike. Of entries that are like each other it learns more when it treats them alike,
    /// whatever is imposed behind it.
    fn fronts(&self) -> &'static [Tied] {
        if self.points.is_some() { &[Tied::AsImposed, Tied::Everywhere] } else { &[Tied::AsImposed] }
    }

    /// A plain network, trained on examples moved by what is imposed and averaged over all views. Nothing where there are too many
    /// views or it diverges.
    fn averaged(&self, imposed: &GroupSet, restart: usize) -> Result<Option<Trained>> {
        let groups: Vec<&Group> = imposed.iter().map(|one| &self.problem.groups()[one]).collect();
        let Inputs::Array { dim, values } = self.problem.train.inputs() else { return Ok(None) };
        let elements = if groups.is_empty() {
            None
        } else {
            // Too many views, no finite group, or decimals, which cannot be told apart: there is no such model.
            let whole = Group::join("imposed", groups.iter().copied()).ok().filter(|whole| whole.order() <= VIEWS.into());
            let Some(elements) = whole.and_then(|whole| Elements::of(&whole, VIEWS).ok()) else { return Ok(None) };
            Some(elements)
        };
        let scaling = Scaling::of_arrays(values, *dim, groups.iter().copied());
        let Some(problem) = self.problem.scaled(Some(&scaling)) else { return Ok(None) };
        let method = if groups.is_empty() { Method::Plain } else { Method::Augmented };
        let fit = FitConfig { method, ..plain_config(self.config, self.problem, restart) };
        let outcome = match fit.run_augmented(&problem, groups, self.stop, |_| (self.epochs)(1)) {
            Err(Error::Network(invar_nn::Error::Diverged { .. })) => return Ok(None),
            outcome => outcome?,
        };
        let network = match &elements {
            Some(elements) => Averaged::new(outcome.network, elements)?.into(),
            None => outcome.network,
        };
        let scores = self.problem.measure.scores(&network, &problem.validation)?;
        Ok(Some(Trained { network, scaling: Some(scaling), curve: outcome.record.curve, scores }))
    }

    /// The final model: of several initialisations the one with the smallest validation loss. Nothing where all diverge.
    pub(super) fn best(&self, imposed: &GroupSet, restarts: usize) -> Result<Option<Trained>> {
        // Averaged over all views any network has an answer left.
        if self.kind != Kind::Averaged && self.vanishes(imposed)? {
            return Ok(None);
        }
        let (train, validation) = (&self.problem.train, &self.problem.validation);
        let mut found: Option<Trained> = None;
        for &front in self.fronts() {
            for restart in 0..restarts {
                let made = match self.kind {
                    Kind::Averaged => self.averaged(imposed, restart)?,
                    _ => self.train(Constraint { imposed, front }, [train, validation], restart, self.settings.epochs)?,
                };
                if let Some(made) = made
                    && found.as_ref().is_none_or(|found| made.scores.loss < found.scores.loss)
                {
                    found = Some(made);
                }
            }
        }
        Ok(found)
    }
}

impl Trained {
    /// The scores of every example of some data.
    pub(super) fn scores_on(&self, measure: Measure, data: &Dataset) -> Result<Scores> {
        measure.scores(&self.network, &scaled(self.scaling.as_ref(), data))
    }

    /// The answer to every example.
    pub(super) fn answers(&self, data: &Dataset) -> Result<Vec<f64>> {
        Ok(evaluate(&self.network, &scaled(self.scaling.as_ref(), data))?.predictions)
    }

    /// The network in a line.
    pub fn describe(&self) -> String {
        self.network.describe()
    }
}

/// The settings of a plain network, trained as long as the others.
pub(super) fn plain_config(config: &ScreenConfig, problem: &Problem, restart: usize) -> FitConfig {
    let base = FitConfig::new(config.data, Method::Plain).with_schedule(Schedule::OneCycle, config.settings.epochs);
    let small = || matches!(problem.train.inputs(), Inputs::Images { .. }).then(Backbone::small);
    let patch = config.network.filter(|backbone| matches!(backbone, Backbone::Patch { .. }));
    let (learning_rate, batch) = (config.settings.learning_rate, config.settings.batch);
    let seed = config.seed ^ ((restart as u64) << 32);
    FitConfig { backbone: patch.or_else(small), learning_rate, batch, seed, ..base }
}

impl Fitter for Networks<'_> {
    fn candidates(&self) -> usize {
        self.problem.groups().len()
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        match (&self.points, &self.built) {
            (Some(points), _) => points.closure(set),
            (None, Some(built)) => built.closure(set, self.problem),
            (None, None) => linear_closure(self.problem, set),
        }
    }

    fn vanishes(&self, set: &GroupSet) -> Result<bool> {
        match (&self.points, &self.built) {
            (Some(_), _) => Ok(false),
            (None, Some(built)) => built.vanishes(set, self.problem),
            (None, None) => Ok(self.problem.invariant_basis(set)?.is_empty()),
        }
    }

    fn exchange(&self, candidate: usize) -> Option<Exchange> {
        let swap = self.problem.groups()[candidate].swap()?;
        Some(Exchange { family: swap.axes.clone(), pair: [swap.i, swap.j] })
    }

    fn folds(&self) -> usize {
        self.folds.each.len()
    }

    fn reference(&self, fold: usize) -> Result<Fitted> {
        Ok(self.best_reference(fold)?.0)
    }

    /// First with the front of the reference, so that like is compared with like; then with the other one.
    fn fit(&self, request: Request<'_>) -> Result<Fitted> {
        let first = if self.points.is_some() { self.best_reference(request.fold)?.1 } else { Tied::AsImposed };
        let front = if request.restart % 2 == 1 && self.points.is_some() { first.other() } else { first };
        let epochs = doubled(self.settings.epochs, request.doublings);
        self.fitted(Constraint { imposed: request.imposed, front }, request.fold, request.restart, epochs)
    }
}

/// cl(M) of one layer of invariant weights: every candidate that all invariant weights are invariant to.
fn linear_closure(problem: &Problem, set: &GroupSet) -> Result<GroupSet> {
    let dimension = |set: &GroupSet| -> Result<usize> { Ok(problem.invariant_basis(set)?.len()) };
    let own = dimension(set)?;
    let mut closed = set.clone();
    for candidate in 0..problem.groups().len() {
        if !closed.contains(candidate) && dimension(&set.with(candidate))? == own {
            closed.insert(candidate);
        }
    }
    Ok(closed)
}

//! The fits of a project: which there are, and how each becomes a model file of its own, so that a run that is cut short loses
//! no finished fit.

use std::path::{Path, PathBuf};

use invar_algebra::GroupSet;
use invar_data::Digest;
use invar_nn::{Bases, End, Epoch, Inputs, Lattices, Network};
use invar_program::Saved;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::bundle::Bundle;
use super::exact::Exact;
use super::file::{EvidenceFor, Project};
use super::grid::Grid;
use super::load::{Architecture, Loaded, on_shape};
use super::prepare::Prepared;
use super::run::{RECORDS, SCREENS};
use crate::error::{Error, Result};
use crate::files::claim;
use crate::fit::{FitConfig, Method, Outcome};
use crate::identity::identity;
use crate::networks::Backbone;
use crate::problem::Problem;
use crate::queue::{self, Stop};
use crate::record::{Record, Records};
use crate::reproduce::diverged;
use crate::scaling::Scaling;
use crate::screen::{Cost, Measure, Memory, Progress, Rule, ScreenConfig, ScreenRecord, Screened, check_folds};

/// What a listener hears.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// So many epochs are left, as far as it can be told, of something.
    Left(usize, String),
    /// Epochs that passed.
    Epochs(usize),
    /// How a fit is doing.
    Message(String),
    /// Something that was not as it should be, and what is done about it.
    Warning(String),
}

/// How to run fits.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Fits at once. The answer does not depend on it.
    pub threads: usize,
    /// Set to stop.
    pub stop: &'a Stop,
    /// Hears of progress.
    pub listen: &'a (dyn Fn(Event) + Sync),
}

/// What is kept with the model of a fit besides its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Notes {
    /// The network in one line.
    pub(super) network: String,
    /// Share of the weights that broke each candidate before; none where it was imposed.
    pub(super) violations: Option<Vec<f64>>,
    /// What making it exact cost.
    pub(super) exact_cost: Option<Cost>,
    /// Per candidate what imposing it on top would cost.
    pub(super) on_top: Vec<Option<Cost>>,
    /// The learning curve, where the record has none.
    pub(super) curve: Vec<Epoch>,
    /// What was done to inputs.
    pub(super) scaling: Option<Scaling>,
    /// cgreg: the level of each subspace, CG layer by CG layer.
    pub(super) levels: Vec<Vec<usize>>,
}

/// The one screen of the learner `screen`.
pub(super) fn screen(loaded: &Loaded, prepared: &Prepared) -> Result<ScreenConfig> {
    let train = &loaded.project.train;
    let mut config = ScreenConfig::new(prepared.data, &prepared.problem);
    let settings = &mut config.settings;
    settings.epochs = train.epochs.unwrap_or(settings.epochs);
    settings.learning_rate = train.learning_rate.unwrap_or(settings.learning_rate);
    settings.batch = train.batch.unwrap_or(settings.batch);
    settings.restarts = train.restarts.unwrap_or(settings.restarts);
    config.network = match loaded.architecture {
        Architecture::Lift => Some(Backbone::lift()),
        Architecture::Orbit | Architecture::OrbitImages => Some(Backbone::Orbit),
        Architecture::Feedforward => Some(Backbone::Feedforward),
        Architecture::Pairs => Some(Backbone::Pairs),
        Architecture::Auto | Architecture::Cnn => None,
    };
    config.folds = train.folds.unwrap_or(config.folds);
    config.required = required(loaded)?;
    config.all_alone = train.evidence == Some(EvidenceFor::All);
    config.augment = train.augment.unwrap_or(false);
    Ok(ScreenConfig { rule: loaded.project.rule(config.rule), seed: train.seed, ..config })
}

/// Refuses settings of a screen that its data and candidates alone show to be wrong.
pub(super) fn check_screen(loaded: &Loaded) -> Result<()> {
    required(loaded)?;
    loaded.project.rule(Rule::ACCURACY).check()?;
    let examples = loaded.train.len() + loaded.validation.len();
    loaded.project.train.folds.map_or(Ok(()), |folds| check_folds(folds, examples))
}

/// The candidates that are imposed whatever they cost, by their places in the list.
fn required(loaded: &Loaded) -> Result<GroupSet> {
    let mut required = GroupSet::empty();
    for candidate in loaded.project.train.require.iter().flatten() {
        let wanted = on_shape(std::slice::from_ref(candidate), &loaded.shape)?;
        for group in &wanted {
            let Some(place) = loaded.groups.iter().position(|one| one.is_same_as(group)) else {
                let expected = "candidates of the list in [symmetries]".into();
                return Err(Error::Setting { name: "[train] require", expected, got: group.name().into() });
            };
            required.insert(place);
        }
    }
    Ok(required)
}

/// The folder of a run: records, and a model file per fit.
pub(super) struct Store<'a> {
    pub(super) folder: &'a Path,
    /// What a model file depends on besides the configuration of its fit.
    beside: Digest,
}

impl Store<'_> {
    /// Creates the folders.
    pub(super) fn open<'a>(folder: &'a Path, project: &Project) -> Result<Store<'a>> {
        let fits = folder.join("fits");
        for path in [folder, &fits] {
            claim(path).map_err(|source| Error::File { what: "create", path: path.into(), source })?;
        }
        let data = &project.data;
        // The tolerance decides what is made exact; how files are read is written into the model.
        let beside =
            identity(&(project.tolerance(), data.format, &data.inputs, &data.label, data.header, &data.shape, data.layout))?;
        Ok(Store { folder, beside })
    }

    pub(super) fn records(&self) -> PathBuf {
        self.folder.join(RECORDS)
    }

    pub(super) fn screens(&self) -> PathBuf {
        self.folder.join(SCREENS)
    }

    /// The model file of a fit, named after everything that decided it.
    pub(super) fn model(&self, config: &impl Serialize) -> Result<PathBuf> {
        let name = Digest::of([identity(config)?.bytes(), self.beside.bytes()]).short();
        Ok(self.folder.join("fits").join(format!("{name}.invar")))
    }

    /// The model of a fit with its notes, if it is there.
    pub(super) fn load<N: DeserializeOwned>(&self, config: &impl Serialize) -> Result<Option<(Saved, N)>> {
        let path = self.model(config)?;
        if !path.exists() {
            return Ok(None);
        }
        let saved = Saved::load(&path)?;
        let wrong = |error: serde_json::Error| Error::Run { path: path.clone(), problem: error.to_string() };
        let notes = serde_json::from_value(saved.training.clone()).map_err(wrong)?;
        Ok(Some((saved, notes)))
    }

    /// Whether the model of a fit is there and sound. One that is damaged is made again, and the listener hears so.
    fn is_there(&self, config: &impl Serialize, options: RunOptions<'_>) -> Result<bool> {
        match self.load::<Notes>(config) {
            Ok(found) => Ok(found.is_some()),
            Err(error) if is_damage(&error) => {
                (options.listen)(Event::Warning(format!("{error}; this fit is made again")));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a file is to blame, not the system that reads it.
fn is_damage(error: &Error) -> bool {
    use invar_data::Error::{Io, Missing, TooLarge};
    let of_the_system = matches!(
        error,
        Error::File { .. } | Error::Program(invar_program::Error::Data(Io { .. } | Missing { .. } | TooLarge { .. }))
    );
    !of_the_system
}

/// Runs the fits of a grid that are not there yet. Returns the records, in the order of the grid.
pub(super) fn run_grid(
    grid: &Grid,
    store: &Store<'_>,
    loaded: &Loaded,
    prepared: &Prepared,
    options: RunOptions<'_>,
) -> Result<Vec<Record>> {
    let mut records: Records<Record> = Records::open(&store.records())?;
    let fits = grid.fits();
    // A baseline leaves a record and no model.
    let is_baseline = |fit: &FitConfig| grid.baselines.iter().any(|(_, baseline)| baseline == fit);
    let is_there = |fit: &FitConfig| -> Result<bool> {
        let Some(record) = records.find(fit) else { return Ok(false) };
        Ok(record.end == End::Diverged || is_baseline(fit) || store.is_there(fit, options)?)
    };
    let mut missing = Vec::new();
    for fit in &fits {
        fit.check()?;
        if !is_there(fit)? {
            missing.push(fit);
        }
    }
    let left = missing.iter().map(|fit| fit.max_epochs).sum();
    (options.listen)(Event::Left(left, format!("{} of {} fits", missing.len(), fits.len())));
    let own = own_scaling(&prepared.problem);
    let work = |fit: &&FitConfig| {
        if is_baseline(fit) {
            let made = train_one(fit, own.as_ref().unwrap_or(&prepared.problem), options)?;
            Ok(made.map(|(record, _)| record))
        } else {
            fit_one(fit, store, loaded, prepared, options)
        }
    };
    queue::run(&missing, options.threads, options.stop, work, |_, outcome| match outcome? {
        // A record without its model file is replaced in effect: the file is there now.
        Some(record) if records.find(&record.config).is_none() => records.add(record),
        _ => Ok(()),
    })?;
    if options.stop.is_stopped() {
        return Err(Error::Stopped);
    }
    fits.iter().map(|fit| records.find(fit).cloned().ok_or(Error::Stopped)).collect()
}

/// The problem of a baseline, which knows of no symmetry: every entry has a mean and deviation of its own.
fn own_scaling(problem: &Problem) -> Option<Problem> {
    let Inputs::Array { dim, values } = problem.train.inputs() else { return None };
    problem.scaled(Some(&Scaling::of_arrays(values, *dim, [])))
}

/// One fit. None when it was stopped, and no network when its loss left the numbers.
fn train_one(fit: &FitConfig, problem: &Problem, options: RunOptions<'_>) -> Result<Option<(Record, Option<Trained>)>> {
    let outcome = fit.run_unless(problem, options.stop, |epoch| {
        (options.listen)(Event::Epochs(1));
        let what = if fit.method == Method::Cgreg { format!("lambda {}", fit.lambda) } else { fit.method.title().into() };
        let (loss, accuracy) = (epoch.validation_loss, 100.0 * epoch.validation_accuracy);
        (options.listen)(Event::Message(match problem.measure {
            Measure::Accuracy => format!("{what}: loss {loss:.3}, validation {accuracy:.1} %"),
            Measure::RSquared { .. } => format!("{what}: loss {loss:.3}"),
        }));
    });
    match outcome {
        Err(Error::Network(invar_nn::Error::Diverged { .. })) => Ok(Some((diverged(fit, problem.chance), None))),
        Err(Error::Stopped) => Ok(None),
        outcome => {
            let Outcome { record, network, lattices } = outcome?;
            Ok(Some((record, Some(Trained { network, lattices }))))
        }
    }
}

/// A network, and the lattices of its CG layers where they are not the one of the problem.
struct Trained {
    network: Network,
    lattices: Option<Lattices>,
}

/// One fit, from fresh weights to its model file. None when it was stopped.
fn fit_one(
    fit: &FitConfig,
    store: &Store<'_>,
    loaded: &Loaded,
    prepared: &Prepared,
    options: RunOptions<'_>,
) -> Result<Option<Record>> {
    let problem = &prepared.problem;
    let (record, network, lattices) = match train_one(fit, problem, options)? {
        None => return Ok(None),
        Some((record, None)) => return Ok(Some(record)),
        Some((record, Some(Trained { network, lattices }))) => (record, network, lattices),
    };
    let levels = |bases: &Bases| bases.blocks.iter().map(|block| block.level).collect();
    let levels = match &lattices {
        Some(lattices) => lattices.layers().iter().map(|layer| levels(layer.bases())).collect(),
        None => vec![levels(problem.bases()?)],
    };
    let lattices = lattices.map_or_else(|| Lattices::single(problem.groups()), Ok)?;
    let exact = Exact::of(&network, &lattices, problem, loaded.project.tolerance())?;
    let notes = Notes {
        network: invar_nn::Model::describe(&network),
        violations: Some(exact.violations.clone()),
        exact_cost: Some(exact.cost),
        on_top: exact.on_top.clone(),
        curve: Vec::new(),
        scaling: prepared.scaling.clone(),
        levels,
    };
    let bundle = Bundle { loaded, prepared };
    let members = bundle.members_of_grid(&exact);
    bundle.saved(&exact.network, notes.scaling.as_ref(), &members, &notes)?.save(&store.model(fit)?)?;
    Ok(Some(record))
}

/// Runs the screen if it is not there yet.
pub(super) fn run_screen(
    config: &ScreenConfig,
    store: &Store<'_>,
    loaded: &Loaded,
    prepared: &Prepared,
    options: RunOptions<'_>,
) -> Result<ScreenRecord> {
    let mut records: Records<ScreenRecord> = Records::open(&store.screens())?;
    let memory = store.folder.join("screen");
    if let Some(record) = records.find(config)
        && store.is_there(config, options)?
    {
        // A program may have been killed before it removed what is of no more use.
        if memory.exists() {
            Memory::open(&memory, config)?.forget()?;
        }
        return Ok(record.clone());
    }
    let listen = |progress: Progress| match progress {
        Progress::Epochs(count) => (options.listen)(Event::Epochs(count)),
        Progress::Stage(stage, left) => (options.listen)(Event::Left(left, stage.into())),
    };
    let memory = Memory::open(&memory, config)?;
    let Screened { record, model } = config.screen(&prepared.problem, options.threads, options.stop, &listen, Some(&memory))?;
    let notes = Notes {
        network: model.describe(),
        violations: None,
        exact_cost: None,
        on_top: vec![None; record.names.len()],
        curve: Record::thinned(&model.curve),
        scaling: model.scaling.clone().or_else(|| prepared.scaling.clone()),
        levels: Vec::new(),
    };
    let bundle = Bundle { loaded, prepared };
    let members = Bundle::members_of_screen(&record);
    bundle.saved(&model.network, notes.scaling.as_ref(), &members, &notes)?.save(&store.model(config)?)?;
    if records.find(config).is_none() {
        records.add(record.clone())?;
    }
    memory.forget()?;
    Ok(record)
}

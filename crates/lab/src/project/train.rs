//! Training on a project, from its data to a model file and everything a report needs.

use std::path::Path;

use invar_algebra::{Group, GroupSet};
use invar_data::Digest;
use invar_program::{Program, Saved};

use super::examples::show;
use super::file::Learner;
use super::fits::{Notes, RunOptions, Store, check_screen, run_screen, screen};
use super::grid::by_grid;
use super::judge::{PartScore, answers, consistency, same_number};
use super::load::{Architecture, Loaded};
use super::prepare::Prepared;
use super::run::{Curve, KeptGroupFacts, MODEL, ModelLine, Run, Subspaces, VERSION};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::record::Metrics;
use crate::screen::{Cost, Measure, ModelRow, Normality, Role, Rule, ScreenRecord, blocks};
use crate::symmetry::Symmetry;

/// What a learner decided.
pub(super) struct Decided {
    pub(super) saved: Saved,
    pub(super) notes: Notes,
    pub(super) symmetries: Vec<Symmetry>,
    pub(super) models: Vec<ModelLine>,
    pub(super) curves: Vec<Curve>,
    pub(super) kept_cost: Option<Cost>,
    /// Why the verdicts say little.
    pub(super) weakness: Option<String>,
    /// Everything that a screen found.
    pub(super) screen: Option<ScreenRecord>,
    /// The subspaces that a penalty left, CG layer by CG layer.
    pub(super) subspaces: Vec<Vec<Subspaces>>,
    pub(super) seconds: f64,
}

/// Trains, or goes on where an earlier run was cut short: the model and the run are in the folder when this returns.
pub fn train(loaded: &Loaded, folder: &Path, options: RunOptions<'_>) -> Result<Run> {
    let learner = learner(loaded)?;
    // What is wrong with the settings is said before anything is written.
    if learner == Learner::Screen {
        check_screen(loaded)?;
    }
    let prepared = loaded.prepare()?;
    let store = Store::open(folder, &loaded.project)?;
    let decided = match learner {
        Learner::Cgreg => by_grid(loaded, &prepared, &store, options)?,
        Learner::Screen => by_screen(loaded, &prepared, &store, options)?,
    };
    let run = summary(loaded, &prepared, learner, &decided)?;
    // No times: equal runs make equal models.
    let training = serde_json::json!({
        "project": run.project, "learner": run.learner, "data": run.data, "examples": run.examples,
        "network": run.network, "scores": run.scores,
    });
    let path = folder.join(MODEL);
    Saved { training, ..decided.saved }.save(&path)?;
    let run = Run { seconds: decided.seconds, model: Digest::of_file(&path)?, ..run };
    run.save(folder)?;
    Ok(run)
}

/// The learner asked for, if it can take the network and knows what to do with every key.
pub(super) fn learner(loaded: &Loaded) -> Result<Learner> {
    let project = &loaded.project;
    let default = if loaded.architecture == Architecture::Cnn { Learner::Cgreg } else { Learner::Screen };
    let learner = project.train.learner.unwrap_or(default);
    let wrong = |name, expected: &str, got: String| Err(Error::Setting { name, expected: expected.into(), got });
    match learner {
        Learner::Screen if loaded.architecture == Architecture::Cnn => {
            wrong("[train] learner", "cgreg for a cnn; screen takes every other kind", "screen".into())
        }
        Learner::Screen if project.train.lambdas.is_some() => {
            wrong("[train] lambdas", "left out with the learner screen, which has no penalty", "given".into())
        }
        Learner::Screen if project.model.head.is_some() => {
            wrong("[model] head", "left out with the learner screen, which tries both", "given".into())
        }
        Learner::Cgreg if loaded.architecture == Architecture::Pairs => {
            wrong("[train] learner", "screen for the kind pairs", "cgreg".into())
        }
        Learner::Cgreg => {
            let train = &project.train;
            let given = [
                ("[train] restarts", train.restarts.is_some()),
                ("[train] only_shown", train.only_shown.is_some()),
                ("[train] folds", train.folds.is_some()),
                ("[train] require", train.require.is_some()),
                ("[train] evidence", train.evidence.is_some()),
                ("[train] augment", train.augment.is_some()),
            ];
            match given.into_iter().find(|(_, given)| *given) {
                Some((name, _)) => wrong(name, "left out with the learner cgreg", "given".into()),
                None => Ok(learner),
            }
        }
        Learner::Screen => {
            let train = &project.train;
            let given = [
                ("[train] penalty", train.penalty.is_some()),
                ("[train] temperature", train.temperature.is_some()),
                ("[train] schedule", train.schedule.is_some()),
            ];
            match given.into_iter().find(|(_, given)| *given) {
                Some((name, _)) => wrong(name, "left out with the learner screen, which has no penalty", "given".into()),
                None => Ok(learner),
            }
        }
    }
}

fn by_screen(loaded: &Loaded, prepared: &Prepared, store: &Store<'_>, options: RunOptions<'_>) -> Result<Decided> {
    let config = screen(loaded, prepared)?;
    let record = run_screen(&config, store, loaded, prepared, options)?;
    let (saved, notes): (Saved, Notes) = store.load(&config)?.ok_or(Error::Stopped)?;
    let symmetry = |group: usize| Symmetry {
        columns: exchanged(loaded, group),
        pair: pair(loaded, group),
        ..Symmetry::screened(&record, group)
    };
    Ok(Decided {
        symmetries: (0..record.names.len()).map(symmetry).collect(),
        models: lines(&record),
        curves: vec![Curve { name: "the final model".into(), chosen: true, points: notes.curve.clone() }],
        kept_cost: record.kept_cost().map(|tested| tested.cost),
        weakness: record.weakness.clone(),
        subspaces: Vec::new(),
        seconds: record.seconds,
        screen: Some(record),
        saved,
        notes,
    })
}

/// The columns that a candidate exchanges, where examples are rows of a table.
pub(super) fn exchanged(loaded: &Loaded, group: usize) -> Vec<String> {
    let columns = &loaded.train.columns;
    match loaded.groups[group].swap() {
        Some(swap) if loaded.shape.sides().len() == 1 => {
            [swap.i, swap.j].iter().filter_map(|&i| columns.get(i).cloned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The positions that a candidate exchanges.
pub(super) fn pair(loaded: &Loaded, group: usize) -> Option<[usize; 2]> {
    loaded.groups[group].swap().map(|swap| [swap.i, swap.j])
}

/// What a screen compares.
fn lines(record: &ScreenRecord) -> Vec<ModelLine> {
    let line = |row: &ModelRow| ModelLine {
        role: Some(row.role),
        name: if row.role == Role::Guess { guess_name(record.measure).into() } else { row.in_words() },
        validation: Some(row.validation),
        extrapolation: row.extrapolation,
        consistency: row.consistency,
        kept: match row.role {
            Role::Kept => Some(record.kept.len()),
            Role::Free => Some(0),
            Role::Plain | Role::Augmented | Role::Oracle | Role::Guess => None,
        },
        epochs: None,
        chosen: row.chosen,
    };
    record.models.iter().map(line).collect()
}

/// What a guess is called.
fn guess_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Accuracy => "most frequent answer",
        Measure::RSquared { .. } => "mean of the labels",
    }
}

/// The most frequent answer, as a model.
pub(super) fn guess(problem: &Problem) -> ModelLine {
    let metrics = |accuracy: f64| Metrics { loss: 0.0, accuracy };
    ModelLine {
        role: Some(Role::Guess),
        name: guess_name(problem.measure).into(),
        validation: Some(metrics(problem.guess())),
        extrapolation: problem.test.as_ref().map(|_| metrics(problem.chance)),
        consistency: None,
        kept: None,
        epochs: None,
        chosen: false,
    }
}

/// Judges the final model, as it will run elsewhere.
fn summary(loaded: &Loaded, prepared: &Prepared, learner: Learner, decided: &Decided) -> Result<Run> {
    let program = decided.saved.whole()?;
    let problem = &prepared.problem;
    let kept: GroupSet = (0..decided.symmetries.len()).filter(|&group| decided.symmetries[group].kept).collect();
    let rule = match &decided.screen {
        Some(record) => record.config.rule,
        None => Rule { tolerance: loaded.project.tolerance(), only_shown: false },
    };
    let parts = loaded.parts().filter(|(part, _)| *part != "training");
    let scores = parts
        .map(|(part, table)| Ok(PartScore::of(part, table, &answers(&program, &table.inputs, &table.labels)?, problem.measure)))
        .collect::<Result<_>>()?;
    Ok(Run {
        version: VERSION,
        invar: env!("CARGO_PKG_VERSION").into(),
        project: loaded.project.clone(),
        folder: loaded.project.folder.display().to_string(),
        data: prepared.data,
        goal: loaded.goal(),
        shape: loaded.shape.sides().to_vec(),
        classes: loaded.classes().to_vec(),
        examples: [loaded.train.len(), loaded.validation.len(), loaded.test.as_ref().map_or(0, invar_data::Table::len)],
        architecture: loaded.architecture,
        network: decided.notes.network.clone(),
        learner,
        rule,
        measure: problem.measure,
        scaling: decided.notes.scaling.clone(),
        targets: prepared.targets,
        symmetries: decided.symmetries.clone(),
        exact_cost: decided.notes.exact_cost,
        kept_cost: decided.kept_cost,
        group: group(loaded, &kept, &decided.symmetries),
        models: decided.models.clone(),
        curves: decided.curves.clone(),
        scores,
        chance: problem.chance,
        weakness: decided.weakness.clone(),
        screen: decided.screen.clone(),
        subspaces: decided.subspaces.clone(),
        true_symmetry: problem.symmetry.clone(),
        consistency: alike(loaded, prepared, &program, &kept)?,
        shown: show(loaded, &program, &decided.symmetries)?,
        seconds: 0.0,
        // Not written yet.
        model: Digest::of([""]),
    })
}

fn group(loaded: &Loaded, kept: &GroupSet, symmetries: &[Symmetry]) -> KeptGroupFacts {
    let (order, Normality { normal, witness, .. }) = Normality::of(&loaded.groups, kept, &|group| symmetries[group].shown());
    let columns = if loaded.shape.sides().len() == 1 { &loaded.train.columns[..] } else { &[] };
    let name = |position: usize| columns.get(position).cloned().unwrap_or_else(|| (position + 1).to_string());
    let named = |blocks: Vec<Vec<usize>>| blocks.into_iter().map(|block| block.into_iter().map(name).collect()).collect();
    KeptGroupFacts { order, normal, witness, blocks: blocks(&loaded.groups, kept).map(named) }
}

/// Consistency under what is kept, on validation examples.
fn alike(loaded: &Loaded, prepared: &Prepared, program: &Program, kept: &GroupSet) -> Result<Option<f64>> {
    if kept.is_empty() {
        return Ok(None);
    }
    let Ok(joined) = Group::join("kept", kept.iter().map(|group| &loaded.groups[group])) else { return Ok(None) };
    let table = &loaded.validation;
    let before = answers(program, &table.inputs, &table.labels)?;
    let same = same_number(prepared.problem.measure, prepared.targets);
    consistency(program, table, &joined, &before, same, loaded.project.train.seed).map(Some)
}

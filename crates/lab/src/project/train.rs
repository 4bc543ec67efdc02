//! Training on a project, from its data to a model file and everything a report needs.

use std::path::Path;

use invar_algebra::{Group, GroupSet};
use invar_data::Digest;
use invar_nn::End;
use invar_program::{Program, Saved};

use super::examples::show;
use super::file::Learner;
use super::fits::{How, Notes, Store, check_screen, grid, run_grid, run_screen, screen};
use super::judge::{PartScore, answers, consistency, scored};
use super::load::{Architecture, Loaded};
use super::prepare::Prepared;
use super::run::{Curve, FitLine, KeptGroupFacts, MODEL, Run, VERSION};
use crate::cgreg::choose_lambda;
use crate::error::{Error, Result};
use crate::record::Record;
use crate::screen::{Cost, Normality, Role, Rule, ScreenRecord, blocks};
use crate::symmetry::Symmetry;

/// What a learner decided.
struct Decided {
    saved: Saved,
    notes: Notes,
    symmetries: Vec<Symmetry>,
    fits: Vec<FitLine>,
    curves: Vec<Curve>,
    kept_cost: Option<Cost>,
    /// What speaks against trusting the verdicts.
    doubts: Vec<String>,
    seconds: f64,
}

/// Trains, or goes on where an earlier run was cut short: the model and the run are in the folder when this returns.
pub fn train(loaded: &Loaded, folder: &Path, how: How<'_>) -> Result<Run> {
    let learner = learner(loaded)?;
    // What is wrong with the settings is said before anything is written.
    if learner == Learner::Screen {
        check_screen(loaded)?;
    }
    let prepared = loaded.prepare()?;
    let store = Store::open(folder, &loaded.project)?;
    let decided = match learner {
        Learner::Cgreg => by_grid(loaded, &prepared, &store, how)?,
        Learner::Screen => by_screen(loaded, &prepared, &store, how)?,
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
            ];
            match given.into_iter().find(|(_, given)| *given) {
                Some((name, _)) => wrong(name, "left out with the learner cgreg", "given".into()),
                None => Ok(learner),
            }
        }
        Learner::Screen => Ok(learner),
    }
}

fn by_grid(loaded: &Loaded, prepared: &Prepared, store: &Store<'_>, how: How<'_>) -> Result<Decided> {
    let fits = grid(&loaded.project, loaded.architecture, prepared.data);
    let records = run_grid(&fits, store, loaded, prepared, how)?;
    let sound = || records.iter().filter(|record| record.end != End::Diverged);
    let scores: Vec<(f64, f64)> = sound().map(|record| (record.config.lambda, record.validation.accuracy)).collect();
    let chosen = choose_lambda(&scores, loaded.project.tolerance() / 100.0)
        .and_then(|lambda| sound().find(|record| record.config.lambda.total_cmp(&lambda).is_eq()));
    let Some(chosen) = chosen else {
        let expected = "so small that one fit converges".into();
        return Err(Error::Setting {
            name: "[train] learning_rate, or lambdas,",
            expected,
            got: "too large for each of them".into(),
        });
    };
    let (saved, notes): (Saved, Notes) = store.load(&chosen.config)?.ok_or(Error::Stopped)?;
    let is_chosen = |record: &Record| record.config == chosen.config;
    let line = |record: &Record| {
        let there = record.end != End::Diverged;
        FitLine {
            name: format!("lambda {}", record.config.lambda),
            validation: there.then_some(record.validation),
            extrapolation: record.extrapolation.filter(|_| there),
            kept: record.layer.as_ref().map(|layer| layer.groups.iter().filter(|group| group.kept).count()),
            epochs: Some(record.epochs),
            chosen: is_chosen(record),
        }
    };
    let curve = |record: &Record| Curve {
        name: format!("lambda {}", record.config.lambda),
        chosen: is_chosen(record),
        points: record.curve.clone(),
    };
    let members = saved.candidates.iter().flat_map(|candidate| &candidate.members);
    let symmetry = |(group, member): (usize, &invar_program::Member)| Symmetry {
        name: member.name.clone(),
        columns: exchanged(loaded, group),
        pair: pair(loaded, group),
        kept: member.kept,
        verdict: member.verdict.clone(),
        cost: notes.on_top[group],
        violation: notes.violations.as_ref().map(|violations| violations[group]),
        note: match (member.kept, &notes.on_top[group]) {
            (true, _) => "the penalty made the weights keep it".into(),
            (false, Some(_)) => "cost of imposing it on the trained network, without training again".into(),
            (false, None) => "no weights are left that keep it".into(),
        },
    };
    Ok(Decided {
        symmetries: members.enumerate().map(symmetry).collect(),
        fits: records.iter().map(line).collect(),
        curves: sound().map(curve).collect(),
        doubts: Vec::new(),
        kept_cost: against_best(loaded, store, sound(), chosen, &saved)?,
        seconds: records.iter().map(|record| record.seconds).sum(),
        saved,
        notes,
    })
}

fn by_screen(loaded: &Loaded, prepared: &Prepared, store: &Store<'_>, how: How<'_>) -> Result<Decided> {
    let config = screen(loaded, prepared)?;
    let record = run_screen(&config, store, loaded, prepared, how)?;
    let (saved, notes): (Saved, Notes) = store.load(&config)?.ok_or(Error::Stopped)?;
    let symmetry = |group: usize| Symmetry {
        columns: exchanged(loaded, group),
        pair: pair(loaded, group),
        ..Symmetry::screened(&record, group)
    };
    Ok(Decided {
        symmetries: (0..record.names.len()).map(symmetry).collect(),
        fits: lines(&record),
        curves: vec![Curve { name: "the final model".into(), chosen: true, points: notes.curve.clone() }],
        doubts: record.weakness.iter().cloned().collect(),
        kept_cost: record.kept_cost().map(|tested| tested.cost),
        seconds: record.seconds,
        saved,
        notes,
    })
}

/// The columns that a candidate exchanges, where examples are rows of a table.
fn exchanged(loaded: &Loaded, group: usize) -> Vec<String> {
    let columns = &loaded.train.columns;
    match loaded.groups[group].swap() {
        Some(swap) if loaded.shape.sides().len() == 1 => {
            [swap.i, swap.j].iter().filter_map(|&i| columns.get(i).cloned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The positions that a candidate exchanges.
fn pair(loaded: &Loaded, group: usize) -> Option<[usize; 2]> {
    loaded.groups[group].swap().map(|swap| [swap.i, swap.j])
}

/// What the chosen fit costs against the one with the best validation score.
fn against_best<'a>(
    loaded: &Loaded,
    store: &Store<'_>,
    records: impl Iterator<Item = &'a Record>,
    chosen: &Record,
    saved: &Saved,
) -> Result<Option<Cost>> {
    if saved.candidates.iter().flat_map(|candidate| &candidate.members).all(|member| !member.kept) {
        return Ok(None);
    }
    let best = records.max_by(|a, b| a.validation.accuracy.total_cmp(&b.validation.accuracy));
    let Some(best) = best.filter(|best| best.config != chosen.config) else { return Ok(None) };
    let Some((reference, _)) = store.load::<Notes>(&best.config)? else { return Ok(None) };
    let table = &loaded.validation;
    let of = |saved: &Saved| -> Result<_> { Ok(scored(table, &answers(&saved.whole()?, &table.inputs, &table.labels)?)) };
    Ok(Some(Cost::between(&of(&reference)?, &of(saved)?)))
}

/// What a screen compares.
fn lines(record: &ScreenRecord) -> Vec<FitLine> {
    let line = |row: &crate::screen::ModelRow| FitLine {
        name: row.in_words(),
        validation: Some(row.validation),
        extrapolation: row.extrapolation,
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

/// Judges the final model, as it will run elsewhere.
fn summary(loaded: &Loaded, prepared: &Prepared, learner: Learner, decided: &Decided) -> Result<Run> {
    let program = decided.saved.whole()?;
    let problem = &prepared.problem;
    let kept: GroupSet = (0..decided.symmetries.len()).filter(|&group| decided.symmetries[group].kept).collect();
    let rule = match learner {
        Learner::Cgreg => Rule { tolerance: loaded.project.tolerance(), only_shown: false },
        Learner::Screen => loaded.project.rule(),
    };
    let parts = loaded.parts().filter(|(part, _)| *part != "training");
    let scores = parts
        .map(|(part, table)| Ok(PartScore::of(part, table, &answers(&program, &table.inputs, &table.labels)?)))
        .collect::<Result<_>>()?;
    Ok(Run {
        version: VERSION,
        invar: env!("CARGO_PKG_VERSION").into(),
        project: loaded.project.clone(),
        folder: loaded.project.folder.display().to_string(),
        data: prepared.data,
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
        group: group(loaded, &kept),
        fits: decided.fits.clone(),
        curves: decided.curves.clone(),
        scores,
        chance: problem.chance,
        doubts: decided.doubts.clone(),
        consistency: alike(loaded, prepared, &program, &kept)?,
        shown: show(loaded, &program, &|group| kept.contains(group))?,
        seconds: 0.0,
        // Not written yet.
        model: Digest::of([""]),
    })
}

fn group(loaded: &Loaded, kept: &GroupSet) -> KeptGroupFacts {
    let (order, Normality { normal, witness, .. }) = Normality::of(&loaded.groups, kept);
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
    let seed = loaded.project.train.seed;
    consistency(program, table, &joined, &before, prepared.targets, seed).map(Some)
}

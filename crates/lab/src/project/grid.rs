//! The learner `cgreg` on a project: a fit for each strength of the penalty, baselines beside them, and the rule that picks one.

use invar_nn::{Depth, End, Head, Inputs, PenaltyConfig, Pool, Proxy, Size};
use invar_program::Saved;

use super::file::{Penalty, Project};
use super::fits::{Notes, RunOptions, Store, run_grid};
use super::judge::{answers, scored};
use super::load::{Architecture, Loaded};
use super::prepare::Prepared;
use super::run::{Curve, ModelLine, Subspaces};
use super::train::{Decided, exchanged, guess, pair};
use crate::cgreg::{Defaults, choose_lambda};
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method, USED};
use crate::networks::Backbone;
use crate::record::Record;
use crate::screen::{Cost, Role};
use crate::symmetry::Symmetry;

/// The fits of the learner.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    /// One for each strength of the penalty.
    pub(super) penalised: Vec<FitConfig>,
    /// A linear output and a plain network, with nothing imposed.
    pub(super) baselines: Vec<(Role, FitConfig)>,
}

impl Grid {
    pub(super) fn of(loaded: &Loaded, prepared: &Prepared) -> Self {
        let Project { train, model, .. } = &loaded.project;
        let defaults = Defaults::of(&prepared.problem);
        let (backbone, head) = match loaded.architecture {
            Architecture::Lift => (Some(Backbone::lift()), Head::Affine),
            Architecture::Cnn => {
                (Some(Backbone::Patch { depth: Depth::Reference, width: 0.5, pool: Pool::Symmetric }), Head::Hidden)
            }
            Architecture::Feedforward | Architecture::Auto | Architecture::Pairs => (None, Head::Hidden),
            Architecture::Orbit | Architecture::OrbitImages => (Some(Backbone::Orbit), Head::Affine),
        };
        let schedule = train.schedule.unwrap_or(defaults.schedule);
        let base = FitConfig {
            head: model.head.unwrap_or(head),
            penalty: penalty(&loaded.project),
            learning_rate: train.learning_rate.unwrap_or(defaults.learning_rate),
            backbone,
            batch: train.batch.unwrap_or(defaults.batch),
            seed: train.seed,
            ..FitConfig::new(prepared.data, Method::Cgreg).with_schedule(schedule, train.epochs.unwrap_or(defaults.epochs))
        };
        let lambdas = train.lambdas.clone().unwrap_or_else(|| defaults.lambdas.to_vec());
        let mut penalised: Vec<FitConfig> = Vec::new();
        for lambda in lambdas {
            let fit = FitConfig { lambda, ..base.clone() };
            if !penalised.contains(&fit) {
                penalised.push(fit);
            }
        }
        let images = matches!(prepared.problem.train.inputs(), Inputs::Images { .. });
        let plain = FitConfig { method: Method::Plain, backbone: images.then(Backbone::small), ..base.clone() };
        let linear = FitConfig { head: Head::Affine, backbone: None, ..base };
        let linear = (!images && !penalised.contains(&linear)).then_some((Role::Free, linear));
        Self { penalised, baselines: linear.into_iter().chain([(Role::Plain, plain)]).collect() }
    }

    /// All of them.
    pub(super) fn fits(&self) -> Vec<FitConfig> {
        self.penalised.iter().chain(self.baselines.iter().map(|(_, fit)| fit)).cloned().collect()
    }
}

fn penalty(project: &Project) -> PenaltyConfig {
    let temperature = project.train.temperature;
    match project.train.penalty.unwrap_or(Penalty::Levels) {
        Penalty::Levels => {
            PenaltyConfig::Levels { size: Size::Norm, proxy: Proxy::Ratio, temperature: temperature.unwrap_or(1.0) }
        }
        Penalty::Violations => PenaltyConfig::Violations { temperature: temperature.unwrap_or(100.0) },
    }
}

/// Runs what is missing, and decides.
pub(super) fn by_grid(loaded: &Loaded, prepared: &Prepared, store: &Store<'_>, options: RunOptions<'_>) -> Result<Decided> {
    let grid = Grid::of(loaded, prepared);
    let records = run_grid(&grid, store, loaded, prepared, options)?;
    let (penalised, baselines) = records.split_at(grid.penalised.len());
    let sound = || penalised.iter().filter(|record| record.end != End::Diverged);
    let scores: Vec<(f64, f64)> = sound().map(|record| (record.config.lambda, record.validation.accuracy)).collect();
    let chosen = choose_lambda(&scores, loaded.project.tolerance() / 100.0)
        .and_then(|lambda| sound().find(|record| record.config.lambda.total_cmp(&lambda).is_eq()));
    let Some(chosen) = chosen else {
        let (expected, got) = ("so small that one fit converges".into(), "too large for each of them".into());
        return Err(Error::Setting { name: "[train] learning_rate, or lambdas,", expected, got });
    };
    let (saved, notes): (Saved, Notes) = store.load(&chosen.config)?.ok_or(Error::Stopped)?;
    let is_chosen = |record: &Record| record.config == chosen.config;
    let mut models: Vec<ModelLine> = penalised.iter().map(|record| line(record, is_chosen(record))).collect();
    models.extend(grid.baselines.iter().zip(baselines).map(|((role, _), record)| {
        let name = if *role == Role::Plain { "plain network" } else { "nothing imposed, linear output" };
        ModelLine { role: Some(*role), name: name.into(), ..line(record, false) }
    }));
    models.push(guess(&prepared.problem));
    let curve = |record: &Record| Curve {
        name: format!("lambda {}", record.config.lambda),
        chosen: is_chosen(record),
        points: record.curve.clone(),
    };
    Ok(Decided {
        symmetries: symmetries(loaded, &saved, &notes),
        curves: sound().map(curve).collect(),
        weakness: weakness(loaded, prepared, &models),
        models,
        screen: None,
        subspaces: subspaces(chosen, &notes),
        kept_cost: against_best(loaded, prepared, store, sound(), chosen, &saved)?,
        seconds: records.iter().map(|record| record.seconds).sum(),
        saved,
        notes,
    })
}

fn line(record: &Record, chosen: bool) -> ModelLine {
    let there = record.end != End::Diverged;
    let free = record.config.lambda.total_cmp(&0.0).is_eq();
    ModelLine {
        role: match (chosen, free) {
            (true, _) => Some(Role::Kept),
            (false, true) => Some(Role::Free),
            (false, false) => None,
        },
        name: format!("lambda {}{}", record.config.lambda, if free { ", nothing imposed" } else { "" }),
        validation: there.then_some(record.validation),
        extrapolation: record.extrapolation.filter(|_| there),
        consistency: record.consistency.filter(|_| there),
        kept: record.layer.as_ref().map(|layer| layer.groups.iter().filter(|group| group.kept).count()),
        epochs: Some(record.epochs),
        chosen,
    }
}

fn symmetries(loaded: &Loaded, saved: &Saved, notes: &Notes) -> Vec<Symmetry> {
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
    saved.candidates.iter().flat_map(|candidate| &candidate.members).enumerate().map(symmetry).collect()
}

/// Which subspaces of each CG layer the chosen network uses.
fn subspaces(chosen: &Record, notes: &Notes) -> Vec<Vec<Subspaces>> {
    let Some(layer) = &chosen.layer else { return Vec::new() };
    let of = |(norms, levels): (&Vec<f64>, &Vec<usize>)| {
        let total: f64 = norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let all: Vec<(usize, bool)> = levels.iter().copied().zip(norms.iter().map(|&norm| norm > USED * total)).collect();
        let level = |run: &[(usize, bool)]| Subspaces { level: run[0].0, used: run.iter().map(|(_, used)| *used).collect() };
        all.chunk_by(|a, b| a.0 == b.0).map(level).collect()
    };
    std::iter::once(&layer.norms).chain(&layer.later).zip(&notes.levels).map(of).collect()
}

/// Where a network without penalty hardly beats a guess, or loses to a plain one, what the penalty keeps says little.
fn weakness(loaded: &Loaded, prepared: &Prepared, models: &[ModelLine]) -> Option<String> {
    let score = |name: &str| models.iter().find(|line| line.name.starts_with(name))?.validation.map(|metrics| metrics.accuracy);
    let measure = prepared.problem.measure;
    let show = |score: f64| measure.show(score);
    let free = score("lambda 0")?;
    let guess = prepared.problem.guess();
    let margin = loaded.project.tolerance() / 100.0;
    let advice = "Try more epochs, the learner screen, another network or more data";
    if free - guess <= margin {
        return Some(format!("without penalty the network has {}, and a guess has {}. {advice}.", show(free), show(guess)));
    }
    let plain = models.iter().find(|line| line.role == Some(Role::Plain))?.validation?.accuracy;
    let loses = plain > free + margin;
    loses.then(|| format!("a plain network has {}, this one {} without penalty. {advice}.", show(plain), show(free)))
}

/// What the chosen fit costs against the one with the best validation score.
fn against_best<'a>(
    loaded: &Loaded,
    prepared: &Prepared,
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
    let (table, measure) = (&loaded.validation, prepared.problem.measure);
    let of =
        |saved: &Saved| -> Result<_> { Ok(scored(table, &answers(&saved.whole()?, &table.inputs, &table.labels)?, measure)) };
    Ok(Some(Cost::between(&of(&reference)?, &of(saved)?)))
}

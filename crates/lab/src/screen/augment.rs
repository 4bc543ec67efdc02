//! The baseline that people try first: a plain network, trained on random transformations by each candidate that does not hurt.

use invar_algebra::{Group, GroupSet};

use super::cost::{Cost, Scores};
use super::folds::Ground;
use super::record::{Augmented, ModelRow, Role};
use super::trials::Run;
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::problem::Problem;
use crate::queue;
use crate::record::Metrics;
use crate::scaling::Scaling;

/// A trained network on validation examples, and in both environments.
struct Made {
    scores: Scores,
    metrics: (Metrics, Option<Metrics>),
    consistency: Option<f64>,
    /// Accuracy or R² on fresh examples.
    fresh: Option<f64>,
}

/// Augments by each candidate alone; keeps those that lose at most the tolerance on validation, together if they do not fail then, else
/// one by one from the cheapest.
pub(super) fn augmented(ground: Ground<'_>, run: Run<'_>, base: &FitConfig) -> Result<Option<(ModelRow, Augmented)>> {
    let count = ground.problem.groups().len();
    (run.listen)("augmented networks", count + 2);
    let sets: Vec<GroupSet> =
        std::iter::once(GroupSet::empty()).chain((0..count).map(|one| GroupSet::empty().with(one))).collect();
    let mut made: Vec<Option<Made>> = sets.iter().map(|_| None).collect();
    let work = |set: &GroupSet| fit(ground, base, set);
    queue::run(&sets, run.threads, run.stop, work, |k, result| {
        made[k] = result?;
        Ok::<(), Error>(())
    })?;
    if run.stop.is_stopped() {
        return Err(Error::Stopped);
    }
    let Some(free) = made[0].take() else { return Ok(None) };
    let (reference, fresh) = (free.scores.clone(), free.fresh);
    let tolerance = ground.config.rule.tolerance;
    let cost = |made: &Option<Made>| made.as_ref().map(|made| Cost::between(&reference, &made.scores).points);
    let mut cheap: Vec<(f64, usize)> = (0..count).filter_map(|one| Some((cost(&made[one + 1])?, one))).collect();
    cheap.retain(|(cost, _)| *cost <= tolerance);
    cheap.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut kept: GroupSet = cheap.iter().map(|(_, one)| *one).collect();
    let mut best = fit(ground, base, &kept)?;
    if cost(&best).is_none_or(|cost| cost > tolerance) {
        (kept, best) = (GroupSet::empty(), Some(free));
        for (_, one) in cheap {
            let more = fit(ground, base, &kept.with(one))?;
            if cost(&more).is_some_and(|cost| cost <= tolerance) {
                kept.insert(one);
                best = more;
            }
        }
    }
    Ok(best.map(|made| {
        let true_cost = fresh.zip(made.fresh).map(|(free, made)| reference.points_between(free, made));
        let row = ModelRow {
            role: Role::Augmented,
            kind: None,
            chosen: false,
            validation: made.metrics.0,
            extrapolation: made.metrics.1,
            consistency: made.consistency,
        };
        (row, Augmented { kept, true_cost })
    }))
}

/// A plain network augmented by the group that some candidates generate; nothing where it diverges.
fn fit(ground: Ground<'_>, base: &FitConfig, set: &GroupSet) -> Result<Option<Made>> {
    let groups: Vec<&Group> = set.iter().map(|one| &ground.problem.groups()[one]).collect();
    let scaling = own_scaling(ground.problem, &groups);
    let scaled = ground.problem.scaled(scaling.as_ref());
    let problem = scaled.as_ref().unwrap_or(ground.problem);
    let method = if groups.is_empty() { Method::Plain } else { Method::Augmented };
    let config = FitConfig { method, ..base.clone() };
    match config.run_augmented(problem, groups, ground.stop, |_| (ground.epochs)(1)) {
        Err(Error::Network(invar_nn::Error::Diverged { .. })) => Ok(None),
        outcome => {
            let outcome = outcome?;
            let scores = problem.measure.scores(&outcome.network, &problem.validation)?;
            let record = outcome.record;
            let fresh = ground.folds.on_fresh(ground.problem, &outcome.network, scaling.as_ref())?;
            Ok(Some(Made { scores, metrics: (record.validation, record.extrapolation), consistency: record.consistency, fresh }))
        }
    }
}

/// Scaling of arrays that commutes with what transforms them.
fn own_scaling(problem: &Problem, by: &[&Group]) -> Option<Scaling> {
    match problem.train.inputs() {
        invar_nn::Inputs::Array { dim, values } => Some(Scaling::of_arrays(values, *dim, by.iter().copied())),
        _ => None,
    }
}

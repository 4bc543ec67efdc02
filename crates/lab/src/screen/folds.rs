//! The parts of the data that train, stop, select and decide, and what else all kinds of networks share.

use invar_nn::{Dataset, Model};
use rand::seq::SliceRandom;

use super::config::ScreenConfig;
use super::memory::Memory;
use crate::error::Result;
use crate::problem::Problem;
use crate::queue::Stop;
use crate::scaling::Scaling;

/// Stream of the seed that draws folds.
const FOLDS: u64 = 0xf01d;
/// Of the examples that select, one in so many stops fits.
const STOPPING: usize = 5;
/// The parts of the data in one fold.
pub(super) struct Fold {
    pub(super) train: Dataset,
    /// Stops fits, and selects.
    pub(super) selection: Dataset,
    /// Decides.
    pub(super) decision: Dataset,
}

/// The folds of a problem.
pub(super) struct Folds {
    pub(super) each: Vec<Fold>,
    /// Examples that decide nothing, for true costs.
    pub(super) fresh: Option<Dataset>,
}

impl Folds {
    /// A single fold decides on the validation examples of the problem; several take turns over all labelled examples.
    pub(super) fn of(problem: &Problem, count: usize, seed: u64) -> Result<Self> {
        let mut rng = invar_nn::rng(seed, FOLDS);
        let fold = |rest: &Dataset, mut rows: Vec<usize>, decision: Dataset| -> Result<Fold> {
            let stopping = rows.split_off(rows.len() - (rows.len() / STOPPING).max(1));
            Ok(Fold { train: rest.select(&rows)?, selection: rest.select(&stopping)?, decision })
        };
        if count == 1 {
            let mut rows: Vec<usize> = (0..problem.train.len()).collect();
            rows.shuffle(&mut rng);
            return Ok(Self { each: vec![fold(&problem.train, rows, problem.validation.clone())?], fresh: None });
        }
        let all = problem.train.followed_by(&problem.validation)?;
        let mut rows: Vec<usize> = (0..all.len()).collect();
        rows.shuffle(&mut rng);
        let part = |k: usize| k * rows.len() / count..(k + 1) * rows.len() / count;
        let of = |k: usize| {
            let rest = rows[..part(k).start].iter().chain(&rows[part(k).end..]).copied().collect();
            fold(&all, rest, all.select(&rows[part(k)])?)
        };
        Ok(Self { each: (0..count).map(of).collect::<Result<_>>()?, fresh: None })
    }

    /// The same with fresh examples, on which true costs are measured.
    pub(super) fn with_fresh(self, fresh: Option<Dataset>) -> Self {
        Self { fresh, ..self }
    }

    /// Accuracy or R² of a network on the fresh examples, if there are any.
    pub(super) fn on_fresh<M: Model>(&self, problem: &Problem, network: &M, scaling: Option<&Scaling>) -> Result<Option<f64>> {
        let share = |fresh| Ok(problem.metrics_on(network, &scaled(scaling, fresh))?.accuracy);
        self.fresh.as_ref().map(share).transpose()
    }

    /// Number of examples that train, stop and decide in the first.
    pub(super) fn sizes(&self) -> [usize; 3] {
        let fold = &self.each[0];
        [fold.train.len(), fold.selection.len(), fold.decision.len()]
    }
}

/// What all kinds of networks share.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) problem: &'a Problem,
    pub(super) config: &'a ScreenConfig,
    pub(super) folds: &'a Folds,
    pub(super) stop: &'a Stop,
    pub(super) epochs: &'a (dyn Fn(usize) + Sync),
    pub(super) memory: Option<&'a Memory>,
}
/// Data as a network sees them.
pub(super) fn scaled(scaling: Option<&Scaling>, data: &Dataset) -> Dataset {
    match scaling {
        Some(scaling) => data.clone().with_entries(|place, value| scaling.entry(place, value)),
        None => data.clone(),
    }
}

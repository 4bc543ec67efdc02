//! The fits of a fold, each made once: what a set of symmetries costs there.

use invar_algebra::GroupSet;

use super::cost::{Cost, PerExample, Scores};
use super::fitter::{Fitter, Request};
use crate::error::{Error, Result};
use crate::queue::{self, Stop};

/// Initialisations of a set before it is refused; of numbers, whose errors differ more from training to training.
const RESTARTS: usize = 2;
const RESTARTS_OF_NUMBERS: usize = 4;
/// How often the epochs of a set are doubled before it is refused, as long as that helps.
const DOUBLINGS: u32 = 2;
/// Of what a set costs too much, the share that twice the epochs must recover to be doubled again.
const HELPS: f64 = 1.0 / 3.0;

/// How to run fits.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Fits at once. The answer does not depend on it.
    pub threads: usize,
    /// Set to stop.
    pub stop: &'a Stop,
    /// Hears how many fits are still to be made at least, and of what.
    pub listen: &'a (dyn Fn(&'static str, usize) + Sync),
}

/// A set of symmetries, imposed together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    pub(super) set: GroupSet,
    /// On the examples that select.
    pub(super) cost: Cost,
    pub(super) loss: f64,
    /// The scores that decide.
    pub(super) decision: Scores,
    /// What it truly costs, where fresh examples are drawn.
    pub(super) true_cost: Option<f64>,
    /// How often its epochs were doubled.
    pub(super) doublings: u32,
}

/// A set that is refused so far, and what it cost at last.
type Refused<'s> = (&'s GroupSet, f64);

/// All fits of one fold.
pub(super) struct Trials<'a, F> {
    pub(super) fitter: &'a F,
    pub(super) fold: usize,
    pub(super) run: Run<'a>,
    tolerance: f64,
    selection: Scores,
    /// With nothing imposed, on the examples that decide.
    pub(super) reference: Scores,
    /// The same on fresh examples.
    fresh: Option<f64>,
    pub(super) known: Vec<Trial>,
    /// Sets fitted so far, and restarts of them.
    pub(super) fits: usize,
}

impl<'a, F: Fitter> Trials<'a, F> {
    pub(super) fn new(fitter: &'a F, fold: usize, tolerance: f64, run: Run<'a>) -> Result<Self> {
        let reference = fitter.reference(fold)?;
        let (selection, fresh, reference) = (reference.selection, reference.fresh, reference.decision);
        Ok(Self { fitter, fold, run, tolerance, selection, reference, fresh, known: Vec::new(), fits: 0 })
    }

    pub(super) fn find(&self, set: &GroupSet) -> Option<&Trial> {
        self.known.iter().find(|trial| trial.set == *set)
    }

    pub(super) fn accepts(&self, trial: &Trial) -> bool {
        trial.cost.points <= self.tolerance + 1e-9
    }

    /// Whether the examples that select show a cost to be within the tolerance.
    pub(super) fn is_sure_of(&self, trial: &Trial) -> bool {
        trial.cost.upper <= self.tolerance
    }

    /// Whether a set that was fitted stood; none where it was not.
    pub(super) fn stands(&self, set: &GroupSet) -> Option<bool> {
        self.find(set).map(|trial| self.accepts(trial))
    }

    /// Fits all sets that are not known yet. What is refused is fitted from another initialisation and for twice as long, and longer
    /// for as long as that helps: a symmetry can take more epochs to learn with than without. The best fit of a set counts.
    pub(super) fn make(&mut self, what: &'static str, sets: &[GroupSet]) -> Result<()> {
        let mut open: Vec<Refused<'_>> = Vec::new();
        for set in sets {
            if self.find(set).is_none() && open.iter().all(|(known, _)| *known != set) && !self.fitter.vanishes(set)? {
                open.push((set, f64::INFINITY));
            }
        }
        let restarts = match self.selection.each {
            PerExample::Right(_) => RESTARTS,
            PerExample::Error(_) => RESTARTS_OF_NUMBERS,
        };
        open = self.attempt(what, &open, 0, 0)?;
        let mut helped = open.clone();
        for doublings in 1..=DOUBLINGS {
            let longer = self.attempt(what, &helped, 1, doublings)?;
            helped = longer.into_iter().filter(|(set, cost)| self.helps(&helped, set, *cost)).collect();
        }
        for restart in 2..restarts {
            open.retain(|(set, _)| self.stands(set) == Some(false));
            self.attempt(what, &open, restart, 0)?;
        }
        Ok(())
    }

    /// Whether a set that costs so much now has recovered a good part of what it cost too much before.
    fn helps(&self, before: &[Refused<'_>], set: &GroupSet, cost: f64) -> bool {
        let known = before.iter().find(|(known, _)| *known == set);
        known.is_some_and(|(_, before)| before - cost >= HELPS * (before - self.tolerance))
    }

    /// Fits sets once more, and returns those that are still refused.
    fn attempt<'s>(
        &mut self,
        what: &'static str,
        sets: &[Refused<'s>],
        restart: usize,
        doublings: u32,
    ) -> Result<Vec<Refused<'s>>> {
        (self.run.listen)(what, sets.len() << doublings);
        let made = self.fit_all(&sets.iter().map(|(set, _)| *set).collect::<Vec<_>>(), restart, doublings)?;
        self.fits += made.len();
        let costs: Vec<f64> = made.iter().map(|trial| trial.cost.points).collect();
        for trial in made {
            match self.known.iter_mut().find(|known| known.set == trial.set) {
                Some(known) if known.cost.points > trial.cost.points => *known = trial,
                Some(_) => {}
                None => self.known.push(trial),
            }
        }
        let refused = sets.iter().zip(costs).filter(|((set, _), _)| self.stands(set) == Some(false));
        Ok(refused.map(|((set, _), cost)| (*set, cost)).collect())
    }

    fn fit_all(&self, sets: &[&GroupSet], restart: usize, doublings: u32) -> Result<Vec<Trial>> {
        let mut results: Vec<Option<Trial>> = sets.iter().map(|_| None).collect();
        let work = |imposed: &&GroupSet| -> Result<Trial> {
            let fitted = self.fitter.fit(Request { imposed, fold: self.fold, restart, doublings })?;
            let cost = Cost::between(&self.selection, &fitted.selection);
            let true_cost = self.fresh.zip(fitted.fresh).map(|(reference, fit)| self.reference.points_between(reference, fit));
            let (set, loss, decision) = ((*imposed).clone(), fitted.selection.loss, fitted.decision);
            Ok(Trial { set, cost, loss, decision, true_cost, doublings })
        };
        queue::run(sets, self.run.threads, self.run.stop, work, |k, result| {
            results[k] = Some(result?);
            Ok::<(), Error>(())
        })?;
        results.into_iter().collect::<Option<Vec<_>>>().ok_or(Error::Stopped)
    }
}

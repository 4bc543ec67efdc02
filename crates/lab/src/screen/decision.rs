//! What goes into a screen and what comes out of it.

use std::sync::Arc;

use invar_algebra::GroupSet;

use super::choose::Threshold;
use super::evidence::{Cost, Scores};
use super::fitter::Fitted;
use super::rule::Rule;
use super::trial::{Start, Trial, Verdict};
use crate::queue::Stop;

/// A full fit, and its short refit: the course that every model goes through that is compared with another.
#[derive(Debug)]
pub struct Course<M> {
    /// What it began with.
    pub start: Start,
    /// After the full fit; several refits can begin with the same one.
    pub first: Arc<Fitted<M>>,
    /// After the refit as well.
    pub last: Fitted<M>,
}

/// Fits of one model type (such as one head) with the chosen constraint.
#[derive(Debug)]
pub struct Refits<M> {
    /// One per start; last, where no fresh start does, those that meet the rule from other weights.
    pub courses: Vec<Arc<Course<M>>>,
    /// The one with the smallest validation loss among those that meet the rule, or else among fresh starts.
    pub best: usize,
    /// Several that answer together, unless the best alone is significantly better.
    pub together: Option<Together>,
    /// Cost against the type of model that decided; absent for that one.
    pub cost: Option<Cost>,
}

/// Courses whose models answer together.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// Which, in ascending order.
    pub members: Vec<usize>,
    /// Their common answers on the validation examples.
    pub scores: Scores,
}

impl<M> Refits<M> {
    /// The best model alone.
    pub fn best(&self) -> &Fitted<M> {
        &self.courses[self.best].last
    }

    /// What is answered with: several models together, or the best alone.
    pub fn scores(&self) -> &Scores {
        self.together.as_ref().map_or(&self.best().scores, |together| &together.scores)
    }

    /// The models that answer.
    pub fn members(&self) -> Vec<&M> {
        let together = self.together.as_ref().map_or(std::slice::from_ref(&self.best), |together| &together.members);
        together.iter().map(|&k| &self.courses[k].last.model).collect()
    }
}

/// What a rule decides.
#[derive(Debug)]
pub struct Decision<M> {
    /// The rule.
    pub rule: Rule,
    /// What is imposed: a closed set.
    pub kept: GroupSet,
    /// Per candidate.
    pub verdicts: Vec<Verdict>,
    /// Each rejected candidate on top of the chosen model.
    pub retests: Vec<Trial>,
    /// Per fitter, simplest first.
    pub refits: Vec<Refits<M>>,
    /// Which fitter is preferred.
    pub preferred: usize,
    /// What its answers cost against the reference, with everything imposed that is kept.
    pub cost: Cost,
    /// How the choice depends on the tolerance.
    pub by_tolerance: Vec<Threshold>,
}

/// Where the screen is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Step 1.
    Free,
    /// Step 2.
    Each,
    /// Step 2, second start.
    Confirm,
    /// Steps 3 and 4.
    Joint,
    /// Step 5, fresh starts.
    Refit,
    /// Step 5, rejected candidates once more.
    Retest,
}

impl Stage {
    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Free => "nothing imposed",
            Self::Each => "each symmetry alone",
            Self::Confirm => "rejections, from a second start",
            Self::Joint => "symmetries together",
            Self::Refit => "what was chosen, from fresh starts",
            Self::Retest => "what was rejected, once more",
        }
    }
}

/// Fits that are still to be made, as far as it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outlook {
    /// Of full effort.
    pub full: usize,
    /// Of brief effort.
    pub brief: usize,
}

/// How to run a screen.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Level of every test.
    pub alpha: f64,
    /// Fresh starts of step 5.
    pub starts: usize,
    /// Fits at once. The answer does not depend on it.
    pub threads: usize,
    /// Set to stop.
    pub stop: &'a Stop,
    /// Hears of every stage as it begins.
    pub listen: &'a (dyn Fn(Stage, Outlook) + Sync),
}

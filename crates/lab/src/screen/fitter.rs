//! What the decision asks of whatever is fitted: one function from a constraint to scores.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use super::evidence::Scores;
use crate::error::Result;

/// How long to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// From fresh weights, or those of a simpler model, to the end.
    Full,
    /// A short refit of weights that are nearly there.
    Brief,
}

/// Where a fit begins.
#[derive(Debug)]
pub enum Begin<'a, M> {
    /// Fresh weights, the k-th draw.
    Fresh(usize),
    /// The weights of a model, projected onto the constraint.
    From(&'a M),
    /// The function of a simpler model with the same constraint; what is drawn besides is the k-th draw.
    Grown(&'a M, usize),
}

// Not derived: a reference can be copied whatever it refers to.
impl<M> Clone for Begin<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Begin<'_, M> {}

/// What tells early how a refit will end.
#[derive(Debug)]
pub struct Watch<'a, M> {
    /// The same refit from the same weights without the constraint: what a fit should look like at each epoch.
    pub control: &'a M,
    /// What it is held against.
    pub limits: Limits,
}

/// What a refit is held against, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The score to reach. A fit that has it may stop.
    pub goal: f64,
    /// Every rule accepts a fit that ends this far below the goal.
    pub slack: f64,
    /// A fit that will clearly end further below the goal than this may be given up.
    pub tolerance: f64,
}

impl<M> Clone for Watch<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Watch<'_, M> {}

/// One fit to make.
#[derive(Debug)]
pub struct Request<'a, M> {
    /// The groups to impose exactly.
    pub imposed: &'a GroupSet,
    /// Where to begin.
    pub begin: Begin<'a, M>,
    /// For how long.
    pub effort: Effort,
    /// When to stop early; without it the fit runs to its end.
    pub watch: Option<Watch<'a, M>>,
}

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It ran to its end.
    Finished,
    /// It reached the goal early.
    Reached,
    /// It was given up: clearly too far below the goal. Its cost is an overestimate.
    Abandoned,
    /// The loss was no longer a number. It answers nothing.
    Diverged,
}

/// A finished fit.
#[derive(Debug, Clone)]
pub struct Fitted<M> {
    /// On the validation examples.
    pub scores: Scores,
    /// The trained model.
    pub model: M,
    /// Epochs trained.
    pub epochs: usize,
    /// How it ended.
    pub ending: Ending,
}

/// Fits models under constraints. Equal requests must give equal results.
pub trait Fitter: Sync {
    /// A trained model.
    type Model: Send + Sync;

    /// Number of candidate groups.
    fn candidates(&self) -> usize;

    /// cl(M): every candidate that a model with M imposed is invariant to, M among them.
    fn closure(&self, set: &GroupSet) -> Result<GroupSet>;

    /// Fits once.
    fn fit(&self, request: &Request<'_, Self::Model>) -> Result<Fitted<Self::Model>>;

    /// Whether its models begin as those of the next simpler type ([`Begin::Grown`]) in place of fresh weights.
    fn grows(&self) -> bool {
        false
    }

    /// The validation scores of an odd number of models that answer together; none where they cannot.
    fn together(&self, models: &[&Self::Model]) -> Result<Option<Scores>>;
}

//! What the learner asks of whatever is fitted.

use invar_algebra::GroupSet;

use super::cost::Scores;
use crate::error::Result;

/// A fit under a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request<'a> {
    /// The symmetries imposed exactly: a closed set.
    pub imposed: &'a GroupSet,
    /// Which fold decides; the others are trained on.
    pub fold: usize,
    /// Which random initialisation.
    pub restart: usize,
    /// How often the number of epochs is doubled.
    pub doublings: u32,
}

/// What came of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// On examples that stopped the fit, and that select.
    pub selection: Scores,
    /// On examples that neither trained, stopped nor selected anything: the fold.
    pub decision: Scores,
    /// Accuracy or R² on fresh examples, where the screen draws some.
    pub fresh: Option<f64>,
}

/// The exchange of two positions of a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exchange {
    /// The axes along which positions are exchanged; exchanges along the same axes are a family.
    pub family: Vec<usize>,
    /// The two positions.
    pub pair: [usize; 2],
}

/// Fits models under constraints. Equal requests must give equal results.
pub trait Fitter: Sync {
    /// Number of candidates.
    fn candidates(&self) -> usize;

    /// cl(M): every candidate that a model with M imposed is invariant to, M among them.
    fn closure(&self, set: &GroupSet) -> Result<GroupSet>;

    /// Whether there is no model that is invariant to a set, and has something to answer.
    fn vanishes(&self, set: &GroupSet) -> Result<bool>;

    /// The two positions that a candidate exchanges, if that is what it does.
    fn exchange(&self, candidate: usize) -> Option<Exchange>;

    /// Number of folds.
    fn folds(&self) -> usize;

    /// The model with nothing imposed that costs are measured against: the best there is, by the examples that select.
    fn reference(&self, fold: usize) -> Result<Fitted>;

    /// Fits once.
    fn fit(&self, request: Request<'_>) -> Result<Fitted>;
}

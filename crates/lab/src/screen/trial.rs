//! What was tried, what that says about a candidate, and what is decided about it.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use super::choose::{Dropped, Single};
use super::evidence::Cost;
use super::fitter::Ending;

/// What a fit began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The weights of the reference (0) or of the other free fit (1), projected.
    Free(usize),
    /// Fresh weights, the k-th draw; where models grow, what is drawn besides a simpler one.
    Fresh(usize),
    /// The weights of the model that was chosen, projected.
    Chosen,
}

/// One constraint tried once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// What was imposed: a closed set.
    pub imposed: GroupSet,
    /// From where.
    pub start: Start,
    /// Epochs trained.
    pub epochs: usize,
    /// How it ended.
    pub ending: Ending,
    /// Validation score in points.
    pub score: f64,
    /// Validation loss.
    pub loss: f64,
    /// Against the reference.
    pub cost: Cost,
}

/// What is known about one candidate alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Position in the list of candidates.
    pub group: usize,
    /// Every start that was tried; the cheapest counts, since a constraint that one start can live with is no contradiction.
    pub trials: Vec<Trial>,
    /// The cost that counts.
    pub cost: Cost,
    /// Its p-value, corrected over all candidates (Holm).
    pub adjusted: f64,
}

impl Evidence {
    /// The trial that counts.
    pub(super) fn best(trials: &[Trial]) -> &Trial {
        let diverged = |trial: &Trial| trial.ending == Ending::Diverged;
        let order = |a: &&Trial, b: &&Trial| diverged(a).cmp(&diverged(b)).then(a.cost.points.total_cmp(&b.cost.points));
        trials.iter().min_by(order).expect("every candidate is tried")
    }

    /// Whether the trial that counts was given up early: the cost is then an overestimate.
    pub fn is_abandoned(&self) -> bool {
        let mut counting = self.trials.iter().filter(|trial| trial.cost == self.cost).peekable();
        counting.peek().is_some() && counting.all(|trial| trial.ending == Ending::Abandoned)
    }

    pub(super) fn single(&self) -> Single {
        Single { cost: self.cost, adjusted: self.adjusted, abandoned: self.is_abandoned() }
    }
}

/// What is decided about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// Kept at no significant cost.
    KeptFreely,
    /// Kept at a significant cost within the tolerance.
    Tolerated,
    /// Kept, although its cost could be beyond the tolerance.
    Undecided,
    /// Not kept: alone it costs more than the rule allows, though not significantly more.
    Refused,
    /// Not kept: it costs too much alone.
    Contradicted,
    /// Not kept: it fits alone, but not with the others.
    Dropped(Dropped),
}

impl Verdict {
    /// Whether the candidate is kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::KeptFreely | Self::Tolerated | Self::Undecided)
    }

    /// The verdict in a word or two.
    pub fn in_words(&self) -> &'static str {
        match self {
            Self::KeptFreely => "kept freely",
            Self::Tolerated => "tolerated",
            Self::Undecided => "undecided, kept",
            Self::Refused => "undecided, not kept",
            Self::Contradicted => "contradicted",
            Self::Dropped(_) => "dropped",
        }
    }
}

//! What is written down of a screen.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use super::config::ScreenConfig;
use super::cost::Cost;
use super::decide::{Finding, Tested};
use super::facts::Facts;
use super::measure::Measure;
use super::networks::Kind;
use crate::record::{Metrics, Recorded};

/// What a model in a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What was kept is imposed.
    Kept,
    /// The same network with nothing imposed.
    Free,
    /// A network that knows nothing of symmetries.
    Plain,
    /// The plain network, trained on random transformations by each candidate that does not hurt validation.
    Augmented,
    /// The true symmetry is imposed.
    Oracle,
    /// The most frequent answer; of numbers the mean.
    Guess,
}

/// A model in every environment there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    /// What it is.
    pub role: Role,
    /// Which kind of network; none for a plain network and a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Whether it is the final model.
    #[serde(default)]
    pub chosen: bool,
    /// On held-out examples of the training environment.
    pub validation: Metrics,
    /// In the other environment, if there is one. Never used for a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolation: Option<Metrics>,
    /// Share of coupled pairs with one prediction (Definition 2); absent when nothing is irrelevant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<f64>,
}

impl ModelRow {
    /// In words.
    pub fn in_words(&self) -> String {
        let kind = self.kind.map_or("", Kind::in_words);
        match self.role {
            Role::Kept => format!("kept symmetries imposed, {kind}"),
            Role::Free => format!("nothing imposed, {kind}"),
            Role::Oracle => format!("oracle: true symmetries imposed, {kind}"),
            Role::Plain => "plain network".into(),
            Role::Augmented => "plain network, augmented by what does not hurt".into(),
            Role::Guess => "most frequent answer".into(),
        }
    }
}

/// What the baseline kept that augments by every candidate that does not hurt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augmented {
    /// The candidates that its training examples are moved by.
    pub kept: GroupSet,
    /// What that costs the plain network on fresh examples, where some are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_cost: Option<f64>,
}

/// A kind of network that was compared before it was decided which one decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedNetwork {
    /// Which.
    pub kind: Kind,
    /// With nothing imposed, on examples that select.
    pub score: f64,
}

/// What a screen was and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenRecord {
    /// Everything that decided it.
    pub config: ScreenConfig,
    /// Epochs of the final model: those asked for, or more where these were too few. 0 in records of programs that did not look.
    #[serde(default)]
    pub epochs: usize,
    /// Wall time.
    pub seconds: f64,
    /// Names of the candidates.
    pub names: Vec<String>,
    /// Training, validation and test examples.
    pub examples: [usize; 3],
    /// Of the first fold: examples that train, that select, that decide.
    pub fold: [usize; 3],
    /// What scores are.
    pub measure: Measure,
    /// Kinds of networks that were compared.
    pub networks: Vec<TriedNetwork>,
    /// The one that decided.
    pub decided_by: Kind,
    /// Its score with nothing imposed, on the examples that decide, and what a guess has there.
    pub reference: [f64; 2],
    /// What is kept: a closed set of candidates.
    pub kept: GroupSet,
    /// Per candidate.
    pub findings: Vec<Finding>,
    /// The selected sets, smallest first, as far as they were tested.
    pub chain: Vec<Tested>,
    /// Sets as large that fit as well, and exclude what is kept.
    pub rivals: Vec<Tested>,
    /// Whether the search ran out of fits.
    pub exhausted: bool,
    /// Sets of symmetries fitted, restarts counted.
    pub fits: usize,
    /// What the kept ones are as a group.
    pub facts: Facts,
    /// All models side by side.
    pub models: Vec<ModelRow>,
    /// What the linear output costs against the network, with the kept symmetries imposed; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear_cost: Option<Cost>,
    /// What augmentation kept, where it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augmented: Option<Augmented>,
    /// Why the verdicts say little, and what to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weakness: Option<String>,
    /// The candidates that do hold, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<GroupSet>,
}

impl ScreenRecord {
    /// The final model.
    pub fn chosen(&self) -> Option<&ModelRow> {
        self.models.iter().find(|row| row.chosen)
    }

    /// The first model of a role.
    pub fn model(&self, role: Role) -> Option<&ModelRow> {
        self.models.iter().find(|row| row.role == role)
    }

    /// The joint cost of what is kept.
    pub fn kept_cost(&self) -> Option<&Tested> {
        self.chain.iter().rev().find(|step| step.set == self.kept)
    }

    /// The positions that each candidate exchanges, when they are the swaps of one list of positions, from the first pair to the last.
    pub fn pairs(&self) -> Option<Vec<[usize; 2]>> {
        let n: usize = self.facts.blocks.as_ref()?.iter().map(Vec::len).sum();
        let pairs: Vec<[usize; 2]> = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).collect();
        (pairs.len() == self.names.len()).then_some(pairs)
    }

    /// What the cost of a candidate is the cost of, in words.
    pub fn note(&self, candidate: usize) -> String {
        let finding = &self.findings[candidate];
        let Some(tested) = &finding.tested else {
            return match finding.alone {
                Some(_) => "imposed alone".into(),
                None => "not asked".into(),
            };
        };
        let others = tested.set.len().saturating_sub(1);
        let with = match (finding.kept, others) {
            (_, 0) => "imposed alone".into(),
            (true, 1) => "imposed together with another one".into(),
            (true, others) => format!("imposed together with {others} others"),
            (false, _) => "imposed on top of what is kept".to_owned(),
        };
        match finding.enough {
            Some(enough) => format!("{with}; about {enough} held-out examples would tell"),
            None => with,
        }
    }

    /// What a map of costs shows for a candidate: alone where it was fitted so, else what decided.
    pub fn cost(&self, candidate: usize) -> Option<Cost> {
        let finding = &self.findings[candidate];
        finding.alone.or_else(|| finding.tested.as_ref().map(|tested| tested.cost))
    }
}

impl Recorded for ScreenRecord {
    type Config = ScreenConfig;

    fn config(&self) -> &ScreenConfig {
        &self.config
    }
}

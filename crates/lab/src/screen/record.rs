//! What is written down of a screen: one line with all the evidence.

use invar_algebra::GroupSet;
use invar_nn::Head;
use serde::{Deserialize, Serialize};

use super::choose::Threshold;
use super::config::ScreenConfig;
use super::evidence::Cost;
use super::facts::Facts;
use super::networks::Measure;
use super::rule::Rule;
use super::trial::{Evidence, Trial, Verdict};
use crate::record::{Metrics, Recorded};
use crate::stats::Mean;

/// One model in both environments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartResult {
    /// In the training environment, on held-out examples.
    pub validation: Metrics,
    /// In the other environment, if there is one. Never used for a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolation: Option<Metrics>,
}

/// A model beside which the screened one stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// In both environments.
    pub result: StartResult,
    /// Share of coupled pairs answered alike (Definition 2); absent when nothing is irrelevant.
    pub consistency: Option<f64>,
}

/// The networks with one kind of head and a constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadResult {
    /// The head.
    pub head: Head,
    /// Every start.
    pub starts: Vec<StartResult>,
    /// The start with the smallest validation loss.
    pub picked: usize,
    /// Several starts that answer together in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Joined>,
    /// Of what answers: share of coupled pairs answered alike (Definition 2).
    pub consistency: Option<f64>,
    /// Cost against the head that decided, with the same constraint; absent for that one.
    pub cost: Option<Cost>,
}

/// Starts that answer together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// Their places in the list of starts.
    pub starts: Vec<usize>,
    /// Their common answers.
    pub result: StartResult,
}

impl HeadResult {
    /// The start that was picked, alone.
    pub fn picked(&self) -> &StartResult {
        &self.starts[self.picked]
    }

    /// What answers: several starts together, or the one that was picked.
    pub fn answers(&self) -> &StartResult {
        self.together.as_ref().map_or_else(|| self.picked(), |joined| &joined.result)
    }

    /// Its head, and how many starts answer.
    pub fn in_words(&self) -> String {
        let head = self.head.in_words();
        self.together.as_ref().map_or(head.into(), |joined| format!("{head}, median of {} starts", joined.starts.len()))
    }
}

/// What one rule decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The rule.
    pub rule: Rule,
    /// What is imposed: a closed set of candidates.
    pub kept: GroupSet,
    /// Per candidate.
    pub verdicts: Vec<Verdict>,
    /// The group that is kept.
    pub facts: Facts,
    /// Each rejected candidate on top of the chosen model.
    pub retests: Vec<Trial>,
    /// Simplest head first.
    pub heads: Vec<HeadResult>,
    /// The simplest head that is not significantly worse than the one that decided.
    pub preferred: usize,
    /// What its answers cost against the network with nothing imposed; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// How the choice depends on the tolerance, as far as the fits at hand tell.
    pub by_tolerance: Vec<Threshold>,
    /// What speaks against trusting what is kept: that hardly anything was learned with nothing imposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl Answer {
    /// The preferred head.
    pub fn preferred(&self) -> &HeadResult {
        &self.heads[self.preferred]
    }

    /// The result with this head.
    pub fn head(&self, head: Head) -> Option<&HeadResult> {
        self.heads.iter().find(|result| result.head == head)
    }
}

/// What a screen was and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenRecord {
    /// Everything that decided it.
    pub config: ScreenConfig,
    /// Wall time.
    pub seconds: f64,
    /// Names of the candidates.
    pub names: Vec<String>,
    /// Training, validation and test examples.
    pub examples: [usize; 3],
    /// What scores are points of.
    pub measure: Measure,
    /// Smallest cost in points that the validation examples could show to be significant, corrected over the candidates.
    pub detectable: f64,
    /// The head that costs were measured with: the hidden one, unless the affine one learns the task and that one does not.
    #[serde(default)]
    pub decided_by: Head,
    /// The fits with nothing imposed; the first is the reference.
    pub free: Vec<StartResult>,
    /// Per candidate.
    pub evidence: Vec<Evidence>,
    /// Every other constraint that was tried.
    pub joints: Vec<Trial>,
    /// Per rule.
    pub answers: Vec<Answer>,
    /// The candidates that do hold, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<GroupSet>,
    /// What a perfect decision would reach: the truth imposed, hidden head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<HeadResult>,
    /// A plain network, which knows nothing of symmetries; absent when it diverged.
    pub plain: Option<Comparison>,
    /// Accuracy of the most frequent training target: on the test set, or on validation examples without one.
    pub chance: f64,
}

impl ScreenRecord {
    /// What speaks for a candidate that is kept although alone it costs more than the rule allows: a trial together with others
    /// that are kept as well.
    pub fn speaks_for<'a>(&'a self, answer: &'a Answer, group: usize) -> Option<&'a Trial> {
        let alone = &self.evidence[group].cost;
        if !answer.kept.contains(group) || answer.rule.accepts(alone, self.config.settings.alpha) {
            return None;
        }
        let together = self.joints.iter().chain(&answer.retests);
        let fitting = together.filter(|trial| trial.imposed.contains(group) && trial.imposed.is_subset(&answer.kept));
        let best = fitting.min_by(|a, b| a.cost.points.total_cmp(&b.cost.points))?;
        (best.cost.points < alone.points).then_some(best)
    }

    /// What a cost is the cost of, and what else decided about a candidate.
    pub fn note(&self, answer: &Answer, group: usize) -> String {
        let names = |set: &GroupSet| set.iter().map(|group| self.names[group].as_str()).collect::<Vec<_>>().join(", ");
        let early = if self.evidence[group].is_abandoned() { ", at most: the fit was given up early" } else { "" };
        let alone = format!("cost of imposing it alone, against the network with nothing imposed{early}");
        match &answer.verdicts[group] {
            Verdict::Dropped(dropped) => match dropped.cost {
                Some(cost) => format!("fits alone; together with {} it costs {:.1} points", names(&dropped.with), cost.points),
                None => format!("fits alone; with {} it implies {}", names(&dropped.with), names(&dropped.implies)),
            },
            _ => match self.speaks_for(answer, group) {
                Some(trial) => format!("{alone}; together with others that are kept it costs {:.1} points", trial.cost.points),
                None => alone,
            },
        }
    }

    /// The positions that each candidate exchanges, when they are the swaps of one list of positions, from the first pair to the last.
    pub fn pairs(&self) -> Option<Vec<[usize; 2]>> {
        let n: usize = self.answers.first()?.facts.blocks.as_ref()?.iter().map(Vec::len).sum();
        let pairs: Vec<[usize; 2]> = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).collect();
        (pairs.len() == self.names.len()).then_some(pairs)
    }
}

impl Recorded for ScreenRecord {
    type Config = ScreenConfig;

    fn config(&self) -> &ScreenConfig {
        &self.config
    }
}

/// The cost of each candidate over seeds, in points, from records of one task.
pub fn cost_over_seeds(records: &[&ScreenRecord]) -> Vec<Mean> {
    let candidates = records.first().map_or(0, |record| record.evidence.len());
    let of = |g: usize| records.iter().filter_map(|record| Some(record.evidence.get(g)?.cost.points)).collect::<Vec<_>>();
    (0..candidates).filter_map(|g| Mean::of(&of(g))).collect()
}

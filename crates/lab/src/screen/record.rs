//! A screen of a task, from its configuration to its record: one line with all the evidence.

use std::time::Instant;

use invar_algebra::GroupSet;
use invar_nn::{Dataset, Epoch, Head, Inputs, Network, Schedule};
use serde::{Deserialize, Serialize};

use super::choose::Threshold;
use super::decide::Screen;
use super::decision::{Course, Decision, Outlook, Refits, Run, Stage, Together};
use super::evidence::{Cost, detectable};
use super::facts::Facts;
use super::memory::Memory;
use super::networks::{Measure, Networks, Trained};
use super::rule::Rule;
use super::trial::{Evidence, Trial, Verdict};
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::networks::Backbone;
use crate::problem::{Data, Problem};
use crate::queue::Stop;
use crate::record::{Metrics, Recorded};
use crate::stats::Mean;

/// How a screen trains and tests.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `epochs` | 300 | of a full fit | >= 1 |
/// | `refit_epochs` | 40 | of a refit | >= 1 |
/// | `learning_rate` | 4e-3 | highest of the one-cycle schedule | > 0 |
/// | `batch` | 128 | examples per step | >= 1 |
/// | `starts` | 3 | fresh starts of what was chosen; from three on they answer together where answers are numbers | >= 1 |
/// | `alpha` | 0.05 | level of every test | above 0, at most 0.5 |
/// | `grown` | yes | whether a hidden head begins as the fitted affine one; in feedforward networks with fewer than 64 outputs | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Epochs of a full fit.
    pub epochs: usize,
    /// Epochs of a refit.
    pub refit_epochs: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// Examples per step.
    pub batch: usize,
    /// Fresh starts of what was chosen.
    pub starts: usize,
    /// Level of every test.
    pub alpha: f64,
    /// Whether a hidden head begins as the affine one that was fitted, and bends from there; absent in older records, where it begins
    /// with fresh weights.
    #[serde(default)]
    pub grown: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { epochs: 300, refit_epochs: 40, learning_rate: 4e-3, batch: 128, starts: 3, alpha: 0.05, grown: true }
    }
}

impl Settings {
    /// For the lifted network on images: few epochs of many steps. A refit needs half of them, since imposing a symmetry on the
    /// eight directions changes more than on the positions of a sequence. Its heads do not grow: behind the ReLU of its CG layer even the
    /// affine one is no straight function.
    pub fn images() -> Self {
        Self { epochs: 8, refit_epochs: 4, batch: 64, starts: 2, grown: false, ..Self::default() }
    }

    /// With so many epochs, if another number is asked for; refits are as much shorter as before.
    #[must_use]
    pub fn with_epochs(self, epochs: Option<usize>) -> Self {
        let epochs = epochs.unwrap_or(self.epochs);
        Self { epochs, refit_epochs: (epochs * self.refit_epochs / self.epochs).max(1).min(epochs), ..self }
    }
}

/// Everything that decides a screen. Two screens with equal configurations have equal results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenConfig {
    /// The task and its sizes.
    pub data: Data,
    /// How to train and test.
    pub settings: Settings,
    /// What may be kept; each rule gets its own answer from the same fits.
    pub rules: Vec<Rule>,
    /// Which network; none for the one whose whole answer is invariant to what is imposed, for images the lifted one without a norm
    /// before its head, as it was when records had no word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backbone: Option<Backbone>,
    /// Seed of everything random.
    pub seed: u64,
}

/// What a listener hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A stage begins; so many epochs are left, as far as it can be told.
    Stage(Stage, usize),
    /// Epochs that passed, or that an early end saved.
    Epochs(usize),
}

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

/// A finished screen with its networks.
#[derive(Debug)]
pub struct Screened {
    /// What is written down.
    pub record: ScreenRecord,
    /// What answers, per rule: the network that was picked, or several.
    pub networks: Vec<Network>,
    /// The learning curve of the one that was picked: the full fit, then the refit.
    pub curves: Vec<Vec<Epoch>>,
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

/// Whose score tells whether anything was learned.
pub(crate) const NOTHING_IMPOSED: &str = "with nothing imposed the network has";

/// Heads, simplest first.
const HEADS: [Head; 2] = [Head::Affine, Head::Hidden];

impl ScreenConfig {
    /// The default screen of a task.
    pub fn new(data: Data) -> Self {
        let backbone = Backbone::equivariant(&data);
        Self { data, settings: Settings::default(), rules: vec![Rule::default()], backbone, seed: 0 }
    }

    fn check(&self) -> Result<()> {
        let Settings { epochs, refit_epochs, starts, alpha, .. } = self.settings;
        for (name, value) in
            [("number of epochs", epochs), ("number of refit epochs", refit_epochs), ("number of starts", starts)]
        {
            if value == 0 {
                return Err(Error::Setting { name, expected: "at least 1".into(), got: "0".into() });
            }
        }
        if !(alpha > 0.0 && alpha <= 0.5) {
            return Err(Error::Setting { name: "alpha", expected: "above 0 and at most 0.5".into(), got: alpha.to_string() });
        }
        self.rules.iter().try_for_each(Rule::check)
    }

    /// Screens a task on the problem that its data and seed make. The listener hears of stages and epochs.
    pub fn run(
        &self,
        problem: &Problem,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(Progress) + Sync),
    ) -> Result<ScreenRecord> {
        self.screen(problem, threads, stop, listen, None).map(|screened| screened.record)
    }

    /// The same, with the networks that were picked. Fits that are in the memory are not made again.
    pub fn screen(
        &self,
        problem: &Problem,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(Progress) + Sync),
        memory: Option<&Memory>,
    ) -> Result<Screened> {
        self.check()?;
        let begun = Instant::now();
        let epochs = |count: usize| listen(Progress::Epochs(count));
        let networks = |head| Networks::new(problem, self, head, stop, &epochs, memory);
        let fitters = HEADS.into_iter().map(networks).collect::<Result<Vec<_>>>()?;
        let measure = fitters[0].measure;
        let stage = |stage: Stage, left: Outlook| {
            // The plain network comes last.
            let left = (left.full + 1) * self.settings.epochs + left.brief * self.settings.refit_epochs;
            listen(Progress::Stage(stage, left));
        };
        let run = Run { alpha: self.settings.alpha, starts: self.settings.starts, threads, stop, listen: &stage };
        let mut screen = Screen::new(&fitters, &self.rules, run)?;
        let decisions = self.rules.iter().map(|&rule| screen.decide(rule)).collect::<Result<Vec<_>>>()?;
        let truth = problem.symmetry.as_ref().map(|symmetry| fitters[0].built.closure(symmetry, problem)).transpose()?;
        let oracle = truth.as_ref().map(|truth| self.oracle(&mut screen, truth)).transpose()?;
        let plain = self.plain(problem, stop, &epochs)?;
        let alone: Vec<&Trial> = screen.evidence().iter().flat_map(|evidence| &evidence.trials).collect();
        let costs: Vec<Cost> = screen.evidence().iter().map(|evidence| evidence.cost).collect();
        let joints = screen.trials().iter().filter(|trial| !alone.contains(trial)).cloned().collect();
        let picked = |decision: &Decision<Trained>| {
            let refits = &decision.refits[decision.preferred];
            Ok((Trained::together(&refits.members())?, refits.courses[refits.best].curve()))
        };
        let (networks, curves) = decisions.iter().map(picked).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let detectable = detectable(&costs, problem.validation.len(), self.settings.alpha);
        let free: Vec<StartResult> = screen.free().iter().map(|course| start_result(problem, course)).collect::<Result<_>>()?;
        let doubt = |decision: &Decision<Trained>| {
            let score = free.first().filter(|_| !decision.kept.is_empty())?.validation.accuracy;
            problem.doubt(NOTHING_IMPOSED, score, decision.rule, detectable)
        };
        let answers = decisions.iter().map(|decision| answer(problem, decision, doubt(decision))).collect::<Result<_>>()?;
        let record = ScreenRecord {
            config: self.clone(),
            names: problem.groups().iter().map(|group| group.name().to_string()).collect(),
            examples: [problem.train.len(), problem.validation.len(), problem.test.as_ref().map_or(0, Dataset::len)],
            measure,
            detectable,
            decided_by: HEADS[screen.judge()],
            free,
            evidence: screen.evidence().to_vec(),
            joints,
            answers,
            oracle: oracle.map(|oracle| head_result(problem, Head::Hidden, &oracle)).transpose()?,
            truth,
            plain,
            chance: problem.chance,
            seconds: begun.elapsed().as_secs_f64(),
        };
        Ok(Screened { record, networks, curves })
    }

    /// The truth imposed, hidden head.
    fn oracle(&self, screen: &mut Screen<'_, Networks<'_>>, truth: &GroupSet) -> Result<Refits<Trained>> {
        let hidden = HEADS.len() - 1;
        let refits = screen.refits(hidden, truth, |_| false)?;
        let best = refits.best().scores.clone();
        screen.join(hidden, refits, self.rules.first().copied().unwrap_or_default(), &best)
    }

    /// The plain network, trained as long as the others: the paper's in the same size where that was asked for.
    fn plain(&self, problem: &Problem, stop: &Stop, epochs: &(dyn Fn(usize) + Sync)) -> Result<Option<Comparison>> {
        let base = FitConfig::new(self.data, Method::Plain).with_schedule(Schedule::OneCycle, self.settings.epochs);
        let small = || matches!(problem.train.inputs(), Inputs::Images { .. }).then(Backbone::small);
        let patch = self.backbone.filter(|backbone| matches!(backbone, Backbone::Patch { .. }));
        let base = FitConfig { backbone: patch.or_else(small), ..base };
        let Settings { learning_rate, batch, .. } = self.settings;
        let config = FitConfig { learning_rate, batch, seed: self.seed, ..base };
        let record = match config.run_unless(problem, stop, |_| epochs(1)) {
            Err(Error::Network(invar_nn::Error::Diverged { .. })) => return Ok(None),
            outcome => outcome?.record,
        };
        let result = StartResult { validation: record.validation, extrapolation: record.extrapolation };
        Ok(Some(Comparison { result, consistency: record.consistency }))
    }
}

impl Course<Trained> {
    /// Both learning curves, epochs counted on.
    fn curve(&self) -> Vec<Epoch> {
        let (first, last) = (&self.first.model.curve, &self.last.model.curve);
        let later = last.iter().map(|epoch| Epoch { epoch: epoch.epoch + first.len(), ..*epoch });
        first.iter().copied().chain(later).collect()
    }
}

fn answer(problem: &Problem, decision: &Decision<Trained>, doubt: Option<String>) -> Result<Answer> {
    let heads = HEADS.iter().zip(&decision.refits).map(|(&head, refits)| head_result(problem, head, refits));
    Ok(Answer {
        rule: decision.rule,
        kept: decision.kept.clone(),
        verdicts: decision.verdicts.clone(),
        facts: Facts::of(&problem.lattice, &decision.kept),
        retests: decision.retests.clone(),
        heads: heads.collect::<Result<_>>()?,
        preferred: decision.preferred,
        cost: Some(decision.cost),
        by_tolerance: decision.by_tolerance.clone(),
        doubt,
    })
}

fn head_result(problem: &Problem, head: Head, refits: &Refits<Trained>) -> Result<HeadResult> {
    let starts = refits.courses.iter().map(|course| start_result(problem, course)).collect::<Result<_>>()?;
    let network = Trained::together(&refits.members())?;
    let consistency = problem.consistency(&network)?;
    let joined = |together: &Together| -> Result<Joined> {
        Ok(Joined { starts: together.members.clone(), result: result_of(problem, &network)? })
    };
    let together = refits.together.as_ref().map(joined).transpose()?;
    Ok(HeadResult { head, starts, picked: refits.best, together, consistency, cost: refits.cost })
}

fn start_result(problem: &Problem, course: &Course<Trained>) -> Result<StartResult> {
    result_of(problem, &course.last.model.network)
}

fn result_of(problem: &Problem, network: &Network) -> Result<StartResult> {
    let (validation, extrapolation) = problem.metrics(network)?;
    Ok(StartResult { validation, extrapolation })
}

//! Decision: of the sets that were selected the largest that the rule keeps, by examples that selected nothing.
//!
//! The selected sets are a chain S1 in S2 in ... in Sk. Their joint costs are tested upwards, in this order, until one is not kept: a
//! fixed sequence, which needs no further correction. Nothing is added afterwards.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use super::cost::{Cost, Scores, holm};
use super::fitter::Fitter;
use super::rule::{Rule, Verdict};
use super::search::{Found, Search, steps_beyond};
use super::trials::{Run, Trials};
use crate::error::Result;
use crate::queue;

/// Most sets beyond what is kept whose costs are measured on every fold.
const BEYOND: usize = 24;

/// What to ask, and how thoroughly.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The rule.
    pub rule: Rule,
    /// Fits that conflicts may take, besides single candidates.
    pub budget: usize,
    /// Candidates that are imposed whatever they cost.
    pub required: GroupSet,
    /// Whether every candidate is fitted alone, for the picture of costs.
    pub all_alone: bool,
}

/// A set of symmetries imposed together, and what that costs on the examples that decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// The set, closed.
    pub set: GroupSet,
    /// Its joint cost.
    pub cost: Cost,
    /// What that says.
    pub verdict: Verdict,
    /// The cost on fresh examples that decided nothing, as a mean over folds; absent where none are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_cost: Option<f64>,
}

/// How a candidate was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// It was imposed, alone or with others.
    Fitted,
    /// It is part of a set that was imposed, and costs no more than that.
    Implied,
    /// It was not: too many sets, or no model.
    NotAsked,
}

/// What is decided about a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What the data say.
    pub verdict: Verdict,
    /// Whether it is kept.
    pub kept: bool,
    /// How it was asked about.
    pub asked: Asked,
    /// The set whose cost that is, with the candidate in it; none if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<Tested>,
    /// Its cost alone, where it was fitted so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Cost>,
    /// About how many examples would tell, where these do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<usize>,
}

/// A decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What is kept: a closed set.
    pub kept: GroupSet,
    /// The chain, as far as it was tested.
    pub chain: Vec<Tested>,
    /// Per candidate.
    pub findings: Vec<Finding>,
    /// Sets as large as what was selected that fit as well and exclude it.
    pub rivals: Vec<Tested>,
    /// Whether the search ended before every larger set was refused.
    pub exhausted: bool,
    /// Fits made.
    pub fits: usize,
    /// The model with nothing imposed, on the examples that decide.
    pub reference: Scores,
    /// How often the epochs of a fit had to be doubled for what is kept to fit.
    pub doublings: u32,
}

impl Decision {
    /// Keeps a set whatever the costs say.
    pub(super) fn keep_only(&mut self, set: GroupSet) {
        for (one, finding) in self.findings.iter_mut().enumerate() {
            finding.kept = set.contains(one);
        }
        self.rivals.clear();
        self.kept = set;
    }
}

/// Selects on every fold, then decides on all of them together. `guess` is the share that a model without any input reaches.
pub fn decide<F: Fitter>(fitter: &F, question: &Question, guess: f64, run: Run<'_>) -> Result<Decision> {
    question.rule.check()?;
    let folds: Vec<usize> = (0..fitter.folds()).collect();
    // Several folds keep all cores busy; one lets its fits run side by side.
    let inner = if folds.len() > 1 { Run { threads: 1, ..run } } else { run };
    let mut slots: Vec<Option<(Trials<'_, F>, Found)>> = folds.iter().map(|_| None).collect();
    let select = |&fold: &usize| -> Result<(Trials<'_, F>, Found)> {
        let mut trials = Trials::new(fitter, fold, question.rule.tolerance, inner)?;
        let found = Search { trials: &mut trials, budget: question.budget, required: question.required.clone() }.largest()?;
        if question.all_alone {
            let alone = (0..fitter.candidates()).map(|one| fitter.closure(&question.required.with(one)));
            trials.make("every symmetry alone", &alone.collect::<Result<Vec<_>>>()?)?;
        }
        Ok((trials, found))
    };
    queue::run(&folds, run.threads, run.stop, select, |k, result| {
        slots[k] = Some(result?);
        Ok::<(), crate::Error>(())
    })?;
    let selected = slots.into_iter().collect::<Option<Vec<_>>>().ok_or(crate::Error::Stopped)?;
    Deciding { fitter, question, most: 0.0, selected, run }.decide(guess)
}

struct Deciding<'a, 'q, F> {
    fitter: &'a F,
    question: &'q Question,
    /// What the reference has over guessing: nothing costs more.
    most: f64,
    selected: Vec<(Trials<'a, F>, Found)>,
    run: Run<'a>,
}

impl<F: Fitter> Deciding<'_, '_, F> {
    fn decide(mut self, guess: f64) -> Result<Decision> {
        let reference =
            self.pooled(|trials| Some(trials.reference.clone())).unwrap_or_else(|| unreachable!("every fold has one"));
        self.most = match reference.each {
            super::cost::PerExample::Right(_) => 100.0 * (reference.share() - guess).max(0.0),
            super::cost::PerExample::Error(_) => f64::MAX,
        };
        let set = self.consensus()?;
        let chain = self.chain(&set)?;
        self.fit_everywhere("the decision", &chain)?;
        let (mut kept, mut tested) = (self.fitter.closure(&self.question.required)?, Vec::new());
        for set in &chain {
            let Some(step) = self.tested(set, true) else { break };
            let keeps = self.question.rule.keeps(step.verdict);
            tested.push(step);
            if !keeps {
                break;
            }
            kept.clone_from(set);
        }
        let rivals = self.rivals(&kept)?;
        let findings = self.findings(&kept, &tested)?;
        let doublings = self.selected.iter().filter_map(|(trials, _)| trials.find(&kept)).map(|trial| trial.doublings).max();
        Ok(Decision {
            kept,
            doublings: doublings.unwrap_or(0),
            chain: tested,
            findings,
            rivals,
            exhausted: self.selected.iter().any(|(_, found)| found.exhausted),
            fits: self.selected.iter().map(|(trials, _)| trials.fits).sum(),
            reference,
        })
    }

    /// What most folds selected.
    fn consensus(&self) -> Result<GroupSet> {
        let votes = |one: usize| self.selected.iter().filter(|(_, found)| found.set.contains(one)).count();
        let chosen: GroupSet = (0..self.fitter.candidates()).filter(|&one| 2 * votes(one) > self.selected.len()).collect();
        let closed = self.fitter.closure(&chosen)?;
        // A majority for each can be one for no set: then the largest set that one fold found inside of them.
        if closed == chosen {
            return Ok(closed);
        }
        let inside = self.selected.iter().map(|(_, found)| &found.set).filter(|set| set.is_subset(&chosen));
        Ok(inside.max_by_key(|set| set.len()).cloned().unwrap_or(self.fitter.closure(&self.question.required)?))
    }

    /// Nested sets up to the one that was selected, which begin with what costs least alone.
    fn chain(&self, set: &GroupSet) -> Result<Vec<GroupSet>> {
        let bottom = self.fitter.closure(&self.question.required)?;
        let mut order: Vec<(f64, usize)> = Vec::new();
        for one in set.iter().filter(|&one| !bottom.contains(one)) {
            let alone = self.fitter.closure(&bottom.with(one))?;
            let costs: Vec<f64> =
                self.selected.iter().filter_map(|(trials, _)| trials.find(&alone)).map(|trial| trial.cost.points).collect();
            let mean = if costs.is_empty() { f64::INFINITY } else { costs.iter().sum::<f64>() / costs.len() as f64 };
            order.push((mean, one));
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut steps, mut so_far) = (Vec::new(), bottom);
        for (cost, one) in order {
            // What was never fitted alone comes along with the rest.
            if so_far.contains(one) || cost.is_infinite() {
                continue;
            }
            so_far = self.fitter.closure(&so_far.with(one))?;
            if so_far != *set {
                steps.push(so_far.clone());
            }
        }
        // Two stations on the way are enough to fall back to.
        let mut chain: Vec<GroupSet> = match steps.len() {
            0 => Vec::new(),
            1 => steps,
            count => vec![steps[count / 2 - usize::from(count == 2)].clone(), steps[count - 1].clone()],
        };
        if !set.is_empty() {
            chain.push(set.clone());
        }
        chain.dedup();
        Ok(chain)
    }

    /// Makes sure that sets are fitted on every fold.
    fn fit_everywhere(&mut self, what: &'static str, sets: &[GroupSet]) -> Result<()> {
        let run = self.run;
        let jobs: Vec<std::sync::Mutex<&mut Trials<'_, F>>> =
            self.selected.iter_mut().map(|(trials, _)| std::sync::Mutex::new(trials)).collect();
        queue::run(
            &jobs,
            run.threads,
            run.stop,
            |job| job.lock().unwrap_or_else(std::sync::PoisonError::into_inner).make(what, sets),
            |_, result| result,
        )?;
        if run.stop.is_stopped() { Err(crate::Error::Stopped) } else { Ok(()) }
    }

    fn pooled(&self, of: impl Fn(&Trials<'_, F>) -> Option<Scores>) -> Option<Scores> {
        let mut all: Option<Scores> = None;
        for (trials, _) in &self.selected {
            let scores = of(trials)?;
            all = Some(match all {
                Some(all) => all.followed_by(&scores),
                None => scores,
            });
        }
        all
    }

    /// The joint cost of a set that every fold has fitted.
    fn cost(&self, set: &GroupSet) -> Option<Cost> {
        let fitted = self.pooled(|trials| trials.find(set).map(|trial| trial.decision.clone()))?;
        let reference = self.pooled(|trials| Some(trials.reference.clone()))?;
        Some(Cost::between(&reference, &fitted).at_most(self.most))
    }

    fn tested(&self, set: &GroupSet, contradicts: bool) -> Option<Tested> {
        let cost = self.cost(set)?;
        let verdict = self.question.rule.verdict(&cost, contradicts);
        Some(Tested { set: set.clone(), cost, verdict, true_cost: self.true_cost(set) })
    }

    fn true_cost(&self, set: &GroupSet) -> Option<f64> {
        let costs: Vec<f64> = self.selected.iter().filter_map(|(trials, _)| trials.find(set)?.true_cost).collect();
        (!costs.is_empty()).then(|| costs.iter().sum::<f64>() / costs.len() as f64)
    }

    /// What fits as well as what is kept, and excludes it.
    fn rivals(&mut self, kept: &GroupSet) -> Result<Vec<Tested>> {
        let mut sets: Vec<GroupSet> = Vec::new();
        for (_, found) in &self.selected {
            for set in found.rivals.iter().chain([&found.set]) {
                if set.len() >= kept.len() && !set.is_subset(kept) && !kept.is_subset(set) && !sets.contains(set) {
                    sets.push(set.clone());
                }
            }
        }
        sets.truncate(3);
        self.fit_everywhere("sets as large", &sets)?;
        Ok(sets
            .iter()
            .filter_map(|set| self.tested(set, true))
            .filter(|tested| self.question.rule.keeps(tested.verdict))
            .collect())
    }

    /// Candidate by candidate. What is kept counts by the step of the chain that it came with; what is not, by what it costs on top.
    fn findings(&mut self, kept: &GroupSet, chain: &[Tested]) -> Result<Vec<Finding>> {
        let count = self.fitter.candidates();
        let mut beyond = steps_beyond(self.fitter, kept)?;
        // Sets that some fold has fitted first: they are the cheapest to complete.
        beyond.sort_by_key(|set| self.selected.iter().filter(|(trials, _)| trials.find(set).is_none()).count());
        beyond.truncate(BEYOND);
        self.fit_everywhere("what was refused", &beyond)?;
        let costs: Vec<Option<Cost>> = beyond.iter().map(|set| self.cost(set)).collect();
        let asked: Vec<(usize, Cost)> = costs.iter().enumerate().filter_map(|(k, cost)| Some((k, (*cost)?))).collect();
        let p = holm(&asked.iter().map(|(_, cost)| cost.p_at_most(self.question.rule.tolerance)).collect::<Vec<_>>());
        let beyond: Vec<Tested> = asked
            .iter()
            .zip(p)
            .map(|(&(k, cost), p)| {
                let verdict = match self.question.rule.verdict(&cost, p < 1.0 - super::cost::LEVEL) {
                    // Selection refused what these examples would let pass: nothing is added after the decision.
                    verdict if self.question.rule.keeps(verdict) => Verdict::Undecided,
                    verdict => verdict,
                };
                Tested { set: beyond[k].clone(), cost, verdict, true_cost: self.true_cost(&beyond[k]) }
            })
            .collect();
        (0..count).map(|one| self.finding(one, kept, chain, &beyond)).collect()
    }

    fn finding(&self, one: usize, kept: &GroupSet, chain: &[Tested], beyond: &[Tested]) -> Result<Finding> {
        // Where a candidate was fitted alone the smallest set with it that is known is that one.
        let single = match self.selected[0]
            .0
            .known
            .iter()
            .map(|trial| &trial.set)
            .filter(|set| set.contains(one))
            .min_by_key(|set| set.len())
        {
            Some(smallest) => (self.fitter.closure(&self.question.required.with(one))? == *smallest).then(|| smallest.clone()),
            None => None,
        };
        let alone = single.as_ref().and_then(|single| self.cost(single));
        let tested = if kept.contains(one) {
            // Of the steps with it the first that says most: what a larger set is shown to cost at most, a part of it does, too.
            let with = || chain.iter().filter(|step| step.set.contains(one) && step.set.is_subset(kept));
            with().find(|step| step.verdict == Verdict::ShownHarmless).or_else(|| with().next())
        } else {
            // The smallest step with it: of exchanges between two classes it is the same for all.
            beyond.iter().filter(|tested| tested.set.contains(one)).min_by_key(|tested| tested.set.len())
        };
        let asked = match tested {
            _ if alone.is_some() => Asked::Fitted,
            Some(_) => Asked::Implied,
            None => Asked::NotAsked,
        };
        let rule = self.question.rule;
        let verdict = match tested {
            Some(tested) => tested.verdict,
            // Signs can leave no weights to answer with.
            None if self.fitter.vanishes(&self.fitter.closure(&kept.with(one))?)? => Verdict::CannotTell,
            None => alone.map_or(Verdict::CannotTell, |cost| match rule.verdict(&cost, false) {
                verdict if rule.keeps(verdict) && !kept.contains(one) => Verdict::Undecided,
                verdict => verdict,
            }),
        };
        let open = matches!(verdict, Verdict::NotContradicted | Verdict::Undecided);
        let enough = tested.filter(|_| open).and_then(|tested| tested.cost.examples_to_tell(rule.tolerance));
        Ok(Finding { verdict, kept: kept.contains(one), asked, tested: tested.cloned(), alone, enough })
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

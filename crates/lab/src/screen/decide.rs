//! The five steps of the learner, on anything that can be fitted under constraints.
//!
//! 1. Fit with nothing imposed, from two starts: the better one is the reference. The richest type of model decides, unless a
//!    simpler one shows that it has not learned the task.
//! 2. Impose each candidate alone, from the free weights; what is refused is tried again from the other start.
//! 3. Impose jointly whatever is not contradicted ([`choose`]).
//! 4. If that is refused, climb from the cheapest.
//! 5. Refit what was chosen from several fresh starts, take the one with the smallest validation loss of those that are as good
//!    as the rule asks, and try each rejected candidate on top of it. Where none is, the fit that spoke for the choice stands in.
//!    Starts that are as good as the rule asks answer together. A simpler model is preferred unless it is significantly
//!    worse.
//!
//! A richer type may begin as the best fit of the simpler one ([`Begin::Grown`](super::Begin)) instead of with fresh weights; one
//! of its starts does not.
//!
//! Every cost is paired, example by example, with the *control*: the better free fit after the same refit without a constraint, so
//! that additional training is not mistaken for a free symmetry. A refit from the weights of that fit differs from it in the
//! constraint alone; one from the other free fit, or from fresh weights, in its beginning too.

mod fits;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use invar_algebra::GroupSet;

use super::choose::{Choice, Known, Single, Stake, Threshold, by_tolerance, choose};
use super::decision::{Course, Decision, Outlook, Refits, Run, Stage};
use super::evidence::{Cost, Scores, holm};
use super::fitter::{Ending, Fitted, Fitter};
use super::rule::{Finding, Rule};
use super::trial::{Evidence, Start, Trial, Verdict};
use crate::error::{Error, Result};

/// Free fits: the better one is the reference, the other confirms rejections.
const FREE_STARTS: usize = 2;
/// The start that begins with fresh weights even where models grow from simpler ones; the second free fit is one.
const UNGROWN: usize = 1;
/// Starts of joint fits.
const JOINT_STARTS: [Start; 3] = [Start::Free(0), Start::Free(1), Start::Fresh(0)];
/// Points beyond the tolerance at which a simpler model is given up after one start.
const HOPELESS: f64 = 10.0;

/// Which course: by which fitter, under which constraint, from which fresh draw.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    fitter: usize,
    set: GroupSet,
    start: usize,
}

/// A screen under way: the fits made so far, each made once.
pub struct Screen<'a, F: Fitter> {
    /// Types of models, simplest first.
    fitters: &'a [F],
    /// The one that decides about symmetries.
    judge: usize,
    rules: &'a [Rule],
    run: Run<'a>,
    /// Courses of the judge with nothing imposed, the reference first.
    free: Vec<Arc<Course<F::Model>>>,
    evidence: Vec<Evidence>,
    trials: Vec<Trial>,
    courses: HashMap<Key, Arc<Course<F::Model>>>,
    /// Refits from free weights that some rule accepts.
    accepted: HashMap<GroupSet, Vec<Arc<Course<F::Model>>>>,
    /// Constraints that the rule at hand has asked about, which are the ones that it may refit from free weights.
    asked: HashSet<GroupSet>,
    closures: HashMap<GroupSet, GroupSet>,
    /// What came of trying the rejected candidates on top of a constraint, from one of its starts.
    retests: HashMap<(GroupSet, Start), Vec<Tried<F::Model>>>,
}

/// A trial, and the model that it made.
type Tried<M> = (Trial, Arc<Course<M>>);

impl<'a, F: Fitter> Screen<'a, F> {
    /// Steps 1 and 2. Every fitter must have the same candidates.
    pub fn new(fitters: &'a [F], rules: &'a [Rule], run: Run<'a>) -> Result<Self> {
        rules.iter().try_for_each(Rule::check)?;
        let setting =
            |name, expected: &str, got: usize| Err(Error::Setting { name, expected: expected.into(), got: got.to_string() });
        let Some(fitter) = fitters.last() else { return setting("number of model types", "at least 1", 0) };
        if fitter.candidates() == 0 {
            return setting("number of candidate symmetries", "at least 1: there is nothing to screen", 0);
        }
        if run.starts == 0 {
            return setting("number of starts", "at least 1", 0);
        }
        let mut screen = Self {
            fitters,
            judge: fitters.len() - 1,
            rules,
            run,
            free: Vec::new(),
            evidence: Vec::new(),
            trials: Vec::new(),
            courses: HashMap::new(),
            accepted: HashMap::new(),
            asked: HashSet::new(),
            closures: HashMap::new(),
            retests: HashMap::new(),
        };
        screen.fit_free()?;
        screen.fit_each()?;
        Ok(screen)
    }

    /// What is known about each candidate alone.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Every constraint that was tried.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The fits with nothing imposed, the reference first.
    pub fn free(&self) -> &[Arc<Course<F::Model>>] {
        &self.free
    }

    /// Which fitter decided about symmetries.
    pub fn judge(&self) -> usize {
        self.judge
    }

    fn reference(&self) -> &Scores {
        &self.free[0].last.scores
    }

    fn closure(&mut self, set: &GroupSet) -> Result<GroupSet> {
        close(&self.fitters[self.judge], &mut self.closures, set)
    }

    fn announce(&self, stage: Stage, full: usize, brief: usize) {
        let candidates = self.fitters[0].candidates();
        let last = self.rules.len() * self.all_starts();
        let (later_full, later_brief) = match stage {
            Stage::Free => (last, candidates + candidates / 2 + 2 + last),
            Stage::Each => (last, candidates / 2 + 2 + last),
            Stage::Confirm => (last, 2 + last),
            Stage::Joint => (last, last),
            Stage::Refit | Stage::Retest => (0, 0),
        };
        (self.run.listen)(stage, Outlook { full: full + later_full, brief: brief + later_brief });
    }

    /// Fresh starts of a constraint by all fitters.
    fn all_starts(&self) -> usize {
        (0..self.fitters.len()).map(|fitter| self.starts_of(fitter)).sum()
    }

    /// Step 1.
    fn fit_free(&mut self) -> Result<()> {
        let simpler =
            (0..self.fitters.len() - 1).map(|fitter| if self.is_grown_from(fitter) { self.starts_of(fitter) } else { 1 });
        let count = FREE_STARTS + simpler.sum::<usize>();
        self.announce(Stage::Free, count, count);
        let nothing = self.closure(&GroupSet::empty())?;
        let mut free = self.free_fits(&nothing)?;
        let tolerance = self.tolerance();
        for simpler in 0..self.fitters.len() - 1 {
            let course = self.courses_of(simpler, &nothing, &[0])?.remove(0);
            let sound = course.last.ending != Ending::Diverged;
            // What is far behind a simpler model has not learned the task, and cannot say what a symmetry costs.
            if sound && cost(&course.last.scores, &free[0].last).points > tolerance {
                self.judge = simpler;
                free = self.free_fits(&nothing)?;
            }
        }
        if free[0].last.ending == Ending::Diverged {
            let (expected, got) = ("one with which a free fit converges".into(), "too large: every free fit diverged".into());
            return Err(Error::Setting { name: "learning rate", expected, got });
        }
        self.free = free;
        Ok(())
    }

    /// Fits of the judge with nothing imposed, the better one first; the first of equals stays the reference.
    fn free_fits(&mut self, nothing: &GroupSet) -> Result<Vec<Arc<Course<F::Model>>>> {
        let mut free = self.courses_of(self.judge, nothing, &(0..FREE_STARTS).collect::<Vec<_>>())?;
        free.sort_by(|a, b| a.last.scores.loss.total_cmp(&b.last.scores.loss));
        Ok(free)
    }

    /// The most that some rule lets symmetries cost.
    fn tolerance(&self) -> f64 {
        self.rules.iter().map(|rule| rule.tolerance).fold(0.0, f64::max)
    }

    /// What every rule lets them cost.
    fn slack(&self) -> f64 {
        self.rules.iter().map(|rule| rule.tolerance).fold(f64::INFINITY, f64::min)
    }

    /// Step 2.
    fn fit_each(&mut self) -> Result<()> {
        let count = self.fitters[0].candidates();
        let sets = (0..count).map(|g| self.closure(&GroupSet::empty().with(g))).collect::<Result<Vec<_>>>()?;
        self.announce(Stage::Each, 0, count);
        self.try_from_free(&sets, 0)?;
        let refused = |trial: &Trial| self.rules.iter().any(|rule| !rule.accepts(&trial.cost, self.run.alpha));
        let again: Vec<GroupSet> = sets.iter().filter(|set| self.trials_of(set).any(refused)).cloned().collect();
        self.announce(Stage::Confirm, 0, again.len());
        self.try_from_free(&again, 1)?;
        self.evidence = self.gather(&sets);
        Ok(())
    }

    fn gather(&self, sets: &[GroupSet]) -> Vec<Evidence> {
        let all: Vec<Vec<Trial>> = sets.iter().map(|set| self.trials_of(set).cloned().collect()).collect();
        let costs: Vec<Cost> = all.iter().map(|trials| Evidence::best(trials).cost).collect();
        let adjusted = holm(&costs.iter().map(|cost| cost.p).collect::<Vec<_>>());
        let rows = all.into_iter().zip(costs).zip(adjusted).enumerate();
        rows.map(|(group, ((trials, cost), adjusted))| Evidence { group, trials, cost, adjusted }).collect()
    }

    /// Of fresh starts those count that are as good as the rule asks. All can end worse than the fit that spoke for a constraint:
    /// then such fits, from free weights or on top of a smaller constraint, count.
    fn pick(&self, rule: Rule, kept: &GroupSet, refits: Refits<F::Model>, on_top: &[Arc<Course<F::Model>>]) -> Refits<F::Model> {
        let accepts = |course: &Arc<Course<F::Model>>| rule.accepts(&self.cost(&course.last), self.run.alpha);
        let Refits { mut courses, best, together, cost } = refits;
        let fresh = courses.len();
        if let Some(best) = best_of(&courses, (0..fresh).filter(|&k| accepts(&courses[k]))) {
            return Refits { courses, best, together, cost };
        }
        // Of free weights the first that do, as when this rule is the only one.
        let free = self.accepted.get(kept).into_iter().flatten().filter(|course| accepts(course));
        let free = free.filter(|_| self.asked.contains(kept)).min_by_key(|course| course.start == Start::Free(1));
        courses.extend(free.into_iter().chain(on_top.iter().filter(|course| accepts(course))).cloned());
        let best = best_of(&courses, fresh..courses.len()).unwrap_or(best);
        Refits { courses, best, together, cost }
    }

    /// Steps 3 to 5 under one rule.
    pub fn decide(&mut self, rule: Rule) -> Result<Decision<F::Model>> {
        self.announce(Stage::Joint, 0, 2);
        self.asked = self.evidence.iter().map(|evidence| evidence.trials[0].imposed.clone()).collect();
        let choice = self.choose(rule)?;
        let mut kept = choice.kept.clone();
        let (mut retests, mut on_top) = (Vec::new(), Vec::new());
        // What was accepted together speaks for a candidate that alone was not.
        let mut taken: Vec<Trial> = Vec::new();
        if self.asked.contains(&kept) {
            taken.extend(
                self.trials_from(&kept, &JOINT_STARTS).filter(|trial| rule.accepts(&trial.cost, self.run.alpha)).cloned(),
            );
        }
        let refits = loop {
            self.announce(Stage::Refit, self.all_starts(), self.all_starts());
            let refits = self.refits(self.judge, &kept, |_| false)?;
            let refits = self.pick(rule, &kept, refits, &on_top);
            let found = self.retest(&kept, &refits)?;
            retests.extend(found.iter().map(|(trial, _)| trial.clone()));
            let fits = found.into_iter().filter(|(trial, _)| rule.accepts(&trial.cost, self.run.alpha));
            let Some((more, course)) = fits.min_by(|(a, _), (b, _)| a.cost.points.total_cmp(&b.cost.points)) else {
                break refits;
            };
            // What fits on top of everything else fits alone: the rejection was an accident of the starts.
            kept.clone_from(&more.imposed);
            taken.push(more);
            on_top = vec![course];
        };
        let (refits, preferred) = self.simplest(rule, &kept, refits)?;
        let verdicts = self.evidence.iter().map(|evidence| self.verdict(evidence, rule, &kept, &choice, &taken)).collect();
        let by_tolerance = self.thresholds((!rule.strict).then_some((rule.tolerance, &kept)))?;
        let cost = cost_of(self.reference(), &refits[preferred]);
        Ok(Decision { rule, kept, verdicts, retests, refits, preferred, cost, by_tolerance })
    }

    /// Steps 3 and 4.
    fn choose(&mut self, rule: Rule) -> Result<Choice> {
        let singles: Vec<Single> = self.evidence.iter().map(Evidence::single).collect();
        let (fitter, alpha) = (&self.fitters[self.judge], self.run.alpha);
        let mut closures = std::mem::take(&mut self.closures);
        let mut closure = |set: &GroupSet| close(fitter, &mut closures, set);
        let mut joint = |set: &GroupSet, stake: Stake| self.joint(set, stake, rule).map(Some);
        let choice = choose(&singles, rule, alpha, &mut closure, &mut joint);
        self.closures = closures;
        Ok(choice?.expect("every joint cost is found by a fit"))
    }

    /// The cost of a constraint: from either free fit, and if everything hangs on it by a full fit before it is refused. What
    /// another rule has tried besides does not count: an answer is the same whatever else was asked.
    fn joint(&mut self, set: &GroupSet, stake: Stake, rule: Rule) -> Result<Cost> {
        let (alpha, mut starts) = (self.run.alpha, Vec::new());
        self.asked.insert(set.clone());
        for k in 0..FREE_STARTS {
            self.try_from_free(std::slice::from_ref(set), k)?;
            starts.push(Start::Free(k));
            if let Some(trial) = self.trials_from(set, &starts).find(|trial| rule.accepts(&trial.cost, alpha)) {
                return Ok(trial.cost);
            }
        }
        if stake == Stake::All {
            let fresh = Start::Fresh(0);
            if self.trials_from(set, &[fresh]).next().is_none() {
                let course = self.courses_of(self.judge, set, &[0])?.remove(0);
                let trial = self.trial(set, fresh, &course.last);
                self.trials.push(trial);
            }
            starts.push(fresh);
        }
        let trials: Vec<Trial> = self.trials_from(set, &starts).cloned().collect();
        Ok(Evidence::best(&trials).cost)
    }

    /// Step 5: each rejected candidate on top of the chosen model, from the weights that its last refit began with.
    fn retest(&mut self, kept: &GroupSet, refits: &Refits<F::Model>) -> Result<Vec<Tried<F::Model>>> {
        if *kept == self.closure(&GroupSet::empty())? {
            // On top of nothing that is what step 2 was.
            return Ok(Vec::new());
        }
        let course = refits.courses[refits.best].clone();
        let key = (kept.clone(), course.start);
        if let Some(known) = self.retests.get(&key) {
            return Ok(known.clone());
        }
        let rejected: Vec<usize> = (0..self.evidence.len()).filter(|&g| !kept.contains(g)).collect();
        let sets = rejected.into_iter().map(|g| self.closure(&kept.with(g))).collect::<Result<Vec<_>>>()?;
        self.announce(Stage::Retest, 0, sets.len());
        let found = self.try_from(&course, Start::Chosen, &sets)?;
        if course.start != Start::Chosen {
            self.retests.insert(key, found.clone());
        }
        Ok(found)
    }

    /// All types of models, the judge's as it is, and the simplest that is not significantly worse.
    fn simplest(&mut self, rule: Rule, kept: &GroupSet, judged: Refits<F::Model>) -> Result<(Vec<Refits<F::Model>>, usize)> {
        let (alpha, judge) = (self.run.alpha, self.judge);
        let judged = self.join(judge, judged, rule, self.reference())?;
        let reference = judged.scores().clone();
        let mut all = Vec::new();
        for other in (0..self.fitters.len()).filter(|&fitter| fitter != judge) {
            let hopeless = |fit: &Fitted<F::Model>| cost(&reference, fit).points > rule.tolerance + HOPELESS;
            let refits = self.refits(other, kept, hopeless)?;
            let refits = self.join(other, refits, rule, &reference)?;
            let cost = cost_of(&reference, &refits);
            all.push(Refits { cost: Some(cost), ..refits });
        }
        all.insert(judge, judged);
        let strictly = Rule { strict: true, ..rule };
        // A simpler type must be as good as the one that decided, and together with the symmetries cost no more than the rule allows.
        let good = |refits: &Refits<F::Model>| {
            let allowed = || rule.accepts(&cost_of(self.reference(), refits), alpha);
            refits.cost.is_none_or(|cost| strictly.accepts(&cost, alpha) && allowed())
        };
        let preferred = all.iter().position(good).unwrap_or(judge);
        Ok((all, preferred))
    }

    /// What is decided about one candidate; `taken` are trials on top of a chosen model that brought rejected ones back.
    fn verdict(&self, evidence: &Evidence, rule: Rule, kept: &GroupSet, choice: &Choice, taken: &[Trial]) -> Verdict {
        let fits_alone = rule.accepts(&evidence.cost, self.run.alpha);
        let Single { cost, adjusted, .. } = if fits_alone { evidence.single() } else { overturned(evidence, taken) };
        if kept.contains(evidence.group) {
            return match rule.finding(&cost, adjusted, self.run.alpha) {
                Finding::Free => Verdict::KeptFreely,
                Finding::Tolerable => Verdict::Tolerated,
                Finding::Undecided | Finding::Contradicted => Verdict::Undecided,
            };
        }
        match choice.dropped.iter().find(|dropped| dropped.group == evidence.group) {
            Some(_) if !fits_alone => Verdict::Refused,
            Some(dropped) => Verdict::Dropped(dropped.clone()),
            None => Verdict::Contradicted,
        }
    }

    /// How the choice depends on the tolerance, from the fits made so far.
    fn thresholds(&mut self, decided: Option<(f64, &GroupSet)>) -> Result<Vec<Threshold>> {
        let singles: Vec<Single> = self.evidence.iter().map(Evidence::single).collect();
        let mut known: Vec<Known> = Vec::new();
        for trial in &self.trials {
            let one = Known { set: trial.imposed.clone(), cost: trial.cost, abandoned: trial.ending == Ending::Abandoned };
            // The cheapest start counts.
            match known.iter_mut().find(|known| known.set == one.set) {
                // Of equals one that was not given up.
                Some(same) if (one.cost.points, one.abandoned) < (same.cost.points, same.abandoned) => *same = one,
                Some(_) => {}
                None => known.push(one),
            }
        }
        let fitter = &self.fitters[self.judge];
        let closures = &mut self.closures;
        by_tolerance(&singles, &known, decided, self.run.alpha, &mut |set| close(fitter, closures, set))
    }
}

/// Of these courses the one with the smallest validation loss.
fn best_of<M>(courses: &[Arc<Course<M>>], among: impl Iterator<Item = usize>) -> Option<usize> {
    let loss = |k: &usize| courses[*k].last.scores.loss;
    among.min_by(|a, b| loss(a).total_cmp(&loss(b)))
}

/// What a fit costs against another. One whose loss left the numbers answers nothing, however little the other does.
fn cost<M>(reference: &Scores, fit: &Fitted<M>) -> Cost {
    let cost = Cost::between(reference, &fit.scores);
    if fit.ending == Ending::Diverged { cost.of_everything() } else { cost }
}

/// The same for what answers: several models together, or the best alone.
fn cost_of<M>(reference: &Scores, refits: &Refits<M>) -> Cost {
    match &refits.together {
        Some(together) => Cost::between(reference, &together.scores),
        None => cost(reference, refits.best()),
    }
}

/// What a candidate costs, all told: a trial with others that was accepted speaks for every candidate in it.
fn overturned(evidence: &Evidence, taken: &[Trial]) -> Single {
    taken.iter().filter(|trial| trial.imposed.contains(evidence.group)).fold(evidence.single(), |single, trial| {
        if trial.cost.points < single.cost.points {
            Single { cost: trial.cost, adjusted: single.adjusted.max(trial.cost.p), ..single }
        } else {
            single
        }
    })
}

fn close<F: Fitter>(fitter: &F, known: &mut HashMap<GroupSet, GroupSet>, set: &GroupSet) -> Result<GroupSet> {
    if let Some(closed) = known.get(set) {
        return Ok(closed.clone());
    }
    let closed = fitter.closure(set)?;
    known.insert(set.clone(), closed.clone());
    Ok(closed)
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

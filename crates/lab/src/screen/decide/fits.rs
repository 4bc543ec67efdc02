//! The fits of a screen: each made once, in parallel, and what was tried with them.

use std::sync::Arc;

use invar_algebra::GroupSet;

use super::{FREE_STARTS, Key, Screen, Tried, UNGROWN, best_of, cost};
use crate::error::{Error, Result};
use crate::queue;
use crate::screen::decision::{Course, Refits, Together};
use crate::screen::evidence::{Cost, Scores};
use crate::screen::fitter::{Begin, Effort, Ending, Fitted, Fitter, Limits, Request, Watch};
use crate::screen::rule::Rule;
use crate::screen::trial::{Start, Trial};

impl<F: Fitter> Screen<'_, F> {
    /// What came of imposing a set, from any start.
    pub(super) fn trials_of(&self, set: &GroupSet) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.imposed == *set)
    }

    /// The same, from these starts alone.
    pub(super) fn trials_from(&self, set: &GroupSet, starts: &[Start]) -> impl Iterator<Item = &Trial> {
        self.trials_of(set).filter(move |trial| starts.contains(&trial.start))
    }

    /// Brief refits from the k-th free fit, of those sets that were not tried from there.
    pub(super) fn try_from_free(&mut self, sets: &[GroupSet], k: usize) -> Result<()> {
        let (course, start) = (self.free[k].clone(), Start::Free(k));
        let unknown = |set: &&GroupSet| self.trials_from(set, &[start]).next().is_none();
        let unknown: Vec<GroupSet> = sets.iter().filter(unknown).cloned().collect();
        for (trial, course) in self.try_from(&course, start, &unknown)? {
            if self.rules.iter().any(|rule| rule.accepts(&trial.cost, self.run.alpha)) {
                self.accepted.entry(trial.imposed).or_default().push(course);
            }
        }
        Ok(())
    }

    /// Brief refits from the full fit of a course; its own refit is the control.
    pub(super) fn try_from(
        &mut self,
        course: &Course<F::Model>,
        start: Start,
        sets: &[GroupSet],
    ) -> Result<Vec<Tried<F::Model>>> {
        let fitter = &self.fitters[self.judge];
        let mut wanted: Vec<&GroupSet> = Vec::new();
        for set in sets {
            if !wanted.contains(&set) {
                wanted.push(set);
            }
        }
        let limits = Limits { goal: self.reference().points(), slack: self.slack(), tolerance: self.tolerance() };
        let watch = Watch { control: &course.last.model, limits };
        let fits = self.all(&wanted, |set| {
            let begin = Begin::From(&course.first.model);
            fitter.fit(&Request { imposed: set, begin, effort: Effort::Brief, watch: Some(watch) })
        })?;
        let trials: Vec<Trial> = wanted.iter().zip(&fits).map(|(set, fit)| self.trial(set, start, fit)).collect();
        self.trials.extend(trials.iter().cloned());
        let made = fits.into_iter().map(|last| Arc::new(Course { start, first: course.first.clone(), last }));
        Ok(trials.into_iter().zip(made).collect())
    }

    pub(super) fn trial(&self, set: &GroupSet, start: Start, fit: &Fitted<F::Model>) -> Trial {
        let cost = self.cost(fit);
        let (score, loss) = (fit.scores.points(), fit.scores.loss);
        Trial { imposed: set.clone(), start, epochs: fit.epochs, ending: fit.ending, score, loss, cost }
    }

    /// What a fit costs against the reference.
    pub(super) fn cost(&self, fit: &Fitted<F::Model>) -> Cost {
        cost(self.reference(), fit)
    }

    /// Runs jobs in parallel; results come in the order of the jobs.
    fn all<J: Sync, R: Send>(&self, jobs: &[J], work: impl Fn(&J) -> Result<R> + Sync) -> Result<Vec<R>> {
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        queue::run(jobs, self.run.threads, self.run.stop, work, |k, result| {
            results[k] = Some(result?);
            Ok::<(), Error>(())
        })?;
        if self.run.stop.is_stopped() {
            return Err(Error::Stopped);
        }
        results.into_iter().collect::<Option<Vec<_>>>().ok_or(Error::Stopped)
    }

    /// Courses of a constraint from some fresh starts; each is made once. Models that grow begin as the best of the simpler ones, all
    /// but one start: a simpler model can be stuck where fresh weights are not.
    pub(super) fn courses_of(&mut self, fitter: usize, set: &GroupSet, starts: &[usize]) -> Result<Vec<Arc<Course<F::Model>>>> {
        let key = |start: usize| Key { fitter, set: set.clone(), start };
        let missing: Vec<usize> = starts.iter().copied().filter(|&start| !self.courses.contains_key(&key(start))).collect();
        let simpler = if missing.iter().any(|&start| self.grows(fitter, start)) { self.simpler(fitter, set)? } else { None };
        let model = &self.fitters[fitter];
        let made = self.all(&missing, |&start| {
            let request = |begin, effort| Request { imposed: set, begin, effort, watch: None };
            let grown = simpler.as_ref().filter(|_| self.grows(fitter, start));
            let begin = grown.map_or(Begin::Fresh(start), |simpler| Begin::Grown(&simpler.model, start));
            let first = Arc::new(model.fit(&request(begin, Effort::Full))?);
            let last = model.fit(&request(Begin::From(&first.model), Effort::Brief))?;
            Ok(Course { start: Start::Fresh(start), first, last })
        })?;
        for (start, course) in missing.into_iter().zip(made) {
            self.courses.insert(key(start), Arc::new(course));
        }
        Ok(starts.iter().map(|&start| self.courses[&key(start)].clone()).collect())
    }

    /// Whether a start of a fitter begins as a simpler model.
    fn grows(&self, fitter: usize, start: usize) -> bool {
        fitter > 0 && self.fitters[fitter].grows() && start != UNGROWN
    }

    /// Whether models of the next richer type grow from those of a fitter.
    pub(super) fn is_grown_from(&self, fitter: usize) -> bool {
        self.fitters.get(fitter + 1).is_some_and(Fitter::grows)
    }

    /// How many fresh starts of a constraint a fitter makes.
    pub(super) fn starts_of(&self, fitter: usize) -> usize {
        if self.is_grown_from(fitter) { self.run.starts.max(FREE_STARTS) } else { self.run.starts }
    }

    /// What models of a fitter grow from: of the next simpler type, over all starts, the fit with the smallest validation loss. None
    /// where each has left the numbers.
    fn simpler(&mut self, fitter: usize, set: &GroupSet) -> Result<Option<Arc<Fitted<F::Model>>>> {
        let starts: Vec<usize> = (0..self.starts_of(fitter - 1)).collect();
        let fits = self.courses_of(fitter - 1, set, &starts)?.into_iter().map(|course| course.first.clone());
        let sound = fits.filter(|fit| fit.ending != Ending::Diverged);
        Ok(sound.min_by(|a, b| a.scores.loss.total_cmp(&b.scores.loss)))
    }

    /// The refits of a constraint by one fitter, the start picked by validation loss. With `hopeless`, one start that is this
    /// far gone is enough, unless a richer type grows from the best of all. Of nothing imposed there may be more starts than asked for,
    /// since step 1 has made them.
    pub fn refits(
        &mut self,
        fitter: usize,
        set: &GroupSet,
        hopeless: impl Fn(&Fitted<F::Model>) -> bool,
    ) -> Result<Refits<F::Model>> {
        let first = self.courses_of(fitter, set, &[0])?;
        let free = *set == self.closure(&GroupSet::empty())?;
        let known = |&start: &usize| self.courses.contains_key(&Key { fitter, set: set.clone(), start });
        let made = if free { (0..FREE_STARTS).take_while(known).count() } else { 0 };
        let count = if !self.is_grown_from(fitter) && hopeless(&first[0].last) { 1 } else { made.max(self.run.starts) };
        let starts: Vec<usize> = (0..count).collect();
        let courses = self.courses_of(fitter, set, &starts)?;
        let best = best_of(&courses, 0..courses.len()).unwrap_or(0);
        Ok(Refits { courses, best, together: None, cost: None })
    }

    /// Lets the courses answer together that meet the rule against a reference: at least three, without the one of the largest loss
    /// where they would have no middle. The best answers alone if together they do not meet the rule, or are significantly worse.
    pub fn join(&self, fitter: usize, refits: Refits<F::Model>, rule: Rule, reference: &Scores) -> Result<Refits<F::Model>> {
        let (best, alpha) = (&refits.best().scores, self.run.alpha);
        let joins = |&k: &usize| rule.accepts(&cost(reference, &refits.courses[k].last), alpha);
        let as_good = |scores: &Scores| {
            let strictly = Rule { strict: true, ..rule };
            rule.accepts(&Cost::between(reference, scores), alpha) && strictly.accepts(&Cost::between(best, scores), alpha)
        };
        let mut members: Vec<usize> = (0..refits.courses.len()).filter(joins).collect();
        if members.len().is_multiple_of(2) {
            let loss = |k: &usize| refits.courses[*k].last.scores.loss;
            let worst = members.iter().copied().max_by(|a, b| loss(a).total_cmp(&loss(b)));
            members.retain(|&k| Some(k) != worst);
        }
        if members.len() < 3 || !members.contains(&refits.best) {
            return Ok(refits);
        }
        let models: Vec<&F::Model> = members.iter().map(|&k| &refits.courses[k].last.model).collect();
        let scores = self.fitters[fitter].together(&models)?.filter(as_good);
        let together = scores.map(|scores| Together { members, scores });
        Ok(Refits { together, ..refits })
    }
}

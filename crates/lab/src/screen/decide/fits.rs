//! The fits of a screen: each made once, in parallel, and what was tried with them.

use std::sync::Arc;

use invar_algebra::GroupSet;

use super::{FREE_STARTS, Key, Screen, Tried, best_of, cost};
use crate::error::{Error, Result};
use crate::queue;
use crate::screen::decision::{Course, Refits, Together};
use crate::screen::evidence::{Cost, Scores};
use crate::screen::fitter::{Begin, Effort, Fitted, Fitter, Request, Watch};
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
        let watch = Watch { control: &course.last.model, goal: self.reference().points(), tolerance: self.tolerance() };
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

    /// Courses of a constraint from some fresh starts; each is made once.
    pub(super) fn courses_of(&mut self, fitter: usize, set: &GroupSet, starts: &[usize]) -> Result<Vec<Arc<Course<F::Model>>>> {
        let key = |start: usize| Key { fitter, set: set.clone(), start };
        let missing: Vec<usize> = starts.iter().copied().filter(|&start| !self.courses.contains_key(&key(start))).collect();
        let model = &self.fitters[fitter];
        let made = self.all(&missing, |&start| {
            let request = |begin, effort| Request { imposed: set, begin, effort, watch: None };
            let first = Arc::new(model.fit(&request(Begin::Fresh(start), Effort::Full))?);
            let last = model.fit(&request(Begin::From(&first.model), Effort::Brief))?;
            Ok(Course { start: Start::Fresh(start), first, last })
        })?;
        for (start, course) in missing.into_iter().zip(made) {
            self.courses.insert(key(start), Arc::new(course));
        }
        Ok(starts.iter().map(|&start| self.courses[&key(start)].clone()).collect())
    }

    /// The refits of a constraint by one fitter, the start picked by validation loss. With `hopeless`, one start that is this
    /// far gone is enough. Of nothing imposed there may be more starts than asked for, since step 1 has made them.
    pub fn refits(
        &mut self,
        fitter: usize,
        set: &GroupSet,
        hopeless: impl Fn(&Fitted<F::Model>) -> bool,
    ) -> Result<Refits<F::Model>> {
        let first = self.courses_of(fitter, set, &[0])?;
        let known = |&start: &usize| self.courses.contains_key(&Key { fitter, set: set.clone(), start });
        let made = (0..FREE_STARTS).take_while(known).count();
        let count = if hopeless(&first[0].last) { 1 } else { made.max(self.run.starts) };
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

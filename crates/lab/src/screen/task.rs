//! A screen of a problem, from its configuration to its record and the final model.

use std::sync::Mutex;
use std::time::Instant;

use invar_algebra::GroupSet;
use invar_nn::{Dataset, Inputs};

use super::augment::augmented;
use super::config::{ScreenConfig, Settings, doubled};
use super::cost::{Cost, FLOOR};
use super::decide::{Decision, Question, decide};
use super::facts::Facts;
use super::fitter::Fitter;
use super::folds::{Folds, Ground, scaled};
use super::kinds::judge;
use super::measure::Measure;
use super::memory::Memory;
use super::networks::{Kind, Networks, Trained, plain_config};
use super::record::{Augmented, ModelRow, Role, ScreenRecord, TriedNetwork};
use super::rule::Verdict;
use super::trials::Run;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::queue::{self, Stop};
use crate::record::Metrics;
use crate::scaling::Scaling;

/// How often the epochs of everything are doubled while the network with nothing imposed is still learning when they end.
const DOUBLINGS: u32 = 3;
/// Of what there is to gain over guessing, a share that says that the task is not learned.
const LITTLE: f64 = 0.2;

/// What a listener hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Something begins; so many epochs are left in it at least.
    Stage(&'static str, usize),
    /// Epochs that passed.
    Epochs(usize),
}

/// A finished screen with its final model.
#[derive(Debug)]
pub struct Screened {
    /// What is written down.
    pub record: ScreenRecord,
    /// The final model.
    pub model: Trained,
}

impl ScreenConfig {
    /// Screens a problem. Fits that are in the memory are not made again.
    pub fn screen(
        &self,
        problem: &Problem,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(Progress) + Sync),
        memory: Option<&Memory>,
    ) -> Result<Screened> {
        self.check(problem)?;
        let begun = Instant::now();
        let epochs = |count: usize| listen(Progress::Epochs(count));
        let stage = |what: &'static str, fits: usize| listen(Progress::Stage(what, fits * self.settings.epochs));
        let fresh = (self.fresh > 0).then(|| self.data.fresh(self.fresh, self.seed)).transpose()?;
        let folds = Folds::of(problem, self.folds, self.seed)?.with_fresh(fresh);
        let ground = Ground { problem, config: self, folds: &folds, stop, epochs: &epochs, memory };
        let run = Run { threads, stop, listen: &stage };
        let Screened { mut record, model } = self.on(ground, run, DOUBLINGS)?;
        record.seconds = begun.elapsed().as_secs_f64();
        Ok(Screened { record, model })
    }

    /// The screen with the epochs of the ground, or twice as many where the network is still learning when they end.
    fn on(&self, ground: Ground<'_>, run: Run<'_>, doublings: u32) -> Result<Screened> {
        let (networks, tried, judge) = judge(ground, run)?;
        if doublings > 0 && networks[judge].is_still_learning()? {
            let longer = ground.config.with_doubled_epochs(1);
            return self.on(Ground { config: &longer, ..ground }, run, doublings - 1);
        }
        let guess = ground.problem.guess();
        let question =
            Question { rule: self.rule, budget: self.budget, required: self.required.clone(), all_alone: self.all_alone };
        let mut decision = decide(&networks[judge], &question, guess, run)?;
        if !self.has_learned(ground.problem.measure, decision.reference.share(), guess) {
            // Its costs say nothing: keeping what looks free would keep anything.
            decision.keep_only(networks[judge].closure(&self.required)?);
        }
        // Final models are trained for as long as the fits that they stand for.
        let longest = ground.config.with_doubled_epochs(decision.doublings);
        let ground = Ground { config: &longest, ..ground };
        let (kind, linear) = (networks[judge].kind, judge > 0 && networks[0].kind == Kind::Linear);
        let judge = Networks::new(ground, kind)?;
        let linear = linear.then(|| Networks::new(ground, Kind::Linear)).transpose()?;
        let mut models = Models { ground, run, guess, rows: Vec::new(), linear_cost: None, augmented: None };
        let model = models.compare(&judge, linear.as_ref(), &decision)?;
        let mut record = self.record(&judge, decision, tried, models);
        record.weaken(&judge)?;
        Ok(Screened { record, model })
    }

    /// Whether a network has learned enough for costs to say something. Where there is less to lose than may be lost, everything would
    /// look harmless.
    fn has_learned(&self, measure: Measure, score: f64, guess: f64) -> bool {
        let little = measure == Measure::Accuracy && 100.0 * (score - guess) <= self.rule.tolerance;
        !little && score - guess >= LITTLE * (1.0 - guess)
    }

    fn with_doubled_epochs(&self, doublings: u32) -> Self {
        let settings = Settings { epochs: doubled(self.settings.epochs, doublings), ..self.settings };
        Self { settings, ..self.clone() }
    }

    fn record(&self, judge: &Networks<'_>, decision: Decision, networks: Vec<TriedNetwork>, models: Models<'_>) -> ScreenRecord {
        let Ground { problem, folds, config, .. } = models.ground;
        ScreenRecord {
            config: self.clone(),
            epochs: config.settings.epochs,
            seconds: 0.0,
            names: problem.groups().iter().map(|group| group.name().to_string()).collect(),
            examples: [problem.train.len(), problem.validation.len(), problem.test.as_ref().map_or(0, Dataset::len)],
            fold: folds.sizes(),
            measure: problem.measure,
            networks,
            decided_by: judge.kind,
            reference: [decision.reference.share(), models.guess],
            facts: Facts::of(problem.groups(), &decision.kept),
            kept: decision.kept,
            findings: decision.findings,
            chain: decision.chain,
            rivals: decision.rivals,
            exhausted: decision.exhausted,
            fits: decision.fits,
            models: models.rows,
            linear_cost: models.linear_cost,
            augmented: models.augmented,
            weakness: None,
            truth: problem.symmetry.clone(),
        }
    }
}

/// The final model, and what it is compared with.
struct Models<'a> {
    ground: Ground<'a>,
    run: Run<'a>,
    guess: f64,
    rows: Vec<ModelRow>,
    linear_cost: Option<Cost>,
    augmented: Option<Augmented>,
}

impl<'a> Models<'a> {
    #[expect(clippy::too_many_lines, reason = "the fits, what they are compared by, and the rows share too much to part")]
    fn compare(&mut self, judge: &Networks<'a>, linear: Option<&Networks<'a>>, decision: &Decision) -> Result<Trained> {
        let problem = self.ground.problem;
        let truth = problem.symmetry.as_ref().map(|symmetry| judge.closure(symmetry)).transpose()?;
        let nothing = judge.closure(&GroupSet::empty())?;
        let mut sets = vec![decision.kept.clone(), nothing.clone()];
        sets.extend(truth.clone());
        sets.dedup();
        let arrays = matches!(problem.train.inputs(), Inputs::Array { .. });
        let averaged = arrays.then(|| Networks::new(self.ground, Kind::Averaged)).transpose()?;
        let kinds: Vec<&Networks<'a>> = std::iter::once(judge).chain(&averaged).chain(linear).collect();
        let jobs: Vec<(usize, &GroupSet)> = sets
            .iter()
            .enumerate()
            .filter(|(k, set)| !sets[..*k].contains(set))
            .flat_map(|(_, set)| (0..kinds.len()).map(move |kind| (kind, set)))
            .collect();
        let restarts = self.ground.config.settings.restarts;
        (self.run.listen)("final models", jobs.len() * restarts + 1);
        let mut made: Vec<Option<Trained>> = jobs.iter().map(|_| None).collect();
        let plain: Mutex<Option<Option<ModelRow>>> = Mutex::new(None);
        // The plain network is one job more.
        let all: Vec<Option<(usize, &GroupSet)>> = jobs.iter().copied().map(Some).chain([None]).collect();
        let work = |job: &Option<(usize, &GroupSet)>| -> Result<Option<Trained>> {
            if let Some((kind, set)) = *job {
                return kinds[kind].best(set, restarts);
            }
            let row = self.plain()?;
            *plain.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(row);
            Ok(None)
        };
        queue::run(&all, self.run.threads, self.run.stop, work, |k, result| {
            let result = result?;
            if k < made.len() {
                made[k] = result;
            }
            Ok::<(), Error>(())
        })?;
        let Some(plain) = plain.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) else {
            return Err(Error::Stopped);
        };
        let augmented = if self.ground.config.augment {
            augmented(self.ground, self.run, &plain_config(self.ground.config, problem, 0))?
        } else {
            None
        };
        let find = |kind: usize, set: &GroupSet| {
            jobs.iter().position(|(k, one)| *k == kind && *one == set).and_then(|k| made[k].as_ref())
        };
        let tolerance = self.ground.config.rule.tolerance;
        // By validation loss, as among restarts; the linear one where its answers are not worse.
        let best = |set: &GroupSet| -> (usize, Option<Cost>) {
            let made = || (0..kinds.len()).filter_map(|kind| Some((kind, &find(kind, set)?.scores)));
            let network = made()
                .filter(|(kind, _)| kinds[*kind].kind != Kind::Linear)
                .reduce(|best, next| if next.1.loss < best.1.loss { next } else { best });
            let linear = made().find(|(kind, _)| kinds[*kind].kind == Kind::Linear && kinds.len() > 1);
            match (network, linear) {
                (Some((network, scores)), Some((linear, simple))) => {
                    let cost = Cost::between(scores, simple);
                    let fine = cost.lower <= 0.0 && cost.points <= tolerance;
                    (if fine { linear } else { network }, Some(cost))
                }
                (one, other) => (one.or(other).map_or(0, |(kind, _)| kind), None),
            }
        };
        let (chosen, linear_cost) = best(&decision.kept);
        let mut rows = Vec::new();
        for (kind, networks) in kinds.iter().enumerate() {
            if let Some(model) = find(kind, &decision.kept) {
                rows.push(ModelRow { chosen: kind == chosen, ..self.row(Role::Kept, networks.kind, model)? });
            }
        }
        if let Some(truth) = &truth {
            let kind = best(truth).0;
            if let Some(model) = find(kind, truth) {
                rows.push(self.row(Role::Oracle, kinds[kind].kind, model)?);
            }
        }
        for (kind, networks) in kinds.iter().enumerate() {
            // Averaged over one view it is the plain network, which has a row of its own.
            let again = nothing == decision.kept || networks.kind == Kind::Averaged;
            if let Some(model) = find(kind, &nothing).filter(|_| !again) {
                rows.push(self.row(Role::Free, networks.kind, model)?);
            }
        }
        rows.extend(plain);
        if let Some((row, kept)) = augmented {
            rows.push(row);
            self.augmented = Some(kept);
        }
        rows.push(self.guessed());
        (self.rows, self.linear_cost) = (rows, linear_cost);
        let model = find(chosen, &decision.kept).cloned();
        model.ok_or_else(|| Error::Setting {
            name: "learning rate",
            expected: "one with which the final model converges".into(),
            got: "too large: every restart diverged".into(),
        })
    }

    fn row(&self, role: Role, kind: Kind, model: &Trained) -> Result<ModelRow> {
        let problem = self.ground.problem;
        let metrics = |data: &Dataset| problem.metrics_on(&model.network, &scaled(model.scaling.as_ref(), data));
        let irrelevant = problem.symmetry.as_ref().is_some_and(|symmetry| !symmetry.is_empty());
        let consistency = match problem.pairs.as_ref().filter(|_| irrelevant) {
            Some([one, other]) => {
                let alike = |(a, b): &(f64, f64)| match problem.measure {
                    Measure::Accuracy => (a.round() - b.round()).abs() < 0.5,
                    Measure::RSquared { variance } => (a - b).abs() <= 1e-3 * variance.sqrt(),
                };
                let pairs = model.answers(one)?.into_iter().zip(model.answers(other)?);
                let alike = pairs.filter(alike).count();
                Some(alike as f64 / one.len().max(1) as f64)
            }
            None => None,
        };
        Ok(ModelRow {
            role,
            kind: Some(kind),
            chosen: false,
            validation: metrics(&problem.validation)?,
            extrapolation: problem.test.as_ref().map(metrics).transpose()?,
            consistency,
        })
    }

    fn plain(&self) -> Result<Option<ModelRow>> {
        let Ground { problem, stop, epochs, .. } = self.ground;
        let fit = plain_config(self.ground.config, problem, 0);
        let scaling = match problem.train.inputs() {
            Inputs::Array { dim, values } => Some(Scaling::of_arrays(values, *dim, [])),
            _ => None,
        };
        let own = problem.scaled(scaling.as_ref());
        let record = match fit.run_unless(own.as_ref().unwrap_or(problem), stop, |_| epochs(1)) {
            Err(Error::Network(invar_nn::Error::Diverged { .. })) => return Ok(None),
            outcome => outcome?.record,
        };
        let (validation, extrapolation) = (record.validation, record.extrapolation);
        Ok(Some(ModelRow {
            role: Role::Plain,
            kind: None,
            chosen: false,
            validation,
            extrapolation,
            consistency: record.consistency,
        }))
    }

    fn guessed(&self) -> ModelRow {
        let problem = self.ground.problem;
        let metrics = |accuracy: f64| Metrics { loss: 0.0, accuracy };
        let extrapolation = problem.test.as_ref().map(|_| metrics(problem.chance));
        ModelRow {
            role: Role::Guess,
            kind: None,
            chosen: false,
            validation: metrics(self.guess),
            extrapolation,
            consistency: None,
        }
    }
}

impl ScreenRecord {
    /// Where the network has not learned the task, or another one has learned much more, its verdicts say little.
    fn weaken(&mut self, judge: &Networks<'_>) -> Result<()> {
        let [score, guess] = self.reference;
        let free = self.model(Role::Free).or_else(|| self.chosen()).map_or(score, |row| row.validation.accuracy);
        let plain = self.model(Role::Plain).map(|row| row.validation.accuracy);
        let margin = match self.measure {
            Measure::Accuracy => self.config.rule.tolerance / 100.0,
            Measure::RSquared { .. } => self.config.rule.tolerance / 100.0 * (1.0 - free + FLOOR),
        };
        let show = |score: f64| self.measure.show(score);
        let advice = "Try more epochs, another network (`network`) or more data";
        let reason = if !self.config.has_learned(self.measure, score, guess) {
            format!("with nothing imposed the network has {}, and a guess has {}. {advice}.", show(score), show(guess))
        } else if let Some(plain) = plain.filter(|plain| *plain > free + margin) {
            format!("a plain network has {}, this one {} with nothing imposed. {advice}.", show(plain), show(free))
        } else {
            return Ok(());
        };
        for (one, finding) in self.findings.iter_mut().enumerate() {
            // What no data could contradict stays what it is: a candidate that changes nothing.
            let trivial = judge.closure(&GroupSet::empty())?.contains(one);
            if !trivial {
                finding.verdict = Verdict::CannotTell;
            }
        }
        self.weakness = Some(reason);
        Ok(())
    }
}

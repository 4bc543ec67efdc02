//! A screen of a task, from its configuration to its record.

use std::time::Instant;

use invar_algebra::GroupSet;
use invar_nn::{Dataset, Epoch, Head, Inputs, Network, Schedule};

use super::config::{ScreenConfig, Settings};
use super::decide::Screen;
use super::decision::{Course, Decision, Outlook, Refits, Run, Stage, Together};
use super::evidence::{Cost, detectable};
use super::facts::Facts;
use super::memory::Memory;
use super::networks::{Networks, Trained};
use super::record::{Answer, Comparison, HeadResult, Joined, ScreenRecord, StartResult};
use super::trial::Trial;
use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::networks::Backbone;
use crate::problem::Problem;
use crate::queue::Stop;

/// What a listener hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A stage begins; so many epochs are left, as far as it can be told.
    Stage(Stage, usize),
    /// Epochs that passed, or that an early end saved.
    Epochs(usize),
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

/// Whose score tells whether anything was learned.
pub(crate) const NOTHING_IMPOSED: &str = "with nothing imposed the network has";

/// Heads, simplest first.
const HEADS: [Head; 2] = [Head::Affine, Head::Hidden];

impl ScreenConfig {
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

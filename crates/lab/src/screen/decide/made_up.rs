//! Made-up fits for tests: a model is what was imposed and where it began, its score a function of both.

use std::sync::Mutex;

use invar_algebra::{GroupSet, Lattice, Options, candidates};

use crate::error::Result;
use crate::queue::Stop;
use crate::screen::decide::Screen;
use crate::screen::decision::{Decision, Run};
use crate::screen::evidence::{PerExample, Scores};
use crate::screen::fitter::{Begin, Effort, Ending, Fitted, Fitter, Request};
use crate::screen::rule::Rule;

pub(super) const EXAMPLES: usize = 1000;

/// What a made-up model remembers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) imposed: GroupSet,
    /// The fresh draw it descends from.
    pub(super) start: usize,
    /// What was imposed on the weights it began with.
    pub(super) parent: Option<GroupSet>,
    /// The start of the simpler model it descends from.
    pub(super) grown: Option<usize>,
}

pub(super) type Points = dyn Fn(&Model) -> f64 + Sync;

/// Fits in no time: `points` says how many points a model loses.
pub(super) struct MadeUp<'a> {
    pub(super) lattice: &'a Lattice,
    pub(super) points: &'a Points,
    pub(super) apart: f64,
    pub(super) grows: bool,
    pub(super) log: Mutex<Vec<(Model, bool)>>,
}

impl<'a> MadeUp<'a> {
    pub(super) fn new(lattice: &'a Lattice, points: &'a Points) -> Self {
        Self { lattice, points, apart: 0.0, grows: false, log: Mutex::default() }
    }

    pub(super) fn fits(&self) -> usize {
        self.log.lock().unwrap().len()
    }
}

impl Fitter for MadeUp<'_> {
    type Model = Model;

    fn candidates(&self) -> usize {
        self.lattice.groups().len()
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        Ok(self.lattice.closure(set)?)
    }

    fn fit(&self, request: &Request<'_, Model>) -> Result<Fitted<Model>> {
        let imposed = request.imposed.clone();
        let model = match request.begin {
            Begin::Fresh(start) => Model { imposed, start, parent: None, grown: None },
            Begin::From(model) => Model { imposed, parent: Some(model.imposed.clone()), ..model.clone() },
            Begin::Grown(simpler, start) => {
                assert_eq!(simpler.imposed, imposed, "grown from another constraint");
                Model { imposed, start, parent: None, grown: Some(simpler.start) }
            }
        };
        let entry = (model.clone(), request.effort == Effort::Full);
        let mut log = self.log.lock().unwrap();
        assert!(!log.contains(&entry), "made twice: {entry:?}");
        log.push(entry);
        let lost = (self.points)(&model);
        let ending = if lost >= 100.0 { Ending::Diverged } else { Ending::Finished };
        Ok(Fitted { scores: scores(lost), model, epochs: 1, ending })
    }

    fn grows(&self) -> bool {
        self.grows
    }

    /// Together they lose `apart` points more than the mean of them.
    fn together(&self, models: &[&Model]) -> Result<Option<Scores>> {
        let lost = models.iter().map(|model| (self.points)(model)).sum::<f64>() / models.len() as f64 + self.apart;
        Ok(Some(scores(lost)))
    }
}

/// So many points are lost, on the first examples.
pub(super) fn scores(lost: f64) -> Scores {
    let wrong = (lost / 100.0 * EXAMPLES as f64).round() as usize;
    Scores { each: PerExample::Right((0..EXAMPLES).map(|i| i >= wrong).collect()), loss: lost }
}

pub(super) fn swaps(n: usize) -> Lattice {
    Lattice::new(candidates(&n.to_string().parse().unwrap(), ["swaps(0)"]).unwrap(), &Options::default()).unwrap()
}

pub(super) fn set(groups: &[usize]) -> GroupSet {
    groups.iter().copied().collect()
}

pub(super) const RULES: [Rule; 2] = [Rule { tolerance: 5.0, strict: false }, Rule { tolerance: 5.0, strict: true }];
pub(super) static STOP: Stop = Stop::new();

pub(super) fn run(threads: usize) -> Run<'static> {
    Run { alpha: 0.05, starts: 3, threads, stop: &STOP, listen: &|_, _| () }
}

pub(super) fn decide(fitters: &[MadeUp], rule: usize) -> Decision<Model> {
    Screen::new(fitters, &RULES[rule..=rule], run(1)).unwrap().decide(RULES[rule]).unwrap()
}

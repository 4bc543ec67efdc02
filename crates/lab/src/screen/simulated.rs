//! Fits whose true costs are known, drawn instead of trained: they show what the rule does where errors can happen, in seconds.

use std::collections::BTreeSet;
use std::sync::Mutex;

use invar_algebra::GroupSet;
use rand::Rng as _;

use super::cost::{PerExample, Scores};
use super::fitter::{Exchange, Fitted, Fitter, Request};
use crate::error::Result;

/// What imposing one candidate brings with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closure {
    /// Nothing.
    Itself,
    /// Candidates are the exchanges of so many positions, from the first pair to the last: exchangeability is transitive.
    Exchanges(usize),
}

/// A [`Fitter`] that trains nothing.
pub(crate) struct Simulated<'a> {
    /// Number of candidates.
    pub(crate) candidates: usize,
    pub(crate) closure: Closure,
    /// The true cost, in points, of a closed set, from some initialisation.
    pub(crate) cost: &'a (dyn Fn(Request<'_>) -> f64 + Sync),
    /// Examples that select, and of each fold that decide.
    pub(crate) examples: [usize; 2],
    pub(crate) folds: usize,
    /// Accuracy with nothing imposed.
    pub(crate) accuracy: f64,
    /// Share of examples that two models of equal accuracy answer differently, each way.
    pub(crate) discordant: f64,
    /// Draws answers; without it the counts are as expected, to the nearest example.
    pub(crate) seed: Option<u64>,
    /// The sets that were fitted.
    pub(crate) fitted: Mutex<BTreeSet<Vec<usize>>>,
}

#[cfg(test)]
impl<'a> Simulated<'a> {
    /// No chance: 1,000 examples select, and as many decide.
    pub(crate) fn exact(candidates: usize, closure: Closure, cost: &'a (dyn Fn(Request<'_>) -> f64 + Sync)) -> Self {
        let fitted = Mutex::default();
        Self { candidates, closure, cost, examples: [1000; 2], folds: 1, accuracy: 0.95, discordant: 0.0, seed: None, fitted }
    }
}

impl Simulated<'_> {
    /// Answers of a model that costs so much, beside those of the reference.
    fn answers(&self, points: f64, count: usize, stream: u64) -> Vec<bool> {
        let right = self.right(count);
        let known = (self.accuracy * count as f64).round().max(1.0);
        let gained = self.discordant.min(1.0 - self.accuracy);
        let lost = (points / 100.0 + gained).clamp(0.0, self.accuracy);
        let Some(seed) = self.seed else {
            let lost = (lost * count as f64).round() as usize;
            return (0..count).map(|k| right(k) && k >= lost).collect();
        };
        let mut rng = invar_nn::rng(seed, stream);
        let (of_right, of_wrong) = (lost * count as f64 / known, gained / (1.0 - self.accuracy).max(f64::EPSILON));
        (0..count)
            .map(|k| if right(k) { !rng.random_bool(of_right.min(1.0)) } else { rng.random_bool(of_wrong.min(1.0)) })
            .collect()
    }

    /// What the reference answers right.
    fn right(&self, count: usize) -> impl Fn(usize) -> bool + use<> {
        let known = (self.accuracy * count as f64).round() as usize;
        move |k| k < known
    }

    fn made(&self, points: f64, stream: u64) -> Fitted {
        let scores = |count: usize, stream: u64| {
            let each = self.answers(points, count, stream);
            let wrong = each.iter().filter(|right| !**right).count();
            Scores { each: PerExample::Right(each), loss: wrong as f64 / count.max(1) as f64 }
        };
        Fitted {
            selection: scores(self.examples[0], stream.wrapping_mul(2)),
            decision: scores(self.examples[1], stream.wrapping_mul(2).wrapping_add(1)),
            fresh: Some(self.accuracy - points / 100.0),
        }
    }
}

/// The pairs of so many positions, in order.
pub(crate) fn pairs(positions: usize) -> Vec<[usize; 2]> {
    (0..positions).flat_map(|i| (i + 1..positions).map(move |j| [i, j])).collect()
}

/// Every exchange of positions that others imply.
fn transitive(positions: usize, set: &GroupSet) -> GroupSet {
    let pairs = pairs(positions);
    let mut class: Vec<usize> = (0..positions).collect();
    for [i, j] in set.iter().map(|one| pairs[one]) {
        let (one, other) = (class[i], class[j]);
        class.iter_mut().filter(|class| **class == other).for_each(|class| *class = one);
    }
    (0..pairs.len()).filter(|&one| class[pairs[one][0]] == class[pairs[one][1]]).collect()
}

impl Fitter for Simulated<'_> {
    fn candidates(&self) -> usize {
        self.candidates
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        Ok(match self.closure {
            Closure::Itself => set.clone(),
            Closure::Exchanges(positions) => transitive(positions, set),
        })
    }

    /// A set of infinite cost has no model.
    fn vanishes(&self, set: &GroupSet) -> Result<bool> {
        Ok((self.cost)(Request { imposed: set, fold: 0, restart: 0, doublings: 0 }).is_infinite())
    }

    fn exchange(&self, candidate: usize) -> Option<Exchange> {
        match self.closure {
            Closure::Itself => None,
            Closure::Exchanges(positions) => Some(Exchange { family: vec![0], pair: pairs(positions)[candidate] }),
        }
    }

    fn folds(&self) -> usize {
        self.folds
    }

    fn reference(&self, _fold: usize) -> Result<Fitted> {
        let scores = |count: usize| {
            let each: Vec<bool> = (0..count).map(self.right(count)).collect();
            Scores { each: PerExample::Right(each), loss: 1.0 - self.accuracy }
        };
        Ok(Fitted { selection: scores(self.examples[0]), decision: scores(self.examples[1]), fresh: Some(self.accuracy) })
    }

    fn fit(&self, request: Request<'_>) -> Result<Fitted> {
        let set: Vec<usize> = request.imposed.iter().collect();
        // Every set, fold and restart has its own stream.
        let name = set.iter().fold(request.fold as u64 * 2 + request.restart as u64, |name, &one| {
            name.wrapping_mul(0x100_0193).wrapping_add(one as u64 + 1)
        });
        if let Ok(mut fitted) = self.fitted.lock() {
            fitted.insert(set);
        }
        Ok(self.made((self.cost)(request), name))
    }
}

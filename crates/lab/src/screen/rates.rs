//! How often the rule errs, on fits whose true costs are known: drawn instead of trained, thousands of screens in seconds.

use std::sync::Mutex;

use invar_algebra::GroupSet;
use rand::Rng as _;
use serde::Serialize;

use super::decide::{Decision, Question, decide};
use super::fitter::Request;
use super::rule::{Rule, Verdict};
use super::simulated::{Closure, Simulated, pairs};
use super::trials::Run;
use crate::error::{Error, Result};
use crate::queue::{self, Stop};

/// Candidates of a simulated screen that have nothing to do with each other.
const CANDIDATES: usize = 6;
/// Positions of one whose candidates are exchanges.
const POSITIONS: usize = 5;
/// Of a simulated reference.
const ACCURACY: f64 = 0.9;
/// Share of examples that two models of equal accuracy answer differently, each way.
const DISCORDANT: f64 = 0.02;

/// What candidates cost in a simulated screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Costs {
    /// Every other candidate nothing, the others up to three times the tolerance; costs add up.
    Mixed,
    /// Each just more than the tolerance: nothing is harder to tell.
    JustAbove,
    /// Exchanges of positions: a class costs as much as its positions differ.
    Exchanges,
}

impl Costs {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mixed, Self::JustAbove, Self::Exchanges];

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Mixed => "half cost nothing, half up to three times the tolerance",
            Self::JustAbove => "each costs just more than the tolerance",
            Self::Exchanges => "exchanges of five positions, half of them alike",
        }
    }

    fn closure(self) -> Closure {
        if self == Self::Exchanges { Closure::Exchanges(POSITIONS) } else { Closure::Itself }
    }

    fn candidates(self) -> usize {
        if self == Self::Exchanges { pairs(POSITIONS).len() } else { CANDIDATES }
    }

    /// The true cost of every set.
    fn draw(self, tolerance: f64, seed: u64) -> impl Fn(&GroupSet) -> f64 + Sync {
        let mut rng = invar_nn::rng(seed, 0xc057);
        let each: Vec<f64> = (0..CANDIDATES)
            .map(|_| match self {
                Self::JustAbove => tolerance + 1e-6,
                Self::Mixed | Self::Exchanges if rng.random_bool(0.5) => 0.0,
                Self::Mixed | Self::Exchanges => rng.random_range(0.0..3.0 * tolerance),
            })
            .collect();
        let pairs = pairs(POSITIONS);
        move |set| match self {
            Self::Mixed | Self::JustAbove => set.iter().map(|one| each[one]).sum(),
            // The largest difference between two positions that are exchanged.
            Self::Exchanges => set.iter().map(|one| (each[pairs[one][0]] - each[pairs[one][1]]).abs()).fold(0.0, f64::max),
        }
    }
}

/// How many claims of some screens are false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Rates {
    /// Screens.
    pub screens: usize,
    /// In how many what is kept was shown harmless, and in how many of these it costs more than the tolerance.
    pub shown: [usize; 2],
    /// In how many something was kept by default, and costs more.
    pub kept: [usize; 2],
    /// In how many something was called contradicted, and in how many of these a candidate wrongly.
    pub contradicted: [usize; 2],
    /// Candidates that are undecided, of all.
    pub undecided: [usize; 2],
}

impl Rates {
    /// Simulates screens that decide on so many examples, on some threads; the answer does not depend on how many.
    pub fn simulate(costs: Costs, examples: usize, screens: usize, threads: usize, stop: &Stop) -> Result<Self> {
        let seeds: Vec<u64> = (0..screens as u64).collect();
        let parts: Vec<&[u64]> = seeds.chunks(100).collect();
        let mut rates = Self::default();
        let part = |seeds: &&[u64]| -> Result<Self> {
            let mut rates = Self::default();
            for &seed in *seeds {
                rates.simulate_one(costs, examples, seed)?;
            }
            Ok(rates)
        };
        queue::run(&parts, threads, stop, part, |_, part| {
            rates.join(part?);
            Ok::<(), Error>(())
        })?;
        if stop.is_stopped() { Err(Error::Stopped) } else { Ok(rates) }
    }

    fn simulate_one(&mut self, costs: Costs, examples: usize, seed: u64) -> Result<()> {
        let rule = Rule::ACCURACY;
        let cost = costs.draw(rule.tolerance, seed);
        let fitter = Simulated {
            candidates: costs.candidates(),
            closure: costs.closure(),
            cost: &|request: Request<'_>| cost(request.imposed),
            // As a single split has them: a fifth of the examples decides, a fifth of the others selects.
            examples: [4 * examples / 5, examples],
            folds: 1,
            accuracy: ACCURACY,
            discordant: DISCORDANT,
            seed: Some(seed),
            fitted: Mutex::default(),
        };
        let question = Question { rule, budget: 60, required: GroupSet::empty(), all_alone: false };
        let run = Run { threads: 1, stop: &Stop::new(), listen: &|_, _| () };
        self.count(&decide(&fitter, &question, 0.0, run)?, rule.tolerance, &cost);
        Ok(())
    }

    fn join(&mut self, other: Self) {
        self.screens += other.screens;
        for (own, more) in [
            (&mut self.shown, other.shown),
            (&mut self.kept, other.kept),
            (&mut self.contradicted, other.contradicted),
            (&mut self.undecided, other.undecided),
        ] {
            own[0] += more[0];
            own[1] += more[1];
        }
    }

    fn count(&mut self, decision: &Decision, tolerance: f64, cost: &dyn Fn(&GroupSet) -> f64) {
        self.screens += 1;
        let is_false = cost(&decision.kept) > tolerance;
        if !decision.kept.is_empty() {
            let shown = decision.chain.iter().any(|step| step.set == decision.kept && step.verdict == Verdict::ShownHarmless);
            add(&mut self.kept, is_false);
            if shown {
                add(&mut self.shown, is_false);
            }
        }
        let contradicted = || decision.findings.iter().filter(|finding| finding.verdict == Verdict::Contradicted);
        if contradicted().next().is_some() {
            let wrong = |set: &GroupSet| cost(set) <= tolerance;
            add(
                &mut self.contradicted,
                contradicted().any(|finding| finding.tested.as_ref().is_some_and(|tested| wrong(&tested.set))),
            );
        }
        self.undecided[0] += decision.findings.iter().filter(|finding| finding.verdict == Verdict::Undecided).count();
        self.undecided[1] += decision.findings.len();
    }
}

fn add(count: &mut [usize; 2], is_false: bool) {
    count[0] += 1;
    count[1] += usize::from(is_false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_harmless_is_seldom_false_and_less_often_than_what_is_kept() {
        for costs in Costs::ALL {
            let rates = Rates::simulate(costs, 200, 400, 2, &Stop::new()).unwrap();
            let [shown, shown_false] = rates.shown;
            let [kept, kept_false] = rates.kept;
            assert!(shown <= kept && kept <= rates.screens && shown_false <= kept_false);
            // 5 % of 400 screens, and three standard errors.
            assert!(shown_false <= 33, "{costs:?}: {rates:?}");
            assert!(rates.contradicted[1] <= 33, "{costs:?}: {rates:?}");
            assert!(kept_false > shown_false, "the default keeps what may be false: {costs:?}: {rates:?}");
        }
        let [one, two] = [1, 2].map(|threads| Rates::simulate(Costs::Mixed, 50, 250, threads, &Stop::new()).unwrap());
        assert_eq!((one, one.screens), (two, 250), "whatever the number of threads");
    }
}

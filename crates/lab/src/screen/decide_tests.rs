//! The decision on fits whose costs are known.

use proptest::prelude::*;

use super::*;
use crate::queue::Stop;
use crate::screen::fitter::Request;
use crate::screen::simulated::{Closure, Simulated};

static STOP: Stop = Stop::new();

fn run(threads: usize) -> Run<'static> {
    Run { threads, stop: &STOP, listen: &|_, _| {} }
}

fn question() -> Question {
    Question { rule: Rule::ACCURACY, budget: 60, required: GroupSet::empty(), all_alone: false }
}

fn set(candidates: &[usize]) -> GroupSet {
    candidates.iter().copied().collect()
}

/// Exchanges of 4 positions: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3). Position 0 is not to be exchanged with any other.
fn all_but_first(request: Request<'_>) -> f64 {
    if (0..3).any(|one| request.imposed.contains(one)) { 60.0 } else { 0.5 }
}

#[test]
fn the_true_set_is_kept_and_the_rest_contradicted_on_any_number_of_threads() {
    let cost = |request: Request<'_>| all_but_first(request);
    let answer = |threads: usize, folds: usize| {
        let fitter = Simulated { folds, examples: [500, 800], ..Simulated::exact(6, Closure::Exchanges(4), &cost) };
        decide(&fitter, &question(), 0.2, run(threads)).unwrap()
    };
    for folds in [1, 5] {
        let decision = answer(1, folds);
        assert_eq!(decision.kept, set(&[3, 4, 5]));
        assert_eq!(decision.reference.count(), 800 * folds);
        for finding in &decision.findings[3..] {
            assert_eq!((finding.verdict, finding.kept), (Verdict::ShownHarmless, true));
            assert!(finding.tested.as_ref().unwrap().cost.upper <= 2.0);
        }
        for finding in &decision.findings[..3] {
            assert_eq!((finding.verdict, finding.kept), (Verdict::Contradicted, false));
            assert!(finding.tested.as_ref().unwrap().cost.lower > 50.0);
        }
        assert!(!decision.exhausted && decision.rivals.is_empty());
        assert_eq!(answer(3, folds), decision);
    }
}

#[test]
fn what_takes_longer_to_learn_is_trained_for_longer_and_what_does_not_hold_is_not() {
    // 0 holds, but takes four times the epochs; 1 does not hold.
    let fits = std::sync::Mutex::new(Vec::new());
    let cost = |request: Request<'_>| {
        fits.lock().unwrap().push((request.imposed.clone(), request.doublings));
        if request.imposed.contains(1) { 40.0 } else { [40.0, 20.0, 1.0][request.doublings as usize] }
    };
    let fitter = Simulated { examples: [500, 800], ..Simulated::exact(2, Closure::Itself, &cost) };
    let decision = decide(&fitter, &question(), 0.2, run(1)).unwrap();
    assert_eq!((decision.kept, decision.doublings), (set(&[0]), 2));
    assert_eq!(decision.findings[1].verdict, Verdict::Contradicted);
    let longest = |of: &[usize]| fits.lock().unwrap().iter().filter(|fit| fit.0 == set(of)).map(|fit| fit.1).max();
    assert_eq!((longest(&[0]), longest(&[1])), (Some(2), Some(1)), "twice the epochs do not help 1");
}

#[test]
fn a_chain_that_fails_falls_back_to_the_last_set_that_did_not() {
    // All three cost 1.6 together: within the tolerance of 2, but too close for few examples to show.
    let cost = |request: Request<'_>| if request.imposed.len() == 3 { 1.6 } else { 0.4 };
    let fitter = Simulated { examples: [1000, 100_000], ..Simulated::exact(3, Closure::Itself, &cost) };
    let strict = Question { rule: Rule { tolerance: 2.0, only_shown: true }, ..question() };
    assert_eq!(decide(&fitter, &strict, 0.2, run(1)).unwrap().kept, GroupSet::full(3), "many examples show 1.6 to be below 2");
    let few = Simulated { examples: [1000, 500], ..Simulated::exact(3, Closure::Itself, &cost) };
    let decision = decide(&few, &question(), 0.2, run(1)).unwrap();
    assert_eq!(decision.kept, GroupSet::full(3));
    // What costs 0.4 is shown with 500 examples, what costs 1.6 is not.
    let verdicts: Vec<Verdict> = decision.findings.iter().map(|finding| finding.verdict).collect();
    assert_eq!(verdicts, [Verdict::ShownHarmless, Verdict::ShownHarmless, Verdict::NotContradicted]);
    assert!(decision.findings[2].enough.is_some_and(|enough| enough > 500));
    assert_eq!(decide(&few, &strict, 0.2, run(1)).unwrap().kept, [0, 1].into_iter().collect());
}

#[test]
fn what_leaves_no_weights_and_what_a_model_cannot_learn_cannot_be_told() {
    let cost = |request: Request<'_>| if request.imposed.contains(1) { f64::INFINITY } else { 0.2 };
    let fitter = Simulated::exact(2, Closure::Itself, &cost);
    let decision = decide(&fitter, &question(), 0.2, run(1)).unwrap();
    assert_eq!(decision.kept, set(&[0]));
    assert_eq!(decision.findings[1].verdict, Verdict::CannotTell);
    // Nothing costs more than the reference has over a guess.
    let cost = |request: Request<'_>| if request.imposed.contains(0) { 80.0 } else { 0.2 };
    let fitter = Simulated::exact(2, Closure::Itself, &cost);
    let decision = decide(&fitter, &question(), 0.75, run(1)).unwrap();
    assert!((decision.findings[0].tested.as_ref().unwrap().cost.points - 20.0).abs() < 1e-6);
}

#[test]
fn sets_that_exclude_each_other_are_named() {
    let cost = |request: Request<'_>| {
        if request.imposed.len() == 2 { 30.0 } else { 0.1 + 0.1 * request.imposed.iter().next().unwrap_or(0) as f64 }
    };
    let fitter = Simulated::exact(2, Closure::Itself, &cost);
    let decision = decide(&fitter, &question(), 0.2, run(1)).unwrap();
    assert_eq!(decision.kept, set(&[0]), "the smaller loss");
    assert_eq!(decision.rivals.iter().map(|rival| rival.set.clone()).collect::<Vec<_>>(), [set(&[1])]);
    let required = Question { required: set(&[1]), ..question() };
    assert_eq!(decide(&fitter, &required, 0.2, run(1)).unwrap().kept, set(&[1]));
}

#[test]
fn all_alone_fits_every_candidate() {
    let cost = |_: Request<'_>| 0.1;
    let fitter = Simulated::exact(6, Closure::Exchanges(4), &cost);
    let decision = decide(&fitter, &question(), 0.2, run(1)).unwrap();
    assert!(decision.findings.iter().all(|finding| finding.asked == Asked::Implied && finding.alone.is_none()));
    let fitter = Simulated::exact(6, Closure::Exchanges(4), &cost);
    let decision = decide(&fitter, &Question { all_alone: true, ..question() }, 0.2, run(1)).unwrap();
    assert!(decision.findings.iter().all(|finding| finding.asked == Asked::Fitted && finding.alone.is_some()));
}

#[test]
fn a_stop_stops() {
    let stop = Stop::new();
    stop.stop();
    let cost = |_: Request<'_>| 0.1;
    let fitter = Simulated::exact(2, Closure::Itself, &cost);
    let outcome = decide(&fitter, &question(), 0.2, Run { threads: 1, stop: &stop, listen: &|_, _| {} });
    assert!(matches!(outcome, Err(crate::Error::Stopped)));
}

proptest! {
    /// Whatever the costs are: what is kept was tested and passed, with every set below it in the chain, and nothing came later.
    #[test]
    fn what_is_kept_passed_the_rule(costs in prop::collection::vec(0.0f64..8.0, 6), seed in 0u64..1000, only_shown: bool, examples in 40usize..400, folds in 1usize..4) {
        let cost = |request: Request<'_>| request.imposed.iter().map(|one| costs[one]).fold(0.0, f64::max);
        let fitter = Simulated {
            seed: Some(seed), examples: [examples, examples], discordant: 0.02, folds,
            ..Simulated::exact(6, Closure::Exchanges(4), &cost)
        };
        let rule = Rule { only_shown, ..Rule::ACCURACY };
        let decision = decide(&fitter, &Question { rule, ..question() }, 0.2, run(1)).unwrap();
        prop_assert_eq!(&fitter.closure(&decision.kept).unwrap(), &decision.kept);
        let passed: Vec<&Tested> = decision.chain.iter().take_while(|step| rule.keeps(step.verdict)).collect();
        prop_assert_eq!(passed.last().map_or(GroupSet::empty(), |step| step.set.clone()), decision.kept.clone());
        for (one, finding) in decision.findings.iter().enumerate() {
            prop_assert_eq!(finding.kept, decision.kept.contains(one));
            prop_assert!(finding.kept == rule.keeps(finding.verdict), "{:?}", finding);
        }
    }
}

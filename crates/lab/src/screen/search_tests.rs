//! The search on fits whose costs are known.

use super::*;
use crate::queue::Stop;
use crate::screen::fitter::Request;
use crate::screen::simulated::{Closure, Simulated, pairs};
use crate::screen::trials::Run;

static STOP: Stop = Stop::new();

fn search(fitter: &Simulated<'_>, budget: usize, required: &[usize]) -> (Found, usize) {
    let run = Run { threads: 1, stop: &STOP, listen: &|_, _| {} };
    let mut trials = Trials::new(fitter, 0, 2.0, run).unwrap();
    let found = Search { trials: &mut trials, budget, required: set(required) }.largest().unwrap();
    (found, fitter.fitted.lock().unwrap().len())
}

fn set(candidates: &[usize]) -> GroupSet {
    candidates.iter().copied().collect()
}

/// 40 points where positions of different classes are exchanged.
fn classes(class: &'static [usize]) -> impl Fn(Request<'_>) -> f64 + Sync {
    move |request| {
        let pairs = pairs(class.len());
        let wrong = request.imposed.iter().any(|one| class[pairs[one][0]] != class[pairs[one][1]]);
        if wrong { 40.0 } else { 0.3 }
    }
}

#[test]
fn where_everything_fits_one_fit_is_enough() {
    let cost = classes(&[0; 6]);
    let fitter = Simulated::exact(15, Closure::Exchanges(6), &cost);
    let (found, fitted) = search(&fitter, 60, &[]);
    assert_eq!((found.set, found.exhausted, fitted), (GroupSet::full(15), false, 1));
}

#[test]
fn classes_of_positions_are_found_against_representatives() {
    let class = &[0, 1, 0, 1, 0, 1, 0, 1];
    let cost = classes(class);
    let fitter = Simulated::exact(28, Closure::Exchanges(8), &cost);
    let (found, fitted) = search(&fitter, 60, &[]);
    let truth: GroupSet =
        pairs(8).iter().enumerate().filter(|(_, pair)| class[pair[0]] == class[pair[1]]).map(|(one, _)| one).collect();
    assert_eq!((found.set, found.exhausted), (truth, false));
    assert!(fitted < 20, "28 single exchanges were not needed: {fitted}");
}

#[test]
fn a_conflict_leaves_the_largest_set_without_it() {
    // Each alone is free; 0 with 1 is not. Of 2, 3 and 4 any two are, but not all three.
    let cost = |request: Request<'_>| {
        let has = |set: &[usize]| set.iter().all(|&one| request.imposed.contains(one));
        if has(&[0, 1]) || has(&[2, 3, 4]) { 20.0 } else { 0.1 * request.imposed.len() as f64 }
    };
    let fitter = Simulated::exact(6, Closure::Itself, &cost);
    let (found, fitted) = search(&fitter, 60, &[]);
    assert_eq!((found.set.len(), found.exhausted), (4, false), "{found:?}");
    assert!(found.set.contains(5) && fitted < 40, "{found:?} {fitted}");
    assert!(found.rivals.iter().all(|rival| rival.len() == 4) && !found.rivals.is_empty(), "{found:?}");
}

#[test]
fn the_cheapest_candidate_does_not_decide_what_else_fits() {
    // 0 costs least alone but excludes 1 and 2, which fit together.
    let cost = |request: Request<'_>| match request.imposed.iter().collect::<Vec<_>>()[..] {
        [0] => 0.2,
        [_] => 0.4,
        [1, 2] => 0.5,
        _ => 30.0,
    };
    let fitter = Simulated::exact(3, Closure::Itself, &cost);
    assert_eq!(search(&fitter, 60, &[]).0.set, set(&[1, 2]));
}

#[test]
fn an_accident_alone_is_mended_on_top_of_what_fits() {
    // Position 1 with the first looks bad alone; imposed with the rest it is free.
    let cost = |request: Request<'_>| {
        if *request.imposed == set(&[0]) {
            30.0
        } else if request.imposed.contains(5) {
            50.0
        } else {
            0.2
        }
    };
    let fitter = Simulated::exact(6, Closure::Itself, &cost);
    assert_eq!(search(&fitter, 60, &[]).0.set, set(&[0, 1, 2, 3, 4]));
}

#[test]
fn a_refusal_needs_two_initialisations() {
    let cost = |request: Request<'_>| if request.restart == 0 { 30.0 } else { 0.2 };
    let fitter = Simulated::exact(3, Closure::Itself, &cost);
    assert_eq!(search(&fitter, 60, &[]).0.set, GroupSet::full(3));
}

#[test]
fn an_exhausted_budget_is_said_and_required_ones_stay() {
    // Every pair is a conflict.
    let cost = |request: Request<'_>| if request.imposed.len() > 1 { 30.0 } else { 0.1 };
    let fitter = Simulated::exact(12, Closure::Itself, &cost);
    let (found, _) = search(&fitter, 5, &[]);
    assert!(found.exhausted && found.set.len() <= 1, "{found:?}");
    let cost = |request: Request<'_>| if request.imposed.contains(2) { 30.0 } else { 0.1 };
    let fitter = Simulated::exact(3, Closure::Itself, &cost);
    let (found, _) = search(&fitter, 60, &[2]);
    assert!(found.set.contains(2), "{found:?}");
}

#[test]
fn hitting_sets_are_smallest() {
    let hit = smallest_hitting_sets(&[vec![0, 1], vec![1, 2], vec![3]]);
    assert_eq!(hit, [vec![1, 3]]);
    assert_eq!(smallest_hitting_sets(&[]), [Vec::<usize>::new()]);
    assert_eq!(smallest_hitting_sets(&[vec![0, 1]]).len(), 2);
}

#[test]
fn what_fits_all_together_is_not_taken_apart_at_any_price() {
    // 1.9 of a tolerance of 2 is too close to be sure; 20 positions would take 19 fits.
    let cost = |request: Request<'_>| 0.01 * request.imposed.len() as f64;
    let fitter = Simulated::exact(190, Closure::Exchanges(20), &cost);
    for (budget, fits) in [(10, 1), (60, 20)] {
        let (found, made) = search(&fitter, budget, &[]);
        assert_eq!((found.set, made), (GroupSet::full(190), fits));
    }
}

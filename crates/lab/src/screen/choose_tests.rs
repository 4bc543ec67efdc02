//! The choice on made-up costs, with real closures of swaps.

use invar_algebra::{Lattice, Options, candidates};

use super::*;

const ALPHA: f64 = 0.05;

fn cost(points: f64) -> Cost {
    let p = if points > 0.5 { 0.0 } else { 0.6 };
    Cost { points, interval: [points - 0.3, points + 0.3], p, discordant: None }
}

fn single(points: f64) -> Single {
    Single { cost: cost(points), adjusted: cost(points).p, abandoned: false }
}

fn swaps(n: usize) -> Lattice {
    Lattice::new(candidates(&n.to_string().parse().unwrap(), ["swaps(0)"]).unwrap(), &Options::default()).unwrap()
}

fn set(groups: &[usize]) -> GroupSet {
    groups.iter().copied().collect()
}

/// Runs the choice with joint costs from a function; also tells which joints were asked for.
fn run(lattice: &Lattice, points: &[f64], rule: Rule, joint: impl Fn(&GroupSet) -> f64) -> (Choice, Vec<GroupSet>) {
    let singles: Vec<Single> = points.iter().map(|&points| single(points)).collect();
    let mut asked = Vec::new();
    let mut closure = |set: &GroupSet| Ok(lattice.closure(set)?);
    let mut ask = |set: &GroupSet, _: Stake| {
        asked.push(set.clone());
        Ok(Some(cost(joint(set))))
    };
    let choice = choose(&singles, rule, ALPHA, &mut closure, &mut ask).unwrap().unwrap();
    (choice, asked)
}

// Groups of 4 positions: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3).

#[test]
fn what_is_not_contradicted_is_kept_when_it_fits_jointly() {
    // All but position 0.
    let (choice, asked) = run(&swaps(4), &[80.0, 75.0, 90.0, 0.0, 0.2, -0.1], Rule::default(), |_| 0.3);
    assert_eq!((choice.kept, choice.dropped), (set(&[3, 4, 5]), vec![]));
    assert_eq!(asked, [set(&[3, 4, 5])]);
}

#[test]
fn nothing_kept_needs_no_joint_fit() {
    let (choice, asked) = run(&swaps(4), &[80.0; 6], Rule::default(), |_| unreachable!());
    assert!(choice.kept.is_empty() && asked.is_empty());
}

#[test]
fn a_closure_with_a_contradicted_group_is_a_conflict_and_never_imposed() {
    // (0,1) and (1,2) are free but imply (0,2), which is contradicted.
    let (choice, asked) = run(&swaps(4), &[0.0, 80.0, 90.0, 0.1, 85.0, 70.0], Rule::default(), |_| 0.0);
    assert_eq!(choice.kept, set(&[0]));
    assert_eq!(choice.dropped, [Dropped { group: 3, with: set(&[0]), implies: set(&[1]), cost: None }]);
    assert!(asked.iter().all(|asked| !asked.contains(1)));
}

#[test]
fn the_climb_starts_with_the_cheapest_and_stops_where_the_sum_is_too_much() {
    // Each tie costs 2 points and costs add up: at most two ties within 5 points. All at once is refused.
    let lattice = swaps(6);
    let free = |g: usize| [0, 9, 14].contains(&g); // (0,1), (2,3), (4,5)
    let points: Vec<f64> = (0..15).map(|g| if free(g) { 2.0 - 0.01 * g as f64 } else { 60.0 }).collect();
    let (choice, asked) = run(&lattice, &points, Rule::default(), |set| 2.0 * set.len() as f64);
    assert_eq!(choice.kept, set(&[9, 14]));
    assert_eq!(choice.dropped, [Dropped { group: 0, with: set(&[9, 14]), implies: set(&[]), cost: Some(cost(6.0)) }]);
    assert_eq!(asked, [set(&[0, 9, 14]), set(&[14]), set(&[9, 14])]);
}

#[test]
fn a_superset_of_what_was_refused_is_not_fitted() {
    // All six are free alone; (0,1) with (2,3) fails, so everything that contains both is known to fail.
    let refuse = |s: &GroupSet| if s.contains(0) && s.contains(5) { 40.0 } else { 0.0 };
    let (choice, asked) = run(&swaps(4), &[0.0, 0.3, 0.31, 0.32, 0.33, 0.1], Rule::default(), refuse);
    // The cheapest stays, the join with (2,3) fails; then 0,1,2 are tied, and tying 3 would contain what failed.
    assert_eq!(choice.kept, set(&[0, 1, 3]));
    assert_eq!(asked, [GroupSet::full(6), set(&[0]), set(&[0, 5]), set(&[0, 1, 3])]);
    assert_eq!(choice.dropped.iter().map(|d| d.group).collect::<Vec<_>>(), [5, 2, 4]);
    assert!(choice.dropped.iter().all(|d| d.cost == Some(cost(40.0))));
}

#[test]
fn strict_keeps_only_what_costs_nothing() {
    let strict = Rule { strict: true, ..Rule::default() };
    let points = [3.0, 4.0, 3.0, 0.0, 0.2, 0.1];
    let (choice, _) = run(&swaps(4), &points, strict, |_| 0.2);
    assert_eq!(choice.kept, set(&[3, 4, 5]));
    let (choice, _) = run(&swaps(4), &points, Rule::default(), |_| 4.9);
    assert_eq!(choice.kept, GroupSet::full(6));
}

#[test]
fn the_answer_by_tolerance_is_read_off_the_fits_at_hand() {
    let lattice = swaps(4);
    let mut singles: Vec<Single> = [3.0, 30.0, 31.0, 40.0, 41.0, 0.0].into_iter().map(single).collect();
    let known: Vec<Known> = [(set(&[0]), 3.0), (set(&[5]), 0.0), (set(&[0, 5]), 4.0)]
        .into_iter()
        .map(|(set, points)| Known { set, cost: cost(points), abandoned: false })
        .collect();
    let mut closure = |set: &GroupSet| Ok(lattice.closure(set)?);
    let steps = by_tolerance(&singles, &known, None, ALPHA, &mut closure).unwrap();
    // From 29.7 on (0,2) fits alone, but with (0,1) it implies what is contradicted, until nothing is.
    let expected = [(0.0, Some(set(&[5]))), (4.0, Some(set(&[0, 5]))), (40.7, None)];
    assert_eq!(steps.iter().map(|s| s.kept.clone()).collect::<Vec<_>>(), expected.clone().map(|e| e.1));
    assert!(steps.iter().zip(expected).all(|(s, e)| (s.from - e.0).abs() < 1e-9), "{steps:?}");
    // A fit that was given up early says nothing at tolerances near its cost.
    singles[0].abandoned = true;
    let steps = by_tolerance(&singles, &known, None, ALPHA, &mut closure).unwrap();
    assert!(steps.last().unwrap().kept.is_none() && (steps.last().unwrap().from - 2.7).abs() < 1e-9, "{steps:?}");
    // Whether its cost is significant or not.
    singles[0].adjusted = 1.0;
    assert_eq!(by_tolerance(&singles, &known, None, ALPHA, &mut closure).unwrap(), steps);
}

#[test]
fn the_answer_by_tolerance_takes_back_what_was_seen_to_fit_and_agrees_with_the_decision() {
    let lattice = swaps(4);
    // Alone (0,1) costs 30 points; on top of (2,3) it was seen to cost 2.
    let singles: Vec<Single> = [30.0, 60.0, 61.0, 62.0, 63.0, 0.0].into_iter().map(single).collect();
    let known: Vec<Known> = [(set(&[5]), 0.0), (set(&[0, 5]), 2.0)]
        .into_iter()
        .map(|(set, points)| Known { set, cost: cost(points), abandoned: false })
        .collect();
    let mut closure = |set: &GroupSet| Ok(lattice.closure(set)?);
    let mut path = |decided: Option<(f64, &GroupSet)>| -> Vec<(f64, usize)> {
        let steps = by_tolerance(&singles, &known, decided, ALPHA, &mut closure).unwrap();
        steps.iter().take(3).map(|step| (step.from, step.kept.as_ref().map_or(99, GroupSet::len))).collect()
    };
    assert_eq!(path(None)[..2], [(0.0, 1), (2.0, 2)]);
    // A decision that had less luck stands where it was made, between the costs that would change it.
    assert_eq!(path(Some((5.0, &set(&[5]))))[..2], [(0.0, 1), (29.7, 2)]);
    assert_eq!(path(Some((1.0, &set(&[])))), [(0.0, 0), (1.7, 1), (2.0, 2)]);
}

#[test]
fn larger_constraints_answer_for_smaller_ones_and_the_other_way_round() {
    let known = [
        Known { set: set(&[0, 1, 3]), cost: cost(1.0), abandoned: false },
        Known { set: set(&[4]), cost: cost(50.0), abandoned: true },
    ];
    let found = |s: &[usize]| look_up(&set(s), &known, Rule::default(), ALPHA).map(|cost| cost.points);
    assert_eq!(found(&[0]), Some(1.0));
    assert_eq!(found(&[4, 5]), Some(50.0));
    assert_eq!(found(&[5]), None);
}

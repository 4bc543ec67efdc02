//! What a screen looks like on a terminal, from made-up records.

use invar_algebra::{GroupSet, Lattice, Options, candidates};
use invar_lab::record::Metrics;
use invar_lab::screen::{Comparison, Cost, Dropped, Facts, Joined, StartResult, Threshold};

use super::*;

fn cost(points: f64) -> Cost {
    let p = if points > 0.5 { 1e-6 } else { 0.4 };
    Cost { points, interval: [points - 0.4, points + 0.4], p, discordant: None }
}

fn start(validation: f64, extrapolation: f64) -> StartResult {
    let metrics = |accuracy| Metrics { loss: 0.1, accuracy };
    StartResult { validation: metrics(validation), extrapolation: Some(metrics(extrapolation)) }
}

fn result(head: Head, starts: &[(f64, f64)], cost: Option<Cost>) -> HeadResult {
    let starts = starts.iter().map(|&(inside, outside)| start(inside, outside)).collect();
    HeadResult { head, starts, picked: 0, together: None, consistency: Some(1.0), cost }
}

/// A screen of sum2 on n positions with these costs and verdicts.
fn record(n: usize, costs: &[f64], verdicts: Vec<Verdict>, truth: &GroupSet, rule: Rule) -> ScreenRecord {
    let groups = candidates(&n.to_string().parse().unwrap(), ["swaps(0)"]).unwrap();
    let names: Vec<String> = groups.iter().map(|group| group.name().to_string()).collect();
    let lattice = Lattice::new(groups, &Options::default()).unwrap();
    let kept: GroupSet = (0..names.len()).filter(|&g| verdicts[g].is_kept()).collect();
    let evidence = |(group, &points): (usize, &f64)| {
        let cost = cost(points);
        Evidence { group, trials: Vec::new(), cost, adjusted: if points > 0.5 { 1e-5 } else { 1.0 } }
    };
    let heads = vec![
        result(Head::Affine, &[(0.999, 1.0), (0.998, 0.97)], Some(cost(0.1))),
        HeadResult {
            together: Some(Joined { starts: vec![0, 1, 2], result: start(1.0, 0.95) }),
            ..result(Head::Hidden, &[(1.0, 0.91), (0.999, 0.44)], None)
        },
    ];
    let by_tolerance = vec![
        Threshold { from: 0.0, kept: Some(GroupSet::empty()) },
        Threshold { from: 0.3, kept: Some(kept.clone()) },
        Threshold { from: 69.6, kept: None },
    ];
    let facts = Facts::of(&lattice, &kept);
    let by_all = Some(cost(0.2));
    let answer =
        Answer { rule, kept, verdicts, facts, retests: Vec::new(), heads, preferred: 0, cost: by_all, by_tolerance, doubt: None };
    ScreenRecord {
        config: ScreenConfig { rules: vec![rule], ..ScreenConfig::new(Data::by_name("sum2").unwrap()) },
        seconds: 1.0,
        names,
        examples: [6400, 1600, 2000],
        measure: Measure::Accuracy,
        detectable: 0.625,
        decided_by: Head::Hidden,
        free: vec![start(0.998, 0.2)],
        evidence: costs.iter().enumerate().map(evidence).collect(),
        joints: Vec::new(),
        answers: vec![answer],
        truth: Some(truth.clone()),
        oracle: Some(result(Head::Hidden, &[(1.0, 0.99)], None)),
        plain: Some(Comparison { result: start(0.4, 0.01), consistency: Some(0.03) }),
        chance: 0.005,
    }
}

fn text(record: &ScreenRecord) -> String {
    anstream::adapter::strip_str(&render(record)).to_string()
}

fn set(groups: &[usize]) -> GroupSet {
    groups.iter().copied().collect()
}

#[test]
fn few_symmetries_have_a_row_each() {
    let dropped = Dropped { group: 4, with: set(&[3]), implies: GroupSet::empty(), cost: Some(cost(12.0)) };
    let implied = Dropped { group: 5, with: set(&[3]), implies: set(&[0, 1]), cost: None };
    let verdicts = vec![
        Verdict::Contradicted,
        Verdict::Contradicted,
        Verdict::Contradicted,
        Verdict::Tolerated,
        Verdict::Dropped(dropped),
        Verdict::Dropped(implied),
    ];
    let record = record(4, &[70.0, 71.3, 80.0, 2.5, 0.2, 0.0], verdicts, &set(&[3, 4, 5]), Rule::default());
    insta::assert_snapshot!(text(&record), @r#"
    sum2: sum of all tokens but the first; any two positions after the first can be exchanged
    6 candidate symmetries; trained on 6,400, decided on 1,600 held out, tested on 2,000 of another environment
    nothing imposed: 99.8 % right on held-out examples; a cost below 0.6 points cannot be told from none

    symmetry     verdict          cost in points        p
    swap(0;0,1)  contradicted  70.0 [69.6, 70.4]  < 0.001
    swap(0;0,2)  contradicted  71.3 [70.9, 71.7]  < 0.001
    swap(0;0,3)  contradicted  80.0 [79.6, 80.4]  < 0.001
    swap(0;1,2)  tolerated        2.5 [2.1, 2.9]  < 0.001
    swap(0;1,3)  dropped         0.2 [-0.2, 0.6]    1.000  with swap(0;1,2): 12.0 points
    swap(0;2,3)  dropped         0.0 [-0.4, 0.4]    1.000  with swap(0;1,2) it implies swap(0;0,1), swap(0;0,2)
    intervals of 95 %; p corrected over all 6 symmetries

    kept: 1 of 6, at most 5 points altogether: all but positions 1,4
      a group of order 2; in truth 2 that hold were lost, 0 that do not hold were kept
      normal if no symmetry that was not kept acts on the data; not if all 5 others do: swap(0;0,1) moves "axis 0 swaps 1 and 2" out of it
      the preferred model, with all of it imposed, costs 0.2 [-0.2, 0.6] points against nothing imposed
      by tolerance: from 0.0: 0 kept; from 0.3: 1 kept; from 69.6: not known from these fits

                                                      same environment %  other environment %       by start  pairs answered alike %
    kept symmetries, hidden head, median of 3 starts               100.0                 95.0   44.0 to 91.0                   100.0
    kept symmetries, affine head <- preferred                       99.9                100.0  97.0 to 100.0                   100.0
    the truth imposed, hidden head                                 100.0                 99.0                                  100.0
    plain network                                                   40.0                  1.0                                    3.0
    most frequent answer                                                                  0.5
    starts and heads are chosen on held-out examples of the same environment; the affine head costs 0.1 [-0.3, 0.5] points there, p 0.400
    "#);
}

#[test]
fn many_swaps_become_a_picture() {
    let truth: GroupSet = (5..15).collect();
    let costs: Vec<f64> = (0..15).map(|g| if truth.contains(g) { 0.0 } else { 70.0 + g as f64 }).collect();
    let verdict = |g: usize| match g {
        14 => Verdict::Undecided,
        g if truth.contains(g) => Verdict::KeptFreely,
        _ => Verdict::Contradicted,
    };
    let record = record(6, &costs, (0..15).map(verdict).collect(), &truth, Rule { strict: true, ..Rule::default() });
    insta::assert_snapshot!(text(&record), @r#"
    sum2: sum of all tokens but the first; any two positions after the first can be exchanged
    15 candidate symmetries; trained on 6,400, decided on 1,600 held out, tested on 2,000 of another environment
    nothing imposed: 99.8 % right on held-out examples; a cost below 0.6 points cannot be told from none

    cost of exchanging two positions (from 1), in points; below the diagonal what follows from it
           1   2   3   4   5   6
       1      70  71  72  73  74
       2   ·       0   0   0   0
       3   ·   ■       0   0   0
       4   ·   ■   ■       0   0
       5   ·   ■   ■   ■       0
       6   ·   ■   ■   ■   ?
    ■ kept freely, ? undecided, kept, · contradicted

    symmetry     verdict           cost in points      p
    swap(0;4,5)  undecided, kept  0.0 [-0.4, 0.4]  1.000
    intervals of 95 %; p corrected over all 15 symmetries

    kept: 10 of 15, no significant cost: all but position 1
      a group of order 120; in truth 0 that hold were lost, 0 that do not hold were kept
      normal if no symmetry that was not kept acts on the data; not if all 5 others do: swap(0;0,1) moves "axis 0 swaps 1 and 2" out of it
      the preferred model, with all of it imposed, costs 0.2 [-0.2, 0.6] points against nothing imposed
      by tolerance, were it not strict: from 0.0: 0 kept; from 0.3: 10 kept; from 69.6: not known from these fits

                                                      same environment %  other environment %       by start  pairs answered alike %
    kept symmetries, hidden head, median of 3 starts               100.0                 95.0   44.0 to 91.0                   100.0
    kept symmetries, affine head <- preferred                       99.9                100.0  97.0 to 100.0                   100.0
    the truth imposed, hidden head                                 100.0                 99.0                                  100.0
    plain network                                                   40.0                  1.0                                    3.0
    most frequent answer                                                                  0.5
    starts and heads are chosen on held-out examples of the same environment; the affine head costs 0.1 [-0.3, 0.5] points there, p 0.400
    "#);
}

#[test]
fn long_lists_are_cut() {
    let record = record(4, &[0.0; 6], vec![Verdict::KeptFreely; 6], &GroupSet::full(6), Rule::default());
    assert_eq!(list(&record, 0..0), "nothing");
    assert_eq!(list(&record, 0..2), "swap(0;0,1), swap(0;0,2)");
    assert_eq!(list(&record, 0..6), "swap(0;0,1), swap(0;0,2), swap(0;0,3) and 3 more");
}

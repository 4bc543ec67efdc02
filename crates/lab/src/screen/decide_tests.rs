//! The five steps on made-up fits.

#[path = "decide/made_up.rs"]
mod made_up;

use std::sync::Mutex;

use super::*;
use crate::queue::Stop;
use crate::screen::fitter::Request;
use made_up::{MadeUp, Model, RULES, decide, run, set, swaps};

// Groups of 4 positions: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3).

/// Position 0 is not to be exchanged with any other.
fn all_but_first(model: &Model) -> f64 {
    if (0..3).any(|g| model.imposed.contains(g)) { 70.0 } else { 0.5 }
}

#[test]
fn the_true_partition_is_found_on_any_number_of_threads() {
    let lattice = swaps(4);
    let answer = |threads: usize| {
        let fitters = [MadeUp::new(&lattice, &all_but_first)];
        let mut screen = Screen::new(&fitters, &RULES, run(threads)).unwrap();
        let decisions: Vec<_> = RULES.iter().map(|&rule| screen.decide(rule).unwrap()).collect();
        let told: Vec<_> = decisions.iter().map(|d| (d.kept.clone(), d.verdicts.clone(), d.retests.clone())).collect();
        (told, screen.evidence().to_vec(), screen.trials().to_vec())
    };
    let (told, evidence, _) = answer(1);
    for (kept, verdicts, retests) in &told {
        assert_eq!(*kept, set(&[3, 4, 5]));
        assert_eq!(verdicts[..3], [Verdict::Contradicted, Verdict::Contradicted, Verdict::Contradicted]);
        assert!(verdicts[3..].iter().all(|verdict| *verdict == Verdict::KeptFreely && verdict.is_kept()));
        // All three rejected swaps, on top of what was kept, are one and the same constraint.
        assert_eq!(retests.len(), 1);
        assert_eq!((retests[0].start, retests[0].imposed.len()), (Start::Chosen, 6));
    }
    let starts: Vec<usize> = evidence.iter().map(|evidence| evidence.trials.len()).collect();
    assert_eq!(starts, [2, 2, 2, 1, 1, 1], "rejections are confirmed, the rest is not");
    assert!((evidence[0].cost.points - 69.5).abs() < 1e-9);
    for threads in [2, 7] {
        assert_eq!(answer(threads), answer(1));
    }
}

#[test]
fn a_rejection_by_one_start_alone_does_not_count() {
    let lattice = swaps(4);
    let unlucky = |model: &Model| if model.start == 0 && model.imposed == set(&[5]) { 60.0 } else { all_but_first(model) };
    let decision = decide(&[MadeUp::new(&lattice, &unlucky)], 0);
    assert_eq!(decision.kept, set(&[3, 4, 5]));
    assert_eq!(decision.verdicts[5], Verdict::KeptFreely);
}

#[test]
fn the_better_free_fit_is_the_reference() {
    let lattice = swaps(4);
    // The first start is poor whatever is imposed: against itself everything would look free.
    let poor = |model: &Model| if model.start == 0 { 60.0 } else { all_but_first(model) };
    let fitters = [MadeUp::new(&lattice, &poor)];
    let mut screen = Screen::new(&fitters, &RULES[..1], run(1)).unwrap();
    assert_eq!(screen.free()[0].last.model.start, 1);
    assert_eq!(screen.decide(RULES[0]).unwrap().kept, set(&[3, 4, 5]));
}

#[test]
fn a_joint_that_fails_leads_to_a_climb_and_names_the_conflict() {
    let lattice = swaps(6);
    // (0,1), (2,3) and (4,5) cost 2 points each, and costs add up; everything else is contradicted.
    let adding = |model: &Model| {
        let allowed = [0, 9, 14];
        if model.imposed.iter().any(|g| !allowed.contains(&g)) { 50.0 } else { 2.0 * model.imposed.len() as f64 }
    };
    let decision = decide(&[MadeUp::new(&lattice, &adding)], 0);
    assert_eq!(decision.kept, set(&[0, 9]));
    assert_eq!(decision.verdicts[0], Verdict::Tolerated);
    let Verdict::Dropped(dropped) = &decision.verdicts[14] else { panic!("{:?}", decision.verdicts[14]) };
    assert_eq!((&dropped.with, dropped.implies.is_empty()), (&set(&[0, 9]), true));
    assert!((dropped.cost.unwrap().points - 6.0).abs() < 1e-9);
    // Strictly, two points are too many.
    let strict = decide(&[MadeUp::new(&lattice, &adding)], 1);
    assert!(strict.kept.is_empty() && strict.verdicts[0] == Verdict::Contradicted && strict.retests.is_empty());
}

#[test]
fn all_together_get_a_fresh_start_before_they_are_refused() {
    let lattice = swaps(4);
    // Warm starts cannot cope with three ties at once; fresh weights can.
    let stuck = |model: &Model| {
        let warm = model.parent.as_ref().is_some_and(GroupSet::is_empty);
        if warm && model.imposed.len() == 3 { 30.0 } else { all_but_first(model) }
    };
    let fitters = [MadeUp::new(&lattice, &stuck)];
    let mut screen = Screen::new(&fitters, &RULES[..1], run(1)).unwrap();
    assert_eq!(screen.decide(RULES[0]).unwrap().kept, set(&[3, 4, 5]));
    assert!(screen.trials().iter().any(|trial| trial.start == Start::Fresh(0)));
}

#[test]
fn what_fits_on_top_of_the_chosen_model_is_taken_back() {
    let lattice = swaps(4);
    // Imposed on free weights, (0,1) always fails; on top of the rest it costs a point.
    let reborn = |model: &Model| {
        let warm = model.parent.as_ref().is_none_or(GroupSet::is_empty);
        if !warm || model.imposed.len() == 6 { model.imposed.len() as f64 / 6.0 } else { all_but_first(model) }
    };
    let decision = decide(&[MadeUp::new(&lattice, &reborn)], 0);
    assert_eq!(decision.kept, GroupSet::full(6));
    assert!(decision.verdicts.iter().all(Verdict::is_kept), "{:?}", decision.verdicts);
    let at = decision.by_tolerance.iter().rfind(|step| step.from <= RULES[0].tolerance);
    assert_eq!(at.unwrap().kept, Some(GroupSet::full(6)), "the answer by tolerance is the answer");
}

#[test]
fn an_answer_does_not_depend_on_the_rules_before_it() {
    let lattice = swaps(4);
    // From free weights (1,2) costs four points and (0,1) everything; on top of a model that has a symmetry, nothing does.
    let stuck = |model: &Model| match &model.parent {
        Some(parent) if !parent.is_empty() => 0.5,
        None if !model.imposed.is_empty() => 0.5,
        _ if (0..3).any(|g| model.imposed.contains(g)) => 70.0,
        _ if model.imposed.contains(3) => 4.5,
        _ => 0.5,
    };
    let told = |decision: Decision<Model>| (decision.kept, decision.verdicts, decision.retests, decision.refits[0].best);
    let strict = told(decide(&[MadeUp::new(&lattice, &stuck)], 1));
    let fitters = [MadeUp::new(&lattice, &stuck)];
    let mut screen = Screen::new(&fitters, &RULES, run(1)).unwrap();
    let before = screen.evidence().to_vec();
    let first = screen.decide(RULES[0]).unwrap();
    assert_eq!(first.kept, GroupSet::full(6), "all is taken back");
    assert_eq!(first.verdicts[0], Verdict::KeptFreely);
    assert_eq!(screen.evidence(), before, "what a candidate costs alone stays what it was");
    assert_eq!(told(screen.decide(RULES[1]).unwrap()), strict);
}

#[test]
fn stand_ins_do_not_depend_on_the_rules_before_either() {
    let lattice = swaps(4);
    // From fresh weights nothing can be had. From the first free fit all together costs two points, which is too much strictly; from
    // the second, with a smaller loss, nothing at all.
    let stuck = |model: &Model| match (&model.parent, model.start) {
        _ if model.imposed.is_empty() => 0.1 * model.start as f64,
        (Some(parent), 0) if parent.is_empty() && model.imposed.len() == 6 => 2.0,
        (Some(parent), _) if parent.is_empty() => 0.1,
        _ => 30.0,
    };
    let told = |decision: Decision<Model>| {
        let picked = decision.refits[0].best().model.clone();
        (decision.kept, decision.verdicts, decision.refits[0].courses.len(), picked)
    };
    let alone = told(decide(&[MadeUp::new(&lattice, &stuck)], 0));
    assert_eq!((alone.0.len(), alone.2, alone.3.start), (6, 4, 0), "the first that does stands in");
    let fitters = [MadeUp::new(&lattice, &stuck)];
    let mut screen = Screen::new(&fitters, &RULES, run(1)).unwrap();
    assert_eq!(told(screen.decide(RULES[1]).unwrap()).3.start, 1, "strictly only the second does");
    assert_eq!(told(screen.decide(RULES[0]).unwrap()), alone);
}

#[test]
fn nothing_kept_is_the_reference_however_few_starts_are_asked_for() {
    let lattice = swaps(4);
    let second = |model: &Model| if model.imposed.is_empty() { [20.0, 0.5][model.start] } else { 90.0 };
    let fitters = [MadeUp::new(&lattice, &second)];
    let mut screen = Screen::new(&fitters, &RULES[..1], Run { starts: 1, ..run(1) }).unwrap();
    let decision = screen.decide(RULES[0]).unwrap();
    assert!(decision.kept.is_empty());
    assert_eq!((decision.refits[0].best().model.start, decision.refits[0].courses.len()), (1, 2));
}

#[test]
fn what_all_together_show_speaks_for_each() {
    let lattice = swaps(4);
    // Alone (2,3) costs 5.5 points from free weights; from fresh weights it costs one.
    let late = |model: &Model| match (&model.parent, model.imposed == set(&[5])) {
        _ if model.imposed.is_empty() => 0.0,
        (Some(parent), true) if parent.is_empty() => 5.5,
        (_, true) => 1.0,
        _ => 60.0,
    };
    let fitters = [MadeUp::new(&lattice, &late)];
    let mut screen = Screen::new(&fitters, &RULES[..1], run(1)).unwrap();
    let decision = screen.decide(RULES[0]).unwrap();
    assert_eq!((decision.kept, &decision.verdicts[5]), (set(&[5]), &Verdict::Tolerated));
    assert!((screen.evidence()[5].cost.points - 5.5).abs() < 1e-9);
    assert!(screen.trials().iter().any(|trial| trial.start == Start::Fresh(0) && trial.imposed == set(&[5])));
}

#[test]
fn what_does_not_fit_alone_is_not_called_dropped() {
    let lattice = swaps(4);
    // (2,3) costs 5.5 points, which may well be 5; nothing else fits.
    let dear = |model: &Model| {
        let alone = [(set(&[]), 0.0), (set(&[5]), 5.5)];
        alone.iter().find(|(set, _)| *set == model.imposed).map_or(60.0, |(_, points)| *points)
    };
    let decision = decide(&[MadeUp::new(&lattice, &dear)], 0);
    assert!(decision.kept.is_empty());
    assert_eq!(decision.verdicts[5], Verdict::Refused);
    assert!(!decision.verdicts[5].is_kept());
}

#[test]
fn a_fresh_start_that_meets_the_rule_goes_before_one_that_does_not() {
    let lattice = swaps(4);
    // The second start has the smaller loss and more wrong answers than the rule allows.
    let wrong = |model: &Model| match (model.imposed.len(), model.start, &model.parent) {
        (3, 1, Some(parent)) if parent.len() == 3 => 6.0,
        _ => all_but_first(model),
    };
    let confident = Confident { fits: MadeUp::new(&lattice, &wrong) };
    let decision = Screen::new(&[confident], &RULES[..1], run(1)).unwrap().decide(RULES[0]).unwrap();
    let refits = &decision.refits[0];
    assert_eq!((decision.kept, refits.courses.len(), refits.best), (set(&[3, 4, 5]), 3, 0));
}

/// Made-up fits whose loss falls as their wrong answers grow.
struct Confident<'a> {
    fits: MadeUp<'a>,
}

impl Fitter for Confident<'_> {
    type Model = Model;

    fn candidates(&self) -> usize {
        self.fits.candidates()
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        self.fits.closure(set)
    }

    fn fit(&self, request: &Request<'_, Model>) -> Result<Fitted<Model>> {
        let mut fitted = self.fits.fit(request)?;
        fitted.scores.loss = -fitted.scores.loss;
        Ok(fitted)
    }

    fn together(&self, models: &[&Model]) -> Result<Option<Scores>> {
        self.fits.together(models)
    }
}

#[test]
fn a_simpler_model_that_diverged_is_not_preferred() {
    let lattice = swaps(4);
    // Nothing is learned at all: a model that answers nothing is no worse.
    let (lost, poor) = (|_: &Model| 100.0, |_: &Model| 99.9);
    let fitters = [MadeUp::new(&lattice, &lost), MadeUp::new(&lattice, &poor)];
    assert_eq!(decide(&fitters, 0).preferred, 1);
}

#[test]
fn the_simplest_model_wins_unless_it_is_significantly_worse() {
    let lattice = swaps(4);
    for (worse, preferred, courses) in [(0.0, 0, 3), (0.4, 0, 3), (1.0, 1, 3), (40.0, 1, 1)] {
        let simple = move |model: &Model| all_but_first(model) + worse;
        let fitters = [MadeUp::new(&lattice, &simple), MadeUp::new(&lattice, &all_but_first)];
        let decision = decide(&fitters, 0);
        assert_eq!((decision.preferred, decision.refits[0].courses.len()), (preferred, courses), "{worse} points worse");
        assert!((decision.refits[0].cost.unwrap().points - worse).abs() < 1e-9);
        assert!(decision.refits[1].cost.is_none());
        // The richest model alone decided about symmetries; the simple one only had a look.
        assert_eq!(fitters[0].fits(), 2 + 2 * courses);
    }
}

#[test]
fn a_simpler_model_must_meet_the_rule_as_well() {
    let lattice = swaps(4);
    // What is kept costs 4.7 points, and the simpler model 0.3 or 0.4 more, neither of which alone is significant.
    for (worse, preferred) in [(0.3, 0), (0.4, 1)] {
        let dear = |model: &Model| match (model.imposed.is_empty(), model.imposed == set(&[3, 4, 5])) {
            (true, _) => 0.0,
            (_, true) => 4.7,
            _ => all_but_first(model),
        };
        let simple = move |model: &Model| dear(model) + if model.imposed.is_empty() { 0.0 } else { worse };
        let decision = decide(&[MadeUp::new(&lattice, &simple), MadeUp::new(&lattice, &dear)], 0);
        assert_eq!((decision.kept.len(), decision.preferred), (3, preferred), "{worse} points worse");
        assert!(decision.cost.points <= 5.0, "{}", decision.cost);
    }
}

#[test]
fn richer_models_begin_as_the_best_of_the_simpler_ones() {
    let lattice = swaps(4);
    // The simpler model with the smallest loss that is a number; with none, fresh weights.
    for (lost, from) in [([3.0, 1.0, 2.0], Some(1)), ([100.0, 100.0, 2.0], Some(2)), ([100.0; 3], None)] {
        let simple = move |model: &Model| lost[model.start];
        let richer = MadeUp { grows: true, ..MadeUp::new(&lattice, &all_but_first) };
        let fitters = [MadeUp::new(&lattice, &simple), richer];
        assert_eq!(decide(&fitters, 0).kept, set(&[3, 4, 5]));
        for (model, _) in fitters[1].log.lock().unwrap().iter() {
            // That it has the same constraint is asserted where it is fitted. One start is always fresh.
            assert_eq!(model.grown, if model.start == 1 { None } else { from }, "{model:?} from {lost:?}");
        }
    }
    // Nothing grows from nothing: the simplest type begins with fresh weights whatever it says.
    let alone = [MadeUp { grows: true, ..MadeUp::new(&lattice, &all_but_first) }];
    assert_eq!(decide(&alone, 0).kept, set(&[3, 4, 5]));
    assert!(alone[0].log.lock().unwrap().iter().all(|(model, _)| model.grown.is_none()));
}

#[test]
fn what_richer_models_grow_from_is_not_given_up_after_one_start() {
    let lattice = swaps(4);
    // The first start of the simpler model is stuck, whatever is imposed.
    let stuck = |model: &Model| if model.start == 0 { 40.0 } else { all_but_first(model) };
    for (grows, preferred, courses) in [(false, 1, 1), (true, 0, 3)] {
        let richer = MadeUp { grows, ..MadeUp::new(&lattice, &all_but_first) };
        let decision = decide(&[MadeUp::new(&lattice, &stuck), richer], 0);
        assert_eq!((decision.preferred, decision.refits[0].courses.len()), (preferred, courses));
    }
}

#[test]
fn what_grows_under_one_rule_does_not_count_for_another() {
    let lattice = swaps(4);
    // The richer model has not learned the task; the simpler one decides, and its second start would be the better one.
    let lost = |_: &Model| 90.0;
    let second = |model: &Model| all_but_first(model) + [0.2, 0.1][model.start];
    let fitters = || [MadeUp::new(&lattice, &second), MadeUp { grows: true, ..MadeUp::new(&lattice, &lost) }];
    let (both, alone) = (fitters(), fitters());
    let told = |decision: Decision<Model>| (decision.kept, decision.refits[0].courses.len(), decision.refits[0].best);
    let mut screen = Screen::new(&both, &RULES, Run { starts: 1, ..run(1) }).unwrap();
    screen.decide(RULES[0]).unwrap();
    let after = told(screen.decide(RULES[1]).unwrap());
    let mut screen = Screen::new(&alone, &RULES[1..], Run { starts: 1, ..run(1) }).unwrap();
    assert_eq!(after, told(screen.decide(RULES[1]).unwrap()));
}

#[test]
fn a_model_that_has_not_learned_the_task_does_not_decide() {
    let lattice = swaps(4);
    for (behind, judge) in [(4.0, 1), (6.0, 0)] {
        // Whatever is imposed on it, the richer model is lost.
        let lost = move |model: &Model| if model.imposed.is_empty() { 0.5 + behind } else { 90.0 };
        let fitters = [MadeUp::new(&lattice, &all_but_first), MadeUp::new(&lattice, &lost)];
        let mut screen = Screen::new(&fitters, &RULES[..1], run(1)).unwrap();
        assert_eq!(screen.judge(), judge, "{behind} points behind");
        let decision = screen.decide(RULES[0]).unwrap();
        assert_eq!(decision.kept, if judge == 0 { set(&[3, 4, 5]) } else { set(&[]) });
        assert_eq!((decision.preferred, decision.refits.len()), (0, 2));
        assert!(decision.refits[judge].cost.is_none() && decision.refits[1 - judge].cost.is_some());
    }
}

#[test]
fn the_start_with_the_smallest_loss_is_picked() {
    let lattice = swaps(4);
    let varied = |model: &Model| all_but_first(model) + [0.2, 0.3, 0.1][model.start];
    let decision = decide(&[MadeUp::new(&lattice, &varied)], 0);
    assert_eq!((decision.refits[0].best, decision.refits[0].best().model.start), (2, 2));
}

#[test]
fn starts_that_meet_the_rule_answer_together() {
    let lattice = swaps(4);
    let told = |fits: MadeUp, starts: usize| {
        let fitters = [fits];
        let mut screen = Screen::new(&fitters, &RULES[..1], Run { starts, ..run(1) }).unwrap();
        let mut decision = screen.decide(RULES[0]).unwrap();
        let refits = decision.refits.remove(0);
        let members = refits.members().iter().map(|model| model.start).collect::<Vec<_>>();
        let free = screen.free()[0].last.scores.points();
        assert!((free - decision.cost.points - refits.scores().points()).abs() < 1e-9, "the cost of what answers");
        (refits.together.as_ref().map(|together| together.members.clone()), members, refits.scores().points())
    };
    // The second start does not meet the rule; of the others the worst of an even number is left out.
    let varied = |model: &Model| all_but_first(model) + [0.2, 8.0, 0.1, 0.3, 0.0][model.start];
    let (together, members, points) = told(MadeUp::new(&lattice, &varied), 5);
    assert_eq!((together, members), (Some(vec![0, 2, 4]), vec![0, 2, 4]));
    assert!((points - 99.4).abs() < 0.051, "{points}");
    // Two have no middle.
    assert_eq!(told(MadeUp::new(&lattice, &varied), 3), (None, vec![2], 99.4));
    // Together they may still be significantly worse than the best.
    let apart = MadeUp { apart: 2.0, ..MadeUp::new(&lattice, &varied) };
    assert_eq!(told(apart, 5).1, [4]);
    // Or, though no worse than the best, too far behind the reference.
    let edge = |model: &Model| match (model.imposed.is_empty(), model.imposed == set(&[3, 4, 5])) {
        (true, _) => 0.0,
        (_, true) => 4.8,
        _ => all_but_first(model),
    };
    for (apart, joined) in [(0.0, true), (0.4, false)] {
        assert_eq!(told(MadeUp { apart, ..MadeUp::new(&lattice, &edge) }, 3).0.is_some(), joined, "{apart}");
    }
    // Nothing kept, one start asked for: that there are two free fits makes them no ensemble.
    let nothing = |model: &Model| if model.imposed.is_empty() { 0.5 } else { 90.0 };
    assert_eq!(told(MadeUp::new(&lattice, &nothing), 1).0, None);
}

#[test]
fn a_second_rule_makes_only_the_fits_it_needs() {
    let lattice = swaps(4);
    let fitters = [MadeUp::new(&lattice, &all_but_first)];
    let mut screen = Screen::new(&fitters, &RULES, run(1)).unwrap();
    screen.decide(RULES[0]).unwrap();
    let before = fitters[0].fits();
    screen.decide(RULES[1]).unwrap();
    assert_eq!(fitters[0].fits(), before, "both keep the same, and every fit was made");
}

#[test]
fn a_fit_that_meets_the_rule_stands_in_for_fresh_starts_that_do_not() {
    let lattice = swaps(4);
    // From free weights any constraint can be had; from fresh weights none.
    let stuck = |model: &Model| match &model.parent {
        _ if model.imposed.is_empty() => 0.5,
        Some(parent) if parent.is_empty() => 1.0,
        _ => 20.0,
    };
    let decision = decide(&[MadeUp::new(&lattice, &stuck)], 0);
    assert_eq!(decision.kept.len(), 6);
    let refits = &decision.refits[0];
    assert_eq!((refits.courses.len(), refits.best), (4, 3), "three fresh starts, and the fit that spoke for it");
    assert!((refits.best().scores.points() - 99.0).abs() < 1e-9);
}

#[test]
fn a_fit_that_diverged_is_never_accepted() {
    let lattice = swaps(4);
    // The reference is right on 3 of 100: nothing could cost more than the tolerance.
    let poor = |model: &Model| if model.imposed.contains(0) { 100.0 } else { 97.0 };
    let decision = decide(&[MadeUp::new(&lattice, &poor)], 0);
    assert_eq!(decision.verdicts[0], Verdict::Contradicted);
    assert!(!decision.kept.contains(0) && !decision.kept.is_empty());
}

#[test]
fn stages_come_in_order_and_the_outlook_shrinks() {
    let lattice = swaps(4);
    let heard = Mutex::new(Vec::new());
    let listen = |stage: Stage, left: Outlook| heard.lock().unwrap().push((stage, left));
    let fitters = [MadeUp::new(&lattice, &all_but_first)];
    let run = Run { listen: &listen, ..run(1) };
    Screen::new(&fitters, &RULES[..1], run).unwrap().decide(RULES[0]).unwrap();
    let (stages, left): (Vec<Stage>, Vec<Outlook>) = heard.into_inner().unwrap().into_iter().unzip();
    assert_eq!(stages, [Stage::Free, Stage::Each, Stage::Confirm, Stage::Joint, Stage::Refit, Stage::Retest]);
    assert!(left.is_sorted_by(|a, b| a.full >= b.full && a.brief >= b.brief), "{left:?}");
}

#[test]
fn what_cannot_be_screened_says_why() {
    let lattice = swaps(4);
    let fail = |fitters: &[MadeUp], rules: &[Rule], run: Run| match Screen::new(fitters, rules, run) {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    };
    let good = [MadeUp::new(&lattice, &all_but_first)];
    assert!(fail(&[], &RULES, run(1)).contains("number of model types should be at least 1"));
    assert!(fail(&good, &[Rule { tolerance: f64::NAN, strict: false }], run(1)).contains("tolerance should be"));
    assert!(fail(&good, &RULES, Run { starts: 0, ..run(1) }).contains("number of starts should be at least 1"));
    let diverging = [MadeUp::new(&lattice, &|_| 100.0)];
    assert!(fail(&diverging, &RULES, run(1)).contains("every free fit diverged"));
    let stopped = Stop::new();
    stopped.stop();
    assert_eq!(fail(&good, &RULES, Run { stop: &stopped, ..run(1) }), "stopped before there was an answer");
}

/// A fitter without candidates.
struct Nothing;

impl Fitter for Nothing {
    type Model = ();

    fn candidates(&self) -> usize {
        0
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        Ok(set.clone())
    }

    fn fit(&self, _: &Request<'_, ()>) -> Result<Fitted<()>> {
        unreachable!("there is nothing to impose")
    }

    fn together(&self, _: &[&()]) -> Result<Option<Scores>> {
        Ok(None)
    }
}

#[test]
fn no_candidates_are_nothing_to_screen() {
    let Err(error) = Screen::new(&[Nothing], &RULES, run(1)) else { panic!("no error") };
    assert!(error.to_string().contains("candidate symmetries should be at least 1"), "{error}");
}

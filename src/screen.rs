//! `invar train --method screen`: what each symmetry costs, and what follows from that.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use indicatif::ProgressBar;
use invar_algebra::GroupSet;
use invar_lab::files::{claim, write_whole};
use invar_lab::networks::Backbone;
use invar_lab::problem::Data;
use invar_lab::report;
use invar_lab::screen::{Asked, Cost, Memory, Normality, Progress, Role, ScreenConfig, ScreenRecord, Verdict};

use crate::cli::TrainArgs;
use crate::output::{self, line, strong};
use crate::project::is_auto;
use crate::reproduce::bar;
use crate::square::{MOST, Pair, square};
use crate::train::{network, refuse};

/// Exchanges of positions are drawn as a square when they are more than these.
const FEW: usize = 12;
/// Most symmetries listed one by one.
const SHOWN: usize = 60;

pub(crate) fn run(args: &TrainArgs, data: Data) -> Result<ExitCode> {
    let given = [
        ("--lambda", args.lambda.is_some()),
        ("--penalty", args.penalty.is_some()),
        ("--temperature", args.temperature.is_some()),
        ("--head", args.head.is_some()),
        ("--schedule", args.schedule.is_some()),
    ];
    refuse("--method screen", given)?;
    let problem = data.problem(args.seed.unwrap_or(0))?;
    let config = config(args, data, &problem)?;
    config.rule.check()?;
    let threads = crate::prepare_fits(args.threads);
    let bar = bar(0, "screening");
    if let Some(folder) = &args.out {
        claim(folder).with_context(|| format!("cannot create {}", output::shown(folder)))?;
    }
    let memory = args.out.as_ref().map(|folder| Memory::open(&folder.join("screen.fits"), &config)).transpose()?;
    let outcome = config.screen(&problem, threads, &crate::STOP, &|progress| hear(&bar, progress), memory.as_ref());
    bar.finish_and_clear();
    let record = match (outcome, &args.out) {
        (Err(invar_lab::Error::Stopped), Some(folder)) => {
            let shown = output::shown(folder);
            return Err(anyhow!("stopped: what was finished is in {shown}; run the same command again to go on"));
        }
        (Err(invar_lab::Error::Stopped), None) => {
            return Err(anyhow!("stopped before there was an answer; with --out FOLDER a second run goes on from the first"));
        }
        (outcome, _) => outcome?.record,
    };
    if let Some(folder) = &args.out {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", output::shown(&path)))
        };
        write("screen.html", &report::screen(&record)?)?;
        write("screen.json", &serde_json::to_string_pretty(&record)?)?;
    }
    memory.map_or(Ok(()), Memory::forget)?;
    if args.json {
        output::json(&record)?;
    } else {
        line(&render(&record))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn config(args: &TrainArgs, data: Data, problem: &invar_lab::problem::Problem) -> Result<ScreenConfig> {
    let mut config = ScreenConfig::new(data, problem);
    config.settings.learning_rate = args.rate.unwrap_or(config.settings.learning_rate);
    config.settings.epochs = args.epochs.unwrap_or(config.settings.epochs);
    config.rule.tolerance = args.tolerance.unwrap_or(config.rule.tolerance);
    config.rule.only_shown = args.only_shown;
    config.folds = args.folds.unwrap_or(config.folds);
    config.all_alone = args.evidence.is_some();
    config.augment = args.augment;
    config.seed = args.seed.unwrap_or(0);
    config.network = if is_auto(network(args)) { None } else { Backbone::named(network(args), &data)? };
    Ok(config)
}

fn hear(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Epochs(count) => bar.inc(count as u64),
        Progress::Stage(stage, left) => {
            bar.set_length(bar.position() + left as u64);
            bar.set_message(stage);
        }
    }
}

/// Everything a record says, for people: what was gained first.
pub(crate) fn render(record: &ScreenRecord) -> String {
    [gain(record), summary(record), evidence(record), models(record), asked(record)].join("\n\n")
}

/// What the kept symmetries are good for.
fn gain(record: &ScreenRecord) -> String {
    let data = &record.config.data;
    let outside = |role: Role| Some(record.measure.show(record.model(role)?.extrapolation?.accuracy));
    let mut text = format!("{}: {}", strong(data.name()), data.description());
    if let Some(metrics) = record.chosen().and_then(|row| row.extrapolation) {
        let _ = write!(text, "\n{} in the other environment", strong(&record.measure.show(metrics.accuracy)));
        let beside = [("with nothing imposed", outside(Role::Free)), ("with a plain network", outside(Role::Plain))];
        for (what, score) in beside {
            let _ = write!(text, "{}", score.map_or(String::new(), |score| format!("; {score} {what}")));
        }
    }
    text
}

/// One row a symmetry while they are few, else a picture of all and rows for those that need words.
fn evidence(record: &ScreenRecord) -> String {
    let few = record.names.len() <= FEW;
    match record.pairs() {
        Some(pairs) if !few && pairs.len() <= MOST * (MOST - 1) / 2 => {
            let plain = |verdict: Verdict| matches!(verdict, Verdict::ShownHarmless | Verdict::Contradicted);
            let notable: Vec<usize> = (0..record.names.len()).filter(|&g| !plain(record.findings[g].verdict)).collect();
            let mut text = matrix(record, &pairs);
            if !notable.is_empty() && record.weakness.is_none() {
                text.push_str("\n\n");
                text.push_str(&rows(record, &notable));
            }
            text
        }
        _ => rows(record, &(0..record.names.len()).collect::<Vec<_>>()),
    }
}

fn rows(record: &ScreenRecord, groups: &[usize]) -> String {
    let row = |&g: &usize| {
        let finding = &record.findings[g];
        let cost = |cost: Option<Cost>| cost.map_or("-".into(), |cost| cost.to_string());
        let asked = match finding.asked {
            Asked::Fitted => "fitted",
            Asked::Implied => "implied",
            Asked::NotAsked => "not asked",
        };
        let kept = if finding.kept { "kept" } else { "" };
        let joint = finding.tested.as_ref().map(|tested| tested.cost);
        let [verdict, asked] = [finding.verdict.in_words(), asked].map(String::from);
        vec![record.names[g].clone(), kept.into(), verdict, cost(joint), cost(finding.alone), asked, record.note(g)]
    };
    let shown: Vec<Vec<String>> = groups.iter().take(SHOWN).map(row).collect();
    let header = ["symmetry", "", "verdict", "cost with the others", "alone", "", ""];
    let mut text = output::table(&header, &shown, &[3, 4]);
    if groups.len() > SHOWN {
        let _ = write!(text, "\n... and {} more (--json has them all)", groups.len() - SHOWN);
    }
    let _ = write!(text, "\ncosts in {}, with one-sided 95 % bounds", unit(record));
    text
}

fn unit(record: &ScreenRecord) -> &'static str {
    match record.measure {
        invar_lab::screen::Measure::Accuracy => "percentage points of accuracy",
        invar_lab::screen::Measure::RSquared { .. } => "percent of the error that is left with nothing imposed",
    }
}

/// Costs above the diagonal, verdicts below it.
fn matrix(record: &ScreenRecord, pairs: &[[usize; 2]]) -> String {
    let n = pairs.iter().map(|pair| pair[1] + 1).max().unwrap_or(0);
    let group = |i: usize, j: usize| pairs.iter().position(|&pair| pair == [i, j]);
    let pair = |i: usize, j: usize| {
        let g = group(i, j)?;
        Some(Pair { cost: record.cost(g).map(|cost| cost.points), verdict: record.findings[g].verdict.in_words() })
    };
    square(n, pair)
}

fn summary(record: &ScreenRecord) -> String {
    let (kept, facts) = (&record.kept, &record.facts);
    let truth = record.truth.as_ref().map_or(String::new(), |truth| {
        let missed = truth.iter().filter(|&g| !kept.contains(g)).count();
        let wrong = kept.iter().filter(|&g| !truth.contains(g)).count();
        match (missed, wrong) {
            (0, 0) => "; these are exactly the true symmetries".into(),
            _ => format!("; {missed} true ones are missed, {wrong} false ones are kept"),
        }
    });
    let order = facts
        .order
        .as_ref()
        .map_or("no group that is known to be finite".into(), |order| format!("a group of order {}", output::order(order)));
    let mut text = vec![match kept.len() {
        0 => format!("{}: none of {} symmetries{truth}", strong("kept"), record.names.len()),
        count => format!("{}: {count} of {}: {}\n  {order}{truth}", strong("kept"), record.names.len(), facts.label),
    }];
    if let Some(tested) = record.kept_cost() {
        text.push(format!(
            "  together they cost {} {} against nothing imposed: {}",
            tested.cost,
            record.measure.unit(),
            tested.verdict.in_words()
        ));
    }
    let Normality { depends, witness, .. } = &facts.normality;
    if let (false, Some(witness)) = (depends.is_empty() || kept.is_empty(), witness) {
        text.push(format!("  not normal if what was not kept acts on the data, so invariance may not be enough: {witness}"));
    }
    for rival in &record.rivals {
        let names = |set: &GroupSet| set.iter().take(6).map(|g| record.names[g].as_str()).collect::<Vec<_>>().join(", ");
        text.push(format!(
            "  as large, and not told apart by these examples: {} (cost {}); say which holds (`require`), or add examples",
            names(&rival.set),
            rival.cost
        ));
    }
    if record.exhausted {
        text.push("  the search ended before every larger set was refused: more of them may hold".into());
    }
    text.extend(record.weakness.iter().map(|reason| format!("{}: {reason}", strong("the network cannot tell"))));
    text.join("\n")
}

/// All models in both environments.
fn models(record: &ScreenRecord) -> String {
    let show = |share: f64| record.measure.show(share);
    let row = |row: &invar_lab::screen::ModelRow| {
        let outside = row.extrapolation.map_or("-".into(), |metrics| show(metrics.accuracy));
        let consistency = row.consistency.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share));
        let mark = if row.chosen { " <- chosen" } else { "" };
        vec![format!("{}{mark}", row.in_words()), show(row.validation.accuracy), outside, consistency]
    };
    let rows: Vec<Vec<String>> = record.models.iter().map(row).collect();
    let mut text = output::table(&["", "validation", "other environment", "consistency"], &rows, &[1, 2, 3]);
    if let Some(cost) = record.linear_cost {
        let _ = write!(text, "\nthe linear output costs {cost} {} on validation against the network", record.measure.unit());
    }
    text
}

/// What was asked, and how it was decided.
fn asked(record: &ScreenRecord) -> String {
    let [train, validation, test] = record.examples.map(|count| output::thousands(&count));
    let [_, selected, decided] = record.fold.map(|count| output::thousands(&count));
    let [score, guess] = record.reference.map(|share| record.measure.show(share));
    let folds = match record.config.folds {
        1 => format!("selected on {selected} examples, decided on {decided} others"),
        folds => format!("selected and decided in {folds} folds of {decided} examples"),
    };
    format!(
        "{}; trained on {train} examples, {validation} for validation, {test} of another environment; {folds}, by a {}\n\
         with nothing imposed it has {score} there, a guess has {guess}; {}; {} fitted",
        output::count_of(record.names.len(), "candidate symmetry", "candidate symmetries"),
        record.decided_by.in_words(),
        record.config.rule.in_words(record.measure),
        output::count(record.fits, "set"),
    )
}

//! `invar train --method screen`: what each symmetry costs, and what follows from that.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use indicatif::ProgressBar;
use invar_lab::files::write_whole;
use invar_lab::networks::Backbone;
use invar_lab::problem::Data;
use invar_lab::report;
use invar_lab::screen::{
    Answer, Evidence, HeadResult, Measure, Memory, Normality, Progress, Rule, ScreenConfig, ScreenRecord, Settings, StartResult,
    Threshold, Verdict, p_in_words,
};
use invar_nn::Head;

use crate::cli::TrainArgs;
use crate::output::{self, line, strong};
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
    let config = config(args, data)?;
    // Before the lattice is built, which takes a moment.
    config.rules.iter().try_for_each(Rule::check)?;
    let problem = data.problem(args.seed.unwrap_or(0))?;
    let threads = crate::prepare_fits(args.threads);
    let bar = bar(0, "screening");
    let memory = args.out.as_ref().map(|folder| Memory::open(&folder.join("screen.fits"), &config)).transpose()?;
    let outcome = config.screen(&problem, threads, &crate::STOP, &|progress| hear(&bar, progress), memory.as_ref());
    bar.finish_and_clear();
    let record = match (outcome, &args.out) {
        (Err(invar_lab::Error::Stopped), Some(folder)) => {
            let shown = folder.display();
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
            write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
        };
        write("screen.html", &report::screen(&record, &record.answers[0])?)?;
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

fn config(args: &TrainArgs, data: Data) -> Result<ScreenConfig> {
    let defaults = if matches!(data, Data::Images(_)) { Settings::images() } else { Settings::default() };
    let learning_rate = args.rate.unwrap_or(defaults.learning_rate);
    let settings = Settings { learning_rate, ..defaults.with_epochs(args.epochs) };
    let rule = Rule { tolerance: args.tolerance.unwrap_or(Rule::default().tolerance), strict: args.strict };
    let backbone = Backbone::named(network(args), &data)?;
    Ok(ScreenConfig { settings, rules: vec![rule], backbone, seed: args.seed.unwrap_or(0), ..ScreenConfig::new(data) })
}

fn hear(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Epochs(count) => bar.inc(count as u64),
        Progress::Stage(stage, left) => {
            bar.set_length(bar.position() + left as u64);
            bar.set_message(stage.describe());
        }
    }
}

/// Everything a record says, for people.
pub(crate) fn render(record: &ScreenRecord) -> String {
    let mut text = vec![head(record)];
    for answer in &record.answers {
        text.push(evidence(record, answer));
        text.push(summary(record, answer));
        text.push(environments(record, answer));
    }
    text.join("\n\n")
}

fn head(record: &ScreenRecord) -> String {
    let data = &record.config.data;
    let [train, validation, test] = record.examples;
    let free = &record.free[0].validation;
    let score = match record.measure {
        Measure::Accuracy => format!("{:.1} % right", 100.0 * free.accuracy),
        Measure::RSquared { variance } => format!("R² {:.3}", 1.0 - free.loss / variance),
    };
    let by = match record.decided_by {
        Head::Hidden => "",
        Head::Affine => " by the affine head, which decides, since the hidden one has not learned the task",
    };
    let seen = record.measure.in_words(record.detectable);
    format!(
        "{}: {}\n{}; trained on {}, decided on {} held out, tested on {} of another environment\n\
         nothing imposed: {score} on held-out examples{by}; {seen}",
        strong(data.name()),
        data.description(),
        output::count_of(record.names.len(), "candidate symmetry", "candidate symmetries"),
        output::thousands(&train),
        output::thousands(&validation),
        output::thousands(&test),
    )
}

/// One row a symmetry while they are few, else a picture of all and rows for those that need words.
fn evidence(record: &ScreenRecord, answer: &Answer) -> String {
    let few = record.names.len() <= FEW;
    match record.pairs() {
        Some(pairs) if !few && pairs.len() <= MOST * (MOST - 1) / 2 => {
            let plain = |verdict: &Verdict| matches!(verdict, Verdict::KeptFreely | Verdict::Contradicted);
            let notable: Vec<usize> = (0..record.names.len()).filter(|&g| !plain(&answer.verdicts[g])).collect();
            let mut text = matrix(record, answer, &pairs);
            if !notable.is_empty() {
                text.push_str("\n\n");
                text.push_str(&rows(record, answer, &notable));
            }
            text
        }
        _ => rows(record, answer, &(0..record.names.len()).collect::<Vec<_>>()),
    }
}

fn rows(record: &ScreenRecord, answer: &Answer, groups: &[usize]) -> String {
    let row = |&g: &usize| {
        let Evidence { cost, adjusted, .. } = &record.evidence[g];
        let note = match &answer.verdicts[g] {
            Verdict::Dropped(dropped) => match dropped.cost {
                Some(cost) => format!("with {}: {:.1} points", list(record, dropped.with.iter()), cost.points),
                None => format!("with {} it implies {}", list(record, dropped.with.iter()), list(record, dropped.implies.iter())),
            },
            verdict if verdict.is_kept() => record
                .speaks_for(answer, g)
                .map_or(String::new(), |trial| format!("with the others: {:.1} points", trial.cost.points)),
            _ if record.evidence[g].is_abandoned() => "given up early".into(),
            _ => String::new(),
        };
        vec![record.names[g].clone(), answer.verdicts[g].in_words().into(), cost.to_string(), p_in_words(*adjusted), note]
    };
    let shown: Vec<Vec<String>> = groups.iter().take(SHOWN).map(row).collect();
    let mut text = output::table(&["symmetry", "verdict", "cost in points", "p", ""], &shown, &[2, 3]);
    if groups.len() > SHOWN {
        let _ = write!(text, "\n... and {} more (--json has them all)", groups.len() - SHOWN);
    }
    let corrected = match record.names.len() {
        1 => String::new(),
        all => format!("; p corrected over all {all} symmetries"),
    };
    let _ = write!(text, "\nintervals of 95 %{corrected}");
    text
}

/// A few names, or how many there are.
fn list(record: &ScreenRecord, groups: impl Iterator<Item = usize>) -> String {
    let names: Vec<&str> = groups.map(|g| record.names[g].as_str()).collect();
    match names.as_slice() {
        [] => "nothing".into(),
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        few => few.join(", "),
    }
}

/// Costs above the diagonal, verdicts below it.
fn matrix(record: &ScreenRecord, answer: &Answer, pairs: &[[usize; 2]]) -> String {
    let n = pairs.iter().map(|pair| pair[1] + 1).max().unwrap_or(0);
    let group = |i: usize, j: usize| pairs.iter().position(|&pair| pair == [i, j]);
    let pair = |i: usize, j: usize| {
        let g = group(i, j)?;
        Some(Pair { cost: Some(record.evidence[g].cost.points), verdict: answer.verdicts[g].in_words() })
    };
    let mut text = vec![square(n, pair)];
    let abandoned = record.evidence.iter().filter(|evidence| evidence.is_abandoned()).count();
    if abandoned > 0 {
        text.push(format!("of {abandoned} the fit was given up early: they cost at most that"));
    }
    text.join("\n")
}

fn summary(record: &ScreenRecord, answer: &Answer) -> String {
    let Answer { kept, facts, rule, .. } = answer;
    let limit = if rule.strict { "no significant cost".into() } else { format!("at most {} points altogether", rule.tolerance) };
    let truth = record.truth.as_ref().map_or(String::new(), |truth| {
        let lost = truth.iter().filter(|&g| !kept.contains(g)).count();
        let wrong = kept.iter().filter(|&g| !truth.contains(g)).count();
        format!("; in truth {lost} that hold were lost, {wrong} that do not hold were kept")
    });
    let order = facts
        .order
        .as_ref()
        .map_or("no group that is known to be finite".into(), |order| format!("a group of order {}", output::order(order)));
    let mut text =
        vec![
            format!("{}: {} of {}, {limit}: {}\n  {order}{truth}", strong("kept"), kept.len(), record.names.len(), facts.label,),
        ];
    let Normality { depends, normal, witness } = &facts.normality;
    if !depends.is_empty() && !kept.is_empty() {
        let others = if depends.len() == 1 { "the other does".into() } else { format!("all {} others do", depends.len()) };
        text.push(match (normal, witness) {
            (_, Some(witness)) => {
                format!("  normal if no symmetry that was not kept acts on the data; not if {others}: {witness}")
            }
            (Some(_), None) => {
                "  normal even if all symmetries that were not kept act on the data: invariance is enough (Theorem 2)".into()
            }
            (None, None) => "  whether it is normal (Theorem 2) was not found out".into(),
        });
    }
    if let Some(cost) = answer.cost.filter(|_| !kept.is_empty()) {
        text.push(format!("  the preferred model, with all of it imposed, costs {cost} points against nothing imposed"));
    }
    text.push(tolerances(answer));
    text.extend(answer.doubt.iter().map(|doubt| format!("{}: {doubt}", strong("doubtful"))));
    text.join("\n")
}

/// How the answer depends on the tolerance.
fn tolerances(answer: &Answer) -> String {
    // The neighbourhood of the tolerance in use: the rest is in the JSON.
    let steps = Threshold::in_words(&answer.by_tolerance, answer.rule.tolerance).unwrap_or_default();
    let name = if answer.rule.strict { "by tolerance, were it not strict" } else { "by tolerance" };
    format!("  {name}: {steps}")
}

/// Accuracy in both environments, beside a plain network, the truth imposed, and chance.
fn environments(record: &ScreenRecord, answer: &Answer) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let outside = |result: &StartResult| result.extrapolation.map_or("-".into(), |metrics| percent(metrics.accuracy));
    let spread = |result: &HeadResult| {
        let values = result.starts.iter().filter_map(|start| Some(start.extrapolation?.accuracy));
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        if result.starts.len() > 1 { format!("{} to {}", percent(low), percent(high)) } else { String::new() }
    };
    let row = |name: String, result: &HeadResult| {
        let answers = result.answers();
        let alike = result.consistency.map_or("-".into(), percent);
        vec![name, percent(answers.validation.accuracy), outside(answers), spread(result), alike]
    };
    let mut table = Vec::new();
    for (k, result) in answer.heads.iter().enumerate().rev() {
        let mark = if k == answer.preferred { " <- preferred" } else { "" };
        table.push(row(format!("kept symmetries, {}{mark}", result.in_words()), result));
    }
    if let Some(oracle) = &record.oracle {
        table.push(row(format!("the truth imposed, {}", oracle.in_words()), oracle));
    }
    if let Some(plain) = &record.plain {
        let inside = percent(plain.result.validation.accuracy);
        let alike = plain.consistency.map_or("-".into(), percent);
        table.push(vec!["plain network".into(), inside, outside(&plain.result), String::new(), alike]);
    }
    table.push(vec!["most frequent answer".into(), String::new(), percent(record.chance), String::new(), String::new()]);
    let header = ["", "same environment %", "other environment %", "by start", "pairs answered alike %"];
    let mut text = output::table(&header, &table, &[1, 2, 3, 4]);
    if let Some((head, cost)) = answer.heads.iter().find_map(|result| Some((result.head, result.cost?))) {
        let _ = write!(
            text,
            "\nstarts and heads are chosen on held-out examples of the same environment; the {} costs {cost} points there, p {}",
            head.in_words(),
            p_in_words(cost.p)
        );
    }
    text
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

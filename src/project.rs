//! `invar train invar.toml`: data of the user's own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use invar_data::{Missing, printable};
use invar_lab::project::{FitLine, Goal, Heard, How, Learner, Loaded, ModelKind, PartScore, Project, Run, Setting, train};
use invar_lab::screen::{Measure, r_squared};
use invar_lab::symmetry::Symmetry;

use crate::cli::TrainArgs;
use crate::output::{self, line, strong, thousands};
use crate::reproduce::bar;
use crate::square::{MOST, Pair, square};
use crate::train::refuse;

/// Most symmetries listed one by one.
const SHOWN: usize = 15;
/// Verdicts that a picture tells well enough.
const PLAIN: [&str; 4] = ["shown harmless", "contradicted", "kept", "broken"];

/// Whether a word names a project file rather than a built-in task.
pub(crate) fn is_project(word: &str) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) || path.is_file()
}

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let given = [
        ("--method", args.method.is_some()),
        ("--network", args.network.is_some()),
        ("--lambda", args.lambda.is_some()),
        ("--penalty", args.penalty.is_some()),
        ("--temperature", args.temperature.is_some()),
        ("--head", args.head.is_some()),
        ("--schedule", args.schedule.is_some()),
        ("--only-shown", args.only_shown),
        ("--folds", args.folds.is_some()),
        ("--evidence", args.evidence.is_some()),
        ("--augment", args.augment),
        ("--rate", args.rate.is_some()),
        ("--examples", args.examples.is_some()),
        ("--length", args.length.is_some()),
        ("--invariant", args.invariant.is_some()),
    ];
    refuse("a project, whose file says it", given)?;
    let file = PathBuf::from(&args.task);
    let loaded = Loaded::load(Project::read_with(&file, &settings(args, &file)?)?, Missing::Refuse)?;
    let folder = args.out.clone().unwrap_or_else(|| loaded.project.home());
    let threads = crate::prepare_fits(args.threads);
    let bar = bar(0, "training");
    let listen = |heard: Heard| match heard {
        Heard::Left(epochs, what) => {
            bar.set_length(bar.position() + epochs as u64);
            bar.set_message(what);
        }
        Heard::Epochs(count) => bar.inc(count as u64),
        Heard::Message(text) => bar.set_message(text),
        Heard::Warning(text) => bar.suspend(|| output::warning(&text)),
    };
    let outcome = train(&loaded, &folder, How { threads, stop: &crate::STOP, listen: &listen });
    bar.finish_and_clear();
    let run = match outcome {
        Err(invar_lab::Error::Stopped) => {
            let shown = output::shown(&folder);
            return Err(anyhow!("stopped: what was finished is in {shown}; run the same command again to go on"));
        }
        outcome => outcome?,
    };
    if args.json {
        output::json(&run)?;
    } else {
        line(&render(&run, &folder))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said in place of the project file.
fn settings(args: &TrainArgs, file: &Path) -> Result<Vec<Setting>> {
    let mut settings = args.overrides.settings(file)?;
    let whole = |name: &str, value: Option<i64>| value.map(|n| Setting::new(format!("--{name} {n}"), "train", name, n));
    let epochs = args.epochs.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let seed = args.seed.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    settings.extend([whole("epochs", epochs), whole("seed", seed)].into_iter().flatten());
    settings.extend(args.tolerance.map(|x| Setting::new(format!("--tolerance {x}"), "train", "tolerance", x)));
    Ok(settings)
}

/// Whether the kind of network is left to the program.
pub(crate) fn is_auto(kind: ModelKind) -> bool {
    kind == ModelKind::Auto
}

fn render(run: &Run, folder: &Path) -> String {
    let mut text = vec![head(run), String::new()];
    if run.fits.len() > 1 {
        text.extend([fits(run), String::new()]);
    }
    text.extend([symmetries(run), String::new(), scores(run), String::new()]);
    text.extend(run.doubts.iter().map(|doubt| format!("{}: {doubt}\n", strong("the network cannot tell"))));
    let (shown, quoted) = (output::shown(folder), output::quoted(folder));
    text.push(format!("wrote {shown}/model.invar and {shown}/run.json; next: invar report {quoted} -o report.html"));
    text.join("\n")
}

fn head(run: &Run) -> String {
    let [train, validation, test] = run.examples.map(|n| thousands(&n));
    let task = match run.project.task.kind {
        Goal::Classification => format!("{} classes", run.classes.len()),
        Goal::Regression => "a number".into(),
    };
    let tested = if run.examples[2] > 0 { format!(", tested on {test} of another environment") } else { String::new() };
    let candidates = match run.symmetries.len() {
        1 => "1 candidate symmetry".into(),
        n => format!("{} candidate symmetries", thousands(&n)),
    };
    format!(
        "{}: {task} from {candidates}; trained on {train} examples, decided on {validation} held out{tested}\n{}",
        strong(run.learner.name()),
        run.network
    )
}

fn score(run: &Run, share: f64) -> String {
    match run.measure {
        Measure::Accuracy => format!("{:.1}", 100.0 * share),
        Measure::RSquared { .. } => r_squared(share),
    }
}

fn unit(run: &Run) -> &'static str {
    match run.measure {
        Measure::Accuracy => "%",
        Measure::RSquared { .. } => "R²",
    }
}

fn fits(run: &Run) -> String {
    let value = |metrics: Option<invar_lab::record::Metrics>| metrics.map_or("-".into(), |metrics| score(run, metrics.accuracy));
    let row = |fit: &FitLine| {
        let kept = fit.kept.map_or("-".into(), |kept| kept.to_string());
        let mut cells = vec![fit.name.clone(), value(fit.validation)];
        if run.examples[2] > 0 {
            cells.push(value(fit.extrapolation));
        }
        cells.extend([kept, if fit.chosen { "<- chosen".into() } else { String::new() }]);
        cells
    };
    let rows: Vec<Vec<String>> = run.fits.iter().map(row).collect();
    let (validation, test) = (format!("validation {}", unit(run)), format!("extrapolation {}", unit(run)));
    let header: Vec<&str> =
        if run.examples[2] > 0 { vec!["fit", &validation, &test, "kept", ""] } else { vec!["fit", &validation, "kept", ""] };
    let rule = match run.learner {
        Learner::Cgreg => {
            format!("chosen on validation alone: the largest lambda within {} points of the best", run.rule.tolerance)
        }
        Learner::Screen => "chosen on validation alone".into(),
    };
    format!("{}\n{rule}", output::table(&header, &rows, &[1, 2, 3]))
}

fn symmetries(run: &Run) -> String {
    let mut text = Vec::new();
    let positions = run.positions().filter(|&n| n <= MOST && run.symmetries.len() > SHOWN);
    let listed: Vec<&Symmetry> = match positions {
        Some(n) => {
            text.push(picture(run, n));
            run.symmetries.iter().filter(|symmetry| !PLAIN.contains(&symmetry.verdict.as_str())).collect()
        }
        None => run.symmetries.iter().collect(),
    };
    if !listed.is_empty() {
        text.push(rows(run, &listed));
    }
    let what = match run.learner {
        Learner::Cgreg => "cost: what imposing it on the trained network would lose on validation data, without training again",
        Learner::Screen => "cost: what imposing it with the others loses on examples that decided",
    };
    text.push(what.into());
    let kept: Vec<&str> = run.kept().collect();
    let order = run.group.order.as_deref().map_or(String::new(), |order| format!(", a group of order {}", output::order(&order)));
    text.push(match kept.len() {
        0 => format!("{}: nothing", strong("kept")),
        n if n > SHOWN => format!("{}: {n} of {} exactly{order}", strong("kept"), run.symmetries.len()),
        _ => format!("{}: {} exactly{order}", strong("kept"), printable(&kept.join(", "))),
    });
    text.extend(run.partition().map(|partition| format!("  what can be exchanged: {}", printable(&partition))));
    if let Some(cost) = run.kept_cost {
        let reference = match run.learner {
            Learner::Cgreg => "the best of the fits",
            Learner::Screen => "the network with nothing imposed",
        };
        text.push(format!("  at a cost of {cost} {} together, against {reference}", run.measure.unit()));
    }
    if let Some(witness) = &run.group.witness {
        text.push(format!("  not normal if what was not kept acts on the data: {}", printable(witness)));
    }
    text.join("\n")
}

/// Costs and verdicts of all pairs of positions, and which columns these are.
fn picture(run: &Run, n: usize) -> String {
    let pair = |i: usize, j: usize| {
        let symmetry = Symmetry::exchanging(&run.symmetries, i, j)?;
        Some(Pair { cost: symmetry.cost.map(|cost| cost.points), verdict: &symmetry.verdict })
    };
    let mut text = vec![square(n, pair)];
    let columns: Vec<String> =
        (0..n).filter_map(|i| Some(format!("{} {}", i + 1, Symmetry::column(&run.symmetries, i)?))).collect();
    if !columns.is_empty() {
        text.push(format!("columns: {}", printable(&columns.join(", "))));
    }
    text.join("\n")
}

fn rows(run: &Run, listed: &[&Symmetry]) -> String {
    let row = |symmetry: &&Symmetry| {
        let cost = symmetry.cost.map_or("-".into(), |cost| cost.to_string());
        let kept = if symmetry.kept { "kept" } else { "" };
        vec![symmetry.shown(), kept.into(), symmetry.verdict.clone(), cost, symmetry.note.clone()]
    };
    let shown: Vec<Vec<String>> = listed.iter().take(SHOWN).map(row).collect();
    let mut text = vec![output::table(&["symmetry", "", "verdict", "cost", ""], &shown, &[3])];
    if listed.len() > SHOWN {
        text.push(format!("... and {} more (--json has them all)", listed.len() - SHOWN));
    }
    text.push(format!("costs in {}, with one-sided 95 % bounds", run.measure.unit()));
    text.join("\n")
}

fn scores(run: &Run) -> String {
    let row = |part: &PartScore| {
        let name =
            if part.part == "test" { "extrapolation (test set of another environment)" } else { "validation (same environment)" };
        let interval = format!("{} to {}", score(run, part.interval[0]), score(run, part.interval[1]));
        vec![name.into(), score(run, part.score), interval, thousands(&part.examples)]
    };
    let mut rows: Vec<Vec<String>> = run.scores.iter().map(row).collect();
    if run.measure == Measure::Accuracy {
        rows.push(vec!["most frequent class".into(), score(run, run.chance), String::new(), String::new()]);
    }
    let header = format!("{} {}", if run.measure == Measure::Accuracy { "right" } else { "" }, unit(run));
    let mut text = vec![output::table(&["the model", header.trim(), "95 % interval", "examples"], &rows, &[1, 2, 3])];
    if let Some(share) = run.consistency {
        let note = if run.examples[2] == 0 { " (not extrapolation: no test set of another environment is given)" } else { "" };
        text.push(format!("consistency under the kept symmetries on validation data: {:.1} %{note}", 100.0 * share));
    }
    text.join("\n")
}

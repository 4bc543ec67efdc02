//! `invar train`: a network on data of the user's own or on a built-in task, and what it kept.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use invar_data::Missing;
use invar_lab::project::{self, Event, Loaded, Project, Run, RunOptions, Setting, Value};

use crate::cli::TrainArgs;
use crate::output::{self, line};
use crate::progress::Epochs;
use crate::view;

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let project = asked(args)?;
    let folder = args.out.clone().unwrap_or_else(|| home(args, &project));
    let loaded = Loaded::load(project, Missing::Refuse)?;
    let run = train(&loaded, &folder, args)?;
    if args.json {
        output::json(&run)?;
    } else {
        line(&view::render(&run, &folder))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses options that go with something else: ignoring them would answer another question.
pub(crate) fn refuse<const N: usize>(with: &str, given: [(&'static str, bool); N]) -> invar_lab::Result<()> {
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(invar_lab::Error::Setting { name, expected: format!("left out with {with}"), got: "given".into() })
        }
        None => Ok(()),
    }
}

/// Whether a word names a project file rather than a built-in task.
fn is_project(word: &str) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) || path.is_file()
}

/// The folder of a run when none is named.
fn home(args: &TrainArgs, project: &Project) -> PathBuf {
    if is_project(&args.task) { project.home() } else { PathBuf::from(format!("{}-run", args.task)) }
}

/// What the project file says, or the project on a built-in task; what stands on the command line goes first.
fn asked(args: &TrainArgs) -> Result<Project> {
    let file = Path::new(&args.task);
    let mut settings = settings(args);
    if is_project(&args.task) {
        settings.extend(args.overrides.settings(file)?);
        return Ok(Project::read_with(file, &settings)?);
    }
    settings.extend(args.overrides.settings(Path::new("invar.toml"))?);
    Ok(Project::of_task(&args.task).with(&settings)?)
}

/// The options that are keys of the project file under another name.
fn settings(args: &TrainArgs) -> Vec<Setting> {
    let numbers = [
        ("--examples", "data", "examples", args.examples),
        ("--length", "data", "length", args.length),
        ("--folds", "train", "folds", args.folds),
        ("--epochs", "train", "epochs", args.epochs),
        ("--seed", "train", "seed", args.seed.and_then(|seed| usize::try_from(seed).ok())),
    ];
    let reals = [
        ("--temperature", "temperature", args.temperature),
        ("--tolerance", "tolerance", args.tolerance),
        ("--rate", "learning_rate", args.rate),
    ];
    let words = [
        ("--invariant", "data", "invariant", args.invariant.clone()),
        ("--network", "model", "kind", args.network.as_ref().map(named)),
        ("--head", "model", "head", args.head.as_ref().map(named)),
        ("--method", "train", "learner", args.method.as_ref().map(named)),
        ("--penalty", "train", "penalty", args.penalty.as_ref().map(named)),
        ("--schedule", "train", "schedule", args.schedule.as_ref().map(named)),
        ("--evidence", "train", "evidence", args.evidence.as_ref().map(named)),
    ];
    let flags = [("--only-shown", "only_shown", args.only_shown), ("--augment", "augment", args.augment)];
    let setting = |option: &str, section, key, value: Value| {
        let said = if value.as_bool().is_some() { option.to_owned() } else { format!("{option} {}", plain(&value)) };
        Setting::new(said, section, key, value)
    };
    let mut settings = Vec::new();
    settings.extend(numbers.into_iter().filter_map(|(option, section, key, value)| {
        Some(setting(option, section, key, Value::Integer(i64::try_from(value?).unwrap_or(i64::MAX))))
    }));
    settings.extend(reals.into_iter().filter_map(|(option, key, value)| Some(setting(option, "train", key, value?.into()))));
    settings.extend(
        args.lambda
            .map(|lambda| Setting::new(format!("--lambda {lambda}"), "train", "lambdas", Value::Array(vec![lambda.into()]))),
    );
    settings
        .extend(words.into_iter().filter_map(|(option, section, key, word)| Some(setting(option, section, key, word?.into()))));
    settings.extend(
        flags.into_iter().filter(|(_, _, given)| *given).map(|(option, key, _)| setting(option, "train", key, true.into())),
    );
    settings
}

/// As it stands on the command line.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The name of a choice in project files.
fn named(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().replace('-', "_"))
}

/// Trains, and tells how many epochs have passed.
fn train(loaded: &Loaded, folder: &Path, args: &TrainArgs) -> Result<Run> {
    let threads = crate::prepare_fits(args.threads);
    let epochs = Epochs::new(args.quiet);
    let listen = |event: Event| match event {
        Event::Left(count, what) => epochs.expect(count, what),
        Event::Epochs(count) => epochs.pass(count),
        Event::Message(text) => epochs.say(text),
        Event::Warning(text) => epochs.warn(&text),
    };
    let outcome = project::train(loaded, folder, RunOptions { threads, stop: &crate::STOP, listen: &listen });
    epochs.finish();
    match outcome {
        Err(invar_lab::Error::Stopped) => {
            let shown = output::shown(folder);
            Err(anyhow!("stopped: what was finished is in {shown}; run the same command again to go on"))
        }
        outcome => Ok(outcome?),
    }
}

//! `invar train`: a network on data of the user's own or on a built-in task, and what it kept.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use invar_data::Missing;
use invar_lab::project::{self, Event, EvidenceFor, Learner, Loaded, ModelKind, Penalty, Project, Run, RunOptions};
use invar_nn::{Head, Schedule};

use crate::cli::{HeadArg, MethodArg, NetworkArg, PenaltyArg, ScheduleArg, TrainArgs};
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
    let mut project = if is_project(&args.task) { Project::read(file)? } else { Project::of_task(&args.task) };
    let data = &mut project.data;
    if data.task.is_none() {
        let given = [
            ("--examples", args.examples.is_some()),
            ("--length", args.length.is_some()),
            ("--invariant", args.invariant.is_some()),
        ];
        refuse("data from files", given)?;
    }
    data.examples = args.examples.or(data.examples);
    data.length = args.length.or(data.length);
    data.invariant = args.invariant.clone().or(data.invariant.take());
    project.model.kind = args.network.map_or(project.model.kind, kind);
    let head = |head| match head {
        HeadArg::Hidden => Head::Hidden,
        HeadArg::Affine => Head::Affine,
    };
    project.model.head = args.head.map(head).or(project.model.head);
    training(args, &mut project);
    project.check()?;
    Ok(project)
}

/// Lays the options about training over the section `[train]`.
fn training(args: &TrainArgs, project: &mut Project) {
    let train = &mut project.train;
    let learner = |method| match method {
        MethodArg::Cgreg => Learner::Cgreg,
        MethodArg::Screen => Learner::Screen,
    };
    let penalty = |penalty| match penalty {
        PenaltyArg::Levels => Penalty::Levels,
        PenaltyArg::Violations => Penalty::Violations,
    };
    let schedule = |schedule| match schedule {
        ScheduleArg::Constant => Schedule::Constant,
        ScheduleArg::OneCycle => Schedule::OneCycle,
    };
    train.learner = args.method.map(learner).or(train.learner);
    train.lambdas = args.lambda.map(|lambda| vec![lambda]).or(train.lambdas.take());
    train.penalty = args.penalty.map(penalty).or(train.penalty);
    train.temperature = args.temperature.or(train.temperature);
    train.schedule = args.schedule.map(schedule).or(train.schedule);
    train.tolerance = args.tolerance.or(train.tolerance);
    train.only_shown = args.only_shown.then_some(true).or(train.only_shown);
    train.folds = args.folds.or(train.folds);
    train.evidence = args.evidence.map(|_| EvidenceFor::All).or(train.evidence);
    train.augment = args.augment.then_some(true).or(train.augment);
    train.epochs = args.epochs.or(train.epochs);
    train.learning_rate = args.rate.or(train.learning_rate);
    train.seed = args.seed.unwrap_or(train.seed);
}

fn kind(network: NetworkArg) -> ModelKind {
    match network {
        NetworkArg::Auto => ModelKind::Auto,
        NetworkArg::Lift => ModelKind::Lift,
        NetworkArg::Cnn => ModelKind::Cnn,
        NetworkArg::Feedforward => ModelKind::Feedforward,
        NetworkArg::Orbit => ModelKind::Orbit,
        NetworkArg::Pairs => ModelKind::Pairs,
    }
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

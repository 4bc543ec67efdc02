//! `invar train`: a network on a built-in task, and what it kept.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Result, anyhow};
use invar_algebra::GroupSet;
use invar_lab::cgreg::{self, IMAGE_LAMBDAS, LAMBDAS};
use invar_lab::fit::{FitConfig, Method, USED};
use invar_lab::networks::Backbone;
use invar_lab::problem::{Data, Problem};
use invar_lab::project::ModelKind;
use invar_lab::queue;
use invar_lab::record::{KeptGroup, Record};
use invar_nn::{Bases, Dataset, End, Head, Lattices, LayerLattice, PenaltyConfig, Proxy, Schedule, Size};
use invar_tasks::Invariant;
use serde::Serialize;

use crate::cli::{HeadArg, MethodArg, NetworkArg, PenaltyArg, ScheduleArg, TrainArgs};
use crate::output::{self, line, strong};
use crate::reproduce::bar;

/// Most groups listed one by one.
const SHOWN: usize = 12;
const EPOCHS: usize = 150;
const RATE: f64 = 1e-3;
/// Images have many more steps to an epoch.
const IMAGE_EPOCHS: usize = 6;
const IMAGE_RATE: f64 = 4e-3;

#[derive(Serialize)]
struct Answer {
    task: &'static str,
    chosen_lambda: f64,
    chosen: Record,
    plain: Record,
    grid: Vec<Record>,
    true_symmetry: Vec<usize>,
}

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    if crate::project::is_project(&args.task) {
        return crate::project::run(args);
    }
    refuse("a built-in task", [("--set", args.overrides.are_given())])?;
    let data = data(args)?;
    if args.method != Some(MethodArg::Cgreg) {
        return crate::screen::run(args, data);
    }
    let given = [
        ("--tolerance", args.tolerance.is_some()),
        ("--only-shown", args.only_shown),
        ("--folds", args.folds.is_some()),
        ("--evidence", args.evidence.is_some()),
        ("--augment", args.augment),
        ("--network pairs", args.network == Some(NetworkArg::Pairs)),
        ("--out", args.out.is_some()),
    ];
    refuse("--method cgreg", given)?;
    let fits = fits(args, data)?;
    // Before the first of them trains for nothing.
    fits.iter().try_for_each(FitConfig::check)?;
    let problem = data.problem(args.seed.unwrap_or(0))?;
    let (records, lattices) = train(&fits, &problem, crate::prepare_fits(args.threads))?;
    let Some((plain, grid)) = records.split_last() else {
        return Err(anyhow!("nothing was trained"));
    };
    let lambda = cgreg::choose(&grid.iter().collect::<Vec<_>>()).ok_or_else(|| anyhow!("nothing was trained"))?;
    let chosen = grid.iter().find(|record| record.config.lambda.total_cmp(&lambda).is_eq());
    let chosen = chosen.ok_or_else(|| anyhow!("nothing was trained"))?;
    if args.json {
        output::json(&Answer {
            task: data.name(),
            chosen_lambda: lambda,
            chosen: chosen.clone(),
            plain: plain.clone(),
            grid: grid.to_vec(),
            true_symmetry: problem.symmetry.iter().flat_map(GroupSet::iter).collect(),
        })?;
    } else {
        let layers = lattices.as_ref().map_or_else(
            || Ok(vec![problem.bases()?]),
            |lattices| Ok::<_, invar_lab::Error>(lattices.layers().iter().map(LayerLattice::bases).collect()),
        )?;
        line(&render(&data, &problem, chosen, plain, grid, &layers))?;
    }
    let cut = records.iter().filter(|record| record.end == End::Interrupted).count();
    if cut > 0 {
        output::note(&format!(
            "stopped early: {} had not finished, and what is shown is their best so far",
            output::count(cut, "fit")
        ));
    }
    Ok(ExitCode::from(u8::from(cut > 0)))
}

/// Refuses options that the method does not have: ignoring them would answer another question.
pub(crate) fn refuse<const N: usize>(method: &str, given: [(&'static str, bool); N]) -> invar_lab::Result<()> {
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(invar_lab::Error::Setting { name, expected: format!("left out with {method}"), got: "given".into() })
        }
        None => Ok(()),
    }
}

fn data(args: &TrainArgs) -> Result<Data> {
    let mut data = Data::by_name(&args.task)?;
    if let Data::Images(images) = &mut data {
        refuse("images", [("--length", args.length.is_some())])?;
        images.invariant = match &args.invariant {
            Some(name) => Invariant::by_name(name).map_err(invar_lab::Error::from)?,
            None => Invariant::RotVflip,
        };
    } else {
        refuse("sequences, graphs and arrays", [("--invariant", args.invariant.is_some())])?;
    }
    if let Some(examples) = args.examples {
        data.set_examples(examples);
    }
    if let Some(length) = args.length {
        match &mut data {
            Data::Sequences(data) => data.length = length,
            Data::Graphs(data) => data.nodes = length,
            Data::Arrays(_) => refuse("arrays", [("--length", true)])?,
            Data::Images(_) | Data::Files(_) => {}
        }
    }
    Ok(data)
}

/// The grid over lambda, then the plain network.
fn fits(args: &TrainArgs, data: Data) -> Result<Vec<FitConfig>> {
    let penalty = match args.penalty.unwrap_or(PenaltyArg::Levels) {
        PenaltyArg::Levels => {
            PenaltyConfig::Levels { size: Size::Norm, proxy: Proxy::Ratio, temperature: args.temperature.unwrap_or(1.0) }
        }
        PenaltyArg::Violations => PenaltyConfig::Violations { temperature: args.temperature.unwrap_or(100.0) },
    };
    let head = match args.head.unwrap_or(HeadArg::Hidden) {
        HeadArg::Hidden => Head::Hidden,
        HeadArg::Affine => Head::Affine,
    };
    let images = matches!(data, Data::Images(_));
    let own = if images { ScheduleArg::OneCycle } else { ScheduleArg::Constant };
    let schedule = match args.schedule.unwrap_or(own) {
        ScheduleArg::Constant => Schedule::Constant,
        ScheduleArg::OneCycle => Schedule::OneCycle,
    };
    let backbone = Backbone::named(network(args), &data)?;
    let (epochs, rate) = if images { (IMAGE_EPOCHS, IMAGE_RATE) } else { (EPOCHS, RATE) };
    let epochs = args.epochs.unwrap_or(epochs);
    let base = |method: Method| FitConfig {
        penalty,
        head,
        learning_rate: args.rate.unwrap_or(rate),
        max_epochs: epochs,
        seed: args.seed.unwrap_or(0),
        // A plain network of about as many weights.
        backbone: if method == Method::Plain { images.then(Backbone::small) } else { backbone },
        ..FitConfig::new(data, method).with_schedule(schedule, epochs)
    };
    let all = if images { IMAGE_LAMBDAS.to_vec() } else { LAMBDAS.to_vec() };
    let lambdas = args.lambda.map_or(all, |lambda| vec![lambda]);
    let grid = lambdas.into_iter().map(|lambda| FitConfig { lambda, ..base(Method::Cgreg) });
    Ok(grid.chain([base(Method::Plain)]).collect())
}

/// The network that was asked for.
pub(crate) fn network(args: &TrainArgs) -> ModelKind {
    match args.network {
        None => ModelKind::Auto,
        Some(NetworkArg::Lift) => ModelKind::Lift,
        Some(NetworkArg::Cnn) => ModelKind::Cnn,
        Some(NetworkArg::Feedforward) => ModelKind::Feedforward,
        Some(NetworkArg::Orbit) => ModelKind::Orbit,
        Some(NetworkArg::Pairs) => ModelKind::Pairs,
    }
}

/// Runs all fits, one to a core, under one bar that counts epochs. With the lattices of their CG layers, which are the same for all,
/// where these are not the one of the problem.
fn train(fits: &[FitConfig], problem: &Problem, threads: usize) -> Result<(Vec<Record>, Option<Lattices>)> {
    let epochs: usize = fits.iter().map(|fit| fit.max_epochs).sum();
    let bar = bar(epochs, "training");
    let failure: Mutex<Option<invar_lab::Error>> = Mutex::new(None);
    let mut records: Vec<Option<Record>> = vec![None; fits.len()];
    let mut lattices = None;
    // A stop lets every fit that has begun keep its best so far; fits that have not begun are trained for one epoch, so
    // that there is something to say about each.
    // What cannot be trained is said at once, not after the fits beside it.
    let failed = queue::Stop::new();
    queue::run(
        fits,
        threads,
        &failed,
        |fit| {
            let outcome = fit.run(problem, |epoch| {
                bar.inc(1);
                let (loss, accuracy) = (epoch.validation_loss, 100.0 * epoch.validation_accuracy);
                bar.set_message(format!("{} λ={}: loss {loss:.3}, validation {accuracy:.1} %", fit.method.title(), fit.lambda));
                if crate::STOP.is_stopped() || failed.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            outcome.map(|outcome| (outcome.record, outcome.lattices))
        },
        |k, outcome| match outcome {
            Ok((record, own)) => {
                bar.inc((record.config.max_epochs - record.epochs) as u64);
                if record.layer.is_some() {
                    lattices = own;
                }
                records[k] = Some(record);
                Ok(())
            }
            Err(error) => {
                failed.stop();
                if let Ok(mut slot) = failure.lock() {
                    slot.get_or_insert(error);
                }
                Err(())
            }
        },
    )
    .ok();
    bar.finish_and_clear();
    if let Some(error) = failure.into_inner().ok().flatten() {
        return Err(error.into());
    }
    let records = records.into_iter().collect::<Option<Vec<_>>>();
    Ok((records.ok_or_else(|| anyhow!("stopped before every fit had begun"))?, lattices))
}

fn render(data: &Data, problem: &Problem, chosen: &Record, plain: &Record, grid: &[Record], layers: &[&Bases]) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let groups = problem.groups().len();
    let mut text = vec![format!(
        "{}: {}\n{}; trained on {} examples of one environment, tested on {} of another\n",
        strong(data.name()),
        data.description(),
        output::count_of(groups, "candidate symmetry", "candidate symmetries"),
        output::thousands(&problem.train.len()),
        output::thousands(&problem.test.as_ref().map_or(0, Dataset::len)),
    )];
    if grid.len() > 1 {
        let row = |record: &Record| {
            let mark = if record.config.lambda.total_cmp(&chosen.config.lambda).is_eq() { "<- chosen" } else { "" };
            let kept = record.layer.as_ref().map_or(0, |layer| layer.groups.iter().filter(|group| group.kept).count());
            let figures =
                [record.config.lambda.to_string(), percent(record.validation.accuracy), percent(record.extrapolation_accuracy())];
            figures.into_iter().chain([kept.to_string(), mark.to_string()]).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<String>> = grid.iter().map(row).collect();
        text.push(output::table(&["lambda", "validation %", "extrapolation %", "kept", ""], &rows, &[0, 1, 2, 3]));
        text.push("chosen on validation accuracy alone: the largest lambda within 5 points of the best\n".into());
    }
    let consistency = |record: &Record| record.consistency.map_or("-".into(), percent);
    let row = |name: &str, record: &Record| {
        let (inside, outside) = (percent(record.validation.accuracy), percent(record.extrapolation_accuracy()));
        vec![name.to_string(), inside, outside, consistency(record)]
    };
    let chance = vec!["most frequent answer".into(), String::new(), percent(problem.chance), String::new()];
    let rows = vec![row("keeps symmetries (CG)", chosen), row("plain network", plain), chance];
    text.push(output::table(&["", "validation %", "other environment %", "consistency %"], &rows, &[1, 2, 3]));
    text.push(String::new());
    text.push(kept(problem, chosen));
    text.push(levels(chosen, layers));
    text.join("\n")
}

/// Which symmetries the layer kept, which it broke and by how much, and whether that is the truth.
fn kept(problem: &Problem, record: &Record) -> String {
    let Some(layer) = &record.layer else {
        return String::new();
    };
    let (kept, broken): (Vec<KeptGroup>, Vec<KeptGroup>) = layer.groups.iter().partition(|group| group.kept);
    let truly = |group: usize| problem.symmetry.as_ref().is_some_and(|symmetry| symmetry.contains(group));
    let wrong = kept.iter().filter(|group| !truly(group.group)).count();
    let missed = broken.iter().filter(|group| truly(group.group)).count();
    let mut text = vec![format!(
        "{}: kept {} of {} symmetries; {} that hold were lost, {} that do not hold were kept",
        strong("symmetries"),
        kept.len(),
        layer.groups.len(),
        missed,
        wrong
    )];
    let mut worst = broken;
    worst.sort_by(|a, b| b.violation.total_cmp(&a.violation));
    for group in worst.iter().take(SHOWN) {
        let truth = if truly(group.group) { "holds" } else { "does not hold" };
        let name = problem.groups()[group.group].name();
        text.push(format!("  broken  {name:14} by {:5.1} % of the weights  (truly it {truth})", 100.0 * group.violation));
    }
    if worst.len() > SHOWN {
        text.push(format!("  ... and {} more", worst.len() - SHOWN));
    }
    text.join("\n") + "\n"
}

/// The paper's figure of the penalty: subspaces by level, used or not, layer by layer.
fn levels(record: &Record, layers: &[&Bases]) -> String {
    let Some(layer) = &record.layer else {
        return String::new();
    };
    let title = strong("subspaces");
    let mut text = vec![format!("{title} by level, most invariant first (■ used, □ not):")];
    let several = layers.len() > 1;
    for (k, (norms, bases)) in std::iter::once(&layer.norms).chain(&layer.later).zip(layers).enumerate() {
        if several {
            text.push(format!("  CG layer {} of {}", k + 1, layers.len()));
        }
        let total: f64 = norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let mark = |norm: &f64| if *norm > USED * total { '■' } else { '□' };
        let mut norms = norms.iter();
        for level in bases.blocks.chunk_by(|a, b| a.level == b.level) {
            let marks: String = norms.by_ref().take(level.len()).map(mark).collect();
            text.push(format!("  level {:4}  {marks}", level[0].level));
        }
    }
    text.join("\n")
}

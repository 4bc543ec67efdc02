//! `invar reproduce`: the paper's tables.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use invar_lab::record::{Record, Records};
use invar_lab::reproduce::{self, Experiment, Field, ImageTables, LiftTables, ScreenTables, SequenceTables};
use invar_lab::screen::ScreenRecord;
use invar_lab::table::Table;
use invar_nn::Head;

use crate::cli::{ReproduceArg, ReproduceArgs};
use crate::output::{self, line};

pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    if args.what != ReproduceArg::Table1 {
        crate::train::refuse("anything but table1", [("--method", args.method.is_some())])?;
    }
    let experiment: Box<dyn Experiment> = match args.what {
        ReproduceArg::AppendixA => return appendix(args),
        ReproduceArg::Sequences => Box::new(SequenceTables { budget: args.budget, head: Head::Hidden }),
        ReproduceArg::SequencesAffine => Box::new(SequenceTables { budget: args.budget, head: Head::Affine }),
        ReproduceArg::Images => Box::new(ImageTables { budget: args.budget, over_lambda: false }),
        ReproduceArg::ImagesLambda => Box::new(ImageTables { budget: args.budget, over_lambda: true }),
        ReproduceArg::Lift => Box::new(LiftTables { budget: args.budget, head: Head::Hidden }),
        ReproduceArg::LiftAffine => Box::new(LiftTables { budget: args.budget, head: Head::Affine }),
        ReproduceArg::ScreenSequences => return screens(args, Field::Sequences),
        ReproduceArg::ScreenImages => return screens(args, Field::Images),
        ReproduceArg::ScreenErrors => return screens(args, Field::Errors),
        ReproduceArg::Table1 => return crate::together::table1(args),
        ReproduceArg::Ablation => return crate::together::ablation(args),
    };
    let records = recorded(args, experiment.as_ref(), !args.tables_only)?;
    let tables = experiment.tables(&records);
    let missing = reproduce::missing(experiment.as_ref(), &records);
    finish(args, &experiment.name(), &tables, [records.len(), missing])
}

/// The records of an experiment, after its missing fits if it is to be run.
pub(crate) fn recorded(args: &ReproduceArgs, experiment: &dyn Experiment, run: bool) -> Result<Vec<Record>> {
    let path = args.results.join(format!("{}.jsonl", experiment.name()));
    if run { fit(args, experiment, &path) } else { Ok(Records::read(&path)?) }
}

/// The tables of the learner `screen`.
fn screens(args: &ReproduceArgs, field: Field) -> Result<ExitCode> {
    let tables = ScreenTables { budget: args.budget, field };
    let records = screened(args, field, !args.tables_only)?;
    finish(args, &tables.name(), &tables.tables(&records), [records.len(), tables.missing(&records)])
}

/// The records of screens, after the missing ones if they are to be run.
pub(crate) fn screened(args: &ReproduceArgs, field: Field, run: bool) -> Result<Vec<ScreenRecord>> {
    let tables = ScreenTables { budget: args.budget, field };
    let path = args.results.join(format!("{}.jsonl", tables.name()));
    Ok(if run {
        let threads = crate::prepare_fits(args.threads);
        let mut records = Records::open(&path)?;
        let bar = bar(tables.configs().len(), "screens");
        tables.run(&mut records, threads, &crate::STOP, |done, _, record| {
            bar.set_position(done as u64);
            bar.set_message(format!("{}: kept {}", record.config.data.name(), record.answers[0].facts.label));
        })?;
        bar.finish_and_clear();
        records.all().to_vec()
    } else {
        Records::read(&path)?
    })
}

pub(crate) fn create(args: &ReproduceArgs) -> Result<()> {
    let failed = || format!("cannot create {}", args.results.display());
    std::fs::create_dir_all(&args.results).with_context(failed)
}

/// Writes and prints tables, and says what is missing.
fn finish(args: &ReproduceArgs, name: &str, tables: &[Table], [recorded, missing]: [usize; 2]) -> Result<ExitCode> {
    for table in tables {
        write(args, name, table)?;
    }
    if args.json {
        output::json(&tables)?;
    } else {
        for table in tables {
            line(&format!("{}\n", table.text()))?;
        }
        let (count, folder) = (output::count(recorded, "record"), args.results.display());
        line(&format!("{count} in {folder}/{name}.jsonl; tables in {folder}/{name}-*"))?;
    }
    if missing > 0 {
        let screens =
            matches!(args.what, ReproduceArg::ScreenSequences | ReproduceArg::ScreenImages | ReproduceArg::ScreenErrors);
        let what = if screens { "screen" } else { "fit" };
        let missing = output::count(missing, what);
        anstream::eprintln!("{missing} still missing; what was finished is recorded, run without --tables-only to go on");
    }
    Ok(ExitCode::from(u8::from(missing > 0 && !args.tables_only)))
}

/// Appendix A needs no records: it is done before a record would be of use.
fn appendix(args: &ReproduceArgs) -> Result<ExitCode> {
    let table = reproduce::appendix_a(5)?;
    create(args)?;
    write(args, "appendix", &table)?;
    if args.json {
        output::json(&[table])?;
    } else {
        line(&table.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs what is not recorded yet, under a bar for each stage.
fn fit(args: &ReproduceArgs, experiment: &dyn Experiment, path: &Path) -> Result<Vec<Record>> {
    let threads = crate::prepare_fits(args.threads);
    let mut records = Records::open(path)?;
    let current = RefCell::new(ProgressBar::hidden());
    reproduce::run(
        experiment,
        &mut records,
        threads,
        &crate::STOP,
        |stage, fits| current.replace(bar(fits, stage)).finish_and_clear(),
        |done, record| {
            let what = format!("{} on {}", record.config.method.title(), record.config.data.name());
            let bar = current.borrow();
            bar.set_position(done as u64);
            bar.set_message(format!("{what}: {:.1} %", 100.0 * record.extrapolation_accuracy()));
        },
    )?;
    current.borrow().finish_and_clear();
    Ok(records.all().to_vec())
}

/// A bar with the time left, silent when nobody watches.
pub(crate) fn bar(length: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {elapsed} elapsed, {eta} left  {msg}");
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(what.to_string());
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

pub(crate) fn write(args: &ReproduceArgs, name: &str, table: &Table) -> Result<()> {
    let path = |ending: &str| args.results.join(format!("{name}-{}.{ending}", table.name));
    output::write(&path("txt"), &(table.text() + "\n"))?;
    output::write(&path("md"), &table.markdown())?;
    output::write(&path("csv"), &table.csv())?;
    output::write(&path("tex"), &table.latex())?;
    output::write(&path("json"), &(serde_json::to_string_pretty(table)? + "\n"))
}

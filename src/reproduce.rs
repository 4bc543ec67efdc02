//! `invar reproduce`: the paper's tables.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use invar_lab::files::claim;
use invar_lab::record::{Record, Records};
use invar_lab::reproduce::{self, Budget, Experiment, Field, ImageTables, LiftTables, Only, Part, ScreenTables, SequenceTables};
use invar_lab::screen::{Memory, Progress, ScreenRecord};
use invar_lab::table::Table;
use invar_nn::Head;

use crate::cli::{ReproduceArg, ReproduceArgs};
use crate::output::{self, line};
use crate::progress::{bar, bar_of};

pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    if args.what != ReproduceArg::Table1 {
        crate::train::refuse("anything but table1", [("--method", args.method.is_some())])?;
    }
    if matches!(args.what, ReproduceArg::AppendixA | ReproduceArg::RuleErrors | ReproduceArg::Table1 | ReproduceArg::Ablation) {
        crate::train::refuse("appendix-a, rule-errors, table1 and ablation", [("--only", args.only.is_some())])?;
    }
    let alone = [
        ReproduceArg::AppendixA,
        ReproduceArg::Images,
        ReproduceArg::ImagesLambda,
        ReproduceArg::ImagesAffine,
        ReproduceArg::Lift,
        ReproduceArg::LiftAffine,
        ReproduceArg::ScreenImages,
    ];
    if args.budget == Budget::Fold && !alone.contains(&args.what) {
        let expected = "smoke, quick, standard or paper where sequences take part".into();
        return Err(invar_lab::Error::Setting { name: "--budget", expected, got: "`fold`, which is for images".into() }.into());
    }
    let experiment: Box<dyn Experiment> = match args.what {
        ReproduceArg::AppendixA => return appendix(args),
        ReproduceArg::Sequences => Box::new(SequenceTables { budget: args.budget, head: Head::Hidden }),
        ReproduceArg::SequencesAffine => Box::new(SequenceTables { budget: args.budget, head: Head::Affine }),
        ReproduceArg::Images => Box::new(ImageTables::new(args.budget)),
        ReproduceArg::ImagesLambda => Box::new(ImageTables { over_lambda: true, ..ImageTables::new(args.budget) }),
        ReproduceArg::ImagesAffine => Box::new(ImageTables { head: Head::Affine, ..ImageTables::new(args.budget) }),
        ReproduceArg::Lift => Box::new(LiftTables::new(args.budget, Head::Hidden)),
        ReproduceArg::LiftAffine => Box::new(LiftTables::new(args.budget, Head::Affine)),
        ReproduceArg::ScreenSequences => return screens(args, Field::Sequences),
        ReproduceArg::ScreenImages => return screens(args, Field::Images),
        ReproduceArg::ScreenBench => return screens(args, Field::Bench),
        ReproduceArg::ScreenErrors => return screens(args, Field::Errors),
        ReproduceArg::RuleErrors => return rule_errors(args),
        ReproduceArg::Table1 => return crate::together::table1(args),
        ReproduceArg::Ablation => return crate::together::ablation(args),
    };
    let records = recorded(args, experiment.as_ref(), !args.tables_only)?;
    let tables = experiment.tables(&records);
    let missing = reproduce::missing(&Part { whole: experiment.as_ref(), only: only(args), repeats: None }, &records);
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
    let records = if args.tables_only { Records::read(&records_of(args, tables))? } else { screened(args, field, only(args))? };
    let missing = tables.missing(&records, only(args)).len();
    finish(args, &tables.name(), &tables.tables(&records), [records.len(), missing])
}

fn records_of(args: &ReproduceArgs, tables: ScreenTables) -> PathBuf {
    args.results.join(format!("{}.jsonl", tables.name()))
}

/// The records of screens, after those of these rows that are missing.
pub(crate) fn screened(args: &ReproduceArgs, field: Field, only: Only<'_>) -> Result<Vec<ScreenRecord>> {
    let tables = ScreenTables { budget: args.budget, field };
    let threads = crate::prepare_fits(args.threads);
    matching(args.only.as_deref(), tables.tasks().iter().map(invar_lab::problem::Data::row).collect())?;
    let mut records: Records<ScreenRecord> = Records::open(&records_of(args, tables))?;
    // What a program that was killed could not remove any more.
    Memory::forget_done(&records.path().with_extension("fits"), records.all().iter().map(|record| &record.config))?;
    let missing = tables.missing(records.all(), only);
    let progress = Screens::new(missing.len());
    let listen = |k: usize, heard: Progress| progress.hear(k, heard);
    tables.run(&missing, &mut records, threads, &crate::STOP, &listen, |k, record| progress.end(k, record))?;
    progress.bar.finish_and_clear();
    Ok(records.all().to_vec())
}

fn only(args: &ReproduceArgs) -> Only<'_> {
    args.only.as_deref().into()
}

/// Refuses a text that is in the name of no row.
pub(crate) fn matching(only: Option<&str>, mut rows: Vec<String>) -> invar_lab::Result<()> {
    // Nothing is in every name: it would ask for everything.
    let unknown = |text: &&str| text.trim().is_empty() || rows.iter().all(|row| !row.contains(text));
    let Some(text) = only.filter(unknown) else { return Ok(()) };
    rows.sort_unstable();
    rows.dedup();
    let expected = format!("part of the name of a row: {}", rows.join("; "));
    Err(invar_lab::Error::Setting { name: "--only", expected, got: format!("`{text}`") })
}

/// A bar over screens of which each takes long: it moves with their epochs.
struct Screens {
    bar: ProgressBar,
    /// Of each screen the epochs that have passed, and those that are left as far as it can be told.
    epochs: Mutex<Vec<[usize; 2]>>,
}

impl Screens {
    /// Parts of a screen that the bar can tell apart.
    const PARTS: f64 = 1000.0;

    fn new(screens: usize) -> Self {
        let bar = bar_of(screens * Self::PARTS as usize, &output::count(screens, "screen"), "{percent} %");
        Self { bar, epochs: Mutex::new(vec![[0, 1]; screens]) }
    }

    fn hear(&self, k: usize, heard: Progress) {
        self.change(|epochs| {
            let [passed, left] = &mut epochs[k];
            match heard {
                Progress::Stage(_, still) => *left = still,
                Progress::Epochs(count) => (*passed, *left) = (*passed + count, left.saturating_sub(count)),
            }
        });
    }

    fn end(&self, k: usize, record: &ScreenRecord) {
        self.change(|epochs| epochs[k] = [1, 0]);
        self.bar.set_message(format!("{}: kept {}", record.config.data.row(), record.facts.label));
    }

    fn change(&self, change: impl FnOnce(&mut [[usize; 2]])) {
        let Ok(mut epochs) = self.epochs.lock() else { return };
        change(&mut epochs);
        let share = |[passed, left]: &[usize; 2]| *passed as f64 / (passed + left).max(1) as f64;
        self.bar.set_position((Self::PARTS * epochs.iter().map(share).sum::<f64>()) as u64);
    }
}

pub(crate) fn create(args: &ReproduceArgs) -> Result<()> {
    let failed = || format!("cannot create {}", output::shown(&args.results));
    claim(&args.results).with_context(failed)
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
        let (count, folder) = (output::count(recorded, "record"), output::shown(&args.results));
        line(&format!("{count} in {folder}/{name}.jsonl; tables in {folder}/{name}-*"))?;
    }
    if missing > 0 {
        let what = match args.what {
            ReproduceArg::ScreenSequences
            | ReproduceArg::ScreenImages
            | ReproduceArg::ScreenBench
            | ReproduceArg::ScreenErrors => "screen",
            _ => "fit",
        };
        let missing = output::count(missing, what);
        output::note(&format!("{missing} still missing; what was finished is recorded, run without --tables-only to go on"));
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

/// Screens per row of the errors of the rule.
const SIMULATED: usize = 10_000;

/// The rule on simulated fits: seconds, so that there is nothing to record.
fn rule_errors(args: &ReproduceArgs) -> Result<ExitCode> {
    let threads = crate::prepare_fits(args.threads);
    let bar = bar(12, "simulated screens");
    let table = reproduce::rule_errors(SIMULATED, threads, &crate::STOP, || bar.inc(1))?;
    bar.finish_and_clear();
    create(args)?;
    write(args, "rule", &table)?;
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
    matching(args.only.as_deref(), experiment.cells().iter().map(|cell| cell.data.row()).collect())?;
    let mut records = Records::open(path)?;
    let current = RefCell::new(ProgressBar::hidden());
    reproduce::run(
        &Part { whole: experiment, only: only(args), repeats: None },
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

/// Writes a table. One that is there is not emptied: it may show records that another version has made with other settings.
pub(crate) fn write(args: &ReproduceArgs, name: &str, table: &Table) -> Result<()> {
    let path = |ending: &str| args.results.join(format!("{name}-{}.{ending}", table.name));
    if table.is_empty() && path("json").exists() {
        let shown = path("*");
        output::note(&format!(
            "{} are left as they are: of them nothing is recorded with the settings of this version",
            output::shown(&shown)
        ));
        return Ok(());
    }
    output::write(&path("txt"), &(table.text() + "\n"))?;
    output::write(&path("md"), &table.markdown())?;
    output::write(&path("csv"), &table.csv())?;
    output::write(&path("tex"), &table.latex())?;
    output::write(&path("json"), &(serde_json::to_string_pretty(table)? + "\n"))
}

//! `invar sweep plan`: which fits are missing, and how long they take.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use invar_lab::record::{Record, Recorded, Records};
use invar_lab::reproduce::{self, Experiment, Field, ImageTables, LiftTables, Part, ScreenTables, Screening, SequenceTables};
use invar_lab::sweep::cost::Experience;
use invar_lab::sweep::{Job, Sweep, Work};
use invar_nn::Head;
use serde_json::json;

use crate::cli::{PlanArgs, SweepArg};
use crate::output::{self, count, line};

pub(super) fn plan(args: &PlanArgs) -> Result<ExitCode> {
    let (records, works, later) = missing(args)?;
    let experience = Experience::of(&args.results);
    let job = |(row, work): (String, Work)| -> Result<(String, Job)> {
        let seconds = experience.seconds(&work);
        Ok((row, Job { id: work.id()?, name: work.name(), seconds, work }))
    };
    let jobs: Vec<(String, Job)> = works.into_iter().map(job).collect::<Result<_>>()?;
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("sweeps").join(&records));
    let rows = rows(&jobs);
    let sweep = Sweep::plan(&folder, &records, jobs.into_iter().map(|(_, job)| job).collect())?;
    if args.json {
        let row = |Row { name, fits, seconds, unknown }: &Row| json!({ "row": name, "fits": fits, "hours": seconds / 3600.0, "unlike_any_recorded": unknown });
        let rows: Vec<_> = rows.iter().map(row).collect();
        output::json(
            &json!({ "records": records, "folder": output::shown(&folder), "fits": sweep.jobs.len(), "missing": rows }),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&rows, &records, later)?;
    line(&format!("{} in {}", count(sweep.jobs.len(), "fit"), output::shown(&folder.join("sweep.json"))))?;
    if !rows.is_empty() {
        line(&super::next(&folder))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is missing of a row.
struct Row {
    name: String,
    fits: usize,
    seconds: f64,
    /// Fits that no estimate is known for.
    unknown: usize,
}

fn rows(jobs: &[(String, Job)]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (name, job) in jobs {
        let at = rows.iter().position(|row| row.name == *name).unwrap_or_else(|| {
            rows.push(Row { name: name.clone(), fits: 0, seconds: 0.0, unknown: 0 });
            rows.len() - 1
        });
        rows[at].fits += 1;
        rows[at].seconds += job.seconds.unwrap_or(0.0);
        rows[at].unknown += usize::from(job.seconds.is_none());
    }
    rows
}

fn tell(rows: &[Row], records: &str, later: usize) -> Result<()> {
    let hours = |seconds: f64| format!("{:.2}", seconds / 3600.0);
    let unknown = |count: usize| if count == 0 { String::new() } else { format!("without {count} unlike any recorded") };
    let cells = |row: &Row| vec![row.name.clone(), row.fits.to_string(), hours(row.seconds), unknown(row.unknown)];
    if !rows.is_empty() {
        let shown: Vec<Vec<String>> = rows.iter().map(cells).collect();
        line(&output::table(&["missing", "fits", "hours on one core, at most", ""], &shown, &[1, 2]))?;
        line("")?;
    }
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let fits = rows.iter().map(|row| row.fits).sum();
    line(&format!("{} missing of {records}, at most {} hours on one core", count(fits, "fit"), hours(all)))?;
    if later > 0 {
        line(&format!("{later} more once learning rates are chosen: gather, then plan again"))?;
    }
    Ok(())
}

/// The name of the records, what is missing with its row, and how much can only be told later.
type Missing = (String, Vec<(String, Work)>, usize);

fn missing(args: &PlanArgs) -> Result<Missing> {
    let budget = args.budget;
    let fits = |whole: &dyn Experiment| fits(args, whole);
    match args.what {
        SweepArg::Sequences => fits(&SequenceTables { budget, head: Head::Hidden }),
        SweepArg::SequencesAffine => fits(&SequenceTables { budget, head: Head::Affine }),
        SweepArg::Images => fits(&ImageTables::new(budget)),
        SweepArg::ImagesLambda => fits(&ImageTables { over_lambda: true, ..ImageTables::new(budget) }),
        SweepArg::ImagesAffine => fits(&ImageTables { head: Head::Affine, ..ImageTables::new(budget) }),
        SweepArg::Lift => fits(&LiftTables::new(budget, Head::Hidden)),
        SweepArg::LiftAffine => fits(&LiftTables::new(budget, Head::Affine)),
        SweepArg::ScreenSequences => screens(args, Field::Sequences),
        SweepArg::ScreenImages => screens(args, Field::Images),
        SweepArg::ScreenBench => screens(args, Field::Bench),
        SweepArg::ScreenErrors => screens(args, Field::Errors),
    }
}

fn fits(args: &PlanArgs, whole: &dyn Experiment) -> Result<Missing> {
    crate::reproduce::matching(args.only.as_deref(), whole.cells().iter().map(|cell| cell.data.row()).collect())?;
    let part = Part { whole, only: args.only.as_deref().into(), repeats: args.repeats };
    let records: Vec<Record> = known(&args.results, &part.name())?;
    let missing = reproduce::missing_fits(&part, &records);
    let later = reproduce::missing(&part, &records) - missing.len();
    let work = |config: invar_lab::fit::FitConfig| (config.data.row(), Work::Fit(Box::new(config)));
    Ok((part.name(), missing.into_iter().map(work).collect(), later))
}

fn screens(args: &PlanArgs, field: Field) -> Result<Missing> {
    crate::train::refuse("screens", [("--repeats", args.repeats.is_some())])?;
    let tables = ScreenTables { budget: args.budget, field };
    crate::reproduce::matching(args.only.as_deref(), tables.tasks().iter().map(invar_lab::problem::Data::row).collect())?;
    let missing = tables.missing(&known(&args.results, &tables.name())?, args.only.as_deref().into());
    let work = |(seed, data): (u64, invar_lab::problem::Data)| (data.row(), Work::Screen(Screening { tables, seed, data }));
    Ok((tables.name(), missing.into_iter().map(work).collect(), 0))
}

/// What is recorded; nothing where it was never begun.
fn known<R: Recorded>(results: &Path, name: &str) -> Result<Vec<R>> {
    let path = results.join(format!("{name}.jsonl"));
    if path.exists() { Ok(Records::read(&path)?) } else { Ok(Vec::new()) }
}

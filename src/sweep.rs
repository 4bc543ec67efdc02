//! `invar sweep`: fits on any number of machines that share a folder.

mod engines;
mod plan;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use invar_lab::sweep::claims::Seat;
use invar_lab::sweep::{self, Counts, Event, Options, Standing, Sweep};
use serde_json::json;

use crate::cli::{GatherArgs, RunArgs, StatusArgs, SweepArgs, SweepCommand};
use crate::output::{self, count, line, note};

pub(crate) fn run(args: &SweepArgs) -> Result<ExitCode> {
    match &args.command {
        SweepCommand::Plan(args) => plan::plan(args),
        SweepCommand::Run(args) => work(args),
        SweepCommand::Status(args) => status(args),
        SweepCommand::Gather(args) => gather(args),
        SweepCommand::Submit(args) => engines::submit(args),
    }
}

/// A worker.
fn work(args: &RunArgs) -> Result<ExitCode> {
    let sweep = Sweep::open(&args.folder)?;
    let jobs = sweep.select(&args.only)?;
    let options = Options {
        threads: crate::prepare_fits(args.threads),
        lease: Duration::from_secs(args.sharing.lease),
        retry_failed: args.sharing.retry_failed,
        seat: args.seat.clone().zip(args.restart).map(|(name, restart)| Seat { name, restart }),
    };
    let listen = |event: Event<'_>| match event {
        Event::Failed(job, error) => output::warning(&format!("{} {} failed: {error}", job.id, job.name)),
        _ if args.quiet => {}
        Event::Began(job) => note(&format!("{} {} begins", job.id, job.name)),
        Event::Finished(job, told) => note(&format!("{} {}: {told}", job.id, job.name)),
        Event::Lost(job) => note(&format!("{} {}: another worker has it now", job.id, job.name)),
    };
    let summary = sweep::run(&sweep, jobs, &options, &crate::STOP, &listen)?;
    if !args.quiet {
        let (own, failed) = (count(summary.finished, "fit"), summary.failed.len());
        line(&format!("{own} by this worker; {} of {} done, {failed} failed", summary.done, summary.of))?;
    }
    Ok(ExitCode::from(u8::from(summary.done < summary.of)))
}

fn status(args: &StatusArgs) -> Result<ExitCode> {
    let sweep = Sweep::open(&args.folder)?;
    let standings = sweep.standings()?;
    let counts = Counts::of(&standings);
    let left = sweep.jobs.iter().zip(&standings).filter(|(_, standing)| **standing != Standing::Done);
    let hours: f64 = left.filter_map(|(job, _)| job.seconds).sum::<f64>() / 3600.0;
    if args.json {
        let fit = |(job, standing): (&sweep::Job, &Standing)| {
            let (state, detail) = words(standing);
            json!({ "id": job.id, "name": job.name, "state": state, "detail": detail, "seconds": job.seconds })
        };
        let fits: Vec<_> = sweep.jobs.iter().zip(&standings).map(fit).collect();
        let Counts { done, claimed, failed, open } = counts;
        output::json(&json!({ "records": sweep.records, "done": done, "claimed": claimed, "failed": failed, "open": open,
            "hours_left": hours, "fits": fits }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = |standing: &Standing| args.all || matches!(standing, Standing::Failed(_));
    let rows: Vec<Vec<String>> = sweep.jobs.iter().zip(&standings).filter(|(_, standing)| shown(standing)).map(row).collect();
    if !rows.is_empty() {
        line(&output::table(&["id", "state", "fit", ""], &rows, &[]))?;
        line("")?;
    }
    line(&format!(
        "{} of {}: {} done, {} claimed, {} failed, {} open; about {hours:.1} hours on one core left",
        count(sweep.jobs.len(), "fit"),
        sweep.records,
        counts.done,
        counts.claimed,
        counts.failed,
        counts.open
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn row((job, standing): (&sweep::Job, &Standing)) -> Vec<String> {
    let (state, detail) = words(standing);
    vec![job.id.clone(), state.into(), job.name.clone(), detail.into()]
}

fn words(standing: &Standing) -> (&'static str, &str) {
    match standing {
        Standing::Done => ("done", ""),
        Standing::Claimed(worker) => ("claimed", worker),
        Standing::Failed(error) => ("failed", error),
        Standing::Open => ("open", ""),
    }
}

fn gather(args: &GatherArgs) -> Result<ExitCode> {
    let sweep = Sweep::open(&args.folder)?;
    let gathered = sweep.gather(&args.results)?;
    let path = args.results.join(format!("{}.jsonl", sweep.records));
    line(&format!(
        "{} added to {}, {} were there; {} without a record",
        count(gathered.added, "record"),
        output::shown(&path),
        gathered.known,
        count(gathered.missing, "fit")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What to do after a plan.
fn next(folder: &Path) -> String {
    let folder = output::quoted(folder);
    format!("go on with: invar sweep run {folder}   (or: invar sweep submit {folder} --engine slurm)")
}

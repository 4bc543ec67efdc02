//! `invar bench`: training speed, in a form that other programs' benches print too.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use invar_lab::speed::{Workload, processor};

use crate::cli::{BenchArgs, WorkloadArg};
use crate::output;

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let chosen: Vec<Workload> = args.workloads.iter().copied().map(Workload::from).collect();
    let workloads = if chosen.is_empty() { &Workload::ALL[..] } else { &chosen };
    for workload in workloads {
        measure(*workload, args.seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The best step within some seconds, and the loss at both ends, to show that it trains.
fn measure(workload: Workload, seconds: f64) -> Result<()> {
    let mut step = workload.step()?;
    let first = step()?;
    for _ in 0..3 {
        step()?;
    }
    let (mut best, mut last, start) = (f64::INFINITY, first, Instant::now());
    while start.elapsed().as_secs_f64() < seconds {
        let before = Instant::now();
        last = step()?;
        best = best.min(before.elapsed().as_secs_f64());
    }
    let ((unit, per_step), (level, threads)) = (workload.unit(), processor()?);
    output::line(&serde_json::to_string(&serde_json::json!({
        "workload": workload.name(),
        "unit": unit,
        "rate": (10.0 * per_step as f64 / best).round() / 10.0,
        "loss": [first, last],
        "level": level,
        "threads": threads,
    }))?)?;
    Ok(())
}

impl From<WorkloadArg> for Workload {
    fn from(workload: WorkloadArg) -> Self {
        match workload {
            WorkloadArg::Images => Self::Images,
            WorkloadArg::ImagesCg => Self::ImagesCg,
            WorkloadArg::Lift => Self::Lift,
            WorkloadArg::Sequences => Self::Sequences,
            WorkloadArg::Pairs10 => Self::Pairs10,
            WorkloadArg::Pairs30 => Self::Pairs30,
        }
    }
}

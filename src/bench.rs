//! `invar bench`: training speed, in a form that other programs' benches print too.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use invar_lab::speed;

use crate::cli::{BenchArgs, WorkloadArg};
use crate::output;

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let WorkloadArg::Sequences = args.workload;
    let mut step = speed::sequence_step()?;
    let first = step()?;
    for _ in 0..3 {
        step()?;
    }
    let (mut best, mut last, start) = (f64::INFINITY, first, Instant::now());
    while start.elapsed().as_secs_f64() < args.seconds {
        let before = Instant::now();
        last = step()?;
        best = best.min(before.elapsed().as_secs_f64());
    }
    output::line(&serde_json::to_string(&serde_json::json!({
        "workload": "sequences:table",
        "unit": "steps/s",
        "rate": (10.0 / best).round() / 10.0,
        "loss": [first, last],
    }))?)?;
    Ok(ExitCode::SUCCESS)
}

//! `invar report`: the page on a run.

use std::process::ExitCode;

use anyhow::Result;
use invar_lab::project::Run;
use invar_lab::report;

use crate::cli::ReportArgs;
use crate::output::{self, line};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let run = Run::load(&args.folder)?;
    let page = report::html(&run, &[])?;
    output::write(&args.output, &page)?;
    line(&format!("wrote {}", args.output.display()))?;
    Ok(ExitCode::SUCCESS)
}

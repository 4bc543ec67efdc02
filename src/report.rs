//! `invar report`: the page on a run.

use std::process::ExitCode;

use anyhow::Result;
use invar_lab::project::{MODEL, Run};
use invar_lab::report::{self, Proof};
use invar_program::Saved;

use crate::cli::ReportArgs;
use crate::output::{self, line};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let run = Run::load(&args.folder)?;
    let saved = Saved::load(&args.folder.join(MODEL)).map_err(invar_lab::Error::from)?;
    let page = report::html(&run, &Proof::of(&saved)?)?;
    output::write(&args.output, &page)?;
    line(&format!("wrote {}", args.output.display()))?;
    Ok(ExitCode::SUCCESS)
}

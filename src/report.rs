//! `invar report`: the page on a run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use invar_lab::project::{MODEL, RECORDS, RUN, Run, SCREENS};
use invar_lab::report::{self, Proof};

use crate::cli::ReportArgs;
use crate::output::{self, line};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let files = [RUN, MODEL, RECORDS, SCREENS].map(|name| args.folder.join(name));
    let inputs: Vec<(&str, &Path)> = files.iter().map(|path| ("a file of the run", path.as_path())).collect();
    let apart = |inputs: &[(&str, &Path)]| output::check_apart(&[("--output", Some(&args.output))], inputs);
    apart(&inputs)?;
    let run = Run::load(&args.folder)?;
    let data: Vec<PathBuf> = run.project.data.paths().into_iter().map(|path| Path::new(&run.folder).join(path)).collect();
    apart(&data.iter().map(|path| ("data of the run", path.as_path())).collect::<Vec<_>>())?;
    let saved = run.load_model(&args.folder)?;
    let page = report::html(&run, &Proof::of(&saved)?)?;
    output::write(&args.output, &page)?;
    line(&format!("wrote {}", output::shown(&args.output)))?;
    Ok(ExitCode::SUCCESS)
}

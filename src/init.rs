//! `invar init`: a project file to begin with.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use invar_data::{Source, Task, printable};
use invar_lab::project::sketch;

use crate::cli::{HeaderArg, InitArgs};
use crate::output::{self, line};

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let shown = output::shown(&args.file);
    if args.file.symlink_metadata().is_ok() {
        let expected = "a file that does not exist yet".into();
        return Err(invar_lab::Error::Setting { name: "project file", expected, got: format!("{shown}, which does") }.into());
    }
    let seen = |path: &PathBuf| seen_from(&args.file, path);
    let data = match &args.data {
        Some(path) => Some(Source {
            format: args.format.map(Into::into),
            inputs: args.inputs.clone(),
            label: args.label.clone(),
            has_header: args.header.map(HeaderArg::is_there),
            labels: args.labels.as_ref().map(seen).transpose()?,
            ..Source::new(seen(path)?, Task::Classification)
        }),
        None => None,
    };
    let sketch = sketch(data)?;
    if let Some(folder) = args.file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", output::shown(folder)))?;
    }
    output::write(&args.file, &sketch.text)?;
    line(&format!("wrote {shown}"))?;
    for guess in &sketch.guesses {
        line(&format!("  {}", printable(guess)))?;
    }
    line(&format!("edit it, then: invar check {}", output::quoted(&args.file)))?;
    Ok(ExitCode::SUCCESS)
}

/// A path as it stands in the project file: as given when both are seen from here, else from the root.
fn seen_from(project: &Path, data: &Path) -> Result<PathBuf> {
    let here = project.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if here || data.is_absolute() {
        return Ok(data.to_path_buf());
    }
    std::path::absolute(data).with_context(|| format!("cannot tell where {} is", output::shown(data)))
}

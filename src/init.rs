//! `invar init`: a project file to begin with.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use invar_data::{Source, Task, printable};
use invar_lab::project::{Project, sketch, write_into};

use crate::cli::{HeaderArg, InitArgs, seen_from};
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
    let mut settings = args.overrides.settings(&args.file)?;
    settings.extend(args.training.settings());
    let text = write_into(&sketch.text, &settings);
    // What was said wrong is told before anything is written.
    settings
        .iter()
        .try_for_each(|setting| Project::parse_with(&args.file, &sketch.text, std::slice::from_ref(setting)).map(|_| ()))?;
    if let Some(folder) = args.file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", output::shown(folder)))?;
    }
    output::write(&args.file, &text)?;
    line(&format!("wrote {shown}"))?;
    for guess in &sketch.guesses {
        line(&format!("  {}", printable(guess)))?;
    }
    line(&format!("next: invar check {}", output::quoted(&args.file)))?;
    Ok(ExitCode::SUCCESS)
}

//! Values for keys of the project file, on the command line.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use invar_lab::project::Setting;

use crate::output;

/// What may be said in place of the project file.
#[derive(Debug, Args)]
pub(crate) struct OverrideArgs {
    /// A value for a key of the project file, as it would stand there; again for more.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,

    /// The candidates, in shorthand, in place of those of the project file.
    #[arg(long, value_name = "SYMMETRY", num_args = 1..)]
    candidates: Option<Vec<String>>,

    /// Examples of another environment to test on.
    #[arg(long, value_name = "PATH")]
    test: Option<PathBuf>,
}

/// The same where nothing else goes by these names.
#[derive(Debug, Args)]
pub(crate) struct TrainingArgs {
    /// Epochs of every fit.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    epochs: Option<i64>,

    /// Seed of everything random, the split of the data included.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<i64>,

    /// What keeping symmetries may cost.
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true)]
    tolerance: Option<f64>,
}

impl OverrideArgs {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        !self.set.is_empty() || self.candidates.is_some() || self.test.is_some()
    }

    /// As settings of a project file at `project`, from whose folder paths are seen.
    pub(crate) fn settings(&self, project: &Path) -> Result<Vec<Setting>> {
        let mut settings = Vec::new();
        if let Some(candidates) = &self.candidates {
            let said = format!("--candidates {}", candidates.join(" "));
            settings.push(Setting::new(said, "symmetries", "candidates", candidates.clone()));
        }
        if let Some(path) = &self.test {
            let seen = seen_from(project, path)?;
            let path = seen.to_str().with_context(|| format!("{}: a path that is no Unicode", output::shown(path)))?;
            settings.push(Setting::new(format!("--test {path}"), "data", "test", path));
        }
        for text in &self.set {
            settings.push(text.parse()?);
        }
        Ok(settings)
    }
}

impl TrainingArgs {
    /// As settings of a project file.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let whole = |name: &str, value: Option<i64>| value.map(|n| Setting::new(format!("--{name} {n}"), "train", name, n));
        let tolerance = self.tolerance.map(|x| Setting::new(format!("--tolerance {x}"), "train", "tolerance", x));
        [whole("epochs", self.epochs), whole("seed", self.seed), tolerance].into_iter().flatten().collect()
    }
}

/// A path as it stands in the project file: as given when both are seen from here, else from the root.
pub(crate) fn seen_from(project: &Path, data: &Path) -> Result<PathBuf> {
    let here = project.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if here || data.is_absolute() {
        return Ok(data.to_path_buf());
    }
    std::path::absolute(data).with_context(|| format!("cannot tell where {} is", output::shown(data)))
}

//! A run: everything that a report needs to know, in one file.

use std::collections::HashSet;
use std::path::Path;

use invar_algebra::{Group, GroupSet, Shape};
use invar_data::Digest;
use invar_nn::Epoch;
use invar_program::Saved;
use serde::{Deserialize, Serialize};

use super::examples::Shown;
use super::file::{Goal, Learner, Project};
use super::judge::PartScore;
use super::load::{Architecture, PATCH, on_shape};
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::problem::Data;
use crate::record::Metrics;
use crate::scaling::{Scaling, TargetScaling};
use crate::screen::{Cost, Measure, Role, Rule, ScreenRecord};
use crate::symmetry::Symmetry;

/// The version of the file that this code writes, and the newest it reads.
pub(super) const VERSION: u32 = 3;
/// The name of the file in the folder of a run.
pub const RUN: &str = "run.json";
/// The file of fits of the grid.
pub const RECORDS: &str = "records.jsonl";
/// The file of screens.
pub const SCREENS: &str = "screens.jsonl";
/// The name of the model there.
pub const MODEL: &str = "model.invar";

/// What came of training on a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Of this file.
    pub version: u32,
    /// The version of invar.
    pub invar: String,
    /// What was asked.
    pub project: Project,
    /// The folder that its paths are relative to, as it was called.
    pub folder: String,
    /// What identifies the data.
    pub data: Data,
    /// Whether answers are classes or numbers.
    pub goal: Goal,
    /// The shape of an example.
    pub shape: Vec<usize>,
    /// The names of the classes; none for regression.
    pub classes: Vec<String>,
    /// Training, validation and test examples.
    pub examples: [usize; 3],
    /// The network.
    pub architecture: Architecture,
    /// The network in one line.
    pub network: String,
    /// How it was decided what to keep.
    pub learner: Learner,
    /// What keeping symmetries might cost.
    pub rule: Rule,
    /// What scores are.
    pub measure: Measure,
    /// What was done to inputs.
    pub scaling: Option<Scaling>,
    /// What was done to targets.
    pub targets: Option<TargetScaling>,
    /// The candidates, one by one.
    pub symmetries: Vec<Symmetry>,
    /// Points of validation score that making the kept symmetries exact cost, against the same network before.
    pub exact_cost: Option<Cost>,
    /// What all that is kept costs together, against the best fit (cgreg) or the network with nothing imposed (screen); none when
    /// there is nothing to compare.
    pub kept_cost: Option<Cost>,
    /// The group that is kept.
    pub group: KeptGroupFacts,
    /// Every model that was compared, baselines included.
    pub models: Vec<ModelLine>,
    /// The learning curve of every fit that has one.
    pub curves: Vec<Curve>,
    /// The final model on validation examples, and on test examples if there are any.
    pub scores: Vec<PartScore>,
    /// The same for the most frequent answer.
    pub chance: f64,
    /// Why the verdicts say little, and what to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weakness: Option<String>,
    /// Everything that the learner screen found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenRecord>,
    /// cgreg: the subspaces of each CG layer, most invariant first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subspaces: Vec<Vec<Subspaces>>,
    /// The candidates that truly hold, by their places in the list, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_symmetry: Option<GroupSet>,
    /// Share of validation examples answered alike before and after a random kept transformation; none when nothing is kept.
    pub consistency: Option<f64>,
    /// Examples with transformed versions.
    pub shown: Vec<Shown>,
    /// Seconds of all fits together.
    pub seconds: f64,
    /// The SHA-256 of the model file that came of it.
    pub model: Digest,
}

/// The group that the kept candidates generate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGroupFacts {
    /// Number of elements, in decimal digits; none when it is not known to be finite.
    pub order: Option<String>,
    /// Whether it is normal in the group that it and all candidates that were not kept generate; none when it is not known to be finite.
    pub normal: Option<bool>,
    /// If not: what leads out of it, in words.
    pub witness: Option<String>,
    /// Where all candidates are swaps along one axis: what can be exchanged, by the names of columns or by positions from 1.
    #[serde(default)]
    pub blocks: Option<Vec<Vec<String>>>,
}

/// A model in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelLine {
    /// What it is compared for; none for a fit of the grid that is neither chosen nor without penalty.
    pub role: Option<Role>,
    /// In words.
    pub name: String,
    /// On validation examples; none when it diverged.
    pub validation: Option<Metrics>,
    /// In the other environment, if there is one. Decides nothing.
    pub extrapolation: Option<Metrics>,
    /// Share of coupled pairs with one prediction (Definition 2), where they can be drawn.
    pub consistency: Option<f64>,
    /// How many candidates it keeps, where that is known.
    pub kept: Option<usize>,
    /// Epochs trained.
    pub epochs: Option<usize>,
    /// Whether it became the model.
    pub chosen: bool,
}

/// The subspaces of one level of a CG layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subspaces {
    /// How many candidates their weights are invariant to.
    pub level: usize,
    /// Which of them the network uses.
    pub used: Vec<bool>,
}

/// A learning curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Of which fit.
    pub name: String,
    /// Whether that became the model.
    pub chosen: bool,
    /// The epochs.
    pub points: Vec<Epoch>,
}

impl Run {
    /// The candidates that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &Symmetry> {
        self.symmetries.iter().filter(|symmetry| symmetry.kept)
    }

    /// The first model of a role.
    pub fn model(&self, role: Role) -> Option<&ModelLine> {
        self.models.iter().find(|line| line.role == Some(role))
    }

    /// The final model.
    pub fn chosen(&self) -> Option<&ModelLine> {
        self.models.iter().find(|line| line.chosen)
    }

    /// What the data are called: the task, or the files that are trained on.
    pub fn data_name(&self) -> String {
        match (&self.project.data.task, &self.project.data.train) {
            (Some(task), _) => task.clone(),
            (None, Some(files)) => files.to_string(),
            (None, None) => "examples in memory".into(),
        }
    }

    /// How many positions there are, where exchanging any two of them is a candidate.
    pub fn positions(&self) -> Option<usize> {
        let count = self.group.blocks.as_ref()?.iter().map(Vec::len).sum::<usize>();
        let pairs: HashSet<[usize; 2]> = self.symmetries.iter().filter_map(|symmetry| symmetry.pair).collect();
        let all = count * count.saturating_sub(1) / 2;
        (pairs.len() == all && self.symmetries.len() == all).then_some(count)
    }

    /// What can be exchanged, one part of the partition after the other; none where nothing can.
    pub fn partition(&self) -> Option<String> {
        let blocks = self.group.blocks.as_ref().filter(|_| self.kept().next().is_some())?;
        Some(blocks.iter().map(|block| block.join(",")).collect::<Vec<_>>().join(" | "))
    }

    /// The candidates where weights meet them: on patches for convolutions that decide, else on the whole example.
    pub fn weight_groups(&self) -> Result<Vec<Group>> {
        let sides = match self.shape[..] {
            [channels, ..] if self.architecture.has_patches() => vec![channels, PATCH, PATCH],
            _ => self.shape.clone(),
        };
        on_shape(&self.project.symmetries.candidates, &Shape::new(&sides)?)
    }

    /// Writes the file into a folder, whole or not at all.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RUN);
        let failed = |source| Error::File { what: "write", path: path.clone(), source };
        let mut text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        text.push('\n');
        write_whole(&path, text.as_bytes()).map_err(failed)
    }

    /// The model of the run, from its folder. A file that is not what the run has written is an error: what the run tells would be
    /// told of another model.
    pub fn load_model(&self, folder: &Path) -> Result<Saved> {
        let path = folder.join(MODEL);
        let found = Digest::of_file(&path)?;
        if found != self.model {
            let (of_run, run) = (self.model, folder.join(RUN));
            let problem = format!(
                "it is not the model of this run: {} names the model with the SHA-256 {of_run}, and the one here has {found}; \
                 `invar train` with the project of the run writes both again",
                run.display()
            );
            return Err(Error::Run { path, problem });
        }
        Ok(Saved::load(&path)?)
    }

    /// Reads the file of a folder.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(RUN);
        let failed = |source: std::io::Error| Error::File { what: "read", path: path.clone(), source };
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let wrong = |problem: String| Error::Run { path: path.clone(), problem };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let version = value.get("version").and_then(serde_json::Value::as_u64);
        match version {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(wrong(format!(
                    "its version is {version}, but this program reads {VERSION}; train again to write it anew"
                )));
            }
            None => return Err(wrong("it has no version".into())),
        }
        serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
    }
}

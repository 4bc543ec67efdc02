//! What a project file says, section by section.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use invar_algebra::Candidate;
use invar_data::{Format, Layout, Source, Task};
use invar_nn::{Head, Schedule};
use serde::{Deserialize, Serialize};

use crate::screen::Rule;

/// A project: the data, what is asked of them, and how to train. Read from `invar.toml` with [`Project::read`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Where relative paths begin: the folder of the project file.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where the data are.
    pub data: DataSection,
    /// What is to be predicted; none for a built-in task, which knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskSection>,
    /// What might leave the answer alone; empty for those of a built-in task.
    #[serde(default)]
    pub symmetries: SymmetrySection,
    /// Which network.
    #[serde(default)]
    pub model: ModelSection,
    /// How to train.
    #[serde(default)]
    pub train: TrainSection,
}

/// `[data]`: a built-in task with its sizes, or files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSection {
    /// A built-in task instead of files; `invar tasks` lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Task: training and validation examples; no more test examples than those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<usize>,
    /// Task: positions of a sequence, or nodes of a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
    /// Task on images: the groups that its label ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<String>,
    /// Examples of the training environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Files>,
    /// What to decide on: a share of the examples to hold out, or files of their own.
    #[serde(default, skip_serializing_if = "Validation::is_usual")]
    pub validation: Validation,
    /// Examples of another environment, to see how the network extrapolates. Nothing is decided on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Files>,
    /// The format of all of them; by default that of their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// NPZ: the array of inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// The column (CSV) or array (NPZ) of labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// CSV: whether the first line holds the names of the columns, where that is in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// CSV: columns that are no inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<Vec<String>>,
    /// CSV: the columns of inputs; by default all but the label and those to ignore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// CSV: columns that describe items of one kind, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<BTreeMap<String, Vec<Vec<String>>>>,
    /// The shape of one example as it lies in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<usize>>,
    /// Where the channels are.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub layout: Layout,
    /// Pictures: whether a border of zeros makes each a square.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pad: Option<bool>,
    /// Pictures: the height and width that each then gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resize: Option<[usize; 2]>,
    /// Read at most so many examples of each file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A file or folder, with the file of its labels where there are two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a path in quotes, or { inputs = \"x.npy\", labels = \"y.npy\" } for NPY and IDX")]
pub enum Files {
    /// One file or folder.
    One(PathBuf),
    /// Two files.
    Two {
        /// The inputs.
        inputs: PathBuf,
        /// The labels.
        labels: PathBuf,
    },
}

impl std::fmt::Display for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(path) => write!(f, "{}", path.display()),
            Self::Two { inputs, labels } => write!(f, "{} with {}", inputs.display(), labels.display()),
        }
    }
}

impl Files {
    /// Each of them.
    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::One(path) => vec![path],
            Self::Two { inputs, labels } => vec![inputs, labels],
        }
    }
}

impl DataSection {
    /// Every file or folder that is named, as it is written.
    pub fn paths(&self) -> Vec<&Path> {
        let validation = match &self.validation {
            Validation::Share(_) => None,
            Validation::Files(files) => Some(files),
        };
        [self.train.as_ref(), validation, self.test.as_ref()].into_iter().flatten().flat_map(Files::paths).collect()
    }
}

/// What to hold out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a share between 0 and 1 to hold out, or a path in quotes")]
pub enum Validation {
    /// This share of the examples, drawn by the seed.
    Share(f64),
    /// Files of their own.
    Files(Files),
}

impl Validation {
    /// Whether it need not be said.
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a layout need not be said.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_usual(layout: &Layout) -> bool {
    *layout == Layout::default()
}

impl Default for Validation {
    fn default() -> Self {
        Self::Share(0.2)
    }
}

/// `[task]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSection {
    /// Classes or numbers.
    pub kind: Goal,
}

/// What is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// A class.
    Classification,
    /// A number.
    Regression,
}

/// `[symmetries]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymmetrySection {
    /// Transformations of an input that might leave the answer alone, in shorthand.
    pub candidates: Vec<Candidate>,
}

/// `[model]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    /// Which network.
    #[serde(default)]
    pub kind: ModelKind,
    /// What follows the layers that decide; by default hidden for feedforward and convolutional networks and affine for lifted
    /// and orbit ones. `screen` tries both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}

/// Which network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// `lift` for square images whose candidates it can take, else `pairs` or `orbit`, whichever learns more.
    #[default]
    Auto,
    /// Group convolutions with a head that decides for the whole network: images of channels x n x n.
    Lift,
    /// The paper's convolutions whose filters decide, patch by patch: images of channels x height x width.
    Cnn,
    /// A dense layer on all entries decides: any shape.
    Feedforward,
    /// A network sees examples from every side of the group that all candidates generate, and a head decides for the whole: any shape,
    /// small groups.
    Orbit,
    /// Features of entries from weights on pairs, tied along what is imposed.
    Pairs,
}

/// `[train]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSection {
    /// How to decide which symmetries to keep; by default `screen`, but for `cnn`, which has `cgreg` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learner: Option<Learner>,
    /// cgreg: strengths of the penalty to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambdas: Option<Vec<f64>>,
    /// cgreg: which penalty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<Penalty>,
    /// cgreg: temperature of the penalty's smooth indicator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// cgreg: how the learning rate moves; screen uses one-cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Highest learning rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Epochs of every fit (screen: of full fits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// Examples per step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// screen: initialisations of the final model, of which the one with the smallest validation loss is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<usize>,
    /// What keeping symmetries may cost: percentage points of accuracy; screen, for numbers: percent of the error that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// screen: keep only what is shown to be harmless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_shown: Option<bool>,
    /// screen: folds that decide in turn; 1 for a single split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// screen: candidates, as they are listed, that are imposed whatever they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<Vec<Candidate>>,
    /// screen: whether every candidate is fitted alone as well, for the picture of costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceFor>,
    /// screen: whether the model is compared with a plain network that is augmented by every candidate that does not hurt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augment: Option<bool>,
    /// Seed of everything random, the split included.
    #[serde(default)]
    pub seed: u64,
}

/// Which penalty of the learner `cgreg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// The paper's: counts subspaces from the most invariant level down to the least invariant one used.
    Levels,
    /// A smooth count of the candidate groups that the layer breaks.
    Violations,
}

/// What is measured beyond what a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceFor {
    /// Every candidate alone.
    All,
}

/// How to decide which symmetries to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learner {
    /// The paper's: a penalty on every invariance given up, its strength chosen from a grid.
    Cgreg,
    /// Impose each symmetry and measure what it costs.
    Screen,
}

impl Goal {
    /// As the readers of data say it.
    pub fn task(self) -> Task {
        match self {
            Self::Classification => Task::Classification,
            Self::Regression => Task::Regression,
        }
    }
}

impl Learner {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cgreg => "cgreg",
            Self::Screen => "screen",
        }
    }
}

impl ModelKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lift => "lift",
            Self::Cnn => "cnn",
            Self::Feedforward => "feedforward",
            Self::Orbit => "orbit",
            Self::Pairs => "pairs",
        }
    }
}

impl Project {
    /// Points of validation score that keeping symmetries may cost with the learner cgreg.
    pub fn tolerance(&self) -> f64 {
        self.train.tolerance.unwrap_or(100.0 * crate::cgreg::TOLERANCE)
    }

    /// When the cost of symmetries is too high for the learner screen, where nothing else is asked for.
    pub fn rule(&self, default: Rule) -> Rule {
        Rule {
            tolerance: self.train.tolerance.unwrap_or(default.tolerance),
            only_shown: self.train.only_shown.unwrap_or(default.only_shown),
        }
    }

    /// A file of the project as a source of data.
    pub fn source(&self, files: &Files) -> Source {
        let DataSection { format, inputs, label, header, ignore, columns, shape, layout, pad, resize, limit, .. } =
            self.data.clone();
        let (path, labels) = match files {
            Files::One(path) => (path, None),
            Files::Two { inputs, labels } => (inputs, Some(self.folder.join(labels))),
        };
        let goal = self.task.as_ref().map_or(Goal::Classification, |task| task.kind);
        let source = Source::new(self.folder.join(path), goal.task());
        let ignore = ignore.unwrap_or_default();
        Source {
            format,
            inputs,
            label,
            has_header: header,
            ignore,
            columns,
            labels,
            shape,
            layout,
            pad: pad.unwrap_or(false),
            resize,
            limit,
            ..source
        }
    }

    /// The folder of a run when none is named: `run` beside the project file. Within a folder of data that would be taken for data by
    /// other programs, and go where the data go: then beside that folder, under its name.
    pub fn home(&self) -> PathBuf {
        let here = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let beside = || self.folder.join("run");
        let Ok(own) = here.canonicalize() else { return beside() };
        let data = self.data.paths().into_iter().filter_map(|path| here.join(path).canonicalize().ok());
        // The outermost, so that the place is within none of them.
        let around = data.filter(|data| data.is_dir() && own.starts_with(data)).min_by_key(|data| data.components().count());
        match around.as_ref().and_then(|data| data.parent().zip(data.file_name())) {
            Some((parent, name)) => {
                let mut named = name.to_owned();
                named.push("-run");
                parent.join(named)
            }
            None => beside(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_out_of_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("photos/cats")).unwrap();
        std::fs::write(root.join("a.csv"), "").unwrap();
        let home = |place: &str, data: &str| {
            let text = format!("[data]\n{data}\n[task]\nkind = \"classification\"\n[symmetries]\ncandidates = [\"flip(1)\"]\n");
            Project::parse(&root.join(place), &text).unwrap().home()
        };
        assert_eq!(home("invar.toml", "train = \"photos\""), root.join("run"));
        assert_eq!(home("invar.toml", "train = \"a.csv\""), root.join("run"));
        assert_eq!(home("photos/invar.toml", "train = \".\""), root.join("photos-run"));
        assert_eq!(home("photos/cats/invar.toml", "train = \"..\""), root.join("photos-run"));
        assert_eq!(home("photos/invar.toml", "train = \"../a.csv\"\ntest = \".\""), root.join("photos-run"));
        assert_eq!(home("nowhere/invar.toml", "train = \".\""), root.join("nowhere/run"));
    }
}

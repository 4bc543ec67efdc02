//! The data of a project, read and split, and its candidates as groups on them.

use invar_algebra::{Action, Candidate, Group, Kind, Shape, candidates};
use invar_data::{Coding, Format, Labels, Limits, Missing, Source, Table, split};
use invar_nn::{InnerConfig, OrbitConfig, Reynolds};
use serde::{Deserialize, Serialize};

use super::built_in::{Known, drawn};
use super::columns::encode;
use super::file::{Goal, Learner, ModelKind, Project, Validation};
use crate::error::{Error, Result};
use crate::problem::Data;

/// Filters of convolutions see patches of this side.
pub(super) const PATCH: usize = 3;
/// Three axes are those of an image when the first has at most so many entries.
const CHANNELS: usize = 4;

/// A project with its data.
#[derive(Debug)]
pub struct Loaded {
    /// What was asked.
    pub project: Project,
    /// The format of the training data.
    pub format: Format,
    /// To train on.
    pub train: Table,
    /// Held out of the same environment.
    pub validation: Table,
    /// Of another environment.
    pub test: Option<Table>,
    /// How columns of texts, or with gaps, became entries.
    pub coding: Option<Coding>,
    /// The shape of an example.
    pub shape: Shape,
    /// The candidates, as they act on an example.
    pub groups: Vec<Group>,
    /// The network that fits.
    pub architecture: Architecture,
    /// What is known beyond what files say, of a built-in task.
    pub known: Option<Known>,
}

/// A network that fits data and candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// Group convolutions and a head that decides.
    Lift,
    /// Convolutions whose filters decide.
    Cnn,
    /// A dense layer that decides.
    Feedforward,
    /// Features of entries from weights on pairs of them, or a network that sees examples from every side: what learns more.
    Auto,
    /// Features of entries from weights on pairs of them, tied along what is imposed.
    Pairs,
    /// A dense network that sees examples from every side, and a head that decides.
    Orbit,
    /// The same with convolutions.
    OrbitImages,
}

impl Architecture {
    /// Whether examples are images to it.
    pub fn takes_images(self) -> bool {
        matches!(self, Self::Lift | Self::Cnn | Self::OrbitImages)
    }

    /// Whether candidates meet its weights on the patches of filters.
    pub(super) fn has_patches(self) -> bool {
        matches!(self, Self::Lift | Self::Cnn)
    }

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Lift => "lift: group convolutions, and a head that decides for the whole network",
            Self::Cnn => "cnn: convolutions whose filters decide, patch by patch",
            Self::Feedforward => "feedforward: a dense layer on all entries decides",
            Self::Auto => "auto: on pairs of entries, or on every view of an example, whichever learns more",
            Self::Pairs => "pairs: weights on pairs of entries, tied along what is imposed",
            Self::Orbit => "orbit: a dense network sees examples from every side, and a head decides for the whole network",
            Self::OrbitImages => "orbit: convolutions see images from every side, and a head decides for the whole network",
        }
    }
}

impl Loaded {
    /// Reads everything. Gaps in tables are filled; other values that are missing come in as NaN with [`Missing::Keep`], to be counted.
    pub fn load(project: Project, missing: Missing) -> Result<Self> {
        match project.data.built_in()? {
            Some(data) => Self::of_task(project, data),
            None => Self::of_files(project, missing),
        }
    }

    fn of_task(mut project: Project, data: Data) -> Result<Self> {
        let own = data.own_candidates()?;
        if project.symmetries.candidates.is_empty() {
            project.symmetries = own.clone();
        }
        let (tables, known) = drawn(data, project.train.seed, project.symmetries == own)?;
        let [train, validation, test] = tables;
        let mut loaded = Self::of_tables(project, Format::Npy, train, validation, Some(test))?;
        loaded.known = Some(known);
        Ok(loaded)
    }

    fn of_files(project: Project, missing: Missing) -> Result<Self> {
        let missing = if missing == Missing::Refuse { Missing::Fill } else { missing };
        let read = |source: Source| -> Result<Table> { Ok(Source { missing, ..source }.load(Limits::of_this_machine())?) };
        let Some(files) = &project.data.train else {
            let expected = "a file or folder, or a built-in `task`".into();
            return Err(Error::Setting { name: "[data] train", expected, got: "none".into() });
        };
        let source = project.source(files);
        let (format, train) = (source.format()?, read(source)?);
        let beside = |files| -> Result<Table> {
            let table = read(project.source(files).beside(&train)?)?;
            train.check_alike(&table)?;
            Ok(table)
        };
        let test = project.data.test.as_ref().map(beside).transpose()?;
        let (train, validation) = match &project.data.validation {
            Validation::Files(files) => {
                let validation = beside(files)?;
                // Training data may have no names for their columns while both of these do.
                test.as_ref().map_or(Ok(()), |test| validation.check_alike(test))?;
                (train, validation)
            }
            Validation::Share(share) => {
                let parts = split(&train, *share, project.train.seed)?;
                (train.select(&parts.train), train.select(&parts.validation))
            }
        };
        Self::of_tables(project, format, train, validation, test)
    }

    /// A project on examples in memory, whatever its `[data]` says of files; `format` is that of files without a telling name.
    pub fn of_tables(
        mut project: Project,
        format: Format,
        mut train: Table,
        mut validation: Table,
        mut test: Option<Table>,
    ) -> Result<Self> {
        let mut tables = vec![&mut train, &mut validation];
        tables.extend(test.as_mut());
        let coding = encode(&mut project, &mut tables)?;
        let shape = Shape::new(&train.shape)?;
        let groups = on_shape(&project.symmetries.candidates, &shape)?;
        let architecture = architecture(&project, &shape, &groups)?;
        Ok(Self { project, format, train, validation, test, coding, shape, groups, architecture, known: None })
    }

    /// Whether answers are classes or numbers.
    pub fn goal(&self) -> Goal {
        if matches!(self.train.labels, Labels::Classes { .. }) { Goal::Classification } else { Goal::Regression }
    }

    /// The candidates where weights meet them: on patches for convolutions that decide, else on the whole example.
    pub fn weight_groups(&self) -> Result<Vec<Group>> {
        if !self.architecture.has_patches() {
            return Ok(self.groups.clone());
        }
        let patch = Shape::new(&[self.shape.side(0), PATCH, PATCH])?;
        on_shape(&self.project.symmetries.candidates, &patch)
    }

    /// The names of the classes; none for regression.
    pub fn classes(&self) -> &[String] {
        match &self.train.labels {
            Labels::Classes { names, .. } => names,
            _ => &[],
        }
    }

    /// Every part with its name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        let test = self.test.iter().map(|table| ("test", table));
        [("training", &self.train), ("validation", &self.validation)].into_iter().chain(test)
    }
}

/// The groups of candidates on one shape.
pub(super) fn on_shape(list: &[Candidate], shape: &Shape) -> Result<Vec<Group>> {
    let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
    Ok(candidates(shape, texts.iter().map(String::as_str))?)
}

/// The network asked for, if it can take these data and candidates; or the one that can.
fn architecture(project: &Project, shape: &Shape, groups: &[Group]) -> Result<Architecture> {
    let architecture = match project.model.kind {
        ModelKind::Auto => automatic(project, shape)?,
        ModelKind::Feedforward => Architecture::Feedforward,
        ModelKind::Pairs => Architecture::Pairs,
        ModelKind::Orbit => {
            // Scaling images would not commute with signs and matrices.
            let moves = groups.iter().flat_map(Group::generators).all(|g| matches!(g, Action::Permutation(_)));
            let graph = project.symmetries.candidates.iter().any(|candidate| names_nodes(&candidate.kind));
            let seen = has_pictures(shape) && shape.side(0) <= CHANNELS && moves && !graph;
            if seen { Architecture::OrbitImages } else { Architecture::Orbit }
        }
        ModelKind::Lift | ModelKind::Cnn => convolutions(project, shape)?,
    };
    if groups.is_empty() && (architecture.takes_images() || architecture == Architecture::Orbit) {
        let expected = "at least one for this network, such as \"mirror(left-right)\" for pictures".into();
        return Err(Error::Setting { name: "[symmetries] candidates", expected, got: "none".into() });
    }
    if matches!(architecture, Architecture::Orbit | Architecture::OrbitImages) {
        // Before the data are scaled: too many elements, or decimals.
        OrbitConfig::new(InnerConfig::Array, 1).lattices(groups)?;
    }
    if architecture == Architecture::Feedforward && !Reynolds::fit(groups.len().max(1), shape.len()) {
        let got = format!("{} entries with {} candidates", shape.len(), groups.len());
        let expected = "fewer entries or fewer candidates for a feedforward network; lift takes large images, and orbit any \
            example whose candidates generate a small group";
        return Err(Error::Setting { name: "shape of an example", expected: expected.into(), got });
    }
    Ok(architecture)
}

/// Whether examples have the shape of pictures that filters fit on.
fn has_pictures(shape: &Shape) -> bool {
    matches!(shape.sides(), [_, height, width] if *height.min(width) >= PATCH)
}

/// A candidate that convolutions cannot take.
fn unfit(project: &Project) -> Option<&Candidate> {
    project.symmetries.candidates.iter().find(|candidate| !acts_on_patches(&candidate.kind))
}

/// The network that fits best where none is asked for.
fn automatic(project: &Project, shape: &Shape) -> Result<Architecture> {
    if has_pictures(shape) && shape.side(0) <= CHANNELS && unfit(project).is_none() {
        return Ok(Architecture::Lift);
    }
    if project.train.learner != Some(Learner::Cgreg) {
        return Ok(Architecture::Auto);
    }
    Ok(match project.data.built_in()? {
        // What no layer of invariant weights can see.
        Some(Data::Graphs(graphs)) if graphs.task.needs_lift() => Architecture::Orbit,
        _ => Architecture::Feedforward,
    })
}

/// The convolutions that were asked for.
fn convolutions(project: &Project, shape: &Shape) -> Result<Architecture> {
    let kind = project.model.kind;
    let wrong = |expected: &str, got: String| Error::Setting { name: "[model] kind", expected: expected.into(), got };
    if !has_pictures(shape) {
        let expected = "auto, pairs, feedforward or orbit, unless examples are images of channels x height x width, at least 3";
        return Err(wrong(expected, format!("{} for {shape}", kind.name())));
    }
    if let Some(candidate) = unfit(project) {
        let expected =
            "orbit or feedforward for candidates other than rot90(1,2), flips of axes 1 and 2 and permutations of axis 0";
        return Err(wrong(expected, format!("{} with {candidate}", kind.name())));
    }
    Ok(if kind == ModelKind::Lift { Architecture::Lift } else { Architecture::Cnn })
}

/// Whether a symmetry moves several axes at once, as those of graphs do: nothing slides along such axes.
fn names_nodes(kind: &Kind) -> bool {
    match kind {
        Kind::Nodes { .. } | Kind::NodeSwaps { .. } => true,
        Kind::Swap { axes, .. } => axes.len() > 1,
        Kind::Join { of } | Kind::Product { of } => of.iter().any(names_nodes),
        _ => false,
    }
}

/// Whether a symmetry of images is one of its patches too: the square's own symmetries, and permutations of channels.
fn acts_on_patches(kind: &Kind) -> bool {
    match kind {
        Kind::Rot90 { axes } => matches!(axes, [1, 2] | [2, 1]),
        Kind::Flip { axis } => matches!(axis, 1 | 2),
        Kind::Flips { axes } => axes.iter().all(|axis| matches!(axis, 1 | 2)),
        Kind::Permute { axis } | Kind::Cycle { axis } | Kind::Shift { axis } | Kind::Swaps { axis } => *axis == 0,
        Kind::Swap { axes, .. } | Kind::Generators { axes, .. } => axes[..] == [0],
        Kind::Join { of } | Kind::Product { of } => of.iter().all(acts_on_patches),
        Kind::Alias(alias) => !alias.is_of_time(),
        Kind::Nodes { .. } | Kind::NodeSwaps { .. } | Kind::Negate | Kind::Exchange { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn chosen(kind: &str, shape: &str, list: &[&str]) -> Result<Architecture> {
        let text = format!(
            "[data]\ntrain = \"a\"\n[task]\nkind = \"classification\"\n[symmetries]\ncandidates = {list:?}\n[model]\nkind = \"{kind}\"\n"
        );
        let project = Project::parse(Path::new("invar.toml"), &text)?;
        let shape: Shape = shape.parse()?;
        let groups = on_shape(&project.symmetries.candidates, &shape)?;
        architecture(&project, &shape, &groups)
    }

    #[test]
    fn other_files_are_read_by_the_columns_of_the_training_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("train.csv", "a,b,y\n1,2,no\n3,4,yes\n");
        write("validation.csv", "y,b,a\nyes,6,5\n");
        let load = |test: &str| {
            write("test.csv", test);
            let text = "[data]\ntrain = \"train.csv\"\nvalidation = \"validation.csv\"\ntest = \"test.csv\"\nlabel = \"y\"\n\
                [task]\nkind = \"classification\"\n[symmetries]\ncandidates = [\"swaps(0)\"]\n";
            Loaded::load(Project::parse(&folder.path().join("invar.toml"), text)?, Missing::Refuse)
        };
        let loaded = load("id,b,y,a\nx7,8,no,7\n").unwrap();
        assert_eq!(loaded.validation.inputs, [5.0, 6.0]);
        assert_eq!(loaded.test.unwrap().inputs, [7.0, 8.0]);
        let error = load("a,c,y\n7,8,no\n").unwrap_err().to_string();
        assert!(error.ends_with("expected the columns `a`, `b`, of which `b` is missing; found `a`, `c`, `y`"), "{error}");
    }

    #[test]
    fn the_network_follows_shape_and_candidates() {
        let square = ["rot90(1,2)", "flip(1)", "permute(0)", "join(rot90(1,2),flips(1,2))", "generators(0;[[1,0,2]])"];
        assert_eq!(chosen("auto", "3x8x8", &square).unwrap(), Architecture::Lift);
        let oblong = ["mirror(left-right)", "rotate(half)", "exchange(colours)"];
        assert_eq!(chosen("auto", "3x24x32", &oblong).unwrap(), Architecture::Lift);
        assert_eq!(chosen("auto", "3x8x8", &["shift(1)"]).unwrap(), Architecture::Auto);
        assert_eq!(chosen("auto", "10", &["swaps(0)"]).unwrap(), Architecture::Auto);
        assert_eq!(chosen("auto", "9x8x8", &["rot90(1,2)"]).unwrap(), Architecture::Auto);
        assert_eq!(chosen("cnn", "3x8x6", &["flip(1)"]).unwrap(), Architecture::Cnn);
        assert_eq!(chosen("feedforward", "3x8x8", &square[..3]).unwrap(), Architecture::Feedforward);
        assert_eq!(chosen("orbit", "4x4", &["node_swaps(0,1)"]).unwrap(), Architecture::Orbit);
        assert_eq!(chosen("orbit", "1x6x6", &["shift(1)", "flip(2)"]).unwrap(), Architecture::OrbitImages);
        assert_eq!(chosen("orbit", "1x6x6", &["negate"]).unwrap(), Architecture::Orbit);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = |kind, shape, list: &[&str]| chosen(kind, shape, list).unwrap_err().to_string();
        assert!(message("lift", "3x8x2", &["flip(1)"]).contains("channels x height x width"));
        assert!(message("lift", "3x8x8", &["shift(1)"]).contains("lift with shift(1)"));
        assert!(message("cnn", "64", &["flip(0)"]).contains("cnn for 64"));
        assert!(message("auto", "3x8x6", &["rot90(1,2)"]).contains("rot90(1,2)"));
        assert!(message("feedforward", "20000", &["flip(0)"]).contains("20000 entries"));
        assert!(message("orbit", "10", &["permute(0)"]).contains("at most 256 elements"));
    }
}

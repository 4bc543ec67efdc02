//! A built-in task as a source of data: what a project says of it, and its examples as tables like those of files.

use invar_algebra::{Candidate, GroupSet, Shape};
use invar_data::{Labels, Table};
use invar_nn::{Dataset, Inputs, Pixels, Targets};
use invar_tasks::Invariant;

use super::file::{DataSection, Project, SymmetrySection};
use crate::error::{Error, Result};
use crate::problem::{Data, Problem};
use crate::screen::Measure;

impl Project {
    /// A project on a built-in task, with everything else as it comes.
    pub fn of_task(name: &str) -> Self {
        let data = DataSection { task: Some(name.into()), ..DataSection::default() };
        Self { data, ..Self::default() }
    }
}

impl DataSection {
    /// The built-in task with its sizes, if it is one.
    pub(super) fn built_in(&self) -> Result<Option<Data>> {
        let Some(name) = &self.task else { return Ok(None) };
        let mut data = Data::by_name(name)?;
        let unfit = |name: &'static str, for_what: &str| {
            Err(Error::Setting { name, expected: format!("left out with {for_what}"), got: "given".into() })
        };
        match (&mut data, &self.invariant) {
            (Data::Images(images), Some(name)) => images.invariant = Invariant::by_name(name)?,
            (Data::Images(images), None) => images.invariant = Invariant::RotVflip,
            (_, Some(_)) => return unfit("[data] invariant", "sequences, graphs and arrays"),
            (_, None) => {}
        }
        if let Some(examples) = self.examples {
            data.set_examples(examples);
        }
        match (&mut data, self.length) {
            (Data::Sequences(data), Some(length)) => data.length = length,
            (Data::Graphs(data), Some(length)) => data.nodes = length,
            (Data::Arrays(_), Some(_)) => return unfit("[data] length", "arrays"),
            (Data::Images(_), Some(_)) => return unfit("[data] length", "images"),
            (Data::Files(_), Some(_)) | (_, None) => {}
        }
        Ok(Some(data))
    }
}

impl Data {
    /// The shape of an example; none for files, which have to be read.
    pub(super) fn example_shape(&self) -> Result<Option<Shape>> {
        Ok(match self {
            Self::Sequences(data) => Some(data.shape()?),
            Self::Graphs(data) => Some(data.shape()?),
            Self::Arrays(data) => Some(data.shape()?),
            Self::Images(data) => Some(data.shape()?),
            Self::Files(_) => None,
        })
    }

    /// The candidate symmetries that a built-in task brings.
    pub(super) fn own_candidates(&self) -> Result<SymmetrySection> {
        let texts = match self {
            Self::Sequences(data) => data.candidates(),
            Self::Graphs(data) => data.candidates(),
            Self::Arrays(data) => data.candidates(),
            Self::Images(data) => data.candidates(),
            Self::Files(_) => Vec::new(),
        };
        let candidates = texts.into_iter().map(str::parse).collect::<std::result::Result<Vec<Candidate>, _>>();
        Ok(SymmetrySection { candidates: candidates? })
    }

    /// What a class is called.
    fn class_name(&self, class: usize) -> String {
        match self {
            Self::Images(data) => data.class_name(class).unwrap_or_else(|| class.to_string()),
            _ => class.to_string(),
        }
    }

    /// Examples as a file would hold them.
    pub(super) fn table(&self, examples: &Dataset, shape: &Shape) -> Table {
        let inputs = match examples.inputs() {
            Inputs::Tokens { values, .. } => values.iter().map(|&token| token as f32).collect(),
            Inputs::Array { values, .. } => values.clone(),
            Inputs::Images { values, .. } => match values {
                Pixels::Floats(values) => values.clone(),
                Pixels::Bytes(values) => values.iter().map(|&value| f32::from(value) / 255.0).collect(),
            },
        };
        let labels = match examples.targets() {
            Targets::Classes { count, labels } => {
                Labels::Classes { names: (0..*count).map(|class| self.class_name(class)).collect(), values: labels.clone() }
            }
            Targets::Values(values) => Labels::Values(values.clone()),
        };
        Table::new(shape.sides().to_vec(), inputs, labels, self.name())
    }
}

/// What the program knows of data beyond what files say.
#[derive(Debug)]
pub struct Known {
    /// The built-in task.
    pub data: Data,
    /// Number of tokens including 0; none for arrays and images.
    pub vocabulary: Option<usize>,
    /// The true symmetry, where the candidates are those of the task.
    pub symmetry: Option<GroupSet>,
    /// Coupled pairs (X, X_cf) of it.
    pub pairs: Option<[Dataset; 2]>,
    /// Accuracy of the most frequent training target in the other environment.
    pub chance: f64,
    /// What a fit is judged by.
    pub measure: Measure,
}

/// The examples of a task: to train on, held out, of another environment; and what is known besides.
pub(super) fn drawn(data: Data, seed: u64, own_candidates: bool) -> Result<([Table; 3], Known)> {
    let Problem { symmetry, vocabulary, train, validation, test, pairs, chance, measure, .. } = data.problem(seed)?;
    let shape = data.example_shape()?;
    let (Some(shape), Some(test)) = (shape, test) else {
        let expected = "a built-in task, which has another environment".into();
        return Err(Error::Setting { name: "[data] task", expected, got: data.name().into() });
    };
    let tables = [train, validation, test].map(|examples| data.table(&examples, &shape));
    let (symmetry, pairs) = if own_candidates { (symmetry, pairs) } else { (None, None) };
    Ok((tables, Known { data, vocabulary, symmetry, pairs, chance, measure }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use invar_data::Missing;

    use super::*;
    use crate::project::{Architecture, Goal, Loaded};

    fn load(text: &str) -> Result<Loaded> {
        Loaded::load(Project::parse(Path::new("invar.toml"), text)?, Missing::Refuse)
    }

    #[test]
    fn a_task_is_read_as_files_are() {
        let loaded = load("[data]\ntask = \"sum\"\nexamples = 100\nlength = 5\n").unwrap();
        let (known, test) = (loaded.known.as_ref().unwrap(), loaded.test.as_ref().unwrap());
        assert_eq!((loaded.train.len(), loaded.validation.len(), !test.is_empty()), (80, 20, true));
        assert_eq!((loaded.shape.len(), loaded.groups.len(), loaded.architecture), (5, 10, Architecture::Auto));
        assert!(known.vocabulary.is_some() && known.pairs.is_some() && loaded.goal() == Goal::Regression);
        assert_eq!(known.symmetry.as_ref().unwrap().len(), 10);
        // Networks see what the task has drawn.
        let (prepared, direct) = (loaded.prepare().unwrap(), known.data.problem(0).unwrap());
        assert_eq!((prepared.problem.train, prepared.problem.test), (direct.train, direct.test));
        assert_eq!((prepared.data, prepared.targets.is_none()), (known.data, true));
        assert_eq!(prepared.problem.measure, direct.measure);
        assert!((prepared.problem.chance - direct.chance).abs() < 1e-12);
        assert_eq!(direct.validation.len(), 20);
    }

    #[test]
    fn other_candidates_make_another_problem() {
        let text = "[data]\ntask = \"sensors\"\nexamples = 100\n[symmetries]\ncandidates = [\"flip(0)\", \"negate\"]\n";
        let loaded = load(text).unwrap();
        let known = loaded.known.as_ref().unwrap();
        assert!(loaded.groups.len() == 2 && known.symmetry.is_none() && known.pairs.is_none());
        assert!(matches!(loaded.prepare().unwrap().data, Data::Files(_)));
    }

    #[test]
    fn sizes_that_a_task_does_not_have_are_refused() {
        for (text, expected) in [
            ("[data]\ntask = \"summ\"\n", "summ"),
            ("[data]\ntask = \"sum\"\ninvariant = \"rot,vflip\"\n", "[data] invariant should be left out with sequences"),
            ("[data]\ntask = \"sensors\"\nlength = 4\n", "[data] length should be left out with arrays"),
            ("[data]\ntask = \"mnist34\"\nlength = 4\n", "[data] length should be left out with images"),
        ] {
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

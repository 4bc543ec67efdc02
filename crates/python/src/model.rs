//! Model files: running, proving and exporting what they hold.

use std::path::PathBuf;

use invar_algebra::{Group, candidates};
use invar_data::Limits;
use invar_program::certify::{Range, certificate_cost, certify_on, numeric};
use invar_program::{Program, Saved, Task, Told};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{copied, rows};
use crate::errors::{OrRaise, wrong};
use crate::measure::{Found, SEED, check_finite, told};

/// A candidate as it was written, and the verdict on each group it stands for: name, whether it is kept, why, and at what cost.
type CandidateFacts = (String, Vec<(String, bool, String, Option<f64>)>);

/// A trained model.
#[pyclass(frozen, module = "invar._invar")]
pub(crate) struct Model {
    saved: Saved,
    /// With the normalisation in front.
    program: Program,
}

#[pymethods]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 hands over what it made")]
impl Model {
    /// Reads a model file and checks all of it.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let saved = Saved::load(&path).or_raise()?;
            let program = saved.whole().or_raise()?;
            Ok(Self { saved, program })
        })
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.saved.save(&path)).or_raise()
    }

    /// Writes an ONNX file.
    fn export_onnx(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.saved.write_onnx(&path)).or_raise()
    }

    /// Writes the weights alone.
    fn export_safetensors(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.saved.write_safetensors(&path)).or_raise()
    }

    /// The names of the classes; nothing for regression.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        match &self.saved.task {
            Task::Classification { classes } => Some(classes.clone()),
            Task::Regression => None,
        }
    }

    /// The shape of one example.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.program.input.sides()
    }

    /// What an example is: tokens, arrays or images.
    #[getter]
    fn kind(&self) -> &'static str {
        self.program.input.kind()
    }

    /// The columns of a table that the inputs were, in their order.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.saved.reading.columns.clone()
    }

    /// Whether an example lies with its channels last in the files it was trained on.
    #[getter]
    fn channels_last(&self) -> bool {
        self.saved.reading.layout == invar_data::Layout::ChannelsLast
    }

    /// Whether columns of a table become entries in other ways than number by number: texts, gaps.
    #[getter]
    fn is_coded(&self) -> bool {
        self.saved.reading.coding.is_some()
    }

    /// The examples of a file, as the model takes them, by rows.
    fn read<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let table = py.detach(|| self.saved.read(&Told::default(), &path, Limits::of_this_machine())).or_raise()?;
        rows(py, table.inputs, self.program.inputs())
    }

    /// The candidates with their verdicts.
    #[getter]
    fn candidates(&self) -> Vec<CandidateFacts> {
        let member = |member: &invar_program::Member| (member.name.clone(), member.kept, member.verdict.clone(), member.cost);
        self.saved
            .candidates
            .iter()
            .map(|candidate| (candidate.written.clone(), candidate.members.iter().map(member).collect()))
            .collect()
    }

    /// The version of invar that trained it.
    #[getter]
    fn version(&self) -> &str {
        &self.saved.version
    }

    /// Number of weights.
    #[getter]
    fn parameters(&self) -> usize {
        self.program.parameters()
    }

    /// How it was trained, as JSON.
    #[getter]
    fn training(&self) -> String {
        self.saved.training.to_string()
    }

    /// The outputs for examples by rows.
    fn run<'py>(&self, py: Python<'py>, inputs: PyReadonlyArray2<'py, f32>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let values = copied(&inputs, self.program.inputs(), "examples")?;
        let count = values.len() / self.program.inputs();
        let outputs = py.detach(|| {
            let outputs = self.program.run(&values).or_raise()?;
            check_finite(&outputs, count)?;
            Ok::<_, PyErr>(outputs)
        })?;
        rows(py, outputs, self.program.outputs().or_raise()?)
    }

    /// The operations as JSON, and the values of their tensors by name.
    fn program<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let tensors = PyDict::new(py);
        for (name, tensor) in self.program.tensors() {
            tensors.set_item(name, PyArray1::from_slice(py, &tensor.values))?;
        }
        let text = serde_json::to_string(&self.program).map_err(|error| wrong(error.to_string()))?;
        Ok((text, tensors))
    }

    /// Proofs and measurements of groups, by default of those it keeps; as JSON, a list with an object for each group.
    fn certify(
        &self,
        py: Python<'_>,
        groups: Vec<String>,
        examples: Option<PyReadonlyArray2<'_, f32>>,
        count: usize,
        limit: f64,
    ) -> PyResult<String> {
        let given = examples.map(|given| copied(&given, self.program.inputs(), "examples")).transpose()?;
        py.detach(|| {
            let groups = self.asked(&groups)?;
            let range = Range::of(&self.program, given.as_deref().unwrap_or_default());
            let examples = match given {
                Some(given) => given,
                None => numeric::random(&self.program.input, self.admitted(count)?, SEED),
            };
            self.check_cost(&groups, examples.len() / self.program.inputs(), limit)?;
            check_finite(&self.program.run(&examples).or_raise()?, examples.len() / self.program.inputs())?;
            let generators = groups.iter().map(|(group, _)| group.generators().len()).sum();
            let rounds = numeric::rounds(&self.program, generators).or_raise()?;
            let one = |(group, kept): &(Group, bool)| {
                let proof = certify_on(&self.program, group, range).or_raise()?;
                let measured = numeric::measure(&self.program, group, Some(&proof), &examples, rounds).or_raise()?;
                Ok(Found::new(group, *kept, Some(proof), measured))
            };
            told(&groups.iter().map(one).collect::<PyResult<Vec<_>>>()?)
        })
    }
}

impl Model {
    /// What the file holds.
    pub(crate) fn saved(&self) -> &Saved {
        &self.saved
    }

    /// The groups asked about: names of candidates, or symmetries in shorthand; by default what is kept. Each with whether the model
    /// claims to keep it.
    fn asked(&self, asked: &[String]) -> PyResult<Vec<(Group, bool)>> {
        let known = self.saved.groups().or_raise()?;
        if asked.is_empty() {
            return Ok(known.into_iter().filter(|(_, member)| member.kept).map(|(group, _)| (group, true)).collect());
        }
        let shape = self.program.input.shape().or_raise()?;
        let mut groups = Vec::new();
        for text in asked {
            if let Some((group, member)) = known.iter().find(|(group, _)| group.name() == text) {
                groups.push((group.clone(), member.kept));
                continue;
            }
            for group in candidates(&shape, [text.as_str()]).or_raise()? {
                let kept = known.iter().any(|(other, member)| member.kept && other.is_same_as(&group));
                groups.push((group, kept));
            }
        }
        Ok(groups)
    }

    /// Random examples that fit into memory.
    fn admitted(&self, count: usize) -> PyResult<usize> {
        let most = numeric::most_examples(&self.program.input, Limits::of_this_machine());
        if (1..=most).contains(&count) {
            return Ok(count);
        }
        Err(wrong(format!(
            "examples: expected a number from 1 to {most}, the most that fit into the memory that is free, got {count}"
        )))
    }

    /// Refuses what would take too long, before it is begun.
    fn check_cost(&self, groups: &[(Group, bool)], examples: usize, limit: f64) -> PyResult<()> {
        let groups: Vec<Group> = groups.iter().map(|(group, _)| group.clone()).collect();
        let billions = certificate_cost(&self.program, &groups, examples).or_raise()? / 1e9;
        if billions <= limit {
            return Ok(());
        }
        Err(wrong(format!(
            "limit: this certificate takes {:.0} billions of multiplications by estimate, and {limit} are allowed; allow more, or ask \
             about fewer groups or with fewer examples",
            billions.ceil()
        )))
    }
}

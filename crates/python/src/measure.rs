//! What was found about a symmetry of a model, and the same for ONNX models of anybody.

use std::path::PathBuf;

use invar_algebra::{Group, Shape, candidates};
use invar_data::Limits;
use invar_program::certify::Certificate;
use invar_program::certify::numeric::{self, Deviations};
use invar_program::{Input, Interpreter};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::convert::copied;
use crate::errors::{OrRaise, wrong};

/// Seed of random examples: the same question has the same answer.
pub(crate) const SEED: u64 = 0;

/// What was found about one group, as `invar certify --json` tells it.
#[derive(Serialize)]
pub(crate) struct Found {
    name: String,
    /// Whether the model claims to keep it.
    kept: bool,
    result: &'static str,
    certified: bool,
    /// In words.
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Certificate>,
    measured: Deviations,
    /// The largest change of an output, as a part of the largest output.
    change: f64,
}

impl Found {
    pub(crate) fn new(group: &Group, kept: bool, proof: Option<Certificate>, measured: Deviations) -> Self {
        let (result, certified) = match (&proof, measured.holds()) {
            (None, true) => ("holds", true),
            (None, false) => ("changes", false),
            (Some(proof), _) if !proof.is_proved() => ("not_proved", false),
            (Some(_), false) => ("contradicted", false),
            (Some(proof), true) => (if proof.is_exact() { "proved" } else { "proved_within" }, true),
        };
        let verdict = proof.as_ref().map_or_else(|| measured.to_string(), ToString::to_string);
        let change = measured.relative();
        Self { name: group.name().to_owned(), kept, result, certified, verdict, proof, measured, change }
    }
}

/// The answer as JSON.
pub(crate) fn told(found: &[Found]) -> PyResult<String> {
    serde_json::to_string(found).map_err(|error| wrong(error.to_string()))
}

/// Refuses answers that are no numbers.
pub(crate) fn check_finite(outputs: &[f32], examples: usize) -> PyResult<()> {
    match outputs.iter().position(|output| !output.is_finite()) {
        Some(bad) => {
            let example = bad * examples / outputs.len();
            let text = format!("example {example}: the output of the network is not finite, but {}", outputs[bad]);
            Err(PyValueError::new_err(text))
        }
        None => Ok(()),
    }
}

/// Measures symmetries of an ONNX model of one input, on these examples or on random ones; as JSON, a list with an object for each
/// group.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 hands over what it made")]
pub(crate) fn measure(
    py: Python<'_>,
    path: PathBuf,
    shape: Vec<usize>,
    groups: Vec<String>,
    examples: Option<PyReadonlyArray2<'_, f32>>,
    count: usize,
) -> PyResult<String> {
    let shape = Shape::new(&shape).or_raise()?;
    let given = examples.map(|given| copied(&given, shape.len(), "examples")).transpose()?;
    py.detach(|| {
        let groups = candidates(&shape, groups.iter().map(String::as_str)).or_raise()?;
        let model = Interpreter::load(&path, Limits::of_this_machine()).or_raise()?;
        model.check_shape(shape.sides()).or_raise()?;
        if model.takes_integers() && given.is_none() {
            return Err(wrong("the model takes whole numbers, and random examples are none: give examples"));
        }
        let input = match *shape.sides() {
            [channels, height, width] => Input::Images { channels, height, width },
            _ => Input::Array { shape: shape.sides().to_vec() },
        };
        let examples = given.unwrap_or_else(|| numeric::random(&input, count, SEED));
        let run = |x: &[f32]| model.run(shape.sides(), x);
        check_finite(&run(&examples).or_raise()?, examples.len() / shape.len())?;
        // Whole numbers of a meaning that is not known here cannot be searched among.
        let search = !model.takes_integers();
        let one = |group: &Group| {
            let measured = numeric::deviations_of(run, &input, group, &examples, search).or_raise()?;
            Ok(Found::new(group, false, None, measured))
        };
        told(&groups.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    })
}

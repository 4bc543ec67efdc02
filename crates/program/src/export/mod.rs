//! Programs for other runtimes.

mod onnx;
mod orbit;

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::{Saved, Task};

pub use onnx::graph;

/// The names of the inputs and outputs of an ONNX model.
pub const INPUT: &str = "x";
/// One score per class, or the value.
pub const OUTPUT: &str = "outputs";
/// The softmax of the scores; only when there are classes.
pub const PROBABILITIES: &str = "probabilities";

impl Saved {
    /// Writes an ONNX file of ordinary nodes (operators of version 17) that takes examples as they come from files: the
    /// normalisation is part of it.
    ///
    /// Inputs: `x`, a batch of examples (64-bit whole numbers for tokens, else floats). Outputs: `outputs`, and `probabilities`
    /// when there are classes. The names of the classes are in the metadata.
    pub fn write_onnx(&self, path: &Path) -> Result<()> {
        let mut graph = graph(&self.whole()?, matches!(self.task, Task::Classification { .. }))?;
        graph.describe("invar", &self.version);
        if let Task::Classification { classes } = &self.task {
            graph.describe("classes", &json(classes)?);
        }
        let kept: Vec<&str> = self
            .candidates
            .iter()
            .flat_map(|c| &c.members)
            .filter(|member| member.kept)
            .map(|member| member.name.as_str())
            .collect();
        graph.describe("kept", &json(&kept)?);
        Ok(graph.write(path)?)
    }

    /// Writes the weights as a safetensors file, under the number of their operation and their name there, normalisation
    /// included, with the list of operations in the metadata (`program`).
    pub fn write_safetensors(&self, path: &Path) -> Result<()> {
        let program = self.whole()?;
        let tensor = |t: &crate::Tensor| invar_data::Tensor { shape: t.shape.clone(), values: t.values.clone() };
        let tensors: BTreeMap<String, _> = program.tensors().map(|(name, t)| (name, tensor(t))).collect();
        Ok(invar_data::write_safetensors(path, &tensors, ("program", &json(&program)?))?)
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::model("the model", error.to_string()))
}

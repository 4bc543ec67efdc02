//! Programs for other runtimes.

mod onnx;
mod orbit;

use std::collections::BTreeMap;
use std::path::Path;

use invar_data::Format;

use crate::error::{Error, Result};
use crate::{Input, Saved, Task};

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
    /// Inputs: `x`, a batch of examples in the shape of the files of the training (64-bit whole numbers for tokens, else floats); what
    /// their values are, the metadata say (`input`, see [`Saved::input_in_words`]). Outputs: `outputs`, and `probabilities` when there
    /// are classes. The names of the classes are in the metadata.
    pub fn write_onnx(&self, path: &Path) -> Result<()> {
        let mut graph = graph(&self.whole()?, matches!(self.task, Task::Classification { .. }), Some(&self.reading))?;
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
        graph.describe("input", &self.input_in_words());
        if let Some(coding) = &self.reading.coding {
            graph.describe("entries", &json(&coding.entries())?);
        }
        Ok(graph.write(path)?)
    }

    /// What an exported model takes, as a sentence for people.
    pub fn input_in_words(&self) -> String {
        let sides = self.reading.stored.clone().unwrap_or_else(|| self.program.input.sides());
        let sides: Vec<String> = std::iter::once("n".into()).chain(sides.iter().map(usize::to_string)).collect();
        let shape = sides.join(" x ");
        match (&self.program.input, self.reading.format) {
            (Input::Tokens { vocabulary, .. }, _) => format!("{shape} whole numbers from 0 to {}", vocabulary - 1),
            (_, Some(Format::Images)) => {
                let fitted = if self.reading.pad || self.reading.resize.is_some() { ", of that size" } else { "" };
                format!("{shape} numbers from 0 to 1: bytes of pixels divided by 255, channel by channel{fitted}")
            }
            _ if self.reading.coding.is_some() => {
                format!("{shape} numbers: the entries of the columns, as the metadata `entries` name them, gaps filled")
            }
            _ if self.reading.pad || self.reading.resize.is_some() => format!("{shape} numbers as in the files, of that size"),
            _ => format!("{shape} numbers as they are in the files"),
        }
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

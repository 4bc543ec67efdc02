//! The model file: a bundle of tensors with one JSON document.

use std::collections::BTreeMap;
use std::path::Path;

use invar_algebra::{Lattice, Subspace};
use invar_data::{Bundle, Limits, sha256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Candidate, Normalisation, Reading, Saved, Task};
use crate::error::{Error, Result, dims};
use crate::op::Op;
use crate::program::Program;
use crate::tensor::Tensor;

/// The newest version of the document that this code reads.
const VERSION: u32 = 3;
/// The entry of the bundle that holds the document.
const KEY: &str = "model";
/// The tensors of the normalisation.
const MEAN: &str = "normalisation.mean";
const SCALE: &str = "normalisation.scale";

/// Enough of the document to know whether the rest can be understood.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    invar: String,
    program: Program,
    task: Task,
    normalised: bool,
    candidates: Vec<Candidate>,
    lattice: Option<String>,
    reading: Reading,
    training: Value,
}

impl Saved {
    /// Writes the model, whole or not at all. A model that does not pass its [`check`](Self::check) is not written.
    pub fn save(&self, path: &Path) -> Result<()> {
        Ok(self.bundle()?.save(path)?)
    }

    /// Reads a model and checks all of it, within half the memory that is free.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_within(path, Limits::of_this_machine())
    }

    /// Reads a model and checks all of it, within the limits.
    pub fn load_within(path: &Path, limits: Limits) -> Result<Self> {
        Self::unbundle(&path.display().to_string(), Bundle::load(path, limits)?)
    }

    /// The model as tensors and texts.
    pub(crate) fn bundle(&self) -> Result<Bundle> {
        self.check()?;
        let document = Document {
            version: self.oldest_reader(),
            invar: self.version.clone(),
            program: self.program.clone(),
            task: self.task.clone(),
            normalised: self.normalisation.is_some(),
            candidates: self.candidates.clone(),
            lattice: self.lattice.clone(),
            reading: self.reading.clone(),
            training: self.training.clone(),
        };
        let text = serde_json::to_string(&document).map_err(|error| Error::model("the model", error.to_string()))?;
        let vector = |values: &Vec<f32>| invar_data::Tensor { shape: vec![values.len()], values: values.clone() };
        let mut tensors: BTreeMap<_, _> = self
            .program
            .tensors()
            .map(|(name, tensor)| (name, invar_data::Tensor { shape: tensor.shape.clone(), values: tensor.values.clone() }))
            .collect();
        if let Some(Normalisation { mean, scale }) = &self.normalisation {
            tensors.extend([(MEAN.to_owned(), vector(mean)), (SCALE.to_owned(), vector(scale))]);
        }
        Ok(Bundle { metadata: [(KEY.to_owned(), text)].into(), tensors })
    }

    pub(crate) fn unbundle(origin: &str, mut bundle: Bundle) -> Result<Self> {
        let refuse = |problem: String| Error::model(origin, problem);
        let Some(text) = bundle.metadata.get(KEY) else {
            return Err(refuse("a bundle of invar, but not a model: it has no description of one".into()));
        };
        let unreadable = |error: serde_json::Error| refuse(format!("the description of the model cannot be read: {error}"));
        let Version { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version == 0 || version > VERSION {
            let problem = format!("written by another version of invar: model {version}, but this one reads up to {VERSION}");
            return Err(refuse(problem));
        }
        let document: Document = serde_json::from_str(text).map_err(unreadable)?;
        let mut take = |name: &str| {
            let found = bundle.tensors.remove(name).ok_or_else(|| refuse(format!("the tensor `{name}` is missing")))?;
            Ok::<Tensor, Error>(Tensor { shape: found.shape, values: found.values })
        };
        let mut program = document.program;
        for (index, op) in program.ops.iter_mut().enumerate() {
            let names: Vec<String> = op.tensors().into_iter().map(|(name, _)| format!("{index}.{name}")).collect();
            for (name, tensor) in names.iter().zip(op.tensors_mut()) {
                let found = take(name)?;
                if found.shape != tensor.shape {
                    let (expected, got) = (dims(&tensor.shape), dims(&found.shape));
                    return Err(refuse(format!("the tensor `{name}`: expected shape {expected}, got {got}")));
                }
                *tensor = found;
            }
        }
        let normalisation =
            if document.normalised { Some(Normalisation { mean: take(MEAN)?.values, scale: take(SCALE)?.values }) } else { None };
        let saved = Self {
            program,
            task: document.task,
            normalisation,
            candidates: document.candidates,
            lattice: document.lattice,
            reading: document.reading,
            version: document.invar,
            training: document.training,
        };
        // What is wrong inside a file is a failure of the file.
        saved.check().map_err(|error| refuse(error.to_string()))?;
        Ok(saved)
    }

    /// The oldest version that knows all that this model needs: 2 brought the median, 3 columns of texts or with gaps, and what
    /// files are like.
    fn oldest_reader(&self) -> u32 {
        match () {
            () if self.reading.coding.is_some()
                || self.reading.pad
                || self.reading.resize.is_some()
                || self.reading.stored.is_some() =>
            {
                3
            }
            () if self.program.ops.iter().any(|op| matches!(op, Op::Median { .. })) => 2,
            () => 1,
        }
    }

    /// A fingerprint of the subspaces of a lattice, for [`Saved::lattice`].
    pub fn lattice_hash(lattice: &Lattice) -> String {
        let subspace = |subspace: &Subspace| {
            let exact = subspace.exact().iter().map(|vector| format!("{:?} {:?}", vector.entries, texts(&vector.values)));
            // Without integer vectors: those known to working precision.
            let basis = subspace.basis().iter().map(|vector| format!("{:?} {:?}", vector.entries, texts(&vector.values)));
            let vectors: Vec<String> = if subspace.exact().is_empty() { basis.collect() } else { exact.collect() };
            format!("{:?}: {}", subspace.set().iter().collect::<Vec<_>>(), vectors.join("; "))
        };
        let lines: Vec<String> = lattice.subspaces().iter().map(subspace).collect();
        sha256(format!("{}\n{}", lattice.shape(), lines.join("\n")).as_bytes())
    }
}

fn texts(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

//! How files are read for a model.

use std::path::Path;

use invar_data::{Format, Layout, Limits, Source, Table, Task};
use serde::{Deserialize, Serialize};

use crate::Saved;
use crate::error::{Error, Result, dims};

/// What the user said about the training data, where it also decides how other files are read. See [`Source`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// NPZ: the array of inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// The column or array of labels, which is not an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The shape of one example as it lies in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<usize>>,
    /// Where the channels are.
    #[serde(default)]
    pub layout: Layout,
}

impl Reading {
    /// The source of a file to predict on: options that its format does not have are left out.
    pub fn source(&self, path: &Path) -> invar_data::Result<Source> {
        let source = Source::new(path, Task::Prediction);
        let format = source.format()?;
        Ok(Source {
            inputs: self.inputs.clone().filter(|_| format == Format::Npz),
            label: self.label.clone().filter(|_| matches!(format, Format::Npz | Format::Csv)),
            shape: self.shape.clone().filter(|_| format != Format::Images),
            layout: if format == Format::Images { Layout::ChannelsFirst } else { self.layout },
            ..source
        })
    }

    /// Reads examples of this shape, and refuses others. Axes of size 1 may be missing, and an example may be one long row.
    pub fn read(&self, sides: &[usize], path: &Path, limits: Limits) -> Result<Table> {
        let table = self.source(path)?.load(limits)?;
        let long = |shape: &[usize]| shape.iter().copied().filter(|&side| side != 1).collect::<Vec<_>>();
        let flat = table.shape.len() == 1 && table.width() == sides.iter().product::<usize>();
        if long(&table.shape) == long(sides) || flat {
            return Ok(Table { shape: sides.to_vec(), ..table });
        }
        let problem =
            format!("the shape of an example: expected {}, which the model takes, got {}", dims(sides), dims(&table.shape));
        Err(Error::model(&table.source, problem))
    }
}

impl Saved {
    /// Reads examples for this model: see [`Reading::read`].
    pub fn read(&self, path: &Path, limits: Limits) -> Result<Table> {
        self.read_as(&self.reading, path, limits)
    }

    /// The same, told how.
    pub fn read_as(&self, reading: &Reading, path: &Path, limits: Limits) -> Result<Table> {
        reading.read(&self.program.input.sides(), path, limits)
    }
}

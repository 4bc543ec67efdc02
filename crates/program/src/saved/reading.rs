//! How files are read for a model.

use std::path::Path;

use invar_data::{Coding, Format, Layout, Limits, Missing, Source, Table, Task};
use serde::{Deserialize, Serialize};

use crate::Saved;
use crate::error::{Error, Result, dims};

/// What the user said about the training data, and what they are like, where it also decides how other files are read. See
/// [`Source`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The format of files whose names do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// NPZ: the array of inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// CSV: the columns of inputs, in the order the model takes them; by default columns are taken as they stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// CSV: how columns become entries, where some are texts or have gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coding: Option<Coding>,
    /// The column or array of labels, which is not an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// CSV: whether the first line holds the names of the columns, where that was in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// The shape of one example as it lies in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<usize>>,
    /// Where the channels are.
    #[serde(default)]
    pub layout: Layout,
}

/// What is said about the files at hand. Unlike a [`Reading`], which is left out where it has no meaning, it must fit them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// The format.
    pub format: Option<Format>,
    /// NPZ: the array of inputs.
    pub inputs: Option<String>,
    /// The column or array of labels, which must be there and is not an input.
    pub label: Option<String>,
    /// Whether the first line of a CSV file holds the names of the columns.
    pub header: Option<bool>,
    /// The channels come last.
    pub channels_last: bool,
}

impl Reading {
    /// The source of a file to predict on.
    pub fn source(&self, told: &Told, path: &Path) -> invar_data::Result<Source> {
        let source = Source::new(path, Task::Prediction);
        let format = told.format.map_or_else(|| self.format(&source), Ok)?;
        let (csv, images) = (format == Format::Csv, format == Format::Images);
        let layout = match self.layout {
            _ if told.channels_last => Layout::ChannelsLast,
            _ if images => Layout::ChannelsFirst,
            layout => layout,
        };
        Ok(Source {
            format: Some(format),
            inputs: told.inputs.clone().or_else(|| self.inputs.clone().filter(|_| format == Format::Npz)),
            columns: self.columns.clone().filter(|_| csv),
            categories: self.categories().filter(|_| csv),
            missing: if self.coding.is_some() { Missing::Fill } else { Missing::Refuse },
            label: told.label.clone(),
            has_header: told.header.or(self.header.filter(|_| csv)),
            leave_out: self.label.clone().filter(|_| csv),
            shape: self.shape.clone().filter(|_| !images),
            layout,
            ..source
        })
    }

    /// The categories of each column by name: none where all are numbers.
    fn categories(&self) -> Option<Vec<Vec<String>>> {
        let numbers = || self.columns.as_ref().map(|columns| vec![Vec::new(); columns.len()]);
        self.coding.as_ref().map(Coding::categories).or_else(numbers)
    }

    /// As the name of a file tells, else as in training.
    fn format(&self, source: &Source) -> invar_data::Result<Format> {
        source.format().or_else(|error| match (error, self.format) {
            // A file is no folder of images.
            (invar_data::Error::Request { .. }, Some(format)) if format != Format::Images => Ok(format),
            (error, _) => Err(error),
        })
    }

    /// Reads examples of this shape, and refuses others. Axes of size 1 may be missing, and an example may be one long row.
    pub fn read(&self, told: &Told, sides: &[usize], path: &Path, limits: Limits) -> Result<Table> {
        let table = self.source(told, path)?.load(limits)?;
        let table = match &self.coding {
            Some(coding) if !table.columns.is_empty() => coding.apply(table, limits)?,
            _ => table,
        };
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
    pub fn read(&self, told: &Told, path: &Path, limits: Limits) -> Result<Table> {
        self.reading.read(told, &self.program.input.sides(), path, limits)
    }
}

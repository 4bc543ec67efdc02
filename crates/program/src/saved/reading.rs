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
    /// The shape of one example as it lay in the files of the training, where it differs from what the model takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Vec<usize>>,
    /// Where the channels are.
    #[serde(default)]
    pub layout: Layout,
    /// Pictures: a border of zeros makes each a square.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pad: bool,
    /// Pictures: then each gets this height and width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resize: Option<[usize; 2]>,
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
            pad: self.pad,
            resize: self.resize,
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

    /// The source of a file of examples whose labels are wanted too; `labels` is their file where there are two.
    pub fn labelled(&self, told: &Told, labels: Option<&Path>, task: &crate::Task, path: &Path) -> invar_data::Result<Source> {
        let source = self.source(told, path)?;
        let named = matches!(source.format, Some(Format::Npz | Format::Csv));
        let (task, classes) = match task {
            crate::Task::Regression => (Task::Regression, None),
            crate::Task::Classification { classes } => (Task::Classification, Some(classes.clone())),
        };
        let label = source.label.clone().or_else(|| self.label.clone().filter(|_| named));
        Ok(Source { task, classes, label, leave_out: None, labels: labels.map(Path::to_path_buf), ..source })
    }

    /// Reads examples of this shape, and refuses others. Axes of size 1 may be missing, and an example may be one long row.
    pub fn read(&self, source: &Source, sides: &[usize], limits: Limits) -> Result<Table> {
        let table = source.load(limits)?;
        let table = match &self.coding {
            Some(coding) if !table.columns.is_empty() => coding.apply(table, limits)?,
            None if !table.categories.is_empty() => {
                let texts = table.columns.iter().zip(&table.categories).find(|(_, categories)| !categories.is_empty());
                let column = texts.map_or("", |(name, _)| name);
                return Err(Error::model(
                    &table.source,
                    format!("the column `{column}` holds texts, but the model takes numbers"),
                ));
            }
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
        self.reading.read(&self.reading.source(told, path)?, &self.program.input.sides(), limits)
    }

    /// Reads examples with their labels: see [`Reading::labelled`].
    pub fn read_labelled(&self, told: &Told, labels: Option<&Path>, path: &Path, limits: Limits) -> Result<Table> {
        let source = self.reading.labelled(told, labels, &self.task, path)?;
        self.reading.read(&source, &self.program.input.sides(), limits)
    }
}

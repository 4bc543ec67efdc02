//! From what a file holds to a table: shape, layout, finite numbers, labels that fit.

use crate::element::Column;
use crate::error::{Error, Result, dims};
use crate::fit;
use crate::labels;
use crate::limits::Budget;
use crate::source::{Format, Layout, Missing, Source};
use crate::table::{Labels, Table};

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    /// The shape of one example as it lies in the file.
    pub(crate) shape: Vec<usize>,
    pub(crate) inputs: Vec<f32>,
    pub(crate) column: Option<Column>,
    /// What the inputs are called, where they have names.
    pub(crate) names: Vec<String>,
    /// The categories of each, see [`Table::categories`].
    pub(crate) categories: Vec<Vec<String>>,
    pub(crate) ids: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The number of entries of a shape, unless that number does not exist.
pub(crate) fn volume(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))
}

/// Refuses an array without axes, or without entries: what follows may then multiply and divide by sizes.
pub(crate) fn check_rows(origin: &str, shape: &[usize]) -> Result<()> {
    let got = match shape {
        [] => "a single value".to_owned(),
        _ if shape.contains(&0) => dims(shape),
        _ => return Ok(()),
    };
    Err(Error::mismatch(origin, "the shape of the array", "one row per example, each with at least one entry", got))
}

/// Refuses inputs and labels of different numbers.
pub(crate) fn check_counts(origin: &str, inputs: usize, labels: usize) -> Result<()> {
    if inputs == labels {
        return Ok(());
    }
    Err(Error::mismatch(origin, "the number of labels", format!("{inputs}, as many as inputs"), labels.to_string()))
}

pub(crate) fn assemble(source: &Source, raw: Raw, budget: &mut Budget) -> Result<Table> {
    let origin = source.origin();
    let Raw { shape, mut inputs, column, names: columns, categories, ids, mut notes } = raw;
    let width = volume(&shape).filter(|&width| width > 0);
    let width = width.ok_or_else(|| Error::mismatch(&origin, "the shape of an example", "at least one entry", dims(&shape)))?;
    if inputs.is_empty() {
        return Err(Error::mismatch(&origin, "the number of examples", "at least one", "none"));
    }
    let found = shape.clone();
    let stored = stored_shape(source, &origin, shape, width)?;
    let filled = source.missing == Missing::Fill && source.format()? == Format::Csv;
    if source.missing != Missing::Keep && !filled {
        check_finite(&origin, &inputs, &stored)?;
    }
    let shape = match source.layout {
        Layout::ChannelsFirst => stored,
        Layout::ChannelsLast => channels_first(&origin, &mut inputs, &stored)?,
    };
    // Pictures in folders were fitted one by one.
    let fit = source.fit();
    let (shape, inputs) = if fit.is_none() || source.format()? == Format::Images {
        (shape, inputs)
    } else {
        let [height, width] = fit.size(shape[..].last_chunk::<2>().copied().unwrap_or([1, 1]));
        budget.take(
            &origin,
            "the fitted pictures",
            (inputs.len() / shape.iter().rev().take(2).product::<usize>()).saturating_mul(height * width),
            size_of::<f32>(),
        )?;
        fit::arrays(&origin, fit, &shape, &inputs)?
    };
    let width = volume(&shape).unwrap_or(1);
    let examples = inputs.len() / width;
    let labels = match column {
        Some(column) => {
            check_counts(&origin, examples, column.len())?;
            budget.take(&origin, "the labels", column.len(), size_of::<usize>())?;
            let place = |example| source.label_place(example);
            labels::interpret(&origin, column, source.task, source.classes.as_deref(), &place)?
        }
        None => Labels::None,
    };
    if let Labels::Classes { names, .. } = &labels
        && names.len() > 20
        && names.len() * 2 > examples
    {
        notes.push(format!("{} classes for {examples} examples: if these are numbers, ask for regression", names.len()));
    }
    if let [first, .., last @ (1 | 3 | 4)] = shape[..]
        && first > 4
    {
        notes.push(format!("{}: {last} channels seem to come last; if so, say that the layout is channels last", dims(&shape)));
    }
    Ok(Table { shape, inputs, labels, columns, categories, stored: found, ids, notes, source: source.path.display().to_string() })
}

/// The shape asked for, if it has as many entries as the examples.
fn stored_shape(source: &Source, origin: &str, found: Vec<usize>, width: usize) -> Result<Vec<usize>> {
    let Some(wanted) = &source.shape else { return Ok(found) };
    if volume(wanted) == Some(width) {
        return Ok(wanted.clone());
    }
    let expected = format!("{} entries in all, as the file has ({})", width, dims(&found));
    Err(Error::mismatch(origin, "the shape of an example", expected, dims(wanted)))
}

fn check_finite(origin: &str, inputs: &[f32], shape: &[usize]) -> Result<()> {
    let Some(bad) = inputs.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let width = volume(shape).unwrap_or(1);
    let mut index = Vec::new();
    let mut rest = bad % width;
    for &size in shape.iter().rev() {
        index.push((rest % size).to_string());
        rest /= size;
    }
    index.reverse();
    let place = format!("example {}, entry ({})", bad / width, index.join(", "));
    Err(Error::NotFinite { origin: origin.to_owned(), place, got: inputs[bad] })
}

/// Moves the last axis of every example to the front.
fn channels_first(origin: &str, inputs: &mut [f32], shape: &[usize]) -> Result<Vec<usize>> {
    let (channels, places) = match shape {
        [places @ .., channels] if !places.is_empty() => (channels, places),
        _ => return Err(Error::mismatch(origin, "channels last", "a shape of two axes or more", dims(shape))),
    };
    let width = volume(shape).unwrap_or(1);
    let mut moved = vec![0.0; width];
    for example in inputs.chunks_exact_mut(width) {
        for (place, values) in example.chunks_exact(*channels).enumerate() {
            for (channel, &value) in values.iter().enumerate() {
                moved[channel * (width / channels) + place] = value;
            }
        }
        example.copy_from_slice(&moved);
    }
    Ok([&[*channels], places].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source::Task;

    fn make(source: &Source, shape: &[usize], inputs: Vec<f32>) -> Result<Table> {
        let raw = Raw { shape: shape.to_vec(), inputs, ..Raw::default() };
        assemble(source, raw, &mut Budget::new(Limits::new(1 << 20)))
    }

    #[test]
    fn channels_move_to_the_front() {
        let source = Source { layout: Layout::ChannelsLast, ..Source::new("a", Task::Prediction) };
        let table = make(&source, &[1, 2, 3], (0..12).map(|i| i as f32).collect()).unwrap();
        assert_eq!(table.shape, [3, 1, 2]);
        assert_eq!(table.inputs, [0., 3., 1., 4., 2., 5., 6., 9., 7., 10., 8., 11.]);
        assert!(make(&source, &[3], vec![0.0; 3]).unwrap_err().to_string().contains("two axes or more"));
    }

    #[test]
    fn a_shape_must_have_the_entries_of_the_file() {
        let source = Source { shape: Some(vec![2, 3]), ..Source::new("a", Task::Prediction) };
        assert_eq!(make(&source, &[6], vec![0.0; 12]).unwrap().shape, [2, 3]);
        let error = make(&source, &[5], vec![0.0; 10]).unwrap_err().to_string();
        assert_eq!(error, "a: the shape of an example: expected 5 entries in all, as the file has (5), got 2x3");
        let huge = Source { shape: Some(vec![usize::MAX, 2]), ..Source::new("a", Task::Prediction) };
        assert!(make(&huge, &[5], vec![0.0; 10]).is_err());
        assert!(make(&Source::new("a", Task::Prediction), &[0], vec![]).is_err());
        assert!(make(&Source::new("a", Task::Prediction), &[2], vec![]).is_err());
    }

    #[test]
    fn numbers_that_are_none_are_found() {
        let mut inputs = vec![0.0; 12];
        inputs[10] = f32::NAN;
        let refuse = Source::new("a", Task::Prediction);
        let error = make(&refuse, &[2, 3], inputs.clone()).unwrap_err().to_string();
        assert_eq!(error, "a: example 1, entry (1, 1): expected a finite number, got NaN");
        let keep = Source { missing: Missing::Keep, ..refuse };
        assert!(make(&keep, &[2, 3], inputs).unwrap().inputs[10].is_nan());
    }
}

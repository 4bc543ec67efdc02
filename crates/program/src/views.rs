//! How an orbit sees an example from every side.

use crate::error::{Error, Result, dims};
use crate::op::Misfit;
use crate::tensor::Tensor;

/// The views of an [orbit](crate::Op::Orbit), checked.
pub(crate) struct Views<'a> {
    pub(crate) elements: usize,
    /// Number of entries of an example, and of each view of it.
    pub(crate) entries: usize,
    pub(crate) seen: Seen<'a>,
}

/// What each element shows.
pub(crate) enum Seen<'a> {
    /// For each element and entry of its view an entry of the example, and whether its sign changes on the way.
    Entries(Vec<(usize, bool)>),
    /// For each element a matrix by rows.
    Matrices(&'a [f32]),
}

impl<'a> Views<'a> {
    /// Views of examples of a shape.
    pub(crate) fn on(shape: &[usize], views: &'a Tensor) -> Result<Self> {
        Self::check(shape, views).map_err(|(expected, got)| Error::misfit("views of an orbit", expected, got))
    }

    /// The same, or what does not fit.
    pub(crate) fn check(shape: &[usize], views: &'a Tensor) -> std::result::Result<Self, Misfit> {
        let entries = shape.iter().product();
        let (elements, seen) = match views.shape[..] {
            [elements, width] if elements > 0 && width == entries => {
                let seen = views.values.iter().map(|&value| entry(value, entries));
                (elements, Seen::Entries(seen.collect::<std::result::Result<_, _>>()?))
            }
            [elements, height, width] if elements > 0 && [height, width] == [entries; 2] => {
                (elements, Seen::Matrices(&views.values))
            }
            _ => return Err((format!("views of elements x {entries}, or x {entries} x {entries}"), dims(&views.shape))),
        };
        Ok(Self { elements, entries, seen })
    }

    /// Whether nothing but places changes.
    pub(crate) fn only_move(&self) -> bool {
        matches!(&self.seen, Seen::Entries(seen) if seen.iter().all(|(_, minus)| !minus))
    }

    /// An example from every side, one view after the other.
    pub(crate) fn see(&self, example: &[f32]) -> Vec<f32> {
        match &self.seen {
            Seen::Entries(seen) => {
                seen.iter().map(|&(entry, minus)| if minus { -example[entry] } else { example[entry] }).collect()
            }
            Seen::Matrices(values) => {
                let product = |row: &[f32]| row.iter().zip(example).map(|(a, x)| a * x).sum();
                values.chunks(self.entries).map(product).collect()
            }
        }
    }
}

/// A number as an entry: -1 - i is entry i with its sign changed.
fn entry(value: f32, entries: usize) -> std::result::Result<(usize, bool), Misfit> {
    let minus = value < 0.0;
    let place = if minus { -1.0 - value } else { value };
    if place >= 0.0 && place < entries as f32 && place.fract() == 0.0 {
        Ok((place as usize, minus))
    } else {
        Err((format!("views that are whole numbers below {entries}, or -1 - such a number"), value.to_string()))
    }
}

//! Tensors of numbers.

use super::Step;
use crate::error::dims;

/// More entries than any layer worth measuring has.
const MOST: usize = 1 << 27;
/// Most axes of a result.
const AXES: usize = 64;

/// A tensor, the last axis fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Floats(Vec<f32>),
    Integers(Vec<i64>),
}

impl Array {
    pub(super) fn floats(shape: &[usize], values: Vec<f32>) -> Step<Self> {
        check(shape, values.len())?;
        Ok(Self { shape: shape.to_vec(), data: Data::Floats(values) })
    }

    pub(super) fn integers(shape: &[usize], values: Vec<i64>) -> Step<Self> {
        check(shape, values.len())?;
        Ok(Self { shape: shape.to_vec(), data: Data::Integers(values) })
    }

    pub(super) fn as_floats(&self) -> Step<&[f32]> {
        if let Data::Floats(values) = &self.data { Ok(values) } else { Err("expected fractions, got whole numbers".into()) }
    }

    pub(super) fn as_integers(&self) -> Step<&[i64]> {
        if let Data::Integers(values) = &self.data { Ok(values) } else { Err("expected whole numbers, got fractions".into()) }
    }

    /// The same entries in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Step<Self> {
        check(&shape, self.len())?;
        Ok(Self { shape, data: self.data.clone() })
    }

    /// The entries at these places, in a new shape.
    pub(super) fn picked(&self, shape: &[usize], places: &[usize]) -> Step<Self> {
        match &self.data {
            Data::Floats(values) => Self::floats(shape, places.iter().map(|&i| values[i]).collect()),
            Data::Integers(values) => Self::integers(shape, places.iter().map(|&i| values[i]).collect()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.data {
            Data::Floats(values) => values.len(),
            Data::Integers(values) => values.len(),
        }
    }

    /// The product of the sides before an axis, that axis, and the product of those behind it.
    pub(super) fn around(&self, axis: usize) -> (usize, usize, usize) {
        (self.shape[..axis].iter().product(), self.shape[axis], self.shape[axis + 1..].iter().product())
    }
}

/// The number of entries of a shape that can be computed, before memory is set aside.
pub(super) fn room(shape: &[usize]) -> Step<usize> {
    // Empty sides must not hide others that are too large to be multiplied.
    let whole = shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side.max(1)));
    match whole.filter(|&entries| entries <= MOST && shape.len() <= AXES) {
        Some(_) => Ok(shape.iter().product()),
        None => Err(format!("a result of shape {} is too large", dims(&shape[..shape.len().min(AXES)]))),
    }
}

fn check(shape: &[usize], count: usize) -> Step<()> {
    let expected = room(shape)?;
    if expected == count { Ok(()) } else { Err(format!("expected {expected} entries for shape {}, got {count}", dims(shape))) }
}

//! Weights of an operation.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, dims};

/// A tensor by rows, the last axis fastest.
///
/// Only its shape is serialised: a description of a program stays readable, and [`Saved`](crate::Saved) keeps the values beside
/// it. A program with values missing does not pass [`Program::check`](crate::Program::check).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its entries.
    #[serde(skip)]
    pub values: Vec<f32>,
}

impl Tensor {
    /// A tensor with these entries, if they are as many as the shape says.
    pub fn new(shape: impl Into<Vec<usize>>, values: Vec<f32>) -> Result<Self> {
        let tensor = Self { shape: shape.into(), values };
        if tensor.is_whole() {
            return Ok(tensor);
        }
        Err(Error::misfit("entries of a tensor", format!("as many as {} has", dims(&tensor.shape)), tensor.values.len()))
    }

    /// A tensor of one axis.
    pub fn vector(values: Vec<f32>) -> Self {
        Self { shape: vec![values.len()], values }
    }

    /// Whether there are as many entries as the shape says.
    pub(crate) fn is_whole(&self) -> bool {
        volume(&self.shape) == Some(self.values.len())
    }

    /// Whether all entries are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }
}

/// The number of entries of a shape, unless that number does not exist.
pub(crate) fn volume(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))
}

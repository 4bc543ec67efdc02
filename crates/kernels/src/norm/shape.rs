//! The sizes of a batch norm and what follows it.

use std::fmt;

use crate::{Error, Result, error::check_length};

/// What is computed in the same pass as the batch norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// max(0, z).
    Relu,
    /// max(0, z), then the largest of each 2x2 square. A last odd row or column is dropped.
    ReluPool,
}

/// A batch norm over `[batch, height, width, features * fibre]`, channels last.
///
/// Each feature has `fibre` channels side by side that share its statistics and parameters: 1 for an ordinary network, the number
/// of orientations for a group convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NormShape {
    /// The number of images.
    pub batch: usize,
    /// The number of rows of an image.
    pub height: usize,
    /// The number of columns of an image.
    pub width: usize,
    /// The number of features, each with a mean, a variance, a scale and an offset.
    pub features: usize,
    /// The number of channels of a feature.
    pub fibre: usize,
    /// What follows.
    pub activation: Activation,
}

impl NormShape {
    /// The number of channels.
    pub fn channels(&self) -> usize {
        self.features * self.fibre
    }

    /// The number of input entries.
    pub fn input_len(&self) -> usize {
        self.batch * self.height * self.width * self.channels()
    }

    /// Rows and columns of the output.
    pub fn output_size(&self) -> (usize, usize) {
        match self.activation {
            Activation::Identity | Activation::Relu => (self.height, self.width),
            Activation::ReluPool => (self.height / 2, self.width / 2),
        }
    }

    /// The number of output entries.
    pub fn output_len(&self) -> usize {
        let (height, width) = self.output_size();
        self.batch * height * width * self.channels()
    }

    /// How many numbers each feature is averaged over.
    pub fn count(&self) -> usize {
        self.batch * self.height * self.width * self.fibre
    }

    pub(super) fn check(&self, operation: &'static str, x: (&'static str, &[f32]), y: (&'static str, &[f32])) -> Result<()> {
        self.check_input(operation, x)?;
        check_length(operation, y.0, y.1, self.output_len())
    }

    pub(super) fn check_input(&self, operation: &'static str, (name, x): (&'static str, &[f32])) -> Result<()> {
        if self.count() == 0 {
            return Err(Error::Shape { shape: self.to_string(), reason: "there is nothing to average over" });
        }
        check_length(operation, name, x, self.input_len())
    }
}

impl fmt::Display for NormShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, height, width, features, fibre, .. } = self;
        write!(f, "batch norm of {batch}x{height}x{width} pixels with {features} features of {fibre} channels")
    }
}

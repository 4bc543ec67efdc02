//! Examples between two operations.

use invar_kernels::{ImageShape, layout};

use crate::error::Result;

/// Examples of one shape. Images are kept channels last as long as operations on images follow each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    pub(super) examples: usize,
    /// The shape of one example, channels first, however it lies in memory.
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
    channels_last: bool,
}

impl Batch {
    pub(super) fn new(examples: usize, shape: Vec<usize>, values: Vec<f32>) -> Self {
        Self { examples, shape, values, channels_last: false }
    }

    /// Images that lie channels last.
    pub(super) fn last(examples: usize, shape: Vec<usize>, values: Vec<f32>) -> Self {
        Self { examples, shape, values, channels_last: true }
    }

    /// Entries of one example.
    pub(super) fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// Lying as the shape says.
    pub(super) fn into_first(self) -> Result<Self> {
        if !self.channels_last || self.shape.len() != 3 {
            return Ok(Self { channels_last: false, ..self });
        }
        let mut values = vec![0.0; self.values.len()];
        layout::to_channels_first(&self.image(), &self.values, &mut values)?;
        Ok(Self::new(self.examples, self.shape, values))
    }

    /// Lying channels last; only images can.
    pub(super) fn into_last(self) -> Result<Self> {
        if self.channels_last {
            return Ok(self);
        }
        let mut values = vec![0.0; self.values.len()];
        layout::to_channels_last(&self.image(), &self.values, &mut values)?;
        Ok(Self::last(self.examples, self.shape, values))
    }

    fn image(&self) -> ImageShape {
        let channels = self.shape[0];
        ImageShape { batch: self.examples, pixels: self.shape[1..].iter().product(), channels }
    }
}

//! The sizes of a convolution.

use std::fmt;

use crate::{Error, Result, error::check_length};

/// A convolution with an odd square kernel, stride 1, and as much zero padding as keeps the image its size.
///
/// # Shapes
///
/// - input: `[batch, height, width, inputs]`, channels last
/// - output: `[batch, height, width, outputs]`, channels last
/// - weights: `[outputs, inputs, kernel, kernel]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConvShape {
    /// The number of images.
    pub batch: usize,
    /// The number of rows of an image.
    pub height: usize,
    /// The number of columns of an image.
    pub width: usize,
    /// The number of input channels.
    pub inputs: usize,
    /// The number of output channels.
    pub outputs: usize,
    /// The side of the kernel: 1, 3, 5 ...
    pub kernel: usize,
}

impl ConvShape {
    /// The number of pixels in the batch.
    pub fn pixels(&self) -> usize {
        self.batch * self.height * self.width
    }

    /// The number of input entries.
    pub fn input_len(&self) -> usize {
        self.pixels() * self.inputs
    }

    /// The number of output entries.
    pub fn output_len(&self) -> usize {
        self.pixels() * self.outputs
    }

    /// The number of weights.
    pub fn weights_len(&self) -> usize {
        self.outputs * self.inputs * self.taps()
    }

    /// The number of positions of the kernel.
    pub(crate) fn taps(&self) -> usize {
        self.kernel * self.kernel
    }

    /// How far the kernel reaches to each side.
    pub(crate) fn reach(&self) -> usize {
        self.kernel / 2
    }

    /// The convolution that takes gradients of the output to gradients of the input.
    pub(crate) fn transposed(&self) -> Self {
        Self { inputs: self.outputs, outputs: self.inputs, ..*self }
    }

    pub(crate) fn check(
        &self,
        operation: &'static str,
        (input, x): (&'static str, &[f32]),
        (output, y): (&'static str, &[f32]),
        weights: &[f32],
    ) -> Result<()> {
        if self.kernel.is_multiple_of(2) {
            return Err(Error::Shape { shape: self.to_string(), reason: "the side of the kernel must be odd" });
        }
        check_length(operation, input, x, self.input_len())?;
        check_length(operation, output, y, self.output_len())?;
        check_length(operation, "weights", weights, self.weights_len())
    }
}

impl fmt::Display for ConvShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, height, width, inputs, outputs, kernel } = self;
        write!(f, "convolution {kernel}x{kernel} of {batch}x{height}x{width}x{inputs} to {outputs} channels")
    }
}

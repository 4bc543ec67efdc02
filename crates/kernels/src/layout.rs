//! Between channels first and channels last, once at each end of a network.

use rayon::prelude::*;

use crate::{Result, error::check_length};

/// Pixels and channels that are transposed together: 4 KiB from either side.
const SQUARE: usize = 32;

/// The sizes of a batch of images, in either layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// The number of images.
    pub batch: usize,
    /// Height times width.
    pub pixels: usize,
    /// The number of channels.
    pub channels: usize,
}

impl ImageShape {
    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.batch * self.pixels * self.channels
    }
}

/// `[batch, channels, pixels]` to `[batch, pixels, channels]`.
pub fn to_channels_last(shape: &ImageShape, from: &[f32], to: &mut [f32]) -> Result<()> {
    transpose("to channels last", shape, (shape.channels, shape.pixels), from, to)
}

/// `[batch, pixels, channels]` to `[batch, channels, pixels]`.
pub fn to_channels_first(shape: &ImageShape, from: &[f32], to: &mut [f32]) -> Result<()> {
    transpose("to channels first", shape, (shape.pixels, shape.channels), from, to)
}

/// Transposes a matrix of `rows` x `columns` for each image.
fn transpose(
    operation: &'static str,
    shape: &ImageShape,
    (rows, columns): (usize, usize),
    from: &[f32],
    to: &mut [f32],
) -> Result<()> {
    check_length(operation, "source", from, shape.entries())?;
    check_length(operation, "target", to, shape.entries())?;
    if from.is_empty() {
        return Ok(());
    }
    let image = rows * columns;
    to.par_chunks_mut(image).zip(from.par_chunks(image)).for_each(|(to, from)| {
        for left in (0..columns).step_by(SQUARE) {
            for top in (0..rows).step_by(SQUARE) {
                let bottom = rows.min(top + SQUARE);
                for column in left..columns.min(left + SQUARE) {
                    for (row, to) in (top..bottom).zip(&mut to[column * rows + top..]) {
                        *to = from[row * columns + column];
                    }
                }
            }
        }
    });
    Ok(())
}

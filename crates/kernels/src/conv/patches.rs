//! Images with few channels, as rows of patches.
//!
//! With three input channels a row of a 3x3 kernel is a product of nine numbers, too short to be fast. Copying the 27 numbers
//! under the kernel side by side costs little and makes one product of them; the convolution becomes one with a 1x1 kernel.

use std::ops::Range;

use super::ConvShape;

/// Below this length of a patch the copy pays.
const LONGEST: usize = 48;

/// Whether to go through patches.
pub(super) fn worthwhile(shape: &ConvShape) -> bool {
    shape.kernel > 1 && shape.taps() * shape.inputs <= LONGEST
}

/// The convolution of patches: each lies in memory as the channels of one pixel.
pub(super) fn flat(shape: &ConvShape) -> ConvShape {
    ConvShape { inputs: shape.taps() * shape.inputs, kernel: 1, ..*shape }
}

/// Numbers that are copied at once. Copying too many is cheaper than a loop, and the next copy overwrites the surplus.
const STRIDE: usize = 16;

/// Writes the patches of some lines of the batch, with zeros where the kernel falls outside the image.
pub(super) fn fill(shape: &ConvShape, x: &[f32], lines: Range<usize>, patches: &mut [f32]) {
    let row = shape.kernel * shape.inputs;
    let reach = shape.reach();
    let mut to = 0;
    for line in lines {
        let y = line % shape.height;
        for at in 0..shape.width {
            let columns = reach.saturating_sub(at)..shape.kernel.min(shape.width + reach - at);
            for tap in 0..shape.kernel {
                let patch = &mut patches[to..];
                if y + tap < reach || y + tap >= shape.height + reach {
                    patch[..row].fill(0.0);
                } else {
                    let from = ((line + tap - reach) * shape.width + at + columns.start - reach) * shape.inputs;
                    copy_row(&x[from..], patch, row, columns.start * shape.inputs..columns.end * shape.inputs);
                }
                to += row;
            }
        }
    }
}

/// Copies the part of a row of the kernel that falls inside the image, and writes zeros around it.
#[inline(always)]
fn copy_row(x: &[f32], patch: &mut [f32], row: usize, inside: Range<usize>) {
    if let (true, Some(x), Some(patch)) =
        (inside.len() == row && row <= STRIDE, x.first_chunk::<STRIDE>(), patch.first_chunk_mut::<STRIDE>())
    {
        *patch = *x;
    } else {
        patch[..inside.start].fill(0.0);
        patch[inside.end..row].fill(0.0);
        let len = inside.len();
        patch[inside].copy_from_slice(&x[..len]);
    }
}

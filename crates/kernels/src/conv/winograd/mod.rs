//! Winograd's minimal filtering for 3x3 kernels and many channels (Lavin and Gray, 2016): F(4x4, 3x3), and F(3x3, 3x3) for small images.
//!
//! A tile of 4x4 outputs is a sum over channels of 36 products in place of 144, between transforms of inputs, filters and outputs that
//! are small beside it. At each of the 36 points the products are those of two matrices, tiles x inputs and inputs x outputs.
//!
//! The gradient of the inputs is a convolution with turned filters. That of the filters goes through the transposed transforms, and
//! sums over tiles at each point.
//!
//! Every output is computed by one thread in a fixed order, and every sum over tiles is cut at places that do not depend on the number of
//! threads: the result does not either.
//!
//! Errors are a few times those of the direct product over a whole image, which a test bounds. But what is large in one place of a tile
//! leaves its rounding in all of the tile: programs that are run with a bound on every number keep to the direct product.

mod filters;
mod gradient;
mod product;
mod tiling;
mod transform;

pub(super) use filters::Turn;
pub(super) use tiling::Tiling;

use crate::{Workspace, level::MAX_LANES};

/// y = x * filters + bias. With turned filters `tiling` is that of the transposed convolution.
pub(super) fn convolve(
    tiling: &Tiling,
    x: &[f32],
    (weights, turn): (&[f32], Turn),
    bias: Option<&[f32]>,
    y: &mut [f32],
    workspace: &mut Workspace,
) {
    let Workspace { arch, weights: buffer, coefficients, .. } = workspace;
    let factors = filters::factors(*arch, tiling, weights, turn, buffer);
    let shift = coefficients.zeros(tiling.shape.outputs.next_multiple_of(MAX_LANES));
    if let Some(bias) = bias {
        shift[..bias.len()].copy_from_slice(bias);
    }
    product::convolve(*arch, tiling, x, factors, shift, y);
}

/// dw = sum over pixels of x times dy.
pub(super) fn gradient(tiling: &Tiling, x: &[f32], dy: &[f32], dw: &mut [f32], workspace: &mut Workspace) {
    let Workspace { arch, inputs, outputs, sums, .. } = workspace;
    let sums = gradient::sums(*arch, tiling, (x, dy), inputs, outputs, sums);
    filters::gradient(*arch, tiling, sums, dw);
}

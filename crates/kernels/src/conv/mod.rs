//! Convolution with stride 1 that keeps the image its size.

mod bias;
mod forward;
mod pack;
mod patches;
mod plan;
mod shape;
mod thin;
mod weights;
mod winograd;

pub use shape::ConvShape;

use winograd::{Tiling, Turn};

use crate::{Result, Workspace, error::check_length};

/// y = x * weights + bias.
pub fn forward(
    shape: &ConvShape,
    x: &[f32],
    weights: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("convolution", ("x", x), ("y", y), weights)?;
    if let Some(bias) = bias {
        check_length("convolution", "bias", bias, shape.outputs)?;
    }
    if let Some(tiling) = Tiling::of(shape).filter(|_| workspace.transforms) {
        winograd::convolve(&tiling, x, (weights, Turn::Not), bias, y, workspace);
        return Ok(());
    }
    let arch = workspace.arch;
    let packed = pack::pack(shape, weights, bias, arch.block().lanes, &mut workspace.weights);
    forward::convolve(arch, shape, x, packed, y);
    Ok(())
}

/// The gradient of the input from that of the output.
pub fn backward_input(shape: &ConvShape, dy: &[f32], weights: &[f32], dx: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    shape.check("gradient of the input", ("dx", dx), ("dy", dy), weights)?;
    if let Some(tiling) = Tiling::of(&shape.transposed()).filter(|_| workspace.transforms) {
        winograd::convolve(&tiling, dy, (weights, Turn::Half), None, dx, workspace);
        return Ok(());
    }
    let arch = workspace.arch;
    let packed = pack::pack_transposed(shape, weights, arch.block().lanes, &mut workspace.weights);
    forward::convolve(arch, &shape.transposed(), dy, packed, dx);
    Ok(())
}

/// The gradient of the weights from the input and the gradient of the output.
pub fn backward_weights(shape: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    shape.check("gradient of the weights", ("x", x), ("dy", dy), dw)?;
    if x.is_empty() || dy.is_empty() {
        dw.fill(0.0);
    } else if let Some(tiling) = Tiling::of(shape).filter(|_| workspace.transforms) {
        winograd::gradient(&tiling, x, dy, dw, workspace);
    } else if patches::worthwhile(shape) {
        thin::gradient(shape, x, dy, dw, workspace);
    } else {
        weights::gradient(shape, x, dy, dw, workspace);
    }
    Ok(())
}

/// The gradient of the bias from that of the output.
pub fn backward_bias(shape: &ConvShape, dy: &[f32], db: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    check_length("gradient of the bias", "dy", dy, shape.output_len())?;
    check_length("gradient of the bias", "db", db, shape.outputs)?;
    bias::gradient(dy, db, workspace);
    Ok(())
}

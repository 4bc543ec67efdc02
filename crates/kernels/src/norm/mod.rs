//! Batch norm, fused with what follows it: rectification and 2x2 max pooling.
//!
//! ```text
//! z = gamma (x - mean) / sqrt(variance + epsilon) + beta,    y = pool(max(0, z))
//! ```
//!
//! The backward pass computes z again from x instead of keeping it, and with it which entry of a square was the largest (the
//! first if several are equal) and which were positive: besides x nothing of the size of the image needs to be kept.

mod backward;
mod forward;
mod moments;
mod shape;

pub use moments::Moments;
pub use shape::{Activation, NormShape};

use crate::{Result, Workspace, buffer::Buffer, error::check_length};

/// The parameters of a batch norm.
#[derive(Debug, Clone, Copy)]
pub struct Affine<'a> {
    /// The scale of each feature.
    pub gamma: &'a [f32],
    /// The offset of each feature.
    pub beta: &'a [f32],
    /// Added to the variance.
    pub epsilon: f32,
}

/// The gradients of the parameters of a batch norm.
#[derive(Debug)]
pub struct AffineGradients<'a> {
    /// Of the scale of each feature.
    pub gamma: &'a mut [f32],
    /// Of the offset of each feature.
    pub beta: &'a mut [f32],
}

impl Affine<'_> {
    fn check(&self, operation: &'static str, shape: &NormShape) -> Result<()> {
        check_length(operation, "gamma", self.gamma, shape.features)?;
        check_length(operation, "beta", self.beta, shape.features)
    }
}

/// The statistics of a batch.
pub fn moments(shape: &NormShape, x: &[f32], moments: &mut Moments, workspace: &mut Workspace) -> Result<()> {
    shape.check_input("moments of a batch", ("x", x))?;
    moments.compute(shape, x, workspace);
    Ok(())
}

/// Normalises with the statistics of this batch, which are written to `moments`.
pub fn forward_training(
    shape: &NormShape,
    affine: &Affine<'_>,
    x: &[f32],
    y: &mut [f32],
    moments: &mut Moments,
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("batch norm", ("x", x), ("y", y))?;
    affine.check("batch norm", shape)?;
    moments.compute(shape, x, workspace);
    forward_evaluation(shape, affine, moments, x, y, workspace)
}

/// Normalises with given statistics: those of [`moments`], or a running average over training.
pub fn forward_evaluation(
    shape: &NormShape,
    affine: &Affine<'_>,
    moments: &Moments,
    x: &[f32],
    y: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("batch norm", ("x", x), ("y", y))?;
    affine.check("batch norm", shape)?;
    moments.check("batch norm", shape)?;
    let coefficients = Coefficients::fill(&mut workspace.coefficients, shape, affine, moments);
    forward::apply(workspace.arch, shape, &coefficients, x, y);
    Ok(())
}

/// The gradients of [`forward_training`]: `x` and `moments` are those of the forward pass.
#[allow(clippy::too_many_arguments, reason = "two tensors in, one out, and what belongs to each")]
pub fn backward(
    shape: &NormShape,
    affine: &Affine<'_>,
    moments: &Moments,
    x: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    gradients: &mut AffineGradients<'_>,
    workspace: &mut Workspace,
) -> Result<()> {
    let operation = "gradient of batch norm";
    shape.check(operation, ("x", x), ("dy", dy))?;
    shape.check(operation, ("dx", dx), ("dy", dy))?;
    affine.check(operation, shape)?;
    moments.check(operation, shape)?;
    check_length(operation, "gamma", gradients.gamma, shape.features)?;
    check_length(operation, "beta", gradients.beta, shape.features)?;
    backward::gradients(shape, affine, moments, x, dy, dx, gradients, workspace);
    Ok(())
}

/// Pixels that one task goes through, at least. The parts of a sum are the same for every number of threads.
const CHUNK: usize = 128;

/// How many images a task goes through.
fn images_per_chunk(shape: &NormShape) -> usize {
    CHUNK.div_ceil(shape.height * shape.width)
}

/// z = scale x + shift; and for the gradient, with the deviation d = x - mean, dx = scale dz + slope d + constant.
#[derive(Debug, Clone, Copy)]
struct Coefficients<'a> {
    scale: &'a [f32],
    shift: &'a [f32],
    mean: &'a [f32],
    slope: &'a [f32],
    constant: &'a [f32],
}

impl<'a> Coefficients<'a> {
    /// Spreads the numbers of features over their channels; slope and constant are zero.
    fn fill(buffer: &'a mut Buffer, shape: &NormShape, affine: &Affine<'_>, moments: &Moments) -> Self {
        let channels = shape.channels();
        let all = buffer.zeros(5 * channels);
        for channel in 0..channels {
            let feature = channel / shape.fibre;
            let scale = affine.gamma[feature] * moments.inverse_std(feature, affine.epsilon);
            all[channel] = scale;
            all[channels + channel] = affine.beta[feature] - moments.mean[feature] * scale;
            all[2 * channels + channel] = moments.mean[feature];
        }
        Self::read(all, channels)
    }

    fn read(all: &'a [f32], channels: usize) -> Self {
        let part = |at: usize| &all[at * channels..(at + 1) * channels];
        Self { scale: part(0), shift: part(1), mean: part(2), slope: part(3), constant: part(4) }
    }
}

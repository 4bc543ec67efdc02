//! Convolution of stride 1 that keeps the size.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::{Operations, has_kernels, reference};

/// Convolves with zeros around the image; the side k of a filter is odd.
///
/// # Shapes
/// - x: `[batch, height, width, inputs]`
/// - filters: `[outputs, inputs, k, k]`
/// - output: `[batch, height, width, outputs]`
pub fn conv2d(x: Tensor<4>, filters: Tensor<4>) -> Tensor<4> {
    if !has_kernels(&x.device()) {
        return reference::conv2d(x, filters);
    }
    Tensor::from_dispatch(Dispatch::convolve(x.into_dispatch(), filters.into_dispatch()))
}

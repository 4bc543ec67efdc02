//! Pooling over space and over directions.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::{Operations, has_kernels, reference};

/// Sides of a pooling window; windows start at every `stride`-th row and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Height and width.
    pub size: [usize; 2],
    /// Steps between windows.
    pub stride: [usize; 2],
}

/// The largest value of each window that fits into the image, `[batch, height', width', channels]`.
pub fn max_pool(x: Tensor<4>, window: Window) -> Tensor<4> {
    // Windows that a kernel does not do on the way are those of small images: seven and three pixels wide.
    reference::max_pool(x, window)
}

/// Sum over space, `[batch, channels]`.
pub fn sum_pool(x: Tensor<4>) -> Tensor<2> {
    pool(x, 1.0)
}

/// Mean over space, `[batch, channels]`.
pub fn mean_pool(x: Tensor<4>) -> Tensor<2> {
    let [_, height, width, _] = x.dims();
    pool(x, 1.0 / (height * width) as f32)
}

fn pool(x: Tensor<4>, factor: f32) -> Tensor<2> {
    if !has_kernels(&x.device()) {
        return reference::sum_pool(x).mul_scalar(factor);
    }
    Tensor::from_dispatch(Dispatch::pool_space(x.into_dispatch(), factor))
}

/// The largest of every `fibre` neighbouring channels, `[batch, height, width, channels / fibre]`.
pub fn fibre_max(x: Tensor<4>, fibre: usize) -> Tensor<4> {
    if !has_kernels(&x.device()) {
        return reference::fibre_max(x, fibre);
    }
    Tensor::from_dispatch(Dispatch::pool_fibre(x.into_dispatch(), fibre))
}

//! Pooling over space.

use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Tensor, module};

/// Sides of a pooling window; windows start at every `stride`-th row and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Height and width.
    pub size: [usize; 2],
    /// Steps between windows.
    pub stride: [usize; 2],
}

/// The largest value of each window that fits into the image, `[batch, channels, height', width']`.
pub fn max_pool(x: Tensor<4>, window: Window) -> Tensor<4> {
    let Window { size, stride } = window;
    let padding = [(0, 0), (0, 0)];
    module::max_pool2d(x, MaxPoolOptions { kernel_size: size, stride, padding, dilation: [1, 1], ceil_mode: false })
}

/// Sum over space, `[batch, channels]`.
pub fn sum_pool(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, height, width] = x.dims();
    x.reshape([batch, channels, height * width]).sum_dim(2).reshape([batch, channels])
}

/// Mean over space, `[batch, channels]`.
pub fn mean_pool(x: Tensor<4>) -> Tensor<2> {
    let [_, _, height, width] = x.dims();
    sum_pool(x).div_scalar((height * width) as f64)
}

/// The largest of every `size` neighbouring channels, `[batch, channels / size, height, width]`.
pub fn group_max(x: Tensor<4>, size: usize) -> Tensor<4> {
    let [batch, channels, height, width] = x.dims();
    let groups = channels / size;
    x.reshape([batch, groups, size, height * width]).max_dim(2).reshape([batch, groups, height, width])
}

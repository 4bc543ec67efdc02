//! Convolution of stride 1.

use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, module};

/// Convolves with zeros around the image; an odd filter of side k with `padding` (k - 1) / 2 keeps the size.
///
/// # Shapes
/// - x: `[batch, inputs, height, width]`
/// - filters: `[outputs, inputs, k, k]`
/// - output: `[batch, outputs, height + 2 padding - k + 1, width + 2 padding - k + 1]`
pub fn conv2d(x: Tensor<4>, filters: Tensor<4>, padding: usize) -> Tensor<4> {
    module::conv2d(x, filters, None, ConvOptions::new([1, 1], [padding, padding], [1, 1], 1))
}

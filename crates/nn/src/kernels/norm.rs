//! Batch normalisation, ReLU and pooling, which a kernel can do in one pass.

use burn::tensor::{Tensor, activation, module};

use super::pool::{Window, max_pool};

/// What a batch became, and its statistics.
#[derive(Debug)]
pub struct Normed {
    /// `[batch, channels, height, width]`, pooled.
    pub output: Tensor<4>,
    /// Mean of the batch, `[channels]`; no gradient flows through it.
    pub mean: Tensor<1>,
    /// Variance of the batch, divided by the count, `[channels]`; no gradient flows through it.
    pub variance: Tensor<1>,
}

/// Normalises with the statistics of the batch, then ReLU, then max pooling when there is a window.
pub fn norm_relu_pool_train(x: Tensor<4>, gamma: Tensor<1>, beta: Tensor<1>, epsilon: f64, window: Option<Window>) -> Normed {
    let normed = module::batch_norm_train(x, gamma, beta, epsilon);
    Normed { output: relu_pool(normed.output, window), mean: normed.mean, variance: normed.variance }
}

/// Normalises with given statistics, then ReLU, then max pooling when there is a window.
pub fn norm_relu_pool(
    x: Tensor<4>,
    gamma: Tensor<1>,
    beta: Tensor<1>,
    mean: Tensor<1>,
    variance: Tensor<1>,
    epsilon: f64,
    window: Option<Window>,
) -> Tensor<4> {
    relu_pool(module::batch_norm(x, gamma, beta, mean, variance, epsilon), window)
}

fn relu_pool(x: Tensor<4>, window: Option<Window>) -> Tensor<4> {
    let x = activation::relu(x);
    match window {
        Some(window) => max_pool(x, window),
        None => x,
    }
}

//! Batch normalisation, ReLU and pooling in one pass.

use burn::backend::Dispatch;
use burn::tensor::{Tensor, s};

use super::pool::{Window, max_pool};
use super::{NormSettings, Operations, has_kernels, reference};

/// What a batch became, and its statistics.
#[derive(Debug)]
pub struct Normed {
    /// `[batch, height, width, channels]`, pooled.
    pub output: Tensor<4>,
    /// Mean of the batch, `[features]`; no gradient flows through it.
    pub mean: Tensor<1>,
    /// Variance of the batch, divided by the count, `[features]`; no gradient flows through it.
    pub variance: Tensor<1>,
}

/// What a batch norm scales and shifts by.
#[derive(Debug, Clone)]
pub struct Scaling {
    /// Scale, `[features]`.
    pub gamma: Tensor<1>,
    /// Shift, `[features]`.
    pub beta: Tensor<1>,
    /// Neighbouring channels that make a feature.
    pub fibre: usize,
    /// Added to every variance.
    pub epsilon: f64,
}

/// The fused kernel knows windows of 2 alone; the others follow it.
fn split(window: Option<Window>) -> (bool, Option<Window>) {
    let fused = window.is_some_and(|w| w == Window { size: [2, 2], stride: [2, 2] });
    (fused, window.filter(|_| !fused))
}

fn pooled(x: Tensor<4>, window: Option<Window>) -> Tensor<4> {
    match window {
        Some(window) => max_pool(x, window),
        None => x,
    }
}

/// Mean and variance of each feature of a batch, `[features]` both; `fibre` neighbouring channels make a feature.
pub fn moments(x: Tensor<4>, fibre: usize) -> [Tensor<1>; 2] {
    if !has_kernels(&x.device()) {
        return reference::moments(x, fibre);
    }
    let moments: Tensor<2> = Tensor::from_dispatch(Dispatch::batch_moments(x.into_dispatch(), fibre));
    rows(&moments)
}

fn rows(moments: &Tensor<2>) -> [Tensor<1>; 2] {
    let features = moments.dims()[1];
    [0, 1].map(|row| moments.clone().slice(s![row..row + 1, ..]).reshape([features]))
}

/// Normalises with the statistics of the batch, then ReLU, then max pooling when there is a window.
///
/// # Shapes
/// - x: `[batch, height, width, features * fibre]`
pub fn norm_relu_pool_train(x: Tensor<4>, scaling: Scaling, window: Option<Window>) -> Normed {
    if !has_kernels(&x.device()) {
        return reference::norm_relu_pool_train(x, scaling, window);
    }
    let Scaling { gamma, beta, fibre, epsilon } = scaling;
    let (pool, rest) = split(window);
    let x = x.into_dispatch();
    let moments = Dispatch::batch_moments(x.clone(), fibre);
    let settings = NormSettings { fibre, epsilon: epsilon as f32, pool };
    let output = Dispatch::normalise(x, gamma.into_dispatch(), beta.into_dispatch(), moments.clone(), settings);
    let [mean, variance] = rows(&Tensor::from_dispatch(moments));
    Normed { output: pooled(Tensor::from_dispatch(output), rest), mean, variance }
}

/// Normalises with given mean and variance, `[features]` both, then ReLU, then max pooling when there is a window.
pub fn norm_relu_pool(x: Tensor<4>, scaling: Scaling, moments: [Tensor<1>; 2], window: Option<Window>) -> Tensor<4> {
    // The kernel's gradient takes the statistics for those of the batch.
    if !has_kernels(&x.device()) || x.device().is_autodiff() {
        return reference::norm_relu_pool(x, scaling, moments, window);
    }
    let Scaling { gamma, beta, fibre, epsilon } = scaling;
    let (pool, rest) = split(window);
    let features = moments[0].dims()[0];
    let moments: Tensor<2> = Tensor::cat(moments.map(|m| m.reshape([1, features])).to_vec(), 0);
    let settings = NormSettings { fibre, epsilon: epsilon as f32, pool };
    let [x, gamma, beta, moments] = [x.into_dispatch(), gamma.into_dispatch(), beta.into_dispatch(), moments.into_dispatch()];
    pooled(Tensor::from_dispatch(Dispatch::normalise(x, gamma, beta, moments, settings)), rest)
}

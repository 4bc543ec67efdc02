//! What is asked of a backend, on its own tensors.

use std::sync::Arc;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, backend_extension};

/// Settings of a batch norm and what follows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormSettings {
    /// Neighbouring channels that share statistics, scale and shift.
    pub fibre: usize,
    /// Added to every variance.
    pub epsilon: f32,
    /// Whether the largest of each 2x2 square follows the ReLU.
    pub pool: bool,
}

/// How filters are turned into several directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// For each direction and point the row of what is trained.
    pub from: Arc<[usize]>,
    /// Points of a direction.
    pub points: usize,
    /// Inputs of a row; outputs follow.
    pub inputs: usize,
}

/// The operations of image networks.
#[backend_extension(Flex, Autodiff)]
pub trait Operations: Backend {
    /// x `[batch, height, width, inputs]`, filters `[outputs, inputs, k, k]` to `[batch, height, width, outputs]`.
    fn convolve(x: FloatTensor<Self>, filters: FloatTensor<Self>) -> FloatTensor<Self>;

    /// basis `[points, rank]`, coefficients `[rank, features * outputs]` to filters `[outputs, features, points]`. No gradient flows to
    /// the basis.
    fn combine(basis: FloatTensor<Self>, coefficients: FloatTensor<Self>, features: usize) -> FloatTensor<Self>;

    /// `[rows, inputs * outputs]` to filters in all directions, `[outputs, directions, inputs, points]`.
    fn turn(trained: FloatTensor<Self>, turns: Turns) -> FloatTensor<Self>;

    /// Mean and variance of each feature, `[2, features]`. No gradient flows through them: [`Operations::normalise`] has the
    /// whole of it.
    fn batch_moments(x: FloatTensor<Self>, fibre: usize) -> FloatTensor<Self>;

    /// Batch norm, ReLU and perhaps pooling. Its gradient takes the moments for those of x.
    fn normalise(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        moments: FloatTensor<Self>,
        settings: NormSettings,
    ) -> FloatTensor<Self>;

    /// Sum over space times a factor, `[batch, channels]`.
    fn pool_space(x: FloatTensor<Self>, factor: f32) -> FloatTensor<Self>;

    /// The largest of every `fibre` neighbouring channels.
    fn pool_fibre(x: FloatTensor<Self>, fibre: usize) -> FloatTensor<Self>;
}

/// Their gradients. What an operation no longer needs it may overwrite or keep for later buffers.
pub trait Gradients: Backend {
    /// Gradients of [`Operations::convolve`] for x and for the filters, as far as they are asked for.
    fn convolve_gradients(
        x: FloatTensor<Self>,
        filters: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<Self>>; 2];

    /// Gradient of [`Operations::combine`] for the coefficients.
    fn combine_gradient(basis: FloatTensor<Self>, dy: FloatTensor<Self>) -> FloatTensor<Self>;

    /// Gradient of [`Operations::turn`] for so many rows.
    fn turn_gradient(dy: FloatTensor<Self>, turns: Turns, rows: usize) -> FloatTensor<Self>;

    /// Gradients of [`Operations::normalise`] for x, scale and shift.
    fn normalise_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        moments: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        settings: NormSettings,
    ) -> [FloatTensor<Self>; 3];

    /// Gradient of [`Operations::pool_space`] for images of the given sides.
    fn pool_space_gradient(dy: FloatTensor<Self>, sides: [usize; 2], factor: f32) -> FloatTensor<Self>;

    /// Gradient of [`Operations::pool_fibre`].
    fn pool_fibre_gradient(x: FloatTensor<Self>, dy: FloatTensor<Self>, fibre: usize) -> FloatTensor<Self>;
}

//! Filters from what is trained.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::{Operations, Turns, has_kernels, reference};

/// Filters that combine a basis; no gradient flows to it.
///
/// # Shapes
/// - basis: `[points, rank]`
/// - coefficients: `[rank, features * outputs]`
/// - output: `[outputs, features, points]`
pub fn combine(basis: Tensor<2>, coefficients: Tensor<2>, features: usize) -> Tensor<3> {
    if !has_kernels(&coefficients.device()) {
        return reference::combine(basis, coefficients, features);
    }
    Tensor::from_dispatch(Dispatch::combine(basis.into_dispatch(), coefficients.into_dispatch(), features))
}

/// Filters in all directions: each point of each input takes one of the rows.
///
/// # Shapes
/// - trained: `[rows, inputs * outputs]`
/// - output: `[outputs, directions, inputs, points]`
pub fn turn(trained: Tensor<2>, turns: Turns) -> Tensor<4> {
    if !has_kernels(&trained.device()) {
        return reference::turn(trained, &turns);
    }
    Tensor::from_dispatch(Dispatch::turn(trained.into_dispatch(), turns))
}

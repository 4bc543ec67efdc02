//! The same operations made of the backend's own: for devices without kernels, and to compare the kernels with.

use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use burn::tensor::{Int, Tensor, TensorData, activation, module};

use super::norm::{Normed, Scaling};
use super::operations::Turns;
use super::pool::Window;

fn channels_first(x: Tensor<4>) -> Tensor<4> {
    x.permute([0, 3, 1, 2])
}

/// As [`super::conv2d`].
pub fn conv2d(x: Tensor<4>, filters: Tensor<4>) -> Tensor<4> {
    let padding = filters.dims()[3] / 2;
    let options = ConvOptions::new([1, 1], [padding, padding], [1, 1], 1);
    super::channels_last(module::conv2d(channels_first(x), filters, None, options))
}

/// As [`super::combine`].
pub fn combine(basis: Tensor<2>, coefficients: Tensor<2>, features: usize) -> Tensor<3> {
    let (points, columns) = (basis.dims()[0], coefficients.dims()[1]);
    basis.matmul(coefficients).reshape([points, features, columns / features]).permute([2, 1, 0])
}

/// As [`super::turn`].
pub fn turn(trained: Tensor<2>, turns: &Turns) -> Tensor<4> {
    let (columns, device) = (trained.dims()[1], trained.device());
    let rows: Vec<i32> = turns.from.iter().map(|&row| row as i32).collect();
    let index = Tensor::<1, Int>::from_data(TensorData::new(rows, [turns.from.len()]), &device);
    let directions = turns.from.len() / turns.points;
    let rows = trained.select(0, index).reshape([directions, turns.points, turns.inputs, columns / turns.inputs]);
    rows.permute([3, 0, 2, 1])
}

/// Features as channels of one tall image, `[batch, features, height * fibre, width]`.
fn tall(x: Tensor<4>, fibre: usize) -> Tensor<4> {
    let [batch, height, width, channels] = x.dims();
    channels_first(x).reshape([batch, channels / fibre, fibre * height, width])
}

/// Back from [`tall`].
fn flat(x: Tensor<4>, fibre: usize) -> Tensor<4> {
    let [batch, features, rows, width] = x.dims();
    super::channels_last(x.reshape([batch, features * fibre, rows / fibre, width]))
}

/// As [`super::moments`].
pub fn moments(x: Tensor<4>, fibre: usize) -> [Tensor<1>; 2] {
    let features = x.dims()[3] / fibre;
    let values = tall(x, fibre).swap_dims(0, 1).reshape([features as i32, -1]);
    let mean = values.clone().mean_dim(1);
    let variance = (values - mean.clone()).square().mean_dim(1);
    [mean, variance].map(|m| m.reshape([features]))
}

/// As [`super::norm_relu_pool_train`].
pub fn norm_relu_pool_train(x: Tensor<4>, scaling: Scaling, window: Option<Window>) -> Normed {
    let Scaling { gamma, beta, fibre, epsilon } = scaling;
    let normed = module::batch_norm_train(tall(x, fibre), gamma, beta, epsilon);
    Normed { output: relu_pool(flat(normed.output, fibre), window), mean: normed.mean, variance: normed.variance }
}

/// As [`super::norm_relu_pool`].
pub fn norm_relu_pool(x: Tensor<4>, scaling: Scaling, moments: [Tensor<1>; 2], window: Option<Window>) -> Tensor<4> {
    let (Scaling { gamma, beta, fibre, epsilon }, [mean, variance]) = (scaling, moments);
    relu_pool(flat(module::batch_norm(tall(x, fibre), gamma, beta, mean, variance, epsilon), fibre), window)
}

fn relu_pool(x: Tensor<4>, window: Option<Window>) -> Tensor<4> {
    let x = activation::relu(x);
    match window {
        Some(window) => max_pool(x, window),
        None => x,
    }
}

/// As [`super::max_pool`].
pub fn max_pool(x: Tensor<4>, window: Window) -> Tensor<4> {
    let Window { size, stride } = window;
    let padding = [(0, 0), (0, 0)];
    let options = MaxPoolOptions { kernel_size: size, stride, padding, dilation: [1, 1], ceil_mode: false };
    super::channels_last(module::max_pool2d(channels_first(x), options))
}

/// As [`super::sum_pool`].
pub fn sum_pool(x: Tensor<4>) -> Tensor<2> {
    let [batch, height, width, channels] = x.dims();
    x.reshape([batch, height * width, channels]).sum_dim(1).reshape([batch, channels])
}

/// As [`super::fibre_max`].
pub fn fibre_max(x: Tensor<4>, fibre: usize) -> Tensor<4> {
    let [batch, height, width, channels] = x.dims();
    let groups = channels / fibre;
    x.reshape([batch * height * width, groups, fibre]).max_dim(2).reshape([batch, height, width, groups])
}

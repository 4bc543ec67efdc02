//! The operations in which image networks spend their time, behind one seam: models call these functions and never the
//! backend's own, so that a faster kernel needs to be plugged in here only.
//!
//! Tensors are `[batch, channels, height, width]`, filters `[outputs, inputs, height, width]`.

mod conv;
mod norm;
mod pool;

pub use conv::conv2d;
pub use norm::{Normed, norm_relu_pool, norm_relu_pool_train};
pub use pool::{Window, group_max, max_pool, mean_pool, sum_pool};

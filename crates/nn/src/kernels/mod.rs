//! The operations in which image networks spend their time, behind one seam: models call these functions and never the
//! backend's own.
//!
//! Images are channels last, `[batch, height, width, channels]`, from the first layer to the last; [`channels_last`] converts
//! once. Filters are `[outputs, inputs, height, width]`.
//!
//! On the processor ([`Device::flex`]) they run on `invar-kernels`, as an extension of the backend with gradients of its own:
//! [`Operations`] and [`Gradients`] say what there is, `flex` computes it, `autodiff` puts it on the tape, and `memory` keeps
//! the buffers from step to step. On every other device [`mod@reference`] builds them from the backend's own operations.

mod autodiff;
mod conv;
mod filters;
mod flex;
pub(crate) mod memory;
mod norm;
mod operations;
mod pool;
pub mod reference;

use burn::tensor::{Device, Tensor};

pub use conv::conv2d;
pub use filters::{combine, turn};
pub use norm::{Normed, Scaling, moments, norm_relu_pool, norm_relu_pool_train};
pub use operations::{Gradients, NormSettings, Operations, Turns};
pub use pool::{Window, fibre_max, max_pool, mean_pool, sum_pool};

use crate::{Error, Result};

/// `[batch, channels, height, width]` to `[batch, height, width, channels]`.
pub fn channels_last(x: Tensor<4>) -> Tensor<4> {
    x.permute([0, 2, 3, 1])
}

/// Refuses an instruction set that was asked for (`INVAR_SIMD`) and is not there.
pub fn check() -> Result<()> {
    level().map(drop)
}

/// The instruction set that is computed with, by name.
pub fn level() -> Result<String> {
    let level = invar_kernels::Level::current();
    level.map(|level| level.to_string()).map_err(|e| Error::Backend { operation: "choosing kernels", message: e.to_string() })
}

/// Whether a device has the kernels of this crate.
fn has_kernels(device: &Device) -> bool {
    *device == Device::flex()
}

#[cfg(test)]
mod tests;

//! Kernels.

mod error;
mod level;

mod buffer;
mod workspace;

#[allow(unsafe_code)]
mod tile;

pub mod layout;

pub mod conv;
pub mod norm;
pub mod pool;

mod optimiser;

pub use conv::ConvShape;
pub use error::{Error, Result};
pub use layout::ImageShape;
pub use level::{ENVIRONMENT, Level};
pub use norm::{Activation, Affine, AffineGradients, Moments, NormShape};
pub use optimiser::{Adam, Sgd};
pub use pool::{PoolShape, Pooling};
pub use workspace::Workspace;

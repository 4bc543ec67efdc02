//! Kernels.

mod error;
mod level;

mod buffer;
mod workspace;

#[allow(unsafe_code)]
mod tile;

pub mod conv;

pub use conv::ConvShape;
pub use error::{Error, Result};
pub use level::{ENVIRONMENT, Level};
pub use workspace::Workspace;

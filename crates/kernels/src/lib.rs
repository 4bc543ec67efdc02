//! Kernels for training networks on a CPU, on plain slices of `f32`: dense layers, convolution, batch norm, pooling, optimiser steps.
//!
//! Images are kept channels last, `[batch, height, width, channels]`, from the first layer to the last; [`layout`] converts at
//! the ends. Every operation takes a shape, the slices, and a [`Workspace`] that holds scratch memory and the instruction set
//! to use ([`Level`], chosen at run time, forced by `INVAR_SIMD`). Work is spread over the current rayon pool. The result is the
//! same to the last bit for every number of threads.
//!
//! ```
//! use invar_kernels::{Activation, Affine, ConvShape, Moments, NormShape, Workspace, conv, norm};
//!
//! let mut workspace = Workspace::new()?;
//! let shape = ConvShape { batch: 2, height: 4, width: 4, inputs: 1, outputs: 3, kernel: 3 };
//! let (x, weights) = (vec![1.0; shape.input_len()], vec![1.0; shape.weights_len()]);
//! let mut y = vec![0.0; shape.output_len()];
//! conv::forward(&shape, &x, &weights, None, &mut y, &mut workspace)?;
//! assert_eq!((y[0], y[(4 + 1) * 3]), (4.0, 9.0)); // under a kernel at a corner lie four pixels, inside nine
//!
//! let norms = NormShape { batch: 2, height: 4, width: 4, features: 3, fibre: 1, activation: Activation::ReluPool };
//! let affine = Affine { gamma: &[1.0; 3], beta: &[0.0; 3], epsilon: 1e-5 };
//! let (mut z, mut moments) = (vec![0.0; norms.output_len()], Moments::default());
//! norm::forward_training(&norms, &affine, &y, &mut z, &mut moments, &mut workspace)?;
//! assert_eq!(moments.mean, [6.25; 3]);
//! # Ok::<(), invar_kernels::Error>(())
//! ```

mod error;
mod level;

mod buffer;
mod workspace;

#[allow(unsafe_code, reason = "the only module with any: the bounds checks of the innermost loops are made before them")]
mod tile;

pub mod layout;

pub mod conv;
pub mod dense;
pub mod fibre;
pub mod filters;
pub mod norm;
pub mod pool;

mod optimiser;

pub use conv::ConvShape;
pub use dense::DenseShape;
pub use error::{Error, Result};
pub use fibre::FibreShape;
pub use filters::{CombineShape, TurnShape};
pub use layout::ImageShape;
pub use level::{ENVIRONMENT, Level};
pub use norm::{Activation, Affine, AffineGradients, Moments, NormShape};
pub use optimiser::{Adam, Sgd};
pub use pool::{PoolShape, Pooling};
pub use workspace::Workspace;

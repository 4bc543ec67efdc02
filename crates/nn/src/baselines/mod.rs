//! The models the CG network is compared with, each faithful to its own paper, one file each. All start from the same fixed
//! normal embedding of width 128.
//!
//! Trained parameters in the default sizes, ten positions, one output (CG network: 34,434):
//!
//! | model | parameters | order of the input |
//! | --- | --- | --- |
//! | [`Transformer`] | 83,649 | matters (positional encoding) |
//! | [`GruNet`] | 45,697 | matters |
//! | [`DeepSets`] | 49,665 | cannot matter |
//! | [`Janossy`] k-ary, k = 2 | 49,537 | cannot matter |
//! | [`Janossy`] sampled | 45,697 | matters less and less in training |
//! | [`SetTransformer`] | 84,097 | cannot matter |
//! | [`Plain`] | 90,433 | matters |

mod attention;
mod deep_sets;
mod gru;
mod janossy;
mod plain;
mod rho;
mod set_transformer;
mod transformer;

pub use attention::{Attention, AttentionBlock};
pub use deep_sets::{DeepSets, DeepSetsConfig};
pub use gru::{GruCell, GruNet, GruNetConfig};
pub use janossy::{Janossy, JanossyConfig, Pooling};
pub use plain::{Plain, PlainConfig};
pub use rho::Rho;
pub use set_transformer::{SetTransformer, SetTransformerConfig};
pub use transformer::{Transformer, TransformerConfig};

#[cfg(test)]
mod tests;

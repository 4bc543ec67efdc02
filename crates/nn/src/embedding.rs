//! The fixed embedding that every sequence model starts from.

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor};

use crate::{Error, Init, Result};

/// Width of the embedding in the published experiments.
pub const EMBEDDING: usize = 128;

/// A random vector per vocabulary entry, normal, not trained (Appendix E.2).
#[derive(Module, Debug)]
pub struct FixedEmbedding {
    /// `[vocabulary, width]`.
    pub table: Param<Tensor<2>>,
}

impl FixedEmbedding {
    /// Draws the table.
    pub fn new(vocabulary: usize, width: usize, init: &mut Init) -> Result<Self> {
        if vocabulary == 0 || width == 0 {
            return Err(Error::setting("vocabulary and embedding width", "at least 1", format!("{vocabulary} and {width}")));
        }
        Ok(Self { table: init.normal([vocabulary, width], 1.0).set_require_grad(false) })
    }

    /// Number of distinct tokens.
    pub fn vocabulary(&self) -> usize {
        self.table.dims()[0]
    }

    /// Width of one vector.
    pub fn width(&self) -> usize {
        self.table.dims()[1]
    }

    /// The vectors of a batch.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - output: `[batch, positions, width]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        gather(self.table.val(), tokens)
    }
}

/// Rows of `table` for every token: a function of one token is computed once per vocabulary entry and looked up here.
///
/// # Shapes
/// - table: `[vocabulary, width]`
/// - tokens: `[batch, positions]`
/// - output: `[batch, positions, width]`
pub fn gather(table: Tensor<2>, tokens: Tensor<2, Int>) -> Tensor<3> {
    let [batch, positions] = tokens.dims();
    let [_, width] = table.dims();
    table.select(0, tokens.reshape([batch * positions])).reshape([batch, positions, width])
}

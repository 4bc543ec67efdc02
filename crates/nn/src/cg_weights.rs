//! Weights that combine invariant subspaces (Eq. 10): the part that every CG layer shares.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use crate::bases::{Bases, check_vectors};
use crate::dense::orthonormal;
use crate::layout::{BlockRows, Layout};
use crate::readout::replace;
use crate::{Error, Init, Result};

/// W = sum over M of B(M) omega(M), for neurons that see each point the groups move through one or more features.
///
/// Where:
/// - B(M): columns of `basis`, fixed;
/// - omega(M, .): the rows of `coefficients` that [`Layout`] assigns to M, trained.
#[derive(Module, Debug)]
pub struct CgWeights {
    /// Omega (Eq. 9), `[rank, features * neurons]`, neurons side by side.
    pub coefficients: Param<Tensor<2>>,
    /// All B(M) side by side, `[dim, rank]`; not trained.
    pub(crate) basis: Param<Tensor<2>>,
    /// 1 where a row belongs to a block, `[blocks, rank]`; not trained.
    pub(crate) membership: Param<Tensor<2>>,
    #[module(skip)]
    pub(crate) layout: Layout,
    #[module(skip)]
    features: usize,
}

impl CgWeights {
    /// Draws weights on the space of `bases`: coefficients uniform in +-1/sqrt(dim x features). With `imposed` they are
    /// confined to the span of those vectors, such as a basis of Bt(M) when the groups of M are imposed; the vectors need not
    /// be orthonormal. There is then one block, which is free: what is imposed needs no penalty.
    pub fn new(
        bases: &Bases,
        imposed: Option<&[Vec<f64>]>,
        features: usize,
        neurons: usize,
        init: &mut Init,
    ) -> Result<CgWeights> {
        bases.check()?;
        for (name, value) in [("neurons", neurons), ("features", features)] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", value));
            }
        }
        let dim = bases.dim;
        let (layout, vectors) = match imposed {
            None => {
                let sizes = bases.blocks.iter().map(|block| (block.level, block.vectors.len()));
                let vectors = bases.blocks.iter().flat_map(|block| block.vectors.clone()).collect();
                (Layout::new(bases.groups, sizes), vectors)
            }
            Some(given) => {
                let vectors = span(given, dim)?;
                (Layout::new(bases.groups, std::iter::once((bases.groups, vectors.len()))), vectors)
            }
        };
        let rank = vectors.len();
        let (basis, membership) = constants(&layout, &vectors);
        Ok(CgWeights {
            coefficients: init.uniform([rank, features * neurons], bound(dim * features)),
            basis: init.fixed(basis, [dim, rank]),
            membership: init.fixed(membership, [layout.blocks.len(), rank]),
            layout,
            features,
        })
    }

    /// Dimension of the space the groups act on.
    pub fn dim(&self) -> usize {
        self.basis.dims()[0]
    }

    /// Inputs per point with coefficients of their own.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of neurons H.
    pub fn neurons(&self) -> usize {
        self.coefficients.dims()[1] / self.features
    }

    /// The subspace blocks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// W, `[dim, features * neurons]`.
    pub fn weights(&self) -> Tensor<2> {
        self.basis.val().matmul(self.coefficients.val())
    }

    /// Squared norm of each block's coefficients ||omega(M, .)||^2, `[blocks]`.
    pub fn block_squares(&self) -> Tensor<1> {
        let rows = self.coefficients.val().square().sum_dim(1);
        let blocks = if self.layout.rows_are_blocks() { rows } else { self.membership.val().matmul(rows) };
        blocks.reshape([self.layout.blocks.len()])
    }

    /// Replaces the coefficients, row by row.
    pub fn set_coefficients(mut self, values: Vec<f32>) -> Result<Self> {
        let [rank, columns] = self.coefficients.dims();
        if values.len() != rank * columns {
            return Err(Error::shape("coefficients", format!("{rank} x {columns} values"), values.len()));
        }
        self.coefficients = replace(self.coefficients, values, [rank, columns]);
        Ok(self)
    }
}

/// Initial weights are uniform in +- this.
pub(crate) fn bound(fan_in: usize) -> f64 {
    1.0 / (fan_in as f64).sqrt()
}

/// An orthonormal basis of an imposed subspace.
pub(crate) fn span(vectors: &[Vec<f64>], dim: usize) -> Result<Vec<Vec<f64>>> {
    check_vectors("vector of the imposed subspace", vectors, dim)?;
    let vectors = orthonormal(vectors);
    if vectors.is_empty() {
        return Err(Error::shape("imposed subspace", "at least one nonzero vector", 0));
    }
    Ok(vectors)
}

/// The fixed matrices of a layer: basis vectors as columns, and which row of coefficients belongs to which block.
pub(crate) fn constants(layout: &Layout, vectors: &[Vec<f64>]) -> (Vec<f32>, Vec<f32>) {
    let (dim, rank) = (vectors[0].len(), vectors.len());
    let basis = (0..dim).flat_map(|i| vectors.iter().map(move |v| v[i] as f32)).collect();
    let belongs = |block: &BlockRows, r: usize| (block.start..block.start + block.len).contains(&r);
    let member = |block| (0..rank).map(move |r| f32::from(u8::from(belongs(block, r))));
    (basis, layout.blocks.iter().flat_map(member).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn basis_and_membership_get_no_gradient() {
        let device = Device::flex().autodiff();
        let layer = CgWeights::new(&Bases::sequence(3), None, 1, 2, &mut Init::new(0, &device)).unwrap();
        let grads = layer.weights().sum().backward();
        assert!(layer.coefficients.val().grad(&grads).is_some());
        assert!(layer.basis.val().grad(&grads).is_none());
    }

    #[test]
    fn coefficients_of_a_wrong_size_are_refused() {
        let layer = CgWeights::new(&Bases::sequence(3), None, 1, 2, &mut Init::new(0, &Device::flex())).unwrap();
        let message = layer.set_coefficients(vec![0.0; 5]).unwrap_err().to_string();
        assert_eq!(message, "coefficients: expected 3 x 2 values, got 5");
    }
}

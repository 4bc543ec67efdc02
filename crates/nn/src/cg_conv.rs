//! Convolutions: an ordinary one, and the CG-invariant one, whose filters are learned combinations of invariant subspaces
//! (Appendix E.1).

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use crate::cg_weights::{CgWeights, bound};
use crate::{Bases, Error, Init, Result, kernels};

/// An ordinary convolution that keeps the size of the image. It has no bias: the batch norm behind it has one.
#[derive(Module, Debug)]
pub struct Conv2d {
    /// `[outputs, inputs, side, side]`.
    pub filters: Param<Tensor<4>>,
}

impl Conv2d {
    /// Filters uniform in +-1/sqrt(fan-in).
    pub fn new(inputs: usize, side: usize, outputs: usize, init: &mut Init) -> Result<Self> {
        check_sizes(inputs, side, outputs)?;
        Ok(Self { filters: init.uniform([outputs, inputs, side, side], bound(inputs * side * side)) })
    }

    /// `[batch, height, width, inputs]` to `[batch, height, width, outputs]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        kernels::conv2d(x, self.filters.val())
    }
}

/// A convolution whose filters are sums over M of B(M) omega(M).
///
/// The lattice lives either on `side x side`, and then every pair of an input and an output channel has coefficients of its
/// own, or on `inputs x side x side`, when some group moves the input channels.
#[derive(Module, Debug)]
pub struct CgConv2d {
    /// sum over M of B(M) omega(M).
    pub weights: CgWeights,
    #[module(skip)]
    inputs: usize,
    #[module(skip)]
    side: usize,
}

impl CgConv2d {
    /// Coefficients uniform in +-1/sqrt(fan-in). The dimension of `bases` tells where the lattice lives; `imposed` confines
    /// the filters, as in [`CgWeights::new`].
    pub fn new(
        bases: &Bases,
        imposed: Option<&[Vec<f64>]>,
        inputs: usize,
        side: usize,
        outputs: usize,
        init: &mut Init,
    ) -> Result<Self> {
        check_sizes(inputs, side, outputs)?;
        let area = side * side;
        let features = match bases.dim {
            dim if dim == inputs * area => 1,
            dim if dim == area => inputs,
            dim => return Err(Error::shape("dimension of a filter's bases", format!("{area} or {}", inputs * area), dim)),
        };
        Ok(Self { weights: CgWeights::new(bases, imposed, features, outputs, init)?, inputs, side })
    }

    /// The filters, `[outputs, inputs, side, side]`.
    pub fn filters(&self) -> Tensor<4> {
        // Points of the lattice are taps of one input each, or of all inputs, one after the other.
        let filters = kernels::combine(self.weights.basis.val(), self.weights.coefficients.val(), self.weights.features());
        filters.reshape([self.weights.neurons(), self.inputs, self.side, self.side])
    }

    /// `[batch, height, width, inputs]` to `[batch, height, width, outputs]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        kernels::conv2d(x, self.filters())
    }

    /// The same layer as an ordinary convolution, bases multiplied out.
    pub fn fold(&self) -> Conv2d {
        Conv2d { filters: Param::from_tensor(self.filters().detach()) }
    }
}

/// A filter needs a centre, and something to read and to write.
pub(crate) fn check_sizes(inputs: usize, side: usize, outputs: usize) -> Result<()> {
    for (name, value) in [("input channels", inputs), ("output channels", outputs)] {
        if value == 0 {
            return Err(Error::setting(name, "at least 1", value));
        }
    }
    if side.is_multiple_of(2) { Err(Error::setting("side of a filter", "odd", side)) } else { Ok(()) }
}

#[cfg(test)]
#[path = "cg_conv_tests.rs"]
mod tests;

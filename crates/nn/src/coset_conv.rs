//! Convolution over the symmetries of the square with coset pooling: each filter looks in all eight directions, and the
//! strongest answer counts.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use crate::cg_conv::check_sizes;
use crate::cg_weights::bound;
use crate::directions::{SYMMETRIES, expand, from_points, square};
use crate::{Init, Result, kernels};

/// A G-convolution (p4m) with coset pooling: y = max over g of (psi turned by g) * x. Turning or mirroring the image turns or
/// mirrors the output.
#[derive(Module, Debug)]
pub struct CosetConv2d {
    /// psi, `[side * side, inputs * outputs]`, outputs side by side.
    pub filters: Param<Tensor<2>>,
    #[module(skip)]
    from: Vec<i32>,
    #[module(skip)]
    inputs: usize,
}

impl CosetConv2d {
    /// Filters uniform in +-1/sqrt(fan-in).
    pub fn new(inputs: usize, side: usize, outputs: usize, init: &mut Init) -> Result<Self> {
        check_sizes(inputs, side, outputs)?;
        let (area, from) = (side * side, from_points(&square(side)?));
        Ok(Self { filters: init.uniform([area, inputs * outputs], bound(inputs * area)), from, inputs })
    }

    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.filters.dims()[1] / self.inputs
    }

    /// Every filter in every direction, `[outputs * 8, inputs, side, side]`.
    pub fn expanded(&self) -> Tensor<4> {
        expand(self.filters.val(), &self.from, self.inputs)
    }

    /// `[batch, height, width, inputs]` to `[batch, height, width, outputs]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        kernels::fibre_max(kernels::conv2d(x, self.expanded()), SYMMETRIES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn gap(a: Tensor<4>, b: Tensor<4>) -> f32 {
        (a - b).abs().max().into_scalar()
    }

    #[test]
    fn the_output_turns_and_mirrors_with_the_image() {
        let mut init = Init::new(2, &Device::flex());
        for side in [3, 5] {
            let conv = CosetConv2d::new(2, side, 4, &mut init).unwrap();
            assert_eq!(conv.expanded().dims(), [32, 2, side, side]);
            for size in [6, 7] {
                let x = init.normal([3, size, size, 2], 1.0).val();
                let y = conv.forward(x.clone());
                let turn = |x: Tensor<4>| x.swap_dims(1, 2).flip([2]);
                assert!(gap(conv.forward(turn(x.clone())), turn(y.clone())) < 1e-5);
                assert!(gap(conv.forward(x.clone().flip([1])), y.clone().flip([1])) < 1e-5);
                assert!(gap(conv.forward(x.clone()), y.clone().flip([1])) > 1e-2);
            }
        }
    }

    #[test]
    fn the_identity_comes_first_and_all_directions_differ() {
        let conv = CosetConv2d::new(1, 3, 1, &mut Init::new(2, &Device::flex())).unwrap();
        let all: Vec<f32> = conv.expanded().into_data().try_to_vec().unwrap();
        let own: Vec<f32> = conv.filters.val().into_data().try_to_vec().unwrap();
        assert_eq!(all[..9], own[..]);
        for (i, a) in all.chunks(9).enumerate() {
            assert!(all.chunks(9).skip(i + 1).all(|b| a != b));
        }
    }
}

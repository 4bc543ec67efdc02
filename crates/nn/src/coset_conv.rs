//! Convolution over the symmetries of the square with coset pooling: each filter looks in all eight directions, and the
//! strongest answer counts.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor, TensorData};
use invar_algebra::{Group, Shape, candidates};

use crate::cg_conv::check_sizes;
use crate::cg_weights::bound;
use crate::elements::Elements;
use crate::{Init, Result, kernels};

/// The eight symmetries of a square, quarter turns and mirrors.
pub(crate) const SYMMETRIES: usize = 8;

/// The symmetries of a `side x side` grid as permutations of its points; a side of 3 or more tells all of them apart.
pub(crate) fn square(side: usize) -> Result<Elements> {
    let shape = Shape::new(&[side, side])?;
    let group = Group::join("p4m", &candidates(&shape, ["rot90(0,1)", "flip(0)"])?)?;
    Elements::of(&group, SYMMETRIES)
}

/// Rows of a table, as a tensor to select by.
pub(crate) fn rows(index: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(index.to_vec(), [index.len()]), device)
}

/// A G-convolution (p4m) with coset pooling: y = max over g of (psi turned by g) * x. Turning or mirroring the image turns or
/// mirrors the output.
#[derive(Module, Debug)]
pub struct CosetConv2d {
    /// psi, `[side * side, inputs * outputs]`, outputs side by side.
    pub filters: Param<Tensor<2>>,
    /// For each symmetry g and point p the point that g brings there, 8 x side x side.
    #[module(skip)]
    from: Vec<i32>,
    #[module(skip)]
    inputs: usize,
    #[module(skip)]
    side: usize,
}

impl CosetConv2d {
    /// Filters uniform in +-1/sqrt(fan-in).
    pub fn new(inputs: usize, side: usize, outputs: usize, init: &mut Init) -> Result<Self> {
        check_sizes(inputs, side, outputs)?;
        let symmetries = square(side)?;
        let area = side * side;
        let back = symmetries.list().iter().map(invar_algebra::Permutation::inverse);
        let from = back.flat_map(|undo| (0..area).map(move |p| undo.image(p) as i32).collect::<Vec<_>>()).collect();
        Ok(Self { filters: init.uniform([area, inputs * outputs], bound(inputs * area)), from, inputs, side })
    }

    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.filters.dims()[1] / self.inputs
    }

    /// Every filter in every direction, `[outputs * 8, inputs, side, side]`: an exact permutation of its points.
    pub fn expanded(&self) -> Tensor<4> {
        let (outputs, area) = (self.outputs(), self.side * self.side);
        let directions = self.from.len() / area;
        let filters = self.filters.val();
        let turned = filters.clone().select(0, rows(&self.from, &filters.device()));
        let turned = turned.reshape([directions, area, self.inputs, outputs]).permute([3, 0, 2, 1]);
        turned.reshape([outputs * directions, self.inputs, self.side, self.side])
    }

    /// `[batch, inputs, height, width]` to `[batch, outputs, height, width]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let directions = self.from.len() / (self.side * self.side);
        kernels::group_max(kernels::conv2d(x, self.expanded(), self.side / 2), directions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                let x = init.normal([3, 2, size, size], 1.0).val();
                let y = conv.forward(x.clone());
                let turn = |x: Tensor<4>| x.swap_dims(2, 3).flip([3]);
                assert!(gap(conv.forward(turn(x.clone())), turn(y.clone())) < 1e-5);
                assert!(gap(conv.forward(x.clone().flip([2])), y.clone().flip([2])) < 1e-5);
                assert!(gap(conv.forward(x.clone()), y.clone().flip([2])) > 1e-2);
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

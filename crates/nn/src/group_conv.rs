//! Convolutions over quarter turns and mirrors (p4m): ordinary convolutions with expanded filters, whose outputs have one
//! channel per direction.
//!
//! Channels are `channel * 8 + direction`. When the image moves by h, the answer of direction g moves in the plane and to
//! direction h g.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use crate::cg_conv::check_sizes;
use crate::cg_weights::{CgWeights, bound};
use crate::directions::{SYMMETRIES, expand, from_directions, from_points, square};
use crate::kernels::{self, Turns};
use crate::lattices::LayerLattice;
use crate::{Error, Init, Result};

/// From an image to one answer per direction: y_g(p) = sum over q of psi(g^-1 q) x(p + q).
///
/// Filters are CG-invariant in the input channels: the lattice lives there, and each point of a filter has coefficients of
/// its own.
#[derive(Module, Debug)]
pub struct LiftConv2d {
    /// sum over M of B(M) omega(M), `[channels, side * side * outputs]`.
    pub weights: CgWeights,
    #[module(skip)]
    from: Vec<i32>,
}

impl LiftConv2d {
    /// Coefficients uniform in +-1/sqrt(fan-in), on the lattice of the channels.
    pub fn new(
        channels: &LayerLattice,
        imposed: Option<&[Vec<f64>]>,
        side: usize,
        outputs: usize,
        init: &mut Init,
    ) -> Result<Self> {
        check_sizes(channels.bases().dim, side, outputs)?;
        let weights = CgWeights::new(channels.bases(), imposed, side * side, outputs, init)?;
        Ok(Self { weights, from: from_points(&directions(side)?) })
    }

    /// The expanded filters, `[outputs * 8, channels, side, side]`.
    pub fn expanded(&self) -> Tensor<4> {
        let (channels, area, outputs) = (self.weights.dim(), self.weights.features(), self.weights.neurons());
        let filters = self.weights.weights().reshape([channels, area, outputs]).swap_dims(0, 1);
        expand(filters.reshape([area, channels * outputs]), &self.from, channels)
    }

    /// `[batch, height, width, channels]` to `[batch, height, width, outputs * 8]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        kernels::conv2d(x, self.expanded())
    }
}

/// From directions to directions: y_g(p) = sum over h and q of psi(g^-1 h, g^-1 q) x_h(p + q).
#[derive(Module, Debug)]
pub struct GroupConv2d {
    /// psi, `[8 * side * side, inputs * outputs]`, outputs side by side.
    pub filters: Param<Tensor<2>>,
    #[module(skip)]
    from: Vec<i32>,
    #[module(skip)]
    inputs: usize,
}

impl GroupConv2d {
    /// Filters uniform in +-1/sqrt(fan-in).
    pub fn new(inputs: usize, side: usize, outputs: usize, init: &mut Init) -> Result<Self> {
        check_sizes(inputs, side, outputs)?;
        let points = SYMMETRIES * side * side;
        let from = from_directions(&directions(side)?, side * side);
        Ok(Self { filters: init.uniform([points, inputs * outputs], bound(inputs * points)), from, inputs })
    }

    /// The expanded filters, `[outputs * 8, inputs * 8, side, side]`.
    pub fn expanded(&self) -> Tensor<4> {
        let [points, columns] = self.filters.dims();
        let (inputs, outputs, area) = (self.inputs, columns / self.inputs, points / SYMMETRIES);
        let from = self.from.iter().map(|&row| row as usize).collect();
        // Inputs with their directions side by side.
        let turned = kernels::turn(self.filters.val(), Turns { from, points, inputs });
        let side = area.isqrt();
        turned.reshape([outputs * SYMMETRIES, inputs * SYMMETRIES, side, side])
    }

    /// `[batch, height, width, inputs * 8]` to `[batch, height, width, outputs * 8]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        kernels::conv2d(x, self.expanded())
    }
}

/// A single point looks the same from every side, so that directions could not be told apart.
fn directions(side: usize) -> Result<crate::Elements> {
    if side < 3 {
        return Err(Error::setting("side of a filter with directions", "3 or more", side));
    }
    square(side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pass;
    use crate::batch_norm::BatchNorm;
    use crate::directions::rows;
    use crate::elements::permutation;
    use crate::image_groups::ImageGroups;
    use burn::tensor::Device;
    use invar_algebra::{Action, Shape, candidates};

    /// Moves an image by an element of the square's symmetries; `side` fits the image.
    fn moved(x: Tensor<4>, element: &Action) -> Tensor<4> {
        let dims = x.dims();
        let [batch, side, _, channels] = dims;
        let from: Vec<i32> = permutation(element).unwrap().inverse().images().iter().map(|p| *p as i32).collect();
        let index = rows(&from, &x.device());
        x.reshape([batch, side * side, channels]).select(1, index).reshape(dims)
    }

    /// What the answers become: each direction moves in the plane, and to direction h g.
    fn moved_answers(y: Tensor<4>, number: usize, side: usize) -> Tensor<4> {
        let [batch, _, _, channels] = y.dims();
        let (small, large) = (square(3).unwrap(), square(side).unwrap());
        let left = small.left(&small.list()[number]).unwrap().inverse();
        let from: Vec<i32> = (0..channels).map(|c| (c / 8 * 8 + left.image(c % 8)) as i32).collect();
        let index = rows(&from, &y.device());
        assert_eq!(y.dims(), [batch, side, side, channels]);
        moved(y.select(3, index), &large.list()[number])
    }

    fn gap(a: Tensor<4>, b: Tensor<4>) -> f32 {
        (a - b).abs().max().into_scalar()
    }

    #[test]
    fn every_layer_commutes_with_all_eight() {
        let mut init = Init::new(3, &Device::flex());
        let shape: Shape = "3x3x3".parse().unwrap();
        let groups = ImageGroups::new(&candidates(&shape, ["permute(0)"]).unwrap()).unwrap();
        let lift = LiftConv2d::new(&groups.channel_layer().unwrap(), None, 3, 2, &mut init).unwrap();
        let next = GroupConv2d::new(2, 3, 3, &mut init).unwrap();
        assert_eq!(next.expanded().dims(), [24, 16, 3, 3]);
        let norm = BatchNorm::new(2, &init).unwrap().shared_by(8);
        for side in [4, 5, 6] {
            let elements = square(side).unwrap();
            let x = init.normal([2, side, side, 3], 1.0).val();
            let (y, z) = (lift.forward(x.clone()), next.forward(lift.forward(x.clone())));
            let train = || Pass::train(crate::rng(0, 0));
            let normed = |y: Tensor<4>| norm.forward(y, None, &mut train());
            for (number, element) in elements.list().iter().enumerate() {
                let turned = lift.forward(moved(x.clone(), element));
                assert!(gap(turned.clone(), moved_answers(y.clone(), number, side)) < 1e-5);
                assert!(gap(next.forward(turned.clone()), moved_answers(z.clone(), number, side)) < 1e-5);
                assert!(gap(normed(turned), moved_answers(normed(y.clone()), number, side)) < 1e-5);
                assert_eq!(gap(moved_answers(z.clone(), number, side), z.clone()) < 1e-5, element.is_identity());
            }
        }
    }

    #[test]
    fn a_single_point_has_no_direction() {
        let error = GroupConv2d::new(1, 1, 1, &mut Init::new(0, &Device::flex())).unwrap_err();
        assert!(error.to_string().contains("3 or more"), "{error}");
    }
}

//! The eight directions a square filter can look in: quarter turns and mirrors, as exact permutations of its points.

use burn::tensor::{Device, Int, Tensor, TensorData};
use invar_algebra::{Action, Group, Permutation, Shape, candidates};

use crate::Result;
use crate::elements::Elements;
use crate::kernels::{self, Turns};

/// The symmetries of a square (p4m at a point).
pub(crate) const SYMMETRIES: usize = 8;

/// The symmetries of a `side x side` grid as permutations of its points; a side of 3 or more tells all of them apart.
pub(crate) fn square(side: usize) -> Result<Elements> {
    let shape = Shape::new(&[side, side])?;
    let group = Group::join("p4m", &candidates(&shape, ["rot90(0,1)", "flip(0)"])?)?;
    Elements::of(&group, SYMMETRIES)
}

/// What undoes each of them.
fn inverses(elements: &Elements) -> impl Iterator<Item = Permutation> {
    elements.list().iter().map(|element| match element {
        Action::Permutation(permutation) => permutation.inverse(),
        _ => unreachable!("turns and mirrors move points"),
    })
}

/// For each element g and point p the point that g brings there, g^-1 p: psi turned by g is psi(g^-1 p).
pub(crate) fn from_points(elements: &Elements) -> Vec<i32> {
    inverses(elements).flat_map(|undo| undo.images().iter().map(|p| *p as i32).collect::<Vec<_>>()).collect()
}

/// For each element g, direction h and point p the direction and point that g brings there, (g^-1 h, g^-1 p), as a number
/// direction x points + point: how a filter on directions and points turns.
pub(crate) fn from_directions(elements: &Elements, points: usize) -> Vec<i32> {
    let mut from = Vec::new();
    for undo in inverses(elements) {
        let left = elements.left(&Action::Permutation(undo.clone())).expect("an inverse of an element is an element");
        let point = |h: usize, p: usize| (left.image(h) * points + undo.image(p)) as i32;
        from.extend((0..elements.list().len()).flat_map(|h| (0..points).map(move |p| (h, p))).map(|(h, p)| point(h, p)));
    }
    from
}

/// Chosen numbers as a tensor to select by.
pub(crate) fn rows(index: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(index.to_vec(), [index.len()]), device)
}

/// Filters in every direction, those of one output side by side.
///
/// # Shapes
/// - filters: `[side * side, inputs * outputs]`
/// - from: as [`from_points`] gives it
/// - output: `[outputs * directions, inputs, side, side]`
pub(crate) fn expand(filters: Tensor<2>, from: &[i32], inputs: usize) -> Tensor<4> {
    let [area, columns] = filters.dims();
    let (outputs, side, channels) = (columns / inputs, area.isqrt(), from.len() / area);
    let from = from.iter().map(|&row| row as usize).collect();
    let turned = kernels::turn(filters, Turns { from, points: area, inputs });
    turned.reshape([outputs * channels, inputs, side, side])
}

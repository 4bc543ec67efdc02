//! The shapes of results.

use super::graph::Dim;

/// A shape for people.
pub(super) fn show(shape: &[Dim]) -> String {
    let sizes: Vec<String> = shape
        .iter()
        .map(|dim| match dim {
            Dim::Batch => "batch".to_owned(),
            Dim::Fixed(size) => size.to_string(),
        })
        .collect();
    if sizes.is_empty() { "()".to_owned() } else { sizes.join("x") }
}

/// The shape of a result computed entry by entry: axes are matched from the last, and those of size 1 are repeated.
pub(super) fn broadcast(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let rank = a.len().max(b.len());
    let padded = |shape: &[Dim], axis: usize| {
        let missing = rank - shape.len();
        if axis < missing { Dim::Fixed(1) } else { shape[axis - missing] }
    };
    let join = |axis| match (padded(a, axis), padded(b, axis)) {
        (one, other) if one == other => Some(one),
        (Dim::Fixed(1), other) | (other, Dim::Fixed(1)) => Some(other),
        _ => None,
    };
    (0..rank).map(join).collect()
}

/// The product of sizes that are all known.
pub(super) fn product(shape: &[Dim]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, dim| match dim {
        Dim::Fixed(size) => product.checked_mul(*size),
        Dim::Batch => None,
    })
}

/// The shape of a matrix product of the last two axes, the others matched entry by entry.
pub(super) fn matmul(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let ([lead @ .., rows, inner], [other @ .., inner_b, columns]) = (a, b) else { return None };
    if inner != inner_b || *inner == Dim::Batch {
        return None;
    }
    let mut shape = broadcast(lead, other)?;
    shape.extend([*rows, *columns]);
    Some(shape)
}

/// How many places a window of `size` has on a side.
pub(super) fn places(side: Dim, size: usize, stride: usize, pads: usize) -> Option<Dim> {
    let Dim::Fixed(side) = side else { return None };
    let room = side.checked_add(pads)?.checked_sub(size)?;
    (size > 0 && stride > 0).then(|| Dim::Fixed(room / stride + 1))
}

/// The shape that is left when `axes` are summed up.
pub(super) fn reduce(shape: &[Dim], axes: &[usize], keep: bool) -> Option<Vec<Dim>> {
    let mut seen = Vec::new();
    for &axis in axes {
        if axis >= shape.len() || seen.contains(&axis) {
            return None;
        }
        seen.push(axis);
    }
    let left = shape.iter().enumerate().filter_map(
        |(axis, &dim)| {
            if axes.contains(&axis) { keep.then_some(Dim::Fixed(1)) } else { Some(dim) }
        },
    );
    Some(left.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dim::{Batch, Fixed};

    #[test]
    fn shapes_follow_the_rules() {
        assert_eq!(broadcast(&[Batch, Fixed(3)], &[Fixed(3)]), Some(vec![Batch, Fixed(3)]));
        assert_eq!(broadcast(&[Batch, Fixed(1)], &[Fixed(1), Fixed(4)]), Some(vec![Batch, Fixed(4)]));
        assert_eq!(broadcast(&[Batch], &[Fixed(2)]), None);
        assert_eq!(matmul(&[Batch, Fixed(2), Fixed(3)], &[Fixed(3), Fixed(4)]), Some(vec![Batch, Fixed(2), Fixed(4)]));
        assert_eq!(matmul(&[Batch, Fixed(3)], &[Fixed(4), Fixed(3)]), None);
        assert_eq!(places(Fixed(7), 3, 2, 2), Some(Fixed(4)));
        assert_eq!(places(Fixed(2), 3, 1, 0), None);
        assert_eq!(reduce(&[Batch, Fixed(2), Fixed(3)], &[2], false), Some(vec![Batch, Fixed(2)]));
        assert_eq!(reduce(&[Batch, Fixed(2)], &[1, 1], true), None);
        assert_eq!(product(&[Fixed(2), Fixed(3)]), Some(6));
    }
}

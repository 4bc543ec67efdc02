//! Operators on axes: reshaping, reordering, gathering, reducing.

use super::array::{Array, room};
use super::{Step, Taken};
use crate::error::dims;
use crate::run::vector::transposed;

pub(super) fn reshape(taken: &Taken<'_>) -> Step<Array> {
    let (x, wanted) = (taken.array(0)?, taken.array(1)?.as_integers()?);
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, &side) in wanted.iter().enumerate() {
        shape.push(match side {
            0 if taken.integer("allowzero", 0) != 0 => 0,
            // As many as there were.
            0 => *x.shape.get(axis).ok_or("a size is taken over from an axis that is not there")?,
            -1 => 1,
            side => usize::try_from(side).map_err(|_| format!("a side of {side}"))?,
        });
    }
    if let Some(free) = wanted.iter().position(|&side| side == -1) {
        let others = room(&shape)?.max(1);
        if !x.len().is_multiple_of(others) {
            return Err(format!("shape {} does not fit {wanted:?}", dims(&x.shape)));
        }
        shape[free] = x.len() / others;
    }
    x.reshaped(shape)
}

pub(super) fn flatten(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let axis = taken.integer("axis", 1);
    let axis = if axis == x.shape.len() as i64 { x.shape.len() } else { Taken::axis(axis, x.shape.len())? };
    let (first, rest) = x.shape.split_at(axis);
    x.reshaped(vec![first.iter().product(), rest.iter().product()])
}

pub(super) fn transpose(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let order: Vec<usize> = match taken.integers("perm") {
        Some(order) => order.iter().map(|&axis| Taken::axis(axis, x.shape.len())).collect::<Step<_>>()?,
        None => (0..x.shape.len()).rev().collect(),
    };
    reorder(x, &order)
}

/// The axes in another order.
pub(super) fn reorder(x: &Array, order: &[usize]) -> Step<Array> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..x.shape.len()) {
        return Err(format!("{order:?} is no order of the axes of {}", dims(&x.shape)));
    }
    let shape: Vec<usize> = order.iter().map(|&axis| x.shape[axis]).collect();
    x.picked(&shape, &transposed(&x.shape, order))
}

pub(super) fn squeeze(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let axes = match taken.axes()? {
        Some(axes) => axes.iter().map(|&axis| Taken::axis(axis, x.shape.len())).collect::<Step<Vec<_>>>()?,
        None => (0..x.shape.len()).filter(|&axis| x.shape[axis] == 1).collect(),
    };
    let kept = x.shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, &side)| side);
    x.reshaped(kept.collect())
}

pub(super) fn unsqueeze(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let axes = taken.axes()?.ok_or("it needs axes")?;
    let count = x.shape.len() + axes.len();
    let axes = axes.iter().map(|&axis| Taken::axis(axis, count)).collect::<Step<Vec<_>>>()?;
    let mut rest = x.shape.iter();
    let shape = (0..count).map(|axis| if axes.contains(&axis) { Some(1) } else { rest.next().copied() });
    x.reshaped(shape.collect::<Option<Vec<_>>>().ok_or("an axis is named twice")?)
}

pub(super) fn concat(taken: &Taken<'_>) -> Step<Array> {
    let first = taken.array(0)?;
    let axis = Taken::axis(taken.integer("axis", 0), first.shape.len())?;
    let parts = (0..taken.node.inputs.len()).map(|index| taken.array(index)).collect::<Step<Vec<_>>>()?;
    let others = |shape: &[usize]| [&shape[..axis], &shape[axis + 1..]].concat();
    if parts.iter().any(|part| part.shape.len() != first.shape.len() || others(&part.shape) != others(&first.shape)) {
        return Err("the other axes differ".into());
    }
    let mut shape = first.shape.clone();
    shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
    let (outer, _, inner) = first.around(axis);
    let wide = |part: &Array| part.shape[axis] * inner;
    taken.ledger.room(&shape)?;
    if let Ok(parts) = parts.iter().map(|part| part.as_integers().map(|values| (wide(part), values))).collect::<Step<Vec<_>>>() {
        let all = (0..outer).flat_map(|o| parts.iter().flat_map(move |(wide, values)| &values[o * wide..(o + 1) * wide]));
        return Array::integers(&shape, all.copied().collect());
    }
    let parts = parts.iter().map(|part| Ok((wide(part), part.as_floats()?))).collect::<Step<Vec<_>>>()?;
    let all = (0..outer).flat_map(|o| parts.iter().flat_map(move |(wide, values)| &values[o * wide..(o + 1) * wide]));
    Array::floats(&shape, all.copied().collect())
}

pub(super) fn gather(taken: &Taken<'_>) -> Step<Array> {
    let (x, numbers) = (taken.array(0)?, taken.array(1)?);
    let axis = Taken::axis(taken.integer("axis", 0), x.shape.len())?;
    let (outer, side, inner) = x.around(axis);
    let list = numbers.as_integers()?.iter().map(|&number| Taken::axis(number, side)).collect::<Step<Vec<_>>>()?;
    let shape = [&x.shape[..axis], &numbers.shape, &x.shape[axis + 1..]].concat();
    taken.ledger.room(&shape)?;
    let mut places = Vec::with_capacity(outer * list.len() * inner);
    for o in 0..outer {
        for number in &list {
            places.extend((0..inner).map(|i| (o * side + number) * inner + i));
        }
    }
    x.picked(&shape, &places)
}

/// Sums, means and largest values over axes.
pub(super) fn reduce(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let count = x.shape.len();
    let axes = match taken.axes()? {
        Some(axes) if !axes.is_empty() => axes.iter().map(|&axis| Taken::axis(axis, count)).collect::<Step<Vec<_>>>()?,
        _ => (0..count).collect(),
    };
    let values = x.as_floats()?;
    // Axes that go lie last, so that what is brought together lies side by side.
    let kept: Vec<usize> = (0..count).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().copied().chain((0..count).filter(|axis| axes.contains(axis))).collect();
    let places = transposed(&x.shape, &order);
    let width: usize = axes_width(&x.shape, &kept);
    let each = |places: &[usize]| {
        let values = places.iter().map(|&place| values[place]);
        match taken.node.operator.as_str() {
            "ReduceMax" => values.fold(f32::NEG_INFINITY, f32::max),
            "ReduceMean" => (values.map(f64::from).sum::<f64>() / width as f64) as f32,
            _ => values.map(f64::from).sum::<f64>() as f32,
        }
    };
    let shape: Vec<usize> = if taken.integer("keepdims", 1) == 0 {
        kept.iter().map(|&axis| x.shape[axis]).collect()
    } else {
        (0..count).map(|axis| if axes.contains(&axis) { 1 } else { x.shape[axis] }).collect()
    };
    Array::floats(&shape, places.chunks(width.max(1)).map(each).collect())
}

/// Entries that become one.
fn axes_width(shape: &[usize], kept: &[usize]) -> usize {
    (0..shape.len()).filter(|axis| !kept.contains(axis)).map(|axis| shape[axis]).product()
}

//! Operators on numbers: products, sums, functions of one entry.

use super::array::{Array, Data};
use super::ledger::Ledger;
use super::{Step, Taken};
use crate::Activation;
use crate::error::dims;
use crate::run::erf;

/// alpha A B + beta C, either transposed.
pub(super) fn gemm(taken: &Taken<'_>) -> Step<Array> {
    let side = |index: usize, name: &str| -> Step<Array> {
        let matrix = taken.array(index)?;
        if matrix.shape.len() != 2 {
            return Err(format!("expected a matrix, got shape {}", dims(&matrix.shape)));
        }
        if taken.integer(name, 0) == 0 { Ok(matrix.clone()) } else { super::axes::reorder(matrix, &[1, 0]) }
    };
    let product = matmul(taken.ledger, &side(0, "transA")?, &side(1, "transB")?)?;
    let alpha = taken.float("alpha", 1.0);
    let scaled = map(&product, |x| alpha * x)?;
    match taken.optional(2) {
        None => Ok(scaled),
        Some(shift) => {
            let beta = taken.float("beta", 1.0);
            broadcast(taken.ledger, &scaled, &map(shift, |x| beta * x)?, |a, b| a + b)
        }
    }
}

/// The product over the last two axes; the axes before them must agree, or the second has none.
pub(super) fn matmul(ledger: &Ledger, a: &Array, b: &Array) -> Step<Array> {
    let misfit = || format!("matrices of shapes {} and {} do not fit", dims(&a.shape), dims(&b.shape));
    let ([outer @ .., m, k], [batch @ .., l, n]) = (&a.shape[..], &b.shape[..]) else { return Err(misfit()) };
    if k != l || !(batch.is_empty() || batch == outer) {
        return Err(misfit());
    }
    let (m, k, n) = (*m, *k, *n);
    let shape: Vec<usize> = outer.iter().copied().chain([m, n]).collect();
    let entries = ledger.room(&shape)?;
    ledger.work(entries as f64 * k as f64)?;
    let mut values = vec![0.0f32; entries];
    let (x, y) = (a.as_floats()?, b.as_floats()?);
    for (row, to) in values.chunks_mut(n.max(1)).enumerate() {
        let from = &x[row * k..][..k];
        let matrix = if batch.is_empty() { y } else { &y[row / m * k * n..][..k * n] };
        for (column, to) in to.iter_mut().enumerate() {
            *to = from.iter().enumerate().map(|(i, &a)| f64::from(a) * f64::from(matrix[i * n + column])).sum::<f64>() as f32;
        }
    }
    Array::floats(&shape, values)
}

/// Sums, differences, products and quotients, axes of size 1 repeated.
pub(super) fn pair(taken: &Taken<'_>) -> Step<Array> {
    let (a, b, ledger) = (taken.array(0)?, taken.array(1)?, taken.ledger);
    match taken.node.operator.as_str() {
        "Add" => broadcast(ledger, a, b, |a, b| a + b),
        "Sub" => broadcast(ledger, a, b, |a, b| a - b),
        "Mul" => broadcast(ledger, a, b, |a, b| a * b),
        _ => broadcast(ledger, a, b, |a, b| a / b),
    }
}

/// The largest or the smallest of any number of arrays, entry by entry.
pub(super) fn extreme(taken: &Taken<'_>) -> Step<Array> {
    let largest = taken.node.operator == "Max";
    // What is no number stays none.
    let pick = |a: f32, b: f32| if a.is_nan() || (!b.is_nan() && (a > b) == largest) { a } else { b };
    (1..taken.arguments.len())
        .try_fold(taken.array(0)?.clone(), |so_far, k| broadcast(taken.ledger, &so_far, taken.array(k)?, pick))
}

fn broadcast(ledger: &Ledger, a: &Array, b: &Array, f: impl Fn(f32, f32) -> f32) -> Step<Array> {
    let (x, y) = (a.as_floats()?, b.as_floats()?);
    let axes = a.shape.len().max(b.shape.len());
    let side = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(axes).map_or(1, |axis| shape[axis]);
    let mut shape = Vec::with_capacity(axes);
    for axis in 0..axes {
        shape.push(match (side(&a.shape, axis), side(&b.shape, axis)) {
            (p, q) if p == q => p,
            (1, q) => q,
            (p, 1) => p,
            _ => return Err(format!("shapes {} and {} do not fit", dims(&a.shape), dims(&b.shape))),
        });
    }
    let count = ledger.room(&shape)?;
    ledger.pass(&shape)?;
    let place = |from: &[usize], index: usize| {
        let (mut rest, mut place, mut stride) = (index, 0, 1);
        for axis in (0..axes).rev() {
            let at = rest % shape[axis];
            rest /= shape[axis];
            let side = side(from, axis);
            place += if side == 1 { 0 } else { at * stride };
            stride *= side;
        }
        place
    };
    Array::floats(&shape, (0..count).map(|i| f(x[place(&a.shape, i)], y[place(&b.shape, i)])).collect())
}

/// Functions of one entry.
pub(super) fn single(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    let bound = |index: usize| taken.optional(index).map(|bound| bound.as_floats()).transpose();
    match taken.node.operator.as_str() {
        "Identity" | "Dropout" => Ok(x.clone()),
        "Cast" => cast(x, taken.integer("to", 0)),
        "Abs" => map(x, f32::abs),
        "Neg" => map(x, |x| -x),
        "Exp" => map(x, f32::exp),
        "Sqrt" => map(x, f32::sqrt),
        "Erf" => map(x, |x| erf(f64::from(x)) as f32),
        "Relu" => map(x, |x| Activation::Relu.apply(x)),
        "Sigmoid" => map(x, |x| Activation::Sigmoid.apply(x)),
        "Tanh" => map(x, f32::tanh),
        "LeakyRelu" => {
            let slope = taken.float("alpha", 0.01);
            map(x, |x| if x < 0.0 { slope * x } else { x })
        }
        _ => {
            let (low, high) = (bound(1)?.and_then(|b| b.first().copied()), bound(2)?.and_then(|b| b.first().copied()));
            let (low, high) = (low.unwrap_or(f32::MIN), high.unwrap_or(f32::MAX));
            map(x, |x| x.max(low).min(high))
        }
    }
}

/// To 32-bit floats (type 1), or to whole numbers of 32 or 64 bits (types 6 and 7).
fn cast(x: &Array, to: i64) -> Step<Array> {
    match (&x.data, to) {
        (Data::Integers(values), 1) => Array::floats(&x.shape, values.iter().map(|&value| value as f32).collect()),
        (Data::Floats(values), 6 | 7) => Array::integers(&x.shape, values.iter().map(|&value| value as i64).collect()),
        (Data::Floats(_), 1) | (Data::Integers(_), 6 | 7) => Ok(x.clone()),
        _ => Err(format!("a cast to type {to} is not known here")),
    }
}

fn map(x: &Array, f: impl Fn(f32) -> f32) -> Step<Array> {
    Array::floats(&x.shape, x.as_floats()?.iter().map(|&x| f(x)).collect())
}

pub(super) fn softmax(taken: &Taken<'_>) -> Step<Array> {
    let x = taken.array(0)?;
    // Until version 12 it was that of all axes from this one on together.
    let old = taken.version.is_some_and(|version| version < 13);
    let axis = Taken::axis(taken.integer("axis", if old { 1 } else { -1 }), x.shape.len())?;
    if old && x.shape[axis + 1..].iter().any(|&side| side != 1) {
        return Err("a softmax of several axes, as of operators before version 13, is not known here".into());
    }
    let (_, side, inner) = x.around(axis);
    let mut values = x.as_floats()?.to_vec();
    for block in values.chunks_mut((side * inner).max(1)) {
        for i in 0..inner {
            let places = || (0..side).map(|k| k * inner + i);
            let top = places().map(|p| block[p]).fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = places().map(|p| (block[p] - top).exp()).sum();
            for p in places() {
                block[p] = (block[p] - top).exp() / sum;
            }
        }
    }
    Array::floats(&x.shape, values)
}

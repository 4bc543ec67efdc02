//! How operations that bring several entries together follow a generator.

use std::collections::HashMap;

use super::moves::Moves;
use crate::op::{Op, Pooling};
use crate::row_sets::RowSets;
use crate::tensor::Tensor;

/// How the entries of a set become one value.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Largest,
    /// A sum or mean: when all signs change, so does its own.
    Sum,
}

/// The moves behind a pooling: the entries of each output must go to the entries of an output.
pub(super) fn follow(op: &Op, shape: &[usize], moves: &Moves) -> Result<Moves, String> {
    if let Op::PoolRows { sums, largest } = op {
        return rows(sums, largest, shape, moves);
    }
    let (sets, of) = sets(op, shape);
    followed(&sets, of, moves).map_err(|missed| if missed { misses(op, shape) } else { SIGN.into() })
}

/// Sums and largest values of sets of rows, one after the other.
fn rows(sums: &Tensor, largest: &Tensor, shape: &[usize], moves: &Moves) -> Result<Moves, String> {
    let Some(sets) = RowSets::of(sums, largest) else { return Err("its sets of rows are none".into()) };
    let width = shape[1];
    let entries = |sets: &[Vec<usize>]| -> Vec<Vec<usize>> {
        let column = |set: &Vec<usize>, c: usize| set.iter().map(|row| row * width + c).collect();
        sets.iter().flat_map(|set| (0..width).map(move |c| column(set, c))).collect()
    };
    let reason = |missed: bool| if missed { "rows that are brought together do not stay together" } else { SIGN };
    let mut all = followed(&entries(&sets.sums), Of::Sum, moves).map_err(reason)?;
    let count = all.len();
    let behind = followed(&entries(&sets.largest), Of::Largest, moves).map_err(reason)?;
    all.to.extend(behind.to.iter().map(|to| count + to));
    all.negative.extend(behind.negative);
    Ok(all)
}

const SIGN: &str = "a change of sign does not pass through it";

/// Where each set goes; else whether one goes to no set.
fn followed(sets: &[Vec<usize>], of: Of, moves: &Moves) -> Result<Moves, bool> {
    // Sets of one kind differ in their first entry.
    let number: HashMap<usize, usize> = sets.iter().enumerate().map(|(j, set)| (set[0], j)).collect();
    let (mut to, mut negative) = (Vec::with_capacity(sets.len()), Vec::with_capacity(sets.len()));
    for set in sets {
        let mut moved: Vec<usize> = set.iter().map(|&i| moves.to[i]).collect();
        moved.sort_unstable();
        let goes = number.get(&moved[0]).filter(|&&j| sets[j] == moved).ok_or(true)?;
        let minus = moves.negative[set[0]];
        if set.iter().any(|&i| moves.negative[i] != minus) || (minus && of == Of::Largest) {
            return Err(false);
        }
        to.push(*goes);
        negative.push(minus);
    }
    Ok(Moves { to, negative })
}

/// The entries of each output, ascending.
fn sets(op: &Op, shape: &[usize]) -> (Vec<Vec<usize>>, Of) {
    let (channels, height, width) = (shape[0], shape[1], shape[2]);
    let area = height * width;
    match op {
        Op::MaxPool { window, stride } => {
            let places = |side: usize, axis: usize| (0..=side - window[axis]).step_by(stride[axis]).collect::<Vec<_>>();
            let (rows, columns) = (places(height, 0), places(width, 1));
            let at = |c: usize, top: usize, left: usize| {
                let row = move |row: usize| (0..window[1]).map(move |x| c * area + (top + row) * width + left + x);
                (0..window[0]).flat_map(row).collect()
            };
            let corners = (0..channels).flat_map(|c| rows.iter().map(move |&top| (c, top)));
            let corners = corners.flat_map(|(c, top)| columns.iter().map(move |&left| (c, top, left)));
            (corners.map(|(c, top, left)| at(c, top, left)).collect(), Of::Largest)
        }
        Op::GroupMax { size } => {
            let one = |j: usize| (0..*size).map(|k| (j / area * size + k) * area + j % area).collect();
            ((0..channels / size * area).map(one).collect(), Of::Largest)
        }
        Op::PoolSpace { pooling: Pooling::Sum | Pooling::Mean } => {
            ((0..channels).map(|c| (c * area..(c + 1) * area).collect()).collect(), Of::Sum)
        }
        // The sum of channels; the caller asks about no other.
        _ => ((0..area).map(|p| (0..channels).map(|c| c * area + p).collect()).collect(), Of::Sum),
    }
}

/// Why sets do not go to sets.
fn misses(op: &Op, shape: &[usize]) -> String {
    let Op::MaxPool { window, stride } = op else {
        return "entries that are brought together do not stay together".into();
    };
    for (axis, what) in [(1, "column"), (0, "row")] {
        let side = shape[axis + 1];
        let dropped = (side - window[axis]) % stride[axis];
        if dropped > 0 {
            let lost = if dropped == 1 { format!("a {what}") } else { format!("{dropped} {what}s") };
            return format!("max pooling {} on side {side} drops {lost}", window[axis]);
        }
    }
    "windows do not go to windows".into()
}

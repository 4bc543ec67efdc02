//! How operations that bring several entries together follow a generator.

use std::collections::HashMap;

use super::moves::Moves;
use crate::op::{Op, Pooling};
use crate::row_sets::RowSets;

/// How the entries of a set become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Of {
    Largest,
    /// When all signs change, so does its own.
    Sum,
    /// The same.
    Mean,
}

/// The entries that an output is made of, ascending, and how.
type Set = (Vec<usize>, Of);

/// The moves behind a pooling: the entries of each output must go to the entries of an output.
pub(super) fn follow(op: &Op, shape: &[usize], moves: &Moves) -> Result<Moves, String> {
    let sets = sets(op, shape)?;
    // Sets of one kind differ in their first entry.
    let number: HashMap<(usize, Of), usize> = sets.iter().enumerate().map(|(j, (set, of))| ((set[0], *of), j)).collect();
    let mut behind = Moves { to: Vec::with_capacity(sets.len()), negative: Vec::with_capacity(sets.len()) };
    for (set, of) in &sets {
        let mut moved: Vec<usize> = set.iter().map(|&i| moves.to[i]).collect();
        moved.sort_unstable();
        let goes = number.get(&(moved[0], *of)).filter(|&&j| sets[j].0 == moved);
        let Some(&goes) = goes else { return Err(misses(op, shape)) };
        let minus = moves.negative[set[0]];
        if set.iter().any(|&i| moves.negative[i] != minus) || (minus && *of == Of::Largest) {
            return Err("a change of sign does not pass through it".into());
        }
        behind.to.push(goes);
        behind.negative.push(minus);
    }
    Ok(behind)
}

/// What each output is made of, in the order of the outputs.
pub(super) fn sets(op: &Op, shape: &[usize]) -> Result<Vec<Set>, String> {
    let all = match (op, shape) {
        (Op::PoolRows { sums, largest }, &[_, width]) => {
            let Some(sets) = RowSets::of(sums, largest) else { return Err("its sets of rows are none".into()) };
            let column = |set: &[usize], c: usize| set.iter().map(|row| row * width + c).collect();
            let columns = |(set, largest): (&[usize], bool)| {
                let of = if largest { Of::Largest } else { Of::Sum };
                (0..width).map(|c| (column(set, c), of)).collect::<Vec<Set>>()
            };
            sets.all().flat_map(columns).collect()
        }
        (op, &[channels, height, width]) => on_images(op, [channels, height, width]),
        _ => return Err("it brings nothing together".into()),
    };
    Ok(all)
}

fn on_images(op: &Op, [channels, height, width]: [usize; 3]) -> Vec<Set> {
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
            corners.map(|(c, top, left)| (at(c, top, left), Of::Largest)).collect()
        }
        Op::GroupMax { size } => {
            let one = |j: usize| (0..*size).map(|k| (j / area * size + k) * area + j % area).collect();
            (0..channels / size * area).map(|j| (one(j), Of::Largest)).collect()
        }
        Op::PoolSpace { pooling } => {
            let of = if *pooling == Pooling::Sum { Of::Sum } else { Of::Mean };
            (0..channels).map(|c| ((c * area..(c + 1) * area).collect(), of)).collect()
        }
        // The sum of channels; callers ask about no other.
        _ => (0..area).map(|p| ((0..channels).map(|c| c * area + p).collect(), Of::Sum)).collect(),
    }
}

/// Why sets do not go to sets.
fn misses(op: &Op, shape: &[usize]) -> String {
    let (window, stride) = match op {
        Op::MaxPool { window, stride } => (window, stride),
        Op::PoolRows { .. } => return "rows that are brought together do not stay together".into(),
        _ => return "entries that are brought together do not stay together".into(),
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

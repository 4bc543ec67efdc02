//! Through an orbit: what is seen from g behind a move was seen from another element before it.

use std::collections::HashMap;

use super::TOLERANCE;
use super::matrix::Matrix;
use super::moves::Moves;
use crate::views::{Seen, Views};

/// How the elements move when the entries do, and the largest relative difference met.
pub(super) fn follow(views: &Views<'_>, moves: &Moves) -> Result<(Moves, f64), String> {
    match &views.seen {
        Seen::Entries(seen) => {
            let from = moves.from();
            let before = |&(entry, minus): &(usize, bool)| (from[entry], minus ^ moves.negative[from[entry]]);
            let all: Vec<&[(usize, bool)]> = seen.chunks(views.entries).collect();
            let number: HashMap<&[(usize, bool)], usize> = all.iter().enumerate().map(|(g, view)| (*view, g)).collect();
            let seen_before = |view: &&[(usize, bool)]| {
                let view: Vec<(usize, bool)> = view.iter().map(before).collect();
                number.get(view.as_slice()).copied()
            };
            Ok((exchanged(all.iter().map(seen_before))?, 0.0))
        }
        Seen::Matrices(values) => {
            // Column j of the move has its one entry in row to[j].
            let column = |row: &[f32], j: usize| {
                let entry = f64::from(row[moves.to[j]]);
                (if moves.negative[j] { -entry } else { entry }, entry.abs())
            };
            among(values, views.entries, column)
        }
    }
}

/// The same when a matrix R mixes the entries.
pub(super) fn through(views: &Views<'_>, matrix: &Matrix) -> Result<(Moves, f64), String> {
    match &views.seen {
        Seen::Entries(_) => Err(FROM_NO_SIDE.into()),
        Seen::Matrices(values) => {
            let column = |row: &[f32], j: usize| {
                let terms = row.iter().enumerate().map(|(i, &v)| f64::from(v) * matrix.at(i, j));
                terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
            };
            among(values, views.entries, column)
        }
    }
}

const FROM_NO_SIDE: &str = "the moved input is seen from no side: the generator is not among the elements";

/// Finds each V R among the views V; `column` gives an entry of a row times R, and the sizes of its terms together.
///
/// Entries of one matrix may be of any sizes, as where units change, so each difference is held against the terms of that entry:
/// rounding cannot make it larger, and the largest entry does not hide the others.
fn among(values: &[f32], n: usize, column: impl Fn(&[f32], usize) -> (f64, f64)) -> Result<(Moves, f64), String> {
    let mut worst = 0.0f64;
    let all: Vec<&[f32]> = values.chunks(n * n).collect();
    let mut seen_before = |view: &&[f32]| {
        let moved: Vec<(f64, f64)> = view.chunks(n).flat_map(|row| (0..n).map(|j| column(row, j)).collect::<Vec<_>>()).collect();
        let share = |(&a, &(b, terms)): (&f32, &(f64, f64))| {
            let (a, difference) = (f64::from(a), (f64::from(a) - b).abs());
            if difference > 0.0 { difference / (a.abs() + terms) } else { 0.0 }
        };
        let gap = |other: &&[f32]| other.iter().zip(&moved).map(share).fold(0.0, f64::max);
        let (number, gap) = all.iter().map(gap).enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        worst = worst.max(gap);
        (gap <= TOLERANCE).then_some(number)
    };
    let found: Vec<Option<usize>> = all.iter().map(&mut seen_before).collect();
    Ok((exchanged(found.into_iter())?, worst))
}

/// The moves of elements, from the element that saw before what each sees now.
fn exchanged(seen_before: impl ExactSizeIterator<Item = Option<usize>>) -> Result<Moves, String> {
    let mut to = vec![usize::MAX; seen_before.len()];
    for (g, before) in seen_before.enumerate() {
        to[before.ok_or(FROM_NO_SIDE)?] = g;
    }
    if to.contains(&usize::MAX) {
        return Err("two elements see the same".into());
    }
    Ok(Moves { negative: vec![false; to.len()], to })
}

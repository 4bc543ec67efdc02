//! Through an orbit: what is seen from g behind a move was seen from another element before it.

use std::collections::HashMap;

use super::links::Gap;
use super::matrix::{Matrix, widened};
use super::moves::Moves;
use crate::views::{Seen, Views};

/// How the elements move when the entries do, and what is left over of the views.
pub(super) fn follow(views: &Views<'_>, moves: &Moves, near: f64) -> Result<(Moves, Gap), String> {
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
            Ok((exchanged(all.iter().map(seen_before))?, Gap::default()))
        }
        Seen::Matrices(values) => {
            // Column j of the move has its one entry in row to[j].
            let column = |row: &[f32], j: usize| {
                let entry = f64::from(row[moves.to[j]]);
                Entry { value: if moves.negative[j] { -entry } else { entry }, error: 0.0, size: entry.abs() }
            };
            among(values, views.entries, near, column)
        }
    }
}

/// The same when a matrix R mixes the entries.
pub(super) fn through(views: &Views<'_>, matrix: &Matrix, near: f64) -> Result<(Moves, Gap), String> {
    match &views.seen {
        Seen::Entries(_) => Err(FROM_NO_SIDE.into()),
        Seen::Matrices(values) => {
            let column = |row: &[f32], j: usize| {
                let (value, error) = matrix.product(row, j);
                let size = row.iter().enumerate().map(|(i, &v)| (f64::from(v) * matrix.at(i, j)).abs()).sum();
                Entry { value, error, size }
            };
            among(values, views.entries, near, column)
        }
    }
}

const FROM_NO_SIDE: &str = "the moved input is seen from no side: the generator is not among the elements";

/// An entry of a row times R: its value, what rounding can have done to it, and the sizes of its terms together.
struct Entry {
    value: f64,
    error: f64,
    size: f64,
}

/// Finds each V R among the views V, the nearest of them.
///
/// Entries of one matrix may be of any sizes, as where units change, so each difference is held against the terms of that entry:
/// rounding cannot make it larger, and the largest entry does not hide the others.
fn among(values: &[f32], n: usize, near: f64, column: impl Fn(&[f32], usize) -> Entry) -> Result<(Moves, Gap), String> {
    let all: Vec<&[f32]> = values.chunks(n * n).collect();
    let mut left = Gap::default();
    let mut found = Vec::with_capacity(all.len());
    for (g, view) in all.iter().enumerate() {
        let moved: Vec<Entry> = view.chunks(n).flat_map(|row| (0..n).map(|j| column(row, j)).collect::<Vec<_>>()).collect();
        let share = |(&a, b): (&f32, &Entry)| {
            let (a, difference) = (f64::from(a), (f64::from(a) - b.value).abs());
            if difference > 0.0 { difference / (a.abs() + b.size) } else { 0.0 }
        };
        let gap = |other: &&[f32]| other.iter().zip(&moved).map(share).fold(0.0, f64::max);
        let nearest = all.iter().map(gap).enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let before = nearest.filter(|&(_, gap)| gap <= near).map(|(number, _)| number);
        for (k, (&a, b)) in before.iter().flat_map(|&number| all[number].iter().zip(&moved)).enumerate() {
            left.add(g * n + k / n, Some(k % n), widened((f64::from(a) - b.value).abs(), b.error), b.size);
        }
        found.push(before);
    }
    Ok((exchanged(found.into_iter())?, left))
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

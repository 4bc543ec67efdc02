//! Edges that pass between cards, never across them.

use std::collections::HashMap;
use std::fmt::Write;

use super::layout::Placed;
use super::text::px;

/// Distance from the outermost cards at which edges pass by.
const ASIDE: f64 = 12.0;

/// Path data for each edge: curves between rows, straight lines down through the gaps of the rows they pass.
pub(super) fn edges(edges: &[(usize, usize)], cards: &[Placed]) -> Vec<String> {
    let mut rows: Vec<Vec<&Placed>> = Vec::new();
    for card in cards {
        match rows.last_mut().filter(|row| (row[0].y - card.y).abs() < 0.5) {
            Some(row) => row.push(card),
            None => rows.push(vec![card]),
        }
    }
    let placed = rows.iter().enumerate().flat_map(|(number, row)| row.iter().map(move |card| (card.card, (number, *card))));
    let place: HashMap<usize, (usize, &Placed)> = placed.collect();
    let mut used: HashMap<(usize, usize), usize> = HashMap::new();
    let route = |&(upper, lower): &(usize, usize)| {
        let ((from, a), (to, b)) = (place[&upper], place[&lower]);
        let (mut x, mut y) = (a.x + a.w / 2.0, a.y + a.h);
        let (end, top) = (b.x + b.w / 2.0, b.y);
        let mut path = format!("M{} {}", px(x), px(y));
        for (passed, row) in rows.iter().enumerate().take(to).skip(from + 1) {
            let share = (row[0].y - y) / (top - y).max(1.0);
            // Of gaps that are equally close, the one that no edge uses here or just above.
            let busy = |gap: usize| {
                let times = |row: usize| used.get(&(row, gap)).copied().unwrap_or(0);
                (times(passed) + times(passed - 1)).min(3) as f64
            };
            let (gap, middle) = nearest_gap(row, x + (end - x) * share, busy);
            let count = used.entry((passed, gap)).or_default();
            let spread = [0.0, -3.0, 3.0, -6.0, 6.0][*count % 5];
            *count += 1;
            x = curve(&mut path, (x, y), (middle + spread, row[0].y));
            y = row[0].y + row[0].h;
            let _ = write!(path, "V{}", px(y));
        }
        curve(&mut path, (x, y), (end, top));
        path
    };
    edges.iter().map(route).collect()
}

/// Goes on from one point to another, leaving and arriving vertically; the new x.
fn curve(path: &mut String, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> f64 {
    let middle = px(f64::midpoint(y, to_y));
    let _ = write!(path, "C{} {middle} {} {middle} {} {}", px(x), px(to_x), px(to_x), px(to_y));
    to_x
}

/// The gap of a row closest to a wanted position: its number and its middle.
fn nearest_gap(row: &[&Placed], wanted: f64, busy: impl Fn(usize) -> f64) -> (usize, f64) {
    let between = |k: usize| match (k.checked_sub(1).map(|left| row[left]), row.get(k)) {
        (Some(left), Some(right)) => f64::midpoint(left.x + left.w, right.x),
        (None, Some(right)) => right.x - ASIDE,
        (Some(left), None) => left.x + left.w + ASIDE,
        (None, None) => wanted,
    };
    let gaps = (0..=row.len()).map(|k| (k, between(k)));
    let cost = |gap: &(usize, f64)| (gap.1 - wanted).abs() + 4.0 * busy(gap.0);
    gaps.min_by(|a, b| cost(a).total_cmp(&cost(b))).expect("a row has gaps")
}

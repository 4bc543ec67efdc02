//! Products of all vectors of one subspace with all of another.

use std::hash::{BuildHasher, RandomState};

use dashu_int::IBig;

use crate::lattice::places::Part;
use crate::modular::{P, add, multiply, residue};
use crate::sparse::Row;

/// Most multiplications for which every pair of vectors is multiplied.
const MOST_PRODUCTS: u64 = 200_000_000;

static ZERO: IBig = IBig::ZERO;

/// The vectors of a part by entry: which of them are not zero there, and their values.
pub(super) struct Columns<'a> {
    starts: Vec<u32>,
    values: Vec<(u32, &'a IBig)>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(part: &'a Part) -> Self {
        let mut starts = vec![0u32; part.places.size() + 1];
        part.vectors.iter().flatten().for_each(|(entry, _)| starts[*entry as usize + 1] += 1);
        (1..starts.len()).for_each(|k| starts[k] += starts[k - 1]);
        let mut next = starts.clone();
        let mut values = vec![(0, &ZERO); part.vectors.iter().map(Vec::len).sum()];
        for (v, j) in part.vectors.iter().zip(0..) {
            for (entry, x) in v {
                let next = &mut next[*entry as usize];
                values[*next as usize] = (j, x);
                *next += 1;
            }
        }
        Self { starts, values }
    }

    /// The values at an entry, by vector.
    fn at(&self, entry: u32) -> &[(u32, &'a IBig)] {
        &self.values[self.starts[entry as usize] as usize..self.starts[entry as usize + 1] as usize]
    }

    /// The differences x_a - x_b of all vectors, or the sums when `b` is reversed, or the values x_a without `b`.
    pub(super) fn difference(&self, a: u32, b: Option<(u32, bool)>) -> Row {
        let (mut left, mut right) = (self.at(a), b.map_or(&[][..], |(b, _)| self.at(b)));
        let reversed = b.is_some_and(|(_, reversed)| reversed);
        let minus = |y: &IBig| if reversed { y.clone() } else { -y };
        let mut row = Row::new();
        loop {
            let (j, x) = match (left.first(), right.first()) {
                (None, None) => return row,
                (Some(&(i, x)), Some(&(j, y))) if i == j => {
                    (left, right) = (&left[1..], &right[1..]);
                    (i, x + minus(y))
                }
                (Some(&(i, x)), other) if other.is_none_or(|&(j, _)| i < j) => {
                    left = &left[1..];
                    (i, x.clone())
                }
                (_, Some(&(j, y))) => {
                    right = &right[1..];
                    (j, minus(y))
                }
                (Some(_), None) => unreachable!("the left one alone is taken above"),
            };
            if !x.is_zero() {
                row.push((j, x));
            }
        }
    }
}

/// Whether every vector of one part is orthogonal to every vector of another on the same places, each with its columns. Sets
/// `sampled` where that was asked of a random combination.
pub(super) fn are_orthogonal(a: (&Part, &Columns), b: (&Part, &Columns), sampled: &mut bool) -> bool {
    let size = a.0.places.size() as u32;
    let products: u64 = (0..size).map(|entry| a.1.at(entry).len() as u64 * b.1.at(entry).len() as u64).sum();
    if products <= MOST_PRODUCTS || !is_small(a.0, b.0) {
        return all_products_vanish(a.0, b.1, b.0.vectors.len());
    }
    *sampled = true;
    combination_vanishes(a.0, b.0)
}

fn all_products_vanish(a: &Part, b: &Columns, count: usize) -> bool {
    let mut sums = vec![IBig::ZERO; count];
    a.vectors.iter().all(|v| {
        let mut touched = Vec::new();
        for (entry, x) in v {
            for &(j, y) in b.at(*entry) {
                touched.push(j);
                sums[j as usize] += x * y;
            }
        }
        let vanish = touched.iter().all(|&j| sums[j as usize].is_zero());
        for j in touched {
            sums[j as usize] = IBig::ZERO;
        }
        vanish
    })
}

/// Whether no product can be as large as the prime: then one that is not zero is not zero modulo the prime either.
fn is_small(a: &Part, b: &Part) -> bool {
    let largest = |part: &Part| {
        let entries = part.vectors.iter().flatten();
        entries.map(|(_, x)| i64::try_from(x).map_or(u64::MAX, i64::unsigned_abs)).max().unwrap_or(0)
    };
    let bound = u128::from(largest(a)) * u128::from(largest(b));
    bound.checked_mul(a.places.size() as u128).is_some_and(|bound| bound < u128::from(P))
}

/// Whether every vector of `a` is orthogonal, modulo p, to the sum of the vectors of `b` with random weights. When x is not
/// orthogonal to some vector of `b`, one of the p weights of that vector makes the sum vanish, whatever the other weights are.
fn combination_vanishes(a: &Part, b: &Part) -> bool {
    let state = RandomState::new();
    let mut sum = vec![0u64; b.places.size()];
    for (j, v) in b.vectors.iter().enumerate() {
        let weight = state.hash_one(j) % P;
        for (entry, x) in v {
            sum[*entry as usize] = add(sum[*entry as usize], multiply(weight, residue(x)));
        }
    }
    a.vectors.iter().all(|v| v.iter().fold(0, |all, (entry, x)| add(all, multiply(sum[*entry as usize], residue(x)))) == 0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lattice::places::Places;
    use crate::sparse;

    fn part(rows: &[[i64; 4]]) -> Part {
        let vectors = rows.iter().map(|row| sparse::from_dense(&row.map(IBig::from))).collect();
        Part { places: Arc::new(Places::new(4, vec![0, 1, 2, 3])), vectors: Arc::new(vectors) }
    }

    #[test]
    fn a_random_combination_sees_what_all_products_see() {
        let upper = part(&[[1, 1, 1, 1], [1, 1, -1, -1]]);
        for (rows, expected) in [
            (vec![[1, -1, 0, 0], [0, 0, 1, -1]], true),
            (vec![[1, -1, 0, 0], [0, 0, 1, -2]], false),
            (vec![[0, 1, -1, 0]], false),
            (vec![], true),
        ] {
            let lower = part(&rows);
            let columns = [Columns::of(&lower), Columns::of(&upper)];
            assert_eq!(all_products_vanish(&lower, &columns[1], 2), expected);
            assert_eq!(combination_vanishes(&lower, &upper), expected);
            let mut sampled = false;
            assert_eq!(are_orthogonal((&lower, &columns[0]), (&upper, &columns[1]), &mut sampled), expected);
            assert!(!sampled && is_small(&lower, &upper));
        }
        assert!(!is_small(&part(&[[i64::MAX, 0, 0, 0]]), &upper));
    }

    #[test]
    fn differences_between_entries() {
        let part = part(&[[1, 2, 0, 5], [3, 0, 0, 5]]);
        let columns = Columns::of(&part);
        let row = |entries: &[(u32, i64)]| entries.iter().map(|&(j, x)| (j, IBig::from(x))).collect::<Row>();
        assert_eq!(columns.difference(0, Some((1, false))), row(&[(0, -1), (1, 3)]));
        assert_eq!(columns.difference(1, Some((0, true))), row(&[(0, 3), (1, 3)]));
        assert_eq!(columns.difference(3, Some((3, false))), row(&[]));
        assert_eq!(columns.difference(2, Some((3, false))), row(&[(0, -5), (1, -5)]));
        assert_eq!(columns.difference(3, None), row(&[(0, 5), (1, 5)]));
    }
}

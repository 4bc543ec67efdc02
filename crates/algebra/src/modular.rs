//! Ranks of integer matrices by way of a prime field.
//!
//! Reducing modulo a prime can only lower a rank. So a full rank modulo p *proves* a full rank over the rationals, at the
//! cost of machine arithmetic; only when the rank modulo p is short is it computed over the integers.

use std::collections::BinaryHeap;

use dashu_int::{IBig, Sign};

use crate::sparse::{self, Row};

/// The Mersenne prime 2^61 - 1.
pub(crate) const P: u64 = (1 << 61) - 1;

pub(crate) fn residue(x: &IBig) -> u64 {
    let (sign, magnitude) = match i64::try_from(x) {
        Ok(small) => (Sign::from(small < 0), small.unsigned_abs() % P),
        Err(_) => (x.sign(), x.clone().into_parts().1 % P),
    };
    if sign == Sign::Negative && magnitude != 0 { P - magnitude } else { magnitude }
}

pub(crate) fn multiply(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    let folded = (wide as u64 & P) + (wide >> 61) as u64;
    if folded >= P { folded - P } else { folded }
}

pub(crate) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= P { sum - P } else { sum }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

/// A subspace modulo p, held as rows in echelon form. Each is led by its *last* entry, which is 1: in a basis of solutions that
/// is where each vector stands alone, so that nothing is left to eliminate.
#[derive(Debug, Default)]
pub(crate) struct Echelon {
    rows: Vec<Vec<(u32, u64)>>,
    /// The row that is led by a column, counted from 1; 0 where there is none.
    led: Vec<u32>,
    /// The row being reduced: its values, zero between uses, and the columns where they may not be zero.
    values: Vec<u64>,
    open: BinaryHeap<u32>,
    listed: Vec<bool>,
}

impl Echelon {
    /// Rows of `width` entries.
    pub(crate) fn new(width: usize) -> Self {
        Self { led: vec![0; width], values: vec![0; width], listed: vec![false; width], ..Self::default() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Forgets the rows after the first `rank`.
    pub(crate) fn truncate(&mut self, rank: usize) {
        for row in self.rows.drain(rank..) {
            self.led[row[row.len() - 1].0 as usize] = 0;
        }
    }

    fn list(&mut self, column: u32, value: u64) {
        let place = &mut self.values[column as usize];
        *place = add(*place, value);
        if !std::mem::replace(&mut self.listed[column as usize], true) {
            self.open.push(column);
        }
    }

    /// Adds a row; false when it is in the span already, modulo p.
    pub(crate) fn insert(&mut self, row: impl IntoIterator<Item = (u32, u64)>) -> bool {
        row.into_iter().for_each(|(column, value)| self.list(column, value));
        let mut left: Vec<(u32, u64)> = Vec::new();
        while let Some(column) = self.open.pop() {
            self.listed[column as usize] = false;
            let value = std::mem::take(&mut self.values[column as usize]);
            if value == 0 {
                continue;
            }
            match self.led[column as usize] as usize {
                // Once something leads, what stands before it may stay.
                k @ 1.. if left.is_empty() => {
                    let k = k - 1;
                    let row = std::mem::take(&mut self.rows[k]);
                    row[..row.len() - 1].iter().for_each(|&(c, r)| self.list(c, multiply(P - value, r)));
                    self.rows[k] = row;
                }
                _ => left.push((column, value)),
            }
        }
        left.reverse();
        let Some(&(column, lead)) = left.last() else {
            return false;
        };
        if lead != 1 {
            // The inverse of -1 is itself, and most leads are that.
            let inverse = if lead == P - 1 { lead } else { power(lead, P - 2) };
            for (_, value) in &mut left {
                *value = multiply(*value, inverse);
            }
        }
        self.rows.push(left);
        self.led[column as usize] = self.rows.len() as u32;
        true
    }

    /// The same with a row of integers.
    pub(crate) fn insert_integers(&mut self, row: &Row) -> bool {
        self.insert(row.iter().map(|(column, x)| (*column, residue(x))))
    }
}

/// The rank over the rationals of rows of `width` entries.
pub(crate) fn rank(rows: &[&Row], width: usize) -> usize {
    let mut echelon = Echelon::new(width);
    // Short rows first: long ones then lose their entries to them, and not the other way round.
    let mut order = rows.to_vec();
    order.sort_by_key(|row| row.len());
    for row in &order {
        echelon.insert_integers(row);
        if echelon.rank() == width {
            return width;
        }
    }
    if echelon.rank() == rows.len() { rows.len() } else { sparse::rank(order.into_iter().cloned()) }
}

/// Whether the rows are independent over the rationals.
pub(crate) fn has_full_rank(rows: &[Row], width: usize) -> bool {
    // Rows that end in different places are in echelon form already.
    let mut ended = vec![false; width];
    let ends_alone = |row: &Row| row.last().is_some_and(|(column, _)| !std::mem::replace(&mut ended[*column as usize], true));
    if rows.iter().all(ends_alone) {
        return true;
    }
    rank(&rows.iter().collect::<Vec<_>>(), width) == rows.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linear::{self, Vector};

    fn row(entries: &[i64]) -> Row {
        sparse::from_dense(&entries.iter().map(|&e| IBig::from(e)).collect::<Vec<_>>())
    }

    #[test]
    fn arithmetic_modulo_the_prime() {
        assert_eq!(residue(&IBig::from(-1)), P - 1);
        assert_eq!(residue(&(IBig::from(P) * IBig::from(7) + IBig::from(3))), 3);
        assert_eq!(residue(&(IBig::from(P) * IBig::from(-9_000_000_000i64) - IBig::from(3))), P - 3);
        assert_eq!(multiply(P - 1, P - 1), 1);
        assert_eq!(multiply(power(12345, P - 2), 12345), 1);
        assert_eq!(add(P - 1, 2), 1);
    }

    #[test]
    fn a_rank_that_drops_modulo_p_is_found_over_the_integers() {
        let large = vec![(1, IBig::from(P))];
        let rows = [row(&[1, 0]), large];
        let mut echelon = Echelon::new(2);
        assert!(echelon.insert_integers(&rows[0]) && !echelon.insert_integers(&rows[1]));
        assert!(has_full_rank(&rows, 2) && !has_full_rank(&[row(&[1, 2]), row(&[2, 4])], 2));
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_dense_form(rows in proptest::collection::vec(proptest::collection::vec(-2..=2i64, 5), 0..8)) {
            let dense: Vec<Vector> = rows.iter().map(|row| row.iter().map(|&x| IBig::from(x)).collect()).collect();
            let sparse: Vec<Row> = rows.iter().map(|entries| row(entries)).collect();
            let mut echelon = Echelon::new(5);
            for (k, row) in sparse.iter().enumerate() {
                prop_assert_eq!(echelon.insert_integers(row), linear::rank(&dense[..=k]) > linear::rank(&dense[..k]));
            }
            prop_assert_eq!(rank(&sparse.iter().collect::<Vec<_>>(), 5), linear::rank(&dense));
            let rank = echelon.rank();
            let more = echelon.insert_integers(&row(&[1, 7, 49, 343, 2401]));
            echelon.truncate(rank);
            prop_assert_eq!(echelon.insert_integers(&row(&[1, 7, 49, 343, 2401])), more);
        }
    }
}

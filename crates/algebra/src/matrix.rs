//! Square matrices with rational or real entries: the user's own linear transformations.

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use dashu_ratio::RBig;

use crate::linear::{Vector, make_primitive};

/// A square matrix with exact rational entries, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RationalMatrix {
    n: usize,
    entries: Box<[RBig]>,
}

/// A square matrix with `f64` entries, row by row, for transformations that are not rational (a turn by 45 degrees).
#[derive(Debug, Clone, PartialEq)]
pub struct RealMatrix {
    n: usize,
    entries: Box<[f64]>,
}

impl RationalMatrix {
    pub(crate) fn from_fn(n: usize, f: impl FnMut(usize, usize) -> RBig) -> Self {
        let mut f = f;
        Self { n, entries: (0..n * n).map(|k| f(k / n, k % n)).collect() }
    }

    /// The matrix with these rows, or what is wrong with them.
    pub fn new(rows: Vec<Vec<RBig>>) -> Result<Self, String> {
        let n = check_square(&rows)?;
        Ok(Self { n, entries: rows.into_iter().flatten().collect() })
    }

    /// Number of rows.
    #[expect(clippy::len_without_is_empty, reason = "side of a square matrix, not a collection")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// One entry.
    pub fn at(&self, row: usize, column: usize) -> &RBig {
        &self.entries[row * self.n + column]
    }

    /// The matrix product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self::from_fn(self.n, |i, j| {
            (0..self.n)
                .filter(|&k| !self.at(i, k).is_zero() && !other.at(k, j).is_zero())
                .fold(RBig::ZERO, |sum, k| sum + self.at(i, k) * other.at(k, j))
        })
    }

    /// The matrix times a column.
    pub fn apply(&self, x: &[RBig]) -> Vec<RBig> {
        let term = |i: usize, j: usize| self.at(i, j) * &x[j];
        (0..self.n)
            .map(|i| {
                let used = (0..self.n).filter(|&j| !self.at(i, j).is_zero() && !x[j].is_zero());
                used.fold(RBig::ZERO, |sum, j| sum + term(i, j))
            })
            .collect()
    }

    /// The transposed matrix.
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.n, |i, j| self.at(j, i).clone())
    }

    /// The inverse, if there is one.
    pub fn inverse(&self) -> Option<Self> {
        let n = self.n;
        let one = |here: bool| if here { RBig::ONE } else { RBig::ZERO };
        let mut rows: Vec<Vec<RBig>> =
            (0..n).map(|i| (0..2 * n).map(|j| if j < n { self.at(i, j).clone() } else { one(j - n == i) }).collect()).collect();
        for column in 0..n {
            let pivot = (column..n).find(|&i| !rows[i][column].is_zero())?;
            rows.swap(column, pivot);
            let factor = rows[column][column].clone();
            rows[column].iter_mut().for_each(|entry| *entry /= &factor);
            let lead = rows[column].clone();
            for (i, row) in rows.iter_mut().enumerate() {
                if i != column && !row[column].is_zero() {
                    let times = row[column].clone();
                    for (entry, l) in row.iter_mut().zip(&lead).filter(|(_, l)| !l.is_zero()) {
                        *entry -= &times * l;
                    }
                }
            }
        }
        Some(Self::from_fn(n, |i, j| rows[i][n + j].clone()))
    }

    /// The rows of `T - I`, scaled to integers: x is fixed by T exactly when every row is orthogonal to x.
    pub(crate) fn fixed_point_equations(&self) -> Vec<Vector> {
        (0..self.n)
            .map(|i| {
                integer_row((0..self.n).map(|j| {
                    let entry = self.at(i, j);
                    if i == j { entry - RBig::ONE } else { entry.clone() }
                }))
            })
            .filter(|row| row.iter().any(|entry| !entry.is_zero()))
            .collect()
    }

    /// The nearest `f64` entries.
    pub fn to_real(&self) -> RealMatrix {
        RealMatrix { n: self.n, entries: self.entries.iter().map(|entry| entry.to_f64().value()).collect() }
    }
}

/// The primitive integer multiple of a rational row.
pub(crate) fn integer_row(row: impl Iterator<Item = RBig>) -> Vector {
    let row: Vec<RBig> = row.collect();
    let denominator = row.iter().fold(IBig::ONE, |all, entry| {
        let d = IBig::from(entry.denominator().clone());
        &all / IBig::from((&all).gcd(&d)) * d
    });
    let mut row: Vector =
        row.iter().map(|entry| entry.numerator() * (&denominator / IBig::from(entry.denominator().clone()))).collect();
    make_primitive(&mut row);
    row
}

impl RealMatrix {
    /// The matrix with these rows, or what is wrong with them.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, String> {
        let n = check_square(&rows)?;
        match rows.iter().flatten().find(|entry| !entry.is_finite()) {
            Some(entry) => Err(format!("entry {entry} is not a finite number")),
            None => Ok(Self { n, entries: rows.into_iter().flatten().collect() }),
        }
    }

    pub(crate) fn from_fn(n: usize, f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut f = f;
        Self { n, entries: (0..n * n).map(|k| f(k / n, k % n)).collect() }
    }

    /// Number of rows.
    #[expect(clippy::len_without_is_empty, reason = "side of a square matrix, not a collection")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// One entry.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.n + column]
    }

    /// The matrix product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self::from_fn(self.n, |i, j| (0..self.n).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    /// The matrix times a column.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        self.entries.chunks(self.n).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// The inverse, if the matrix is invertible to working precision.
    pub fn inverse(&self) -> Option<Self> {
        let a = nalgebra::DMatrix::from_row_slice(self.n, self.n, &self.entries);
        let singular = a.singular_values();
        if singular.min() <= singular.max() * f64::EPSILON * self.n as f64 {
            return None;
        }
        let inverse = a.try_inverse()?;
        Some(Self::from_fn(self.n, |i, j| inverse[(i, j)]))
    }
}

fn check_square<T>(rows: &[Vec<T>]) -> Result<usize, String> {
    let n = rows.len();
    match rows.iter().position(|row| row.len() != n) {
        Some(i) => Err(format!("row {i} of the matrix has {} entries; expected {n}, as many as there are rows", rows[i].len())),
        None => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[i64]]) -> RationalMatrix {
        RationalMatrix::new(rows.iter().map(|row| row.iter().map(|&e| RBig::from(e)).collect()).collect()).unwrap()
    }

    #[test]
    fn exact_inverse() {
        let m = matrix(&[&[0, 2, 1], &[1, 1, 0], &[3, 0, -1]]);
        let one = m.times(&m.inverse().unwrap());
        assert_eq!(one, matrix(&[&[1, 0, 0], &[0, 1, 0], &[0, 0, 1]]));
        assert!(matrix(&[&[1, 2], &[2, 4]]).inverse().is_none());
        assert!(matrix(&[&[1, 2], &[2, 4]]).to_real().inverse().is_none());
    }

    #[test]
    fn ragged_rows_are_named() {
        let error = RealMatrix::new(vec![vec![1.0, 0.0], vec![1.0]]).unwrap_err();
        assert_eq!(error, "row 1 of the matrix has 1 entries; expected 2, as many as there are rows");
    }
}

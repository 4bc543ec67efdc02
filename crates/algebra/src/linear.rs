//! Exact linear algebra over the integers: echelon forms, null spaces, ranks and relations.
//!
//! Subspaces are spanned by integer vectors; elimination multiplies rows crosswise instead of dividing, and every row is
//! kept primitive (the greatest common divisor of its entries is one), so that numbers stay small and nothing is rounded.

use dashu_int::IBig;
use dashu_int::ops::Gcd;

/// A vector with integer entries.
pub type Vector = Vec<IBig>;

/// Divides out the common factor and makes the first nonzero entry positive. The zero vector stays.
pub(crate) fn make_primitive(v: &mut [IBig]) {
    let mut factor = IBig::ZERO;
    for entry in v.iter().filter(|entry| !entry.is_zero()) {
        factor = IBig::from((&factor).gcd(entry));
        if factor.is_one() {
            break;
        }
    }
    if v.iter().find(|entry| !entry.is_zero()).is_some_and(|first| *first < IBig::ZERO) {
        factor = -if factor.is_zero() { IBig::ONE } else { factor };
    }
    if factor.is_zero() || factor.is_one() {
        return;
    }
    for entry in v.iter_mut().filter(|entry| !entry.is_zero()) {
        *entry /= &factor;
    }
}

/// The inner product.
pub fn dot(a: &[IBig], b: &[IBig]) -> IBig {
    a.iter().zip(b).filter(|(x, y)| !x.is_zero() && !y.is_zero()).map(|(x, y)| x * y).sum()
}

/// A subspace held as rows in echelon form, to which vectors can be added one at a time.
#[derive(Debug, Clone, Default)]
pub struct Echelon {
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    pivot: usize,
    entries: Vector,
}

impl Echelon {
    /// The dimension of the span so far.
    pub fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Eliminates every pivot from `v`, which may be longer than the rows: what follows is scaled along.
    fn reduce(&self, v: &mut Vector) {
        for row in &self.rows {
            if v[row.pivot].is_zero() {
                continue;
            }
            let common = IBig::from((&v[row.pivot]).gcd(&row.entries[row.pivot]));
            let scale = &row.entries[row.pivot] / &common;
            let times = &v[row.pivot] / &common;
            for (j, entry) in v.iter_mut().enumerate() {
                if !scale.is_one() && !entry.is_zero() {
                    *entry *= &scale;
                }
                if let Some(r) = row.entries.get(j).filter(|r| !r.is_zero()) {
                    *entry -= &times * r;
                }
            }
            if !scale.is_one() {
                make_primitive(v);
            }
        }
    }

    /// Whether the vector lies in the span.
    pub fn contains(&self, v: &[IBig]) -> bool {
        let mut v = v.to_vec();
        self.reduce(&mut v);
        v.iter().all(IBig::is_zero)
    }

    /// Adds a vector; false when it was in the span already.
    pub fn insert(&mut self, v: &[IBig]) -> bool {
        let mut v = v.to_vec();
        self.reduce(&mut v);
        self.push_reduced(v)
    }

    fn push_reduced(&mut self, mut v: Vector) -> bool {
        make_primitive(&mut v);
        let Some(pivot) = v.iter().position(|entry| !entry.is_zero()) else {
            return false;
        };
        self.rows.push(Row { pivot, entries: v });
        true
    }
}

/// The dimension of the span.
pub fn rank(vectors: &[Vector]) -> usize {
    let mut echelon = Echelon::default();
    vectors.iter().filter(|v| echelon.insert(v)).count()
}

/// A basis of all x in Q^width with `row · x = 0` for every row: primitive integer vectors, one per free column, each with
/// zeros at the other free columns.
pub fn null_space(rows: impl IntoIterator<Item = Vector>, width: usize) -> Vec<Vector> {
    let mut echelon = Echelon::default();
    for row in rows {
        debug_assert_eq!(row.len(), width);
        echelon.insert(&row);
        if echelon.rank() == width {
            return Vec::new();
        }
    }
    let mut rows = echelon.rows;
    rows.sort_by_key(|row| row.pivot);
    // Clear what stands above each pivot, last row first: then each row names one pivot variable in terms of free ones.
    for k in (0..rows.len()).rev() {
        let (above, below) = rows.split_at_mut(k + 1);
        let later = Echelon { rows: below.to_vec() };
        later.reduce(&mut above[k].entries);
        make_primitive(&mut above[k].entries);
    }
    let is_pivot = |column: usize| rows.iter().any(|row| row.pivot == column);
    let free: Vec<usize> = (0..width).filter(|&column| !is_pivot(column)).collect();
    free.iter()
        .map(|&column| {
            // x[column] = 1 and x[pivot] = -entry / pivot entry; multiply through by the common denominator.
            let used = || rows.iter().filter(|row| !row.entries[column].is_zero());
            let denominator = used().fold(IBig::ONE, |all, row| {
                let p = &row.entries[row.pivot];
                &all / IBig::from((&all).gcd(p)) * p
            });
            let mut x = vec![IBig::ZERO; width];
            for row in used() {
                x[row.pivot] = -&row.entries[column] * (&denominator / &row.entries[row.pivot]);
            }
            x[column] = denominator;
            make_primitive(&mut x);
            x
        })
        .collect()
}

/// `sum of coefficients[j] * vectors[j]`, made primitive.
pub(crate) fn combine(coefficients: &[IBig], vectors: &[Vector]) -> Vector {
    let mut sum = vec![IBig::ZERO; vectors[0].len()];
    for (c, v) in coefficients.iter().zip(vectors).filter(|(c, _)| !c.is_zero()) {
        for (s, x) in sum.iter_mut().zip(v).filter(|(_, x)| !x.is_zero()) {
            *s += c * x;
        }
    }
    make_primitive(&mut sum);
    sum
}

/// The part of span(`basis`) that is orthogonal to every vector of `others`.
pub(crate) fn orthogonal_part(basis: &[Vector], others: &[Vector]) -> Vec<Vector> {
    let equations = others.iter().map(|other| basis.iter().map(|b| dot(b, other)).collect());
    null_space(equations, basis.len()).iter().map(|x| combine(x, basis)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(entries: &[i64]) -> Vector {
        entries.iter().map(|&e| IBig::from(e)).collect()
    }

    #[test]
    fn null_space_solves_its_equations() {
        let rows = vec![vector(&[2, 4, -2, 6]), vector(&[3, 6, 5, 1]), vector(&[5, 10, 3, 7])];
        let basis = null_space(rows.clone(), 4);
        assert_eq!(basis.len(), 2);
        assert_eq!(rank(&basis), 2);
        assert!(basis.iter().all(|x| rows.iter().all(|row| dot(row, x).is_zero())));
        assert_eq!(null_space(vec![], 2), vec![vector(&[1, 0]), vector(&[0, 1])]);
        assert!(null_space(vec![vector(&[0, 3]), vector(&[-1, 5])], 2).is_empty());
    }

    #[test]
    fn numbers_outgrow_machine_words_without_harm() {
        // Powers 1, 2, 4, ... and 1, 3, 9, ...: minors of a Vandermonde matrix far beyond 128 bits.
        let rows: Vec<Vector> = (1..=24u32).map(|b| (0..24).map(|e| IBig::from(b).pow(e)).collect()).collect();
        assert_eq!(rank(&rows), 24);
    }

    #[test]
    fn primitive_vectors_lead_with_a_positive_entry() {
        let mut v = vector(&[0, -6, 9]);
        make_primitive(&mut v);
        assert_eq!(v, vector(&[0, 2, -3]));
        let mut v = vector(&[-1, 1]);
        make_primitive(&mut v);
        assert_eq!(v, vector(&[1, -1]));
    }
}

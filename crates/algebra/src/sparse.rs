//! The same exact linear algebra as [`linear`](crate::linear), on vectors that are mostly zero.
//!
//! What is invariant to large groups of permutations is spanned by vectors with few entries, or with one value on each orbit. A
//! million of them fit where their dense form would not. Bases are the same in both forms: reduced echelon forms are unique.

use std::collections::{BTreeMap, HashMap};

use dashu_int::IBig;
use dashu_int::ops::Gcd;

use crate::budget::Budget;
use crate::error::Result;
use crate::linear::Vector;

/// The entries that are not zero, by ascending index.
pub(crate) type Row = Vec<(u32, IBig)>;

/// Bytes that one entry of a row takes.
pub(crate) const ENTRY: usize = size_of::<(u32, IBig)>();
/// Bytes that a row takes besides its entries, the allocator's share included.
pub(crate) const ROW: usize = size_of::<Row>() + 16;

/// Leaves out the zeros.
pub(crate) fn from_dense(v: &[IBig]) -> Row {
    v.iter().zip(0..).filter(|(x, _)| !x.is_zero()).map(|(x, i)| (i, x.clone())).collect()
}

/// All `width` entries.
pub(crate) fn to_dense(row: &Row, width: usize) -> Vector {
    let mut dense = vec![IBig::ZERO; width];
    for (i, x) in row {
        dense[*i as usize].clone_from(x);
    }
    dense
}

/// Divides out the common factor and makes the first entry positive.
pub(crate) fn make_primitive(row: &mut Row) {
    let Some((_, first)) = row.first() else {
        return;
    };
    let negative = *first < IBig::ZERO;
    let mut factor = IBig::ZERO;
    for (_, x) in row.iter() {
        factor = IBig::from((&factor).gcd(x));
        if factor.is_one() {
            break;
        }
    }
    if negative {
        factor = -factor;
    }
    if !factor.is_one() {
        for (_, x) in row {
            *x /= &factor;
        }
    }
}

/// The inner product.
pub(crate) fn dot(a: &Row, b: &Row) -> IBig {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = IBig::ZERO;
    while let (Some((i, x)), Some((j, y))) = (a.peek(), b.peek()) {
        if i == j {
            sum += x * y;
        }
        let (step_a, step_b) = (i <= j, j <= i);
        if step_a {
            a.next();
        }
        if step_b {
            b.next();
        }
    }
    sum
}

/// The sum of `coefficients[j]` times `vectors[j]`, made primitive.
pub(crate) fn combine(coefficients: &Row, vectors: &[Row]) -> Row {
    let mut sum: BTreeMap<u32, IBig> = BTreeMap::new();
    for (j, c) in coefficients {
        for (i, x) in &vectors[*j as usize] {
            *sum.entry(*i).or_insert(IBig::ZERO) += c * x;
        }
    }
    let mut row: Row = sum.into_iter().filter(|(_, x)| !x.is_zero()).collect();
    make_primitive(&mut row);
    row
}

/// The part of span(`basis`) that is orthogonal to every vector of `others`.
pub(crate) fn orthogonal_part(basis: &[Row], others: &[Row], budget: &Budget) -> Result<Vec<Row>> {
    let equation =
        |other: &Row| basis.iter().zip(0..).map(|(b, j)| (j, dot(b, other))).filter(|(_, x)| !x.is_zero()).collect::<Row>();
    let equations = others.iter().map(equation).collect();
    Ok(null_space(equations, basis.len(), budget)?.iter().map(|x| combine(x, basis)).collect())
}

/// A subspace held as rows in echelon form, each led by its first entry, to which rows can be added one at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Echelon {
    rows: Vec<Row>,
    /// The row that is led by a column.
    led: HashMap<u32, usize>,
}

impl Echelon {
    pub(crate) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Eliminates every leading column from the entries of `v` after the first `kept`.
    fn reduce(&self, v: Row, kept: usize) -> Row {
        let Some((mut column, _)) = v.iter().skip(kept).find(|(column, _)| self.led.contains_key(column)).cloned() else {
            return v;
        };
        let mut v: BTreeMap<u32, IBig> = v.into_iter().collect();
        loop {
            // Lowest column first: what a row brings in stands behind its lead.
            let lead = v.range(column..).find_map(|(c, x)| Some((*c, x.clone(), &self.rows[*self.led.get(c)?])));
            let Some((lead, x, row)) = lead else {
                return v.into_iter().collect();
            };
            let common = IBig::from((&x).gcd(&row[0].1));
            let (scale, times) = (&row[0].1 / &common, x / &common);
            if !scale.is_one() {
                for x in v.values_mut() {
                    *x *= &scale;
                }
            }
            for (c, r) in row {
                let entry = v.entry(*c).or_insert(IBig::ZERO);
                *entry -= &times * r;
                if entry.is_zero() {
                    v.remove(c);
                }
            }
            if !scale.is_one() {
                // Numbers would double in length with every such step.
                let factor = v.values().fold(IBig::ZERO, |all, x| if all.is_one() { all } else { IBig::from(all.gcd(x)) });
                if factor > IBig::ONE {
                    for x in v.values_mut() {
                        *x /= &factor;
                    }
                }
            }
            column = lead + 1;
        }
    }

    /// Adds a row; false when it was in the span already.
    pub(crate) fn insert(&mut self, row: Row) -> bool {
        let row = self.reduce(row, 0);
        self.push_reduced(row)
    }

    fn push_reduced(&mut self, mut row: Row) -> bool {
        make_primitive(&mut row);
        let Some((lead, _)) = row.first() else {
            return false;
        };
        self.led.insert(*lead, self.rows.len());
        self.rows.push(row);
        true
    }

    /// All integer combinations `a`, up to scale, for which the sum of `a[j]` times `vectors[j]` lies in the span. The vectors
    /// have `width` entries.
    pub(crate) fn relations(&self, vectors: &[Row], width: usize) -> Vec<Row> {
        let mut joined = self.clone();
        let mut relations = Vec::new();
        for (v, j) in vectors.iter().zip(0..) {
            // Behind the vector stands which of the vectors it is: what is done to it is written down there.
            let tagged = v.iter().cloned().chain([(width as u32 + j, IBig::ONE)]).collect();
            let mut reduced = joined.reduce(tagged, 0);
            if reduced[0].0 < width as u32 {
                joined.push_reduced(reduced);
            } else {
                for (column, _) in &mut reduced {
                    *column -= width as u32;
                }
                make_primitive(&mut reduced);
                relations.push(reduced);
            }
        }
        relations
    }
}

/// The dimension of the span.
pub(crate) fn rank(rows: impl IntoIterator<Item = Row>) -> usize {
    let mut echelon = Echelon::default();
    rows.into_iter().for_each(|row| _ = echelon.insert(row));
    echelon.rank()
}

/// A basis of all x in Q^width with `row · x = 0` for every row: primitive integer vectors, one per free column, each with
/// zeros at the other free columns. The very vectors of [`linear::null_space`](crate::linear::null_space).
pub(crate) fn null_space(mut rows: Vec<Row>, width: usize, budget: &Budget) -> Result<Vec<Row>> {
    // Short rows first: long ones then lose their entries to them, and not the other way round.
    rows.sort_by_key(Vec::len);
    let mut echelon = Echelon::default();
    let mut held = 0;
    for row in rows {
        if echelon.insert(row) {
            held += echelon.rows.last().map_or(0, Vec::len) as u64;
            budget.admit("the equations of a subspace", held, 2 * ENTRY)?;
        }
        if echelon.rank() == width {
            return Ok(Vec::new());
        }
    }
    // Clear what stands above each lead, last row first: then each row names one leading variable in terms of free ones.
    let mut order: Vec<usize> = (0..echelon.rows.len()).collect();
    order.sort_by_key(|&k| echelon.rows[k][0].0);
    for &k in order.iter().rev() {
        let row = std::mem::take(&mut echelon.rows[k]);
        let mut row = echelon.reduce(row, 1);
        make_primitive(&mut row);
        echelon.rows[k] = row;
    }
    let rows: Vec<&Row> = order.iter().map(|&k| &echelon.rows[k]).collect();
    solutions(&rows, width, budget)
}

/// One solution for each free column of rows in reduced echelon form, by ascending lead.
fn solutions(rows: &[&Row], width: usize, budget: &Budget) -> Result<Vec<Row>> {
    let mut free = vec![true; width];
    for row in rows {
        free[row[0].0 as usize] = false;
    }
    let entries: usize = rows.iter().map(|row| row.len() - 1).sum();
    let vectors = (width - rows.len()) as u64;
    budget.admit("the basis of a subspace", entries as u64 + vectors, ENTRY)?;
    budget.admit("the basis of a subspace", vectors, 2 * ENTRY + ROW)?;
    // Which rows have an entry in a column, and where: those of column c at starts[c]..starts[c + 1].
    let mut starts = vec![0u32; width + 1];
    rows.iter().flat_map(|row| &row[1..]).for_each(|(column, _)| starts[*column as usize + 1] += 1);
    (0..width).for_each(|column| starts[column + 1] += starts[column]);
    let mut next = starts.clone();
    let mut places = vec![(0u32, 0u32); entries];
    for (k, row) in rows.iter().enumerate() {
        for (at, (column, _)) in row.iter().enumerate().skip(1) {
            let next = &mut next[*column as usize];
            places[*next as usize] = (k as u32, at as u32);
            *next += 1;
        }
    }
    let solution = |column: usize| {
        // x[column] = 1 and x[lead] = -entry / leading entry; multiply through by the common denominator.
        let used = || {
            let places = &places[starts[column] as usize..starts[column + 1] as usize];
            places.iter().map(|&(k, at)| (&rows[k as usize][0], &rows[k as usize][at as usize].1))
        };
        let denominator = used().fold(IBig::ONE, |all, ((_, p), _)| &all / IBig::from((&all).gcd(p)) * p);
        let mut x: Row = used().map(|((lead, p), entry)| (*lead, -entry * (&denominator / p))).collect();
        x.push((column as u32, denominator));
        make_primitive(&mut x);
        x
    };
    Ok((0..width).filter(|&column| free[column]).map(solution).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linear;

    fn rows(width: usize) -> impl Strategy<Value = Vec<Vector>> {
        let entry = prop_oneof![3 => Just(0i64), 2 => -2..=2i64].prop_map(IBig::from);
        proptest::collection::vec(proptest::collection::vec(entry, width), 0..7)
    }

    fn sparse(rows: &[Vector]) -> Vec<Row> {
        rows.iter().map(|row| from_dense(row)).collect()
    }

    proptest! {
        #[test]
        fn null_spaces_are_those_of_the_dense_form(rows in (1..8usize).prop_flat_map(rows), extra in 0..3usize) {
            let width = rows.first().map_or(extra + 1, Vec::len);
            let found = null_space(sparse(&rows), width, &Budget::new(1 << 30)).unwrap();
            let found: Vec<Vector> = found.iter().map(|row| to_dense(row, width)).collect();
            prop_assert_eq!(found, linear::null_space(rows.clone(), width));
            prop_assert_eq!(rank(sparse(&rows)), linear::rank(&rows));
        }

        #[test]
        fn relations_are_all_combinations_within_a_span(span in rows(6), vectors in rows(6)) {
            let (mut dense, mut echelon) = (linear::Echelon::default(), Echelon::default());
            for row in &span {
                prop_assert_eq!(dense.insert(row), echelon.insert(from_dense(row)));
            }
            let found = echelon.relations(&sparse(&vectors), 6);
            for relation in &found {
                prop_assert!(dense.contains(&to_dense(&combine(relation, &sparse(&vectors)), 6)));
            }
            let all: Vec<Vector> = span.iter().chain(&vectors).cloned().collect();
            prop_assert_eq!(found.len(), vectors.len() + dense.rank() - linear::rank(&all));
            prop_assert_eq!(rank(found.iter().cloned()), found.len());
        }

        #[test]
        fn parts_and_products_are_those_of_the_dense_form(basis in rows(6), others in rows(6)) {
            for (a, b) in basis.iter().zip(&others) {
                prop_assert_eq!(dot(&from_dense(a), &from_dense(b)), linear::dot(a, b));
            }
            let basis: Vec<Vector> = basis.into_iter().filter(|row| row.iter().any(|x| !x.is_zero())).collect();
            let found = orthogonal_part(&sparse(&basis), &sparse(&others), &Budget::new(1 << 30)).unwrap();
            let found: Vec<Vector> = found.iter().map(|row| to_dense(row, 6)).collect();
            prop_assert_eq!(found, linear::orthogonal_part(&basis, &others));
        }
    }

    #[test]
    fn a_sum_over_a_million_entries_is_solved_at_once() {
        let width = 1_000_000;
        let row: Row = (0..width).map(|i| (i, IBig::ONE)).collect();
        let found = null_space(vec![row], width as usize, &Budget::new(1 << 30)).unwrap();
        assert_eq!(found.len(), 999_999);
        assert_eq!(found[7], [(0, IBig::ONE), (8, IBig::NEG_ONE)]);
        assert!(null_space(vec![vec![(0, IBig::ONE)]], 1_000_000, &Budget::new(1 << 20)).is_err());
    }
}

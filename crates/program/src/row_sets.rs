//! Which rows are brought together, as an operation of a program has them.

use crate::tensor::Tensor;

/// Sets of rows: those that are summed, then those whose largest value is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSets {
    rows: usize,
    /// Each ascending.
    pub(crate) sums: Vec<Vec<usize>>,
    /// The same.
    pub(crate) largest: Vec<Vec<usize>>,
}

impl RowSets {
    /// None where a row has no set to be summed in, where the numbers of sets leave some out, or where the two lists do not belong
    /// together.
    pub(crate) fn of(sums: &Tensor, largest: &Tensor) -> Option<Self> {
        let rows = sums.values.len();
        if rows == 0 || sums.shape != [rows] || largest.shape != [rows] || sums.values.iter().any(|&set| set < 0.0) {
            return None;
        }
        Some(Self { rows, sums: sets(&sums.values)?, largest: sets(&largest.values)? })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Every set, with whether its largest value is taken, in the order of the results.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&[usize], bool)> {
        let sums = self.sums.iter().map(|set| (set.as_slice(), false));
        sums.chain(self.largest.iter().map(|set| (set.as_slice(), true)))
    }
}

/// The rows of each set; -1 is none.
fn sets(numbers: &[f32]) -> Option<Vec<Vec<usize>>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (row, &number) in numbers.iter().enumerate() {
        let valid = number.fract() == 0.0 && number >= -1.0 && number < numbers.len() as f32;
        if !valid {
            return None;
        }
        if number < 0.0 {
            continue;
        }
        let number = number as usize;
        if sets.len() <= number {
            sets.resize(number + 1, Vec::new());
        }
        sets[number].push(row);
    }
    sets.iter().all(|set| !set.is_empty()).then_some(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_bad_ones_refused() {
        let vector = |values: &[f32]| Tensor::vector(values.to_vec());
        let sets = RowSets::of(&vector(&[0.0, 1.0, 0.0]), &vector(&[-1.0, 0.0, 0.0])).unwrap();
        assert_eq!((sets.sums.clone(), sets.largest.clone()), (vec![vec![0, 2], vec![1]], vec![vec![1, 2]]));
        assert_eq!(
            sets.all().map(|(set, largest)| (set.len(), largest)).collect::<Vec<_>>(),
            [(2, false), (1, false), (2, true)]
        );
        let none = vector(&[-1.0; 3]);
        for bad in [[0.0, 2.0, 0.0], [0.0, -1.0, 0.0], [0.5, 0.0, 0.0], [0.0, 3.0, 1.0], [f32::NAN, 0.0, 0.0]] {
            assert_eq!(RowSets::of(&vector(&bad), &none), None, "{bad:?}");
        }
        assert_eq!(RowSets::of(&vector(&[0.0, 0.0]), &none), None);
    }
}

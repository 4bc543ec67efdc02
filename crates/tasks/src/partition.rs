//! Partitions of positions: the symmetries that transpositions can generate.

use invar_algebra::GroupSet;

/// A partition of the positions 0..n into blocks. A function is invariant to it when positions of one block can be
/// exchanged.
///
/// ```
/// # use invar_tasks::Partition;
/// let partition = Partition::of(4, |i| i % 2);
/// assert_eq!(partition.blocks(), [vec![0, 2], vec![1, 3]]);
/// assert_eq!(partition.swaps().iter().collect::<Vec<_>>(), [1, 4]); // of (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The smallest position of each position's block.
    first: Vec<usize>,
}

impl Partition {
    /// Every position alone.
    pub fn discrete(n: usize) -> Self {
        Self { first: (0..n).collect() }
    }

    /// All positions together.
    pub fn whole(n: usize) -> Self {
        Self { first: vec![0; n] }
    }

    /// Positions together that `key` gives the same value.
    pub fn of<K: PartialEq>(n: usize, key: impl Fn(usize) -> K) -> Self {
        Self { first: (0..n).map(|i| (0..i).find(|&j| key(j) == key(i)).unwrap_or(i)).collect() }
    }

    /// Position `alone` by itself, all others together.
    pub fn all_but(n: usize, alone: usize) -> Self {
        Self::of(n, |i| i == alone)
    }

    /// Number of positions.
    #[expect(clippy::len_without_is_empty, reason = "the size of what is partitioned, not of a collection")]
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether two positions can be exchanged.
    pub fn together(&self, i: usize, j: usize) -> bool {
        self.first[i] == self.first[j]
    }

    /// Puts the blocks of two positions together; whether they were apart.
    pub fn merge(&mut self, i: usize, j: usize) -> bool {
        let (a, b) = (self.first[i].min(self.first[j]), self.first[i].max(self.first[j]));
        self.first.iter_mut().filter(|first| **first == b).for_each(|first| *first = a);
        a != b
    }

    /// The blocks, by smallest member.
    pub fn blocks(&self) -> Vec<Vec<usize>> {
        let members = |block: usize| (0..self.len()).filter(|&i| self.first[i] == block).collect();
        (0..self.len()).filter(|&i| self.first[i] == i).map(members).collect()
    }

    /// The transpositions within blocks, as a set over the candidates `swaps` or `node_swaps`: (0,1), (0,2), ..., (1,2), ...
    pub fn swaps(&self) -> GroupSet {
        let n = self.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        pairs.enumerate().filter(|(_, (i, j))| self.together(*i, *j)).map(|(k, _)| k).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_swaps_of_small_partitions() {
        assert_eq!(Partition::whole(3).swaps(), GroupSet::full(3));
        assert_eq!(Partition::discrete(3).swaps(), GroupSet::empty());
        assert_eq!(Partition::all_but(4, 2).blocks(), [vec![0, 1, 3], vec![2]]);
        assert_eq!(Partition::all_but(4, 2).swaps().iter().collect::<Vec<_>>(), [0, 2, 4]);
    }

    #[test]
    fn merging_reports_whether_blocks_were_apart() {
        let mut partition = Partition::discrete(4);
        assert!(partition.merge(3, 1) && partition.merge(0, 2) && !partition.merge(1, 3));
        assert_eq!(partition, Partition::of(4, |i| i % 2));
        assert!(partition.merge(2, 3) && partition == Partition::whole(4));
    }
}

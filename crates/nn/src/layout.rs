//! Which rows of a coefficient matrix belong to which subspace.

use std::ops::Range;

/// Where one subspace lies among the rows of the coefficient matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRows {
    /// Level of invariance |M|.
    pub level: usize,
    /// First row.
    pub start: usize,
    /// Number of rows, the dimension of B(M).
    pub len: usize,
}

/// The blocks of a layer, most invariant first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Number of candidate groups, m: subspaces at this level are free of penalty.
    pub groups: usize,
    /// Rows of each block.
    pub blocks: Vec<BlockRows>,
}

impl Layout {
    pub(crate) fn new(groups: usize, sizes: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut start = 0;
        let blocks = sizes
            .map(|(level, len)| {
                start += len;
                BlockRows { level, start: start - len, len }
            })
            .collect();
        Self { groups, blocks }
    }

    /// Whether every subspace is one-dimensional, so that rows are blocks.
    pub fn rows_are_blocks(&self) -> bool {
        self.blocks.iter().all(|block| block.len == 1)
    }

    /// The distinct levels present, most invariant first, each with the range of its blocks.
    pub fn levels(&self) -> Vec<(usize, Range<usize>)> {
        let mut levels: Vec<(usize, Range<usize>)> = Vec::new();
        for (i, block) in self.blocks.iter().enumerate() {
            match levels.last_mut() {
                Some((level, range)) if *level == block.level => range.end = i + 1,
                _ => levels.push((block.level, i..i + 1)),
            }
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ranges_of_blocks() {
        let layout = Layout::new(3, [(3, 1), (1, 2), (1, 1), (0, 4)].into_iter());
        let starts: Vec<usize> = layout.blocks.iter().map(|b| b.start).collect();
        assert_eq!(starts, [0, 1, 3, 4]);
        assert_eq!(layout.levels(), [(3, 0..1), (1, 1..3), (0, 3..4)]);
        assert!(!layout.rows_are_blocks());
    }
}

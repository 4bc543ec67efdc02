//! What a generator does to the values between two operations.

use invar_algebra::{Permutation, SignedPermutation};

use super::ball::Balls;

/// A signed permutation of entries: the value at i goes to `to[i]`, with its sign changed where `negative` says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moves {
    pub(super) to: Vec<usize>,
    pub(super) negative: Vec<bool>,
}

impl Moves {
    pub(super) fn identity(n: usize) -> Self {
        Self { to: (0..n).collect(), negative: vec![false; n] }
    }

    pub(super) fn of(permutation: &Permutation) -> Self {
        let n = permutation.len();
        Self { to: (0..n).map(|i| permutation.image(i)).collect(), negative: vec![false; n] }
    }

    pub(super) fn of_signed(signed: &SignedPermutation) -> Self {
        Self { negative: signed.negative().to_vec(), ..Self::of(signed.permutation()) }
    }

    pub(super) fn len(&self) -> usize {
        self.to.len()
    }

    pub(super) fn is_identity(&self) -> bool {
        !self.changes_signs() && self.to.iter().enumerate().all(|(i, &to)| i == to)
    }

    pub(super) fn changes_signs(&self) -> bool {
        self.negative.contains(&true)
    }

    /// For each place the entry that comes there.
    pub(super) fn from(&self) -> Vec<usize> {
        let mut from = vec![0; self.len()];
        self.to.iter().enumerate().for_each(|(i, &to)| from[to] = i);
        from
    }

    /// An example moved.
    pub(super) fn carry(&self, x: &Balls) -> Balls {
        let mut moved = x.picked(&self.from());
        for (i, &to) in self.to.iter().enumerate().filter(|&(i, _)| self.negative[i]) {
            moved.centre[to] = -x.centre[i];
        }
        moved
    }

    /// The same moves of entries that each became `width` entries side by side.
    pub(super) fn widened(&self, width: usize) -> Self {
        let of = |i: usize| self.to[i / width] * width + i % width;
        let n = self.len() * width;
        Self { to: (0..n).map(of).collect(), negative: (0..n).map(|i| self.negative[i / width]).collect() }
    }

    /// The same moves of entries that were put in another order: entry j comes from `from[j]`.
    pub(super) fn reordered(&self, from: &[usize]) -> Self {
        let mut place = vec![0; from.len()];
        from.iter().enumerate().for_each(|(j, &i)| place[i] = j);
        Self { to: from.iter().map(|&i| place[self.to[i]]).collect(), negative: from.iter().map(|&i| self.negative[i]).collect() }
    }

    /// As moves of blocks of `size` entries and moves within a block, if they are a pair of such: channels and pixels. Signs
    /// belong to blocks.
    pub(super) fn split(&self, size: usize) -> Option<(Self, Vec<usize>)> {
        let blocks = self.len() / size;
        let outer = Self {
            to: (0..blocks).map(|b| self.to[b * size] / size).collect(),
            negative: (0..blocks).map(|b| self.negative[b * size]).collect(),
        };
        let inner: Vec<usize> = (0..size).map(|p| self.to[p] % size).collect();
        let agrees = |i: usize| {
            let (b, p) = (i / size, i % size);
            self.to[i] == outer.to[b] * size + inner[p] && self.negative[i] == outer.negative[b]
        };
        (0..self.len()).all(agrees).then_some((outer, inner))
    }

    /// The inverse of [`Moves::split`].
    pub(super) fn product(outer: &Self, inner: &[usize]) -> Self {
        let size = inner.len();
        let n = outer.len() * size;
        Self {
            to: (0..n).map(|i| outer.to[i / size] * size + inner[i % size]).collect(),
            negative: (0..n).map(|i| outer.negative[i / size]).collect(),
        }
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        let moved = self.to.iter().enumerate().filter(|&(i, &to)| i != to).count();
        let signs = self.negative.iter().filter(|&&negative| negative).count();
        let n = self.len();
        match (moved, signs) {
            (0, 0) => "nothing moves behind it".into(),
            (_, 0) => format!("{moved} of {n} entries move behind it"),
            (0, _) => format!("{signs} of {n} signs change behind it"),
            _ => format!("{moved} of {n} entries move and {signs} signs change behind it"),
        }
    }
}

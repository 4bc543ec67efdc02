//! Sets of candidate groups, the index M of the paper's subspaces.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of candidate groups, by their position in the list of candidates. Its size is the level of invariance.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct GroupSet {
    /// Bit i of word i / 64; no trailing zero words, so that equal sets are equal values.
    words: Vec<u64>,
}

impl GroupSet {
    /// The set without groups.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The set of the first m groups.
    pub fn full(m: usize) -> Self {
        (0..m).collect()
    }

    /// Number of groups: the level of invariance.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no group is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a group is in the set.
    pub fn contains(&self, group: usize) -> bool {
        self.words.get(group / 64).is_some_and(|word| word >> (group % 64) & 1 == 1)
    }

    /// Adds a group.
    pub fn insert(&mut self, group: usize) {
        if self.words.len() <= group / 64 {
            self.words.resize(group / 64 + 1, 0);
        }
        self.words[group / 64] |= 1 << (group % 64);
    }

    /// The set with one more group.
    #[must_use]
    pub fn with(&self, group: usize) -> Self {
        let mut set = self.clone();
        set.insert(group);
        set
    }

    /// Whether every group of this set is in the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        let word = |k: usize| other.words.get(k).copied().unwrap_or(0);
        self.words.iter().enumerate().all(|(k, &mine)| mine & !word(k) == 0)
    }

    /// Whether this set is a subset of the other and not equal to it.
    pub fn is_strict_subset(&self, other: &Self) -> bool {
        self != other && self.is_subset(other)
    }

    /// The groups, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(k, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                .map(move |w| 64 * k + w.trailing_zeros() as usize)
        })
    }

    /// Most invariant first; within a level in lexicographic order of the groups.
    pub fn most_invariant_first(a: &Self, b: &Self) -> Ordering {
        b.len().cmp(&a.len()).then_with(|| a.iter().cmp(b.iter()))
    }
}

impl FromIterator<usize> for GroupSet {
    fn from_iter<I: IntoIterator<Item = usize>>(groups: I) -> Self {
        let mut set = Self::empty();
        groups.into_iter().for_each(|group| set.insert(group));
        set
    }
}

impl fmt::Debug for GroupSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for GroupSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for GroupSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Far above any list of candidates: a damaged file must not allocate without bound.
        const LARGEST: usize = 1 << 24;
        let groups = Vec::<usize>::deserialize(deserializer)?;
        match groups.iter().find(|&&group| group >= LARGEST) {
            Some(group) => Err(serde::de::Error::custom(format!("group number {group} is out of range"))),
            None => Ok(groups.into_iter().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_beyond_one_word() {
        let set: GroupSet = [0, 63, 64, 4949].into_iter().collect();
        assert_eq!(set.len(), 4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 4949]);
        assert!(set.contains(4949) && !set.contains(4948) && !set.contains(100_000));
        assert!(set.is_strict_subset(&GroupSet::full(4950)) && !GroupSet::full(4950).is_subset(&set));
        assert!(GroupSet::empty().is_subset(&set) && GroupSet::empty().is_empty());
        assert_eq!(GroupSet::full(4950).len(), 4950);
        assert_eq!(GroupSet::full(0), GroupSet::empty());
    }

    #[test]
    fn order_is_by_level_then_lexicographic() {
        let set = |groups: &[usize]| groups.iter().copied().collect::<GroupSet>();
        let mut sets = vec![set(&[]), set(&[2]), set(&[0, 2]), set(&[1, 2]), set(&[0, 1]), set(&[0])];
        sets.sort_by(GroupSet::most_invariant_first);
        assert_eq!(sets, [set(&[0, 1]), set(&[0, 2]), set(&[1, 2]), set(&[0]), set(&[2]), set(&[])]);
    }
}

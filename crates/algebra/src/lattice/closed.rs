//! Which sets of candidates can have a subspace: the closed ones, most invariant first.
//!
//! cl(M) = { i : Bt(M) lies inside W_i }. B(M) = 0 unless M = cl(M), so of 2^m sets only the closed ones matter.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::group::Group;
use crate::group_set::GroupSet;
use crate::lattice::component::Component;
use crate::orbits::Orbits;
use crate::union_find::UnionFind;

/// cl(M): every group that leaves all of Bt(M) invariant.
pub(crate) fn closure(components: &[Component], m: usize, set: &GroupSet) -> GroupSet {
    let fixed: Vec<_> = components.iter().map(|component| component.fixed(set)).collect();
    let invariant = |group: usize| components.iter().zip(&fixed).all(|(component, space)| component.is_invariant(space, group));
    (0..m).filter(|&group| set.contains(group) || invariant(group)).collect()
}

/// All closed sets: start from the closure of nothing, add one group at a time, close again.
pub(crate) fn enumerate(m: usize, cap: usize, closure: impl Fn(&GroupSet) -> Result<GroupSet>) -> Result<Vec<GroupSet>> {
    let bottom = closure(&GroupSet::empty())?;
    let mut seen = HashSet::from([bottom.clone()]);
    let mut open = vec![bottom];
    while let Some(set) = open.pop() {
        for group in (0..m).filter(|&group| !set.contains(group)) {
            let larger = closure(&set.with(group))?;
            if !seen.contains(&larger) {
                if seen.len() >= cap {
                    return Err(too_many(cap));
                }
                seen.insert(larger.clone());
                open.push(larger);
            }
        }
    }
    let mut sets: Vec<GroupSet> = seen.into_iter().collect();
    sets.sort_by(GroupSet::most_invariant_first);
    Ok(sets)
}

fn too_many(cap: usize) -> Error {
    let advice = "name fewer candidates, or with `invar lattice` raise the cap (--cap); complete families written as swaps(axis) or \
                  node_swaps(axes) alone are not limited in paper mode";
    Error::TooManySets { cap, advice: advice.into() }
}

/// A complete family of transpositions: `swaps(0)` or `node_swaps(0,1)` and nothing else.
///
/// Its closed sets are the partitions of the n positions (two positions in one block: their swap is kept). With k axes
/// permuted together a vector depends on at most k positions at once, so only partitions into at most k + 1 blocks can
/// have a subspace.
#[derive(Debug)]
pub(crate) struct Family {
    n: usize,
    blocks: usize,
    /// The number of the group that swaps i < j, at i * n + j.
    group: Vec<usize>,
}

impl Family {
    /// The family that these groups are, if they are one.
    pub(crate) fn detect(groups: &[Group]) -> Option<Self> {
        let first = groups.first()?.swap()?;
        let axes = &first.axes;
        let n = groups[0].shape().side(axes[0]);
        if groups.len() != n * (n - 1) / 2 {
            return None;
        }
        let mut group = vec![usize::MAX; n * n];
        for (number, candidate) in groups.iter().enumerate() {
            let swap = candidate.swap().filter(|swap| swap.axes == *axes)?;
            let place = &mut group[swap.i * n + swap.j];
            if *place != usize::MAX {
                return None;
            }
            *place = number;
        }
        Some(Self { n, blocks: (axes.len() + 1).min(n), group })
    }

    /// A closed set as the partition of positions (from 1, as in the paper) that it stands for.
    pub(crate) fn label(&self, set: &GroupSet, what: &str) -> String {
        let mut sets = UnionFind::new(self.n);
        for i in 0..self.n {
            for j in i + 1..self.n {
                if set.contains(self.group[i * self.n + j]) {
                    sets.union(i, j, false);
                }
            }
        }
        let blocks = Orbits::from_sets(self.n, &mut sets).members();
        let alone: Vec<usize> = blocks.iter().filter(|block| block.len() == 1).map(|block| block[0] + 1).collect();
        let spell = |block: &[usize]| block.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        match (blocks.len() - alone.len(), &alone[..]) {
            (1, []) => format!("all {what}s alike"),
            (1, [one]) => format!("all but {what} {one}"),
            (1, several) => format!("all but {what}s {}", spell(several)),
            (0, _) => format!("every {what} on its own"),
            _ => {
                let blocks: Vec<String> = blocks.iter().map(|b| spell(&b.iter().map(|p| p + 1).collect::<Vec<_>>())).collect();
                format!("{what}s {}", blocks.join(" | "))
            }
        }
    }

    /// The closed sets that can have a subspace, one level at a time, most invariant first.
    ///
    /// Within a level they are ordered by the positions outside the largest block, ascending: "all but 1", "all but 2", ...
    pub(crate) fn levels(&self, cap: Option<usize>) -> impl Iterator<Item = Result<Vec<GroupSet>>> + '_ {
        let mut shapes = Vec::new();
        block_sizes(self.n, self.blocks, self.n, &mut Vec::new(), &mut shapes);
        let level = |sizes: &Vec<usize>| sizes.iter().map(|b| b * (b - 1) / 2).sum::<usize>();
        shapes.sort_by_key(|sizes| std::cmp::Reverse(level(sizes)));
        let mut left = cap.unwrap_or(usize::MAX);
        let mut shapes = shapes.into_iter().peekable();
        std::iter::from_fn(move || {
            let first = shapes.next()?;
            let mut same = vec![first];
            while let Some(next) = shapes.next_if(|next| level(next) == level(&same[0])) {
                same.push(next);
            }
            let mut partitions = Vec::new();
            for sizes in &same {
                if !self.partitions(sizes, left, &mut partitions) {
                    return Some(Err(too_many(cap.unwrap_or(usize::MAX))));
                }
            }
            left -= partitions.len();
            partitions.sort();
            Some(Ok(partitions.into_iter().map(|partition| self.set(&partition.blocks)).collect()))
        })
    }

    /// Adds all partitions of the positions into blocks of these sizes; false when there are more than `cap` in all.
    fn partitions(&self, sizes: &[usize], cap: usize, found: &mut Vec<Partition>) -> bool {
        // Blocks of equal size are interchangeable: each is opened by the smallest position not yet placed.
        fn place(
            n: usize,
            sizes: &mut Vec<usize>,
            free: &[usize],
            blocks: &mut Vec<Vec<usize>>,
            cap: usize,
            found: &mut Vec<Partition>,
        ) -> bool {
            let Some((&lead, others)) = free.split_first() else {
                found.push(Partition::new(n, blocks));
                return found.len() <= cap;
            };
            let mut tried = Vec::new();
            for k in 0..sizes.len() {
                if tried.contains(&sizes[k]) {
                    continue;
                }
                tried.push(sizes[k]);
                let size = sizes.remove(k);
                let going = choose(others, size - 1, &mut Vec::new(), &mut |chosen| {
                    let rest: Vec<usize> = others.iter().copied().filter(|p| !chosen.contains(p)).collect();
                    blocks.push(std::iter::once(lead).chain(chosen.iter().copied()).collect());
                    let going = place(n, sizes, &rest, blocks, cap, found);
                    blocks.pop();
                    going
                });
                sizes.insert(k, size);
                if !going {
                    return false;
                }
            }
            true
        }
        let positions: Vec<usize> = (0..self.n).collect();
        place(self.n, &mut sizes.to_vec(), &positions, &mut Vec::new(), cap, found)
    }

    fn set(&self, blocks: &[Vec<usize>]) -> GroupSet {
        let pairs = |block: &Vec<usize>| {
            let block = block.clone();
            (0..block.len()).flat_map(move |b| {
                (0..b).map({
                    let block = block.clone();
                    move |a| (block[a], block[b])
                })
            })
        };
        blocks.iter().flat_map(pairs).map(|(i, j)| self.group[i * self.n + j]).collect()
    }
}

/// A partition of positions, ordered by what lies outside its largest block.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Partition {
    omitted: Vec<usize>,
    blocks: Vec<Vec<usize>>,
}

impl Partition {
    fn new(n: usize, blocks: &[Vec<usize>]) -> Self {
        let largest = blocks.iter().map(Vec::len).max().unwrap_or(0);
        let outside = |block: &Vec<usize>| (0..n).filter(|p| !block.contains(p)).collect::<Vec<_>>();
        let omitted = blocks.iter().filter(|block| block.len() == largest).map(outside).min().unwrap_or_default();
        Self { omitted, blocks: blocks.to_vec() }
    }
}

/// Calls `visit` with every `count`-subset of `from`, in lexicographic order, until it returns false.
fn choose(from: &[usize], count: usize, chosen: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    if count == 0 {
        return visit(chosen);
    }
    for k in 0..from.len().saturating_sub(count - 1) {
        chosen.push(from[k]);
        let going = choose(&from[k + 1..], count - 1, chosen, visit);
        chosen.pop();
        if !going {
            return false;
        }
    }
    true
}

/// All ways to write n as a sum of at most `parts` sizes, each at most `largest`, descending.
fn block_sizes(n: usize, parts: usize, largest: usize, chosen: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if n == 0 {
        found.push(chosen.clone());
        return;
    }
    if parts == 0 {
        return;
    }
    for size in (1..=largest.min(n)).rev() {
        chosen.push(size);
        block_sizes(n - size, parts - 1, size, chosen, found);
        chosen.pop();
    }
}

//! Sets of groups in words.

use invar_algebra::{Group, GroupSet, Lattice};

use super::text::count;

/// Names sets of candidate groups as people would: swaps by the positions that stay alike, other groups by their names.
pub(super) struct Names<'a> {
    groups: &'a [Group],
    families: Vec<Family>,
    /// For each group the family it is told by, if any.
    family_of: Vec<Option<usize>>,
}

/// Candidates that swap two indices along the same axes.
pub(super) struct Family {
    /// The axes their swaps act on.
    pub(super) axes: Vec<usize>,
    /// Number of indices along these axes.
    pub(super) n: usize,
    /// The candidates.
    pub(super) members: Vec<usize>,
    /// Whether the axes must be named: there are others.
    named: bool,
}

impl Family {
    /// What an index of these axes stands for.
    pub(super) fn noun(&self) -> &'static str {
        if self.axes.len() > 1 { "node" } else { "position" }
    }

    /// "axis 0" or "axes 0, 1".
    pub(super) fn axes(&self) -> String {
        let list: Vec<String> = self.axes.iter().map(ToString::to_string).collect();
        format!("{} {}", if list.len() > 1 { "axes" } else { "axis" }, list.join(", "))
    }

    /// What the swaps in a set leave alike; none when no swap is in it.
    fn phrase(&self, groups: &[Group], set: &GroupSet) -> Option<String> {
        let kept = self.members.iter().filter(|&&group| set.contains(group)).filter_map(|&group| groups[group].swap());
        let mut block: Vec<usize> = (0..self.n).collect();
        for swap in kept {
            let (a, b) = (block[swap.i].min(block[swap.j]), block[swap.i].max(block[swap.j]));
            if a != b {
                block.iter_mut().filter(|x| **x == b).for_each(|x| *x = a);
            }
        }
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); self.n];
        block.iter().enumerate().for_each(|(position, &lead)| blocks[lead].push(position));
        blocks.retain(|block| !block.is_empty());
        let phrase = partition(&blocks, self.n, self.noun())?;
        Some(if self.named { format!("{}: {phrase}", self.axes()) } else { phrase })
    }
}

impl<'a> Names<'a> {
    pub(super) fn new(lattice: &'a Lattice) -> Self {
        let groups = lattice.groups();
        let mut families: Vec<Family> = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let Some(swap) = group.swap() else { continue };
            if let Some(family) = families.iter_mut().find(|family| family.axes == swap.axes) {
                family.members.push(number);
            } else {
                let n = group.shape().side(swap.axes[0]);
                families.push(Family { axes: swap.axes.clone(), n, members: vec![number], named: false });
            }
        }
        // One or two swaps are better told by name.
        families.retain(|family| family.members.len() >= 3 || family.members.len() == family.n * (family.n - 1) / 2);
        let long_axes = lattice.shape().sides().iter().filter(|&&n| n > 1).count();
        let several = families.len() > 1;
        for family in &mut families {
            family.named = several || long_axes > family.axes.len();
        }
        let mut family_of = vec![None; groups.len()];
        for (number, family) in families.iter().enumerate() {
            family.members.iter().for_each(|&group| family_of[group] = Some(number));
        }
        Self { groups, families, family_of }
    }

    /// The families of swaps among the candidates.
    pub(super) fn families(&self) -> &[Family] {
        &self.families
    }

    /// The candidates that are told by name.
    pub(super) fn singles(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.groups.len()).filter(|&group| self.family_of[group].is_none())
    }

    /// A set in words, naming at most `most` groups.
    pub(super) fn of(&self, set: &GroupSet, most: usize) -> String {
        let phrases = self.families.iter().filter_map(|family| family.phrase(self.groups, set));
        let single: Vec<usize> = self.singles().filter(|&group| set.contains(group)).collect();
        let named = single.iter().take(most).map(|&group| self.groups[group].name().to_string());
        let more = (single.len() > most).then(|| format!("… {} more", single.len() - most));
        let parts: Vec<String> = named.chain(more).chain(phrases).collect();
        match (&parts[..], &self.families[..]) {
            ([], [family]) if family.members.len() == self.groups.len() => format!("no two {}s alike", family.noun()),
            ([], _) => "{ } no group".to_string(),
            ([phrase], [_]) if single.is_empty() => phrase.clone(),
            _ => format!("{{{}}}", parts.join(", ")),
        }
    }
}

/// A partition of positions 0..n in words, counting from 1; none when every position is on its own.
fn partition(blocks: &[Vec<usize>], n: usize, noun: &str) -> Option<String> {
    let joined: Vec<&Vec<usize>> = blocks.iter().filter(|block| block.len() > 1).collect();
    let alone: Vec<usize> = blocks.iter().filter(|block| block.len() == 1).map(|block| block[0]).collect();
    Some(match joined[..] {
        [] => return None,
        [_] if alone.is_empty() => format!("all {noun}s alike"),
        [block] if alone.len() <= 3 && alone.len() < block.len() => {
            format!("all but {noun}{} {}", if alone.len() == 1 { "" } else { "s" }, ranges(&alone, ", "))
        }
        [block] => format!("{noun}s {} alike", ranges(block, ", ")),
        _ => {
            const MOST: usize = 12;
            // A block of most of many positions is told by the others.
            let rest = blocks.iter().position(|block| n > 6 && 2 * block.len() > n);
            let told = blocks.iter().enumerate().filter(|(k, _)| Some(*k) != rest).map(|(_, block)| ranges(block, ","));
            let mut parts: Vec<String> = told.take(MOST).collect();
            if blocks.len() > MOST {
                parts.push(format!("… of {}", count(n, noun)));
            } else if rest.is_some() {
                parts.push("the rest".into());
            }
            format!("{{{}}}", parts.join(" | "))
        }
    })
}

/// Ascending positions, counted from 1, with runs of three and more written as "3–7".
fn ranges(positions: &[usize], separator: &str) -> String {
    const MOST: usize = 12;
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < positions.len() {
        if parts.len() == MOST {
            parts.push("…".into());
            break;
        }
        let run = (at..positions.len()).take_while(|&k| positions[k] == positions[at] + k - at).count();
        if run >= 3 {
            parts.push(format!("{}–{}", positions[at] + 1, positions[at] + run));
            at += run;
        } else {
            parts.push((positions[at] + 1).to_string());
            at += 1;
        }
    }
    parts.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::{Options, candidates};

    fn all(shape: &str, groups: &[&str]) -> Vec<String> {
        let groups = candidates(&shape.parse().unwrap(), groups.iter().copied()).unwrap();
        let lattice = Lattice::new(groups, &Options::default()).unwrap();
        let names = Names::new(&lattice);
        lattice.subspaces().iter().map(|subspace| names.of(subspace.set(), 3)).collect()
    }

    #[test]
    fn swaps_are_told_by_positions() {
        let names = all("4", &["swaps(0)"]);
        assert_eq!(names, ["all positions alike", "all but position 1", "all but position 2", "all but position 3"]);
        assert_eq!(all("4x4", &["node_swaps(0,1)"])[0], "all nodes alike");
        assert_eq!(all("3x2", &["swaps(0)"])[0], "axis 0: all positions alike");
    }

    #[test]
    fn other_groups_are_told_by_name() {
        assert_eq!(all("3x3", &["rot=rot90(0,1)", "flip(0)"]), ["{rot, flip(0)}", "{flip(0)}", "{ } no group"]);
        assert_eq!(all("3", &["swaps(0)", "flip(0)"])[0], "{flip(0), all positions alike}");
    }

    #[test]
    fn partitions_are_short() {
        let words = |blocks: &[&[usize]], n| partition(&blocks.iter().map(|b| b.to_vec()).collect::<Vec<_>>(), n, "node");
        assert_eq!(words(&[&[0, 2, 4], &[1, 3]], 5).unwrap(), "{1,3,5 | 2,4}");
        assert_eq!(words(&[&[0], &[1], &[2, 3, 4, 5]], 6).unwrap(), "all but nodes 1, 2");
        assert_eq!(words(&[&[0], &[1], &[2], &[3], &[4, 5]], 6).unwrap(), "nodes 5, 6 alike");
        assert_eq!(words(&[&[0, 1], &[2, 3, 4]], 5).unwrap(), "{1,2 | 3–5}");
        assert_eq!(words(&[&[0, 2, 3, 4, 6, 7], &[1, 5]], 8).unwrap(), "{2,6 | the rest}");
        assert_eq!(words(&[&[0], &[1]], 2), None);
    }
}

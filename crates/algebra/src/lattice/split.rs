//! The tensor split into components that no candidate mixes.
//!
//! Every subspace of the lattice is the direct sum of its parts on the orbits of all candidates together, so the whole
//! construction runs on one small component at a time: 24 entries instead of 2352 for a 3x28x28 image. Components on which every
//! candidate does the same, as the pairs of entries that a reflection exchanges, are found once for all.

use std::collections::HashMap;
use std::sync::Arc;

use crate::action::Action;
use crate::group::Group;
use crate::lattice::component::{Agreements, Component, Demands};
use crate::lattice::places::Places;
use crate::linear::Vector;
use crate::orbits::{Orbits, edges};
use crate::reynolds::left_equations;
use crate::union_find::UnionFind;

/// Bytes that splitting takes for each entry of the tensor at its peak.
pub(crate) const BYTES_PER_ENTRY: usize = 48;

/// Splits the tensor. The groups must not have real generators.
pub(crate) fn split(groups: &[Group]) -> Vec<Component> {
    if groups.iter().flat_map(Group::generators).any(|g| matches!(g, Action::Rational(_))) {
        return by_equations(groups);
    }
    let d = groups[0].shape().len();
    let mut sets = UnionFind::new(d);
    demands(groups).for_each(|(_, a, b, _)| _ = sets.union(a, b, false));
    let parts = Parts::new(&Orbits::from_sets(d, &mut sets));
    drop(sets);
    let kinds = kinds(groups, &parts);
    let mut components = like_their_first(groups, &parts, &kinds);
    if !are_alike(groups, &parts, &kinds, &components) {
        // Different demands had one fingerprint: so rare that each component may as well stand alone.
        components = like_their_first(groups, &parts, &(0..parts.count() as u32).collect::<Vec<_>>());
    }
    components.into_iter().map(|(places, agreements)| Component { places, demands: Demands::Agreements(agreements) }).collect()
}

/// Which entries each group wants to agree, group by group.
fn demands(groups: &[Group]) -> impl Iterator<Item = (usize, usize, usize, bool)> {
    groups.iter().enumerate().flat_map(|(number, group)| {
        let edges = group.generators().iter().flat_map(|g| edges(g).expect("no matrices"));
        edges.map(move |(a, b, reversed)| (number, a, b, reversed))
    })
}

/// The components: which one each entry belongs to, and where it stands there.
struct Parts {
    of: Vec<u32>,
    local: Vec<u32>,
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Parts {
    fn new(orbits: &Orbits) -> Self {
        let of: Vec<u32> = (0..orbits.len()).map(|entry| orbits.orbit(entry) as u32).collect();
        let (starts, entries) = orbits.grouped();
        let mut local = vec![0; of.len()];
        for ends in starts.windows(2) {
            entries[ends[0] as usize..ends[1] as usize].iter().zip(0..).for_each(|(&entry, k)| local[entry as usize] = k);
        }
        Self { of, local, starts, entries }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn component(&self, number: usize) -> &[u32] {
        &self.entries[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The kind of each component, by size and a fingerprint of all demands on it; kinds are numbered by their first component.
fn kinds(groups: &[Group], parts: &Parts) -> Vec<u32> {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut prints = vec![0u64; parts.count()];
    for (group, a, b, reversed) in demands(groups) {
        let ends = u64::from(parts.local[a]) << 32 | u64::from(parts.local[b]);
        let print = &mut prints[parts.of[a] as usize];
        for word in [ends, 2 * group as u64 + u64::from(reversed)] {
            *print = (print.rotate_left(23) ^ word).wrapping_mul(ODD);
            *print ^= *print >> 29;
        }
    }
    let mut known: HashMap<(u32, u64), u32> = HashMap::new();
    let kind = |(number, print)| {
        let next = known.len() as u32;
        *known.entry((parts.component(number).len() as u32, print)).or_insert(next)
    };
    prints.into_iter().enumerate().map(kind).collect()
}

/// The places of each kind, with the demands on the first of them.
fn like_their_first(groups: &[Group], parts: &Parts, kinds: &[u32]) -> Vec<(Arc<Places>, Agreements)> {
    let mut first: Vec<usize> = Vec::new();
    let mut entries: Vec<Vec<u32>> = Vec::new();
    for (number, &kind) in kinds.iter().enumerate() {
        if kind as usize == first.len() {
            first.push(number);
            entries.push(Vec::new());
        }
        entries[kind as usize].extend_from_slice(parts.component(number));
    }
    let mut agreements: Vec<Agreements> = first.iter().map(|_| Agreements::default()).collect();
    for (group, a, b, reversed) in demands(groups) {
        let number = parts.of[a] as usize;
        let kind = kinds[number] as usize;
        if first[kind] == number {
            agreements[kind].push(group, (parts.local[a], parts.local[b], reversed));
        }
    }
    let places =
        first.iter().zip(entries).map(|(&number, entries)| Arc::new(Places::new(parts.component(number).len(), entries)));
    places.zip(agreements).collect()
}

/// Whether the demands on every component are those on the first of its kind.
fn are_alike(groups: &[Group], parts: &Parts, kinds: &[u32], components: &[(Arc<Places>, Agreements)]) -> bool {
    let mut seen = vec![0u32; parts.count()];
    let next = demands(groups).all(|(group, a, b, reversed)| {
        let number = parts.of[a] as usize;
        let k = seen[number] as usize;
        seen[number] += 1;
        let like = &components[kinds[number] as usize].1;
        like.demand(k) == Some((group, (parts.local[a], parts.local[b], reversed)))
    });
    next && seen.iter().zip(kinds).all(|(&seen, &kind)| seen as usize == components[kind as usize].1.len())
}

/// The same where some candidate is a matrix: each component stands alone.
fn by_equations(groups: &[Group]) -> Vec<Component> {
    let d = groups[0].shape().len();
    let equations: Vec<Vec<Vector>> =
        groups.iter().map(|group| group.generators().iter().flat_map(left_equations).collect()).collect();
    let mut sets = UnionFind::new(d);
    for row in equations.iter().flatten() {
        let mut used = (0..d).filter(|&i| !row[i].is_zero());
        let first = used.next();
        used.for_each(|i| _ = sets.union(first.expect("rows are not zero"), i, false));
    }
    let parts = Parts::new(&Orbits::from_sets(d, &mut sets));
    let mut demands = vec![vec![Vec::new(); groups.len()]; parts.count()];
    for (group, rows) in equations.iter().enumerate() {
        for row in rows {
            let first = row.iter().position(|entry| !entry.is_zero()).expect("rows are not zero");
            let number = parts.of[first] as usize;
            demands[number][group].push(parts.component(number).iter().map(|&entry| row[entry as usize].clone()).collect());
        }
    }
    let component = |(number, demands): (usize, Vec<Vec<Vector>>)| {
        let entries = parts.component(number).to_vec();
        Component { places: Arc::new(Places::new(entries.len(), entries)), demands: Demands::Equations(demands) }
    };
    demands.into_iter().enumerate().map(component).collect()
}

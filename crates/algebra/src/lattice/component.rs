//! The tensor split into parts that no candidate mixes.
//!
//! Every subspace of the lattice is the direct sum of its parts on the orbits of all candidates together, so the whole
//! construction runs on one small part at a time: 24 entries instead of 2352 for a 3x28x28 image.

use std::collections::HashSet;
use std::sync::Arc;

use dashu_int::IBig;

use crate::action::Action;
use crate::group::Group;
use crate::group_set::GroupSet;
use crate::linear::{self, Echelon, Vector};
use crate::orbits::{Orbits, edges};
use crate::reynolds::left_equations;
use crate::union_find::UnionFind;

/// A pair of entries that a group forces to agree: `x_a = x_b`, or `x_a = -x_b` when reversed.
type Edge = (u32, u32, bool);

/// One part of the tensor with what every candidate demands of weights on it.
#[derive(Debug)]
pub(crate) struct Component {
    /// The entries of the tensor, ascending.
    pub(crate) entries: Arc<[u32]>,
    demands: Demands,
}

#[derive(Debug)]
enum Demands {
    /// All candidates are (signed) permutations: entries that must agree, per group.
    Agreements(Vec<Vec<Edge>>),
    /// Some candidate is a matrix: linear equations, per group.
    Equations(Vec<Vec<Vector>>),
}

/// Bt(M) on one component: all weights on it that are invariant to every group of M.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fixed {
    Orbits(Orbits),
    Span(Vec<Vector>),
}

/// Splits the tensor. The groups must not have real generators.
pub(crate) fn split(groups: &[Group]) -> Vec<Component> {
    let d = groups[0].shape().len();
    let matrices = groups.iter().flat_map(Group::generators).any(|g| matches!(g, Action::Rational(_)));
    let mut equations: Vec<Vec<Vector>> = Vec::new();
    let mut agreements: Vec<Vec<(usize, usize, bool)>> = Vec::new();
    for group in groups {
        if matrices {
            equations.push(group.generators().iter().flat_map(left_equations).collect());
        } else {
            agreements.push(group.generators().iter().flat_map(|g| edges(g).expect("no matrices")).collect());
        }
    }

    let mut sets = UnionFind::new(d);
    agreements.iter().flatten().for_each(|&(a, b, _)| _ = sets.union(a, b, false));
    for row in equations.iter().flatten() {
        let mut used = (0..d).filter(|&i| !row[i].is_zero());
        let first = used.next();
        used.for_each(|i| _ = sets.union(first.expect("rows are not zero"), i, false));
    }
    let parts = Orbits::from_sets(d, &mut sets);
    let mut local = vec![0u32; d];
    let members = parts.members();
    members.iter().flat_map(|part| part.iter().enumerate()).for_each(|(k, &entry)| local[entry] = k as u32);

    // One pass over each group's demands, so that many components and many groups do not multiply.
    let mut demands: Vec<Demands> = members
        .iter()
        .map(|_| {
            if matrices {
                Demands::Equations(vec![Vec::new(); groups.len()])
            } else {
                Demands::Agreements(vec![Vec::new(); groups.len()])
            }
        })
        .collect();
    for (group, pairs) in agreements.iter().enumerate() {
        for &(a, b, reversed) in pairs {
            if let Demands::Agreements(list) = &mut demands[parts.orbit(a)] {
                list[group].push((local[a], local[b], reversed));
            }
        }
    }
    for (group, rows) in equations.iter().enumerate() {
        for row in rows {
            let first = row.iter().position(|entry| !entry.is_zero()).expect("rows are not zero");
            let part = parts.orbit(first);
            if let Demands::Equations(list) = &mut demands[part] {
                list[group].push(members[part].iter().map(|&entry| row[entry].clone()).collect());
            }
        }
    }
    let entries = members.iter().map(|part| part.iter().map(|&entry| entry as u32).collect::<Arc<[u32]>>());
    entries.zip(demands).map(|(entries, demands)| Component { entries, demands }).collect()
}

impl Component {
    pub(crate) fn size(&self) -> usize {
        self.entries.len()
    }

    /// Bt(M), the intersection of the W_i of all groups in M.
    pub(crate) fn fixed(&self, set: &GroupSet) -> Fixed {
        match &self.demands {
            Demands::Agreements(list) => {
                let mut sets = UnionFind::new(self.size());
                for &(a, b, reversed) in set.iter().flat_map(|group| &list[group]) {
                    sets.union(a as usize, b as usize, reversed);
                }
                Fixed::Orbits(Orbits::from_sets(self.size(), &mut sets))
            }
            Demands::Equations(list) => {
                let rows = set.iter().flat_map(|group| list[group].iter().cloned());
                Fixed::Span(linear::null_space(rows, self.size()))
            }
        }
    }

    /// Whether every vector of the space is invariant to a group.
    pub(crate) fn is_invariant(&self, space: &Fixed, group: usize) -> bool {
        match (space, &self.demands) {
            (Fixed::Orbits(orbits), Demands::Agreements(list)) => list[group].iter().all(|&(a, b, reversed)| {
                let (a, b) = (a as usize, b as usize);
                let (of_a, of_b) = (orbits.orbit(a), orbits.orbit(b));
                // Where signs cancel every vector vanishes, and nothing equals nothing.
                let vanish = orbits.is_cancelled(of_a) && orbits.is_cancelled(of_b);
                let agree = orbits.is_reversed(a) == orbits.is_reversed(b);
                vanish || (of_a == of_b && agree != reversed)
            }),
            (Fixed::Span(basis), Demands::Equations(list)) => {
                list[group].iter().all(|row| basis.iter().all(|v| linear::dot(row, v).is_zero()))
            }
            _ => unreachable!("a component describes its spaces in one way"),
        }
    }

    /// A basis of B(M): what is in Bt(M) and orthogonal to Bt(M with j) for every group j outside M.
    pub(crate) fn pure(&self, space: &Fixed, outside: &[usize]) -> Vec<Vector> {
        match (space, &self.demands) {
            (Fixed::Orbits(orbits), Demands::Agreements(list)) => pure_in_orbits(orbits, outside.iter().map(|&j| &list[j][..])),
            (Fixed::Span(basis), Demands::Equations(list)) => {
                let supersets = outside.iter().flat_map(|&j| {
                    let rows = list[j].iter().map(|row| basis.iter().map(|b| linear::dot(row, b)).collect());
                    linear::null_space(rows, basis.len()).into_iter().map(|x| linear::combine(&x, basis)).collect::<Vec<_>>()
                });
                linear::orthogonal_part(basis, &supersets.collect::<Vec<_>>())
            }
            _ => unreachable!("a component describes its spaces in one way"),
        }
    }
}

/// B(M) from the orbits of M: coordinates are the orbits, and each further group glues some of them together.
fn pure_in_orbits<'a>(orbits: &Orbits, outside: impl Iterator<Item = &'a [Edge]>) -> Vec<Vector> {
    let live: Vec<usize> = (0..orbits.count()).filter(|&orbit| !orbits.is_cancelled(orbit)).collect();
    let mut number = vec![usize::MAX; orbits.count()];
    live.iter().enumerate().for_each(|(k, &orbit)| number[orbit] = k);
    let k = live.len();
    let mut seen = HashSet::new();
    let mut constraints: HashSet<Vec<i64>> = HashSet::new();
    let mut rows = Vec::new();
    for edges in outside {
        let mut glued = UnionFind::new(k);
        for &(a, b, reversed) in edges {
            let (a, b) = (a as usize, b as usize);
            let (x, y) = (number[orbits.orbit(a)], number[orbits.orbit(b)]);
            match (x == usize::MAX, y == usize::MAX) {
                (false, false) => _ = glued.union(x, y, orbits.is_reversed(a) ^ orbits.is_reversed(b) ^ reversed),
                (false, true) => _ = glued.union(x, x, true),
                (true, false) => _ = glued.union(y, y, true),
                (true, true) => {}
            }
        }
        let glued = Orbits::from_sets(k, &mut glued);
        if !seen.insert(glued.clone()) {
            continue;
        }
        // Orthogonal to the indicator of every glued orbit: the sum over it, weighted by sizes and signs, vanishes.
        let mut sums = vec![vec![0i64; k]; glued.count()];
        for (x, &orbit) in live.iter().enumerate() {
            let weight = orbits.size(orbit) as i64;
            sums[glued.orbit(x)][x] = if glued.is_reversed(x) { -weight } else { weight };
        }
        for (orbit, sum) in sums.into_iter().enumerate() {
            if !glued.is_cancelled(orbit) && constraints.insert(sum.clone()) {
                rows.push(sum.into_iter().map(IBig::from).collect::<Vector>());
            }
        }
    }
    let expand = |u: Vector| {
        let value = |i: usize| {
            let x = number[orbits.orbit(i)];
            match (x == usize::MAX, orbits.is_reversed(i)) {
                (true, _) => IBig::ZERO,
                (false, true) => -&u[x],
                (false, false) => u[x].clone(),
            }
        };
        (0..orbits.len()).map(value).collect()
    };
    linear::null_space(rows, k).into_iter().map(expand).collect()
}

/// What has been found on one component so far, to tell what is new (`paper` mode).
#[derive(Debug, Default)]
pub(crate) struct Found {
    sets: Vec<GroupSet>,
    pending: Vec<Vector>,
    echelon: Echelon,
    rank: usize,
}

impl Found {
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The part of B(M) that is independent of everything found before, which it then joins.
    ///
    /// Canonical: the orthogonal complement, within B(M), of what B(M) shares with the span of the subspaces found.
    pub(crate) fn take_new(&mut self, set: &GroupSet, pure: Vec<Vector>) -> Vec<Vector> {
        // B(M) is orthogonal to the subspaces of all strict supersets: only the others can overlap with it.
        let new = if self.sets.iter().all(|earlier| set.is_subset(earlier)) {
            pure
        } else {
            for v in self.pending.drain(..) {
                self.echelon.insert(&v);
            }
            let shared: Vec<Vector> = self.echelon.relations(&pure).iter().map(|a| linear::combine(a, &pure)).collect();
            if shared.is_empty() { pure } else { linear::orthogonal_part(&pure, &shared) }
        };
        if !new.is_empty() {
            self.rank += new.len();
            self.sets.push(set.clone());
            self.pending.extend(new.iter().cloned());
        }
        new
    }
}

//! What every candidate demands of weights on one component of the tensor, and the spaces that follow.

use std::sync::Arc;

use dashu_int::IBig;

use super::places::Places;
use crate::budget::Budget;
use crate::error::Result;
use crate::group_set::GroupSet;
use crate::linear::{self, Vector};
use crate::modular;
use crate::orbits::Orbits;
use crate::sparse::{self, Row};
use crate::union_find::UnionFind;

/// A pair of entries that a group forces to agree: `x_a = x_b`, or `x_a = -x_b` when reversed.
pub(crate) type Edge = (u32, u32, bool);

/// Components that are alike: one construction serves all of them.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) places: Arc<Places>,
    pub(crate) demands: Demands,
}

#[derive(Debug)]
pub(crate) enum Demands {
    /// All candidates are (signed) permutations: entries that must agree, per group.
    Agreements(Agreements),
    /// Some candidate is a matrix: linear equations, per group.
    Equations(Vec<Vec<Vector>>),
}

/// Entries that must agree, for the groups that demand any, by ascending group.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreements {
    edges: Vec<Edge>,
    /// Each group with the end of its edges.
    ends: Vec<(u32, u32)>,
}

impl Agreements {
    /// Adds a demand of a group that is not less than those before.
    pub(crate) fn push(&mut self, group: usize, edge: Edge) {
        self.edges.push(edge);
        let end = self.edges.len() as u32;
        match self.ends.last_mut() {
            Some((last, old)) if *last as usize == group => *old = end,
            _ => self.ends.push((group as u32, end)),
        }
    }

    /// Demand number k, with its group.
    pub(crate) fn demand(&self, k: usize) -> Option<(usize, Edge)> {
        let edge = *self.edges.get(k)?;
        let group = self.ends.partition_point(|&(_, end)| end as usize <= k);
        Some((self.ends[group].0 as usize, edge))
    }

    /// Number of demands.
    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    fn place(&self, k: usize) -> &[Edge] {
        let start = if k == 0 { 0 } else { self.ends[k - 1].1 };
        &self.edges[start as usize..self.ends[k].1 as usize]
    }

    fn of(&self, group: usize) -> &[Edge] {
        self.ends.binary_search_by_key(&(group as u32), |&(group, _)| group).map_or(&[], |k| self.place(k))
    }

    fn each(&self) -> impl Iterator<Item = (usize, &[Edge])> {
        self.ends.iter().enumerate().map(|(k, &(group, _))| (group as usize, self.place(k)))
    }
}

/// Bt(M) on one component: all weights on it that are invariant to every group of M.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fixed {
    Orbits(Orbits),
    Span(Vec<Vector>),
}

impl Component {
    pub(crate) fn size(&self) -> usize {
        self.places.size()
    }

    /// Bt(M), the intersection of the W_i of all groups in M.
    pub(crate) fn fixed(&self, set: &GroupSet) -> Fixed {
        match &self.demands {
            Demands::Agreements(agreements) => {
                let mut sets = UnionFind::new(self.size());
                for &(a, b, reversed) in agreements.each().filter(|(group, _)| set.contains(*group)).flat_map(|(_, edges)| edges)
                {
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
            (Fixed::Orbits(orbits), Demands::Agreements(agreements)) => agreements.of(group).iter().all(|&(a, b, reversed)| {
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
    pub(crate) fn pure(&self, set: &GroupSet, m: usize, budget: &Budget) -> Result<Vec<Row>> {
        let fixed = self.fixed(set);
        match (&fixed, &self.demands) {
            (Fixed::Orbits(orbits), Demands::Agreements(agreements)) => {
                // A group without demands here takes nothing away: Bt(M with j) is all of Bt(M).
                if agreements.each().filter(|(group, _)| !set.contains(*group)).count() + set.len() < m {
                    return Ok(Vec::new());
                }
                let outside = agreements.each().filter(|(group, _)| !set.contains(*group)).map(|(_, edges)| edges);
                pure_in_orbits(orbits, outside, budget)
            }
            (Fixed::Span(basis), Demands::Equations(list)) => {
                let outside = (0..m).filter(|&group| !set.contains(group));
                let supersets = outside.flat_map(|j| {
                    let rows = list[j].iter().map(|row| basis.iter().map(|b| linear::dot(row, b)).collect());
                    linear::null_space(rows, basis.len()).into_iter().map(|x| linear::combine(&x, basis)).collect::<Vec<_>>()
                });
                let pure = linear::orthogonal_part(basis, &supersets.collect::<Vec<_>>());
                Ok(pure.iter().map(|v| sparse::from_dense(v)).collect())
            }
            _ => unreachable!("a component describes its spaces in one way"),
        }
    }
}

/// B(M) from the orbits of M: coordinates are the orbits, and each further group glues some of them together.
fn pure_in_orbits<'a>(orbits: &Orbits, outside: impl Iterator<Item = &'a [Edge]>, budget: &Budget) -> Result<Vec<Row>> {
    let live: Vec<usize> = (0..orbits.count()).filter(|&orbit| !orbits.is_cancelled(orbit)).collect();
    let mut number = vec![u32::MAX; orbits.count()];
    live.iter().zip(0..).for_each(|(&orbit, k)| number[orbit] = k);
    let mut rows: Vec<Vec<(u32, i64)>> = Vec::new();
    let mut held = 0;
    for edges in outside {
        let sums = sums_over_glued(orbits, &live, &number, edges);
        held += sums.iter().map(Vec::len).sum::<usize>() as u64;
        budget.admit("the equations of a subspace", held, sparse::ENTRY)?;
        rows.extend(sums);
    }
    rows.sort_unstable();
    rows.dedup();
    let rows = rows.into_iter().map(|row| row.into_iter().map(|(x, weight)| (x, IBig::from(weight))).collect()).collect();
    let solutions = sparse::null_space(rows, live.len(), budget)?;
    let (starts, entries) = orbits.grouped();
    let members = |x: u32| {
        let orbit = live[x as usize];
        &entries[starts[orbit] as usize..starts[orbit + 1] as usize]
    };
    let count = |u: &Row| u.iter().map(|(x, _)| members(*x).len() as u64).sum::<u64>();
    budget.admit("the basis of a subspace", solutions.iter().map(count).sum(), sparse::ENTRY)?;
    let expand = |u: Row| {
        let signed = |x: &IBig, entry: u32| if orbits.is_reversed(entry as usize) { -x } else { x.clone() };
        let mut row: Row = u.iter().flat_map(|(k, x)| members(*k).iter().map(move |&entry| (entry, signed(x, entry)))).collect();
        row.sort_unstable_by_key(|(entry, _)| *entry);
        row
    };
    Ok(solutions.into_iter().map(expand).collect())
}

/// What it takes to be orthogonal to the indicator of every orbit that a group glues from the orbits of M: the sum over it,
/// weighted by sizes and signs, vanishes.
fn sums_over_glued(orbits: &Orbits, live: &[usize], number: &[u32], edges: &[Edge]) -> Vec<Vec<(u32, i64)>> {
    let mut glued = UnionFind::new(live.len());
    for &(a, b, reversed) in edges {
        let (a, b) = (a as usize, b as usize);
        let (x, y) = (number[orbits.orbit(a)] as usize, number[orbits.orbit(b)] as usize);
        match (x < live.len(), y < live.len()) {
            (true, true) => _ = glued.union(x, y, orbits.is_reversed(a) ^ orbits.is_reversed(b) ^ reversed),
            (true, false) => _ = glued.union(x, x, true),
            (false, true) => _ = glued.union(y, y, true),
            (false, false) => {}
        }
    }
    let glued = Orbits::from_sets(live.len(), &mut glued);
    let (starts, members) = glued.grouped();
    let sum = |orbit: usize| {
        let weight = |&x: &u32| {
            let size = orbits.size(live[x as usize]) as i64;
            (x, if glued.is_reversed(x as usize) { -size } else { size })
        };
        members[starts[orbit] as usize..starts[orbit + 1] as usize].iter().map(weight).collect()
    };
    (0..glued.count()).filter(|&orbit| !glued.is_cancelled(orbit)).map(sum).collect()
}

/// What has been found on one component so far, to tell what is new (`paper` mode).
#[derive(Debug, Default)]
pub(crate) struct Found {
    sets: Vec<GroupSet>,
    vectors: Vec<Arc<Vec<Row>>>,
    rank: usize,
    /// The first of the vectors, modulo a prime and over the integers.
    modulo_p: modular::Echelon,
    in_modulo_p: usize,
    exact: sparse::Echelon,
    in_exact: usize,
}

impl Found {
    pub(crate) fn new(size: usize) -> Self {
        Self { modulo_p: modular::Echelon::new(size), ..Self::default() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The part of B(M) that is independent of everything found before, which it then joins.
    ///
    /// Canonical: the orthogonal complement, within B(M), of what B(M) shares with the span of the subspaces found.
    pub(crate) fn take_new(&mut self, set: &GroupSet, pure: Vec<Row>, size: usize, budget: &Budget) -> Result<Arc<Vec<Row>>> {
        if pure.is_empty() {
            return Ok(Arc::default());
        }
        // B(M) is orthogonal to the subspaces of all strict supersets: only the others can overlap with it.
        let apart = self.sets.iter().all(|earlier| set.is_subset(earlier)) || self.are_independent(&pure);
        let new = if apart {
            pure
        } else {
            self.vectors[self.in_exact..].iter().flat_map(|part| &**part).for_each(|v| _ = self.exact.insert(v.clone()));
            self.in_exact = self.vectors.len();
            let relations = self.exact.relations(&pure, size);
            let shared: Vec<Row> = relations.iter().map(|a| sparse::combine(a, &pure)).collect();
            if shared.is_empty() { pure } else { sparse::orthogonal_part(&pure, &shared, budget)? }
        };
        let new = Arc::new(new);
        if !new.is_empty() {
            self.rank += new.len();
            self.sets.push(set.clone());
            self.vectors.push(new.clone());
        }
        Ok(new)
    }

    /// Whether these vectors are seen to be independent of those found modulo a prime, which proves it. If so they are to be the
    /// next that are found.
    fn are_independent(&mut self, pure: &[Row]) -> bool {
        for v in self.vectors[self.in_modulo_p..].iter().flat_map(|part| &**part) {
            self.modulo_p.insert_integers(v);
        }
        self.in_modulo_p = self.vectors.len();
        let rank = self.modulo_p.rank();
        if rank == self.rank && pure.iter().all(|v| self.modulo_p.insert_integers(v)) {
            self.in_modulo_p += 1;
            return true;
        }
        self.modulo_p.truncate(rank);
        false
    }
}

//! The laws of a lattice in exact arithmetic.

use std::collections::HashMap;
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::layout::{Layout, Moves, Values};
use super::products::{Columns, are_orthogonal};
use super::{Check, nested, outside, shown};
use crate::action::Action;
use crate::budget::bytes;
use crate::lattice::places::{Part, Places};
use crate::lattice::subspace::orthonormal;
use crate::lattice::{Lattice, Mode, SparseVector, Subspace};
use crate::matrix::integer_row;
use crate::modular::{self, residue};
use crate::numeric;
use crate::progress::Progress;
use crate::reynolds::Reynolds;
use crate::sparse::{self, Row};

/// Most multiplications that making an orthonormal basis may take when only the checks ask for it.
const MOST_FOR_A_BASIS: u64 = 10_000_000_000;
/// From so many vectors on, an orthogonality that makes the rank plain is looked for first.
const MANY: usize = 64;

pub(super) struct Checker<'a> {
    lattice: &'a Lattice,
    layout: Layout,
    /// What each group moves; none for groups of matrices.
    moves: Vec<Option<Vec<Moves<'a>>>>,
    hear: &'a dyn Fn(Progress),
}

impl<'a> Checker<'a> {
    pub(super) fn new(lattice: &'a Lattice, hear: &'a dyn Fn(Progress)) -> Self {
        let moves = lattice.groups.iter().map(Moves::of).collect();
        Self { lattice, layout: Layout::new(lattice), moves, hear }
    }

    pub(super) fn check_all(&self) -> Vec<Check> {
        vec![self.orthonormal(), self.invariant(), self.nothing_more(), self.orthogonal_to_supersets(), self.spans_the_space()]
    }

    fn shown(&self, subspace: &Subspace) -> String {
        shown(self.lattice, subspace.set())
    }

    /// The subspaces, telling with each how far a law is.
    fn subspaces(&self, step: &'static str) -> impl Iterator<Item = &'a Subspace> {
        let (hear, of) = (self.hear, self.lattice.subspaces.len());
        self.lattice.subspaces.iter().enumerate().map(move |(done, subspace)| {
            hear(Progress { step, done, of });
            subspace
        })
    }

    /// Where vectors are not to be written out, bases that would take too long or too much memory are made nowhere, and nothing is
    /// said about them.
    fn orthonormal(&self) -> Check {
        let mut check = Check::orthonormal();
        let mut left_out = 0;
        for subspace in self.subspaces("checking orthonormal bases") {
            for part in subspace.parts() {
                let (k, size) = (part.vectors.len() as u64, part.places.size() as u64);
                let work = k.saturating_mul(k).saturating_mul(2 * size);
                let costly = work > MOST_FOR_A_BASIS || 16 * k * size > self.lattice.options.memory;
                if costly && !self.lattice.options.vectors {
                    left_out += part.written_out().saturating_mul(8);
                    continue;
                }
                self.orthonormal_part(subspace, part, &mut check);
            }
        }
        if left_out > 0 {
            check.how = Some(format!("orthonormal bases of {} were not made, and not checked", bytes(left_out)));
        }
        check
    }

    /// One component stands for all of the part: the others have the same numbers on other entries.
    fn orthonormal_part(&self, subspace: &Subspace, part: &Part, check: &mut Check) {
        let (basis, copies) = (orthonormal(part), part.places.count());
        let tolerance = self.lattice.options.tolerance.basis;
        for (i, a) in basis.iter().enumerate() {
            for (j, b) in basis[..=i].iter().enumerate() {
                let error = (numeric::dot(a, b) - f64::from(u8::from(i == j))).abs();
                let failed = if error <= tolerance { 0 } else { copies };
                check.cases(copies, failed, || format!("vectors {i} and {j} of {}: off by {error:.1e}", self.shown(subspace)));
            }
        }
        for v in &*part.vectors {
            let v: Vec<f64> = sparse::to_dense(v, part.places.size()).iter().map(|x| x.to_f64().value()).collect();
            let length = numeric::dot(&v, &v).sqrt();
            let inside: f64 = basis.iter().map(|q| numeric::dot(q, &v).powi(2)).sum();
            let lost = 1.0 - inside.sqrt() / length;
            let failed = if lost.abs() <= tolerance { 0 } else { copies };
            let place = || format!("an exact vector of {} is not spanned: {lost:.1e} lost", self.shown(subspace));
            check.cases(copies, failed, place);
        }
    }

    fn invariant(&self) -> Check {
        let mut check = Check::invariant(true);
        let mut values = Values::default();
        for subspace in self.subspaces("checking invariance") {
            for part in subspace.parts() {
                for v in &*part.vectors {
                    values.set(v, part.places.size());
                    for group in subspace.set().iter() {
                        let place =
                            || format!("{} moves a vector of {}", self.lattice.groups[group].name(), self.shown(subspace));
                        self.each_moved(group, part, v, &values, |moved| check.cases(part.places.count(), moved, place));
                    }
                }
            }
        }
        check
    }

    /// Calls `hear` for each generator of a group with the number of components of a part on which it moves a vector.
    fn each_moved(&self, group: usize, part: &Part, v: &Row, values: &Values, mut hear: impl FnMut(usize)) {
        let mut moved = Vec::new();
        for (number, generator) in self.lattice.groups[group].generators().iter().enumerate() {
            moved.clear();
            self.moved(generator, self.moves[group].as_ref().map(|moves| &moves[number]), part, (v, values), &mut moved);
            moved.sort_unstable();
            moved.dedup();
            hear(moved.len());
        }
    }

    /// Adds the components of a part on which a generator moves a vector.
    fn moved(&self, generator: &Action, moves: Option<&Moves>, part: &Part, (v, values): (&Row, &Values), moved: &mut Vec<u32>) {
        if let Some(moves) = moves {
            return self.layout.moved(moves, part, values, moved);
        }
        let d = self.lattice.shape().len();
        let components = part.places.each().zip(self.layout.components(part));
        moved.extend(components.filter(|(entries, _)| !is_fixed(generator, &on(entries, v), d)).map(|(_, number)| number));
    }

    /// Whether each copy of a vector is moved by some generator of a group of permutations.
    fn moves_all(&self, moves: &[Moves], part: &Part, values: &Values) -> bool {
        let mut moved = Vec::new();
        for generator in moves {
            self.layout.moved(generator, part, values, &mut moved);
        }
        moved.sort_unstable();
        moved.dedup();
        moved.len() == part.places.count()
    }

    /// Not "no basis vector is invariant": no nonzero *combination* is, which is a statement about a rank.
    fn nothing_more(&self) -> Check {
        let mut check = Check::nothing_more(true);
        let mut values = Values::default();
        for subspace in self.subspaces("checking that nothing more is kept") {
            let mut holds = vec![true; self.lattice.groups.len()];
            for part in subspace.parts() {
                let columns = Columns::of(part);
                let independent = modular::has_full_rank(&part.vectors, part.places.size());
                if let [v] = &part.vectors[..] {
                    values.set(v, part.places.size());
                }
                for group in outside(self.lattice, subspace.set()) {
                    if !holds[group] {
                        continue;
                    }
                    holds[group] = match (&self.moves[group], &part.vectors[..]) {
                        (None, _) => self.moves_all_by_residuals(group, part),
                        // A single vector is invariant or not.
                        (Some(moves), [_]) => self.moves_all(moves, part, &values),
                        (Some(moves), _) => {
                            let plain = independent && part.vectors.len() >= MANY && self.means_vanish(group, part);
                            plain || self.moves_all_by_edges(moves, part, &columns)
                        }
                    };
                }
            }
            for group in outside(self.lattice, subspace.set()) {
                let name = self.lattice.groups[group].name();
                check.case(holds[group], || format!("a vector of {} is invariant to {name}", self.shown(subspace)));
            }
        }
        check
    }

    /// Whether R v = 0 for every vector: then (I - R)ᵀ changes none of them, and the rank is that of the vectors.
    fn means_vanish(&self, group: usize, part: &Part) -> bool {
        let Some(orbits) = self.lattice.groups[group].orbits() else {
            return false;
        };
        let mut sums: HashMap<usize, IBig> = HashMap::new();
        part.places.each().all(|entries| {
            part.vectors.iter().all(|v| {
                sums.clear();
                for (k, x) in v {
                    let entry = entries[*k as usize] as usize;
                    let orbit = orbits.orbit(entry);
                    if !orbits.is_cancelled(orbit) {
                        let sum = sums.entry(orbit).or_insert(IBig::ZERO);
                        if orbits.is_reversed(entry) { *sum -= x } else { *sum += x }
                    }
                }
                sums.values().all(IBig::is_zero)
            })
        })
    }

    /// A combination with weights c is invariant exactly when c solves x_a = ±x_b for every edge (a, b): none is when those
    /// equations in c have full rank.
    fn moves_all_by_edges(&self, moves: &[Moves], part: &Part, columns: &Columns) -> bool {
        let k = part.vectors.len();
        part.places.each().zip(self.layout.components(part)).all(|(entries, number)| {
            let equations = || {
                moves.iter().flat_map(move |generator| {
                    entries.iter().zip(0..).filter_map(move |(&entry, a)| {
                        let (image, reversed) = generator.image(entry);
                        let (of, b) = self.layout.find(image);
                        // What goes elsewhere, where the vectors are zero, is zero.
                        let to = (of == number).then_some((b, reversed));
                        (image != entry || reversed).then(|| columns.difference(a, to))
                    })
                })
            };
            let mut echelon = modular::Echelon::new(k);
            let full = equations().any(|row| {
                echelon.insert(row.iter().map(|(j, x)| (*j, residue(x))));
                echelon.rank() == k
            });
            full || sparse::rank(equations()) == k
        })
    }

    /// The same by the residuals (I - R)ᵀ v themselves, for a group of matrices.
    fn moves_all_by_residuals(&self, group: usize, part: &Part) -> bool {
        let Ok(r) = Reynolds::new(&self.lattice.groups[group], &self.lattice.options.tolerance) else {
            return false;
        };
        let r = r.matrix().expect("exact groups have exact operators").transpose();
        part.places.each().all(|entries| {
            let residual = |v: &Row| {
                let dense: Vec<RBig> = on(entries, v).to_dense(r.len(), IBig::ZERO).into_iter().map(RBig::from).collect();
                let mean = r.apply(&dense);
                sparse::from_dense(&integer_row(dense.iter().zip(&mean).map(|(a, b)| a - b)))
            };
            modular::has_full_rank(&part.vectors.iter().map(residual).collect::<Vec<_>>(), r.len())
        })
    }

    fn orthogonal_to_supersets(&self) -> Check {
        let mut check = Check::orthogonal_to_supersets(true);
        let mut sampled = false;
        let mut columns: HashMap<*const Vec<Row>, Columns> = HashMap::new();
        (self.hear)(Progress { step: "checking orthogonality", done: 0, of: 1 });
        for (lower, upper) in nested(&self.lattice.subspaces) {
            let same = |a: &Part, b: &Part| Arc::ptr_eq(&a.places, &b.places);
            let pairs = lower.parts().iter().flat_map(|a| upper.parts().iter().filter(move |b| same(a, b)).map(move |b| (a, b)));
            let mut orthogonal = true;
            for (a, b) in pairs {
                for part in [a, b] {
                    columns.entry(Arc::as_ptr(&part.vectors)).or_insert_with(|| Columns::of(part));
                }
                let [of_a, of_b] = [a, b].map(|part| &columns[&Arc::as_ptr(&part.vectors)]);
                orthogonal = orthogonal && are_orthogonal((a, of_a), (b, of_b), &mut sampled);
            }
            check.case(orthogonal, || format!("{} and {}", self.shown(lower), self.shown(upper)));
        }
        if sampled {
            check.how = Some(
                "orthogonality was checked by random combinations modulo a prime where there are many pairs of vectors: a pair \
                 that is not orthogonal is missed with a probability below 1e-18"
                    .into(),
            );
        }
        check
    }

    fn spans_the_space(&self) -> Check {
        let d = self.lattice.shape().len();
        let mode = self.lattice.options.mode;
        let mut check = Check::spans_the_space(mode, true);
        let sum: usize = self.lattice.subspaces.iter().map(Subspace::dimension).sum();
        if mode == Mode::Paper {
            check.case(sum == d, || format!("the dimensions sum to {sum}, expected {d}"));
        }
        let mut together: Vec<Vec<&Row>> = vec![Vec::new(); self.layout.places.len()];
        for part in self.lattice.subspaces.iter().flat_map(Subspace::parts) {
            together[self.layout.number(part)].extend(&*part.vectors);
        }
        check.case(self.layout.is_partition, || "the parts of the tensor overlap or miss an entry".into());
        let rank_on =
            |(vectors, (places, _)): (&Vec<&Row>, &(Arc<Places>, u32))| modular::rank(vectors, places.size()) * places.count();
        let rank: usize = together.iter().zip(&self.layout.places).map(rank_on).sum();
        // A dimension is claimed for each subspace: its vectors must be independent among themselves, too.
        let dependent = |part: &Part| !modular::has_full_rank(&part.vectors, part.places.size());
        let overstated = self.subspaces("checking independence").find(|s| s.parts().iter().any(dependent));
        check.case(rank == d && overstated.is_none(), || match overstated {
            Some(s) => format!("the vectors of {} are dependent", self.shown(s)),
            None => format!("together they span {rank} of {d} dimensions"),
        });
        check
    }
}

/// A vector written out on a component.
fn on(entries: &[u32], v: &Row) -> SparseVector<IBig> {
    SparseVector { entries: entries.into(), values: sparse::to_dense(v, entries.len()) }
}

/// Whether Tᵀ v = v, exactly.
fn is_fixed(generator: &Action, v: &SparseVector<IBig>, d: usize) -> bool {
    let dense: Vec<RBig> = v.to_dense(d, IBig::ZERO).into_iter().map(RBig::from).collect();
    generator.to_rational().transpose().apply(&dense) == dense
}

//! The laws of a lattice (Theorem 3), each checked case by case.

use std::collections::HashMap;
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;
use serde::{Deserialize, Serialize};

use super::{Lattice, Mode, SparseVector, Subspace};
use crate::action::Action;
use crate::group_set::GroupSet;
use crate::linear::{self, Vector};
use crate::matrix::integer_row;
use crate::modular;
use crate::numeric;
use crate::reynolds::Reynolds;
use crate::tolerance::Tolerance;

/// Checks every law.
pub(super) fn check_all(lattice: &Lattice) -> Vec<Check> {
    let checker = Checker { lattice, tolerance: lattice.options.tolerance, exact: lattice.gap.is_none() };
    vec![
        checker.orthonormal(),
        checker.invariant(),
        checker.nothing_more(),
        checker.orthogonal_to_supersets(),
        checker.spans_the_space(),
    ]
}

/// One law, the number of cases in which it was checked, and the cases in which it failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The law.
    pub law: String,
    /// Whether it was decided in exact arithmetic.
    pub exact: bool,
    /// How many cases were checked.
    pub cases: usize,
    /// Cases that failed, in words.
    pub failures: Vec<String>,
}

impl Check {
    fn new(law: &str, exact: bool) -> Self {
        Self { law: law.into(), exact, cases: 0, failures: Vec::new() }
    }

    fn case(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.cases += 1;
        if !holds {
            self.failures.push(failure());
        }
    }

    /// Whether no case failed.
    pub fn holds(&self) -> bool {
        self.failures.is_empty()
    }
}

/// The names of a set of groups, for people.
fn shown(lattice: &Lattice, set: &GroupSet) -> String {
    let names: Vec<&str> = set.iter().take(6).map(|group| lattice.groups[group].name()).collect();
    let more = if set.len() > 6 { format!(", … {} in all", set.len()) } else { String::new() };
    format!("{{{}{more}}}", names.join(", "))
}

struct Checker<'a> {
    lattice: &'a Lattice,
    tolerance: Tolerance,
    exact: bool,
}

impl Checker<'_> {
    fn d(&self) -> usize {
        self.lattice.shape().len()
    }

    fn outside(&self, set: &GroupSet) -> impl Iterator<Item = usize> {
        let set = set.clone();
        (0..self.lattice.groups.len()).filter(move |&group| !set.contains(group))
    }

    /// Vectors of a subspace, together when they live on the same entries: different parts cannot depend on each other.
    fn parts<T>(vectors: &[SparseVector<T>]) -> impl Iterator<Item = &[SparseVector<T>]> {
        vectors.chunk_by(|a, b| Arc::ptr_eq(&a.entries, &b.entries))
    }

    fn orthonormal(&self) -> Check {
        let mut check = Check::new("the floating-point basis of each B(M) is orthonormal and spans it", false);
        for subspace in &self.lattice.subspaces {
            for part in Self::parts(&subspace.basis) {
                for (i, a) in part.iter().enumerate() {
                    for (j, b) in part[..=i].iter().enumerate() {
                        let error = (numeric::dot(&a.values, &b.values) - f64::from(u8::from(i == j))).abs();
                        let place =
                            || format!("vectors {i} and {j} of {}: off by {error:.1e}", shown(self.lattice, &subspace.set));
                        check.case(error <= self.tolerance.basis, place);
                    }
                }
            }
            for (exact, basis) in Self::parts(&subspace.exact).zip(Self::parts(&subspace.basis)) {
                for v in exact {
                    let v: Vec<f64> = v.values.iter().map(|x| x.to_f64().value()).collect();
                    let length = numeric::dot(&v, &v).sqrt();
                    let inside: f64 = basis.iter().map(|q| numeric::dot(&q.values, &v).powi(2)).sum();
                    let lost = 1.0 - inside.sqrt() / length;
                    let place =
                        || format!("an exact vector of {} is not spanned: {lost:.1e} lost", shown(self.lattice, &subspace.set));
                    check.case(lost.abs() <= self.tolerance.basis, place);
                }
            }
        }
        check
    }

    fn invariant(&self) -> Check {
        let mut check = Check::new("every generator of every group in M fixes B(M)", self.exact);
        let mut out = vec![0.0; self.d()];
        for subspace in &self.lattice.subspaces {
            for group in subspace.set.iter().map(|group| &self.lattice.groups[group]) {
                for generator in group.generators() {
                    let place = || format!("{} moves a vector of {}", group.name(), shown(self.lattice, &subspace.set));
                    if self.exact {
                        for v in &subspace.exact {
                            check.case(is_fixed(generator, v, self.d()), place);
                        }
                    } else {
                        for v in &subspace.basis {
                            let w = v.to_dense(self.d(), 0.0);
                            let m = generator.to_real();
                            (0..self.d()).for_each(|j| out[j] = (0..self.d()).map(|i| m.at(i, j) * w[i]).sum());
                            let moved = out.iter().zip(&w).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
                            check.case(moved <= self.tolerance.same, place);
                        }
                    }
                }
            }
        }
        check
    }

    /// Not "no basis vector is invariant": no nonzero *combination* is, which is a statement about a rank.
    fn nothing_more(&self) -> Check {
        let mut check =
            Check::new("no nonzero vector of B(M) is invariant to a group outside M: rank of (I - R)ᵀB(M) is full", self.exact);
        let reynolds: Vec<_> = self.lattice.groups.iter().map(|group| Reynolds::new(group, &self.tolerance)).collect();
        for subspace in &self.lattice.subspaces {
            for group in self.outside(&subspace.set) {
                let name = self.lattice.groups[group].name();
                let place = || format!("a vector of {} is invariant to {name}", shown(self.lattice, &subspace.set));
                let Ok(r) = &reynolds[group] else {
                    check.case(false, || format!("the Reynolds operator of {name} could not be decided"));
                    continue;
                };
                if self.exact {
                    let full = Self::parts(&subspace.exact).all(|part| {
                        let residuals: Vec<Vector> = part.iter().map(|v| residual(r, v, self.d())).collect();
                        modular::has_full_rank(&residuals)
                    });
                    check.case(full, place);
                } else {
                    let rows: Vec<Vec<f64>> = subspace
                        .basis
                        .iter()
                        .map(|v| {
                            let w = v.to_dense(self.d(), 0.0);
                            let mut mean = w.clone();
                            r.apply_to_weights(&mut mean);
                            w.iter().zip(&mean).map(|(a, b)| a - b).collect()
                        })
                        .collect();
                    let columns: Vec<Vec<f64>> = (0..self.d()).map(|i| rows.iter().map(|row| row[i]).collect()).collect();
                    let kernel = numeric::null_space(&columns, rows.len(), &self.tolerance, "a check");
                    check.case(kernel.is_ok_and(|(basis, _)| basis.is_empty()), place);
                }
            }
        }
        check
    }

    fn orthogonal_to_supersets(&self) -> Check {
        let mut check = Check::new("B(M) is orthogonal to B(N) for every strict superset N of M", self.exact);
        let subspaces = &self.lattice.subspaces;
        for lower in subspaces {
            for upper in subspaces.iter().filter(|upper| lower.set.is_strict_subset(&upper.set)) {
                let orthogonal = if self.exact {
                    pairs(&lower.exact, &upper.exact).all(|(a, b)| sparse_dot(a, b).is_zero())
                } else {
                    pairs(&lower.basis, &upper.basis)
                        .all(|(a, b)| numeric::dot(&a.values, &b.values).abs() <= self.tolerance.basis)
                };
                check.case(orthogonal, || format!("{} and {}", shown(self.lattice, &lower.set), shown(self.lattice, &upper.set)));
            }
        }
        check
    }

    fn spans_the_space(&self) -> Check {
        let d = self.d();
        let paper = self.lattice.options.mode == Mode::Paper;
        let law = if paper {
            "the subspaces are independent and their dimensions sum to d"
        } else {
            "the subspaces span the whole space"
        };
        let mut check = Check::new(law, self.exact);
        let sum: usize = self.lattice.subspaces.iter().map(Subspace::dimension).sum();
        if paper {
            check.case(sum == d, || format!("the dimensions sum to {sum}, expected {d}"));
        }
        let rank = if self.exact {
            let mut by_part: Vec<(Arc<[u32]>, Vec<Vector>)> = Vec::new();
            let mut index: HashMap<Arc<[u32]>, usize> = HashMap::new();
            for v in self.lattice.subspaces.iter().flat_map(|subspace| &subspace.exact) {
                let place = *index.entry(v.entries.clone()).or_insert_with(|| {
                    by_part.push((v.entries.clone(), Vec::new()));
                    by_part.len() - 1
                });
                by_part[place].1.push(v.values.clone());
            }
            let mut covered = vec![0u32; d];
            by_part.iter().flat_map(|(entries, _)| entries.iter()).for_each(|&entry| covered[entry as usize] += 1);
            check.case(covered.iter().all(|&times| times == 1), || "the parts of the tensor overlap or miss an entry".into());
            by_part.iter().map(|(_, vectors)| modular::rank(vectors)).sum()
        } else {
            let rows: Vec<Vec<f64>> = self.lattice.subspaces.iter().flat_map(|s| &s.basis).map(|v| v.to_dense(d, 0.0)).collect();
            numeric::null_space(&rows, d, &self.tolerance, "a check").map_or(0, |(kernel, _)| d - kernel.len())
        };
        // A dimension is claimed for each subspace: its vectors must be independent among themselves, too.
        let independent = |s: &&Subspace| Self::parts(&s.exact).all(|part| modular::has_full_rank(&dense(part)));
        let overstated = self.lattice.subspaces.iter().find(|s| !independent(s));
        check.case(rank == d && overstated.is_none(), || match overstated {
            Some(s) => format!("the vectors of {} are dependent", shown(self.lattice, &s.set)),
            None => format!("together they span {rank} of {d} dimensions"),
        });
        check
    }
}

fn dense(part: &[SparseVector<IBig>]) -> Vec<Vector> {
    part.iter().map(|v| v.values.clone()).collect()
}

/// Pairs of vectors that can have a nonzero product; vectors on different parts of the tensor cannot.
fn pairs<'a, T>(
    a: &'a [SparseVector<T>],
    b: &'a [SparseVector<T>],
) -> impl Iterator<Item = (&'a SparseVector<T>, &'a SparseVector<T>)> {
    a.iter().flat_map(move |x| {
        b.iter().filter(move |y| Arc::ptr_eq(&x.entries, &y.entries) || x.entries == y.entries).map(move |y| (x, y))
    })
}

fn sparse_dot(a: &SparseVector<IBig>, b: &SparseVector<IBig>) -> IBig {
    linear::dot(&a.values, &b.values)
}

/// Whether Tᵀ v = v, exactly.
fn is_fixed(generator: &Action, v: &SparseVector<IBig>, d: usize) -> bool {
    match generator {
        Action::Permutation(_) | Action::Signed(_) => {
            // (Tᵀ v)[i] = ± v[p(i)]. Outside its entries v is zero, and T carries the entries to themselves.
            let (permutation, negative) = match generator {
                Action::Permutation(p) => (p, None),
                Action::Signed(s) => (s.permutation(), Some(s.negative())),
                _ => unreachable!("matched above"),
            };
            v.entries.iter().zip(&v.values).all(|(&i, value)| {
                let image = permutation.image(i as usize) as u32;
                match v.entries.binary_search(&image) {
                    Ok(k) if negative.is_some_and(|n| n[i as usize]) => *value == -&v.values[k],
                    Ok(k) => *value == v.values[k],
                    Err(_) => value.is_zero(),
                }
            })
        }
        Action::Rational(m) => {
            let dense: Vec<RBig> = v.to_dense(d, IBig::ZERO).into_iter().map(RBig::from).collect();
            m.transpose().apply(&dense) == dense
        }
        Action::Real(_) => false,
    }
}

/// An integer multiple of (I - R)ᵀ v on the entries of v.
fn residual(r: &Reynolds, v: &SparseVector<IBig>, d: usize) -> Vector {
    let Some(orbits) = r.orbits() else {
        let dense: Vec<RBig> = v.to_dense(d, IBig::ZERO).into_iter().map(RBig::from).collect();
        let mean = r.matrix().expect("exact groups have exact operators").transpose().apply(&dense);
        return integer_row(v.entries.iter().map(|&i| &dense[i as usize] - &mean[i as usize]));
    };
    // Multiplying by each orbit's size keeps everything an integer without changing which combinations vanish.
    let mut sums: HashMap<usize, IBig> = HashMap::new();
    for (&i, value) in v.entries.iter().zip(&v.values).filter(|(_, value)| !value.is_zero()) {
        let sum = sums.entry(orbits.orbit(i as usize)).or_insert(IBig::ZERO);
        if orbits.is_reversed(i as usize) { *sum -= value } else { *sum += value }
    }
    let entry = |(&i, value): (&u32, &IBig)| {
        let (i, orbit) = (i as usize, orbits.orbit(i as usize));
        match sums.get(&orbit) {
            Some(sum) if !orbits.is_cancelled(orbit) => {
                value * IBig::from(orbits.size(orbit)) - if orbits.is_reversed(i) { -sum } else { sum.clone() }
            }
            _ => value.clone(),
        }
    };
    v.entries.iter().zip(&v.values).map(entry).collect()
}

//! The laws of a lattice whose generators are known to working precision only.

use super::{Check, nested, outside, shown};
use crate::lattice::{Lattice, Mode, Subspace};
use crate::numeric;
use crate::reynolds::Reynolds;
use crate::tolerance::Tolerance;

pub(super) struct Checker<'a> {
    lattice: &'a Lattice,
    tolerance: Tolerance,
    d: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn new(lattice: &'a Lattice) -> Self {
        Self { lattice, tolerance: lattice.options.tolerance, d: lattice.shape().len() }
    }

    pub(super) fn check_all(&self) -> Vec<Check> {
        vec![self.orthonormal(), self.invariant(), self.nothing_more(), self.orthogonal_to_supersets(), self.spans_the_space()]
    }

    fn shown(&self, subspace: &Subspace) -> String {
        shown(self.lattice, subspace.set())
    }

    fn orthonormal(&self) -> Check {
        let mut check = Check::orthonormal();
        for subspace in &self.lattice.subspaces {
            for (i, a) in subspace.basis().iter().enumerate() {
                for (j, b) in subspace.basis()[..=i].iter().enumerate() {
                    let error = (numeric::dot(&a.values, &b.values) - f64::from(u8::from(i == j))).abs();
                    let place = || format!("vectors {i} and {j} of {}: off by {error:.1e}", self.shown(subspace));
                    check.case(error <= self.tolerance.basis, place);
                }
            }
        }
        check
    }

    fn invariant(&self) -> Check {
        let mut check = Check::invariant(false);
        let mut out = vec![0.0; self.d];
        for subspace in &self.lattice.subspaces {
            for group in subspace.set().iter().map(|group| &self.lattice.groups[group]) {
                for generator in group.generators() {
                    let m = generator.to_real();
                    for v in subspace.basis() {
                        let w = v.to_dense(self.d, 0.0);
                        (0..self.d).for_each(|j| out[j] = (0..self.d).map(|i| m.at(i, j) * w[i]).sum());
                        let moved = out.iter().zip(&w).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
                        let place = || format!("{} moves a vector of {}", group.name(), self.shown(subspace));
                        check.case(moved <= self.tolerance.same, place);
                    }
                }
            }
        }
        check
    }

    /// Not "no basis vector is invariant": no nonzero *combination* is, which is a statement about a rank.
    fn nothing_more(&self) -> Check {
        let mut check = Check::nothing_more(false);
        let reynolds: Vec<_> = self.lattice.groups.iter().map(|group| Reynolds::new(group, &self.tolerance)).collect();
        for subspace in &self.lattice.subspaces {
            for group in outside(self.lattice, subspace.set()) {
                let name = self.lattice.groups[group].name();
                let Ok(r) = &reynolds[group] else {
                    check.case(false, || format!("the Reynolds operator of {name} could not be decided"));
                    continue;
                };
                let residual = |w: Vec<f64>| {
                    let mut mean = w.clone();
                    r.apply_to_weights(&mut mean);
                    w.iter().zip(&mean).map(|(a, b)| a - b).collect::<Vec<f64>>()
                };
                let rows: Vec<Vec<f64>> = subspace.basis().iter().map(|v| residual(v.to_dense(self.d, 0.0))).collect();
                let columns: Vec<Vec<f64>> = (0..self.d).map(|i| rows.iter().map(|row| row[i]).collect()).collect();
                let kernel = numeric::null_space(&columns, rows.len(), &self.tolerance, "a check");
                let place = || format!("a vector of {} is invariant to {name}", self.shown(subspace));
                check.case(kernel.is_ok_and(|(basis, _)| basis.is_empty()), place);
            }
        }
        check
    }

    fn orthogonal_to_supersets(&self) -> Check {
        let mut check = Check::orthogonal_to_supersets(false);
        for (lower, upper) in nested(&self.lattice.subspaces) {
            let small = |x: f64| x.abs() <= self.tolerance.basis;
            let holds = lower.basis().iter().all(|a| upper.basis().iter().all(|b| small(numeric::dot(&a.values, &b.values))));
            check.case(holds, || format!("{} and {}", self.shown(lower), self.shown(upper)));
        }
        check
    }

    fn spans_the_space(&self) -> Check {
        let mut check = Check::spans_the_space(self.lattice.options.mode, false);
        let sum: usize = self.lattice.subspaces.iter().map(Subspace::dimension).sum();
        let d = self.d;
        if self.lattice.options.mode == Mode::Paper {
            check.case(sum == d, || format!("the dimensions sum to {sum}, expected {d}"));
        }
        let rows: Vec<Vec<f64>> = self.lattice.subspaces.iter().flat_map(Subspace::basis).map(|v| v.to_dense(d, 0.0)).collect();
        let kernel = numeric::null_space(&rows, d, &self.tolerance, "a check");
        let rank = kernel.map_or(0, |(kernel, _)| d - kernel.len());
        check.case(rank == d, || format!("together they span {rank} of {d} dimensions"));
        check
    }
}

//! The same construction in floating point, for candidates with real generators.
//!
//! Every rank is decided by singular values with a clear gap, or the whole construction fails: see [`Tolerance`].

use std::cell::Cell;
use std::sync::Arc;

use crate::error::Result;
use crate::group::Group;
use crate::group_set::GroupSet;
use crate::lattice::{Mode, Options, SparseVector, Subspace, closed};
use crate::numeric::{dot, null_space, orthonormalise};
use crate::reynolds::real_left_equations;
use crate::tolerance::Tolerance;

type Vector = Vec<f64>;

struct Spaces<'a> {
    d: usize,
    equations: Vec<Vec<Vector>>,
    tolerance: &'a Tolerance,
    smallest_gap: Cell<f64>,
}

impl<'a> Spaces<'a> {
    fn new(groups: &[Group], tolerance: &'a Tolerance) -> Self {
        let d = groups[0].shape().len();
        let equations = groups.iter().map(|group| group.generators().iter().flat_map(real_left_equations).collect()).collect();
        Self { d, equations, tolerance, smallest_gap: Cell::new(f64::INFINITY) }
    }

    fn null_space(&self, rows: &[Vector], width: usize, what: &str) -> Result<Vec<Vector>> {
        let (basis, gap) = null_space(rows, width, self.tolerance, what)?;
        self.smallest_gap.set(self.smallest_gap.get().min(gap));
        Ok(basis)
    }

    /// Bt(M), orthonormal.
    fn fixed(&self, set: &GroupSet) -> Result<Vec<Vector>> {
        let rows: Vec<Vector> = set.iter().flat_map(|group| self.equations[group].iter().cloned()).collect();
        self.null_space(&rows, self.d, "the fixed-point equations of a set of groups")
    }

    /// Coordinates, in an orthonormal basis, of the part that is also invariant to one more group.
    fn also_fixed(&self, basis: &[Vector], group: usize) -> Result<Vec<Vector>> {
        let rows: Vec<Vector> = self.equations[group].iter().map(|row| basis.iter().map(|b| dot(row, b)).collect()).collect();
        self.null_space(&rows, basis.len(), "the fixed-point equations of one more group")
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        let basis = self.fixed(set)?;
        let mut closed = set.clone();
        for group in (0..self.equations.len()).filter(|&group| !set.contains(group)) {
            if self.also_fixed(&basis, group)?.len() == basis.len() {
                closed.insert(group);
            }
        }
        Ok(closed)
    }

    /// B(M), orthonormal.
    fn pure(&self, set: &GroupSet) -> Result<Vec<Vector>> {
        let basis = self.fixed(set)?;
        let mut supersets = Vec::new();
        for group in (0..self.equations.len()).filter(|&group| !set.contains(group)) {
            supersets.extend(self.also_fixed(&basis, group)?);
        }
        let coordinates = self.null_space(&supersets, basis.len(), "the invariants of larger sets")?;
        Ok(coordinates.iter().map(|x| combine(x, &basis, self.d)).collect())
    }

    /// The part of an orthonormal basis that is independent of an orthonormal `found`.
    fn new_part(&self, pure: Vec<Vector>, found: &[Vector]) -> Result<Vec<Vector>> {
        let residual: Vec<Vector> = pure
            .iter()
            .map(|v| {
                let mut r = v.clone();
                for q in found {
                    let along = dot(q, v);
                    r.iter_mut().zip(q).for_each(|(x, y)| *x -= along * y);
                }
                r
            })
            .collect();
        let columns: Vec<Vector> = (0..self.d).map(|i| residual.iter().map(|r| r[i]).collect()).collect();
        let shared = self.null_space(&columns, pure.len(), "what a subspace shares with earlier ones")?;
        if shared.is_empty() {
            return Ok(pure);
        }
        let coordinates = self.null_space(&shared, pure.len(), "what a subspace adds to earlier ones")?;
        Ok(coordinates.iter().map(|x| combine(x, &pure, self.d)).collect())
    }
}

fn combine(coefficients: &[f64], basis: &[Vector], d: usize) -> Vector {
    let mut sum = vec![0.0; d];
    for (c, b) in coefficients.iter().zip(basis) {
        sum.iter_mut().zip(b).for_each(|(s, x)| *s += c * x);
    }
    sum
}

pub(super) fn closure(groups: &[Group], set: &GroupSet, tolerance: &Tolerance) -> Result<GroupSet> {
    Spaces::new(groups, tolerance).closure(set)
}

/// All subspaces, and the smallest gap behind them.
pub(super) fn build(groups: &[Group], options: &Options) -> Result<(Vec<Subspace>, f64)> {
    let spaces = Spaces::new(groups, &options.tolerance);
    let entries: Arc<[u32]> = (0..spaces.d as u32).collect();
    let mut found: Vec<Vector> = Vec::new();
    let mut subspaces = Vec::new();
    for set in closed::enumerate(groups.len(), options.cap, |set| spaces.closure(set))? {
        let mut vectors = spaces.pure(&set)?;
        if options.mode == Mode::Paper && !vectors.is_empty() {
            vectors = spaces.new_part(vectors, &found)?;
            found = orthonormalise(found.into_iter().chain(vectors.iter().cloned()).collect());
        }
        if !vectors.is_empty() {
            let vectors = orthonormalise(vectors).into_iter();
            let basis = vectors.map(|values| SparseVector { entries: entries.clone(), values }).collect();
            subspaces.push(Subspace::real(set, basis));
        }
        if options.mode == Mode::Paper && found.len() == spaces.d {
            break;
        }
    }
    Ok((subspaces, spaces.smallest_gap.get()))
}

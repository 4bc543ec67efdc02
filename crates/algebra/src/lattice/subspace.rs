//! One subspace of a lattice.

use std::sync::{Arc, OnceLock};

use dashu_int::IBig;

use super::SparseVector;
use super::places::{Interner, Part, Places, spread};
use crate::group_set::GroupSet;
use crate::numeric;
use crate::sparse;

/// One subspace B(M), or the part of it that was kept.
///
/// It is held by the few numbers that tell it: vectors that are mostly zero, once for all components of the tensor that are
/// alike. [`exact`](Self::exact) and [`basis`](Self::basis) write them out when they are asked for.
#[derive(Debug, Clone)]
pub struct Subspace {
    set: GroupSet,
    parts: Vec<Part>,
    exact: OnceLock<Vec<SparseVector<IBig>>>,
    basis: OnceLock<Vec<SparseVector<f64>>>,
}

impl Subspace {
    pub(super) fn new(set: GroupSet, parts: Vec<Part>) -> Self {
        Self { set, parts, exact: OnceLock::new(), basis: OnceLock::new() }
    }

    /// A subspace that is known to working precision only.
    pub(super) fn real(set: GroupSet, basis: Vec<SparseVector<f64>>) -> Self {
        Self { set, parts: Vec::new(), exact: OnceLock::from(Vec::new()), basis: OnceLock::from(basis) }
    }

    /// A subspace spanned by vectors that were written out. Those on the same entries must stand together.
    pub(super) fn written_out(set: GroupSet, vectors: &[SparseVector<IBig>], interner: &mut Interner) -> Self {
        let parts = vectors.chunk_by(|a, b| a.entries == b.entries).filter(|part| !part[0].entries.is_empty());
        let part = |part: &[SparseVector<IBig>]| Part {
            places: interner.places(&part[0].entries),
            vectors: Arc::new(part.iter().map(|v| sparse::from_dense(&v.values)).collect()),
        };
        Self::new(set, parts.map(part).collect())
    }

    /// M: the groups that every vector of the subspace is invariant to. No nonzero vector is invariant to any other.
    pub fn set(&self) -> &GroupSet {
        &self.set
    }

    /// |M|, the level of invariance.
    pub fn level(&self) -> usize {
        self.set.len()
    }

    /// Number of basis vectors.
    pub fn dimension(&self) -> usize {
        if self.parts.is_empty() { self.basis.get().map_or(0, Vec::len) } else { self.parts.iter().map(Part::dimension).sum() }
    }

    /// An orthonormal basis; the first entry of largest magnitude of each vector is positive.
    ///
    /// Made on first use. Large where the subspace is.
    pub fn basis(&self) -> &[SparseVector<f64>] {
        self.basis.get_or_init(|| {
            let parts: Vec<(&Places, Vec<Vec<f64>>)> = self.parts.iter().map(|part| (&*part.places, orthonormal(part))).collect();
            spread(&parts)
        })
    }

    /// Integer vectors that span the same subspace exactly; empty when generators are real. Written out on first use.
    pub fn exact(&self) -> &[SparseVector<IBig>] {
        self.exact.get_or_init(|| {
            let dense = |part: &Part| part.vectors.iter().map(|v| sparse::to_dense(v, part.places.size())).collect();
            let parts: Vec<(&Places, Vec<Vec<IBig>>)> = self.parts.iter().map(|part| (&*part.places, dense(part))).collect();
            spread(&parts)
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Entries of all its vectors when they are written out.
    pub(super) fn entries_written_out(&self) -> u64 {
        self.parts.iter().map(Part::written_out).fold(0, u64::saturating_add)
    }
}

/// The orthonormal basis on one component; vectors on different components are orthogonal already.
pub(super) fn orthonormal(part: &Part) -> Vec<Vec<f64>> {
    let dense = |v: &sparse::Row| {
        let mut dense = vec![0.0; part.places.size()];
        for (i, x) in v {
            dense[*i as usize] = x.to_f64().value();
        }
        dense
    };
    numeric::orthonormalise(part.vectors.iter().map(dense).collect())
}

/// All entries of the tensor as one component.
pub(super) fn whole(d: usize) -> Arc<[u32]> {
    (0..d as u32).collect()
}

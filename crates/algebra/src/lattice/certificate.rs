//! The proof that a lattice is what it claims to be, as data that can be written down and checked again.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use dashu_int::IBig;
use serde::{Deserialize, Serialize};

use super::checks::Check;
use super::places::{Interner, Places};
use super::{Lattice, Mode, Options, SparseVector, Subspace};
use crate::action::Action;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::group_set::GroupSet;
use crate::shape::Shape;
use crate::spec::{Candidate, Generator, Kind, Number};

/// Everything needed to check a lattice without the program that built it: generators, integer bases, and the outcome of
/// each check. [`Certificate::recheck`] repeats the checks from this data alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The shape of the tensor.
    pub shape: Shape,
    /// Which subspaces are claimed.
    pub mode: Mode,
    /// The candidates: names, and generators in shorthand.
    pub groups: Vec<GroupRecord>,
    /// The subspaces, most invariant first.
    pub subspaces: Vec<SubspaceRecord>,
    /// What was checked.
    pub checks: Vec<Check>,
}

/// A candidate, spelled out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// Its generators on the flattened tensor: images `[1,0,2]` or matrix rows `[[0,1],[1,0]]`.
    pub generators: Vec<String>,
}

/// A subspace, spelled out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubspaceRecord {
    /// M, by position in the list of candidates.
    pub groups: GroupSet,
    /// Its dimension.
    pub dimension: usize,
    /// Vectors that span it, exactly (integers) or to rounding (decimals).
    pub vectors: Vec<VectorRecord>,
}

/// A vector, zero outside the listed entries of the flattened tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorRecord {
    /// Flat indices.
    pub entries: Vec<u32>,
    /// Values there, in decimal.
    pub values: Vec<String>,
}

impl Certificate {
    pub(super) fn of(lattice: &Lattice, checks: Vec<Check>) -> Self {
        let exact = lattice.gap.is_none();
        let groups = lattice.groups.iter().map(GroupRecord::of).collect();
        let subspaces = lattice.subspaces.iter().map(|s| SubspaceRecord::of(s, exact)).collect();
        let (shape, mode) = (lattice.shape().clone(), lattice.options.mode);
        Self { shape, mode, groups, subspaces, checks }
    }

    /// Whether every check passed.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(Check::holds)
    }

    /// Repeats every check from the generators and vectors in this certificate alone.
    pub fn recheck(&self) -> Result<Self> {
        let damaged = |reason: String| Error::Candidates(format!("the certificate is damaged: {reason}"));
        let groups = self.groups.iter().map(|record| record.group(&self.shape)).collect::<Result<Vec<_>>>()?;
        if groups.is_empty() {
            return Err(damaged("it names no groups".into()));
        }
        let d = self.shape.len();
        let real = groups.iter().flat_map(Group::generators).any(|g| matches!(g, Action::Real(_)));
        let mut interner = Interner::default();
        let mut subspaces = Vec::new();
        for record in &self.subspaces {
            if record.groups.iter().any(|group| group >= groups.len()) {
                return Err(damaged(format!("a subspace names a group beyond the {} listed", groups.len())));
            }
            if record.vectors.len() != record.dimension {
                return Err(damaged(format!(
                    "a subspace of dimension {} lists {} vectors",
                    record.dimension,
                    record.vectors.len()
                )));
            }
            if subspaces.iter().any(|earlier: &Subspace| *earlier.set() == record.groups) {
                return Err(damaged("two subspaces name the same groups".into()));
            }
            if !record.vectors.iter().all(|v| v.fits(d)) {
                return Err(damaged(format!("a vector does not fit shape {}", self.shape)));
            }
            subspaces.push(if real { record.real_subspace(d) } else { record.exact_subspace(&mut interner) }.map_err(damaged)?);
        }
        if let Some(reason) = mixed_parts(&groups, &subspaces) {
            return Err(damaged(reason));
        }
        let options = Options { mode: self.mode, ..Options::default() };
        Ok(Lattice { groups, options, subspaces, gap: real.then_some(f64::NAN) }.verify())
    }
}

impl GroupRecord {
    fn of(group: &Group) -> Self {
        let spell = |action: &Action| match action {
            Action::Permutation(_) | Action::Signed(_) => {
                let s = action.to_signed();
                Generator::Images(
                    s.negative().iter().copied().zip(s.permutation().images().iter().map(|&i| i as usize)).collect(),
                )
            }
            Action::Rational(m) => {
                let row = |i: usize| (0..m.len()).map(|j| Number::Exact(m.at(i, j).clone())).collect();
                Generator::Matrix((0..m.len()).map(row).collect())
            }
            Action::Real(m) => {
                let row = |i: usize| (0..m.len()).map(|j| Number::Real(m.at(i, j))).collect();
                Generator::Matrix((0..m.len()).map(row).collect())
            }
        };
        Self { name: group.name().into(), generators: group.generators().iter().map(|g| spell(g).to_string()).collect() }
    }

    fn group(&self, shape: &Shape) -> Result<Group> {
        if self.generators.is_empty() {
            return Group::new(self.name.clone(), shape, Vec::new());
        }
        let candidate: Candidate = format!("generators([{}])", self.generators.join(",")).parse()?;
        match candidate.kind {
            Kind::Generators { .. } => Ok(candidate.groups(shape)?.remove(0).named(self.name.clone())),
            _ => unreachable!("the text begins with generators"),
        }
    }
}

impl SubspaceRecord {
    fn of(subspace: &Subspace, exact: bool) -> Self {
        let vectors = if exact {
            subspace.exact().iter().map(VectorRecord::of).collect()
        } else {
            subspace.basis().iter().map(VectorRecord::of).collect()
        };
        Self { groups: subspace.set().clone(), dimension: subspace.dimension(), vectors }
    }

    fn exact_subspace(&self, interner: &mut Interner) -> std::result::Result<Subspace, String> {
        let read = |v: &VectorRecord| v.read(|text| IBig::from_str(text).ok());
        let mut vectors = self.vectors.iter().map(read).collect::<std::result::Result<Vec<_>, _>>()?;
        if vectors.iter().any(|v| v.entries.is_empty()) {
            return Err("a vector has no entries".into());
        }
        // The checks look at the vectors on one list of entries as a whole.
        vectors.sort_by(|a, b| a.entries.cmp(&b.entries));
        Ok(Subspace::written_out(self.groups.clone(), &vectors, interner))
    }

    fn real_subspace(&self, d: usize) -> std::result::Result<Subspace, String> {
        let read = |v: &VectorRecord| v.read(|text| text.parse::<f64>().ok().filter(|x| x.is_finite()));
        let all: Arc<[u32]> = (0..d as u32).collect();
        let whole = |v: SparseVector<f64>| SparseVector { entries: all.clone(), values: v.to_dense(d, 0.0) };
        let basis = self.vectors.iter().map(|v| read(v).map(whole)).collect::<std::result::Result<_, _>>()?;
        Ok(Subspace::real(self.groups.clone(), basis))
    }
}

impl VectorRecord {
    fn of<T: ToString>(v: &SparseVector<T>) -> Self {
        Self { entries: v.entries.to_vec(), values: v.values.iter().map(ToString::to_string).collect() }
    }

    /// Whether there is one value per entry, and the entries are ascending indices of a tensor of d entries.
    fn fits(&self, d: usize) -> bool {
        let ascending = self.entries.windows(2).all(|pair| pair[0] < pair[1]);
        self.entries.len() == self.values.len() && ascending && self.entries.last().is_none_or(|&last| (last as usize) < d)
    }

    fn read<T>(&self, parse: impl Fn(&str) -> Option<T>) -> std::result::Result<SparseVector<T>, String> {
        let value = |text: &String| parse(text).ok_or_else(|| format!("`{text}` is not a number"));
        let values = self.values.iter().map(value).collect::<std::result::Result<_, _>>()?;
        Ok(SparseVector { entries: self.entries.clone().into(), values })
    }
}

/// Why the lists of entries are not parts that every group carries to themselves, if so.
///
/// Ranks are taken one part at a time. That is sound only when no group mixes two parts: otherwise an invariant combination
/// of vectors on different parts would go unseen.
fn mixed_parts(groups: &[Group], subspaces: &[Subspace]) -> Option<String> {
    let d = groups[0].shape().len();
    let mut part = vec![usize::MAX; d];
    let mut lists: HashMap<*const Places, usize> = HashMap::new();
    for places in subspaces.iter().flat_map(Subspace::parts).map(|part| &part.places) {
        let next = lists.len();
        let number = *lists.entry(Arc::as_ptr(places)).or_insert(next);
        for &entry in places.component(0) {
            let place = &mut part[entry as usize];
            if *place != usize::MAX && *place != number {
                return Some(format!("entry {entry} stands in two different parts"));
            }
            *place = number;
        }
    }
    for group in groups {
        for generator in group.generators() {
            let mixed = match generator {
                Action::Permutation(p) => (0..d).find(|&i| part[i] != part[p.image(i)]),
                Action::Signed(s) => (0..d).find(|&i| part[i] != part[s.permutation().image(i)]),
                Action::Rational(m) => {
                    let mixes = |i: usize| (0..d).any(|j| part[i] != part[j] && !m.at(i, j).is_zero());
                    (0..d).find(|&i| mixes(i))
                }
                Action::Real(_) => None,
            };
            if let Some(entry) = mixed {
                return Some(format!("{} mixes entry {entry} with entries of another part", group.name()));
            }
        }
    }
    None
}

//! The lattice of invariant subspaces (Theorem 3, Algorithm 1).
//!
//! With W_i the left 1-eigenspace of group i's Reynolds operator and M a set of groups,
//!
//! ```text
//! Bt(M) = intersection of W_i over i in M          all weights invariant to M
//! B(M)  = orth(Bt(M)) against B(N), N ⊋ M          ... and to nothing more
//! ```
//!
//! A neuron's weights are written in bases of the B(M), so that training can see which invariances it gives up.

mod certificate;
mod checks;
mod closed;
mod component;
mod places;
mod real;
mod split;
mod subspace;

use std::sync::Arc;

use dashu_int::IBig;
use serde::{Deserialize, Serialize};

pub use certificate::{Certificate, GroupRecord, SubspaceRecord, VectorRecord};
pub use checks::Check;
pub use subspace::Subspace;

use crate::action::Action;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::group_set::GroupSet;
use crate::progress::Progress;
use crate::shape::Shape;
use crate::sparse;
use crate::tolerance::Tolerance;
use closed::Family;
use component::{Component, Found};
use places::{Interner, Part};

/// Which subspaces are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As Algorithm 1: from most to least invariant, keep of each B(M) what is independent of everything before, until the
    /// whole space is spanned. The dimensions sum to d.
    #[default]
    Paper,
    /// Every B(M) that is not zero. They span the space, and may overlap: for reports, checks and diagrams.
    Complete,
}

/// How to build a lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Which subspaces are kept.
    pub mode: Mode,
    /// Most closed sets to visit; families of swaps in paper mode stop by themselves and are not limited.
    pub cap: usize,
    /// Thresholds, for real generators and for the checks.
    pub tolerance: Tolerance,
    /// Most bytes the lattice may take, found out before they are used.
    pub memory: u64,
    /// Whether vectors will be written out, by [`Subspace::basis`] or [`Subspace::exact`]. A lattice whose vectors would not fit
    /// is refused; without it only the few numbers that tell them have to.
    pub vectors: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Paper, cap: 4096, tolerance: Tolerance::default(), memory: 4_000_000_000, vectors: true }
    }
}

/// A vector that is zero outside a few entries of the tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseVector<T> {
    /// The entries it may be nonzero at, ascending.
    pub entries: Arc<[u32]>,
    /// Its values there.
    pub values: Vec<T>,
}

impl<T: Clone> SparseVector<T> {
    /// All d entries.
    pub fn to_dense(&self, d: usize, zero: T) -> Vec<T> {
        let mut dense = vec![zero; d];
        self.entries.iter().zip(&self.values).for_each(|(&entry, value)| dense[entry as usize] = value.clone());
        dense
    }
}

/// The subspaces B(M) of a list of candidate groups, most invariant first.
///
/// ```
/// # use invar_algebra::{candidates, Lattice, Options, Shape};
/// // The worked example of the paper's appendix: turns and colours of a 3x3 patch with 3 channels.
/// let shape: Shape = "3x3x3".parse()?;
/// let lattice = Lattice::new(candidates(&shape, ["rot90(1,2)", "permute(0)"])?, &Options::default())?;
/// let dimensions: Vec<usize> = lattice.subspaces().iter().map(|s| s.dimension()).collect();
/// assert_eq!(dimensions, [3, 6, 6, 12]);
/// assert!(lattice.verify().holds());
/// # Ok::<(), invar_algebra::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lattice {
    groups: Vec<Group>,
    options: Options,
    subspaces: Vec<Subspace>,
    gap: Option<f64>,
}

impl Lattice {
    /// Builds the lattice of a list of candidates on one shape.
    pub fn new(groups: Vec<Group>, options: &Options) -> Result<Self> {
        Self::build(groups, options, &|_| {})
    }

    /// The same, telling how far it is.
    pub fn build(groups: Vec<Group>, options: &Options, hear: &dyn Fn(Progress)) -> Result<Self> {
        let Some(first) = groups.first() else {
            return Err(Error::Candidates("a lattice needs at least one candidate group".into()));
        };
        if let Some(other) = groups.iter().find(|group| group.shape() != first.shape()) {
            return Err(Error::Candidates(format!(
                "{} acts on shape {} but {} on shape {}; all candidates must act on one shape",
                first.name(),
                first.shape(),
                other.name(),
                other.shape()
            )));
        }
        if groups.iter().flat_map(Group::generators).any(|g| matches!(g, Action::Real(_))) {
            let (subspaces, gap) = real::build(&groups, options)?;
            return Ok(Self { groups, options: *options, subspaces, gap: Some(gap) });
        }
        let subspaces = build(&groups, options, hear)?;
        let lattice = Self { groups, options: *options, subspaces, gap: None };
        if options.vectors {
            lattice.admit_vectors(size_of::<IBig>() + size_of::<f64>())?;
        }
        Ok(lattice)
    }

    /// Refuses to write out all vectors when they would take more memory than the lattice may, at so many bytes an entry.
    pub fn admit_vectors(&self, bytes_per_entry: usize) -> Result<()> {
        let entries = self.subspaces.iter().map(Subspace::entries_written_out).fold(0, u64::saturating_add);
        Budget::new(self.options.memory).admit("writing out all vectors", entries, bytes_per_entry)
    }

    /// Refuses to write a certificate down when its text would take more memory than the lattice may.
    pub fn admit_certificate(&self) -> Result<()> {
        // A value is a number, a string and its share of the file; an image is two numbers and its share.
        let images: usize = self.groups.iter().map(|group| group.generators().len() * self.shape().len()).sum();
        Budget::new(self.options.memory).admit("spelling out the generators", images as u64, 40)?;
        self.admit_vectors(size_of::<IBig>() + 60)
    }

    /// A lattice put together by hand, for checking claims made elsewhere: [`verify`](Self::verify) tells whether it holds.
    pub fn from_parts(groups: Vec<Group>, options: Options, parts: Vec<(GroupSet, Vec<Vec<IBig>>)>) -> Self {
        let d = groups.first().map_or(0, |group| group.shape().len());
        let entries = subspace::whole(d);
        let mut interner = Interner::default();
        let subspaces = parts
            .into_iter()
            .map(|(set, vectors)| {
                let vector = |values| SparseVector { entries: entries.clone(), values };
                Subspace::written_out(set, &vectors.into_iter().map(vector).collect::<Vec<_>>(), &mut interner)
            })
            .collect();
        Self { groups, options, subspaces, gap: None }
    }

    /// The candidate groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The shape they act on.
    pub fn shape(&self) -> &Shape {
        self.groups[0].shape()
    }

    /// How it was built.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The subspaces, most invariant first.
    pub fn subspaces(&self) -> &[Subspace] {
        &self.subspaces
    }

    /// The smallest singular-value gap behind any rank, when generators are real and nothing was exact.
    pub fn gap(&self) -> Option<f64> {
        self.gap
    }

    /// cl(M): every candidate that all weights invariant to M are invariant to as well.
    pub fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        if self.gap.is_some() {
            return real::closure(&self.groups, set, &self.options.tolerance);
        }
        Ok(closed::closure(&split::split(&self.groups), self.groups.len(), set))
    }

    /// A set of candidates in words: their names, or for a complete family of swaps the partition it stands for, such as
    /// "all but position 3" (positions count from 1, as in the paper).
    pub fn label(&self, set: &GroupSet) -> String {
        if let Some(family) = Family::detect(&self.groups) {
            let several_axes = self.groups[0].swap().is_some_and(|swap| swap.axes.len() > 1);
            return family.label(set, if several_axes { "node" } else { "position" });
        }
        let names: Vec<&str> = set.iter().map(|group| self.groups[group].name()).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// Pairs (upper, lower) of positions in [`subspaces`](Self::subspaces): the lower set is contained in the upper one
    /// with no other subspace's set between. The edges of the Hasse diagram.
    pub fn hasse_edges(&self) -> Vec<(usize, usize)> {
        let sets: Vec<&GroupSet> = self.subspaces.iter().map(Subspace::set).collect();
        let mut edges = Vec::new();
        for (lower, set) in sets.iter().enumerate() {
            // Larger sets come first, so whatever lies between has been seen when scanning upward from the nearest.
            let mut covers: Vec<usize> = Vec::new();
            for upper in (0..lower).rev().filter(|&upper| set.is_strict_subset(sets[upper])) {
                if covers.iter().all(|&cover| !sets[cover].is_subset(sets[upper])) {
                    covers.push(upper);
                }
            }
            edges.extend(covers.into_iter().rev().map(|upper| (upper, lower)));
        }
        edges
    }

    /// Checks every claim the lattice makes, and writes everything down; see [`Certificate`].
    pub fn verify(&self) -> Certificate {
        self.certificate(self.check(&|_| {}))
    }

    /// Everything written down with checks that were made, to be checked again elsewhere.
    pub fn certificate(&self, checks: Vec<Check>) -> Certificate {
        Certificate::of(self, checks)
    }

    /// The checks alone, telling how far they are.
    pub fn check(&self, hear: &dyn Fn(Progress)) -> Vec<Check> {
        checks::check_all(self, hear)
    }
}

/// All subspaces of groups without real generators.
fn build(groups: &[Group], options: &Options, hear: &dyn Fn(Progress)) -> Result<Vec<Subspace>> {
    let mut budget = Budget::new(options.memory);
    budget.admit("splitting the tensor", groups[0].shape().len() as u64, split::BYTES_PER_ENTRY)?;
    let components = split::split(groups);
    let mut builder = Builder::new(&components, groups.len(), options.mode);
    if let Some(family) = Family::detect(groups) {
        let cap = (options.mode == Mode::Complete).then_some(options.cap);
        for level in family.levels(cap) {
            for set in level? {
                if builder.visit(set, &mut budget, hear)? {
                    return Ok(builder.subspaces);
                }
            }
        }
    } else {
        let closure = |set: &GroupSet| Ok(closed::closure(&components, groups.len(), set));
        for set in closed::enumerate(groups.len(), options.cap, closure)? {
            if builder.visit(set, &mut budget, hear)? {
                break;
            }
        }
    }
    Ok(builder.subspaces)
}

/// Collects subspaces while the closed sets pass by, most invariant first.
struct Builder<'a> {
    components: &'a [Component],
    found: Vec<Found>,
    m: usize,
    mode: Mode,
    subspaces: Vec<Subspace>,
}

impl<'a> Builder<'a> {
    fn new(components: &'a [Component], m: usize, mode: Mode) -> Self {
        let found = components.iter().map(|component| Found::new(component.size())).collect();
        Self { components, found, m, mode, subspaces: Vec::new() }
    }

    /// Adds what B(M) contributes; true when the whole space is spanned and nothing more is wanted.
    fn visit(&mut self, set: GroupSet, budget: &mut Budget, hear: &dyn Fn(Progress)) -> Result<bool> {
        let paper = self.mode == Mode::Paper;
        let mut parts = Vec::new();
        for (component, found) in self.components.iter().zip(&mut self.found) {
            if paper && found.rank() == component.size() {
                continue;
            }
            let vectors = component.pure(&set, self.m, budget)?;
            let vectors = if paper { found.take_new(&set, vectors, component.size(), budget)? } else { Arc::new(vectors) };
            if !vectors.is_empty() {
                let entries = vectors.iter().map(Vec::len).sum::<usize>() as u64;
                budget.take("the subspaces found so far", entries, sparse::ENTRY)?;
                budget.take("the subspaces found so far", vectors.len() as u64, sparse::ROW)?;
                parts.push(Part { places: component.places.clone(), vectors });
            }
        }
        if !parts.is_empty() {
            self.subspaces.push(Subspace::new(set, parts));
        }
        let found = || self.components.iter().zip(&self.found).map(|(c, f)| c.places.count() * f.rank());
        let of: usize = self.components.iter().map(|c| c.places.count() * c.size()).sum();
        let done: usize = if paper { found().sum() } else { self.subspaces.len() };
        hear(Progress {
            step: if paper { "dimensions found" } else { "subspaces found" },
            done,
            of: if paper { of } else { done },
        });
        Ok(paper && done == of)
    }
}

//! The laws of a lattice (Theorem 3), each checked case by case.

mod exact;
mod layout;
mod products;
mod real;

use serde::{Deserialize, Serialize};

use super::{Lattice, Mode, Subspace};
use crate::group_set::GroupSet;
use crate::progress::Progress;

/// Checks every law.
pub(super) fn check_all(lattice: &Lattice, hear: &dyn Fn(Progress)) -> Vec<Check> {
    if lattice.gap.is_none() { exact::Checker::new(lattice, hear).check_all() } else { real::Checker::new(lattice).check_all() }
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
    /// What is to be known about how it was checked, where not every case was decided by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

impl Check {
    fn new(law: &str, exact: bool) -> Self {
        Self { law: law.into(), exact, cases: 0, failures: Vec::new(), how: None }
    }

    fn orthonormal() -> Self {
        Self::new("the floating-point basis of each B(M) is orthonormal and spans it", false)
    }

    fn invariant(exact: bool) -> Self {
        Self::new("every generator of every group in M fixes B(M)", exact)
    }

    fn nothing_more(exact: bool) -> Self {
        Self::new("no nonzero vector of B(M) is invariant to a group outside M: rank of (I - R)ᵀB(M) is full", exact)
    }

    fn orthogonal_to_supersets(exact: bool) -> Self {
        Self::new("B(M) is orthogonal to B(N) for every strict superset N of M", exact)
    }

    fn spans_the_space(mode: Mode, exact: bool) -> Self {
        let law = match mode {
            Mode::Paper => "the subspaces are independent and their dimensions sum to d",
            Mode::Complete => "the subspaces span the whole space",
        };
        Self::new(law, exact)
    }

    fn case(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.cases += 1;
        if !holds {
            self.failures.push(failure());
        }
    }

    /// Adds many cases, of which some failed alike.
    fn cases(&mut self, cases: usize, failed: usize, failure: impl Fn() -> String) {
        self.cases += cases;
        self.failures.extend((0..failed).map(|_| failure()));
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

/// The groups outside a set.
fn outside<'a>(lattice: &'a Lattice, set: &'a GroupSet) -> impl Iterator<Item = usize> + 'a {
    (0..lattice.groups.len()).filter(move |&group| !set.contains(group))
}

/// Pairs of subspaces of which the second is more invariant.
fn nested(subspaces: &[Subspace]) -> impl Iterator<Item = (&Subspace, &Subspace)> {
    subspaces.iter().flat_map(move |lower| {
        subspaces.iter().filter(move |upper| lower.set().is_strict_subset(upper.set())).map(move |upper| (lower, upper))
    })
}

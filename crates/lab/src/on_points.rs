//! Networks on points ([`Pairs`](invar_nn::Pairs)) for the candidates of a problem.

use invar_algebra::{Group, GroupSet};
use invar_nn::{FrontKind, Init, Inputs, Network, PairsConfig, Points, Ties};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::Problem;

/// What the front of a network is tied along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tied {
    /// What is imposed.
    AsImposed,
    /// All candidates: its features are alike for entries that some candidate exchanges. What is imposed is left to the layers behind.
    Everywhere,
}

impl Tied {
    /// The other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::AsImposed => Self::Everywhere,
            Self::Everywhere => Self::AsImposed,
        }
    }
}

/// The points of a problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnPoints<'a> {
    problem: &'a Problem,
    points: Points,
    front: FrontKind,
}

impl<'a> OnPoints<'a> {
    /// Where candidates are (signed) permutations of what the inputs have.
    pub(crate) fn of(problem: &'a Problem) -> Result<Self> {
        let wrong = |expected: &str, got: String| {
            Err(Error::Setting { name: "candidates of a network on pairs", expected: expected.into(), got })
        };
        let entries = match problem.train.inputs() {
            Inputs::Tokens { length, .. } => *length,
            Inputs::Array { dim, .. } => *dim,
            Inputs::Images { .. } => return wrong("those of arrays or sequences", "those of images".into()),
        };
        let Some(points) = Points::of(entries, problem.groups()) else {
            return wrong("permutations, with or without changes of sign", "a matrix".into());
        };
        let front = match problem.vocabulary {
            Some(vocabulary) => FrontKind::Tokens { vocabulary },
            None if points.has_room_for_pairs() => FrontKind::Pairs,
            None => FrontKind::Pointwise,
        };
        if front == FrontKind::Pointwise {
            // One entry at a time sees orbits only: right where all permutations within them are meant.
            let strange = problem.groups().iter().find(|group| !is_symmetric(group));
            if let Some(group) = strange {
                let expected = "exchanges, or all permutations of an axis, for so many entries: pairs of them have no room";
                return wrong(expected, format!("{} on {entries} entries", group.name()));
            }
        }
        Ok(Self { problem, points, front })
    }

    /// What a set of candidates ties together.
    pub(crate) fn ties(&self, set: &GroupSet) -> Result<Ties> {
        Ok(self.points.ties(set.iter().map(|group| &self.problem.groups()[group]))?)
    }

    /// cl(M): every candidate that leaves all orbits of pairs alone, where there is room for pairs.
    pub(crate) fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        let ties = self.ties(set)?;
        let mut closed = set.clone();
        for (candidate, group) in self.problem.groups().iter().enumerate() {
            if !closed.contains(candidate) && self.points.implies(&ties, group)? {
                closed.insert(candidate);
            }
        }
        Ok(closed)
    }

    /// A network with a set of candidates imposed.
    pub(crate) fn network(&self, imposed: &GroupSet, front: Tied, init: &mut Init) -> Result<Network> {
        let imposed = self.ties(imposed)?;
        let front = match front {
            Tied::AsImposed => imposed.clone(),
            Tied::Everywhere => self.ties(&GroupSet::full(self.problem.groups().len()))?,
        };
        let config = PairsConfig::new(self.front, self.problem.train.outputs());
        Ok(config.init(self.points, &front, &imposed, init)?.into())
    }
}

/// Whether a group is all permutations of one list of entries.
fn is_symmetric(group: &Group) -> bool {
    let Some(orbits) = group.orbits() else { return false };
    let largest = (0..orbits.count()).map(|orbit| orbits.size(orbit)).max().unwrap_or(1);
    if (0..orbits.count()).filter(|&orbit| orbits.size(orbit) > 1).count() != 1 {
        return false;
    }
    // n! has that many factors.
    let factorial = (1..=largest).fold(invar_algebra::UBig::from(1u8), |product, k| product * invar_algebra::UBig::from(k));
    group.order() == factorial
}

//! What a group of (signed) permutations ties together: entries of an example, and ordered pairs of them.

use invar_algebra::{Action, Group, Orbits, Permutation};

use crate::{Error, Result};

/// Most ordered pairs of points that weights are tied on.
pub const MAX_PAIRS: usize = 1 << 14;

/// What permutations act on: the entries of an example; where signs change, the entries and then their negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Points {
    entries: usize,
    signed: bool,
}

impl Points {
    /// The points that a list of candidates acts on; none where one of them is a matrix.
    pub fn of(entries: usize, groups: &[Group]) -> Option<Self> {
        let mut signed = false;
        for action in groups.iter().flat_map(Group::generators) {
            match action {
                Action::Permutation(_) => {}
                Action::Signed(_) => signed = true,
                Action::Rational(_) | Action::Real(_) => return None,
            }
        }
        Some(Self { entries, signed })
    }

    /// Number of entries of an example.
    pub fn entries(self) -> usize {
        self.entries
    }

    /// Whether negatives are points of their own.
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Number of points n.
    pub fn count(self) -> usize {
        if self.signed { 2 * self.entries } else { self.entries }
    }

    /// Whether there are few enough of them for weights on pairs.
    pub fn has_room_for_pairs(self) -> bool {
        self.count().saturating_mul(self.count()) <= MAX_PAIRS
    }

    /// Where an action takes each point.
    fn images(self, action: &Action) -> Result<Vec<u32>> {
        let wrong = |got: &str| Err(Error::shape("candidates of a network on points", "signed permutations of its entries", got));
        if action.len() != self.entries {
            return wrong("those of another number of entries");
        }
        let d = self.entries as u32;
        match action {
            Action::Permutation(p) if self.signed => {
                Ok(p.images().iter().copied().chain(p.images().iter().map(|image| image + d)).collect())
            }
            Action::Permutation(p) => Ok(p.images().to_vec()),
            Action::Signed(s) if self.signed => {
                let of = |i: usize, minus: bool| s.permutation().image(i) as u32 + if s.negative()[i] == minus { 0 } else { d };
                let d = d as usize;
                Ok((0..d).map(|i| of(i, false)).chain((0..d).map(|i| of(i, true))).collect())
            }
            Action::Signed(_) => wrong("one that changes signs"),
            Action::Rational(_) | Action::Real(_) => wrong("a matrix"),
        }
    }

    /// What the group that these candidates generate ties together: points, and pairs if there is room for them.
    pub fn ties<'a>(self, groups: impl IntoIterator<Item = &'a Group>) -> Result<Ties> {
        let images = independent(groups).map(|action| self.images(action)).collect::<Result<Vec<_>>>()?;
        let n = self.count();
        let points = classes(n, images.iter().cloned())?;
        let pairs = if self.has_room_for_pairs() {
            let on_pairs = images.iter().map(|to| {
                let row = |i: usize| (0..n).map(move |j| to[i] * n as u32 + to[j]);
                (0..n).flat_map(row).collect()
            });
            Some(classes(n * n, on_pairs)?)
        } else {
            None
        };
        Ok(Ties { count: n, points, pairs })
    }

    /// Whether every orbit of pairs of a group, or of points where pairs have no room, is carried to itself by a candidate: weights
    /// that are tied along the group are then invariant to the candidate, too.
    pub fn implies(self, ties: &Ties, candidate: &Group) -> Result<bool> {
        for action in candidate.generators() {
            let to = self.images(action)?;
            let n = self.count();
            let stays = match &ties.pairs {
                Some(pairs) => {
                    (0..n).all(|i| (0..n).all(|j| pairs.of[i * n + j] == pairs.of[to[i] as usize * n + to[j] as usize]))
                }
                None => (0..n).all(|i| ties.points.of[i] == ties.points.of[to[i] as usize]),
            };
            if !stays {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The generators of some groups, without exchanges that follow from those before: n - 1 of them tie n positions.
fn independent<'a>(groups: impl IntoIterator<Item = &'a Group>) -> impl Iterator<Item = &'a Action> {
    // Exchanges along the same axes: which position each belongs to.
    let mut known: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let needed = move |group: &&Group| {
        let Some(swap) = group.swap() else { return true };
        let at = known.iter().position(|(axes, _)| *axes == swap.axes).unwrap_or_else(|| {
            known.push((swap.axes.clone(), (0..group.shape().side(swap.axes[0])).collect()));
            known.len() - 1
        });
        let class = &mut known[at].1;
        let (one, other) = (class[swap.i], class[swap.j]);
        class.iter_mut().filter(|class| **class == other).for_each(|class| *class = one);
        one != other
    };
    groups.into_iter().filter(needed).flat_map(Group::generators)
}

/// A partition of 0..n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Classes {
    /// The class of each.
    pub(crate) of: Vec<u32>,
    /// How many are in each.
    pub(crate) sizes: Vec<usize>,
}

fn classes(n: usize, images: impl Iterator<Item = Vec<u32>>) -> Result<Classes> {
    let wrong = |reason: String| Error::shape("a generator", "a permutation", reason);
    let moves = images.map(|to| Permutation::new(to).map(Action::Permutation).map_err(wrong)).collect::<Result<Vec<_>>>()?;
    let orbits = Orbits::of(n, &moves).ok_or_else(|| wrong("a matrix".into()))?;
    let of: Vec<u32> = (0..n).map(|i| orbits.orbit(i) as u32).collect();
    let mut sizes = vec![0; orbits.count()];
    for &class in &of {
        sizes[class as usize] += 1;
    }
    Ok(Classes { of, sizes })
}

/// The orbits of a group on points, and on ordered pairs of points (orbitals).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ties {
    count: usize,
    pub(crate) points: Classes,
    /// None where there are too many pairs.
    pub(crate) pairs: Option<Classes>,
}

impl Ties {
    /// Number of points.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of orbits on points.
    pub fn orbits(&self) -> usize {
        self.points.sizes.len()
    }

    /// Number of orbits on ordered pairs; none where there are too many pairs.
    pub fn orbitals(&self) -> Option<usize> {
        self.pairs.as_ref().map(|pairs| pairs.sizes.len())
    }

    /// Whether the group acts on pairs as all permutations within each orbit would: then functions of one entry each and their sums
    /// lose nothing that it allows. Known only where there is room for pairs.
    pub fn is_symmetric_within_orbits(&self) -> Option<bool> {
        let orbits = &self.points.sizes;
        let within: usize = orbits.iter().map(|&size| if size > 1 { 2 } else { 1 }).sum();
        Some(self.orbitals()? == within + orbits.len() * (orbits.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::{Shape, candidates};

    fn groups(shape: &str, of: &[&str]) -> Vec<Group> {
        candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap()
    }

    fn counted(shape: &str, of: &[&str]) -> (usize, usize) {
        let groups = groups(shape, of);
        let points = Points::of(groups[0].shape().len(), &groups).unwrap();
        let ties = points.ties(&groups).unwrap();
        (ties.orbits(), ties.orbitals().unwrap())
    }

    #[test]
    fn orbitals_of_known_actions() {
        assert_eq!(counted("5", &["swaps(0)"]), (1, 2), "a set: itself and the others");
        assert_eq!(counted("6", &["cycle(0)"]), (1, 6), "a cycle: each distance");
        assert_eq!(counted("6", &["cycle(0)", "flip(0)"]), (1, 4), "without direction");
        assert_eq!(counted("4x2", &["swaps(0)"]), (2, 8), "2 f^2 for items with f features");
        assert_eq!(counted("5x5", &["node_swaps(0,1)"]), (2, 15), "the 15 maps of graphs");
        assert_eq!(counted("3x3", &["rot90(0,1)", "flip(0)"]), (3, 15), "a board");
        assert_eq!(counted("2", &["negate"]), (2, 8), "signs: pairs of 4 points, in twos");
    }

    #[test]
    fn what_is_implied_leaves_every_orbital_alone() {
        let groups = groups("5", &["swap(0;0,1)", "swap(0;1,2)", "swap(0;0,2)", "swap(0;2,3)", "cycle(0)"]);
        let points = Points::of(5, &groups).unwrap();
        let ties = points.ties(&groups[..2]).unwrap();
        let implied: Vec<bool> = groups.iter().map(|group| points.implies(&ties, group).unwrap()).collect();
        assert_eq!(implied, [true, true, true, false, false]);
        assert_eq!(ties.is_symmetric_within_orbits(), Some(true));
        let cycle = points.ties(&groups[4..]).unwrap();
        assert_eq!(cycle.is_symmetric_within_orbits(), Some(false));
        assert!(!points.implies(&cycle, &groups[0]).unwrap(), "a cycle has one orbit of points, and does not allow exchanges");
    }

    #[test]
    fn matrices_have_no_points_and_many_entries_no_pairs() {
        assert_eq!(Points::of(2, &groups("2", &["generators([[[0,1/2],[2,0]]])"])), None);
        let groups = groups("200", &["swaps(0)"]);
        let points = Points::of(200, &groups).unwrap();
        let ties = points.ties(&groups).unwrap();
        assert_eq!((ties.orbits(), ties.orbitals()), (1, None));
        assert!(points.implies(&ties, &groups[0]).unwrap());
    }
}

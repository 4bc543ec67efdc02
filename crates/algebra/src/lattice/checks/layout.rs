//! What the checks look things up in: where each entry stands, and what each generator moves.

use std::collections::HashMap;
use std::sync::Arc;

use dashu_int::IBig;

use crate::action::Action;
use crate::group::Group;
use crate::lattice::component::Edge;
use crate::lattice::places::{Part, Places};
use crate::lattice::{Lattice, Subspace};
use crate::orbits::edges;
use crate::sparse::Row;

/// Where the entries of the tensor stand, and the places there are.
pub(super) struct Layout {
    /// The component of each entry, places after places, and its index there.
    component: Vec<u32>,
    local: Vec<u32>,
    /// The different places, with their number of components before.
    pub(super) places: Vec<(Arc<Places>, u32)>,
    number: HashMap<*const Places, usize>,
    /// Whether every entry stands in exactly one component.
    pub(super) is_partition: bool,
}

impl Layout {
    pub(super) fn new(lattice: &Lattice) -> Self {
        let d = lattice.shape().len();
        let (component, local) = (vec![u32::MAX; d], vec![0; d]);
        let mut layout = Self { component, local, places: Vec::new(), number: HashMap::new(), is_partition: true };
        let mut before = 0;
        for part in lattice.subspaces.iter().flat_map(Subspace::parts) {
            let next = layout.places.len();
            if *layout.number.entry(Arc::as_ptr(&part.places)).or_insert(next) < next {
                continue;
            }
            for (entries, number) in part.places.each().zip(before..) {
                for (&entry, k) in entries.iter().zip(0..) {
                    let component = &mut layout.component[entry as usize];
                    layout.is_partition &= *component == u32::MAX;
                    (*component, layout.local[entry as usize]) = (number, k);
                }
            }
            layout.places.push((part.places.clone(), before));
            before += part.places.count() as u32;
        }
        layout.is_partition &= layout.component.iter().all(|&number| number != u32::MAX);
        layout
    }

    /// The number of a part's places.
    pub(super) fn number(&self, part: &Part) -> usize {
        self.number[&Arc::as_ptr(&part.places)]
    }

    /// The components of a part by number in all.
    pub(super) fn components(&self, part: &Part) -> std::ops::Range<u32> {
        let first = self.places[self.number(part)].1;
        first..first + part.places.count() as u32
    }

    /// The component of an entry, and its index there.
    pub(super) fn find(&self, entry: u32) -> (u32, u32) {
        (self.component[entry as usize], self.local[entry as usize])
    }

    /// Adds to `moved` the components of a part on which a generator does not fix a vector: there x_a is not ±x_b for an edge
    /// (a, b). A component may be named several times.
    pub(super) fn moved(&self, generator: &Moves, part: &Part, values: &Values, moved: &mut Vec<u32>) {
        let components = self.components(part);
        let agree = |a: i32, b: i32, reversed: bool| if reversed { a == -b } else { a == b };
        match generator {
            Moves::Few(edges) if edges.len() < values.used * part.places.count() => {
                for &(a, b, reversed) in edges {
                    let ((of_a, a), (of_b, b)) = (self.find(a), self.find(b));
                    if of_a == of_b {
                        if components.contains(&of_a) && !agree(values.at(a), values.at(b), reversed) {
                            moved.push(of_a);
                        }
                        continue;
                    }
                    // Outside its component a vector is zero.
                    let ends = [(of_a, a), (of_b, b)].into_iter();
                    moved.extend(ends.filter(|&(of, k)| components.contains(&of) && values.at(k) != 0).map(|(of, _)| of));
                }
            }
            _ => {
                // Where every nonzero entry goes to one of the same value, the finitely many nonzero entries are permuted, and so
                // are the others.
                for (entries, number) in part.places.each().zip(components) {
                    let stays = |&k: &u32| {
                        let (image, reversed) = generator.image(entries[k as usize]);
                        let (of, place) = self.find(image);
                        of == number && agree(values.at(k), values.at(place), reversed)
                    };
                    if !values.support.iter().all(stays) {
                        moved.push(number);
                    }
                }
            }
        }
    }
}

/// What a (signed) permutation does, quick to ask for what it moves.
pub(super) enum Moves<'a> {
    /// All edges of one that moves little.
    Few(Vec<Edge>),
    /// One that moves much.
    Many(&'a Action),
}

impl<'a> Moves<'a> {
    /// The generators of a group without matrices.
    pub(super) fn of(group: &'a Group) -> Option<Vec<Self>> {
        let d = group.shape().len();
        let moves = |generator: &'a Action| {
            let few: Vec<Edge> =
                edges(generator)?.map(|(a, b, reversed)| (a as u32, b as u32, reversed)).take(d / 8 + 3).collect();
            Some(if few.len() < d / 8 + 3 { Self::Few(few) } else { Self::Many(generator) })
        };
        group.generators().iter().map(moves).collect()
    }

    /// Where an entry goes, and whether its sign changes on the way.
    pub(super) fn image(&self, entry: u32) -> (u32, bool) {
        match self {
            Self::Few(edges) => {
                edges.binary_search_by_key(&entry, |edge| edge.0).map_or((entry, false), |k| (edges[k].1, edges[k].2))
            }
            Self::Many(Action::Permutation(p)) => (p.images()[entry as usize], false),
            Self::Many(Action::Signed(s)) => (s.permutation().images()[entry as usize], s.negative()[entry as usize]),
            Self::Many(_) => unreachable!("a matrix has no edges"),
        }
    }
}

/// A vector on a component whose entries are quick to compare: equal values have equal numbers, and opposite ones opposite numbers.
#[derive(Default)]
pub(super) struct Values {
    numbers: Vec<i32>,
    support: Vec<u32>,
    used: usize,
}

impl Values {
    /// Takes a vector of `size` entries in place of the one before.
    pub(super) fn set(&mut self, v: &Row, size: usize) {
        self.support.iter().for_each(|&k| self.numbers[k as usize] = 0);
        self.numbers.resize(size.max(self.numbers.len()), 0);
        let mut known: HashMap<IBig, i32> = HashMap::new();
        self.support = v.iter().map(|(k, _)| *k).collect();
        self.used = v.len();
        for (k, x) in v {
            let negative = *x < IBig::ZERO;
            let next = known.len() as i32 + 1;
            let number = *known.entry(if negative { -x } else { x.clone() }).or_insert(next);
            self.numbers[*k as usize] = if negative { -number } else { number };
        }
    }

    fn at(&self, k: u32) -> i32 {
        self.numbers[k as usize]
    }
}

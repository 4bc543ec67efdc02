//! What a diagram shows, before anything has a place.

use std::borrow::Cow;

use invar_algebra::{Group, GroupSet, Lattice, Mode, Options, SparseVector};

use super::DiagramOptions;
use super::glyph::Plan;
use super::names::Names;
use super::text::count;

/// A level with more nodes takes so many rows that edges between them would say nothing.
const CROWD: usize = 30;

/// A node: a subspace of the lattice, or one group's own space of invariant vectors.
pub(super) struct Card<'a> {
    pub(super) name: String,
    /// All that is known of it, in words.
    pub(super) tip: String,
    pub(super) dimension: usize,
    basis: Cow<'a, [SparseVector<f64>]>,
    /// Whether it is part of what was kept; none when nothing is highlighted.
    pub(super) kept: Option<bool>,
    /// Its position among the lattice's subspaces.
    pub(super) subspace: Option<usize>,
}

impl Card<'_> {
    /// Some of the basis vectors, spread over the whole basis: the first ones are often much alike.
    pub(super) fn pick(&self, shown: usize) -> impl Iterator<Item = &SparseVector<f64>> {
        (0..shown).filter_map(move |k| self.basis.get(k * self.basis.len() / shown))
    }
}

/// Cards that belong together: a level, or the eigenspaces.
pub(super) struct Section {
    pub(super) heading: String,
    pub(super) detail: String,
    pub(super) cards: Vec<usize>,
}

/// Everything there is to draw.
pub(super) struct Scene<'a> {
    pub(super) cards: Vec<Card<'a>>,
    /// From most to least invariant, then the eigenspaces if wanted.
    pub(super) sections: Vec<Section>,
    /// Pairs of cards (upper, lower).
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) plan: Plan,
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) notes: Vec<String>,
    /// Most rectangles all vectors together may need.
    marks: usize,
    /// Most vectors of one card.
    vectors: usize,
}

impl<'a> Scene<'a> {
    pub(super) fn new(lattice: &'a Lattice, options: &DiagramOptions) -> Self {
        let names = Names::new(lattice);
        let plan = Plan::new(lattice.shape());
        let mut scene = Self {
            cards: Vec::new(),
            sections: Vec::new(),
            edges: Vec::new(),
            title: title(lattice, options),
            summary: summary(lattice),
            notes: vec![plan.caption()],
            plan,
            marks: options.max_marks,
            vectors: options.max_vectors,
        };
        scene.notes.extend(scene.plan.note());
        if let Some(family) = names.families().first() {
            scene.notes.push(format!("{} are counted from 1.", if family.noun() == "node" { "Nodes" } else { "Positions" }));
        }
        scene.add_levels(lattice, &names, options);
        scene.add_edges(lattice, options);
        if options.eigenspaces {
            scene.add_eigenspaces(lattice, options);
        }
        if let Some(kept) = &options.kept {
            scene.notes.push(format!("Outlined: invariant to {} at least.", names.of(kept, options.max_names)));
        }
        scene
    }

    fn add_levels(&mut self, lattice: &'a Lattice, names: &Names, options: &DiagramOptions) {
        let drawn = lattice.subspaces().len().min(options.max_nodes);
        for (number, subspace) in lattice.subspaces().iter().enumerate().take(drawn) {
            let level = level_in_words(subspace.level());
            let name = names.of(subspace.set(), options.max_names);
            let tip = format!("{name}: dimension {}, {level}", subspace.dimension());
            let heading = format!("level {}", subspace.level());
            if let Some(section) = self.sections.last_mut().filter(|section| section.heading == heading) {
                section.cards.push(number);
            } else {
                let detail = invariant_to(subspace.level());
                self.sections.push(Section { heading, detail, cards: vec![number] });
            }
            let basis = Cow::Borrowed(subspace.basis());
            let kept = options.kept.as_ref().map(|kept: &GroupSet| kept.is_subset(subspace.set()));
            let dimension = subspace.dimension();
            self.cards.push(Card { name, tip, dimension, basis, kept, subspace: Some(number) });
        }
        let left = lattice.subspaces().len() - drawn;
        if left > 0 {
            self.notes.push(format!("{} of less invariance are not drawn.", count(left, "more subspace")));
        }
    }

    fn add_edges(&mut self, lattice: &Lattice, options: &DiagramOptions) {
        let drawn = self.cards.len();
        let edges: Vec<(usize, usize)> = lattice.hasse_edges().into_iter().filter(|&(_, lower)| lower < drawn).collect();
        let crowded = self.sections.iter().any(|section| section.cards.len() > CROWD);
        if edges.len() > options.max_edges || crowded {
            self.notes.push(format!("{} of the order are left out for clarity.", count(edges.len(), "edge")));
            return;
        }
        // Below its parents each card finds the place where edges cross least.
        let mut place = vec![0.0; drawn];
        for section in &mut self.sections {
            let pull = |card: usize| {
                let parents: Vec<f64> = edges.iter().filter(|edge| edge.1 == card).map(|edge| place[edge.0]).collect();
                if parents.is_empty() { 0.5 } else { parents.iter().sum::<f64>() / parents.len() as f64 }
            };
            section.cards.sort_by(|&a, &b| pull(a).total_cmp(&pull(b)));
            let m = section.cards.len() as f64;
            section.cards.iter().enumerate().for_each(|(k, &card)| place[card] = (k as f64 + 0.5) / m);
        }
        if !edges.is_empty() {
            self.notes.push("An edge leads from a set of groups down to the next smaller ones.".into());
        }
        self.edges = edges;
    }

    fn add_eigenspaces(&mut self, lattice: &Lattice, options: &DiagramOptions) {
        let first = self.cards.len();
        for group in lattice.groups().iter().take(options.max_eigenspaces) {
            let vectors = eigenspace(group, lattice.options());
            let (dimension, basis) = (vectors.len(), Cow::Owned(vectors));
            let name = group.name().to_string();
            let tip = format!("{name} alone: its invariant vectors have dimension {dimension}");
            self.cards.push(Card { name, tip, dimension, basis, kept: None, subspace: None });
        }
        let detail = "its invariant vectors W".to_string();
        self.sections.push(Section { heading: "each group alone".into(), detail, cards: (first..self.cards.len()).collect() });
        let left = lattice.groups().len() - (self.cards.len() - first);
        if left > 0 {
            self.notes.push(format!("Of the groups alone, {left} more are not drawn."));
        }
    }

    /// How many vectors of each card are drawn when none may show more than `most`; none when that is too much ink.
    ///
    /// With one vector a card there is always an answer: late cards go without.
    pub(super) fn shown(&self, most: usize) -> Option<Vec<usize>> {
        let mut left = self.marks;
        let mut shown = Vec::with_capacity(self.cards.len());
        for card in &self.cards {
            let mut n = 0;
            for vector in card.pick(most.min(self.vectors).min(card.dimension)) {
                let marks = self.plan.marks(vector.entries.len());
                if marks > left {
                    if most > 1 {
                        return None;
                    }
                    break;
                }
                left -= marks;
                n += 1;
            }
            shown.push(n);
        }
        Some(shown)
    }
}

/// "level 2 — invariant to 2 groups".
pub(super) fn level_in_words(level: usize) -> String {
    format!("level {level} — {}", invariant_to(level))
}

fn invariant_to(level: usize) -> String {
    if level == 0 { "invariant to no group".into() } else { format!("invariant to {}", count(level, "group")) }
}

fn title(lattice: &Lattice, options: &DiagramOptions) -> String {
    options.title.clone().unwrap_or_else(|| format!("Invariant subspaces of shape {}", lattice.shape()))
}

/// One sentence on what there is.
pub(super) fn summary(lattice: &Lattice) -> String {
    let subspaces = count(lattice.subspaces().len(), "subspace");
    let groups = count(lattice.groups().len(), "candidate group");
    let d = lattice.shape().len();
    let together: usize = lattice.subspaces().iter().map(invar_algebra::Subspace::dimension).sum();
    match lattice.options().mode {
        Mode::Paper => {
            format!("{groups} on tensors of shape {}: {subspaces} whose dimensions sum to {together}.", lattice.shape())
        }
        Mode::Complete => {
            let overlap = if together > d { ", so some overlap" } else { "" };
            let shape = lattice.shape();
            format!("{groups} on tensors of shape {shape}: all {subspaces}; dimensions sum to {together} of {d}{overlap}.")
        }
    }
}

/// A basis of W of one group: one indicator per orbit where there are orbits.
fn eigenspace(group: &Group, options: &Options) -> Vec<SparseVector<f64>> {
    if let Some(orbits) = group.orbits() {
        let indicator = |entries: Vec<usize>| SparseVector {
            values: entries.iter().map(|&entry| if orbits.is_reversed(entry) { -1.0 } else { 1.0 }).collect(),
            entries: entries.into_iter().map(|entry| entry as u32).collect(),
        };
        let alive = orbits.members().into_iter().enumerate().filter(|(orbit, _)| !orbits.is_cancelled(*orbit));
        return alive.map(|(_, entries)| indicator(entries)).collect();
    }
    // With one candidate, the subspace invariant to it is all of W.
    let alone = Lattice::new(vec![group.clone()], options).ok();
    let space = alone.as_ref().and_then(|lattice| lattice.subspaces().iter().find(|subspace| subspace.level() == 1));
    space.map_or_else(Vec::new, |space| space.basis().to_vec())
}

/// Dimension of W of one group.
pub(super) fn eigenspace_dimension(group: &Group, options: &Options) -> usize {
    group.orbits().map_or_else(|| eigenspace(group, options).len(), |orbits| orbits.invariant_dimension())
}

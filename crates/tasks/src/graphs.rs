//! Random attributed graphs as adjacency tensors: nodes in canonical order in training, relabelled in the test set.

use std::cmp::Ordering;

use invar_algebra::{Group, GroupSet, Shape, candidates};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::causal::{Base, Causal, Draw};
use crate::error::{Error, Result};
use crate::examples::{Examples, Pairs, Split};
use crate::graph_task::GraphTask;
use crate::partition::Partition;
use crate::random::{Stream, stream};
use crate::sizes::Sizes;

/// Every pair of nodes is a candidate group on n x n x c entries: beyond this they take too much memory.
const MAX_NODES: usize = 64;
/// The same, for the number of entries of one graph.
const MAX_ENTRIES: usize = 1 << 14;

/// A graph task with its sizes.
///
/// A graph is a tensor n x n x c. Channel k < `edge_kinds` has a 1 at (i, j) and (j, i) for every edge of kind k; an edge
/// has one kind. Channel `edge_kinds` + l has a 1 on the diagonal, at (i, i), for every node of kind l.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `nodes` | 8, for `triangles` 4 | n | 2 (`degree`, `triangles`: 3) to 64, n x n x c at most 16,384 |
/// | `edge_kinds` | 2 | kinds of edges | at least 1 |
/// | `node_kinds` | 2 | kinds of nodes | 0 for none |
/// | `edge_probability` | 0.4 | each pair of nodes is joined with it | above 0, below 1 |
/// | `kind` | 0 | the kind of edges that `edges` counts | below `edge_kinds` |
/// | `sizes` | 8,000 and 2,000 | numbers of examples | see [`Sizes`] |
/// | `draw` | `NonIdentity` | how counterfactual graphs draw from G_I | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graphs {
    /// What to compute.
    pub task: GraphTask,
    /// Number of nodes n.
    #[serde(default = "default_nodes")]
    pub nodes: usize,
    /// Number of kinds of edges.
    #[serde(default = "default_kinds")]
    pub edge_kinds: usize,
    /// Number of kinds of nodes.
    #[serde(default = "default_kinds")]
    pub node_kinds: usize,
    /// Probability that two nodes are joined.
    #[serde(default = "default_probability")]
    pub edge_probability: f64,
    /// The kind of edges that are counted.
    #[serde(default)]
    pub kind: usize,
    /// Numbers of examples.
    #[serde(default)]
    pub sizes: Sizes,
    /// How counterfactual graphs draw from G_I.
    #[serde(default)]
    pub draw: Draw,
}

fn default_nodes() -> usize {
    8
}

fn default_kinds() -> usize {
    2
}

fn default_probability() -> f64 {
    0.4
}

impl Graphs {
    /// The task in default sizes.
    pub fn new(task: GraphTask) -> Self {
        Self {
            task,
            // An equivariant lift looks at a graph from every side: that can be done for few nodes.
            nodes: if task.needs_lift() { 4 } else { default_nodes() },
            edge_kinds: default_kinds(),
            node_kinds: default_kinds(),
            edge_probability: default_probability(),
            kind: 0,
            sizes: Sizes::default(),
            draw: Draw::default(),
        }
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<()> {
        self.task.check(self.nodes)?;
        if self.nodes > MAX_NODES {
            let expected = format!("at most {MAX_NODES}: every pair of nodes is a candidate group");
            return Err(Error::parameter("number of nodes", expected, self.nodes));
        }
        if self.edge_kinds == 0 {
            return Err(Error::parameter("number of edge kinds", "at least 1", 0));
        }
        let most = MAX_ENTRIES / (self.nodes * self.nodes);
        let channels = self.edge_kinds.saturating_add(self.node_kinds);
        if channels > most {
            let expected = format!("at most {most} for {} nodes", self.nodes);
            return Err(Error::parameter("number of kinds of edges and nodes", expected, channels));
        }
        if !(self.edge_probability > 0.0 && self.edge_probability < 1.0) {
            return Err(Error::parameter("edge probability", "above 0 and below 1", self.edge_probability));
        }
        if self.kind >= self.edge_kinds {
            return Err(Error::parameter("kind of edges to count", format!("below {}, from 0", self.edge_kinds), self.kind));
        }
        self.sizes.check(self.width())
    }

    /// Number of channels c.
    pub fn channels(&self) -> usize {
        self.edge_kinds + self.node_kinds
    }

    /// Number of entries of one graph.
    fn width(&self) -> usize {
        self.nodes * self.nodes * self.channels()
    }

    /// The shape of one graph: n x n x c.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&[self.nodes, self.nodes, self.channels()])?)
    }

    /// The candidate symmetries in shorthand: every exchange of two nodes.
    pub fn candidates(&self) -> Vec<&'static str> {
        vec!["node_swaps(0,1)"]
    }

    /// The candidate groups.
    pub fn groups(&self) -> Result<Vec<Group>> {
        self.check()?;
        Ok(candidates(&self.shape()?, self.candidates())?)
    }

    /// The true symmetry as blocks of nodes that can be exchanged.
    pub fn partition(&self) -> Partition {
        self.task.symmetry(self.nodes)
    }

    /// The true symmetry I, over the candidates.
    pub fn symmetry(&self) -> GroupSet {
        self.partition().swaps()
    }

    /// D, the groups that act on the data and matter to the target: none.
    pub fn depends(&self) -> GroupSet {
        GroupSet::empty()
    }

    /// The target of one graph.
    pub fn target(&self, x: &[f32]) -> f32 {
        self.task.target(x, self.nodes, self.channels(), self.edge_kinds, self.kind)
    }

    /// Training, validation and test data.
    pub fn generate(&self, seed: u64) -> Result<Split<f32>> {
        self.check()?;
        let causal = self.causal()?;
        let all = self.base(self.sizes.examples, &mut stream(seed, Stream::TrainBase));
        let test = self.base(self.sizes.test, &mut stream(seed, Stream::TestBase));
        let made = causal.generate(&all, &test, |base: Base<'_, f32>, _| base.label, seed)?;
        Ok(self.sizes.split(&made.train, made.test, &mut stream(seed, Stream::Shuffle)))
    }

    /// Coupled pairs for the consistency of a model: a graph in canonical order, and the same relabelled by G_I.
    ///
    /// They are drawn apart from the training and test sets.
    pub fn pairs(&self, count: usize, seed: u64) -> Result<Pairs<f32>> {
        self.check()?;
        Sizes::check_pairs(count, self.width())?;
        let base = self.base(count, &mut stream(seed, Stream::PairBase));
        self.causal()?.pairs(&base, |base, _| base.label, seed)
    }

    fn causal(&self) -> Result<Causal> {
        let causal = Causal::new(&self.shape()?, &self.groups()?, &self.symmetry(), &self.depends())?;
        Ok(causal.with_draw(self.draw))
    }

    /// X(hid): random graphs with nodes in canonical order.
    fn base(&self, count: usize, rng: &mut ChaCha8Rng) -> Examples<f32> {
        let mut base = Examples::with_capacity(self.width(), count);
        for _ in 0..count {
            let x = self.relabelled(&Graph::random(self, rng));
            base.push(&x, self.target(&x));
        }
        base
    }

    /// The tensor of a graph with its nodes in canonical order; nodes that the task tells apart stay where they are.
    fn relabelled(&self, graph: &Graph) -> Vec<f32> {
        let mut order: Vec<usize> = (0..self.nodes).collect();
        for block in self.partition().blocks() {
            let mut nodes = block.clone();
            nodes.sort_by(|&a, &b| graph.canonical(a, b));
            block.iter().zip(nodes).for_each(|(&place, node)| order[place] = node);
        }
        let mut x = vec![0.0; self.width()];
        let at = |i: usize, j: usize, channel: usize| (i * self.nodes + j) * self.channels() + channel;
        for (i, &a) in order.iter().enumerate() {
            for (j, &b) in order.iter().enumerate() {
                if let Some(kind) = graph.edges[a * self.nodes + b] {
                    x[at(i, j, kind)] = 1.0;
                }
            }
            if let Some(kind) = graph.kinds[a] {
                x[at(i, i, self.edge_kinds + kind)] = 1.0;
            }
        }
        x
    }
}

/// A graph before it becomes a tensor.
struct Graph {
    /// The kind of the edge between i and j at i n + j, if there is one.
    edges: Vec<Option<usize>>,
    /// The kind of every node, if nodes have kinds.
    kinds: Vec<Option<usize>>,
}

impl Graph {
    fn random(task: &Graphs, rng: &mut ChaCha8Rng) -> Self {
        let n = task.nodes;
        let mut edges = vec![None; n * n];
        for i in 0..n {
            for j in i + 1..n {
                if rng.random_bool(task.edge_probability) {
                    let kind = Some(rng.random_range(0..task.edge_kinds));
                    (edges[i * n + j], edges[j * n + i]) = (kind, kind);
                }
            }
        }
        let kinds = (0..n).map(|_| (task.node_kinds > 0).then(|| rng.random_range(0..task.node_kinds))).collect();
        Self { edges, kinds }
    }

    /// The canonical order: highest degree first, then by kind of node, then as drawn.
    fn canonical(&self, a: usize, b: usize) -> Ordering {
        let n = self.kinds.len();
        let degree = |i: usize| self.edges[i * n..(i + 1) * n].iter().flatten().count();
        degree(b).cmp(&degree(a)).then(self.kinds[a].cmp(&self.kinds[b])).then(a.cmp(&b))
    }
}

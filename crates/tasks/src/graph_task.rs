//! The graph tasks: what is computed from an attributed graph, and which relabellings leave it alone.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::partition::Partition;

/// A number to compute from an undirected graph whose edges have one kind each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphTask {
    /// Number of edges of a given kind: invariant to all node permutations.
    Edges,
    /// Degree of node 0, edges of any kind: invariant to the permutations that fix node 0.
    Degree,
    /// Number of triangles, edges of any kind: invariant to all node permutations, but no invariant linear layer sees it.
    Triangles,
}

impl GraphTask {
    /// All tasks.
    pub const ALL: [Self; 3] = [Self::Edges, Self::Degree, Self::Triangles];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Degree => "degree",
            Self::Triangles => "triangles",
        }
    }

    /// What is computed and what may be exchanged, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Edges => "number of edges of one kind; any two nodes can be exchanged",
            Self::Degree => "degree of node 0; any two other nodes can be exchanged",
            Self::Triangles => "number of triangles; any two nodes can be exchanged; needs an equivariant lift",
        }
    }

    /// Whether a network whose first layer is linear and invariant cannot express the target: products of entries are
    /// needed, which an equivariant lift in front of the invariant layer provides.
    pub fn needs_lift(self) -> bool {
        self == Self::Triangles
    }

    /// Y, from the adjacency tensor n x n x c whose first `edge_kinds` channels are edges; `kind` is the one counted.
    pub fn target(self, x: &[f32], nodes: usize, channels: usize, edge_kinds: usize, kind: usize) -> f32 {
        let entry = |i: usize, j: usize, k: usize| x[(i * nodes + j) * channels + k];
        let joined = |i: usize, j: usize| (0..edge_kinds).any(|k| entry(i, j, k) != 0.0);
        let pairs = || (0..nodes).flat_map(move |i| (i + 1..nodes).map(move |j| (i, j)));
        let count = match self {
            Self::Edges => pairs().filter(|&(i, j)| entry(i, j, kind) != 0.0).count(),
            Self::Degree => (1..nodes).filter(|&j| joined(0, j)).count(),
            Self::Triangles => {
                let third = |i: usize, j: usize| (j + 1..nodes).filter(|&k| joined(i, k) && joined(j, k)).count();
                pairs().filter(|&(i, j)| joined(i, j)).map(|(i, j)| third(i, j)).sum()
            }
        };
        count as f32
    }

    /// The true symmetry as blocks of nodes that can be exchanged.
    pub fn symmetry(self, nodes: usize) -> Partition {
        match self {
            Self::Edges | Self::Triangles => Partition::whole(nodes),
            Self::Degree => Partition::all_but(nodes, 0),
        }
    }

    pub(crate) fn check(self, nodes: usize) -> Result<()> {
        let (fewest, why) = match self {
            Self::Edges => (2, "an edge joins two nodes"),
            Self::Degree => (3, "with two nodes both have the same degree"),
            Self::Triangles => (3, "a triangle has three nodes"),
        };
        if nodes < fewest {
            return Err(Error::parameter("number of nodes", format!("at least {fewest} for {}: {why}", self.name()), nodes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_by_hand() {
        // Kind 0: 0-1, 1-2. Kind 1: 0-2, 2-3. One triangle 0-1-2; node 0 has degree 2. Channel 2 marks nodes.
        let (n, c) = (4, 3);
        let mut x = vec![0.0; n * n * c];
        for (i, j, k) in [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 1)] {
            x[(i * n + j) * c + k] = 1.0;
            x[(j * n + i) * c + k] = 1.0;
        }
        (0..n).for_each(|i| x[(i * n + i) * c + 2] = 1.0);
        let target = |task: GraphTask, kind| task.target(&x, n, c, 2, kind);
        assert_eq!(target(GraphTask::Edges, 0), 2.0);
        assert_eq!(target(GraphTask::Edges, 1), 2.0);
        assert_eq!(target(GraphTask::Degree, 0), 2.0);
        assert_eq!(target(GraphTask::Triangles, 0), 1.0);
        // Without the edge 2-3 only kind 1 loses one.
        (x[(2 * n + 3) * c + 1], x[(3 * n + 2) * c + 1]) = (0.0, 0.0);
        let target = |task: GraphTask, kind| task.target(&x, n, c, 2, kind);
        assert_eq!((target(GraphTask::Edges, 0), target(GraphTask::Edges, 1)), (2.0, 1.0));
        assert_eq!((target(GraphTask::Degree, 0), target(GraphTask::Triangles, 0)), (2.0, 1.0));
        // The complete graph on four nodes has four triangles.
        let complete: Vec<f32> = (0..n * n).map(|e| if e / n == e % n { 0.0 } else { 1.0 }).collect();
        assert_eq!(GraphTask::Triangles.target(&complete, n, 1, 1, 0), 4.0);
    }
}

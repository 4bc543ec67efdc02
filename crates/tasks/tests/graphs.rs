//! The graph tasks: adjacency tensors are graphs, training is in canonical order, targets have the true symmetry.
#![allow(clippy::float_cmp, reason = "targets are whole numbers")]

use invar_tasks::{GraphTask, Graphs, Sizes};

fn small(task: GraphTask) -> Graphs {
    Graphs { nodes: 6, sizes: Sizes { examples: 300, validation: 0.2, test: 200 }, ..Graphs::new(task) }
}

struct View<'a>(&'a Graphs, &'a [f32]);

impl View<'_> {
    fn at(&self, i: usize, j: usize, k: usize) -> f32 {
        self.1[(i * self.0.nodes + j) * self.0.channels() + k]
    }

    fn degrees(&self) -> Vec<usize> {
        let n = self.0.nodes;
        let joined = |i, j| (0..self.0.edge_kinds).any(|k| self.at(i, j, k) == 1.0);
        (0..n).map(|i| (0..n).filter(|&j| joined(i, j)).count()).collect()
    }
}

#[test]
fn tensors_are_undirected_graphs_with_one_kind_each() {
    for task in GraphTask::ALL {
        let spec = small(task);
        let data = spec.generate(0).unwrap();
        assert_eq!(data.train.width, spec.shape().unwrap().len());
        for (x, y) in data.train.iter().chain(data.test.iter()) {
            let view = View(&spec, x);
            assert_eq!(spec.target(x), y);
            for i in 0..spec.nodes {
                for j in 0..spec.nodes {
                    let edges: f32 = (0..2).map(|k| view.at(i, j, k)).sum();
                    let kinds: f32 = (2..4).map(|k| view.at(i, j, k)).sum();
                    assert!((0..4).all(|k| view.at(i, j, k) == view.at(j, i, k)));
                    assert!(if i == j { edges == 0.0 && kinds == 1.0 } else { edges <= 1.0 && kinds == 0.0 });
                }
            }
        }
    }
}

#[test]
fn training_is_in_canonical_order_and_the_test_set_is_not() {
    for task in GraphTask::ALL {
        let spec = small(task);
        let data = spec.generate(1).unwrap();
        let from = usize::from(task == GraphTask::Degree);
        let sorted = |x: &[f32]| View(&spec, x).degrees()[from..].is_sorted_by(|a, b| a >= b);
        assert!(data.train.iter().chain(data.validation.iter()).all(|(x, _)| sorted(x)), "{}", task.name());
        let share = data.test.iter().filter(|(x, _)| sorted(x)).count();
        assert!(share < 60, "{}: {share} of 200 test graphs are in canonical order", task.name());
        // Node 0 of the degree task is any node, not the one of highest degree.
        if task == GraphTask::Degree {
            let first = |x: &[f32]| View(&spec, x).degrees().iter().all(|&d| d <= View(&spec, x).degrees()[0]);
            assert!(data.train.iter().filter(|(x, _)| first(x)).count() < data.train.len() / 2);
        }
    }
}

#[test]
fn the_true_symmetry_is_exactly_that() {
    for task in GraphTask::ALL {
        let spec = small(task);
        let groups = spec.groups().unwrap();
        assert_eq!((groups.len(), spec.candidates()), (15, vec!["node_swaps(0,1)"]));
        let data = spec.generate(2).unwrap();
        for (k, group) in groups.iter().enumerate() {
            let changed = data.test.iter().any(|(x, y)| {
                let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
                let mut moved = vec![0.0; x.len()];
                group.generators()[0].apply(&x, &mut moved);
                let moved: Vec<f32> = moved.into_iter().map(|v| v as f32).collect();
                spec.target(&moved) != y
            });
            assert_eq!(changed, !spec.symmetry().contains(k), "{}: {}", task.name(), group.name());
        }
    }
}

#[test]
fn coupled_pairs_are_the_same_graph_relabelled() {
    for task in GraphTask::ALL {
        let spec = small(task);
        let pairs = spec.pairs(100, 3).unwrap();
        assert_eq!(pairs.observed.targets, pairs.counterfactual.targets);
        for ((x, y), (cf, _)) in pairs.observed.iter().zip(pairs.counterfactual.iter()) {
            let sorted = |x: &[f32]| {
                let mut degrees = View(&spec, x).degrees();
                degrees.sort_unstable();
                degrees
            };
            assert_eq!(sorted(x), sorted(cf));
            assert_eq!(spec.target(cf), y);
        }
        let moved = pairs.observed.iter().zip(pairs.counterfactual.iter()).filter(|((x, _), (cf, _))| x != cf).count();
        assert!(moved > 90, "{moved}");
    }
}

#[test]
fn the_seed_decides_everything() {
    for task in GraphTask::ALL {
        let spec = small(task);
        assert_eq!(spec.generate(4).unwrap(), spec.generate(4).unwrap());
        assert_ne!(spec.generate(4).unwrap().train, spec.generate(5).unwrap().train);
        assert_ne!(spec.generate(4).unwrap().test, spec.generate(5).unwrap().test);
    }
}

#[test]
fn only_triangles_need_the_lift() {
    assert_eq!(GraphTask::ALL.map(GraphTask::needs_lift), [false, false, true]);
}

#[test]
fn impossible_graphs_say_what_is_possible() {
    let of = Graphs::new;
    for (spec, message) in [
        (
            Graphs { nodes: 0, ..of(GraphTask::Edges) },
            "number of nodes must be at least 2 for edges: an edge joins two nodes, got 0",
        ),
        (Graphs { nodes: 2, ..of(GraphTask::Degree) }, "at least 3 for degree"),
        (Graphs { nodes: 2, ..of(GraphTask::Triangles) }, "at least 3 for triangles"),
        (Graphs { nodes: 65, ..of(GraphTask::Edges) }, "at most 64"),
        (Graphs { edge_kinds: 0, ..of(GraphTask::Edges) }, "number of edge kinds must be at least 1, got 0"),
        (Graphs { node_kinds: usize::MAX, ..of(GraphTask::Edges) }, "at most 256 for 8 nodes"),
        (Graphs { edge_probability: 0.0, ..of(GraphTask::Edges) }, "edge probability must be above 0 and below 1, got 0"),
        (Graphs { edge_probability: f64::NAN, ..of(GraphTask::Edges) }, "got NaN"),
        (Graphs { kind: 2, ..of(GraphTask::Edges) }, "kind of edges to count must be below 2, from 0, got 2"),
    ] {
        let error = spec.generate(0).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn sizes_at_the_edges_work() {
    let sizes = Sizes { examples: 2, validation: 0.5, test: 1 };
    let least = Graphs { nodes: 2, edge_kinds: 1, node_kinds: 0, sizes, ..Graphs::new(GraphTask::Edges) };
    assert_eq!(least.generate(0).unwrap().train.width, 4);
    let most = Graphs { nodes: 64, sizes, ..Graphs::new(GraphTask::Degree) };
    assert_eq!(most.generate(0).unwrap().train.width, 64 * 64 * 4);
    let spec: Graphs = toml::from_str("task = \"degree\"\nnodes = 5").unwrap();
    assert_eq!(spec, Graphs { nodes: 5, ..Graphs::new(GraphTask::Degree) });
}

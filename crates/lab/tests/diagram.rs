//! The diagram is well-formed, complete, bounded, and safe with names that users choose.

use invar_algebra::{GroupSet, Lattice, Mode, Options, candidates};
use invar_lab::diagram::{DiagramOptions, html, svg};
use roxmltree::{Document, Node};

fn lattice(shape: &str, groups: &[&str], mode: Mode) -> Lattice {
    let groups = candidates(&shape.parse().unwrap(), groups.iter().copied()).unwrap();
    Lattice::new(groups, &Options { mode, ..Options::default() }).unwrap()
}

fn paper(shape: &str, groups: &[&str]) -> Lattice {
    lattice(shape, groups, Mode::Paper)
}

fn attributes(document: &Document, name: &str) -> Vec<String> {
    document.descendants().filter_map(|node| node.attribute(name)).map(str::to_string).collect()
}

fn text(document: &Document) -> String {
    document.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect::<Vec<_>>().join("\n")
}

/// All text in one line.
fn words(document: &Document) -> String {
    text(document).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The diagrams in a page; everything else there is HTML.
fn pictures(page: &str) -> Vec<&str> {
    page.match_indices("<svg").map(|(at, _)| &page[at..at + page[at..].find("</svg>").unwrap() + 6]).collect()
}

#[test]
fn every_subspace_and_edge_appears() {
    let examples: [(&str, &[&str], Mode); 7] = [
        ("3x3x3", &["rot90(1,2)", "permute(0)"], Mode::Paper),
        ("3x3x3", &["rot90(1,2)", "flip(1)", "permute(0)"], Mode::Paper),
        ("5", &["swaps(0)"], Mode::Paper),
        ("5", &["swaps(0)"], Mode::Complete),
        ("10", &["swaps(0)"], Mode::Paper),
        ("4x4", &["node_swaps(0,1)"], Mode::Complete),
        ("2", &["negate"], Mode::Paper),
    ];
    for (shape, groups, mode) in examples {
        let lattice = lattice(shape, groups, mode);
        let options = DiagramOptions { eigenspaces: true, ..DiagramOptions::default() };
        let (alone, page) = (svg(&lattice, &options), html(&lattice, &options));
        for picture in std::iter::once(alone.as_str()).chain(pictures(&page)) {
            let document = Document::parse(picture).unwrap();
            let mut subspaces: Vec<usize> =
                attributes(&document, "data-subspace").iter().map(|number| number.parse().unwrap()).collect();
            subspaces.sort_unstable();
            assert_eq!(subspaces, (0..lattice.subspaces().len()).collect::<Vec<_>>(), "{groups:?} on {shape}");
            let edges: Vec<String> = lattice.hasse_edges().iter().map(|(upper, lower)| format!("{upper}-{lower}")).collect();
            assert_eq!(attributes(&document, "data-edge"), edges, "{groups:?} on {shape}");
            for subspace in lattice.subspaces() {
                assert!(text(&document).contains(&format!("dim {}", subspace.dimension())));
                assert!(text(&document).contains(&format!("level {}", subspace.level())));
            }
            let ids = attributes(&document, "id");
            assert!(attributes(&document, "href").iter().all(|target| ids.contains(&target[1..].to_string())));
        }
    }
}

#[test]
fn cards_do_not_overlap_and_stay_inside() {
    for (shape, groups) in [("3x3x3", vec!["rot90(1,2)", "flip(1)", "permute(0)"]), ("6x6", vec!["node_swaps(0,1)"])] {
        let page = html(&paper(shape, &groups), &DiagramOptions::default());
        for picture in pictures(&page) {
            let document = Document::parse(picture).unwrap();
            let number = |node: &Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let root = document.root_element();
            let boxes: Vec<[f64; 4]> = (document.descendants().filter(|node| node.attribute("class") == Some("box")))
                .map(|node| ["x", "y", "width", "height"].map(|name| number(&node, name)))
                .collect();
            for (k, [x, y, w, h]) in boxes.iter().enumerate() {
                assert!(*x >= 0.0 && *y >= 0.0 && x + w <= number(&root, "width") && y + h <= number(&root, "height"));
                let apart = |[a, b, c, d]: &[f64; 4]| x + w < *a || a + c < *x || y + h < *b || b + d < *y;
                assert!(boxes[..k].iter().all(apart), "two cards overlap");
            }
        }
    }
}

#[test]
fn names_are_escaped() {
    let groups = candidates(&"3x3".parse().unwrap(), ["rot90(0,1)", "flip(0)"]).unwrap();
    let evil = "a<b&\"c\"'</svg><script>\u{0}";
    let groups = groups.into_iter().enumerate().map(|(k, group)| group.named(format!("{evil}{k}"))).collect();
    let lattice = Lattice::new(groups, &Options::default()).unwrap();
    let options = DiagramOptions { title: Some(evil.into()), eigenspaces: true, ..DiagramOptions::default() };
    let picture = svg(&lattice, &options);
    let document = Document::parse(&picture).unwrap();
    assert!(text(&document).contains("a<b&\"c\"'</svg><script>\u{fffd}1"));
    assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
    let page = html(&lattice, &options);
    assert!(!page.contains("<script") && page.contains("a&lt;b&amp;&quot;c&quot;"));
}

#[test]
fn files_stay_small() {
    for (shape, groups, mode) in [
        ("12x12", vec!["node_swaps(0,1)"], Mode::Paper),
        ("7", vec!["swaps(0)"], Mode::Complete),
        ("100", vec!["swaps(0)"], Mode::Paper),
        ("3x64x64", vec!["rot90(1,2)", "flip(1)", "permute(0)"], Mode::Paper),
        ("64x8x8", vec!["rot90(1,2)", "flip(1)"], Mode::Complete),
    ] {
        let lattice = lattice(shape, &groups, mode);
        let options = DiagramOptions { eigenspaces: true, ..DiagramOptions::default() };
        let (picture, page) = (svg(&lattice, &options), html(&lattice, &options));
        assert!(picture.len() < 1_000_000 && page.len() < 1_000_000, "{shape}: {} and {}", picture.len(), page.len());
        Document::parse(&picture).unwrap();
    }
}

#[test]
fn limits_leave_notes() {
    let lattice = paper("6x6", &["node_swaps(0,1)"]);
    let options = DiagramOptions { max_nodes: 10, max_edges: 3, max_vectors: 1, ..DiagramOptions::default() };
    let picture = svg(&lattice, &options);
    let document = Document::parse(&picture).unwrap();
    let left = lattice.subspaces().len() - 10;
    assert_eq!(attributes(&document, "data-subspace").len(), 10);
    assert!(attributes(&document, "data-edge").is_empty());
    let words = words(&document);
    assert!(words.contains(&format!("{left} more subspaces of less invariance are not drawn.")), "{words}");
    assert!(words.contains("edges of the order are left out") && words.contains("+ 1 more"), "{words}");
}

#[test]
fn kept_groups_are_highlighted() {
    let lattice = paper("3x3x3", &["rot=rot90(1,2)", "color=permute(0)"]);
    let options = DiagramOptions { kept: Some(GroupSet::empty().with(0)), ..DiagramOptions::default() };
    let picture = svg(&lattice, &options);
    assert_eq!((picture.matches("card kept").count(), picture.matches("card past").count()), (2, 2));
    assert!(words(&Document::parse(&picture).unwrap()).contains("Outlined: invariant to {rot} at least."));
}

#[test]
fn groups_of_matrices_have_eigenspaces() {
    // A swap seen through a shear, exact and real: its invariant weights are the multiples of (1, 0).
    for generators in ["g=generators([[[1,0],[1,-1]]])", "g=generators([[[1.0,0.0],[1.0,-1.0]]])"] {
        let options = DiagramOptions { eigenspaces: true, ..DiagramOptions::default() };
        let picture = svg(&paper("2", &[generators]), &options);
        assert!(picture.contains("g alone: its invariant vectors have dimension 1"));
    }
}

#[test]
fn output_is_deterministic_and_self_contained() {
    let draw = || html(&paper("4x4", &["node_swaps(0,1)"]), &DiagramOptions::default());
    let page = draw();
    assert_eq!(page, draw());
    let addresses = page.matches("http").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    for part in ["role=\"img\"", "<desc>", "prefers-color-scheme:dark", "<th scope=\"col\">level</th>", "all but node 1"] {
        assert!(page.contains(part), "{part}");
    }
}

/// What the 3x3 example says, top to bottom: a change here is a change that readers see.
#[test]
fn words_of_the_3x3_example() {
    let picture = svg(&paper("3x3", &["rot90(0,1)", "flip(0)"]), &DiagramOptions::default());
    let document = Document::parse(&picture).unwrap();
    let words: Vec<&str> = (document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text"))))
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(
        words,
        [
            "Invariant subspaces of shape 3x3",
            "level 2",
            "invariant to 2 groups",
            "level 1",
            "invariant to 1 group",
            "level 0",
            "invariant to no group",
            "{rot90(0,1), flip(0)}",
            "dim 3",
            "{flip(0)}",
            "dim 3",
            "{ } no group",
            "dim 3",
            "Each small picture is one basis vector: 3×3 entries. An edge leads",
            "from a set of groups down to the next smaller ones.",
            "−",
            "0",
            "+",
        ]
    );
    // Three vectors a node; the four corners of the first are of one colour.
    assert_eq!(picture.matches("<use href=\"#iv1-3-3-18\" ").count(), 9);
    assert!(picture.contains("<path class=\"p8\" d=\"M0 0h4v4h-4zM8 0h4v4h-4zM0 8h4v4h-4zM8 8h4v4h-4z\"/>"));
}

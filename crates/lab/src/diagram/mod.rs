//! The Hasse diagram of a lattice of invariant subspaces, as SVG and as a web page of its own.
//!
//! Levels run from most invariant (top) to least; a node shows its set of groups, its dimension, and its basis vectors as
//! small pictures. The modules follow the data: what there is to show (`scene`), where it goes (`layout`, `route`), and
//! how it is written (`svg`, `html`).

mod colour;
mod glyph;
mod names;
mod text;

mod scene;

mod layout;
mod route;

mod html;
mod svg;

use invar_algebra::{GroupSet, Lattice};

use scene::Scene;

/// What a diagram shows and how much of it. The limits keep files below about a megabyte.
///
/// | Name | Default | Purpose |
/// |---|---|---|
/// | `title` | none | heading; "Invariant subspaces of shape ..." otherwise |
/// | `eigenspaces` | false | adds each group's own space of invariant vectors |
/// | `kept` | none | outlines the subspaces invariant to these groups and fades the others |
/// | `max_nodes` | 400 | most subspaces drawn |
/// | `max_vectors` | 12 | most basis vectors drawn in a node |
/// | `max_edges` | 200 | beyond, edges are left out with a note |
/// | `max_eigenspaces` | 12 | most groups drawn alone |
/// | `max_names` | 6 | most groups named in a node |
/// | `max_marks` | 16000 | most coloured rectangles of all vectors together |
#[derive(Debug, Clone, PartialEq)]
pub struct DiagramOptions {
    /// The heading; by default it names the shape.
    pub title: Option<String>,
    /// Whether each group's own space of invariant vectors W is shown below the lattice.
    pub eigenspaces: bool,
    /// Groups whose invariance was kept: the subspaces that have it are outlined, the others fade.
    pub kept: Option<GroupSet>,
    /// Most subspaces drawn; the most invariant come first.
    pub max_nodes: usize,
    /// Most basis vectors drawn in a node. Crowded diagrams show fewer.
    pub max_vectors: usize,
    /// Most edges drawn; if there are more, or a level has more than 30 nodes, none is.
    pub max_edges: usize,
    /// Most groups shown alone.
    pub max_eigenspaces: usize,
    /// Most groups named in a node before "… 3 more".
    pub max_names: usize,
    /// Most coloured rectangles of all vectors together, in each picture.
    pub max_marks: usize,
}

impl Default for DiagramOptions {
    fn default() -> Self {
        Self {
            title: None,
            eigenspaces: false,
            kept: None,
            max_nodes: 400,
            max_vectors: 12,
            max_edges: 200,
            max_eigenspaces: 12,
            max_names: 6,
            max_marks: 16_000,
        }
    }
}

/// The Hasse diagram as an SVG document.
///
/// ```
/// use invar_algebra::{Lattice, Options, Shape, candidates};
/// use invar_lab::diagram::{self, DiagramOptions};
///
/// let shape: Shape = "3x3x3".parse()?;
/// let lattice = Lattice::new(candidates(&shape, ["rot=rot90(1,2)", "color=permute(0)"])?, &Options::default())?;
/// let picture = diagram::svg(&lattice, &DiagramOptions::default());
/// assert!(picture.starts_with("<svg") && picture.contains("{rot, color}") && picture.contains("dim 12"));
/// # Ok::<(), invar_algebra::Error>(())
/// ```
pub fn svg(lattice: &Lattice, options: &DiagramOptions) -> String {
    let scene = Scene::new(lattice, options);
    let mut picture = svg::write(&scene, &layout::arrange(&scene, &layout::WIDE), svg::Place::Alone);
    picture.push('\n');
    picture
}

/// The Hasse diagram as one web page that needs nothing else: the picture, in a wide and a narrow form, and all of it again
/// as tables.
pub fn html(lattice: &Lattice, options: &DiagramOptions) -> String {
    html::write(lattice, options)
}

/// The Hasse diagram as a part of another page, which has [`page_style`].
pub(crate) fn figure(lattice: &Lattice, options: &DiagramOptions) -> String {
    html::figure(&Scene::new(lattice, options))
}

/// The colours, fonts and rules that a page with a diagram needs.
pub(crate) fn page_style() -> String {
    format!("{}{}body{{font-family:{}}}{}", colour::page_variables(), colour::style(), colour::FONTS, html::FIGURE_STYLE)
}

pub(crate) use text::escape;

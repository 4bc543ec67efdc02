//! Hasse diagrams.
/// Options.
#[derive(Debug, Default)]
pub struct DiagramOptions {
    /// Title.
    pub title: Option<String>,
    /// Also W.
    pub eigenspaces: bool,
}
/// SVG.
pub fn svg(_: &invar_algebra::Lattice, _: &DiagramOptions) -> String {
    String::new()
}
/// HTML.
pub fn html(_: &invar_algebra::Lattice, _: &DiagramOptions) -> String {
    String::new()
}

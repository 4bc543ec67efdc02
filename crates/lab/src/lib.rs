//! Experiments, records and reports.

pub mod files;
pub mod diagram {
    //! stub during development
    #[derive(Default)]
    pub struct DiagramOptions {
        pub eigenspaces: bool,
        pub title: Option<String>,
    }
    pub fn svg(_: &invar_algebra::Lattice, _: &DiagramOptions) -> String {
        String::new()
    }
    pub fn html(_: &invar_algebra::Lattice, _: &DiagramOptions) -> String {
        String::new()
    }
}

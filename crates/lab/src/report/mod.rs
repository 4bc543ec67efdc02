//! The report on a run: one web page that needs nothing else.
//!
//! `page` puts the sections together, `sections` writes them, `chart` draws learning curves, `style` has the looks. Everything that
//! comes from the user is escaped.

mod chart;
mod sections;
mod style;

use invar_algebra::{GroupSet, Lattice, Options, Shape};

use crate::diagram::{self, DiagramOptions, escape};
use crate::error::Result;
use crate::project::Run;

/// What was proved, or found, about one symmetry of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The symmetry.
    pub symmetry: String,
    /// Whether the model claims to keep it.
    pub kept: bool,
    /// Whether that could be proved from its weights.
    pub proved: bool,
    /// In words: how it was proved, or what breaks it.
    pub words: String,
}

/// Writes the page. `proofs` is the certificate of the model, symmetry by symmetry.
pub fn html(run: &Run, proofs: &[Proof]) -> Result<String> {
    let title = "invar: what the model keeps";
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{}{}</style>\n</head>\n<body>\n<main>\n",
        diagram::page_style(),
        style::STYLE,
    );
    sections::head(&mut out, run);
    sections::asked(&mut out, run);
    sections::evidence(&mut out, run);
    section(&mut out, "lattice", "The subspaces", &lattice(run)?);
    sections::scores(&mut out, run);
    sections::fits(&mut out, run);
    section(&mut out, "curves", "Learning curves", &chart::curves(run));
    sections::confusion(&mut out, run);
    sections::examples(&mut out, run);
    sections::certificate(&mut out, proofs);
    sections::rerun(&mut out, run);
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(out)
}

fn section(out: &mut String, id: &str, title: &str, content: &str) {
    if !content.is_empty() {
        out.push_str(&format!("<section id=\"{id}\">\n<h2>{}</h2>\n{content}</section>\n", escape(title)));
    }
}

/// The Hasse diagram with what is kept.
fn lattice(run: &Run) -> Result<String> {
    let groups = run.weight_groups()?;
    let shape: &Shape = groups[0].shape();
    let what = if run.architecture.takes_images() {
        format!("Filters see patches of {shape}; these are the subspaces of weights on such a patch.")
    } else {
        format!("The layer that decides has weights of shape {shape}; these are their subspaces.")
    };
    let lattice = Lattice::new(groups, &Options::default())?;
    let kept: GroupSet = (0..run.symmetries.len()).filter(|&group| run.symmetries[group].kept).collect();
    let marked = if kept.is_empty() {
        "Nothing is kept: the network may use all of them."
    } else {
        "Outlined: invariant to everything that is kept, which is all the model uses. Faded: given up."
    };
    let options = DiagramOptions { kept: Some(kept), max_nodes: 120, max_marks: 6000, ..DiagramOptions::default() };
    Ok(format!("<p>{} {marked}</p>\n{}", escape(&what), diagram::figure(&lattice, &options)))
}

#[cfg(test)]
mod tests;

//! Reports: web pages that need nothing else, one on a run of a project ([`html`]), one on a screen of a built-in task ([`screen`]).
//!
//! `sections` writes the parts of the first, `evidence` what both say of each symmetry; `chart` draws, `style` has the looks. Everything that comes from the user is escaped.

mod chart;
mod evidence;
mod lattice;
mod screen;
mod sections;
mod style;

use std::fmt::Write;

use invar_algebra::Group;
use invar_program::{Member, Saved, certify};

use crate::diagram::{self, escape};
use crate::error::Result;
use crate::project::Run;
use crate::screen::Measure;

pub use screen::screen;

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

impl Proof {
    /// The certificate of a model: what can be proved about each of its candidates.
    pub fn of(saved: &Saved) -> Result<Vec<Self>> {
        let program = saved.whole()?;
        let prove = |(group, member): (Group, &Member)| {
            let found = certify(&program, &group)?;
            let words = match found.broken() {
                Some(broken) => format!("operation {} ({}): {}", broken.op, broken.name, broken.reason),
                None if found.generators.is_empty() => "it changes nothing".into(),
                None => match found.within() {
                    None => "weights that should be equal are equal to the last bit".into(),
                    Some(within) => format!("{within}, for each generator"),
                },
            };
            Ok(Self { symmetry: member.name.clone(), kept: member.kept, proved: found.is_proved(), words })
        };
        saved.groups()?.into_iter().map(prove).collect()
    }
}

/// Writes the page. `proofs` is the certificate of the model, symmetry by symmetry.
pub fn html(run: &Run, proofs: &[Proof]) -> Result<String> {
    let mut out = String::new();
    sections::head(&mut out, run);
    sections::asked(&mut out, run);
    evidence::evidence(&mut out, &sections::evidence(run));
    section(&mut out, "lattice", "The subspaces", &lattice::figures(run)?);
    sections::scores(&mut out, run);
    sections::fits(&mut out, run);
    section(&mut out, "curves", "Learning curves", &chart::curves(run));
    sections::confusion(&mut out, run);
    sections::examples(&mut out, run);
    sections::certificate(&mut out, proofs);
    sections::rerun(&mut out, run);
    Ok(page("invar: what the model keeps", &out))
}

/// A page that needs nothing else, around its content.
fn page(title: &str, content: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{}{}</style>\n</head>\n<body>\n<main>\n{content}</main>\n</body>\n</html>\n",
        diagram::page_style(),
        style::STYLE,
    )
}

/// What costs are, in words.
fn cost_unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Accuracy => "percentage points of accuracy",
        Measure::RSquared { .. } => "percent of the error that is left with nothing imposed",
    }
}

/// How many were kept, as a title.
fn headline(kept: usize, all: usize) -> String {
    match kept {
        0 => "No symmetry was kept".into(),
        _ if kept == all => format!("All {all} candidate symmetries were kept"),
        _ => format!("{kept} of {all} candidate symmetries were kept"),
    }
}

fn section(out: &mut String, id: &str, title: &str, content: &str) {
    if !content.is_empty() {
        let _ = write!(out, "<section id=\"{id}\">\n<h2>{}</h2>\n{content}</section>\n", escape(title));
    }
}

#[cfg(test)]
mod tests;

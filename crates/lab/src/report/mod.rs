//! The report on a run: one web page that needs nothing else.
//!
//! `head` says what was gained, `asked` what was asked, `evidence` what was found about each symmetry, `models` what was compared,
//! `answers` how the model does and what it answers, `proofs` what is certified and how to repeat it; `chart` draws, `style` has the
//! looks. Everything that comes from the user is escaped.

mod answers;
mod asked;
mod chart;
mod evidence;
mod head;
mod lattice;
mod models;
mod proofs;
mod style;

use std::fmt::Write;

use invar_algebra::Group;
use invar_program::{Member, Saved, certify};

use crate::diagram::{self, escape};
use crate::error::Result;
use crate::project::Run;
use crate::screen::{Measure, r_squared};

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
    head::head(&mut out, run);
    evidence::evidence(&mut out, run);
    models::models(&mut out, run);
    answers::scores(&mut out, run);
    section(&mut out, "lattice", "The subspaces", &lattice::figures(run)?);
    section(&mut out, "curves", "Learning curves", &chart::curves(run));
    answers::confusion(&mut out, run);
    answers::examples(&mut out, run);
    proofs::certificate(&mut out, run, proofs);
    asked::asked(&mut out, run);
    proofs::rerun(&mut out, run);
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

/// A score as people read it.
fn points(run: &Run, share: f64) -> String {
    match run.measure {
        Measure::Accuracy => percent(share),
        Measure::RSquared { .. } => r_squared(share),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What scores are.
fn measure(run: &Run) -> &'static str {
    match run.measure {
        Measure::Accuracy => "accuracy",
        Measure::RSquared { .. } => "R²",
    }
}

fn section(out: &mut String, id: &str, title: &str, content: &str) {
    if !content.is_empty() {
        let _ = write!(out, "<section id=\"{id}\">\n<h2>{}</h2>\n{content}</section>\n", escape(title));
    }
}

#[cfg(test)]
mod tests;

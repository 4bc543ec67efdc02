//! What was decided about each candidate, for people to read.

use serde::{Deserialize, Serialize};

use crate::screen::{Cost, ScreenRecord};

/// What was decided about a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symmetry {
    /// Its name.
    pub name: String,
    /// The two columns of a table that it exchanges, by their names; empty for anything else.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The two positions that it exchanges along an axis, from 0.
    #[serde(default)]
    pub pair: Option<[usize; 2]>,
    /// Whether the final model keeps it.
    pub kept: bool,
    /// In words.
    pub verdict: String,
    /// Points of validation score that imposing it costs; what exactly is told in `note`.
    pub cost: Option<Cost>,
    /// Share of the weights that broke it before what is kept was made exact.
    pub violation: Option<f64>,
    /// What the cost was measured against, or why it is not kept.
    pub note: String,
}

impl Symmetry {
    /// What a screen says of a candidate.
    pub fn screened(record: &ScreenRecord, group: usize) -> Self {
        let finding = &record.findings[group];
        Self {
            name: record.names[group].clone(),
            columns: Vec::new(),
            pair: record.pairs().map(|pairs| pairs[group]),
            kept: finding.kept,
            verdict: finding.verdict.in_words().into(),
            cost: finding.tested.as_ref().map(|tested| tested.cost).or(finding.alone),
            violation: None,
            note: record.note(group),
        }
    }

    /// Its name for people: an exchange by the names of its columns, or by its positions from 1.
    pub fn shown(&self) -> String {
        let exchange = match (&self.columns[..], self.pair) {
            ([one, other], _) => Some(format!("exchange({one}, {other})")),
            (_, Some([i, j])) => Some(format!("exchange({}, {})", i + 1, j + 1)),
            _ => None,
        };
        // A name that the user gave says more.
        match exchange {
            Some(words) if self.name.starts_with("swap(") => words,
            Some(words) if !self.columns.is_empty() => format!("{}: {words}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Of some candidates the one that exchanges two positions, i < j.
    pub fn exchanging(all: &[Self], i: usize, j: usize) -> Option<&Self> {
        all.iter().find(|symmetry| symmetry.pair == Some([i, j]))
    }

    /// The name of the column at a position, if it has one.
    pub fn column(all: &[Self], position: usize) -> Option<&str> {
        all.iter().find_map(|symmetry| {
            let place = symmetry.pair?.iter().position(|&one| one == position)?;
            symmetry.columns.get(place).map(String::as_str)
        })
    }
}

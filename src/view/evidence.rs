//! What was found about each symmetry: a row each while they are few, else a picture of all and rows for those that need words.

use invar_data::printable;
use invar_lab::project::{Learner, Run};
use invar_lab::screen::{Asked, Cost, Measure, ScreenRecord};
use invar_lab::symmetry::Symmetry;

use super::square::{MOST, Pair, square};
use crate::output;

/// Exchanges of positions are drawn as a square when they are more than these.
const FEW: usize = 12;
/// Most symmetries listed one by one.
const SHOWN: usize = 60;
/// Verdicts that the picture tells well enough.
const PLAIN: [&str; 4] = ["shown harmless", "contradicted", "kept", "broken"];

/// The evidence of a run.
pub(super) fn evidence(run: &Run) -> String {
    let all: Vec<usize> = (0..run.symmetries.len()).collect();
    let Some(n) = run.positions().filter(|&n| n <= MOST && all.len() > FEW) else { return rows(run, &all) };
    let mut text = picture(run, n);
    let notable: Vec<usize> = all.into_iter().filter(|&g| !PLAIN.contains(&run.symmetries[g].verdict.as_str())).collect();
    if !notable.is_empty() && run.weakness.is_none() {
        text.push_str("\n\n");
        text.push_str(&rows(run, &notable));
    }
    text
}

/// Costs and verdicts of all pairs of positions, and which columns these are.
fn picture(run: &Run, n: usize) -> String {
    let pair = |i: usize, j: usize| {
        let place = run.symmetries.iter().position(|symmetry| symmetry.pair == Some([i, j]))?;
        let symmetry = &run.symmetries[place];
        let cost = run.screen.as_ref().map_or(symmetry.cost, |record| record.cost(place));
        Some(Pair { cost: cost.map(|cost| cost.points), verdict: &symmetry.verdict })
    };
    let mut text = vec![square(n, pair)];
    let columns: Vec<String> =
        (0..n).filter_map(|i| Some(format!("{} {}", i + 1, Symmetry::column(&run.symmetries, i)?))).collect();
    if !columns.is_empty() {
        text.push(format!("columns: {}", printable(&columns.join(", "))));
    }
    text.join("\n")
}

fn rows(run: &Run, listed: &[usize]) -> String {
    let shown: Vec<Vec<String>> = listed.iter().take(SHOWN).map(|&g| row(run, g)).collect();
    let table = match run.screen {
        Some(_) => output::table(&["symmetry", "", "verdict", "cost with the others", "alone", "", ""], &shown, &[3, 4]),
        None => output::table(&["symmetry", "", "verdict", "cost", ""], &shown, &[3]),
    };
    let mut text = vec![table];
    if listed.len() > SHOWN {
        text.push(format!("... and {} more (--json has them all)", listed.len() - SHOWN));
    }
    text.push(format!("costs in {}, with one-sided 95 % bounds", unit(run)));
    text.join("\n")
}

fn row(run: &Run, place: usize) -> Vec<String> {
    let symmetry = &run.symmetries[place];
    let cost = |cost: Option<Cost>| cost.map_or("-".into(), |cost| cost.to_string());
    let kept = if symmetry.kept { "kept" } else { "" };
    let first = [symmetry.shown(), kept.into(), symmetry.verdict.clone()];
    let rest = match &run.screen {
        Some(record) => screened(record, place, cost),
        None => vec![cost(symmetry.cost), symmetry.note.clone()],
    };
    first.into_iter().chain(rest).collect()
}

/// What a screen adds: the cost with the others and alone, and how it was asked.
fn screened(record: &ScreenRecord, place: usize, cost: impl Fn(Option<Cost>) -> String) -> Vec<String> {
    let finding = &record.findings[place];
    let asked = match finding.asked {
        Asked::Fitted => "fitted",
        Asked::Implied => "implied",
        Asked::NotAsked => "not asked",
    };
    let joint = finding.tested.as_ref().map(|tested| tested.cost);
    vec![cost(joint), cost(finding.alone), asked.into(), record.note(place)]
}

fn unit(run: &Run) -> &'static str {
    match (run.learner, run.measure) {
        (_, Measure::Accuracy) => "percentage points of accuracy",
        (Learner::Screen, Measure::RSquared { .. }) => "percent of the error that is left with nothing imposed",
        (Learner::Cgreg, Measure::RSquared { .. }) => "percent of the error that is left by the best fit",
    }
}

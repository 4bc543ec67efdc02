//! The evidence, symmetry by symmetry: a table, for pairs of positions a square, and what the kept ones are as a group.

use std::fmt::Write;

use super::section;
use crate::diagram::escape;
use crate::project::{KeptGroupFacts, Learner, Run};
use crate::screen::{Cost, Measure};
use crate::symmetry::Symmetry;

/// Fewest and most positions whose pairs are drawn.
const DRAWN: std::ops::RangeInclusive<usize> = 4..=30;
/// Most candidates listed at once, where a square shows them too.
const FEW: usize = 12;
/// Most candidates listed.
pub(super) const MAX_ROWS: usize = 500;

/// Verdict and cost of every candidate, and what the kept ones are together.
pub(super) fn evidence(out: &mut String, run: &Run) {
    let symmetries = &run.symmetries;
    let mut content = String::new();
    let positions = run.positions().filter(|n| DRAWN.contains(n));
    if let Some(n) = positions {
        square(&mut content, symmetries, n, run.rule.tolerance);
    }
    // Where the square has said it all, a long table waits until someone asks.
    let folded = positions.is_some() && symmetries.len() > FEW;
    if folded {
        let _ = writeln!(content, "<details>\n<summary>All {} candidates, one by one</summary>", symmetries.len());
    }
    table(&mut content, symmetries);
    if folded {
        content.push_str("</details>\n");
    }
    content.push_str(&words(run));
    together(&mut content, run);
    section(out, "evidence", "The evidence, symmetry by symmetry", &content);
}

/// What is kept, as a whole.
fn together(content: &mut String, run: &Run) {
    let mut say = |words: &str| {
        let _ = writeln!(content, "<p>{}</p>", escape(words));
    };
    if let Some(partition) = run.partition() {
        say(&format!("What can be exchanged: {partition}."));
    }
    if let Some(cost) = run.kept_cost {
        let reference = match run.learner {
            Learner::Cgreg => "the best of the fits",
            Learner::Screen => "the same network with nothing imposed",
        };
        say(&format!("All that is kept costs {cost} {} together, against {reference}.", run.measure.unit()));
    }
    if let Some(cost) = run.exact_cost {
        say(&format!("Making what the weights nearly kept exact cost {cost} {}.", run.measure.unit()));
    }
    if run.kept().next().is_some() {
        say(&group(&run.group));
    }
    let Some(record) = &run.screen else { return };
    for rival in &record.rivals {
        let names: Vec<String> = rival.set.iter().take(FEW).map(|g| run.symmetries[g].shown()).collect();
        say(&format!(
            "As large, and not told apart by these examples: {} (cost {}). Say which holds (require), or add examples.",
            names.join(", "),
            rival.cost
        ));
    }
    if record.exhausted {
        say("The search ended before every larger set was refused: more of them may hold.");
    }
}

/// What the kept candidates generate.
fn group(KeptGroupFacts { order, normal, witness, .. }: &KeptGroupFacts) -> String {
    let order = order.as_ref().map_or("no group that is known to be finite".into(), |order| format!("a group of order {order}"));
    let normal = match witness {
        None if normal.is_none() => "Whether it is normal (Theorem 2) was not found out.".into(),
        None => "It is normal in what it generates with everything that was not kept, so invariance to it is enough (Theorem 2)."
            .into(),
        Some(witness) => format!(
            "It is not normal in what it generates with everything that was not kept: {witness}. If those act on your data, \
             invariance alone may not be enough (Theorem 2)."
        ),
    };
    format!("What is kept generates {order}. {normal}")
}

/// What costs are, below the table.
fn words(run: &Run) -> String {
    let violations = run.symmetries.iter().any(|symmetry| symmetry.violation.is_some());
    format!(
        "<p class=\"muted\">Costs are {}, on held-out examples of the training environment, each with the least and the most it may \
         be (95 % confidence, one-sided). {}</p>\n",
        cost_unit(run),
        if violations {
            "“Broken by”: share of the weights that violated the symmetry before what is kept was made exact. "
        } else {
            ""
        },
    )
}

fn cost_unit(run: &Run) -> &'static str {
    match (run.learner, run.measure) {
        (_, Measure::Accuracy) => "percentage points of accuracy",
        (Learner::Screen, Measure::RSquared { .. }) => "percent of the error that is left with nothing imposed",
        (Learner::Cgreg, Measure::RSquared { .. }) => "percent of the error that is left by the best fit",
    }
}

/// A row a candidate.
fn table(out: &mut String, symmetries: &[Symmetry]) {
    let violations = symmetries.iter().any(|symmetry| symmetry.violation.is_some());
    out.push_str(
        "<div class=\"scroll-x\"><table class=\"stack\">\n<thead><tr><th scope=\"col\">symmetry</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\" class=\"n\">cost</th>",
    );
    if violations {
        out.push_str("<th scope=\"col\" class=\"n\">broken by</th>");
    }
    out.push_str("<th scope=\"col\">how it was found</th></tr></thead>\n<tbody>\n");
    for symmetry in symmetries.iter().take(MAX_ROWS) {
        row(out, symmetry, violations);
    }
    out.push_str("</tbody>\n</table></div>\n");
    if symmetries.len() > MAX_ROWS {
        let _ = writeln!(out, "<p>and {} more, in run.json</p>", symmetries.len() - MAX_ROWS);
    }
}

fn row(out: &mut String, symmetry: &Symmetry, violations: bool) {
    let class = match (symmetry.kept, symmetry.verdict.as_str()) {
        (true, "kept" | "shown harmless") => "good",
        (false, "contradicted") => "bad",
        _ => "warn",
    };
    let cost = symmetry.cost.as_ref().map_or("–".into(), Cost::to_string);
    let _ = write!(
        out,
        "<tr><td class=\"name\">{}</td><td data-label=\"verdict\"><span class=\"badge {class}\">{}</span></td>\
         <td class=\"n\" data-label=\"cost\">{cost}</td>",
        escape(&symmetry.shown()),
        escape(&symmetry.verdict),
    );
    if violations {
        let share = symmetry.violation.map_or("–".into(), |share| format!("{:.2} %", 100.0 * share));
        let _ = write!(out, "<td class=\"n\" data-label=\"broken by\">{share}</td>");
    }
    let _ = writeln!(out, "<td class=\"words\" data-label=\"found\">{}</td></tr>", escape(&symmetry.note));
}

/// Every pair of positions in a square: costs above the diagonal, below it what is kept.
fn square(out: &mut String, symmetries: &[Symmetry], n: usize, tolerance: f64) {
    let name = |position: usize| Symmetry::column(symmetries, position).map_or_else(|| (position + 1).to_string(), escape);
    let costs = symmetries.iter().filter_map(|symmetry| Some(symmetry.cost?.points));
    let dearest = costs.fold(tolerance.max(1.0), f64::max);
    out.push_str(
        "<p class=\"muted\">Above the diagonal what exchanging two positions costs, below it what follows.</p>\n\
         <div class=\"scroll-x\"><table class=\"confusion\">\n<thead><tr><td></td>",
    );
    for j in 0..n {
        let _ = write!(out, "<th scope=\"col\">{}</th>", name(j));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for i in 0..n {
        let _ = write!(out, "<tr><th scope=\"row\" class=\"side\">{}</th>", name(i));
        for j in 0..n {
            let Some(symmetry) = Symmetry::exchanging(symmetries, i.min(j), i.max(j)) else {
                out.push_str("<td></td>");
                continue;
            };
            let cost = symmetry.cost.map(|cost| cost.points.max(0.0));
            let (colour, shade, words) = if i < j {
                let shade = cost.map_or(0.0, |points| 60.0 * points / dearest);
                ("--bad", shade, cost.map_or("–".into(), |points| format!("{points:.0}")))
            } else if symmetry.kept {
                ("--good", 45.0, "kept".into())
            } else {
                ("--good", 0.0, String::new())
            };
            let _ = write!(
                out,
                "<td title=\"{}: {}\" style=\"background:color-mix(in srgb,var({colour}) {shade:.0}%,transparent)\">{words}</td>",
                escape(&symmetry.shown()),
                escape(&symmetry.verdict)
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

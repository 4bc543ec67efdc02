//! Every model that was compared, in both environments.

use std::fmt::Write;

use super::{chart, percent, points, section};
use crate::diagram::escape;
use crate::project::{ModelLine, Run};
use crate::record::Metrics;
use crate::screen::{Measure, Role};
use crate::stats::proportion;

/// The table of models.
pub(super) fn models(out: &mut String, run: &Run) {
    let columns = Columns {
        other: run.examples[2] > 0,
        bars: run.examples[2] > 0 && run.measure == Measure::Accuracy,
        consistency: run.models.iter().any(|line| line.consistency.is_some()),
    };
    let mut content = String::from("<div class=\"scroll-x\"><table class=\"stack\">\n<thead><tr><th scope=\"col\">model</th>");
    let mut title = |shown: bool, words: &str| {
        if shown {
            let _ = write!(content, "<th scope=\"col\" class=\"n\">{words}</th>");
        }
    };
    title(true, "validation");
    title(columns.other, "other environment");
    title(columns.bars, "");
    title(columns.consistency, "consistency");
    title(true, "kept");
    content.push_str("</tr></thead>\n<tbody>\n");
    for line in &run.models {
        row(&mut content, run, line, columns);
    }
    content.push_str("</tbody>\n</table></div>\n");
    content.push_str("<p class=\"muted\">Bold: the chosen model. It was chosen on validation examples alone");
    if columns.other {
        content.push_str("; the figures of the other environment decide nothing");
    }
    content.push_str(". Kept: how many candidates it is invariant to.");
    if columns.bars {
        content.push_str(" Bars: accuracy in the other environment with 95 % intervals; the tick is the most frequent answer.");
    }
    if columns.consistency {
        content.push_str(" Consistency: how often a model predicts the same for an example and a counterfactual of it.");
    }
    content.push_str("</p>\n");
    section(out, "models", "What was compared", &content);
}

/// Which columns there are.
#[derive(Clone, Copy)]
struct Columns {
    other: bool,
    bars: bool,
    consistency: bool,
}

fn row(out: &mut String, run: &Run, line: &ModelLine, columns: Columns) {
    let value = |metrics: Option<Metrics>| metrics.map_or("–".into(), |metrics| points(run, metrics.accuracy));
    let class = if line.chosen { " class=\"chosen\"" } else { "" };
    let _ = write!(
        out,
        "<tr{class}><td class=\"name\">{}</td><td class=\"n\" data-label=\"validation\">{}</td>",
        escape(&line.name),
        value(line.validation)
    );
    if columns.other {
        let _ = write!(out, "<td class=\"n\" data-label=\"other environment\">{}</td>", value(line.extrapolation));
    }
    if columns.bars {
        let chance = run.model(Role::Guess).and_then(|guess| guess.extrapolation).map(|metrics| metrics.accuracy);
        let test = run.examples[2];
        let bar = line.extrapolation.map(|metrics| {
            let right = (metrics.accuracy * test as f64).round() as usize;
            chart::bar(metrics.accuracy, proportion(right, test), chance)
        });
        let _ = write!(out, "<td class=\"drawn\">{}</td>", bar.unwrap_or_default());
    }
    if columns.consistency {
        let _ = write!(out, "<td class=\"n\" data-label=\"consistency\">{}</td>", line.consistency.map_or("–".into(), percent));
    }
    let _ = writeln!(
        out,
        "<td class=\"n\" data-label=\"kept\">{}</td></tr>",
        line.kept.map_or(String::new(), |kept| kept.to_string())
    );
}

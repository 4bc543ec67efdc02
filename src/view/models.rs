//! The models that were compared, in both environments, and the subspaces that the penalty of the paper left.

use std::fmt::Write as _;

use invar_lab::project::{ModelLine, PartScore, Run};

use crate::output::{self, strong};

/// Every model side by side, and how sure the figures of the chosen one are.
pub(super) fn models(run: &Run) -> String {
    let show = |share: f64| run.measure.show(share);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let outside = run.examples[2] > 0;
    let consistent = run.models.iter().any(|line| line.consistency.is_some());
    let row = |line: &ModelLine| {
        let mark = if line.chosen { " <- chosen" } else { "" };
        let mut cells =
            vec![format!("{}{mark}", line.name), line.validation.map_or("-".into(), |metrics| show(metrics.accuracy))];
        if outside {
            cells.push(line.extrapolation.map_or("-".into(), |metrics| show(metrics.accuracy)));
        }
        if consistent {
            cells.push(line.consistency.map_or("-".into(), percent));
        }
        cells.push(line.kept.map_or(String::new(), |kept| kept.to_string()));
        cells
    };
    let mut header = vec!["", "validation"];
    header.extend(outside.then_some("other environment"));
    header.extend(consistent.then_some("consistency"));
    header.push("kept");
    let rows: Vec<Vec<String>> = run.models.iter().map(row).collect();
    let mut text = output::table(&header, &rows, &[1, 2, 3, 4]);
    if let Some(cost) = run.screen.as_ref().and_then(|record| record.linear_cost) {
        let _ = write!(text, "\nthe linear output costs {cost} {} on validation against the network", run.measure.unit());
    }
    let interval = |part: &PartScore| {
        let place = if part.part == "test" { "in the other environment" } else { "on validation" };
        format!("{} to {} {place}", show(part.interval[0]), show(part.interval[1]))
    };
    let intervals: Vec<String> = run.scores.iter().map(interval).collect();
    let _ = write!(text, "\nthe chosen model, with 95 % confidence: {}", intervals.join(", "));
    if let Some(share) = run.consistency.filter(|_| !consistent) {
        let note = if outside { "" } else { " (not extrapolation: no data of another environment are given)" };
        let _ = write!(text, "\nconsistency under the kept symmetries on validation data: {}{note}", percent(share));
    }
    text
}

/// The paper's figure of the penalty: subspaces by level, used or not, layer by layer.
pub(super) fn levels(run: &Run) -> Option<String> {
    if run.subspaces.is_empty() {
        return None;
    }
    let title = strong("subspaces");
    let mut text = vec![format!("{title} by level, most invariant first (■ used, □ not):")];
    for (k, layer) in run.subspaces.iter().enumerate() {
        if run.subspaces.len() > 1 {
            text.push(format!("  CG layer {} of {}", k + 1, run.subspaces.len()));
        }
        for level in layer {
            let marks: String = level.used.iter().map(|&used| if used { '■' } else { '□' }).collect();
            text.push(format!("  level {:4}  {marks}", level.level));
        }
    }
    Some(text.join("\n"))
}

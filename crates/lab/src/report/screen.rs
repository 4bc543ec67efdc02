//! The page of a screen of a built-in task.

use std::fmt::Write;

use super::evidence::{Evidence, evidence};
use super::{chart, cost_unit, headline, page, section};
use crate::diagram::escape;
use crate::error::Result;
use crate::screen::{Measure, ModelRow, Role, ScreenRecord};
use crate::stats::proportion;
use crate::symmetry::Symmetry;

/// Writes the page.
pub fn screen(record: &ScreenRecord) -> Result<String> {
    let symmetries: Vec<Symmetry> = (0..record.names.len()).map(|group| Symmetry::screened(record, group)).collect();
    let mut out = String::new();
    head(&mut out, record);
    scores(&mut out, record);
    let facts = &record.facts;
    evidence(
        &mut out,
        &Evidence {
            symmetries: &symmetries,
            positions: record.pairs().and(facts.blocks.as_ref()).map(|blocks| blocks.iter().map(Vec::len).sum()),
            measure: cost_unit(record.measure),
            file: "screen.json",
            partition: (facts.blocks.is_some() && !record.kept.is_empty()).then(|| facts.label.clone()),
            rule: record.config.rule,
            kept_cost: record.kept_cost().map(|tested| (tested.cost, "the same network with nothing imposed")),
            exact_cost: None,
            group: (facts.order.as_deref(), facts.normality.normal, facts.normality.witness.as_deref()),
            doubts: record.weakness.as_deref().into_iter().collect(),
        },
    );
    asked(&mut out, record);
    Ok(page("invar: what a screen found", &out))
}

fn head(out: &mut String, record: &ScreenRecord) {
    let data = &record.config.data;
    let words = format!("{}: {}.", data.name(), data.description());
    let title = escape(&headline(record.kept.len(), record.names.len()));
    let _ = write!(out, "<header>\n<h1>{title}</h1>\n<p>{}</p>\n<div class=\"cards\">\n", escape(&words));
    let mut card = |row: Option<&ModelRow>, words: &str| {
        if let Some(metrics) = row.and_then(|row| row.extrapolation) {
            let _ =
                writeln!(out, "<div class=\"card\"><b>{}</b><span>{words}</span></div>", record.measure.show(metrics.accuracy));
        }
    };
    card(record.chosen(), "in the other environment");
    card(record.model(Role::Free), "there with nothing imposed");
    card(record.model(Role::Plain), "there with a plain network");
    card(record.model(Role::Guess), "there with the most frequent answer");
    out.push_str("</div>\n</header>\n");
}

fn asked(out: &mut String, record: &ScreenRecord) {
    let [train, validation, test] = record.examples;
    let [fitted, selected, decided] = record.fold;
    let config = &record.config;
    let decision = match config.folds {
        1 => format!("{fitted} train and {selected} select sets of symmetries, {decided} others decide"),
        folds => format!(
            "{folds} folds; in the first {fitted} train and {selected} select sets of symmetries, {decided} others decide"
        ),
    };
    let rows = [
        ("candidate symmetries", record.names.len().to_string()),
        ("examples", format!("{train} to train the final model on, {validation} for validation, {test} of another environment")),
        ("decision", decision),
        ("rule", config.rule.in_words(record.measure)),
        ("network", record.decided_by.in_words().into()),
        ("training", format!("{} epochs, {} sets of symmetries fitted", config.settings.epochs, record.fits)),
        ("seed", config.seed.to_string()),
    ];
    let mut content = String::from("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(content, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    content.push_str("</dl>\n");
    section(out, "asked", "What was asked", &content);
}

/// Every model in both environments.
fn scores(out: &mut String, record: &ScreenRecord) {
    let mut content = String::from(
        "<div class=\"scroll-x\"><table>\n<thead><tr><th scope=\"col\">model</th><th scope=\"col\" class=\"n\">validation</th>\
         <th scope=\"col\" class=\"n\">other environment</th><th scope=\"col\"></th><th scope=\"col\" class=\"n\">consistency</th>\
         </tr></thead>\n<tbody>\n",
    );
    let chance = record.model(Role::Guess).and_then(|row| row.extrapolation).map(|metrics| metrics.accuracy);
    for row in &record.models {
        let outside = row.extrapolation.map(|metrics| metrics.accuracy);
        let bar = match (outside, record.measure) {
            (Some(share), Measure::Accuracy) => {
                let test = record.examples[2];
                chart::bar(share, proportion((share * test as f64).round() as usize, test), chance)
            }
            _ => String::new(),
        };
        let _ = writeln!(
            content,
            "<tr{}><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"drawn\">{bar}</td><td class=\"n\">{}</td></tr>",
            if row.chosen { " class=\"chosen\"" } else { "" },
            escape(&row.in_words()),
            record.measure.show(row.validation.accuracy),
            outside.map_or("–".into(), |share| record.measure.show(share)),
            row.consistency.map_or("–".into(), |share| format!("{:.1} %", 100.0 * share)),
        );
    }
    content.push_str("</tbody>\n</table></div>\n");
    content.push_str(
        "<p class=\"muted\">Bold: the final model, chosen by validation alone. Bars: accuracy in the other environment with 95 % \
         intervals; the tick is the most frequent answer. Consistency: how often a model predicts the same for an example and a \
         counterfactual of it.</p>\n",
    );
    section(out, "scores", "How well it does", &content);
}

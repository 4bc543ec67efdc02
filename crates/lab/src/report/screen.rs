//! The page of a screen of a built-in task.

use std::fmt::Write;

use super::evidence::{Evidence, evidence};
use super::{chart, headline, page, section};
use crate::diagram::escape;
use crate::error::Result;
use crate::screen::{Answer, Measure, ScreenRecord, StartResult};
use crate::stats::proportion;
use crate::symmetry::Symmetry;

/// Writes the page of what one rule decided.
pub fn screen(record: &ScreenRecord, answer: &Answer) -> Result<String> {
    let symmetries: Vec<Symmetry> = (0..record.names.len()).map(|group| Symmetry::screened(record, answer, group)).collect();
    let mut out = String::new();
    head(&mut out, record, answer);
    asked(&mut out, record, answer);
    let facts = &answer.facts;
    let one = |block: &Vec<usize>| block.iter().map(|position| (position + 1).to_string()).collect::<Vec<_>>().join(",");
    let blocks = facts.blocks.as_ref().filter(|_| !answer.kept.is_empty());
    evidence(
        &mut out,
        &Evidence {
            symmetries: &symmetries,
            positions: record.pairs().and(facts.blocks.as_ref()).map(|blocks| blocks.iter().map(Vec::len).sum()),
            measure: measure(record),
            detectable: Some(record.measure.in_words(record.detectable)),
            file: "screen.json",
            partition: blocks.map(|blocks| blocks.iter().map(one).collect::<Vec<_>>().join(" | ")),
            by_tolerance: &answer.by_tolerance,
            rule: answer.rule,
            kept_cost: answer.cost.filter(|_| !answer.kept.is_empty()).map(|cost| (cost, "the network with nothing imposed")),
            exact_cost: None,
            group: (facts.order.as_deref(), facts.normality.normal, facts.normality.witness.as_deref()),
            doubts: answer.doubt.as_deref().into_iter().collect(),
        },
    );
    scores(&mut out, record, answer);
    Ok(page("invar: what a screen found", &out))
}

fn measure(record: &ScreenRecord) -> &'static str {
    match record.measure {
        Measure::Accuracy => "accuracy",
        Measure::RSquared { .. } => "R²",
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn head(out: &mut String, record: &ScreenRecord, answer: &Answer) {
    let data = &record.config.data;
    let words = format!("{}: {}.", data.name(), data.description());
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<p>{}</p>\n<div class=\"cards\">\n",
        escape(&headline(answer.kept.len(), record.names.len())),
        escape(&words)
    );
    let mut card = |share: Option<f64>, words: &str| {
        if let Some(share) = share {
            let _ = writeln!(out, "<div class=\"card\"><b>{}</b><span>{}</span></div>", percent(share), escape(words));
        }
    };
    let outside = |result: &StartResult| result.extrapolation.map(|metrics| metrics.accuracy);
    let ours = answer.preferred().answers();
    card(Some(ours.validation.accuracy), "right in the same environment, on held-out examples");
    card(outside(ours), "right in another environment");
    card(record.plain.as_ref().and_then(|plain| outside(&plain.result)), "right there with a plain network");
    card(Some(record.chance), "right there with the most frequent answer");
    out.push_str("</div>\n</header>\n");
}

fn asked(out: &mut String, record: &ScreenRecord, answer: &Answer) {
    let [train, validation, test] = record.examples;
    let settings = &record.config.settings;
    let rows = [
        ("candidate symmetries", record.names.len().to_string()),
        ("examples", format!("{train} to train on, {validation} held out to decide on, {test} of another environment")),
        ("learner", format!("screen, {}", answer.rule.in_words())),
        ("training", format!("{} epochs, refits of {}", settings.epochs, settings.refit_epochs)),
        ("seed", record.config.seed.to_string()),
    ];
    let mut content = String::from("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(content, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    content.push_str("</dl>\n");
    section(out, "asked", "What was asked", &content);
}

/// Every network in both environments.
fn scores(out: &mut String, record: &ScreenRecord, answer: &Answer) {
    let mut rows: Vec<(String, &StartResult, Option<f64>, bool)> = Vec::new();
    for (k, result) in answer.heads.iter().enumerate().rev() {
        let name = format!("kept symmetries imposed, {}", result.in_words());
        rows.push((name, result.answers(), result.consistency, k == answer.preferred));
    }
    rows.extend(
        record
            .oracle
            .as_ref()
            .map(|oracle| (format!("the truth imposed, {}", oracle.in_words()), oracle.answers(), oracle.consistency, false)),
    );
    rows.extend(record.free.first().map(|free| ("nothing imposed".into(), free, None, false)));
    rows.extend(record.plain.as_ref().map(|plain| ("plain network".into(), &plain.result, plain.consistency, false)));
    let mut content = String::from(
        "<div class=\"scroll-x\"><table>\n<thead><tr><th scope=\"col\">network</th><th scope=\"col\" class=\"n\">same environment</th>\
         <th scope=\"col\" class=\"n\">other environment</th><th scope=\"col\"></th><th scope=\"col\" class=\"n\">pairs answered alike</th>\
         </tr></thead>\n<tbody>\n",
    );
    for (name, result, alike, chosen) in rows {
        let outside = result.extrapolation.map(|metrics| metrics.accuracy);
        let test = record.examples[2];
        let bar = outside.map_or(String::new(), |share| {
            let right = (share * test as f64).round() as usize;
            chart::bar(share, proportion(right, test), Some(record.chance))
        });
        let _ = writeln!(
            content,
            "<tr{}><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"drawn\">{bar}</td><td class=\"n\">{}</td></tr>",
            if chosen { " class=\"chosen\"" } else { "" },
            escape(&name),
            percent(result.validation.accuracy),
            outside.map_or("–".into(), percent),
            alike.map_or("–".into(), percent),
        );
    }
    content.push_str("</tbody>\n</table></div>\n");
    content.push_str(
        "<p class=\"muted\">Bars: examples of another environment answered right, with 95 % intervals; the tick is the most frequent \
         answer. Bold: the preferred network. Everything was chosen on held-out examples of the same environment.</p>\n",
    );
    section(out, "scores", "How well it does", &content);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of all tasks in strict and in tolerant mode, as they were committed.
    fn records() -> Vec<ScreenRecord> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/screen-sequences-quick.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_candidate_has_a_row_and_swaps_have_a_square() {
        let records = records();
        assert!(records.len() > 8);
        for record in &records {
            for answer in &record.answers {
                let page = screen(record, answer).unwrap();
                assert_eq!(page.matches("<td class=\"name\">").count(), record.names.len());
                assert_eq!(page.matches(">kept</td>").count(), if page.contains("confusion\">") { answer.kept.len() } else { 0 });
                assert_eq!(page.contains("class=\"confusion\""), record.pairs().is_some_and(|pairs| pairs.len() >= 6));
                assert!(page.contains(&headline(answer.kept.len(), record.names.len())));
                assert_eq!(page.matches("class=\"tick\"").count(), 1 + page.matches("class=\"bar\"").count());
            }
        }
        assert!(records.iter().any(|record| record.pairs().is_some()));
    }
}

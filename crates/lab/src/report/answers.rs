//! How the model does: scores with intervals, confusions, and answers to examples and their transformed versions.

use std::fmt::Write;

use super::{chart, measure, percent, points, section};
use crate::diagram::escape;
use crate::project::{PartScore, Picture, Run, Shown};
use crate::screen::Measure;

/// Most classes of a confusion matrix.
const MAX_CLASSES: usize = 30;

/// Scores with intervals, chance and consistency.
pub(super) fn scores(out: &mut String, run: &Run) {
    let mut content = String::new();
    for score in &run.scores {
        let PartScore { part: name, examples, score: value, interval, error, .. } = score;
        // Chance is known for the last part: the test set, or validation without one.
        let chance = (run.scores.last() == Some(score) && run.measure == Measure::Accuracy).then_some(run.chance);
        let _ = write!(
            content,
            "<h3>{}</h3>\n<p>{} of {examples} examples: <b>{}</b>, 95 % interval {} to {}{}.{}</p>\n{}",
            escape(&heading(name)),
            escape(measure(run)),
            points(run, *value),
            points(run, interval[0]),
            points(run, interval[1]),
            error.map_or(String::new(), |error| format!("; root mean square error {error:.4}")),
            chance.map_or(String::new(), |chance| format!(" The most frequent training class would reach {}.", percent(chance))),
            chart::bar(*value, *interval, chance),
        );
    }
    content.push_str("<h3>Consistency under the kept symmetries</h3>\n");
    let words = match run.consistency {
        Some(share) => format!(
            "{} of the validation examples are answered alike before and after a random kept transformation. This follows from what \
             is kept and says nothing about whether the answers are right{}.",
            percent(share),
            if run.examples[2] == 0 {
                "; it is not extrapolation, for which a test set of another environment is needed"
            } else {
                ""
            },
        ),
        None => "Nothing is kept, so there is nothing to be consistent under.".into(),
    };
    let _ = writeln!(content, "<p>{words}</p>");
    section(out, "scores", "How well it does", &content);
}

/// Which classes are taken for which.
pub(super) fn confusion(out: &mut String, run: &Run) {
    let mut content = String::new();
    for score in run.scores.iter().filter(|score| !score.confusion.is_empty()) {
        let _ = writeln!(content, "<h3>{}</h3>", escape(&heading(&score.part)));
        if score.confusion.len() > MAX_CLASSES {
            let _ = writeln!(content, "<p>{} classes are too many to show; run.json has the counts.</p>", score.confusion.len());
            continue;
        }
        content.push_str("<p class=\"muted\">Rows: the label. Columns: the answer.</p>\n<div class=\"scroll-x\"><table class=\"confusion\">\n<thead><tr><td></td>");
        for name in &run.classes {
            let _ = write!(content, "<th scope=\"col\">{}</th>", escape(name));
        }
        content.push_str("</tr></thead>\n<tbody>\n");
        for (class, counts) in score.confusion.iter().enumerate() {
            let total = counts.iter().sum::<usize>().max(1);
            let name = run.classes.get(class).map_or("", String::as_str);
            let _ = write!(content, "<tr><th scope=\"row\" class=\"side\">{}</th>", escape(name));
            for (answer, &count) in counts.iter().enumerate() {
                let share = (100.0 * count as f64 / total as f64).round();
                let colour = if class == answer { "--good" } else { "--bad" };
                let shade = if count == 0 { 0.0 } else { (12.0 + 0.5 * share).min(60.0) };
                let _ = write!(
                    content,
                    "<td style=\"background:color-mix(in srgb,var({colour}) {shade:.0}%,transparent)\">{}</td>",
                    if count == 0 { String::new() } else { count.to_string() }
                );
            }
            content.push_str("</tr>\n");
        }
        content.push_str("</tbody>\n</table></div>\n");
    }
    section(out, "confusion", "Which classes are taken for which", &content);
}

/// Examples beside their transformed versions.
pub(super) fn examples(out: &mut String, run: &Run) {
    let mut content = String::from(
        "<p>Validation examples as they are, and moved by one generator of each candidate. Where a symmetry is kept the answer \
         cannot change; where it is not, it may.</p>\n",
    );
    for Shown { id, picture, truth, answer, versions } in &run.shown {
        let rows = matches!(picture, Picture::Numbers(_));
        let _ = writeln!(content, "<div class=\"shown{}\">", if rows { " rows" } else { "" });
        let caption = format!("<b>{}</b><br>label {}<br>answer {}", escape(id), escape(truth), escape(answer));
        figure(&mut content, picture, &caption, id);
        for version in versions {
            let class = if version.kept { "good" } else { "warn" };
            let word = if version.kept { "kept" } else { "not kept" };
            let caption = format!(
                "{} <span class=\"{class}\">({word})</span><br>answer {}",
                escape(&version.symmetry),
                escape(&version.answer)
            );
            figure(&mut content, &version.picture, &caption, &version.symmetry);
        }
        content.push_str("</div>\n");
    }
    if !run.shown.is_empty() {
        section(out, "examples", "Examples and transformed versions", &content);
    }
}

fn figure(out: &mut String, picture: &Picture, caption: &str, words: &str) {
    match picture {
        Picture::Png(data) => {
            // Only the digits of base 64: a file that was tampered with cannot put anything else into the page.
            let data: String = data.chars().filter(|c| c.is_ascii_alphanumeric() || "+/=".contains(*c)).collect();
            let _ = writeln!(
                out,
                "<figure><img alt=\"{}\" src=\"data:image/png;base64,{data}\"><figcaption>{caption}</figcaption></figure>",
                escape(words)
            );
        }
        Picture::Numbers(values) => {
            let texts: Vec<String> = values.iter().map(|value| format!("{}", (value * 1000.0).round() / 1000.0)).collect();
            let _ = writeln!(out, "<p>{caption}<span class=\"numbers\">{}</span></p>", texts.join(" "));
        }
    }
}

fn heading(part: &str) -> String {
    if part == "test" {
        "Extrapolation: test examples of another environment".into()
    } else {
        "Validation: held-out examples of the same environment".into()
    }
}

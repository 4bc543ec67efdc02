//! The sections of the page, in their order.

use std::fmt::Write;

use super::evidence::{Evidence, MAX_ROWS};
use super::{Proof, chart, headline, section};
use crate::diagram::escape;
use crate::project::{Files, FitLine, Goal, KeptGroupFacts, Learner, PartScore, Picture, Run, Shown, Validation};
use crate::record::Metrics;
use crate::screen::{Measure, r_squared};

/// Most classes of a confusion matrix.
const MAX_CLASSES: usize = 30;

/// The answer in one sentence and a few numbers.
pub(super) fn head(out: &mut String, run: &Run) {
    let kept = run.kept().count();
    let title = headline(kept, run.symmetries.len());
    let _ = write!(out, "<header>\n<h1>{}</h1>\n<p>{}</p>\n<div class=\"cards\">\n", escape(&title), escape(&sentence(run)));
    let mut card = |number: String, words: &str| {
        let _ = writeln!(out, "<div class=\"card\"><b>{}</b><span>{}</span></div>", escape(&number), escape(words));
    };
    for score in &run.scores {
        card(points(run, score.score), &format!("{} on {}", measure(run), part(&score.part)));
    }
    if let Some(share) = run.consistency {
        card(percent(share), "of validation examples answered alike after a kept transformation");
    }
    card(run.examples[0].to_string(), "training examples");
    out.push_str("</div>\n</header>\n");
}

fn sentence(run: &Run) -> String {
    let list = |kept: bool| {
        let names: Vec<&str> =
            run.symmetries.iter().filter(|symmetry| symmetry.kept == kept).map(|symmetry| symmetry.name.as_str()).collect();
        match &names[..] {
            [] => None,
            few if few.len() <= 6 => Some(few.join(", ")),
            many => Some(format!("{} and {} more", many[..5].join(", "), many.len() - 5)),
        }
    };
    let kept = match run.partition() {
        Some(partition) => Some(format!("The model is exactly invariant to any exchange within the parts of {partition}.")),
        None => list(true).map(|names| format!("The model is exactly invariant to {names}.")),
    };
    let lost = list(false).map(|names| format!("It is not made invariant to {names}."));
    [kept, lost].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What the user asked for.
pub(super) fn asked(out: &mut String, run: &Run) {
    let data = &run.project.data;
    let sides: Vec<String> = run.shape.iter().map(ToString::to_string).collect();
    let goal = match run.project.task.kind {
        Goal::Classification => format!("classification into {}: {}", run.classes.len(), shortened(&run.classes)),
        Goal::Regression => "regression".into(),
    };
    let validation = match &data.validation {
        Validation::Share(share) => {
            format!("a share of {share} held out, {} examples (seed {})", run.examples[1], run.project.train.seed)
        }
        Validation::Files(files) => format!("{}, {} examples", file(files), run.examples[1]),
    };
    let test = data
        .test
        .as_ref()
        .map_or("none".into(), |files| format!("{}, {} examples of another environment", file(files), run.examples[2]));
    let candidates: Vec<String> = run.project.symmetries.candidates.iter().map(ToString::to_string).collect();
    let rows = [
        ("training data", format!("{}, {} examples", file(&data.train), run.examples[0])),
        ("validation data", validation),
        ("test data", test),
        ("shape of an example", sides.join(" x ")),
        ("task", goal),
        ("candidate symmetries", candidates.join(", ")),
        ("network", run.network.clone()),
        ("learner", format!("{}, {}", run.learner.name(), run.rule.in_words(run.measure))),
        ("seed", run.project.train.seed.to_string()),
    ];
    let mut content = String::from("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(content, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    content.push_str("</dl>\n");
    section(out, "asked", "What was asked", &content);
}

/// Verdict and cost of every candidate, and what the kept ones are together.
pub(super) fn evidence(run: &Run) -> Evidence<'_> {
    let reference = match run.learner {
        Learner::Cgreg => "the best of the fits",
        Learner::Screen => "the network with nothing imposed",
    };
    let KeptGroupFacts { order, normal, witness, .. } = &run.group;
    Evidence {
        symmetries: &run.symmetries,
        positions: run.positions(),
        measure: cost_unit(run),
        file: "run.json",
        partition: run.partition(),
        rule: run.rule,
        kept_cost: run.kept_cost.map(|cost| (cost, reference)),
        exact_cost: run.exact_cost,
        group: (order.as_deref(), *normal, witness.as_deref()),
        doubts: run.doubts.iter().map(String::as_str).collect(),
    }
}

/// What costs are.
fn cost_unit(run: &Run) -> &'static str {
    super::cost_unit(run.measure)
}

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

/// What was compared on the way.
pub(super) fn fits(out: &mut String, run: &Run) {
    let test = run.examples[2] > 0;
    let kept = run.fits.iter().any(|fit| fit.kept.is_some());
    let mut content = String::from(
        "<div class=\"scroll-x\"><table>\n<thead><tr><th scope=\"col\">fit</th><th scope=\"col\" class=\"n\">validation</th>",
    );
    if test {
        content.push_str("<th scope=\"col\" class=\"n\">test</th>");
    }
    if kept {
        content.push_str("<th scope=\"col\" class=\"n\">kept</th>");
    }
    content.push_str("<th scope=\"col\"></th></tr></thead>\n<tbody>\n");
    let value = |metrics: Option<Metrics>| metrics.map_or("–".into(), |metrics| points(run, metrics.accuracy));
    for FitLine { name, validation, extrapolation, kept: count, chosen, .. } in &run.fits {
        let class = if *chosen { " class=\"chosen\"" } else { "" };
        let _ = write!(content, "<tr{class}><td class=\"name\">{}</td><td class=\"n\">{}</td>", escape(name), value(*validation));
        if test {
            let _ = write!(content, "<td class=\"n\">{}</td>", value(*extrapolation));
        }
        if kept {
            let _ = write!(content, "<td class=\"n\">{}</td>", count.map_or("–".into(), |count| count.to_string()));
        }
        let _ = writeln!(content, "<td>{}</td></tr>", if *chosen { "chosen" } else { "" });
    }
    content.push_str("</tbody>\n</table></div>\n<p class=\"muted\">Chosen on validation examples alone; test figures are shown, and decide nothing.</p>\n");
    section(out, "fits", "What was compared", &content);
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

/// What can be proved from the weights.
pub(super) fn certificate(out: &mut String, proofs: &[Proof]) {
    if proofs.is_empty() {
        return;
    }
    let mut content = String::from(
        "<p>Whether the model file is invariant, layer by layer, from its weights alone.</p>\n<div class=\"scroll-x\"><table>\n<thead><tr>\
         <th scope=\"col\">symmetry</th><th scope=\"col\">kept</th><th scope=\"col\">result</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
    );
    for proof in proofs.iter().take(MAX_ROWS) {
        let (class, word) = match (proof.kept, proof.proved) {
            (_, true) => ("good", "proved"),
            (true, false) => ("bad", "not proved"),
            (false, false) => ("warn", "not invariant"),
        };
        let _ = writeln!(
            content,
            "<tr><td class=\"name\">{}</td><td>{}</td><td><span class=\"badge {class}\">{word}</span></td><td class=\"words\">{}</td></tr>",
            escape(&proof.symmetry),
            if proof.kept { "yes" } else { "no" },
            escape(&proof.words)
        );
    }
    content.push_str("</tbody>\n</table></div>\n");
    section(out, "certificate", "The certificate", &content);
}

/// How to do it again.
pub(super) fn rerun(out: &mut String, run: &Run) {
    let project = toml::to_string(&run.project).unwrap_or_default();
    let content = format!(
        "<p>Save this as invar.toml{}, then run <code>invar train invar.toml</code>. The same data, settings and version give the \
         same model on the same kind of processor.</p>\n<pre>{}</pre>\n\
         <p class=\"muted\">invar {}; data {}; {:.0} seconds of fits.</p>\n",
        if run.folder.is_empty() { String::new() } else { format!(" in {}", escape(&run.folder)) },
        lines(&project),
        escape(&run.invar),
        escape(&data(run)),
        run.seconds,
    );
    section(out, "rerun", "How to run it again", &content);
}

/// Escapes line by line: a line end is one.
fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

fn data(run: &Run) -> String {
    match run.data {
        crate::problem::Data::Files(digest) => format!("sha256 {digest}"),
        other => other.name().into(),
    }
}

fn file(files: &Files) -> String {
    match files {
        Files::One(path) => path.display().to_string(),
        Files::Two { inputs, labels } => format!("{} with {}", inputs.display(), labels.display()),
    }
}

fn shortened(names: &[String]) -> String {
    if names.len() > 20 { format!("{}, ...", names[..20].join(", ")) } else { names.join(", ") }
}

fn part(part: &str) -> &'static str {
    if part == "test" { "the other environment (test)" } else { "held-out examples (validation)" }
}

fn heading(part: &str) -> String {
    if part == "test" {
        "Extrapolation: test examples of another environment".into()
    } else {
        "Validation: held-out examples of the same environment".into()
    }
}

fn measure(run: &Run) -> &'static str {
    match run.measure {
        Measure::Accuracy => "accuracy",
        Measure::RSquared { .. } => "R²",
    }
}

fn points(run: &Run, share: f64) -> String {
    match run.measure {
        Measure::Accuracy => percent(share),
        Measure::RSquared { .. } => r_squared(share),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

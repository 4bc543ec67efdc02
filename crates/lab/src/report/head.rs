//! The answer in one sentence: what was gained, and what was kept.

use std::fmt::Write;

use super::{measure, percent};
use crate::diagram::escape;
use crate::project::{ModelLine, Run};
use crate::record::Metrics;
use crate::screen::Role;

/// Most names in a sentence.
const NAMES: usize = 6;

/// A title, a sentence and a few numbers, those of the chosen model first.
pub(super) fn head(out: &mut String, run: &Run) {
    let what = match run.data.description() {
        Some(words) => format!("{}: {words}.", run.data_name()),
        None => format!("{}.", run.data_name()),
    };
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<p>{}</p>\n<p>{}</p>\n<div class=\"cards\">\n",
        escape(&title(run)),
        escape(&what),
        escape(&sentence(run)),
    );
    let mut card = |number: String, words: &str, own: bool| {
        let class = if own { "card own" } else { "card" };
        let _ = writeln!(out, "<div class=\"{class}\"><b>{}</b><span>{}</span></div>", escape(&number), escape(words));
    };
    let (place, of): (&str, fn(&ModelLine) -> Option<Metrics>) = if run.examples[2] > 0 {
        ("in the other environment", |line| line.extrapolation)
    } else {
        ("on validation examples", |line| line.validation)
    };
    let cards = [
        (run.chosen(), "the chosen model".to_owned()),
        (run.model(Role::Free), "nothing imposed".into()),
        (run.model(Role::Plain), "a plain network".into()),
        (run.model(Role::Augmented), "a plain network with augmentation".into()),
        (run.model(Role::Guess), "the most frequent answer".into()),
    ];
    for (k, (line, words)) in cards.into_iter().enumerate() {
        if let Some(metrics) = line.and_then(of) {
            let words = if k == 0 { format!("{} {place}: {words}", measure(run)) } else { words };
            card(run.measure.show(metrics.accuracy), &words, k == 0);
        }
    }
    if let Some(share) = run.consistency {
        card(percent(share), "of validation examples answered alike after a kept transformation", false);
    }
    out.push_str("</div>\n");
    if let Some(reason) = &run.weakness {
        let _ = writeln!(out, "<p><span class=\"badge warn\">the network cannot tell</span> {}</p>", escape(reason));
    }
    out.push_str("</header>\n");
}

/// How many were kept.
fn title(run: &Run) -> String {
    match (run.kept().count(), run.symmetries.len()) {
        (0, _) => "No symmetry was kept".into(),
        (1, 1) => "The candidate symmetry was kept".into(),
        (kept, all) if kept == all => format!("All {all} candidate symmetries were kept"),
        (kept, all) => format!("{kept} of {all} candidate symmetries were kept"),
    }
}

fn sentence(run: &Run) -> String {
    let list = |kept: bool| {
        let names: Vec<String> =
            run.symmetries.iter().filter(|symmetry| symmetry.kept == kept).map(crate::symmetry::Symmetry::shown).collect();
        match &names[..] {
            [] => None,
            few if few.len() <= NAMES => Some(few.join(", ")),
            many => Some(format!("{} and {} more", many[..NAMES - 1].join(", "), many.len() + 1 - NAMES)),
        }
    };
    let kept = match run.partition() {
        Some(partition) => Some(format!("The model is exactly invariant to any exchange within the parts of {partition}.")),
        None => list(true).map(|names| format!("The model is exactly invariant to {names}.")),
    };
    let lost = list(false).map(|names| format!("It is not made invariant to {names}."));
    let truth = run.true_symmetry.as_ref().map(|truth| {
        let right = (0..run.symmetries.len()).all(|g| run.symmetries[g].kept == truth.contains(g));
        if right {
            "These are exactly the true symmetries.".into()
        } else {
            "These are not exactly the true symmetries.".to_owned()
        }
    });
    [kept, lost, truth].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

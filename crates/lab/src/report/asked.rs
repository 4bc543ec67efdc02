//! What the user asked for, and how it was decided.

use std::fmt::Write;

use super::section;
use crate::diagram::escape;
use crate::project::{Goal, Run, Validation};
use crate::screen::ScreenRecord;

/// What the user asked for.
pub(super) fn asked(out: &mut String, run: &Run) {
    let mut content = String::from("<dl>\n");
    for (name, value) in data(run).into_iter().chain(training(run)) {
        let _ = writeln!(content, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    content.push_str("</dl>\n");
    section(out, "asked", "What was asked", &content);
}

fn data(run: &Run) -> Vec<(&'static str, String)> {
    let data = &run.project.data;
    let [train, validation, other] = run.examples;
    let from = |name: Option<String>, count: usize| match name {
        Some(name) => format!("{name}, {count} examples"),
        None => format!("{count} examples"),
    };
    let validation = match &data.validation {
        _ if data.task.is_some() => from(None, validation),
        Validation::Share(share) => {
            format!("a share of {share} held out, {validation} examples (seed {})", run.project.train.seed)
        }
        Validation::Files(files) => from(Some(files.to_string()), validation),
    };
    let other = match other {
        0 => "none".into(),
        count => from(data.test.as_ref().map(ToString::to_string), count),
    };
    let goal = match run.goal {
        Goal::Classification => format!("classification into {}: {}", run.classes.len(), shortened(&run.classes)),
        Goal::Regression => "regression".into(),
    };
    let sides: Vec<String> = run.shape.iter().map(ToString::to_string).collect();
    vec![
        ("training data", from(Some(run.data_name()), train)),
        ("validation data", validation),
        ("another environment", other),
        ("shape of an example", sides.join(" x ")),
        ("to be predicted", run.data.description().map_or(goal, str::to_owned)),
    ]
}

fn training(run: &Run) -> Vec<(&'static str, String)> {
    let candidates: Vec<String> = run.project.symmetries.candidates.iter().map(ToString::to_string).collect();
    let mut rows = vec![
        ("candidate symmetries", candidates.join(", ")),
        ("network", run.network.clone()),
        ("learner", format!("{}, {}", run.learner.name(), run.rule.in_words(run.measure))),
    ];
    rows.extend(run.screen.iter().flat_map(screened));
    rows.push(("seed", run.project.train.seed.to_string()));
    rows
}

fn screened(record: &ScreenRecord) -> [(&'static str, String); 2] {
    let [fitted, selected, decided] = record.fold;
    let split = format!("{fitted} train and {selected} select sets of symmetries, {decided} others decide");
    let decision = match record.config.folds {
        1 => split,
        folds => format!("{folds} folds; in the first {split}"),
    };
    let training = format!("{} epochs, {} sets of symmetries fitted", record.epochs, record.fits);
    [("decision", format!("{decision}, by a {}", record.decided_by.in_words())), ("training", training)]
}

fn shortened(names: &[String]) -> String {
    if names.len() > 20 { format!("{}, ...", names[..20].join(", ")) } else { names.join(", ") }
}

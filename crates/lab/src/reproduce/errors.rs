//! How often the learner `screen` is wrong where every candidate holds: each claim against one is an error.

use invar_tasks::{Labels, SequenceTask, Sequences, Sizes};

use super::budget::Budget;
use crate::problem::Data;
use crate::screen::{ScreenRecord, Settings, Verdict};
use crate::table::{Cell, Row, Table};

/// Fits are short: what counts is their number.
pub(super) const SETTINGS: Settings =
    Settings { epochs: 60, refit_epochs: 10, learning_rate: 2e-3, batch: 128, starts: 1, alpha: 0.05 };

/// Training and validation examples, test examples.
pub(super) fn examples(budget: Budget) -> (usize, usize) {
    if budget == Budget::Smoke { (320, 100) } else { (4_000, 500) }
}

/// Short sequences with nothing to learn, and with nothing to contradict.
pub(super) fn data(budget: Budget) -> Vec<Data> {
    let (examples, test) = examples(budget);
    let sizes = Sizes { examples, test, ..Sizes::default() };
    let of = |task, labels| Data::Sequences(Sequences { length: 6, sizes, labels, ..Sequences::new(task) });
    vec![
        of(SequenceTask::Sum, Labels::Own),
        of(SequenceTask::Sum, Labels::Shuffled),
        of(SequenceTask::Geometric, Labels::Shuffled),
    ]
}

/// A task with what was done to its labels.
pub(super) fn label(data: Data) -> String {
    match data {
        Data::Sequences(Sequences { labels: Labels::Shuffled, task, .. }) => format!("{}, labels shuffled", task.name()),
        data => format!("{}, every candidate holds", data.name()),
    }
}

/// Shares of wrong claims, under each of the two rules.
pub(super) fn row(data: Data, found: &[&ScreenRecord]) -> Row {
    let wrong = |answer: usize, is_wrong: fn(&Verdict) -> bool| -> Vec<f64> {
        let share = |record: &&ScreenRecord| {
            let verdicts = &record.answers[answer].verdicts;
            verdicts.iter().filter(|verdict| is_wrong(verdict)).count() as f64 / verdicts.len().max(1) as f64
        };
        found.iter().map(share).collect()
    };
    let any = |shares: Vec<f64>| shares.into_iter().map(|share| f64::from(u8::from(share > 0.0))).collect::<Vec<_>>();
    let claims = |k: usize| wrong(k, |verdict| *verdict != Verdict::KeptFreely);
    let lost = |k: usize| wrong(k, |verdict| matches!(verdict, Verdict::Contradicted | Verdict::Dropped(_)));
    let detectable: Vec<f64> = found.iter().map(|record| record.detectable / 100.0).collect();
    let cells = [lost(0), claims(0), any(claims(0)), lost(1), claims(1), any(claims(1)), detectable];
    let candidates = found.first().map_or_else(|| "-".into(), |record| record.names.len().to_string());
    let labels = vec![label(data), candidates, found.len().to_string()];
    Row { labels, cells: cells.iter().map(|shares| Cell::of(shares, None, false)).collect() }
}

/// The table of such rows.
pub(super) fn table(rows: Vec<Row>, describe: String) -> Table {
    let columns = [
        "not kept",
        "any cost claimed",
        "screens with a claim",
        "strict: not kept",
        "strict: any cost claimed",
        "strict: screens with a claim",
        "detectable",
    ];
    let note = "Percent of candidates, mean ± half width of the 95 % interval over seeds. Every candidate holds, so each of these is \
        an error: not kept (contradicted or dropped), or any verdict but `kept freely`. Tests are at 5 % for a whole screen, \
        corrected over its candidates. Detectable: the smallest cost in points that the validation examples could show.";
    Table {
        name: "rates".into(),
        title: "Wrong verdicts of the learner screen where nothing contradicts".into(),
        labels: ["task", "candidates", "screens"].map(Into::into).to_vec(),
        columns: columns.map(Into::into).to_vec(),
        rows,
        notes: vec![describe, note.into()],
    }
}

//! How often the learner `screen` is wrong where every candidate holds: each claim against one is an error.

use invar_tasks::{Labels, SequenceTask, Sequences, Sizes};

use super::budget::Budget;
use crate::problem::Data;
use crate::screen::{ScreenRecord, Settings, Verdict};
use crate::stats::proportion;
use crate::table::{Cell, Row, Table};

/// Fits are short: what counts is their number.
pub(super) const SETTINGS: Settings =
    Settings { epochs: 60, refit_epochs: 10, learning_rate: 2e-3, batch: 128, starts: 1, alpha: 0.05, grown: true };

/// Training and validation examples, test examples.
pub(super) fn examples(budget: Budget) -> (usize, usize) {
    if budget == Budget::Smoke { (320, 100) } else { (4_000, 500) }
}

/// Short sequences with nothing to contradict, and with nothing to learn. Shuffled labels must have few values, so that guessing is
/// right often enough for a network to lose by it.
pub(super) fn data(budget: Budget) -> Vec<Data> {
    let (examples, test) = examples(budget);
    let sizes = Sizes { examples, test, ..Sizes::default() };
    let of = |task, labels| Data::Sequences(Sequences { length: 6, sizes, labels, ..Sequences::new(task) });
    vec![of(SequenceTask::Sum, Labels::Own), of(SequenceTask::Geometric, Labels::Shuffled)]
}

/// A task with what was done to its labels.
pub(super) fn label(data: Data) -> String {
    match data {
        Data::Sequences(Sequences { labels: Labels::Shuffled, task, .. }) => format!("{}, labels shuffled", task.name()),
        data => format!("{}, every candidate holds", data.name()),
    }
}

/// Which verdicts are wrong where every candidate holds, from worst to mildest.
const WRONG: [fn(&Verdict) -> bool; 3] = [
    |verdict| matches!(verdict, Verdict::Contradicted | Verdict::Dropped(_) | Verdict::Refused),
    |verdict| *verdict == Verdict::Tolerated,
    |verdict| *verdict == Verdict::Undecided,
];

/// How many verdicts are wrong, and how many screens have one that claims a cost, under each of the two rules.
pub(super) fn row(data: Data, found: &[&ScreenRecord]) -> Row {
    let candidates = found.first().map_or(0, |record| record.names.len());
    let verdicts = |k: usize| found.iter().map(move |record| &record.answers[k].verdicts);
    let share = |hits: usize, count: usize| {
        let [low, high] = proportion(hits, count);
        format!("{hits} of {count} ({:.1} to {:.1} %)", 100.0 * low, 100.0 * high)
    };
    let mut labels = vec![label(data), candidates.to_string()];
    for k in 0..2 {
        let each = WRONG.map(|wrong| verdicts(k).flatten().filter(|verdict| wrong(verdict)).count());
        let claims = |verdicts: &&Vec<Verdict>| verdicts.iter().any(|verdict| WRONG[..2].iter().any(|wrong| wrong(verdict)));
        labels.push(share(verdicts(k).filter(claims).count(), found.len()));
        labels.extend(each.map(|count| count.to_string()));
    }
    let detectable: Vec<f64> = found.iter().map(|record| record.detectable / 100.0).collect();
    Row { labels, cells: vec![Cell::of(&detectable, None, false)] }
}

/// The table of such rows.
pub(super) fn table(rows: Vec<Row>, describe: String) -> Table {
    let rule =
        |rule: &str| ["screens with a wrong claim", "not kept", "tolerated", "undecided"].map(|what| format!("{rule}{what}"));
    let note = "Every candidate holds, so every verdict but `kept freely` is an error. Screens with a wrong claim: how many call at least \
        one candidate contradicted, dropped, undecided and not kept, or tolerated, with Wilson's 95 % interval; then how many verdicts are of each kind. Single \
        candidates are tested at 5 % for a whole screen (Holm); joint fits are tested one by one at 5 %, and `undecided` goes by \
        the 95 % interval of the candidate alone, uncorrected. Detectable: the smallest cost in points that the validation examples could \
        show.";
    Table {
        name: "rates".into(),
        title: "Wrong verdicts of the learner screen where nothing contradicts".into(),
        labels: ["task".into(), "candidates".into()].into_iter().chain(rule("")).chain(rule("strict: ")).collect(),
        columns: vec!["detectable".into()],
        rows,
        notes: vec![describe, note.into()],
    }
}

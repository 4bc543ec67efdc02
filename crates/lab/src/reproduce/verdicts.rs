//! How often the learner `screen` is right about a candidate, where the truth is known.

use crate::problem::Data;
use crate::screen::ScreenRecord;
use crate::table::{Cell, Row, Table};

/// What was kept against what holds.
struct Tally {
    hold: usize,
    lost: usize,
    others: usize,
    wrong: usize,
}

impl Tally {
    /// Of one screen under the k-th rule; none where the truth is not known.
    fn of(record: &ScreenRecord, k: usize) -> Option<Self> {
        let (truth, kept) = (record.truth.as_ref()?, &record.answers.get(k)?.kept);
        let hold = truth.iter().count();
        Some(Self {
            hold,
            lost: truth.iter().filter(|&group| !kept.contains(group)).count(),
            others: record.names.len() - hold,
            wrong: kept.iter().filter(|&group| !truth.contains(group)).count(),
        })
    }

    fn right(&self) -> f64 {
        1.0 - (self.lost + self.wrong) as f64 / (self.hold + self.others).max(1) as f64
    }
}

/// Over all screens of a task, under both rules.
pub(super) fn row(data: Data, found: &[&ScreenRecord]) -> Row {
    let (mut labels, mut cells) = (vec![data.row()], Vec::new());
    for k in 0..2 {
        let tallies: Vec<Tally> = found.iter().filter_map(|record| Tally::of(record, k)).collect();
        let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
        let (hold, others) = (sum(|tally| tally.hold), sum(|tally| tally.others));
        labels.push(format!("{} of {hold}", sum(|tally| tally.lost)));
        labels.push(format!("{} of {others}", sum(|tally| tally.wrong)));
        cells.push(Cell::of(&tallies.iter().map(Tally::right).collect::<Vec<_>>(), None, false));
    }
    Row { labels, cells }
}

/// The table of such rows.
pub(super) fn table(rows: Vec<Row>, describe: String) -> Table {
    let note = "Over all repeats. Lost: candidates that hold and were not kept; wrongly kept: candidates that do not hold and were, at a \
        tolerance of 5 points and in strict mode. Right: share of candidates about which a screen is right, in percent, mean ± half width \
        of the 95 % interval over repeats.";
    let labels = ["task", "lost", "wrongly kept", "strict: lost", "strict: wrongly kept"];
    Table {
        name: "verdicts".into(),
        title: "How often the learner screen is right about a symmetry".into(),
        labels: labels.map(Into::into).to_vec(),
        columns: ["right", "strict: right"].map(Into::into).to_vec(),
        rows,
        notes: vec![describe, note.into()],
    }
}

//! Tables drawn from several experiments: Table 1 as a whole, and what each part of the method contributes.

use invar_nn::Head;
use invar_tasks::{ImageTask, Invariant, SequenceTask};

use super::budget::Budget;
use super::experiment::extrapolation;
use super::figures_note;
use super::images::{self, ImageTables};
use super::lift::LiftTables;
use super::screen::{Field, ScreenTables};
use super::sequences::{SequenceTables, TABLE1};
use crate::fit::Method;
use crate::problem::Data;
use crate::record::Record;
use crate::screen::{Role, ScreenRecord};
use crate::table::{Cell, Row, Table};

/// Who decides what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learner {
    /// The paper's penalty.
    Cgreg,
    /// Evidence screening.
    Screen,
}

/// What several experiments have recorded.
#[derive(Debug, Default)]
pub struct Recordings {
    /// Of [`SequenceTables`], for both heads.
    pub sequences: Vec<Record>,
    /// Of [`ImageTables`], for both heads.
    pub images: Vec<Record>,
    /// Of [`LiftTables`], for both heads.
    pub lift: Vec<Record>,
    /// Of [`ScreenTables`] on sequences.
    pub screened_sequences: Vec<ScreenRecord>,
    /// Of [`ScreenTables`] on images.
    pub screened_images: Vec<ScreenRecord>,
}

impl Recordings {
    /// The screens of a field.
    fn screens(&self, field: Field) -> &[ScreenRecord] {
        match field {
            Field::Sequences => &self.screened_sequences,
            Field::Images => &self.screened_images,
            // In no table of these.
            Field::Bench | Field::Errors => &[],
        }
    }
}

/// A row of Table 1.
#[derive(Debug, Clone, Copy)]
enum Place {
    Images(ImageTask, Invariant),
    Sequences(SequenceTask),
}

impl Place {
    /// As in the paper: images first, each part from least to most invariant.
    fn all(budget: Budget) -> Vec<Self> {
        let rows = |&task: &ImageTask| images::rows(budget).iter().map(move |&invariant| Self::Images(task, invariant));
        let images = images::tasks(budget).iter().flat_map(rows);
        images.chain(TABLE1.map(Self::Sequences)).collect()
    }

    fn labels(self) -> Vec<String> {
        match self {
            Self::Images(task, invariant) => vec![task.name().into(), invariant.name().into()],
            Self::Sequences(task) => vec![task.name().into(), task.symmetry_in_words().into()],
        }
    }

    fn data(self, budget: Budget) -> Data {
        match self {
            Self::Images(task, invariant) => Data::Images(images::data(budget, task, invariant)),
            Self::Sequences(task) => SequenceTables { budget, head: Head::Hidden }.data(task),
        }
    }

    /// Where it is screened with a network whose whole answer is invariant.
    fn field(self) -> Field {
        match self {
            Self::Images(..) => Field::Images,
            Self::Sequences(_) => Field::Sequences,
        }
    }

    /// Baseline, forced invariance, CG-reg., its oracle, chance.
    fn paper_cells(self, budget: Budget, recordings: &Recordings) -> Vec<Cell> {
        match self {
            Self::Images(task, invariant) => ImageTables::new(budget).table1_cells(&recordings.images, task, invariant),
            Self::Sequences(task) => SequenceTables { budget, head: Head::Hidden }.table1_cells(&recordings.sequences, task),
        }
    }
}

/// The paper's Table 1 with ours beside it; rows of MNIST once more where they were screened with all images.
pub fn table1(budget: Budget, learner: Learner, recordings: &Recordings) -> Table {
    let row = |budget: Budget, place: Place| {
        let mut cells = place.paper_cells(budget, recordings);
        if learner == Learner::Screen {
            let (screens, records) = (ScreenTables { budget, field: place.field() }, recordings.screens(place.field()));
            let data = place.data(budget);
            let role = |role| screens.role(records, data, role);
            let own = [screens.kept(records, data, false), screens.chosen(records, data), role(Role::Free), role(Role::Oracle)];
            cells.splice(3..4, own);
            // The others may not have been run.
            if let Some(chance) = cells.last_mut().filter(|chance| chance.ours.is_none()) {
                *chance = role(Role::Guess);
            }
        }
        Row { labels: place.labels(), cells }
    };
    let whole = |place: Place| {
        let Row { mut labels, cells } = row(Budget::Fold, place);
        labels[0].push_str(", all images");
        Row { labels, cells }
    };
    let columns: &[&str] = match learner {
        Learner::Cgreg => &["VGG or Transformer", "+G-inv", "+CGreg", "oracle", "chance"],
        Learner::Screen => {
            &["VGG or Transformer", "+G-inv", "+CGreg", "screen, network", "screen", "nothing imposed", "oracle", "chance"]
        }
    };
    let mut notes = vec![
        format!("Images. {}", ImageTables::new(budget).describe()),
        format!("Sequences. {}", SequenceTables { budget, head: Head::Hidden }.describe()),
        format!(
            "{} Strong: CG-reg. significantly better than the models to its left (paired over repeats, p < 0.05 each, uncorrected). \
             +G-inv on sequences is the best of DeepSets, Janossy pooling and Set Transformer by its mean, as in the paper.",
            figures_note("seeds or folds")
        ),
    ];
    let folds = if learner == Learner::Screen && budget == Budget::Standard { whole_folds(recordings) } else { Vec::new() };
    if !folds.is_empty() {
        let screens = ScreenTables { budget: Budget::Fold, field: Field::Images };
        notes.push(format!("All images: MNIST in one whole fold, as far as it was screened. {}", describe(screens, recordings)));
    }
    if learner == Learner::Screen {
        for (what, field) in [("images", Field::Images), ("sequences", Field::Sequences)] {
            notes.push(format!("Screen on {what}. {}", describe(ScreenTables { budget, field }, recordings)));
        }
        notes.push(
            "Screen: on sequences the network of the paper, on images group convolutions; with a linear output where validation shows \
             no loss, but in the column of the network. Oracle: the same with the true symmetries imposed."
                .into(),
        );
    }
    Table {
        name: match learner {
            Learner::Cgreg => "cgreg".into(),
            Learner::Screen => "screen".into(),
        },
        title: format!("Table 1, budget {}: extrapolation accuracy", budget.name()),
        labels: ["task", "invariant to"].map(Into::into).to_vec(),
        columns: columns.iter().map(|&column| column.into()).collect(),
        rows: Place::all(budget).into_iter().map(|place| row(budget, place)).chain(folds.into_iter().map(whole)).collect(),
        notes,
    }
}

/// How the rows of Table 1 were screened.
fn describe(screens: ScreenTables, recordings: &Recordings) -> String {
    screens.describe(recordings.screens(screens.field))
}

/// Rows that were screened with all images.
fn whole_folds(recordings: &Recordings) -> Vec<Place> {
    let screens = ScreenTables { budget: Budget::Fold, field: Field::Images };
    let recorded = |place: &Place| screens.is_recorded(&recordings.screened_images, place.data(Budget::Fold));
    let images = |place: &Place| matches!(place, Place::Images(..));
    Place::all(Budget::Fold).into_iter().filter(|place| images(place) && recorded(place)).collect()
}

/// {network} x {learner} x {head}, on the rows of Table 1.
pub fn ablation(budget: Budget, recordings: &Recordings) -> Table {
    let shares = |records: &[&Record]| Cell::of(&extrapolation(records), None, false);
    let screened = |place: Place, field, linear: bool| {
        ScreenTables { budget, field }.kept(recordings.screens(field), place.data(budget), linear)
    };
    let row = |place: Place, network: &str, cells: Vec<Cell>| {
        let labels = place.labels().into_iter().chain([network.to_string()]).collect();
        Row { labels, cells }
    };
    let rows = Place::all(budget).into_iter().flat_map(|place| match place {
        Place::Images(task, invariant) => {
            let patch = |head| {
                let tables = ImageTables { head, ..ImageTables::new(budget) };
                shares(&tables.chosen(&recordings.images, task, invariant, Method::Cgreg))
            };
            let lift = |head| shares(&LiftTables::new(budget, head).chosen(&recordings.lift, task, invariant, Method::Cgreg));
            let patches = vec![patch(Head::Affine), patch(Head::Hidden), Cell::default(), Cell::default()];
            let lifted = vec![lift(Head::Affine), lift(Head::Hidden), Cell::default(), screened(place, Field::Images, false)];
            vec![row(place, "patch", patches), row(place, "lift", lifted)]
        }
        Place::Sequences(task) => {
            let cgreg = |head| shares(&SequenceTables { budget, head }.chosen(&recordings.sequences, Method::Cgreg, task));
            let own = |linear| screened(place, Field::Sequences, linear);
            let cells = vec![cgreg(Head::Affine), cgreg(Head::Hidden), own(true), own(false)];
            vec![row(place, "feedforward", cells)]
        }
    });
    let note = "Mean ± half width of the 95 % interval over seeds or folds, in percent; a dash was not run. Patch: the paper's network, \
        filters decide; lift: the whole network is invariant. CG-reg.: lambda by the paper's rule.";
    let parts = [
        ("CG-reg. on sequences", SequenceTables { budget, head: Head::Hidden }.describe()),
        ("The same, affine head", SequenceTables { budget, head: Head::Affine }.describe()),
        ("CG-reg. with patches", ImageTables::new(budget).describe()),
        ("CG-reg. with the lift", LiftTables::new(budget, Head::Hidden).describe(&recordings.lift)),
        ("The same, affine head", LiftTables::new(budget, Head::Affine).describe(&recordings.lift)),
        ("Screen on sequences", describe(ScreenTables { budget, field: Field::Sequences }, recordings)),
        ("Screen with the lift", describe(ScreenTables { budget, field: Field::Images }, recordings)),
    ];
    Table {
        name: "extrapolation".into(),
        title: format!("What network, learner and head contribute, budget {}: extrapolation accuracy", budget.name()),
        labels: ["task", "invariant to", "network"].map(Into::into).to_vec(),
        columns: ["CGreg, affine", "CGreg, hidden", "screen, linear output", "screen, network"].map(Into::into).to_vec(),
        rows: rows.collect(),
        notes: [note.into()].into_iter().chain(parts.map(|(what, how)| format!("{what}. {how}"))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use invar_tasks::{Sequences, Sizes};

    use super::*;
    use crate::queue::Stop;
    use crate::screen::ScreenConfig;

    #[test]
    fn table_1_is_whole_before_anything_is_run() {
        let nothing = Recordings::default();
        for (learner, columns) in [(Learner::Cgreg, 5), (Learner::Screen, 8)] {
            let table = table1(Budget::Standard, learner, &nothing);
            assert_eq!((table.rows.len(), table.columns.len()), (12, columns));
            assert!(table.rows.iter().all(|row| row.cells.len() == columns && row.labels.len() == 2));
            let text = table.text();
            assert!(text.contains("[94.49±1.49]") && text.contains("[71.85±26.61]"), "{text}");
        }
    }

    #[test]
    fn rows_with_all_images_stand_below_the_others() {
        let sizes = Sizes { examples: 40, test: 10, ..Sizes::default() };
        let data = Data::Sequences(Sequences { length: 2, sizes, ..Sequences::new(SequenceTask::Sum) });
        let problem = data.problem(0).unwrap();
        let mut tiny = ScreenConfig { folds: 1, ..ScreenConfig::new(data, &problem) };
        (tiny.settings.epochs, tiny.settings.restarts) = (1, 1);
        // In an epoch nothing is learned, and nothing else would be kept.
        tiny.required = [0].into_iter().collect();
        let found = tiny.screen(&problem, 1, &Stop::new(), &|_| (), None).unwrap().record;
        let fold = ScreenTables { budget: Budget::Fold, field: Field::Images }.tasks().remove(2);
        let config = ScreenConfig { data: fold, seed: 0, ..found.config.clone() };
        let recordings = Recordings { screened_images: vec![ScreenRecord { config, ..found }], ..Recordings::default() };
        let table = table1(Budget::Standard, Learner::Screen, &recordings);
        let row = &table.rows[12];
        assert_eq!((table.rows.len(), row.labels.join("; ")), (13, "mnist, all images; rot,vflip".into()));
        assert!(row.cells[3..].iter().all(|cell| cell.ours.is_some()) && row.cells[2].paper.is_some());
        assert!(table.notes.iter().any(|note| note.starts_with("All images: ")));
        for (budget, learner) in [(Budget::Standard, Learner::Cgreg), (Budget::Paper, Learner::Screen)] {
            assert_eq!(table1(budget, learner, &recordings).rows.len(), 12);
        }
    }

    #[test]
    fn an_ablation_has_both_networks_for_images() {
        let table = ablation(Budget::Standard, &Recordings::default());
        assert_eq!(table.rows.len(), 2 * 8 + 4);
        assert!(table.rows.iter().all(|row| row.cells.len() == 4 && row.labels.len() == 3));
    }
}

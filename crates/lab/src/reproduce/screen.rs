//! The learner `screen` on the paper's tasks, on others, and on a bench of small tasks.

use std::path::Path;

use invar_tasks::{ArrayTask, Arrays, GraphTask, Graphs, ImageTask, SequenceTask, Sequences, Sizes};
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::experiment::{Only, in_paper};
use super::{images, printed, seeds};
use crate::error::{Error, Result};
use crate::fit::Method;
use crate::problem::Data;
use crate::queue::{self, Stop};
use crate::record::Records;
use crate::screen::{Kind, Memory, ModelRow, Progress, Role, ScreenConfig, ScreenRecord, Screened};
use crate::table::{Cell, Row, Table};

const SEQUENCES: [SequenceTask; 9] = [
    SequenceTask::Sum,
    SequenceTask::Sum2,
    SequenceTask::EvenMinusOdd,
    SequenceTask::Geometric,
    SequenceTask::AbsDiff,
    SequenceTask::Max,
    SequenceTask::ThirdPlusLarge,
    SequenceTask::OddPlusLarge,
    SequenceTask::Thirds,
];
const GRAPHS: [GraphTask; 3] = [GraphTask::Edges, GraphTask::Degree, GraphTask::Triangles];

/// On which tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Sequences and graphs.
    Sequences,
    /// Images.
    Images,
    /// Ten small tasks on arrays, with the baseline that augments and keeps what does not hurt.
    Bench,
    /// The same in several sizes, with noise and with symmetries that nearly hold: how often verdicts are false.
    Errors,
}

/// The tables of the learner `screen` on a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenTables {
    /// How much to run.
    pub budget: Budget,
    /// On which tasks.
    pub field: Field,
}

impl ScreenTables {
    /// The name of its files.
    pub fn name(self) -> String {
        let field = match self.field {
            Field::Sequences => "sequences",
            Field::Images => "images",
            Field::Bench => "bench",
            Field::Errors => "errors",
        };
        format!("screen-{field}-{}", self.budget.name())
    }

    fn data(self) -> Vec<Data> {
        let (examples, test) = self.budget.examples();
        let sizes = Sizes { examples, test, ..Sizes::default() };
        match self.field {
            Field::Sequences => {
                let sequences = SEQUENCES.into_iter().map(|task| Data::Sequences(Sequences { sizes, ..Sequences::new(task) }));
                let graphs = GRAPHS.into_iter().map(|task| Data::Graphs(Graphs { sizes, ..Graphs::new(task) }));
                sequences.chain(graphs).collect()
            }
            Field::Images => {
                let (budget, rows) = (self.budget, images::rows(self.budget));
                let of = |&task: &ImageTask| rows.iter().map(move |&row| Data::Images(images::data(budget, task, row)));
                images::tasks(budget).iter().flat_map(of).collect()
            }
            Field::Errors => super::errors::data(self.budget),
            Field::Bench => {
                let of = |task| match self.budget {
                    Budget::Smoke => Arrays { sizes, ..Arrays::new(task) },
                    Budget::Quick => {
                        let new = Arrays::new(task);
                        Arrays { sizes: Sizes { examples: 1000, ..new.sizes }, ..new }
                    }
                    _ => Arrays::new(task),
                };
                ArrayTask::ALL.into_iter().map(|task| Data::Arrays(of(task))).collect()
            }
        }
    }

    /// Seeds; for images folds.
    fn repeats(self) -> u64 {
        match (self.field, self.budget) {
            (_, Budget::Smoke) | (Field::Sequences | Field::Errors, Budget::Quick) => 1,
            (Field::Images, budget) => images::repeats(budget),
            (Field::Errors, _) => 2,
            (Field::Bench, _) => 3,
            (Field::Sequences, _) => 5,
        }
    }

    /// Every screen; the paper's tasks before others, and all tasks of a seed before the next seed, so that a run that is cut
    /// short has the most to show.
    fn plans(self) -> Vec<(u64, Data)> {
        let all = |own: bool| {
            let data = self.data().into_iter().filter(move |data| in_paper(data) == own).collect::<Vec<_>>();
            (0..self.repeats()).flat_map(move |repeat| data.clone().into_iter().map(move |data| (repeat, data)))
        };
        let plans = all(true).chain(all(false)).map(|(repeat, data)| (repeat, images::in_fold(data, repeat))).collect();
        if self.field == Field::Errors { super::errors::in_turn(plans) } else { plans }
    }

    /// The tasks of all screens.
    pub fn tasks(self) -> Vec<Data> {
        self.plans().into_iter().map(|(_, data)| data).collect()
    }

    /// The configuration of a screen. It depends on the data, which are drawn for it.
    fn config(self, seed: u64, data: Data) -> Result<(ScreenConfig, crate::problem::Problem)> {
        // Folds are the repeats of images.
        let seed = if matches!(data, Data::Images(_)) { 0 } else { seed };
        let problem = data.problem(seed)?;
        let mut config = ScreenConfig {
            seed,
            augment: matches!(self.field, Field::Bench | Field::Errors),
            ..ScreenConfig::new(data, &problem)
        };
        match (self.field, self.budget) {
            (Field::Sequences | Field::Bench | Field::Errors, Budget::Smoke) => config.settings.epochs = 3,
            (Field::Images, Budget::Smoke) => config.settings.epochs = 1,
            _ => {}
        }
        if self.field == Field::Errors {
            config.fresh = if self.budget == Budget::Smoke { 1000 } else { super::errors::FRESH };
        }
        if self.budget == Budget::Smoke {
            (config.settings.restarts, config.folds) = (1, 1);
        }
        Ok((config, problem))
    }

    /// Screens of these rows that are not recorded.
    pub fn missing(self, records: &[ScreenRecord], only: Only<'_>) -> Vec<(u64, Data)> {
        let known = |seed: u64, data: Data| records.iter().any(|record| Self::is(record, seed, data));
        only.of(self.plans(), |plan| plan.1).into_iter().filter(|&(seed, data)| !known(seed, data)).collect()
    }

    fn is(record: &ScreenRecord, seed: u64, data: Data) -> bool {
        let seed = if matches!(data, Data::Images(_)) { 0 } else { seed };
        record.config.data == data && record.config.seed == seed
    }

    /// Runs one screen. What it has fitted is kept in a folder until it is told to forget it.
    pub(super) fn one(
        self,
        (seed, data): (u64, Data),
        folder: &Path,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(Progress) + Sync),
    ) -> Result<(ScreenRecord, Memory)> {
        let (config, problem) = self.config(seed, data)?;
        let memory = Memory::among(folder, &config)?;
        let Screened { record, .. } = config.screen(&problem, threads, stop, listen, Some(&memory))?;
        Ok((record, memory))
    }

    /// Runs screens, and records each as it ends. Stops early when asked; what such a screen has fitted is kept beside the records,
    /// and it goes on from there the next time. A screen that fails does not stop the others; its error comes last.
    ///
    /// `listen` hears of the progress of each screen by its number, `ended` of every screen that has ended.
    pub fn run(
        self,
        screens: &[(u64, Data)],
        records: &mut Records<ScreenRecord>,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(usize, Progress) + Sync),
        mut ended: impl FnMut(usize, &ScreenRecord),
    ) -> Result<()> {
        let folder = records.path().with_extension("fits");
        // One screen to a core is fastest; the fits of a screen share what cores are left over.
        let each = (threads / screens.len().max(1)).max(1);
        let jobs: Vec<(usize, u64, Data)> = screens.iter().enumerate().map(|(k, &(seed, data))| (k, seed, data)).collect();
        let screen =
            |&(k, seed, data): &(usize, u64, Data)| self.one((seed, data), &folder, each, stop, &|progress| listen(k, progress));
        let mut failed = None;
        let outcome = queue::run(&jobs, threads, stop, screen, |k, outcome| match outcome {
            Err(Error::Stopped) => Ok(()),
            Err(error) => {
                failed.get_or_insert(error);
                Ok(())
            }
            Ok((record, memory)) => {
                ended(k, &record);
                records.add(record)?;
                memory.forget()
            }
        });
        // It is there for as long as fits are in it.
        let _ = std::fs::remove_dir(&folder);
        outcome.and(failed.map_or(Ok(()), Err))
    }

    /// All tables, from what is recorded so far.
    pub fn tables(self, records: &[ScreenRecord]) -> Vec<Table> {
        match self.field {
            Field::Errors => vec![super::errors::table(&records.iter().collect::<Vec<_>>(), self.describe(records))],
            _ => vec![self.extrapolation(records)],
        }
    }

    /// The records of a task, by repeat.
    fn of(self, records: &[ScreenRecord], data: Data) -> Vec<&ScreenRecord> {
        let wanted = (0..self.repeats()).map(|repeat| (repeat, images::in_fold(data, repeat)));
        wanted.filter_map(|(seed, data)| records.iter().find(|record| Self::is(record, seed, data))).collect()
    }

    /// Whether a task was screened.
    pub(super) fn is_recorded(self, records: &[ScreenRecord], data: Data) -> bool {
        !self.of(records, data).is_empty()
    }

    /// Accuracy in the other environment of some model of every screen.
    fn cell(self, records: &[ScreenRecord], data: Data, model: impl Fn(&ScreenRecord) -> Option<&ModelRow>) -> Cell {
        let share = |record: &&ScreenRecord| Some(model(record)?.extrapolation?.accuracy);
        Cell::of(&self.of(records, data).iter().filter_map(share).collect::<Vec<_>>(), None, false)
    }

    /// The final model.
    pub(super) fn chosen(self, records: &[ScreenRecord], data: Data) -> Cell {
        self.cell(records, data, ScreenRecord::chosen)
    }

    /// What was kept imposed on the linear kind, or on the network.
    pub(super) fn kept(self, records: &[ScreenRecord], data: Data, linear: bool) -> Cell {
        let is = |row: &&ModelRow| row.role == Role::Kept && (row.kind == Some(Kind::Linear)) == linear;
        self.cell(records, data, |record| record.models.iter().find(is))
    }

    /// A model of a role.
    pub(super) fn role(self, records: &[ScreenRecord], data: Data, role: Role) -> Cell {
        self.cell(records, data, |record| record.model(role))
    }

    fn extrapolation(self, records: &[ScreenRecord]) -> Table {
        let bench = self.field == Field::Bench;
        let row = |data: Data| {
            let found = self.of(records, data);
            let mut cells = vec![
                Cell { paper: paper(data), ..self.chosen(records, data) },
                self.role(records, data, Role::Oracle),
                self.kept(records, data, false),
                self.role(records, data, Role::Free),
                self.role(records, data, Role::Plain),
            ];
            if bench {
                cells.push(self.role(records, data, Role::Augmented));
            }
            cells.push(self.role(records, data, Role::Guess));
            let is_true = |record: &&&ScreenRecord| record.truth.as_ref() == Some(&record.kept);
            let wrong = |record: &&ScreenRecord| {
                let truth = record.truth.as_ref();
                record.kept.iter().filter(|&one| truth.is_some_and(|truth| !truth.contains(one))).count()
            };
            let labels = vec![
                data.row(),
                format!("{} of {}", found.iter().filter(is_true).count(), found.len()),
                found.iter().map(wrong).sum::<usize>().to_string(),
                found.first().map_or(String::new(), |record| record.decided_by.in_words().into()),
            ];
            Row { labels, cells }
        };
        let mut columns = vec!["chosen", "oracle", "network", "nothing imposed", "plain"];
        if bench {
            columns.push("augment and keep");
        }
        columns.push("guess");
        let figures = "In the other environment, percent (accuracy; R² for numbers on arrays), mean ± half width of the 95 % interval over \
            repeats; in brackets the paper's CG-reg. Found: in how many screens exactly the true symmetries were kept; wrong: false ones \
            kept in all of them. Chosen: the final model; oracle: the same with the true symmetries imposed; network: the kept ones imposed \
            without the choice of a linear output; nothing imposed: that network without constraint.";
        Table {
            name: "extrapolation".into(),
            title: format!(
                "The learner screen on {}",
                match self.field {
                    Field::Images => "images",
                    Field::Sequences => "sequences and graphs",
                    Field::Bench | Field::Errors => "ten small tasks",
                }
            ),
            labels: ["task", "found", "wrong", "decided by"].map(Into::into).to_vec(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: self.data().into_iter().map(row).collect(),
            notes: vec![self.describe(records), figures.into()],
        }
    }

    /// How these tasks were screened.
    pub(super) fn describe(self, records: &[ScreenRecord]) -> String {
        let repeats = match self.field {
            Field::Images => images::folds(self.repeats()),
            Field::Sequences | Field::Bench | Field::Errors => seeds(self.repeats()),
        };
        let how = self.data().into_iter().find_map(|data| self.of(records, data).into_iter().next());
        let how = how.map_or(String::new(), |record| {
            let config = &record.config;
            let [train, validation, _] = record.examples;
            let folds = if config.folds == 1 { "one split".into() } else { format!("{} folds", config.folds) };
            format!(
                "; {train} training and {validation} validation examples, {folds}, {} epochs of Adam at up to {} on a one-cycle schedule, {}",
                config.settings.epochs,
                config.settings.learning_rate,
                config.rule.in_words(record.measure)
            )
        });
        format!("Budget {}: {repeats}{how}.", self.budget.name())
    }
}

fn paper(data: Data) -> Option<(f64, f64)> {
    match data {
        Data::Sequences(sequences) => printed::sequences(Method::Cgreg, sequences.task),
        Data::Images(images) => printed::images(Method::Cgreg, images.task, images.invariant),
        Data::Graphs(_) | Data::Arrays(_) | Data::Files(_) => None,
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

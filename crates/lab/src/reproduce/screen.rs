//! The learner `screen` on the paper's sequence tasks, and on tasks that no affine function can do, beside the paper's figures.

use invar_nn::Head;
use invar_tasks::{GraphTask, Graphs, ImageTask, Images, SequenceTask, Sequences, Sizes};

use super::budget::Budget;
use super::experiment::{Only, in_paper};
use super::images::{self, ImageTables};
use super::{errors, printed, seeds, verdicts};
use crate::error::{Error, Result};
use crate::fit::Method;
use crate::networks::Backbone;
use crate::problem::Data;
use crate::queue::{self, Stop};
use crate::record::Records;
use crate::screen::{Memory, Progress, Rule, ScreenConfig, ScreenRecord, Screened, Settings, cost_over_seeds};
use crate::stats::Mean;
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
const GRAPHS: [GraphTask; 2] = [GraphTask::Edges, GraphTask::Degree];

/// Every screen answers to both: within the tolerance, and strictly.
const RULES: [Rule; 2] = [Rule { tolerance: 5.0, strict: false }, Rule { tolerance: 5.0, strict: true }];

/// On which tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Sequences and graphs, with the CG feedforward network.
    Sequences,
    /// Images, with the lifted network.
    Images,
    /// Images, with the paper's network.
    Patches,
    /// Short sequences where every candidate holds: how often is a verdict wrong?
    Errors,
}

/// The tables of the learner `screen` on a budget.
#[derive(Debug, Clone, Copy)]
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
            Field::Patches => "patches",
            Field::Errors => "errors",
        };
        format!("screen-{field}-{}", self.budget.name())
    }

    fn data(self) -> Vec<Data> {
        match self.field {
            Field::Sequences => {
                let (examples, test) = self.budget.examples();
                let sizes = Sizes { examples, test, ..Sizes::default() };
                let sequences = SEQUENCES.into_iter().map(|task| Data::Sequences(Sequences { sizes, ..Sequences::new(task) }));
                let graphs = GRAPHS.into_iter().map(|task| Data::Graphs(Graphs { sizes, ..Graphs::new(task) }));
                sequences.chain(graphs).collect()
            }
            Field::Images | Field::Patches => {
                let (budget, rows) = (self.budget, images::rows(self.budget));
                let of = |&task: &ImageTask| rows.iter().map(move |&row| Data::Images(images::data(budget, task, row)));
                images::tasks(budget).iter().flat_map(of).collect()
            }
            Field::Errors => errors::data(self.budget),
        }
    }

    /// Seeds; for images folds.
    fn repeats(self) -> u64 {
        match (self.field, self.budget) {
            (_, Budget::Smoke) | (Field::Sequences, Budget::Quick) => 1,
            (Field::Images | Field::Patches, budget) => images::repeats(budget),
            (Field::Errors, Budget::Standard | Budget::Fold) => 20,
            (Field::Errors, Budget::Paper) => 100,
            (Field::Sequences | Field::Errors, _) => 5,
        }
    }

    fn settings(self) -> Settings {
        match (self.field, self.budget) {
            (Field::Sequences, Budget::Smoke) => Settings { epochs: 3, refit_epochs: 2, starts: 1, ..Settings::default() },
            (Field::Sequences, Budget::Quick) => Settings { epochs: 150, refit_epochs: 20, starts: 2, ..Settings::default() },
            (Field::Sequences, _) => Settings::default(),
            (Field::Images | Field::Patches, Budget::Smoke) => {
                Settings { epochs: 1, refit_epochs: 1, starts: 1, ..Settings::images() }
            }
            (Field::Images | Field::Patches, Budget::Quick | Budget::Standard) => Settings { starts: 1, ..Settings::images() },
            // Epochs of four times as many steps.
            (Field::Images | Field::Patches, Budget::Fold) => {
                Settings { epochs: 5, refit_epochs: 2, starts: 1, ..Settings::images() }
            }
            (Field::Images | Field::Patches, Budget::Paper) => Settings::images(),
            (Field::Errors, Budget::Smoke) => Settings { epochs: 3, refit_epochs: 2, ..errors::SETTINGS },
            (Field::Errors, _) => errors::SETTINGS,
        }
    }

    /// Every screen; the paper's tasks before others, and all tasks of a seed before the next seed, so that a run that is cut
    /// short has the most to show.
    pub fn configs(self) -> Vec<ScreenConfig> {
        let config = |repeat: u64, data: Data| {
            // Folds are the repeats of images.
            let seed = if matches!(data, Data::Images(_)) { 0 } else { repeat };
            let config = ScreenConfig::new(images::in_fold(data, repeat));
            let backbone = match self.field {
                Field::Patches => Some(ImageTables::new(self.budget).backbone()),
                _ => config.backbone,
            };
            ScreenConfig { settings: self.settings(), rules: RULES.to_vec(), backbone, seed, ..config }
        };
        let all = |own: bool| {
            let data = self.data().into_iter().filter(move |data| in_paper(data) == own).collect::<Vec<_>>();
            (0..self.repeats()).flat_map(move |repeat| data.clone().into_iter().map(move |data| (repeat, data)))
        };
        all(true).chain(all(false)).map(|(repeat, data)| config(repeat, data)).collect()
    }

    /// Screens of these rows that are not recorded.
    pub fn missing(self, records: &[ScreenRecord], only: Only<'_>) -> Vec<ScreenConfig> {
        let unknown = |config: &ScreenConfig| records.iter().all(|record| record.config != *config);
        only.of(self.configs(), |config| config.data).into_iter().filter(unknown).collect()
    }

    /// Runs screens, and records each as it ends. Stops early when asked; what such a screen has fitted is kept beside the records,
    /// and it goes on from there the next time.
    ///
    /// `listen` hears of the progress of each screen by its number, `ended` of every screen that has ended.
    pub fn run(
        screens: &[ScreenConfig],
        records: &mut Records<ScreenRecord>,
        threads: usize,
        stop: &Stop,
        listen: &(dyn Fn(usize, Progress) + Sync),
        mut ended: impl FnMut(usize, &ScreenRecord),
    ) -> Result<()> {
        let folder = records.path().with_extension("fits");
        // One screen to a core is fastest; the fits of a screen share what cores are left over.
        let each = (threads / screens.len().max(1)).max(1);
        let jobs: Vec<(usize, &ScreenConfig)> = screens.iter().enumerate().collect();
        let screen = |&(k, config): &(usize, &ScreenConfig)| -> Result<(ScreenRecord, Memory)> {
            let memory = Memory::among(&folder, config)?;
            let problem = config.data.problem(config.seed)?;
            let Screened { record, .. } = config.screen(&problem, each, stop, &|progress| listen(k, progress), Some(&memory))?;
            Ok((record, memory))
        };
        let outcome = queue::run(&jobs, threads, stop, screen, |k, outcome| match outcome {
            Err(Error::Stopped) => Ok(()),
            outcome => {
                let (record, memory) = outcome?;
                ended(k, &record);
                records.add(record)?;
                memory.forget()
            }
        });
        // It is there for as long as fits are in it.
        let _ = std::fs::remove_dir(&folder);
        outcome
    }

    /// All tables, from what is recorded so far.
    pub fn tables(self, records: &[ScreenRecord]) -> Vec<Table> {
        if self.field == Field::Errors {
            let rows = self.data().into_iter().map(|data| errors::row(data, &self.of(records, data))).collect();
            return vec![errors::table(rows, self.describe_of(records, &self.data()))];
        }
        let verdicts = self.data().into_iter().map(|data| verdicts::row(data, &self.of(records, data))).collect();
        let verdicts = verdicts::table(verdicts, self.describe_of(records, &self.data()));
        vec![self.extrapolation(records), self.costs(records), verdicts]
    }

    /// The records of a task, by seed.
    fn of(self, records: &[ScreenRecord], data: Data) -> Vec<&ScreenRecord> {
        let same = |other: Data| match (data, other) {
            (Data::Images(one), Data::Images(other)) => one == Images { fold: one.fold, ..other },
            (one, other) => one == other,
        };
        let wanted: Vec<ScreenConfig> = self.configs().into_iter().filter(|config| same(config.data)).collect();
        let found = |configs: &[ScreenConfig]| -> Vec<&ScreenRecord> {
            configs.iter().filter_map(|config| records.iter().find(|record| record.config == *config)).collect()
        };
        // What was recorded earlier stands until all of a task has been screened again.
        let (now, before) = (found(&wanted), found(&wanted.iter().map(earlier).collect::<Vec<_>>()));
        if now.len() >= before.len() { now } else { before }
    }

    /// How these tasks were screened, and which of them in the earlier way.
    pub(super) fn describe_of(self, records: &[ScreenRecord], tasks: &[Data]) -> String {
        let wanted = self.configs();
        let old = |data: &&Data| self.of(records, **data).iter().any(|record| !wanted.contains(&record.config));
        let old: Vec<String> = tasks.iter().filter(old).map(Data::row).collect();
        if old.is_empty() {
            return self.describe();
        }
        let images = self.field == Field::Images;
        let how = if images { "There is no norm before the head" } else { "Every hidden head begins with fresh weights" };
        format!("{} {how} in the rows {}.", self.describe(), old.join("; "))
    }

    /// Whether a task was screened.
    pub(super) fn is_recorded(self, records: &[ScreenRecord], data: Data) -> bool {
        !self.of(records, data).is_empty()
    }

    /// Extrapolation under the k-th rule with a head; with none, the simplest that is not significantly worse.
    pub(super) fn figure(self, records: &[ScreenRecord], data: Data, k: usize, head: Option<Head>) -> Cell {
        let share = |record: &ScreenRecord| {
            let answer = &record.answers[k];
            let result = head.map_or_else(|| Some(answer.preferred()), |head| answer.head(head))?;
            Some(result.answers().extrapolation?.accuracy)
        };
        Cell::of(&shares(&self.of(records, data), share), None, false)
    }

    /// Extrapolation with the truth imposed.
    pub(super) fn oracle(self, records: &[ScreenRecord], data: Data) -> Cell {
        let share = |record: &ScreenRecord| Some(record.oracle.as_ref()?.answers().extrapolation?.accuracy);
        Cell::of(&shares(&self.of(records, data), share), None, false)
    }

    /// What the most frequent answer reaches.
    pub(super) fn chance(self, records: &[ScreenRecord], data: Data) -> Cell {
        Cell::of(&shares(&self.of(records, data), |record| Some(record.chance)), None, false)
    }

    fn extrapolation(self, records: &[ScreenRecord]) -> Table {
        let row = |data: Data| {
            let found = self.of(records, data);
            let figure = |k: usize, head| self.figure(records, data, k, head);
            let cells = vec![
                Cell { paper: paper(data), ..figure(0, Some(Head::Hidden)) },
                figure(0, None),
                figure(1, Some(Head::Hidden)),
                figure(1, None),
                self.oracle(records, data),
                Cell::of(&shares(&found, |record| Some(record.plain.as_ref()?.result.extrapolation?.accuracy)), None, false),
                self.chance(records, data),
            ];
            let truth = |k: usize| {
                let is_true = |record: &&&ScreenRecord| record.truth.as_ref() == Some(&record.answers[k].kept);
                format!("{} of {}", found.iter().filter(is_true).count(), found.len())
            };
            Row { labels: vec![data.row(), truth(0), truth(1)], cells }
        };
        let columns = ["hidden head", "simplest head", "strict, hidden", "strict, simplest", "oracle, hidden", "plain", "chance"];
        let figures = "Extrapolation accuracy in percent, mean ± half width of the 95 % interval over repeats; in brackets the \
            paper's CG-reg. Truth found: in how many screens the kept symmetries are exactly those that hold, at a tolerance of 5 \
            points and in strict mode. Hidden head: on sequences and patches the network of the paper; simplest head: the affine one where it is not \
            significantly worse on validation data. Oracle: the truth imposed.";
        Table {
            name: "extrapolation".into(),
            title: format!(
                "The learner screen on {}",
                match self.field {
                    Field::Images => "images",
                    Field::Patches => "images with the paper's network",
                    Field::Sequences | Field::Errors => "sequences and graphs",
                }
            ),
            labels: ["task", "truth found", "strict"].map(Into::into).to_vec(),
            columns: columns.map(Into::into).to_vec(),
            rows: self.data().into_iter().map(row).collect(),
            notes: vec![self.describe_of(records, &self.data()), figures.into(), self.together(records)],
        }
    }

    /// How many networks answer.
    fn together(self, records: &[ScreenRecord]) -> String {
        let all: Vec<&ScreenRecord> = self.data().into_iter().flat_map(|data| self.of(records, data)).collect();
        let joined = |record: &&&ScreenRecord| record.answers[0].preferred().together.is_some();
        let (count, all) = (all.iter().filter(joined).count(), all.len());
        format!(
            "In {count} of {all} screens several starts answer by their median at the tolerance; plain is always one network."
        )
    }

    /// How far apart the symmetries that hold and those that do not are.
    fn costs(self, records: &[ScreenRecord]) -> Table {
        let row = |data: Data| {
            let found = self.of(records, data);
            let means = cost_over_seeds(&found);
            let holds = |g: usize| found.first().and_then(|record| record.truth.as_ref()).is_some_and(|truth| truth.contains(g));
            let dearest = (0..means.len()).filter(|&g| holds(g)).map(|g| means[g]).max_by(|a, b| a.mean.total_cmp(&b.mean));
            let cheapest = (0..means.len()).filter(|&g| !holds(g)).map(|g| means[g]).min_by(|a, b| a.mean.total_cmp(&b.mean));
            let detectable: Vec<f64> = found.iter().map(|record| record.detectable / 100.0).collect();
            let cell = |ours: Option<Mean>| Cell { ours, ..Cell::default() };
            Row { labels: vec![data.row()], cells: vec![cell(dearest), cell(cheapest), Cell::of(&detectable, None, false)] }
        };
        let note = "Points of validation accuracy, mean ± half width of the 95 % interval over repeats, of the candidate whose mean \
            cost is highest among those that hold, and lowest among those that do not. Fits given up early overstate their cost.";
        Table {
            name: "costs".into(),
            title: "What it costs to impose one symmetry".into(),
            labels: vec!["task".into()],
            columns: ["dearest that holds", "cheapest that does not", "detectable"].map(Into::into).to_vec(),
            rows: self.data().into_iter().map(row).collect(),
            notes: vec![self.describe_of(records, &self.data()), note.into()],
        }
    }

    fn describe(self) -> String {
        let Settings { epochs, refit_epochs, starts, learning_rate, grown, .. } = self.settings();
        let numbers = |count: usize| (seeds(self.repeats()), format!("{count} training and validation examples"));
        let (repeats, examples) = match self.field {
            Field::Sequences => numbers(self.budget.examples().0),
            Field::Errors => numbers(errors::examples(self.budget).0),
            Field::Images | Field::Patches => (images::folds(self.repeats()), images::how_many(self.budget).into()),
        };
        let network = match self.field {
            Field::Patches => format!("; {}, its dropout behind either head", ImageTables::new(self.budget).network()),
            Field::Images => "; the lifted network".into(),
            Field::Sequences | Field::Errors => String::new(),
        };
        let best = match starts {
            1 => "one start".into(),
            2 => "the better of two starts by validation loss".into(),
            _ => format!("the best of {starts} starts by validation loss, or for numbers their median"),
        };
        let grown = match (grown, starts) {
            (false, _) => "",
            (true, 1) => " (hidden heads: as many more at a quarter of the rate, from the best affine one)",
            (true, _) => " (hidden heads, all but one start: as many more at a quarter of the rate, from the best affine one)",
        };
        format!(
            "Budget {}: {repeats}, {examples}{network}; {epochs} epochs of Adam from fresh weights{grown}, {refit_epochs} of \
             a refit, one-cycle learning rate with a peak of {learning_rate}, {best}.",
            self.budget.name()
        )
    }
}

/// The same screen as it was before hidden heads grew, and before the lifted network had a norm in front of its head.
fn earlier(config: &ScreenConfig) -> ScreenConfig {
    let backbone = config.backbone.filter(|&backbone| backbone != Backbone::lift());
    ScreenConfig { settings: Settings { grown: false, ..config.settings }, backbone, ..config.clone() }
}

fn shares(records: &[&ScreenRecord], value: impl Fn(&ScreenRecord) -> Option<f64>) -> Vec<f64> {
    records.iter().filter_map(|record| value(record)).collect()
}

fn paper(data: Data) -> Option<(f64, f64)> {
    match data {
        Data::Sequences(sequences) => printed::sequences(Method::Cgreg, sequences.task),
        Data::Images(images) => printed::images(Method::Cgreg, images.task, images.invariant),
        Data::Graphs(_) | Data::Files(_) => None,
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

//! What every experiment of the paper shares: a grid of cells, repeats (seeds or folds), and choices made on validation data.

use super::pace::Pace;
use super::run_missing;
use crate::cgreg;
use crate::error::Result;
use crate::fit::{FitConfig, Method};
use crate::problem::Data;
use crate::queue::Stop;
use crate::record::{Record, Records};
use crate::stats::{Mean, paired_p};
use crate::table::Table;

/// One entry of a table before its learning rate is chosen: a method on data, for CG-reg. at one strength of the penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The task with its sizes; repeats may change its fold.
    pub data: Data,
    /// The method.
    pub method: Method,
    /// Strength of the penalty; 0 where there is none.
    pub lambda: f64,
}

/// A set of tables: the fits they need, and how records become figures.
pub trait Experiment {
    /// The name of its files.
    fn name(&self) -> String;

    /// Every cell of its tables; cheap ones first, so that a run that is cut short has the most to show.
    fn cells(&self) -> Vec<Cell>;

    /// Seeds or folds, counted from 0.
    fn repeats(&self) -> u64;

    /// Learning rates and schedules tried for a repeat; none where the choice made on the first repeat is used.
    fn paces(&self, repeat: u64) -> &'static [Pace];

    /// The fit of a cell.
    fn config(&self, cell: &Cell, pace: Pace, repeat: u64) -> FitConfig;

    /// Whether the penalty counts where a pace is chosen, as it does in training: a network that ignores it may have the smallest
    /// validation loss.
    fn weighs_penalty(&self) -> bool {
        false
    }

    /// All tables, from what is recorded so far.
    fn tables(&self, records: &[Record]) -> Vec<Table>;
}

/// Which rows.
#[derive(Debug, Clone, Copy)]
pub enum Only<'a> {
    /// All of them.
    Everything,
    /// The row of this name, or else those whose name contains it.
    Rows(&'a str),
    /// Those of tasks that the paper has.
    Paper,
}

impl<'a> From<Option<&'a str>> for Only<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Everything, Self::Rows)
    }
}

impl Only<'_> {
    /// Of things with data, those in wanted rows.
    pub fn of<T>(self, things: Vec<T>, data: impl Fn(&T) -> Data) -> Vec<T> {
        match self {
            Self::Everything => things,
            Self::Rows(text) => {
                let exact = things.iter().any(|thing| data(thing).row() == text);
                let wanted = |row: String| if exact { row == text } else { row.contains(text) };
                things.into_iter().filter(|thing| wanted(data(thing).row())).collect()
            }
            Self::Paper => things.into_iter().filter(|thing| in_paper(&data(thing))).collect(),
        }
    }
}

/// Whether the paper has the task.
pub(super) fn in_paper(data: &Data) -> bool {
    match data {
        Data::Sequences(sequences) => sequences.task.in_paper(),
        Data::Images(_) => true,
        Data::Graphs(_) | Data::Arrays(_) | Data::Files(_) => false,
    }
}

/// Some rows of an experiment, or with other repeats.
pub struct Part<'a> {
    /// The whole.
    pub whole: &'a dyn Experiment,
    /// Which rows.
    pub only: Only<'a>,
    /// How many repeats, if not those of the whole.
    pub repeats: Option<u64>,
}

impl Experiment for Part<'_> {
    fn name(&self) -> String {
        self.whole.name()
    }

    fn cells(&self) -> Vec<Cell> {
        self.only.of(self.whole.cells(), |cell| cell.data)
    }

    fn repeats(&self) -> u64 {
        self.repeats.unwrap_or_else(|| self.whole.repeats())
    }

    fn paces(&self, repeat: u64) -> &'static [Pace] {
        self.whole.paces(repeat)
    }

    fn config(&self, cell: &Cell, pace: Pace, repeat: u64) -> FitConfig {
        self.whole.config(cell, pace, repeat)
    }

    fn weighs_penalty(&self) -> bool {
        self.whole.weighs_penalty()
    }

    fn tables(&self, records: &[Record]) -> Vec<Table> {
        self.whole.tables(records)
    }
}

/// The fits that need no earlier result: every learning rate where it is to be chosen.
pub fn first_fits(experiment: &dyn Experiment) -> Vec<FitConfig> {
    let mut fits = Vec::new();
    for cell in experiment.cells() {
        for repeat in 0..experiment.repeats() {
            fits.extend(experiment.paces(repeat).iter().map(|&pace| experiment.config(&cell, pace, repeat)));
        }
    }
    fits
}

/// The fits at the learning rates that were chosen on the first repeat; none where that is not complete.
pub fn remaining_fits(experiment: &dyn Experiment, records: &[Record]) -> Vec<FitConfig> {
    let mut fits = Vec::new();
    for cell in experiment.cells() {
        if let Some(pace) = chosen_pace(experiment, records, &cell, 0) {
            fits.extend(followers(experiment).map(|repeat| experiment.config(&cell, pace, repeat)));
        }
    }
    fits
}

/// Repeats that use the learning rate of the first.
fn followers(experiment: &dyn Experiment) -> impl Iterator<Item = u64> {
    (0..experiment.repeats()).filter(|&repeat| experiment.paces(repeat).is_empty())
}

/// Fits that can be run now and that are not recorded. Where learning rates must be chosen first there will be more.
pub fn missing_fits(experiment: &dyn Experiment, records: &[Record]) -> Vec<FitConfig> {
    let mut fits = [first_fits(experiment), remaining_fits(experiment, records)].concat();
    fits.retain(|fit| find(records, fit).is_none());
    fits
}

/// Fits that the tables need and that are not recorded, as far as it can be told: learning rates must be chosen first.
pub fn missing(experiment: &dyn Experiment, records: &[Record]) -> usize {
    let first = first_fits(experiment);
    let later = experiment.cells().len() * followers(experiment).count();
    let needed = first.iter().chain(&remaining_fits(experiment, records)).filter(|fit| find(records, fit).is_some()).count();
    first.len() + later - needed
}

/// Runs what is missing, stage by stage. `begin` hears of each stage and its number of fits, `progress` of each fit that ended.
pub fn run(
    experiment: &dyn Experiment,
    records: &mut Records,
    threads: usize,
    stop: &Stop,
    mut begin: impl FnMut(&'static str, usize),
    mut progress: impl FnMut(usize, &Record),
) -> Result<()> {
    for stage in ["first repeat and learning rates", "remaining repeats"] {
        let fits = match stage {
            "remaining repeats" => remaining_fits(experiment, records.all()),
            _ => first_fits(experiment),
        };
        if !fits.is_empty() && !stop.is_stopped() {
            begin(stage, fits.len());
            run_missing(&fits, records, threads, stop, |done, _, record| progress(done, record))?;
        }
    }
    Ok(())
}

pub(crate) fn find<'a>(records: &'a [Record], config: &FitConfig) -> Option<&'a Record> {
    records.iter().find(|record| record.config == *config)
}

/// The pace with the smallest validation loss, with the penalty where it counts, once all of them are recorded for the repeat.
fn chosen_pace(experiment: &dyn Experiment, records: &[Record], cell: &Cell, repeat: u64) -> Option<Pace> {
    let tried = experiment.paces(repeat).iter().map(|&pace| {
        let record = find(records, &experiment.config(cell, pace, repeat))?;
        Some((pace, if experiment.weighs_penalty() { record.objective() } else { record.validation.loss }))
    });
    let tried: Vec<(Pace, f64)> = tried.collect::<Option<_>>()?;
    tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(pace, _)| pace)
}

/// The records behind one cell, one per repeat that is there.
pub(crate) fn behind<'a>(experiment: &dyn Experiment, records: &'a [Record], cell: &Cell) -> Vec<&'a Record> {
    let record = |repeat: u64| {
        let choosing = if experiment.paces(repeat).is_empty() { 0 } else { repeat };
        let pace = chosen_pace(experiment, records, cell, choosing)?;
        find(records, &experiment.config(cell, pace, repeat))
    };
    (0..experiment.repeats()).filter_map(record).collect()
}

/// The records of a method on a task; for CG-reg. at the lambda that the paper's rule picks, once each has been tried.
pub(crate) fn chosen<'a>(experiment: &dyn Experiment, records: &'a [Record], data: &Data, method: Method) -> Vec<&'a Record> {
    let cells = experiment.cells().into_iter().filter(|cell| cell.data == *data && cell.method == method);
    let grid: Vec<Vec<&Record>> = cells.map(|cell| behind(experiment, records, &cell)).collect();
    if method != Method::Cgreg {
        return grid.concat();
    }
    if grid.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let all = grid.concat();
    let lambda = cgreg::choose(&all);
    all.into_iter().filter(|record| Some(record.config.lambda) == lambda).collect()
}

pub(crate) fn extrapolation(records: &[&Record]) -> Vec<f64> {
    records.iter().filter_map(|record| Some(record.extrapolation?.accuracy)).collect()
}

/// Whether CG-reg. is significantly better than each of these: paired over repeats, p < 0.05 for every one.
pub(crate) fn significant(experiment: &dyn Experiment, records: &[Record], data: &Data, others: &[Method]) -> bool {
    let ours = chosen(experiment, records, data, Method::Cgreg);
    others.iter().all(|&method| {
        let theirs = chosen(experiment, records, data, method);
        let pair = |our: &&Record| {
            let their = theirs.iter().find(|their| their.config.repeat() == our.config.repeat())?;
            Some((our.extrapolation?.accuracy, their.extrapolation?.accuracy))
        };
        let (a, b): (Vec<f64>, Vec<f64>) = ours.iter().filter_map(pair).unzip();
        let better = Mean::of(&a).zip(Mean::of(&b)).is_some_and(|(a, b)| a.mean > b.mean);
        better && paired_p(&a, &b).is_some_and(|p| p < 0.05)
    })
}

#[cfg(test)]
mod tests {
    use invar_nn::{Depth, Epoch, Head, Progress, Schedule, StoppingConfig};

    use super::super::budget::Budget;
    use super::super::diverged;
    use super::super::images::ImageTables;
    use super::super::lift::LiftTables;
    use super::super::sequences::SequenceTables;
    use super::*;
    use crate::fit::Descent;
    use crate::networks::Backbone;
    use crate::record::Metrics;

    #[test]
    fn a_penalty_is_chosen_once_every_strength_has_been_tried() {
        let tables = LiftTables::new(Budget::Standard, Head::Affine);
        let data = tables.cells()[0].data;
        let fits = first_fits(&tables).into_iter().filter(|fit| fit.data == data && fit.method == Method::Cgreg);
        let records: Vec<Record> = fits.map(|fit| diverged(&fit, 0.0)).collect();
        let strengths = |count: usize| -> Vec<f64> {
            let chosen = chosen(&tables, &records[..count], &data, Method::Cgreg);
            chosen.iter().map(|record| record.config.lambda).collect()
        };
        assert_eq!(strengths(records.len()), [10.0], "all alike: the largest");
        assert!(strengths(records.len() - 1).is_empty());
    }

    #[test]
    fn a_network_that_ignores_the_penalty_is_not_chosen_for_its_loss() {
        let chosen = |budget: Budget, lambda: f64| {
            let tables = SequenceTables { budget, head: Head::Hidden };
            let cell = tables.cells().into_iter().find(|cell| cell.lambda.total_cmp(&lambda).is_eq()).unwrap();
            let fit = |&pace: &Pace| {
                let record = diverged(&tables.config(&cell, pace, 0), 0.0);
                // The faster, the less does it fit, and the more of the penalty is gone.
                let (loss, penalty) = (100.0 * pace.rate, 1e-3 / pace.rate);
                let epoch =
                    |epoch, penalty| Epoch { epoch, train_loss: loss, validation_loss: loss, validation_accuracy: 0.0, penalty };
                let curve = vec![epoch(1, penalty), epoch(2, 0.0)];
                Record { best_epoch: 1, validation: Metrics { loss, accuracy: 0.0 }, curve, ..record }
            };
            let records: Vec<Record> = tables.paces(0).iter().map(fit).collect();
            chosen_pace(&tables, &records, &cell, 0).unwrap().rate
        };
        assert_eq!((chosen(Budget::Tuned, 10.0), chosen(Budget::Tuned, 0.0)), (3e-3, 1e-3));
        assert_eq!(
            (chosen(Budget::Paper, 10.0), chosen(Budget::Standard, 10.0)),
            (1e-4, 1e-3),
            "as published: by the loss alone"
        );
    }

    #[test]
    fn what_is_called_published_is_what_was_published() {
        let of = |tables: &dyn Experiment| {
            let cell = tables.cells()[0];
            let fit = tables.config(&cell, tables.paces(4)[0], 4);
            let StoppingConfig { patience, threshold, progress } = fit.stopping;
            assert_eq!(
                (threshold, progress, fit.learning_rate, fit.schedule),
                (0.995, Progress::Score, 1e-3, Schedule::Constant)
            );
            (tables.paces(4).len(), fit.batch, fit.max_epochs, patience, fit.descent)
        };
        let budget = Budget::Published;
        assert_eq!(of(&SequenceTables { budget, head: Head::Hidden }), (1, 64, 1000, 100, Descent::Adam));
        assert_eq!(of(&ImageTables::new(budget)), (1, 64, 500, 50, Descent::Momentum));
        let text = ImageTables::new(Budget::Paper);
        let fit = text.config(&text.cells()[0], text.paces(4)[2], 4);
        assert!(matches!(fit.backbone, Some(Backbone::Patch { depth: Depth::Paper, width: 1.0, .. })));
        assert_eq!((text.paces(4).len(), text.repeats(), fit.learning_rate), (3, 5, 1e-4));
    }
}

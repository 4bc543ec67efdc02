//! The sequence half of the paper: Table 1 right, the table of all models, and the table over lambda.

use invar_nn::End;
use invar_tasks::{SequenceTask, Sequences};

use super::budget::Budget;
use super::printed;
use crate::cgreg::{self, best_by_validation_loss};
use crate::fit::{FitConfig, Method};
use crate::problem::Data;
use crate::record::Record;
use crate::stats::{Mean, paired_p};
use crate::table::{Cell, Row, Table};

/// The paper's tasks in the order of its appendix.
pub const TASKS: [SequenceTask; 4] = [SequenceTask::Sum, SequenceTask::Sum2, SequenceTask::EvenMinusOdd, SequenceTask::Geometric];

/// Every row of the table of all models; cheap ones first, so that a run that is cut short has the most to show.
pub const METHODS: [Method; 9] = [
    Method::Cgreg,
    Method::Oracle,
    Method::Plain,
    Method::DeepSets,
    Method::Augmented,
    Method::Transformer,
    Method::Gru,
    Method::SetTransformer,
    Method::Janossy,
];

const FORCED: [Method; 3] = [Method::DeepSets, Method::Janossy, Method::SetTransformer];

fn data(task: SequenceTask, budget: Budget) -> Data {
    let mut sequences = Sequences::new(task);
    (sequences.sizes.examples, sequences.sizes.test) = budget.examples();
    Data::Sequences(sequences)
}

fn config(task: SequenceTask, method: Method, lambda: f64, learning_rate: f64, seed: u64, budget: Budget) -> FitConfig {
    let max_epochs = budget.max_epochs(method);
    FitConfig { lambda, learning_rate, max_epochs, seed, ..FitConfig::new(data(task, budget), method) }
}

fn lambdas(method: Method, budget: Budget) -> &'static [f64] {
    if method == Method::Cgreg { budget.lambdas() } else { &[0.0] }
}

/// Every (method, task, lambda) of the tables.
fn cells(budget: Budget) -> impl Iterator<Item = (Method, SequenceTask, f64)> {
    METHODS.into_iter().flat_map(move |method| {
        TASKS.into_iter().flat_map(move |task| lambdas(method, budget).iter().map(move |&lambda| (method, task, lambda)))
    })
}

/// The fits that need no earlier result: every learning rate where it is to be chosen.
pub fn first_fits(budget: Budget) -> Vec<FitConfig> {
    let rates = |seed: u64| budget.learning_rates(seed).iter();
    let seeds = move || 0..budget.seeds();
    cells(budget)
        .flat_map(|(method, task, lambda)| {
            seeds().flat_map(move |seed| rates(seed).map(move |&rate| config(task, method, lambda, rate, seed, budget)))
        })
        .collect()
}

/// The fits at the learning rates that were chosen on the first seed; none where that seed is not complete.
pub fn remaining_fits(budget: Budget, records: &[Record]) -> Vec<FitConfig> {
    let seeds = || (0..budget.seeds()).filter(|&seed| budget.learning_rates(seed).is_empty());
    cells(budget)
        .filter_map(|(method, task, lambda)| {
            let rate = chosen_rate(budget, records, method, task, lambda, 0)?;
            Some(seeds().map(move |seed| config(task, method, lambda, rate, seed, budget)))
        })
        .flatten()
        .collect()
}

fn find<'a>(records: &'a [Record], config: &FitConfig) -> Option<&'a Record> {
    records.iter().find(|record| record.config == *config)
}

/// The learning rate with the smallest validation loss, once all of them are recorded for the seed.
fn chosen_rate(budget: Budget, records: &[Record], method: Method, task: SequenceTask, lambda: f64, seed: u64) -> Option<f64> {
    let tried: Option<Vec<&Record>> = budget
        .learning_rates(seed)
        .iter()
        .map(|&rate| find(records, &config(task, method, lambda, rate, seed, budget)))
        .collect();
    best_by_validation_loss(tried?).map(|record| record.config.learning_rate)
}

/// The records behind one cell, one per seed that is there.
fn behind(budget: Budget, records: &[Record], method: Method, task: SequenceTask, lambda: f64) -> Vec<&Record> {
    let record = |seed: u64| {
        let choosing = if budget.learning_rates(seed).is_empty() { 0 } else { seed };
        let rate = chosen_rate(budget, records, method, task, lambda, choosing)?;
        find(records, &config(task, method, lambda, rate, seed, budget))
    };
    (0..budget.seeds()).filter_map(record).collect()
}

/// The records of a method on a task; for CG-reg. at the lambda that the paper's rule picks.
fn chosen(budget: Budget, records: &[Record], method: Method, task: SequenceTask) -> Vec<&Record> {
    let all: Vec<Vec<&Record>> =
        lambdas(method, budget).iter().map(|&lambda| behind(budget, records, method, task, lambda)).collect();
    if method != Method::Cgreg {
        return all.into_iter().flatten().collect();
    }
    let lambda = cgreg::choose(&all.iter().flatten().copied().collect::<Vec<_>>());
    all.into_iter().flatten().filter(|record| Some(record.config.lambda) == lambda).collect()
}

fn extrapolation(records: &[&Record]) -> Vec<f64> {
    records.iter().map(|record| record.extrapolation.accuracy).collect()
}

/// Fits that the tables need and that are not recorded, as far as it can be told: learning rates must be chosen first.
pub fn missing(budget: Budget, records: &[Record]) -> usize {
    let first = first_fits(budget);
    let per_cell = (0..budget.seeds()).filter(|&seed| budget.learning_rates(seed).is_empty()).count();
    let later = cells(budget).count() * per_cell;
    let done = first.iter().chain(&remaining_fits(budget, records)).filter(|config| find(records, config).is_some()).count();
    first.len() + later - done
}

/// All tables, from what is recorded so far.
pub fn tables(budget: Budget, records: &[Record]) -> Vec<Table> {
    vec![table1(budget, records), models(budget, records), lambda_table(budget, records)]
}

fn notes(budget: Budget, records: &[Record], rest: &str) -> Vec<String> {
    let figures = "Mean ± half width of the 95 % interval over seeds, in percent; the paper's figure beside ours.";
    let mut notes = vec![budget.describe(), format!("{figures} {rest}")];
    let diverged = records.iter().filter(|record| record.end == End::Diverged).count();
    if diverged > 0 {
        notes.push(format!("{diverged} of {} recorded fits diverged and count as answering nothing.", records.len()));
    }
    notes
}

/// Whether CG-reg. is significantly better than each of these on a task: paired over seeds, p < 0.05 for every one.
fn significant(budget: Budget, records: &[Record], task: SequenceTask, others: &[Method]) -> bool {
    let ours = chosen(budget, records, Method::Cgreg, task);
    others.iter().all(|&method| {
        let theirs = chosen(budget, records, method, task);
        let pair = |our: &&Record| {
            let their = theirs.iter().find(|their| their.config.seed == our.config.seed)?;
            Some((our.extrapolation.accuracy, their.extrapolation.accuracy))
        };
        let (a, b): (Vec<f64>, Vec<f64>) = ours.iter().filter_map(pair).unzip();
        let better = Mean::of(&a).zip(Mean::of(&b)).is_some_and(|(a, b)| a.mean > b.mean);
        better && paired_p(&a, &b).is_some_and(|p| p < 0.05)
    })
}

fn table1(budget: Budget, records: &[Record]) -> Table {
    let columns = ["Transformer", "Best FF+G-inv", "FF+CGreg", "oracle", "chance"];
    // The paper prints the tasks from least to most invariant.
    let row = |task: SequenceTask| {
        let of = |method: Method| {
            let values = extrapolation(&chosen(budget, records, method, task));
            Cell::of(&values, printed::sequences(method, task), false)
        };
        let mean = |cell: &Cell| cell.ours.map_or(f64::NEG_INFINITY, |mean| mean.mean);
        let forced = FORCED.into_iter().map(of).max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default();
        let best_printed =
            FORCED.into_iter().filter_map(|method| printed::sequences(method, task)).max_by(|a, b| a.0.total_cmp(&b.0));
        let chance: Vec<f64> = chosen(budget, records, Method::Cgreg, task).iter().map(|record| record.chance).collect();
        let strong =
            significant(budget, records, task, &[Method::Transformer, Method::DeepSets, Method::Janossy, Method::SetTransformer]);
        let cells = vec![
            of(Method::Transformer),
            Cell { paper: best_printed, ..forced },
            Cell { strong, ..of(Method::Cgreg) },
            of(Method::Oracle),
            Cell::of(&chance, None, false),
        ];
        Row { labels: vec![task.name().into()], cells }
    };
    Table {
        name: "table1_sequences".into(),
        title: "Table 1, right half: extrapolation accuracy on sequences".into(),
        labels: vec!["task".into()],
        columns: columns.map(Into::into).to_vec(),
        rows: [SequenceTask::Geometric, SequenceTask::EvenMinusOdd, SequenceTask::Sum2, SequenceTask::Sum].map(row).to_vec(),
        notes: notes(
            budget,
            records,
            "Strong: significantly better than each of the other models (paired over seeds, p < 0.05 each, uncorrected; mind their epochs). Best FF+G-inv is the best of DeepSets, Janossy pooling and Set Transformer by its mean, as in the paper.",
        ),
    }
}

fn models(budget: Budget, records: &[Record]) -> Table {
    let baselines: Vec<Method> = METHODS.into_iter().filter(|m| !matches!(m, Method::Cgreg | Method::Oracle)).collect();
    let row = |method: Method| {
        let cell = |task: SequenceTask| {
            let values = extrapolation(&chosen(budget, records, method, task));
            let strong = method == Method::Cgreg && significant(budget, records, task, &baselines);
            Cell::of(&values, printed::sequences(method, task), strong)
        };
        Row { labels: vec![method.title().into()], cells: TASKS.map(cell).to_vec() }
    };
    let order = [
        Method::DeepSets,
        Method::Janossy,
        Method::SetTransformer,
        Method::Transformer,
        Method::Gru,
        Method::Plain,
        Method::Augmented,
        Method::Cgreg,
        Method::Oracle,
    ];
    Table {
        name: "sequences_models".into(),
        title: "Extrapolation accuracy of all models on sequences".into(),
        labels: vec!["model".into()],
        columns: TASKS.map(|task| task.name().to_string()).to_vec(),
        rows: order.map(row).to_vec(),
        notes: notes(
            budget,
            records,
            "Strong: CG-reg. significantly better than each baseline (paired over seeds, p < 0.05 each, uncorrected; mind their epochs).",
        ),
    }
}

fn lambda_table(budget: Budget, records: &[Record]) -> Table {
    let picked = TASKS.map(|task| chosen(budget, records, Method::Cgreg, task).first().map(|record| record.config.lambda));
    let row = |&lambda: &f64| {
        let mut cells = Vec::new();
        for (task, picked) in TASKS.into_iter().zip(picked) {
            let found = behind(budget, records, Method::Cgreg, task, lambda);
            let paper = printed::sequences_lambda(lambda, task);
            let strong = picked == Some(lambda);
            let validation: Vec<f64> = found.iter().map(|record| record.validation.accuracy).collect();
            cells.push(Cell::of(&validation, paper.map(|p| p[0]), strong));
            cells.push(Cell::of(&extrapolation(&found), paper.map(|p| p[1]), strong));
        }
        Row { labels: vec![lambda.to_string()], cells }
    };
    Table {
        name: "sequences_lambda".into(),
        title: "CG-reg. on sequences for different strengths of the penalty".into(),
        labels: vec!["lambda".into()],
        columns: TASKS.iter().flat_map(|task| [format!("{} val.", task.name()), format!("{} test", task.name())]).collect(),
        rows: budget.lambdas().iter().map(row).collect(),
        notes: notes(
            budget,
            records,
            "Strong: the lambda chosen on validation accuracy (the largest within 5 points of the best).",
        ),
    }
}

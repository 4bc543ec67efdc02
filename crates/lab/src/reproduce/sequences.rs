//! The sequence half of the paper: Table 1 right, the table of all models, and the table over lambda.

use invar_nn::{End, Head};
use invar_tasks::{SequenceTask, Sequences};

use super::budget::Budget;
use super::experiment::{self, Cell, Experiment, extrapolation};
use super::pace::Pace;
use super::{figures_note, printed};
use crate::fit::{FitConfig, Method};
use crate::problem::Data;
use crate::record::Record;
use crate::table::{Cell as Figure, Row, Table};

/// The paper's tasks in the order of its appendix.
const TASKS: [SequenceTask; 4] = [SequenceTask::Sum, SequenceTask::Sum2, SequenceTask::EvenMinusOdd, SequenceTask::Geometric];

/// Every row of the table of all models; cheap ones first, so that a run that is cut short has the most to show.
const METHODS: [Method; 9] = [
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

/// The rows of Table 1, from least to most invariant.
pub(super) const TABLE1: [SequenceTask; 4] =
    [SequenceTask::Geometric, SequenceTask::EvenMinusOdd, SequenceTask::Sum2, SequenceTask::Sum];

const FORCED: [Method; 3] = [Method::DeepSets, Method::Janossy, Method::SetTransformer];

/// The sequence tables on a budget.
#[derive(Debug, Clone, Copy)]
pub struct SequenceTables {
    /// How much to run.
    pub budget: Budget,
    /// What follows the CG layer: the published hidden layer, or nothing. The latter is there for CG-reg. alone, on one seed.
    pub head: Head,
}

impl SequenceTables {
    pub(super) fn data(self, task: SequenceTask) -> Data {
        let mut sequences = Sequences::new(task);
        (sequences.sizes.examples, sequences.sizes.test) = self.budget.examples();
        Data::Sequences(sequences)
    }

    /// The records of a method on a task, as they stand in the tables.
    pub(super) fn chosen(self, records: &[Record], method: Method, task: SequenceTask) -> Vec<&Record> {
        experiment::chosen(&self, records, &self.data(task), method)
    }

    pub(super) fn describe(self) -> String {
        self.budget.describe(self.repeats())
    }

    /// A row of Table 1: sequence model, best forced-invariant model, CG-reg., oracle, chance.
    pub(super) fn table1_cells(self, records: &[Record], task: SequenceTask) -> Vec<Figure> {
        let figure = |method: Method| {
            let values = extrapolation(&self.chosen(records, method, task));
            Figure::of(&values, printed::sequences(method, task), false)
        };
        let mean = |cell: &Figure| cell.ours.map_or(f64::NEG_INFINITY, |mean| mean.mean);
        let forced = FORCED.into_iter().map(figure).max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default();
        let best_printed =
            FORCED.into_iter().filter_map(|method| printed::sequences(method, task)).max_by(|a, b| a.0.total_cmp(&b.0));
        let chance: Vec<f64> = self.chosen(records, Method::Cgreg, task).iter().map(|record| record.chance).collect();
        let others = [Method::Transformer, Method::DeepSets, Method::Janossy, Method::SetTransformer];
        let strong = self.significant(records, task, &others);
        vec![
            figure(Method::Transformer),
            Figure { paper: best_printed, ..forced },
            Figure { strong, ..figure(Method::Cgreg) },
            figure(Method::Oracle),
            Figure::of(&chance, None, false),
        ]
    }

    fn significant(self, records: &[Record], task: SequenceTask, others: &[Method]) -> bool {
        experiment::significant(&self, records, &self.data(task), others)
    }
}

impl Experiment for SequenceTables {
    fn name(&self) -> String {
        match self.head {
            Head::Hidden => format!("sequences-{}", self.budget.name()),
            Head::Affine => format!("sequences_affine-{}", self.budget.name()),
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        let methods = if self.head == Head::Affine { &METHODS[..1] } else { &METHODS };
        for &method in methods {
            let lambdas = if method == Method::Cgreg { self.budget.lambdas() } else { &[0.0] };
            for task in TASKS {
                cells.extend(lambdas.iter().map(|&lambda| Cell { data: self.data(task), method, lambda }));
            }
        }
        cells
    }

    fn repeats(&self) -> u64 {
        if self.head == Head::Affine { 1 } else { self.budget.seeds() }
    }

    fn paces(&self, repeat: u64) -> &'static [Pace] {
        self.budget.paces(repeat)
    }

    fn config(&self, cell: &Cell, pace: Pace, repeat: u64) -> FitConfig {
        let fit = FitConfig::new(cell.data, cell.method);
        self.budget.apply(&FitConfig { lambda: cell.lambda, head: self.head, seed: repeat, ..fit }, pace)
    }

    fn weighs_penalty(&self) -> bool {
        self.budget == Budget::Tuned
    }

    fn tables(&self, records: &[Record]) -> Vec<Table> {
        match self.head {
            Head::Hidden => vec![table1(*self, records), models(*self, records), lambda_table(*self, records)],
            Head::Affine => vec![lambda_table(*self, records)],
        }
    }
}

fn notes(of: SequenceTables, records: &[Record], rest: &str) -> Vec<String> {
    let figures = figures_note("seeds");
    let mut notes = vec![of.describe(), format!("{figures} {rest}")];
    if of.head == Head::Affine {
        notes
            .push("Here nothing follows the CG layer but the outputs; the paper's figures are those of its hidden layer.".into());
    }
    let diverged = records.iter().filter(|record| record.end == End::Diverged).count();
    if diverged > 0 {
        notes.push(format!("{diverged} of {} recorded fits diverged and count as answering nothing.", records.len()));
    }
    notes
}

fn table1(of: SequenceTables, records: &[Record]) -> Table {
    let columns = ["Transformer", "Best FF+G-inv", "FF+CGreg", "oracle", "chance"];
    Table {
        name: "table1_sequences".into(),
        title: "Table 1, right half: extrapolation accuracy on sequences".into(),
        labels: vec!["task".into()],
        columns: columns.map(Into::into).to_vec(),
        rows: TABLE1.map(|task| Row { labels: vec![task.name().into()], cells: of.table1_cells(records, task) }).to_vec(),
        notes: notes(
            of,
            records,
            "Strong: significantly better than each of the other models (paired over seeds, p < 0.05 each, uncorrected; mind their epochs). Best FF+G-inv is the best of DeepSets, Janossy pooling and Set Transformer by its mean, as in the paper.",
        ),
    }
}

fn models(of: SequenceTables, records: &[Record]) -> Table {
    let baselines: Vec<Method> = METHODS.into_iter().filter(|m| !matches!(m, Method::Cgreg | Method::Oracle)).collect();
    let row = |method: Method| {
        let cell = |task: SequenceTask| {
            let values = extrapolation(&of.chosen(records, method, task));
            let strong = method == Method::Cgreg && of.significant(records, task, &baselines);
            Figure::of(&values, printed::sequences(method, task), strong)
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
            of,
            records,
            "Strong: CG-reg. significantly better than each baseline (paired over seeds, p < 0.05 each, uncorrected; mind their epochs).",
        ),
    }
}

fn lambda_table(of: SequenceTables, records: &[Record]) -> Table {
    let picked = TASKS.map(|task| of.chosen(records, Method::Cgreg, task).first().map(|record| record.config.lambda));
    let row = |&lambda: &f64| {
        let mut cells = Vec::new();
        for (task, picked) in TASKS.into_iter().zip(picked) {
            let cell = Cell { data: of.data(task), method: Method::Cgreg, lambda };
            let found = experiment::behind(&of, records, &cell);
            let paper = printed::sequences_lambda(lambda, task);
            let strong = picked == Some(lambda);
            let validation: Vec<f64> = found.iter().map(|record| record.validation.accuracy).collect();
            cells.push(Figure::of(&validation, paper.map(|p| p[0]), strong));
            cells.push(Figure::of(&extrapolation(&found), paper.map(|p| p[1]), strong));
        }
        Row { labels: vec![lambda.to_string()], cells }
    };
    Table {
        name: "sequences_lambda".into(),
        title: "CG-reg. on sequences for different strengths of the penalty".into(),
        labels: vec!["lambda".into()],
        columns: TASKS.iter().flat_map(|task| [format!("{} val.", task.name()), format!("{} test", task.name())]).collect(),
        rows: of.budget.lambdas().iter().map(row).collect(),
        notes: notes(of, records, "Strong: the lambda chosen on validation accuracy (the largest within 5 points of the best)."),
    }
}

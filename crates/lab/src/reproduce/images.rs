//! The image half of the paper: Table 1 left, and the two tables over lambda.

use invar_nn::{Depth, Head, Pool, Schedule, StoppingConfig};
use invar_tasks::{ImageTask, Images, Invariant};

use super::budget::{Budget, published};
use super::experiment::{self, Cell, Experiment, extrapolation};
use super::pace::{CONSTANT, Pace, TEXT, constant, one_cycle};
use super::{figures_note, printed};
use crate::cgreg::IMAGE_LAMBDAS;
use crate::fit::{Descent, FitConfig, Method};
use crate::networks::Backbone;
use crate::problem::Data;
use crate::record::Record;
use crate::table::{Cell as Figure, Row, Table};

/// As in Table 1, from nothing to everything.
const ROWS: [Invariant; 4] = [Invariant::None, Invariant::Color, Invariant::RotVflip, Invariant::RotColorVflip];
const METHODS: [Method; 4] = [Method::Plain, Method::Cgreg, Method::Oracle, Method::GInvariant];

/// The image tables on a budget.
#[derive(Debug, Clone, Copy)]
pub struct ImageTables {
    /// How much to run.
    pub budget: Budget,
    /// Only CG-reg., for the tables over lambda.
    pub over_lambda: bool,
    /// What follows the convolutions: the published dense layer, or the outputs at once. The latter is there for CG-reg. alone.
    pub head: Head,
}

/// The tasks of a budget.
pub(super) fn tasks(budget: Budget) -> &'static [ImageTask] {
    match budget {
        Budget::Smoke | Budget::Quick => &[ImageTask::Mnist34],
        Budget::Standard | Budget::Tuned | Budget::Published | Budget::Paper => &[ImageTask::Mnist34, ImageTask::Mnist],
        // Of the other one `standard` has them all.
        Budget::Fold => &[ImageTask::Mnist],
    }
}

/// The rows of a budget: few images cannot show 48 classes in every split.
pub(super) fn rows(budget: Budget) -> &'static [Invariant] {
    if budget == Budget::Smoke { &ROWS[2..] } else { &ROWS }
}

/// The data of a row, in fold 0.
pub(super) fn data(budget: Budget, task: ImageTask, invariant: Invariant) -> Images {
    let (count, test_count) = match (budget, task) {
        (Budget::Smoke, _) => (Some(200), Some(100)),
        (Budget::Quick, _) => (Some(3_000), None),
        (Budget::Standard, ImageTask::Mnist) => (Some(12_000), None),
        _ => (None, None),
    };
    Images { invariant, count, test_count, ..Images::new(task) }
}

/// Strengths of the penalty on a budget.
fn lambdas(budget: Budget) -> &'static [f64] {
    if budget == Budget::Smoke { &[0.0, 10.0] } else { &IMAGE_LAMBDAS }
}

/// Every cell of methods on a budget, task by task.
pub(super) fn cells(budget: Budget, methods: &[Method]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &task in tasks(budget) {
        for &method in methods {
            let lambdas = if method == Method::Cgreg { lambdas(budget) } else { &[0.0] };
            for &invariant in rows(budget) {
                let data = Data::Images(data(budget, task, invariant));
                cells.extend(lambdas.iter().map(|&lambda| Cell { data, method, lambda }));
            }
        }
    }
    cells
}

/// How many folds a budget has.
pub(super) fn repeats(budget: Budget) -> u64 {
    if matches!(budget, Budget::Tuned | Budget::Published | Budget::Paper) { 5 } else { 1 }
}

/// The same data in another fold.
pub(super) fn in_fold(data: Data, fold: u64) -> Data {
    match data {
        Data::Images(images) => Data::Images(Images { fold: fold as usize, ..images }),
        data => data,
    }
}

/// How many images a budget has, in words.
pub(super) fn how_many(budget: Budget) -> &'static str {
    match budget {
        Budget::Smoke => "200 images",
        Budget::Quick => "3,000 images",
        Budget::Standard => "MNIST-34 in full, 12,000 images of MNIST",
        Budget::Fold | Budget::Tuned | Budget::Published | Budget::Paper => "all images",
    }
}

/// Folds 0 to the last.
pub(super) fn folds(count: u64) -> String {
    if count == 1 { "fold 0".into() } else { format!("folds 0 to {}", count - 1) }
}

impl ImageTables {
    /// Those of the paper.
    pub fn new(budget: Budget) -> Self {
        Self { budget, over_lambda: false, head: Head::Hidden }
    }

    fn only_cgreg(self) -> bool {
        self.over_lambda || self.head == Head::Affine
    }

    fn tasks(self) -> &'static [ImageTask] {
        tasks(self.budget)
    }

    fn rows(self) -> &'static [Invariant] {
        rows(self.budget)
    }

    fn data(self, task: ImageTask, invariant: Invariant) -> Data {
        Data::Images(data(self.budget, task, invariant))
    }

    fn epochs(self) -> usize {
        match self.budget {
            Budget::Smoke => 1,
            Budget::Quick => 15,
            Budget::Standard | Budget::Fold => 6,
            // At a constant rate; those of a cycle are fewer.
            Budget::Tuned => 60,
            Budget::Published | Budget::Paper => 500,
        }
    }

    pub(super) fn backbone(self) -> Backbone {
        let (depth, width) = match self.budget {
            Budget::Smoke => (Depth::Reference, 0.0625),
            Budget::Quick => (Depth::Reference, 0.25),
            Budget::Standard | Budget::Fold | Budget::Tuned | Budget::Published => (Depth::Reference, 1.0),
            Budget::Paper => (Depth::Paper, 1.0),
        };
        Backbone::Patch { depth, width, pool: Pool::Floor }
    }

    /// The network in words.
    pub(super) fn network(self) -> &'static str {
        match self.budget {
            Budget::Smoke => "the six-layer network at a sixteenth of its width",
            Budget::Quick => "the six-layer network at a quarter of its width",
            Budget::Standard | Budget::Fold | Budget::Tuned | Budget::Published => "the six-layer network",
            Budget::Paper => "the eight-layer network",
        }
    }

    pub(super) fn describe(self) -> String {
        let network = self.network();
        let (images, folds) = (how_many(self.budget), folds(self.repeats()));
        let rates = match self.budget {
            Budget::Paper => "learning rate in {1e-2, 1e-3, 1e-4} chosen by validation loss for each fold",
            Budget::Tuned => {
                "learning rate constant at 1e-3, or one-cycle with a peak of 1e-2 over 12 epochs, chosen for each fold by validation loss \
                 plus weighted penalty, no fit ended while either fell"
            }
            Budget::Published => "learning rate 1e-3 and early stopping as in the published code",
            Budget::Quick => "one-cycle learning rate with a peak of 3e-2 or 1e-2, chosen by validation loss",
            _ => "one-cycle learning rate with a peak of 1e-2",
        };
        let head = if self.head == Head::Affine { " without its dense layer (the paper's figures have it)" } else { "" };
        format!(
            "Budget {}: {folds}, {images}, {network}{head}, SGD with momentum, {rates}, at most {} epochs.",
            self.budget.name(),
            self.epochs()
        )
    }

    /// The records of a method in a row, as they stand in the tables.
    pub(super) fn chosen(self, records: &[Record], task: ImageTask, invariant: Invariant, method: Method) -> Vec<&Record> {
        experiment::chosen(&self, records, &self.data(task, invariant), method)
    }

    fn figure(self, records: &[Record], task: ImageTask, invariant: Invariant, method: Method) -> Figure {
        let data = self.data(task, invariant);
        let found = extrapolation(&self.chosen(records, task, invariant, method));
        let baselines = [Method::Plain, Method::GInvariant];
        let strong = method == Method::Cgreg && experiment::significant(&self, records, &data, &baselines);
        Figure::of(&found, printed::images(method, task, invariant), strong)
    }

    /// A row of Table 1: VGG, G-CNN, CG-reg., oracle, chance.
    pub(super) fn table1_cells(self, records: &[Record], task: ImageTask, invariant: Invariant) -> Vec<Figure> {
        let found = self.chosen(records, task, invariant, Method::Cgreg);
        let chance: Vec<f64> = found.iter().map(|record| record.chance).collect();
        let mut cells = [Method::Plain, Method::GInvariant, Method::Cgreg, Method::Oracle]
            .map(|method| self.figure(records, task, invariant, method))
            .to_vec();
        cells.push(Figure::of(&chance, None, false));
        cells
    }

    fn table1(self, records: &[Record]) -> Table {
        let row = |task: ImageTask, invariant: Invariant| Row {
            labels: vec![task.name().into(), invariant.name().into()],
            cells: self.table1_cells(records, task, invariant),
        };
        Table {
            name: "table1_images".into(),
            title: "Table 1, left half: extrapolation accuracy on images".into(),
            labels: vec!["task".into(), "invariant to".into()],
            columns: ["VGG", "+G-inv", "+CGreg", "oracle", "chance"].map(Into::into).to_vec(),
            rows: self.tasks().iter().flat_map(|&task| self.rows().iter().map(move |&i| row(task, i))).collect(),
            notes: vec![
                self.describe(),
                format!(
                    "{} Strong: significantly better than VGG and +G-inv (paired over folds, p < 0.05 each, uncorrected).",
                    figures_note("folds")
                ),
            ],
        }
    }

    fn lambda_table(self, records: &[Record], task: ImageTask) -> Table {
        // The appendix has its columns from everything to nothing.
        let columns: Vec<Invariant> = self.rows().iter().rev().copied().collect();
        let row = |&lambda: &f64| {
            let mut cells = Vec::new();
            for &invariant in &columns {
                let data = self.data(task, invariant);
                let picked = self.chosen(records, task, invariant, Method::Cgreg).first().map(|record| record.config.lambda);
                let found = experiment::behind(&self, records, &Cell { data, method: Method::Cgreg, lambda });
                let paper = printed::images_lambda(lambda, task, invariant);
                let validation: Vec<f64> = found.iter().map(|record| record.validation.accuracy).collect();
                let strong = picked == Some(lambda);
                cells.push(Figure::of(&validation, paper.map(|p| p[0]), strong));
                cells.push(Figure::of(&extrapolation(&found), paper.map(|p| p[1]), strong));
            }
            Row { labels: vec![lambda.to_string()], cells }
        };
        Table {
            name: format!("lambda_{}", task.name()),
            title: format!("CG-reg. on {} for different strengths of the penalty", task.name()),
            labels: vec!["lambda".into()],
            columns: columns.iter().flat_map(|i| [format!("{} val.", i.name()), format!("{} test", i.name())]).collect(),
            rows: lambdas(self.budget).iter().map(row).collect(),
            notes: vec![
                self.describe(),
                format!(
                    "{} Strong: the lambda chosen on validation accuracy (the largest within 5 points of the best).",
                    figures_note("folds")
                ),
            ],
        }
    }
}

impl Experiment for ImageTables {
    fn name(&self) -> String {
        match self.head {
            Head::Hidden => format!("images-{}", self.budget.name()),
            Head::Affine => format!("images_affine-{}", self.budget.name()),
        }
    }

    fn cells(&self) -> Vec<Cell> {
        cells(self.budget, if self.only_cgreg() { &METHODS[1..2] } else { &METHODS })
    }

    fn repeats(&self) -> u64 {
        repeats(self.budget)
    }

    fn paces(&self, _repeat: u64) -> &'static [Pace] {
        match self.budget {
            Budget::Smoke | Budget::Standard | Budget::Fold => const { &[one_cycle(1e-2)] },
            Budget::Quick => const { &[one_cycle(3e-2), one_cycle(1e-2)] },
            Budget::Tuned => const { &[constant(1e-3), one_cycle(1e-2)] },
            Budget::Published => &CONSTANT,
            Budget::Paper => &TEXT,
        }
    }

    fn config(&self, cell: &Cell, pace: Pace, repeat: u64) -> FitConfig {
        let fit = FitConfig {
            lambda: cell.lambda,
            learning_rate: pace.rate,
            descent: Descent::Momentum,
            head: self.head,
            backbone: Some(self.backbone()),
            batch: 64,
            ..FitConfig::new(in_fold(cell.data, repeat), cell.method)
        };
        let epochs = self.epochs();
        match (self.budget, pace.schedule) {
            (Budget::Published, _) => published(&fit, epochs),
            (Budget::Tuned, Schedule::OneCycle) => fit.with_schedule(Schedule::OneCycle, 12),
            (_, Schedule::OneCycle) => fit.with_schedule(Schedule::OneCycle, epochs),
            (_, Schedule::Constant) => {
                let stopping = StoppingConfig { patience: (epochs / 10).max(10), ..fit.stopping };
                FitConfig { max_epochs: epochs, stopping, ..fit }
            }
        }
    }

    fn weighs_penalty(&self) -> bool {
        self.budget == Budget::Tuned
    }

    fn tables(&self, records: &[Record]) -> Vec<Table> {
        if self.only_cgreg() {
            return self.tasks().iter().map(|&task| self.lambda_table(records, task)).collect();
        }
        vec![self.table1(records)]
    }
}

//! The figures printed in the paper, in percent: mean and half width of the 95 % interval.

use invar_tasks::SequenceTask;

use crate::fit::Method;

/// A printed figure.
pub(crate) type Printed = (f64, f64);

/// Extrapolation accuracy of a model on a sequence task (the appendix's table of all models).
pub(crate) fn sequences(method: Method, task: SequenceTask) -> Option<Printed> {
    let row: [Printed; 4] = match method {
        Method::DeepSets => [(100.00, 0.00), (2.36, 2.37), (0.97, 0.60), (16.12, 8.21)],
        Method::Janossy => [(96.64, 3.13), (9.55, 1.61), (0.78, 0.52), (21.22, 2.94)],
        Method::SetTransformer => [(99.57, 0.33), (10.68, 1.49), (0.75, 0.28), (23.38, 1.88)],
        Method::Transformer => [(20.26, 32.08), (12.15, 16.05), (0.85, 0.37), (100.00, 0.00)],
        Method::Gru => [(0.48, 0.48), (0.47, 0.38), (0.90, 0.77), (99.41, 1.58)],
        Method::Cgreg => [(100.00, 0.00), (42.08, 18.99), (71.85, 26.61), (95.70, 3.05)],
        Method::Oracle | Method::Plain | Method::Augmented => return None,
    };
    column(task).map(|column| row[column])
}

/// Validation and extrapolation accuracy of CG-reg. for a strength of the penalty (the appendix's table over lambda).
pub(crate) fn sequences_lambda(lambda: f64, task: SequenceTask) -> Option<[Printed; 2]> {
    const ROWS: [(f64, [[Printed; 2]; 4]); 6] = [
        (
            0.0,
            [
                [(80.80, 84.15), (54.34, 87.19)],
                [(100.00, 0.00), (80.36, 74.04)],
                [(99.95, 0.10), (22.78, 14.52)],
                [(99.92, 0.27), (99.86, 0.15)],
            ],
        ),
        (
            0.1,
            [
                [(80.83, 84.04), (59.18, 91.12)],
                [(100.00, 0.00), (65.13, 80.43)],
                [(99.99, 0.05), (60.66, 49.83)],
                [(99.95, 0.10), (99.98, 0.05)],
            ],
        ),
        (
            1.0,
            [
                [(80.72, 84.48), (80.03, 87.52)],
                [(99.04, 4.22), (61.81, 66.24)],
                [(100.00, 0.00), (68.34, 36.98)],
                [(99.81, 0.55), (99.76, 0.65)],
            ],
        ),
        (
            2.0,
            [
                [(82.56, 72.85), (63.16, 99.44)],
                [(100.00, 0.00), (77.97, 48.87)],
                [(99.99, 0.05), (69.20, 31.40)],
                [(99.46, 0.53), (99.37, 0.53)],
            ],
        ),
        (
            10.0,
            [
                [(80.97, 74.10), (62.83, 100.17)],
                [(98.14, 2.71), (42.08, 18.99)],
                [(100.00, 0.00), (71.85, 26.61)],
                [(95.56, 3.34), (95.70, 3.05)],
            ],
        ),
        (
            100.0,
            [
                [(100.00, 0.00), (100.00, 0.00)],
                [(15.65, 3.63), (2.29, 0.96)],
                [(93.42, 14.90), (27.64, 24.85)],
                [(65.92, 10.38), (65.42, 10.30)],
            ],
        ),
    ];
    let row = ROWS.iter().find(|(l, _)| (l - lambda).abs() < 1e-12)?;
    column(task).map(|column| row.1[column])
}

/// The paper's order of tasks: all positions, all but the first, parities, none.
fn column(task: SequenceTask) -> Option<usize> {
    match task {
        SequenceTask::Sum => Some(0),
        SequenceTask::Sum2 => Some(1),
        SequenceTask::EvenMinusOdd => Some(2),
        SequenceTask::Geometric => Some(3),
        _ => None,
    }
}

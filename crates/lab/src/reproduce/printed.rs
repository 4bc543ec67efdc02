//! The figures printed in the paper, in percent: mean and half width of the 95 % interval.

use invar_tasks::{ImageTask, Invariant, SequenceTask};

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
        Method::Oracle | Method::Plain | Method::Augmented | Method::GInvariant => return None,
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

/// Extrapolation accuracy on images (Table 1, left half).
pub(crate) fn images(method: Method, task: ImageTask, invariant: Invariant) -> Option<Printed> {
    let rows: [[Printed; 3]; 4] = match task {
        ImageTask::Mnist34 => [
            [(96.06, 0.63), (15.96, 2.17), (94.49, 1.49)],
            [(15.06, 6.70), (50.05, 2.17), (94.16, 6.43)],
            [(54.87, 0.90), (32.05, 1.16), (95.78, 7.11)],
            [(49.52, 2.37), (97.19, 1.02), (94.89, 7.49)],
        ],
        ImageTask::Mnist => [
            [(89.35, 0.52), (15.64, 1.55), (90.89, 0.93)],
            [(4.51, 1.36), (47.61, 0.45), (88.69, 2.11)],
            [(25.91, 0.95), (44.41, 3.28), (62.68, 6.02)],
            [(11.27, 0.34), (68.46, 2.83), (64.99, 2.76)],
        ],
    };
    let column = match method {
        Method::Plain => 0,
        Method::GInvariant => 1,
        Method::Cgreg => 2,
        _ => return None,
    };
    Some(rows[invariant_place(invariant)][column])
}

/// Rows by lambda; columns by what is invariant: nothing, colour, rotation and flip, everything.
type Rows = [(f64, [[Printed; 2]; 4]); 5];
const MNIST34_LAMBDA: Rows = [
    (
        0.0,
        [
            [(95.65, 0.39), (96.30, 0.68)],
            [(97.15, 0.27), (15.71, 5.46)],
            [(99.83, 0.09), (43.57, 3.69)],
            [(99.94, 0.17), (49.51, 2.36)],
        ],
    ),
    (
        0.1,
        [
            [(94.95, 0.54), (95.56, 0.61)],
            [(96.48, 0.77), (96.27, 1.01)],
            [(99.86, 0.21), (73.98, 16.33)],
            [(99.92, 0.09), (78.72, 25.75)],
        ],
    ),
    (
        1.0,
        [
            [(94.01, 1.51), (94.42, 1.38)],
            [(96.12, 1.26), (96.20, 1.11)],
            [(99.77, 0.25), (75.64, 20.52)],
            [(99.71, 0.22), (85.42, 29.66)],
        ],
    ),
    (
        2.0,
        [
            [(94.05, 1.50), (94.49, 1.49)],
            [(95.23, 0.99), (95.61, 1.75)],
            [(99.56, 0.66), (82.59, 28.92)],
            [(99.55, 0.33), (94.88, 0.84)],
        ],
    ),
    (
        10.0,
        [
            [(88.42, 19.36), (88.68, 20.13)],
            [(93.34, 8.42), (94.16, 6.43)],
            [(98.43, 2.00), (95.78, 7.11)],
            [(99.00, 1.18), (94.89, 7.49)],
        ],
    ),
];
const MNIST_LAMBDA: Rows = [
    (
        0.0,
        [
            [(91.80, 0.60), (91.60, 0.32)],
            [(91.50, 0.35), (4.19, 2.12)],
            [(98.80, 0.14), (25.81, 0.92)],
            [(99.17, 0.17), (11.93, 1.87)],
        ],
    ),
    (
        0.1,
        [
            [(88.30, 1.21), (88.48, 1.17)],
            [(90.11, 0.58), (87.23, 3.68)],
            [(98.34, 0.17), (30.12, 4.05)],
            [(98.62, 0.05), (29.48, 0.98)],
        ],
    ),
    (
        1.0,
        [
            [(88.76, 1.28), (88.65, 1.30)],
            [(90.24, 0.46), (90.23, 0.99)],
            [(98.29, 0.21), (40.13, 4.83)],
            [(98.49, 0.24), (44.23, 15.45)],
        ],
    ),
    (
        2.0,
        [
            [(89.50, 1.35), (89.45, 1.43)],
            [(89.98, 0.24), (89.71, 0.89)],
            [(98.34, 0.34), (47.14, 15.17)],
            [(98.45, 0.13), (55.24, 2.29)],
        ],
    ),
    (
        10.0,
        [
            [(90.54, 1.04), (90.89, 0.43)],
            [(88.80, 2.11), (88.69, 2.11)],
            [(95.21, 6.55), (62.68, 6.02)],
            [(97.76, 0.74), (64.99, 2.76)],
        ],
    ),
];

/// Validation and extrapolation accuracy of CG-reg. on images (the appendix's two tables over lambda).
pub(crate) fn images_lambda(lambda: f64, task: ImageTask, invariant: Invariant) -> Option<[Printed; 2]> {
    let rows = match task {
        ImageTask::Mnist34 => &MNIST34_LAMBDA,
        ImageTask::Mnist => &MNIST_LAMBDA,
    };
    let row = rows.iter().find(|(l, _)| (l - lambda).abs() < 1e-12)?;
    Some(row.1[invariant_place(invariant)])
}

/// From the least to the most invariant, as in Table 1.
fn invariant_place(invariant: Invariant) -> usize {
    match invariant {
        Invariant::None => 0,
        Invariant::Color => 1,
        Invariant::RotVflip => 2,
        Invariant::RotColorVflip => 3,
    }
}

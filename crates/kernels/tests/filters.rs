//! Filters from bases and in all directions, against their definitions.

mod support;

use invar_kernels::filters::{combine, combine_backward, turn, turn_backward};
use invar_kernels::{CombineShape, TurnShape};
use support::{random, workspaces};

/// Sizes that fill no block of outputs, and some that do.
const SHAPES: [(usize, usize, usize, usize); 4] = [(9, 9, 5, 32), (9, 4, 3, 17), (27, 12, 1, 40), (1, 1, 2, 3)];

fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn combinations_and_their_gradients_are_those_of_the_definition() {
    for (points, rank, features, outputs) in SHAPES {
        let shape = CombineShape { points, rank, features, outputs };
        let (basis, coefficients) = (random(points * rank, 1), random(shape.coefficients_len(), 2));
        let d_filters = random(shape.filters_len(), 3);
        let (mut expected, mut d_expected) = (vec![0.0; shape.filters_len()], vec![0.0; shape.coefficients_len()]);
        for o in 0..outputs {
            for f in 0..features {
                for p in 0..points {
                    for r in 0..rank {
                        let (weight, filter) = ((r * features + f) * outputs + o, (o * features + f) * points + p);
                        let b = f64::from(basis[p * rank + r]);
                        expected[filter] += b * f64::from(coefficients[weight]);
                        d_expected[weight] += b * f64::from(d_filters[filter]);
                    }
                }
            }
        }
        for mut workspace in workspaces() {
            let (mut filters, mut d_coefficients) = (vec![f32::NAN; expected.len()], vec![f32::NAN; d_expected.len()]);
            combine(&shape, &basis, &coefficients, &mut filters, &mut workspace).unwrap();
            combine_backward(&shape, &basis, &d_filters, &mut d_coefficients, &mut workspace).unwrap();
            close(&filters, &expected);
            close(&d_coefficients, &d_expected);
        }
    }
}

#[test]
fn turned_filters_and_their_gradients_are_those_of_the_definition() {
    let from = [0, 1, 2, 3, 2, 0, 3, 1];
    for (inputs, outputs) in [(3, 16), (1, 5), (2, 33)] {
        let shape = TurnShape { from: &from, points: 4, rows: 4, inputs, outputs };
        let (trained, d_filters) = (random(shape.trained_len(), 1), random(shape.filters_len(), 2));
        let (mut expected, mut d_expected) = (vec![0.0; shape.filters_len()], vec![0.0; shape.trained_len()]);
        for o in 0..outputs {
            for (at, row) in from.iter().enumerate() {
                let (direction, point) = (at / 4, at % 4);
                for i in 0..inputs {
                    let (weight, filter) = ((row * inputs + i) * outputs + o, ((o * 2 + direction) * inputs + i) * 4 + point);
                    expected[filter] = f64::from(trained[weight]);
                    d_expected[weight] += f64::from(d_filters[filter]);
                }
            }
        }
        for mut workspace in workspaces() {
            let (mut filters, mut d_trained) = (vec![f32::NAN; expected.len()], vec![f32::NAN; d_expected.len()]);
            turn(&shape, &trained, &mut filters).unwrap();
            turn_backward(&shape, &d_filters, &mut d_trained, &mut workspace).unwrap();
            close(&filters, &expected);
            close(&d_trained, &d_expected);
        }
    }
}

#[test]
fn rows_that_are_not_there_are_refused() {
    let shape = TurnShape { from: &[0, 4], points: 2, rows: 4, inputs: 1, outputs: 1 };
    let error = turn(&shape, &[0.0; 4], &mut [0.0; 2]).unwrap_err().to_string();
    assert_eq!(error, "2 rows of 4 at 2 points: every point of a direction must have a row that is there");
}

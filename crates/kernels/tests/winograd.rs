//! Convolutions with many channels, which go through Winograd's transforms, against a slow and obvious one.

mod support;

use invar_kernels::{ConvShape, Workspace, conv};
use support::{backward, forward, random, workspaces};

/// Even and odd sizes, tiles of three and of four, borders that cut tiles, wide and tall images, more outputs than inputs and fewer.
const SHAPES: [(usize, usize, usize, usize, usize); 7] = [
    (2, 14, 14, 64, 96),
    (6, 7, 7, 96, 64),
    (30, 3, 3, 64, 128),
    (8, 5, 9, 64, 64),
    (1, 28, 17, 64, 64),
    (11, 6, 4, 128, 64),
    (20, 4, 4, 64, 64),
];

fn shapes() -> impl Iterator<Item = ConvShape> {
    SHAPES.into_iter().map(|(batch, height, width, inputs, outputs)| ConvShape {
        batch,
        height,
        width,
        inputs,
        outputs,
        kernel: 3,
    })
}

/// The root of the mean square of what is wrong, as a share of that of what is right.
fn error(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let wrong: f64 = found.iter().zip(expected).map(|(found, expected)| (f64::from(*found) - expected).powi(2)).sum();
    let right: f64 = expected.iter().map(|expected| expected.powi(2)).sum();
    (wrong / right).sqrt()
}

/// Rounding to single precision is an error of up to 6e-8; sums of a thousand terms have a few times that. Transforms with numbers up
/// to 8 may cost one decimal more, no two.
#[test]
fn errors_stay_small() {
    for shape in shapes() {
        let (x, w) = (random(shape.input_len(), 1), random(shape.weights_len(), 2));
        let (bias, dy) = (random(shape.outputs, 3), random(shape.output_len(), 4));
        let y_expected = forward(&shape, &x, &w, &bias);
        let (dx_expected, dw_expected) = backward(&shape, &x, &w, &dy);
        for mut workspace in workspaces().map(Workspace::with_transforms) {
            // Results start as rubbish: every entry must be written.
            let [mut y, mut dx, mut dw] = [y_expected.len(), dx_expected.len(), dw_expected.len()].map(|len| vec![f32::NAN; len]);
            // Twice, so that what was in the buffers before cannot matter.
            for _ in 0..2 {
                conv::forward(&shape, &x, &w, Some(&bias), &mut y, &mut workspace).unwrap();
                conv::backward_input(&shape, &dy, &w, &mut dx, &mut workspace).unwrap();
                conv::backward_weights(&shape, &x, &dy, &mut dw, &mut workspace).unwrap();
            }
            for (name, found, expected) in [("y", &y, &y_expected), ("dx", &dx, &dx_expected), ("dw", &dw, &dw_expected)] {
                let error = error(found, expected);
                assert!(error < 5e-6, "{shape}, {}: {name} is off by {error:.1e}", workspace.level());
            }
        }
    }
}

/// What no example says anything about stays exactly as it was: zeros have zero gradients.
#[test]
fn zeros_stay_zeros() {
    let shape = ConvShape { batch: 6, height: 7, width: 7, inputs: 64, outputs: 64, kernel: 3 };
    let w = random(shape.weights_len(), 1);
    let mut workspace = Workspace::new().unwrap().with_transforms();
    let (mut y, mut dw) = (vec![f32::NAN; shape.output_len()], vec![f32::NAN; shape.weights_len()]);
    conv::forward(&shape, &vec![0.0; shape.input_len()], &w, None, &mut y, &mut workspace).unwrap();
    conv::backward_weights(&shape, &vec![0.0; shape.input_len()], &y, &mut dw, &mut workspace).unwrap();
    assert!(y.iter().chain(&dw).all(|value| *value == 0.0));
}

/// The number of threads decides how work is cut, but never what is added in which order.
#[test]
fn the_number_of_threads_changes_no_bit() {
    for shape in shapes() {
        let (x, w, dy) = (random(shape.input_len(), 1), random(shape.weights_len(), 2), random(shape.output_len(), 3));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut workspace = Workspace::new().unwrap().with_transforms();
                let (mut y, mut dx, mut dw) = (vec![0.0; dy.len()], vec![0.0; x.len()], vec![0.0; w.len()]);
                conv::forward(&shape, &x, &w, None, &mut y, &mut workspace).unwrap();
                conv::backward_input(&shape, &dy, &w, &mut dx, &mut workspace).unwrap();
                conv::backward_weights(&shape, &x, &dy, &mut dw, &mut workspace).unwrap();
                [y, dx, dw].map(|values| values.into_iter().map(f32::to_bits).collect::<Vec<_>>())
            })
        };
        let one = run(1);
        for threads in [2, 3, 7] {
            assert!(run(threads) == one, "{shape} with {threads} threads");
        }
    }
}

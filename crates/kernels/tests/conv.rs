//! Convolutions against a slow and obvious one, at every level, over shapes that fill no register block.

mod support;

use invar_kernels::{ConvShape, Error, Workspace, conv};
use proptest::prelude::*;
use support::{assert_rounded, backward, forward, random, workspaces};

/// Checks the three products and the gradient of the bias at every level.
fn check(shape: &ConvShape, seed: u64) {
    let x = random(shape.input_len(), seed);
    let w = random(shape.weights_len(), seed + 1);
    let bias = random(shape.outputs, seed + 2);
    let dy = random(shape.output_len(), seed + 3);
    let expected = definition(shape, &x, &w, &bias, &dy);
    // The size of what was added up, which rounding errors are a part of.
    let [x_size, w_size, bias_size, dy_size] =
        [&x, &w, &bias, &dy].map(|values| values.iter().map(|v| v.abs()).collect::<Vec<_>>());
    let sizes = definition(shape, &x_size, &w_size, &bias_size, &dy_size);
    for mut workspace in workspaces() {
        // Results start as rubbish: every entry must be written.
        let [mut y, mut dx, mut dw, mut db] = sizes.each_ref().map(|size| vec![f32::NAN; size.len()]);
        conv::forward(shape, &x, &w, Some(&bias), &mut y, &mut workspace).unwrap();
        conv::backward_input(shape, &dy, &w, &mut dx, &mut workspace).unwrap();
        conv::backward_weights(shape, &x, &dy, &mut dw, &mut workspace).unwrap();
        conv::backward_bias(shape, &dy, &mut db, &mut workspace).unwrap();
        for (at, (name, found)) in [("y", y), ("dx", dx), ("dw", dw), ("db", db)].into_iter().enumerate() {
            let what = format!("{shape}, {}: {name}", workspace.level());
            assert_rounded(&what, &found, &expected[at], &sizes[at]);
        }
    }
}

/// y, dx, dw and db in double precision.
fn definition(shape: &ConvShape, x: &[f32], w: &[f32], bias: &[f32], dy: &[f32]) -> [Vec<f64>; 4] {
    let (dx, dw) = backward(shape, x, w, dy);
    let mut db = vec![0.0; shape.outputs];
    dy.iter().enumerate().for_each(|(at, dy)| db[at % shape.outputs] += f64::from(*dy));
    [forward(shape, x, w, bias), dx, dw, db]
}

/// Many small shapes, and a few large ones.
fn shapes() -> impl Strategy<Value = ConvShape> {
    let kernel = prop_oneof![Just(1usize), Just(3), Just(5)];
    let channels = || prop_oneof![4 => 1usize..20, 1 => 20usize..131];
    (1usize..6, 1usize..12, 1usize..12, channels(), channels(), kernel)
        .prop_filter("quick enough for the slow one", |(n, h, w, i, o, k)| n * h * w * i * o * k * k < 2_000_000)
        .prop_map(|(batch, height, width, inputs, outputs, kernel)| ConvShape { batch, height, width, inputs, outputs, kernel })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 96 }))]

    #[test]
    #[cfg_attr(miri, ignore)]
    fn products_agree_with_the_definition(shape in shapes(), seed in 0u64..1000) {
        check(&shape, seed);
    }
}

/// What Miri can run: every path of the kernels once, on images of a few pixels.
#[test]
fn small_shapes_agree_with_the_definition() {
    for (batch, height, width, inputs, outputs, kernel) in
        [(1, 1, 1, 1, 1, 3), (1, 1, 1, 2, 1, 5), (2, 3, 2, 1, 9, 3), (1, 4, 3, 7, 5, 3), (2, 2, 3, 6, 17, 1), (1, 3, 3, 2, 3, 5)]
    {
        check(&ConvShape { batch, height, width, inputs, outputs, kernel }, 7);
    }
}

#[test]
#[cfg_attr(miri, ignore)]
fn layers_of_a_network_agree_with_the_definition() {
    for (size, inputs, outputs) in [(28, 3, 64), (14, 64, 32), (7, 64, 130), (3, 128, 65)] {
        check(&ConvShape { batch: 5, height: size, width: size, inputs, outputs, kernel: 3 }, 11);
    }
}

/// The number of threads decides how work is cut, but never what is added in which order.
#[test]
#[cfg_attr(miri, ignore)]
fn the_number_of_threads_changes_no_bit() {
    for (size, inputs, outputs, batch) in [(28, 3, 40, 9), (14, 20, 33, 7), (3, 65, 48, 64), (30, 8, 8, 1)] {
        let shape = ConvShape { batch, height: size, width: size, inputs, outputs, kernel: 3 };
        let (x, w, dy) = (random(shape.input_len(), 1), random(shape.weights_len(), 2), random(shape.output_len(), 3));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut workspace = Workspace::new().unwrap();
                let (mut y, mut dx, mut dw) = (vec![0.0; dy.len()], vec![0.0; x.len()], vec![0.0; w.len()]);
                let mut db = vec![0.0; outputs];
                conv::forward(&shape, &x, &w, None, &mut y, &mut workspace).unwrap();
                conv::backward_input(&shape, &dy, &w, &mut dx, &mut workspace).unwrap();
                conv::backward_weights(&shape, &x, &dy, &mut dw, &mut workspace).unwrap();
                conv::backward_bias(&shape, &dy, &mut db, &mut workspace).unwrap();
                [y, dx, dw, db].map(|values| values.into_iter().map(f32::to_bits).collect::<Vec<_>>())
            })
        };
        let one = run(1);
        for threads in [2, 3, 7] {
            assert_eq!(run(threads), one, "{shape} with {threads} threads");
        }
    }
}

#[test]
fn wrong_sizes_are_named() {
    let mut workspace = Workspace::new().unwrap();
    let shape = ConvShape { batch: 1, height: 2, width: 2, inputs: 1, outputs: 1, kernel: 3 };
    let error = conv::forward(&shape, &[0.0; 4], &[0.0; 8], None, &mut [0.0; 4], &mut workspace).unwrap_err();
    assert_eq!(error.to_string(), "convolution: weights has 8 entries, but the shape needs 9");
    let error = conv::backward_weights(&shape, &[0.0; 3], &[0.0; 4], &mut [0.0; 9], &mut workspace).unwrap_err();
    assert_eq!(error.to_string(), "gradient of the weights: x has 3 entries, but the shape needs 4");
    let even = ConvShape { kernel: 2, ..shape };
    let error = conv::forward(&even, &[0.0; 4], &[0.0; 4], None, &mut [0.0; 4], &mut workspace).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }));
    assert_eq!(error.to_string(), "convolution 2x2 of 1x2x2x1 to 1 channels: the side of the kernel must be odd");
}

#[test]
fn an_empty_batch_is_no_work() {
    let mut workspace = Workspace::new().unwrap();
    let shape = ConvShape { batch: 0, height: 2, width: 2, inputs: 1, outputs: 1, kernel: 1 };
    conv::forward(&shape, &[], &[1.0], None, &mut [], &mut workspace).unwrap();
    conv::backward_input(&shape, &[], &[1.0], &mut [], &mut workspace).unwrap();
    let mut dw = [1.0];
    conv::backward_weights(&shape, &[], &[], &mut dw, &mut workspace).unwrap();
    assert!(dw[0].abs() < f32::EPSILON);
}

use super::*;
use crate::testing::{numbers, tensor};
use crate::{Pooling, Program};

fn one(input: Input, op: Op, then: Vec<Op>, x: &[f32]) -> Vec<f32> {
    let ops = std::iter::once(op).chain(then).collect();
    Program::new(input, ops).unwrap().run(x).unwrap()
}

fn flat(n: usize) -> Vec<Op> {
    vec![Op::Reshape { shape: vec![n] }]
}

fn image(channels: usize, height: usize, width: usize) -> Input {
    Input::Images { channels, height, width }
}

fn array(shape: &[usize]) -> Input {
    Input::Array { shape: shape.to_vec() }
}

#[test]
fn tokens_are_looked_up_and_refused_when_unknown() {
    let table = Tensor::new([3, 2], vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0]).unwrap();
    let program =
        Program::new(Input::Tokens { length: 2, vocabulary: 3 }, vec![Op::Gather { table }, flat(4).remove(0)]).unwrap();
    assert_eq!(program.run(&[2.0, 0.0]).unwrap(), [20.0, 21.0, 0.0, 1.0]);
    for wrong in [3.0, -1.0, 0.5, f32::NAN] {
        assert!(program.run(&[0.0, wrong]).unwrap_err().to_string().contains("whole number below 3"));
    }
    assert!(program.run(&[0.0]).unwrap_err().to_string().contains("a multiple of 2"));
}

#[test]
fn operations_by_hand() {
    let normalise = |mean: Vec<f32>, scale: Vec<f32>| Op::Normalise { mean: Tensor::vector(mean), scale: Tensor::vector(scale) };
    let x: Vec<f32> = (0..6).map(|i| i as f32).collect();
    assert_eq!(one(array(&[2, 3]), normalise(vec![1.0], vec![2.0]), flat(6), &x), [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0]);
    let by_channel = normalise(vec![1.0, 0.0], vec![1.0, 10.0]);
    assert_eq!(one(array(&[2, 3]), by_channel, flat(6), &x), [-1.0, 0.0, 1.0, 30.0, 40.0, 50.0]);
    let by_entry = normalise(x.clone(), vec![1.0; 6]);
    assert_eq!(one(array(&[2, 3]), by_entry, flat(6), &x), [0.0; 6]);

    assert_eq!(one(array(&[2, 3]), Op::Transpose { order: vec![1, 0] }, flat(6), &x), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let linear =
        Op::Linear { weight: tensor(&[2, 3], &[1.0, 2.0, 3.0, 0.0, 0.0, 1.0]), bias: Some(Tensor::vector(vec![0.5, 0.0])) };
    assert_eq!(one(array(&[3]), linear, vec![], &x), [8.5, 2.0, 26.5, 5.0]);
}

#[test]
fn images_by_hand() {
    let x: Vec<f32> = (0..18).map(|i| i as f32).collect();
    assert_eq!(one(image(2, 3, 3), Op::SumChannels, flat(9), &x)[..3], [9.0, 11.0, 13.0]);
    assert_eq!(one(image(2, 3, 3), Op::PoolSpace { pooling: Pooling::Sum }, vec![], &x), [36.0, 117.0]);
    assert_eq!(one(image(2, 3, 3), Op::PoolSpace { pooling: Pooling::Mean }, vec![], &x), [4.0, 13.0]);
    assert_eq!(one(image(2, 3, 3), Op::GroupMax { size: 2 }, flat(9), &x)[..3], [9.0, 10.0, 11.0]);
    let pool = |side: usize, step: usize| Op::MaxPool { window: [side, side], stride: [step, step] };
    assert_eq!(one(image(2, 3, 3), pool(2, 2), flat(2), &x), [4.0, 13.0]);
    assert_eq!(one(image(2, 3, 3), pool(2, 1), flat(8), &x), [4.0, 5.0, 7.0, 8.0, 13.0, 14.0, 16.0, 17.0]);
    let ones = Op::Conv { filters: tensor(&[1, 2, 3, 3], &[1.0; 18]), bias: Some(Tensor::vector(vec![0.5])) };
    // At the corner the four pixels of each channel, in the middle all of them.
    let y = one(image(2, 3, 3), ones, flat(9), &x);
    assert_eq!((y[0], y[4]), (0.0 + 1.0 + 3.0 + 4.0 + 9.0 + 10.0 + 12.0 + 13.0 + 0.5, 153.5));
    let vector = |values: [f32; 2]| Tensor::vector(values.to_vec());
    let norm = |epsilon: f32| Op::BatchNorm {
        gamma: vector([2.0, 1.0]),
        beta: vector([1.0, 0.0]),
        mean: vector([3.0, 9.0]),
        variance: vector([4.0 - epsilon, 1.0 - epsilon]),
        epsilon,
    };
    let expected: Vec<f32> = (0..18).map(|i| if i < 9 { i as f32 - 2.0 } else { i as f32 - 9.0 }).collect();
    assert_eq!(one(image(2, 3, 3), norm(0.5), flat(18), &x), expected);
    // The same parameters on two features without space.
    assert_eq!(one(array(&[2]), norm(0.5), vec![], &[5.0, 5.0]), [3.0, -4.0]);
}

#[test]
fn activations_at_known_points() {
    for (activation, x, y) in [
        (Activation::Relu, -2.0, 0.0),
        (Activation::LeakyRelu, -2.0, -0.02),
        (Activation::LeakyRelu, 2.0, 2.0),
        (Activation::Gelu, 1.0, 0.841_344_7),
        (Activation::Gelu, -9.0, 0.0),
        (Activation::Sigmoid, 0.0, 0.5),
        (Activation::Tanh, 1.0, 0.761_594_2),
    ] {
        assert!((activation.apply(x) - y).abs() < 1e-6, "{activation:?} {x}: {}", activation.apply(x));
    }
    assert!((erf(0.5) - 0.520_499_877_8).abs() < 1e-9 && (erf(3.9) - 0.999_999_965).abs() < 1e-8);
    assert!(Activation::Relu.apply(f32::NAN).is_nan(), "what is no number stays none");
}

#[test]
fn an_orbit_shows_every_side() {
    // f(x) = 2 x0 + x1 on both orders of two entries.
    let f = Op::Linear { weight: tensor(&[1, 2], &[2.0, 1.0]), bias: None };
    let orbit = Op::Orbit { views: tensor(&[2, 2], &[0.0, 1.0, 1.0, 0.0]), ops: vec![f] };
    assert_eq!(one(array(&[2]), orbit, flat(2), &[1.0, 10.0, 3.0, 0.0]), [12.0, 21.0, 6.0, 3.0]);
    // Entries with their signs changed, and entries mixed.
    let f = || vec![Op::Linear { weight: tensor(&[1, 2], &[2.0, 1.0]), bias: None }];
    let signed = Op::Orbit { views: tensor(&[2, 2], &[0.0, 1.0, -2.0, 0.0]), ops: f() };
    assert_eq!(one(array(&[2]), signed, flat(2), &[1.0, 10.0]), [12.0, -19.0]);
    let mixed = Op::Orbit { views: tensor(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.0]), ops: f() };
    assert_eq!(one(array(&[2]), mixed, flat(2), &[1.0, 10.0]), [12.0, 22.5]);
}

#[test]
fn a_median_is_the_middle_of_its_members() {
    let times = |a: f32, b: f32| vec![Op::Linear { weight: tensor(&[2, 1], &[a, b]), bias: None }];
    let of = |members: Vec<Vec<Op>>| one(array(&[1]), Op::Median { members }, vec![], &[1.0, -2.0]);
    assert_eq!(of(vec![times(3.0, 0.0), times(1.0, 9.0), times(2.0, -1.0)]), [2.0, 0.0, -4.0, 0.0]);
    assert_eq!(of(vec![times(3.0, 1.0)]), [3.0, 1.0, -6.0, -2.0]);
    // One member whose answer is no number leaves none, whichever side it would be sorted to.
    // Infinity times zero is no number.
    let dense = |weights: &[f32; 4]| Op::Linear { weight: tensor(&[2, 2], weights), bias: None };
    let overflow = dense(&[f32::MAX, 0.0, 0.0, 1.0]);
    let lost = [times(f32::MAX, 1.0), vec![overflow, dense(&[0.0, 0.0, 0.0, 1.0])]].concat();
    let answers = of(vec![times(3.0, 1.0), times(2.0, 1.0), lost]);
    assert!(answers.iter().all(|answer| answer.is_nan()), "{answers:?}");
    // Members may read tokens, as the first operation alone can.
    let gather = |values: &[f32]| vec![Op::Gather { table: tensor(&[3, 1], values) }, Op::Reshape { shape: vec![2] }];
    let members = vec![gather(&[0.0, 1.0, 2.0]), gather(&[5.0, 5.0, 0.0]), gather(&[4.0, 3.0, 1.0])];
    let tokens = Input::Tokens { length: 2, vocabulary: 3 };
    assert_eq!(one(tokens, Op::Median { members }, vec![], &[0.0, 2.0]), [4.0, 1.0]);
}

#[test]
fn an_example_has_the_same_answer_alone_and_among_others() {
    let mut seed = 1;
    let mut drawn = |shape: &[usize]| tensor(shape, &numbers(&mut seed, shape.iter().product()));
    let program = Program::new(
        image(3, 9, 7),
        vec![
            Op::Conv { filters: drawn(&[20, 3, 3, 3]), bias: None },
            Op::Activate { activation: Activation::Relu },
            Op::Conv { filters: drawn(&[33, 20, 5, 5]), bias: Some(drawn(&[33])) },
            Op::MaxPool { window: [2, 3], stride: [2, 2] },
            Op::PoolSpace { pooling: Pooling::Mean },
            Op::Linear { weight: drawn(&[5, 33]), bias: Some(drawn(&[5])) },
        ],
    )
    .unwrap();
    let x = drawn(&[50, 3 * 9 * 7]).values;
    let together = program.run(&x).unwrap();
    let alone: Vec<f32> = x.chunks(3 * 9 * 7).flat_map(|x| program.run(x).unwrap()).collect();
    assert_eq!(together, alone);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| program.run(&x).unwrap()), together);
    assert!(program.run(&[]).unwrap().is_empty());
}

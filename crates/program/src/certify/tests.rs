use proptest::prelude::*;

use super::numeric::{deviations, measure, moved, random};
use super::*;
use crate::testing::{numbers, tensor};
use crate::{Activation, Input, Op, Pooling, Tensor};
use invar_algebra::candidates;

fn group(shape: &str, of: &str) -> Group {
    candidates(&shape.parse().unwrap(), [of]).unwrap().remove(0)
}

fn image(channels: usize, side: usize) -> Input {
    Input::Images { channels, height: side, width: side }
}

fn array(n: usize) -> Input {
    Input::Array { shape: vec![n] }
}

fn relu() -> Op {
    Op::Activate { activation: Activation::Relu }
}

fn linear(outputs: usize, weight: &[f32]) -> Op {
    Op::Linear { weight: tensor(&[outputs, weight.len() / outputs], weight), bias: None }
}

fn program(input: Input, ops: Vec<Op>) -> Program {
    Program::new(input, ops).unwrap()
}

/// Where and why a proof ends.
fn broken(program: &Program, shape: &str, of: &str) -> (usize, String) {
    let broken = certify(program, &group(shape, of)).unwrap().broken().unwrap_or_else(|| panic!("{of} was proved")).clone();
    (broken.op, broken.reason)
}

fn proved(program: &Program, shape: &str, of: &str) -> bool {
    let certificate = certify(program, &group(shape, of)).unwrap();
    // A proof that the numbers contradict would be worth nothing.
    let found = measure(program, &group(shape, of), Some(&certificate), &random(&program.input, 3, 1), 4).unwrap();
    assert!(!certificate.is_proved() || found.holds(), "{certificate}, but {found}");
    certificate.is_proved()
}

/// A 3x3 filter that looks the same after quarter turns, but not in a mirror's way only: centre, edges, corners.
const ROUND: [f32; 9] = [0.3, -1.0, 0.3, -1.0, 2.0, -1.0, 0.3, -1.0, 0.3];
const SLANTED: [f32; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

fn round_network(side: usize, window: usize) -> Program {
    let norm = |n: usize| Tensor::vector(vec![0.5; n]);
    program(
        image(1, side),
        vec![
            Op::Conv { filters: tensor(&[1, 1, 3, 3], &ROUND), bias: Some(Tensor::vector(vec![0.1])) },
            Op::BatchNorm { gamma: norm(1), beta: norm(1), mean: norm(1), variance: norm(1), epsilon: 1e-5 },
            relu(),
            Op::MaxPool { window: [window; 2], stride: [2; 2] },
            Op::PoolSpace { pooling: Pooling::Sum },
            linear(2, &[1.0, -1.0]),
        ],
    )
}

#[test]
fn round_filters_are_followed_and_pooling_must_fit() {
    assert!(proved(&round_network(8, 2), "1x8x8", "rot90(1,2)"));
    assert!(proved(&round_network(8, 2), "1x8x8", "flip(2)"));
    assert!(proved(&round_network(7, 3), "1x7x7", "join(rot90(1,2),flip(1))"));
    let (op, reason) = broken(&round_network(7, 2), "1x7x7", "rot90(1,2)");
    assert_eq!((op, reason.as_str()), (3, "max pooling 2 on side 7 drops a column"));
    // The mirror of rows alone does not care about columns; it still loses a row.
    assert_eq!(broken(&round_network(7, 2), "1x7x7", "flip(1)").0, 3);
    let (op, reason) = broken(&round_network(8, 2), "1x8x8", "shift(2)");
    assert_eq!(op, 0);
    assert!(reason.contains("expected turns or mirrors"), "{reason}");
}

#[test]
fn a_filter_that_turns_into_no_other_is_named() {
    let ops = vec![Op::Conv { filters: tensor(&[1, 1, 3, 3], &SLANTED), bias: None }, Op::PoolSpace { pooling: Pooling::Sum }];
    let (op, reason) = broken(&program(image(1, 5), ops), "1x5x5", "rot90(1,2)");
    assert_eq!(op, 0);
    assert_eq!(
        reason,
        "a quarter turn of the filters: the weights of output 0, moved, are those of no output: the nearest differ by 6.0e0, \
         and weights go up to 9.0e0"
    );
}

#[test]
fn filters_that_turn_into_each_other_carry_the_turn_on() {
    // The filter in its four directions; their largest answer, or their sum, forgets which.
    let quarter = |f: &[f32]| (0..9).map(|i| f[(i % 3) * 3 + 2 - i / 3]).collect::<Vec<f32>>();
    let mut filters = SLANTED.to_vec();
    for k in 0..3 {
        let next = quarter(&filters[k * 9..]);
        filters.extend(next);
    }
    let conv = || Op::Conv { filters: tensor(&[4, 1, 3, 3], &filters), bias: None };
    let pool = || Op::PoolSpace { pooling: Pooling::Mean };
    let pooled = program(image(1, 5), vec![conv(), Op::GroupMax { size: 4 }, pool()]);
    assert!(proved(&pooled, "1x5x5", "rot90(1,2)"));
    assert!(!proved(&pooled, "1x5x5", "flip(1)"));
    let summed = program(image(1, 5), vec![conv(), relu(), pool(), linear(1, &[1.0; 4])]);
    assert!(proved(&summed, "1x5x5", "rot90(1,2)"));
    let weighed = program(image(1, 5), vec![conv(), relu(), pool(), linear(1, &[1.0, 2.0, 1.0, 2.0])]);
    assert!(!proved(&weighed, "1x5x5", "rot90(1,2)"));
    assert!(proved(&weighed, "1x5x5", "generators(0;[[0]])"));
    // Without a last layer the outputs themselves move.
    let (op, reason) = broken(&program(image(1, 5), vec![conv(), relu(), pool()]), "1x5x5", "rot90(1,2)");
    assert_eq!((op, reason.as_str()), (2, "the outputs move: 4 of 4 entries move behind it"));
    // Pairs of channels that do not stay pairs.
    let pairs = program(image(1, 5), vec![conv(), Op::GroupMax { size: 2 }, pool()]);
    assert_eq!(broken(&pairs, "1x5x5", "rot90(1,2)"), (1, "entries that are brought together do not stay together".into()));
}

#[test]
fn parameters_of_channels_must_move_with_them() {
    let norm = |gamma: [f32; 2]| {
        let ones = || Tensor::vector(vec![1.0; 2]);
        Op::BatchNorm { gamma: Tensor::vector(gamma.to_vec()), beta: ones(), mean: ones(), variance: ones(), epsilon: 1e-5 }
    };
    let with =
        |gamma| program(image(2, 3), vec![norm(gamma), Op::SumChannels, Op::Reshape { shape: vec![9] }, linear(1, &[1.0; 9])]);
    assert!(proved(&with([2.0, 2.0]), "2x3x3", "permute(0)"));
    assert!(proved(&with([2.0, 2.000_001]), "2x3x3", "permute(0)"));
    assert!(broken(&with([2.0, 2.1]), "2x3x3", "permute(0)").1.starts_with("0 goes to 1, but their parameters are"));
    assert!(proved(&with([2.0, 2.1]), "2x3x3", "rot90(1,2)"));
}

#[test]
fn dense_layers_absorb_or_carry_on() {
    let sum = program(array(4), vec![linear(2, &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 0.5, 0.5])]);
    assert!(proved(&sum, "4", "swap(0;0,1)") && proved(&sum, "4", "swap(0;2,3)") && !proved(&sum, "4", "swap(0;1,2)"));
    // Exchanging inputs exchanges hidden neurons, which count alike.
    let carried = program(array(2), vec![linear(2, &[1.0, 2.0, 2.0, 1.0]), relu(), linear(1, &[1.0, 1.0])]);
    assert!(proved(&carried, "2", "flip(0)"));
    // |x| = relu(x) + relu(-x): the change of sign becomes an exchange.
    let absolute = program(array(1), vec![linear(2, &[1.0, -1.0]), relu(), linear(1, &[1.0, 1.0])]);
    assert!(proved(&absolute, "1", "negate"));
    let even = program(array(2), vec![linear(1, &[1.0, -1.0])]);
    assert_eq!(broken(&even, "2", "negate").1, "the outputs move: 1 of 1 signs change behind it");
    let biased = Op::Linear { weight: tensor(&[2, 2], &[1.0, 2.0, 2.0, 1.0]), bias: Some(Tensor::vector(vec![0.0, 1.0])) };
    let biased = program(array(2), vec![biased, relu(), linear(1, &[1.0, 1.0])]);
    assert!(broken(&biased, "2", "flip(0)").1.contains("another bias"));
}

#[test]
fn positions_of_tokens_move_through_the_table() {
    let table = tensor(&[5, 2], &[0.0, 1.0, 0.3, 0.2, -1.0, 4.0, 2.0, 2.0, 0.1, 0.7]);
    let with = |weights: &[f32]| {
        let ops = vec![Op::Gather { table: table.clone() }, Op::Reshape { shape: vec![6] }, linear(1, weights)];
        program(Input::Tokens { length: 3, vocabulary: 5 }, ops)
    };
    assert!(proved(&with(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), "3", "permute(0)"));
    assert!(proved(&with(&[1.0, 2.0, 3.0, 4.0, 1.0, 2.0]), "3", "swap(0;0,2)"));
    assert!(!proved(&with(&[1.0, 2.0, 2.0, 1.0, 1.0, 2.0]), "3", "cycle(0)"));
    assert_eq!(broken(&with(&[0.0; 6]), "3", "negate").1, "tokens have no sign to change");
}

#[test]
fn axes_are_followed_through_transposes() {
    let ops =
        vec![Op::Transpose { order: vec![1, 0] }, Op::Reshape { shape: vec![6] }, linear(1, &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0])];
    let program = program(Input::Array { shape: vec![2, 3] }, ops);
    assert!(proved(&program, "2x3", "flip(0)") && !proved(&program, "2x3", "flip(1)"));
}

#[test]
fn signs_pass_through_odd_functions_only() {
    let odd = vec![linear(2, &[1.0, 2.0, -1.0, 0.5]), Op::Activate { activation: Activation::Tanh }];
    assert_eq!(
        broken(&program(array(2), odd.clone()), "2", "negate"),
        (1, "the outputs move: 2 of 2 signs change behind it".into())
    );
    let squashed = program(array(2), [odd, vec![relu()]].concat());
    assert_eq!(broken(&squashed, "2", "negate"), (2, "a change of sign does not pass through it".into()));
    assert!(proved(&program(array(2), vec![linear(1, &[0.0, 0.0])]), "2", "negate"));
}

#[test]
fn normalisation_is_a_step_like_any_other() {
    let with = |mean: &[f32], scale: &[f32]| {
        let normalise = Op::Normalise { mean: Tensor::vector(mean.to_vec()), scale: Tensor::vector(scale.to_vec()) };
        program(array(2), vec![normalise, linear(1, &[1.0, 1.0])])
    };
    assert!(proved(&with(&[0.4], &[2.0]), "2", "flip(0)"));
    assert!(proved(&with(&[0.4, 0.4], &[2.0, 2.0]), "2", "flip(0)"));
    assert_eq!(broken(&with(&[0.4, 0.3], &[2.0, 2.0]), "2", "flip(0)").0, 0);
    assert_eq!(broken(&with(&[0.4, 0.4], &[2.0, 1.0]), "2", "flip(0)").0, 0);
    assert!(broken(&with(&[0.4], &[2.0]), "2", "negate").1.contains("a mean is subtracted"));
}

#[test]
fn matrices_are_absorbed_by_a_dense_layer_or_not_provable() {
    // A reflection in the line of (2, 1): w = (2, 1) is fixed by it.
    let reflection = "generators([[[3/5,4/5],[4/5,-3/5]]])";
    let turn = "generators([[[0.5,-0.8660254037844386],[0.8660254037844386,0.5]]])";
    let along = program(array(2), vec![linear(2, &[2.0, 1.0, -4.0, -2.0]), relu(), linear(1, &[1.0, 3.0])]);
    assert!(proved(&along, "2", reflection) && !proved(&along, "2", turn));
    assert!(broken(&program(array(2), vec![linear(1, &[1.0, 2.0])]), "2", reflection).1.contains("w R differs from w by"));
    let early = program(array(2), vec![relu(), linear(1, &[2.0, 1.0])]);
    assert!(broken(&early, "2", reflection).1.starts_with("not provable here"));
    let normalised = |mean: &[f32]| {
        let normalise = Op::Normalise { mean: Tensor::vector(mean.to_vec()), scale: Tensor::vector(vec![3.0; mean.len()]) };
        program(array(2), vec![normalise, linear(1, &[2.0, 1.0])])
    };
    assert!(proved(&normalised(&[4.0, 2.0]), "2", reflection) && !proved(&normalised(&[1.0, 1.0]), "2", reflection));
}

#[test]
fn an_orbit_exchanges_its_elements() {
    let inner = || vec![linear(2, &[1.0, 2.0, 4.0, -1.0, 0.0, 1.0]), relu()];
    let views = tensor(&[3, 3], &[0.0, 1.0, 2.0, 1.0, 2.0, 0.0, 2.0, 0.0, 1.0]);
    let with = |weights: &[f32]| {
        let orbit = Op::Orbit { views: views.clone(), ops: inner() };
        program(array(3), vec![orbit, Op::Reshape { shape: vec![6] }, linear(1, weights)])
    };
    assert!(proved(&with(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), "3", "cycle(0)"));
    assert!(!proved(&with(&[1.0, 2.0, 1.0, 3.0, 1.0, 2.0]), "3", "cycle(0)"));
    let (op, reason) = broken(&with(&[1.0; 6]), "3", "swap(0;0,1)");
    assert!(op == 0 && reason.contains("seen from no side"), "{reason}");
}

#[test]
fn an_orbit_takes_signs_and_matrices() {
    let with = |views: Tensor, entries: usize, weights: &[f32]| {
        let orbit = Op::Orbit { views, ops: vec![linear(2, &numbers(&mut 3, 2 * entries)), relu()] };
        program(array(entries), vec![orbit, Op::Reshape { shape: vec![weights.len()] }, linear(1, weights)])
    };
    let alike = [1.0, 2.0, 1.0, 2.0];
    // x and -x; of the second program nobody can tell, since its two sides are seen by different weights.
    let negated = || tensor(&[2, 3], &[0.0, 1.0, 2.0, -1.0, -2.0, -3.0]);
    assert!(proved(&with(negated(), 3, &alike), "3", "negate"));
    assert!(!proved(&with(negated(), 3, &[1.0, 2.0, 3.0, 2.0]), "3", "negate"));
    assert!(broken(&with(negated(), 3, &alike), "3", "generators([[-0,1,2]])").1.contains("seen from no side"));
    let (reflection, other) = ("generators([[[3/5,4/5],[4/5,-3/5]]])", "generators([[[4/5,3/5],[3/5,-4/5]]])");
    let reflected = || tensor(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 0.8, -0.6]);
    assert!(proved(&with(reflected(), 2, &alike), "2", reflection));
    assert!(!proved(&with(reflected(), 2, &[1.0, 2.0, 3.0, 2.0]), "2", reflection));
    assert!(broken(&with(reflected(), 2, &alike), "2", other).1.contains("seen from no side"));
    // Large entries, as where units change, do not hide small ones.
    let units =
        || tensor(&[2, 3, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1e6, 0.0, 1e-6, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(proved(&with(units(), 3, &alike), "3", "generators([[[0,1000000,0],[1/1000000,0,0],[0,0,1]]])"));
    assert!(broken(&with(units(), 3, &alike), "3", "generators([[0,1,-2]])").1.contains("seen from no side"));
    // Moves of entries, where others of the group are matrices; and a matrix where none is.
    let swapped = || tensor(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 0.0, -1.0, -1.0, 0.0]);
    assert!(proved(&with(swapped(), 2, &alike), "2", "generators([[-1,-0]])"));
    assert!(
        broken(&with(negated(), 3, &alike), "3", "generators([[[0,1/2,0],[2,0,0],[0,0,1]]])").1.contains("seen from no side")
    );
}

#[test]
fn a_median_follows_when_every_member_does() {
    let alike = |w: f32| vec![linear(1, &[w; 3]), relu()];
    let of = |members: Vec<Vec<Op>>| program(array(3), vec![relu(), Op::Median { members }]);
    let all = of(vec![alike(1.0), alike(-2.0), alike(0.5)]);
    assert!(proved(&all, "3", "permute(0)"));
    let steps = &certify(&all, &group("3", "permute(0)")).unwrap().generators[0].steps;
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!((names[0], names[1], names[6], names[7]), ("ReLU", "member 0, 0 linear", "member 2, 1 ReLU", "median"));
    assert_eq!(steps[7].how, "all 3 members end alike; nothing moves behind it");
    let one_less = of(vec![alike(1.0), vec![linear(1, &[1.0, 1.0, 2.0])], alike(0.5)]);
    let (op, reason) = broken(&one_less, "3", "permute(0)");
    assert!(op == 1 && reason.starts_with("member 1, operation 0 (linear): "), "{reason}");
    assert!(proved(&one_less, "3", "swap(0;0,1)"));
    // What moves must move alike in all members: here the outputs of one are exchanged, and those of the other are not.
    let with = |ops: Vec<Op>| {
        let median = Op::Median { members: vec![vec![relu()], vec![relu()], ops] };
        program(array(2), vec![median, linear(1, &[1.0, 1.0])])
    };
    assert!(proved(&with(vec![relu()]), "2", "permute(0)"));
    let (op, reason) = broken(&with(vec![linear(2, &[1.0; 4])]), "2", "permute(0)");
    assert_eq!((op, reason.as_str()), (0, "member 2 does not end like the first"));
    // Matrices are absorbed by each.
    let reflection = "generators([[[3/5,4/5],[4/5,-3/5]]])";
    let along = |w: f32| vec![linear(1, &[2.0 * w, w])];
    let median = |members| program(array(2), vec![Op::Median { members }]);
    assert!(proved(&median(vec![along(1.0), along(-3.0), along(2.0)]), "2", reflection));
    assert!(!proved(&median(vec![along(1.0), along(2.0), vec![linear(1, &[1.0, 2.0])]]), "2", reflection));
}

#[test]
fn small_images_only_see_the_middle_of_a_filter() {
    // On one pixel the outer weights meet zeros: turning it is nothing, and channels may move as the centres allow.
    let mut filters = numbers(&mut 4, 18);
    (filters[4], filters[13]) = (1.0, 1.0);
    let ops = vec![Op::Conv { filters: tensor(&[1, 2, 3, 3], &filters), bias: None }, Op::Reshape { shape: vec![1] }];
    assert!(proved(&program(image(2, 1), ops), "2x1x1", "permute(0)"));
}

#[test]
fn what_is_brought_together_stays_together_as_a_whole() {
    // Two channels of two pixels, the second channel mirrored: each pair keeps its first entry, but not its second.
    let ops = vec![Op::GroupMax { size: 2 }, Op::Reshape { shape: vec![2] }, linear(1, &[1.0, 1.0])];
    let pairs = program(Input::Images { channels: 2, height: 1, width: 2 }, ops);
    assert_eq!(broken(&pairs, "2x1x2", "generators([[0,1,3,2]])").0, 0);
    assert!(!proved(&pairs, "2x1x2", "generators([[0,1,3,2]])"));
    assert!(proved(&pairs, "2x1x2", "permute(0)") && proved(&pairs, "2x1x2", "flip(2)"));
}

#[test]
fn certificates_can_be_read() {
    let certificate = certify(&round_network(8, 2), &group("1x8x8", "turn=rot90(1,2)")).unwrap();
    assert_eq!(certificate.to_string(), "turn: proved, weights that should be equal are equal to the last bit");
    let steps: Vec<&str> = certificate.generators[0].steps.iter().map(|step| step.how.as_str()).collect();
    assert_eq!(
        steps,
        [
            "filters follow a quarter turn; 64 of 64 entries move behind it",
            "64 of 64 entries move behind it",
            "64 of 64 entries move behind it",
            "16 of 16 entries move behind it",
            "nothing moves behind it",
            "nothing moves behind it",
        ]
    );
    let text = serde_json::to_string(&certificate).unwrap();
    assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
    let other = certify(&round_network(7, 2), &group("1x7x7", "turn=rot90(1,2)")).unwrap();
    assert_eq!(other.to_string(), "turn: not proved, operation 3 (max pooling): max pooling 2 on side 7 drops a column");
    assert!(certify(&round_network(8, 2), &group("1x7x7", "flip(1)")).unwrap_err().to_string().contains("expected 1x8x8"));
}

#[test]
fn numbers_tell_what_moved() {
    let program = program(array(2), vec![linear(1, &[1.0, 3.0])]);
    let found = deviations(&program, &group("2", "flip(0)"), &[1.0, 2.0, 0.0, 1.0]).unwrap();
    // 7 becomes 5 and 3 becomes 1; (100, -100) becomes what is furthest from it among the inputs that are tried: -200 becomes 200.
    assert_eq!((found.largest(), found.size, found.holds()), (400.0, 7.0, false));
    assert!(found.to_string().starts_with("flip(0): outputs change by 4.0e2 at most, 2.0e0 of the largest, on "), "{found}");
    let tokens = random(&Input::Tokens { length: 4, vocabulary: 3 }, 50, 1);
    assert!(tokens.iter().all(|&t| (0.0..3.0).contains(&t) && t.fract() == 0.0) && tokens.contains(&2.0));
    assert_eq!(moved(&group("2x2", "rot90(0,1)").generators()[0], &[1.0, 2.0, 3.0, 4.0]), [2.0, 4.0, 1.0, 3.0]);
}

/// Filters made equal under some symmetries of the square and of channels by averaging, others left as drawn.
fn random_network(seed: u32, side: usize, round: bool, colours: bool, window: usize) -> Program {
    let mut seed = seed;
    let mut filters = numbers(&mut seed, 3 * 2 * 9);
    if round {
        for plane in filters.chunks_mut(9) {
            let (corner, edge) = (plane[0], plane[1]);
            for i in [0, 2, 6, 8] {
                plane[i] = corner;
            }
            for i in [1, 3, 5, 7] {
                plane[i] = edge;
            }
        }
    }
    if colours {
        for filter in filters.chunks_mut(18) {
            let first = filter[..9].to_vec();
            filter[9..].copy_from_slice(&first);
        }
    }
    let mut drawn = |n: usize| Tensor::vector(numbers(&mut seed, n));
    let norm =
        Op::BatchNorm { gamma: drawn(3), beta: drawn(3), mean: drawn(3), variance: Tensor::vector(vec![0.5; 3]), epsilon: 1e-3 };
    let last = drawn(6).values;
    let mut ops = vec![Op::Conv { filters: tensor(&[3, 2, 3, 3], &filters), bias: None }, norm, relu()];
    if window > 1 {
        ops.push(Op::MaxPool { window: [window; 2], stride: [2; 2] });
    }
    ops.extend([Op::PoolSpace { pooling: Pooling::Sum }, linear(2, &last)]);
    program(image(2, side), ops)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is proved holds in numbers, and what was built in is proved.
    #[test]
    fn proofs_are_right(
        seed in any::<u32>(), side in 3usize..8, round in any::<bool>(), colours in any::<bool>(), window in 1usize..4,
        several in any::<bool>(),
        of in prop::sample::select(vec!["rot90(1,2)", "flip(1)", "flip(2)", "permute(0)", "join(rot90(1,2),permute(0))"]),
    ) {
        let one = |seed: u32| random_network(seed, side, round, colours, window);
        let program = if several {
            let members = (0..3).map(|k| one(seed.wrapping_add(k)).ops).collect();
            Program::new(one(seed).input, vec![Op::Median { members }]).unwrap()
        } else {
            one(seed)
        };
        let group = group(&format!("2x{side}x{side}"), of);
        let certificate = certify(&program, &group).unwrap();
        let found = measure(&program, &group, Some(&certificate), &random(&program.input, 4, u64::from(seed)), 1).unwrap();
        prop_assert!(!certificate.is_proved() || found.holds(), "{} but {}", certificate, found);
        let fits = window == 1 || (side - window) % 2 == 0;
        let built_in = match of {
            "permute(0)" => colours,
            "join(rot90(1,2),permute(0))" => colours && round && fits,
            _ => round && fits,
        };
        prop_assert!(!built_in || certificate.is_proved(), "{}", certificate);
    }
}

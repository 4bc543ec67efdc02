use super::numeric::{measure, random};
use super::*;
use crate::testing::tensor;
use crate::{Activation, Input, Op, Tensor};
use invar_algebra::candidates;

fn groups(shape: &str, of: &str) -> Vec<Group> {
    candidates(&shape.parse().unwrap(), [of]).unwrap()
}

/// Two layers; `first` are the weights of its neurons on three entries.
fn network(first: &[f32], second: &[f32]) -> Program {
    let hidden = second.len();
    let ops = vec![
        Op::Linear { weight: tensor(&[hidden, 3], first), bias: Some(Tensor::vector(vec![0.5; hidden])) },
        Op::Activate { activation: Activation::Relu },
        Op::Linear { weight: tensor(&[1, hidden], second), bias: None },
    ];
    Program::new(Input::Array { shape: vec![3] }, ops).unwrap()
}

/// The next number above.
fn up(value: f32) -> f32 {
    f32::from_bits(value.to_bits() + 1)
}

#[test]
fn differences_are_carried_to_a_bound() {
    // Neurons differ by 2 and 1 units of 2^-23 of one entry up to 1, and are weighed with 3 and 5.
    let program = network(&[1.0, 1.0, 1.0 + 2.0 * f32::EPSILON, 0.5, 0.5, 0.5 + f32::EPSILON], &[3.0, -5.0]);
    let group = &groups("3", "swap(0;0,2)")[0];
    let certificate = certify(&program, group).unwrap();
    assert!(certificate.is_proved() && !certificate.is_exact(), "{certificate}");
    let within = certificate.within().unwrap();
    // Both entries that are exchanged differ: twice 3 x 2 + 5 x 1 units.
    assert!((within.change / (22.0 * f64::from(f32::EPSILON)) - 1.0).abs() < 1e-3, "{within}");
    assert_eq!(certificate.to_string(), "swap(0;0,2): proved within 2.6e-6 on inputs up to 1, for each generator");
    let (examples, range) = (random(&program.input, 8, 1), Range::of(&program, &[2.0, -3.0, 0.0]));
    assert_eq!(range, Range::Inputs { up_to: 3.0 });
    let wider = certify_on(&program, group, range).unwrap();
    assert!((wider.within().unwrap().change / within.change - 3.0).abs() < 1e-3, "{wider}");
    // The bound holds, and is needed.
    assert!(measure(&program, group, Some(&certificate), &examples, 8).unwrap().holds());
    let found = measure(&program, group, None, &examples, 8).unwrap();
    assert!(!found.holds() && found.largest() > 0.0, "{found}");
}

#[test]
fn a_bound_that_is_not_small_is_no_proof() {
    // The first output hides nothing of the second, which changes by as much as it has.
    let weight = tensor(&[2, 3], &[1e6, 1e6, 1e6, 1e6 + 1.0, 1e6, 1e6]);
    let program = Program::new(Input::Array { shape: vec![3] }, vec![Op::Linear { weight, bias: None }]).unwrap();
    let certificate = certify(&program, &groups("3", "swap(0;0,1)")[0]).unwrap();
    let reason = &certificate.broken().unwrap().reason;
    assert!(reason.contains("outputs may change by up to 2.0e0 on inputs up to 1, more than 1e-3"), "{reason}");
}

#[test]
fn inputs_far_from_zero_have_their_own_range() {
    let normalise = Op::Normalise { mean: Tensor::vector(vec![100.0; 3]), scale: Tensor::vector(vec![2.0; 3]) };
    let mut program = network(&[1.0, 1.0, up(1.0)], &[1.0]);
    program.ops.insert(0, normalise);
    let group = &groups("3", "permute(0)")[0];
    let certificate = certify(&program, group).unwrap();
    assert_eq!(certificate.within().unwrap().range, Range::Normalised { up_to: 4.0 });
    // Examples around zero are 200 away in these units: the bound says nothing about them.
    let found = measure(&program, group, Some(&certificate), &random(&program.input, 8, 1), 4).unwrap();
    assert!(found.holds(), "{found}");
    assert_eq!(Range::of(&program, &[0.0, 100.0, 101.0]), Range::Normalised { up_to: 200.0 });
}

#[test]
fn what_differs_by_rounding_is_tied() {
    let rounded = [0.3, up(0.3), 0.3, -0.7, -0.7, -up(0.7), 0.2, 0.9, up(0.9)];
    let program = network(&rounded, &[1.0, 2.0, -1.0]);
    let all = groups("3", "swaps(0)");
    let swap = groups("3", "swap(0;1,2)");
    let exact = |program: &Program, group: &Group| certify(program, group).unwrap().is_exact();
    assert!(!exact(&program, &swap[0]));
    let written = tied(program.clone(), &swap).unwrap();
    assert!(exact(&written, &swap[0]));
    // What does not hold is not made to hold, and ties nothing.
    assert_eq!(tied(program.clone(), &all).unwrap(), written);
    assert_eq!(tied(program.clone(), &all[..1]).unwrap(), program);
    assert_eq!(tied(written.clone(), &swap).unwrap(), written);
}

#[test]
fn work_is_known_beforehand() {
    let program = network(&[1.0; 30], &[1.0; 10]);
    // Weights, activations, and entries.
    assert!((cost(&program).unwrap() - (30.0 + 80.0 + 10.0 + 3.0)).abs() < 1.0);
    let groups = groups("3", "swaps(0)");
    let all = certificate_cost(&program, &groups, 64).unwrap();
    assert!(all > 2.0 * certificate_cost(&program, &groups[..1], 64).unwrap() && all < 1e8);
}

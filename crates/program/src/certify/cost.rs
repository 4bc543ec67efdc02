//! How much work a program and a certificate are, before they are begun.

use invar_algebra::Group;

use super::numeric;
use super::search::KEPT;
use crate::error::Result;
use crate::op::Op;
use crate::program::{Program, member_shapes};

/// Evaluating with bounds in double precision takes so many times as long as in single precision.
const BOUNDED: f64 = 20.0;

/// Multiplications, or what takes as long, that one example takes.
pub fn cost(program: &Program) -> Result<f64> {
    list(&program.ops, &program.input.sides(), program.input.vocabulary())
}

/// The same of a certificate of these groups with a measurement on so many examples.
pub fn certificate_cost(program: &Program, groups: &[Group], examples: usize) -> Result<f64> {
    let generators: usize = groups.iter().map(|group| group.generators().len()).sum();
    let runs = numeric::runs(examples, numeric::rounds(program, generators)?) as f64 + 2.0 * KEPT as f64 * BOUNDED;
    // A proof looks at every weight and every entry a few times.
    let proof = 16.0 * (program.parameters() as f64 + cost(program)? / 8.0);
    Ok(generators as f64 * (runs * cost(program)? + proof))
}

fn list(ops: &[Op], shape: &[usize], vocabulary: Option<usize>) -> Result<f64> {
    let shapes = member_shapes(shape, vocabulary, ops)?;
    let mut all = shape.iter().product::<usize>() as f64;
    for (index, op) in ops.iter().enumerate() {
        let vocabulary = vocabulary.filter(|_| index == 0);
        let (before, behind) = (entries(&shapes[index]), entries(&shapes[index + 1]));
        all += match op {
            Op::Linear { weight, .. } => behind * weight.shape[1] as f64,
            Op::Conv { filters, .. } => behind * entries(&filters.shape[1..]),
            Op::MaxPool { window, .. } => before + behind * entries(window),
            Op::Orbit { views, ops } => {
                views.values.len() as f64 + views.shape[0] as f64 * list(ops, &shapes[index], vocabulary)?
            }
            Op::Median { members } => {
                let each = members.iter().map(|ops| list(ops, &shapes[index], vocabulary));
                each.collect::<Result<Vec<f64>>>()?.iter().sum()
            }
            // Some tens of operations for the slower functions.
            Op::Activate { .. } => 8.0 * before,
            _ => before + behind,
        };
    }
    Ok(all)
}

fn entries(shape: &[usize]) -> f64 {
    shape.iter().map(|&side| side as f64).product()
}

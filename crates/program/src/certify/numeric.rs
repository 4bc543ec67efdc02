//! What moving the input does to the outputs, in numbers.

use std::fmt;

use invar_algebra::{Action, Group};
use invar_data::Limits;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::error::{Error, Result};
use crate::program::Program;

/// Outputs count as equal when they differ by at most this part of the largest output: some rounding in every layer.
pub const TOLERANCE: f64 = 1e-4;

/// How far outputs move when inputs are moved by the generators of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deviations {
    /// The name of the group.
    pub group: String,
    /// Inputs that were moved.
    pub examples: usize,
    /// The largest output in magnitude, before and behind every move.
    pub size: f64,
    /// The largest change of an output, per generator.
    pub generators: Vec<f64>,
    /// The part of `size` that counts as nothing.
    pub tolerance: f64,
}

impl Deviations {
    /// The largest change of an output.
    pub fn largest(&self) -> f64 {
        self.generators.iter().copied().fold(0.0, worse)
    }

    /// The largest change as a part of the largest output.
    pub fn relative(&self) -> f64 {
        if self.size == 0.0 { self.largest() } else { self.largest() / self.size }
    }

    /// Whether all changes are within the tolerance. Outputs that are not finite say nothing, so that nothing holds.
    pub fn holds(&self) -> bool {
        self.size.is_finite() && self.relative() <= self.tolerance
    }
}

/// The larger of two; a NaN is no small change.
fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// The largest output in magnitude.
fn size(outputs: &[f32]) -> f64 {
    outputs.iter().map(|y| f64::from(y.abs())).fold(0.0, worse)
}

impl fmt::Display for Deviations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "within" } else { "above" };
        write!(
            f,
            "{}: outputs change by {:.1e} at most, {:.1e} of the largest, on {} examples ({verdict} {:.0e})",
            self.group,
            self.largest(),
            self.relative(),
            self.examples,
            self.tolerance
        )
    }
}

/// Moves examples by every generator of the group and compares the outputs.
pub fn deviations(program: &Program, group: &Group, examples: &[f32]) -> Result<Deviations> {
    deviations_of(|x| program.run(x), &program.input, group, examples)
}

/// The same for anything that can be run.
pub fn deviations_of(
    run: impl Fn(&[f32]) -> Result<Vec<f32>>,
    input: &Input,
    group: &Group,
    examples: &[f32],
) -> Result<Deviations> {
    let shape = input.shape()?;
    if *group.shape() != shape {
        return Err(Error::misfit("shape that the group acts on", shape, group.shape()));
    }
    let before = run(examples)?;
    let (mut largest, mut generators) = (size(&before), Vec::new());
    for generator in group.generators() {
        let after = run(&moved(generator, examples))?;
        largest = worse(largest, size(&after));
        let gaps = before.iter().zip(&after).map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs());
        generators.push(gaps.fold(0.0, worse));
    }
    let examples = examples.len() / shape.len();
    Ok(Deviations { group: group.name().to_owned(), examples, size: largest, generators, tolerance: TOLERANCE })
}

/// Every example moved by an action.
pub fn moved(action: &Action, examples: &[f32]) -> Vec<f32> {
    let n = action.len();
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    let mut all = Vec::with_capacity(examples.len());
    for example in examples.chunks_exact(n) {
        x.iter_mut().zip(example).for_each(|(x, &value)| *x = f64::from(value));
        action.apply(&x, &mut y);
        all.extend(y.iter().map(|&value| value as f32));
    }
    all
}

/// How many examples can be measured on within the limits: they, the same moved, and as much again for what is computed.
pub fn most_examples(input: &Input, limits: Limits) -> usize {
    let entries = input.sides().iter().product::<usize>().max(1);
    usize::try_from(limits.bytes / (4 * size_of::<f32>()) as u64).unwrap_or(usize::MAX) / entries
}

/// Random examples: pixels and numbers from 0 to 1, or from -1 to 1 for arrays, tokens of the vocabulary.
pub fn random(input: &Input, count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    // SplitMix64: enough for inputs that only have to differ.
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    };
    let entries = input.sides().iter().product::<usize>() * count;
    (0..entries)
        .map(|_| match input {
            Input::Tokens { vocabulary, .. } => (next() * *vocabulary as f32).floor().min(*vocabulary as f32 - 1.0),
            Input::Array { .. } => 2.0 * next() - 1.0,
            Input::Images { .. } => next(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::{Shape, candidates};

    fn measured(run: impl Fn(f32, f32) -> f32) -> Deviations {
        let swap = candidates(&"2".parse::<Shape>().unwrap(), ["permute(0)"]).unwrap().remove(0);
        let input = Input::Array { shape: vec![2] };
        let all = |x: &[f32]| Ok(x.chunks(2).map(|x| run(x[0], x[1])).collect());
        deviations_of(all, &input, &swap, &[0.0, 1.0, 0.25, 0.5]).unwrap()
    }

    #[test]
    fn examples_fit_into_memory() {
        let input = Input::Images { channels: 3, height: 10, width: 10 };
        assert_eq!(most_examples(&input, Limits::new(16 * 300 * 7 + 1)), 7);
        assert_eq!(most_examples(&input, Limits::new(100)), 0);
    }

    #[test]
    fn outputs_that_appear_behind_the_move_or_are_no_numbers_do_not_hold() {
        assert!(measured(|a, b| a + b).holds());
        assert!(measured(|_, _| 0.0).holds());
        // Nothing before the move, something behind it.
        assert!(!measured(|a, b| (a - b).max(0.0)).holds());
        assert!(!measured(|a, b| if a > b { f32::NAN } else { 1.0 }).holds());
        assert!(!measured(|_, _| f32::NAN).holds());
        assert!(!measured(|_, _| f32::INFINITY).holds());
    }
}

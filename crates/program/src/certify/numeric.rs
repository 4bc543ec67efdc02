//! What moving the input does to the outputs, in numbers.
//!
//! Inputs are searched for that a move changes most: random ones and corners at several scales, then copies of the best, changed a
//! little, again and again. The search runs in single precision. What it finds is evaluated once more in double precision with a
//! bound of the rounding, so that a change beyond it is a fact about the weights: a counterexample, which no proof survives.

use std::fmt;

use invar_algebra::{Action, Group};
use invar_data::Limits;
use serde::{Deserialize, Serialize};

use super::ball::{self, Balls};
use super::cost::cost;
use super::matrix::Matrix;
use super::moves::Moves;
use super::range::Range;
pub(super) use super::search::Domain;
use super::search::{Draw, KEPT, ROUND, Search};
use super::tolerance::{SEARCH_WORK, TOLERANCE};
use super::{Certificate, Proof};
use crate::Input;
use crate::error::{Error, Result};
use crate::program::Program;

/// Seed of the search: the same question has the same answer.
const SEED: u64 = 2;

/// Rounds of a search, where inputs are cheap to run.
const ROUNDS: usize = 24;

/// Inputs to begin with, beside those that are given.
const START: usize = 96;

/// How far from the middle inputs are looked for, in usual reaches: a symmetry holds everywhere, a bound in its range.
const WIDE: [f64; 4] = [1.0, 0.1, 10.0, 100.0];

/// The same inside of a range.
const USUAL: [f64; 2] = [1.0, 0.1];

/// How far outputs move when inputs are moved by the generators of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deviations {
    /// The name of the group.
    pub group: String,
    /// Inputs that were moved, for each generator.
    pub examples: usize,
    /// The largest output in magnitude on the examples that were given.
    pub size: f64,
    /// What was found for each generator.
    pub generators: Vec<Deviation>,
}

/// The change that is furthest beyond what is allowed, or nearest to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// How far an output moved.
    pub change: f64,
    /// What rounding, and the bound of a certificate, allow there.
    pub allowed: f64,
    /// The largest output there, in magnitude.
    pub size: f64,
}

impl Deviations {
    /// The largest change of an output.
    pub fn largest(&self) -> f64 {
        self.generators.iter().map(|found| found.change).fold(0.0, worse)
    }

    /// The largest change as a part of the largest output, there or on the examples.
    pub fn relative(&self) -> f64 {
        let part = |found: &Deviation| {
            let size = worse(self.size, found.size);
            if size == 0.0 { found.change } else { found.change / size }
        };
        self.generators.iter().map(part).fold(0.0, worse)
    }

    /// Whether no change is beyond what is allowed. Outputs that are not finite say nothing, so that nothing holds.
    pub fn holds(&self) -> bool {
        self.size.is_finite() && self.generators.iter().all(|found| found.change <= found.allowed)
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
        let allowed = self.generators.iter().map(|found| found.allowed).fold(0.0, f64::max);
        let verdict = if self.holds() { "at most" } else { "beyond" };
        write!(
            f,
            "{}: outputs change by {:.1e} at most, {:.1e} of the largest, on {} inputs ({verdict} {allowed:.0e}, which is allowed)",
            self.group,
            self.largest(),
            self.relative(),
            self.examples,
        )
    }
}

/// How many rounds a search may take when so many generators are asked about.
pub fn rounds(program: &Program, generators: usize) -> Result<usize> {
    let round = 2.0 * ROUND as f64 * cost(program)?;
    Ok((SEARCH_WORK / generators.max(1) as f64 / round).clamp(1.0, ROUNDS as f64) as usize)
}

/// Inputs that a measurement runs for each generator, their moved copies among them.
pub(super) fn runs(examples: usize, rounds: usize) -> usize {
    2 * (examples + 3 * START + rounds * ROUND)
}

/// Searches for inputs whose outputs a generator of the group changes, from these examples on and with so many rounds.
///
/// With a certificate a change counts only beyond its bounds, and is looked for where these are stated.
pub fn measure(
    program: &Program,
    group: &Group,
    certificate: Option<&Certificate>,
    examples: &[f32],
    rounds: usize,
) -> Result<Deviations> {
    check_shape(&program.input, group)?;
    let entries = program.inputs();
    let size = size(&program.run(examples)?);
    let mut found = Deviations { group: group.name().to_owned(), examples: 0, size, generators: Vec::new() };
    for (k, generator) in group.generators().iter().enumerate() {
        let within = certificate.and_then(|all| all.generators.get(k)).and_then(Proof::within);
        let range = within.map_or_else(|| Range::of(program, &[]), |within| within.range);
        let scales: &[f64] = if within.is_some() { &USUAL } else { &WIDE };
        let domain = range.domain(program);
        let search = Search { domain: &domain, scales, rounds, seed: SEED };
        // A bound says nothing about inputs outside of its range.
        let given = examples.chunks(entries).filter(|x| within.is_none() || domain.holds(x)).map(<[f32]>::to_vec);
        let start = given.chain(search.start(Some(program), START)).collect();
        let inputs = search.follow(&|x: &[f32]| program.run(x), generator, start)?;
        found.examples = found.examples.max(inputs.tried);
        let mut worst: Option<Deviation> = None;
        for x in inputs.inputs.iter().take(KEPT) {
            let allowed = within.map_or(0.0, |within| within.change);
            let here = exactly(program, generator, x, size, allowed)?;
            let beyond = |found: &Deviation| found.change - found.allowed;
            worst = worst.filter(|worst| beyond(worst) >= beyond(&here)).or(Some(here));
        }
        found.generators.push(worst.unwrap_or_default());
    }
    Ok(found)
}

/// The same with nothing known, and some rounds.
pub fn deviations(program: &Program, group: &Group, examples: &[f32]) -> Result<Deviations> {
    measure(program, group, None, examples, ROUNDS / 3)
}

/// What a move changes at one input, in double precision, at the output where it is furthest beyond what is allowed. `usual` is the
/// largest output elsewhere.
fn exactly(program: &Program, generator: &Action, x: &[f32], usual: f64, within: f64) -> Result<Deviation> {
    let (sides, vocabulary) = (program.input.sides(), program.input.vocabulary());
    let run = |x: Balls| ball::run(&program.ops, &sides, vocabulary, x);
    let point = Balls::point(x);
    let there = match generator {
        Action::Permutation(p) => Moves::of(p).carry(&point),
        Action::Signed(s) => Moves::of_signed(s).carry(&point),
        matrix => Matrix::of(matrix).map_or_else(|| point.clone(), |matrix| matrix.moved(&point)),
    };
    let (before, after) = (run(point)?, run(there)?);
    let outputs = before.centre.iter().chain(&after.centre);
    let size = outputs.fold(0.0, |size: f64, y| size.max(y.abs()));
    let most = TOLERANCE * size.max(usual);
    let mut worst = Deviation { change: 0.0, allowed: f64::INFINITY, size };
    for i in 0..before.len() {
        let change = (before.centre[i] - after.centre[i]).abs();
        let allowed = (before.radius[i] + after.radius[i]).min(most) + within;
        if change - allowed > worst.change - worst.allowed {
            worst = Deviation { change, allowed, size };
        }
    }
    Ok(worst)
}

/// The same for anything that can be run, with a search or on these examples alone. Nothing is known about its rounding: changes are
/// held against a part of the largest output, and looked for among usual inputs.
pub fn deviations_of(
    run: impl Fn(&[f32]) -> Result<Vec<f32>>,
    input: &Input,
    group: &Group,
    examples: &[f32],
    search: bool,
) -> Result<Deviations> {
    check_shape(input, group)?;
    let entries = input.sides().iter().product::<usize>();
    let size = size(&run(examples)?);
    let mut found = Deviations { group: group.name().to_owned(), examples: 0, size, generators: Vec::new() };
    let domain = match input {
        Input::Tokens { length, vocabulary } => Domain::Tokens { vocabulary: *vocabulary, length: *length },
        _ => Domain::Numbers {
            middle: vec![0.0; entries],
            reach: vec![1.0; entries],
            positive: matches!(input, Input::Images { .. }),
        },
    };
    let (start, rounds) = effort_on_others(search);
    let search = Search { domain: &domain, scales: &USUAL, rounds, seed: SEED };
    for generator in group.generators() {
        let given = examples.chunks(entries).map(<[f32]>::to_vec);
        let inputs = search.follow(&run, generator, given.chain(search.start(None, start)).collect())?;
        found.examples = found.examples.max(inputs.tried);
        // Outputs that only appear behind the move, or are no numbers there.
        let behind = self::size(&run(&moved(generator, examples))?);
        let change = if behind.is_finite() { inputs.change } else { behind };
        found.generators.push(Deviation { change, allowed: TOLERANCE * size.max(behind), size: behind });
    }
    Ok(found)
}

/// Inputs to begin with, and rounds: interpreters are slow.
fn effort_on_others(search: bool) -> (usize, usize) {
    if search { (START / 4, ROUNDS / 6) } else { (0, 0) }
}

/// Examples that [`deviations_of`] runs for each generator, at most, when so many are given.
pub fn runs_of_others(examples: usize, search: bool) -> usize {
    let (start, rounds) = effort_on_others(search);
    2 * (examples + start + rounds * ROUND) + 2 * examples
}

fn check_shape(input: &Input, group: &Group) -> Result<()> {
    let shape = input.shape()?;
    if *group.shape() == shape {
        return Ok(());
    }
    Err(Error::misfit("shape that the group acts on", shape, group.shape()))
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

/// How many examples can be measured on within the limits: they, the same twice for a search, the same moved, and as much again for
/// what is computed.
pub fn most_examples(input: &Input, limits: Limits) -> usize {
    let entries = input.sides().iter().product::<usize>().max(1);
    usize::try_from(limits.bytes / (6 * size_of::<f32>()) as u64).unwrap_or(usize::MAX) / entries
}

/// Random examples: pixels and numbers from 0 to 1, or from -1 to 1 for arrays, tokens of the vocabulary.
pub fn random(input: &Input, count: usize, seed: u64) -> Vec<f32> {
    let mut draw = Draw(seed);
    let entries = input.sides().iter().product::<usize>() * count;
    (0..entries)
        .map(|_| match input {
            Input::Tokens { vocabulary, .. } => (draw.next() * *vocabulary as f32).floor().min(*vocabulary as f32 - 1.0),
            Input::Array { .. } => 2.0 * draw.next() - 1.0,
            Input::Images { .. } => draw.next(),
        })
        .collect()
}

/// The same from a domain.
pub(super) fn random_in(domain: &Domain, count: usize, seed: u64) -> Vec<f32> {
    let mut draw = Draw(seed);
    (0..count).flat_map(|_| domain.anywhere(&mut draw, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::{Shape, candidates};

    fn measured(run: impl Fn(f32, f32) -> f32) -> Deviations {
        let swap = candidates(&"2".parse::<Shape>().unwrap(), ["permute(0)"]).unwrap().remove(0);
        let input = Input::Array { shape: vec![2] };
        let all = |x: &[f32]| Ok(x.chunks(2).map(|x| run(x[0], x[1])).collect());
        deviations_of(all, &input, &swap, &[0.0, 1.0, 0.25, 0.5], true).unwrap()
    }

    #[test]
    fn examples_fit_into_memory() {
        let input = Input::Images { channels: 3, height: 10, width: 10 };
        assert_eq!(most_examples(&input, Limits::new(24 * 300 * 7 + 1)), 7);
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

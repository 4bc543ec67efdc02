//! Differences of weights carried through to the outputs.
//!
//! Let v be the values between two operations for an input x, v' those for the moved input, and Q what the proof says moves there.
//! The walk keeps |v' - Q v| <= d. An operation A with A Q = Q' A + G then has
//! |A v' - Q' A v| <= |A v' - A Q v| + |G v| <= (how far A pulls apart) d + |G| |v|, and |v| is bounded by evaluating a box of inputs.

use super::ball::{Balls, joined, run, seen, through};
use super::links::{Gap, Term};
use super::range::Range;
use super::tolerance::{SPREAD_EXAMPLES, WITHIN};
use super::walk::Trace;
use super::{Within, numeric};
use crate::error::Result;
use crate::op::Op;
use crate::program::{Program, member_shapes};
use crate::views::Views;

/// Seed of the inputs that tell what range outputs run through.
const SEED: u64 = 1;

/// An upper bound of how far each output can move, for all inputs in the range.
pub(super) fn carried(program: &Program, range: &Range, traces: &[Trace]) -> Result<Vec<f64>> {
    let start = range.balls(program);
    let change = vec![0.0; start.len()];
    let (_, change) = list(&program.ops, &program.input.sides(), program.input.vocabulary(), start, change, traces)?;
    // Room for the rounding of the bound itself.
    Ok(change.into_iter().map(|by| by * (1.0 + 1e-6)).collect())
}

fn list(
    ops: &[Op],
    shape: &[usize],
    vocabulary: Option<usize>,
    mut values: Balls,
    mut change: Vec<f64>,
    traces: &[Trace],
) -> Result<(Balls, Vec<f64>)> {
    let shapes = member_shapes(shape, vocabulary, ops)?;
    for (index, (op, trace)) in ops.iter().zip(traces).enumerate() {
        let vocabulary = vocabulary.filter(|_| index == 0);
        change = behind(op, &shapes[index], vocabulary, &values, change, trace)?;
        values = through(op, &shapes[index], vocabulary, &values)?;
    }
    Ok((values, change))
}

/// The change behind an operation on these values.
fn behind(
    op: &Op,
    shape: &[usize],
    vocabulary: Option<usize>,
    values: &Balls,
    change: Vec<f64>,
    trace: &Trace,
) -> Result<Vec<f64>> {
    let gap = match (op, trace) {
        (Op::Median { members }, Trace::Members(traces)) => {
            let mut most: Vec<f64> = Vec::new();
            for (ops, traces) in members.iter().zip(traces) {
                let (_, change) = list(ops, shape, vocabulary, values.clone(), change.clone(), traces)?;
                most.resize(change.len(), 0.0);
                most.iter_mut().zip(change).for_each(|(most, by)| *most = most.max(by));
            }
            return Ok(most);
        }
        (_, Trace::Gap(gap)) => gap,
        (_, Trace::Members(_)) => &Gap::default(),
    };
    let count = op_outputs(op, shape, vocabulary)?;
    if gap.is_none() && change.iter().all(|&by| by == 0.0) {
        return Ok(vec![0.0; count]);
    }
    if let Op::Orbit { views, ops } = op {
        let views = Views::on(shape, views)?;
        let mut moved = seen(&views, &Balls::around_zero(change)).radius;
        let sizes = values.sizes();
        add(&mut moved, gap, |Term { output, input, by }| (output..=output, input.map_or(by, |input| by * sizes[input])));
        // Tokens only move in orbits, so that they have no change that would have to pass their look-up.
        let inner = |part: &[f64]| run(ops, shape, vocabulary, Balls::around_zero(part.to_vec()));
        return Ok(joined(moved.chunks(views.entries).map(inner).collect::<Result<_>>()?).radius);
    }
    let mut pulled = through(op, shape, vocabulary, &Balls::around_zero(change))?.radius;
    missed(op, shape, values, gap, &mut pulled);
    Ok(pulled)
}

/// Adds |G| |v|.
fn missed(op: &Op, shape: &[usize], values: &Balls, gap: &Gap, change: &mut [f64]) {
    let sizes = values.sizes();
    match op {
        Op::Linear { weight, .. } => {
            let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
            for row in 0..sizes.len() / inputs {
                add(change, gap, |Term { output, input, by }| {
                    let at = row * outputs + output;
                    (at..=at, input.map_or(by, |input| by * sizes[row * inputs + input]))
                });
            }
        }
        Op::Conv { .. } => {
            let area = shape[1] * shape[2];
            let largest: Vec<f64> = sizes.chunks(area).map(|channel| channel.iter().copied().fold(0.0, f64::max)).collect();
            add(change, gap, |Term { output, input, by }| {
                (output * area..=output * area + area - 1, input.map_or(by, |input| by * largest[input]))
            });
        }
        _ => add(change, gap, |Term { output, input, by }| (output..=output, input.map_or(by, |input| by * sizes[input]))),
    }
}

fn add(change: &mut [f64], gap: &Gap, of: impl Fn(Term) -> (std::ops::RangeInclusive<usize>, f64)) {
    for &term in &gap.terms {
        let (outputs, by) = of(term);
        change[outputs].iter_mut().for_each(|change| *change += by);
    }
}

fn op_outputs(op: &Op, shape: &[usize], vocabulary: Option<usize>) -> Result<usize> {
    let shapes = member_shapes(shape, vocabulary, std::slice::from_ref(op))?;
    Ok(shapes.last().map_or(0, |shape| shape.iter().product()))
}

/// What outputs do on random inputs of the range: what a change is held against.
pub(super) struct Spread {
    outputs: usize,
    answers: Vec<f32>,
}

impl Spread {
    pub(super) fn of(program: &Program, range: &Range) -> Result<Self> {
        let examples = numeric::random_in(&range.domain(program), SPREAD_EXAMPLES, SEED);
        Ok(Self { outputs: program.outputs()?, answers: program.run(&examples)? })
    }

    /// The bound, if it is small beside the range of every output that may change, and of every difference of such with another:
    /// what is common to all outputs does not tell classes apart.
    pub(super) fn within(&self, change: &[f64], range: Range) -> std::result::Result<Within, String> {
        let worst = change.iter().copied().fold(0.0, f64::max);
        let mut share = 0.0f64;
        for (i, &by) in change.iter().enumerate().filter(|&(_, &by)| by != 0.0) {
            share = share.max(part(by, self.range(|y| f64::from(y[i]))));
            for (j, &other) in change.iter().enumerate().filter(|&(j, _)| j != i) {
                share = share.max(part(by + other, self.range(|y| f64::from(y[i]) - f64::from(y[j]))));
                if share > WITHIN {
                    break;
                }
            }
        }
        if share <= WITHIN {
            return Ok(Within { change: worst, share, range });
        }
        Err(format!("outputs may change by up to {worst:.1e} on {range}, more than {WITHIN:.0e} of what they run through"))
    }

    fn range(&self, of: impl Fn(&[f32]) -> f64) -> f64 {
        let values = self.answers.chunks(self.outputs).map(of);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        high - low
    }
}

/// No number counts as too large.
fn part(change: f64, of: f64) -> f64 {
    let part = change / of;
    if part.is_finite() { part } else { f64::INFINITY }
}

//! Looking for inputs that a move changes most.

use invar_algebra::Action;

use super::numeric::moved;
use crate::error::Result;
use crate::op::Op;
use crate::program::Program;
use crate::tensor::Tensor;

/// Inputs that go on to the next round.
pub(super) const KEPT: usize = 6;

/// Changed copies of each.
const COPIES: usize = 8;

/// Inputs that are run for one round.
pub(super) const ROUND: usize = KEPT * COPIES;

/// Corners that are taken from weights, at most.
const CORNERS: usize = 64;

/// What inputs are drawn from.
#[derive(Debug, Clone)]
pub(super) enum Domain {
    Tokens {
        vocabulary: usize,
        length: usize,
    },
    Numbers {
        middle: Vec<f64>,
        reach: Vec<f64>,
        /// Nothing below zero.
        positive: bool,
    },
}

/// SplitMix64: enough for inputs that only have to differ.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    /// From 0 to 1.
    pub(super) fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f32) as usize).min(count.saturating_sub(1))
    }

    fn sign(&mut self) -> f64 {
        if self.next() < 0.5 { -1.0 } else { 1.0 }
    }
}

impl Domain {
    fn entries(&self) -> usize {
        match self {
            Self::Tokens { length, .. } => *length,
            Self::Numbers { middle, .. } => middle.len(),
        }
    }

    /// Entry i at `place` between -1 and 1, `scale` times as far from the middle as is usual.
    fn at(&self, i: usize, place: f64, scale: f64) -> f32 {
        match self {
            Self::Tokens { vocabulary, .. } => {
                let token = (0.5 + 0.5 * place.clamp(-1.0, 1.0)) * *vocabulary as f64;
                token.floor().min(*vocabulary as f64 - 1.0) as f32
            }
            Self::Numbers { positive: true, reach, .. } => ((0.5 + 0.5 * place) * reach[i]) as f32,
            Self::Numbers { middle, reach, .. } => (middle[i] + place * scale * reach[i]) as f32,
        }
    }

    fn place(draw: &mut Draw) -> f64 {
        2.0 * f64::from(draw.next()) - 1.0
    }

    /// Anywhere, evenly.
    pub(super) fn anywhere(&self, draw: &mut Draw, scale: f64) -> Vec<f32> {
        (0..self.entries()).map(|i| self.at(i, Self::place(draw), scale)).collect()
    }

    /// A corner.
    fn corner(&self, draw: &mut Draw, scale: f64) -> Vec<f32> {
        (0..self.entries()).map(|i| self.at(i, draw.sign(), scale)).collect()
    }

    /// Nearly all entries alike.
    fn sparse(&self, draw: &mut Draw) -> Vec<f32> {
        let ground = Self::place(draw);
        (0..self.entries()).map(|i| self.at(i, if draw.next() < 0.1 { Self::place(draw) } else { ground }, 1.0)).collect()
    }

    /// One input, changed at one or some places, pulled from another, or made larger or smaller as a whole.
    fn changed(&self, draw: &mut Draw, x: &[f32], other: &[f32], scales: &[f64]) -> Vec<f32> {
        let mut new = x.to_vec();
        let scale = scales[draw.below(scales.len())];
        match draw.below(5) {
            0 => {
                let i = draw.below(x.len());
                new[i] = self.at(i, Self::place(draw), scale);
            }
            1 => {
                let i = draw.below(x.len());
                new[i] = self.at(i, draw.sign(), scale);
            }
            2 => {
                let share = 2.0 / x.len() as f32 + 0.3 * draw.next();
                for (i, value) in new.iter_mut().enumerate() {
                    if draw.next() < share {
                        *value = self.at(i, Self::place(draw), scale);
                    }
                }
            }
            3 if matches!(self, Self::Numbers { .. }) => {
                let step = 2.0 * draw.next() - 0.5;
                new.iter_mut().zip(other).for_each(|(value, other)| *value += step * (*value - other));
                self.clip(&mut new, scales);
            }
            4 if matches!(self, Self::Numbers { .. }) => {
                let factor = if draw.next() < 0.5 { 0.5 } else { 1.5 };
                for value in &mut new {
                    *value *= factor;
                }
                self.clip(&mut new, scales);
            }
            _ => {
                for (value, &other) in new.iter_mut().zip(other) {
                    if draw.next() < 0.5 {
                        *value = other;
                    }
                }
            }
        }
        new
    }

    /// Whether an input lies in it.
    pub(super) fn holds(&self, x: &[f32]) -> bool {
        match self {
            Self::Tokens { .. } => true,
            Self::Numbers { middle, reach, .. } => {
                x.iter().zip(middle.iter().zip(reach)).all(|(&x, (middle, reach))| (f64::from(x) - middle).abs() <= *reach)
            }
        }
    }

    /// Keeps an input where inputs are looked for.
    fn clip(&self, x: &mut [f32], scales: &[f64]) {
        let largest = scales.iter().copied().fold(0.0, f64::max);
        x.iter_mut().enumerate().for_each(|(i, value)| *value = value.clamp(self.at(i, -1.0, largest), self.at(i, 1.0, largest)));
    }
}

/// A search for what one move changes.
pub(super) struct Search<'a> {
    pub(super) domain: &'a Domain,
    /// How far from the middle inputs may be, in usual reaches.
    pub(super) scales: &'a [f64],
    /// How often the best are changed.
    pub(super) rounds: usize,
    pub(super) seed: u64,
}

/// What was found.
pub(super) struct Found {
    /// The inputs that change most, first.
    pub(super) inputs: Vec<Vec<f32>>,
    /// The largest change of an output in single precision.
    pub(super) change: f64,
    pub(super) tried: usize,
}

impl Search<'_> {
    /// Inputs to begin with, beside those that are given: corners that open the first neurons, others at random, several scales.
    pub(super) fn start(&self, program: Option<&Program>, count: usize) -> Vec<Vec<f32>> {
        let mut draw = Draw(self.seed);
        let mut all = Vec::new();
        for row in program.map(first_rows).unwrap_or_default().into_iter().take(CORNERS.min(count)) {
            for sign in [1.0, -1.0] {
                let toward = |(i, &w): (usize, &f32)| self.domain.at(i, sign * f64::from(w).signum(), 1.0);
                all.push(row.iter().enumerate().map(toward).collect());
            }
        }
        for k in 0..count {
            let scale = self.scales[k % self.scales.len()];
            all.push(match k % 3 {
                0 => self.domain.anywhere(&mut draw, scale),
                1 => self.domain.corner(&mut draw, scale),
                _ => self.domain.sparse(&mut draw),
            });
        }
        all
    }

    /// Follows the largest change, from these inputs.
    pub(super) fn follow(
        &self,
        run: &impl Fn(&[f32]) -> Result<Vec<f32>>,
        generator: &Action,
        start: Vec<Vec<f32>>,
    ) -> Result<Found> {
        let mut draw = Draw(self.seed ^ 0x5bd1_e995);
        let mut found = Found { inputs: Vec::new(), change: 0.0, tried: 0 };
        let mut best: Vec<(f64, Vec<f32>)> = Vec::new();
        let (mut sizes, mut fresh) = (Vec::new(), start);
        for round in 0..=self.rounds {
            if fresh.is_empty() {
                break;
            }
            found.tried += fresh.len();
            let together = fresh.concat();
            let (before, after) = (run(&together)?, run(&moved(generator, &together))?);
            let outputs = before.len() / fresh.len();
            if round == 0 {
                sizes = largest(&before, outputs);
            }
            for ((x, y), z) in fresh.into_iter().zip(before.chunks(outputs)).zip(after.chunks(outputs)) {
                let gaps = y.iter().zip(z).map(|(y, z)| (f64::from(*y) - f64::from(*z)).abs());
                let score = gaps.clone().zip(&sizes).map(|(gap, size)| gap / size).fold(0.0, f64::max);
                // Outputs that are none tell nothing about the move.
                if score.is_finite() {
                    found.change = gaps.fold(found.change, f64::max);
                    best.push((score, x));
                }
            }
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            best.truncate(KEPT);
            if best.is_empty() {
                break;
            }
            let child = |k: usize| {
                let other = draw.below(best.len());
                self.domain.changed(&mut draw, &best[k % best.len()].1, &best[other].1, self.scales)
            };
            fresh = (0..ROUND).map(child).collect();
        }
        found.inputs = best.into_iter().map(|(_, x)| x).collect();
        Ok(found)
    }
}

/// The largest magnitude of each output; what is always nothing counts for little.
fn largest(all: &[f32], outputs: usize) -> Vec<f64> {
    let mut sizes = vec![f64::MIN_POSITIVE; outputs];
    for y in all.chunks(outputs.max(1)) {
        sizes.iter_mut().zip(y).for_each(|(size, y)| *size = size.max(f64::from(y.abs())));
    }
    sizes
}

/// What the first neurons weigh the entries with, where they see all of them: their signs are the corners that open them.
fn first_rows(program: &Program) -> Vec<Vec<f32>> {
    rows(&program.ops, program.inputs())
}

fn rows(ops: &[Op], entries: usize) -> Vec<Vec<f32>> {
    let mut signs: Vec<f32> = vec![1.0; entries];
    let mut table: Option<&Tensor> = None;
    for op in ops {
        match op {
            Op::Reshape { .. } => {}
            Op::Normalise { scale, .. } => {
                let each = entries / scale.values.len();
                signs.iter_mut().enumerate().for_each(|(i, sign)| *sign *= scale.values[i / each].signum());
            }
            Op::Gather { table: found } => table = Some(found),
            Op::Linear { weight, .. } => {
                return weight.values.chunks(weight.shape[1]).filter_map(|row| toward(row, &signs, table)).collect();
            }
            Op::Median { members } => return members.iter().flat_map(|ops| rows(ops, entries)).collect(),
            _ => break,
        }
    }
    Vec::new()
}

/// A row as directions of the entries: with tokens the way to the one that it weighs most.
fn toward(row: &[f32], signs: &[f32], table: Option<&Tensor>) -> Option<Vec<f32>> {
    let Some(table) = table else {
        return (row.len() == signs.len()).then(|| row.iter().zip(signs).map(|(w, sign)| w * sign).collect());
    };
    let (width, last) = (table.shape[1], table.values.len() - table.shape[1]);
    // Tables of ordered tokens grow or fall: then one end of the vocabulary is the corner.
    let slope = |f: usize| table.values[last + f] - table.values[f];
    let entry = |part: &[f32]| part.iter().enumerate().map(|(f, w)| w * slope(f)).sum();
    (row.len() == signs.len() * width).then(|| row.chunks(width).map(entry).collect())
}

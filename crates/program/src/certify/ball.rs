//! Programs evaluated with bounds: every value is a ball, a centre and a radius, that holds the exact result.
//!
//! Started on a single input the radius bounds the rounding of this evaluation; started on a box of inputs it bounds what they all
//! give. An operation maps centres as it maps numbers, and radii by how far it can pull two values apart.

use rayon::prelude::*;

use super::reduce::{Of, sets};
use crate::error::{Error, Result};
use crate::op::{Activation, Op};
use crate::program::member_shapes;
use crate::run::erf;
use crate::run::vector::transposed;
use crate::tensor::Tensor;
use crate::views::{Seen, Views};

/// Half the distance from 1 to the next number.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The error of the error function is below this.
const ERF: f64 = 2e-8;

/// The steepest slope of GELU is 1.1290.
const GELU_SLOPE: f64 = 1.13;

/// One example between two operations, its entries in the order of its shape.
#[derive(Debug, Clone)]
pub(super) struct Balls {
    pub(super) centre: Vec<f64>,
    pub(super) radius: Vec<f64>,
}

/// What `terms` roundings can do to a sum, as a part of the sizes of its terms.
pub(super) fn rounding(terms: usize) -> f64 {
    1.01 * (terms + 2) as f64 * UNIT
}

impl Balls {
    pub(super) fn point(values: &[f32]) -> Self {
        Self { centre: values.iter().map(|&x| f64::from(x)).collect(), radius: vec![0.0; values.len()] }
    }

    /// Balls around zero.
    pub(super) fn around_zero(radius: Vec<f64>) -> Self {
        Self { centre: vec![0.0; radius.len()], radius }
    }

    pub(super) fn len(&self) -> usize {
        self.centre.len()
    }

    /// The largest magnitude of each entry.
    pub(super) fn sizes(&self) -> Vec<f64> {
        self.centre.iter().zip(&self.radius).map(|(c, r)| c.abs() + r).collect()
    }

    fn at(&self, entry: usize) -> (f64, f64) {
        (self.centre[entry], self.radius[entry])
    }

    pub(super) fn picked(&self, from: &[usize]) -> Self {
        from.iter().map(|&entry| self.at(entry)).collect()
    }

    fn part(&self, start: usize, length: usize) -> Self {
        Self { centre: self.centre[start..start + length].to_vec(), radius: self.radius[start..start + length].to_vec() }
    }

    /// A matrix by rows times the example.
    pub(super) fn times(&self, rows: impl IndexedParallelIterator<Item = Vec<f64>>) -> Self {
        let product = |row: Vec<f64>| combined(row.into_iter().zip(self.centre.iter().copied().zip(self.radius.iter().copied())));
        rows.map(product).collect()
    }
}

impl FromIterator<(f64, f64)> for Balls {
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(balls: I) -> Self {
        let (centre, radius) = balls.into_iter().unzip();
        Self { centre, radius }
    }
}

impl FromParallelIterator<(f64, f64)> for Balls {
    fn from_par_iter<I: IntoParallelIterator<Item = (f64, f64)>>(balls: I) -> Self {
        let (centre, radius) = balls.into_par_iter().unzip();
        Self { centre, radius }
    }
}

/// A sum of weights times balls.
fn combined(terms: impl Iterator<Item = (f64, (f64, f64))>) -> (f64, f64) {
    let (mut sum, mut size, mut radius, mut count) = (0.0, 0.0, 0.0, 0);
    for (w, (c, r)) in terms {
        sum += w * c;
        size += (w * c).abs();
        radius += w.abs() * r;
        count += 1;
    }
    let share = rounding(count);
    (sum, radius * (1.0 + share) + share * size)
}

/// The sum of two balls.
fn plus((a, r): (f64, f64), (b, s): (f64, f64)) -> (f64, f64) {
    (a + b, (r + s) * (1.0 + 4.0 * UNIT) + UNIT * (a + b).abs())
}

/// A list of operations, one after the other.
pub(super) fn run(ops: &[Op], shape: &[usize], vocabulary: Option<usize>, mut balls: Balls) -> Result<Balls> {
    let shapes = member_shapes(shape, vocabulary, ops)?;
    for (index, op) in ops.iter().enumerate() {
        balls = through(op, &shapes[index], vocabulary.filter(|_| index == 0), &balls)?;
    }
    Ok(balls)
}

/// One operation on an example of a shape.
pub(super) fn through(op: &Op, shape: &[usize], vocabulary: Option<usize>, x: &Balls) -> Result<Balls> {
    Ok(match op {
        Op::Gather { table } => gathered(table, x),
        Op::Reshape { .. } => x.clone(),
        Op::Transpose { order } => x.picked(&transposed(shape, order)),
        Op::Normalise { .. } | Op::BatchNorm { .. } => {
            let all = affine(op)?;
            let each = x.len() / all.len();
            (0..x.len()).map(|i| scaled(all[i / each], x.at(i))).collect()
        }
        Op::Linear { weight, bias } => dense(weight, bias.as_ref(), x),
        Op::Conv { filters, bias } => convolved(filters, bias.as_ref(), [shape[1], shape[2]], x),
        Op::Activate { activation } => (0..x.len()).map(|i| activated(*activation, x.at(i))).collect(),
        Op::MaxPool { .. } | Op::GroupMax { .. } | Op::SumChannels | Op::PoolSpace { .. } | Op::PoolRows { .. } => {
            let all = sets(op, shape).map_err(|problem| Error::misfit("a pooling", "sets of entries", problem))?;
            all.par_iter().map(|(set, of)| pooled(set, *of, x)).collect()
        }
        Op::Orbit { views, ops } => {
            let views = Views::on(shape, views)?;
            let seen = seen(&views, x);
            let inner = |g: usize| run(ops, shape, vocabulary, seen.part(g * views.entries, views.entries));
            joined((0..views.elements).map(inner).collect::<Result<_>>()?)
        }
        Op::Median { members } => {
            median(&members.iter().map(|ops| run(ops, shape, vocabulary, x.clone())).collect::<Result<Vec<_>>>()?)
        }
    })
}

/// Rows of the table; where a token is any within its radius, whatever they have.
fn gathered(table: &Tensor, x: &Balls) -> Balls {
    let width = table.shape[1];
    let row = |i: usize| {
        let (token, free) = x.at(i);
        let tokens = (token - free).ceil() as usize..=((token + free).floor() as usize).min(table.shape[0] - 1);
        (0..width).map(move |f| {
            let column = tokens.clone().map(|token| f64::from(table.values[token * width + f]));
            let (low, high) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            let centre = f64::midpoint(low, high);
            (centre, (high - centre).max(centre - low))
        })
    };
    (0..x.len()).flat_map(row).collect()
}

/// What a normalisation or batch norm does to a channel, in double precision.
#[derive(Clone, Copy)]
pub(super) struct Affine {
    pub(super) scale: f64,
    pub(super) shift: f64,
    /// The sizes of what the shift is made of, which its rounding is held against.
    pub(super) size: f64,
}

/// The same for each of its channels.
pub(super) fn affine(op: &Op) -> Result<Vec<Affine>> {
    let wide = |tensor: &Tensor| tensor.values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
    match op {
        Op::Normalise { mean, scale } => {
            let one = |(mean, scale): (f64, f64)| Affine { scale, shift: -mean * scale, size: (mean * scale).abs() };
            Ok(wide(mean).into_iter().zip(wide(scale)).map(one).collect())
        }
        Op::BatchNorm { gamma, beta, mean, variance, epsilon } => {
            let one = |((gamma, beta), (mean, variance)): ((f64, f64), (f64, f64))| {
                let scale = gamma / (variance + f64::from(*epsilon)).sqrt();
                Affine { scale, shift: beta - mean * scale, size: beta.abs() + (mean * scale).abs() }
            };
            let (trained, seen) = (wide(gamma).into_iter().zip(wide(beta)), wide(mean).into_iter().zip(wide(variance)));
            Ok(trained.zip(seen).map(one).collect())
        }
        _ => Err(Error::misfit("operation", "a norm", op.name())),
    }
}

/// The factors are rounded themselves, by some units.
fn scaled(Affine { scale, shift, size }: Affine, (c, r): (f64, f64)) -> (f64, f64) {
    let (product, share) = (scale * c, 16.0 * UNIT);
    (product + shift, scale.abs() * r * (1.0 + share) + share * (product.abs() + size))
}

fn dense(weight: &Tensor, bias: Option<&Tensor>, x: &Balls) -> Balls {
    let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
    let one = |at: usize| {
        let (row, o) = (at / outputs, at % outputs);
        let weights = weight.values[o * inputs..][..inputs].iter().enumerate();
        let sum = combined(weights.map(|(i, &w)| (f64::from(w), x.at(row * inputs + i))));
        plus(sum, (bias.map_or(0.0, |bias| f64::from(bias.values[o])), 0.0))
    };
    (0..x.len() / inputs * outputs).into_par_iter().map(one).collect()
}

fn convolved(filters: &Tensor, bias: Option<&Tensor>, [height, width]: [usize; 2], x: &Balls) -> Balls {
    let (outputs, inputs, k) = (filters.shape[0], filters.shape[1], filters.shape[2]);
    let area = height * width;
    let one = |at: usize| {
        let (o, top, left) = (at / area, at % area / width, at % width);
        let near = |at: usize, tap: usize, side: usize| (at + tap).checked_sub(k / 2).filter(|&place| place < side);
        let tap = |i: usize, dy: usize, dx: usize| {
            let (y, x_at) = (near(top, dy, height)?, near(left, dx, width)?);
            let w = filters.values[((o * inputs + i) * k + dy) * k + dx];
            Some((f64::from(w), x.at(i * area + y * width + x_at)))
        };
        let taps = (0..inputs * k * k).filter_map(|t| tap(t / (k * k), t / k % k, t % k));
        plus(combined(taps), (bias.map_or(0.0, |bias| f64::from(bias.values[o])), 0.0))
    };
    (0..outputs * area).into_par_iter().map(one).collect()
}

fn activated(activation: Activation, (c, r): (f64, f64)) -> (f64, f64) {
    match activation {
        Activation::Relu => (c.max(0.0), r),
        Activation::LeakyRelu => (if c > 0.0 { c } else { f64::from(0.01f32) * c }, r + UNIT * c.abs()),
        Activation::Gelu => (c * 0.5 * (1.0 + erf(c / std::f64::consts::SQRT_2)), GELU_SLOPE * r + ERF * c.abs()),
        Activation::Sigmoid => (1.0 / (1.0 + (-c).exp()), (0.25 * r).min(1.0) + 16.0 * UNIT),
        Activation::Tanh => (c.tanh(), r.min(2.0) + 16.0 * UNIT),
    }
}

fn pooled(set: &[usize], of: Of, x: &Balls) -> (f64, f64) {
    match of {
        // The largest of several is never pulled further apart than one of them.
        Of::Largest => {
            let largest = |values: &[f64]| set.iter().map(|&i| values[i]).fold(f64::NEG_INFINITY, f64::max);
            (largest(&x.centre), largest(&x.radius))
        }
        Of::Sum => combined(set.iter().map(|&i| (1.0, x.at(i)))),
        Of::Mean => {
            let (sum, radius) = combined(set.iter().map(|&i| (1.0, x.at(i))));
            let mean = sum / set.len() as f64;
            (mean, radius / set.len() as f64 * (1.0 + 4.0 * UNIT) + 2.0 * UNIT * mean.abs())
        }
    }
}

/// The example from every side, one view after the other.
pub(super) fn seen(views: &Views<'_>, x: &Balls) -> Balls {
    match &views.seen {
        Seen::Entries(seen) => seen
            .iter()
            .map(|&(entry, minus)| {
                let (c, r) = x.at(entry);
                (if minus { -c } else { c }, r)
            })
            .collect(),
        Seen::Matrices(values) => {
            x.times(values.par_chunks(views.entries).map(|row| row.iter().map(|&w| f64::from(w)).collect()))
        }
    }
}

pub(super) fn joined(parts: Vec<Balls>) -> Balls {
    let (centre, radius): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.centre, part.radius)).unzip();
    Balls { centre: centre.concat(), radius: radius.concat() }
}

/// What is in the middle is never pulled further apart than one of those it is chosen from.
fn median(answers: &[Balls]) -> Balls {
    let one = |entry: usize| {
        let mut column: Vec<f64> = answers.iter().map(|answer| answer.centre[entry]).collect();
        column.sort_by(f64::total_cmp);
        (column[column.len() / 2], answers.iter().map(|answer| answer.radius[entry]).fold(0.0, f64::max))
    };
    (0..answers.first().map_or(0, Balls::len)).map(one).collect()
}

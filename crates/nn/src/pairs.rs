//! A network for arrays and sequences that can learn the task and is exactly invariant to what is imposed: an equivariant front whose
//! weights on pairs of entries are tied along the imposed group (Theorem 3, on pairs), then sums and largest values over its orbits.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, activation};

use crate::directions::rows;
use crate::embedding::{EMBEDDING, FixedEmbedding};
use crate::network::Model;
use crate::ties::{Classes, Points, Ties};
use crate::{Error, Init, Input, NEURONS, Pass, Result};

/// What makes features of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontKind {
    /// Tokens: a function of one token, phi of a fixed embedding.
    Tokens {
        /// Number of distinct tokens; the largest token is one less.
        vocabulary: usize,
    },
    /// Numbers: functions of one entry.
    Pointwise,
    /// Numbers: one weight for each ordered pair of entries and feature.
    Pairs,
}

/// Settings of a [`Pairs`] network.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `front` | | what makes features of entries | |
/// | `outputs` | 1 | 1 for regression, else classes | >= 1 |
/// | `features` | 32 | learned features of an entry; of tokens 128 | >= 1 |
/// | `neurons` | 128 | width of the CG layer and of the hidden layer | >= 1 |
#[derive(Debug, Clone)]
pub struct PairsConfig {
    /// What makes features of entries.
    pub front: FrontKind,
    /// Number of outputs.
    pub outputs: usize,
    /// Learned features of an entry.
    pub features: usize,
    /// Width of the CG layer and of the hidden layer.
    pub neurons: usize,
}

impl PairsConfig {
    /// Default sizes.
    pub fn new(front: FrontKind, outputs: usize) -> Self {
        let features = if matches!(front, FrontKind::Tokens { .. }) { EMBEDDING } else { 32 };
        Self { front, outputs, features, neurons: NEURONS }
    }

    /// Draws a network that is invariant to what `imposed` ties, with a front that is tied along `front`: the same, or a larger group.
    pub fn init(&self, points: Points, front: &Ties, imposed: &Ties, init: &mut Init) -> Result<Pairs> {
        for (name, value) in [("outputs", self.outputs), ("features", self.features), ("neurons", self.neurons)] {
            if value == 0 {
                return Err(Error::setting(name, "at least 1", 0));
            }
        }
        let pool = Pool::new(&front.points, &imposed.points);
        let front = self.front(points, front, &pool, init)?;
        let inputs = pool.outputs() * front.width();
        Ok(Pairs {
            front,
            cg: init.linear(inputs, self.neurons),
            hidden: init.linear(self.neurons, self.neurons),
            output: init.linear(self.neurons, self.outputs),
            pool,
            entries: points.entries(),
        })
    }

    fn front(&self, points: Points, ties: &Ties, pool: &Pool, init: &mut Init) -> Result<Front> {
        let n = points.count();
        if let FrontKind::Tokens { vocabulary } = self.front {
            if points.is_signed() {
                return Err(Error::shape("candidates on tokens", "permutations of positions", "changes of sign"));
            }
            let embedding = FixedEmbedding::new(vocabulary, EMBEDDING, init)?;
            return Ok(Front::Tokens(Tokens {
                embedding,
                phi: init.linear(EMBEDDING, self.features),
                order: places(&pool.order),
            }));
        }
        let point: Vec<i32> = pool.order.iter().map(|&i| ties.points.of[i] as i32).collect();
        let (classes, place) = match self.front {
            FrontKind::Pairs => {
                let Some(pairs) = &ties.pairs else {
                    return Err(Error::shape("points of a network on pairs", "few enough for weights on all pairs", n));
                };
                // Rows of the product are the points that are read, columns those that are written, in the order of the pool.
                let place = (0..n).flat_map(|j| pool.order.iter().map(move |&i| pairs.of[i * n + j] as i32)).collect();
                (pairs.sizes.iter().map(|&size| size as f64 / n as f64).collect::<Vec<_>>(), place)
            }
            _ => (vec![1.0 / ties.orbits() as f64; ties.orbits()], point.clone()),
        };
        // Every point sees each of these classes about as often as its size says.
        let (count, mut weights) = (classes.len() as f64, Vec::new());
        for size in classes {
            let deviation = 1.4 / (size * count).sqrt();
            weights.push(init.normal([1, self.features], deviation).val());
        }
        Ok(Front::Numbers(Numbers {
            weight: Param::from_tensor(Tensor::cat(weights, 0)),
            bias: init.filled(0.0, [ties.orbits(), self.features]),
            second: init.linear(self.features, self.features),
            on_pairs: self.front == FrontKind::Pairs,
            place,
            point,
            order: places(&pool.order),
            signed: points.is_signed(),
        }))
    }
}

fn places(order: &[usize]) -> Vec<i32> {
    order.iter().map(|&i| i as i32).collect()
}

/// Features of entries, in the order of the pool.
#[derive(Module, Debug)]
pub(crate) enum Front {
    Tokens(Tokens),
    Numbers(Numbers),
}

impl Front {
    /// Features of a point.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Tokens(front) => front.phi.weight.dims()[1],
            Self::Numbers(front) => front.second.weight.dims()[1] + front.parts(),
        }
    }
}

/// phi of a fixed embedding.
#[derive(Module, Debug)]
pub(crate) struct Tokens {
    pub(crate) embedding: FixedEmbedding,
    pub(crate) phi: Linear,
    #[module(skip)]
    order: Vec<i32>,
}

/// ReLU(W2 ReLU(Phi x) + b2), and the two parts of x itself, for every point. Phi has one row of weights for each class of pairs, or
/// of points, and one bias for each orbit of points.
#[derive(Module, Debug)]
pub(crate) struct Numbers {
    /// `[classes, features]`.
    pub(crate) weight: Param<Tensor<2>>,
    /// `[orbits, features]`.
    pub(crate) bias: Param<Tensor<2>>,
    pub(crate) second: Linear,
    #[module(skip)]
    pub(crate) on_pairs: bool,
    /// For every pair (read, written) its class; for every point if only those have weights.
    #[module(skip)]
    pub(crate) place: Vec<i32>,
    /// For every point that is written its orbit.
    #[module(skip)]
    pub(crate) point: Vec<i32>,
    #[module(skip)]
    order: Vec<i32>,
    #[module(skip)]
    pub(crate) signed: bool,
}

impl Numbers {
    /// Parts of a point that come beside the features that are learned: the positive one, and the negative one unless it is that of
    /// another point.
    pub(crate) fn parts(&self) -> usize {
        if self.signed { 1 } else { 2 }
    }

    /// # Shapes
    /// - x: `[batch, entries]`
    /// - output: `[batch, points, features + parts]`
    fn forward(&self, x: Tensor<2>) -> Tensor<3> {
        let x = if self.signed { Tensor::cat(vec![x.clone(), -x], 1) } else { x };
        let device = x.device();
        let ([batch, n], features) = (x.dims(), self.second.weight.dims()[0]);
        let ordered = chosen(x.clone(), 1, &self.order);
        let weight = chosen(self.weight.val(), 0, &self.place);
        let bias = self.bias.val().select(0, rows(&self.point, &device)).reshape([1, n * features]);
        let first = if self.on_pairs {
            x.matmul(weight.reshape([n, n * features])) + bias
        } else {
            let spread = ordered.clone().reshape([batch, n, 1]) * weight.reshape([1, n, features]);
            spread.reshape([batch, n * features]) + bias
        };
        let second = self.second.forward(activation::relu(first).reshape([batch * n, features]));
        let learned = activation::relu(second).reshape([batch, n, features]);
        let ordered = ordered.reshape([batch, n, 1]);
        let mut parts = vec![learned, activation::relu(ordered.clone())];
        if !self.signed {
            parts.push(activation::relu(-ordered));
        }
        Tensor::cat(parts, 2)
    }
}

/// Entries along an axis by their places; nothing is done where these are in order.
fn chosen(x: Tensor<2>, axis: usize, places: &[i32]) -> Tensor<2> {
    let in_order = x.dims()[axis] == places.len() && places.iter().enumerate().all(|(k, &place)| k as i32 == place);
    if in_order {
        return x;
    }
    let device = x.device();
    x.select(axis, rows(places, &device))
}

/// How the points of an orbit are brought together: sums over the orbits of what is imposed, largest values over those that the front
/// treats alike, which are unions of the former. Points are ordered by the sizes of both, so that orbits of one size are one tensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pool {
    /// The points, orbit by orbit.
    pub(crate) order: Vec<usize>,
    /// What is summed, along the order: so many orbits of one size, (orbits, size).
    pub(crate) sums: Vec<(usize, usize)>,
    /// The same for largest values; a single point has none.
    pub(crate) largest: Vec<(usize, usize)>,
}

impl Pool {
    fn new(front: &Classes, imposed: &Classes) -> Self {
        let place = |orbits: &Classes, i: usize| (orbits.sizes[orbits.of[i] as usize], orbits.of[i]);
        let mut order: Vec<usize> = (0..front.of.len()).collect();
        order.sort_by_key(|&i| (place(front, i), place(imposed, i), i));
        let runs = |orbits: &Classes| {
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for orbit in order.chunk_by(|&i, &j| orbits.of[i] == orbits.of[j]) {
                match runs.last_mut() {
                    Some((count, size)) if *size == orbit.len() => *count += 1,
                    _ => runs.push((1, orbit.len())),
                }
            }
            runs
        };
        let (sums, largest) = (runs(imposed), runs(front));
        Self { order, sums, largest }
    }

    /// How many sums and largest values there are behind it.
    fn outputs(&self) -> usize {
        let orbits = |runs: &[(usize, usize)]| runs.iter().map(|run| run.0).sum::<usize>();
        let large = self.largest.iter().filter(|run| run.1 > 1).map(|run| run.0).sum::<usize>();
        orbits(&self.sums) + large
    }

    /// What a sum over an orbit of this size is multiplied with, so that large orbits do not drown small ones.
    pub(crate) fn scale(size: usize) -> f32 {
        1.0 / (size as f32).sqrt()
    }

    /// `[batch, points, width]` to `[batch, outputs * width]`.
    fn forward(&self, z: &Tensor<3>) -> Tensor<2> {
        let [batch, _, width] = z.dims();
        let (mut sums, mut largest) = (Vec::new(), Vec::new());
        for (run, orbits, size) in tensors(z, &self.sums) {
            let run = run.reshape([batch, orbits, size, width]);
            let summed = if size == 1 { run } else { run.sum_dim(2).mul_scalar(Self::scale(size)) };
            sums.push(summed.reshape([batch, orbits * width]));
        }
        for (run, orbits, size) in tensors(z, &self.largest).filter(|(_, _, size)| *size > 1) {
            largest.push(run.reshape([batch, orbits, size, width]).max_dim(2).reshape([batch, orbits * width]));
        }
        sums.append(&mut largest);
        Tensor::cat(sums, 1)
    }
}

/// The features of every run of orbits, with how many orbits it has and how large they are.
fn tensors<'a>(z: &'a Tensor<3>, runs: &'a [(usize, usize)]) -> impl Iterator<Item = (Tensor<3>, usize, usize)> + 'a {
    let mut start = 0;
    runs.iter().map(move |&(orbits, size)| {
        let run = z.clone().narrow(1, start, orbits * size);
        start += orbits * size;
        (run, orbits, size)
    })
}

/// A front that is equivariant to a group, sums and largest values over orbits, and dense layers: exactly invariant to what is imposed.
/// See [`PairsConfig`].
///
/// Where every point is an orbit of its own it is an ordinary dense network.
#[derive(Module, Debug)]
pub struct Pairs {
    pub(crate) front: Front,
    /// The CG layer: weights over orbits are invariant weights over points.
    pub(crate) cg: Linear,
    pub(crate) hidden: Linear,
    pub(crate) output: Linear,
    #[module(skip)]
    pub(crate) pool: Pool,
    #[module(skip)]
    pub(crate) entries: usize,
}

impl Pairs {
    /// The same with every answer y as y * deviation + mean: what was trained on numbers of mean 0 and deviation 1 then answers in
    /// the unit that they had.
    #[must_use]
    pub fn stretched(mut self, mean: f32, deviation: f32) -> Self {
        self.output.weight = self.output.weight.map(|weight| weight * deviation);
        self.output.bias = self.output.bias.map(|bias| bias.map(|bias| bias * deviation + mean));
        self
    }
}

impl Model for Pairs {
    fn forward(&self, input: Input, _pass: &mut Pass) -> Result<Tensor<2>> {
        let width = |got: usize| {
            if got == self.entries { Ok(()) } else { Err(Error::shape("entries of the input", self.entries, got)) }
        };
        let z = match (&self.front, input) {
            (Front::Tokens(front), Input::Tokens(tokens)) => {
                let [batch, positions] = tokens.dims();
                width(positions)?;
                let table = activation::relu(front.phi.forward(front.embedding.table.val()));
                let device = table.device();
                let tokens = tokens.select(1, rows(&front.order, &device));
                let features = table.dims()[1];
                table.select(0, tokens.reshape([batch * positions])).reshape([batch, positions, features])
            }
            (Front::Numbers(front), Input::Array(x)) => {
                width(x.dims()[1])?;
                front.forward(x)
            }
            (Front::Tokens(_), other) => {
                return Err(Error::Input { model: "this network of tokens", expected: "tokens", got: other.kind() });
            }
            (Front::Numbers(_), other) => {
                return Err(Error::Input { model: "this network on pairs", expected: "arrays", got: other.kind() });
            }
        };
        let x = activation::relu(self.cg.forward(self.pool.forward(&z)));
        Ok(self.output.forward(activation::relu(self.hidden.forward(x))))
    }

    fn vocabulary(&self) -> Option<usize> {
        match &self.front {
            Front::Tokens(front) => Some(front.embedding.vocabulary()),
            Front::Numbers(_) => None,
        }
    }

    fn describe(&self) -> String {
        let front = match &self.front {
            Front::Tokens(_) => "tokens".to_owned(),
            Front::Numbers(front) => {
                let what = if front.on_pairs { "pairs" } else { "entries" };
                format!("weights on {} classes of {what}", front.weight.dims()[0])
            }
        };
        let (features, [inputs, neurons]) = (self.front.width(), self.cg.weight.dims());
        let outputs = self.output.weight.dims()[1];
        format!(
            "Network on {} points: {front}, {features} features, pooled to {inputs}, CG layer {neurons} ReLU, dense {neurons} ReLU, output {outputs}",
            self.pool.order.len()
        )
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;

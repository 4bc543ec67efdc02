//! Data for the array tasks: one array of every orbit of the true symmetry in training, all of them in the test set.

use invar_algebra::{Group, GroupSet, Shape, candidates};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::array_task::{ArrayTask, Entries};
use crate::causal::Causal;
use crate::entry::moved;
use crate::error::{Error, Result};
use crate::examples::{Examples, Pairs, Split};
use crate::random::{Stream, below, stream};
use crate::sizes::Sizes;

/// By how many standard deviations a number is wrong where examples conflict.
const WRONG_BY: f32 = 2.0;

/// An array task with its sizes.
///
/// All entries of an array are drawn alike and independently. Training shows every array where [`ArrayTask::arrange`] puts it, one
/// place for each orbit of the true symmetry; the test set shows it where it was drawn. A candidate that does not hold moves an
/// array to another one that is just as likely but may have another target: training data contradict it together with the truth.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `sizes` | 4,000 and 2,000 | numbers of examples | see [`Sizes`] |
/// | `noise` | 0 | the share of training labels that are replaced; for numbers normal noise, as a share of the labels' standard deviation | 0 to 1 |
/// | `conflict` | 0 | the share of training examples that are moved by the true symmetry and have a wrong label: the symmetry nearly holds | 0 to 1; 0 for `unlike` |
///
/// Test labels and pairs have no noise and no conflicts: they say what is right.
///
/// ```
/// # use invar_tasks::{Arrays, ArrayTask};
/// let task = Arrays::new(ArrayTask::Sensors);
/// let data = task.generate(0)?;
/// assert_eq!((data.train.len(), data.validation.len(), data.test.len()), (3200, 800, 2000));
/// assert_eq!((task.groups()?.len(), task.symmetry().len()), (15, 10));
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrays {
    /// What to compute.
    pub task: ArrayTask,
    /// Numbers of examples.
    #[serde(default = "default_sizes")]
    pub sizes: Sizes,
    /// Share of training labels that are replaced, or size of the noise on numbers.
    #[serde(default)]
    pub noise: f64,
    /// Share of training examples that contradict the true symmetry.
    #[serde(default)]
    pub conflict: f64,
}

fn default_sizes() -> Sizes {
    Sizes { examples: 4000, ..Sizes::default() }
}

/// Where the draws of a set of examples come from.
struct Streams {
    base: Stream,
    moves: Stream,
    labels: Stream,
}

const TRAIN: Streams = Streams { base: Stream::TrainBase, moves: Stream::TrainIrrelevant, labels: Stream::TrainNoise };
const FRESH: Streams = Streams { base: Stream::FreshBase, moves: Stream::FreshIrrelevant, labels: Stream::FreshNoise };

impl Arrays {
    /// The task in default sizes, without noise and conflicts.
    pub fn new(task: ArrayTask) -> Self {
        Self { task, sizes: default_sizes(), noise: 0.0, conflict: 0.0 }
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<()> {
        for (what, share) in [("noise", self.noise), ("conflict", self.conflict)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::parameter(what, "a share between 0 and 1", share));
            }
        }
        if self.conflict > 0.0 && self.symmetry().is_empty() {
            let expected = format!("0 for {}: it has no symmetry to contradict", self.task.name());
            return Err(Error::parameter("conflict", expected, self.conflict));
        }
        self.sizes.check(self.width())
    }

    /// Number of entries of one array.
    fn width(&self) -> usize {
        self.task.shape().iter().product()
    }

    /// The shape of one array.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&self.task.shape())?)
    }

    /// The candidate symmetries in shorthand.
    pub fn candidates(&self) -> Vec<&'static str> {
        self.task.candidates()
    }

    /// The candidate groups.
    pub fn groups(&self) -> Result<Vec<Group>> {
        self.check()?;
        Ok(candidates(&self.shape()?, self.candidates())?)
    }

    /// The true symmetry I, over the candidates.
    pub fn symmetry(&self) -> GroupSet {
        self.task.symmetry()
    }

    /// Training, validation and test data.
    pub fn generate(&self, seed: u64) -> Result<Split<f32>> {
        self.check()?;
        let all = self.environment(self.sizes.examples, &TRAIN, seed)?;
        let test = self.drawn(self.sizes.test, false, &mut stream(seed, Stream::TestBase));
        Ok(self.sizes.split(&all, test, &mut stream(seed, Stream::Shuffle)))
    }

    /// More examples of the training environment, drawn apart from all others, with its noise and its conflicts.
    pub fn fresh(&self, count: usize, seed: u64) -> Result<Examples<f32>> {
        self.check()?;
        Sizes { examples: count, ..self.sizes }.check(self.width())?;
        self.environment(count, &FRESH, seed)
    }

    /// Coupled pairs for the consistency of a model: an array as in training, and the same moved by G_I.
    ///
    /// They are drawn apart from the training and test sets. When the task has no symmetry both halves are equal.
    pub fn pairs(&self, count: usize, seed: u64) -> Result<Pairs<f32>> {
        self.check()?;
        Sizes::check_pairs(count, self.width())?;
        let base = self.drawn(count, true, &mut stream(seed, Stream::PairBase));
        self.causal()?.pairs(&base, |base, _| base.label, seed)
    }

    fn causal(&self) -> Result<Causal> {
        Causal::new(&self.shape()?, &self.groups()?, &self.symmetry(), &GroupSet::empty())
    }

    /// The training environment. Inputs are the same with and without noise, and conflicts move only the examples that conflict.
    fn environment(&self, count: usize, streams: &Streams, seed: u64) -> Result<Examples<f32>> {
        let mut examples = self.drawn(count, true, &mut stream(seed, streams.base));
        let conflicts = self.contradict(&mut examples, &mut stream(seed, streams.moves))?;
        self.disturb(&mut examples, &conflicts, &mut stream(seed, streams.labels));
        Ok(examples)
    }

    /// Arrays with independent entries and their own targets, arranged as in training or left as drawn.
    fn drawn(&self, count: usize, arranged: bool, rng: &mut ChaCha8Rng) -> Examples<f32> {
        let entries = self.task.entries();
        let mut drawn = Examples::with_capacity(self.width(), count);
        let mut x = vec![0.0; self.width()];
        for _ in 0..count {
            for value in &mut x {
                *value = entries.draw(rng);
            }
            if arranged {
                self.task.arrange(&mut x);
            }
            drawn.push(&x, self.task.target(&x));
        }
        drawn
    }

    /// Moves the share `conflict` of the examples by the true symmetry and gives them wrong targets; tells which.
    fn contradict(&self, examples: &mut Examples<f32>, rng: &mut ChaCha8Rng) -> Result<Vec<bool>> {
        let mut conflicts = vec![false; examples.len()];
        if self.conflict == 0.0 {
            return Ok(conflicts);
        }
        let causal = self.causal()?;
        for (index, conflict) in conflicts.iter_mut().enumerate() {
            // Both are drawn for every example, so that a larger share only adds conflicts.
            *conflict = rng.random::<f64>() < self.conflict;
            let element = loop {
                let element = causal.irrelevant().sample(&mut below(rng));
                if !element.is_identity() {
                    break element;
                }
            };
            if *conflict {
                let x = moved(&element, examples.input(index));
                examples.inputs[index * x.len()..(index + 1) * x.len()].copy_from_slice(&x);
                let right = examples.targets[index];
                examples.targets[index] = self.task.deviation().map_or(1.0 - right, |deviation| right + WRONG_BY * deviation);
            }
        }
        Ok(conflicts)
    }

    /// Replaces the share `noise` of the classes by the other class, or adds noise to numbers; conflicting examples stay wrong as
    /// they are.
    fn disturb(&self, examples: &mut Examples<f32>, conflicts: &[bool], rng: &mut ChaCha8Rng) {
        if self.noise == 0.0 {
            return;
        }
        for (target, &conflict) in examples.targets.iter_mut().zip(conflicts) {
            let (chance, normal) = (rng.random::<f64>(), normal(rng));
            match self.task.deviation() {
                _ if conflict => {}
                Some(deviation) => *target += (self.noise * normal) as f32 * deviation,
                None if chance < self.noise => *target = 1.0 - *target,
                None => {}
            }
        }
    }
}

impl Entries {
    fn draw(self, rng: &mut ChaCha8Rng) -> f32 {
        match self {
            Self::Unit => rng.random_range(0.0..1.0),
            Self::Signed => rng.random_range(-1.0..1.0),
            Self::Bits(probability) => f32::from(u8::from(rng.random_bool(probability))),
        }
    }
}

/// A normal number as the sum of twelve uniform ones, less their mean: variance 1, and the same on every machine.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

//! Data for the sequence tasks (Appendix on sequences): sorted in training, in any order in the test set.

use invar_algebra::{Action, Group, GroupSet, Shape, candidates};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::causal::{Base, Causal, Draw};
use crate::entry::moved;
use crate::error::{Error, Result};
use crate::examples::{Examples, Pairs, Split};
use crate::partition::Partition;
use crate::random::{Stream, stream};
use crate::sequence_task::{Arrangement, SequenceTask};
use crate::sizes::Sizes;

/// Every pair of positions is a candidate group: beyond this length there would be too many.
const MAX_LENGTH: usize = 256;
/// Targets are `f32`, exact for whole numbers up to this.
const MAX_TARGET: usize = 1 << 24;

/// What the test sequences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOrder {
    /// Independent draws from the ranges of the training sequences, left unsorted, as published. All positions are in
    /// uniformly random order, also those that the task tells apart.
    #[default]
    Unsorted,
    /// Canonical sequences moved by G_I alone, as the causal model says.
    Symmetry,
}

/// Which target goes with which sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// Its own.
    #[default]
    Own,
    /// Any: targets are dealt out anew, so that there is nothing to learn and nothing that could contradict a symmetry.
    Shuffled,
}

impl Labels {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_own(&self) -> bool {
        *self == Self::Own
    }

    fn deal(self, examples: &mut Examples<i32>, rng: &mut ChaCha8Rng) {
        if self == Self::Shuffled {
            examples.targets.shuffle(rng);
        }
    }
}

/// A sequence task with its sizes.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `length` | 10 | n, positions of a sequence | 2 (`third_plus_large`: 3, `thirds`: 4) to 256; even for `even_minus_odd` |
/// | `vocabulary` | 99 | tokens are 1 to this | enough for the thresholds of the task |
/// | `sizes` | 8,000 and 2,000 | numbers of examples | see [`Sizes`] |
/// | `test_order` | `Unsorted` | what test sequences are | |
/// | `draw` | `NonIdentity` | how counterfactual sequences draw from G_I | |
/// | `labels` | `Own` | which target goes with which sequence | |
///
/// ```
/// # use invar_tasks::{SequenceTask, Sequences};
/// let task = Sequences::new(SequenceTask::Sum2);
/// let data = task.generate(0)?;
/// assert_eq!((data.train.len(), data.validation.len(), data.test.len()), (6400, 1600, 2000));
/// assert_eq!(task.symmetry().len(), 36);
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequences {
    /// What to compute.
    pub task: SequenceTask,
    /// Number of positions n.
    #[serde(default = "published_length")]
    pub length: usize,
    /// Tokens are 1 to this.
    #[serde(default = "published_vocabulary")]
    pub vocabulary: usize,
    /// Numbers of examples.
    #[serde(default)]
    pub sizes: Sizes,
    /// What test sequences are.
    #[serde(default)]
    pub test_order: TestOrder,
    /// How counterfactual sequences draw from G_I.
    #[serde(default)]
    pub draw: Draw,
    /// Which target goes with which sequence.
    #[serde(default, skip_serializing_if = "Labels::is_own")]
    pub labels: Labels,
}

fn published_length() -> usize {
    10
}

fn published_vocabulary() -> usize {
    99
}

impl Sequences {
    /// The task in the published sizes.
    pub fn new(task: SequenceTask) -> Self {
        Self {
            task,
            length: published_length(),
            vocabulary: published_vocabulary(),
            sizes: Sizes::default(),
            test_order: TestOrder::default(),
            draw: Draw::default(),
            labels: Labels::default(),
        }
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<()> {
        self.task.check(self.length, self.vocabulary)?;
        if self.length > MAX_LENGTH {
            let expected = format!("at most {MAX_LENGTH}: every pair of positions is a candidate group");
            return Err(Error::parameter("sequence length", expected, self.length));
        }
        let largest = MAX_TARGET / (self.length * self.task.heaviest());
        if self.vocabulary > largest {
            let expected = format!("at most {largest} for sequences of {}: targets must be exact in f32", self.length);
            return Err(Error::parameter("vocabulary", expected, self.vocabulary));
        }
        self.sizes.check(self.length)
    }

    /// The shape of one sequence.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&[self.length])?)
    }

    /// The candidate symmetries in shorthand: every transposition of two positions.
    pub fn candidates(&self) -> Vec<&'static str> {
        vec!["swaps(0)"]
    }

    /// The candidate groups.
    pub fn groups(&self) -> Result<Vec<Group>> {
        self.check()?;
        Ok(candidates(&self.shape()?, self.candidates())?)
    }

    /// The true symmetry as blocks of positions that can be exchanged.
    pub fn partition(&self) -> Partition {
        match self.labels {
            Labels::Own => self.task.symmetry(self.length),
            Labels::Shuffled => Partition::whole(self.length),
        }
    }

    /// The true symmetry I, over the candidates.
    pub fn symmetry(&self) -> GroupSet {
        self.partition().swaps()
    }

    /// D, the groups that act on the data and matter to the target: all of them when every order has its own target, none
    /// otherwise, so that G_I is normal.
    pub fn depends(&self) -> GroupSet {
        match self.task.arrangement() {
            Arrangement::Any => Partition::whole(self.length).swaps(),
            Arrangement::Ascending | Arrangement::Halves => GroupSet::empty(),
        }
    }

    /// Training, validation and test data.
    pub fn generate(&self, seed: u64) -> Result<Split<i32>> {
        self.check()?;
        let causal = self.causal()?;
        let label = |base: Base<'_, i32>, d: &Action| self.label(base, d);
        let mut all = causal.train(&self.base(self.sizes.examples, &mut stream(seed, Stream::TrainBase)), label, seed)?;
        let mut rng = stream(seed, Stream::TestBase);
        let mut test = match self.test_order {
            TestOrder::Unsorted => self.draw_sequences(self.sizes.test, &mut rng),
            TestOrder::Symmetry => causal.test(&self.base(self.sizes.test, &mut rng), label, seed)?,
        };
        self.labels.deal(&mut all, &mut stream(seed, Stream::TrainLabels));
        self.labels.deal(&mut test, &mut stream(seed, Stream::TestLabels));
        Ok(self.sizes.split(&all, test, &mut stream(seed, Stream::Shuffle)))
    }

    /// Coupled pairs for the consistency of a model: a sequence as in training, and the same moved by G_I.
    ///
    /// They are drawn apart from the training and test sets. When the task has no symmetry both halves are equal.
    pub fn pairs(&self, count: usize, seed: u64) -> Result<Pairs<i32>> {
        self.check()?;
        Sizes::check_pairs(count, self.length)?;
        let base = self.base(count, &mut stream(seed, Stream::PairBase));
        if self.labels == Labels::Shuffled {
            // Nothing matters to labels that were dealt out: everything is irrelevant.
            let causal = Causal::new(&self.shape()?, &self.groups()?, &self.symmetry(), &GroupSet::empty())?;
            return causal.with_draw(self.draw).pairs(&base, |base, d| self.label(base, d), seed);
        }
        self.causal()?.pairs(&base, |base, d| self.label(base, d), seed)
    }

    fn causal(&self) -> Result<Causal> {
        // Sequences come about as they do with their own labels.
        let symmetry = self.task.symmetry(self.length).swaps();
        let causal = Causal::new(&self.shape()?, &self.groups()?, &symmetry, &self.depends())?;
        Ok(causal.with_draw(self.draw))
    }

    /// h: the arithmetic of the task on T_D X(hid).
    fn label(&self, base: Base<'_, i32>, d: &Action) -> f32 {
        self.task.target(&moved(d, base.values))
    }

    /// X(hid): sequences in canonical order.
    fn base(&self, count: usize, rng: &mut ChaCha8Rng) -> Examples<i32> {
        let drawn = self.draw_sequences(count, rng);
        let mut base = Examples::with_capacity(self.length, count);
        for (index, (x, _)) in drawn.iter().enumerate() {
            let mut x = x.to_vec();
            x.sort_unstable();
            if self.is_upper(index) {
                x.reverse();
            }
            base.push(&x, self.task.target(&x));
        }
        base
    }

    /// Independent tokens with replacement, in no order.
    fn draw_sequences(&self, count: usize, rng: &mut ChaCha8Rng) -> Examples<i32> {
        let (middle, last) = ((self.vocabulary / 2) as i32, self.vocabulary as i32);
        let mut drawn = Examples::with_capacity(self.length, count);
        for index in 0..count {
            let range = match self.task.arrangement() {
                Arrangement::Ascending | Arrangement::Any => 1..=last,
                Arrangement::Halves if self.is_upper(index) => middle + 1..=last,
                Arrangement::Halves => 1..=middle,
            };
            let x: Vec<i32> = (0..self.length).map(|_| rng.random_range(range.clone())).collect();
            drawn.push(&x, self.task.target(&x));
        }
        drawn
    }

    /// Whether the sequence at this place comes from the upper half of the vocabulary: every second one.
    fn is_upper(&self, index: usize) -> bool {
        self.task.arrangement() == Arrangement::Halves && index % 2 == 1
    }
}

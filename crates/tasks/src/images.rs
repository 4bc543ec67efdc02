//! Data for the image tasks: digits as they were written in training, moved in the test set.

use invar_algebra::{Group, GroupSet, Shape, candidates};
use serde::{Deserialize, Serialize};

use crate::causal::{Base, Causal, Draw};
use crate::error::{Error, Result};
use crate::examples::{Examples, Pairs, Split};
use crate::image_task::{ImageGroup, ImageTask, Invariant};
use crate::mnist::{Digits, Mnist, SIDE};
use crate::random::{Stream, shuffled, stream};
use crate::sizes::Sizes;

/// Folds of the cross-validation.
const FOLDS: usize = 5;
/// Share of the training images that is held out.
const VALIDATION: f64 = 0.2;
/// Red, green and blue.
const CHANNELS: usize = 3;
/// Entries of one image.
const WIDTH: usize = CHANNELS * SIDE * SIDE;

/// An image task with the groups its label ignores, its fold and its sizes.
///
/// An image is a tensor 3 x 28 x 28 of zeros and ones. X(hid) is a digit of [`Mnist`] in red, channel 0. Training shows it
/// moved by one power of each group in D, the test set by G_I on top of that.
///
/// | Name | Default | Purpose | Range |
/// | --- | --- | --- | --- |
/// | `invariant` | `RotColorVflip` | I, the groups that the label ignores | the four of the paper |
/// | `fold` | 0 | the fold left out of training and test images | 0 to 4 |
/// | `count` | all | training and validation images together | at most what the fold leaves |
/// | `test_count` | all | test images | at most what the fold leaves |
/// | `draw` | `NonIdentity` | how counterfactual images draw from G_I | |
///
/// ```
/// # use invar_tasks::{ImageTask, Images, Invariant};
/// let task = Images { invariant: Invariant::RotVflip, count: Some(500), ..Images::new(ImageTask::Mnist34) };
/// let data = task.generate(0)?;
/// assert_eq!((data.train.len(), data.validation.len(), data.test.len()), (400, 100, 1593));
/// assert_eq!(task.classes(), 6);
/// assert_eq!(task.class_name(1).as_deref(), Some("3, green"));
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// What to recognise.
    pub task: ImageTask,
    /// The groups that the label ignores.
    #[serde(default)]
    pub invariant: Invariant,
    /// The fold that is left out: every fifth image of the task, from this one on.
    #[serde(default)]
    pub fold: usize,
    /// Number of images for training and validation, drawn at random; all if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Number of test images, drawn at random; all if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_count: Option<usize>,
    /// How counterfactual images draw from G_I.
    #[serde(default)]
    pub draw: Draw,
}

/// Examples of the two environments of an image task.
#[derive(Debug, Clone, PartialEq)]
pub struct Environments<T> {
    /// Training images, moved by D alone.
    pub training: Examples<T>,
    /// Test images, moved by D and then by I.
    pub another: Examples<T>,
}

impl Images {
    /// The first fold of the task that ignores all groups, with all images.
    pub fn new(task: ImageTask) -> Self {
        Self { task, invariant: Invariant::default(), fold: 0, count: None, test_count: None, draw: Draw::default() }
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<()> {
        if self.fold >= FOLDS {
            return Err(Error::parameter("fold", format!("below {FOLDS}, from 0"), self.fold));
        }
        let mnist = Mnist::embedded()?;
        let (examples, test) = (self.available(&mnist.train).len(), self.available(&mnist.test).len());
        for (what, wanted, most) in
            [("number of training images", self.count, examples), ("number of test images", self.test_count, test)]
        {
            if let Some(got) = wanted.filter(|&wanted| wanted > most) {
                let expected = format!("at most {most}, which are left without fold {}", self.fold);
                return Err(Error::parameter(what, expected, got));
            }
        }
        sizes(self.count.unwrap_or(examples), self.test_count.unwrap_or(test)).check(WIDTH)
    }

    /// The shape of one image: 3 x 28 x 28.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&[CHANNELS, SIDE, SIDE])?)
    }

    /// The candidate symmetries in shorthand, in the order of [`ImageGroup::ALL`].
    pub fn candidates(&self) -> Vec<&'static str> {
        ImageGroup::ALL.map(ImageGroup::candidate).to_vec()
    }

    /// The candidate groups.
    pub fn groups(&self) -> Result<Vec<Group>> {
        Ok(candidates(&self.shape()?, self.candidates())?)
    }

    /// The true symmetry I, over the candidates.
    pub fn symmetry(&self) -> GroupSet {
        self.invariant.irrelevant()
    }

    /// D, the groups that act on the data and matter to the label.
    pub fn depends(&self) -> GroupSet {
        self.invariant.depends()
    }

    /// Number of classes; targets are 0 to this, exclusive.
    pub fn classes(&self) -> usize {
        self.task.classes(self.invariant)
    }

    /// What a class stands for; none beyond the last class.
    pub fn class_name(&self, class: usize) -> Option<String> {
        self.task.class_name(self.invariant, class)
    }

    /// Training, validation and test data; an error if one of them lacks a class.
    pub fn generate(&self, seed: u64) -> Result<Split<f32>> {
        let Split { train, validation, test } = self.generate_bytes(seed)?;
        Ok(Split { train: numbers(train), validation: numbers(validation), test: numbers(test) })
    }

    /// The same as bytes 0 and 1, in a quarter of the memory.
    pub fn generate_bytes(&self, seed: u64) -> Result<Split<u8>> {
        let Environments { training, another } = self.environments(seed)?;
        let split = sizes(training.len(), another.len()).split(&training, another, &mut stream(seed, Stream::Shuffle));
        for (set, name) in [(&split.train, "training"), (&split.validation, "validation"), (&split.test, "test")] {
            self.check_classes(set, name)?;
        }
        Ok(split)
    }

    /// The first `count` images of both environments, to look at: they need not show every class.
    pub fn samples(&self, count: usize, seed: u64) -> Result<Environments<f32>> {
        // As many as a split needs are drawn; one image fewer would not be a different task.
        let drawn = Some(count.max(SMALLEST));
        let few = Self { count: drawn, test_count: drawn, ..*self };
        let Environments { training, another } = few.environments(seed)?;
        let places: Vec<usize> = (0..count).collect();
        Ok(Environments { training: numbers(training.select(&places)), another: numbers(another.select(&places)) })
    }

    /// Coupled pairs for the consistency of a model: an image as in training, and the same moved by G_I.
    ///
    /// They are test images, whatever `test_count` says, moved independently of the test set.
    pub fn pairs(&self, count: usize, seed: u64) -> Result<Pairs<f32>> {
        let Pairs { observed, counterfactual } = self.pair_bytes(count, seed)?;
        Ok(Pairs { observed: numbers(observed), counterfactual: numbers(counterfactual) })
    }

    /// The same as bytes 0 and 1.
    pub fn pair_bytes(&self, count: usize, seed: u64) -> Result<Pairs<u8>> {
        self.check()?;
        let digits = &Mnist::embedded()?.test;
        let most = self.available(digits).len();
        if !(1..=most).contains(&count) {
            let expected = format!("1 to {most}, the test images without fold {}", self.fold);
            return Err(Error::parameter("number of pairs", expected, count));
        }
        let base = self.base(digits, Some(count), seed, Stream::PairBase);
        self.causal()?.pairs(&base, |base, _| self.label(base), seed)
    }

    /// Both environments, training and validation together.
    fn environments(&self, seed: u64) -> Result<Environments<u8>> {
        self.check()?;
        let mnist = Mnist::embedded()?;
        let causal = self.causal()?;
        let train = self.base(&mnist.train, self.count, seed, Stream::TrainBase);
        let training = causal.train(&train, |base, _| self.label(base), seed)?;
        drop(train);
        let test = self.base(&mnist.test, self.test_count, seed, Stream::TestBase);
        let another = causal.test(&test, |base, _| self.label(base), seed)?;
        Ok(Environments { training, another })
    }

    fn causal(&self) -> Result<Causal> {
        let shape = self.shape()?;
        let groups = candidates(&shape, ImageGroup::ALL.map(ImageGroup::on_data))?;
        Causal::new(&shape, &groups, &self.symmetry(), &self.depends())?.with_draw(self.draw).with_powers()
    }

    /// h: the class of the digit and the elements of the groups in D.
    fn label(&self, base: Base<'_, u8>) -> f32 {
        self.task.class(self.invariant, base.label as u8, base.powers) as f32
    }

    /// The places of the task's digits without the fold.
    fn available(&self, digits: &Digits) -> Vec<usize> {
        let places = digits.labels().iter().enumerate().filter(|(_, label)| self.task.digits().contains(label));
        places.enumerate().filter(|(order, _)| order % FOLDS != self.fold).map(|(_, (place, _))| place).collect()
    }

    /// X(hid): digits in red.
    fn base(&self, digits: &Digits, count: Option<usize>, seed: u64, purpose: Stream) -> Examples<u8> {
        let mut places = self.available(digits);
        if let Some(count) = count {
            let order = shuffled(places.len(), &mut stream(seed, purpose));
            places = order[..count].iter().map(|&k| places[k]).collect();
        }
        let mut base = Examples::with_capacity(WIDTH, places.len());
        let mut image = vec![0; WIDTH];
        for place in places {
            image.iter_mut().zip(digits.pixels(place)).for_each(|(entry, ink)| *entry = ink);
            base.push(&image, f32::from(digits.labels()[place]));
        }
        base
    }

    fn check_classes(&self, set: &Examples<u8>, name: &'static str) -> Result<()> {
        let mut seen = vec![false; self.classes()];
        set.targets.iter().for_each(|&class| seen[class as usize] = true);
        match seen.iter().position(|seen| !seen).and_then(|class| self.class_name(class)) {
            Some(class) => Err(Error::AbsentClass { class, set: name, examples: set.len() }),
            None => Ok(()),
        }
    }
}

/// The fewest images that can be split into training and validation.
const SMALLEST: usize = 3;

fn sizes(examples: usize, test: usize) -> Sizes {
    Sizes { examples, validation: VALIDATION, test }
}

fn numbers(set: Examples<u8>) -> Examples<f32> {
    Examples { inputs: set.inputs.into_iter().map(f32::from).collect(), width: set.width, targets: set.targets }
}

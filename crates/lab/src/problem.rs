//! A task made concrete: data for the networks, candidate groups with their lattice, and the truth to compare with.

use std::sync::OnceLock;

use invar_algebra::{Group, GroupSet, Lattice, Options, Shape, Tolerance, candidates, invariant_weights};
use invar_data::Digest;
use invar_nn::{Bases, Dataset, Inputs, Model, Pixels, Reynolds, Targets, evaluate};
use invar_tasks::{Arrays, Examples, Graphs, Images, Pairs, Sequences, Split, Task, consistency};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::record::Metrics;
use crate::scaling::Scaling;
use crate::screen::Measure;

/// Coupled pairs per problem, for the consistency of Definition 2.
const PAIRS: usize = 1000;
/// Pairs come from their own seed, so that they are not the test examples.
const PAIRS_SEED: u64 = 0x5eed;

/// An image, and the patch of it that a filter of a first layer sees.
const IMAGE: [usize; 3] = [3, 28, 28];
const PATCH: [usize; 3] = [3, 3, 3];

/// Which data: a built-in task with its sizes, or the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Sequences of numbers.
    Sequences(Sequences),
    /// Attributed graphs.
    Graphs(Graphs),
    /// Arrays of real numbers.
    Arrays(Arrays),
    /// Digits, turned, mirrored and coloured.
    Images(Images),
    /// The user's own, by the digest of what they are and how they are seen: a [project](crate::project) brings them.
    Files(Digest),
}

impl Data {
    /// A task by name, in its published sizes.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match Task::by_name(name)? {
            Task::Sequence(task) => Self::Sequences(Sequences::new(task)),
            Task::Graph(task) => Self::Graphs(Graphs::new(task)),
            Task::Array(task) => Self::Arrays(Arrays::new(task)),
            Task::Image(task) => Self::Images(Images::new(task)),
        })
    }

    /// The task's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.name(),
            Self::Graphs(data) => data.task.name(),
            Self::Arrays(data) => data.task.name(),
            Self::Images(data) => data.task.name(),
            Self::Files(_) => "own data",
        }
    }

    /// The task as a row of a table: for images with what its label is invariant to.
    pub fn row(&self) -> String {
        match self {
            Self::Images(data) => format!("{}, invariant to {}", data.task.name(), data.invariant.name()),
            data => data.name().into(),
        }
    }

    /// What is to be predicted; none for files, whose labels say it.
    pub fn description(&self) -> Option<&'static str> {
        match self {
            Self::Sequences(data) => Some(data.task.description()),
            Self::Graphs(data) => Some(data.task.description()),
            Self::Arrays(data) => Some(data.task.description()),
            Self::Images(data) => Some(data.task.description()),
            Self::Files(_) => None,
        }
    }

    /// Changes the number of training and validation examples; no more test examples than those.
    pub fn set_examples(&mut self, examples: usize) {
        let sizes = match self {
            Self::Sequences(data) => &mut data.sizes,
            Self::Graphs(data) => &mut data.sizes,
            Self::Arrays(data) => &mut data.sizes,
            Self::Images(data) => {
                data.count = Some(examples);
                return;
            }
            Self::Files(_) => return,
        };
        sizes.examples = examples;
        sizes.test = sizes.test.min(examples).max(1);
    }

    /// More examples of the training environment, drawn apart from all others; of array tasks.
    pub(crate) fn fresh(&self, count: usize, seed: u64) -> Result<Dataset> {
        match self {
            Self::Arrays(data) => array(data.fresh(count, seed)?, data.task.classes()),
            other => Err(Error::Setting {
                name: "fresh",
                expected: "0: only array tasks draw more examples".into(),
                got: other.name().into(),
            }),
        }
    }

    /// Draws the data and builds everything that does not depend on a network. The user's own data are not drawn.
    pub fn problem(&self, seed: u64) -> Result<Problem> {
        let (groups, symmetry) = match self {
            Self::Sequences(data) => (data.groups()?, data.symmetry()),
            Self::Graphs(data) => (data.groups()?, data.symmetry()),
            Self::Arrays(data) => (data.groups()?, data.symmetry()),
            // Filters see patches: that is where weights meet the candidates.
            Self::Images(data) => (candidates(&Shape::new(&PATCH)?, data.candidates())?, data.symmetry()),
            Self::Files(digest) => return Err(not_drawn(digest)),
        };
        let (vocabulary, split, pairs, chance) = match self {
            Self::Sequences(data) => {
                let split = data.generate(seed)?;
                let chance = split.chance().accuracy;
                let pairs = token_pairs(data.pairs(PAIRS, seed ^ PAIRS_SEED)?)?;
                (Some(data.vocabulary + 1), token_split(split)?, pairs, chance)
            }
            Self::Graphs(data) => {
                let split = data.generate(seed)?;
                let chance = split.chance().accuracy;
                (None, array_split(split, None)?, array_pairs(data.pairs(PAIRS, seed ^ PAIRS_SEED)?, None)?, chance)
            }
            Self::Arrays(data) => {
                let (split, classes) = (data.generate(seed)?, data.task.classes());
                // The mean of numbers has an R² of 0.
                let chance = classes.map_or(0.0, |_| split.chance().accuracy);
                let pairs = array_pairs(data.pairs(PAIRS, seed ^ PAIRS_SEED)?, classes)?;
                (None, array_split(split, classes)?, pairs, chance)
            }
            Self::Images(data) => {
                let split = data.generate_bytes(seed)?;
                let chance = split.chance().accuracy;
                let Split { train, validation, test } = split;
                let image = |examples| images(examples, data.classes());
                let Pairs { observed, counterfactual } = data.pair_bytes(PAIRS, seed ^ PAIRS_SEED)?;
                (None, [image(train)?, image(validation)?, image(test)?], [image(observed)?, image(counterfactual)?], chance)
            }
            Self::Files(digest) => return Err(not_drawn(digest)),
        };
        let [train, validation, test] = split;
        let (symmetry, test, pairs) = (Some(symmetry), Some(test), Some(pairs));
        let measure = match self {
            // Numbers of the other kinds are whole: an answer is right or not.
            Self::Arrays(_) => Measure::of(&validation),
            _ => Measure::Accuracy,
        };
        let subspaces = Subspaces::of(groups)?;
        Ok(Problem { subspaces, symmetry, vocabulary, train, validation, test, pairs, chance, measure })
    }
}

fn not_drawn(digest: &Digest) -> Error {
    Error::Setting { name: "data", expected: "a built-in task, or read from the user's files".into(), got: digest.to_string() }
}

/// Data, groups and truth of a task, for one seed.
#[derive(Debug)]
pub struct Problem {
    /// The candidates where weights of a first CG layer live, on positions, on entries, for images on the patch of a filter; and their
    /// subspaces there.
    pub(crate) subspaces: Subspaces,
    /// The true symmetry of the target, where it is known.
    pub symmetry: Option<GroupSet>,
    /// Number of tokens including 0; none for arrays.
    pub vocabulary: Option<usize>,
    /// Economically sampled.
    pub train: Dataset,
    /// Held out of the same environment.
    pub validation: Dataset,
    /// Another environment, if there is one.
    pub test: Option<Dataset>,
    /// Coupled pairs (X, X_cf), where they can be drawn.
    pub pairs: Option<[Dataset; 2]>,
    /// Accuracy of always answering the most frequent training target: on the test set, or on validation examples without one.
    pub chance: f64,
    /// What a fit is judged by.
    pub measure: Measure,
}

/// Candidates, and what follows from them, made when it is first asked for: a network that decides elsewhere never asks, and for large
/// examples or many unrelated candidates it would be too much.
#[derive(Debug)]
pub(crate) struct Subspaces {
    shape: Shape,
    groups: Vec<Group>,
    lattice: OnceLock<Lattice>,
    bases: OnceLock<Bases>,
    reynolds: OnceLock<Reynolds>,
}

impl Subspaces {
    /// Of candidates that act on one shape.
    pub(crate) fn of(groups: Vec<Group>) -> Result<Self> {
        let Some(shape) = groups.first().map(|group| group.shape().clone()) else {
            let expected = "at least 1: there is nothing to ask about".into();
            return Err(Error::Setting { name: "number of candidate symmetries", expected, got: "0".into() });
        };
        Ok(Self { groups, ..Self::free(shape) })
    }

    /// Where nothing is asked about: all weights on this shape.
    pub(crate) fn free(shape: Shape) -> Self {
        Self { shape, groups: Vec::new(), lattice: OnceLock::new(), bases: OnceLock::new(), reynolds: OnceLock::new() }
    }
}

/// What is there, or what is made.
fn once<T>(slot: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = slot.get() {
        return Ok(known);
    }
    let made = make()?;
    Ok(slot.get_or_init(|| made))
}

impl Problem {
    /// The candidate groups.
    pub fn groups(&self) -> &[Group] {
        &self.subspaces.groups
    }

    /// The shape that they act on.
    pub fn shape(&self) -> &Shape {
        &self.subspaces.shape
    }

    /// Their subspaces.
    pub fn lattice(&self) -> Result<&Lattice> {
        once(&self.subspaces.lattice, || Ok(Lattice::new(self.groups().to_vec(), &Options::default())?))
    }

    /// The subspaces, as networks take them.
    pub fn bases(&self) -> Result<&Bases> {
        once(&self.subspaces.bases, || Ok(Bases::of(self.lattice()?)))
    }

    /// The Reynolds operators, as networks take them.
    pub fn reynolds(&self) -> Result<&Reynolds> {
        once(&self.subspaces.reynolds, || Ok(Reynolds::of(self.groups())?))
    }

    /// Share of coupled pairs that a network answers alike (Definition 2); none without pairs, or when nothing is irrelevant and
    /// both halves of a pair are the same example.
    pub fn consistency<M: Model>(&self, network: &M) -> Result<Option<f64>> {
        let irrelevant = self.symmetry.as_ref().is_some_and(|symmetry| !symmetry.is_empty());
        let Some([observed, counterfactual]) = self.pairs.as_ref().filter(|_| irrelevant) else { return Ok(None) };
        let answers =
            |data| -> Result<Vec<i64>> { Ok(evaluate(network, data)?.predictions.iter().map(|p| p.round() as i64).collect()) };
        Ok(Some(consistency(&answers(observed)?, &answers(counterfactual)?)?))
    }

    /// How a network does on the validation examples, and on the test examples if there are any.
    pub fn metrics<M: Model>(&self, network: &M) -> Result<(Metrics, Option<Metrics>)> {
        let of = |data: &Dataset| self.metrics_on(network, data);
        Ok((of(&self.validation)?, self.test.as_ref().map(of).transpose()?))
    }

    /// How a network does on some data.
    pub(crate) fn metrics_on<M: Model>(&self, network: &M, data: &Dataset) -> Result<Metrics> {
        let found = evaluate(network, data)?;
        let accuracy = match (self.measure, Measure::variance(data)) {
            (Measure::RSquared { .. }, Some(variance)) => 1.0 - found.loss / variance,
            _ => found.accuracy,
        };
        Ok(Metrics { loss: found.loss, accuracy })
    }

    /// The same problem with scaled inputs; nothing where there is nothing to scale.
    pub(crate) fn scaled(&self, scaling: Option<&Scaling>) -> Option<Self> {
        let scaling = scaling?;
        let data = |data: &Dataset| data.clone().with_entries(|place, value| scaling.entry(place, value));
        Some(Self {
            subspaces: Subspaces::of(self.groups().to_vec()).ok()?,
            symmetry: self.symmetry.clone(),
            vocabulary: self.vocabulary,
            train: data(&self.train),
            validation: data(&self.validation),
            test: self.test.as_ref().map(data),
            pairs: self.pairs.as_ref().map(|pairs| pairs.each_ref().map(data)),
            chance: self.chance,
            measure: self.measure,
        })
    }

    /// A basis of Bt(M): all weights invariant to every group of the set.
    pub fn invariant_basis(&self, set: &GroupSet) -> Result<Vec<Vec<f64>>> {
        let imposed = set.iter().map(|group| &self.groups()[group]);
        Ok(invariant_weights(self.shape(), imposed, &Tolerance::default())?)
    }
}

fn tokens(examples: Examples<i32>) -> Result<Dataset> {
    Ok(Dataset::sequences(examples.width, examples.inputs, examples.targets)?)
}

fn array(examples: Examples<f32>, classes: Option<usize>) -> Result<Dataset> {
    let inputs = Inputs::Array { dim: examples.width, values: examples.inputs };
    let targets = match classes {
        Some(count) => Targets::Classes { count, labels: class_indices(&examples.targets) },
        None => Targets::Values(examples.targets),
    };
    Ok(Dataset::new(inputs, targets)?)
}

fn class_indices(targets: &[f32]) -> Vec<usize> {
    targets.iter().map(|&class| class as usize).collect()
}

/// Pixels of zeros and ones; networks take bytes as shares of 255.
fn images(mut examples: Examples<u8>, classes: usize) -> Result<Dataset> {
    examples.inputs.iter_mut().for_each(|pixel| *pixel *= u8::MAX);
    let [channels, height, width] = IMAGE;
    let labels = class_indices(&examples.targets);
    let inputs = Inputs::Images { channels, height, width, values: Pixels::Bytes(examples.inputs) };
    Ok(Dataset::new(inputs, Targets::Classes { count: classes, labels })?)
}

fn token_split(split: Split<i32>) -> Result<[Dataset; 3]> {
    Ok([tokens(split.train)?, tokens(split.validation)?, tokens(split.test)?])
}

fn array_split(split: Split<f32>, classes: Option<usize>) -> Result<[Dataset; 3]> {
    Ok([array(split.train, classes)?, array(split.validation, classes)?, array(split.test, classes)?])
}

fn token_pairs(pairs: Pairs<i32>) -> Result<[Dataset; 2]> {
    Ok([tokens(pairs.observed)?, tokens(pairs.counterfactual)?])
}

fn array_pairs(pairs: Pairs<f32>, classes: Option<usize>) -> Result<[Dataset; 2]> {
    Ok([array(pairs.observed, classes)?, array(pairs.counterfactual, classes)?])
}

#[cfg(test)]
mod tests {
    use invar_tasks::ArrayTask;

    use super::*;

    #[test]
    fn every_array_task_becomes_a_problem_of_classes_or_of_numbers() {
        for task in ArrayTask::ALL {
            let mut data = Data::by_name(task.name()).unwrap();
            data.set_examples(100);
            assert_eq!((data.name(), data.description()), (task.name(), Some(task.description())));
            let problem = data.problem(1).unwrap();
            assert_eq!((problem.train.len(), problem.validation.len()), (80, 20));
            assert_eq!(problem.groups().len(), Arrays::new(task).groups().unwrap().len());
            assert_eq!(problem.symmetry, Some(task.symmetry()));
            match problem.train.targets() {
                Targets::Classes { count, .. } => {
                    assert_eq!((Some(*count), problem.measure), (task.classes(), Measure::Accuracy));
                    assert!(problem.chance > 0.3, "{}: {}", task.name(), problem.chance);
                }
                Targets::Values(_) => {
                    assert_eq!((task.classes(), problem.chance), (None, 0.0));
                    assert!(matches!(problem.measure, Measure::RSquared { variance } if variance > 0.0));
                }
            }
        }
    }
}

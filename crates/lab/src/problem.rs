//! A task made concrete: data for the networks, candidate groups with their lattice, and the truth to compare with.

use std::sync::OnceLock;

use invar_algebra::{Group, GroupSet, Lattice, Options, Shape, Tolerance, candidates, invariant_weights};
use invar_data::Digest;
use invar_nn::{Bases, Dataset, Inputs, Model, Pixels, Reynolds, Targets, evaluate};
use invar_tasks::{Examples, Graphs, Images, Pairs, Sequences, Split, Task, consistency};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::record::Metrics;
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
            Task::Image(task) => Self::Images(Images::new(task)),
        })
    }

    /// The task's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.name(),
            Self::Graphs(data) => data.task.name(),
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

    /// What is to be predicted.
    pub fn description(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.description(),
            Self::Graphs(data) => data.task.description(),
            Self::Images(data) => data.task.description(),
            Self::Files(_) => "what the labels of your files say",
        }
    }

    /// Changes the number of training and validation examples; no more test examples than those.
    pub fn set_examples(&mut self, examples: usize) {
        let sizes = match self {
            Self::Sequences(data) => &mut data.sizes,
            Self::Graphs(data) => &mut data.sizes,
            Self::Images(data) => {
                data.count = Some(examples);
                return;
            }
            Self::Files(_) => return,
        };
        sizes.examples = examples;
        sizes.test = sizes.test.min(examples).max(1);
    }

    /// Draws the data and builds everything that does not depend on a network. The user's own data are not drawn.
    pub fn problem(&self, seed: u64) -> Result<Problem> {
        let (groups, symmetry) = match self {
            Self::Sequences(data) => (data.groups()?, data.symmetry()),
            Self::Graphs(data) => (data.groups()?, data.symmetry()),
            // Filters see patches: that is where weights meet the candidates.
            Self::Images(data) => (candidates(&Shape::new(&PATCH)?, data.candidates())?, data.symmetry()),
            Self::Files(digest) => return Err(not_drawn(digest)),
        };
        let lattice = Lattice::new(groups, &Options::default())?;
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
                (None, array_split(split)?, array_pairs(data.pairs(PAIRS, seed ^ PAIRS_SEED)?)?, chance)
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
        let (measure, weights) = (Measure::Accuracy, Weights::default());
        Ok(Problem { lattice, weights, symmetry, vocabulary, train, validation, test, pairs, chance, measure })
    }
}

fn not_drawn(digest: &Digest) -> Error {
    Error::Setting { name: "data", expected: "a built-in task, or read from the user's files".into(), got: digest.to_string() }
}

/// Data, groups and truth of a task, for one seed.
#[derive(Debug)]
pub struct Problem {
    /// The candidates and their subspaces where weights of a first CG layer live: on positions, on entries, for images on the
    /// patch of a filter.
    pub lattice: Lattice,
    /// The lattice as networks take it.
    pub(crate) weights: Weights,
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

/// Subspaces and Reynolds operators as matrices, made when a network first asks: one that decides elsewhere never does, and for large
/// examples they would not fit into memory.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    bases: OnceLock<Bases>,
    reynolds: OnceLock<Reynolds>,
}

impl Problem {
    /// The candidate groups.
    pub fn groups(&self) -> &[Group] {
        self.lattice.groups()
    }

    /// The subspaces, as networks take them.
    pub fn bases(&self) -> &Bases {
        self.weights.bases.get_or_init(|| Bases::of(&self.lattice))
    }

    /// The Reynolds operators, as networks take them.
    pub fn reynolds(&self) -> Result<&Reynolds> {
        if let Some(known) = self.weights.reynolds.get() {
            return Ok(known);
        }
        let made = Reynolds::of(self.groups())?;
        Ok(self.weights.reynolds.get_or_init(|| made))
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
        let of = |data: &Dataset| -> Result<Metrics> {
            let found = evaluate(network, data)?;
            let accuracy = match (self.measure, Measure::variance(data)) {
                (Measure::RSquared { .. }, Some(variance)) => 1.0 - found.loss / variance,
                _ => found.accuracy,
            };
            Ok(Metrics { loss: found.loss, accuracy })
        };
        Ok((of(&self.validation)?, self.test.as_ref().map(of).transpose()?))
    }

    /// A basis of Bt(M): all weights invariant to every group of the set.
    pub fn invariant_basis(&self, set: &GroupSet) -> Result<Vec<Vec<f64>>> {
        let imposed = set.iter().map(|group| &self.groups()[group]);
        Ok(invariant_weights(self.lattice.shape(), imposed, &Tolerance::default())?)
    }
}

fn tokens(examples: Examples<i32>) -> Result<Dataset> {
    Ok(Dataset::sequences(examples.width, examples.inputs, examples.targets)?)
}

fn array(examples: Examples<f32>) -> Result<Dataset> {
    let inputs = Inputs::Array { dim: examples.width, values: examples.inputs };
    Ok(Dataset::new(inputs, Targets::Values(examples.targets))?)
}

/// Pixels of zeros and ones; networks take bytes as shares of 255.
fn images(mut examples: Examples<u8>, classes: usize) -> Result<Dataset> {
    examples.inputs.iter_mut().for_each(|pixel| *pixel *= u8::MAX);
    let [channels, height, width] = IMAGE;
    let labels = examples.targets.iter().map(|&class| class as usize).collect();
    let inputs = Inputs::Images { channels, height, width, values: Pixels::Bytes(examples.inputs) };
    Ok(Dataset::new(inputs, Targets::Classes { count: classes, labels })?)
}

fn token_split(split: Split<i32>) -> Result<[Dataset; 3]> {
    Ok([tokens(split.train)?, tokens(split.validation)?, tokens(split.test)?])
}

fn array_split(split: Split<f32>) -> Result<[Dataset; 3]> {
    Ok([array(split.train)?, array(split.validation)?, array(split.test)?])
}

fn token_pairs(pairs: Pairs<i32>) -> Result<[Dataset; 2]> {
    Ok([tokens(pairs.observed)?, tokens(pairs.counterfactual)?])
}

fn array_pairs(pairs: Pairs<f32>) -> Result<[Dataset; 2]> {
    Ok([array(pairs.observed)?, array(pairs.counterfactual)?])
}

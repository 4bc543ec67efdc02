//! A task made concrete: data for the networks, candidate groups with their lattice, and the truth to compare with.

use invar_algebra::{Group, GroupSet, Lattice, Options, Shape, candidates, left_fixed_space};
use invar_nn::{Bases, Dataset, Inputs, Reynolds, Targets};
use invar_tasks::{Examples, Graphs, Images, Pairs, Sequences, Split, Task};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Coupled pairs per problem, for the consistency of Definition 2.
const PAIRS: usize = 1000;
/// Pairs come from their own seed, so that they are not the test examples.
const PAIRS_SEED: u64 = 0x5eed;

/// An image, and the patch of it that a filter of a first layer sees.
const IMAGE: [usize; 3] = [3, 28, 28];
const PATCH: [usize; 3] = [3, 3, 3];

/// Which data: a built-in task with its sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Sequences of numbers.
    Sequences(Sequences),
    /// Attributed graphs.
    Graphs(Graphs),
    /// Digits, turned, mirrored and coloured.
    Images(Images),
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
        }
    }

    /// What is to be predicted.
    pub fn description(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.description(),
            Self::Graphs(data) => data.task.description(),
            Self::Images(data) => data.task.description(),
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
        };
        sizes.examples = examples;
        sizes.test = sizes.test.min(examples).max(1);
    }

    /// Draws the data and builds everything that does not depend on a network.
    pub fn problem(&self, seed: u64) -> Result<Problem> {
        let (groups, symmetry, depends) = match self {
            Self::Sequences(data) => (data.groups()?, data.symmetry(), data.depends()),
            Self::Graphs(data) => (data.groups()?, data.symmetry(), data.depends()),
            // Filters see patches: that is where weights meet the candidates.
            Self::Images(data) => (candidates(&Shape::new(&PATCH)?, data.candidates())?, data.symmetry(), data.depends()),
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
        };
        let [train, validation, test] = split;
        let reynolds = Reynolds::of(lattice.groups())?;
        let bases = Bases::of(&lattice);
        Ok(Problem { lattice, bases, reynolds, symmetry, depends, vocabulary, train, validation, test, pairs, chance })
    }
}

/// Data, groups and truth of a task, for one seed.
#[derive(Debug)]
pub struct Problem {
    /// The candidates and their subspaces where weights of a first CG layer live: on positions, on entries, for images on the
    /// patch of a filter.
    pub lattice: Lattice,
    /// The subspaces, as networks take them.
    pub bases: Bases,
    /// The Reynolds operators, as networks take them.
    pub reynolds: Reynolds,
    /// The true symmetry of the target.
    pub symmetry: GroupSet,
    /// The groups that act on the training data and on the label.
    pub depends: GroupSet,
    /// Number of tokens including 0; none for arrays.
    pub vocabulary: Option<usize>,
    /// Economically sampled.
    pub train: Dataset,
    /// Held out of the same environment.
    pub validation: Dataset,
    /// Another environment.
    pub test: Dataset,
    /// Coupled pairs (X, X_cf).
    pub pairs: [Dataset; 2],
    /// Test accuracy of always answering the most frequent training target.
    pub chance: f64,
}

impl Problem {
    /// The candidate groups.
    pub fn groups(&self) -> &[Group] {
        self.lattice.groups()
    }

    /// A basis of Bt(M): all weights invariant to every group of the set.
    pub fn invariant_basis(&self, set: &GroupSet) -> Result<Vec<Vec<f64>>> {
        let dim = self.bases.dim;
        if set.is_empty() {
            return Ok((0..dim).map(|k| (0..dim).map(|i| f64::from(u8::from(i == k))).collect()).collect());
        }
        let join = Group::join("imposed", set.iter().map(|group| &self.groups()[group]))?;
        Ok(left_fixed_space(&join).iter().map(|v| v.iter().map(|x| x.to_f64().value()).collect()).collect())
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
    let inputs = Inputs::Images { channels, height, width, values: examples.inputs };
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

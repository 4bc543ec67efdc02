//! A task made concrete: data for the networks, candidate groups with their lattice, and the truth to compare with.

use invar_algebra::{Group, GroupSet, Lattice, Options, left_fixed_space};
use invar_nn::{Bases, Dataset, Inputs, Reynolds, Targets};
use invar_tasks::{Examples, Graphs, Pairs, Sequences, Split, Task};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Coupled pairs per problem, for the consistency of Definition 2.
const PAIRS: usize = 1000;
/// Pairs come from their own seed, so that they are not the test examples.
const PAIRS_SEED: u64 = 0x5eed;

/// Which data: a built-in task with its sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Sequences of numbers.
    Sequences(Sequences),
    /// Attributed graphs.
    Graphs(Graphs),
}

impl Data {
    /// A task by name, in its published sizes.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match Task::by_name(name)? {
            Task::Sequence(task) => Self::Sequences(Sequences::new(task)),
            Task::Graph(task) => Self::Graphs(Graphs::new(task)),
            Task::Image(task) => {
                let expected = "a task on sequences or graphs: training on images is not part of this version".into();
                return Err(Error::Setting { name: "task", expected, got: task.name().into() });
            }
        })
    }

    /// The task's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.name(),
            Self::Graphs(data) => data.task.name(),
        }
    }

    /// What is to be predicted.
    pub fn description(&self) -> &'static str {
        match self {
            Self::Sequences(data) => data.task.description(),
            Self::Graphs(data) => data.task.description(),
        }
    }

    /// Numbers of examples, to change.
    pub fn sizes_mut(&mut self) -> &mut invar_tasks::Sizes {
        match self {
            Self::Sequences(data) => &mut data.sizes,
            Self::Graphs(data) => &mut data.sizes,
        }
    }

    /// Draws the data and builds everything that does not depend on a network.
    pub fn problem(&self, seed: u64) -> Result<Problem> {
        let (groups, symmetry, depends) = match self {
            Self::Sequences(data) => (data.groups()?, data.symmetry(), data.depends()),
            Self::Graphs(data) => (data.groups()?, data.symmetry(), data.depends()),
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
    /// The candidates and their subspaces.
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

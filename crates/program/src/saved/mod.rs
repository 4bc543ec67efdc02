//! A trained model with everything a user needs to know about it, in one file.

mod facts;
mod file;
mod reading;

use serde_json::Value;

use invar_algebra::{Group, candidates};

use crate::certify::tied;
use crate::error::{Error, Result};
use crate::op::Op;
use crate::program::Program;
use crate::tensor::Tensor;

pub use facts::{Candidate, Member, Normalisation, Task};
pub use reading::{Reading, Told};

/// A model: the program, what its answers mean, and which symmetries it keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// The network, folded. It takes what [`Saved::normalisation`] makes of an example.
    pub program: Program,
    /// What its outputs are.
    pub task: Task,
    /// What is done to an example first.
    pub normalisation: Option<Normalisation>,
    /// The candidate symmetries as the user wrote them, with the verdict on each.
    pub candidates: Vec<Candidate>,
    /// Tells whether two models were trained on the same subspaces: [`lattice_hash`](crate::Saved::lattice_hash).
    pub lattice: Option<String>,
    /// How the training data were read; what is predicted on is read alike.
    pub reading: Reading,
    /// The version of invar that trained it.
    pub version: String,
    /// How it was trained: whatever the training wants to remember.
    pub training: Value,
}

impl Saved {
    /// A model without candidates or history.
    pub fn new(program: Program, task: Task) -> Self {
        Self {
            program,
            task,
            normalisation: None,
            candidates: Vec::new(),
            lattice: None,
            reading: Reading::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            training: Value::Null,
        }
    }

    /// Checks that program, task, normalisation and candidates fit each other.
    pub fn check(&self) -> Result<()> {
        let outputs = self.whole()?.outputs()?;
        match &self.task {
            Task::Classification { classes } if classes.len() != outputs => {
                return Err(Error::misfit("names of classes", format!("{outputs}, one per output"), classes.len()));
            }
            Task::Regression if outputs != 1 => return Err(Error::misfit("outputs of a regression", 1, outputs)),
            Task::Classification { .. } | Task::Regression => {}
        }
        if let Some(coding) = &self.reading.coding {
            let wrong = |got: String| Error::misfit("columns of the table", "those of its entries", got);
            coding.check().map_err(wrong)?;
            let (entries, width) = (self.program.input.sides().iter().product::<usize>(), coding.width());
            if entries != width || self.reading.columns.as_ref() != Some(&coding.names()) {
                return Err(wrong(format!("{width} entries of {} columns for {entries}", coding.columns.len())));
            }
        }
        if let Some(stored) = &self.reading.stored {
            let volume = |sides: &[usize]| sides.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
            let sides = self.program.input.sides();
            if volume(stored) != volume(&sides) {
                return Err(Error::misfit("shape in the files", format!("{sides:?} in another form"), format!("{stored:?}")));
            }
        }
        self.groups().map(|_| ())
    }

    /// The program with the normalisation in front: what takes examples as they come from files.
    pub fn whole(&self) -> Result<Program> {
        let mut program = self.program.clone();
        if let Some(Normalisation { mean, scale }) = &self.normalisation {
            let (mean, scale) = (Tensor::vector(mean.clone()), Tensor::vector(scale.clone()));
            program.ops.insert(0, Op::Normalise { mean, scale });
        }
        program.check()?;
        Ok(program)
    }

    /// The model with the weights that its kept symmetries make equal, but for rounding, equal to the last bit: what is written
    /// this way is proved without any tolerance.
    pub fn tied(mut self) -> Result<Self> {
        let kept: Vec<Group> = self.groups()?.into_iter().filter(|(_, member)| member.kept).map(|(group, _)| group).collect();
        let mut program = tied(self.whole()?, &kept)?;
        if self.normalisation.is_some()
            && let Op::Normalise { mean, scale } = program.ops.remove(0)
        {
            self.normalisation = Some(Normalisation { mean: mean.values, scale: scale.values });
        }
        self.program = program;
        Ok(self)
    }

    /// The candidate groups on the input of the program, each with its verdict: families such as `swaps(0)` spelled out.
    pub fn groups(&self) -> Result<Vec<(Group, &Member)>> {
        let shape = self.program.input.shape()?;
        let mut all = Vec::new();
        for candidate in &self.candidates {
            let groups = candidates(&shape, [candidate.written.as_str()])?;
            let names = |names: Vec<&str>| names.join(", ");
            let (found, stated): (Vec<&str>, Vec<&str>) =
                (groups.iter().map(Group::name).collect(), candidate.members.iter().map(|m| m.name.as_str()).collect());
            if found != stated {
                return Err(Error::misfit("groups of a candidate", names(found), names(stated)));
            }
            all.extend(groups.into_iter().zip(&candidate.members));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests;

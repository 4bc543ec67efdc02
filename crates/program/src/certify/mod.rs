//! Proofs that a program is invariant to a group, from its weights alone.
//!
//! A generator g moves the entries of the input. The walk keeps track of what that does to the values between operations: a
//! permutation P of their entries, possibly with changes of sign. An operation A lets it through when A P = Q A for another
//! such Q, which is found by comparing weights; behind the last operation nothing may move. What holds for the generators
//! holds for every element, so groups of any size are proved without being enumerated.
//!
//! The proof is sufficient, not necessary: a program can be invariant for reasons that no single operation shows, such as two
//! layers whose asymmetries cancel. Then the walk ends at the first operation that does not follow, and only the
//! [`numeric`] check can tell more. Weights are floating-point numbers: they count as equal when they differ by at most
//! [`TOLERANCE`] of the largest weight of their operation, and the certificate states the largest difference met.

mod conv;
mod matching;
mod matrix;
mod moves;
pub mod numeric;
mod orbit;
mod reduce;
mod walk;

use std::fmt;

use invar_algebra::{Action, Group};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::program::Program;

/// Weights count as equal when they differ by at most this part of the largest weight of their operation.
pub const TOLERANCE: f64 = 1e-5;

/// What was found about one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Its name.
    pub group: String,
    /// One proof per generator; none when the group is trivial.
    pub generators: Vec<Proof>,
}

/// What was found about one generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// What it does to the input, in words.
    pub generator: String,
    /// How the operations follow it, one after the other.
    pub steps: Vec<Step>,
    /// Where the proof ends too early; nothing when the program is invariant.
    pub broken: Option<Broken>,
    /// The largest difference between weights that should be equal, as a part of the largest weight of their operation.
    pub largest_difference: f64,
}

/// How one operation follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number, from 0.
    pub op: usize,
    /// Its kind.
    pub name: String,
    /// What it lets through.
    pub how: String,
}

/// The first operation that does not follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Broken {
    /// Its number, from 0.
    pub op: usize,
    /// Its kind.
    pub name: String,
    /// The condition it does not meet.
    pub reason: String,
}

/// Proves that a program is invariant to a group that acts on its input, or finds the first operation that breaks it.
pub fn certify(program: &Program, group: &Group) -> Result<Certificate> {
    let shape = program.input.shape()?;
    if *group.shape() != shape {
        return Err(Error::misfit("shape that the group acts on", shape, group.shape()));
    }
    let shapes = program.shapes()?;
    let prove =
        |generator: &Action| Ok(Proof { generator: group.describe(generator), ..walk::walk(program, &shapes, generator)? });
    let generators = group.generators().iter().map(prove).collect::<Result<_>>()?;
    Ok(Certificate { group: group.name().to_owned(), generators })
}

impl Certificate {
    /// Whether the program is invariant to every generator, and so to the group.
    pub fn is_proved(&self) -> bool {
        self.generators.iter().all(Proof::is_proved)
    }

    /// The first operation that breaks a generator.
    pub fn broken(&self) -> Option<&Broken> {
        self.generators.iter().find_map(|proof| proof.broken.as_ref())
    }

    /// The largest difference between weights that should be equal, over all generators.
    pub fn largest_difference(&self) -> f64 {
        self.generators.iter().map(|proof| proof.largest_difference).fold(0.0, f64::max)
    }
}

impl Proof {
    /// Whether the program is invariant to the generator.
    pub fn is_proved(&self) -> bool {
        self.broken.is_none()
    }
}

/// One line: the verdict, and what it rests on.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.broken() {
            Some(Broken { op, name, reason }) => write!(f, "{}: not proved, operation {op} ({name}): {reason}", self.group),
            None if self.generators.is_empty() => write!(f, "{}: proved, it changes nothing", self.group),
            None => {
                write!(
                    f,
                    "{}: proved, weights that should be equal differ by {:.0e} at most",
                    self.group,
                    self.largest_difference()
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;

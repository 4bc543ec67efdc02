//! Proofs that a program is invariant to a group, from its weights alone.
//!
//! A generator g moves the entries of the input. The walk keeps track of what that does to the values between operations: a
//! permutation P of their entries, possibly with changes of sign. An operation A lets it through when A P = Q A for another
//! such Q, which is found by comparing weights; behind the last operation nothing may move. What holds for the generators
//! holds for every element, so groups of any size are proved without being enumerated.
//!
//! A proof is about the program in real arithmetic, with the weights as they are, and weights are equal when they are equal to the
//! last bit. Models written by invar are: [`tied`] sees to it. Where weights differ, the differences are carried to the outputs:
//! the program is invariant [`Within`] a bound on a stated range of inputs, or not proved when the bound is not small.
//!
//! The proof is sufficient, not necessary: a program can be invariant for reasons that no single operation shows, such as two
//! layers whose asymmetries cancel. Then the walk ends at the first operation that does not follow, and only the
//! [`numeric`] check can tell more.

mod ball;
mod conv;
mod cost;
mod links;
mod matching;
mod matrix;
mod moves;
pub mod numeric;
mod orbit;
mod range;
mod reduce;
mod search;
mod tie;
pub mod tolerance;
mod walk;
mod within;

use std::fmt;

use invar_algebra::{Action, Group};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::program::Program;
pub use cost::{certificate_cost, cost};
pub use range::Range;
pub use tie::tied;
use tolerance::NEAR;
use within::Spread;

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
    /// What the proof leaves open: nothing when the weights that should be equal are equal to the last bit.
    pub within: Option<Within>,
}

/// A bound of what a generator changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Within {
    /// No output changes by more.
    pub change: f64,
    /// The same as a part of what the output runs through on random inputs, or what it and another are apart.
    pub share: f64,
    /// For these inputs.
    pub range: Range,
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

/// Proves that a program is invariant to a group that acts on its input, or finds the first operation that breaks it. A bound, where
/// one is needed, is stated for the usual inputs.
pub fn certify(program: &Program, group: &Group) -> Result<Certificate> {
    certify_on(program, group, Range::of(program, &[]))
}

/// The same with a bound for a range of inputs.
pub fn certify_on(program: &Program, group: &Group, range: Range) -> Result<Certificate> {
    let shape = program.input.shape()?;
    if *group.shape() != shape {
        return Err(Error::misfit("shape that the group acts on", shape, group.shape()));
    }
    let shapes = program.shapes()?;
    let mut spread = None;
    let mut generators = Vec::new();
    for generator in group.generators() {
        let proof = prove(program, &shapes, generator, range, &mut spread)?;
        generators.push(Proof { generator: group.describe(generator), ..proof });
    }
    Ok(Certificate { group: group.name().to_owned(), generators })
}

/// One generator; the caller adds what it is called. `spread` is found when it is needed first.
fn prove(
    program: &Program,
    shapes: &[Vec<usize>],
    generator: &Action,
    range: Range,
    spread: &mut Option<Spread>,
) -> Result<Proof> {
    let (way, mut broken) = walk::walk(program, shapes, generator, NEAR)?;
    let mut within = None;
    let inexact = way.traces.iter().enumerate().filter(|(_, trace)| !trace.is_exact());
    if let (None, Some((op, trace))) = (&broken, inexact.max_by(|(_, a), (_, b)| a.share().total_cmp(&b.share()))) {
        let change = within::carried(program, &range, &way.traces)?;
        let spread = match spread {
            Some(spread) => spread,
            None => spread.insert(Spread::of(program, &range)?),
        };
        match spread.within(&change, range) {
            Ok(bound) => within = Some(bound),
            Err(reason) => {
                let reason = format!("weights that should be equal differ by {:.0e} of the largest: {reason}", trace.share());
                broken = Some(Broken { op, name: program.ops[op].name().to_owned(), reason });
            }
        }
    }
    Ok(Proof { generator: String::new(), steps: way.steps, broken, within })
}

impl Certificate {
    /// Whether the program is invariant to every generator, and so to the group, exactly or within a bound.
    pub fn is_proved(&self) -> bool {
        self.generators.iter().all(|proof| proof.broken.is_none())
    }

    /// Whether it is, and exactly: in real arithmetic no output changes at all.
    pub fn is_exact(&self) -> bool {
        self.is_proved() && self.within().is_none()
    }

    /// The first operation that breaks a generator.
    pub fn broken(&self) -> Option<&Broken> {
        self.generators.iter().find_map(|proof| proof.broken.as_ref())
    }

    /// The largest bound of a generator.
    pub fn within(&self) -> Option<&Within> {
        self.generators.iter().filter_map(Proof::within).max_by(|a, b| a.change.total_cmp(&b.change))
    }
}

impl Proof {
    /// Its bound, where it needs one.
    pub fn within(&self) -> Option<&Within> {
        self.within.as_ref()
    }
}

/// On what inputs an output changes by how much at most.
impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "within {:.1e} on {}", self.change, self.range)
    }
}

/// One line: the verdict, and what it rests on.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.broken(), self.within()) {
            (Some(Broken { op, name, reason }), _) => write!(f, "{}: not proved, operation {op} ({name}): {reason}", self.group),
            (None, _) if self.generators.is_empty() => write!(f, "{}: proved, it changes nothing", self.group),
            (None, None) => write!(f, "{}: proved, weights that should be equal are equal to the last bit", self.group),
            (None, Some(within)) => write!(f, "{}: proved {within}, for each generator", self.group),
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod within_tests;

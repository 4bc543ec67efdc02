//! The inputs that a bound is stated for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ball::Balls;
use super::numeric::Domain;
use super::tolerance::{NORMALISED_RANGE, RANGE};
use crate::Input;
use crate::op::Op;
use crate::program::Program;

/// A set of inputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Range {
    /// Every sequence of tokens.
    Tokens,
    /// Every entry from -`up_to` to `up_to`.
    Inputs {
        /// The largest magnitude.
        up_to: f64,
    },
    /// Every entry, normalised as the program begins, from -`up_to` to `up_to`.
    Normalised {
        /// The largest magnitude.
        up_to: f64,
    },
}

impl Range {
    /// The usual inputs of a program, and all of these examples.
    pub fn of(program: &Program, examples: &[f32]) -> Self {
        match (&program.input, program.ops.first()) {
            (Input::Tokens { .. }, _) => Self::Tokens,
            (Input::Array { .. }, Some(Op::Normalise { mean, scale })) => {
                let (entries, each) = (program.inputs(), program.inputs() / mean.values.len());
                let size = |(i, &x): (usize, &f32)| {
                    let at = i % entries / each;
                    ((f64::from(x) - f64::from(mean.values[at])) * f64::from(scale.values[at])).abs()
                };
                Self::Normalised { up_to: examples.iter().enumerate().map(size).fold(NORMALISED_RANGE, f64::max) }
            }
            _ => Self::Inputs { up_to: examples.iter().map(|&x| f64::from(x.abs())).fold(RANGE, f64::max) },
        }
    }

    /// All of them as one box; every token for tokens.
    pub(super) fn balls(&self, program: &Program) -> Balls {
        match self.domain(program) {
            Domain::Tokens { vocabulary, length } => {
                let middle = (vocabulary as f64 - 1.0) / 2.0;
                (0..length).map(|_| (middle, middle)).collect()
            }
            Domain::Numbers { middle, reach, .. } => middle.into_iter().zip(reach).collect(),
        }
    }

    /// The same to draw from.
    pub(super) fn domain(&self, program: &Program) -> Domain {
        let entries = program.inputs();
        match (self, program.ops.first()) {
            (Self::Normalised { up_to }, Some(Op::Normalise { mean, scale })) => {
                let each = entries / mean.values.len();
                let middle = (0..entries).map(|i| f64::from(mean.values[i / each])).collect();
                // An entry that is multiplied with zero may be anything.
                let scale = |i: usize| f64::from(scale.values[i / each].abs());
                let reach = |i: usize| if scale(i) > 0.0 { up_to / scale(i) } else { *up_to };
                Domain::Numbers { middle, reach: (0..entries).map(reach).collect(), positive: false }
            }
            (Self::Inputs { up_to } | Self::Normalised { up_to }, _) => Domain::Numbers {
                middle: vec![0.0; entries],
                reach: vec![*up_to; entries],
                positive: matches!(program.input, Input::Images { .. }),
            },
            (Self::Tokens, _) => Domain::Tokens { vocabulary: program.input.vocabulary().unwrap_or(1), length: entries },
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens => write!(f, "all tokens"),
            Self::Inputs { up_to } => write!(f, "inputs up to {up_to}"),
            Self::Normalised { up_to } => write!(f, "normalised inputs up to {up_to}"),
        }
    }
}

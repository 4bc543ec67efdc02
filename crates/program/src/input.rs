//! What a program takes.

use invar_algebra::Shape;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// One example. Groups act on [`Input::shape`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Input {
    /// A sequence of whole numbers; groups act on its positions.
    Tokens {
        /// Positions.
        length: usize,
        /// Number of distinct tokens; the largest is one less.
        vocabulary: usize,
    },
    /// Real numbers.
    Array {
        /// The shape of one example.
        shape: Vec<usize>,
    },
    /// An image, values from 0 to 1, channel by channel and row by row.
    Images {
        /// Colours per pixel.
        channels: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
}

impl Input {
    /// The sides of one example.
    pub fn sides(&self) -> Vec<usize> {
        match self {
            Self::Tokens { length, .. } => vec![*length],
            Self::Array { shape } => shape.clone(),
            Self::Images { channels, height, width } => vec![*channels, *height, *width],
        }
    }

    /// The shape that groups act on; an error when a side is 0 or the whole too large.
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(&self.sides())?)
    }

    /// Number of distinct tokens, of sequences.
    pub fn vocabulary(&self) -> Option<usize> {
        match self {
            Self::Tokens { vocabulary, .. } => Some(*vocabulary),
            Self::Array { .. } | Self::Images { .. } => None,
        }
    }

    /// In one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tokens { .. } => "tokens",
            Self::Array { .. } => "arrays",
            Self::Images { .. } => "images",
        }
    }
}

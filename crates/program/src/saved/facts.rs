//! What is known about a model besides its weights.

use serde::{Deserialize, Serialize};

/// What the outputs of a model are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    /// One score per class; softmax makes probabilities of them.
    Classification {
        /// The names of the classes, in the order of the outputs.
        classes: Vec<String>,
    },
    /// One number.
    Regression,
}

/// (x - mean) * scale, done to an example before the program: one number for all entries, or one per index of the first axis
/// (the channels of an image), or one per entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalisation {
    /// Subtracted.
    pub mean: Vec<f32>,
    /// Multiplied with; as many as of `mean`.
    pub scale: Vec<f32>,
}

/// A candidate symmetry as the user wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The shorthand, with its name if it has one: `rot=rot90(1,2)`.
    pub written: String,
    /// The verdict on each group it stands for: one, or many for a family such as `swaps(0)`.
    pub members: Vec<Member>,
}

/// The verdict on one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The name of the group, as [`invar_algebra::candidates`] gives it.
    pub name: String,
    /// Whether the model keeps it.
    pub kept: bool,
    /// Why, in words.
    pub verdict: String,
    /// What keeping it costs, if that was measured: points of accuracy, or of loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

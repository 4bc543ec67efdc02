//! Data whose symmetries are known: the structural causal model of the paper, and the tasks made with it.
//!
//! Base examples pass through the causal model ([`Causal`]), which moves them by groups that matter to the label and by
//! groups that do not; a task adds the base examples, the label and its true symmetry. Every function that draws takes
//! a seed, and the same seed gives the same data on every machine.

#![allow(clippy::float_cmp, reason = "targets are whole numbers or classes, exact in f32, and compared as such")]

// What can be wrong, where randomness comes from.
mod error;
mod random;

// Examples, and the causal model that moves them.
mod entry;
mod examples;
mod partition;

mod causal;

// Tasks: what is computed, then the data for it.
mod sizes;

mod sequence_task;
mod sequences;

mod graph_task;
mod graphs;

mod array_task;
mod arrays;

// Digits: how they are packed, where they come from.
mod bit_coder;
mod mnist;

mod image_task;
mod images;

// The counterexamples to "invariant is enough".
mod figures;

mod task;

pub use array_task::ArrayTask;
pub use arrays::Arrays;
pub use causal::{Base, Causal, Composition, Draw, Generated, NotNormal};
pub use entry::Entry;
pub use error::{Error, Result};
pub use examples::{Chance, Examples, Pairs, Split, consistency};
pub use figures::Figures;
pub use graph_task::GraphTask;
pub use graphs::Graphs;
pub use image_task::{ImageGroup, ImageTask, Invariant};
pub use images::{Environments, Images};
pub use mnist::{Digits, Mnist, SIDE};
pub use partition::Partition;
pub use sequence_task::{Arrangement, SequenceTask};
pub use sequences::{Labels, Sequences, TestOrder};
pub use sizes::Sizes;
pub use task::Task;

//! From the user's files to a trained model.
//!
//! [`Project`] (what `invar.toml` says) -> [`Loaded`] (the data and the groups, read and split) -> [`Findings`] (what there is to
//! know before training) -> a problem with [`Scaling`] -> fits -> a run. [`sketch`] writes a first project file.

mod file;
mod read;

mod load;

mod prepare;
mod scaling;

mod check;
mod sketch;

pub use check::{CandidateFinding, Finding, Findings, NormalityFinding, Severity, SplitFinding};
pub use file::{
    DataSection, Files, Goal, Learner, ModelKind, ModelSection, Project, SymmetrySection, TaskSection, TrainSection, Validation,
};
pub use load::{Architecture, Loaded};
pub use prepare::Prepared;
pub use scaling::{Scaling, TargetScaling};
pub use sketch::{Sketch, sketch};

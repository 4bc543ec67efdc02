//! From a source of data, the user's files or a built-in task, to a trained model.
//!
//! [`Project`] (what `invar.toml` says) -> [`Loaded`] (the data and the groups, read and split) -> [`Findings`] (what there is to
//! know before training) -> [`Prepared`] (a problem, scaled) -> [`train()`]: fits, each a model file of its own -> a [`Run`], with
//! everything that a [report](crate::report) needs. [`sketch()`] writes a first project file.

mod file;
mod overrides;
mod read;

mod built_in;
mod load;

mod columns;
mod families;
mod names;

mod prepare;

mod check;
mod plausible;
mod sketch;

mod bundle;
mod exact;
mod fits;
mod grid;

mod examples;
mod judge;

mod run;
mod train;

pub use built_in::Known;
pub use check::{CandidateFinding, Finding, Findings, NormalityFinding, Severity, SplitFinding};
pub use examples::{Picture, Shown, Version};
pub use file::{
    DataSection, EvidenceFor, Files, Goal, Learner, ModelKind, ModelSection, Penalty, Project, SymmetrySection, TaskSection,
    TrainSection, Validation,
};
pub use fits::{Event, RunOptions};
pub use judge::PartScore;
pub use load::{Architecture, Loaded};
pub use overrides::{Setting, write_into};
pub use prepare::Prepared;
pub use run::{Curve, KeptGroupFacts, MODEL, ModelLine, RECORDS, RUN, Run, SCREENS, Subspaces};
pub use sketch::{Sketch, Suggestion, sketch, suggest};
pub use toml::Value;
pub use train::train;

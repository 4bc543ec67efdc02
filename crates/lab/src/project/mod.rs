//! From the user's files to a trained model.
//!
//! [`Project`] (what `invar.toml` says) -> [`Loaded`] (the data and the groups, read and split) -> [`Findings`] (what there is to
//! know before training) -> [`Prepared`] (a problem, scaled) -> [`train()`]: fits, each a model file of its own -> a [`Run`], with
//! everything that a [report](crate::report) needs. [`sketch()`] writes a first project file.

mod file;
mod overrides;
mod read;

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

mod examples;
mod judge;

mod run;
mod train;

pub use check::{CandidateFinding, Finding, Findings, NormalityFinding, Severity, SplitFinding};
pub use examples::{Picture, Shown, Version};
pub use file::{
    DataSection, Files, Goal, Learner, ModelKind, ModelSection, Project, SymmetrySection, TaskSection, TrainSection, Validation,
};
pub use fits::{Heard, How};
pub use judge::PartScore;
pub use load::{Architecture, Loaded};
pub use overrides::{Setting, write_into};
pub use prepare::Prepared;
pub use run::{Curve, FitLine, KeptGroupFacts, MODEL, RECORDS, RUN, Run, SCREENS};
pub use sketch::{Sketch, sketch};
pub use train::train;

//! Learners, experiments, records and reports: where networks meet tasks.
//!
//! Flow: [`problem`] (a task made concrete) -> [`fit`] (one network on it, built by [`networks`]) -> [`record`] (one line per
//! fit) -> [`cgreg`] or [`screen`] (which fit to believe) -> [`reproduce`] (the paper's tables) -> [`table`] and [`diagram`]
//! (what people look at).

mod error;
pub mod files;
mod guess;
pub mod queue;
pub mod stats;

pub mod scaling;

pub mod problem;

pub mod identity;
pub mod record;

pub mod fit;
pub mod networks;
pub(crate) mod on_points;

pub mod cgreg;
pub mod screen;
pub mod symmetry;

pub mod project;
pub mod report;

pub mod reproduce;
pub mod speed;
pub mod sweep;

pub mod diagram;
pub mod table;

pub use error::{Error, Result};

//! Sweeps: many fits that do not depend on each other, run by any number of workers on any number of machines that share a folder.
//!
//! Flow: [`Sweep::plan`] writes down what there is to do -> [`run`] is a worker: it claims fits ([`claims`]), runs them, and puts one
//! record each into the folder -> [`Sweep::gather`] moves records into the file that tables are made from. [`slurm`] makes workers of
//! the tasks of an array.
//!
//! ```text
//! FOLDER/sweep.json      what there is to do
//! FOLDER/claims/ID.0     who works on a fit, or what became of it; ID.1 if it had to be begun again
//! FOLDER/done/ID.json    its record
//! FOLDER/fits/           what screens have fitted so far
//! ```

mod board;
pub mod claims;
pub mod cost;
mod gather;
mod plan;
pub mod slurm;
mod work;
mod worker;

pub use gather::{Counts, Gathered, Standing};
pub use plan::{Job, Sweep};
pub use work::Work;
pub use worker::{Event, Options, Summary, run};

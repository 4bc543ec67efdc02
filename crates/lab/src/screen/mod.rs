//! The learner `screen`: the paper's hypothesis made direct. A symmetry is kept unless imposing it exactly costs accuracy on held-out
//! examples of the training environment.
//!
//! [`Fitter`] (what can be fitted under constraints, such as networks) -> search (the largest set that fits, on examples that select)
//! -> [`decide()`] (what of it is kept, on examples that selected nothing, by one [`Rule`]) -> [`ScreenRecord`].

mod cost;
mod fitter;
mod measure;
mod rule;

mod trials;

mod search;

mod decide;

mod rates;
mod simulated;

mod config;
mod facts;
mod folds;
mod kinds;
mod memory;
mod networks;

mod augment;
mod record;
mod task;

pub(crate) use config::check_folds;
pub use config::{ScreenConfig, Settings};
pub use cost::{Cost, LEVEL, PerExample, Scores, holm};
pub use decide::{Asked, Decision, Finding, Question, Tested, decide};
pub(crate) use facts::blocks;
pub use facts::{Facts, Normality};
pub use fitter::{Exchange, Fitted, Fitter, Request};
pub use measure::{Measure, r_squared};
pub use memory::Memory;
pub use networks::{Kind, Trained};
pub use rates::{Costs, Rates};
pub use record::{Augmented, ModelRow, Role, ScreenRecord, TriedNetwork};
pub use rule::{Rule, Verdict};
pub use task::{Progress, Screened};
pub use trials::Run;

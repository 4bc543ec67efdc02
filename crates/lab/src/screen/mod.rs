//! The learner `screen`: the same hypothesis as the paper's, made direct. A symmetry is kept unless imposing it costs validation
//! score; what was kept, tolerated or given up comes with its cost, an interval and a test.
//!
//! [`evidence`](Cost) (what a fit says) -> [`Rule`] (when a cost is too high) -> [`choose`] (which candidates together) ->
//! [`Screen`] (the five steps) on anything that can be fitted ([`Fitter`]), such as [`Networks`] -> [`ScreenRecord`].

mod choose;
mod decide;
mod decision;
mod evidence;
mod fitter;
mod memory;
mod networks;
mod rule;
mod trial;
mod watch;

mod config;
mod facts;
mod record;
mod task;

pub use choose::{Choice, Closure, Dropped, Joint, Known, Single, Stake, Threshold, by_tolerance, choose};
pub use config::{ScreenConfig, Settings};
pub use decide::Screen;
pub use decision::{Course, Decision, Outlook, Refits, Run, Stage, Together};
pub use evidence::{Cost, PerExample, Scores, detectable, holm, p_in_words};
pub(crate) use facts::blocks;
pub use facts::{Facts, Normality};
pub use fitter::{Begin, Effort, Ending, Fitted, Fitter, Limits, Request, Watch};
pub use memory::Memory;
pub use networks::{Measure, Networks, Trained};
pub use record::{Answer, Comparison, HeadResult, Joined, ScreenRecord, StartResult, cost_over_seeds};
pub use rule::{Finding, Rule};
pub(crate) use task::NOTHING_IMPOSED;
pub use task::{Progress, Screened};
pub use trial::{Evidence, Start, Trial, Verdict};

//! The paper's tables, regenerated: which fits they need, and how records become tables.

mod appendix_a;
mod budget;
mod errors;
mod experiment;
mod images;
mod lift;
mod pace;
mod printed;
mod screen;
mod screening;
mod sequences;
mod together;

pub use appendix_a::appendix_a;
pub use budget::Budget;
pub use errors::rule_errors;
pub use experiment::{Cell, Experiment, Only, Part, first_fits, missing, missing_fits, remaining_fits, run};
pub use images::ImageTables;
pub use lift::LiftTables;
pub use pace::Pace;
pub use screen::{Field, ScreenTables};
pub use screening::Screening;
pub use sequences::SequenceTables;
pub use together::{Learner, Recordings, ablation, table1};

use invar_nn::End;

use crate::error::{Error, Result};
use crate::fit::FitConfig;
use crate::queue::{self, Stop};
use crate::record::{Metrics, Record, Records};

/// How figures are to be read.
fn figures_note(repeats: &str) -> String {
    format!("Mean ± half width of the 95 % interval over {repeats}, in percent; the paper's figure beside ours.")
}

/// Seeds 0 to the last.
fn seeds(count: u64) -> String {
    if count == 1 { "seed 0".into() } else { format!("seeds 0 to {}", count - 1) }
}

/// Runs every fit that is not recorded yet, in parallel, and records each as it ends. Stops early when asked.
///
/// `progress` hears of every fit that has ended: how many are done, of how many.
pub(crate) fn run_missing(
    configs: &[FitConfig],
    records: &mut Records,
    threads: usize,
    stop: &Stop,
    mut progress: impl FnMut(usize, usize, &Record),
) -> Result<()> {
    let missing: Vec<&FitConfig> = configs.iter().filter(|config| records.find(config).is_none()).collect();
    let mut done = configs.len() - missing.len();
    queue::run(
        &missing,
        threads,
        stop,
        |config| run_one(config, stop),
        |_, outcome| {
            // A fit that was stopped is run again next time.
            if matches!(outcome, Err(Error::Stopped)) {
                return Ok(());
            }
            let record = outcome?;
            done += 1;
            progress(done, configs.len(), &record);
            records.add(record)
        },
    )
}

/// One fit, from its configuration to its record.
pub(crate) fn run_one(config: &FitConfig, stop: &Stop) -> Result<Record> {
    let problem = config.data.problem(config.seed)?;
    match config.run_unless(&problem, stop, |_| ()) {
        Err(Error::Network(invar_nn::Error::Diverged { .. })) => Ok(diverged(config, problem.chance)),
        outcome => Ok(outcome?.record),
    }
}

/// A fit whose loss left the numbers answers nothing, and says so in its record.
pub(crate) fn diverged(config: &FitConfig, chance: f64) -> Record {
    let nothing = Metrics { loss: f64::MAX, accuracy: 0.0 };
    Record {
        config: config.clone(),
        parameters: 0,
        epochs: 0,
        best_epoch: 0,
        end: End::Diverged,
        seconds: 0.0,
        validation: nothing,
        extrapolation: Some(nothing),
        consistency: None,
        chance,
        layer: None,
        curve: Vec::new(),
    }
}

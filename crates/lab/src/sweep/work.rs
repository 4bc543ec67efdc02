//! What one entry of a sweep is, and how it is run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fit::{FitConfig, Method};
use crate::identity::identity;
use crate::queue::Stop;
use crate::record::Recorded;
use crate::reproduce::{self, Screening};

/// One entry, with everything that decides it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A fit.
    Fit(Box<FitConfig>),
    /// A screen, which is many fits.
    Screen(Screening),
}

/// What came of it.
pub(super) struct Finished {
    /// Its record, as one line of JSON.
    pub(super) record: Vec<u8>,
    /// What it is worth, for people.
    pub(super) told: String,
    /// What is to be removed once the record is there.
    pub(super) memory: Option<crate::screen::Memory>,
}

impl Work {
    /// The first digits of the digest of what decides it.
    pub fn id(&self) -> Result<String> {
        Ok(match self {
            Self::Fit(config) => identity(config)?,
            Self::Screen(screening) => identity(screening)?,
        }
        .short())
    }

    /// In words.
    pub fn name(&self) -> String {
        match self {
            Self::Fit(config) => {
                let lambda = if config.method == Method::Cgreg { format!(", lambda {}", config.lambda) } else { String::new() };
                let schedule = config.schedule.in_words();
                let (title, row, repeat) = (config.method.title(), config.data.row(), config.repeat());
                format!("{title} on {row}{lambda}, {schedule} rate {}, repeat {repeat}", config.learning_rate)
            }
            Self::Screen(screening) => format!("screen of {}, repeat {}", screening.data.row(), screening.repeat()),
        }
    }

    /// Runs it; `folder` keeps what is worth keeping of one that is cut short.
    pub(super) fn run(&self, folder: &Path, stop: &Stop) -> Result<Finished> {
        match self {
            Self::Fit(config) => {
                let record = reproduce::run_one(config, stop)?;
                let accuracy = 100.0 * record.extrapolation_accuracy();
                Ok(Finished { record: line(&record)?, told: format!("{accuracy:.1} % in the other environment"), memory: None })
            }
            Self::Screen(screening) => {
                let (record, memory) = screening.run(folder, stop)?;
                let told = format!("kept {}", record.facts.label);
                Ok(Finished { record: line(&record)?, told, memory: Some(memory) })
            }
        }
    }
}

fn line(record: &impl Recorded) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record).map_err(|error| Error::Setting {
        name: "record",
        expected: "one that can be written down".into(),
        got: error.to_string(),
    })?;
    line.push(b'\n');
    Ok(line)
}

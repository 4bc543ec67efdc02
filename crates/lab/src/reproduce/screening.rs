//! One screen of the tables, on its own.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::screen::ScreenTables;
use crate::error::Result;
use crate::problem::Data;
use crate::queue::Stop;
use crate::screen::{Memory, ScreenRecord};

/// Which screen of which tables. Its configuration depends on its data, which are only drawn when it is run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    /// The tables.
    pub tables: ScreenTables,
    /// The seed; of images the fold, which is in the data, too.
    pub seed: u64,
    /// The task.
    pub data: Data,
}

impl Screening {
    /// The seed, or the fold of images.
    pub fn repeat(&self) -> u64 {
        match self.data {
            Data::Images(images) => images.fold as u64,
            _ => self.seed,
        }
    }

    /// Runs it on one core. What it has fitted stays in the folder until it is told to forget it, so that it can go on after a stop.
    pub(crate) fn run(&self, folder: &Path, stop: &Stop) -> Result<(ScreenRecord, Memory)> {
        self.tables.one((self.seed, self.data), folder, 1, stop, &|_| ())
    }
}

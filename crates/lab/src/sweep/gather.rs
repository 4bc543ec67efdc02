//! What a sweep has come to: counts of its fits, and its records in one file.

use std::path::Path;

use super::claims::{Claims, State};
use super::plan::{Job, Sweep};
use super::work::Work;
use crate::error::{Error, Result};
use crate::record::{Record, Recorded, Records};
use crate::screen::ScreenRecord;

/// Where a fit stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// There is a record.
    Done,
    /// Somebody has claimed it, and works on it or was lost.
    Claimed(String),
    /// It ended with this error.
    Failed(String),
    /// Nobody has begun it, or whoever did has given it back.
    Open,
}

/// How many fits stand where.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// With a record.
    pub done: usize,
    /// Claimed.
    pub claimed: usize,
    /// Failed.
    pub failed: usize,
    /// Open.
    pub open: usize,
}

impl Counts {
    /// Of these.
    pub fn of<'a>(standings: impl IntoIterator<Item = &'a Standing>) -> Self {
        let mut counts = Self::default();
        for standing in standings {
            *match standing {
                Standing::Done => &mut counts.done,
                Standing::Claimed(_) => &mut counts.claimed,
                Standing::Failed(_) => &mut counts.failed,
                Standing::Open => &mut counts.open,
            } += 1;
        }
        counts
    }
}

/// What gathering has found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Gathered {
    /// Records that were added to the file.
    pub added: usize,
    /// Those that were in it already.
    pub known: usize,
    /// Fits without a record.
    pub missing: usize,
}

impl Sweep {
    /// Where every fit stands, in the order of the plan.
    pub fn standings(&self) -> Result<Vec<Standing>> {
        let claims = Claims::open(&self.claims(), None)?;
        let standing = |job: &Job| {
            if self.record(job).exists() {
                return Ok(Standing::Done);
            }
            let note = claims.last(&job.id, None)?.and_then(|turn| turn.note);
            Ok(match note.map(|note| (note.state, note.worker)) {
                Some((State::Working, worker)) => Standing::Claimed(worker),
                Some((State::Failed(error), _)) => Standing::Failed(error),
                // Its record was moved away: nobody would make it again.
                Some((State::Finished, worker)) => {
                    let problem = format!("{worker} says that it is finished, but its record is not there");
                    return Err(Error::Sweep { path: self.record(job), problem });
                }
                Some((State::Released, _)) | None => Standing::Open,
            })
        };
        self.jobs.iter().map(standing).collect()
    }

    /// Adds records to the file that tables are made from, in the order of the plan, each once.
    pub fn gather(&self, results: &Path) -> Result<Gathered> {
        let path = results.join(format!("{}.jsonl", self.records));
        match self.jobs.first().map(|job| &job.work) {
            None => Ok(Gathered::default()),
            Some(Work::Fit(_)) => self.gather_as::<Record>(&path),
            Some(Work::Screen(_)) => self.gather_as::<ScreenRecord>(&path),
        }
    }

    fn gather_as<R: Recorded>(&self, path: &Path) -> Result<Gathered> {
        let mut records: Records<R> = Records::open(path)?;
        let mut gathered = Gathered::default();
        for job in &self.jobs {
            let path = self.record(job);
            if !path.exists() {
                gathered.missing += 1;
                continue;
            }
            let [record] = <[R; 1]>::try_from(Records::read(&path)?).map_err(|all| Error::Sweep {
                path: path.clone(),
                problem: format!("one record was expected, but it holds {}", all.len()),
            })?;
            if records.find(record.config()).is_some() {
                gathered.known += 1;
            } else {
                records.add(record)?;
                gathered.added += 1;
            }
        }
        Ok(gathered)
    }
}

//! A worker: claims fits, runs them, and puts their records into the folder of the sweep.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::board::{Board, Next};
use super::claims::{Claim, Claims, Seat, State, Watch, create_once};
use super::plan::{Job, Sweep};
use super::work::Finished;
use crate::error::{Error, Result};
use crate::queue::{self, Stop};

/// Beats within a lease: some may be late.
const BEATS: u32 = 4;
/// How soon a fit hears of a stop.
const TICK: Duration = Duration::from_millis(100);

/// How a worker works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Fits at once.
    pub threads: usize,
    /// How long a worker may be silent until others take it for lost.
    pub lease: Duration,
    /// Whether fits that have failed are begun again.
    pub retry_failed: bool,
    /// The place of the worker, where places are given out.
    pub seat: Option<Seat>,
}

/// What a listener hears.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A fit begins.
    Began(&'a Job),
    /// It has a record, which says this.
    Finished(&'a Job, &'a str),
    /// It ended with an error.
    Failed(&'a Job, &'a str),
    /// Others were quicker, after this worker was slow for a whole lease.
    Lost(&'a Job),
}

/// What a worker leaves behind.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Summary {
    /// Fits that this worker has finished.
    pub finished: usize,
    /// Of the fits that it was to see to, those that have a record.
    pub done: usize,
    /// Of these, the names and errors of those that have failed.
    pub failed: Vec<(String, String)>,
    /// How many it was to see to.
    pub of: usize,
}

/// Works until each of these fits, given by their places, has a record or has failed, or until a stop is asked for. Fits whose workers
/// are lost are taken over.
pub fn run(
    sweep: &Sweep,
    jobs: Vec<usize>,
    options: &Options,
    stop: &Stop,
    listen: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Summary> {
    let of = jobs.len();
    let claims = Claims::open(&sweep.claims(), options.seat.clone())?;
    let board = Board::new(sweep, &claims, Watch::new(options.lease), jobs, options.retry_failed)?;
    let worker = Worker { sweep, options, stop, listen, board: Mutex::new(board) };
    let crew: Vec<usize> = (0..options.threads.max(1)).collect();
    let mut finished = 0;
    let mut outcome = Ok(());
    queue::run(
        &crew,
        crew.len(),
        stop,
        |_| worker.work(),
        |_, done| -> std::result::Result<(), ()> {
            match done {
                Ok(count) => finished += count,
                // The others go on: an error of one, such as a full disk, is told when they have ended.
                Err(error) => outcome = Err(error),
            }
            Ok(())
        },
    )
    .unwrap_or(());
    outcome?;
    let board = worker.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed = board.failed.into_iter().map(|(job, error)| (sweep.jobs[job].id.clone(), error)).collect();
    Ok(Summary { finished, done: board.done + finished, failed, of })
}

struct Worker<'a> {
    sweep: &'a Sweep,
    options: &'a Options,
    stop: &'a Stop,
    listen: &'a (dyn Fn(Event<'_>) + Sync),
    board: Mutex<Board<'a>>,
}

/// How a fit ended.
enum End {
    Finished(String),
    Failed(String),
    Released,
    /// Another has taken over.
    Lost,
}

impl<'a> Worker<'a> {
    /// One of its threads; returns how many fits it has finished.
    fn work(&self) -> Result<usize> {
        let mut finished = 0;
        while !self.stop.is_stopped() {
            let next = self.board().next(Instant::now())?;
            match next {
                Next::Over => break,
                Next::Wait => self.wait(),
                Next::Fit(job, claim) => finished += usize::from(self.fit(job, claim)?),
            }
        }
        Ok(finished)
    }

    fn board(&self) -> MutexGuard<'_, Board<'a>> {
        // It is never left halfway.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Others have what is left: looks again before long, or at once after a stop.
    fn wait(&self) {
        let until = Instant::now() + (self.options.lease / BEATS).clamp(TICK, Duration::from_secs(2));
        while Instant::now() < until && !self.stop.is_stopped() {
            std::thread::sleep(TICK);
        }
    }

    /// Runs a fit; whether its record is this worker's.
    fn fit(&self, place: usize, claim: Claim<'_>) -> Result<bool> {
        let job = &self.sweep.jobs[place];
        (self.listen)(Event::Began(job));
        let own_stop = Stop::new();
        let (outcome, claim) = std::thread::scope(|scope| {
            let (ended, heard) = channel();
            let keeper = scope.spawn(|| self.keep(job, claim, heard, &own_stop));
            let outcome = catch_unwind(AssertUnwindSafe(|| job.work.run(&self.sweep.folder().join("fits"), &own_stop)));
            drop(ended);
            (outcome, keeper.join())
        });
        let Ok((claim, still)) = claim else {
            return Err(Error::Sweep { path: self.sweep.claims(), problem: "the claim of a fit was not kept up".into() });
        };
        let end = match outcome {
            Ok(Ok(finished)) => self.publish(job, &claim, finished)?,
            _ if !still => End::Lost,
            Ok(Err(Error::Stopped)) => End::Released,
            Ok(Err(error)) => End::Failed(in_full(&error)),
            Err(panic) => End::Failed(format!("it panicked: {}", message(panic.as_ref()))),
        };
        self.settle(place, claim, end)
    }

    /// Writes down how a fit ended, for the others and for the listener.
    fn settle(&self, place: usize, claim: Claim<'_>, end: End) -> Result<bool> {
        let job = &self.sweep.jobs[place];
        match end {
            End::Finished(told) => {
                claim.end(State::Finished)?;
                (self.listen)(Event::Finished(job, &told));
                return Ok(true);
            }
            End::Failed(error) => {
                claim.end(State::Failed(error.clone()))?;
                (self.listen)(Event::Failed(job, &error));
                self.board().failed.push((place, error));
            }
            End::Released => {
                claim.end(State::Released)?;
                self.board().back(place);
            }
            End::Lost => {
                if self.sweep.record(job).exists() {
                    claim.end(State::Finished)?;
                }
                (self.listen)(Event::Lost(job));
                self.board().back(place);
            }
        }
        Ok(false)
    }

    /// Puts a record in its place unless there is one. A worker that was slow for long may find that of its successor there: equal
    /// configurations have equal results, and the first one stays.
    fn publish(&self, job: &Job, claim: &Claim<'_>, finished: Finished) -> Result<End> {
        let path = self.sweep.record(job);
        let failed = |source| Error::File { what: "write", path: path.clone(), source };
        let first = create_once(&claim.file_beside(&path), &path, &finished.record).map_err(failed)?;
        if let Some(memory) = finished.memory {
            memory.forget()?;
        }
        Ok(if first { End::Finished(finished.told) } else { End::Lost })
    }

    /// Keeps a claim up until the fit has ended, and ends the fit when there is a stop, or another has taken over or finished it.
    fn keep<'b>(&self, job: &Job, mut claim: Claim<'b>, heard: Receiver<()>, own_stop: &Stop) -> (Claim<'b>, bool) {
        let between = self.options.lease / BEATS;
        let mut last = Instant::now();
        let mut still = true;
        while let Err(RecvTimeoutError::Timeout) = heard.recv_timeout(TICK.min(between)) {
            if self.stop.is_stopped() {
                own_stop.stop();
            }
            if still && last.elapsed() >= between {
                last = Instant::now();
                // A server that does not answer now may do so for the next beat; if not, others will take over.
                still = claim.beat().unwrap_or(true) && !self.sweep.record(job).exists();
                if !still {
                    own_stop.stop();
                }
            }
        }
        drop(heard);
        (claim, still)
    }
}

/// An error with its causes.
fn in_full(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word").to_owned()
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;

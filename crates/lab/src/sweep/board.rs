//! What a worker does next.

use std::collections::HashMap;
use std::time::Instant;

use super::claims::{Claim, Claims, State, Turn, Watch};
use super::plan::Sweep;
use crate::error::Result;

/// A fit whose workers were lost so often in a row is taken to be what loses them.
const MOST_LOSSES: usize = 5;

/// What there is to do.
pub(super) enum Next<'a> {
    /// This fit, which is claimed.
    Fit(usize, Claim<'a>),
    /// Nothing now: others work on what is left. They may be lost.
    Wait,
    /// Nothing any more.
    Over,
}

/// The fits that a worker has not seen the end of.
pub(super) struct Board<'a> {
    sweep: &'a Sweep,
    claims: &'a Claims,
    watch: Watch,
    pending: Vec<usize>,
    turns: HashMap<usize, u32>,
    /// Failed ones that are to be begun again, with their turn.
    retry: HashMap<usize, u32>,
    /// Fits that have a record, and errors of those that ended without one.
    pub(super) done: usize,
    pub(super) failed: Vec<(usize, String)>,
}

/// What a look at a fit showed.
enum Look<'a> {
    Mine(Claim<'a>),
    Busy,
    Done,
    Failed(String),
}

impl<'a> Board<'a> {
    pub(super) fn new(sweep: &'a Sweep, claims: &'a Claims, watch: Watch, jobs: Vec<usize>, retry: bool) -> Result<Self> {
        let (turns, done, failed) = (HashMap::new(), 0, Vec::new());
        let mut board = Self { sweep, claims, watch, pending: Vec::new(), turns, retry: HashMap::new(), done, failed };
        // Only what has failed by now: what fails again stays so, whoever looks at it.
        for &job in jobs.iter().filter(|_| retry) {
            if let Some(Turn { number, note: Some(note) }) = claims.last(&sweep.jobs[job].id, None)?
                && matches!(note.state, State::Failed(_))
            {
                board.retry.insert(job, number);
            }
        }
        board.pending = jobs;
        Ok(board)
    }

    /// Claims the first fit that can be had.
    pub(super) fn next(&mut self, now: Instant) -> Result<Next<'a>> {
        let mut at = 0;
        while at < self.pending.len() {
            let job = self.pending[at];
            match self.look(job, now)? {
                Look::Mine(claim) => {
                    self.pending.remove(at);
                    return Ok(Next::Fit(job, claim));
                }
                Look::Busy => at += 1,
                Look::Done => {
                    self.pending.remove(at);
                    self.done += 1;
                }
                Look::Failed(error) => {
                    self.pending.remove(at);
                    self.failed.push((job, error));
                }
            }
        }
        Ok(if self.pending.is_empty() { Next::Over } else { Next::Wait })
    }

    /// A fit that was claimed is no longer one's own: whoever has it may be lost, too.
    pub(super) fn back(&mut self, job: usize) {
        self.pending.push(job);
    }

    fn look(&mut self, job: usize, now: Instant) -> Result<Look<'a>> {
        let id = &self.sweep.jobs[job].id;
        let Some(turn) = self.claims.last(id, self.turns.get(&job).copied())? else { return self.take(job, 0) };
        self.turns.insert(job, turn.number);
        match turn.note.as_ref().map(|note| &note.state) {
            Some(State::Finished) => Ok(Look::Done),
            Some(State::Failed(_)) if self.retry.get(&job) == Some(&turn.number) => self.take(job, turn.number + 1),
            Some(State::Failed(error)) => Ok(Look::Failed(error.clone())),
            Some(State::Released) => self.take(job, turn.number + 1),
            Some(State::Working) | None => {
                let left = turn.note.as_ref().is_some_and(|note| self.claims.is_predecessor(note));
                if left || self.watch.is_lost(id, &turn, now) { self.inherit(job, turn.number) } else { Ok(Look::Busy) }
            }
        }
    }

    /// Takes over from a worker that was lost.
    fn inherit(&self, job: usize, turn: u32) -> Result<Look<'a>> {
        let losses = self.claims.losses(&self.sweep.jobs[job].id, turn)?;
        match self.take(job, turn + 1)? {
            Look::Mine(claim) if losses >= MOST_LOSSES => {
                let error = format!("its workers were lost {losses} times; does it need more memory or time than they have?");
                claim.end(State::Failed(error.clone()))?;
                Ok(Look::Failed(error))
            }
            look => Ok(look),
        }
    }

    fn take(&self, job: usize, turn: u32) -> Result<Look<'a>> {
        let job = &self.sweep.jobs[job];
        let Some(claim) = self.claims.take(&job.id, turn)? else { return Ok(Look::Busy) };
        // Its worker was lost between its record and its last word.
        if self.sweep.record(job).exists() {
            claim.end(State::Finished)?;
            return Ok(Look::Done);
        }
        Ok(Look::Mine(claim))
    }
}

//! What running one example may take, asked for before it is taken: a small file can describe work without end.

use std::cell::Cell;

use super::Step;
use super::array::room;
use crate::error::dims;

/// Bytes that an entry takes: a whole number, and its place while it is moved.
const ENTRY: u64 = 16;
/// What is done for each entry, and for each of its axes, beside what an operator is made for.
const EACH: f64 = 4.0;
/// A multiplication takes so many times as long here as in a program of invar.
const SLOW: f64 = 8.0;

/// What is left for one example.
#[derive(Debug)]
pub(super) struct Ledger {
    entries: Cell<usize>,
    work: Cell<f64>,
    allowed: f64,
}

impl Ledger {
    /// So many bytes for values that are still needed, and so many multiplications.
    pub(super) fn new(bytes: u64, work: f64) -> Self {
        let entries = usize::try_from(bytes / ENTRY).unwrap_or(usize::MAX);
        Self { entries: Cell::new(entries), work: Cell::new(work), allowed: work }
    }

    /// The entries of a result, if there is room for them.
    pub(super) fn room(&self, shape: &[usize]) -> Step<usize> {
        let entries = room(shape)?;
        if entries <= self.entries.get() {
            return Ok(entries);
        }
        let left = self.entries.get();
        Err(format!(
            "a result of shape {} does not fit the memory for one example: there is room for {left} entries",
            dims(shape)
        ))
    }

    /// Sets room aside for a value.
    pub(super) fn hold(&self, shape: &[usize]) -> Step<()> {
        self.entries.set(self.entries.get() - self.room(shape)?);
        Ok(())
    }

    /// Gives back the room of a value that nobody needs any more.
    pub(super) fn release(&self, entries: usize) {
        self.entries.set(self.entries.get() + entries);
    }

    /// Counts multiplications, or what takes as long, before they are done.
    pub(super) fn work(&self, multiplications: f64) -> Step<()> {
        self.work.set(self.work.get() - SLOW * multiplications);
        if self.work.get() >= 0.0 {
            return Ok(());
        }
        let billions = self.allowed / 1e9;
        Err(format!("one example takes more than the {billions} billions of multiplications that are allowed (--limit)"))
    }

    /// The same for looking at every entry of this shape.
    pub(super) fn pass(&self, shape: &[usize]) -> Step<()> {
        let entries: f64 = shape.iter().map(|&side| side as f64).product();
        self.work(EACH * entries * (1 + shape.len()) as f64)
    }

    /// What was done.
    pub(super) fn done(&self) -> f64 {
        self.allowed - self.work.get()
    }
}

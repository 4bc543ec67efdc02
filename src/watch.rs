//! How far a long step of the algebra is: a bar on a terminal, else a line from time to time. Nothing while it is quick.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use invar_algebra::Progress;

use crate::progress::{BETWEEN_LINES, bar};

/// What takes less is not told of.
const QUICK: Duration = Duration::from_secs(2);

pub(crate) struct Watch {
    begun: Instant,
    state: RefCell<State>,
}

struct State {
    step: &'static str,
    since: Instant,
    /// How much of the step was done when it was first heard of.
    from: usize,
    last_line: Option<Instant>,
    bar: ProgressBar,
}

impl Watch {
    pub(crate) fn new() -> Self {
        let begun = Instant::now();
        let state = State { step: "", since: begun, from: 0, last_line: None, bar: ProgressBar::hidden() };
        Self { begun, state: RefCell::new(state) }
    }

    pub(crate) fn hear(&self, progress: Progress) {
        let mut state = self.state.borrow_mut();
        if state.step != progress.step {
            (state.step, state.since, state.from) = (progress.step, Instant::now(), progress.done);
            state.bar.finish_and_clear();
            state.bar = ProgressBar::hidden();
        }
        if self.begun.elapsed() < QUICK {
            return;
        }
        if stderr().is_terminal() {
            if state.bar.is_hidden() {
                state.bar = bar(progress.of, progress.step);
            }
            state.bar.set_position(progress.done as u64);
        } else if state.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            state.last_line = Some(Instant::now());
            anstream::eprintln!("{}", line(progress, state.from, state.since.elapsed()));
        }
    }

    pub(crate) fn finish(&self) {
        self.state.borrow().bar.finish_and_clear();
    }
}

/// The step, how far it is, and the time left at the speed so far, as soon as there is one.
fn line(progress: Progress, from: usize, elapsed: Duration) -> String {
    let Progress { step, done, of } = progress;
    let sofar = done.saturating_sub(from);
    if sofar == 0 {
        return format!("{step}: {done} of {of}");
    }
    let left = elapsed.as_secs_f64() * of.saturating_sub(done) as f64 / sofar as f64;
    format!("{step}: {done} of {of}, about {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_time_left() {
        let at = |done| Progress { step: "dimensions found", done, of: 100 };
        assert_eq!(line(at(0), 0, Duration::from_secs(3)), "dimensions found: 0 of 100");
        assert_eq!(line(at(30), 10, Duration::from_secs(4)), "dimensions found: 30 of 100, about 14 s left");
    }
}

//! How far long work is: a bar on a terminal, else a line from time to time.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Time between two lines where nobody sees a bar.
pub(crate) const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A bar with the time left, silent when nobody watches.
pub(crate) fn bar(length: usize, what: &str) -> ProgressBar {
    bar_of(length, what, "{pos}/{len}")
}

/// The same, with its position shown in another way.
pub(crate) fn bar_of(length: usize, what: &str, position: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template(&format!("{{prefix}} [{{bar:30}}] {position} {{elapsed}} elapsed, {{eta}} left  {{msg}}"));
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(what.to_string());
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// How many epochs of a training have passed.
pub(crate) struct Epochs {
    bar: ProgressBar,
    begun: Instant,
    /// When the last line was written; none on a terminal, which has the bar, and where nothing is to be said.
    last_line: Option<Mutex<Instant>>,
}

impl Epochs {
    pub(crate) fn new(quiet: bool) -> Self {
        let begun = Instant::now();
        let last_line = (!quiet && !stderr().is_terminal()).then(|| Mutex::new(begun));
        Self { bar: if quiet { ProgressBar::hidden() } else { bar(0, "training") }, begun, last_line }
    }

    /// So many more are to come, of something.
    pub(crate) fn expect(&self, epochs: usize, of: String) {
        self.bar.set_length(self.bar.position() + epochs as u64);
        self.bar.set_message(of);
    }

    /// So many have passed.
    pub(crate) fn pass(&self, epochs: usize) {
        self.bar.inc(epochs as u64);
        let Some(Ok(mut last)) = self.last_line.as_ref().map(Mutex::lock) else { return };
        if last.elapsed() >= BETWEEN_LINES {
            *last = Instant::now();
            let [done, of] = [self.bar.position(), self.bar.length().unwrap_or(0)];
            output::note(&line(done, of, self.begun.elapsed(), &self.bar.message()));
        }
    }

    pub(crate) fn say(&self, text: String) {
        self.bar.set_message(text);
    }

    pub(crate) fn warn(&self, text: &str) {
        self.bar.suspend(|| output::warning(text));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How far it is, and the time left at the speed so far. More may be asked for later, so that this is the least there is.
fn line(done: u64, of: u64, elapsed: Duration, what: &str) -> String {
    let left = elapsed.as_secs_f64() * of.saturating_sub(done) as f64 / done.max(1) as f64;
    let of = of.max(done);
    format!("training: {:.0} s, {done} of at least {of} epochs, about {left:.0} s or more left; {what}", elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_time_left() {
        let told = line(20, 60, Duration::from_secs(10), "single candidates");
        assert_eq!(told, "training: 10 s, 20 of at least 60 epochs, about 20 s or more left; single candidates");
    }
}

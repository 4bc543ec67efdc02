//! Learning rates with their schedules, of which one is chosen by validation.

use invar_nn::Schedule;

/// A learning rate, and how it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The rate; of a schedule its peak.
    pub rate: f64,
    /// How it moves.
    pub schedule: Schedule,
}

/// Always the same.
pub(super) const fn constant(rate: f64) -> Pace {
    Pace { rate, schedule: Schedule::Constant }
}

/// Up, then down to nothing.
pub(super) const fn one_cycle(rate: f64) -> Pace {
    Pace { rate, schedule: Schedule::OneCycle }
}

/// That of the published code.
pub(super) const CONSTANT: [Pace; 1] = [constant(1e-3)];
/// Those of the paper's text.
pub(super) const TEXT: [Pace; 3] = [constant(1e-2), constant(1e-3), constant(1e-4)];

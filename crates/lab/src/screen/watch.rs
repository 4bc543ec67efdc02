//! When a refit can end early: because it has reached its goal, or because it will not.

use invar_nn::Epoch;

use super::fitter::{Ending, Limits};
use super::networks::Measure;

/// Answers short of the goal that no test could tell from none.
const NEGLIGIBLE: f64 = 2.0;
/// Epochs that are averaged: single ones jump while the learning rate is high.
const WINDOW: usize = 4;
/// Points behind the control, beyond the tolerance, from which on a refit is given up.
const MARGIN: f64 = 20.0;
/// How many times the loss of the control it must have as well.
const RATIO: f64 = 3.0;

/// Watches one refit, epoch by epoch, beside its control: the same schedule from the same weights, unconstrained.
#[derive(Debug)]
pub(super) struct Watcher<'a> {
    control: &'a [Epoch],
    measure: Measure,
    /// Points that count as the goal reached.
    enough: f64,
    /// Points behind the control that count as too many, and the points that this leaves of the goal.
    lag: f64,
    hopeless: f64,
    /// First epoch at which a refit is given up: a third of the schedule.
    earliest: usize,
    /// Loss and points of the weights that are kept so far.
    best: (f64, f64),
    seen: Vec<Epoch>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(control: &'a [Epoch], measure: Measure, limits: Limits, examples: usize) -> Self {
        let Limits { goal, slack, tolerance } = limits;
        let enough = match measure {
            // With few examples two answers are many points, and what stopped with that might be refused.
            Measure::Accuracy => goal - slack.min(100.0 * NEGLIGIBLE / examples.max(1) as f64),
            // Squared errors are no answers: any shortfall might be significant.
            Measure::RSquared { .. } => goal,
        };
        let earliest = (control.len() / 3).max(WINDOW);
        let lag = tolerance + MARGIN;
        let best = (f64::INFINITY, f64::NEG_INFINITY);
        Self { control, measure, enough, lag, hopeless: goal - lag, earliest, best, seen: Vec::new() }
    }

    /// What an epoch means: an early end, or nothing yet.
    pub(super) fn see(&mut self, epoch: &Epoch) -> Option<Ending> {
        self.seen.push(*epoch);
        // The weights with the smallest loss are the ones that are kept: only those can reach the goal.
        if epoch.validation_loss < self.best.0 {
            self.best = (epoch.validation_loss, self.measure.points(epoch));
            if self.best.1 >= self.enough {
                return Some(Ending::Reached);
            }
        }
        let now = self.seen.len();
        // A fit that has come to its end is finished, not given up.
        if now < self.earliest || now >= self.control.len() || self.best.1 >= self.hopeless {
            return None;
        }
        let (own, control) = (&self.seen[now - WINDOW..], &self.control[now - WINDOW..now]);
        let points = |epochs: &[Epoch]| epochs.iter().map(|epoch| self.measure.points(epoch)).sum::<f64>() / WINDOW as f64;
        let loss = |epochs: &[Epoch]| epochs.iter().map(|epoch| epoch.validation_loss).sum::<f64>();
        let behind = points(control) - points(own) > self.lag && loss(own) > RATIO * loss(control);
        behind.then_some(Ending::Abandoned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(points: &[(f64, f64)]) -> Vec<Epoch> {
        let line = |(k, &(accuracy, loss)): (usize, &(f64, f64))| Epoch {
            epoch: k + 1,
            train_loss: loss,
            validation_loss: loss,
            validation_accuracy: accuracy,
            penalty: 0.0,
        };
        points.iter().enumerate().map(line).collect()
    }

    fn run(control: &[(f64, f64)], own: &[(f64, f64)]) -> Option<(usize, Ending)> {
        run_on(1000, 5.0, control, own)
    }

    fn run_on(examples: usize, slack: f64, control: &[(f64, f64)], own: &[(f64, f64)]) -> Option<(usize, Ending)> {
        let control = epochs(control);
        let limits = Limits { goal: 99.0, slack, tolerance: 5.0 };
        let mut watcher = Watcher::new(&control, Measure::Accuracy, limits, examples);
        epochs(own).iter().find_map(|epoch| watcher.see(epoch).map(|ending| (epoch.epoch, ending)))
    }

    #[test]
    fn a_refit_that_has_the_goal_stops() {
        let control = [(0.99, 0.1); 12];
        assert_eq!(run(&control, &[(0.5, 0.5), (0.989, 0.2), (0.9, 0.3)]), Some((2, Ending::Reached)));
        // As good, but not with the weights that will be kept.
        assert_eq!(run(&control, &[(0.5, 0.1), (0.995, 0.2), (0.9, 0.3)]), None);
    }

    #[test]
    fn what_some_rule_would_refuse_is_not_the_goal() {
        let control = [(0.99, 0.1); 12];
        // Two of twenty answers are ten points.
        assert_eq!(run_on(20, 5.0, &control, &[(0.93, 0.2); 12]), None);
        assert_eq!(run_on(20, 5.0, &control, &[(0.941, 0.2); 12]), Some((1, Ending::Reached)));
        // A rule that allows nothing does not take two of a thousand either.
        assert_eq!(run_on(1000, 0.0, &control, &[(0.989, 0.2); 12]), None);
        assert_eq!(run_on(1000, 0.0, &control, &[(0.99, 0.2); 12]), Some((1, Ending::Reached)));
    }

    #[test]
    fn a_hopeless_refit_is_given_up_after_a_third() {
        assert_eq!(run(&[(0.9, 0.1); 30], &[(0.2, 5.0); 30]), Some((10, Ending::Abandoned)));
        assert_eq!(run(&[(0.9, 0.1); 30], &[(0.8, 5.0); 30]), None, "ten points behind may still be made up");
        assert_eq!(run(&[(0.9, 0.1); 30], &[(0.2, 0.15); 30]), None, "almost the same loss");
        assert_eq!(run(&[(0.2, 5.0); 30], &[(0.1, 6.0); 30]), None, "the control is no better at this rate");
        assert_eq!(run(&[(0.9, 0.1); 4], &[(0.2, 5.0); 4]), None, "there is nothing left to save");
        let mut once_good = [(0.2, 5.0); 30];
        once_good[1] = (0.9, 0.2);
        assert_eq!(run(&[(0.9, 0.1); 30], &once_good), None, "the weights that are kept are not hopeless");
    }
}

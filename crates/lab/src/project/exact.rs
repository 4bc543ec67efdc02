//! From a network that nearly keeps some symmetries to one that keeps them exactly, and what the others would cost.

use invar_algebra::GroupSet;
use invar_nn::{Lattices, Network};

use crate::error::Result;
use crate::fit::KEPT;
use crate::problem::Problem;
use crate::screen::{Cost, Scores};

/// A network whose weights break a symmetry by no more than this share is tried with it exact.
const NEARLY: f64 = 1e-2;
/// What is left of a violation in single precision.
const EXACTLY: f64 = 1e-10;

/// A network that keeps what it keeps exactly.
#[derive(Debug)]
pub(super) struct Exact {
    pub(super) network: Network,
    /// What it keeps.
    pub(super) kept: GroupSet,
    /// Share of the weights that broke each candidate before.
    pub(super) violations: Vec<f64>,
    /// What making it exact cost.
    pub(super) cost: Cost,
    /// What each candidate that is not kept would cost on top, without training again: an overestimate.
    pub(super) on_top: Vec<Option<Cost>>,
}

impl Exact {
    /// Projects the weights onto what they nearly keep; onto what they keep to working precision only if the first costs more
    /// points than the tolerance.
    pub(super) fn of(network: &Network, lattices: &Lattices, problem: &Problem, tolerance: f64) -> Result<Self> {
        let scores = |network: &Network| problem.measure.scores(network, &problem.validation);
        let nearly = lattices.kept(network, NEARLY)?;
        let free = scores(network)?;
        let snapped = |limit: f64| -> Result<(Network, Scores)> {
            let set: GroupSet = (0..nearly.len()).filter(|&group| nearly[group].1 <= limit).collect();
            let network = lattices.snap(network.clone(), &set)?;
            let found = scores(&network)?;
            Ok((network, found))
        };
        let (mut exact, mut found) = snapped(NEARLY)?;
        if Cost::between(&free, &found).points > tolerance {
            (exact, found) = snapped(KEPT)?;
        }
        let kept = lattices.kept(&exact, EXACTLY)?;
        let kept: GroupSet = (0..kept.len()).filter(|&group| kept[group].0).collect();
        let on_top = |group: usize| -> Result<Option<Cost>> {
            if kept.contains(group) {
                return Ok(None);
            }
            let set = kept.with(group);
            // Where signs cancel everything no weights are left to project onto.
            if lattices.vanishes(&set)? {
                return Ok(None);
            }
            let imposed = lattices.snap(network.clone(), &set)?;
            Ok(Some(Cost::between(&found, &scores(&imposed)?)))
        };
        let on_top = (0..nearly.len()).map(on_top).collect::<Result<_>>()?;
        let violations = nearly.iter().map(|found| found.1).collect();
        Ok(Self { network: exact, kept, violations, cost: Cost::between(&free, &found), on_top })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{FitConfig, Method};
    use crate::problem::Data;
    use std::ops::ControlFlow;

    fn exact(method: Method, tolerance: f64) -> Exact {
        let mut data = Data::by_name("sum2").unwrap();
        if let Data::Sequences(sequences) = &mut data {
            (sequences.length, sequences.sizes.examples, sequences.sizes.test) = (3, 120, 20);
        }
        let problem = data.problem(1).unwrap();
        let config = FitConfig { max_epochs: 2, ..FitConfig::new(data, method) };
        let network = config.run(&problem, |_| ControlFlow::Continue(())).unwrap().network;
        Exact::of(&network, &Lattices::single(problem.groups()).unwrap(), &problem, tolerance).unwrap()
    }

    #[test]
    fn what_was_imposed_is_found_and_nothing_else() {
        // sum2: the first of three positions counts twice, so that only the last two can be exchanged.
        let found = exact(Method::Oracle, 5.0);
        assert_eq!(found.kept, [2].into_iter().collect());
        assert!(found.violations[2] < 1e-10 && found.violations[0] > 1e-3, "{:?}", found.violations);
        assert!(found.cost.points.abs() < 1e-9 && found.on_top[2].is_none());
        assert!(found.on_top[0].is_some() && found.on_top[1].is_some());
    }

    #[test]
    fn a_network_far_from_every_symmetry_keeps_none() {
        let found = exact(Method::Cgreg, 5.0);
        assert!(found.kept.is_empty() && found.on_top.iter().all(Option::is_some), "{:?}", found.violations);
    }
}

//! Selection: the largest set of candidates that fits together.
//!
//! 1. All candidates together. If they fit, this is what is selected.
//! 2. Single candidates; exchanges of positions only against one representative of each class found so far, since exchangeability is
//!    transitive.
//! 3. Those that stand, together. While they are refused: a minimal conflict among them (QuickXplain), and the largest set that
//!    contains no known conflict (smallest hitting sets), until one fits.
//! 4. Whatever was refused alone once more on top of what fits: a refusal can be an accident of the training.

use std::collections::{BTreeMap, BTreeSet};

use invar_algebra::GroupSet;

use super::fitter::Fitter;
use super::trials::Trials;
use crate::error::Result;

/// Sets of equal size that exclude each other and are compared.
const RIVALS: usize = 4;
/// Largest number of conflicts that one candidate more can settle.
const HITTING_SETS: usize = 200;

/// What fits together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The largest set that fits.
    pub(super) set: GroupSet,
    /// Others as large that fit, too, and exclude it.
    pub(super) rivals: Vec<GroupSet>,
    /// Whether the search ended before every larger set was refused.
    pub(super) exhausted: bool,
}

/// A search on one fold.
pub(super) struct Search<'s, 'a, F> {
    pub(super) trials: &'s mut Trials<'a, F>,
    /// Fits that conflicts may still take.
    pub(super) budget: usize,
    /// Imposed whatever it costs.
    pub(super) required: GroupSet,
}

impl<F: Fitter> Search<'_, '_, F> {
    /// The four steps.
    pub(super) fn largest(&mut self) -> Result<Found> {
        let everything = GroupSet::full(self.trials.fitter.candidates());
        let (bottom, top) = (self.closure(&self.required.clone())?, self.closure(&everything)?);
        let alone = |set: GroupSet| Found { set, rivals: Vec::new(), exhausted: false };
        if bottom == top {
            return Ok(alone(top));
        }
        if self.fits("all together", &top)? {
            // Where the examples that decide may see it otherwise, what costs least alone is what is left to fall back to.
            let sure = self.trials.find(&top).is_none_or(|trial| self.trials.is_sure_of(trial));
            if !sure && self.fewest_singles(&bottom) <= self.budget {
                self.singles(&bottom)?;
            }
            return Ok(alone(top));
        }
        let standing = self.singles(&bottom)?;
        let mut found = self.without_conflicts(&bottom, &standing)?;
        self.once_more(&mut found)?;
        Ok(found)
    }

    fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        self.trials.fitter.closure(set)
    }

    /// Whether a closed set fits; it is fitted if that is not known.
    fn fits(&mut self, what: &'static str, set: &GroupSet) -> Result<bool> {
        self.trials.make(what, std::slice::from_ref(set))?;
        Ok(self.trials.stands(set) == Some(true))
    }

    /// How many fits the candidates alone take at least: of exchanges those with one representative.
    fn fewest_singles(&self, bottom: &GroupSet) -> usize {
        let mut positions: BTreeSet<(Vec<usize>, usize)> = BTreeSet::new();
        let (mut families, mut others) = (BTreeSet::new(), 0);
        for candidate in (0..self.trials.fitter.candidates()).filter(|&candidate| !bottom.contains(candidate)) {
            match self.trials.fitter.exchange(candidate) {
                Some(exchange) => {
                    positions.extend(exchange.pair.map(|position| (exchange.family.clone(), position)));
                    families.insert(exchange.family);
                }
                None => others += 1,
            }
        }
        others + positions.len() - families.len()
    }

    /// The candidates that stand alone.
    fn singles(&mut self, bottom: &GroupSet) -> Result<Vec<usize>> {
        let mut families: BTreeMap<Vec<usize>, Vec<([usize; 2], usize)>> = BTreeMap::new();
        let mut standing = Vec::new();
        for candidate in (0..self.trials.fitter.candidates()).filter(|&candidate| !bottom.contains(candidate)) {
            match self.trials.fitter.exchange(candidate) {
                Some(exchange) => families.entry(exchange.family).or_default().push((exchange.pair, candidate)),
                None => standing.push(candidate),
            }
        }
        standing = self.standing(bottom, &standing)?;
        for exchanges in families.into_values() {
            standing.extend(self.against_representatives(bottom, &exchanges)?);
        }
        standing.sort_unstable();
        Ok(standing)
    }

    /// Those of some candidates that fit alone.
    fn standing(&mut self, bottom: &GroupSet, candidates: &[usize]) -> Result<Vec<usize>> {
        let sets = candidates.iter().map(|&one| self.closure(&bottom.with(one))).collect::<Result<Vec<_>>>()?;
        self.trials.make("single symmetries", &sets)?;
        let fits = |set: &GroupSet| self.trials.stands(set) == Some(true);
        Ok(candidates.iter().zip(&sets).filter(|(_, set)| fits(set)).map(|(&one, _)| one).collect())
    }

    /// Every position is exchanged with one representative of each class; those that fit with none are the next representative.
    fn against_representatives(&mut self, bottom: &GroupSet, exchanges: &[([usize; 2], usize)]) -> Result<Vec<usize>> {
        let mut positions: Vec<usize> = exchanges.iter().flat_map(|(pair, _)| *pair).collect();
        positions.sort_unstable();
        positions.dedup();
        let (mut placed, mut representatives, mut standing) = (Vec::new(), Vec::new(), Vec::new());
        for &first in &positions {
            if placed.contains(&first) {
                continue;
            }
            representatives.push(first);
            let with_first = |(pair, _): &&([usize; 2], usize)| {
                pair.contains(&first) && !pair.iter().any(|other| *other != first && representatives.contains(other))
            };
            let asked: Vec<([usize; 2], usize)> = exchanges.iter().filter(with_first).copied().collect();
            let fitting = self.standing(bottom, &asked.iter().map(|(_, candidate)| *candidate).collect::<Vec<_>>())?;
            for (pair, _) in asked.iter().filter(|(_, candidate)| fitting.contains(candidate)) {
                placed.push(if pair[0] == first { pair[1] } else { pair[0] });
            }
            standing.extend(fitting);
        }
        Ok(standing)
    }

    /// The largest set of standing candidates that fits.
    fn without_conflicts(&mut self, bottom: &GroupSet, standing: &[usize]) -> Result<Found> {
        let mut conflicts: Vec<Vec<usize>> = Vec::new();
        let start = self.trials.fits;
        loop {
            let sets = self.largest_without(bottom, standing, &conflicts)?;
            let open: Vec<GroupSet> = sets.iter().map(|(set, _)| set).filter(|set| !self.is_refused(set)).cloned().collect();
            // As many as are equally large, and no more than there are fits left.
            let equal = open.iter().take_while(|set| set.len() == open[0].len()).count().min(RIVALS);
            self.trials.make("together", &open[..equal])?;
            let fitting: Vec<GroupSet> =
                open[..equal].iter().filter(|set| self.trials.stands(set) == Some(true)).cloned().collect();
            if !fitting.is_empty() {
                return Ok(self.best_of(fitting));
            }
            let left = self.budget.saturating_sub(self.trials.fits - start);
            let Some((_, candidates)) = sets.first().filter(|_| left > 0) else { break };
            let conflict = self.conflict(bottom, &[], candidates, start)?;
            if conflict.is_empty() || conflicts.contains(&conflict) {
                break;
            }
            conflicts.push(conflict);
        }
        // The largest that was seen to fit.
        let fitting = self.trials.known.iter().filter(|trial| self.trials.accepts(trial));
        let set = fitting.max_by_key(|trial| trial.set.len()).map_or_else(|| bottom.clone(), |trial| trial.set.clone());
        let exhausted = !standing.is_empty();
        Ok(Found { set, rivals: Vec::new(), exhausted })
    }

    /// Whether a set, or a part of it, was refused.
    fn is_refused(&self, set: &GroupSet) -> bool {
        self.trials.known.iter().any(|trial| !self.trials.accepts(trial) && trial.set.is_subset(set))
    }

    /// Of fitting sets the one with the smallest loss, beside the others.
    fn best_of(&self, mut sets: Vec<GroupSet>) -> Found {
        let loss = |set: &GroupSet| self.trials.find(set).map_or(f64::INFINITY, |trial| trial.loss);
        sets.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        let set = sets.remove(0);
        Found { set, rivals: sets, exhausted: false }
    }

    /// The closures of all standing candidates but those of a smallest hitting set, largest first, each with those candidates.
    fn largest_without(
        &self,
        bottom: &GroupSet,
        standing: &[usize],
        conflicts: &[Vec<usize>],
    ) -> Result<Vec<(GroupSet, Vec<usize>)>> {
        let mut sets: Vec<(GroupSet, Vec<usize>)> = Vec::new();
        for hitting in smallest_hitting_sets(conflicts) {
            let left: Vec<usize> = standing.iter().copied().filter(|one| !hitting.contains(one)).collect();
            let set = self.closure(&bottom.iter().chain(left.iter().copied()).collect())?;
            if !sets.iter().any(|(known, _)| *known == set) {
                sets.push((set, left));
            }
        }
        sets.sort_by_key(|(set, _)| std::cmp::Reverse(set.len()));
        Ok(sets)
    }

    /// QuickXplain: a minimal part of `candidates` that is refused together with `base`.
    fn conflict(&mut self, bottom: &GroupSet, base: &[usize], candidates: &[usize], start: usize) -> Result<Vec<usize>> {
        if candidates.len() <= 1 || self.trials.fits - start >= self.budget {
            return Ok(candidates.to_vec());
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        let with = |more: &[usize]| [base, more].concat();
        if !self.stand_together(bottom, &with(first))? {
            return self.conflict(bottom, base, first, start);
        }
        let found = self.conflict(bottom, &with(first), second, start)?;
        if !self.stand_together(bottom, &with(&found))? {
            return Ok(found);
        }
        let more = self.conflict(bottom, &with(&found), first, start)?;
        Ok([more, found].concat())
    }

    /// Whether some candidates fit together. What contains a refused set is refused without a fit, and what is contained in one that
    /// stands needs none either: a larger constraint fits no better.
    fn stand_together(&mut self, bottom: &GroupSet, candidates: &[usize]) -> Result<bool> {
        let set = self.closure(&bottom.iter().chain(candidates.iter().copied()).collect())?;
        if set == *bottom {
            return Ok(true);
        }
        for trial in &self.trials.known {
            let stands = self.trials.accepts(trial);
            if (stands && set.is_subset(&trial.set)) || (!stands && trial.set.is_subset(&set)) {
                return Ok(stands);
            }
        }
        self.fits("conflicts", &set)
    }

    /// Step 4.
    fn once_more(&mut self, found: &mut Found) -> Result<()> {
        let start = self.trials.fits;
        loop {
            let mut larger = steps_beyond(self.trials.fitter, &found.set)?;
            // Few candidates at a time make the smallest step.
            larger.sort_by_key(GroupSet::len);
            let left = self.budget.saturating_sub(self.trials.fits - start);
            found.exhausted |= larger.iter().filter(|set| self.trials.find(set).is_none()).count() > left;
            larger.truncate(left);
            self.trials.make("refused ones, on top", &larger)?;
            let cost = |set: &GroupSet| self.trials.find(set).map_or(f64::INFINITY, |trial| trial.cost.points);
            let stands = larger.iter().filter(|set| self.trials.stands(set) == Some(true));
            let Some(more) = stands.min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return Ok(()) };
            found.rivals.retain(|rival| !rival.is_subset(more));
            found.set = more.clone();
        }
    }
}

/// The closures of a closed set with one candidate more.
pub(super) fn steps_beyond<F: Fitter>(fitter: &F, set: &GroupSet) -> Result<Vec<GroupSet>> {
    // Two positions of different classes: every exchange between these classes makes the same step.
    let mut steps: Vec<(GroupSet, bool)> = Vec::new();
    for candidate in (0..fitter.candidates()).filter(|&one| !set.contains(one)) {
        let exchanges = fitter.exchange(candidate).is_some();
        if exchanges && steps.iter().any(|(step, exchanged)| *exchanged && step.contains(candidate)) {
            continue;
        }
        let step = fitter.closure(&set.with(candidate))?;
        if !steps.iter().any(|(known, _)| *known == step) {
            steps.push((step, exchanges));
        }
    }
    Ok(steps.into_iter().map(|(step, _)| step).collect())
}

/// The smallest sets that contain an element of every conflict.
fn smallest_hitting_sets(conflicts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    fn extend(conflicts: &[Vec<usize>], chosen: &mut Vec<usize>, room: usize, found: &mut Vec<Vec<usize>>) {
        let Some(open) = conflicts.iter().find(|conflict| !conflict.iter().any(|one| chosen.contains(one))) else {
            let mut set = chosen.clone();
            set.sort_unstable();
            if !found.contains(&set) {
                found.push(set);
            }
            return;
        };
        if room == 0 || found.len() >= HITTING_SETS {
            return;
        }
        for &one in open {
            chosen.push(one);
            extend(conflicts, chosen, room - 1, found);
            chosen.pop();
        }
    }
    for size in 0..=conflicts.len() {
        let mut found = Vec::new();
        extend(conflicts, &mut Vec::new(), size, &mut found);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

//! Which candidates to keep together, from what each costs alone: all that are not contradicted if they fit jointly, else a
//! greedy climb. Knows nothing of networks: joint costs come from outside.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use super::evidence::Cost;
use super::rule::{Finding, Rule};
use crate::error::Result;

/// A candidate's own cost, as far as the choice needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Single {
    /// With this group alone imposed.
    pub cost: Cost,
    /// Its p-value, corrected over all candidates.
    pub adjusted: f64,
    /// Whether the fit was given up early: the cost is then too high to be believed to the point.
    pub abandoned: bool,
}

/// How much hangs on a joint fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stake {
    /// All candidates that are not contradicted: refusing them costs a climb.
    All,
    /// One join of the climb.
    Join,
}

/// Why a candidate that fits alone was not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    /// The candidate.
    pub group: usize,
    /// What was kept when it was tried.
    pub with: GroupSet,
    /// Contradicted candidates that would have come along; empty when it was the joint fit that failed.
    pub implies: GroupSet,
    /// The cost of the joint fit that failed.
    pub cost: Option<Cost>,
}

/// What to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Closed: everything that weights invariant to it are invariant to.
    pub kept: GroupSet,
    /// Candidates that fit alone but not jointly.
    pub dropped: Vec<Dropped>,
}

/// The algebra that a choice needs: cl(M).
pub type Closure<'a> = &'a mut dyn FnMut(&GroupSet) -> Result<GroupSet>;
/// The cost of imposing a closed set; none when that is not known.
pub type Joint<'a> = &'a mut dyn FnMut(&GroupSet, Stake) -> Result<Option<Cost>>;

/// Steps 3 and 4 of the learner: impose jointly what is not contradicted, else climb from the cheapest.
///
/// None when a joint cost would be needed that is not known.
pub fn choose(singles: &[Single], rule: Rule, alpha: f64, closure: Closure, joint: Joint) -> Result<Option<Choice>> {
    let contradicted = |single: &Single| rule.finding(&single.cost, single.adjusted, alpha) == Finding::Contradicted;
    let against: GroupSet = (0..singles.len()).filter(|&g| contradicted(&singles[g])).collect();
    let open: GroupSet = (0..singles.len()).filter(|&g| !against.contains(g)).collect();
    let bottom = closure(&GroupSet::empty())?;
    if open.is_subset(&bottom) {
        return Ok(Some(Choice { kept: bottom, dropped: Vec::new() }));
    }
    let all = closure(&open)?;
    let mut refused = Vec::new();
    if common(&all, &against).is_empty() {
        let Some(cost) = joint(&all, Stake::All)? else { return Ok(None) };
        if rule.accepts(&cost, alpha) {
            return Ok(Some(Choice { kept: all, dropped: Vec::new() }));
        }
        refused.push((all, cost));
    }
    let mut order: Vec<usize> = open.iter().collect();
    order.sort_by(|&a, &b| singles[a].cost.points.total_cmp(&singles[b].cost.points));
    let accepts = |cost: &Cost| rule.accepts(cost, alpha);
    climb(&order, &against, bottom, refused, &accepts, closure, joint)
}

/// Adds one candidate after the other as long as everything together is accepted. What contains a refused set is refused
/// without a fit: a larger constraint fits no better.
fn climb(
    order: &[usize],
    against: &GroupSet,
    bottom: GroupSet,
    mut refused: Vec<(GroupSet, Cost)>,
    accepts: &dyn Fn(&Cost) -> bool,
    closure: Closure,
    joint: Joint,
) -> Result<Option<Choice>> {
    let mut choice = Choice { kept: bottom, dropped: Vec::new() };
    for &group in order {
        if choice.kept.contains(group) {
            continue;
        }
        let next = closure(&choice.kept.with(group))?;
        let implies = common(&next, against);
        let mut cost = refused.iter().find(|(set, _)| set.is_subset(&next)).map(|(_, cost)| *cost);
        if implies.is_empty() && cost.is_none() {
            let Some(found) = joint(&next, Stake::Join)? else { return Ok(None) };
            if accepts(&found) {
                choice.kept = next;
                continue;
            }
            refused.push((next, found));
            cost = Some(found);
        }
        let cost = if implies.is_empty() { cost } else { None };
        choice.dropped.push(Dropped { group, with: choice.kept.clone(), implies, cost });
    }
    // What was dropped early may have come along with something later.
    choice.dropped.retain(|dropped| !choice.kept.contains(dropped.group));
    Ok(Some(choice))
}

fn common(a: &GroupSet, b: &GroupSet) -> GroupSet {
    a.iter().filter(|&group| b.contains(group)).collect()
}

/// A constraint that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What was imposed.
    pub set: GroupSet,
    /// What it cost.
    pub cost: Cost,
    /// Whether the fit was given up early.
    pub abandoned: bool,
}

/// From this tolerance on, up to the next, the answer is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Points of tolerance.
    pub from: f64,
    /// What would be kept; absent when the fits at hand do not tell.
    pub kept: Option<GroupSet>,
}

impl Threshold {
    /// Steps around the tolerance that was asked for, in words; none where there are none.
    pub fn in_words(steps: &[Self], tolerance: f64) -> Option<String> {
        let step = |step: &Self| match &step.kept {
            Some(kept) => format!("from {:.1}: {} kept", step.from, kept.len()),
            None => format!("from {:.1}: not known from these fits", step.from),
        };
        let at = steps.iter().rposition(|step| step.from <= tolerance).unwrap_or(0);
        let shown = steps.get(at.saturating_sub(2)..(at + 3).min(steps.len())).filter(|shown| !shown.is_empty())?;
        Some(shown.iter().map(step).collect::<Vec<_>>().join("; "))
    }
}

/// How the choice depends on the tolerance, as far as the fits at hand tell. No fit is made for it. At the tolerance that was
/// asked for it is what was `decided`.
pub fn by_tolerance(
    singles: &[Single],
    known: &[Known],
    decided: Option<(f64, &GroupSet)>,
    alpha: f64,
    closure: Closure,
) -> Result<Vec<Threshold>> {
    let costs = singles.iter().map(|single| &single.cost).chain(known.iter().map(|known| &known.cost));
    let mut places: Vec<f64> =
        costs.flat_map(|cost| [cost.points, cost.interval[0]]).filter(|t| (0.0..100.0).contains(t)).collect();
    places.push(0.0);
    places.sort_by(f64::total_cmp);
    places.dedup();
    let asked = decided.and_then(|(tolerance, kept)| Some((places.iter().rposition(|&place| place <= tolerance)?, kept)));
    let mut steps: Vec<Threshold> = Vec::new();
    for (k, from) in places.into_iter().enumerate() {
        let rule = Rule { tolerance: from, strict: false };
        // A fit that was given up overstates its cost: it says nothing unless even the least of it is too much.
        let given_up = |single: &Single| single.abandoned && single.cost.interval[0] <= from;
        let kept = if let Some((_, kept)) = asked.filter(|&(asked, _)| asked == k) {
            Some(kept.clone())
        } else if singles.iter().any(given_up) {
            None
        } else {
            let mut joint = |set: &GroupSet, _: Stake| Ok(look_up(set, known, rule, alpha));
            let choice = choose(singles, rule, alpha, closure, &mut joint)?;
            choice.map(|choice| taken_back(singles.len(), choice.kept, known, rule, alpha, closure)).transpose()?
        };
        if steps.last().is_none_or(|last| last.kept != kept) {
            steps.push(Threshold { from, kept });
        }
    }
    Ok(steps)
}

/// Step 5 as far as it was made: one candidate more, the cheapest first, while it fits on top of everything else.
fn taken_back(
    candidates: usize,
    mut kept: GroupSet,
    known: &[Known],
    rule: Rule,
    alpha: f64,
    closure: Closure,
) -> Result<GroupSet> {
    // On top of nothing that is what each candidate alone was.
    let bottom = closure(&GroupSet::empty())?;
    while kept != bottom {
        let rejected: Vec<usize> = (0..candidates).filter(|&group| !kept.contains(group)).collect();
        let more = rejected.into_iter().map(|group| closure(&kept.with(group))).collect::<Result<Vec<_>>>()?;
        let fits = known.iter().filter(|known| more.contains(&known.set) && !known.abandoned && rule.accepts(&known.cost, alpha));
        match fits.min_by(|a, b| a.cost.points.total_cmp(&b.cost.points)) {
            Some(known) => kept.clone_from(&known.set),
            None => break,
        }
    }
    Ok(kept)
}

/// The cost of a constraint from those that were fitted: its own, or that of a larger one that is accepted or a smaller one
/// that is not, since a larger constraint fits no better.
fn look_up(set: &GroupSet, known: &[Known], rule: Rule, alpha: f64) -> Option<Cost> {
    let accepted = |known: &Known| rule.accepts(&known.cost, alpha);
    if let Some(own) = known.iter().find(|known| known.set == *set) {
        // A fit that was given up overstates its cost; that it can be accepted nevertheless was not seen.
        return (!own.abandoned || !accepted(own)).then_some(own.cost);
    }
    let tells = |known: &&Known| {
        let larger = set.is_subset(&known.set) && accepted(known) && !known.abandoned;
        let smaller = known.set.is_subset(set) && !accepted(known);
        larger || smaller
    };
    known.iter().find(tells).map(|known| known.cost)
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;

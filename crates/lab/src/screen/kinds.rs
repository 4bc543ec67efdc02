//! Which kind of network decides.

use invar_algebra::{Action, Group, GroupSet};
use invar_nn::{Elements, Inputs};

use super::cost::{Cost, Scores};
use super::fitter::{Fitter, Request};
use super::folds::Ground;
use super::networks::{Kind, Networks};
use super::record::TriedNetwork;
use super::trials::Run;
use crate::error::{Error, Result};
use crate::networks::Backbone;
use crate::queue;

/// Largest group whose elements a network looks through where another kind could decide as well.
const VIEWS: usize = 24;
/// The same where no other kind could.
const MOST_VIEWS: usize = 256;
/// Percentage points, or percent of the error, by which one kind of network must beat another to decide in its place.
const BETTER: f64 = 1.0;

/// The kinds of networks that could decide, what each learns with nothing imposed, and which one decides: the one that learns most;
/// the linear one only where it is better by more than symmetries may cost.
pub(super) fn judge<'a>(ground: Ground<'a>, run: Run<'_>) -> Result<(Vec<Networks<'a>>, Vec<TriedNetwork>, usize)> {
    let kinds = kinds(ground)?;
    let networks = kinds.into_iter().map(|kind| Networks::new(ground, kind)).collect::<Result<Vec<_>>>()?;
    (run.listen)("kinds of networks", networks.len());
    let references = each(&networks.iter().collect::<Vec<_>>(), run, |networks| Ok(Some(networks.reference(0)?.selection)))?;
    let scores = references.into_iter().collect::<Option<Vec<_>>>().ok_or(Error::Stopped)?;
    let first = usize::from(networks[0].kind == Kind::Linear && networks.len() > 1);
    let beats = |one: &Scores, other: &Scores| Cost::between(one, other).points;
    let mut best =
        (first + 1..networks.len()).fold(first, |best, k| if beats(&scores[k], &scores[best]) > BETTER { k } else { best });
    let tolerance = ground.config.rule.tolerance;
    let close: Vec<usize> = (first..networks.len()).filter(|&k| beats(&scores[best], &scores[k]) <= tolerance).collect();
    if first > 0 && beats(&scores[0], &scores[best]) > tolerance {
        best = 0;
    } else if close.len() > 1 {
        best = by_everything_imposed(&networks, &close, best, run)?;
    }
    let tried =
        networks.iter().zip(&scores).map(|(networks, scores)| TriedNetwork { kind: networks.kind, score: scores.share() });
    let tried = tried.collect();
    Ok((networks, tried, best))
}

/// Of kinds that learn about as much with nothing imposed the one that learns most with everything imposed: what a kind cannot express
/// under a symmetry would look as if the data contradicted it.
fn by_everything_imposed(networks: &[Networks<'_>], close: &[usize], best: usize, run: Run<'_>) -> Result<usize> {
    (run.listen)("kinds of networks", close.len());
    let contenders: Vec<&Networks<'_>> = close.iter().map(|&k| &networks[k]).collect();
    let scores = each(&contenders, run, |networks| {
        let all = networks.closure(&GroupSet::full(networks.candidates()))?;
        if networks.vanishes(&all)? {
            return Ok(None);
        }
        Ok(Some(networks.fit(Request { imposed: &all, fold: 0, restart: 0, doublings: 0 })?.selection))
    })?;
    Ok(strongest(close, best, &scores))
}

/// Of these kinds the one with the best scores, in their order; `best` unless another one is clearly better.
fn strongest(close: &[usize], best: usize, scores: &[Option<Scores>]) -> usize {
    let of = |k: usize| close.iter().zip(scores).find(|(one, _)| **one == k).and_then(|(_, scores)| scores.as_ref());
    let beats = |k: usize, best: usize| match (of(k), of(best)) {
        (Some(one), Some(other)) => Cost::between(one, other).points > BETTER,
        (one, other) => one.is_some() && other.is_none(),
    };
    close.iter().fold(best, |best, &k| if beats(k, best) { k } else { best })
}

/// Asks several kinds at once.
fn each<'n, 'a>(
    networks: &[&'n Networks<'a>],
    run: Run<'_>,
    ask: impl Fn(&'n Networks<'a>) -> Result<Option<Scores>> + Sync,
) -> Result<Vec<Option<Scores>>> {
    let mut scores: Vec<Option<Scores>> = networks.iter().map(|_| None).collect();
    queue::run(
        networks,
        run.threads,
        run.stop,
        |networks| ask(networks),
        |k, result| {
            scores[k] = result?;
            Ok::<(), Error>(())
        },
    )?;
    if run.stop.is_stopped() { Err(Error::Stopped) } else { Ok(scores) }
}

/// The kinds that can take data and candidates; the linear one first, then what is tried first.
fn kinds(ground: Ground<'_>) -> Result<Vec<Kind>> {
    let Ground { problem, config, .. } = ground;
    let images = matches!(problem.train.inputs(), Inputs::Images { .. });
    if let Some(backbone) = config.network {
        let for_images = matches!(backbone, Backbone::Patch { .. } | Backbone::Lift { .. });
        if images != for_images && backbone != Backbone::Orbit {
            let expected = if images { "one for images" } else { "`pairs`, `orbit` or `feedforward`: these data are no images" };
            let got = Kind::Network(backbone).in_words().into();
            return Err(Error::Setting { name: "network", expected: expected.into(), got });
        }
        let linear = (!images).then_some(Kind::Linear);
        return Ok(linear.into_iter().chain([Kind::Network(backbone)]).collect());
    }
    if images {
        return Ok(vec![Kind::Network(Backbone::lift())]);
    }
    let moves = |group: &Group| group.generators().iter().all(|g| matches!(g, Action::Permutation(_) | Action::Signed(_)));
    let points = problem.groups().iter().all(moves) && crate::on_points::OnPoints::of(problem).is_ok();
    let mut kinds = vec![Kind::Linear];
    if problem.vocabulary.is_some() {
        kinds.push(Kind::Network(Backbone::Feedforward));
    }
    if points {
        kinds.push(Kind::Network(Backbone::Pairs));
    }
    let most = if points { VIEWS } else { MOST_VIEWS };
    // Where they generate no finite group, or decimals cannot be told apart, there is no list of views.
    let listed = |all: Group| all.order() <= most.into() && Elements::of(&all, most).is_ok();
    if problem.vocabulary.is_none() && Group::join("all", problem.groups()).is_ok_and(listed) {
        kinds.push(Kind::Network(Backbone::Orbit));
    }
    // Whatever moves entries, a layer of invariant weights can be invariant to it.
    if kinds.len() == 1 {
        kinds.push(Kind::Network(Backbone::Feedforward));
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::cost::PerExample;

    #[test]
    fn of_kinds_that_learn_alike_the_one_that_learns_with_everything_imposed_decides() {
        let right = |count: usize| Some(Scores { each: PerExample::Right((0..100).map(|k| k < count).collect()), loss: 0.0 });
        assert_eq!(strongest(&[1, 2], 1, &[right(7), right(97)]), 2);
        assert_eq!(strongest(&[1, 2], 1, &[right(96), right(97)]), 1, "one point is no reason");
        assert_eq!(
            strongest(&[1, 2, 3], 2, &[right(40), None, right(60)]),
            3,
            "of a kind without invariant weights anything is better"
        );
    }
}

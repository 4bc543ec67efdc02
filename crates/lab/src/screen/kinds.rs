//! Which kind of network decides.

use invar_algebra::{Action, Group};
use invar_nn::{Elements, Inputs};

use super::cost::{Cost, Scores};
use super::fitter::Fitter;
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
    let mut scores: Vec<Option<Scores>> = networks.iter().map(|_| None).collect();
    queue::run(
        &networks,
        run.threads,
        run.stop,
        |networks| networks.reference(0),
        |k, result| {
            scores[k] = Some(result?.selection);
            Ok::<(), Error>(())
        },
    )?;
    let scores = scores.into_iter().collect::<Option<Vec<_>>>().ok_or(Error::Stopped)?;
    let first = usize::from(networks[0].kind == Kind::Linear && networks.len() > 1);
    let mut best = first;
    for k in first + 1..networks.len() {
        if Cost::between(&scores[k], &scores[best]).points > BETTER {
            best = k;
        }
    }
    if first > 0 && Cost::between(&scores[0], &scores[best]).points > ground.config.rule.tolerance {
        best = 0;
    }
    let tried =
        networks.iter().zip(&scores).map(|(networks, scores)| TriedNetwork { kind: networks.kind, score: scores.share() });
    let tried = tried.collect();
    Ok((networks, tried, best))
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

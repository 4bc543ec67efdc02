//! The Hasse diagrams of a run: the subspaces where its network decides, with what is kept.

use std::fmt::Write;

use invar_algebra::{Action, Group, GroupSet, Lattice, Mode, Options, Permutation, Shape, candidates};
use invar_nn::{Elements, InnerConfig, OrbitConfig};

use crate::diagram::{self, DiagramOptions, escape};
use crate::error::Result;
use crate::project::{Architecture, Run};

/// Most closed sets of candidates that are all visited.
const MAX_SETS: usize = 600;

/// One for each place where the network decides.
pub(super) fn figures(run: &Run) -> Result<String> {
    let groups = run.weight_groups()?;
    let numbered = || groups.iter().cloned().enumerate();
    let mut out = String::new();
    match run.architecture {
        Architecture::Lift => {
            let (directions, channels) = split(&groups)?;
            let words = "The head has one value for each of the eight directions that the network looks in; these are the subspaces \
                of weights on them. They decide about turns and mirrors.";
            figure(&mut out, run, words, directions)?;
            let words =
                "The first filters have weights for each channel; these are their subspaces, which decide about channels.";
            figure(&mut out, run, words, channels)?;
        }
        Architecture::Cnn => {
            let words =
                format!("Filters see patches of {}; these are the subspaces of weights on such a patch.", groups[0].shape());
            figure(&mut out, run, &words, numbered().collect())?;
        }
        Architecture::Orbit | Architecture::OrbitImages => {
            let words = "The network has one value for each side it sees examples from, one side for every element of the group that \
                all candidates generate; these are the subspaces of weights on them.";
            figure(&mut out, run, words, on_elements(&groups)?)?;
        }
        Architecture::Auto | Architecture::Pairs => {
            let words = "The network brings the entries of an orbit together with weights over entries; these are the subspaces of such \
                weights. Its first layer has weights on pairs of entries, tied in the same way.";
            // Many unrelated candidates have too many subspaces to draw.
            match figure(&mut out, run, words, numbered().collect()) {
                Err(crate::Error::Algebra(invar_algebra::Error::TooManySets { .. })) => {}
                drawn => drawn?,
            }
        }
        Architecture::Feedforward => {
            let shape = groups[0].shape();
            let words = format!("The layer that decides has weights of shape {shape}; these are their subspaces.");
            figure(&mut out, run, &words, numbered().collect())?;
        }
    }
    Ok(out)
}

fn figure(out: &mut String, run: &Run, words: &str, acting: Vec<(usize, Group)>) -> Result<()> {
    if acting.is_empty() {
        return Ok(());
    }
    let (numbers, groups): (Vec<usize>, Vec<Group>) = acting.into_iter().unzip();
    // Every subspace, so that those with what is kept span all that the model uses; of long lists the independent ones alone.
    let complete = Options { mode: Mode::Complete, cap: MAX_SETS, ..Options::default() };
    let (lattice, all) = match Lattice::new(groups.clone(), &complete) {
        Err(invar_algebra::Error::TooManySets { .. }) => (Lattice::new(groups, &Options::default())?, false),
        lattice => (lattice?, true),
    };
    let kept: GroupSet = (0..numbers.len()).filter(|&k| run.symmetries.get(numbers[k]).is_some_and(|s| s.kept)).collect();
    let marked = if kept.is_empty() {
        "Nothing is kept here: all of them may be used."
    } else if all {
        "Outlined: invariant to everything that is kept; together they are all that the model uses. Faded: given up."
    } else {
        "There are too many to draw, so these are independent ones. Outlined: invariant to everything that is kept."
    };
    let options = DiagramOptions { kept: Some(kept), max_nodes: 120, max_marks: 6000, ..DiagramOptions::default() };
    let _ = write!(out, "<p>{} {marked}</p>\n{}", escape(words), diagram::figure(&lattice, &options));
    Ok(())
}

/// Numbered candidates.
type Acting = Vec<(usize, Group)>;

/// Candidates as they act on the elements of the group that all of them generate.
fn on_elements(groups: &[Group]) -> Result<Acting> {
    let elements = OrbitConfig::new(InnerConfig::Array, 1).elements(groups)?;
    let shape = Shape::new(&[elements.list().len()])?;
    let acts = |(number, group): (usize, &Group)| {
        let left = group.generators().iter().filter_map(|generator| elements.left(generator)).map(Action::Permutation);
        Ok((number, Group::new(group.name(), &shape, left.collect())?))
    };
    groups.iter().enumerate().map(acts).collect()
}

/// Candidates on patches as they act on the eight directions of a lifted network, and on channels.
fn split(groups: &[Group]) -> Result<(Acting, Acting)> {
    let (patch, channels) = (groups[0].shape(), groups[0].shape().side(0));
    let pixels = patch.len() / channels;
    let side = Shape::new(&[patch.side(1), patch.side(2)])?;
    let square = Elements::of(&Group::join("square", &candidates(&side, ["rot90(0,1)", "flip(0)"])?)?, 8)?;
    let (on_directions, on_channels) = (Shape::new(&[square.list().len()])?, Shape::new(&[channels])?);
    let (mut directions, mut colours) = (Vec::new(), Vec::new());
    for (number, group) in groups.iter().enumerate() {
        let (mut left, mut moved) = (Vec::new(), Vec::new());
        for generator in group.generators() {
            let Action::Permutation(whole) = generator else { continue };
            let part = |count: usize, image: &dyn Fn(usize) -> usize| {
                Permutation::new((0..count).map(|k| image(k) as u32).collect()).ok()
            };
            let turn = part(pixels, &|p| whole.image(p) % pixels).and_then(|turn| square.left(&Action::Permutation(turn)));
            left.extend(turn.filter(|turn| !turn.is_identity()));
            moved.extend(part(channels, &|c| whole.image(c * pixels) / pixels).filter(|colour| !colour.is_identity()));
        }
        let acts = |shape: &Shape, list: Vec<Permutation>| {
            Group::new(group.name(), shape, list.into_iter().map(Action::Permutation).collect())
        };
        if !left.is_empty() {
            directions.push((number, acts(&on_directions, left)?));
        }
        if !moved.is_empty() {
            colours.push((number, acts(&on_channels, moved)?));
        }
    }
    Ok((directions, colours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_act_on_directions_and_colours_on_channels() {
        let shape: Shape = "3x3x3".parse().unwrap();
        let groups = candidates(&shape, ["rot90(1,2)", "permute(0)", "flip(1)"]).unwrap();
        let (directions, channels) = split(&groups).unwrap();
        let orders = |acting: &Acting| acting.iter().map(|(k, group)| (*k, group.order().to_string())).collect::<Vec<_>>();
        assert_eq!(orders(&directions), [(0, "4".into()), (2, "2".into())]);
        assert_eq!(orders(&channels), [(1, "6".into())]);
        // On the directions turns do not imply mirrors, as they do on patches.
        let lattice = Lattice::new(directions.into_iter().map(|(_, group)| group).collect(), &Options::default()).unwrap();
        let found: Vec<(usize, usize)> = lattice.subspaces().iter().map(|s| (s.level(), s.dimension())).collect();
        assert_eq!(found.iter().map(|(_, dimension)| dimension).sum::<usize>(), 8);
        assert_eq!(lattice.closure(&[0].into_iter().collect()).unwrap().len(), 1);
    }
}

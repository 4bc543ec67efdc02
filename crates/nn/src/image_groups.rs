//! Candidate groups of images, as they act on the filters of a network.

use invar_algebra::{Action, Group, Permutation, Shape};

use crate::elements::permutation;
use crate::lattices::LayerLattice;
use crate::{Error, Result};

/// Candidates on a patch `channels x k x k`, each generator split into what it does to channels and what it does to space.
///
/// Filters see patches, so candidates are given on the shape of a filter of the first layer: `rot90(1,2)` on `3x3x3` is the
/// quarter turn of every patch. A layer further on has channels of its own, on which only the spatial part acts.
#[derive(Debug, Clone)]
pub struct ImageGroups {
    groups: Vec<Group>,
    parts: Vec<Parts>,
    patch: Shape,
    channels: Shape,
    space: Shape,
}

/// The two parts of a candidate.
#[derive(Debug, Clone)]
struct Parts {
    channels: Group,
    space: Group,
}

impl ImageGroups {
    /// Splits candidates that act on `channels x k x k`; k must be odd, so that a filter has a centre.
    pub fn new(groups: &[Group]) -> Result<Self> {
        let Some(first) = groups.first() else {
            return Err(Error::setting("candidates", "at least one group", 0));
        };
        let patch = first.shape().clone();
        let &[channels, height, width] = patch.sides() else {
            return Err(Error::shape("shape of the candidates", "channels x k x k", &patch));
        };
        if height != width || height.is_multiple_of(2) {
            return Err(Error::shape("shape of the candidates", "channels x k x k with an odd k", &patch));
        }
        if let Some(other) = groups.iter().find(|group| *group.shape() != patch) {
            return Err(Error::shape("shape of a candidate", &patch, other.shape()));
        }
        let (channels, space) = (Shape::new(&[channels])?, Shape::new(&[height, width])?);
        let parts = groups.iter().map(|group| Parts::of(group, &channels, &space)).collect::<Result<_>>()?;
        Ok(Self { groups: groups.to_vec(), parts, patch, channels, space })
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// There is at least one.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Channels of an image.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Side k of a filter.
    pub fn side(&self) -> usize {
        self.space.side(0)
    }

    /// The lattice of a first layer: on channels x k x k when some candidate moves channels, else on k x k.
    pub fn first_layer(&self) -> Result<LayerLattice> {
        if self.parts.iter().all(|part| part.channels.is_trivial()) {
            return self.later_layer();
        }
        LayerLattice::new(&self.patch, self.groups.iter().cloned().enumerate().collect())
    }

    /// The lattice of every layer behind the first: on k x k, shared by all pairs of channels.
    pub fn later_layer(&self) -> Result<LayerLattice> {
        let acting = self.parts.iter().enumerate().filter(|(_, part)| !part.space.is_trivial());
        LayerLattice::new(&self.space, acting.map(|(i, part)| (i, part.space.clone())).collect())
    }

    /// The lattice on the channels alone, for candidates that move nothing else.
    pub fn channel_layer(&self) -> Result<LayerLattice> {
        let acting = self.parts.iter().enumerate().filter(|(_, part)| !part.channels.is_trivial());
        LayerLattice::new(&self.channels, acting.map(|(i, part)| (i, part.channels.clone())).collect())
    }

    /// The candidates that move space, with their actions on k x k.
    pub(crate) fn spatial(&self) -> impl Iterator<Item = (usize, &Group)> {
        self.parts.iter().enumerate().filter(|(_, part)| !part.space.is_trivial()).map(|(i, part)| (i, &part.space))
    }

    /// The name of a candidate that moves both channels and space, if there is one.
    pub(crate) fn mixed(&self) -> Option<&str> {
        let both = |part: &Parts| !part.channels.is_trivial() && !part.space.is_trivial();
        self.groups.iter().zip(&self.parts).find(|(_, part)| both(part)).map(|(group, _)| group.name())
    }
}

impl Parts {
    fn of(group: &Group, channels: &Shape, space: &Shape) -> Result<Self> {
        let (mut on_channels, mut on_space) = (Vec::new(), Vec::new());
        for generator in group.generators() {
            let (c, s) = split(&permutation(generator)?, channels.len(), space.len()).ok_or_else(|| {
                let expected = "a permutation of channels and a permutation of pixels, each blind to the other";
                Error::shape("generator of an image candidate", expected, group.describe(generator))
            })?;
            on_channels.push(Action::Permutation(c));
            on_space.push(Action::Permutation(s));
        }
        let (channels, space) = (Group::new(group.name(), channels, on_channels)?, Group::new(group.name(), space, on_space)?);
        Ok(Self { channels, space })
    }
}

/// A permutation of `channels x pixels` as one of channels and one of pixels, if it is a pair of such.
fn split(whole: &Permutation, channels: usize, pixels: usize) -> Option<(Permutation, Permutation)> {
    let on_channels: Vec<u32> = (0..channels).map(|c| (whole.image(c * pixels) / pixels) as u32).collect();
    let on_pixels: Vec<u32> = (0..pixels).map(|p| (whole.image(p) % pixels) as u32).collect();
    let agrees = |i: usize| whole.image(i) == on_channels[i / pixels] as usize * pixels + on_pixels[i % pixels] as usize;
    if !(0..channels * pixels).all(agrees) {
        return None;
    }
    Some((Permutation::new(on_channels).ok()?, Permutation::new(on_pixels).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::candidates;

    fn groups(shape: &str, of: &[&str]) -> Result<ImageGroups> {
        let shape: Shape = shape.parse().unwrap();
        ImageGroups::new(&candidates(&shape, of.iter().copied()).unwrap())
    }

    fn blocks(layer: &LayerLattice) -> Vec<(Vec<usize>, usize)> {
        layer.bases().blocks.iter().map(|b| (b.set.clone(), b.vectors.len())).collect()
    }

    #[test]
    fn the_lattices_of_the_papers_network() {
        let images = groups("3x3x3", &["rot90(1,2)", "flip(1)", "permute(0)"]).unwrap();
        // {all} 3, {rot,flip} 6, {flip,colour} 3, {flip} 6, {colour} 3, {} 6.
        let first = images.first_layer().unwrap();
        assert_eq!(
            blocks(&first),
            [(vec![0, 1, 2], 3), (vec![0, 1], 6), (vec![1, 2], 3), (vec![1], 6), (vec![2], 3), (vec![], 6)]
        );
        let later = images.later_layer().unwrap();
        assert_eq!(blocks(&later), [(vec![0, 1], 3), (vec![1], 3), (vec![], 3)]);
        assert_eq!((later.candidates(), later.bases().dim), (&[0, 1][..], 9));
        assert_eq!(images.channel_layer().unwrap().candidates(), [2]);
    }

    #[test]
    fn without_channel_groups_the_first_layer_lives_on_the_patch() {
        let images = groups("3x3x3", &["rot90(1,2)"]).unwrap();
        assert_eq!(images.first_layer().unwrap().bases().dim, 9);
        let colours = groups("3x3x3", &["cycle(0)"]).unwrap();
        assert_eq!(colours.first_layer().unwrap().bases().dim, 27);
        assert!(colours.later_layer().unwrap().candidates().is_empty());
    }

    #[test]
    fn what_does_not_act_on_channels_and_space_apart_is_refused() {
        let message = groups("1x3x3", &["negate"]).unwrap_err().to_string();
        assert!(message.contains("a permutation of the entries"), "{message}");
        let message = groups("3x3x3", &["rot90(0,1)"]).unwrap_err().to_string();
        assert!(message.contains("each blind to the other"), "{message}");
        assert!(groups("3x3", &["flip(0)"]).unwrap_err().to_string().contains("channels x k x k"));
        assert!(groups("3x4x4", &["flip(1)"]).unwrap_err().to_string().contains("odd k"));
        let mixed = groups("3x3x3", &["join(rot90(1,2),permute(0))"]).unwrap();
        assert!(mixed.mixed().is_some());
        assert_eq!(mixed.later_layer().unwrap().candidates(), [0]);
    }
}

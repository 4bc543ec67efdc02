//! The lattices of a network's CG layers: which candidate acts where, and what is asked of all layers together.

use invar_algebra::{Group, GroupSet, Lattice, Options, Shape, Tolerance, invariant_weights};

use crate::bases::{Bases, Block, Reynolds};
use crate::cg_weights::span;
use crate::network::Model;
use crate::{Error, Result};

/// The candidates that act on the weights of one CG layer.
#[derive(Debug, Clone)]
pub struct LayerLattice {
    shape: Shape,
    candidates: Vec<usize>,
    groups: Vec<Group>,
    bases: Bases,
    reynolds: Reynolds,
}

impl LayerLattice {
    /// The lattice of the groups that act on weights of this shape, each with its number in the list of all candidates. Where
    /// none acts, the weights are free.
    pub fn new(shape: &Shape, acting: Vec<(usize, Group)>) -> Result<Self> {
        let dim = shape.len();
        if let Some((_, group)) = acting.iter().find(|(_, group)| group.shape() != shape) {
            return Err(Error::shape("shape that a candidate acts on", shape, group.shape()));
        }
        let (candidates, groups): (Vec<usize>, Vec<Group>) = acting.into_iter().unzip();
        let (bases, reynolds) = if groups.is_empty() {
            let free = Block { level: 0, set: Vec::new(), vectors: units(dim) };
            (Bases { dim, groups: 0, blocks: vec![free] }, Reynolds { dim, matrices: Vec::new() })
        } else {
            let lattice = Lattice::new(groups.clone(), &Options::default())?;
            (Bases::of(&lattice), Reynolds::of(&groups)?)
        };
        Ok(Self { shape: shape.clone(), candidates, groups, bases, reynolds })
    }

    /// Which candidates act here, by their number in the list of all.
    pub fn candidates(&self) -> &[usize] {
        &self.candidates
    }

    /// The subspaces.
    pub fn bases(&self) -> &Bases {
        &self.bases
    }

    /// The Reynolds operators of the candidates that act here.
    pub fn reynolds(&self) -> &Reynolds {
        &self.reynolds
    }

    /// A basis of Bt(M): all weights of this layer that are invariant to those candidates of the set which act here.
    pub fn invariant_basis(&self, set: &GroupSet) -> Result<Vec<Vec<f64>>> {
        let acting = self.candidates.iter().zip(&self.groups).filter(|(candidate, _)| set.contains(**candidate));
        Ok(invariant_weights(&self.shape, acting.map(|(_, group)| group), &Tolerance::default())?)
    }

    /// The orthogonal projector onto Bt(M), row-major.
    pub fn projector(&self, set: &GroupSet) -> Result<Vec<f64>> {
        let dim = self.shape.len();
        let mut projector = vec![0.0; dim * dim];
        for v in span(&self.invariant_basis(set)?, dim)? {
            for (row, a) in projector.chunks_mut(dim).zip(&v) {
                row.iter_mut().zip(&v).for_each(|(p, b)| *p += a * b);
            }
        }
        Ok(projector)
    }
}

/// The unit vectors.
fn units(dim: usize) -> Vec<Vec<f64>> {
    (0..dim).map(|k| (0..dim).map(|i| f64::from(u8::from(i == k))).collect()).collect()
}

/// The lattices of all CG layers of a network, in the order of [`Model::cg_layers`].
#[derive(Debug, Clone)]
pub struct Lattices {
    candidates: usize,
    layers: Vec<LayerLattice>,
}

impl Lattices {
    /// Lattices of a network for a list of `candidates`.
    pub fn new(candidates: usize, layers: Vec<LayerLattice>) -> Result<Self> {
        match layers.iter().flat_map(LayerLattice::candidates).find(|c| **c >= candidates) {
            Some(bad) => Err(Error::shape("number of a candidate", format!("below {candidates}"), bad)),
            None => Ok(Self { candidates, layers }),
        }
    }

    /// Of a network with one CG layer on which every candidate acts.
    pub fn single(groups: &[Group]) -> Result<Self> {
        let Some(first) = groups.first() else {
            return Err(Error::setting("candidates", "at least one group", 0));
        };
        let layer = LayerLattice::new(first.shape(), groups.iter().cloned().enumerate().collect())?;
        Self::new(groups.len(), vec![layer])
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// One lattice per CG layer.
    pub fn layers(&self) -> &[LayerLattice] {
        &self.layers
    }

    /// The Reynolds operators per layer, as [`PenaltyConfig::build_layers`](crate::PenaltyConfig::build_layers) takes them.
    pub fn reynolds(&self) -> Vec<Reynolds> {
        self.layers.iter().map(|layer| layer.reynolds.clone()).collect()
    }

    /// For each candidate whether every layer where it acts keeps it (see [`CgWeights::kept`](crate::CgWeights::kept)), with
    /// the largest relative violation. A candidate that acts nowhere is kept.
    pub fn kept<M: Model>(&self, model: &M, tolerance: f64) -> Result<Vec<(bool, f64)>> {
        let weights = model.cg_layers();
        self.check(weights.len())?;
        let mut kept = vec![(true, 0.0f64); self.candidates];
        for (layer, weights) in self.layers.iter().zip(weights) {
            for (&candidate, (good, violation)) in layer.candidates.iter().zip(weights.kept(&layer.reynolds, tolerance)?) {
                let entry = &mut kept[candidate];
                *entry = (entry.0 && good, entry.1.max(violation));
            }
        }
        Ok(kept)
    }

    /// cl(M), M = `set`: every candidate that a network with M imposed is invariant to anyway. Those are the ones that no layer
    /// loses anything to.
    pub fn closure(&self, set: &GroupSet) -> Result<GroupSet> {
        let ranks = |set: &GroupSet| -> Result<Vec<usize>> {
            self.layers.iter().map(|layer| Ok(layer.invariant_basis(set)?.len())).collect()
        };
        let own = ranks(set)?;
        let mut closed = set.clone();
        for candidate in 0..self.candidates {
            if !set.contains(candidate) {
                let with: GroupSet = set.iter().chain([candidate]).collect();
                if ranks(&with)? == own {
                    closed = closed.iter().chain([candidate]).collect();
                }
            }
        }
        Ok(closed)
    }

    /// Whether some layer has no weights but zero that are invariant to M = `set`.
    pub fn vanishes(&self, set: &GroupSet) -> Result<bool> {
        self.layers.iter().try_fold(false, |any, layer| Ok(any || layer.invariant_basis(set)?.is_empty()))
    }

    /// The network with the weights of every layer projected exactly onto Bt(M), M = `set`.
    pub fn snap<M: Model>(&self, mut model: M, set: &GroupSet) -> Result<M> {
        let weights = model.cg_layers_mut();
        self.check(weights.len())?;
        for (layer, weights) in self.layers.iter().zip(weights) {
            *weights = weights.clone().snap(&layer.projector(set)?)?;
        }
        Ok(model)
    }

    /// The network with the weights of every layer confined to Bt(M), M = `set`: a warm start for a fit with M imposed.
    pub fn impose<M: Model>(&self, mut model: M, set: &GroupSet) -> Result<M> {
        let weights = model.cg_layers_mut();
        self.check(weights.len())?;
        for (layer, weights) in self.layers.iter().zip(weights) {
            *weights = weights.clone().impose(&layer.invariant_basis(set)?)?;
        }
        Ok(model)
    }

    fn check(&self, layers: usize) -> Result<()> {
        if layers == self.layers.len() {
            return Ok(());
        }
        Err(Error::shape("CG layers of the network", self.layers.len(), layers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CgFeedForwardConfig, Init, PenaltyConfig};
    use burn::tensor::Device;
    use invar_algebra::candidates;

    #[test]
    fn one_layer_is_snapped_imposed_and_read_as_a_network() {
        let shape: Shape = "4".parse().unwrap();
        let groups = candidates(&shape, ["swaps(0)"]).unwrap();
        let lattices = Lattices::single(&groups).unwrap();
        let bases = lattices.layers()[0].bases();
        let model = CgFeedForwardConfig::tokens(9).init(bases, &mut Init::new(0, &Device::flex())).unwrap();
        // Pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3): keep the second and the fifth.
        let set: GroupSet = [1, 4].into_iter().collect();
        for model in [lattices.snap(model.clone(), &set).unwrap(), lattices.impose(model.clone(), &set).unwrap()] {
            let kept: Vec<bool> = lattices.kept(&model, 1e-9).unwrap().into_iter().map(|k| k.0).collect();
            assert_eq!(kept, [false, true, false, false, true, false]);
        }
    }

    #[test]
    fn the_closure_is_that_of_the_lattice_and_smaller_where_directions_are_told_apart() {
        let shape: Shape = "4".parse().unwrap();
        let groups = candidates(&shape, ["swaps(0)"]).unwrap();
        let lattice = Lattice::new(groups.clone(), &Options::default()).unwrap();
        let lattices = Lattices::single(&groups).unwrap();
        for set in [vec![], vec![0], vec![0, 1], vec![0, 5], vec![0, 1, 2]] {
            let set: GroupSet = set.into_iter().collect();
            assert_eq!(lattices.closure(&set).unwrap(), lattice.closure(&set).unwrap());
        }
        // Filters of side 3 that may be turned may be mirrored too; eight directions tell the two apart.
        let patch: Shape = "3x3x3".parse().unwrap();
        let groups = crate::ImageGroups::new(&candidates(&patch, ["rot90(1,2)", "flip(1)"]).unwrap()).unwrap();
        let turned: GroupSet = [0].into_iter().collect();
        let filters = Lattices::new(2, vec![groups.first_layer().unwrap()]).unwrap();
        assert_eq!(filters.closure(&turned).unwrap(), GroupSet::full(2));
        let lifted = crate::LiftConfig::new(2).lattices(&groups).unwrap();
        assert_eq!(lifted.closure(&turned).unwrap(), turned);
    }

    #[test]
    fn where_nothing_acts_weights_are_free() {
        let shape: Shape = "3".parse().unwrap();
        let layer = LayerLattice::new(&shape, Vec::new()).unwrap();
        layer.bases().check().unwrap();
        assert_eq!((layer.bases().rank(), layer.invariant_basis(&GroupSet::full(5)).unwrap().len()), (3, 3));
        let device = Device::flex();
        let weights = crate::CgWeights::new(layer.bases(), None, 1, 2, &mut Init::new(0, &device)).unwrap();
        for config in [PenaltyConfig::default(), PenaltyConfig::violations()] {
            let penalty = config.build_layers(&[layer.reynolds().clone()], &device).unwrap();
            let value: f32 = penalty.total(&[&weights]).unwrap().unwrap().into_scalar();
            assert!(value.abs() < 1e-12, "{value}");
        }
        assert!(Lattices::new(2, vec![layer]).is_ok() && Lattices::single(&[]).is_err());
    }
}

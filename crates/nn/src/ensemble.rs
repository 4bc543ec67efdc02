//! Several networks that answer together.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::network::{Model, Network};
use crate::{CgWeights, Error, Input, Pass, Result};

/// Networks that answer with the median of what each of them would, entry by entry; of an even number with the mean of the two in
/// the middle.
///
/// Outside of the data nothing bounds what a network answers. The mean of several is as far off as the worst of them pulls it; the
/// median holds as long as most agree. It is invariant to what all of its members are invariant to.
#[derive(Module, Debug)]
pub struct Ensemble {
    members: Vec<Network>,
}

impl Ensemble {
    /// At least one network, all of them with equally many outputs.
    pub fn new(members: Vec<Network>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::setting("members of an ensemble", "at least 1", 0));
        }
        Ok(Self { members })
    }

    /// The networks.
    pub fn members(&self) -> &[Network] {
        &self.members
    }
}

impl Model for Ensemble {
    fn forward(&self, input: Input, pass: &mut Pass) -> Result<Tensor<2>> {
        let answers = self.members.iter().map(|member| member.forward(input.clone(), pass)).collect::<Result<Vec<_>>>()?;
        let (low, high) = ((answers.len() - 1) / 2, answers.len() / 2);
        let sorted = Tensor::stack::<3>(answers, 0).sort(0);
        let at = |place: usize| sorted.clone().narrow(0, place, 1).squeeze_dim::<2>(0);
        Ok(if low == high { at(low) } else { (at(low) + at(high)) * 0.5 })
    }

    fn cg_layers(&self) -> Vec<&CgWeights> {
        self.members.iter().flat_map(Model::cg_layers).collect()
    }

    fn cg_layers_mut(&mut self) -> Vec<&mut CgWeights> {
        self.members.iter_mut().flat_map(Model::cg_layers_mut).collect()
    }

    fn batch(&self) -> usize {
        self.members.iter().map(Model::batch).min().unwrap_or(1)
    }

    fn vocabulary(&self) -> Option<usize> {
        self.members.iter().filter_map(Model::vocabulary).min()
    }

    fn describe(&self) -> String {
        let first = self.members.first().map_or_else(String::new, Model::describe);
        format!("median of {}: {first}", self.members.len())
    }
}

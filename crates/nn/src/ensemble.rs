//! Several networks that answer together.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::network::{Model, Network};
use crate::{Error, Input, Pass, Result};

/// Networks that answer with the median of what each of them would, output by output.
///
/// Outside of the data nothing bounds what a network answers. The mean of several is as far off as the worst of them pulls it; the
/// median lies among the right ones as long as most are right. That is so for numbers. Scores of classes mean nothing on their own:
/// a network may add the same number to all of them, so they have no median to speak of.
///
/// It is invariant to what all of its members are invariant to. CG layers are those of its members, and it has none of its own: it
/// is made of networks that are trained already.
///
/// # Shapes
///
/// Whatever its members take, to `[batch, outputs]`.
#[derive(Module, Debug)]
pub struct Ensemble {
    members: Vec<Network>,
}

impl Ensemble {
    /// An odd number of networks, all of them with equally many outputs.
    pub fn new(members: Vec<Network>) -> Result<Self> {
        if members.len().is_multiple_of(2) {
            return Err(Error::setting("members of an ensemble", "an odd number", members.len()));
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
        let outputs = answers[0].dims()[1];
        if let Some(other) = answers.iter().find(|answer| answer.dims()[1] != outputs) {
            return Err(Error::shape("outputs of a member of an ensemble", outputs, other.dims()[1]));
        }
        let middle = answers.len() / 2;
        Ok(Tensor::stack::<3>(answers, 0).sort(0).narrow(0, middle, 1).squeeze_dim::<2>(0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::PlainConfig;
    use crate::{Init, Pass};
    use burn::tensor::{Device, TensorData};

    fn plain(seed: u64, outputs: usize) -> Network {
        Network::Plain(PlainConfig::array(2, outputs).init(&mut Init::new(seed, &Device::flex())).unwrap())
    }

    fn answers(model: &impl Model) -> Result<Vec<f32>> {
        let x = Tensor::from_data(TensorData::new(vec![0.5f32, -1.0, 2.0, 0.25, -3.0, 1.0], [3, 2]), &Device::flex());
        Ok(model.forward(Input::Array(x), &mut Pass::evaluate())?.into_data().try_to_vec().unwrap())
    }

    #[test]
    fn every_output_is_the_middle_of_the_members() {
        let members: Vec<Network> = (0..5).map(|seed| plain(seed, 2)).collect();
        let each: Vec<Vec<f32>> = members.iter().map(|member| answers(member).unwrap()).collect();
        for (k, got) in answers(&Ensemble::new(members).unwrap()).unwrap().into_iter().enumerate() {
            let below = each.iter().filter(|answers| answers[k] < got).count();
            assert!(below == 2 && each.iter().any(|answers| answers[k].to_bits() == got.to_bits()), "{got} among {each:?}");
        }
    }

    #[test]
    fn what_has_no_middle_is_refused() {
        for count in [0, 2] {
            let error = Ensemble::new((0..count).map(|seed| plain(seed, 1)).collect()).unwrap_err().to_string();
            assert!(error.contains("an odd number") && error.contains(&count.to_string()), "{error}");
        }
        let error = answers(&Ensemble::new(vec![plain(0, 1), plain(1, 2), plain(2, 1)]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("outputs of a member of an ensemble"), "{error}");
    }
}

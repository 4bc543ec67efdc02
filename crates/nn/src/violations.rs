//! The penalty `violations`: a smooth count of the candidate groups a layer breaks. It needs no lattice, is blind to order
//! and scale, and tells apart what R cannot (Appendix F.3).

use burn::tensor::{Device, Tensor, TensorData};

use crate::cg_weights::CgWeights;
use crate::dense::defect_factor;
use crate::penalty::Proxy;
use crate::{Error, Result, Reynolds};

/// Keeps a neuron of zero weights from dividing by zero; it then breaks nothing.
const FLOOR: f64 = 1e-12;

/// sum over groups i of soft(mean over neurons h of r_ih), with r_ih = ||w_h^T (I - R_i)||^2 / ||w_h||^2.
#[derive(Debug, Clone)]
pub struct Violations {
    /// Rows whose products with w have the square sum ||w^T (I - R_i)||^2, all groups stacked, `[rows, positions]`.
    factors: Tensor<2>,
    /// 1 where a row belongs to a group, `[groups, rows]`.
    groups: Tensor<2>,
    reynolds: Reynolds,
    temperature: f64,
}

impl Violations {
    pub(crate) fn new(reynolds: &Reynolds, temperature: f64, device: &Device) -> Result<Self> {
        reynolds.check()?;
        let (mut factors, mut owners) = (Vec::new(), Vec::new());
        for (group, matrix) in reynolds.matrices.iter().enumerate() {
            for row in defect_factor(matrix, reynolds.dim) {
                factors.extend(row.into_iter().map(|x| x as f32));
                owners.push(group);
            }
        }
        if owners.is_empty() {
            // Only groups that do nothing: one row of zeros keeps the shapes valid.
            factors = vec![0.0; reynolds.dim];
            owners.push(usize::MAX);
        }
        // Likewise one row for a layer without groups.
        let (rows, groups) = (owners.len(), reynolds.groups().max(1));
        let member = (0..groups).flat_map(|g| owners.iter().map(move |&o| f32::from(u8::from(o == g)))).collect();
        Ok(Self {
            factors: Tensor::from_data(TensorData::new(factors, [rows, reynolds.dim]), device),
            groups: Tensor::from_data(TensorData::new::<f32, _>(member, [groups, rows]), device),
            reynolds: reynolds.clone(),
            temperature,
        })
    }

    /// The differentiable count, shape `[1]`.
    pub fn soft(&self, layer: &CgWeights) -> Result<Tensor<1>> {
        if layer.dim() != self.reynolds.dim {
            return Err(Error::shape("weights of a CG layer", format!("dimension {}", self.reynolds.dim), layer.dim()));
        }
        let weights = layer.weights();
        let [features, neurons] = [layer.features(), layer.neurons()];
        let per_neuron = |squares: Tensor<2>| {
            let [rows, _] = squares.dims();
            if features == 1 { squares } else { squares.reshape([rows, features, neurons]).sum_dim(1).reshape([rows, neurons]) }
        };
        // Constants follow the layer between the plain and the autodiff device.
        let device = weights.device();
        let (factors, groups) = (self.factors.clone().to_device(&device), self.groups.clone().to_device(&device));
        let broken = per_neuron(groups.matmul(factors.matmul(weights.clone()).square()));
        let total = per_neuron(weights.square().sum_dim(0)).add_scalar(FLOOR);
        let ratios = broken.div(total).mean_dim(1);
        Ok(Proxy::Ratio.soft(ratios, self.temperature).sum())
    }

    /// How many groups the layer breaks by more than `tolerance` (see [`CgWeights::kept`]).
    pub fn hard(&self, layer: &CgWeights, tolerance: f64) -> Result<usize> {
        Ok(layer.kept(&self.reynolds, tolerance)?.into_iter().filter(|(kept, _)| !kept).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bases, CgLinearConfig, Init, PenaltyConfig};

    #[test]
    fn by_hand() {
        // Neurons (3, -1) and (1, 1): violations 0.8 and 0, mean 0.4, soft = 40/41.
        let device = Device::flex();
        let root = 2f32.sqrt();
        let layer = CgLinearConfig::new(Bases::sequence(2), 2).init(&mut Init::new(0, &device)).unwrap();
        let layer = layer.set_coefficients(vec![root, root, 2.0 * root, 0.0]).unwrap();
        let penalty = PenaltyConfig::violations().build(Some(&Reynolds::swaps(2)), &device).unwrap();
        let value: f32 = penalty.soft(0, &layer.weights).unwrap().into_scalar();
        assert!((value - 40.0 / 41.0).abs() < 1e-5, "{value}");
    }

    #[test]
    fn blind_to_scale() {
        let device = Device::flex();
        let penalty = PenaltyConfig::violations().build(Some(&Reynolds::swaps(4)), &device).unwrap();
        let layer = CgLinearConfig::new(Bases::sequence(4), 3).per_feature(2).init(&mut Init::new(3, &device)).unwrap();
        let scaled: Vec<f32> = layer.weights.coefficients.val().mul_scalar(17.0).into_data().try_to_vec().unwrap();
        let before: f32 = penalty.soft(0, &layer.weights).unwrap().into_scalar();
        let after: f32 = penalty.soft(0, &layer.set_coefficients(scaled).unwrap().weights).unwrap().into_scalar();
        assert!((before - after).abs() < 1e-4);
    }

    #[test]
    fn groups_that_do_nothing_are_never_broken() {
        let device = Device::flex();
        let trivial = Reynolds { dim: 2, matrices: vec![vec![1.0, 0.0, 0.0, 1.0]] };
        let penalty = PenaltyConfig::violations().build(Some(&trivial), &device).unwrap();
        let layer = CgLinearConfig::new(Bases::sequence(2), 3).init(&mut Init::new(3, &device)).unwrap();
        assert!(penalty.soft(0, &layer.weights).unwrap().into_scalar::<f32>().abs() < 1e-12);
    }
}

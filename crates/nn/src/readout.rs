//! What trained weights kept: the test for each group, and the exact projection onto it.

use burn::module::Param;
use burn::tensor::{Tensor, TensorData};

use crate::cg_weights::{CgWeights, constants, span};
use crate::dense::{defect_factor, dot, matmul, solve, transpose};
use crate::layout::Layout;
use crate::{Error, Result, Reynolds};

/// Largest relative part of snapped weights that may fall outside the layer's basis.
const SNAP_TOLERANCE: f64 = 1e-6;

impl CgWeights {
    /// For each group i whether ||W (I - R_i)||^2 <= tol ||W||^2, rows of W being neurons, with the relative violation.
    /// Invariance of w is w^T R = w^T, so a group that is not orthogonal acts on weights by its transpose.
    pub fn kept(&self, reynolds: &Reynolds, tolerance: f64) -> Result<Vec<(bool, f64)>> {
        reynolds.check()?;
        self.check_dim("Reynolds operators", reynolds.dim)?;
        let (dim, weights) = (self.dim(), read(&self.weights())?);
        let neurons = transpose(&weights, weights.len() / dim);
        let total = dot(&neurons, &neurons);
        let violation = |r: &Vec<f64>| {
            let factor = defect_factor(r, dim);
            let broken: f64 = neurons.chunks(dim).flat_map(|w| factor.iter().map(move |k| dot(k, w).powi(2))).sum();
            if total > 0.0 { broken / total } else { 0.0 }
        };
        Ok(reynolds.matrices.iter().map(violation).map(|v| (v <= tolerance, v)).collect())
    }

    /// Projects the weights exactly onto a subspace, given its orthogonal projector (row-major, dim x dim):
    /// that of Bt(kept). Fails if the layer's basis cannot express the result, as when an imposed group is not kept.
    pub fn snap(self, projector: &[f64]) -> Result<Self> {
        let dim = self.dim();
        if projector.len() != dim * dim {
            return Err(Error::shape("projector", format!("{dim} x {dim} entries"), projector.len()));
        }
        let basis = read(&self.basis.val())?;
        let rank = basis.len() / dim;
        let weights = read(&self.weights())?;
        let columns = weights.len() / dim;
        let target = matmul(projector, &weights, dim, columns);
        let across = transpose(&basis, rank);
        let gram = matmul(&across, &basis, dim, rank);
        let omega = solve(gram, matmul(&across, &target, dim, columns), rank, columns);
        let reached = matmul(&basis, &omega, rank, columns);
        let missed: f64 = reached.iter().zip(&target).map(|(a, b)| (a - b).powi(2)).sum();
        let size = dot(&weights, &weights).max(f64::MIN_POSITIVE);
        let residual = (missed / size).sqrt();
        if residual > SNAP_TOLERANCE {
            return Err(Error::OutsideBasis { residual, tolerance: SNAP_TOLERANCE });
        }
        self.set_coefficients(omega.into_iter().map(|x| x as f32).collect())
    }

    /// The same weights confined to the span of `vectors`, such as a basis of Bt(M): they are projected there, which makes
    /// a warm start for a fit with the groups of M imposed. See [`CgWeights::new`].
    pub fn impose(mut self, vectors: &[Vec<f64>]) -> Result<Self> {
        let dim = self.dim();
        let vectors = span(vectors, dim)?;
        let weights = read(&self.weights())?;
        let (rank, columns) = (vectors.len(), weights.len() / dim);
        let omega = matmul(&vectors.concat(), &weights, dim, columns);
        let groups = self.layout.groups;
        self.layout = Layout::new(groups, std::iter::once((groups, rank)));
        let (basis, membership) = constants(&self.layout, &vectors);
        self.basis = replace(self.basis, basis, [dim, rank]);
        self.membership = replace(self.membership, membership, [1, rank]);
        let omega = omega.into_iter().map(|x| x as f32).collect();
        self.coefficients = replace(self.coefficients, omega, [rank, columns]);
        Ok(self)
    }

    fn check_dim(&self, what: &'static str, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        Err(Error::shape(what, format!("dimension {}", self.dim()), dim))
    }
}

/// New values, possibly of another shape, for a parameter that stays trained or fixed as it was.
pub(crate) fn replace(param: Param<Tensor<2>>, values: Vec<f32>, shape: [usize; 2]) -> Param<Tensor<2>> {
    param.map(|old| {
        let new = Tensor::from_data(TensorData::new(values, shape), &old.device());
        new.set_require_grad(old.is_require_grad())
    })
}

/// The entries of a matrix in f64.
pub(crate) fn read<const D: usize>(tensor: &Tensor<D>) -> Result<Vec<f64>> {
    let data = tensor.clone().detach().into_data().convert::<f64>();
    data.try_to_vec().map_err(|e| Error::Backend { operation: "reading a tensor", message: format!("{e:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bases, Bias, CgLinear, CgLinearConfig, Init};
    use burn::tensor::Device;

    fn layer(n: usize, neurons: usize, features: usize) -> CgLinear {
        let config = CgLinearConfig::new(Bases::sequence(n), neurons).per_feature(features);
        config.init(&mut Init::new(7, &Device::flex())).unwrap()
    }

    /// Averages positions 0 and 2, and 1 and 3, of four.
    fn parity_projector() -> Vec<f64> {
        (0..16).map(|k| if (k / 4 + k % 4) % 2 == 0 { 0.5 } else { 0.0 }).collect()
    }

    #[test]
    fn folded_equals_unfolded() {
        for (features, bias) in [(1, Bias::Single), (3, Bias::PerNeuron), (2, Bias::None)] {
            let mut init = Init::new(7, &Device::flex());
            let layer = CgLinearConfig::new(Bases::sequence(4), 6).per_feature(features).bias(bias).init(&mut init).unwrap();
            let x = init.normal([9, 4 * features], 1.0).val();
            let gap: f32 = (layer.forward(x.clone()) - layer.fold().forward(x)).abs().max().into_scalar();
            assert!(gap < 1e-6, "{gap}");
        }
    }

    #[test]
    fn snapped_layer_is_invariant_under_what_was_kept_and_nothing_else() {
        for features in [1, 3] {
            let snapped = layer(4, 8, features).snap(&parity_projector()).unwrap();
            let kept = snapped.kept(&Reynolds::swaps(4), 1e-10).unwrap();
            let flags: Vec<bool> = kept.iter().map(|k| k.0).collect();
            // Pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3).
            assert_eq!(flags, [false, true, false, false, true, false]);
            let x = Init::new(1, &Device::flex()).normal([5, 4, features], 1.0).val();
            let moved = x.clone().select(1, Tensor::from_ints([2, 1, 0, 3], &Device::flex()));
            let gap: f32 = (snapped.forward_features(x) - snapped.forward_features(moved)).abs().max().into_scalar();
            assert!(gap < 2e-6, "{gap}");
        }
    }

    #[test]
    fn snap_changes_nothing_that_was_already_inside() {
        let once = layer(4, 5, 1).snap(&parity_projector()).unwrap();
        let before = read(&once.weights.weights()).unwrap();
        let after = read(&once.snap(&parity_projector()).unwrap().weights.weights()).unwrap();
        assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn snap_outside_an_imposed_subspace_is_refused() {
        let config = CgLinearConfig::new(Bases::sequence(4), 5).imposed(vec![vec![1.0, 0.0, 0.0, 0.0]]);
        let layer = config.init(&mut Init::new(7, &Device::flex())).unwrap();
        let error = layer.clone().snap(&parity_projector()).unwrap_err();
        assert!(matches!(error, Error::OutsideBasis { .. }), "{error}");
        assert!(layer.snap(&[1.0; 3]).is_err());
    }

    #[test]
    fn imposing_projects_and_stays_trained() {
        for features in [1, 3] {
            let free = layer(4, 8, features);
            let vectors = [vec![1.0, 0.0, 1.0, 0.0], vec![1.0, 2.0, 1.0, 2.0]];
            let imposed = free.clone().impose(&vectors).unwrap();
            let snapped = free.snap(&parity_projector()).unwrap();
            let (a, b) = (read(&imposed.weights.weights()).unwrap(), read(&snapped.weights.weights()).unwrap());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6));
            assert_eq!(imposed.weights.coefficients.dims(), [2, 8 * features]);
            assert_eq!(crate::trained(&imposed), 2 * 8 * features + 1);
            assert_eq!(imposed.hard_penalty(0.0).unwrap(), 0);
            assert!(imposed.impose(&[vec![0.0; 4]]).is_err());
        }
    }

    #[test]
    fn violation_by_hand() {
        // One neuron w = (3, -1): w (I - R) = (2, -2), so the violation is 8/10.
        let mut init = Init::new(0, &Device::flex());
        let layer = CgLinearConfig::new(Bases::sequence(2), 1).init(&mut init).unwrap();
        let layer = layer.set_coefficients(vec![2f32.sqrt(), 2.0 * 2f32.sqrt()]).unwrap();
        let kept = layer.kept(&Reynolds::swaps(2), 0.5).unwrap();
        assert!(!kept[0].0 && (kept[0].1 - 0.8).abs() < 1e-6);
        assert!(layer.kept(&Reynolds::swaps(3), 0.5).unwrap_err().to_string().contains("expected dimension 2, got 3"));
        let zero = layer.set_coefficients(vec![0.0, 0.0]).unwrap();
        assert_eq!(zero.kept(&Reynolds::swaps(2), 0.0).unwrap(), [(true, 0.0)]);
    }

    #[test]
    fn groups_that_are_not_orthogonal_act_by_the_transpose() {
        // R = [[1, 1], [0, 0]] fixes w^T iff w0 = w1; R w = w would ask for w1 = 0 instead.
        let skew = Reynolds { dim: 2, matrices: vec![vec![1.0, 1.0, 0.0, 0.0]] };
        let layer = layer(2, 1, 1).set_coefficients(vec![1.0, 0.0]).unwrap();
        assert!(layer.kept(&skew, 1e-12).unwrap()[0].0);
    }
}

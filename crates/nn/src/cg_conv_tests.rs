use super::*;
use crate::image_groups::ImageGroups;
use crate::readout::read;
use crate::{PenaltyConfig, Proxy, Size};
use burn::tensor::Device;
use invar_algebra::{GroupSet, Shape, candidates};

fn groups() -> ImageGroups {
    let shape: Shape = "3x3x3".parse().unwrap();
    ImageGroups::new(&candidates(&shape, ["rot90(1,2)", "flip(1)", "permute(0)"]).unwrap()).unwrap()
}

fn gap(a: Tensor<4>, b: Tensor<4>) -> f32 {
    (a - b).abs().max().into_scalar()
}

fn turn(filters: Tensor<4>) -> Tensor<4> {
    filters.swap_dims(2, 3).flip([2])
}

#[test]
fn imposed_filters_do_not_change_under_their_groups() {
    let (groups, device) = (groups(), Device::flex());
    let mut init = Init::new(1, &device);
    let first = groups.first_layer().unwrap();
    let later = groups.later_layer().unwrap();
    let colours = |f: Tensor<4>| f.select(1, Tensor::from_ints([1, 2, 0], &device));
    for set in [vec![0], vec![1], vec![2], vec![0, 1], vec![1, 2], vec![0, 1, 2]] {
        let set: GroupSet = set.into_iter().collect();
        let basis = first.invariant_basis(&set).unwrap();
        let filters = CgConv2d::new(first.bases(), Some(&basis), 3, 3, 4, &mut init).unwrap().filters();
        assert_eq!(filters.dims(), [4, 3, 3, 3]);
        assert_eq!(gap(turn(filters.clone()), filters.clone()) < 1e-6, set.contains(0), "{set:?}");
        // On a patch, turns make the mirror hold too.
        assert_eq!(gap(filters.clone().flip([2]), filters.clone()) < 1e-6, set.contains(1) || set.contains(0), "{set:?}");
        assert_eq!(gap(colours(filters.clone()), filters) < 1e-6, set.contains(2), "{set:?}");

        let basis = later.invariant_basis(&set).unwrap();
        let filters = CgConv2d::new(later.bases(), Some(&basis), 5, 3, 4, &mut init).unwrap().filters();
        assert_eq!(filters.dims(), [4, 5, 3, 3]);
        assert_eq!(gap(turn(filters.clone()), filters) < 1e-6, set.contains(0), "{set:?}");
    }
}

#[test]
fn subspaces_land_where_they_belong() {
    // One coefficient at a time: the filter must be that basis vector, at the right input channel.
    let later = groups().later_layer().unwrap();
    let layer = CgConv2d::new(later.bases(), None, 2, 3, 2, &mut Init::new(0, &Device::flex())).unwrap();
    let vectors: Vec<Vec<f64>> = later.bases().blocks.iter().flat_map(|b| b.vectors.clone()).collect();
    for (row, vector) in vectors.iter().enumerate() {
        // Coefficients are [rank 9, inputs 2, outputs 2]; input 1, output 0.
        let mut values = vec![0.0; 9 * 4];
        values[row * 4 + 2] = 1.0;
        let mut one = layer.clone();
        one.weights = one.weights.set_coefficients(values).unwrap();
        let filters = read(&one.filters()).unwrap();
        assert!(filters[..9].iter().all(|x| x.abs() < 1e-12) && filters[18..].iter().all(|x| x.abs() < 1e-12));
        assert!(filters[9..18].iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}

#[test]
fn folded_equals_unfolded() {
    let groups = groups();
    let mut init = Init::new(3, &Device::flex());
    for (layer, inputs) in [(groups.first_layer().unwrap(), 3), (groups.later_layer().unwrap(), 5)] {
        let conv = CgConv2d::new(layer.bases(), None, inputs, 3, 4, &mut init).unwrap();
        let x = init.normal([2, 6, 6, inputs], 1.0).val();
        assert_eq!(conv.forward(x.clone()).dims(), [2, 6, 6, 4]);
        assert!(gap(conv.forward(x.clone()), conv.fold().forward(x)) < 1e-6);
        assert_eq!(crate::trained(&conv), crate::trained(&conv.fold()));
    }
}

#[test]
fn penalty_by_hand() {
    // Later layer of one input and one output: {rot,flip} 3, {flip} 3, {} 3 with norms 2, 3, 1; tau = 1.
    let device = Device::flex();
    let later = groups().later_layer().unwrap();
    let mut conv = CgConv2d::new(later.bases(), None, 1, 3, 1, &mut Init::new(0, &device)).unwrap();
    conv.weights = conv.weights.set_coefficients(vec![2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0, 0.0]).unwrap();
    let norms = conv.weights.block_norms().unwrap();
    assert!(norms.iter().zip([2.0, 3.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-6));
    assert_eq!(conv.weights.hard_penalty(0.0).unwrap(), 3);
    let levels = PenaltyConfig::Levels { size: Size::Norm, proxy: Proxy::Ratio, temperature: 1.0 };
    let value: f32 = levels.build(None, &device).unwrap().soft(0, &conv.weights).unwrap().into_scalar();
    // Level 1: f = 1 + 3/4, b = 3/4, R = 21/16. Level 0: f = 2 + 1/2, b = 1/2, R = 21/32 + 5/4.
    assert!((value - (21.0 / 32.0 + 1.25)).abs() < 1e-5, "{value}");
    let penalty = PenaltyConfig::violations().build(Some(later.reynolds()), &device).unwrap();
    let value: f32 = penalty.soft(0, &conv.weights).unwrap().into_scalar();
    // {flip} is within the filters invariant to the mirror; its turned average vanishes: 10/14 break the turn, 1/14 the mirror.
    let soft = |r: f32| 100.0 * r / (100.0 * r + 1.0);
    assert!((value - soft(10.0 / 14.0) - soft(1.0 / 14.0)).abs() < 1e-4, "{value}");
    let kept = conv.weights.kept(later.reynolds(), 0.1).unwrap();
    assert!(!kept[0].0 && kept[1].0);
}

#[test]
fn gradients_match_finite_differences() {
    let device = Device::flex().autodiff();
    let groups = groups();
    for (layer, inputs) in [(groups.first_layer().unwrap(), 3), (groups.later_layer().unwrap(), 2)] {
        let conv = CgConv2d::new(layer.bases(), None, inputs, 3, 2, &mut Init::new(5, &device)).unwrap();
        let x = Init::new(6, &device).normal([2, 4, 4, inputs], 1.0).val().detach();
        let goal = Init::new(7, &device).normal([2, 4, 4, 2], 1.0).val().detach();
        let loss = |conv: &CgConv2d| (conv.forward(x.clone()) * goal.clone()).sum() + conv.filters().square().sum();
        let grads = loss(&conv).backward();
        let gradient = read(&conv.weights.coefficients.val().grad(&grads).unwrap()).unwrap();
        let start: Vec<f32> = conv.weights.coefficients.val().into_data().try_to_vec().unwrap();
        for i in (0..start.len()).step_by(5) {
            let at = |h: f32| -> f64 {
                let mut values = start.clone();
                values[i] += h;
                let mut moved = conv.clone();
                moved.weights = moved.weights.set_coefficients(values).unwrap();
                f64::from(loss(&moved).into_scalar::<f32>())
            };
            let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
            assert!((slope - gradient[i]).abs() < 1e-2 * (1.0 + slope.abs()), "{i}: {slope} {}", gradient[i]);
        }
    }
}

#[test]
fn wrong_sizes_are_named() {
    let later = groups().later_layer().unwrap();
    let mut init = Init::new(0, &Device::flex());
    let message = CgConv2d::new(later.bases(), None, 2, 5, 1, &mut init).unwrap_err().to_string();
    assert_eq!(message, "dimension of a filter's bases: expected 25 or 50, got 9");
    assert!(CgConv2d::new(later.bases(), None, 2, 2, 1, &mut init).is_err());
    assert!(Conv2d::new(0, 3, 1, &mut init).is_err());
}

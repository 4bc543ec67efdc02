use super::*;
use crate::Init;
use crate::bases::{Bases, Block};

/// A space with one axis per subspace; `levels` must descend.
fn axes(groups: usize, levels: &[usize]) -> Bases {
    let axis = |i: usize| (0..levels.len()).map(|j| f64::from(u8::from(i == j))).collect();
    let block = |(i, &level)| Block { level, set: (0..level).collect(), vectors: vec![axis(i)] };
    Bases { dim: levels.len(), groups, blocks: levels.iter().enumerate().map(block).collect() }
}

#[allow(clippy::needless_pass_by_value, reason = "callers pass temporaries")]
fn layer(bases: Bases, coefficients: &[f32], device: &Device) -> CgWeights {
    let neurons = coefficients.len() / bases.dim;
    let layer = CgWeights::new(&bases, None, 1, neurons, &mut Init::new(0, device)).unwrap();
    layer.set_coefficients(coefficients.to_vec()).unwrap()
}

fn build(config: PenaltyConfig) -> Penalty {
    config.build(Some(&Reynolds::swaps(5)), &Device::flex()).unwrap()
}

fn levels(size: Size, proxy: Proxy, temperature: f64) -> Penalty {
    build(PenaltyConfig::Levels { size, proxy, temperature })
}

fn value(penalty: &Penalty, layer: &CgWeights) -> f64 {
    f64::from(penalty.soft(0, layer).unwrap().into_scalar::<f32>())
}

fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-5 * expected.abs().max(1.0), "got {got}, expected {expected}");
}

#[test]
fn soft_by_hand() {
    // m = 2, levels 2, 1, 1, 0 with norms 3, 1, 0, 0.5; tau = 2.
    let layer = layer(axes(2, &[2, 1, 1, 0]), &[3.0, 1.0, 0.0, 0.5], &Device::flex());
    // Level 1: f = 1 + 2/3, b = 2/3, R = 10/9. Level 0: f = 3 + 1/2, b = 1/2, R = 5/9 + 7/4.
    close(value(&levels(Size::Norm, Proxy::Ratio, 2.0), &layer), 5.0 / 9.0 + 1.75);
    // Squared: level 0 has z = 1/4, soft 1/3: f = 10/3, b = 1/3, R = (2/3)(10/9) + 10/9.
    close(value(&levels(Size::Squared, Proxy::Ratio, 2.0), &layer), 50.0 / 27.0);
    // Relative: total 4.5, z = 2/9 and 1/9; level 1: s = 4/13, R = s(1 + s); level 0: s = 2/11.
    let (s, t) = (4.0 / 13.0, 2.0 / 11.0);
    close(value(&levels(Size::Relative, Proxy::Ratio, 2.0), &layer), (1.0 - t) * s * (1.0 + s) + t * (3.0 + t));
    let soft = |z: f64| 2.0 / (1.0 + (-2.0 * z).exp()) - 1.0;
    let (s, t) = (soft(1.0), soft(0.5));
    close(value(&levels(Size::Norm, Proxy::Sigmoid, 2.0), &layer), (1.0 - t) * s * (1.0 + s) + t * (3.0 + t));
}

#[test]
fn blocks_of_several_rows_and_neurons_enter_by_their_norm() {
    let vectors = |range: std::ops::Range<usize>| range.map(|i| (0..3).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let bases = Bases {
        dim: 3,
        groups: 1,
        blocks: vec![
            Block { level: 1, set: vec![0], vectors: vectors(0..1) },
            Block { level: 0, set: vec![], vectors: vectors(1..3) },
        ],
    };
    let layer = layer(bases, &[9.0, 9.0, 2.0, 0.0, 1.0, 2.0], &Device::flex());
    let norms = layer.block_norms().unwrap();
    close(norms[1], 3.0);
    // b = 3/4, f = 1 + 3/4.
    close(value(&levels(Size::Norm, Proxy::Ratio, 1.0), &layer), 0.75 * 1.75);
}

#[test]
fn the_top_level_is_free_but_only_when_it_holds_every_group() {
    let ratio = levels(Size::Norm, Proxy::Ratio, 1.0);
    let top = layer(axes(2, &[2, 1]), &[5.0, 0.0], &Device::flex());
    assert!(value(&ratio, &top).abs() < 1e-12);
    assert_eq!(top.hard_penalty(0.0).unwrap(), 0);
    let below = layer(axes(3, &[2, 1]), &[5.0, 0.0], &Device::flex());
    close(value(&ratio, &below), 25.0 / 36.0);
    assert_eq!(below.hard_penalty(0.0).unwrap(), 1);
}

#[test]
fn the_figures_example() {
    // Three groups; used at level 1: two of three; nothing at level 0. Above level 1 lie 1 + 3 subspaces, used or not.
    let layout = axes(3, &[3, 2, 2, 2, 1, 1, 1, 0]);
    let layer = layer(layout, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0], &Device::flex());
    assert_eq!(layer.hard_penalty(0.0).unwrap(), 6);
    // A high temperature brings the soft value to the hard one.
    let soft = value(&levels(Size::Norm, Proxy::Ratio, 1e5), &layer);
    assert!((soft - 6.0).abs() < 1e-3, "{soft}");
    let norms = layer.block_norms().unwrap();
    assert_eq!(hard(layer.layout(), &norms, 2.0).unwrap(), 0);
    assert!(hard(layer.layout(), &norms[1..], 0.0).is_err());
}

#[test]
fn the_pair_of_appendix_f3() {
    let one = layer(Bases::sequence(5), &[1.0, 0.0, 1.0, 0.0, 1.0], &Device::flex());
    let two = layer(Bases::sequence(5), &[1.0, 0.0, 1.0, 0.0, 1.5], &Device::flex());
    assert_eq!(one.hard_penalty(1e-9).unwrap(), 3);
    assert_eq!(two.hard_penalty(1e-9).unwrap(), 3);
    let penalty = build(PenaltyConfig::violations());
    let Penalty::Violations(violations) = &penalty else { panic!("violations expected") };
    let violations = &violations[0];
    // Kept: the three swaps among positions 1, 3, 5, and for the first also 2 with 4.
    assert_eq!(violations.hard(&one, 1e-9).unwrap(), 6);
    assert_eq!(violations.hard(&two, 1e-9).unwrap(), 7);
    assert!(value(&penalty, &two) > value(&penalty, &one) + 0.5);
}

#[test]
fn temperatures_below_one_and_missing_groups_are_refused() {
    for temperature in [0.5, f64::NAN, f64::INFINITY, -1.0] {
        let config = PenaltyConfig::Violations { temperature };
        let message = config.build(None, &Device::flex()).unwrap_err().to_string();
        assert!(message.contains("temperature should be a number of at least 1"), "{message}");
    }
    assert!(PenaltyConfig::violations().build(None, &Device::flex()).is_err());
}

#[test]
fn gradients_match_finite_differences() {
    let device = Device::flex().autodiff();
    let start = [0.7, -0.4, 0.3, 0.9, -0.5, 0.2, 0.6, -0.8, 0.35, 0.45];
    let mut penalties = vec![PenaltyConfig::Violations { temperature: 3.0 }];
    for size in [Size::Norm, Size::Squared, Size::Relative] {
        for proxy in [Proxy::Ratio, Proxy::Sigmoid] {
            penalties.push(PenaltyConfig::Levels { size, proxy, temperature: 1.5 });
        }
    }
    for config in penalties {
        let penalty = config.build(Some(&Reynolds::swaps(5)), &device).unwrap();
        let at = |x: &[f32]| layer(Bases::sequence(5), x, &device);
        let centre = at(&start);
        let grads = penalty.soft(0, &centre).unwrap().backward();
        let gradient = crate::readout::read(&centre.coefficients.val().grad(&grads).unwrap()).unwrap();
        for i in 0..start.len() {
            let step = |h: f32| {
                let mut x = start;
                x[i] += h;
                value(&penalty, &at(&x))
            };
            let slope = (step(1e-2) - step(-1e-2)) / 2e-2;
            assert!((slope - gradient[i]).abs() < 5e-3 * (1.0 + slope.abs()), "{config:?} {i}: {slope} {}", gradient[i]);
        }
    }
}

#[test]
fn gradients_are_finite_at_zero() {
    let device = Device::flex().autodiff();
    for config in [
        PenaltyConfig::default(),
        PenaltyConfig::Levels { size: Size::Relative, proxy: Proxy::Sigmoid, temperature: 1.0 },
        PenaltyConfig::violations(),
    ] {
        let penalty = config.build(Some(&Reynolds::swaps(5)), &device).unwrap();
        for start in [[0.0; 5], [1.0, 0.0, 0.0, 0.0, 0.0]] {
            let layer = layer(Bases::sequence(5), &start, &device);
            let grads = penalty.soft(0, &layer).unwrap().backward();
            let gradient = layer.coefficients.val().grad(&grads).unwrap();
            assert!(crate::readout::read(&gradient).unwrap().iter().all(|g| g.is_finite()), "{config:?}");
        }
    }
}

#[test]
fn the_penalty_of_a_network_is_the_sum_over_its_layers() {
    let device = Device::flex();
    let (one, two) =
        (layer(Bases::sequence(5), &[1.0, 0.5, 1.0, 0.0, 1.0], &device), layer(Bases::sequence(3), &[1.0, 0.0, 1.0], &device));
    let groups = [Reynolds::swaps(5), Reynolds::swaps(3)];
    for config in [PenaltyConfig::default(), PenaltyConfig::violations()] {
        let penalty = config.build_layers(&groups, &device).unwrap();
        let total: f32 = penalty.total(&[&one, &two]).unwrap().unwrap().into_scalar();
        let second: f32 = penalty.soft(1, &two).unwrap().into_scalar();
        close(f64::from(total), value(&penalty, &one) + f64::from(second));
        assert!(penalty.total(&[]).unwrap().is_none());
    }
    let penalty = PenaltyConfig::violations().build_layers(&groups[..1], &device).unwrap();
    let message = penalty.total(&[&one, &two]).unwrap_err().to_string();
    assert_eq!(message, "CG layers with groups for `violations`: expected 2, got 1");
    assert!(penalty.soft(0, &two).unwrap_err().to_string().contains("expected dimension 5, got 3"));
}

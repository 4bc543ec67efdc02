use super::*;
use burn::tensor::{Device, TensorData};
use invar_algebra::{Action, Group, Shape, candidates};
use proptest::prelude::*;

fn groups(shape: &str, of: &[&str]) -> Vec<Group> {
    candidates(&shape.parse::<Shape>().unwrap(), of.iter().copied()).unwrap()
}

fn network(all: &[Group], imposed: &[Group], front: FrontKind, free: bool, seed: u64) -> Pairs {
    let points = Points::of(all[0].shape().len(), all).unwrap();
    let ties = points.ties(imposed).unwrap();
    let pooled = if free { points.ties([]).unwrap() } else { ties.clone() };
    PairsConfig::new(front, 2).init(points, &ties, &pooled, &mut Init::new(seed, &Device::flex())).unwrap()
}

fn answers(model: &Pairs, x: &[f32]) -> Vec<f32> {
    let rows = x.len() / model.entries;
    let x = Tensor::<2>::from_data(TensorData::new(x.to_vec(), [rows, model.entries]), &Device::flex());
    let input = match &model.front {
        Front::Tokens(_) => Input::Tokens(x.int()),
        Front::Numbers(_) => Input::Array(x),
    };
    model.forward(input, &mut Pass::evaluate()).unwrap().into_data().try_to_vec().unwrap()
}

fn moved(x: &[f32], action: &Action) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    action.apply(&x.iter().map(|&v| f64::from(v)).collect::<Vec<_>>(), &mut out);
    out.into_iter().map(|v| v as f32).collect()
}

fn largest_gap(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

const LISTS: [(&str, &[&str]); 6] = [
    ("6", &["swaps(0)"]),
    ("6", &["cycle(0)", "flip(0)", "swap(0;0,1)"]),
    ("4x2", &["swaps(0)", "swap(1;0,1)"]),
    ("3x3", &["rot90(0,1)", "flip(1)", "permute(0)"]),
    ("4", &["negate", "swap(0;0,1)", "generators([[-0,1,2,3]])"]),
    ("3x3", &["node_swaps(0,1)", "negate"]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Imposed candidates change nothing, and a candidate that is not implied does.
    #[test]
    fn invariant_to_what_is_imposed_and_to_nothing_else(
        (list, bits, seed) in (0..LISTS.len(), any::<u32>(), 0..50u64),
        x in prop::collection::vec(-2.0f32..2.0, 9),
    ) {
        let (shape, names) = LISTS[list];
        let all = groups(shape, names);
        let imposed: Vec<Group> = all.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1).map(|(_, g)| g.clone()).collect();
        let points = Points::of(all[0].shape().len(), &all).unwrap();
        let ties = points.ties(&imposed).unwrap();
        let model = network(&all, &imposed, FrontKind::Pairs, false, seed);
        let x = &x[..model.entries];
        let before = answers(&model, x);
        for group in &all {
            let implied = points.implies(&ties, group).unwrap();
            let gap = group.generators().iter().map(|g| largest_gap(&before, &answers(&model, &moved(x, g)))).fold(0.0, f32::max);
            let still = group.generators().iter().all(|g| largest_gap(x, &moved(x, g)) < 0.05);
            prop_assert!(if implied { gap < 1e-4 } else { gap > 1e-6 || still }, "{} implied {implied}: {gap}", group.name());
        }
    }
}

#[test]
fn by_hand() {
    // Two entries that may be exchanged; one feature, phi(x)_i = ReLU(2 x_i - x_j + 1), passed on as it is.
    let all = groups("2", &["swaps(0)"]);
    let mut model = network(&all, &all, FrontKind::Pairs, false, 0);
    let Front::Numbers(front) = &mut model.front else { unreachable!() };
    let device = Device::flex();
    let matrix =
        |values: Vec<f32>, shape: [usize; 2]| Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &device));
    front.weight = matrix(vec![2.0, -1.0], [2, 1]);
    front.bias = matrix(vec![1.0], [1, 1]);
    let linear =
        |values: Vec<f32>, [inputs, outputs]: [usize; 2]| Linear { weight: matrix(values, [inputs, outputs]), bias: None };
    front.second = linear(vec![1.0], [1, 1]);
    // Sums of (phi, x+, x-) over the square root of two, then their largest values: 10 * sum of phi + 1 * largest x+ + 100 * sum of x-.
    let root = 2f32.sqrt();
    model.cg = linear(vec![10.0 * root, 0.0, 100.0 * root, 0.0, 1.0, 0.0], [6, 1]);
    model.hidden = linear(vec![1.0], [1, 1]);
    model.output = linear(vec![1.0], [1, 1]);
    // x = (3, -1): phi = (6 + 1 + 1, 0) = (8, 0); x+ = (3, 0); x- = (0, 1).
    for x in [[3.0, -1.0], [-1.0, 3.0]] {
        let y = answers(&model, &x)[0];
        assert!((y - (80.0 + 3.0 + 100.0)).abs() < 1e-3, "{y}");
    }
}

#[test]
fn nothing_imposed_and_a_front_tied_along_all_are_invariant_to_nothing() {
    let all = groups("4", &["swaps(0)"]);
    let x = [0.3, -1.0, 2.0, 0.7];
    for (imposed, free) in [(&[][..], false), (&all[..], true)] {
        for front in [FrontKind::Pairs, FrontKind::Pointwise, FrontKind::Tokens { vocabulary: 9 }] {
            let x = if matches!(front, FrontKind::Tokens { .. }) { [1.0, 2.0, 8.0, 0.0] } else { x };
            let model = network(&all, imposed, front, free, 3);
            for group in &all {
                let gap = largest_gap(&answers(&model, &x), &answers(&model, &moved(&x, &group.generators()[0])));
                assert!(gap > 1e-5, "{front:?} {}", group.name());
            }
        }
    }
}

#[test]
fn fronts_of_one_entry_are_invariant_too() {
    let all = groups("5", &["swaps(0)"]);
    for (front, x) in
        [(FrontKind::Pointwise, [0.3, -1.0, 2.0, 0.7, 5.0]), (FrontKind::Tokens { vocabulary: 9 }, [1.0, 2.0, 8.0, 0.0, 2.0])]
    {
        let model = network(&all, &all, front, false, 3);
        let before = answers(&model, &x);
        for group in &all {
            assert!(largest_gap(&before, &answers(&model, &moved(&x, &group.generators()[0]))) < 1e-5);
        }
        assert!(model.describe().contains("5 points"));
    }
}

#[test]
fn stretched_answers_are_those_of_another_unit() {
    let all = groups("3", &["swaps(0)"]);
    let model = network(&all, &all[..1], FrontKind::Pairs, false, 5);
    let x = [0.5, -1.0, 2.0, 1.5, 0.25, -0.5];
    let (before, after) = (answers(&model, &x), answers(&model.clone().stretched(80.0, 9.0), &x));
    for (a, b) in before.iter().zip(&after) {
        assert!((9.0 * a + 80.0 - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn wrong_inputs_are_named() {
    let all = groups("3", &["negate"]);
    let points = Points::of(3, &all).unwrap();
    let ties = points.ties(&all).unwrap();
    let tokens =
        PairsConfig::new(FrontKind::Tokens { vocabulary: 4 }, 1).init(points, &ties, &ties, &mut Init::new(0, &Device::flex()));
    assert!(tokens.unwrap_err().to_string().contains("permutations of positions"));
    let model = network(&all, &all, FrontKind::Pairs, false, 0);
    let x = Tensor::<2>::ones([1, 4], &Device::flex());
    assert_eq!(
        model.forward(Input::Array(x.clone()), &mut Pass::evaluate()).unwrap_err().to_string(),
        "entries of the input: expected 3, got 4"
    );
    assert!(model.forward(Input::Tokens(x.int()), &mut Pass::evaluate()).is_err());
}

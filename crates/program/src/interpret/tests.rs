use super::*;
use crate::certify::numeric::random;
use crate::testing::{numbers, tensor};
use crate::{Activation, Input, Op, Pooling, Program, Tensor};
use invar_data::onnx::Port;
use proptest::prelude::*;

fn floats(shape: &[usize], values: &[f32]) -> Constant {
    Constant::Floats(shape.to_vec(), values.to_vec())
}

fn integers(values: &[i64]) -> Constant {
    Constant::Integers(vec![values.len()], values.to_vec())
}

/// A model of one node on `x` and constants.
fn model(operator: &str, constants: &[Constant], attributes: &[(&str, Attribute)]) -> Model {
    let names: Vec<String> = (0..constants.len()).map(|i| format!("c{i}")).collect();
    let node = Node {
        operator: operator.into(),
        inputs: std::iter::once("x".to_owned()).chain(names.clone()).collect(),
        outputs: vec!["y".into()],
        attributes: attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        ..Node::default()
    };
    Model {
        nodes: vec![node],
        constants: names.into_iter().zip(constants.iter().cloned()).collect(),
        inputs: vec![Port { name: "x".into(), ..Port::default() }],
        outputs: vec!["y".into()],
        version: None,
    }
}

fn run(shape: &[usize], x: &[f32], operator: &str, constants: &[Constant], attributes: &[(&str, Attribute)]) -> Vec<f32> {
    Interpreter::new("m", model(operator, constants, attributes)).unwrap().run(shape, x).unwrap()
}

fn list(values: &[i64]) -> Attribute {
    Attribute::Integers(values.to_vec())
}

/// The program written as ONNX, read again and run, answers as the program does.
fn agrees(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    crate::export::graph(program, true, None).unwrap().write(&path).unwrap();
    let read = Interpreter::load(&path, Limits::new(1 << 24)).unwrap();
    let x = random(&program.input, 3, 1);
    let (expected, got) = (program.run(&x).unwrap(), read.run(&program.input.sides(), &x).unwrap());
    let size = expected.iter().fold(0.0f32, |size, y| size.max(y.abs()));
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() <= 1e-5 * size, "{got} {expected}");
    }
}

#[test]
fn exported_programs_come_back() {
    let mut seed = 1;
    let mut drawn = |shape: &[usize]| tensor(shape, &numbers(&mut seed, shape.iter().product()));
    let positive = |n: usize| Tensor::vector(vec![0.5; n]);
    let images = vec![
        Op::Normalise { mean: drawn(&[2]), scale: positive(2) },
        Op::Conv { filters: drawn(&[6, 2, 3, 3]), bias: Some(drawn(&[6])) },
        Op::BatchNorm { gamma: drawn(&[6]), beta: drawn(&[6]), mean: drawn(&[6]), variance: positive(6), epsilon: 1e-3 },
        Op::GroupMax { size: 2 },
        Op::MaxPool { window: [3, 2], stride: [2, 2] },
        Op::PoolSpace { pooling: Pooling::Mean },
        Op::Linear { weight: drawn(&[4, 3]), bias: Some(drawn(&[4])) },
    ];
    agrees(&Program::new(Input::Images { channels: 2, height: 7, width: 6 }, images).unwrap());
    let mut tokens =
        vec![Op::Gather { table: drawn(&[5, 4]) }, Op::Transpose { order: vec![1, 0] }, Op::Reshape { shape: vec![12] }];
    for activation in [Activation::Gelu, Activation::Tanh, Activation::LeakyRelu, Activation::Sigmoid, Activation::Relu] {
        tokens.extend([Op::Linear { weight: drawn(&[12, 12]), bias: None }, Op::Activate { activation }]);
    }
    agrees(&Program::new(Input::Tokens { length: 3, vocabulary: 5 }, tokens).unwrap());
    let inner = vec![
        Op::Conv { filters: drawn(&[3, 1, 3, 3]), bias: None },
        Op::PoolSpace { pooling: Pooling::Sum },
        Op::Linear { weight: drawn(&[2, 3]), bias: Some(drawn(&[2])) },
    ];
    let views = tensor(&[2, 4], &[0.0, 1.0, 2.0, 3.0, 1.0, 0.0, 3.0, 2.0]);
    let ops = vec![Op::Orbit { views, ops: inner }, Op::Reshape { shape: vec![4] }];
    agrees(&Program::new(Input::Images { channels: 1, height: 2, width: 2 }, ops).unwrap());
    for count in [1, 3, 5, 7] {
        let mut member = || vec![Op::Gather { table: drawn(&[5, 2]) }, Op::Reshape { shape: vec![6] }];
        let ops = vec![Op::Median { members: (0..count).map(|_| member()).collect() }];
        agrees(&Program::new(Input::Tokens { length: 3, vocabulary: 5 }, ops).unwrap());
    }
    let sums = vec![Op::SumChannels, Op::Reshape { shape: vec![9] }];
    agrees(&Program::new(Input::Images { channels: 4, height: 3, width: 3 }, sums).unwrap());
}

#[test]
fn operators_that_exports_do_not_use() {
    let x: Vec<f32> = (0..8).map(|i| i as f32).collect();
    // Strides, padding on one side, groups.
    let conv = [("strides", list(&[1, 2])), ("pads", list(&[0, 1, 0, 0])), ("group", Attribute::Integer(2))];
    let filters = floats(&[2, 1, 1, 2], &[1.0, 10.0, 1.0, 0.0]);
    assert_eq!(run(&[2, 1, 4], &x, "Conv", &[filters], &conv), [0.0, 21.0, 0.0, 5.0]);
    let window = [("kernel_shape", list(&[2, 2])), ("pads", list(&[1, 1, 0, 0])), ("strides", list(&[2, 2]))];
    assert_eq!(run(&[1, 2, 4], &x, "AveragePool", &[], &window)[..2], [0.0, 1.5]);
    let whole = [&window[..], &[("count_include_pad", Attribute::Integer(1))]].concat();
    assert_eq!(run(&[1, 2, 4], &x, "AveragePool", &[], &whole)[1..2], [0.75]);
    assert_eq!(run(&[2, 2, 2], &x, "GlobalAveragePool", &[], &[]), [1.5, 5.5]);
    assert_eq!(run(&[2, 2, 2], &x, "GlobalMaxPool", &[], &[]), [3.0, 7.0]);
    assert_eq!(run(&[2, 4], &x, "Sub", &[floats(&[4], &[0.0, 1.0, 2.0, 3.0])], &[]), [0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0]);
    let bounds = [floats(&[], &[2.0]), floats(&[2, 1], &[1.0, 5.0])];
    assert_eq!(run(&[2, 4], &x, "Max", &bounds, &[]), [2.0, 2.0, 2.0, 3.0, 5.0, 5.0, 6.0, 7.0]);
    assert_eq!(run(&[4, 2], &x, "Min", &bounds[..1], &[])[1..4], [1.0, 2.0, 2.0]);
    for operator in ["Min", "Max"] {
        let nothing = run(&[2], &[1.0, f32::NAN], operator, &[floats(&[2], &[f32::NAN, 1.0])], &[]);
        assert!(nothing.iter().all(|value| value.is_nan()), "{operator}: {nothing:?}");
    }
    assert_eq!(run(&[4, 2], &x, "Div", &[floats(&[], &[2.0])], &[])[3..4], [1.5]);
    assert_eq!(run(&[8], &x, "Clip", &[floats(&[], &[2.0]), floats(&[], &[3.0])], &[])[..5], [2.0, 2.0, 2.0, 3.0, 3.0]);
    let twice = run(&[2, 2], &x[..4], "Concat", &[floats(&[1, 2, 1], &[8.0, 9.0])], &[("axis", Attribute::Integer(2))]);
    assert_eq!(twice, [0.0, 1.0, 8.0, 2.0, 3.0, 9.0]);
    assert_eq!(run(&[2, 4], &x, "ReduceMean", &[], &[("axes", list(&[-1])), ("keepdims", Attribute::Integer(0))]), [1.5, 5.5]);
    assert_eq!(run(&[2, 4], &x, "Reshape", &[integers(&[0, -1, 2])], &[]), x);
    assert_eq!(run(&[2, 4], &x, "Flatten", &[], &[("axis", Attribute::Integer(0))]), x);
    assert_eq!(run(&[1, 8], &x, "Squeeze", &[], &[]), x);
    assert_eq!(run(&[8], &x, "Unsqueeze", &[integers(&[1])], &[]), x);
    let gemm = [("alpha", Attribute::Float(2.0)), ("beta", Attribute::Float(0.5))];
    assert_eq!(run(&[2], &x[..2], "Gemm", &[floats(&[2, 1], &[1.0, 3.0]), floats(&[1], &[4.0])], &gemm), [8.0]);
}

#[test]
fn what_is_not_known_is_named() {
    let error = Interpreter::new("m.onnx", model("Einsum", &[], &[])).unwrap_err().to_string();
    assert!(error.starts_with("m.onnx: node 0 (Einsum): an operator that is not known here; known are Abs Add"), "{error}");
    let mut two = model("Relu", &[], &[]);
    two.inputs.push(Port { name: "z".into(), ..Port::default() });
    assert!(Interpreter::new("m", two).unwrap_err().to_string().contains("expected a model of one input, got 2"));
    let refused = |operator, constants: &[Constant], attributes: &[(&str, Attribute)]| {
        let read = Interpreter::new("m", model(operator, constants, attributes)).unwrap();
        read.run(&[1, 4, 4], &[0.0; 16]).unwrap_err().to_string()
    };
    let dilated = refused("MaxPool", &[], &[("kernel_shape", list(&[2, 2])), ("dilations", list(&[2, 2]))]);
    assert_eq!(dilated, "m: node 0 (MaxPool): dilations are not known here");
    assert!(refused("Conv", &[floats(&[1, 2, 1, 1], &[0.0; 2])], &[]).contains("filters 1x2x1x1 in 1 groups do not fit 1x1x4x4"));
    let square = |stated: &[i64]| refused("Conv", &[floats(&[1, 1, 2, 2], &[0.0; 4])], &[("kernel_shape", list(stated))]);
    assert_eq!(square(&[1, 4]), "m: node 0 (Conv): kernel_shape [1, 4] contradicts its weights, which are 2x2");
    assert!(square(&[2]).contains("contradicts its weights"));
    assert!(refused("Add", &[floats(&[3], &[0.0; 3])], &[]).contains("shapes 1x1x4x4 and 3 do not fit"));
    assert!(refused("Reshape", &[integers(&[7])], &[]).contains("expected 7 entries"));
    assert!(refused("MaxPool", &[], &[("kernel_shape", list(&[9, 1]))]).contains("a window of 9 does not fit a side of 4"));
    let huge = [("kernel_shape", list(&[1, 1])), ("pads", list(&[0, 0, 1 << 19, 1 << 19]))];
    assert!(refused("AveragePool", &[], &huge).contains("is too large"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file says, there is an answer or an error.
    #[test]
    fn no_node_panics(
        operator in prop::sample::select(operators::names()),
        sides in prop::collection::vec(0usize..4, 0..4),
        numbers in prop::collection::vec(-3i64..6, 0..5),
        axes in prop::collection::vec(-4i64..5, 0..4),
        kernel in prop::collection::vec(-1i64..4, 0..4),
        integer in -5i64..6,
        kinds in any::<[bool; 2]>(),
    ) {
        let count: usize = sides.iter().product();
        let constant = |integers: bool| {
            if integers {
                Constant::Integers(vec![numbers.len()], numbers.clone())
            } else {
                Constant::Floats(sides.clone(), vec![0.5; count])
            }
        };
        let attributes = [
            ("axes", list(&axes)), ("perm", list(&axes)), ("kernel_shape", list(&kernel)), ("strides", list(&kernel)),
            ("pads", list(&axes)), ("axis", Attribute::Integer(integer)), ("group", Attribute::Integer(integer)),
            ("to", Attribute::Integer(integer)), ("keepdims", Attribute::Integer(integer & 1)),
        ];
        for some in [&attributes[..], &attributes[2..], &attributes[5..], &[]] {
            let heard = operators::attributes(operator).unwrap();
            let some: Vec<_> = some.iter().filter(|(name, _)| heard.contains(name)).cloned().collect();
            let model = model(operator, &kinds.map(constant), &some);
            for shape in [&[1usize, 3, 3][..], &[2, 2], &[4], &[]] {
                let x = vec![0.5; shape.iter().product()];
                let _ = Interpreter::new("m", model.clone()).unwrap().run(shape, &x);
            }
        }
    }
}

#[test]
fn shapes_that_a_file_does_not_take_are_refused() {
    let takes = |declared: Option<&[Option<usize>]>, sides: &[usize]| {
        let port = Port { name: "x".into(), shape: declared.map(<[_]>::to_vec), ..Port::default() };
        let model = Model { inputs: vec![port], outputs: vec!["x".into()], ..Model::default() };
        Interpreter::new("m", model).unwrap().check_shape(sides).map_err(|error| error.to_string())
    };
    // Nothing is declared, sides may be anything, and entries may lie in another shape.
    assert!(takes(None, &[3]).is_ok() && takes(Some(&[]), &[3]).is_ok());
    assert!(takes(Some(&[None, Some(3)]), &[3]).is_ok() && takes(Some(&[Some(1), None]), &[3]).is_ok());
    assert!(takes(Some(&[None, Some(12)]), &[3, 2, 2]).is_ok());
    let error = takes(Some(&[None, Some(4)]), &[3]).unwrap_err();
    assert!(error.contains("it takes an input of ?x4") && error.ends_with("got examples of 3"), "{error}");
    // As many entries in another order of sides are other examples.
    assert!(takes(Some(&[None, Some(2), Some(3)]), &[3, 2]).is_err());
    assert!(takes(Some(&[None, None]), &[3, 2]).is_err());
    assert!(takes(Some(&[None, Some(1 << 40), Some(1 << 40)]), &[3]).is_err(), "a product that no machine has");
}

/// A model that makes `x` twice as long so often, and then computes on.
fn doubled(times: usize, behind: &[&str]) -> Interpreter {
    let mut nodes = Vec::new();
    let mut last = "x".to_owned();
    let mut add = |operator: &str, inputs: usize, attributes: &[(&str, Attribute)]| {
        let made = format!("v{}", nodes.len());
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let inputs = vec![last.clone(); inputs];
        nodes.push(Node { operator: operator.into(), inputs, outputs: vec![made.clone()], attributes, ..Node::default() });
        last = made;
    };
    for _ in 0..times {
        add("Concat", 2, &[("axis", Attribute::Integer(1))]);
    }
    for operator in behind {
        let axes = [("axes", list(&[1]))];
        add(operator, 1, if *operator == "ReduceSum" { &axes } else { &[] });
    }
    let inputs = vec![Port { name: "x".into(), ..Port::default() }];
    Interpreter::new("m", Model { nodes, inputs, outputs: vec![last], ..Model::default() }).unwrap()
}

#[test]
fn values_that_small_files_make_large_are_refused() {
    let within = |bytes: u64, model: Interpreter| {
        let bytes = bytes * rayon::current_num_threads() as u64;
        Interpreter { bytes, ..model }.run(&[4], &[1.0; 8]).map_err(|error| error.to_string())
    };
    // There is room for 8192 entries, of which those to be doubled take half.
    let large = within(1 << 17, doubled(14, &["ReduceSum"])).unwrap_err();
    let expected = "m: node 10 (Concat): a result of shape 1x8192 does not fit the memory for one example: there is room for ";
    assert!(large.starts_with(expected), "{large}");
    // What nobody needs any more makes room: each of a thousand values would fit alone, and not two hundred together.
    let chain = [&["Relu"; 1000][..], &["ReduceSum"]].concat();
    assert_eq!(within(1 << 18, doubled(10, &chain)).unwrap(), [4096.0, 4096.0]);
    // Empty sides hide none that are too large.
    let hidden = Interpreter::new("m", model("Reshape", &[integers(&[1 << 40, -1, 1 << 40])], &[])).unwrap().run(&[4], &[1.0; 4]);
    assert!(hidden.unwrap_err().to_string().contains("is too large"));
}

#[test]
fn work_that_small_files_describe_is_refused() {
    // A square of 2^10 rows multiplied by itself is 2^30 multiplications.
    assert!(doubled(8, &[]).within(1).run(&[4], &[1.0; 4]).is_ok());
    let mut square = doubled(8, &[]);
    square.model.nodes.push(Node {
        operator: "Transpose".into(),
        inputs: vec!["v7".into()],
        outputs: vec!["t".into()],
        ..Node::default()
    });
    for (k, inputs) in [["t", "v7"], ["m0", "m0"], ["m1", "m1"]].into_iter().enumerate() {
        let (inputs, outputs) = (inputs.map(String::from).to_vec(), vec![format!("m{k}")]);
        square.model.nodes.push(Node { operator: "MatMul".into(), inputs, outputs, ..Node::default() });
    }
    square.model.outputs = vec!["m2".into()];
    let error = square.within(1).run(&[4], &[1.0; 4]).unwrap_err().to_string();
    let expected =
        "m: node 10 (MatMul): one example takes more than the 1 billions of multiplications that are allowed (--limit)";
    assert_eq!(error, expected);
    assert!(doubled(8, &[]).cost(&[4]).unwrap() > doubled(7, &[]).cost(&[4]).unwrap());
}

#[test]
fn outputs_must_hold_something() {
    let mut nothing = model("Constant", &[], &[("value", Attribute::Tensor(Constant::Floats(vec![0], Vec::new())))]);
    nothing.nodes[0].inputs.clear();
    let error = Interpreter::new("m", nothing).unwrap().run(&[4], &[1.0; 4]).unwrap_err().to_string();
    assert!(error.contains("its output is empty"), "{error}");
}

#[test]
fn what_is_said_about_an_operator_is_heard() {
    let refused = |operator, name: &str, value| {
        let said = [(name, Attribute::Integer(value))];
        Interpreter::new("m", model(operator, &[], &said)).map_or_else(|error| error.to_string(), |_| "read".to_owned())
    };
    let expected = "m: node 0 (Shape): its attribute \"end\" is not known here, and would change what it computes";
    assert_eq!(refused("Shape", "end", 1), expected);
    for (operator, name, harmless) in [("BatchNormalization", "training_mode", 0), ("ReduceSum", "noop_with_empty_axes", 0)] {
        assert_eq!(refused(operator, name, harmless), "read");
        assert!(refused(operator, name, 1).contains(name));
    }
    // Bounds of a clip were attributes once.
    assert!(refused("Clip", "max", 1).contains("its attribute \"max\""));
    let softmax = |version, shape: &[usize]| {
        let model = Model { version, ..model("Softmax", &[], &[]) };
        Interpreter::new("m", model).unwrap().run(shape, &[0.0; 4]).map_err(|error| error.to_string())
    };
    assert_eq!(softmax(Some(12), &[4]).unwrap(), [0.25; 4]);
    assert_eq!(softmax(Some(13), &[2, 2]).unwrap(), [0.5; 4]);
    assert!(softmax(Some(12), &[2, 2]).unwrap_err().contains("before version 13"));
}

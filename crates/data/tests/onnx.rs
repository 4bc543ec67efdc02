//! The structure of ONNX files, read back by a decoder of protobuf written for this test, and graphs that cannot be.
//!
//! That the operators compute what they should is checked by `onnx_check.py`, with onnxruntime.

use std::collections::BTreeMap;

use invar_data::onnx::{Dim, Gemm, Graph, Keep, Kind, Value, Window};
use invar_data::{Error, Result};

use Dim::{Batch, Fixed};

/// A field of a message.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Number(u64),
    Bytes(Vec<u8>),
    Word([u8; 4]),
}

/// A message by its field numbers.
struct Message(BTreeMap<u64, Vec<Part>>);

impl Message {
    fn decode(mut bytes: &[u8]) -> Self {
        let mut parts: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let part = match tag & 7 {
                0 => Part::Number(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (content, rest) = bytes.split_at(length);
                    bytes = rest;
                    Part::Bytes(content.to_vec())
                }
                5 => {
                    let (content, rest) = bytes.split_at(4);
                    bytes = rest;
                    Part::Word(content.try_into().unwrap())
                }
                kind => panic!("wire type {kind}"),
            };
            parts.entry(tag >> 3).or_default().push(part);
        }
        Self(parts)
    }

    fn parts(&self, field: u64) -> &[Part] {
        self.0.get(&field).map_or(&[], Vec::as_slice)
    }

    fn messages(&self, field: u64) -> Vec<Self> {
        self.bytes(field).iter().map(|bytes| Self::decode(bytes)).collect()
    }

    fn message(&self, field: u64) -> Self {
        self.messages(field).remove(0)
    }

    fn bytes(&self, field: u64) -> Vec<&[u8]> {
        self.parts(field)
            .iter()
            .map(|part| match part {
                Part::Bytes(bytes) => bytes.as_slice(),
                other => panic!("field {field}: {other:?}"),
            })
            .collect()
    }

    fn texts(&self, field: u64) -> Vec<String> {
        self.bytes(field).iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    fn text(&self, field: u64) -> String {
        self.texts(field).remove(0)
    }

    fn numbers(&self, field: u64) -> Vec<i64> {
        let number = |part: &Part| if let Part::Number(value) = part { *value as i64 } else { panic!("number in {field}") };
        self.parts(field).iter().map(number).collect()
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

/// Name, type, and sizes of a value; the batch is -1.
fn value(message: &Message) -> (String, i64, Vec<i64>) {
    let tensor = message.message(2).message(1);
    let size = |dim: &Message| match (&dim.numbers(1)[..], &dim.texts(2)[..]) {
        ([size], []) => *size,
        ([], [name]) if name == "batch" => -1,
        other => panic!("{other:?}"),
    };
    (message.text(1), tensor.numbers(1)[0], tensor.message(2).messages(1).iter().map(size).collect())
}

#[test]
fn a_file_says_what_the_graph_says() {
    let mut graph = Graph::new("small");
    let x = graph.input("x", Kind::Float, &[Batch, Fixed(2), Fixed(4), Fixed(4)]).unwrap();
    let w = graph.floats("w", &[3, 2, 3, 3], &[0.5; 54]).unwrap();
    let hidden = graph.conv(x, w, None, 1, Window { pads: [1; 4], ..Window::default() }).unwrap();
    let scale = graph.floats("scale", &[3], &[1.0, -2.0, 3.0]).unwrap();
    let hidden = graph.batch_norm(hidden, [scale; 4], 0.25).unwrap();
    let hidden = graph.reduce_sum(hidden, &[2, 3], Keep::Nothing).unwrap();
    let class = graph.arg_max(hidden, 1).unwrap();
    graph.output("scores", hidden).unwrap();
    graph.output("class", class).unwrap();
    graph.describe("classes", "[\"a\", \"b\", \"c\"]");

    let model = Message::decode(&graph.encode().unwrap());
    assert_eq!((model.numbers(1), model.text(2)), (vec![8], "invar".to_owned()));
    assert_eq!((model.message(8).text(1), model.message(8).numbers(2)), (String::new(), vec![17]));
    let property = model.message(14);
    assert_eq!((property.text(1), property.text(2)), ("classes".to_owned(), "[\"a\", \"b\", \"c\"]".to_owned()));

    let inside = model.message(7);
    assert_eq!(inside.text(2), "small");
    assert_eq!(inside.messages(11).iter().map(value).collect::<Vec<_>>(), [("x".to_owned(), 1, vec![-1, 2, 4, 4])]);
    let outputs: Vec<_> = inside.messages(12).iter().map(value).collect();
    assert_eq!(outputs, [("scores".to_owned(), 1, vec![-1, 3]), ("class".to_owned(), 7, vec![-1])]);
    let shapes: Vec<_> = inside.messages(13).iter().map(|message| value(message).2).collect();
    assert_eq!(shapes, [vec![-1, 3, 4, 4], vec![-1, 3, 4, 4]]);

    let nodes = inside.messages(1);
    let operators: Vec<String> = nodes.iter().map(|node| node.text(4)).collect();
    assert_eq!(operators, ["Conv", "BatchNormalization", "ReduceSum", "ArgMax"]);
    assert_eq!(nodes[0].texts(1), ["x", "w"]);
    assert_eq!(nodes[1].texts(1)[0], nodes[0].text(2));
    assert_eq!((nodes[2].text(2), nodes[3].texts(1)), ("scores".to_owned(), vec!["scores".to_owned()]));
    let attributes: BTreeMap<String, Message> = nodes[0].messages(5).into_iter().map(|m| (m.text(1), m)).collect();
    assert_eq!((attributes["pads"].numbers(8), attributes["pads"].numbers(20)), (vec![1; 4], vec![7]));
    assert_eq!((attributes["group"].numbers(3), attributes["group"].numbers(20)), (vec![1], vec![2]));
    let epsilon = nodes[1].message(5);
    assert_eq!((epsilon.parts(2), epsilon.numbers(20)), (&[Part::Word(0.25f32.to_le_bytes())][..], vec![1]));

    let constants: BTreeMap<String, Message> = inside.messages(5).into_iter().map(|m| (m.text(8), m)).collect();
    assert_eq!((constants["w"].numbers(1), constants["w"].numbers(2)), (vec![3, 2, 3, 3], vec![1]));
    let numbers = [1.0f32, -2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(constants["scale"].bytes(9), [&numbers[..]]);
    let axes = &constants[&nodes[2].texts(1)[1]];
    assert_eq!((axes.numbers(1), axes.numbers(2)), (vec![2], vec![7]));
    assert_eq!(axes.bytes(9)[0], [2i64.to_le_bytes(), 3i64.to_le_bytes()].concat());
}

#[test]
fn names_are_never_used_twice() {
    let mut graph = Graph::new("names");
    let x = graph.input("x", Kind::Float, &[Batch]).unwrap();
    assert!(graph.input("x", Kind::Float, &[Batch]).is_err());
    assert!(graph.floats("x", &[1], &[0.0]).is_err());
    assert!(graph.input("", Kind::Float, &[Batch]).is_err());
    // The name that the next operator would have got.
    graph.input("Relu_2", Kind::Float, &[Batch]).unwrap();
    let y = graph.relu(x).unwrap();
    assert!(graph.output("x", y).is_err());
    assert!(graph.output("y", x).is_err());
    graph.output("y", y).unwrap();
    assert!(graph.output("z", y).is_err());
    let model = Message::decode(&graph.encode().unwrap());
    assert_eq!(model.message(7).message(1).text(2), "y");
}

type Build = Box<dyn Fn(&mut Graph) -> Result<Value>>;

#[test]
fn graphs_that_cannot_run_are_refused() {
    let mut graph = Graph::new("wrong");
    let image = graph.input("image", Kind::Float, &[Batch, Fixed(3), Fixed(5), Fixed(5)]).unwrap();
    let row = graph.input("row", Kind::Float, &[Batch, Fixed(6)]).unwrap();
    let token = graph.input("token", Kind::Integer, &[Batch, Fixed(6)]).unwrap();
    let filters = graph.floats("filters", &[4, 2, 3, 3], &[0.0; 72]).unwrap();
    let matrix = graph.floats("matrix", &[4, 6], &[0.0; 24]).unwrap();
    let vector = graph.floats("vector", &[3], &[0.0; 3]).unwrap();
    let plain = Window::default();
    let cases: Vec<(&str, Build)> = vec![
        ("channels", Box::new(move |g| g.conv(image, filters, None, 1, plain))),
        ("groups", Box::new(move |g| g.conv(image, filters, None, 0, plain))),
        ("rank", Box::new(move |g| g.conv(row, filters, None, 1, plain))),
        ("window", Box::new(move |g| g.max_pool(image, [6, 1], plain))),
        ("stride", Box::new(move |g| g.max_pool(image, [2, 2], Window { strides: [0, 1], ..plain }))),
        ("padding", Box::new(move |g| g.max_pool(image, [2, 2], Window { pads: [2, 0, 0, 0], ..plain }))),
        ("huge padding", Box::new(move |g| g.max_pool(image, [2, 2], Window { pads: [usize::MAX; 4], ..plain }))),
        ("statistics", Box::new(move |g| g.batch_norm(row, [vector; 4], 0.1))),
        ("inner size", Box::new(move |g| g.gemm(row, matrix, None, Gemm::Plain))),
        ("bias", Box::new(move |g| g.gemm(row, matrix, Some(vector), Gemm::Transposed))),
        ("matrices", Box::new(move |g| g.matmul(row, matrix))),
        ("vectors", Box::new(move |g| g.matmul(row, vector))),
        ("shapes", Box::new(move |g| g.add(row, vector))),
        ("types", Box::new(move |g| g.mul(row, token))),
        ("type", Box::new(move |g| g.relu(token))),
        ("axis", Box::new(move |g| g.softmax(row, 2))),
        ("no axis", Box::new(move |g| g.arg_max(row, 7))),
        ("axes", Box::new(move |g| g.reduce_sum(row, &[1, 1], Keep::Axes))),
        ("no axes", Box::new(move |g| g.reduce_mean(row, &[], Keep::Axes))),
        ("entries", Box::new(move |g| g.reshape(row, &[Batch, Fixed(5)]))),
        ("batch", Box::new(move |g| g.reshape(row, &[Fixed(6), Batch]))),
        ("order", Box::new(move |g| g.transpose(row, &[0, 0]))),
        ("numbers", Box::new(move |g| g.gather(matrix, row))),
    ];
    for (what, build) in cases {
        let error = build(&mut graph).expect_err(what);
        assert!(matches!(error, Error::Graph { .. }), "{what}: {error}");
    }
    assert!(graph.floats("few", &[2, 2], &[0.0; 3]).is_err());
    assert!(graph.encode().unwrap_err().to_string().contains("at least one output"));
    let message = graph.gemm(row, matrix, None, Gemm::Plain).unwrap_err().to_string();
    assert_eq!(message, "ONNX Gemm: expected weights for `row` of shape batchx6, got `matrix` of shape 4x6");
}

#[test]
fn values_that_a_graph_does_not_have_are_refused() {
    let mut other = Graph::new("other");
    let values: Vec<Value> = (0..3).map(|i| other.input(&format!("x{i}"), Kind::Float, &[Batch]).unwrap()).collect();
    let mut graph = Graph::new("graph");
    assert!(graph.relu(values[2]).is_err());
    assert!(graph.shape(values[2]).is_err());
    assert_eq!(other.shape(values[2]).unwrap(), [Batch]);
}

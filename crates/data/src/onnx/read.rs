//! ONNX files of others: nodes and constants, as they stand there.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::wire::{Field, Fields};
use crate::assemble::volume;
use crate::error::{Error, Result, dims, origin, printable, quote};
use crate::limits::{Budget, Limits, open};

/// What the set of standard operators is called.
const STANDARD: [&str; 2] = ["", "ai.onnx"];

/// A model that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// What it computes, in an order in which it can be computed.
    pub nodes: Vec<Node>,
    /// Its constants, by name.
    pub constants: BTreeMap<String, Constant>,
    /// Its inputs that are not constants.
    pub inputs: Vec<Port>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// The version of the standard operators, where the file tells it.
    pub version: Option<i64>,
}

/// An input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Whether it takes whole numbers.
    pub integers: bool,
    /// Its sides, where the file tells them; those that may be anything are missing.
    pub shape: Option<Vec<Option<usize>>>,
}

/// One operator of the standard set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Its own name; often empty.
    pub name: String,
    /// Such as `Conv`.
    pub operator: String,
    /// What it takes; an empty name stands for an input that is left out.
    pub inputs: Vec<String>,
    /// What it makes.
    pub outputs: Vec<String>,
    /// Its settings.
    pub attributes: BTreeMap<String, Attribute>,
}

/// A setting of an operator.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// A fraction.
    Float(f32),
    /// A whole number.
    Integer(i64),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// A text.
    Text(String),
    /// A tensor.
    Tensor(Constant),
    /// Something else.
    Other,
}

/// A constant tensor, the last axis fastest.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// 32-bit floating point.
    Floats(Vec<usize>, Vec<f32>),
    /// Whole numbers, 32-bit ones widened.
    Integers(Vec<usize>, Vec<i64>),
}

impl Model {
    /// Reads a file, within the limits.
    pub fn load(path: &Path, limits: Limits) -> Result<Self> {
        let origin = origin(path);
        let mut budget = Budget::new(limits);
        let (file, length) = open(path, &budget)?;
        // The file, and numbers that may take eight bytes where the file has one.
        budget.take(&origin, "the file and its tensors", usize::try_from(length).unwrap_or(usize::MAX), 9)?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).map_err(Error::io(&origin, "read it"))?;
        Self::decode(&origin, &bytes)
    }

    pub(crate) fn decode(origin: &str, bytes: &[u8]) -> Result<Self> {
        let damaged = |got: &str| Error::malformed(origin, "the model", "an ONNX file", got);
        let mut model = Self::default();
        let mut found = false;
        for field in Fields(bytes) {
            match field.map_err(damaged)? {
                (7, graph) => {
                    found = true;
                    model.graph(graph.bytes().map_err(damaged)?).map_err(|problem| damaged(&problem))?;
                }
                (8, set) => model.version = version(set.bytes().map_err(damaged)?).map_err(damaged)?.or(model.version),
                (25, function) => {
                    let name = replaced(function.bytes().map_err(damaged)?).map_err(damaged)?;
                    name.map_or(Ok(()), |name| Err(damaged(&format!("a function of its own in place of the operator {name}"))))?;
                }
                _ => {}
            }
        }
        if !found || model.outputs.is_empty() {
            return Err(damaged("one without a graph"));
        }
        model.check_names().map_err(|problem| damaged(&problem))?;
        let constants = &model.constants;
        model.inputs.retain(|port| !constants.contains_key(&port.name));
        Ok(model)
    }

    fn graph(&mut self, bytes: &[u8]) -> std::result::Result<(), String> {
        for field in Fields(bytes) {
            let (number, field) = field?;
            match number {
                1 => {
                    let index = self.nodes.len();
                    let (node, domain) = Node::of(field.bytes()?).map_err(|problem| format!("node {index} with {problem}"))?;
                    if !STANDARD.contains(&domain.as_str()) {
                        let (node, domain) = (node.place(index), quote(&domain));
                        return Err(format!("{node} of the domain {domain}; read here are the standard operators only"));
                    }
                    self.nodes.push(node);
                }
                5 => {
                    let (name, constant) = constant(field.bytes()?)?;
                    if self.constants.insert(name.clone(), constant).is_some() {
                        return Err(format!("two tensors of the name {}", quote(&name)));
                    }
                }
                11 => self.inputs.push(Port::of(field.bytes()?)?),
                12 => self.outputs.push(Port::of(field.bytes()?)?.name),
                15 => return Err("sparse tensors, which are not read here".into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Every value is made once: of two with one name, readers would take different ones.
    fn check_names(&self) -> std::result::Result<(), String> {
        let mut inputs = BTreeSet::new();
        if let Some(twice) = self.inputs.iter().find(|port| !inputs.insert(port.name.as_str())) {
            return Err(format!("two inputs of the name {}", quote(&twice.name)));
        }
        let mut made: BTreeMap<&str, String> = inputs.into_iter().map(|name| (name, "an input".to_owned())).collect();
        made.extend(self.constants.keys().map(|name| (name.as_str(), "a tensor".to_owned())));
        for (index, node) in self.nodes.iter().enumerate() {
            // An empty name stands for an output that nobody takes.
            for output in node.outputs.iter().filter(|output| !output.is_empty()) {
                if let Some(other) = made.insert(output, node.place(index)) {
                    return Err(format!("{} that makes {}, as {other} does", node.place(index), quote(output)));
                }
            }
        }
        let mut outputs = BTreeSet::new();
        match self.outputs.iter().find(|name| !outputs.insert(name.as_str())) {
            Some(twice) => Err(format!("two outputs of the name {}", quote(twice))),
            None => Ok(()),
        }
    }
}

/// The version of a set of operators, if it is the standard one.
fn version(bytes: &[u8]) -> std::result::Result<Option<i64>, &'static str> {
    let (mut domain, mut version) = (String::new(), None);
    for field in Fields(bytes) {
        match field? {
            (1, field) => domain = field.text()?,
            (2, field) => version = Some(field.number()?),
            _ => {}
        }
    }
    Ok(version.filter(|_| STANDARD.contains(&domain.as_str())))
}

/// The standard operator that a function of the model's own would take the place of.
fn replaced(bytes: &[u8]) -> std::result::Result<Option<String>, &'static str> {
    let (mut name, mut domain) = (String::new(), String::new());
    for field in Fields(bytes) {
        match field? {
            (1, field) => name = field.text()?,
            (10, field) => domain = field.text()?,
            _ => {}
        }
    }
    Ok(STANDARD.contains(&domain.as_str()).then(|| quote(&name)))
}

impl Port {
    fn of(bytes: &[u8]) -> std::result::Result<Self, String> {
        let mut port = Self::default();
        for field in Fields(bytes) {
            match field? {
                (1, text) => port.name = text.text()?,
                (2, kind) => port.read(kind.bytes()?)?,
                _ => {}
            }
        }
        if port.name.is_empty() { Err("an input or output without a name".into()) } else { Ok(port) }
    }

    /// Reads a type: of tensors, the type of their entries and their sides.
    fn read(&mut self, bytes: &[u8]) -> std::result::Result<(), String> {
        for field in Fields(bytes) {
            let (1, tensor) = field? else { continue };
            for field in Fields(tensor.bytes()?) {
                match field? {
                    (1, number) => self.integers = matches!(number.number()?, 6 | 7),
                    (2, sides) => self.shape = Some(sides_of(sides.bytes()?)?),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The sides of a shape; one with a name, or less than 1, may be anything.
fn sides_of(bytes: &[u8]) -> std::result::Result<Vec<Option<usize>>, String> {
    let mut sides = Vec::new();
    for field in Fields(bytes) {
        let (1, side) = field? else { continue };
        let mut known = None;
        for field in Fields(side.bytes()?) {
            if let (1, number) = field? {
                known = usize::try_from(number.number()?).ok().filter(|&side| side > 0);
            }
        }
        sides.push(known);
    }
    Ok(sides)
}

impl Node {
    /// `node 3, `relu1` (Relu)`: how messages call it.
    pub fn place(&self, index: usize) -> String {
        let name = if self.name.is_empty() { String::new() } else { format!(", {}", quote(&self.name)) };
        format!("node {index}{name} ({})", printable(&self.operator))
    }

    /// A node with the domain of its operator.
    fn of(bytes: &[u8]) -> std::result::Result<(Self, String), String> {
        let (mut node, mut domain) = (Self::default(), String::new());
        for field in Fields(bytes) {
            let (number, field) = field?;
            match number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.operator = field.text()?,
                5 => {
                    let (name, attribute) = Attribute::of(field.bytes()?)?;
                    if node.attributes.insert(name.clone(), attribute).is_some() {
                        return Err(format!("two attributes of the name {}", quote(&name)));
                    }
                }
                7 => domain = field.text()?,
                _ => {}
            }
        }
        Ok((node, domain))
    }
}

impl Attribute {
    fn of(bytes: &[u8]) -> std::result::Result<(String, Self), String> {
        let (mut name, mut attribute, mut integers) = (String::new(), Self::Other, Vec::new());
        for field in Fields(bytes) {
            let (number, field) = field?;
            match (number, field) {
                (1, field) => name = field.text()?,
                (2, Field::Float(value)) => attribute = Self::Float(value),
                (3, field) => attribute = Self::Integer(field.number()?),
                (4, field) => attribute = Self::Text(field.text()?),
                (5, field) => attribute = Self::Tensor(constant(field.bytes()?)?.1),
                (8, field) => field.numbers(&mut integers)?,
                _ => {}
            }
        }
        if !integers.is_empty() {
            attribute = Self::Integers(integers);
        }
        Ok((name, attribute))
    }
}

/// A tensor with its name.
fn constant(bytes: &[u8]) -> std::result::Result<(String, Constant), String> {
    let (mut name, mut kind, mut shape) = (String::new(), 0, Vec::new());
    let (mut floats, mut integers, mut raw) = (Vec::new(), Vec::new(), None);
    for field in Fields(bytes) {
        let (number, field) = field?;
        match number {
            1 => field.numbers(&mut shape)?,
            2 => kind = field.number()?,
            4 => field.floats(&mut floats)?,
            5 | 7 => field.numbers(&mut integers)?,
            8 => name = field.text()?,
            9 => raw = Some(field.bytes()?),
            14 if field.number()? != 0 => return Err(format!("tensor {} in another file", quote(&name))),
            _ => {}
        }
    }
    let shape = shape.iter().map(|&side| usize::try_from(side).ok()).collect::<Option<Vec<usize>>>();
    let shape = shape.ok_or_else(|| format!("tensor {} with a negative side", quote(&name)))?;
    if let Some(raw) = raw {
        match kind {
            1 => floats = raw.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect(),
            6 => integers = raw.as_chunks::<4>().0.iter().map(|chunk| i64::from(i32::from_le_bytes(*chunk))).collect(),
            _ => integers = raw.as_chunks::<8>().0.iter().map(|chunk| i64::from_le_bytes(*chunk)).collect(),
        }
    }
    let count = match kind {
        1 => floats.len(),
        6 | 7 => integers.len(),
        other => return Err(format!("tensor {} of type {other}; read here are 32-bit floats and whole numbers", quote(&name))),
    };
    if volume(&shape) != Some(count) {
        return Err(format!("tensor {} of shape {} with {count} values", quote(&name), dims(&shape)));
    }
    Ok((name, if kind == 1 { Constant::Floats(shape, floats) } else { Constant::Integers(shape, integers) }))
}

#[cfg(test)]
mod tests {
    use super::super::proto::Message;
    use super::super::{Dim, Gemm, Graph, Keep, Kind};
    use super::*;
    use proptest::prelude::*;

    fn file() -> Vec<u8> {
        let mut graph = Graph::new("g");
        let x = graph.input("x", Kind::Float, &[Dim::Batch, Dim::Fixed(2), Dim::Fixed(2)]).unwrap();
        let w = graph.floats("w", &[1, 2], &[1.5, -2.0]).unwrap();
        let y = graph.reduce_sum(x, &[2], Keep::Nothing).unwrap();
        let y = graph.gemm(y, w, None, Gemm::Transposed).unwrap();
        graph.output("y", y).unwrap();
        graph.encode().unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        let model = Model::decode("m", &file()).unwrap();
        assert_eq!(model.inputs, [Port { name: "x".into(), integers: false, shape: Some(vec![None, Some(2), Some(2)]) }]);
        assert_eq!((model.outputs, model.version), (vec!["y".to_owned()], Some(17)));
        assert_eq!(model.constants["w"], Constant::Floats(vec![1, 2], vec![1.5, -2.0]));
        let operators: Vec<&str> = model.nodes.iter().map(|node| node.operator.as_str()).collect();
        assert_eq!(operators, ["ReduceSum", "Gemm"]);
        assert_eq!(model.nodes[1].attributes["transB"], Attribute::Integer(1));
        assert_eq!(model.constants[&model.nodes[0].inputs[1]], Constant::Integers(vec![1], vec![2]));
    }

    #[test]
    fn other_files_are_refused() {
        for bytes in [&b""[..], b"something else", &[0x3a, 0x00]] {
            assert!(matches!(Model::decode("m", bytes), Err(Error::Malformed { .. })), "{bytes:?}");
        }
    }

    /// A model of these nodes, from `x` to `y`, and what is wrong with it.
    fn refused(nodes: &[Message], outputs: &[&str], more: Option<Message>) -> String {
        let named = |name: &&str| Message::default().text(1, name);
        let graph = Message::default()
            .messages(1, nodes.iter().cloned())
            .messages(11, [named(&"x")])
            .messages(12, outputs.iter().map(named));
        let model = Message::default().message(7, &graph).messages(25, more).into_bytes();
        Model::decode("m", &model).map_or_else(|error| error.to_string(), |_| "read".to_owned())
    }

    fn relu(name: &str, output: &str) -> Message {
        Message::default().text(1, "x").text(2, output).text(3, name).text(4, "Relu")
    }

    #[test]
    fn foreign_operators_are_refused_by_node() {
        assert_eq!(refused(&[relu("", "y")], &["y"], None), "read");
        assert_eq!(refused(&[relu("", "y").text(7, "ai.onnx")], &["y"], None), "read");
        let foreign = refused(&[relu("", "h"), relu("second\u{1b}", "y").text(7, "com.evil")], &["y"], None);
        let expected = "node 1, `second\\u{1b}` (Relu) of the domain `com.evil`; read here are the standard operators only";
        assert_eq!(foreign, format!("m: the model: expected an ONNX file, got {expected}"));
        let own = refused(&[relu("", "y")], &["y"], Some(Message::default().text(1, "Relu")));
        assert!(own.ends_with("got a function of its own in place of the operator `Relu`"), "{own}");
        assert_eq!(refused(&[relu("", "y")], &["y"], Some(Message::default().text(1, "Relu").text(10, "mine"))), "read");
    }

    #[test]
    fn every_value_is_made_once() {
        let twice = refused(&[relu("", "y"), relu("b", "y")], &["y"], None);
        assert!(twice.ends_with("got node 1, `b` (Relu) that makes `y`, as node 0 (Relu) does"), "{twice}");
        assert!(refused(&[relu("", "x")], &["x"], None).ends_with("got node 0 (Relu) that makes `x`, as an input does"));
        assert!(refused(&[relu("", "y")], &["y", "y"], None).ends_with("got two outputs of the name `y`"));
        let attribute = || Message::default().text(1, "alpha").float(2, 1.0);
        let doubled = relu("", "y").messages(5, [attribute(), attribute()]);
        assert!(refused(&[doubled], &["y"], None).ends_with("node 0 with two attributes of the name `alpha`"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// Damage is an error or another model, never a panic.
        #[test]
        fn damage_never_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<Option<prop::sample::Index>>()) {
            let mut bytes = file();
            for (place, value) in changes {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            let _ = Model::decode("m", &bytes);
        }
    }
}

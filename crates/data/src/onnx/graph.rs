//! The graph and the file it becomes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::proto::Message;
use super::shapes::show;
use crate::assemble::volume;
use crate::error::{Error, Result, dims, quote};
use crate::write::write_whole;

/// The version of the operators.
const OPSET: i64 = 17;
/// The version of the file format that came with it.
const IR_VERSION: i64 = 8;
/// Protobuf readers refuse more.
const MAX_BYTES: usize = 0x7fff_ffff;

/// The type of a value's entries, by its number in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 32-bit floating point.
    Float = 1,
    /// 64-bit whole numbers.
    Integer = 7,
}

/// The size of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// As many as there are examples: decided when the model runs.
    Batch,
    /// Known.
    Fixed(usize),
}

/// A value in a graph: an input, a constant, or what an operator computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value(usize);

#[derive(Debug, Clone)]
pub(super) struct Info {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) shape: Vec<Dim>,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Input,
    Constant,
    Node,
    /// Computed by a node, and handed out.
    Output,
}

/// An attribute of an operator.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Float(f32),
    Integer(i64),
    Integers(Vec<i64>),
}

#[derive(Debug, Clone)]
struct Node {
    operator: &'static str,
    inputs: Vec<Value>,
    output: Value,
    attributes: Vec<(&'static str, Attribute)>,
}

/// A model under construction.
///
/// ```
/// # use invar_data::onnx::{Dim, Gemm, Graph, Kind};
/// let mut graph = Graph::new("dense");
/// let x = graph.input("x", Kind::Float, &[Dim::Batch, Dim::Fixed(2)])?;
/// let w = graph.floats("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = graph.floats("b", &[3], &[0.0; 3])?;
/// let hidden = graph.gemm(x, w, Some(b), Gemm::Transposed)?;
/// let y = graph.relu(hidden)?;
/// graph.output("y", y)?;
/// let bytes = graph.encode()?;
/// # assert!(bytes.len() > 50);
/// # Ok::<(), invar_data::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Graph {
    name: String,
    metadata: BTreeMap<String, String>,
    names: BTreeSet<String>,
    values: Vec<Info>,
    nodes: Vec<Node>,
    constants: Vec<Message>,
    bytes: usize,
    outputs: Vec<Value>,
}

impl Graph {
    /// A graph without anything in it.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            metadata: BTreeMap::new(),
            names: BTreeSet::new(),
            values: Vec::new(),
            nodes: Vec::new(),
            constants: Vec::new(),
            bytes: 0,
            outputs: Vec::new(),
        }
    }

    /// Adds something to know about the model, which the file carries along.
    pub fn describe(&mut self, key: &str, value: &str) {
        self.metadata.insert(key.to_owned(), value.to_owned());
    }

    /// An input of the model.
    pub fn input(&mut self, name: &str, kind: Kind, shape: &[Dim]) -> Result<Value> {
        self.take_name(name)?;
        Ok(self.value(name.to_owned(), kind, shape.to_vec(), Origin::Input))
    }

    /// A constant, such as weights.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<Value> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Kind::Float, shape, values.len(), &bytes)
    }

    /// A constant of whole numbers, such as positions.
    pub fn integers(&mut self, name: &str, shape: &[usize], values: &[i64]) -> Result<Value> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Kind::Integer, shape, values.len(), &bytes)
    }

    /// Makes a computed value an output of the model, under this name.
    pub fn output(&mut self, name: &str, value: Value) -> Result<()> {
        let info = self.info("output", value)?;
        if info.origin != Origin::Node {
            return Err(wrong("output", "a value that an operator computes and that is no output yet", quote(&info.name)));
        }
        self.take_name(name)?;
        let info = &mut self.values[value.0];
        self.names.remove(&info.name);
        name.clone_into(&mut info.name);
        info.origin = Origin::Output;
        self.outputs.push(value);
        Ok(())
    }

    /// The shape of a value.
    pub fn shape(&self, value: Value) -> Result<&[Dim]> {
        Ok(&self.info("shape", value)?.shape)
    }

    /// The model as a file.
    pub fn encode(&self) -> Result<Vec<u8>> {
        if self.outputs.is_empty() {
            return Err(wrong("graph", "at least one output", "none".to_owned()));
        }
        let of = |origin| self.values.iter().filter(move |info| info.origin == origin).map(Info::message);
        let outputs = self.outputs.iter().map(|output| self.values[output.0].message());
        let graph = Message::default()
            .messages(1, self.nodes.iter().enumerate().map(|(index, node)| self.node_message(index, node)))
            .text(2, &self.name)
            .messages(5, self.constants.iter().cloned())
            .messages(11, of(Origin::Input))
            .messages(12, outputs)
            .messages(13, of(Origin::Node));
        let opset = Message::default().text(1, "").integer(2, OPSET);
        let properties = self.metadata.iter().map(|(key, value)| Message::default().text(1, key).text(2, value));
        let model = Message::default()
            .integer(1, IR_VERSION)
            .text(2, "invar")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &opset)
            .messages(14, properties)
            .into_bytes();
        if model.len() > MAX_BYTES {
            return Err(wrong("graph", "a model below 2 GiB", format!("{} bytes", model.len())));
        }
        Ok(model)
    }

    /// Writes the model, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, &self.encode()?)
    }

    /// Adds an operator; its output gets a name of its own.
    pub(super) fn node(
        &mut self,
        operator: &'static str,
        inputs: &[Value],
        attributes: Vec<(&'static str, Attribute)>,
        (kind, shape): (Kind, Vec<Dim>),
    ) -> Value {
        let name = self.fresh(operator);
        let output = self.value(name, kind, shape, Origin::Node);
        self.nodes.push(Node { operator, inputs: inputs.to_vec(), output, attributes });
        output
    }

    /// A constant that an operator takes as an argument.
    pub(super) fn argument(&mut self, operator: &str, values: &[i64]) -> Result<Value> {
        let name = self.fresh(&format!("{operator}Argument"));
        self.names.remove(&name);
        self.integers(&name, &[values.len()], values)
    }

    pub(super) fn info(&self, node: &str, value: Value) -> Result<&Info> {
        self.values.get(value.0).ok_or_else(|| wrong(node, "a value of this graph", "one of another".to_owned()))
    }

    fn constant(&mut self, name: &str, kind: Kind, shape: &[usize], count: usize, bytes: &[u8]) -> Result<Value> {
        if volume(shape) != Some(count) {
            return Err(wrong(&quote(name), &format!("values for shape {}", dims(shape)), count.to_string()));
        }
        self.bytes += bytes.len();
        if self.bytes > MAX_BYTES {
            return Err(wrong(&quote(name), "a model below 2 GiB", "more".to_owned()));
        }
        self.take_name(name)?;
        let sizes = shape.iter().fold(Message::default(), |message, &size| message.integer(1, size as i64));
        self.constants.push(sizes.integer(2, kind as i64).text(8, name).bytes(9, bytes));
        let shape = shape.iter().map(|&size| Dim::Fixed(size)).collect();
        Ok(self.value(name.to_owned(), kind, shape, Origin::Constant))
    }

    fn value(&mut self, name: String, kind: Kind, shape: Vec<Dim>, origin: Origin) -> Value {
        self.values.push(Info { name, kind, shape, origin });
        Value(self.values.len() - 1)
    }

    fn take_name(&mut self, name: &str) -> Result<()> {
        if name.is_empty() || !self.names.insert(name.to_owned()) {
            return Err(wrong("name", "a new name", quote(name)));
        }
        Ok(())
    }

    /// A name that nothing has yet.
    fn fresh(&mut self, operator: &str) -> String {
        let mut number = self.values.len();
        loop {
            let name = format!("{operator}_{number}");
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    fn node_message(&self, index: usize, node: &Node) -> Message {
        let inputs = node.inputs.iter().fold(Message::default(), |message, input| message.text(1, &self.values[input.0].name));
        inputs
            .text(2, &self.values[node.output.0].name)
            .text(3, &format!("{}_{index}", node.operator))
            .text(4, node.operator)
            .messages(5, node.attributes.iter().map(|(name, attribute)| attribute.message(name)))
    }
}

impl Info {
    fn message(&self) -> Message {
        let dim = |dim: &Dim| match *dim {
            Dim::Batch => Message::default().text(2, "batch"),
            Dim::Fixed(size) => Message::default().integer(1, size as i64),
        };
        let shape = Message::default().messages(1, self.shape.iter().map(dim));
        let tensor = Message::default().integer(1, self.kind as i64).message(2, &shape);
        Message::default().text(1, &self.name).message(2, &Message::default().message(1, &tensor))
    }

    /// Name and shape, for messages to people.
    pub(super) fn show(&self) -> String {
        format!("{} of shape {}", quote(&self.name), show(&self.shape))
    }
}

impl Attribute {
    fn message(&self, name: &str) -> Message {
        let message = Message::default().text(1, name);
        match self {
            Self::Float(value) => message.float(2, *value).integer(20, 1),
            Self::Integer(value) => message.integer(3, *value).integer(20, 2),
            Self::Integers(values) => values.iter().fold(message, |message, &value| message.integer(8, value)).integer(20, 7),
        }
    }
}

pub(super) fn wrong(node: &str, expected: &str, got: String) -> Error {
    Error::Graph { node: node.to_owned(), expected: expected.to_owned(), got }
}

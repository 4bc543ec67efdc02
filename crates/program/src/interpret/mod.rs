//! ONNX models of others, run one example at a time: enough to measure whether they are invariant.
//!
//! It knows the common operators of feedforward and convolutional networks, and names the first that it does not know. It is
//! written to be right, not fast; for predictions there are runtimes.

mod array;
mod axes;
mod images;
mod ledger;
mod numbers;
mod operators;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use invar_data::onnx::{Attribute, Constant, Model, Node};
use invar_data::{Limits, printable};
use rayon::prelude::*;

use crate::certify::tolerance::LIMIT;
use crate::error::{Error, Result, dims};
use array::Array;
use ledger::Ledger;

/// An ONNX file of one input.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpreter {
    origin: String,
    model: Model,
    /// Bytes that values may take, of all examples that are run at once.
    bytes: u64,
    /// Multiplications that one example may take.
    work: f64,
}

/// What is wrong with a node.
type Step<T> = std::result::Result<T, String>;

impl Interpreter {
    /// Reads a file and refuses operators that are not known, before anything is computed.
    pub fn load(path: &Path, limits: Limits) -> Result<Self> {
        Ok(Self { bytes: limits.bytes, ..Self::new(&path.display().to_string(), Model::load(path, limits)?)? })
    }

    /// The same, with so many billions of multiplications for one example.
    #[must_use]
    pub fn within(self, billions: u64) -> Self {
        Self { work: billions as f64 * 1e9, ..self }
    }

    fn new(origin: &str, model: Model) -> Result<Self> {
        for (index, node) in model.nodes.iter().enumerate() {
            operators::check(node).map_err(|problem| Error::model(origin, format!("{}: {problem}", node.place(index))))?;
        }
        if model.inputs.len() != 1 {
            return Err(Error::model(origin, format!("expected a model of one input, got {}", model.inputs.len())));
        }
        Ok(Self { origin: origin.to_owned(), model, bytes: 1 << 30, work: LIMIT as f64 * 1e9 })
    }

    /// Whether the input is whole numbers.
    pub fn takes_integers(&self) -> bool {
        self.model.inputs[0].integers
    }

    /// Refuses examples of a shape that the file says it does not take. The first axis of its input is that of examples.
    pub fn check_shape(&self, sides: &[usize]) -> Result<()> {
        let Some(declared) = self.model.inputs[0].shape.as_ref().filter(|shape| !shape.is_empty()) else { return Ok(()) };
        let fits = |(declared, got): (&Option<usize>, &usize)| declared.is_none_or(|side| side == *got);
        let taken = if declared.len() == sides.len() + 1 {
            declared[1..].iter().zip(sides).all(fits)
        } else {
            // Models often begin by flattening: entries may lie in a shape of other axes, if they are as many.
            let product = |all: usize, side: &Option<usize>| all.checked_mul((*side)?);
            declared[1..].iter().try_fold(1, product) == Some(sides.iter().product())
        };
        if taken {
            return Ok(());
        }
        let shown: Vec<String> = declared.iter().map(|side| side.map_or("?".into(), |side| side.to_string())).collect();
        let problem = format!("it takes an input of {}, the first side being that of examples", shown.join("x"));
        Err(Error::model(&self.origin, format!("{problem}, and got examples of {}", dims(sides))))
    }

    /// The first output for examples of this shape that lie one after the other.
    pub fn run(&self, sides: &[usize], examples: &[f32]) -> Result<Vec<f32>> {
        let width: usize = sides.iter().product();
        if width == 0 || !examples.len().is_multiple_of(width) {
            return Err(Error::misfit("entries of the examples", format!("a multiple of {width}"), examples.len()));
        }
        let shape: Vec<usize> = std::iter::once(1).chain(sides.iter().copied()).collect();
        let needless = self.needless();
        let one = |example| self.one(&shape, example, &needless, &self.ledger());
        let answers = examples.par_chunks(width).map(one).collect::<Result<Vec<_>>>()?;
        let outputs = answers.first().map_or(1, Vec::len);
        if outputs == 0 || answers.iter().any(|answer| answer.len() != outputs) {
            let problem = "its output is empty, or not of the same size for all examples";
            return Err(Error::model(&self.origin, problem));
        }
        Ok(answers.concat())
    }

    /// Multiplications, or what takes as long, that one example of this shape takes: found by running it, within the limits.
    pub fn cost(&self, sides: &[usize]) -> Result<f64> {
        let shape: Vec<usize> = std::iter::once(1).chain(sides.iter().copied()).collect();
        let ledger = self.ledger();
        self.one(&shape, &vec![0.0; sides.iter().product()], &self.needless(), &ledger)?;
        Ok(ledger.done())
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.bytes / rayon::current_num_threads() as u64, self.work)
    }

    /// For each node, the values that nobody needs behind it.
    fn needless(&self) -> Vec<Vec<&str>> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, node) in self.model.nodes.iter().enumerate() {
            last.extend(node.inputs.iter().chain(node.outputs.first()).map(|name| (name.as_str(), index)));
        }
        last.remove(self.model.outputs[0].as_str());
        let mut needless = vec![Vec::new(); self.model.nodes.len()];
        for (name, index) in last {
            needless[index].push(name);
        }
        needless
    }

    fn one(&self, shape: &[usize], example: &[f32], needless: &[Vec<&str>], ledger: &Ledger) -> Result<Vec<f32>> {
        let wrong = |problem: String| Error::model(&self.origin, problem);
        let input = &self.model.inputs[0];
        let x = if input.integers {
            Array::integers(shape, example.iter().map(|&value| value as i64).collect())
        } else {
            Array::floats(shape, example.to_vec())
        };
        ledger.hold(shape).map_err(wrong)?;
        let mut values: BTreeMap<&str, Array> = BTreeMap::from([(input.name.as_str(), x.map_err(wrong)?)]);
        for (index, node) in self.model.nodes.iter().enumerate() {
            let failed = |problem: String| wrong(format!("{}: {problem}", node.place(index)));
            let made = self.node(node, &values, ledger).map_err(failed)?;
            ledger.hold(&made.shape).map_err(failed)?;
            let name = node.outputs.first().ok_or_else(|| failed("it has no output".into()))?;
            values.insert(name, made);
            for gone in needless[index].iter().filter_map(|name| values.remove(name)) {
                ledger.release(gone.len());
            }
        }
        let name = self.model.outputs[0].as_str();
        let output = values.get(name).ok_or_else(|| wrong(format!("nothing computes the output `{}`", printable(name))))?;
        Ok(output.as_floats().map_err(wrong)?.to_vec())
    }

    /// What a node takes; those left out are missing.
    fn arguments<'a>(&'a self, node: &Node, values: &'a BTreeMap<&str, Array>) -> Step<Vec<Option<Cow<'a, Array>>>> {
        let find = |name: &String| {
            if name.is_empty() {
                return Ok(None);
            }
            if let Some(value) = values.get(name.as_str()) {
                return Ok(Some(Cow::Borrowed(value)));
            }
            match self.model.constants.get(name) {
                Some(constant) => Ok(Some(Cow::Owned(Array::of(constant)?))),
                None => Err(format!("nothing computes `{}`", printable(name))),
            }
        };
        node.inputs.iter().map(find).collect()
    }

    fn node(&self, node: &Node, values: &BTreeMap<&str, Array>, ledger: &Ledger) -> Step<Array> {
        let arguments = self.arguments(node, values)?;
        for argument in arguments.iter().flatten() {
            // Copies of what it takes, and a result of the same size.
            ledger.room(&argument.shape)?;
            ledger.pass(&argument.shape)?;
        }
        let taken = Taken { node, arguments: &arguments, ledger, version: self.model.version };
        match node.operator.as_str() {
            "Conv" => images::conv(&taken),
            "MaxPool" => images::pool(&taken, images::Pool::Largest),
            "AveragePool" => images::pool(&taken, images::Pool::Mean),
            "GlobalMaxPool" => images::global(&taken, images::Pool::Largest),
            "GlobalAveragePool" => images::global(&taken, images::Pool::Mean),
            "BatchNormalization" => images::batch_norm(&taken),
            "Gemm" => numbers::gemm(&taken),
            "MatMul" => numbers::matmul(ledger, taken.array(0)?, taken.array(1)?),
            "Add" | "Sub" | "Mul" | "Div" => numbers::pair(&taken),
            "Max" | "Min" => numbers::extreme(&taken),
            "Abs" | "Cast" | "Clip" | "Dropout" | "Erf" | "Exp" | "Identity" | "LeakyRelu" | "Neg" | "Relu" | "Sigmoid"
            | "Sqrt" | "Tanh" => numbers::single(&taken),
            "Softmax" => numbers::softmax(&taken),
            "Constant" => match node.attributes.get("value") {
                Some(Attribute::Tensor(constant)) => Array::of(constant),
                _ => Err("expected a tensor as its value".into()),
            },
            "ReduceMax" | "ReduceMean" | "ReduceSum" => axes::reduce(&taken),
            "Concat" => axes::concat(&taken),
            "Flatten" => axes::flatten(&taken),
            "Gather" => axes::gather(&taken),
            "Reshape" => axes::reshape(&taken),
            "Shape" => {
                let shape = &taken.array(0)?.shape;
                Array::integers(&[shape.len()], shape.iter().map(|&side| side as i64).collect())
            }
            "Squeeze" => axes::squeeze(&taken),
            "Transpose" => axes::transpose(&taken),
            "Unsqueeze" => axes::unsqueeze(&taken),
            other => Err(format!("the operator `{other}` is not known here")),
        }
    }
}

/// A node with what it takes.
struct Taken<'a> {
    node: &'a Node,
    arguments: &'a [Option<Cow<'a, Array>>],
    ledger: &'a Ledger,
    /// Of the standard operators.
    version: Option<i64>,
}

impl Taken<'_> {
    fn array(&self, index: usize) -> Step<&Array> {
        self.optional(index).ok_or_else(|| format!("input {index} is missing"))
    }

    fn optional(&self, index: usize) -> Option<&Array> {
        self.arguments.get(index)?.as_deref()
    }

    fn integer(&self, name: &str, default: i64) -> i64 {
        if let Some(Attribute::Integer(value)) = self.node.attributes.get(name) { *value } else { default }
    }

    fn float(&self, name: &str, default: f32) -> f32 {
        if let Some(Attribute::Float(value)) = self.node.attributes.get(name) { *value } else { default }
    }

    fn integers(&self, name: &str) -> Option<&[i64]> {
        if let Some(Attribute::Integers(values)) = self.node.attributes.get(name) { Some(values) } else { None }
    }

    /// Axes as an attribute, or since later versions as an input.
    fn axes(&self) -> Step<Option<Vec<i64>>> {
        match (self.integers("axes"), self.optional(1)) {
            (Some(axes), _) => Ok(Some(axes.to_vec())),
            (None, Some(axes)) => Ok(Some(axes.as_integers()?.to_vec())),
            (None, None) => Ok(None),
        }
    }

    /// An axis counted from the front, negative ones from the back.
    fn axis(axis: i64, count: usize) -> Step<usize> {
        let front = if axis < 0 { axis + count as i64 } else { axis };
        usize::try_from(front).ok().filter(|&axis| axis < count).ok_or_else(|| format!("there is no axis {axis} among {count}"))
    }
}

impl Array {
    fn of(constant: &Constant) -> Step<Self> {
        match constant {
            Constant::Floats(shape, values) => Self::floats(shape, values.clone()),
            Constant::Integers(shape, values) => Self::integers(shape, values.clone()),
        }
    }
}

#[cfg(test)]
mod tests;

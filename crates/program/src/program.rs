//! A network as a list of operations.

use invar_algebra::Shape;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, dims};
use crate::op::{Misfit, Op};
use crate::tensor::Tensor;
use crate::views::Views;
use crate::{Input, run};

/// What inference needs and nothing else: the operations of a network in their order, with their weights, folded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// One example.
    pub input: Input,
    /// What is done with it.
    pub ops: Vec<Op>,
}

impl Program {
    /// A program that passes its [`check`](Self::check).
    pub fn new(input: Input, ops: Vec<Op>) -> Result<Self> {
        let program = Self { input, ops };
        program.check()?;
        Ok(program)
    }

    /// Checks that every operation fits what reaches it, that weights are there and finite, and that the result is a vector.
    pub fn check(&self) -> Result<()> {
        self.shapes().map(|_| ())
    }

    /// The shape of an example before the first operation and behind each.
    pub fn shapes(&self) -> Result<Vec<Vec<usize>>> {
        // Also refuses sides of 0 and sizes that no machine holds.
        let sides = self.input.shape()?.sides().to_vec();
        for (index, op) in self.ops.iter().enumerate() {
            for (name, tensor) in op.tensors() {
                check_tensor(&name, tensor).map_err(|misfit| wrong(index, op, misfit))?;
            }
        }
        let shapes = shapes(sides, self.input.vocabulary(), &self.ops)
            .map_err(|(index, misfit)| wrong(index, &self.ops[index], misfit))?;
        match shapes.last() {
            Some(last) if last.len() == 1 => Ok(shapes),
            last => Err(Error::misfit("output of the program", "a vector", dims(last.map_or(&[], Vec::as_slice)))),
        }
    }

    /// Numbers per example that come in.
    pub fn inputs(&self) -> usize {
        self.input.sides().iter().product()
    }

    /// Numbers per example that come out.
    pub fn outputs(&self) -> Result<usize> {
        Ok(self.shapes()?.last().map_or(0, |last| last[0]))
    }

    /// Number of operations, those of all members of a median among them.
    pub fn operations(&self) -> usize {
        fn count(ops: &[Op]) -> usize {
            let inside = |op: &Op| if let Op::Median { members } = op { members.iter().map(|ops| count(ops)).sum() } else { 0 };
            ops.iter().map(|op| 1 + inside(op)).sum()
        }
        count(&self.ops)
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.ops.iter().flat_map(Op::tensors).map(|(_, tensor)| tensor.values.len()).sum()
    }

    /// The outputs of examples that lie one after the other, each as [`Input`] describes it, tokens as whole numbers. The
    /// answers are the same for every number of threads, and for an example alone or among others.
    pub fn run(&self, examples: &[f32]) -> Result<Vec<f32>> {
        self.check()?;
        run::run(self, examples)
    }

    /// Its weights, each under the number of its operation and its name there, such as `3.filters`.
    pub fn tensors(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.ops
            .iter()
            .enumerate()
            .flat_map(|(index, op)| op.tensors().into_iter().map(move |(name, tensor)| (format!("{index}.{name}"), tensor)))
    }
}

/// The shapes before the first operation and behind each, or the number of the first that does not fit.
fn shapes(input: Vec<usize>, vocabulary: Option<usize>, ops: &[Op]) -> std::result::Result<Vec<Vec<usize>>, (usize, Misfit)> {
    let mut all = vec![input];
    for (index, op) in ops.iter().enumerate() {
        let shape = &all[index];
        let next = match op {
            // Tokens are tokens in front of the first operation alone.
            Op::Orbit { views, ops } => orbit(shape, vocabulary.filter(|_| index == 0), views, ops),
            Op::Median { members } => median(shape, vocabulary.filter(|_| index == 0), members),
            Op::Gather { table } if index == 0 => match vocabulary {
                Some(vocabulary) if table.shape.first() != Some(&vocabulary) => {
                    Err((format!("a table of {vocabulary} rows, one per token"), dims(&table.shape)))
                }
                Some(_) => op.output(shape),
                None => Err(("tokens".into(), "numbers".into())),
            },
            Op::Gather { .. } => Err(("to be the first operation".into(), "another place".into())),
            _ if index == 0 && vocabulary.is_some() => Err(("numbers; tokens need a gather first".into(), "tokens".into())),
            _ => op.output(shape),
        };
        let next = next.and_then(|next| match Shape::new(&next) {
            Ok(_) => Ok(next),
            Err(error) => Err(("a result of a size that can be held".into(), error.to_string())),
        });
        all.push(next.map_err(|misfit| (index, misfit))?);
    }
    Ok(all)
}

fn orbit(shape: &[usize], vocabulary: Option<usize>, views: &Tensor, ops: &[Op]) -> std::result::Result<Vec<usize>, Misfit> {
    let views = Views::check(shape, views)?;
    if vocabulary.is_some() && !views.only_move() {
        return Err(("views that move tokens".into(), "ones that change signs or mix entries".into()));
    }
    if let Some(op) = ops.iter().find(|op| matches!(op, Op::Orbit { .. } | Op::Median { .. })) {
        return Err(("inner operations of one network".into(), op.name().into()));
    }
    let inner = shapes(shape.to_vec(), vocabulary, ops).map_err(|(index, (expected, got))| {
        (format!("inner operation {index} ({}) to get {expected}", ops[index].name()), got)
    })?;
    match inner.last().map(Vec::as_slice) {
        Some(&[features]) if !ops.is_empty() => Ok(vec![views.elements, features]),
        last => Err(("inner operations that end in a vector".into(), dims(last.unwrap_or_default()))),
    }
}

/// The shapes inside a member of a median, which has passed its check.
pub(crate) fn member_shapes(input: &[usize], vocabulary: Option<usize>, ops: &[Op]) -> Result<Vec<Vec<usize>>> {
    shapes(input.to_vec(), vocabulary, ops).map_err(|(index, misfit)| wrong(index, &ops[index], misfit))
}

fn median(shape: &[usize], vocabulary: Option<usize>, members: &[Vec<Op>]) -> std::result::Result<Vec<usize>, Misfit> {
    let mut made: Option<Vec<usize>> = None;
    for (k, ops) in members.iter().enumerate() {
        let all = shapes(shape.to_vec(), vocabulary, ops).map_err(|(index, (expected, got))| {
            (format!("operation {index} ({}) of member {k} to get {expected}", ops[index].name()), got)
        })?;
        let last = all.last().cloned().unwrap_or_default();
        match &made {
            _ if ops.is_empty() => return Err((format!("operations in member {k}"), "none".into())),
            Some(first) if *first != last => return Err((format!("member {k} to make {}", dims(first)), dims(&last))),
            _ => made = Some(last),
        }
    }
    match made {
        Some(made) if members.len() % 2 == 1 => Ok(made),
        _ => Err(("an odd number of members".into(), members.len().to_string())),
    }
}

fn check_tensor(name: &str, tensor: &Tensor) -> std::result::Result<(), Misfit> {
    if !tensor.is_whole() {
        return Err((format!("{name} of shape {}", dims(&tensor.shape)), format!("{} values", tensor.values.len())));
    }
    if !tensor.is_finite() {
        return Err((format!("{name} of finite numbers"), "NaN or an infinity".into()));
    }
    if name.ends_with("variance") && tensor.values.iter().any(|&v| v < 0.0) {
        return Err(("a variance of at least 0".into(), "a negative one".into()));
    }
    Ok(())
}

pub(crate) fn wrong(index: usize, op: &Op, (expected, got): Misfit) -> Error {
    Error::Op { index, op: op.name(), expected, got }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tensor;
    use crate::{Activation, Pooling};

    fn message(input: Input, ops: Vec<Op>) -> String {
        Program::new(input, ops).unwrap_err().to_string()
    }

    fn array(shape: &[usize]) -> Input {
        Input::Array { shape: shape.to_vec() }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let linear = || Op::Linear { weight: tensor(&[2, 3], &[0.0; 6]), bias: None };
        let relu = || Op::Activate { activation: Activation::Relu };
        assert!(Program::new(array(&[3]), vec![linear()]).is_ok());
        for (input, ops, part) in [
            (array(&[4]), vec![linear()], "operation 0 (linear): expected 3 entries, got 4"),
            (array(&[3]), vec![relu(), linear(), linear()], "operation 2 (linear): expected 3 entries, got 2"),
            (array(&[3, 1]), vec![linear()], "operation 0 (linear): expected 3 entries, got 3x1"),
            (array(&[2, 2]), vec![relu()], "output of the program: expected a vector, got 2x2"),
            (array(&[0]), vec![], "axis 0 has size 0"),
            (array(&[4]), vec![Op::SumChannels], "expected an image, channels x height x width, got 4"),
            (array(&[4]), vec![Op::Reshape { shape: vec![3] }], "expected as many entries as 3, got 4"),
            (array(&[4]), vec![Op::Reshape { shape: vec![usize::MAX, 8] }], "operation 0 (reshape)"),
            (array(&[1, 3, 3]), vec![Op::MaxPool { window: [4, 1], stride: [1, 1] }], "room for a window of 4x1"),
            (array(&[1, 3, 3]), vec![Op::MaxPool { window: [2, 2], stride: [0, 1] }], "operation 0 (max pooling)"),
            (array(&[3, 2, 2]), vec![Op::GroupMax { size: 2 }], "a multiple of 2 channels, got 3x2x2"),
            (array(&[3, 2, 2]), vec![Op::GroupMax { size: 0 }], "operation 0 (group max)"),
            (array(&[2, 3]), vec![Op::Transpose { order: vec![0, 0] }], "operation 0 (transpose)"),
            (array(&[3]), vec![Op::Gather { table: tensor(&[3, 1], &[0.0; 3]) }], "expected tokens, got numbers"),
            (Input::Tokens { length: 3, vocabulary: 4 }, vec![linear()], "tokens need a gather first"),
            (
                Input::Tokens { length: 3, vocabulary: 4 },
                vec![Op::Gather { table: tensor(&[3, 1], &[0.0; 3]) }],
                "a table of 4 rows",
            ),
            (
                array(&[1, 3, 3]),
                vec![Op::Conv { filters: tensor(&[1, 1, 2, 2], &[0.0; 4]), bias: None }],
                "k x k with an odd k, got 1x1x2x2",
            ),
            (
                array(&[2]),
                vec![Op::Orbit { views: tensor(&[1, 2], &[0.0, 2.0]), ops: vec![relu()] }],
                "views that are whole numbers below 2, or -1 - such a number, got 2",
            ),
            (
                array(&[2]),
                vec![Op::Orbit { views: tensor(&[1, 2], &[0.0, 1.0]), ops: vec![linear()] }],
                "expected inner operation 0 (linear) to get 3 entries, got 2",
            ),
            (array(&[2]), vec![Op::PoolSpace { pooling: Pooling::Sum }], "operation 0 (sum over space)"),
            (
                array(&[2]),
                vec![Op::Orbit { views: tensor(&[1, 2], &[0.0, -3.0]), ops: vec![relu()] }],
                "views that are whole numbers below 2, or -1 - such a number, got -3",
            ),
            (
                array(&[2]),
                vec![Op::Orbit { views: tensor(&[1, 2, 3], &[0.0; 6]), ops: vec![relu()] }],
                "views of elements x 2, or x 2 x 2, got 1x2x3",
            ),
            (
                Input::Tokens { length: 2, vocabulary: 4 },
                vec![Op::Orbit { views: tensor(&[1, 2], &[0.0, -2.0]), ops: vec![relu()] }],
                "views that move tokens, got ones that change signs or mix entries",
            ),
            (array(&[3]), vec![Op::Median { members: vec![] }], "operation 0 (median): expected an odd number of members, got 0"),
            (array(&[3]), vec![Op::Median { members: vec![vec![linear()]; 2] }], "expected an odd number of members, got 2"),
            (
                array(&[3]),
                vec![Op::Orbit {
                    views: tensor(&[1, 3], &[0.0, 1.0, 2.0]),
                    ops: vec![Op::Median { members: vec![vec![linear()]] }],
                }],
                "operation 0 (orbit): expected inner operations of one network, got median",
            ),
            (array(&[3]), vec![Op::Median { members: vec![vec![]] }], "expected operations in member 0, got none"),
            (array(&[3]), vec![Op::Median { members: vec![vec![linear()], vec![relu()]] }], "expected member 1 to make 2, got 3"),
            (
                array(&[3]),
                vec![Op::Median { members: vec![vec![relu(), linear(), linear()]] }],
                "expected operation 2 (linear) of member 0 to get 3 entries, got 2",
            ),
            (
                Input::Tokens { length: 3, vocabulary: 4 },
                vec![Op::Median { members: vec![vec![relu()]] }],
                "tokens need a gather first",
            ),
        ] {
            let error = message(input, ops);
            assert!(error.contains(part), "{error}\nshould say: {part}");
        }
    }

    #[test]
    fn weights_must_be_there_and_be_numbers() {
        let weight = Tensor { shape: vec![1, 2], values: vec![1.0] };
        let error = message(array(&[2]), vec![Op::Linear { weight, bias: None }]);
        assert_eq!(error, "operation 0 (linear): expected weight of shape 1x2, got 1 values");
        let weight = tensor(&[1, 2], &[1.0, f32::NAN]);
        assert!(message(array(&[2]), vec![Op::Linear { weight, bias: None }]).contains("finite numbers"));
    }

    #[test]
    fn sizes_that_no_machine_holds_are_refused() {
        let conv = Op::Conv { filters: tensor(&[100_000, 1, 1, 1], &vec![1.0; 100_000]), bias: None };
        let error = message(array(&[1, 4000, 4000]), vec![conv, Op::PoolSpace { pooling: Pooling::Sum }]);
        assert!(error.contains("a result of a size that can be held"), "{error}");
    }

    #[test]
    fn the_description_has_shapes_and_no_values() {
        let op = Op::Linear { weight: tensor(&[1, 2], &[1.0, 2.0]), bias: None };
        let program = Program::new(array(&[2]), vec![op]).unwrap();
        let text = serde_json::to_string(&program).unwrap();
        assert_eq!(
            text,
            r#"{"input":{"kind":"array","shape":[2]},"ops":[{"op":"linear","weight":{"shape":[1,2]},"bias":null}]}"#
        );
        let read: Program = serde_json::from_str(&text).unwrap();
        assert!(read.check().is_err());
    }
}

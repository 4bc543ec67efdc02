//! The operators that are known, with the attributes that are.
//!
//! What a file says about an operator and is not looked at here would be another operator than the one that is run: an attribute that
//! is not on the list is refused, and one without a meaning here must have the value at which it means nothing.

use invar_data::onnx::{Attribute, Node};

use super::Step;

/// An operator with the attributes that it is run by.
type Operator = (&'static str, &'static [&'static str]);

const WINDOW: &[&str] =
    &["auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "storage_order", "strides"];

const OPERATORS: [Operator; 40] = [
    ("Abs", &[]),
    ("Add", &[]),
    ("AveragePool", WINDOW),
    // The momentum is for training.
    ("BatchNormalization", &["epsilon", "momentum"]),
    ("Cast", &["to"]),
    ("Clip", &[]),
    ("Concat", &["axis"]),
    ("Constant", &["value"]),
    ("Conv", &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"]),
    ("Div", &[]),
    // Only in training is anything dropped out.
    ("Dropout", &["ratio", "seed"]),
    ("Erf", &[]),
    ("Exp", &[]),
    ("Flatten", &["axis"]),
    ("Gather", &["axis"]),
    ("Gemm", &["alpha", "beta", "transA", "transB"]),
    ("GlobalAveragePool", &[]),
    ("GlobalMaxPool", &[]),
    ("Identity", &[]),
    ("LeakyRelu", &["alpha"]),
    ("MatMul", &[]),
    ("Max", &[]),
    ("MaxPool", WINDOW),
    ("Min", &[]),
    ("Mul", &[]),
    ("Neg", &[]),
    ("ReduceMax", &["axes", "keepdims"]),
    ("ReduceMean", &["axes", "keepdims"]),
    ("ReduceSum", &["axes", "keepdims"]),
    ("Relu", &[]),
    ("Reshape", &["allowzero"]),
    ("Shape", &[]),
    ("Sigmoid", &[]),
    ("Softmax", &["axis"]),
    ("Sqrt", &[]),
    ("Squeeze", &["axes"]),
    ("Sub", &[]),
    ("Tanh", &[]),
    ("Transpose", &["perm"]),
    ("Unsqueeze", &["axes"]),
];

/// Attributes of any operator that mean nothing at this value.
const NOTHING: [(&str, i64); 5] =
    [("training_mode", 0), ("noop_with_empty_axes", 0), ("start", 0), ("spatial", 1), ("saturate", 1)];

/// All operators that are known.
pub(super) fn names() -> Vec<&'static str> {
    OPERATORS.iter().map(|(name, _)| *name).collect()
}

/// What an operator is run by, if it is known.
pub(super) fn attributes(operator: &str) -> Option<&'static [&'static str]> {
    OPERATORS.iter().find(|(name, _)| *name == operator).map(|(_, attributes)| *attributes)
}

/// Refuses an operator that is not known, and what is said about one that is not looked at.
pub(super) fn check(node: &Node) -> Step<()> {
    let Some(attributes) = attributes(&node.operator) else {
        return Err(format!("an operator that is not known here; known are {}", names().join(" ")));
    };
    let nothing = |name: &str, value: &Attribute| {
        NOTHING.iter().any(|(known, harmless)| *known == name && *value == Attribute::Integer(*harmless))
    };
    match node.attributes.iter().find(|(name, value)| !attributes.contains(&name.as_str()) && !nothing(name, value)) {
        None => Ok(()),
        Some((name, _)) => Err(format!("its attribute {name:?} is not known here, and would change what it computes")),
    }
}

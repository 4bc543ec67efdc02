//! Models for other programs, in the ONNX format.
//!
//! A [`Graph`] is built operator by operator; every value has a type and a shape, which are checked as it grows, so that a graph
//! that can be written can also be run. The file is made of a few protobuf messages; they are written by hand (`proto.rs`), since a
//! generator would need a build step and thousands of lines for the dozen fields that are used. [`Model`] reads files of others (`wire.rs`,
//! `read.rs`) as they stand; what their operators mean is for others to know.

mod graph;
mod ops;
mod proto;
mod read;
mod shapes;
mod wire;

pub use graph::{Dim, Graph, Kind, Value};
pub use ops::{Gemm, Keep, Window};
pub use read::{Attribute, Constant, Model, Node, Port};

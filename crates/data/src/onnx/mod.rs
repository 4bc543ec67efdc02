//! Models for other programs, in the ONNX format.
//!
//! A [`Graph`] is built operator by operator; every value has a type and a shape, which are checked as it grows, so that a graph
//! that can be written can also be run. The file is made of a few protobuf messages; they are written by hand (`proto.rs`), since a
//! generator would need a build step and thousands of lines for the dozen fields that are used.

mod graph;
mod ops;
mod proto;
mod shapes;

pub use graph::{Dim, Graph, Kind, Value};
pub use ops::{Gemm, Keep, Window};

//! Writes one small ONNX model per operator, and two networks, into a folder, with inputs beside them:
//!
//! ```sh
//! cargo run -p invar-data --example onnx_cases -- cases && python crates/data/tests/onnx_check.py cases
//! ```
//!
//! The script runs the models with onnxruntime and compares them with NumPy.

use std::path::Path;
use std::process::ExitCode;

use invar_data::onnx::{Dim, Gemm, Graph, Keep, Kind, Value, Window};
use invar_data::{Array, Packing, Result, write_npz};

use Dim::{Batch, Fixed};

/// Examples in each case.
const EXAMPLES: usize = 5;

/// A model under construction, and the arrays that NumPy needs to compute the same.
struct Case {
    name: &'static str,
    graph: Graph,
    arrays: Vec<(String, Vec<usize>, Numbers)>,
    drawn: u32,
}

enum Numbers {
    Floats(Vec<f32>),
    Integers(Vec<i64>),
}

impl Case {
    fn new(name: &'static str) -> Self {
        Self { name, graph: Graph::new(name), arrays: Vec::new(), drawn: 1 }
    }

    /// Numbers between -1 and 1 that look random.
    fn numbers(&mut self, count: usize) -> Vec<f32> {
        let mut next = || {
            self.drawn = self.drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.drawn >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// An input of examples of this shape.
    fn input(&mut self, name: &str, shape: &[usize]) -> Result<Value> {
        let all = [&[EXAMPLES], shape].concat();
        let values = self.numbers(all.iter().product());
        self.arrays.push((name.to_owned(), all, Numbers::Floats(values)));
        let dims: Vec<Dim> = [Batch].into_iter().chain(shape.iter().map(|&size| Fixed(size))).collect();
        self.graph.input(name, Kind::Float, &dims)
    }

    fn tokens(&mut self, name: &str, length: usize, vocabulary: usize) -> Result<Value> {
        let values = (0..EXAMPLES * length).map(|i| (i * 7 % vocabulary) as i64).collect();
        self.arrays.push((name.to_owned(), vec![EXAMPLES, length], Numbers::Integers(values)));
        self.graph.input(name, Kind::Integer, &[Batch, Fixed(length)])
    }

    fn weights(&mut self, name: &str, shape: &[usize]) -> Result<Value> {
        let values = self.numbers(shape.iter().product());
        self.constant(name, shape, values)
    }

    fn positive(&mut self, name: &str, shape: &[usize]) -> Result<Value> {
        let values = self.numbers(shape.iter().product()).iter().map(|value| value.abs() + 0.1).collect();
        self.constant(name, shape, values)
    }

    fn constant(&mut self, name: &str, shape: &[usize], values: Vec<f32>) -> Result<Value> {
        let value = self.graph.floats(name, shape, &values)?;
        self.arrays.push((name.to_owned(), shape.to_vec(), Numbers::Floats(values)));
        Ok(value)
    }

    fn finish(mut self, output: Value, folder: &Path) -> Result<()> {
        self.graph.output("out", output)?;
        self.graph.describe("case", self.name);
        self.graph.write(&folder.join(format!("{}.onnx", self.name)))?;
        let arrays: Vec<(&str, Array)> = self
            .arrays
            .iter()
            .map(|(name, shape, numbers)| match numbers {
                Numbers::Floats(values) => (name.as_str(), Array::Floats(shape, values)),
                Numbers::Integers(values) => (name.as_str(), Array::Integers(shape, values)),
            })
            .collect();
        write_npz(&folder.join(format!("{}.npz", self.name)), &arrays, Packing::Deflated)
    }
}

fn convolutions(folder: &Path) -> Result<()> {
    let mut case = Case::new("conv");
    let (x, w, b) = (case.input("x", &[3, 7, 6])?, case.weights("w", &[4, 3, 3, 2])?, case.weights("b", &[4])?);
    let y = case.graph.conv(x, w, Some(b), 1, Window { strides: [2, 1], pads: [1, 0, 2, 1] })?;
    case.finish(y, folder)?;

    let mut case = Case::new("conv_groups");
    let (x, w) = (case.input("x", &[4, 5, 5])?, case.weights("w", &[6, 2, 3, 3])?);
    let y = case.graph.conv(x, w, None, 2, Window::default())?;
    case.finish(y, folder)?;

    let mut case = Case::new("max_pool");
    let x = case.input("x", &[2, 7, 6])?;
    let y = case.graph.max_pool(x, [3, 2], Window { strides: [2, 2], pads: [1, 0, 1, 1] })?;
    case.finish(y, folder)?;

    let mut case = Case::new("batch_norm");
    let x = case.input("x", &[3, 4, 5])?;
    let statistics = [case.weights("scale", &[3])?, case.weights("shift", &[3])?, case.weights("mean", &[3])?];
    let [scale, shift, mean] = statistics;
    let variance = case.positive("variance", &[3])?;
    let y = case.graph.batch_norm(x, [scale, shift, mean, variance], 1e-3)?;
    case.finish(y, folder)
}

type Pair = fn(&mut Graph, Value, Value) -> Result<Value>;

fn products(folder: &Path) -> Result<()> {
    for (name, lie, shape) in [("gemm", Gemm::Plain, [6, 4]), ("gemm_transposed", Gemm::Transposed, [4, 6])] {
        let mut case = Case::new(name);
        let (x, w, b) = (case.input("x", &[6])?, case.weights("w", &shape)?, case.weights("b", &[4])?);
        let y = case.graph.gemm(x, w, Some(b), lie)?;
        case.finish(y, folder)?;
    }
    let mut case = Case::new("matmul");
    let (x, w) = (case.input("x", &[3, 6])?, case.weights("w", &[6, 4])?);
    let y = case.graph.matmul(x, w)?;
    case.finish(y, folder)?;

    let mut case = Case::new("add");
    let (x, w) = (case.input("x", &[3, 4])?, case.weights("w", &[3, 1])?);
    let y = case.graph.add(x, w)?;
    case.finish(y, folder)?;

    let pairs: [(&'static str, Pair); 3] = [("mul", Graph::mul), ("min", Graph::min), ("max", Graph::max)];
    for (name, build) in pairs {
        let mut case = Case::new(name);
        let (x, w) = (case.input("x", &[3, 4])?, case.input("w", &[1, 4])?);
        let y = build(&mut case.graph, x, w)?;
        case.finish(y, folder)?;
    }
    Ok(())
}

fn single(folder: &Path) -> Result<()> {
    type Build = fn(&mut Graph, Value) -> Result<Value>;
    let cases: [(&'static str, Build); 15] = [
        ("relu", |graph, x| graph.relu(x)),
        ("leaky_relu", |graph, x| graph.leaky_relu(x, 0.01)),
        ("sigmoid", |graph, x| graph.sigmoid(x)),
        ("tanh", |graph, x| graph.tanh(x)),
        ("erf", |graph, x| graph.erf(x)),
        ("reduce_max", |graph, x| graph.reduce_max(x, &[2], Keep::Nothing)),
        ("gather_along", |graph, x| {
            let numbers = graph.integers("numbers", &[2, 2], &[1, 0, 0, 1])?;
            graph.gather_along(x, numbers, 2)
        }),
        ("softmax", |graph, x| graph.softmax(x, 2)),
        ("arg_max", |graph, x| graph.arg_max(x, 1)),
        ("reduce_sum", |graph, x| graph.reduce_sum(x, &[1], Keep::Nothing)),
        ("reduce_sum_keep", |graph, x| graph.reduce_sum(x, &[3, 1], Keep::Axes)),
        ("reduce_mean", |graph, x| graph.reduce_mean(x, &[2, 3], Keep::Nothing)),
        ("flatten", |graph, x| graph.flatten(x)),
        ("reshape", |graph, x| graph.reshape(x, &[Batch, Fixed(8), Fixed(3)])),
        ("transpose", |graph, x| graph.transpose(x, &[0, 3, 1, 2])),
    ];
    for (name, build) in cases {
        let mut case = Case::new(name);
        let x = case.input("x", &[3, 2, 4])?;
        let y = build(&mut case.graph, x)?;
        case.finish(y, folder)?;
    }
    Ok(())
}

/// Networks as they are exported: one of tokens, one of images.
fn networks(folder: &Path) -> Result<()> {
    let mut case = Case::new("gather");
    let (x, table) = (case.tokens("x", 6, 10)?, case.weights("table", &[10, 4])?);
    let y = case.graph.gather(table, x)?;
    case.finish(y, folder)?;

    let mut case = Case::new("concat");
    let (x, table) = (case.tokens("x", 6, 10)?, case.weights("table", &[10, 4])?);
    let rows = case.graph.gather(table, x)?;
    let largest = case.graph.reduce_max(rows, &[1], Keep::Axes)?;
    let y = case.graph.concat(&[rows, largest], 1)?;
    case.finish(y, folder)?;

    let mut case = Case::new("network_tokens");
    let (x, table) = (case.tokens("x", 6, 10)?, case.weights("table", &[10, 4])?);
    let (w, b) = (case.weights("w", &[3, 4])?, case.weights("b", &[3])?);
    let embedded = case.graph.gather(table, x)?;
    let summed = case.graph.reduce_sum(embedded, &[1], Keep::Nothing)?;
    let hidden = case.graph.gemm(summed, w, Some(b), Gemm::Transposed)?;
    let y = case.graph.relu(hidden)?;
    case.finish(y, folder)?;

    let mut case = Case::new("network_images");
    let (x, w) = (case.input("x", &[1, 8, 8])?, case.weights("w", &[4, 1, 3, 3])?);
    let statistics = [case.weights("scale", &[4])?, case.weights("shift", &[4])?, case.weights("mean", &[4])?];
    let [scale, shift, mean] = statistics;
    let variance = case.positive("variance", &[4])?;
    let (dense, bias) = (case.weights("dense", &[3, 4])?, case.weights("bias", &[3])?);
    let same = Window { pads: [1; 4], ..Window::default() };
    let mut y = case.graph.conv(x, w, None, 1, same)?;
    y = case.graph.batch_norm(y, [scale, shift, mean, variance], 1e-5)?;
    y = case.graph.relu(y)?;
    y = case.graph.max_pool(y, [2, 2], Window { strides: [2, 2], ..Window::default() })?;
    y = case.graph.reduce_mean(y, &[2, 3], Keep::Axes)?;
    y = case.graph.flatten(y)?;
    y = case.graph.gemm(y, dense, Some(bias), Gemm::Transposed)?;
    y = case.graph.softmax(y, 1)?;
    case.finish(y, folder)
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: onnx_cases FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let made = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
    let steps = [convolutions, products, single, networks];
    let written = made.and_then(|()| steps.into_iter().try_for_each(|step| step(folder)).map_err(|error| error.to_string()));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

//! The operators.

use super::graph::{Attribute, Dim, Graph, Info, Kind, Value, wrong};
use super::shapes::{broadcast, matmul, places, product, reduce, show};
use crate::error::Result;

/// How a window moves over the two sides of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Steps down and right.
    pub strides: [usize; 2],
    /// Rows of padding above, columns at the left, rows below, columns at the right.
    pub pads: [usize; 4],
}

impl Default for Window {
    fn default() -> Self {
        Self { strides: [1; 2], pads: [0; 4] }
    }
}

/// How the weights of a dense layer lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gemm {
    /// Inputs x outputs.
    Plain,
    /// Outputs x inputs.
    Transposed,
}

/// Whether axes that are summed up remain, with size 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// They remain.
    Axes,
    /// They go.
    Nothing,
}

/// # Operators
impl Graph {
    /// Convolution of images (batch x in x height x width) with filters (out x in / groups x height x width).
    pub fn conv(&mut self, x: Value, filters: Value, bias: Option<Value>, groups: usize, window: Window) -> Result<Value> {
        let (image, weights) = (self.float("Conv", x)?, self.float("Conv", filters)?);
        let expected = "filters that fit the image";
        let misfit = || wrong("Conv", expected, format!("{} on {}", weights.show(), image.show()));
        let ([batch, channels, height, width], [Dim::Fixed(out), Dim::Fixed(each), Dim::Fixed(kh), Dim::Fixed(kw)]) =
            (&image.shape[..], &weights.shape[..])
        else {
            return Err(misfit());
        };
        let (out, each, kernel) = (*out, *each, [*kh, *kw]);
        if groups == 0 || out % groups != 0 || Some(*channels) != each.checked_mul(groups).map(Dim::Fixed) {
            return Err(misfit());
        }
        let sides = window.sides([*height, *width], kernel).ok_or_else(misfit)?;
        let shape = vec![*batch, Dim::Fixed(out), sides[0], sides[1]];
        let mut inputs = vec![x, filters];
        if let Some(bias) = bias {
            self.vector("Conv", bias, Dim::Fixed(out))?;
            inputs.push(bias);
        }
        let mut attributes = window.attributes(kernel);
        attributes.push(("group", Attribute::Integer(groups as i64)));
        Ok(self.node("Conv", &inputs, attributes, (Kind::Float, shape)))
    }

    /// The largest value under a window of `kernel` (height, width).
    pub fn max_pool(&mut self, x: Value, kernel: [usize; 2], window: Window) -> Result<Value> {
        let image = self.float("MaxPool", x)?;
        let misfit = || wrong("MaxPool", "batch x channels x height x width, at least as large as the window", image.show());
        let [batch, channels, height, width] = image.shape[..] else { return Err(misfit()) };
        let [top, left, bottom, right] = window.pads;
        if [top, bottom].iter().any(|&pad| pad >= kernel[0]) || [left, right].iter().any(|&pad| pad >= kernel[1]) {
            return Err(wrong("MaxPool", "less padding than the window is large", format!("{:?}", window.pads)));
        }
        let sides = window.sides([height, width], kernel).ok_or_else(misfit)?;
        let shape = vec![batch, channels, sides[0], sides[1]];
        Ok(self.node("MaxPool", &[x], window.attributes(kernel), (Kind::Float, shape)))
    }

    /// Normalisation by known statistics, one of each per channel (axis 1).
    pub fn batch_norm(&mut self, x: Value, [scale, shift, mean, variance]: [Value; 4], epsilon: f32) -> Result<Value> {
        let info = self.float("BatchNormalization", x)?;
        let shape = info.shape.clone();
        let channels = shape.get(1).copied();
        let channels = channels.ok_or_else(|| wrong("BatchNormalization", "a second axis, the channels", info.show()))?;
        for statistic in [scale, shift, mean, variance] {
            self.vector("BatchNormalization", statistic, channels)?;
        }
        let attributes = vec![("epsilon", Attribute::Float(epsilon))];
        Ok(self.node("BatchNormalization", &[x, scale, shift, mean, variance], attributes, (Kind::Float, shape)))
    }

    /// A dense layer: batch x inputs to batch x outputs.
    pub fn gemm(&mut self, x: Value, weights: Value, bias: Option<Value>, lie: Gemm) -> Result<Value> {
        let (input, matrix) = (self.float("Gemm", x)?, self.float("Gemm", weights)?);
        let ([rows, inner], [first, second]) = (&input.shape[..], &matrix.shape[..]) else {
            return Err(wrong("Gemm", "two matrices", format!("{} and {}", input.show(), matrix.show())));
        };
        let (inner_b, columns) = if lie == Gemm::Plain { (first, second) } else { (second, first) };
        if inner != inner_b {
            return Err(wrong("Gemm", &format!("weights for {}", input.show()), matrix.show()));
        }
        let shape = vec![*rows, *columns];
        let columns = *columns;
        let mut inputs = vec![x, weights];
        if let Some(bias) = bias {
            self.vector("Gemm", bias, columns)?;
            inputs.push(bias);
        }
        let attributes = vec![("transB", Attribute::Integer(i64::from(lie == Gemm::Transposed)))];
        Ok(self.node("Gemm", &inputs, attributes, (Kind::Float, shape)))
    }

    /// The matrix product over the last two axes.
    pub fn matmul(&mut self, a: Value, b: Value) -> Result<Value> {
        self.pair("MatMul", a, b, "matrices that fit", matmul)
    }

    /// The sum, entry by entry; axes of size 1 are repeated.
    pub fn add(&mut self, a: Value, b: Value) -> Result<Value> {
        self.pair("Add", a, b, "shapes that fit", broadcast)
    }

    /// The product, entry by entry; axes of size 1 are repeated.
    pub fn mul(&mut self, a: Value, b: Value) -> Result<Value> {
        self.pair("Mul", a, b, "shapes that fit", broadcast)
    }

    /// The smaller one, entry by entry; axes of size 1 are repeated.
    pub fn min(&mut self, a: Value, b: Value) -> Result<Value> {
        self.pair("Min", a, b, "shapes that fit", broadcast)
    }

    /// The larger one, entry by entry; axes of size 1 are repeated.
    pub fn max(&mut self, a: Value, b: Value) -> Result<Value> {
        self.pair("Max", a, b, "shapes that fit", broadcast)
    }

    /// Negative entries become 0.
    pub fn relu(&mut self, x: Value) -> Result<Value> {
        self.pointwise("Relu", x, Vec::new())
    }

    /// Negative entries are multiplied with `slope`.
    pub fn leaky_relu(&mut self, x: Value, slope: f32) -> Result<Value> {
        self.pointwise("LeakyRelu", x, vec![("alpha", Attribute::Float(slope))])
    }

    /// 1 / (1 + exp(-x)).
    pub fn sigmoid(&mut self, x: Value) -> Result<Value> {
        self.pointwise("Sigmoid", x, Vec::new())
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: Value) -> Result<Value> {
        self.pointwise("Tanh", x, Vec::new())
    }

    /// The error function.
    pub fn erf(&mut self, x: Value) -> Result<Value> {
        self.pointwise("Erf", x, Vec::new())
    }

    /// Entries along an axis become positive, with sum 1.
    pub fn softmax(&mut self, x: Value, axis: usize) -> Result<Value> {
        let shape = self.along("Softmax", x, axis)?;
        Ok(self.node("Softmax", &[x], vec![("axis", Attribute::Integer(axis as i64))], (Kind::Float, shape)))
    }

    /// Where the largest entry along an axis is: the first of several.
    pub fn arg_max(&mut self, x: Value, axis: usize) -> Result<Value> {
        let mut shape = self.along("ArgMax", x, axis)?;
        shape.remove(axis);
        let attributes = vec![("axis", Attribute::Integer(axis as i64)), ("keepdims", Attribute::Integer(0))];
        Ok(self.node("ArgMax", &[x], attributes, (Kind::Integer, shape)))
    }

    /// The sum over some axes.
    pub fn reduce_sum(&mut self, x: Value, axes: &[usize], keep: Keep) -> Result<Value> {
        let shape = self.reduced("ReduceSum", x, axes, keep)?;
        // Since version 13 of the operators the axes are an input here, but not yet for the mean.
        let list = self.argument("ReduceSum", &whole(axes))?;
        Ok(self.node("ReduceSum", &[x, list], vec![keep.attribute()], (Kind::Float, shape)))
    }

    /// The mean over some axes.
    pub fn reduce_mean(&mut self, x: Value, axes: &[usize], keep: Keep) -> Result<Value> {
        let shape = self.reduced("ReduceMean", x, axes, keep)?;
        let attributes = vec![("axes", Attribute::Integers(whole(axes))), keep.attribute()];
        Ok(self.node("ReduceMean", &[x], attributes, (Kind::Float, shape)))
    }

    /// The largest over some axes.
    pub fn reduce_max(&mut self, x: Value, axes: &[usize], keep: Keep) -> Result<Value> {
        let shape = self.reduced("ReduceMax", x, axes, keep)?;
        let attributes = vec![("axes", Attribute::Integers(whole(axes))), keep.attribute()];
        Ok(self.node("ReduceMax", &[x], attributes, (Kind::Float, shape)))
    }

    /// All axes but the first become one.
    pub fn flatten(&mut self, x: Value) -> Result<Value> {
        let info = self.info("Flatten", x)?;
        let misfit = || wrong("Flatten", "one axis, then axes of known sizes", info.show());
        let (first, rest) = info.shape.split_first().ok_or_else(misfit)?;
        let shape = vec![*first, Dim::Fixed(product(rest).ok_or_else(misfit)?)];
        let kind = info.kind;
        Ok(self.node("Flatten", &[x], vec![("axis", Attribute::Integer(1))], (kind, shape)))
    }

    /// The same entries in another shape. A batch stays the first axis.
    pub fn reshape(&mut self, x: Value, shape: &[Dim]) -> Result<Value> {
        let info = self.info("Reshape", x)?;
        let known = |shape: &[Dim]| match shape {
            [Dim::Batch, rest @ ..] => product(rest).map(|size| (true, size)),
            all => product(all).map(|size| (false, size)),
        };
        let (from, to) = (known(&info.shape), known(shape));
        // A size of 0 means in ONNX that the size is taken over.
        if from.is_none() || from != to || from.is_some_and(|(_, size)| size == 0) {
            return Err(wrong("Reshape", &format!("a shape with the entries of {}", info.show()), show(shape)));
        }
        let kind = info.kind;
        let sizes: Vec<i64> = shape.iter().map(|dim| if let Dim::Fixed(size) = dim { *size as i64 } else { 0 }).collect();
        let list = self.argument("Reshape", &sizes)?;
        Ok(self.node("Reshape", &[x, list], Vec::new(), (kind, shape.to_vec())))
    }

    /// The axes in another order: axis i of the result is axis `order[i]`.
    pub fn transpose(&mut self, x: Value, order: &[usize]) -> Result<Value> {
        let info = self.info("Transpose", x)?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..info.shape.len()).collect::<Vec<_>>() {
            return Err(wrong("Transpose", &format!("an order of the axes of {}", info.show()), format!("{order:?}")));
        }
        let (kind, shape) = (info.kind, order.iter().map(|&axis| info.shape[axis]).collect());
        Ok(self.node("Transpose", &[x], vec![("perm", Attribute::Integers(whole(order)))], (kind, shape)))
    }

    /// Rows of a table by their numbers, as an embedding of tokens does: the shape of the numbers, then that of a row.
    pub fn gather(&mut self, table: Value, numbers: Value) -> Result<Value> {
        self.gather_along(table, numbers, 0)
    }

    /// Entries along an axis by their numbers: the axis becomes the axes of the numbers.
    pub fn gather_along(&mut self, x: Value, numbers: Value, axis: usize) -> Result<Value> {
        let (from, list) = (self.info("Gather", x)?, self.info("Gather", numbers)?);
        if axis >= from.shape.len() || list.kind != Kind::Integer {
            let expected = format!("an axis {axis} and whole numbers");
            return Err(wrong("Gather", &expected, format!("{} and {}", from.show(), list.show())));
        }
        let (kind, shape) = (from.kind, [&from.shape[..axis], &list.shape[..], &from.shape[axis + 1..]].concat());
        Ok(self.node("Gather", &[x, numbers], vec![("axis", Attribute::Integer(axis as i64))], (kind, shape)))
    }

    /// Values side by side along an axis of fixed size; their other axes are alike.
    pub fn concat(&mut self, parts: &[Value], axis: usize) -> Result<Value> {
        let mut shape = match parts {
            [first, _, ..] => self.along("Concat", *first, axis)?,
            _ => return Err(wrong("Concat", "several values", parts.len().to_string())),
        };
        for &part in &parts[1..] {
            let other = self.along("Concat", part, axis)?;
            let alike = other.len() == shape.len() && (0..shape.len()).all(|i| i == axis || other[i] == shape[i]);
            match (shape[axis], other[axis]) {
                (Dim::Fixed(one), Dim::Fixed(more)) if alike => shape[axis] = Dim::Fixed(one + more),
                _ => return Err(wrong("Concat", "shapes that fit", format!("{} and {}", show(&shape), show(&other)))),
            }
        }
        Ok(self.node("Concat", parts, vec![("axis", Attribute::Integer(axis as i64))], (Kind::Float, shape)))
    }

    fn pointwise(&mut self, operator: &'static str, x: Value, attributes: Vec<(&'static str, Attribute)>) -> Result<Value> {
        let shape = self.float(operator, x)?.shape.clone();
        Ok(self.node(operator, &[x], attributes, (Kind::Float, shape)))
    }

    fn pair(
        &mut self,
        operator: &'static str,
        a: Value,
        b: Value,
        expected: &str,
        join: fn(&[Dim], &[Dim]) -> Option<Vec<Dim>>,
    ) -> Result<Value> {
        let (one, other) = (self.float(operator, a)?, self.float(operator, b)?);
        let shape = join(&one.shape, &other.shape);
        let shape = shape.ok_or_else(|| wrong(operator, expected, format!("{} and {}", one.show(), other.show())))?;
        Ok(self.node(operator, &[a, b], Vec::new(), (Kind::Float, shape)))
    }

    fn float(&self, operator: &str, value: Value) -> Result<&Info> {
        let info = self.info(operator, value)?;
        if info.kind == Kind::Float { Ok(info) } else { Err(wrong(operator, "floating-point numbers", info.show())) }
    }

    fn vector(&self, operator: &str, value: Value, size: Dim) -> Result<()> {
        let info = self.float(operator, value)?;
        if info.shape == [size] { Ok(()) } else { Err(wrong(operator, &format!("a vector of {}", show(&[size])), info.show())) }
    }

    fn along(&self, operator: &str, x: Value, axis: usize) -> Result<Vec<Dim>> {
        let info = self.float(operator, x)?;
        let there = axis < info.shape.len();
        if there { Ok(info.shape.clone()) } else { Err(wrong(operator, &format!("an axis {axis}"), info.show())) }
    }

    fn reduced(&self, operator: &str, x: Value, axes: &[usize], keep: Keep) -> Result<Vec<Dim>> {
        let info = self.float(operator, x)?;
        // An empty list would mean all axes.
        let shape = if axes.is_empty() { None } else { reduce(&info.shape, axes, keep == Keep::Axes) };
        shape.ok_or_else(|| wrong(operator, &format!("different axes of {}", info.show()), format!("{axes:?}")))
    }
}

impl Window {
    fn sides(&self, sides: [Dim; 2], kernel: [usize; 2]) -> Option<[Dim; 2]> {
        let side = |i: usize| places(sides[i], kernel[i], self.strides[i], self.pads[i].checked_add(self.pads[i + 2])?);
        Some([side(0)?, side(1)?])
    }

    fn attributes(&self, kernel: [usize; 2]) -> Vec<(&'static str, Attribute)> {
        vec![
            ("kernel_shape", Attribute::Integers(whole(&kernel))),
            ("strides", Attribute::Integers(whole(&self.strides))),
            ("pads", Attribute::Integers(whole(&self.pads))),
        ]
    }
}

impl Keep {
    fn attribute(self) -> (&'static str, Attribute) {
        ("keepdims", Attribute::Integer(i64::from(self == Self::Axes)))
    }
}

fn whole(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}

//! Dense layers on rows: the product, and its gradients.
//!
//! Rows may lie inside longer ones: a stride is the distance from one row to the next. What is closer to 0 than [`TINY`] becomes 0
//! wherever a result is written that is multiplied again, so that no product falls below the smallest normal number: processors take
//! a hundred times as long for those.

use std::ops::Range;

use pulp::Simd;

use crate::{
    Error, Result, Workspace,
    buffer::Buffer,
    error::check_length,
    level::{Block, Kernel},
    tile::{Pieces, add_product, strided_product, vectors, with_rows},
};

/// Numbers closer to 0 than this count as 0: the product of two that do not is normal.
pub const TINY: f32 = 1.0 / (1u64 << 60) as f32;

/// `rows` times `[inputs, outputs]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DenseShape {
    /// Number of rows.
    pub rows: usize,
    /// Entries of an input row.
    pub inputs: usize,
    /// Entries of an output row.
    pub outputs: usize,
    /// From one input row to the next.
    pub input_stride: usize,
    /// From one output row to the next.
    pub output_stride: usize,
}

impl DenseShape {
    /// Rows side by side.
    pub fn new(rows: usize, inputs: usize, outputs: usize) -> Self {
        Self { rows, inputs, outputs, input_stride: inputs, output_stride: outputs }
    }

    /// The number of weights.
    pub fn weights_len(&self) -> usize {
        self.inputs * self.outputs
    }

    fn check(&self, operation: &'static str, x: &[f32], y: &[f32], weights: &[f32]) -> Result<()> {
        let fits = self.input_stride >= self.inputs && self.output_stride >= self.outputs;
        if !fits || self.inputs == 0 || self.outputs == 0 {
            let reason = "rows must have entries, and lie apart from each other";
            return Err(Error::Shape { shape: format!("{self:?}"), reason });
        }
        // The last row ends where its entries do.
        let len = |stride: usize, width: usize| if self.rows == 0 { 0 } else { (self.rows - 1) * stride + width };
        let long = |argument, slice: &[f32], expected: usize| {
            if slice.len() >= expected { Ok(()) } else { check_length(operation, argument, slice, expected) }
        };
        long("input rows", x, len(self.input_stride, self.inputs))?;
        long("output rows", y, len(self.output_stride, self.outputs))?;
        check_length(operation, "weights", weights, self.weights_len())
    }
}

/// What becomes of a result before it is written.
#[derive(Debug, Clone, Copy)]
enum Finish<'a> {
    /// Nothing.
    As,
    /// ReLU.
    Relu,
    /// Kept where this is positive, else 0: the gradient of a ReLU, given its outputs. The stride is that of the output.
    Where(&'a [f32]),
    /// What is tiny becomes 0.
    NotTiny,
}

/// y = x w + b, and ReLU of that if asked for. `weights` are `[inputs, outputs]`.
pub fn forward(
    shape: &DenseShape,
    x: &[f32],
    weights: &[f32],
    bias: &[f32],
    relu: bool,
    y: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("dense layer", x, y, weights)?;
    check_length("dense layer", "bias", bias, shape.outputs)?;
    let arch = workspace.arch;
    let lanes = arch.block().lanes;
    let panels = shape.outputs.div_ceil(lanes);
    let packed = workspace.weights.stale(panels * shape.inputs * lanes);
    for (panel, packed) in packed.chunks_exact_mut(shape.inputs * lanes).enumerate() {
        let columns = columns(panel, lanes, shape.outputs);
        for (to, from) in packed.chunks_exact_mut(lanes).zip(weights.chunks_exact(shape.outputs)) {
            to[..columns.len()].copy_from_slice(&from[columns.clone()]);
            to[columns.len()..].fill(0.0);
        }
    }
    let start = workspace.coefficients.zeros(panels * lanes);
    start[..shape.outputs].copy_from_slice(bias);
    let finish = if relu { Finish::Relu } else { Finish::As };
    arch.run(Product { shape: *shape, block: arch.block(), x, packed, start, finish, y });
    Ok(())
}

/// The gradient of the input rows from that of the output rows. Where the inputs come out of a ReLU, `through` are these inputs.
pub fn backward_input(
    shape: &DenseShape,
    dy: &[f32],
    weights: &[f32],
    through: Option<&[f32]>,
    dx: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("gradient of the inputs of a dense layer", dx, dy, weights)?;
    if let Some(through) = through {
        shape.check("gradient of the inputs of a dense layer", through, dy, weights)?;
    }
    let arch = workspace.arch;
    let lanes = arch.block().lanes;
    let panels = shape.inputs.div_ceil(lanes);
    let packed = workspace.weights.stale(panels * shape.outputs * lanes);
    for (panel, packed) in packed.chunks_exact_mut(shape.outputs * lanes).enumerate() {
        let columns = columns(panel, lanes, shape.inputs);
        packed.fill(0.0);
        for (lane, row) in
            weights[columns.start * shape.outputs..columns.end * shape.outputs].chunks_exact(shape.outputs).enumerate()
        {
            packed[lane..].iter_mut().step_by(lanes).zip(row).for_each(|(to, from)| *to = *from);
        }
    }
    let start = workspace.coefficients.zeros(panels * lanes);
    let finish = through.map_or(Finish::NotTiny, Finish::Where);
    let DenseShape { rows, inputs, outputs, input_stride, output_stride } = *shape;
    let turned = DenseShape { rows, inputs: outputs, outputs: inputs, input_stride: output_stride, output_stride: input_stride };
    arch.run(Product { shape: turned, block: arch.block(), x: dy, packed, start, finish, y: dx });
    Ok(())
}

/// The gradients of weights and bias from the input rows and the gradient of the output rows.
pub fn backward_weights(
    shape: &DenseShape,
    x: &[f32],
    dy: &[f32],
    dw: &mut [f32],
    db: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("gradient of the weights of a dense layer", x, dy, dw)?;
    check_length("gradient of the weights of a dense layer", "bias", db, shape.outputs)?;
    db.fill(0.0);
    for row in dy.chunks(shape.output_stride).take(shape.rows) {
        db.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let arch = workspace.arch;
    arch.run(Gradient { shape, block: arch.block(), x, dy, panel: &mut workspace.outputs, dw });
    Ok(())
}

/// The columns of a panel.
fn columns(panel: usize, lanes: usize, all: usize) -> Range<usize> {
    panel * lanes..((panel + 1) * lanes).min(all)
}

/// Rows times weights that are packed in panels of as many columns as a register block has.
struct Product<'a> {
    shape: DenseShape,
    block: Block,
    x: &'a [f32],
    packed: &'a [f32],
    /// What sums begin with.
    start: &'a [f32],
    finish: Finish<'a>,
    y: &'a mut [f32],
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        let lanes = self.block.lanes;
        for panel in 0..self.shape.outputs.div_ceil(lanes) {
            for rows in Pieces::new(self.shape.rows, self.block.rows).iter() {
                with_rows!(rows.len(), R => self.block::<S, R, N>(simd, panel, rows.start));
            }
        }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn block<S: Simd, const R: usize, const N: usize>(&mut self, simd: S, panel: usize, row: usize) {
        let DenseShape { inputs, outputs, input_stride, output_stride, .. } = self.shape;
        let lanes = self.block.lanes;
        let x: [&[f32]; R] = std::array::from_fn(|r| &self.x[(row + r) * input_stride..][..inputs]);
        let mut acc = [vectors::<S, N>(&self.start[panel * lanes..(panel + 1) * lanes])[0]; R];
        add_product::<S, R, N>(simd, x, vectors::<S, N>(&self.packed[panel * inputs * lanes..][..inputs * lanes]), &mut acc);
        let columns = columns(panel, lanes, outputs);
        for r in 0..R {
            let at = (row + r) * output_stride + columns.start;
            let through = match self.finish {
                Finish::Where(through) => Some(&through[at..at + columns.len()]),
                _ => None,
            };
            let y = &mut self.y[at..at + columns.len()];
            if let Some(y) = S::as_mut_simd_f32s(y).0.first_chunk_mut::<N>() {
                let through = through.and_then(|through| S::as_simd_f32s(through).0.first_chunk::<N>());
                for j in 0..N {
                    y[j] = self.finish.vector(simd, acc[r][j], through.map(|through| through[j]));
                }
            } else {
                let acc = acc[r];
                let acc: &[f32] = pulp::bytemuck::cast_slice(&acc);
                for (j, y) in y.iter_mut().enumerate() {
                    *y = self.finish.number(acc[j], through.map(|through| through[j]));
                }
            }
        }
    }
}

impl Finish<'_> {
    #[inline(always)]
    fn vector<S: Simd>(self, simd: S, value: S::f32s, through: Option<S::f32s>) -> S::f32s {
        let (zero, tiny) = (simd.splat_f32s(0.0), simd.splat_f32s(TINY));
        let not_tiny = |value| simd.select_f32s(simd.greater_than_f32s(simd.abs_f32s(value), tiny), value, zero);
        match (self, through) {
            (Self::As, _) => value,
            (Self::Relu, _) => simd.select_f32s(simd.greater_than_f32s(value, tiny), value, zero),
            (Self::Where(_), Some(through)) => simd.select_f32s(simd.greater_than_f32s(through, zero), not_tiny(value), zero),
            (Self::NotTiny | Self::Where(_), _) => not_tiny(value),
        }
    }

    fn number(self, value: f32, through: Option<f32>) -> f32 {
        let not_tiny = if value.abs() > TINY { value } else { 0.0 };
        match (self, through) {
            (Self::As, _) => value,
            (Self::Relu, _) => {
                if value > TINY {
                    value
                } else {
                    0.0
                }
            }
            (Self::Where(_), Some(through)) => {
                if through > 0.0 {
                    not_tiny
                } else {
                    0.0
                }
            }
            (Self::NotTiny | Self::Where(_), _) => not_tiny,
        }
    }
}

/// Sums over rows of x times dy.
struct Gradient<'a> {
    shape: &'a DenseShape,
    block: Block,
    x: &'a [f32],
    dy: &'a [f32],
    panel: &'a mut Buffer,
    dw: &'a mut [f32],
}

impl Kernel for Gradient<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (lanes, &DenseShape { rows, inputs, outputs, input_stride, output_stride }) = (self.block.lanes, self.shape);
        // `strided_product` goes by whole strides; the last row may end before its stride does.
        let whole = |slice: &[f32], stride: usize| slice.len() >= rows * stride;
        let x = if whole(self.x, input_stride) { &self.x[..rows * input_stride] } else { self.x };
        for panel in 0..outputs.div_ceil(lanes) {
            let columns = columns(panel, lanes, outputs);
            let packed = self.panel.stale(rows * lanes);
            for (to, from) in packed.chunks_exact_mut(lanes).zip(self.dy.chunks(output_stride)) {
                to[..columns.len()].copy_from_slice(&from[columns.clone()]);
                to[columns.len()..].fill(0.0);
            }
            for piece in Pieces::new(inputs, self.block.rows).iter() {
                with_rows!(piece.len(), R => {
                    let mut acc = strided_product::<S, R, N>(simd, (x, input_stride, piece.start), (packed, lanes, 0));
                    if x.len() < rows * input_stride && rows > 0 {
                        let last = &x[(rows - 1) * input_stride + piece.start..][..R];
                        let row = &vectors::<S, N>(packed)[rows - 1];
                        for r in 0..R {
                            for j in 0..N {
                                acc[r][j] = simd.mul_add_e_f32s(simd.splat_f32s(last[r]), row[j], acc[r][j]);
                            }
                        }
                    }
                    for r in 0..R {
                        let to = &mut self.dw[(piece.start + r) * outputs + columns.start..][..columns.len()];
                        let acc = acc[r];
                        let acc: &[f32] = pulp::bytemuck::cast_slice(&acc);
                        to.copy_from_slice(&acc[..to.len()]);
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| draw()).collect()
    }

    fn shapes() -> Vec<DenseShape> {
        let mut shapes = Vec::new();
        for (rows, inputs, outputs) in [(1, 1, 1), (5, 3, 2), (13, 7, 33), (128, 34, 128), (7, 130, 40), (3, 2, 64)] {
            let even = DenseShape::new(rows, inputs, outputs);
            shapes.extend([even, DenseShape { input_stride: inputs + 3, output_stride: outputs + 2, ..even }]);
        }
        shapes
    }

    fn close(got: f32, expected: f64) {
        assert!((f64::from(got) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{got} {expected}");
    }

    #[test]
    fn products_and_gradients_are_those_of_the_definition() {
        for level in Level::available() {
            let mut workspace = Workspace::with_level(level).unwrap();
            for shape in shapes() {
                let DenseShape { rows, inputs, outputs, input_stride, output_stride } = shape;
                let (x, w, b) = (numbers(rows * input_stride, 1), numbers(shape.weights_len(), 2), numbers(outputs, 3));
                let dy = numbers(rows * output_stride, 4);
                let mut y = vec![7.0; rows * output_stride];
                forward(&shape, &x, &w, &b, true, &mut y, &mut workspace).unwrap();
                let (mut dx, mut dw, mut db) = (vec![7.0; rows * input_stride], vec![7.0; w.len()], vec![7.0; outputs]);
                backward_input(&shape, &dy, &w, Some(&x), &mut dx, &mut workspace).unwrap();
                backward_weights(&shape, &x, &dy, &mut dw, &mut db, &mut workspace).unwrap();
                let at = |values: &[f32], k: usize| f64::from(values[k]);
                for r in 0..rows {
                    for o in 0..outputs {
                        let sum: f64 = (0..inputs).map(|i| at(&x, r * input_stride + i) * at(&w, i * outputs + o)).sum();
                        close(y[r * output_stride + o], (sum + at(&b, o)).max(0.0));
                    }
                    assert!(
                        y[r * output_stride + outputs..(r + 1) * output_stride]
                            .iter()
                            .all(|&rest| rest.to_bits() == 7.0f32.to_bits())
                    );
                    for i in 0..inputs {
                        let sum: f64 = (0..outputs).map(|o| at(&dy, r * output_stride + o) * at(&w, i * outputs + o)).sum();
                        close(dx[r * input_stride + i], if x[r * input_stride + i] > 0.0 { sum } else { 0.0 });
                    }
                }
                for o in 0..outputs {
                    close(db[o], (0..rows).map(|r| at(&dy, r * output_stride + o)).sum());
                    for i in 0..inputs {
                        let sum = (0..rows).map(|r| at(&x, r * input_stride + i) * at(&dy, r * output_stride + o)).sum();
                        close(dw[i * outputs + o], sum);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_tiny_becomes_zero() {
        let mut workspace = Workspace::new().unwrap();
        let shape = DenseShape::new(1, 1, 40);
        let (mut y, mut dx) = (vec![0.0; 40], vec![0.0; 1]);
        forward(&shape, &[1e-10], &[1e-10; 40], &[0.0; 40], true, &mut y, &mut workspace).unwrap();
        assert!(y.iter().all(|&y| y == 0.0));
        backward_input(&shape, &[1e-12; 40], &[1e-12; 40], None, &mut dx, &mut workspace).unwrap();
        assert_eq!(dx, [0.0]);
    }

    #[test]
    fn sizes_must_fit() {
        let mut workspace = Workspace::new().unwrap();
        let shape = DenseShape::new(2, 3, 4);
        let mut y = vec![0.0; 8];
        let error = forward(&shape, &[0.0; 5], &[0.0; 12], &[0.0; 4], false, &mut y, &mut workspace).unwrap_err();
        assert_eq!(error.to_string(), "dense layer: input rows has 5 entries, but the shape needs 6");
        let crossed = DenseShape { output_stride: 3, ..shape };
        assert!(forward(&crossed, &[0.0; 6], &[0.0; 12], &[0.0; 4], false, &mut y, &mut workspace).is_err());
    }
}

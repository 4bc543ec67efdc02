//! Filters of a convolution from what is trained: combinations of bases, and filters turned into several directions.
//!
//! What is trained lies with outputs side by side, filters with the taps of an output side by side: both products are computed for
//! sixteen outputs at a time, which are one line of a cache on the one side and sixteen short rows on the other.

use pulp::Simd;
use rayon::prelude::*;

use crate::{Error, Result, Workspace, error::check_length, level::Kernel};

/// Outputs that are computed together.
const SIDE: usize = 16;

/// Sixteen outputs at a point.
type Line = [f32; SIDE];

/// Filters `[outputs, features, points]`: at each point the sum over a basis `[points, rank]` of coefficients `[rank, features, outputs]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CombineShape {
    /// Points of a feature.
    pub points: usize,
    /// Vectors of the basis.
    pub rank: usize,
    /// Features that have coefficients of their own.
    pub features: usize,
    /// Outputs.
    pub outputs: usize,
}

impl CombineShape {
    /// The number of coefficients.
    pub fn coefficients_len(&self) -> usize {
        self.rank * self.features * self.outputs
    }

    /// The number of weights of the filters.
    pub fn filters_len(&self) -> usize {
        self.points * self.features * self.outputs
    }

    fn check(&self, operation: &'static str, basis: &[f32], coefficients: &[f32], filters: &[f32]) -> Result<()> {
        check_length(operation, "basis", basis, self.points * self.rank)?;
        check_length(operation, "coefficients", coefficients, self.coefficients_len())?;
        check_length(operation, "filters", filters, self.filters_len())
    }
}

/// Filters from coefficients.
pub fn combine(
    shape: &CombineShape,
    basis: &[f32],
    coefficients: &[f32],
    filters: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("combination of bases", basis, coefficients, filters)?;
    let &CombineShape { points, rank, features, outputs } = shape;
    let arch = workspace.arch;
    filters.par_chunks_mut((SIDE * features * points).max(1)).enumerate().for_each(|(block, filters)| {
        let first = block * SIDE;
        let (mut from, mut to) = (vec![[0.0; SIDE]; rank], vec![[0.0; SIDE]; points]);
        for feature in 0..features {
            for (line, row) in from.iter_mut().zip(coefficients.chunks_exact(features * outputs)) {
                read_line(&row[feature * outputs..(feature + 1) * outputs], first, line);
            }
            arch.run(Product { matrix: basis, stride: [rank, 1], from: &from, to: &mut to });
            for (lane, filters) in filters.chunks_exact_mut(features * points).enumerate() {
                let filter = &mut filters[feature * points..(feature + 1) * points];
                filter.iter_mut().zip(&to).for_each(|(weight, line)| *weight = line[lane]);
            }
        }
    });
    Ok(())
}

/// The gradient of the coefficients from that of the filters.
pub fn combine_backward(
    shape: &CombineShape,
    basis: &[f32],
    d_filters: &[f32],
    d_coefficients: &mut [f32],
    workspace: &mut Workspace,
) -> Result<()> {
    shape.check("gradient of a combination of bases", basis, d_coefficients, d_filters)?;
    let &CombineShape { points, rank, features, outputs } = shape;
    let Workspace { arch, sums, .. } = workspace;
    let block_len = rank * features * SIDE;
    let blocks = sums.stale(outputs.div_ceil(SIDE) * block_len);
    blocks.par_chunks_mut(block_len.max(1)).zip(d_filters.par_chunks((SIDE * features * points).max(1))).for_each(
        |(block, d_filters)| {
            let (mut from, mut to) = (vec![[0.0; SIDE]; points], vec![[0.0; SIDE]; rank]);
            for feature in 0..features {
                for (lane, filters) in d_filters.chunks_exact(features * points).enumerate() {
                    let filter = &filters[feature * points..(feature + 1) * points];
                    from.iter_mut().zip(filter).for_each(|(line, weight)| line[lane] = *weight);
                }
                arch.run(Product { matrix: basis, stride: [1, rank], from: &from, to: &mut to });
                for (r, line) in to.iter().enumerate() {
                    block[(r * features + feature) * SIDE..][..SIDE].copy_from_slice(line);
                }
            }
        },
    );
    join_blocks(blocks, outputs, d_coefficients);
    Ok(())
}

/// to[i] = sum over k of matrix[i, k] * from[k].
struct Product<'a> {
    matrix: &'a [f32],
    /// From one row of the matrix to the next, and from one column to the next.
    stride: [usize; 2],
    from: &'a [Line],
    to: &'a mut [Line],
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let [row, column] = self.stride;
        for (i, to) in self.to.iter_mut().enumerate() {
            to.fill(0.0);
            for (k, from) in self.from.iter().enumerate() {
                let value = simd.splat_f32s(self.matrix[i * row + k * column]);
                for (to, from) in S::as_mut_simd_f32s(to).0.iter_mut().zip(S::as_simd_f32s(from).0) {
                    *to = simd.mul_add_e_f32s(value, *from, *to);
                }
            }
        }
    }
}

/// Filters `[outputs, directions, inputs, points]`: at each point and in each direction one of the rows of what is trained,
/// `[rows, inputs, outputs]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnShape<'a> {
    /// For each direction and point the row.
    pub from: &'a [usize],
    /// Points of a direction.
    pub points: usize,
    /// Rows of what is trained.
    pub rows: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
}

impl TurnShape<'_> {
    /// The number of trained weights.
    pub fn trained_len(&self) -> usize {
        self.rows * self.inputs * self.outputs
    }

    /// The number of weights of the filters.
    pub fn filters_len(&self) -> usize {
        self.from.len() * self.inputs * self.outputs
    }

    fn check(&self, operation: &'static str, trained: &[f32], filters: &[f32]) -> Result<()> {
        if self.points == 0 || !self.from.len().is_multiple_of(self.points) || self.from.iter().any(|row| *row >= self.rows) {
            let shape = format!("{} rows of {} at {} points", self.from.len(), self.rows, self.points);
            return Err(Error::Shape { shape, reason: "every point of a direction must have a row that is there" });
        }
        check_length(operation, "trained weights", trained, self.trained_len())?;
        check_length(operation, "filters", filters, self.filters_len())
    }

    /// Calls a function with the number of the row, and the offset within an output, of each point of each input in each direction.
    fn each(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for (direction, from) in self.from.chunks_exact(self.points).enumerate() {
            for input in 0..self.inputs {
                let first = (direction * self.inputs + input) * self.points;
                from.iter().enumerate().for_each(|(point, row)| visit(*row, input, first + point));
            }
        }
    }
}

/// Filters in all directions.
pub fn turn(shape: &TurnShape, trained: &[f32], filters: &mut [f32]) -> Result<()> {
    shape.check("filters in all directions", trained, filters)?;
    let len = shape.from.len() * shape.inputs;
    filters.par_chunks_mut((SIDE * len).max(1)).enumerate().for_each(|(block, filters)| {
        let mut line = [0.0; SIDE];
        shape.each(|row, input, at| {
            read_line(&trained[(row * shape.inputs + input) * shape.outputs..][..shape.outputs], block * SIDE, &mut line);
            filters[at..].iter_mut().step_by(len).zip(&line).for_each(|(weight, value)| *weight = *value);
        });
    });
    Ok(())
}

/// The gradient of the trained weights from that of the filters.
pub fn turn_backward(shape: &TurnShape, d_filters: &[f32], d_trained: &mut [f32], workspace: &mut Workspace) -> Result<()> {
    shape.check("gradient of filters in all directions", d_trained, d_filters)?;
    let len = shape.from.len() * shape.inputs;
    let block_len = shape.rows * shape.inputs * SIDE;
    let blocks = workspace.sums.zeros(shape.outputs.div_ceil(SIDE) * block_len);
    blocks.par_chunks_mut(block_len.max(1)).zip(d_filters.par_chunks((SIDE * len).max(1))).for_each(|(block, d_filters)| {
        shape.each(|row, input, at| {
            let line = &mut block[(row * shape.inputs + input) * SIDE..][..SIDE];
            line.iter_mut().zip(d_filters[at..].iter().step_by(len)).for_each(|(sum, value)| *sum += value);
        });
    });
    join_blocks(blocks, shape.outputs, d_trained);
    Ok(())
}

/// Sixteen entries of a row from `first` on, with zeros past its end.
#[inline(always)]
fn read_line(row: &[f32], first: usize, line: &mut Line) {
    if let Some(whole) = row[first..].first_chunk() {
        *line = *whole;
    } else {
        line.fill(0.0);
        line[..row.len() - first].copy_from_slice(&row[first..]);
    }
}

/// Rows of outputs from blocks of sixteen.
fn join_blocks(blocks: &[f32], outputs: usize, to: &mut [f32]) {
    let rows = to.len() / outputs.max(1);
    to.par_chunks_mut(outputs.max(1)).enumerate().for_each(|(row, to)| {
        for (block, to) in to.chunks_mut(SIDE).enumerate() {
            to.copy_from_slice(&blocks[(block * rows + row) * SIDE..][..to.len()]);
        }
    });
}

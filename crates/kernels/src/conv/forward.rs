//! The product of an image with a kernel: the forward pass, and with turned weights the gradient of the input.

use std::{cell::RefCell, ops::Range};

use pulp::Simd;
use rayon::prelude::*;

use super::{
    ConvShape,
    pack::Packed,
    patches,
    plan::{Class, Pixel, Plan},
};
use crate::{
    buffer::Buffer,
    level::{Arch, Block, Kernel},
    tile::{Pieces, add_product, vectors, with_rows, zeros},
};

/// Pixels of a strip: enough to fill register blocks from every group, few enough that their channels stay in the second cache.
const STRIP: usize = 256;

/// Rows of weights that are used for all pixels of a strip before the next: they stay in the first cache.
const DEPTH: usize = 256;

thread_local! {
    static PLAN: RefCell<Plan> = RefCell::default();
    static PATCHES: RefCell<Buffer> = RefCell::default();
}

/// y = x * weights + bias, with the weights packed for the register blocks of this level.
pub(super) fn convolve(arch: Arch, shape: &ConvShape, x: &[f32], packed: Packed<'_>, y: &mut [f32]) {
    if y.is_empty() {
        return;
    }
    let height = lines_per_strip(shape);
    y.par_chunks_mut(height * shape.width * shape.outputs).enumerate().for_each(|(strip, y)| {
        let lines = strip * height..((strip + 1) * height).min(shape.batch * shape.height);
        if patches::worthwhile(shape) {
            let flat = ConvShape { batch: 1, height: lines.len(), ..patches::flat(shape) };
            PATCHES.with_borrow_mut(|buffer| {
                let patches = buffer.stale(flat.input_len());
                patches::fill(shape, x, lines.clone(), patches);
                convolve_strip(arch, &flat, 0..lines.len(), patches, packed, y);
            });
        } else {
            convolve_strip(arch, shape, lines, x, packed, y);
        }
    });
}

fn convolve_strip(arch: Arch, shape: &ConvShape, lines: Range<usize>, x: &[f32], packed: Packed<'_>, y: &mut [f32]) {
    PLAN.with_borrow_mut(|plan| {
        plan.fill(shape, lines);
        arch.run(Strip { shape, block: arch.block(), plan, x, packed, y });
    });
}

/// Whole images if they are small, else as many lines of one.
fn lines_per_strip(shape: &ConvShape) -> usize {
    let enough_for_all = shape.pixels().div_ceil(4 * rayon::current_num_threads());
    let pixels = enough_for_all.clamp(STRIP / 6, STRIP);
    let image = shape.height * shape.width;
    if image <= pixels { pixels / image * shape.height } else { (pixels / shape.width).max(1) }
}

/// The outputs of a strip.
struct Strip<'a> {
    shape: &'a ConvShape,
    block: Block,
    plan: &'a Plan,
    x: &'a [f32],
    packed: Packed<'a>,
    y: &'a mut [f32],
}

impl Kernel for Strip<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        let line = self.shape.kernel * self.shape.inputs;
        let rows = (DEPTH / line).clamp(1, self.shape.kernel);
        let tiles = (DEPTH / (rows * line)).max(1);
        for tile in (0..self.shape.outputs.div_ceil(self.block.lanes)).step_by(tiles) {
            let last = (tile + tiles).min(self.shape.outputs.div_ceil(self.block.lanes));
            for row in (0..self.shape.kernel).step_by(rows) {
                self.add_kernel_rows::<S, N>(simd, tile..last, row..row + rows);
            }
        }
    }
}

impl Strip<'_> {
    /// Adds the products with some rows of the kernel to some tiles of output channels.
    #[inline(always)]
    fn add_kernel_rows<S: Simd, const N: usize>(&mut self, simd: S, tiles: Range<usize>, kernel_rows: Range<usize>) {
        for class in &self.plan.classes {
            let rows = kernel_rows.start.max(class.rows.start)..kernel_rows.end.min(class.rows.end);
            if rows.is_empty() {
                continue;
            }
            let part = Part { shape: self.shape, class, rows, tiles: tiles.clone(), x: self.x, packed: self.packed };
            let pixels = &self.plan.pixels[class.pixels.clone()];
            for block in Pieces::new(pixels.len(), self.block.rows).iter() {
                let pixels = &pixels[block];
                with_rows!(pixels.len(), R => part.add::<S, R, N>(simd, pixels, self.y));
            }
        }
    }
}

/// What is multiplied for all pixels of a class at once.
struct Part<'a> {
    shape: &'a ConvShape,
    class: &'a Class,
    /// Rows of the kernel.
    rows: Range<usize>,
    /// Tiles of output channels.
    tiles: Range<usize>,
    x: &'a [f32],
    packed: Packed<'a>,
}

impl Part<'_> {
    /// Computes register blocks of `R` pixels x `N` vectors of output channels.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const N: usize>(&self, simd: S, pixels: &[Pixel], y: &mut [f32]) {
        let Self { shape, class, .. } = self;
        let lanes = N * S::F32_LANES;
        // Kernel positions side by side read channels that lie side by side, so a row of the kernel is one long product.
        let len = class.columns.len() * shape.inputs;
        let fresh = self.rows.start == class.rows.start;
        for tile in self.tiles.clone() {
            let offset = tile * lanes;
            let bias = &vectors::<S, N>(&self.packed.bias[offset..offset + lanes])[0];
            let mut acc = if fresh { [*bias; R] } else { zeros::<S, R, N>(simd) };
            for row in self.rows.clone() {
                let skip = (row - class.rows.start) * shape.width * shape.inputs;
                let x: [&[f32]; R] = std::array::from_fn(|r| &self.x[pixels[r].input + skip..][..len]);
                let first = ((tile * shape.kernel + row) * shape.kernel + class.columns.start) * shape.inputs * lanes;
                let weights = &self.packed.weights[first..first + len * lanes];
                add_product::<S, R, N>(simd, x, vectors::<S, N>(weights), &mut acc);
            }
            let width = lanes.min(shape.outputs - offset);
            for r in 0..R {
                let y = &mut y[pixels[r].output + offset..][..width];
                if let Some(y) = S::as_mut_simd_f32s(y).0.first_chunk_mut::<N>() {
                    for j in 0..N {
                        y[j] = if fresh { acc[r][j] } else { simd.add_f32s(y[j], acc[r][j]) };
                    }
                } else {
                    // A copy: accumulators of which somebody holds a reference would not stay in registers.
                    let acc = acc[r];
                    write_part::<S, N>(&acc, y, fresh);
                }
            }
        }
    }
}

/// Writes the first accumulators of a row to the outputs, or adds them.
fn write_part<S: Simd, const N: usize>(acc: &[S::f32s; N], y: &mut [f32], fresh: bool) {
    let acc: &[f32] = pulp::bytemuck::cast_slice(acc);
    for (y, acc) in y.iter_mut().zip(acc) {
        *y = if fresh { *acc } else { *y + *acc };
    }
}

//! The gradient of the weights for images with few channels, through patches.
//!
//! The weights are few, so the batch is cut into parts with sums of their own, which are added in the end. The parts are the same
//! for every number of threads, and so is the result. Each part goes through its pixels once, a strip at a time.

use std::cell::RefCell;

use pulp::Simd;
use rayon::prelude::*;

use super::{ConvShape, patches};
use crate::{
    Workspace,
    buffer::Buffer,
    level::{Block, Kernel},
    tile::{Pieces, strided_product, with_rows},
};

/// The most parts that the batch is cut into.
const PARTS: usize = 32;

/// Pixels of a strip: patches and gradients stay in the first cache.
const PIXELS: usize = 96;

thread_local! {
    static PATCHES: RefCell<[Buffer; 2]> = RefCell::default();
}

/// dw = sum over pixels of patch times dy.
pub(super) fn gradient(shape: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32], workspace: &mut Workspace) {
    let (arch, block) = (workspace.arch, workspace.arch.block());
    let lines = shape.batch * shape.height;
    let lines_per_part = lines.div_ceil(PARTS);
    let height = (PIXELS / shape.width).max(1);
    let patch = shape.taps() * shape.inputs;
    let part_len = shape.outputs.div_ceil(block.lanes) * patch * block.lanes;
    let parts = workspace.sums.zeros(lines.div_ceil(lines_per_part) * part_len);
    parts.par_chunks_mut(part_len).enumerate().for_each(|(part, sums)| {
        let end = lines.min((part + 1) * lines_per_part);
        for start in (part * lines_per_part..end).step_by(height) {
            let strip = start..end.min(start + height);
            let dy = &dy[strip.start * shape.width * shape.outputs..strip.end * shape.width * shape.outputs];
            PATCHES.with_borrow_mut(|[buffer, last]| {
                let patches = buffer.stale(strip.len() * shape.width * patch);
                patches::fill(shape, x, strip, patches);
                let last = last_tile(shape.outputs, block.lanes, dy, last);
                arch.run(Strip { block, patch, outputs: shape.outputs, patches, dy, last, sums });
            });
        }
    });
    for (at, dw) in dw.iter_mut().enumerate() {
        let (output, input, tap) = (at / patch, at % patch / shape.taps(), at % shape.taps());
        let (tile, lane) = (output / block.lanes, output % block.lanes);
        let from = (tile * patch + tap * shape.inputs + input) * block.lanes + lane;
        *dw = parts.iter().skip(from).step_by(part_len).sum();
    }
}

/// The gradients of the outputs that fill no tile, with zeros after them; nothing if there are none.
fn last_tile<'a>(outputs: usize, lanes: usize, dy: &[f32], buffer: &'a mut Buffer) -> &'a [f32] {
    let width = outputs % lanes;
    if width == 0 {
        return &[];
    }
    let last = buffer.zeros(dy.len() / outputs * lanes);
    for (to, from) in last.chunks_exact_mut(lanes).zip(dy.chunks_exact(outputs)) {
        to[..width].copy_from_slice(&from[outputs - width..]);
    }
    last
}

/// The sums over a strip of pixels, as `[tile][patch][output within the tile]`.
struct Strip<'a> {
    block: Block,
    /// The length of a patch.
    patch: usize,
    outputs: usize,
    patches: &'a [f32],
    dy: &'a [f32],
    last: &'a [f32],
    sums: &'a mut [f32],
}

impl Kernel for Strip<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        for block in Pieces::new(self.patch, self.block.rows).iter() {
            with_rows!(block.len(), R => self.add::<S, R, N>(simd, block.start));
        }
    }
}

impl Strip<'_> {
    /// Adds the products of `R` entries of the patches with all tiles of outputs.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const N: usize>(&mut self, simd: S, start: usize) {
        let lanes = self.block.lanes;
        for (tile, sums) in self.sums.chunks_exact_mut(self.patch * lanes).enumerate() {
            let whole = (tile + 1) * lanes <= self.outputs;
            let (dy, stride, first) = if whole { (self.dy, self.outputs, tile * lanes) } else { (self.last, lanes, 0) };
            let acc = strided_product::<S, R, N>(simd, (self.patches, self.patch, start), (dy, stride, first));
            let sums = S::as_mut_simd_f32s(&mut sums[start * lanes..]).0.as_chunks_mut::<N>().0;
            for r in 0..R {
                for j in 0..N {
                    sums[r][j] = simd.add_f32s(sums[r][j], acc[r][j]);
                }
            }
        }
    }
}

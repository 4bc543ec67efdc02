//! The gradient of the weights: for each kernel position, the sum over all pixels of input times gradient of the output.
//!
//! Register blocks hold a few input channels x a tile of output channels for one kernel position and run over pixels. For that
//! inputs and gradients are first rearranged, so that one pixel follows the other at the distance of a block. A few small images
//! are interleaved (all images' first pixel, then their second ...), so that even a row of a 3x3 image is a long sum.
//!
//! Every sum is computed by one thread in the order of the batch: the result does not depend on the number of threads.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

use super::ConvShape;
use crate::{
    Workspace,
    buffer::Buffer,
    level::{Arch, Block, Kernel},
    tile::{Pieces, add_interleaved, vectors, with_rows, zeros},
};

/// Pixels that are summed before the next block of channels: a block of both sides stays in the first cache.
const PIXELS: usize = 256;

/// The most blocks of input channels that one task goes through.
const BLOCKS: usize = 12;

/// dw = sum over pixels of x times dy.
pub(super) fn gradient(shape: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32], workspace: &mut Workspace) {
    let Workspace { arch, inputs, outputs, sums, .. } = workspace;
    let product = Product::new(*arch, *shape);
    let sums = product.compute(x, dy, inputs, outputs, sums);
    product.unpack(sums, dw);
}

/// How the product is cut.
#[derive(Debug, Clone, Copy)]
struct Product {
    arch: Arch,
    shape: ConvShape,
    block: Block,
    /// The blocks of input channels.
    blocks: Pieces,
    /// The tiles of output channels.
    tiles: usize,
    /// How many images are interleaved.
    images: usize,
}

impl Product {
    fn new(arch: Arch, shape: ConvShape) -> Self {
        let block = arch.block();
        let images = (PIXELS / (shape.height * shape.width)).clamp(1, shape.batch);
        let blocks = Pieces::new(shape.inputs, block.rows);
        Self { arch, shape, block, blocks, tiles: shape.outputs.div_ceil(block.lanes), images }
    }

    /// The sums, as `[tile][block][kernel position][input within the block][output within the tile]`.
    fn compute<'a>(&self, x: &[f32], dy: &[f32], inputs: &mut Buffer, outputs: &mut Buffer, sums: &'a mut Buffer) -> &'a [f32] {
        let shape = &self.shape;
        let x = self.pack_inputs(x, inputs);
        let dy = self.pack_outputs(dy, outputs);
        let sums = sums.zeros(self.tiles * shape.taps() * shape.inputs * self.block.lanes);
        let jobs = self.tiles * self.blocks.count;
        let limit = (jobs / (2 * rayon::current_num_threads())).clamp(1, BLOCKS);
        self.divide(0..jobs, limit, x, dy, sums);
        sums
    }

    /// Where the sums of a job start. Jobs are blocks of input channels within tiles of output channels.
    fn start(&self, job: usize) -> usize {
        let (tile, block) = (job / self.blocks.count, job % self.blocks.count);
        (tile * self.shape.inputs + self.blocks.start(block)) * self.shape.taps() * self.block.lanes
    }

    /// Halves the jobs until they are few, and computes these.
    fn divide(&self, jobs: Range<usize>, limit: usize, x: &[f32], dy: &[f32], sums: &mut [f32]) {
        if jobs.len() <= limit {
            self.arch.run(Task { product: self, jobs, x, dy, sums });
        } else {
            let middle = jobs.start + jobs.len() / 2;
            let (left, right) = sums.split_at_mut(self.start(middle) - self.start(jobs.start));
            rayon::join(
                || self.divide(jobs.start..middle, limit, x, dy, left),
                || self.divide(middle..jobs.end, limit, x, dy, right),
            );
        }
    }

    /// `[group of images][block][pixel][image][input within the block]`.
    fn pack_inputs<'a>(&self, x: &[f32], packed: &'a mut Buffer) -> &'a [f32] {
        let image = self.shape.height * self.shape.width;
        let group = self.images * image * self.shape.inputs;
        let packed = packed.stale(x.len());
        packed.par_chunks_mut(group).zip(x.par_chunks(group)).for_each(|(packed, x)| {
            let pixels = x.len() / self.shape.inputs;
            let images = pixels / image;
            for block in self.blocks.iter() {
                let packed = &mut packed[block.start * pixels..block.end * pixels];
                for (pixel, to) in interleaved(image, images).zip(packed.chunks_exact_mut(block.len())) {
                    let from = &x[pixel * self.shape.inputs..][block.clone()];
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = *from;
                    }
                }
            }
        });
        packed
    }

    /// `[group of images][tile][pixel][image][output within the tile]`, with zeros past the last output.
    fn pack_outputs<'a>(&self, dy: &[f32], packed: &'a mut Buffer) -> &'a [f32] {
        let image = self.shape.height * self.shape.width;
        let (group, lanes, outputs) = (self.images * image, self.block.lanes, self.shape.outputs);
        let packed = packed.stale(self.shape.pixels() * self.tiles * lanes);
        packed.par_chunks_mut(group * self.tiles * lanes).zip(dy.par_chunks(group * outputs)).for_each(|(packed, dy)| {
            let pixels = dy.len() / outputs;
            let images = pixels / image;
            for (tile, packed) in packed.chunks_exact_mut(pixels * lanes).enumerate() {
                let first = tile * lanes;
                let width = lanes.min(outputs - first);
                for (pixel, to) in interleaved(image, images).zip(packed.chunks_exact_mut(lanes)) {
                    copy(&dy[pixel * outputs + first..][..width], to);
                }
            }
        });
        packed
    }

    /// Writes the sums as `[outputs, inputs, kernel, kernel]`.
    fn unpack(&self, sums: &[f32], dw: &mut [f32]) {
        let (lanes, taps) = (self.block.lanes, self.shape.taps());
        let weights = self.shape.inputs * taps;
        dw.par_chunks_mut(lanes * weights).zip(sums.par_chunks(lanes * weights)).for_each(|(dw, sums)| {
            for (lane, dw) in dw.chunks_exact_mut(weights).enumerate() {
                for block in self.blocks.iter() {
                    for tap in 0..taps {
                        let first = block.start * taps + tap * block.len();
                        for (row, input) in (first..).zip(block.clone()) {
                            dw[input * taps + tap] = sums[row * lanes + lane];
                        }
                    }
                }
            }
        });
    }
}

/// The pixels of a few images in interleaved order.
fn interleaved(image: usize, images: usize) -> impl Iterator<Item = usize> {
    (0..image).flat_map(move |pixel| (0..images).map(move |at| at * image + pixel))
}

/// Copies a tile, with zeros after the last output. Whole tiles go in steps of a length that the compiler knows.
#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    const STEP: usize = 8;
    if from.len() == to.len() {
        for (to, from) in to.as_chunks_mut::<STEP>().0.iter_mut().zip(from.as_chunks::<STEP>().0) {
            *to = *from;
        }
    } else {
        let (inside, outside) = to.split_at_mut(from.len());
        inside.copy_from_slice(from);
        outside.fill(0.0);
    }
}

/// A few blocks of input channels.
struct Task<'a> {
    product: &'a Product,
    jobs: Range<usize>,
    x: &'a [f32],
    dy: &'a [f32],
    sums: &'a mut [f32],
}

impl Kernel for Task<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let Product { shape, block: Block { lanes, .. }, blocks, tiles, images, .. } = *self.product;
        let image = shape.height * shape.width;
        let first = self.product.start(self.jobs.start);
        let mut jobs = self.jobs;
        while !jobs.is_empty() {
            let tile = jobs.start / blocks.count;
            let same_tile = jobs.start..jobs.end.min((tile + 1) * blocks.count);
            jobs.start = same_tile.end;
            for start in (0..shape.batch).step_by(images) {
                let images = images.min(shape.batch - start);
                let pixels = images * image;
                let dy = &self.dy[(start * image * tiles + tile * pixels) * lanes..][..pixels * lanes];
                let x = &self.x[start * image * shape.inputs..][..pixels * shape.inputs];
                let lines = (PIXELS / (shape.width * images)).max(1);
                for top in (0..shape.height).step_by(lines) {
                    let band = Band { shape, images, lines: top..shape.height.min(top + lines), dy };
                    for job in same_tile.clone() {
                        let block = blocks.get(job - tile * blocks.count);
                        let x = &x[block.start * pixels..block.end * pixels];
                        let sums = &mut self.sums[self.product.start(job) - first..][..block.len() * shape.taps() * lanes];
                        with_rows!(block.len(), R => band.add::<S, R, N>(simd, x, sums));
                    }
                }
            }
        }
    }
}

/// Some lines of a group of interleaved images.
struct Band<'a> {
    shape: ConvShape,
    images: usize,
    lines: Range<usize>,
    dy: &'a [f32],
}

impl Band<'_> {
    /// Adds the sums over these lines to a register block for each kernel position.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const N: usize>(&self, simd: S, x: &[f32], sums: &mut [f32]) {
        let (kernel, reach) = (self.shape.kernel, self.shape.reach());
        let (x, dy) = (x.as_chunks::<R>().0, vectors::<S, N>(self.dy));
        let sums = S::as_mut_simd_f32s(sums).0.as_chunks_mut::<N>().0.as_chunks_mut::<R>().0;
        for (tap, sums) in sums.iter_mut().enumerate() {
            let (tap_y, tap_x) = (tap / kernel, tap % kernel);
            let lines = inside(self.shape.height, reach, tap_y);
            let lines = lines.start.max(self.lines.start)..lines.end.min(self.lines.end);
            let columns = inside(self.shape.width, reach, tap_x);
            if lines.is_empty() || columns.is_empty() {
                continue;
            }
            let mut acc = zeros::<S, R, N>(simd);
            // If no column falls outside, the lines are one long sum.
            let together = if columns.len() == self.shape.width { lines.len() } else { 1 };
            let pixels = together * columns.len() * self.images;
            for line in lines.step_by(together) {
                let to = (line * self.shape.width + columns.start) * self.images;
                let from = ((line + tap_y - reach) * self.shape.width + columns.start + tap_x - reach) * self.images;
                add_interleaved::<S, R, N>(simd, &x[from..][..pixels], &dy[to..][..pixels], &mut acc);
            }
            for r in 0..R {
                for j in 0..N {
                    sums[r][j] = simd.add_f32s(sums[r][j], acc[r][j]);
                }
            }
        }
    }
}

/// The coordinates at which a kernel position falls inside an axis.
fn inside(size: usize, reach: usize, tap: usize) -> Range<usize> {
    reach.saturating_sub(tap).min(size)..size.min((size + reach).saturating_sub(tap))
}

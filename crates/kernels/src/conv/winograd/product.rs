//! The convolution: transform, multiply at each point, transform back, a few bands at a time.

use std::{cell::RefCell, ops::Range};

use pulp::Simd;

use super::{
    Tiling,
    tiling::Spread,
    transform::{Input, Matrix, Output, both_axes},
};
use crate::{
    buffer::Buffer,
    conv::ConvShape,
    level::{Arch, Kernel},
    tile::{Pieces, add_product, vectors, with_rows, zeros},
};

/// Transformed inputs of a task: they stay in the second cache.
const SCRATCH: usize = 96 * 1024;

thread_local! {
    static BUFFERS: RefCell<[Buffer; 2]> = RefCell::default();
}

/// y = x * filters + bias.
pub(super) fn convolve(arch: Arch, tiling: &Tiling, x: &[f32], factors: &[f32], bias: &[f32], y: &mut [f32]) {
    let band = tiling.points() * tiling.shape.inputs * tiling.columns;
    let fitting = (SCRATCH / band).max(1);
    let threads = rayon::current_num_threads();
    let tasks = tiling.bands().div_ceil(fitting).next_multiple_of(threads);
    let tasks = Pieces::new(tiling.bands(), tiling.bands().div_ceil(tasks));
    Task { arch, tiling, x, factors, bias }.divide(tasks, 0..tasks.count, y);
}

/// What all parts of the batch share.
#[derive(Clone, Copy)]
struct Task<'a> {
    arch: Arch,
    tiling: &'a Tiling,
    x: &'a [f32],
    factors: &'a [f32],
    bias: &'a [f32],
}

impl Task<'_> {
    /// Halves the tasks until they are single, and computes these.
    fn divide(&self, tasks: Pieces, range: Range<usize>, y: &mut [f32]) {
        if range.len() > 1 {
            let line = |task: usize| self.tiling.line(tasks.start(task));
            let middle = range.start + range.len() / 2;
            let lines = line(middle) - line(range.start);
            let (left, right) = y.split_at_mut(lines * self.tiling.shape.width * self.tiling.shape.outputs);
            rayon::join(|| self.divide(tasks, range.start..middle, left), || self.divide(tasks, middle..range.end, right));
        } else if !range.is_empty() {
            BUFFERS.with_borrow_mut(|[spread, products]| {
                self.arch.run(Bands { task: *self, range: tasks.get(range.start), spread, products, y });
            });
        }
    }
}

/// Some bands, with their part of the outputs.
struct Bands<'a> {
    task: Task<'a>,
    range: Range<usize>,
    spread: &'a mut Buffer,
    products: &'a mut Buffer,
    y: &'a mut [f32],
}

impl Kernel for Bands<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        match self.task.tiling.side {
            3 => self.compute::<S, N, 3, 5>(simd),
            _ => self.compute::<S, N, 4, 6>(simd),
        }
    }
}

impl Bands<'_> {
    #[inline(always)]
    fn compute<S: Simd, const N: usize, const M: usize, const A: usize>(self, simd: S)
    where
        Input<M>: Matrix<A, A>,
        Output<M>: Matrix<A, M>,
    {
        let Self { task: Task { arch, tiling, x, factors, bias }, range: bands, spread, products, y } = self;
        let (inputs, lanes) = (tiling.shape.inputs, N * S::F32_LANES);
        let tiles = bands.len() * tiling.columns;
        let layout = Spread { tiles, channels: inputs, group: inputs };
        let spread = spread.stale(layout.len(A * A));
        layout.fill::<S, Input<M>, A, A>(simd, tiling, (bands.clone(), 1), x, spread);
        let panel = Spread { tiles, channels: lanes, group: lanes };
        let products = products.stale(panel.len(A * A));
        for output in 0..tiling.shape.outputs / lanes {
            for point in 0..A * A {
                let rows = layout.group(spread, point, 0);
                let columns = &factors[(output * A * A + point) * inputs * lanes..][..inputs * lanes];
                let columns = vectors::<S, N>(columns);
                let to = &mut products[point * panel.stride()..][..tiles * lanes];
                for block in Pieces::new(tiles, arch.block().rows).iter() {
                    with_rows!(block.len(), R => {
                        let rows: [&[f32]; R] = std::array::from_fn(|r| &rows[(block.start + r) * inputs..][..inputs]);
                        let mut acc = zeros::<S, R, N>(simd);
                        add_product::<S, R, N>(simd, rows, columns, &mut acc);
                        let to = S::as_mut_simd_f32s(&mut to[block.start * lanes..block.end * lanes]).0.as_chunks_mut::<N>().0;
                        to[..R].copy_from_slice(&acc);
                    });
                }
            }
            let finish = Finish { tiling, bands: bands.clone(), output, panel, products };
            finish.write::<S, N, M, A>(simd, &vectors::<S, N>(&bias[output * lanes..(output + 1) * lanes])[0], y);
        }
    }
}

/// The products of a tile of outputs.
struct Finish<'a> {
    tiling: &'a Tiling,
    bands: Range<usize>,
    output: usize,
    panel: Spread,
    products: &'a [f32],
}

impl Finish<'_> {
    /// Transforms the products back, and writes what lies inside the image.
    #[inline(always)]
    fn write<S: Simd, const N: usize, const M: usize, const A: usize>(&self, simd: S, bias: &[S::f32s; N], y: &mut [f32])
    where
        Output<M>: Matrix<A, M>,
    {
        let ConvShape { height, width, outputs, .. } = self.tiling.shape;
        let first = self.tiling.line(self.bands.start);
        let (stride, pixel) = (self.panel.stride() / S::F32_LANES, outputs / S::F32_LANES);
        let products = S::as_simd_f32s(self.products).0;
        let y = S::as_mut_simd_f32s(y).0;
        let nothing = simd.splat_f32s(0.0);
        for (tile, place) in self.tiling.places(self.bands.clone()).enumerate() {
            for lane in 0..N {
                let mut square = [[nothing; A]; A];
                for i in 0..A {
                    for j in 0..A {
                        square[i][j] = products[(i * A + j) * stride + tile * N + lane];
                    }
                }
                let square = both_axes::<S, Output<M>, A, M>(simd, &square);
                for i in 0..M.min(height - place.top) {
                    for j in 0..M.min(width - place.left) {
                        let at = (place.image + place.top + i - first) * width + place.left + j;
                        y[at * pixel + self.output * N + lane] = simd.add_f32s(square[i][j], bias[lane]);
                    }
                }
            }
        }
    }
}

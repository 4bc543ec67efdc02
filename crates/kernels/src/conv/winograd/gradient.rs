//! The gradient of the factors: at each point the sum over tiles of transformed inputs times transformed gradients of the outputs.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

use super::{
    Tiling,
    tiling::Spread,
    transform::{Input, Matrix, OutputGradient},
};
use crate::{
    buffer::Buffer,
    level::{Arch, Kernel},
    tile::{GROUP, Pieces, add_columns, vectors, with_rows, zeros},
};

/// Tiles that are transformed together.
const TILES: usize = 32;

/// So many of these are multiplied before the next are transformed: all that is transformed stays in the last cache, and one point of it
/// in the second.
const BLOCKS: usize = 4;

/// The sums, `[point][tile of outputs][input][output within the tile]`.
pub(super) fn sums<'a>(
    arch: Arch,
    tiling: &Tiling,
    (x, dy): (&[f32], &[f32]),
    inputs: &mut Buffer,
    outputs: &mut Buffer,
    sums: &'a mut Buffer,
) -> &'a [f32] {
    let (shape, lanes) = (tiling.shape, arch.block().lanes);
    let bands = (TILES / tiling.columns).max(1);
    let layouts = |bands: usize| Layouts {
        inputs: Spread { tiles: bands * tiling.columns, channels: shape.inputs, group: GROUP },
        outputs: Spread { tiles: bands * tiling.columns, channels: shape.outputs, group: lanes },
    };
    let sizes = (layouts(bands).inputs.len(tiling.points()), layouts(bands).outputs.len(tiling.points()));
    let (inputs, outputs) = (inputs.stale(BLOCKS * sizes.0), outputs.stale(BLOCKS * sizes.1));
    let sums = sums.stale(tiling.points() * shape.inputs * shape.outputs);
    for start in (0..tiling.bands()).step_by(bands * BLOCKS) {
        let end = tiling.bands().min(start + bands * BLOCKS);
        let parts: Vec<Range<usize>> = (start..end).step_by(bands).map(|start| start..end.min(start + bands)).collect();
        let spreads = inputs.par_chunks_mut(sizes.0).zip(outputs.par_chunks_mut(sizes.1));
        spreads.zip(&parts).for_each(|((inputs, outputs), part)| {
            let layouts = layouts(part.len());
            let spread = |of: Of<'_>, layout, to| arch.run(Transformed { tiling, bands: part.clone(), layout, of, to });
            rayon::join(|| spread(Of::Inputs(x), layouts.inputs, inputs), || spread(Of::Gradient(dy), layouts.outputs, outputs));
        });
        let blocks = inputs.chunks(sizes.0).zip(outputs.chunks(sizes.1)).zip(&parts);
        let blocks: Vec<Block<'_>> =
            blocks.map(|((inputs, outputs), part)| Block { layouts: layouts(part.len()), inputs, outputs }).collect();
        sums.par_chunks_mut(shape.inputs * lanes).enumerate().for_each(|(job, sums)| {
            let (point, output) = (job / (shape.outputs / lanes), job % (shape.outputs / lanes));
            arch.run(Product { arch, blocks: &blocks, point, output, fresh: start == 0, sums });
        });
    }
    sums
}

#[derive(Debug, Clone, Copy)]
struct Layouts {
    inputs: Spread,
    outputs: Spread,
}

/// What is transformed: squares under tiles, or the tiles themselves.
#[derive(Debug, Clone, Copy)]
enum Of<'a> {
    Inputs(&'a [f32]),
    Gradient(&'a [f32]),
}

/// The transformed squares of some bands.
struct Transformed<'a> {
    tiling: &'a Tiling,
    bands: Range<usize>,
    layout: Spread,
    of: Of<'a>,
    to: &'a mut [f32],
}

impl Kernel for Transformed<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        match self.tiling.side {
            3 => self.fill::<S, 3, 5>(simd),
            _ => self.fill::<S, 4, 6>(simd),
        }
    }
}

impl Transformed<'_> {
    #[inline(always)]
    fn fill<S: Simd, const M: usize, const A: usize>(self, simd: S)
    where
        Input<M>: Matrix<A, A>,
        OutputGradient<M>: Matrix<M, A>,
    {
        let Self { tiling, bands, layout, of, to } = self;
        match of {
            Of::Inputs(x) => layout.fill::<S, Input<M>, A, A>(simd, tiling, (bands, 1), x, to),
            Of::Gradient(dy) => layout.fill::<S, OutputGradient<M>, M, A>(simd, tiling, (bands, 0), dy, to),
        }
    }
}

/// Transformed squares of some bands.
struct Block<'a> {
    layouts: Layouts,
    inputs: &'a [f32],
    outputs: &'a [f32],
}

/// The sums of a tile of outputs at a point.
struct Product<'a> {
    arch: Arch,
    blocks: &'a [Block<'a>],
    point: usize,
    /// The tile of outputs.
    output: usize,
    /// Whether these are the first blocks.
    fresh: bool,
    sums: &'a mut [f32],
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let sums = S::as_mut_simd_f32s(self.sums).0.as_chunks_mut::<N>().0;
        for (group, sums) in sums.chunks_exact_mut(GROUP).enumerate() {
            for rows in Pieces::new(GROUP, self.arch.block().rows).iter() {
                with_rows!(rows.len(), R => {
                    let mut acc = zeros::<S, R, N>(simd);
                    for block in self.blocks {
                        let inputs = block.layouts.inputs.group(block.inputs, self.point, group).as_chunks().0;
                        let outputs = vectors::<S, N>(block.layouts.outputs.group(block.outputs, self.point, self.output));
                        add_columns::<S, R, N>(simd, inputs, rows.start, outputs, &mut acc);
                    }
                    for r in 0..R {
                        let sum = &mut sums[rows.start + r];
                        for j in 0..N {
                            sum[j] = if self.fresh { acc[r][j] } else { simd.add_f32s(sum[j], acc[r][j]) };
                        }
                    }
                });
            }
        }
    }
}

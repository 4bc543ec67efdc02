//! From filters to the factors at each point, and back for their gradients.

use pulp::Simd;
use rayon::prelude::*;

use super::{
    Tiling,
    transform::{Filter, FilterGradient, Matrix, both_axes},
};
use crate::{
    buffer::Buffer,
    level::{Arch, Kernel, MAX_LANES},
};

/// How filters lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conv) enum Turn {
    /// `[outputs, inputs, 3, 3]`.
    Not,
    /// `[inputs, outputs, 3, 3]`, and by half a turn: the filters of the gradient of the inputs.
    Half,
}

/// Taps of the filters of a tile of outputs for one input.
type Taps = [[f32; MAX_LANES]; 9];

/// The factors, `[tile of outputs][point][input][output within the tile]`.
pub(super) fn factors<'a>(arch: Arch, tiling: &Tiling, weights: &[f32], turn: Turn, buffer: &'a mut Buffer) -> &'a [f32] {
    let (inputs, outputs, lanes) = (tiling.shape.inputs, tiling.shape.outputs, arch.block().lanes);
    let panel = tiling.points() * inputs * lanes;
    let factors = buffer.stale(outputs / lanes * panel);
    factors.par_chunks_mut(panel).enumerate().for_each(|(tile, factors)| {
        arch.run(Factors { source: Source { tiling, weights, turn, first: tile * lanes }, factors });
    });
    factors
}

/// The factors of a tile of outputs.
struct Factors<'a> {
    source: Source<'a>,
    factors: &'a mut [f32],
}

/// Where its filters come from.
struct Source<'a> {
    tiling: &'a Tiling,
    weights: &'a [f32],
    turn: Turn,
    /// The first output of the tile.
    first: usize,
}

impl Kernel for Factors<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        match self.source.tiling.side {
            3 => self.fill::<S, N, 3, 5>(simd),
            _ => self.fill::<S, N, 4, 6>(simd),
        }
    }
}

impl Factors<'_> {
    #[inline(always)]
    fn fill<S: Simd, const N: usize, const M: usize, const A: usize>(self, simd: S)
    where
        Filter<M>: Matrix<3, A>,
    {
        let Self { source, factors } = self;
        let inputs = source.tiling.shape.inputs;
        let nothing = simd.splat_f32s(0.0);
        let mut taps: Taps = [[0.0; MAX_LANES]; 9];
        let factors = S::as_mut_simd_f32s(factors).0.as_chunks_mut::<N>().0;
        for input in 0..inputs {
            source.read(input, N * S::F32_LANES, &mut taps);
            for lane in 0..N {
                let mut square = [[nothing; 3]; 3];
                for i in 0..3 {
                    for j in 0..3 {
                        square[i][j] = S::as_simd_f32s(&taps[3 * i + j]).0[lane];
                    }
                }
                let square = both_axes::<S, Filter<M>, 3, A>(simd, &square);
                for i in 0..A {
                    for j in 0..A {
                        factors[(i * A + j) * inputs + input][lane] = square[i][j];
                    }
                }
            }
        }
    }
}

impl Source<'_> {
    /// The taps for one input side by side.
    #[inline(always)]
    fn read(&self, input: usize, lanes: usize, taps: &mut Taps) {
        let shape = self.tiling.shape;
        for lane in 0..lanes {
            let (output, half) = (self.first + lane, self.turn == Turn::Half);
            let filter = if half { input * shape.outputs + output } else { output * shape.inputs + input };
            let Some(filter) = self.weights[9 * filter..].first_chunk::<9>() else { continue };
            for (tap, weight) in filter.iter().enumerate() {
                taps[if half { 8 - tap } else { tap }][lane] = *weight;
            }
        }
    }
}

/// The gradient of the filters, `[outputs, inputs, 3, 3]`, from that of the factors.
pub(super) fn gradient(arch: Arch, tiling: &Tiling, sums: &[f32], dw: &mut [f32]) {
    let lanes = arch.block().lanes;
    dw.par_chunks_mut(lanes * tiling.shape.inputs * 9)
        .enumerate()
        .for_each(|(tile, dw)| arch.run(Gradient { tiling, sums, tile, dw }));
}

/// That of a tile of outputs.
struct Gradient<'a> {
    tiling: &'a Tiling,
    /// `[point][tile of outputs][input][output within the tile]`.
    sums: &'a [f32],
    tile: usize,
    dw: &'a mut [f32],
}

impl Kernel for Gradient<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        match self.tiling.side {
            3 => self.fill::<S, N, 3, 5>(simd),
            _ => self.fill::<S, N, 4, 6>(simd),
        }
    }
}

impl Gradient<'_> {
    #[inline(always)]
    fn fill<S: Simd, const N: usize, const M: usize, const A: usize>(self, simd: S)
    where
        FilterGradient<M>: Matrix<A, 3>,
    {
        let (inputs, lanes) = (self.tiling.shape.inputs, N * S::F32_LANES);
        let tiles = self.tiling.shape.outputs / lanes;
        let nothing = simd.splat_f32s(0.0);
        let mut taps: Taps = [[0.0; MAX_LANES]; 9];
        let sums = S::as_simd_f32s(self.sums).0.as_chunks::<N>().0;
        for input in 0..inputs {
            for lane in 0..N {
                let mut square = [[nothing; A]; A];
                for i in 0..A {
                    for j in 0..A {
                        square[i][j] = sums[((i * A + j) * tiles + self.tile) * inputs + input][lane];
                    }
                }
                let square = both_axes::<S, FilterGradient<M>, A, 3>(simd, &square);
                for i in 0..3 {
                    for j in 0..3 {
                        S::as_mut_simd_f32s(&mut taps[3 * i + j]).0[lane] = square[i][j];
                    }
                }
            }
            for lane in 0..lanes {
                let Some(filter) = self.dw[9 * (lane * inputs + input)..].first_chunk_mut::<9>() else { continue };
                for (tap, weight) in filter.iter_mut().enumerate() {
                    *weight = taps[tap][lane];
                }
            }
        }
    }
}

//! The innermost loop of every product: a block of outputs kept in registers.

use std::ops::Range;

use pulp::Simd;

/// Accumulators of `R` rows x `N` vectors.
pub(crate) type Accumulators<S, const R: usize, const N: usize> = [[<S as Simd>::f32s; N]; R];

/// Accumulators that are all zero.
#[inline(always)]
pub(crate) fn zeros<S: Simd, const R: usize, const N: usize>(simd: S) -> Accumulators<S, R, N> {
    [[simd.splat_f32s(0.0); N]; R]
}

/// A slice of rows of `N` vectors each.
#[inline(always)]
pub(crate) fn vectors<S: Simd, const N: usize>(slice: &[f32]) -> &[[S::f32s; N]] {
    S::as_simd_f32s(slice).0.as_chunks().0
}

/// acc[r][j] += sum over i of rows[r][i] * columns[i][j], over all i for which there are columns.
#[inline(always)]
pub(crate) fn add_product<S: Simd, const R: usize, const N: usize>(
    simd: S,
    rows: [&[f32]; R],
    columns: &[[S::f32s; N]],
    acc: &mut Accumulators<S, R, N>,
) {
    assert!(rows.iter().all(|row| row.len() >= columns.len()), "a row is shorter than the columns");
    // Sums of its own, because the compiler keeps only such in registers throughout the loop.
    let mut sums = *acc;
    for (i, column) in columns.iter().enumerate() {
        for r in 0..R {
            // SAFETY: i < columns.len(), and no row is shorter than that.
            let value = simd.splat_f32s(unsafe { *rows[r].get_unchecked(i) });
            for j in 0..N {
                sums[r][j] = simd.mul_add_e_f32s(value, column[j], sums[r][j]);
            }
        }
    }
    *acc = sums;
}

/// The same with rows side by side: acc[r][j] += sum over i of rows[i][r] * columns[i][j].
#[inline(always)]
pub(crate) fn add_interleaved<S: Simd, const R: usize, const N: usize>(
    simd: S,
    rows: &[[f32; R]],
    columns: &[[S::f32s; N]],
    acc: &mut Accumulators<S, R, N>,
) {
    let mut sums = *acc;
    for (row, column) in rows.iter().zip(columns) {
        for r in 0..R {
            let value = simd.splat_f32s(row[r]);
            for j in 0..N {
                sums[r][j] = simd.mul_add_e_f32s(value, column[j], sums[r][j]);
            }
        }
    }
    *acc = sums;
}

/// Rows that lie together, of which a register block takes some.
pub(crate) const GROUP: usize = 16;

/// The same with `R` of the rows of a group: acc[r][j] += sum over i of rows[i][start + r] * columns[i][j].
#[inline(always)]
pub(crate) fn add_columns<S: Simd, const R: usize, const N: usize>(
    simd: S,
    rows: &[[f32; GROUP]],
    start: usize,
    columns: &[[S::f32s; N]],
    acc: &mut Accumulators<S, R, N>,
) {
    // The compiler needs no other check.
    assert!(R <= GROUP && start <= GROUP - R, "a block reaches beyond its group");
    let mut sums = *acc;
    for (row, column) in rows.iter().zip(columns) {
        for r in 0..R {
            let value = simd.splat_f32s(row[start + r]);
            for j in 0..N {
                sums[r][j] = simd.mul_add_e_f32s(value, column[j], sums[r][j]);
            }
        }
    }
    *acc = sums;
}

/// The product of rows and columns that lie inside longer ones, each given by its numbers, their stride and where to start.
#[inline(always)]
pub(crate) fn strided_product<S: Simd, const R: usize, const N: usize>(
    simd: S,
    (rows, row_stride, row): (&[f32], usize, usize),
    (columns, column_stride, column): (&[f32], usize, usize),
) -> Accumulators<S, R, N> {
    let count = (rows.len() / row_stride).min(columns.len() / column_stride);
    assert!(row + R <= row_stride && column + N * S::F32_LANES <= column_stride, "a block reaches beyond its row");
    let (mut row, mut column) = (row, column);
    let mut sums = zeros::<S, R, N>(simd);
    for _ in 0..count {
        // SAFETY: in step i, `column` is i * column_stride plus where it started. The assertion gives column + N * LANES
        // <= (i + 1) * column_stride <= columns.len(), because i < count.
        let columns = unsafe { columns.get_unchecked(column..column + N * S::F32_LANES) };
        let columns = S::as_simd_f32s(columns).0;
        for r in 0..R {
            // SAFETY: the same for rows.
            let value = simd.splat_f32s(unsafe { *rows.get_unchecked(row + r) });
            for j in 0..N {
                sums[r][j] = simd.mul_add_e_f32s(value, columns[j], sums[r][j]);
            }
        }
        row += row_stride;
        column += column_stride;
    }
    sums
}

/// Calls a function with a number of rows known at compile time, up to that of the largest register block.
macro_rules! with_rows {
    ($rows:expr, $R:ident => $call:expr) => {
        $crate::tile::with_rows!($rows, $R => $call, 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    ($rows:expr, $R:ident => $call:expr, $($known:literal)*) => {
        match $rows {
            $($known => {
                const $R: usize = $known;
                $call
            })*
            rows => unreachable!("no register block has {rows} rows"),
        }
    };
}
pub(crate) use with_rows;

/// A number cut into as few pieces of at most a given size as possible, all nearly equal: short blocks waste registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces {
    pub(crate) count: usize,
    /// The size of the smaller pieces.
    size: usize,
    /// How many pieces are larger by one; they come first.
    larger: usize,
}

impl Pieces {
    pub(crate) fn new(total: usize, largest: usize) -> Self {
        let count = total.div_ceil(largest).max(1);
        Self { count, size: total / count, larger: total % count }
    }

    /// Where a piece starts; where the last ends, for the piece after it.
    #[inline(always)]
    pub(crate) fn start(self, piece: usize) -> usize {
        piece * self.size + piece.min(self.larger)
    }

    #[inline(always)]
    pub(crate) fn get(self, piece: usize) -> Range<usize> {
        self.start(piece)..self.start(piece + 1)
    }

    /// The pieces in order.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.count).map(move |piece| self.get(piece))
    }
}

//! How images are cut into square tiles of outputs.

use std::ops::Range;

use pulp::Simd;

use super::transform::{Matrix, both_axes};
use crate::conv::ConvShape;

/// Channels come in multiples of this, so that every register block is whole.
const CHANNELS: usize = 32;

/// Fewer pixels in the batch would not pay for the transform of the filters.
const PIXELS: usize = 256;

/// What keeps rows apart whose distance would else be a power of two: those fall on the same lines of a cache.
const APART: usize = 16;

/// The tiles of a batch. A band is a row of tiles: bands follow each other in memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::conv) struct Tiling {
    pub(super) shape: ConvShape,
    /// Outputs of a tile along an axis: 3 or 4.
    pub(super) side: usize,
    /// Bands of an image.
    rows: usize,
    /// Tiles of a band.
    pub(super) columns: usize,
}

impl Tiling {
    /// None where the direct product is as fast.
    pub(in crate::conv) fn of(shape: &ConvShape) -> Option<Self> {
        let whole = shape.inputs.is_multiple_of(CHANNELS) && shape.outputs.is_multiple_of(CHANNELS);
        if shape.kernel != 3 || !whole || shape.inputs < 2 * CHANNELS || shape.outputs < 2 * CHANNELS || shape.pixels() < PIXELS {
            return None;
        }
        let tiling = [3, 4].map(|side| Self {
            shape: *shape,
            side,
            rows: shape.height.div_ceil(side),
            columns: shape.width.div_ceil(side),
        });
        let best = tiling.into_iter().min_by_key(Tiling::products)?;
        // Kernel positions inside the image, as the direct product counts.
        let inside = |size: usize| 3 * size - 2;
        let direct = inside(shape.height) * inside(shape.width);
        // The transforms take time, too: a third of the products must be saved.
        (2 * direct >= 3 * best.products()).then_some(best)
    }

    /// Products an image, for each pair of channels.
    fn products(&self) -> usize {
        self.rows * self.columns * self.points()
    }

    /// Products of a tile, for each pair of channels.
    pub(super) fn points(&self) -> usize {
        (self.side + 2) * (self.side + 2)
    }

    /// Bands of the batch.
    pub(super) fn bands(&self) -> usize {
        self.shape.batch * self.rows
    }

    /// The line of the batch where a band starts; for the band after the last, where the batch ends.
    pub(super) fn line(&self, band: usize) -> usize {
        band / self.rows * self.shape.height + band % self.rows * self.side
    }

    /// The tiles of some bands.
    #[inline(always)]
    pub(super) fn places(&self, bands: Range<usize>) -> impl Iterator<Item = Place> + use<'_> {
        bands.flat_map(move |band| {
            let (image, top) = (band / self.rows * self.shape.height, band % self.rows * self.side);
            (0..self.columns).map(move |column| Place { image, top, left: column * self.side })
        })
    }
}

/// Where a tile lies: its image, and the line and the column there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The line of the batch where its image starts.
    pub(super) image: usize,
    pub(super) top: usize,
    pub(super) left: usize,
}

/// Transformed squares of some bands: `[point][group of channels][tile][channel of the group]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) tiles: usize,
    pub(super) channels: usize,
    /// Channels that lie together.
    pub(super) group: usize,
}

impl Spread {
    /// From one point to the next.
    pub(super) fn stride(&self) -> usize {
        self.tiles * self.channels + APART
    }

    /// Room for so many points.
    pub(super) fn len(&self, points: usize) -> usize {
        points * self.stride()
    }

    /// The tiles of a group of channels at a point.
    #[inline(always)]
    pub(super) fn group<'a>(&self, values: &'a [f32], point: usize, group: usize) -> &'a [f32] {
        &values[point * self.stride() + group * self.tiles * self.group..][..self.tiles * self.group]
    }

    /// Transforms the squares of some bands. A square reaches `reach` pixels to the left of its tile and above; outside the image are
    /// zeros.
    #[inline(always)]
    pub(super) fn fill<S: Simd, X: Matrix<FROM, TO>, const FROM: usize, const TO: usize>(
        &self,
        simd: S,
        tiling: &Tiling,
        (bands, reach): (Range<usize>, usize),
        image: &[f32],
        to: &mut [f32],
    ) {
        let nothing = simd.splat_f32s(0.0);
        let (channels, group, stride) = (self.channels / S::F32_LANES, self.group / S::F32_LANES, self.stride() / S::F32_LANES);
        let to = S::as_mut_simd_f32s(to).0;
        for (tile, place) in tiling.places(bands).enumerate() {
            let pixels = square::<S, FROM>(tiling, place, reach, self.channels, image);
            for channel in 0..channels {
                let mut square = [[nothing; FROM]; FROM];
                for i in 0..FROM {
                    for j in 0..FROM {
                        square[i][j] = pixels[i][j].get(channel).copied().unwrap_or(nothing);
                    }
                }
                let square = both_axes::<S, X, FROM, TO>(simd, &square);
                let first = channel / group * self.tiles * group + tile * group + channel % group;
                for i in 0..TO {
                    for j in 0..TO {
                        to[(i * TO + j) * stride + first] = square[i][j];
                    }
                }
            }
        }
    }
}

/// The channels of the pixels of a square; none for those outside the image.
#[inline(always)]
fn square<'a, S: Simd, const FROM: usize>(
    tiling: &Tiling,
    place: Place,
    reach: usize,
    channels: usize,
    image: &'a [f32],
) -> [[&'a [S::f32s]; FROM]; FROM] {
    let ConvShape { height, width, .. } = tiling.shape;
    let mut pixels: [[&[S::f32s]; FROM]; FROM] = [[&[]; FROM]; FROM];
    for (i, pixels) in pixels.iter_mut().enumerate() {
        let Some(line) = (place.top + i).checked_sub(reach).filter(|line| *line < height) else { continue };
        for (j, pixel) in pixels.iter_mut().enumerate() {
            let Some(column) = (place.left + j).checked_sub(reach).filter(|column| *column < width) else { continue };
            let first = ((place.image + line) * width + column) * channels;
            *pixel = S::as_simd_f32s(&image[first..first + channels]).0;
        }
    }
    pixels
}

//! Pictures of any size in one: a border that makes them square, and another size.

use crate::error::{Error, Result, dims};

/// Largest side of a picture that is asked for.
const MOST: usize = 4096;

/// What is done to every picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fit {
    /// A border of zeros makes it square, as wide on both sides as can be.
    pub(crate) pad: bool,
    /// Then it gets this height and width.
    pub(crate) resize: Option<[usize; 2]>,
}

impl Fit {
    /// Whether it changes nothing.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Refuses sizes that are none.
    pub(crate) fn check(self, origin: &str) -> Result<()> {
        match self.resize.into_iter().flatten().find(|side| !(1..=MOST).contains(side)) {
            Some(side) => {
                Err(Error::request(origin, format!("the height and width of `resize` lie between 1 and {MOST}, got {side}")))
            }
            None => Ok(()),
        }
    }

    /// The size of a picture afterwards.
    pub(crate) fn size(self, [height, width]: [usize; 2]) -> [usize; 2] {
        let side = height.max(width);
        self.resize.unwrap_or(if self.pad { [side, side] } else { [height, width] })
    }

    /// A picture, channel by channel.
    pub(crate) fn picture(self, values: &[f32], size: [usize; 2]) -> Vec<f32> {
        let [height, width] = size;
        let channels = values.chunks(height * width);
        channels.flat_map(|channel| self.channel(channel, size)).collect()
    }

    fn channel(self, channel: &[f32], [height, width]: [usize; 2]) -> Vec<f32> {
        let side = height.max(width);
        let (padded, [height, width]) = if self.pad && height != width {
            let (top, left) = ((side - height) / 2, (side - width) / 2);
            let mut square = vec![0.0; side * side];
            for (row, values) in channel.chunks(width).enumerate() {
                square[(top + row) * side + left..][..width].copy_from_slice(values);
            }
            (square, [side, side])
        } else {
            (channel.to_vec(), [height, width])
        };
        let Some(wanted) = self.resize.filter(|&wanted| wanted != [height, width]) else { return padded };
        let rows = shares(height, wanted[0]);
        let columns = shares(width, wanted[1]);
        let mut narrow = vec![0.0; height * wanted[1]];
        for (from, to) in padded.chunks(width).zip(narrow.chunks_mut(wanted[1])) {
            for (value, column) in to.iter_mut().zip(&columns) {
                *value = column.iter().map(|&(k, share)| from[k] * share).sum();
            }
        }
        let mut small = vec![0.0; wanted[0] * wanted[1]];
        for (to, row) in small.chunks_mut(wanted[1]).zip(&rows) {
            for (x, value) in to.iter_mut().enumerate() {
                *value = row.iter().map(|&(k, share)| narrow[k * wanted[1] + x] * share).sum();
            }
        }
        small
    }
}

/// For each of `to` pixels, those of `from` that it covers, with their shares: so mirrors and turns stay mirrors and turns.
fn shares(from: usize, to: usize) -> Vec<Vec<(usize, f32)>> {
    let scale = from as f64 / to as f64;
    let pixel = |k: usize| {
        let (start, end) = (k as f64 * scale, (k + 1) as f64 * scale);
        let covered = start.floor() as usize..(end.ceil() as usize).min(from);
        let share = |pixel: usize| ((pixel + 1) as f64).min(end) - (pixel as f64).max(start);
        covered.map(|pixel| (pixel, (share(pixel) / scale) as f32)).filter(|&(_, share)| share > 1e-9).collect()
    };
    (0..to).map(pixel).collect()
}

/// Pictures of arrays: the size of each afterwards, and all of them.
pub(crate) fn arrays(origin: &str, fit: Fit, shape: &[usize], inputs: &[f32]) -> Result<(Vec<usize>, Vec<f32>)> {
    let (before, size) = match *shape {
        [height, width] => (vec![], [height, width]),
        [channels, height, width] => (vec![channels], [height, width]),
        _ => {
            return Err(Error::mismatch(
                origin,
                "`pad` and `resize`",
                "pictures of rows and columns, with or without channels",
                dims(shape),
            ));
        }
    };
    let example: usize = shape.iter().product();
    let values = inputs.chunks(example).flat_map(|values| fit.picture(values, size)).collect();
    Ok(([&before[..], &fit.size(size)].concat(), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_makes_squares() {
        let pad = Fit { pad: true, resize: None };
        assert_eq!((pad.size([1, 3]), pad.picture(&[1.0, 2.0, 3.0], [1, 3])), ([3, 3], vec![0., 0., 0., 1., 2., 3., 0., 0., 0.]));
        assert_eq!(pad.picture(&[1.0, 2.0, 3.0, 4.0], [2, 2]), [1.0, 2.0, 3.0, 4.0]);
        let (shape, values) = arrays("a", pad, &[2, 2, 1], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((shape, values), (vec![2, 2, 2], vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0]));
        assert!(arrays("a", pad, &[4], &[0.0; 4]).unwrap_err().to_string().contains("pictures of rows and columns"));
    }

    #[test]
    fn another_size_keeps_the_light() {
        let to = |size| Fit { pad: false, resize: Some(size) };
        assert_eq!(to([1, 2]).picture(&[1.0, 3.0, 5.0, 7.0], [1, 4]), [2.0, 6.0]);
        assert_eq!(to([1, 4]).picture(&[1.0, 3.0], [1, 2]), [1.0, 1.0, 3.0, 3.0]);
        let third = to([1, 2]).picture(&[3.0, 6.0, 9.0], [1, 3]);
        assert!((third[0] - 4.0).abs() < 1e-6 && (third[1] - 8.0).abs() < 1e-6, "{third:?}");
        // A mirror image is resized to the mirror image.
        let picture: Vec<f32> = (0..35).map(|k| (k * k % 11) as f32).collect();
        let mirrored: Vec<f32> = picture.chunks(7).flat_map(|row| row.iter().rev().copied()).collect();
        let (small, other) = (to([3, 4]).picture(&picture, [5, 7]), to([3, 4]).picture(&mirrored, [5, 7]));
        let back = other.chunks(4).flat_map(|row| row.iter().rev());
        assert!(small.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-5));
        assert!(to([0, 4]).check("a").is_err() && to([3, 4]).check("a").is_ok() && to([3, 5000]).check("a").is_err());
    }
}

//! The MNIST digits in black and white, embedded in the program.
//!
//! The asset is made by `examples/pack_mnist.rs` from the four original files. Its layout, numbers little-endian:
//!
//! ```text
//! magic "invMNIST" | version u8 | checksum u64 of all that follows | training images u32 | test images u32
//! labels, two to a byte | pixels, arithmetically coded
//! ```
//!
//! An image is coded as the widths of its blank margins and the pixels inside them, a pixel in the context of 13 neighbours
//! that are already known: three to its left, six in the row above, four in the row above that.

use std::sync::OnceLock;

use crate::bit_coder::{Decoder, Encoder, Model};
use crate::error::{Error, Result};

/// Rows and columns of an image.
pub const SIDE: usize = 28;
/// Brighter pixels (of 0 to 255) are part of the digit, as in the published experiments.
const THRESHOLD: u8 = 50;

const MAGIC: [u8; 8] = *b"invMNIST";
const VERSION: u8 = 1;
const HEADER: usize = MAGIC.len() + 1 + 8;
/// Far above 70,000: a damaged count must not exhaust the memory.
const MAX_IMAGES: usize = 1 << 20;

static ASSET: &[u8] = include_bytes!("../assets/mnist.bin");

/// Black and white digits of 28 x 28 pixels with their labels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digits {
    /// One number a row of pixels, 28 rows an image; the leftmost pixel is bit 27.
    rows: Vec<u32>,
    labels: Vec<u8>,
}

/// The MNIST database: 60,000 training and 10,000 test digits, in the original order.
///
/// ```
/// let mnist = invar_tasks::Mnist::embedded()?;
/// assert_eq!((mnist.train.len(), mnist.test.len()), (60_000, 10_000));
/// assert_eq!(mnist.train.labels()[..5], [5, 0, 4, 1, 9]);
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mnist {
    /// To learn from.
    pub train: Digits,
    /// Written by other people.
    pub test: Digits,
}

impl Digits {
    /// Images of bytes, one after the other: pixels above the threshold are set. Labels are 0 to 9.
    pub fn new(pixels: &[u8], labels: Vec<u8>) -> Result<Self> {
        if pixels.len() != labels.len() * SIDE * SIDE {
            let expected = format!("{} for {} labels", labels.len() * SIDE * SIDE, labels.len());
            return Err(Error::Count { what: "pixels of digits", expected, got: pixels.len() });
        }
        check_labels(&labels).map_err(|reason| Error::Format { what: "labels of digits".into(), reason })?;
        let row = |pixels: &[u8]| pixels.iter().fold(0, |row, &pixel| row << 1 | u32::from(pixel > THRESHOLD));
        Ok(Self { rows: pixels.chunks_exact(SIDE).map(row).collect(), labels })
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The digit that every image shows.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The pixels of one image, row by row, 1 for ink.
    pub fn pixels(&self, index: usize) -> impl Iterator<Item = u8> + '_ {
        let rows = &self.rows[index * SIDE..(index + 1) * SIDE];
        rows.iter().flat_map(|row| (0..SIDE).rev().map(move |bit| (row >> bit & 1) as u8))
    }
}

impl Mnist {
    /// The digits embedded in the program, unpacked on first use.
    pub fn embedded() -> Result<&'static Self> {
        static DIGITS: OnceLock<Result<Mnist>> = OnceLock::new();
        DIGITS.get_or_init(|| Self::unpack(ASSET)).as_ref().map_err(Clone::clone)
    }

    /// The digits as an asset for [`unpack`](Self::unpack).
    pub fn pack(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for part in [&self.train, &self.test] {
            body.extend((part.len() as u32).to_le_bytes());
        }
        let labels: Vec<u8> = self.train.labels.iter().chain(&self.test.labels).copied().collect();
        body.extend(labels.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
        let (mut model, mut encoder) = (Model::new(CONTEXTS), Encoder::new());
        for image in self.train.rows.as_chunks().0.iter().chain(self.test.rows.as_chunks().0) {
            walk(&mut image.clone(), |context, bit| {
                encoder.push(&mut model, context, bit);
                bit
            });
        }
        body.extend(encoder.finish());
        [&MAGIC[..], &[VERSION], &checksum(&body).to_le_bytes(), &body].concat()
    }

    /// The digits in an asset; what is damaged is refused, with the reason.
    pub fn unpack(bytes: &[u8]) -> Result<Self> {
        unpack(bytes).map_err(|reason| Error::Format { what: "packed digits".into(), reason })
    }
}

fn unpack(bytes: &[u8]) -> std::result::Result<Mnist, String> {
    let Some((header, body)) = bytes.split_at_checked(HEADER) else {
        return Err(format!("expected a header of {HEADER} bytes, got {}", bytes.len()));
    };
    if header[..8] != MAGIC {
        return Err("expected the magic bytes \"invMNIST\" at the beginning".into());
    }
    if header[8] != VERSION {
        return Err(format!("expected version {VERSION}, got {}", header[8]));
    }
    let (claimed, found) = (u64::from_le_bytes(eight(&header[9..])), checksum(body));
    if claimed != found {
        return Err(format!("the checksum is {found:016x} but should be {claimed:016x}: damaged or truncated"));
    }
    let Some((counts, body)) = body.split_at_checked(8) else {
        return Err(format!("expected 8 bytes for the numbers of images, got {}", body.len()));
    };
    let count = |at: usize| u32::from_le_bytes([counts[at], counts[at + 1], counts[at + 2], counts[at + 3]]) as usize;
    let (train, images) = (count(0), count(0).saturating_add(count(4)));
    if images > MAX_IMAGES {
        return Err(format!("expected at most {MAX_IMAGES} images, got {images}"));
    }
    let Some((labels, pixels)) = body.split_at_checked(images.div_ceil(2)) else {
        return Err(format!("expected {} bytes for the labels of {images} images, got {}", images.div_ceil(2), body.len()));
    };
    let mut labels: Vec<u8> = labels.iter().flat_map(|&pair| [pair & 15, pair >> 4]).take(images).collect();
    check_labels(&labels)?;
    let mut rows = unpack_rows(pixels, images)?;
    let test = Digits { rows: rows.split_off(train * SIDE), labels: labels.split_off(train) };
    Ok(Mnist { train: Digits { rows, labels }, test })
}

fn unpack_rows(pixels: &[u8], images: usize) -> std::result::Result<Vec<u32>, String> {
    let (mut model, mut decoder) = (Model::new(CONTEXTS), Decoder::new(pixels));
    // Not reserved ahead: a wrong count ends with the bytes, not with the memory.
    let mut rows = Vec::new();
    for index in 0..images {
        let mut image = [0; SIDE];
        walk(&mut image, |context, _| decoder.next(&mut model, context));
        rows.extend(image);
        if decoder.is_exhausted() {
            return Err(format!("the pixels end in image {index} of {images}"));
        }
    }
    if decoder.is_complete() { Ok(rows) } else { Err(format!("something follows the pixels of {images} images")) }
}

/// Contexts of a pixel, by the values of 13 neighbours; those of the margins come after them.
const PIXEL_CONTEXTS: usize = 1 << 13;
/// All contexts: a margin has one for every width.
const CONTEXTS: usize = PIXEL_CONTEXTS + 4 * SIDE;

/// Walks an image in the order of coding: the widths of its four blank margins, then the pixels inside them.
///
/// `code(context, bit)` is given the bit as the image has it and returns the true one. An encoder returns what it is given; a
/// decoder ignores what an image that is still blank says, and the image becomes what the decoder returns.
fn walk(image: &mut [u32; SIDE], mut code: impl FnMut(usize, bool) -> bool) {
    let mut margin = |side: usize, width: usize, most: usize| {
        let context = |count: usize| PIXEL_CONTEXTS + side * SIDE + count;
        (0..most).find(|&count| !code(context(count), count < width)).unwrap_or(most)
    };
    let is_ink = |row: &u32| *row != 0;
    let columns = image.iter().fold(0, |all, row| all | row);
    let top = margin(0, image.iter().position(is_ink).unwrap_or(SIDE), SIDE);
    let bottom = margin(1, image.iter().rev().position(is_ink).unwrap_or(SIDE), SIDE - top);
    let left = margin(2, (columns << (32 - SIDE)).leading_zeros() as usize, SIDE);
    let right = margin(3, columns.trailing_zeros() as usize, SIDE - left);
    let (mut above, mut higher) = (0u32, 0u32);
    for row in &mut image[top..SIDE - bottom] {
        let mut known = 0u32;
        for column in (right..SIDE - left).rev() {
            // Rows are moved left by 3, so that three pixels to the right of the last column exist, and are blank.
            let six = (above << 3 >> column) & 0b11_1111;
            let four = (higher << 3 >> (column + 1)) & 0b1111;
            let context = six << 7 | four << 3 | known & 0b111;
            known = known << 1 | u32::from(code(context as usize, *row >> column & 1 == 1));
        }
        *row = known << right;
        (higher, above) = (above, *row);
    }
}

fn check_labels(labels: &[u8]) -> std::result::Result<(), String> {
    match labels.iter().position(|&label| label > 9) {
        Some(index) => Err(format!("expected labels from 0 to 9, got {} for image {index}", labels[index])),
        None => Ok(()),
    }
}

/// The 64-bit FNV-1a hash: short, and enough against accidents.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|k| bytes[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Three training and two test digits with pixels that follow no pattern.
    fn few() -> Mnist {
        let digits = |labels: &[u8], seed: usize| {
            let pixels: Vec<u8> = (0..labels.len() * 784).map(|k| ((k * k + seed * k) % 251) as u8).collect();
            Digits::new(&pixels, labels.to_vec()).unwrap()
        };
        Mnist { train: digits(&[3, 9, 0], 1), test: digits(&[4, 7], 5) }
    }

    /// An asset whose checksum fits whatever was done to it.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = checksum(&bytes[HEADER..]).to_le_bytes();
        bytes[9..HEADER].copy_from_slice(&sum);
        bytes
    }

    #[test]
    fn pixels_above_the_threshold_are_ink() {
        let mut pixels = vec![0; 784];
        (pixels[0], pixels[1], pixels[27], pixels[28]) = (51, 50, 255, 200);
        let digits = Digits::new(&pixels, vec![3]).unwrap();
        let ink: Vec<usize> = digits.pixels(0).enumerate().filter(|&(_, ink)| ink == 1).map(|(place, _)| place).collect();
        assert_eq!(ink, [0, 27, 28]);
        let error = Digits::new(&pixels[1..], vec![3]).unwrap_err().to_string();
        assert_eq!(error, "pixels of digits: expected 784 for 1 labels, got 783");
        let error = Digits::new(&pixels, vec![10]).unwrap_err().to_string();
        assert_eq!(error, "labels of digits: expected labels from 0 to 9, got 10 for image 0");
    }

    #[test]
    fn packing_loses_nothing() {
        for digits in [few(), Mnist::default()] {
            assert_eq!(Mnist::unpack(&digits.pack()), Ok(digits));
        }
    }

    #[test]
    fn damage_is_named() {
        let good = few().pack();
        let change = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            bytes
        };
        for (bytes, message) in [
            (good[..16].to_vec(), "packed digits: expected a header of 17 bytes, got 16"),
            (change(0, b'x'), "packed digits: expected the magic bytes \"invMNIST\" at the beginning"),
            (change(8, 2), "packed digits: expected version 1, got 2"),
            (change(30, good[30] ^ 1), ": damaged or truncated"),
            (good[..good.len() - 1].to_vec(), ": damaged or truncated"),
            (sealed(good[..20].to_vec()), "expected 8 bytes for the numbers of images, got 3"),
            (sealed(change(20, 255)), "expected at most 1048576 images, got 4278190085"),
            (sealed(change(19, 1)), "expected 32771 bytes for the labels of 65541 images"),
            (sealed(change(25, 0xa3)), "expected labels from 0 to 9, got 10 for image 1"),
            (sealed(good[..good.len() - 5].to_vec()), "the pixels end in image 4 of 5"),
            (sealed([&good[..], &[0]].concat()), "something follows the pixels of 5 images"),
        ] {
            let error = Mnist::unpack(&bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    proptest! {
        /// Whatever margins the ink leaves, none or the whole image.
        #[test]
        fn packing_loses_no_margin(ink in proptest::collection::vec(proptest::collection::vec(0usize..784, 0..4), 0..5)) {
            let mut pixels = vec![0; ink.len() * 784];
            ink.iter().enumerate().for_each(|(k, places)| places.iter().for_each(|place| pixels[k * 784 + place] = 255));
            let digits = Digits::new(&pixels, vec![1; ink.len()]).unwrap();
            prop_assert_eq!((0..ink.len()).flat_map(|k| digits.pixels(k)).map(|ink| 255 * ink).collect::<Vec<_>>(), pixels);
            let digits = Mnist { train: Digits::default(), test: digits };
            prop_assert_eq!(Mnist::unpack(&digits.pack()), Ok(digits));
        }

        /// Whatever happens to the bytes, also when the checksum is made to fit: an error or digits, never a panic.
        #[test]
        fn damage_never_panics(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            keep in 0.0f64..1.3,
            seal: bool,
        ) {
            let good = few().pack();
            let mut bytes = good.clone();
            bytes.truncate((keep * bytes.len() as f64) as usize);
            for (at, to) in changes.iter().filter(|_| !good.is_empty()) {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *to;
                }
            }
            let bytes = if seal && bytes.len() >= HEADER { sealed(bytes) } else { bytes };
            let read = Mnist::unpack(&bytes);
            if !seal && bytes != good {
                prop_assert!(read.is_err());
            }
        }
    }
}

//! Images: PNG, JPEG, and the plain formats PGM and PPM.

use std::io::{Cursor, Read};
use std::path::Path;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::error::{Error, Result, one_line, origin};
use crate::limits::{Budget, open};
use crate::pnm;

/// Bytes that decoding takes for each value of an image at most: the value itself, and what decoders keep meanwhile.
const BYTES_PER_VALUE: u64 = 24;

/// An image, channels first, values from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    /// Channels, height, width.
    pub(crate) shape: [usize; 3],
    pub(crate) values: Vec<f32>,
    /// What became of an alpha channel.
    pub(crate) alpha: Alpha,
    /// Whether the file has no colours.
    pub(crate) grey: bool,
}

/// Whether pixels hide what is behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alpha {
    /// Nothing says that they do not.
    None,
    /// They all do, as an alpha channel says that was left out.
    Opaque,
    /// Some do not: the picture was laid on white.
    Clear,
}

/// Pixels as decoders hand them over, channels last.
pub(crate) struct Pixels {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) channels: usize,
    pub(crate) samples: Samples,
    /// The sample that stands for 1.
    pub(crate) most: u16,
}

pub(crate) enum Samples {
    Bytes(Vec<u8>),
    /// High byte first.
    Words(Vec<u8>),
}

/// Whether the name of a file says that it is an image that can be read.
pub(crate) fn is_image(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    matches!(&*extension, "png" | "jpg" | "jpeg" | "pgm" | "ppm")
}

/// Reads an image, whatever its name: the first bytes tell the format.
pub(crate) fn read(path: &Path, budget: &Budget) -> Result<Image> {
    let origin = origin(path);
    let (file, length) = open(path, budget)?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(Error::io(&origin, "read it"))?;
    decode(&origin, bytes, budget)
}

pub(crate) fn decode(origin: &str, bytes: Vec<u8>, budget: &Budget) -> Result<Image> {
    let pixels = match &bytes[..] {
        [0x89, b'P', b'N', b'G', ..] => png(origin, bytes, budget)?,
        [0xff, 0xd8, ..] => jpeg(origin, bytes, budget)?,
        [b'P', b'2' | b'3' | b'5' | b'6', ..] => pnm::decode(origin, &bytes, budget)?,
        _ => return Err(Error::malformed(origin, "the start", "the mark of a PNG, JPEG, PGM or PPM image", "other bytes")),
    };
    Ok(pixels.image())
}

/// Refuses a size before memory is set aside for it.
pub(crate) fn admit(origin: &str, (width, height): (usize, usize), channels: usize, budget: &Budget) -> Result<()> {
    let values = (width as u64).saturating_mul(height as u64).saturating_mul(channels as u64);
    if values == 0 {
        return Err(Error::malformed(origin, "the size", "at least one pixel", format!("{width}x{height}")));
    }
    let needed = values.saturating_mul(BYTES_PER_VALUE);
    if needed <= budget.left() {
        return Ok(());
    }
    let what = format!("an image of {width}x{height} pixels");
    Err(Error::TooLarge { origin: origin.to_owned(), what, needed, limit: budget.left() })
}

fn png(origin: &str, bytes: Vec<u8>, budget: &Budget) -> Result<Pixels> {
    let wrong = |error: png::DecodingError| Error::malformed(origin, "the PNG image", "sound data", one_line(&error.to_string()));
    let limits = png::Limits { bytes: usize::try_from(budget.left()).unwrap_or(usize::MAX) };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(wrong)?;
    let (width, height) = (info.width as usize, info.height as usize);
    admit(origin, (width, height), 4, budget)?;
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (color, depth) = reader.output_color_type();
    let length = reader.output_buffer_size();
    let length =
        length.ok_or_else(|| Error::malformed(origin, "the size", "one that fits in memory", format!("{width}x{height}")))?;
    let mut samples = vec![0; length];
    reader.next_frame(&mut samples).map_err(wrong)?;
    reader.finish().map_err(wrong)?;
    let (samples, most) = match depth {
        png::BitDepth::Sixteen => (Samples::Words(samples), u16::MAX),
        _ => (Samples::Bytes(samples), 255),
    };
    Ok(Pixels { width, height, channels: color.samples(), samples, most })
}

fn jpeg(origin: &str, bytes: Vec<u8>, budget: &Budget) -> Result<Pixels> {
    let wrong =
        |error: &dyn std::fmt::Debug| Error::malformed(origin, "the JPEG image", "sound data", one_line(&format!("{error:?}")));
    let options = DecoderOptions::default().set_strict_mode(true).set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| wrong(&error))?;
    let info = decoder.info().ok_or_else(|| wrong(&"no header"))?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let (channels, colours) = match info.components {
        1 => (1, ColorSpace::Luma),
        3 => (3, ColorSpace::RGB),
        _ => return Err(Error::unsupported(origin, "a JPEG image that is neither grey nor RGB", "convert it to RGB")),
    };
    admit(origin, (width, height), channels, budget)?;
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    let samples = decoder.decode().map_err(|error| wrong(&error))?;
    if samples.len() != width * height * channels {
        return Err(wrong(&"a wrong number of samples"));
    }
    Ok(Pixels { width, height, channels, samples: Samples::Bytes(samples), most: 255 })
}

impl Pixels {
    fn image(self) -> Image {
        let alpha = match self.channels {
            2 | 4 if self.is_opaque() => Alpha::Opaque,
            2 | 4 => Alpha::Clear,
            _ => Alpha::None,
        };
        let shape = [self.channels - usize::from(alpha != Alpha::None), self.height, self.width];
        let share = |index: usize| f32::from(self.sample(index)) / f32::from(self.most);
        let mut values = Vec::with_capacity(shape.iter().product());
        for channel in 0..shape[0] {
            let pixels = (0..self.width * self.height).map(|pixel| pixel * self.channels);
            values.extend(pixels.map(|start| match alpha {
                Alpha::Clear => {
                    let cover = share(start + self.channels - 1);
                    share(start + channel) * cover + (1.0 - cover)
                }
                Alpha::None | Alpha::Opaque => share(start + channel),
            }));
        }
        Image { shape, values, alpha, grey: shape[0] == 1 }
    }

    fn is_opaque(&self) -> bool {
        (1..=self.width * self.height).all(|pixel| self.sample(pixel * self.channels - 1) == self.most)
    }

    pub(crate) fn sample(&self, index: usize) -> u16 {
        match &self.samples {
            Samples::Bytes(bytes) => u16::from(bytes[index]),
            Samples::Words(bytes) => u16::from_be_bytes([bytes[2 * index], bytes[2 * index + 1]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn budget() -> Budget {
        Budget::new(Limits::new(1 << 20))
    }

    fn encode(color: png::ColorType, depth: png::BitDepth, size: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, size, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![255, 0, 0, 0, 0, 255]);
        }
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        bytes
    }

    fn read(bytes: Vec<u8>) -> Result<Image> {
        decode("a", bytes, &budget())
    }

    #[test]
    fn png_of_every_kind_is_read() {
        use png::{BitDepth, ColorType};
        let grey = read(encode(ColorType::Grayscale, BitDepth::Eight, 2, &[0, 255])).unwrap();
        assert_eq!(grey, Image { shape: [1, 1, 2], values: vec![0.0, 1.0], alpha: Alpha::None, grey: true });
        let fine = read(encode(ColorType::Grayscale, BitDepth::Sixteen, 1, &[0x80, 0])).unwrap();
        assert_eq!(fine.values, [32768.0 / 65535.0]);
        let bits = read(encode(ColorType::Grayscale, BitDepth::One, 2, &[0b0100_0000])).unwrap();
        assert_eq!(bits.values, [0.0, 1.0]);
        let rgb = read(encode(ColorType::Rgb, BitDepth::Eight, 2, &[255, 0, 51, 0, 255, 0])).unwrap();
        assert_eq!(rgb, Image { shape: [3, 1, 2], values: vec![1.0, 0.0, 0.0, 1.0, 0.2, 0.0], alpha: Alpha::None, grey: false });
        let indexed = read(encode(ColorType::Indexed, BitDepth::Eight, 2, &[0, 1])).unwrap();
        assert_eq!(indexed.values, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let opaque = read(encode(ColorType::Rgba, BitDepth::Eight, 1, &[255, 0, 51, 255])).unwrap();
        assert_eq!((opaque.shape, opaque.alpha), ([3, 1, 1], Alpha::Opaque));
        let clear = read(encode(ColorType::Rgba, BitDepth::Eight, 2, &[255, 0, 51, 0, 255, 0, 51, 51])).unwrap();
        assert_eq!((clear.shape, clear.alpha), ([3, 1, 2], Alpha::Clear));
        assert!(
            clear.values.iter().zip([1.0, 1.0, 1.0, 0.8, 1.0, 0.84]).all(|(a, b)| (a - b).abs() < 1e-6),
            "{:?}",
            clear.values
        );
    }

    #[test]
    fn jpeg_is_read() {
        let mut grey = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut grey, 100);
        encoder.encode(&[128; 64 * 3], 16, 12, jpeg_encoder::ColorType::Luma).unwrap();
        let image = read(grey.clone()).unwrap();
        assert_eq!(image.shape, [1, 12, 16]);
        assert!(image.values.iter().all(|value| (value - 128.0 / 255.0).abs() < 0.01));
        let mut rgb = Vec::new();
        let red: Vec<u8> = [255, 0, 0].repeat(16 * 12);
        jpeg_encoder::Encoder::new(&mut rgb, 100).encode(&red, 16, 12, jpeg_encoder::ColorType::Rgb).unwrap();
        let image = read(rgb).unwrap();
        assert_eq!(image.shape, [3, 12, 16]);
        assert!(image.values[0] > 0.98 && image.values[16 * 12] < 0.02);
        assert!(read(grey[..grey.len() / 2].to_vec()).is_err());
    }

    #[test]
    fn sizes_are_checked_before_decoding() {
        let mut bytes = encode(png::ColorType::Grayscale, png::BitDepth::Eight, 2, &[0, 255]);
        bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        let crc = {
            let mut crc = flate2::Crc::new();
            crc.update(&bytes[12..29]);
            crc.sum()
        };
        bytes[29..33].copy_from_slice(&crc.to_be_bytes());
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains("an image of 65535x65535 pixels would take"), "{error}");
    }

    #[test]
    fn other_content_is_refused() {
        assert!(read(b"GIF89a".to_vec()).unwrap_err().to_string().contains("the mark of a PNG"));
        assert!(read(Vec::new()).is_err());
        let bytes = encode(png::ColorType::Grayscale, png::BitDepth::Eight, 2, &[0, 255]);
        for end in 4..bytes.len() {
            assert!(read(bytes[..end].to_vec()).is_err(), "truncated to {end}");
        }
    }
}

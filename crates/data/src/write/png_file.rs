//! PNG images.

use std::path::Path;

use crate::assemble::volume;
use crate::error::{Error, Result, dims, origin};
use crate::write::write_whole;

/// An image of 8 bits a channel, from values of 0 to 1 in the shape channels x height x width; others are cut off. One channel is
/// grey, three are red, green and blue.
pub fn encode_png(shape: [usize; 3], values: &[f32]) -> Result<Vec<u8>> {
    encode("PNG output", shape, values)
}

/// Writes such an image to a file.
pub fn write_png(path: &Path, shape: [usize; 3], values: &[f32]) -> Result<()> {
    write_whole(path, &encode(&origin(path), shape, values)?)
}

fn encode(origin: &str, shape: [usize; 3], values: &[f32]) -> Result<Vec<u8>> {
    let [channels, height, width] = shape;
    let wrong = |expected: &str, got: String| Error::mismatch(origin, "the image to write", expected, got);
    let color = match channels {
        1 => png::ColorType::Grayscale,
        3 => png::ColorType::Rgb,
        _ => return Err(wrong("1 or 3 channels", dims(&shape))),
    };
    if volume(&shape) != Some(values.len()) || values.is_empty() {
        return Err(wrong("as many values as its shape has", format!("{} for {}", values.len(), dims(&shape))));
    }
    let side = |size: usize| u32::try_from(size).map_err(|_| wrong("sides below 2^32", dims(&shape)));
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    let pixels = width * height;
    let samples: Vec<u8> = (0..values.len()).map(|i| byte(values[i % channels * pixels + i / channels])).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(width)?, side(height)?);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let failed = |error: png::EncodingError| wrong("an image that PNG can hold", error.to_string());
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&samples)).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image;
    use crate::limits::{Budget, Limits};

    #[test]
    fn images_come_back() {
        let budget = Budget::new(Limits::new(1 << 20));
        for (shape, count) in [([1, 2, 3], 6), ([3, 2, 3], 18)] {
            let values: Vec<f32> = (0..count).map(|i| i as f32 * 10.0 / 255.0).collect();
            let image = image::decode("a", encode_png(shape, &values).unwrap(), &budget).unwrap();
            assert_eq!((image.shape, image.values), (shape, values));
        }
    }

    #[test]
    fn values_are_cut_off_and_shapes_checked() {
        let budget = Budget::new(Limits::new(1 << 20));
        let bytes = encode_png([1, 1, 3], &[-1.0, 2.0, f32::NAN]).unwrap();
        assert_eq!(image::decode("a", bytes, &budget).unwrap().values, [0.0, 1.0, 0.0]);
        assert!(encode_png([2, 1, 1], &[0.0; 2]).is_err());
        assert!(encode_png([1, 1, 1], &[0.0; 2]).is_err());
        assert!(encode_png([1, 0, 1], &[]).is_err());
    }
}

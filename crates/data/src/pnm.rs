//! The plain image formats PGM and PPM, as text (P2, P3) or binary (P5, P6).

use crate::error::{Error, Result, quote};
use crate::image::{Pixels, Samples, admit};
use crate::limits::Budget;

pub(crate) fn decode(origin: &str, bytes: &[u8], budget: &Budget) -> Result<Pixels> {
    let (text, channels) = match bytes.get(1) {
        Some(b'2') => (true, 1),
        Some(b'3') => (true, 3),
        Some(b'5') => (false, 1),
        _ => (false, 3),
    };
    let mut words = Words { origin, bytes, at: 2 };
    let [width, height, most] = ["the width", "the height", "the largest value"].map(|what| words.number(what));
    let (width, height, most) = (width?, height?, most?);
    let most = u16::try_from(most).ok().filter(|&most| most > 0);
    let most = most.ok_or_else(|| Error::malformed(origin, "the largest value", "1 to 65535", "another number"))?;
    admit(origin, (width, height), channels, budget)?;
    let count = width * height * channels;
    let samples = if text { words.samples(count)? } else { words.binary(count, most)? };
    let pixels = Pixels { width, height, channels, samples, most };
    match (0..count).find(|&i| pixels.sample(i) > most) {
        Some(i) => Err(Error::malformed(origin, format!("value {i}"), format!("at most {most}"), pixels.sample(i).to_string())),
        None => Ok(pixels),
    }
}

/// Numbers between white space and comments.
struct Words<'a> {
    origin: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Words<'_> {
    fn number(&mut self, what: &str) -> Result<usize> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'#' {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                break;
            }
        }
        let rest = &self.bytes[self.at..];
        let word = &rest[..rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len())];
        self.at += word.len();
        let word = String::from_utf8_lossy(&word[..word.len().min(50)]);
        // No image has more pixels to a side.
        word.parse().ok().filter(|&number| number <= 1 << 24).ok_or_else(|| {
            let got = if word.is_empty() { "the end of the file: it is truncated".to_owned() } else { quote(&word) };
            Error::malformed(self.origin, what, "a number", got)
        })
    }

    fn samples(&mut self, count: usize) -> Result<Samples> {
        let mut words = Vec::new();
        for index in 0..count {
            let value = self.number(&format!("value {index}"))?;
            words.extend(u16::try_from(value).unwrap_or(u16::MAX).to_be_bytes());
        }
        Ok(Samples::Words(words))
    }

    fn binary(&mut self, count: usize, most: u16) -> Result<Samples> {
        // One white space stands between the header and the data.
        let data = self.bytes.get(self.at + 1..).unwrap_or_default();
        let needed = if most > 255 { 2 * count } else { count };
        let data = data.get(..needed).ok_or_else(|| {
            let got = format!("{} bytes: it is truncated", data.len());
            Error::malformed(self.origin, "the data", format!("{needed} bytes"), got)
        })?;
        Ok(if most > 255 { Samples::Words(data.to_vec()) } else { Samples::Bytes(data.to_vec()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image;
    use crate::limits::Limits;

    fn read(bytes: &[u8]) -> Result<image::Image> {
        image::decode("a", bytes.to_vec(), &Budget::new(Limits::new(1 << 20)))
    }

    #[test]
    fn all_four_forms_are_read() {
        assert_eq!(read(b"P2\n# grey\n2 1\n10\n0 5\n").unwrap().values, [0.0, 0.5]);
        assert_eq!(read(b"P5 2 1 255\n\x00\xff").unwrap().values, [0.0, 1.0]);
        assert_eq!(read(b"P5 1 1 65535\n\xff\xff").unwrap().values, [1.0]);
        let colour = read(b"P3 1 1 4 1 2 3").unwrap();
        assert_eq!((colour.shape, colour.values), ([3, 1, 1], vec![0.25, 0.5, 0.75]));
        assert_eq!(read(b"P6 1 1 255 \x00\xff\x33").unwrap().values, [0.0, 1.0, 0.2]);
    }

    #[test]
    fn damage_is_named() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(message(b"P5 2 2 255\n\x00"), "a: the data: expected 4 bytes, got 1 bytes: it is truncated");
        assert!(message(b"P5 2 x").contains("the height: expected a number, got `x`"));
        assert!(message(b"P5 9999999 9999999 255\n").contains("would take"));
        assert!(message(b"P5 2 1 0\n").contains("1 to 65535"));
        assert!(message(b"P2 1 1 5 6").contains("value 0: expected at most 5, got 6"));
        assert!(message(b"P2 0 1 5 6").contains("at least one pixel"));
        assert!(message(b"P2 2 1 5 1").contains("value 1: expected a number, got the end"));
    }
}

//! The text of a table: unpacked if it was compressed, in one encoding whatever it came in.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result, origin};
use crate::limits::{Budget, open};

/// Bytes that are unpacked at a time.
const CHUNK: usize = 1 << 16;
/// What the bytes from 0x80 to 0x9f are in the encoding of Windows, which extends Latin-1; five are nothing.
const WINDOWS: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0, 0, 0x2018,
    0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178,
];

/// The text of a file, and what was done to get it.
pub(super) struct Text {
    pub(super) content: String,
    pub(super) notes: Vec<String>,
}

impl Text {
    /// Reads all of it, within the budget.
    pub(super) fn open(path: &Path, budget: &mut Budget) -> Result<Self> {
        let origin = origin(path);
        let (mut file, length) = open(path, budget)?;
        budget.take(&origin, "the text", usize::try_from(length).unwrap_or(usize::MAX), 1)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        Read::by_ref(&mut file).take(length).read_to_end(&mut bytes).map_err(Error::io(&origin, "read it"))?;
        let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { unpack(&bytes, &origin, budget)? } else { bytes };
        let text = decode(bytes, &origin, budget)?;
        match text.content.find('\0') {
            Some(at) => {
                let place = format!("line {}", line_at(&text.content, at));
                Err(Error::malformed(&origin, place, "a table as text", "a byte of zero: the file holds something else"))
            }
            None => Ok(text),
        }
    }
}

/// What gzip packed; never more than the budget allows, whatever the file says.
fn unpack(bytes: &[u8], origin: &str, budget: &mut Budget) -> Result<Vec<u8>> {
    let mut decoder = MultiGzDecoder::new(bytes);
    let mut unpacked = Vec::new();
    loop {
        // A vector grows by doubling: its bytes count twice.
        budget.take(origin, "the unpacked text", CHUNK, 2)?;
        let count = Read::by_ref(&mut decoder).take(CHUNK as u64).read_to_end(&mut unpacked);
        if count.map_err(Error::reading(origin, "the compressed text"))? == 0 {
            return Ok(unpacked);
        }
    }
}

fn decode(bytes: Vec<u8>, origin: &str, budget: &mut Budget) -> Result<Text> {
    let plain = |content| Text { content, notes: Vec::new() };
    match &bytes[..] {
        [0xff, 0xfe, rest @ ..] => return wide(rest, u16::from_le_bytes, origin, budget).map(plain),
        [0xfe, 0xff, rest @ ..] => return wide(rest, u16::from_be_bytes, origin, budget).map(plain),
        _ => {}
    }
    let error = match String::from_utf8(bytes) {
        // The mark of UTF-8 is no part of the first name.
        Ok(content) if content.starts_with('\u{feff}') => return Ok(plain(content['\u{feff}'.len_utf8()..].to_owned())),
        Ok(content) => return Ok(plain(content)),
        Err(error) => error,
    };
    let sound = error.utf8_error().valid_up_to();
    let bytes = error.into_bytes();
    let line = 1 + lines(&bytes[..sound]);
    // With letters of UTF-8 before the bytes that are none, the file is in UTF-8 and damaged.
    let other = |got: String| Error::malformed(origin, format!("line {line}"), "text in UTF-8 or Latin-1", got);
    if !bytes[..sound].is_ascii() {
        return Err(other("letters in UTF-8 and then other bytes".into()));
    }
    budget.take(origin, "the text in UTF-8", bytes.len(), 2)?;
    let letter = |&byte: &u8| match byte {
        0x80..=0x9f => char::from_u32(u32::from(WINDOWS[usize::from(byte - 0x80)])).filter(|&letter| letter != '\0'),
        _ => Some(char::from(byte)),
    };
    let content: Option<String> = bytes.iter().map(letter).collect();
    let content = content.ok_or_else(|| other("bytes that are no letters".into()))?;
    let note = format!("the text is not in UTF-8 (line {line}) and was read as Latin-1: save it as UTF-8 if letters look wrong");
    Ok(Text { content, notes: vec![note] })
}

/// Two bytes to a letter, as some spreadsheets write.
fn wide(bytes: &[u8], join: fn([u8; 2]) -> u16, origin: &str, budget: &mut Budget) -> Result<String> {
    budget.take(origin, "the text in UTF-8", bytes.len(), 2)?;
    let (pairs, rest) = bytes.as_chunks::<2>();
    let letters = char::decode_utf16(pairs.iter().map(|&pair| join(pair)));
    let content: std::result::Result<String, _> = letters.collect();
    match content {
        Ok(content) if rest.is_empty() => Ok(content),
        _ => Err(Error::malformed(origin, "the text", "UTF-16, as its first bytes say", "other bytes")),
    }
}

/// How many line ends there are: of one byte, or of two.
fn lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().zip(std::iter::once(&0).chain(bytes));
    ends.filter(|&(byte, last)| *byte == b'\r' || *byte == b'\n' && *last != b'\r').count()
}

/// The line, from 1, of the row that starts at a byte, or after line ends that follow it. Counted for a message: the parser's own count
/// leaves out empty lines before a row and line ends of one carriage return.
pub(super) fn line_at(content: &str, start: usize) -> u64 {
    let bytes = content.as_bytes();
    let row = bytes.iter().enumerate().skip(start).find(|(_, byte)| !matches!(byte, b'\n' | b'\r'));
    1 + lines(&bytes[..row.map_or(bytes.len(), |(at, _)| at)]) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn open(bytes: &[u8]) -> Result<Text> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, bytes).unwrap();
        Text::open(&path, &mut Budget::new(Limits::new(1 << 20)))
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "größe,€\n1,2\n";
        let latin: Vec<u8> = text.chars().map(|c| if c == '€' { 0x80 } else { c as u8 }).collect();
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        let wide = |bytes: fn(u16) -> [u8; 2], mark: [u8; 2]| {
            [&mark[..], &text.encode_utf16().flat_map(bytes).collect::<Vec<_>>()].concat()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            packed(text.as_bytes()),
            marked.clone(),
            packed(&marked),
            wide(u16::to_le_bytes, [0xff, 0xfe]),
            wide(u16::to_be_bytes, [0xfe, 0xff]),
        ] {
            let found = open(&bytes).unwrap();
            assert_eq!((found.content.as_str(), found.notes.len()), (text, 0));
        }
        let found = open(&latin).unwrap();
        assert_eq!(found.content, text);
        assert!(found.notes[0].starts_with("the text is not in UTF-8 (line 1) and was read as Latin-1"), "{:?}", found.notes);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let message = |bytes: &[u8]| open(bytes).err().unwrap().to_string();
        assert!(
            message("ä\n\r\n\r".as_bytes().iter().chain(b"\xff,1").copied().collect::<Vec<_>>().as_slice())
                .contains("line 4: expected text in UTF-8 or Latin-1")
        );
        assert!(message(b"a\n\x81\n").contains("line 2: expected text in UTF-8 or Latin-1, got bytes that are no letters"));
        assert!(message(b"a,b\n1,\0\n").contains("line 2: expected a table as text"));
        assert!(message(b"\xff\xfea").contains("expected UTF-16"));
        let whole = packed(b"a,b\n1,2\n");
        assert!(message(&whole[..whole.len() - 6]).contains("truncated"));
        // A bomb: a megabyte of spaces in a thousand bytes.
        let error = message(&packed(&vec![b' '; 1 << 22]));
        assert!(error.contains("the unpacked text would take"), "{error}");
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let text = "a\r\n\r\nb\rc\n\nd";
        let line = |row: &str| line_at(text, text.find(row).unwrap());
        assert_eq!(["a", "b", "c", "d"].map(line), [1, 3, 4, 6]);
        // The parser takes line ends before a row for part of it.
        assert_eq!(line_at(text, text.find("\n\nd").unwrap()), 6);
    }
}

//! IDX files, the format that the MNIST files come in: an array of one type with any number of axes.
//!
//! ```text
//! 0  0  type  rank  |  one big-endian u32 per axis  |  entries, big-endian, last axis fastest
//! ```

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// Larger files are refused before they are read: far above the 47 MB of the largest MNIST file.
const MAX_BYTES: u64 = 1 << 30;

/// The entries of an IDX array, by their type.
#[derive(Debug, Clone, PartialEq)]
pub enum IdxValues {
    /// Type 0x08.
    U8(Vec<u8>),
    /// Type 0x09.
    I8(Vec<i8>),
    /// Type 0x0B.
    I16(Vec<i16>),
    /// Type 0x0C.
    I32(Vec<i32>),
    /// Type 0x0D.
    F32(Vec<f32>),
    /// Type 0x0E.
    F64(Vec<f64>),
}

impl IdxValues {
    /// The name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::I8(_) => "i8",
            Self::I16(_) => "i16",
            Self::I32(_) => "i32",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }
}

/// An array read from an IDX file.
///
/// ```
/// # use invar_tasks::{Idx, IdxValues};
/// let file = [0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9];
/// let array = Idx::parse(&file, "digits")?;
/// assert_eq!((array.dims, array.values), (vec![1, 3], IdxValues::U8(vec![7, 8, 9])));
/// let error = Idx::parse(&file[..14], "digits").unwrap_err().to_string();
/// assert_eq!(error, "digits: expected 3 bytes for u8 entries of shape 1x3, got 2; the file is truncated");
/// # Ok::<(), invar_tasks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Idx {
    /// Sizes of the axes.
    pub dims: Vec<usize>,
    /// All entries, last axis fastest.
    pub values: IdxValues,
}

impl Idx {
    /// Reads a file; compressed files have to be unpacked first.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| Error::File { path: path.into(), reason: error.to_string() };
        let mut bytes = Vec::new();
        // A device or a growing file has no trustworthy length: the limit holds while reading.
        std::fs::File::open(path).map_err(failed)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// Parses the bytes of a file; `what` names them in messages.
    pub fn parse(bytes: &[u8], what: &str) -> Result<Self> {
        let wrong = |reason: String| Error::Format { what: what.to_string(), reason };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("expected at most {MAX_BYTES} bytes, got more")));
        }
        let (kind, rank) = match bytes {
            [0x1f, 0x8b, ..] => return Err(wrong("this is a gzip file; unpack it first".into())),
            [0, 0, kind, rank, ..] => (*kind, usize::from(*rank)),
            [_, _, _, _, ..] => {
                return Err(wrong(format!("an IDX file begins with two zero bytes, got {:02x} {:02x}", bytes[0], bytes[1])));
            }
            _ => return Err(wrong(format!("an IDX file has at least 4 bytes, got {}", bytes.len()))),
        };
        let (name, size) = match kind {
            0x08 => ("u8", 1),
            0x09 => ("i8", 1),
            0x0b => ("i16", 2),
            0x0c => ("i32", 4),
            0x0d => ("f32", 4),
            0x0e => ("f64", 8),
            _ => return Err(wrong(format!("expected an IDX type among 08, 09, 0b, 0c, 0d, 0e, got {kind:02x}"))),
        };
        if rank == 0 {
            return Err(wrong("expected at least one axis, got none".into()));
        }
        let Some((header, entries)) = bytes[4..].split_at_checked(4 * rank) else {
            let expected = 4 * rank;
            return Err(wrong(format!("expected {expected} bytes for the sizes of {rank} axes, got {}", bytes.len() - 4)));
        };
        let dims: Vec<usize> = header.as_chunks().0.iter().map(|&side| u32::from_be_bytes(side) as usize).collect();
        let shape = dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
        let expected = dims.iter().try_fold(size, |all: usize, &side| all.checked_mul(side));
        let Some(expected) = expected.filter(|&expected| expected as u64 <= MAX_BYTES) else {
            return Err(wrong(format!("{name} entries of shape {shape} are too many: the limit is {MAX_BYTES} bytes")));
        };
        // Only now is anything allocated: as much as is there.
        if entries.len() != expected {
            let how = if entries.len() < expected { "the file is truncated" } else { "something follows the array" };
            let got = entries.len();
            return Err(wrong(format!("expected {expected} bytes for {name} entries of shape {shape}, got {got}; {how}")));
        }
        Ok(Self { dims, values: values(kind, entries) })
    }

    /// The entries of an array of bytes with this number of axes.
    pub(crate) fn bytes_of_rank(self, rank: usize, what: &str) -> Result<(Vec<usize>, Vec<u8>)> {
        let found = format!("{} with {} axes", self.values.type_name(), self.dims.len());
        match self.values {
            IdxValues::U8(values) if self.dims.len() == rank => Ok((self.dims, values)),
            _ => Err(Error::Format { what: what.into(), reason: format!("expected u8 with {rank} axes, got {found}") }),
        }
    }
}

fn values(kind: u8, entries: &[u8]) -> IdxValues {
    fn each<const N: usize, T>(entries: &[u8], from: impl Fn([u8; N]) -> T) -> Vec<T> {
        entries.as_chunks().0.iter().map(|&bytes| from(bytes)).collect()
    }
    match kind {
        0x08 => IdxValues::U8(entries.to_vec()),
        0x09 => IdxValues::I8(each(entries, i8::from_be_bytes)),
        0x0b => IdxValues::I16(each(entries, i16::from_be_bytes)),
        0x0c => IdxValues::I32(each(entries, i32::from_be_bytes)),
        0x0d => IdxValues::F32(each(entries, f32::from_be_bytes)),
        _ => IdxValues::F64(each(entries, f64::from_be_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(kind: u8, dims: &[u32], entries: &[u8]) -> Vec<u8> {
        let header = [0, 0, kind, dims.len() as u8].into_iter();
        header.chain(dims.iter().flat_map(|side| side.to_be_bytes())).chain(entries.iter().copied()).collect()
    }

    #[test]
    fn every_type_by_hand() {
        let of = |kind, entries: &[u8]| Idx::parse(&file(kind, &[2], entries), "f").unwrap().values;
        assert_eq!(of(0x08, &[1, 255]), IdxValues::U8(vec![1, 255]));
        assert_eq!(of(0x09, &[1, 255]), IdxValues::I8(vec![1, -1]));
        assert_eq!(of(0x0b, &[1, 0, 255, 254]), IdxValues::I16(vec![256, -2]));
        assert_eq!(of(0x0c, &[0, 0, 1, 0, 255, 255, 255, 253]), IdxValues::I32(vec![256, -3]));
        assert_eq!(of(0x0d, &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]), IdxValues::F32(vec![1.0, -2.0]));
        let doubles = [0.5f64.to_be_bytes(), (-4.0f64).to_be_bytes()].concat();
        assert_eq!(of(0x0e, &doubles), IdxValues::F64(vec![0.5, -4.0]));
        let empty = Idx::parse(&file(0x08, &[0, 28, 28], &[]), "f").unwrap();
        assert_eq!((empty.dims, empty.values), (vec![0, 28, 28], IdxValues::U8(vec![])));
    }

    #[test]
    fn files_of_another_kind_say_what_they_are() {
        for (bytes, message) in [
            (vec![], "f: an IDX file has at least 4 bytes, got 0"),
            (vec![0x1f, 0x8b, 8, 0, 0], "f: this is a gzip file; unpack it first"),
            (vec![1, 0, 8, 1, 0], "f: an IDX file begins with two zero bytes, got 01 00"),
            (file(0x07, &[1], &[0]), "f: expected an IDX type among 08, 09, 0b, 0c, 0d, 0e, got 07"),
            (file(0x08, &[], &[]), "f: expected at least one axis, got none"),
            (vec![0, 0, 8, 3, 0, 0, 0, 1], "f: expected 12 bytes for the sizes of 3 axes, got 4"),
            (file(0x0c, &[2, 2], &[0; 15]), "f: expected 16 bytes for i32 entries of shape 2x2, got 15; the file is truncated"),
            (file(0x08, &[2], &[0; 3]), "f: expected 2 bytes for u8 entries of shape 2, got 3; something follows the array"),
            (
                file(0x08, &[u32::MAX, u32::MAX, u32::MAX], &[0; 9]),
                "f: u8 entries of shape 4294967295x4294967295x4294967295 are too many: the limit is 1073741824 bytes",
            ),
            (file(0x0e, &[1 << 30], &[]), "f: f64 entries of shape 1073741824 are too many: the limit is 1073741824 bytes"),
        ] {
            assert_eq!(Idx::parse(&bytes, "f").unwrap_err().to_string(), message);
        }
        let error = Idx::read(Path::new("/nowhere/at-all")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read /nowhere/at-all: "), "{error}");
        let error = Idx::parse(&file(0x0c, &[1], &[0; 4]), "f").unwrap().bytes_of_rank(3, "f").unwrap_err();
        assert_eq!(error.to_string(), "f: expected u8 with 3 axes, got i32 with 1 axes");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), idx: bool) {
            let mut bytes = bytes;
            if idx && bytes.len() > 4 {
                let header = [0, 0, 8 + bytes[2] % 7, bytes[3] % 4];
                bytes[..4].copy_from_slice(&header);
            }
            let _ = Idx::parse(&bytes, "f");
        }
    }
}

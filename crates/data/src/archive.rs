//! A strict reader of ZIP archives, for NPZ files.
//!
//! Ready-made readers accept much more than NumPy writes, and set aside memory by numbers that the archive claims. Here no byte
//! belongs to two entries, the directory must end where the archive ends, both descriptions of an entry must agree, and no claim
//! is believed that the bytes at hand could not hold.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::error::{Error, Result, origin, quote};
use crate::limits::{Budget, open};

/// Most entries an archive may have: an NPZ file holds a handful of arrays.
const MAX_ENTRIES: u64 = 1024;
/// Longest directory that is read.
const MAX_DIRECTORY: u64 = 1 << 20;
/// Deflate turns one byte into at most so many.
pub(crate) const MAX_RATIO: u64 = 1032;

const END: &[u8] = b"PK\x05\x06";
const END64: &[u8] = b"PK\x06\x06";
const LOCATOR64: &[u8] = b"PK\x06\x07";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// An archive whose directory has been checked.
#[derive(Debug)]
pub(crate) struct Archive {
    origin: String,
    path: PathBuf,
    entries: Vec<Entry>,
}

/// One file in an archive.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Bytes after decompression.
    pub(crate) size: u64,
    deflated: bool,
    flags: u16,
    crc: u32,
    packed: u64,
    header: u64,
    /// Where its bytes start; known once its own header has been read.
    data: u64,
}

/// Where the directory is.
#[derive(Debug)]
struct Directory {
    entries: u64,
    start: u64,
    length: u64,
}

impl Archive {
    pub(crate) fn open(path: &Path, budget: &Budget) -> Result<Self> {
        let (mut file, length) = open(path, budget)?;
        let origin = origin(path);
        let directory = Directory::find(&mut file, &origin, length)?;
        let bytes = at(&mut file, &origin, "the directory", directory.start, directory.length)?;
        let mut entries = entries(&bytes, &origin, directory.entries)?;
        for entry in &mut entries {
            entry.locate(&mut file, &origin)?;
        }
        check_ranges(&origin, &entries, directory.start)?;
        Ok(Self { origin, path: path.to_owned(), entries })
    }

    /// What is inside, in the order of the directory.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The content of an entry. Its last byte is only handed out when its length and its checksum are right.
    pub(crate) fn content(&self, entry: &Entry) -> Result<Content> {
        // Opened again: two contents that are read in turn must not share one position.
        let mut file = File::open(&self.path).map_err(Error::io(&self.origin, "read it"))?;
        file.seek(SeekFrom::Start(entry.data)).map_err(Error::io(&self.origin, "read it"))?;
        let packed = file.take(entry.packed);
        let body = if entry.deflated {
            Body::Deflated(Box::new(DeflateDecoder::new(packed)))
        } else {
            Body::Stored(io::BufReader::new(packed))
        };
        Ok(Content { body, left: entry.size, expected: entry.crc, crc: Crc::new() })
    }
}

impl Directory {
    fn find(file: &mut File, origin: &str, length: u64) -> Result<Self> {
        let start = at(file, origin, "the start", 0, length.min(4))?;
        if !start.starts_with(b"PK") {
            let numpy = if start.starts_with(b"\x93NUM") { ": it looks like an NPY file" } else { "" };
            return Err(Error::malformed(origin, "the start", "the mark of a ZIP archive (PK)", format!("other bytes{numpy}")));
        }
        // The end record is followed by a comment of at most 65,535 bytes, whose length it states.
        let tail_start = length.saturating_sub(22 + 0xffff);
        let tail = at(file, origin, "the end", tail_start, length - tail_start)?;
        let is_end = |&i: &usize| tail[i..].starts_with(END) && i + 22 + usize::from(u16_at(&tail, i + 20)) == tail.len();
        let found = (0..tail.len().saturating_sub(21)).rev().find(is_end);
        let found = found.ok_or_else(|| {
            Error::malformed(
                origin,
                "the end",
                "the directory of the archive",
                "something else: the file is truncated or damaged",
            )
        })?;
        let (end, position) = (&tail[found..], tail_start + found as u64);
        let plain =
            Self { entries: u64::from(u16_at(end, 10)), length: u64::from(u32_at(end, 12)), start: u64::from(u32_at(end, 16)) };
        let long = plain.entries == 0xffff || plain.length == 0xffff_ffff || plain.start == 0xffff_ffff;
        let (directory, finish) = if long { Self::find_long(file, origin, position)? } else { (plain, position) };
        directory.check(origin, finish)?;
        Ok(directory)
    }

    /// The end record of large archives, which stands before the usual one.
    fn find_long(file: &mut File, origin: &str, end: u64) -> Result<(Self, u64)> {
        let wrong = |got: &str| Error::malformed(origin, "the 64-bit end record", "one right before the end record", got);
        let start = end.checked_sub(20 + 56).ok_or_else(|| wrong("no room for it"))?;
        let bytes = at(file, origin, "the 64-bit end record", start, 20 + 56)?;
        let (record, locator) = bytes.split_at(56);
        if !record.starts_with(END64) || !locator.starts_with(LOCATOR64) || u64_at(locator, 8) != start {
            return Err(wrong("other bytes"));
        }
        let directory = Self { entries: u64_at(record, 32), length: u64_at(record, 40), start: u64_at(record, 48) };
        Ok((directory, start))
    }

    fn check(&self, origin: &str, finish: u64) -> Result<()> {
        let wrong = |expected: String, got: u64| Err(Error::malformed(origin, "the directory", expected, got.to_string()));
        if self.entries > MAX_ENTRIES {
            return wrong(format!("at most {MAX_ENTRIES} arrays"), self.entries);
        }
        if self.length > MAX_DIRECTORY || self.length < 46 * self.entries {
            return wrong(format!("a length that fits {} arrays", self.entries), self.length);
        }
        if self.start.checked_add(self.length) != Some(finish) {
            return wrong(format!("it to start {} bytes before {finish}", self.length), self.start);
        }
        Ok(())
    }
}

fn entries(bytes: &[u8], origin: &str, count: u64) -> Result<Vec<Entry>> {
    let mut rest = bytes;
    let mut entries: Vec<Entry> = Vec::new();
    for index in 0..count {
        let (entry, length) = Entry::parse(rest, origin, index)?;
        if entries.iter().any(|other| other.name == entry.name) {
            return Err(Error::malformed(
                origin,
                format!("entry {index}"),
                "a new name",
                format!("{} again", quote(&entry.name)),
            ));
        }
        entries.push(entry);
        rest = &rest[length..];
    }
    if rest.is_empty() {
        return Ok(entries);
    }
    Err(Error::malformed(origin, "the directory", format!("{count} entries"), format!("{} bytes more", rest.len())))
}

impl Entry {
    /// An entry of the directory, and how many bytes it took.
    fn parse(bytes: &[u8], origin: &str, index: u64) -> Result<(Self, usize)> {
        let wrong =
            |expected: &str, got: &str| Error::malformed(origin, format!("entry {index} of the directory"), expected, got);
        if bytes.len() < 46 || !bytes.starts_with(ENTRY) {
            return Err(wrong("an entry", "other bytes"));
        }
        let lengths = [28, 30, 32].map(|i| usize::from(u16_at(bytes, i)));
        let total = 46 + lengths.iter().sum::<usize>();
        let rest = bytes.get(46..total).ok_or_else(|| wrong("a whole entry", "the end of the directory"))?;
        let (name, rest) = rest.split_at(lengths[0]);
        let name = name_of(name).ok_or_else(|| wrong("a plain name in UTF-8", &quote(&String::from_utf8_lossy(name))))?;
        let mut entry = Self {
            name,
            size: u64::from(u32_at(bytes, 24)),
            deflated: u16_at(bytes, 10) == 8,
            flags: u16_at(bytes, 8),
            crc: u32_at(bytes, 16),
            packed: u64::from(u32_at(bytes, 20)),
            header: u64::from(u32_at(bytes, 42)),
            data: 0,
        };
        let mut long = LongFields::new(&rest[..lengths[1]]);
        for field in [&mut entry.size, &mut entry.packed, &mut entry.header] {
            if *field == 0xffff_ffff {
                *field = long.next().ok_or_else(|| wrong("a 64-bit size", "none"))?;
            }
        }
        entry.check(origin, u16_at(bytes, 10))?;
        Ok((entry, total))
    }

    fn check(&self, origin: &str, method: u16) -> Result<()> {
        let place = || format!("entry {}", quote(&self.name));
        if self.flags & 1 != 0 {
            return Err(Error::unsupported(origin, "an encrypted archive", "save it with `numpy.savez`"));
        }
        if !matches!(method, 0 | 8) {
            let what = format!("compression method {method}");
            return Err(Error::unsupported(origin, what, "save it with `numpy.savez` or `numpy.savez_compressed`"));
        }
        if !self.deflated && self.size != self.packed {
            return Err(Error::malformed(origin, place(), format!("{} bytes stored", self.size), self.packed.to_string()));
        }
        if self.deflated && self.size > self.packed.saturating_mul(MAX_RATIO) {
            let expected = format!("at most {MAX_RATIO} times its {} compressed bytes", self.packed);
            return Err(Error::malformed(origin, place(), expected, format!("a claim of {} bytes", self.size)));
        }
        Ok(())
    }

    /// Reads the entry's own header, which must say the same as the directory.
    fn locate(&mut self, file: &mut File, origin: &str) -> Result<()> {
        let place = format!("the header of entry {}", quote(&self.name));
        let wrong = |got: &str| Error::malformed(origin, &place, "what the directory says", got);
        let head = at(file, origin, &place, self.header, 30)?;
        if !head.starts_with(LOCAL) {
            return Err(wrong("other bytes"));
        }
        let lengths = [26, 28].map(|i| u64::from(u16_at(&head, i)));
        let rest = at(file, origin, &place, self.header + 30, lengths[0] + lengths[1])?;
        let (name, extra) = rest.split_at(lengths[0] as usize);
        let deflated = u16_at(&head, 8) == 8;
        if name != self.name.as_bytes() || deflated != self.deflated || u16_at(&head, 6) & 1 != 0 {
            return Err(wrong("another name or method"));
        }
        let mut long = LongFields::new(extra);
        let sizes = [22, 18].map(|i| match u32_at(&head, i) {
            0xffff_ffff => long.next(),
            size => Some(u64::from(size)),
        });
        // Written to a pipe, an archive states sizes and checksum only afterwards, and in its directory.
        let afterwards = self.flags & 8 != 0;
        if !afterwards && (u32_at(&head, 14) != self.crc || sizes != [Some(self.size), Some(self.packed)]) {
            return Err(wrong("another size or checksum"));
        }
        self.data = self.header + 30 + lengths[0] + lengths[1];
        Ok(())
    }
}

/// The 64-bit numbers among an entry's extra fields.
struct LongFields<'a>(&'a [u8]);

impl<'a> LongFields<'a> {
    fn new(mut extra: &'a [u8]) -> Self {
        while extra.len() >= 4 {
            let (tag, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
            let Some(field) = extra.get(4..4 + length) else { break };
            if tag == 1 {
                return Self(field);
            }
            extra = &extra[4 + length..];
        }
        Self(&[])
    }

    fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_at_checked(8)?;
        self.0 = rest;
        Some(u64_at(first, 0))
    }
}

/// Every byte may belong to one entry only, and none to both an entry and the directory.
fn check_ranges(origin: &str, entries: &[Entry], directory: u64) -> Result<()> {
    let mut ranges: Vec<(u64, u64, &str)> = Vec::new();
    for entry in entries {
        let end = entry.data.checked_add(entry.packed).filter(|&end| end <= directory);
        let end = end.ok_or_else(|| {
            let expected = format!("its data before the directory at byte {directory}");
            Error::malformed(origin, format!("entry {}", quote(&entry.name)), expected, format!("{} bytes", entry.packed))
        })?;
        ranges.push((entry.header, end, &entry.name));
    }
    ranges.sort_unstable();
    match ranges.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => {
            let names = format!("{} inside {}", quote(pair[1].2), quote(pair[0].2));
            Err(Error::malformed(origin, "the entries", "no two that overlap", names))
        }
        None => Ok(()),
    }
}

/// A name without folders, tricks or control characters.
fn name_of(bytes: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(bytes).ok()?;
    let plain = !name.is_empty() && !name.starts_with('/') && !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    let odd = |c: char| c.is_control() || matches!(c, '\\' | ':');
    (plain && !name.contains(odd)).then(|| name.to_owned())
}

/// The decompressed bytes of an entry.
pub(crate) struct Content {
    body: Body,
    left: u64,
    expected: u32,
    crc: Crc,
}

enum Body {
    Stored(io::BufReader<Take<File>>),
    Deflated(Box<DeflateDecoder<Take<File>>>),
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let body: &mut dyn Read = match &mut self.body {
            Body::Stored(body) => body,
            Body::Deflated(body) => body,
        };
        if self.left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = body.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "fewer bytes than stated"));
        }
        self.crc.update(&buffer[..count]);
        self.left -= count as u64;
        if self.left > 0 {
            return Ok(count);
        }
        if body.read(&mut [0])? != 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "more bytes than stated"));
        }
        if self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a wrong checksum: the file is damaged"));
        }
        Ok(count)
    }
}

/// The bytes from `start`, which must be in the file.
fn at(file: &mut File, origin: &str, place: &str, start: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(start)).map_err(Error::reading(origin, place))?;
    file.read_exact(&mut bytes).map_err(Error::reading(origin, place))?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([bytes[index], bytes[index + 1]])
}

fn u32_at(bytes: &[u8], index: usize) -> u32 {
    u32::from(u16_at(bytes, index)) | u32::from(u16_at(bytes, index + 2)) << 16
}

fn u64_at(bytes: &[u8], index: usize) -> u64 {
    u64::from(u32_at(bytes, index)) | u64::from(u32_at(bytes, index + 4)) << 32
}

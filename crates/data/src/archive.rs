//! ZIP archives, as NPZ files are.
//!
//! The `zip` crate holds every entry to its stated size and checksum, finds entries that overlap and descriptions that differ, and
//! takes some three times the size of a hostile directory. What it leaves to its user is here: how many entries there may be, what
//! they may be called, and how large they may become.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result, one_line, origin, quote};
use crate::limits::{Budget, open};

/// Most entries an archive may have: an NPZ file holds a handful of arrays.
const MAX_ENTRIES: usize = 1024;

/// An archive whose directory has been checked.
#[derive(Debug)]
pub(crate) struct Archive {
    origin: String,
    zip: ZipArchive<BufReader<File>>,
    names: Vec<String>,
}

/// The content of an entry; it ends in an error unless its length and its checksum are right.
pub(crate) type Content<'a> = ZipFile<'a, BufReader<File>>;

impl Archive {
    pub(crate) fn open(path: &Path, budget: &Budget) -> Result<Self> {
        let origin = origin(path);
        let (mut file, length) = open(path, budget)?;
        check_start(&mut file, length, &origin)?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(damaged(&origin))?;
        if zip.len() > MAX_ENTRIES {
            let expected = format!("at most {MAX_ENTRIES} arrays");
            return Err(Error::malformed(&origin, "the directory", expected, zip.len().to_string()));
        }
        zip.validate_header_consistency().map_err(damaged(&origin))?;
        let names = zip.file_names_raw().map(|name| plain_name(name, &origin)).collect::<Result<_>>()?;
        Ok(Self { origin, zip, names })
    }

    /// The names of the entries, in the order of the directory.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// An entry, and its size once it is decompressed, which is within the limits.
    pub(crate) fn content(&mut self, index: usize, origin: &str, budget: &Budget) -> Result<(Content<'_>, u64)> {
        let advice = "save it with `numpy.savez` or `numpy.savez_compressed`";
        let content = self.zip.by_index(index).map_err(|error| match error {
            ZipError::UnsupportedArchive(what) => Error::unsupported(origin, one_line(what), advice),
            error => damaged(&self.origin)(error),
        })?;
        if !matches!(content.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(Error::unsupported(origin, format!("compression by {}", content.compression()), advice));
        }
        let size = content.size();
        budget.admit(origin, "the array", size)?;
        Ok((content, size))
    }
}

/// Tells a file of another kind by its first bytes, with more help than a missing directory would be.
fn check_start(file: &mut File, length: u64, origin: &str) -> Result<()> {
    let mut start = vec![0; length.min(4) as usize];
    file.read_exact(&mut start).map_err(Error::reading(origin, "the start"))?;
    file.rewind().map_err(Error::io(origin, "read it"))?;
    if start.starts_with(b"PK") {
        return Ok(());
    }
    let numpy = if start.starts_with(b"\x93NUM") { ": it looks like an NPY file" } else { "" };
    Err(Error::malformed(origin, "the start", "the mark of a ZIP archive (PK)", format!("other bytes{numpy}")))
}

fn damaged(origin: &str) -> impl Fn(ZipError) -> Error {
    move |error| match error {
        ZipError::Io(error) => Error::reading(origin, "the archive")(error),
        error => Error::malformed(origin, "the archive", "a sound ZIP archive", one_line(&error.to_string())),
    }
}

/// A name without folders that lead elsewhere, or control characters. Nothing is written under these names; they are odd enough
/// that the archive is not what it seems.
fn plain_name(bytes: &[u8], origin: &str) -> Result<String> {
    let odd = |c: char| c.is_control() || matches!(c, '\\' | ':');
    let name = std::str::from_utf8(bytes).ok();
    let name = name.filter(|name| !name.split('/').any(|part| matches!(part, "" | "." | "..")) && !name.contains(odd));
    name.map(ToOwned::to_owned).ok_or_else(|| {
        let got = quote(&String::from_utf8_lossy(bytes));
        Error::malformed(origin, "the directory", "a plain name for each array", got)
    })
}

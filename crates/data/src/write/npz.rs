//! Archives of NumPy arrays.

use std::io::{BufWriter, Write};
use std::path::Path;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::{Error, Result, origin};
use crate::write::{Array, NewFile};

/// How the arrays of an archive are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    Stored,
    /// Compressed.
    Deflated,
}

/// Writes arrays by name. Equal arrays make equal files.
pub fn write_npz(path: &Path, arrays: &[(&str, Array)], packing: Packing) -> Result<()> {
    let origin = origin(path);
    let failed = |error: ZipError| Error::io(&origin, "write it")(error.into());
    let method = match packing {
        Packing::Stored => CompressionMethod::Stored,
        Packing::Deflated => CompressionMethod::Deflated,
    };
    // Sizes of 64 bits, as NumPy itself writes them: they cost a few bytes and have no limit that matters.
    let options = SimpleFileOptions::default().compression_method(method).large_file(true);
    let mut archive = ZipWriter::new(NewFile::create(path)?);
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), options).map_err(failed)?;
        let mut out = BufWriter::new(&mut archive);
        array.write(&mut out, &origin)?;
        out.flush().map_err(Error::io(&origin, "write it"))?;
    }
    archive.finish().map_err(failed)?.finish()
}

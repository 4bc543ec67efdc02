//! Examples from standard input: put into a file of the kind that their first bytes tell, and read as others are.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use invar_data::{Format, Limits, Table};
use invar_program::Reading;
use tempfile::NamedTempFile;

/// What stands for standard input.
const STANDARD: &str = "-";

/// A file to read: the user's, or what came from standard input.
pub(super) enum AtHand {
    There(PathBuf),
    Spooled(NamedTempFile),
}

impl AtHand {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::There(path) => path,
            Self::Spooled(file) => file.path(),
        }
    }

    /// The examples without the name of a temporary file.
    pub(super) fn named(&self, table: Table) -> Table {
        match self {
            Self::There(_) => table,
            Self::Spooled(_) => Table { ids: Vec::new(), ..table },
        }
    }

    /// What people and machines are told about where examples come from.
    pub(super) fn shown<'a>(&self, source: &'a str) -> &'a str {
        match self {
            Self::There(_) => source,
            Self::Spooled(_) => STANDARD,
        }
    }
}

/// The file of this name, or standard input for `-`.
pub(super) fn at_hand(path: &Path, reading: &Reading, format: Option<Format>) -> Result<AtHand> {
    if path != Path::new(STANDARD) {
        return Ok(AtHand::There(path.to_path_buf()));
    }
    let mut input = io::stdin().lock();
    let mut start = Vec::new();
    input.by_ref().take(8).read_to_end(&mut start).context("cannot read standard input")?;
    let ending = match format.or(reading.format).filter(|_| known(&start).is_none()) {
        Some(format) if format != Format::Images => format.name(),
        _ => known(&start).unwrap_or("csv"),
    };
    let spooled = tempfile::Builder::new().prefix("invar-").suffix(&format!(".{ending}")).tempfile();
    let mut spooled = spooled.context("cannot make a temporary file")?;
    let most = Limits::of_this_machine().bytes;
    spooled.write_all(&start).context("cannot write a temporary file")?;
    let written = io::copy(&mut input.take(most), &mut spooled).context("cannot read standard input")?;
    if written == most {
        return Err(anyhow!("standard input: more than {most} bytes, which is half the memory that is free"));
    }
    spooled.flush().context("cannot write a temporary file")?;
    Ok(AtHand::Spooled(spooled))
}

/// The ending of files that begin like this.
fn known(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xff, 0xd8, ..] => Some("jpg"),
        [b'P', b'2' | b'3' | b'5' | b'6', ..] => Some("pgm"),
        [b'P', b'K', ..] => Some("npz"),
        [0x93, b'N', b'U', b'M', ..] => Some("npy"),
        _ => None,
    }
}

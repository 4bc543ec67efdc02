//! A file that a reader sees whole or not at all.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result, origin};

/// A file under a temporary name beside its place; [`finish`](Self::finish) puts it there, and dropping it leaves no trace.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    /// Starts a file that will stand at `path`.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = tempfile::Builder::new().prefix(".invar-").suffix(".tmp").tempfile_in(folder);
        // The error names the temporary file, which means nothing to the user: keep only what went wrong.
        let made = made.map_err(|error| Error::io(&origin(&path), "write it")(io::Error::from(error.kind())))?;
        Ok(Self { path, file: BufWriter::new(made) })
    }

    /// Puts the file in its place, over any that was there.
    pub fn finish(self) -> Result<()> {
        let origin = origin(&self.path);
        let failed = || Error::io(&origin, "write it");
        let file = self.file.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.as_file().sync_all().map_err(failed())?;
        // Temporary files are private; a result is an ordinary file, readable as far as the folder allows.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed())?;
        }
        file.persist(&self.path).map_err(|error| failed()(error.error))?;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// Writes a whole file at once.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(content).map_err(Error::io(&origin(path), "write it"))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_or_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        write_whole(&path, b"old").unwrap();
        let mut half = NewFile::create(&path).unwrap();
        half.write_all(b"half").unwrap();
        drop(half);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write_whole(&folder.path().join("missing/result"), b"x").unwrap_err().to_string();
        assert!(error.contains("missing/result: cannot write it") && !error.contains(".invar-"), "{error}");
    }
}

//! A file that a reader sees whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result, origin};

/// How the names of temporary files begin and end.
const TEMPORARY: (&str, &str) = (".invar-", ".tmp");

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
        // A finished file takes the place of what was there, which had better not be a folder or a device.
        let other = path.exists() && !path.is_file();
        let made = if other { Err(io::ErrorKind::InvalidInput.into()) } else { beside(&path) };
        match made {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(error) => Err(Error::io(&origin(&path), "write it")(in_words(&path, &error))),
        }
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

/// The folder that a file is in, or would be.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file in the folder of `path`, locked for as long as it is written. What killed programs left there goes first.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    sweep(folder);
    loop {
        let file = tempfile::Builder::new().prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(folder)?;
        // Without locks, as on some network drives, others cannot tell that it is in use, and leave it alone.
        let _ = file.as_file().lock();
        // Another program may have taken it for a left one before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes temporary files that nobody writes any more. Never an error: they are only in the way.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY.0)
            && name.ends_with(TEMPORARY.1)
            && let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Why no file can be made: the system would name the temporary file, which means nothing to the user.
fn in_words(path: &Path, error: &io::Error) -> io::Error {
    let folder = folder_of(path);
    let words = match () {
        () if path.is_dir() => format!("{} is a folder", path.display()),
        () if path.exists() && !path.is_file() => format!("{} is no ordinary file", path.display()),
        () if !folder.exists() => format!("the folder {} does not exist", folder.display()),
        () if !folder.is_dir() => format!("{} is not a folder", folder.display()),
        () => return error.kind().into(),
    };
    io::Error::new(error.kind(), words)
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
    }

    #[test]
    fn what_killed_programs_left_is_swept_and_what_is_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut half = NewFile::create(at("half")).unwrap();
        half.write_all(b"half").unwrap();
        for name in [".invar-abc.tmp", ".invar-abc.txt", ".other.tmp"] {
            std::fs::write(at(name), b"left").unwrap();
        }
        write_whole(&at("whole"), b"whole").unwrap();
        assert!(!at(".invar-abc.tmp").exists() && at(".invar-abc.txt").exists() && at(".other.tmp").exists());
        half.finish().unwrap();
        assert_eq!(std::fs::read(at("half")).unwrap(), b"half");
    }

    #[test]
    fn places_that_are_none_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let refused = |name: &str| write_whole(&folder.path().join(name), b"x").unwrap_err().to_string();
        let missing = format!("{at}/missing/result: cannot write it: the folder {at}/missing does not exist");
        assert_eq!(refused("missing/result"), missing);
        assert_eq!(refused(""), format!("{at}/: cannot write it: {at}/ is a folder"));
        let device = write_whole(Path::new("/dev/null"), b"x");
        #[cfg(unix)]
        assert!(device.unwrap_err().to_string().ends_with("/dev/null is no ordinary file"));
        std::fs::write(folder.path().join("file"), b"").unwrap();
        assert_eq!(refused("file/result"), format!("{at}/file/result: cannot write it: {at}/file is not a folder"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

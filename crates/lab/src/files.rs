//! Writing files so that a reader sees the old content or the new, never half of it, in folders that nobody takes for data.

use std::io;
use std::path::Path;

/// Writes to a temporary file beside `path`, then renames it into place.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    invar_data::write_whole(path, content).map_err(cause)
}

/// Makes a folder to write to, or takes one that is there; see [`invar_data::claim`].
pub fn claim(folder: &Path) -> io::Result<()> {
    invar_data::claim(folder).map_err(cause)
}

/// The caller names the file and what was tried.
fn cause(error: invar_data::Error) -> io::Error {
    match error {
        invar_data::Error::Io { cause, .. } => cause,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let error = write_whole(&folder.path().join("missing/result.json"), b"x").unwrap_err().to_string();
        assert_eq!(error, format!("the folder {} does not exist", folder.path().join("missing").display()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

//! Writing files so that a reader sees the old content or the new, never half of it.

use std::io::{self, Write};
use std::path::Path;

/// Writes to a temporary file beside `path`, then renames it into place.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = tempfile::Builder::new().prefix(".invar-").suffix(".tmp").tempfile_in(folder);
    // The error names the temporary file, which means nothing to the user: keep only what went wrong.
    let mut file = made.map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    // Temporary files are private; a result is an ordinary file, readable as far as the folder allows.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
        assert!(write_whole(&folder.path().join("missing/result.json"), b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

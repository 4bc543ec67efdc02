//! Folders that invar writes: marked, so that nobody takes what is in them for data.

use std::path::Path;

use super::file::sweep;
use crate::error::{Error, Result, origin};

/// The file that marks a folder; hidden, as what starts with a dot is never data.
const MARK: &str = ".invar";
const TEXT: &[u8] = b"invar wrote this folder: what is in it is no data.\n";

/// Makes a folder to write to, or takes one that is there. It is marked when it is new or empty: in a folder with other things in it
/// these may be data. Temporary files that killed programs left are removed.
pub fn claim(folder: &Path) -> Result<()> {
    let origin = origin(folder);
    std::fs::create_dir_all(folder).map_err(Error::io(&origin, "create the folder"))?;
    sweep(folder);
    let empty = std::fs::read_dir(folder).map_err(Error::io(&origin, "list the folder"))?.next().is_none();
    if empty {
        std::fs::write(folder.join(MARK), TEXT).map_err(Error::io(&origin, "write to the folder"))?;
    }
    Ok(())
}

/// Whether a folder is one that invar made to write to.
pub(crate) fn is_claimed(folder: &Path) -> bool {
    folder.join(MARK).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_folders_are_marked_and_those_with_something_in_them_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (new, full) = (folder.path().join("deep/new"), folder.path().join("full"));
        claim(&new).unwrap();
        std::fs::write(new.join(".invar-left.tmp"), b"").unwrap();
        claim(&new).unwrap();
        assert!(is_claimed(&new) && !new.join(".invar-left.tmp").exists());
        std::fs::create_dir(&full).unwrap();
        std::fs::write(full.join("a.png"), b"").unwrap();
        claim(&full).unwrap();
        assert!(!is_claimed(&full));
        let error = claim(&full.join("a.png")).unwrap_err().to_string();
        assert!(error.contains("a.png: cannot create the folder"), "{error}");
    }
}

//! Project files.

use std::path::Path;

use invar_lab::project::Project;

use crate::Desk;

/// A project file: what is wrong is told on one line with its place, and what is read is written as it was.
pub(crate) fn project(_: &Desk, bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let path = Path::new("place/invar.toml");
    match Project::parse(path, text) {
        Ok(project) => {
            let written = toml::to_string(&project).expect("a project that was read can be written");
            match Project::parse(path, &written) {
                Ok(read) => assert_eq!(toml::to_string(&read).ok(), Some(written)),
                Err(error) => panic!("{error}\n{written}"),
            }
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("place/invar.toml, line ") && !message.contains('\n'), "{message:?}");
            false
        }
    }
}

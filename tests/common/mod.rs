//! What tests of the binary share.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

/// Runs the binary, expects an exit code, returns standard output and error.
pub(crate) fn expect(folder: &Path, args: &[&str], code: i32) -> (String, String) {
    let output = Command::new(cargo_bin!("invar")).current_dir(folder).env("NO_COLOR", "1").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{args:?}\n{err}");
    (out, err)
}

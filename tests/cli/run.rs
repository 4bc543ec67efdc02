//! Runs of the binary, and what is expected of them.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// What one run printed.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the binary in a folder, without colours.
pub(crate) fn invar_in(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_invar"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let run = Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
    assert!(!run.err.contains("panicked"), "{args:?} panicked:\n{}", run.err);
    assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{args:?} printed colours");
    run
}

pub(crate) fn invar(args: &[&str]) -> Run {
    invar_in(&std::env::temp_dir(), args)
}

/// What a run that must succeed printed.
pub(crate) fn text(args: &[&str]) -> String {
    let run = invar(args);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}\n{}", run.out);
    run.out
}

pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(args)).expect("--json prints JSON")
}

/// A run that must fail with this code and a first line that says this.
pub(crate) fn refused(args: &[&str], code: i32, part: &str) -> Run {
    let run = invar(args);
    let first = run.err.lines().next().unwrap_or_default();
    assert_eq!(run.code, code, "{args:?}: {}", run.err);
    assert!(first.starts_with("error: ") && first.contains(part), "{args:?}: expected {part:?} in {first:?}");
    assert_eq!(run.out, "", "{args:?} printed a result");
    run
}

/// The same, with nothing but that line.
pub(crate) fn refused_in_one_line(args: &[&str], code: i32, part: &str) {
    let run = refused(args, code, part);
    assert_eq!(run.err.lines().count(), 1, "{args:?}: {}", run.err);
}

pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Exactly these, in any order.
pub(crate) fn has_fields(value: &Value, fields: &[&str]) {
    let mut found: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected = fields.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

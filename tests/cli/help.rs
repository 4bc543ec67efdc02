//! Help, its examples, and completions.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::run::{invar_in, refused, text};

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in ["groups", "lattice", "verify", "completions"] {
        let help = text(&[command, "--help"]);
        assert!(
            help.contains("Example")
                && help.contains(&format!("\n  invar {}", if command == "verify" { "lattice" } else { command })),
            "{help}"
        );
    }
    let help = text(&["--help"]);
    assert!(["groups", "lattice", "verify", "completions"].iter().all(|command| help.contains(command)));
    assert!(text(&["--version"]).starts_with("invar "));
}

#[test]
fn examples_in_the_help_work() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["groups", "lattice"] {
        let help = text(&[command, "--help"]);
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  invar ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            // No example has a quote or a space inside an argument: dropping quotes is all the shell would do.
            let plain = example.replace('\'', "");
            let run = invar_in(folder.path(), &plain.split_whitespace().collect::<Vec<_>>());
            assert_eq!(run.code, 0, "{example}: {}", run.err);
        }
    }
}

#[test]
fn tables_in_the_help_are_not_wrapped() {
    for command in ["groups", "lattice"] {
        let help = text(&[command, "--help"]);
        let table: Vec<&str> = help.lines().skip_while(|line| !line.starts_with("Symmetries")).skip(1).take(13).collect();
        assert!(table.iter().all(|line| line.starts_with("  ") && line.len() < 95), "{help}");
        assert!(table[12].starts_with("  join("), "{help}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn completions_end_quietly_when_nobody_reads_and_say_when_they_cannot_be_written() {
    let invar = cargo_bin!("invar").display().to_string();
    let shell = |script: String| Command::new("bash").args(["-c", &script]).output().unwrap();
    let closed = shell(format!("set -o pipefail; {invar} completions bash | head -n 1 > /dev/null"));
    assert_eq!((closed.status.code(), closed.stderr.len()), (Some(0), 0));
    let full = shell(format!("{invar} completions bash > /dev/full"));
    let err = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(1), "{err}");
    assert!(err.starts_with("error: cannot write to standard output: ") && err.lines().count() == 1, "{err}");
}

#[test]
fn completions_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("lattice") && script.contains("shape"), "{shell}: {script}");
    }
    refused(&["completions", "cmd.exe"], 2, "invalid value");
}

//! Help, its examples, and completions.

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
fn completions_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("lattice") && script.contains("shape"), "{shell}: {script}");
    }
    refused(&["completions", "cmd.exe"], 2, "invalid value");
}

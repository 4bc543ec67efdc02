//! The guide, run as it is written: every `sh` block of docs/guide.md, in order, in one shell.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

/// The commands of a text, block by block.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        match (&mut inside, line) {
            (None, "```sh") => inside = Some(String::new()),
            (Some(_), "```") => blocks.extend(inside.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

#[test]
fn every_command_of_the_guide_works() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md")).unwrap();
    let blocks = blocks(&text);
    assert!(blocks.len() >= 9, "{}", blocks.len());
    let folder = tempfile::tempdir().unwrap();
    let binary = cargo_bin!("invar");
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-e", "-c", &blocks.join("\n")])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    // What the guide says about the outcome.
    let run = std::fs::read_to_string(folder.path().join("run/run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let kept: Vec<bool> = run["symmetries"].as_array().unwrap().iter().map(|s| s["kept"].as_bool().unwrap()).collect();
    assert_eq!(kept, [true, true, false, true, false, false], "{out}");
    assert!(out.contains("ready to train") && out.contains("in the other environment"), "{out}");
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<section id=\"certificate\">"));
    let answers = std::fs::read_to_string(folder.path().join("answers.csv")).unwrap();
    assert_eq!(answers.lines().count(), 301, "{answers}");
    assert!(std::fs::metadata(folder.path().join("model.onnx")).unwrap().len() > 100);
}

//! The network that sees its input from every side: asked for in a project and on the command line, with the real binary.

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::expect;
use invar_data::{Array, Packing, write_npz};
use serde_json::Value;

/// A number of [-1, 1) that looks random: the k-th in a sequence that fills the interval evenly.
fn spread(k: usize, step: f64) -> f64 {
    2.0 * (k as f64 * step.sqrt()).fract() - 1.0
}

/// Rows a, b, c whose class says whether a or b is large, whatever its sign.
fn write_rows(path: &Path, count: usize) {
    let mut text = String::from("a,b,c,y\n");
    for k in 0..count {
        let [a, b, c] = [2.0, 3.0, 5.0].map(|step| spread(k, step));
        let _ = writeln!(text, "{a},{b},{c},{}", if a.abs().max(b.abs()) > 0.7 { "large" } else { "small" });
    }
    std::fs::write(path, text).unwrap();
}

const ROWS: &str = "[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n[task]\nkind = \"classification\"\n[symmetries]\n\
    candidates = [\"swaps(0)\", \"negate\"]\n[model]\nkind = \"orbit\"\n[train]\nepochs = 40\nrestarts = 1\nfolds = 1\n";

#[test]
fn signs_and_swaps_that_no_linear_layer_can_keep_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_rows(&at.join("a.csv"), 800);
    std::fs::write(at.join("invar.toml"), ROWS).unwrap();
    let (out, _) = expect(at, &["check"], 0);
    assert!(out.contains("orbit: a dense network sees examples from every side"), "{out}");
    let run: Value = serde_json::from_str(&expect(at, &["train", "invar.toml", "--json"], 0).0).unwrap();
    let kept: Vec<_> = run["symmetries"].as_array().unwrap().iter().map(|found| found["kept"] == true).collect();
    assert_eq!(kept, [true, false, false, true], "{run}");

    // The model file answers, and proves that it is exact.
    let (out, _) = expect(at, &["certify", "run/model.invar"], 0);
    assert!(out.contains("certified 2 of 2 groups"), "{out}");
    std::fs::write(at.join("same.csv"), "a,b,c\n0.3,-0.9,0.1\n-0.9,0.3,0.1\n-0.3,0.9,-0.1\n").unwrap();
    let (answers, _) = expect(at, &["predict", "run/model.invar", "same.csv", "--json"], 0);
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.iter().all(|answer| answer["class"] == "large"), "{answers:?}");
    expect(at, &["export", "run/model.invar", "--onnx", "model.onnx"], 0);
    expect(at, &["report", "run", "-o", "page.html"], 0);

    // The dense layer of a feedforward network has no weights that the sign leaves alone.
    std::fs::write(at.join("invar.toml"), ROWS.replace("orbit", "feedforward")).unwrap();
    let run: Value = serde_json::from_str(&expect(at, &["train", "invar.toml", "--json", "--out", "dense"], 0).0).unwrap();
    assert_eq!(run["symmetries"][3]["kept"], false, "{run}");
    assert_eq!(run["symmetries"][3]["verdict"], "the network cannot tell", "{run}");
}

#[test]
fn shifts_of_images_are_kept_and_shown_to_be_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (side, count) = (6, 240);
    let mut pixels = Vec::new();
    for k in 0..count {
        let line = k / 2 % side;
        let lies = |i| if k % 2 == 1 { i % side == line } else { i / side == line };
        pixels.extend((0..side * side).map(|i| if lies(i) { 1.0 } else { 0.4 * spread(k * 36 + i, 7.0) as f32 }));
    }
    let classes: Vec<i64> = (0..count as i64).map(|k| k % 2).collect();
    let arrays = [("x", Array::Floats(&[count, side, side], &pixels)), ("y", Array::Integers(&[count], &classes))];
    write_npz(&at.join("bars.npz"), &arrays, Packing::Deflated).unwrap();
    let text = "[data]\ntrain = \"bars.npz\"\nshape = [1, 6, 6]\n[task]\nkind = \"classification\"\n[symmetries]\n\
        candidates = [\"shift(1)\", \"flip(2)\", \"rot90(1,2)\"]\n[model]\nkind = \"orbit\"\n[train]\n\
        epochs = 20\nbatch = 32\nrestarts = 1\nfolds = 2\nonly_shown = true\n";
    std::fs::write(at.join("invar.toml"), text).unwrap();
    // Turns and shifts along one axis generate shifts along both: 6 * 6 * 8 elements.
    let (_, err) = expect(at, &["check"], 2);
    assert!(err.contains("at most 256 elements") && err.contains("288"), "{err}");
    std::fs::write(at.join("invar.toml"), text.replace(", \"rot90(1,2)\"", "")).unwrap();
    let (out, _) = expect(at, &["check"], 0);
    assert!(out.contains("orbit: convolutions see images from every side"), "{out}");
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    assert!(out.contains("kept symmetries imposed, network on every view"), "{out}");
    expect(at, &["certify", "run/model.invar"], 0);
    let run: Value = serde_json::from_str(&std::fs::read_to_string(at.join("run/run.json")).unwrap()).unwrap();
    for found in run["symmetries"].as_array().unwrap() {
        assert_eq!((&found["kept"], &found["verdict"]), (&true.into(), &"shown harmless".into()), "{found}\n{out}");
    }

    // cgreg takes the same network, but has no such rule.
    let penalised =
        text.replace(", \"rot90(1,2)\"", "").replace("restarts = 1\nfolds = 2\n", "learner = \"cgreg\"\nlambdas = [1, 10]\n");
    std::fs::write(at.join("invar.toml"), &penalised).unwrap();
    let (_, err) = expect(at, &["train", "invar.toml"], 2);
    assert!(err.contains("[train] only_shown should be left out"), "{err}");
    std::fs::write(at.join("invar.toml"), penalised.replace("only_shown = true\n", "").replace("epochs = 20", "epochs = 60"))
        .unwrap();
    expect(at, &["train", "invar.toml", "--out", "penalised"], 0);
    expect(at, &["certify", "penalised/model.invar"], 0);
}

#[test]
fn built_in_tasks_can_be_asked_from_every_side_by_both_learners() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--length", "3", "--examples", "200", "--epochs", "2", "--network", "orbit"];
    for task in ["sum", "edges"] {
        let (out, _) = expect(folder.path(), &[&["train", task, "--method", "cgreg", "--lambda", "1"], &small[..]].concat(), 0);
        assert!(out.contains("kept: ") && out.contains("subspaces by level"), "{out}");
        let screen = [&["train", task, "--method", "screen", "--json"], &small[..]].concat();
        let run: Value = serde_json::from_str(&expect(folder.path(), &screen, 0).0).unwrap();
        let record = &run["screen"];
        assert_eq!(record["config"]["network"]["kind"], "orbit");
        assert_eq!(record["networks"].as_array().unwrap().len(), 2, "a linear output is tried beside it");
    }
    let refused = |args: &[&str], part: &str| {
        let (_, err) = expect(folder.path(), args, 2);
        assert!(err.contains(part), "{args:?}: {err}");
    };
    refused(
        &["train", "sum", "--network", "lift"],
        "[model] kind should be auto, pairs, feedforward or orbit, unless examples are",
    );
    refused(&["train", "sum", "--length", "6", "--network", "orbit", "--method", "screen"], "at most 256 elements");
    refused(&["train", "sum", "--network", "dense"], "invalid value 'dense'");
}

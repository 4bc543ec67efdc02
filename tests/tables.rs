//! Tables and pictures as people have them, with the real binary and no file edited by hand.

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use common::expect;
use invar_data::{Array, Packing, write_npz, write_png};
use serde_json::Value;

/// Numbers that look random and are always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f32) as usize % n
    }
}

/// Two items of a number and a colour each. The label is whether the red ones weigh more than 1 together: items can be exchanged.
fn items(count: usize, seed: u64, colours: [&str; 2]) -> String {
    let mut noise = Noise(seed);
    let mut text = String::from(";name;gr\u{f6}\u{df}e1;farbe1;gr\u{f6}\u{df}e2;farbe2;klasse\n");
    for k in 0..count {
        let sizes = [noise.next(), noise.next()];
        let red = [noise.below(2), noise.below(2)];
        let weight: f32 = sizes.iter().zip(red).map(|(size, red)| size * red as f32).sum();
        let comma = |x: f32| format!("{x:.4}").replace('.', ",");
        // Every twelfth first size is missing.
        let first = if k % 12 == 5 { String::new() } else { comma(sizes[0]) };
        let class = if weight > 0.7 { "schwer" } else { "leicht" };
        let _ = writeln!(text, "{k};n{k};{first};{};{};{};{class}", colours[red[0]], comma(sizes[1]), colours[red[1]]);
    }
    text
}

/// As spreadsheets in Europe write it.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| c as u8).collect()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&expect(folder, args, 0).0).unwrap()
}

const QUICK: [&str; 8] = ["--set", "train.folds=2", "--set", "train.restarts=1", "--set", "train.batch=32", "--epochs", "30"];

#[test]
fn a_table_with_texts_gaps_and_an_index_goes_from_a_file_to_answers() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), latin(&items(400, 1, ["blau", "rot"]))).unwrap();
    let (out, _) = expect(at, &[&["init", "--data", "a.csv"][..], &QUICK].concat(), 0);
    for part in
        ["labels are in the column `klasse`", "column `name` is left out", "has no name and numbers the rows", "read as Latin-1"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let text = std::fs::read_to_string(at.join("invar.toml")).unwrap();
    assert!(text.contains("ignore = [\"name\"]") && text.contains("candidates = [\"exchange(item)\"]"), "{text}");
    assert!(text.contains("\nepochs = 30\n") && text.contains("# - exchange(item): numbered names"), "{text}");

    let (out, _) = expect(at, &["check"], 0);
    for part in
        ["exchange(item;1,2)", "column `farbe1`: 2 categories, an entry each", "values are missing and filled", "ready to train"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (out, _) = expect(at, &["train", "invar.toml", "--seed", "1"], 0);
    assert!(out.contains("exchange(item;1,2)"), "{out}");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(at.join("run/run.json")).unwrap()).unwrap();
    assert_eq!(run["project"]["train"]["seed"], 1, "what was said stands in for the file");

    // Columns in another order, an index or none, gaps, and a colour that nobody has seen.
    let lines = "farbe2,gr\u{f6}\u{df}e2,gr\u{f6}\u{df}e1,farbe1\nrot,0.9,0.8,rot\nblau,0.1,,rosa\n";
    std::fs::write(at.join("b.csv"), lines).unwrap();
    let (out, err) = expect(at, &["predict", "run/model.invar", "b.csv", "--csv"], 0);
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(err.contains("1 value of `farbe1` not known from training, such as `rosa`: taken for missing"), "{err}");
    // Standard input is read alike.
    let mut child = Command::new(cargo_bin!("invar"))
        .current_dir(at)
        .args(["predict", "run/model.invar", "-", "--csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let piped = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&piped.stdout).replace("\n-,", "\nb.csv,"), out);

    // Evaluation can fail: 1 for a figure that is too low, 2 for a question that makes no sense.
    std::fs::write(at.join("test.csv"), items(200, 2, ["blau", "rot"])).unwrap();
    let found = json(at, &["evaluate", "run/model.invar", "test.csv", "--json"]);
    let accuracy = found["value"].as_f64().unwrap();
    assert!(accuracy > 0.75 && found["examples"] == 200, "{found}");
    expect(at, &["evaluate", "run/model.invar", "test.csv", "--metric", "accuracy", "--at-least", "0.6"], 0);
    let (out, _) = expect(at, &["evaluate", "run/model.invar", "test.csv", "--at-least", "1.01"], 1);
    assert!(out.contains("FAILED: asked for at least 1.01"), "{out}");
    expect(at, &["evaluate", "run/model.invar", "test.csv", "--metric", "rmse"], 2);

    expect(at, &["export", "run/model.invar", "--onnx", "m.onnx"], 0);
    expect(at, &["certify", "run/model.invar", "--data", "test.csv"], 0);
    expect(at, &["report", "run", "-o", "report.html"], 0);
}

#[test]
fn what_is_said_on_the_command_line_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), "a,b,y\n3,2,no\n2,1,yes\n1,5,no\n4,3,yes\n").unwrap();
    let (_, err) = expect(at, &["init", "--data", "a.csv", "--set", "train.epoch=3"], 2);
    assert!(err.contains("--set train.epoch=3: unknown key `epoch` in [train] (did you mean `epochs`?)"), "{err}");
    assert!(!at.join("invar.toml").exists());
    expect(at, &["init", "--data", "a.csv"], 0);
    for (args, part) in [
        (&["check", "--epochs", "0"][..], "--epochs 0: [train] epochs: expected at least 1, got 0"),
        (&["check", "--candidates", "exchange(a,z)"], "`z`, which is none of them"),
        (&["check", "--set", "epochs=3"], "expected section.key=value"),
        (&["train", "sum", "--set", "train.epochs=0"], "--set train.epochs=0: [train] epochs: expected at least 1, got 0"),
    ] {
        let (_, err) = expect(at, args, 2);
        assert!(err.contains(part), "{part}\n{err}");
    }
    let (out, _) = expect(at, &["check", "--candidates", "exchange(a,b)", "--set", "data.validation=0.5"], 0);
    assert!(out.contains("exchange(a,b)") && out.contains("a share of 0.5"), "{out}");
    // A symmetry that moves nothing is a mistake.
    let (out, _) =
        expect(at, &["check", "--candidates", "permute(0)", "--set", "data.columns=[\"a\"]", "--set", "data.validation=0.5"], 1);
    assert!(out.contains("permute(0) moves nothing in examples of shape 1: leave it out"), "{out}");
}

#[test]
fn a_table_without_any_candidate_is_trained_with_nothing_imposed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut noise = Noise(5);
    let mut text = String::from("age,income,target\n");
    for _ in 0..200 {
        let (age, income) = (noise.next(), 100.0 * noise.next());
        let _ = writeln!(text, "{age},{income},{}", age + income / 50.0);
    }
    std::fs::write(at.join("a.csv"), text).unwrap();
    let (out, _) = expect(at, &[&["init", "--data", "a.csv"][..], &QUICK].concat(), 0);
    assert!(out.contains("no symmetry is proposed"), "{out}");
    let (out, _) = expect(at, &["check"], 0);
    assert!(out.contains("no candidates are listed"), "{out}");
    expect(at, &["train", "invar.toml"], 0);
    expect(at, &["evaluate", "run/model.invar", "a.csv", "--metric", "r2", "--at-least", "0.8"], 0);
    expect(at, &["report", "run", "-o", "report.html"], 0);
}

/// Pictures with a bright bar, lying or standing.
fn picture(height: usize, width: usize, standing: bool, noise: &mut Noise) -> Vec<f32> {
    let mut image: Vec<f32> = (0..3 * height * width).map(|_| 0.3 * noise.next()).collect();
    let (row, column) = (noise.below(height), noise.below(width));
    for channel in image.chunks_mut(height * width) {
        for (k, value) in channel.iter_mut().enumerate() {
            if if standing { k % width == column } else { k / width == row } {
                *value = 1.0;
            }
        }
    }
    image
}

#[test]
fn rectangular_pictures_of_any_size_are_trained_and_asked_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut noise = Noise(9);
    for k in 0..120 {
        let (class, [height, width]) = (["lying", "standing"][k % 2], [[8, 12], [10, 15]][k / 2 % 2]);
        std::fs::create_dir_all(at.join("photos").join(class)).unwrap();
        let image = picture(height, width, k % 2 == 1, &mut noise);
        write_png(&at.join("photos").join(class).join(format!("{k}.png")), [3, height, width], &image).unwrap();
    }
    let (out, _) = expect(at, &[&["init", "--data", "photos"][..], &QUICK[..6], &["--epochs", "6"]].concat(), 0);
    assert!(out.contains("images are of several sizes or large: each gets"), "{out}");
    let text = std::fs::read_to_string(at.join("invar.toml")).unwrap();
    assert!(text.contains("candidates = [\"mirror(top-bottom)\", \"mirror(left-right)\", \"rotate(half)\"]"), "{text}");
    let (out, _) = expect(at, &["check"], 0);
    assert!(out.contains("lift: group convolutions") && out.contains("rotate(half)"), "{out}");
    expect(at, &["train", "invar.toml"], 0);
    let (out, _) = expect(at, &["predict", "run/model.invar", "photos/lying/0.png"], 0);
    assert!(out.contains("0.png  ") && out.lines().count() == 1, "{out}");
    let (out, _) = expect(at, &["evaluate", "run/model.invar", "photos"], 0);
    assert!(out.contains("on 120 examples"), "{out}");
    // Squares can be turned by quarters, too.
    let (out, _) =
        expect(at, &["check", "--set", "data.pad=true", "--set", "data.resize=[12, 12]", "--candidates", "rotate(quarter)"], 0);
    assert!(out.contains("examples of shape 3x12x12") && out.contains("ready to train"), "{out}");
}

#[test]
fn series_are_asked_about_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut noise = Noise(3);
    let x: Vec<f32> = (0..60 * 64).map(|_| noise.next()).collect();
    let y: Vec<i64> = (0..60).map(|k| k % 2).collect();
    let arrays = [("x", Array::Floats(&[60, 1, 64], &x)), ("y", Array::Integers(&[60], &y))];
    write_npz(&at.join("a.npz"), &arrays, Packing::Stored).unwrap();
    let (out, _) = expect(at, &["init", "--data", "a.npz"], 0);
    assert!(out.contains("reverse(time)") && out.contains("shift(time)"), "{out}");
    let (out, _) = expect(at, &["check"], 0);
    assert!(out.contains("shift(time)") && !out.contains("moves nothing"), "{out}");
}

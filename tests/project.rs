//! Data of the user's own, from files to a model and its report, with the real binary on data small enough for seconds.

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::expect;
use invar_data::{Array, Packing, write_npy, write_npz, write_png};
use serde_json::Value;

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&expect(folder, args, 0).0).unwrap()
}

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

const SIDE: usize = 8;

/// Bars on noise: lying (class 0) or standing (class 1). Mirrors keep the class, quarter turns change it.
fn bars(count: usize, seed: u64) -> (Vec<f32>, Vec<i64>) {
    let mut noise = Noise(seed);
    let (mut inputs, mut labels) = (Vec::new(), Vec::new());
    for k in 0..count {
        let mut image: Vec<f32> = (0..SIDE * SIDE).map(|_| 4.0 * noise.next()).collect();
        let (line, standing) = (noise.below(SIDE), k % 2 == 1);
        (0..SIDE).for_each(|i| image[if standing { i * SIDE + line } else { line * SIDE + i }] = 16.0);
        inputs.extend(image);
        labels.push((k % 2) as i64);
    }
    (inputs, labels)
}

fn write_bars(path: &Path, count: usize, seed: u64) {
    let (x, y) = bars(count, seed);
    let arrays = [("x", Array::Floats(&[count, SIDE, SIDE], &x)), ("y", Array::Integers(&[count], &y))];
    write_npz(path, &arrays, Packing::Deflated).unwrap();
}

/// Rows a, b, c, d with y = a + b + c + 3 d: the first three can be exchanged.
fn rows(count: usize, seed: u64, label: impl Fn(f32) -> String) -> String {
    let mut noise = Noise(seed);
    let mut text = String::from("a,b,c,d,y\n");
    for _ in 0..count {
        let x: Vec<f32> = (0..4).map(|_| noise.next()).collect();
        let _ = writeln!(text, "{},{},{},{},{}", x[0], x[1], x[2], x[3], label(x[0] + x[1] + x[2] + 3.0 * x[3]));
    }
    text
}

fn project(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("invar.toml");
    std::fs::write(&path, text).unwrap();
    path
}

const IMAGES: &str = "[data]\ntrain = \"bars.npz\"\nshape = [1, 8, 8]\n[task]\nkind = \"classification\"\n[symmetries]\n\
    candidates = [\"rot90(1,2)\", \"flip(1)\"]\n[train]\nlearner = \"cgreg\"\nlambdas = [0, 1]\nepochs = 2\nbatch = 32\n";
/// The same with the learner screen, which is the default.
fn screened_images() -> String {
    IMAGES.replace("learner = \"cgreg\"\nlambdas = [0, 1]\nepochs = 2", "restarts = 1\nfolds = 2\nepochs = 8")
}

const NUMBERS: &str = "[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n[task]\nkind = \"regression\"\n[symmetries]\n\
    candidates = [\"swaps(0)\"]\n[train]\nepochs = 40\nbatch = 32\nrestarts = 1\nfolds = 2\n";

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(Into::into).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The record of the run in a folder.
fn run_at(run: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(run.join("run.json")).unwrap()).unwrap()
}

/// That of a project without `--out`.
fn run_of(project: &Path) -> Value {
    run_at(&project.join("run"))
}

#[test]
fn arrays_of_images_from_a_file_to_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_bars(&at.join("bars.npz"), 160, 1);
    let (out, _) = expect(at, &["init", "--data", "bars.npz"], 0);
    assert!(out.contains("160 examples of shape 1x8x8") && out.contains("2 classes"), "{out}");
    let text = std::fs::read_to_string(at.join("invar.toml")).unwrap();
    assert!(
        text.contains("shape = [1, 8, 8]") && text.contains("candidates = [\"rotate(quarter)\", \"mirror(left-right)\"]"),
        "{text}"
    );
    let (_, err) = expect(at, &["init"], 2);
    assert!(err.contains("a file that does not exist yet"), "{err}");

    let (out, _) = expect(at, &["check", "invar.toml"], 0);
    for part in
        ["training         128", "lift: group convolutions", "rotate(quarter)", "order", "ready to train", "not extrapolation"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let found = json(at, &["check", "--json"]);
    assert_eq!((&found["order"], &found["splits"][0]["summary"]["classes"][0]["count"]), (&"8".into(), &64.into()));

    project(at, IMAGES);
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    for part in
        ["lambda 0", "lambda 1", "<- chosen", "rot90(1,2)", "on validation examples", "plain network", "wrote run/model.invar"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(!out.contains("other environment"), "{out}");
    let records = lines(&at.join("run/records.jsonl"));
    // Two strengths and the plain network.
    assert_eq!(records.len(), 3);
    let record: Value = serde_json::from_str(&records[0]).unwrap();
    assert!(record["config"]["data"]["files"].is_string() && record.get("extrapolation").is_none(), "{record}");
    assert_eq!(names(&at.join("run")), [".invar", "fits", "model.invar", "records.jsonl", "run.json"]);

    // A second run finds everything done, and says the same.
    let (again, _) = expect(at, &["train", "invar.toml"], 0);
    assert_eq!(again, out);
    assert_eq!(lines(&at.join("run/records.jsonl")), records);

    expect(at, &["report", "run", "-o", "page.html"], 0);
    let page = std::fs::read_to_string(at.join("page.html")).unwrap();
    for id in ["asked", "evidence", "lattice", "scores", "models", "curves", "confusion", "examples", "certificate", "rerun"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(page.contains("data:image/png;base64,") && !page.contains("http://") | page.contains("www.w3.org"), "self-contained");
}

#[test]
fn a_folder_of_images_with_a_test_set_of_another_environment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (part, seed, count) in [("train", 1, 80), ("turned", 2, 20)] {
        let (x, y) = bars(count, seed);
        for (k, class) in y.iter().enumerate() {
            let class = at.join(part).join(["lying <b>", "standing"][*class as usize]);
            std::fs::create_dir_all(&class).unwrap();
            let image: Vec<f32> = x[k * 64..(k + 1) * 64].iter().map(|v| v / 16.0).collect();
            write_png(&class.join(format!("{k}.png")), [1, SIDE, SIDE], &image).unwrap();
        }
    }
    let text = IMAGES.replace("train = \"bars.npz\"\nshape = [1, 8, 8]", "train = \"train\"\ntest = \"turned\"");
    project(at, &text.replace("rot90(1,2)\", \"flip(1)", "turn=rot90(1,2)\", \"flip(1)").replace("[0, 1]", "[1]"));
    let run = json(at, &["train", "invar.toml", "--out", "out/deep", "--json"]);
    assert_eq!(run["classes"], serde_json::json!(["lying <b>", "standing"]));
    assert_eq!((&run["examples"], run["scores"].as_array().unwrap().len()), (&serde_json::json!([64, 16, 20]), 2));
    assert_eq!(run["symmetries"][0]["name"], "turn");
    expect(at, &["report", "out/deep"], 0);
    let page = std::fs::read_to_string(at.join("report.html")).unwrap();
    assert!(page.contains("Extrapolation: test examples of another environment"));
    assert!(page.contains("lying &lt;b&gt;") && !page.contains("lying <b>"), "names are escaped");
}

#[test]
fn images_are_screened_with_the_lift() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_bars(&at.join("bars.npz"), 160, 1);
    project(at, &screened_images());
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    assert!(out.contains("bars.npz: 2 classes") && out.contains("2 candidate symmetries;") && out.contains("p4m lift"), "{out}");
    assert!(
        out.contains("costs in percentage points of accuracy, with one-sided 95 % bounds")
            && out.contains("group-convolutional network"),
        "{out}"
    );
    // A quarter turn makes a lying bar a standing one: whoever keeps it cannot tell them apart.
    let run = run_of(at);
    assert_eq!(
        (&run["learner"], &run["symmetries"][0]["name"], &run["symmetries"][0]["kept"]),
        (&"screen".into(), &"rot90(1,2)".into(), &false.into()),
        "{out}"
    );
    assert_eq!(run["symmetries"][0]["verdict"], "contradicted", "{out}");
    assert_eq!(run["symmetries"][1]["kept"], true, "{out}");
    let (out, _) = expect(at, &["certify", "run/model.invar"], 0);
    assert!(out.contains("certified 1 of 1 group"), "{out}");
    expect(at, &["report", "run", "-o", "page.html"], 0);
    for (text, reason) in [
        (
            screened_images().replace("[train]", "[model]\nkind = \"cnn\"\n[train]\nlearner = \"screen\""),
            "should be cgreg for a cnn",
        ),
        (
            screened_images().replace("restarts = 1", "lambdas = [1]"),
            "[train] lambdas should be left out with the learner screen",
        ),
        (
            screened_images().replace("[train]", "[model]\nhead = \"affine\"\n[train]"),
            "[model] head should be left out with the learner screen",
        ),
        (IMAGES.replace("lambdas", "folds = 2\nlambdas"), "[train] folds should be left out with the learner cgreg"),
    ] {
        project(at, &text);
        for command in ["check", "train"] {
            let (_, err) = expect(at, &[command, "invar.toml"], 2);
            assert!(err.contains(reason), "{err}");
        }
    }
}

#[test]
fn a_first_project_file_takes_what_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.txt"), rows(40, 3, |y| if y > 3.0 { "high".into() } else { "low".into() })).unwrap();
    let (_, err) = expect(at, &["init", "--data", "a.txt"], 2);
    assert!(err.contains("cannot tell the format from the name"), "{err}");
    // The folder of the file is made.
    expect(at, &["init", "--data", "a.txt", "--format", "csv", "--label", "y", "deep/er/invar.toml"], 0);
    assert!(expect(at, &["check", "deep/er/invar.toml"], 0).0.contains("ready to train"));
    let (x, y) = bars(20, 1);
    write_npy(&at.join("x.npy"), &Array::Floats(&[20, SIDE, SIDE], &x)).unwrap();
    write_npy(&at.join("y.npy"), &Array::Integers(&[20], &y)).unwrap();
    let (_, err) = expect(at, &["init", "--data", "x.npy"], 2);
    assert!(err.contains("name the NPY file that holds the labels"), "{err}");
    expect(at, &["init", "--data", "x.npy", "--labels", "y.npy"], 0);
    assert!(expect(at, &["check"], 0).0.contains("ready to train"));
    for name in ["nope", "nope.csv"] {
        let (_, err) = expect(at, &["init", "--data", name, "other/invar.toml"], 1);
        assert!(err.ends_with(&format!("{name}: no such file or folder\n")), "{err}");
    }
    assert!(!at.join("other").exists());
}

#[test]
fn rows_of_numbers_are_screened() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), rows(400, 3, |y| y.to_string())).unwrap();
    project(at, NUMBERS);
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    assert!(out.contains("a.csv: a number\nR² ") && out.contains("6 candidate symmetries;"), "{out}");
    let run = run_of(at);
    let kept = |k: usize| run["symmetries"][k]["kept"].as_bool().unwrap();
    // (a,b) (a,c) (a,d) (b,c) (b,d) (c,d)
    assert_eq!([0, 1, 2, 3, 4, 5].map(kept), [true, true, false, true, false, false], "{out}");
    assert!(run["scores"][0]["score"].as_f64().unwrap() > 0.9, "{out}");
    assert!(run["consistency"].as_f64().unwrap() > 0.99);
    assert!(out.contains("kept: 3 of 6: a,b,c | d"), "{out}");
    assert!(out.contains("costs in percent of the error that is left with nothing imposed, with one-sided 95 % bounds"), "{out}");
    // Columns are told by their names, and the cost is that of what is kept, all together.
    assert_eq!(run["symmetries"][5]["columns"], serde_json::json!(["c", "d"]));
    assert_eq!(run["symmetries"][5]["verdict"], "contradicted", "{out}");
    assert!(out.lines().any(|line| line.starts_with("exchange(c, d) ") && line.contains(" contradicted ")), "{out}");
    let screen: Value = serde_json::from_str(&lines(&at.join("run/screens.jsonl"))[0]).unwrap();
    let chain = screen["chain"].as_array().unwrap();
    let last = chain.iter().rev().find(|step| step["set"] == screen["kept"]).unwrap();
    assert_eq!(run["kept_cost"], last["cost"]);
    assert!(run.get("weakness").is_none(), "{}", run["weakness"]);
    assert_eq!(names(&at.join("run")), [".invar", "fits", "model.invar", "run.json", "screens.jsonl"]);
    // What is kept is proved.
    let (certified, _) = expect(at, &["certify", "run/model.invar"], 0);
    assert!(certified.contains("certified 3 of 3 groups"), "{certified}");
    // The model knows its columns by name, and the format of files whose names do not tell it.
    std::fs::write(at.join("new.txt"), "a,b,c,d\n1,2,3,4\n").unwrap();
    std::fs::write(at.join("new.csv"), "a,b,c,d\n1,2,3,4\n").unwrap();
    std::fs::write(at.join("turned.csv"), "d,id,a,c,b\n4,x7,1,3,2\n").unwrap();
    let answer = |file: &str| json(at, &["predict", "run/model.invar", file, "--json"]);
    for other in ["turned.csv", "new.txt"] {
        assert_eq!(answer("new.csv")["outputs"], answer(other)["outputs"], "{other}");
    }
    let (again, _) = expect(at, &["train", "invar.toml"], 0);
    assert_eq!(again, out);
    assert_eq!(lines(&at.join("run/screens.jsonl")).len(), 1);
    expect(at, &["report", "run"], 0);
}

#[test]
fn models_of_every_kind_are_proved_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut noise = Noise(3);
    let mut text = String::from("a,b,c,d,y\n");
    for _ in 0..300 {
        let x: Vec<f32> = (0..4).map(|_| noise.next()).collect();
        let spread: f32 = x[..3].iter().map(|value| (value - 0.5).powi(2)).sum();
        let class = if spread > 0.05 + 0.4 * x[3] { "far" } else { "near" };
        let _ = writeln!(text, "{},{},{},{},{class}", x[0], x[1], x[2], x[3]);
    }
    std::fs::write(at.join("a.csv"), text).unwrap();
    // Two columns that are exchanged whatever that costs: there is something to prove.
    let classes = NUMBERS.replace("regression", "classification").replace("epochs = 40\nbatch = 32", "epochs = 10");
    for kind in ["pairs", "orbit", "feedforward"] {
        let text = classes.replace("[train]\n", &format!("[model]\nkind = \"{kind}\"\n[train]\nrequire = [\"swap(0;0,1)\"]\n"));
        project(at, &text);
        let run = json(at, &["train", "invar.toml", "--json", "--out", kind]);
        assert_eq!((&run["architecture"], &run["symmetries"][0]["kept"]), (&kind.into(), &true.into()), "{run}");
        let model = format!("{kind}/model.invar");
        let kept = run["symmetries"].as_array().unwrap().iter().filter(|found| found["kept"] == true).count();
        let (out, _) = expect(at, &["certify", &model], 0);
        assert!(out.contains(&format!("certified {kept} of {kept} group")), "{out}");
        expect(at, &["export", &model, "--onnx", "model.onnx"], 0);
        expect(at, &["report", kind, "-o", "page.html"], 0);
    }
}

#[test]
fn required_symmetries_are_imposed_and_only_those_shown_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), rows(200, 3, |y| y.to_string())).unwrap();
    let required =
        NUMBERS.replace("epochs = 40", "epochs = 4\nonly_shown = true\nrequire = [\"swap(0;2,3)\"]\nlearner = \"screen\"");
    project(at, &required.replace("[train]", "[model]\nkind = \"pairs\"\n[train]"));
    let run = json(at, &["train", "invar.toml", "--json"]);
    // It does not hold, and is kept whatever it costs.
    assert_eq!((&run["symmetries"][5]["name"], &run["symmetries"][5]["kept"]), (&"swap(0;2,3)".into(), &true.into()));
    assert_eq!(run["rule"]["only_shown"], true);
    let screen: Value = serde_json::from_str(&lines(&at.join("run/screens.jsonl"))[0]).unwrap();
    assert_eq!(
        (&screen["config"]["required"], &screen["decided_by"]["network"]["kind"]),
        (&serde_json::json!([5]), &"pairs".into())
    );
}

#[test]
fn verdicts_of_a_network_that_has_learned_nothing_are_doubted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let noise = std::cell::RefCell::new(Noise(5));
    std::fs::write(at.join("a.csv"), rows(200, 3, |_| noise.borrow_mut().next().to_string())).unwrap();
    project(at, &NUMBERS.replace("epochs = 40", "epochs = 2"));
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    assert!(
        out.contains("\nthe network cannot tell: with nothing imposed the network has ") && out.contains("Try more epochs"),
        "{out}"
    );
    let run = run_of(at);
    assert!(run["weakness"].is_string());
    assert!(run["symmetries"].as_array().unwrap().iter().all(|found| found["verdict"] == "the network cannot tell"), "{run}");
    // Nearly all examples are of one class, and the network says no more than that.
    std::fs::write(at.join("a.csv"), rows(400, 3, |y| if y > 1.5 { "yes" } else { "no" }.into())).unwrap();
    project(at, &NUMBERS.replace("regression", "classification").replace("epochs = 40", "epochs = 1"));
    let (out, _) = expect(at, &["train", "invar.toml", "--out", "other"], 0);
    assert!(out.contains("and a guess has 9"), "{out}");
    assert!(run_at(&at.join("other"))["weakness"].is_string());
    // The page says so, too.
    expect(at, &["report", "other", "-o", "page.html"], 0);
    assert!(std::fs::read_to_string(at.join("page.html")).unwrap().contains("and a guess has 9"));
}

#[test]
fn several_restarts_are_one_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), rows(400, 3, |y| (1000.0 + 50.0 * y).to_string())).unwrap();
    project(at, &NUMBERS.replace("restarts = 1", "restarts = 3"));
    let (out, _) = expect(at, &["train", "invar.toml"], 0);
    let run = run_of(at);
    let chosen: Vec<&Value> = run["models"].as_array().unwrap().iter().filter(|fit| fit["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert!(chosen[0]["name"].as_str().unwrap().starts_with("kept symmetries imposed, "), "{}", chosen[0]);
    // It is proved, and answers in the units of the labels.
    let (certified, _) = expect(at, &["certify", "run/model.invar", "--steps"], 0);
    assert!(certified.contains("certified 3 of 3 groups"), "{certified}");
    std::fs::write(at.join("new.csv"), "a,b,c,d\n0.5,0.25,0.75,0.5\n").unwrap();
    let answer = json(at, &["predict", "run/model.invar", "new.csv", "--json"])["outputs"][0].as_f64().unwrap();
    assert!((answer - 1150.0).abs() < 25.0, "{answer}\n{out}");
    expect(at, &["export", "run/model.invar", "--onnx", "model.onnx"], 0);
}

#[test]
fn options_go_before_what_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), rows(40, 3, |y| y.to_string())).unwrap();
    project(at, NUMBERS);
    let options = "--epochs 3 --seed 5 --network pairs --folds 1 --tolerance 7 --json";
    let run = json(at, &[&["train", "invar.toml"][..], &options.split(' ').collect::<Vec<_>>()].concat());
    let train = &run["project"]["train"];
    let told = ["epochs", "seed", "folds", "batch"].map(|key| train[key].as_u64().unwrap());
    assert_eq!((told, &run["architecture"]), ([3, 5, 1, 32], &"pairs".into()), "{train}");
    let (_, err) = expect(at, &["train", "invar.toml", "--examples", "30"], 2);
    assert!(err.contains("--examples 30: [data] examples: is for a built-in task"), "{err}");
    let (_, err) = expect(at, &["train", "missing.toml"], 1);
    assert!(err.contains("cannot read missing.toml"), "{err}");
}

#[test]
fn a_task_is_a_project_on_its_examples() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let options = "--length 4 --examples 120 --epochs 2 --folds 1 --seed 3 --set train.require=[\"swap(0;0,1)\"] --json";
    let mut short = json(at, &[&["train", "sum"][..], &options.split(' ').collect::<Vec<_>>()].concat());
    // Written down it is the same.
    project(
        at,
        "[data]\ntask = \"sum\"\nlength = 4\nexamples = 120\n[train]\nepochs = 2\nfolds = 1\nseed = 3\nrequire = [\"swap(0;0,1)\"]\n",
    );
    let mut long = json(at, &["train", "invar.toml", "--json"]);
    for run in [&mut short, &mut long] {
        let run = run.as_object_mut().unwrap();
        run.remove("seconds").unwrap();
        run["screen"].as_object_mut().unwrap().remove("seconds").unwrap();
    }
    assert_eq!(short, long);
    let models = ["sum-run", "run"].map(|run| std::fs::read(at.join(run).join("model.invar")).unwrap());
    assert_eq!(models[0], models[1]);
    // Everything that follows a training follows this one, too.
    expect(at, &["report", "sum-run", "-o", "page.html"], 0);
    let page = std::fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("in the other environment: the chosen model") && page.contains("sum of all tokens"));
    expect(at, &["certify", "sum-run/model.invar"], 0);
    expect(at, &["export", "sum-run/model.invar", "--onnx", "m.onnx"], 0);
}

#[test]
fn the_penalty_of_the_paper_leaves_its_figure_and_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let words =
        "train sum --method cgreg --lambda 10 --length 4 --examples 120 --epochs 2 --penalty violations --schedule one-cycle";
    let (out, _) = expect(at, &words.split(' ').collect::<Vec<_>>(), 0);
    for part in
        ["subspaces by level, most invariant first", "lambda 10 <- chosen", "nothing imposed, linear output", "plain network"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let run = run_at(&at.join("sum-run"));
    let subspaces = run["subspaces"][0].as_array().unwrap();
    assert_eq!((&run["learner"], subspaces.len()), (&"cgreg".into(), 2), "{run}");
    assert_eq!(subspaces.iter().map(|level| level["used"].as_array().unwrap().len()).sum::<usize>(), 4);
    let (certified, _) = expect(at, &["certify", "sum-run/model.invar"], 1);
    assert!(certified.contains("the model keeps no symmetry"), "{certified}");
}

/// Nothing but what was there before.
fn nothing_written(at: &Path, before: &[String]) {
    assert_eq!(names(at), before);
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let good = rows(40, 3, |y| if y > 3.0 { "high".into() } else { "low".into() });
    let classes = NUMBERS.replace("regression", "classification");
    let csv = |name: &str, text: String| std::fs::write(at.join(name), text).unwrap();
    csv("a.csv", good.clone());
    csv("ragged.csv", format!("{good}1,2\n"));
    csv("nan.csv", format!("{good}1,2,inf,4,high\n"));
    csv("word.csv", format!("{good}1,2,three,4,high\n"));
    csv("one.csv", rows(40, 3, |_| "high".into()));
    std::fs::create_dir(at.join("empty")).unwrap();
    std::fs::create_dir_all(at.join("corrupt/a")).unwrap();
    std::fs::create_dir_all(at.join("corrupt/b")).unwrap();
    write_png(&at.join("corrupt/a/1.png"), [1, 4, 4], &[0.5; 16]).unwrap();
    let sound = std::fs::read(at.join("corrupt/a/1.png")).unwrap();
    std::fs::write(at.join("corrupt/b/2.png"), &sound[..sound.len() - 20]).unwrap();
    write_bars(&at.join("bars.npz"), 20, 1);
    let sound = std::fs::read(at.join("bars.npz")).unwrap();
    std::fs::write(at.join("torn.npz"), &sound[..sound.len() / 2]).unwrap();
    let (x, _) = bars(20, 1);
    let arrays = [("x", Array::Floats(&[20, 8, 8], &x)), ("y", Array::Integers(&[19], &[0; 19]))];
    write_npz(&at.join("lengths.npz"), &arrays, Packing::Stored).unwrap();
    let arrays = [("x", Array::Texts(&["a".into(), "b".into()])), ("y", Array::Integers(&[2], &[0, 1]))];
    write_npz(&at.join("texts.npz"), &arrays, Packing::Stored).unwrap();
    write_npy(&at.join("x.npy"), &Array::Floats(&[20, 64], &x)).unwrap();
    let before = [names(at), vec!["invar.toml".into()]].concat();
    let mut before = before;
    before.sort();
    let swap = |name: &str| classes.replace("a.csv", name);
    let images = |name: &str| IMAGES.replace("bars.npz", name);
    let folder_of = |name: &str| IMAGES.replace("train = \"bars.npz\"\nshape = [1, 8, 8]", &format!("train = \"{name}\""));
    for (text, code, parts) in [
        (swap("ragged.csv"), 1, vec!["ragged.csv, line 42: expected 5 fields as in the header, got 2"]),
        (swap("nan.csv"), 1, vec!["nan.csv", "line 42, column `c`: expected a finite number that f32 can hold, got `inf`"]),
        (swap("word.csv"), 1, vec!["word.csv, line 42, column `c`", "three"]),
        (swap("one.csv"), 1, vec!["one.csv: expected two classes or more, got only `high`"]),
        (swap("gone.csv"), 1, vec!["gone.csv: no such file or folder"]),
        (classes.replace("label = \"y\"", "label = \"z\""), 2, vec!["a.csv", "`z`"]),
        (classes.replace("swaps(0)", "flip(1)"), 2, vec!["flip(1): axis 1 is out of range; shape 4 has axes 0 to 0"]),
        (IMAGES.replace("[1, 8, 8]", "[1, 7, 8]"), 1, vec!["bars.npz", "64 entries", "1x7x8"]),
        (IMAGES.replace("[1, 8, 8]", "[1, 4, 16]"), 2, vec!["rot90(1,2)", "axes 1 and 2"]),
        (images("torn.npz"), 1, vec!["torn.npz"]),
        (images("lengths.npz"), 1, vec!["lengths.npz", "the number of labels: expected 20, as many as inputs, got 19"]),
        (images("texts.npz"), 1, vec!["texts.npz"]),
        (images("x.npy"), 2, vec!["x.npy"]),
        (folder_of("empty"), 1, vec!["empty"]),
        (folder_of("corrupt"), 1, vec!["2.png"]),
        (
            classes.replace("epochs = 40", "epoch = 40"),
            2,
            vec!["invar.toml, line 9: unknown key `epoch` in [train] (did you mean `epochs`?)"],
        ),
        (classes.replace("[task]", "[tasks]"), 2, vec!["unknown section [tasks] (did you mean `task`?)"]),
        (
            screened_images().replace("[train]", "[model]\nkind = \"cnn\"\n[train]\nlearner = \"screen\""),
            2,
            vec!["[train] learner should be cgreg"],
        ),
        (screened_images() + "lambdas = [1]\n", 2, vec!["[train] lambdas should be left out with the learner screen"]),
        (IMAGES.to_owned() + "only_shown = true\n", 2, vec!["[train] only_shown should be left out with the learner cgreg"]),
        (classes.replace("restarts", "starts"), 2, vec!["unknown key `starts` in [train]"]),
    ] {
        project(at, &text);
        for command in ["check", "train"] {
            if command == "check" && parts[0] == "nan.csv" {
                continue;
            }
            let (out, err) = expect(at, &[command, "invar.toml"], code);
            assert!(out.is_empty() && err.lines().count() <= 3 && err.starts_with("error: "), "{text}\n{out}\n{err}");
            assert!(parts.iter().all(|part| err.contains(part)), "{parts:?}\n{err}");
            nothing_written(at, &before);
        }
    }
    // Values that are infinite are counted by `check`, which then fails. Gaps in tables are filled.
    project(at, &swap("nan.csv"));
    let (out, _) = expect(at, &["check", "invar.toml"], 1);
    assert!(out.contains("0 values are missing and 1 are infinite") && out.contains("not fit to train on"), "{out}");
}

#[test]
fn what_only_the_data_can_refuse_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), rows(40, 3, |y| y.to_string())).unwrap();
    for (text, reason) in [
        (NUMBERS.to_owned() + "require = [\"flip(0)\"]\n", "[train] require should be candidates of the list in [symmetries]"),
        (NUMBERS.replace("folds = 2", "folds = 50"), "number of folds should be from 1 to 10"),
    ] {
        project(at, &text);
        for command in ["check", "train"] {
            let (out, err) = expect(at, &[command, "invar.toml"], 2);
            assert!(out.is_empty() && err.contains(reason), "{err}");
            nothing_written(at, &["a.csv".into(), "invar.toml".into()]);
        }
    }
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_bars(&at.join("bars.npz"), 40, 1);
    project(at, &IMAGES.replace("[0, 1]", "[0]").replace("epochs = 2", "epochs = 1"));
    let (_, err) = expect(at, &["train", "invar.toml", "--out", "bars.npz/run"], 1);
    assert!(err.contains("cannot create bars.npz/run"), "{err}");
    expect(at, &["train", "invar.toml"], 0);
    let (_, err) = expect(at, &["report", "run", "-o", "missing/page.html"], 1);
    assert_eq!(err, "error: cannot write missing/page.html: the folder missing does not exist\n");
    let (_, err) = expect(at, &["report", "run", "-o", "run/model.invar"], 2);
    assert!(err.contains("--output should be a file of its own, but is run/model.invar, which is a file of the run"), "{err}");
    let (_, err) = expect(at, &["report", "run", "-o", "bars.npz"], 2);
    assert!(err.contains("but is bars.npz, which is data of the run"), "{err}");
    let (_, err) = expect(at, &["check", "."], 2);
    assert!(err.contains("the project file should be a file of at most 1 MiB, but is ., which is a folder"), "{err}");
    let (_, err) = expect(at, &["report", "bars.npz"], 1);
    assert!(err.contains("cannot read bars.npz/run.json"), "{err}");
    // A disk that is full: files may not grow beyond 512 bytes, and what was there stays.
    let model = std::fs::read(at.join("run/model.invar")).unwrap();
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {} report run -o page.html", cargo_bin!("invar").display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(at).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write page.html"));
    assert!(!at.join("page.html").exists() && std::fs::read(at.join("run/model.invar")).unwrap() == model);
    assert!(names(at).iter().all(|name| !name.starts_with(".invar-")), "{:?}", names(at));
    // A run of another version, and a damaged one.
    let text = std::fs::read_to_string(at.join("run/run.json")).unwrap();
    std::fs::write(at.join("run/run.json"), text.replacen("\"version\": 3", "\"version\": 9", 1)).unwrap();
    let (_, err) = expect(at, &["report", "run"], 1);
    assert!(err.contains("its version is 9, but this program reads 3"), "{err}");
    std::fs::write(at.join("run/run.json"), &text[..text.len() / 2]).unwrap();
    let (_, err) = expect(at, &["report", "run"], 1);
    assert!(err.contains("not a run that can be read"), "{err}");
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_bars(&at.join("bars.npz"), 200, 1);
    project(at, &IMAGES.replace("[0, 1]", "[0, 0.5, 1, 2, 5]").replace("epochs = 2", "epochs = 3"));
    let mut child = Command::new(cargo_bin!("invar"))
        .args(["train", "invar.toml", "--threads", "1"])
        .current_dir(at)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let records = at.join("run/records.jsonl");
    let begun = Instant::now();
    while lines(&records).is_empty() && begun.elapsed() < Duration::from_mins(2) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // SIGKILL: nothing can be tidied up.
    child.kill().unwrap();
    child.wait().unwrap();
    let first = lines(&records);
    assert!(!first.is_empty() && first.len() < 6, "killed in the middle: {} records", first.len());
    assert!(!at.join("run/model.invar").exists());
    expect(at, &["train", "invar.toml"], 0);
    let all = lines(&records);
    assert_eq!((all.len(), &all[..first.len()]), (6, &first[..]));
    assert!(at.join("run/model.invar").exists());
}

#[test]
fn a_screen_that_is_killed_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    for at in [&killed, &whole] {
        std::fs::create_dir(at).unwrap();
        std::fs::write(at.join("a.csv"), rows(300, 3, |y| y.to_string())).unwrap();
        project(at, NUMBERS);
    }
    let mut child = Command::new(cargo_bin!("invar"))
        .args(["train", "invar.toml", "--threads", "1"])
        .current_dir(&killed)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let fits = killed.join("run/screen");
    let count = || std::fs::read_dir(&fits).map_or(0, Iterator::count);
    let begun = Instant::now();
    while count() < 3 && begun.elapsed() < Duration::from_mins(2) {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(count() >= 3 && !killed.join("run/model.invar").exists() && lines(&killed.join("run/screens.jsonl")).is_empty());
    let (resumed, _) = expect(&killed, &["train", "invar.toml"], 0);
    assert_eq!(resumed, expect(&whole, &["train", "invar.toml"], 0).0);
    assert!(!fits.exists() && std::fs::metadata(killed.join("run/model.invar")).unwrap().len() > 1000);
    let told = |at: &Path| {
        let mut run = run_of(at);
        for changes in ["seconds", "folder"] {
            assert!(run.as_object_mut().unwrap().remove(changes).is_some());
        }
        assert!(run["screen"].as_object_mut().unwrap().remove("seconds").is_some());
        run
    };
    assert_eq!(told(&killed), told(&whole));
    // The models answer alike to the last digit.
    let answers = |at: &Path| expect(at, &["predict", "run/model.invar", "a.csv", "--json"], 0).0;
    assert_eq!(answers(&killed), answers(&whole));
}

//! `invar predict`, `certify` and `export` with the real binary, in temporary folders.

mod common;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use common::expect;
use invar_algebra::{Group, candidates};
use invar_data::{Array, Packing, write_npz, write_png, write_safetensors};
use invar_lab::fit::{FitConfig, Method};
use invar_lab::problem::Data;
use invar_nn::{evaluate, lower};
use invar_program::{Activation, Candidate, Input, Member, Normalisation, Op, Pooling, Program, Reading, Saved, Task, Tensor};
use serde_json::Value;

/// A candidate on the input of a program, kept or not.
fn candidate(program: &Program, written: &str, kept: bool) -> Candidate {
    let groups = candidates(&program.input.shape().unwrap(), [written]).unwrap();
    let verdict = if kept { "costs nothing" } else { "contradicted" };
    let member = |group: &Group| Member { name: group.name().into(), kept, verdict: verdict.into(), cost: None };
    Candidate { written: written.into(), members: groups.iter().map(member).collect() }
}

/// Numbers between -1 and 1 that look random.
fn numbers(count: usize) -> Vec<f32> {
    let next = |seed: &mut u32| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some((*seed >> 8) as f32 / (1 << 23) as f32 - 1.0)
    };
    let mut seed = 7;
    std::iter::from_fn(move || next(&mut seed)).take(count).collect()
}

/// A model of grey images of this side whose filters look the same from all sides, behind windows of 2; three classes.
fn round_model(side: usize) -> Saved {
    let values = numbers(100);
    let round = |k: usize| [0, 1, 0, 1, 2, 1, 0, 1, 0].map(|i| values[3 * k + i]);
    let filters = Tensor::new([4, 1, 3, 3], (0..4).flat_map(round).collect()).unwrap();
    let drawn = |from: usize, n: usize| Tensor::vector(values[from..from + n].to_vec());
    let variance = Tensor::vector(vec![0.5, 1.0, 2.0, 0.1]);
    let ops = vec![
        Op::Conv { filters, bias: None },
        Op::BatchNorm { gamma: drawn(20, 4), beta: drawn(24, 4), mean: drawn(28, 4), variance, epsilon: 1e-5 },
        Op::Activate { activation: Activation::Relu },
        Op::MaxPool { window: [2, 2], stride: [2, 2] },
        Op::PoolSpace { pooling: Pooling::Mean },
        Op::Linear { weight: Tensor::new([3, 4], values[40..52].to_vec()).unwrap(), bias: Some(drawn(60, 3)) },
    ];
    let program = Program::new(Input::Images { channels: 1, height: side, width: side }, ops).unwrap();
    Saved {
        candidates: vec![candidate(&program, "turn=rot90(1,2)", true), candidate(&program, "shift(2)", false)],
        normalisation: Some(Normalisation { mean: vec![0.3], scale: vec![2.5] }),
        ..Saved::new(program, Task::Classification { classes: ["ant", "bee, large", "cat"].map(String::from).into() })
    }
}

/// A folder with that model and three examples for it in `x.npz`.
fn folder(side: usize) -> (tempfile::TempDir, Saved, Vec<f32>) {
    let folder = tempfile::tempdir().unwrap();
    let model = round_model(side);
    model.save(&folder.path().join("m.invar")).unwrap();
    let x: Vec<f32> = numbers(3 * side * side).iter().map(|value| value.abs()).collect();
    let shape = [3, side, side];
    write_npz(&folder.path().join("x.npz"), &[("x", Array::Floats(&shape, &x))], Packing::Deflated).unwrap();
    (folder, model, x)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers_of(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

#[test]
fn a_trained_network_is_saved_predicted_with_and_certified() {
    let folder = tempfile::tempdir().unwrap();
    let mut data = Data::by_name("sum").unwrap();
    data.set_examples(200);
    let problem = data.problem(0).unwrap();
    let save = |method: Method, kept: bool| {
        let config = FitConfig { max_epochs: 2, ..FitConfig::new(data, method) };
        let network = config.run(&problem, |_| ControlFlow::Continue(())).unwrap().network;
        let program = lower(&network, &Input::Tokens { length: 10, vocabulary: problem.vocabulary.unwrap() }).unwrap();
        let candidates = vec![candidate(&program, "swaps(0)", kept)];
        let lattice = Some(Saved::lattice_hash(problem.lattice().unwrap()));
        let model = Saved { candidates, lattice, ..Saved::new(program, Task::Regression) }.tied().unwrap();
        model.save(&folder.path().join("m.invar")).unwrap();
        network
    };
    let network = save(Method::Oracle, true);
    // The test sequences as a file, and what the network said about them.
    let test = problem.test.as_ref().unwrap();
    let invar_nn::Inputs::Tokens { values, .. } = test.inputs() else { panic!("sequences are tokens") };
    let expected = evaluate(&network, test).unwrap().predictions;
    let tokens: Vec<i64> = values.iter().map(|&token| i64::from(token)).collect();
    let shape = [expected.len(), 10];
    write_npz(&folder.path().join("test.npz"), &[("x", Array::Integers(&shape, &tokens))], Packing::Stored).unwrap();
    let (out, _) = expect(folder.path(), &["predict", "m.invar", "test.npz", "--json"], 0);
    let answers = lines(&out);
    assert_eq!(answers.len(), expected.len());
    for (answer, expected) in answers.iter().zip(&expected) {
        assert!((answer["value"].as_f64().unwrap() - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{answer} {expected}");
    }

    let (out, _) = expect(folder.path(), &["certify", "m.invar", "--data", "test.npz"], 0);
    assert!(out.starts_with("m.invar: tokens 10, "), "{out}");
    assert!(out.ends_with("certified 45 of 45 groups\n") && !out.contains("within"), "{out}");

    save(Method::Plain, true);
    let (out, _) = expect(folder.path(), &["certify", "m.invar", "--group", "permute(0)"], 1);
    assert!(out.contains("permute(0): not proved, operation 2 (linear): the weights of output 0, moved"), "{out}");
    assert!(out.contains("measured, permute(0): outputs change by"), "{out}");
    expect(folder.path(), &["certify", "m.invar"], 1);
    // A model that claims nothing has nothing that could be certified.
    save(Method::Plain, false);
    assert!(expect(folder.path(), &["certify", "m.invar"], 1).0.contains("keeps no symmetry: nothing to certify"));
    let answer: Value = serde_json::from_str(&expect(folder.path(), &["certify", "m.invar", "--json"], 1).0).unwrap();
    assert_eq!((&answer["certified"], &answer["groups"]), (&Value::from(false), &Value::Array(Vec::new())));
}

#[test]
fn predictions_come_in_three_forms() {
    let (folder, model, x) = folder(6);
    let expected = model.whole().unwrap().run(&x).unwrap();
    let (out, err) = expect(folder.path(), &["predict", "m.invar", "x.npz", "--json"], 0);
    assert_eq!(err, "");
    for ((i, answer), outputs) in lines(&out).iter().enumerate().zip(expected.chunks(3)) {
        assert_eq!((answer["file"].as_str(), answer["example"].as_str()), (Some("x.npz"), Some(&*i.to_string())));
        assert_eq!(numbers_of(&answer["outputs"]), outputs);
        let shares = numbers_of(&answer["probabilities"]);
        assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let best = (0..3).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
        assert_eq!(answer["class"].as_str().unwrap(), ["ant", "bee, large", "cat"][best]);
    }
    let (out, _) = expect(folder.path(), &["predict", "m.invar", "x.npz", "x.npz", "--csv"], 0);
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(rows[0], "file,example,class,ant,\"bee, large\",cat");
    assert_eq!(rows.len(), 7);
    assert_eq!(rows[1..4], rows[4..7]);
    let (out, _) = expect(folder.path(), &["predict", "m.invar", "x.npz"], 0);
    assert_eq!(out.lines().count(), 3);
    assert!(out.lines().all(|line| line.starts_with("x.npz  ") && line.ends_with(" %")), "{out}");
    expect(folder.path(), &["predict", "m.invar", "x.npz", "--csv", "--json"], 2);
    expect(folder.path(), &["predict", "m.invar"], 2);
}

#[test]
fn more_threads_than_cores_are_not_made() {
    let (folder, _, _) = folder(6);
    let mut command = Command::new(cargo_bin!("invar"));
    let out =
        command.args(["predict", "m.invar", "x.npz"]).env("RAYON_NUM_THREADS", "100000").current_dir(folder.path()).output();
    assert!(out.unwrap().status.success());
}

#[test]
fn images_and_tables_are_read_alike() {
    let (folder, model, _) = folder(6);
    let bytes: Vec<u8> = (0..36).map(|i| i * 7).collect();
    std::fs::create_dir(folder.path().join("photos")).unwrap();
    write_png(&folder.path().join("photos/a.png"), [1, 6, 6], &bytes.iter().map(|&b| f32::from(b) / 255.0).collect::<Vec<_>>())
        .unwrap();
    let header: Vec<String> = (0..36).map(|i| format!("p{i}")).collect();
    let row: Vec<String> = bytes.iter().map(|&b| (f32::from(b) / 255.0).to_string()).collect();
    std::fs::write(folder.path().join("a.csv"), format!("{}\n{}\n", header.join(","), row.join(","))).unwrap();
    let (out, _) = expect(folder.path(), &["predict", "m.invar", "photos", "a.csv", "--json"], 0);
    let answers = lines(&out);
    assert_eq!(answers[0]["example"], "a.png");
    assert_eq!(answers[0]["outputs"], answers[1]["outputs"]);
    let by_hand = model.whole().unwrap().run(&bytes.iter().map(|&b| f32::from(b) / 255.0).collect::<Vec<_>>()).unwrap();
    assert_eq!(numbers_of(&answers[0]["outputs"]), by_hand);
}

#[test]
fn certificates_name_the_operation_and_the_condition() {
    let (even, _, _) = folder(6);
    let (out, _) = expect(even.path(), &["certify", "m.invar", "--steps"], 0);
    assert!(out.contains("m.invar: images 1x6x6, 7 operations, "), "{out}");
    assert!(out.contains("turn   yes   proved"), "{out}");
    assert!(out.contains("    1 conv: filters follow a quarter turn; 144 of 144 entries move behind it"), "{out}");
    assert!(out.ends_with("certified 1 of 1 group\n"), "{out}");
    let (odd, _, _) = folder(7);
    let (out, _) = expect(odd.path(), &["certify", "m.invar", "--data", "x.npz"], 1);
    assert!(out.contains("turn: not proved, operation 4 (max pooling): max pooling 2 on side 7 drops a column"), "{out}");
    assert!(out.contains("on 3 examples of x.npz") && out.ends_with("certified 0 of 1 group\n"), "{out}");
    let (out, _) = expect(odd.path(), &["certify", "m.invar", "--json", "--group", "turn", "flip(2)"], 1);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["certified"], false);
    assert_eq!(answer["groups"][0]["kept"], true);
    assert_eq!(answer["groups"][1]["kept"], false);
    assert_eq!(answer["groups"][0]["proof"]["generators"][0]["broken"]["op"], 4);
    // What would take too long is refused before it is begun.
    let (_, err) = expect(even.path(), &["certify", "m.invar", "--examples", "300000", "--limit", "1"], 2);
    assert!(err.contains("--limit should be at least") && err.contains("billions of multiplications"), "{err}");
    // The same model again has the same certificate.
    assert_eq!(expect(odd.path(), &["certify", "m.invar", "--json", "--group", "turn", "flip(2)"], 1).0, out);
}

#[test]
fn onnx_models_are_measured() {
    let (folder, _, _) = folder(6);
    expect(folder.path(), &["export", "m.invar", "--onnx", "m.onnx"], 0);
    let (out, _) =
        expect(folder.path(), &["certify", "--onnx", "m.onnx", "--shape", "1x6x6", "--group", "rot90(1,2)", "flip(2)"], 0);
    assert!(out.starts_with("m.onnx: ONNX, 1x6x6; measured only, nothing is proved\n"), "{out}");
    assert!(out.contains("group       outputs change by  holds\nrot90(1,2) ") && !out.contains("certified"), "{out}");
    assert!(out.ends_with("measured to hold: 2 of 2 groups\n"), "{out}");
    let args = ["certify", "--onnx", "m.onnx", "--shape", "1,6,6", "--group", "shift(2)", "--data", "x.npz", "--json"];
    let answer: Value = serde_json::from_str(&expect(folder.path(), &args, 1).0).unwrap();
    assert_eq!((&answer["examples"], &answer["groups"][0]["certified"]), (&Value::from(3), &Value::from(false)));
    assert!(answer["groups"][0].get("proof").is_none());
    let (_, err) = expect(folder.path(), &["certify", "--onnx", "m.onnx", "--shape", "1x5x5", "--group", "flip(2)"], 1);
    assert!(err.contains("m.onnx: it takes an input of ?x1x6x6") && err.contains("got examples of 1x5x5"), "{err}");
    // Entries may lie in another shape, if they are as many.
    let flat = ["certify", "--onnx", "m.onnx", "--shape", "36", "--group", "flip(0)"];
    assert!(!expect(folder.path(), &flat, 1).1.contains("it takes an input"));
    // Wrong questions, and files that are no models.
    expect(folder.path(), &["certify", "--onnx", "m.onnx", "--group", "flip(2)"], 2);
    expect(folder.path(), &["certify", "--onnx", "m.onnx", "--shape", "1x6x6"], 2);
    expect(folder.path(), &["certify", "m.invar", "--onnx", "m.onnx", "--shape", "1x6x6", "--group", "flip(2)"], 2);
    let (_, err) = expect(folder.path(), &["certify", "--onnx", "m.invar", "--shape", "1x6x6", "--group", "flip(2)"], 1);
    assert!(err.contains("expected an ONNX file"), "{err}");
    let (_, err) = expect(folder.path(), &["certify", "--onnx", "m.onnx", "--shape", "1x5x5", "--group", "flip(9)"], 2);
    assert!(err.contains("axis 9 is out of range"), "{err}");
}

#[test]
fn groups_that_do_not_exist_are_usage_errors() {
    let (folder, _, _) = folder(6);
    let (_, err) = expect(folder.path(), &["certify", "m.invar", "--group", "trun"], 2);
    assert!(err.contains("`trun` is no candidate of this model (it has turn, shift(2))"), "{err}");
    let (_, err) = expect(folder.path(), &["certify", "m.invar", "--group", "flip(9)"], 2);
    assert!(err.contains("axis 9 is out of range; shape 1x6x6 has axes 0 to 2"), "{err}");
    for (count, part) in [("0", "0 is not in 1..=1000000"), ("4294967295", "is not in"), ("-1", "-1 is not in")] {
        let (_, err) = expect(folder.path(), &["certify", "m.invar", "--examples", count], 2);
        assert!(err.contains(part), "{err}");
    }
}

#[test]
fn examples_that_no_memory_holds_are_a_usage_error() {
    let (folder, _, _) = folder(6);
    expect(folder.path(), &["export", "m.invar", "--onnx", "m.onnx"], 0);
    let shape = "3x500x500";
    let args = ["certify", "--onnx", "m.onnx", "--shape", shape, "--group", "permute(0)", "--examples", "1000000"];
    let (_, err) = expect(folder.path(), &args, 2);
    assert!(err.starts_with("error: --examples should be at most ") && err.ends_with("but is 1,000,000\n"), "{err}");
}

/// A model of three columns, which answers with their sum weighted by 1, 10 and 100.
fn columns_model(columns: Option<&[&str]>) -> Saved {
    let weight = Tensor::new([1, 3], vec![1.0, 10.0, 100.0]).unwrap();
    let program = Program::new(Input::Array { shape: vec![3] }, vec![Op::Linear { weight, bias: None }]).unwrap();
    let columns = columns.map(|names| names.iter().map(ToString::to_string).collect());
    let reading = Reading { columns, label: Some("y".into()), ..Reading::default() };
    let candidates = vec![candidate(&program, "swaps(0)", false)];
    Saved { reading, candidates, ..Saved::new(program, Task::Regression) }
}

#[test]
fn columns_are_matched_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    columns_model(Some(&["a", "b", "c"])).save(&at.join("m.invar")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    write("same.csv", "a,b,c,y\n1,2,3,0\n");
    write("other.csv", "id,c,y,b,a\nx7,3,?,2,1\n");
    let (out, _) = expect(at, &["predict", "m.invar", "same.csv", "other.csv"], 0);
    assert_eq!(out, "same.csv  0  321\nother.csv  0  321\n");
    write("missing.csv", "a,b,d\n1,2,3\n");
    write("foreign.csv", "x0,x1,x2\n1,2,3\n");
    for command in [&["predict", "m.invar"][..], &["certify", "m.invar", "--group", "swap(0;0,1)", "--data"]] {
        let refused = |file: &str| expect(at, &[command, &[file]].concat(), 2).1;
        let expected = "error: missing.csv: expected the columns `a`, `b`, `c`, of which `c` is missing; found `a`, `b`, `d`\n";
        assert_eq!(refused("missing.csv"), expected);
        assert!(refused("foreign.csv").contains("of which `a`, `b`, `c` are missing; found `x0`, `x1`, `x2`"));
    }
    let (_, err) = expect(at, &["predict", "m.invar", "same.csv", "--label", "z"], 2);
    assert_eq!(err, "error: same.csv: no column `z`; found `a`, `b`, `c`, `y`\n");
    // Models that do not know the names take columns as they stand.
    columns_model(None).save(&at.join("old.invar")).unwrap();
    assert_eq!(expect(at, &["predict", "old.invar", "foreign.csv"], 0).0, "foreign.csv  0  321\n");
}

#[test]
fn formats_can_be_told_and_options_must_mean_something() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    columns_model(None).save(&at.join("m.invar")).unwrap();
    std::fs::write(at.join("a.txt"), "a,b,c\n1,2,3\n").unwrap();
    invar_data::write_npy(&at.join("x.npy"), &Array::Floats(&[1, 3], &[1.0, 2.0, 3.0])).unwrap();
    let (_, err) = expect(at, &["predict", "m.invar", "a.txt"], 2);
    assert!(err.contains("cannot tell the format"), "{err}");
    assert_eq!(expect(at, &["predict", "m.invar", "a.txt", "--format", "csv"], 0).0, "a.txt  0  321\n");
    let args = ["certify", "m.invar", "--group", "flip(0)", "--data", "a.txt", "--format", "csv"];
    assert!(expect(at, &args, 1).0.contains("on 1 example of a.txt"));
    let (_, err) = expect(at, &["predict", "m.invar", "x.npy", "--inputs", "foo"], 2);
    assert_eq!(err, "error: x.npy: only NPZ files have arrays of inputs to name\n");
    for name in ["nope", "nope.csv"] {
        let (_, err) = expect(at, &["predict", "m.invar", name], 1);
        assert_eq!(err, format!("error: {name}: no such file or folder\n"));
    }
}

#[test]
fn answers_that_are_no_numbers_are_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    columns_model(Some(&["a", "b", "c"])).save(&at.join("m.invar")).unwrap();
    std::fs::write(at.join("large.csv"), "a,b,c\n1,2,3\n0,0,1e38\n").unwrap();
    for args in [
        &["predict", "m.invar", "large.csv", "--json"][..],
        &["predict", "m.invar", "large.csv", "--csv"],
        &["certify", "m.invar", "--group", "flip(0)", "--data", "large.csv"],
    ] {
        let (_, err) = expect(at, args, 1);
        assert_eq!(err, "error: large.csv: example 1: the output of the network is not finite, but inf\n");
    }
}

#[test]
fn outputs_overwrite_neither_the_model_nor_each_other() {
    let (folder, _, _) = folder(6);
    let at = folder.path();
    let before = std::fs::read(at.join("m.invar")).unwrap();
    let (_, err) = expect(at, &["export", "m.invar", "--onnx", "./m.invar"], 2);
    assert_eq!(err, "error: --onnx should be a file of its own, but is ./m.invar, which is the model\n");
    let (_, err) = expect(at, &["export", "m.invar", "--onnx", "a.bin", "--safetensors", "a.bin"], 2);
    assert_eq!(err, "error: --safetensors should be a file of its own, but is a.bin, which is that of --onnx\n");
    assert_eq!(std::fs::read(at.join("m.invar")).unwrap(), before);
    assert!(!at.join("a.bin").exists());
}

#[test]
fn exports_are_written_whole() {
    let (folder, model, _) = folder(6);
    let args = ["export", "m.invar", "--onnx", "m.onnx", "--safetensors", "w.safetensors"];
    let (out, _) = expect(folder.path(), &args, 0);
    assert!(
        out.starts_with("wrote m.onnx: ONNX, 1x6x6 in, 3 out (x -> outputs)\n") && out.contains("\nwrote w.safetensors: "),
        "{out}"
    );
    let onnx = std::fs::read(folder.path().join("m.onnx")).unwrap();
    for name in [&b"Conv"[..], b"BatchNormalization", b"MaxPool", b"Gemm", b"Softmax", b"bee, large"] {
        assert!(onnx.windows(name.len()).any(|part| part == name), "{}", String::from_utf8_lossy(name));
    }
    let weights = std::fs::read(folder.path().join("w.safetensors")).unwrap();
    assert!(weights.windows(9).any(|part| part == b"1.filters"));
    assert!(weights.len() > 4 * model.program.parameters());
    let (_, err) = expect(folder.path(), &["export", "m.invar"], 2);
    assert!(err.contains("--onnx <FILE>") && err.contains("--safetensors <FILE>"), "{err}");
    let (_, err) = expect(folder.path(), &["export", "m.invar", "--onnx", "nowhere/m.onnx"], 1);
    assert_eq!(err, "error: nowhere/m.onnx: cannot write it: the folder nowhere does not exist\n");
    let (_, err) = expect(folder.path(), &["export", "m.invar", "--onnx", "."], 1);
    assert_eq!(err, "error: .: cannot write it: . is a folder\n");
    // Nothing half-written is left behind.
    let left: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn bad_files_are_clear_errors() {
    let (folder, model, _) = folder(6);
    let path = folder.path();
    let refused = |name: &str| {
        for command in [&["predict", name, "x.npz"][..], &["certify", name], &["export", name, "--onnx", "o.onnx"]] {
            let (out, err) = expect(path, command, 1);
            assert_eq!(out, "", "{command:?}");
            assert!(!path.join("o.onnx").exists());
            if command[0] == "export" {
                return err;
            }
        }
        unreachable!("export is last")
    };
    let sound = std::fs::read(path.join("m.invar")).unwrap();
    let mut damaged = sound.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(path.join("damaged"), &damaged).unwrap();
    assert!(refused("damaged").contains("the file is damaged"));
    std::fs::write(path.join("short"), &sound[..sound.len() / 2]).unwrap();
    assert!(refused("short").contains("not a model bundle, or a damaged one"));
    let mut bundle = invar_data::Bundle::load(&path.join("m.invar"), invar_data::Limits::new(1 << 20)).unwrap();
    let newer = bundle.metadata["model"].replacen("\"version\":1", "\"version\":4", 1);
    bundle.metadata.insert("model".into(), newer);
    bundle.save(&path.join("newer")).unwrap();
    assert!(refused("newer").contains("written by another version of invar: model 4, but this one reads up to 3"));
    let tensor = invar_data::Tensor { shape: vec![1], values: vec![1.0] };
    write_safetensors(&path.join("foreign"), &BTreeMap::from([("w".to_owned(), tensor)]), ("by", "another program")).unwrap();
    assert!(refused("foreign").contains("not a model of invar: it has no manifest"));
    assert!(refused("none").contains("none: no such file or folder"));

    std::fs::write(path.join("narrow.csv"), "a,b\n1,2\n").unwrap();
    let (_, err) = expect(path, &["predict", "m.invar", "narrow.csv"], 1);
    assert!(err.contains("narrow.csv: the shape of an example: expected 1x6x6, which the model takes, got 2"), "{err}");
    let (_, err) = expect(path, &["certify", "m.invar", "--data", "narrow.csv"], 1);
    assert!(err.contains("the shape of an example"), "{err}");
    let (_, err) = expect(path, &["predict", "m.invar", "x.pkl"], 1);
    assert!(err.contains("pickle"), "{err}");
    // Tokens that the model does not know.
    let table = Tensor::new([3, 1], vec![0.0, 1.0, 2.0]).unwrap();
    let ops = vec![
        Op::Gather { table },
        Op::Reshape { shape: vec![2] },
        Op::Linear { weight: Tensor::new([1, 2], vec![1.0; 2]).unwrap(), bias: None },
    ];
    let program = Program::new(Input::Tokens { length: 2, vocabulary: 3 }, ops).unwrap();
    Saved::new(program, Task::Regression).save(&path.join("tokens")).unwrap();
    std::fs::write(path.join("t.csv"), "a,b\n1,2\n2,3\n").unwrap();
    let (_, err) = expect(path, &["predict", "tokens", "t.csv"], 1);
    assert!(err.contains("token: expected a whole number below 3, got 3"), "{err}");
    drop(model);
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_ends_predictions_quietly() {
    let (folder, _, _) = folder(6);
    for form in ["--csv", "--json"] {
        let files = "x.npz ".repeat(50);
        let script = format!("'{}' predict m.invar {files} {form} | head -1", cargo_bin!("invar").display());
        let output = Command::new("bash").args(["-o", "pipefail", "-c", &script]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

//! Training and reproduction with the real binary, on data small enough for seconds.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::expect;

const SMOKE: [&str; 6] = ["reproduce", "sequences", "--budget", "smoke", "--results", "out"];
/// Four tasks; two lambdas and eight other methods, one seed and one learning rate each.
const SMOKE_FITS: usize = 40;

#[test]
fn reproduction_records_every_fit_once_and_writes_tables() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &SMOKE, 0);
    assert!(out.contains("Table 1, right half") && out.contains("FF + CG-reg.") && out.contains("[71.85±26.61]"), "{out}");
    let records = folder.path().join("out/sequences-smoke.jsonl");
    let first = std::fs::read_to_string(&records).unwrap();
    assert_eq!(first.lines().count(), SMOKE_FITS);
    for ending in ["txt", "md", "csv", "tex", "json"] {
        for table in ["table1_sequences", "sequences_models", "sequences_lambda"] {
            let path = folder.path().join(format!("out/sequences-smoke-{table}.{ending}"));
            assert!(std::fs::metadata(&path).is_ok_and(|file| file.len() > 100), "{}", path.display());
        }
    }
    // A second run has nothing to do, and changes nothing.
    expect(folder.path(), &SMOKE, 0);
    assert_eq!(std::fs::read_to_string(&records).unwrap(), first);

    // A torn last line, left by a run that was killed, is dropped; the missing fits give the same results on one thread.
    let whole: Vec<&str> = first.lines().take(30).collect();
    std::fs::write(&records, whole.join("\n") + "\n" + &first.lines().nth(30).unwrap()[..50]).unwrap();
    expect(folder.path(), &[&SMOKE[..], &["--threads", "1"]].concat(), 0);
    assert_eq!(without_time(&std::fs::read_to_string(&records).unwrap()), without_time(&first));
}

#[test]
fn table_1_draws_together_what_the_parts_have_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |args: &[&str]| expect(folder.path(), &[&["reproduce"], args, &["--budget", "smoke", "--results", "out"]].concat(), 0);
    let (out, err) = run(&["table1", "--method", "screen", "--tables-only"]);
    assert!(out.contains("screen, network") && out.contains("nothing imposed") && out.contains("[71.85±26.61]"), "{out}");
    assert!(err.contains("not complete yet") && err.contains("screen-sequences"), "{err}");
    run(&["lift"]);
    run(&["lift-affine"]);
    run(&["sequences-affine"]);
    run(&["images-affine", "--only", "rot,vflip"]);
    run(&["screen-images", "--only", "rot,vflip"]);
    let count = |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap().lines().count();
    // Two rows, two lambdas and an oracle, for each of two heads; four tasks with two lambdas.
    assert_eq!((count("lift-smoke.jsonl"), count("sequences_affine-smoke.jsonl")), (12, 8));
    let (out, _) = run(&["ablation", "--json"]);
    let tables: serde_json::Value = serde_json::from_str(&out).unwrap();
    let filled = |network: &str, column: usize| {
        let rows = tables[0]["rows"].as_array().unwrap().iter().filter(|row| row["labels"][2] == network);
        rows.map(|row| u8::from(!row["cells"][column]["ours"].is_null())).collect::<Vec<_>>()
    };
    let columns = tables[0]["columns"].as_array().unwrap();
    assert_eq!(columns[2..], ["screen, linear output", "screen, network"]);
    // With the affine head, with the hidden one, screened; one of two rows of images was asked for where only one is filled.
    let all = |network: &str| (0..4).map(|column| filled(network, column)).collect::<Vec<_>>();
    assert_eq!(all("lift"), [[1, 1], [1, 1], [0, 0], [1, 0]]);
    assert_eq!(all("feedforward"), [[1; 4], [0; 4], [0; 4], [0; 4]]);
    assert_eq!(all("patch"), [[1, 0], [0, 0], [0, 0], [0, 0]]);
    for (args, reason) in [
        (["images", "--method", "screen"], "--method should be left out"),
        (["table1", "--only", "sum"], "--only should be left out"),
        (
            ["sequences", "--budget", "fold"],
            "--budget should be smoke, quick, standard or paper where sequences take part, but is `fold`",
        ),
        (["lift", "--only", "sum"], "--only should be part of the name of a row: mnist34, invariant to color"),
    ] {
        let (_, err) = expect(folder.path(), &[&["reproduce"], &args[..]].concat(), 2);
        assert!(err.contains(reason), "{err}");
    }
    assert!(!folder.path().join("results").exists(), "nothing was begun");
}

#[test]
fn errors_are_counted_by_true_costs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let common = ["reproduce", "screen-errors", "--budget", "smoke", "--results", "out"];
        expect(folder.path(), &[&common[..], args].concat(), 0)
    };
    let (out, _) = run(&[]);
    for part in ["falsely shown harmless", "falsely contradicted", "augment: too much", "keeps of what holds", " of 15: "] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    let records = folder.path().join("out/screen-errors-smoke.jsonl");
    let first = std::fs::read_to_string(&records).unwrap();
    let record: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!((first.lines().count(), &record["config"]["fresh"]), (1, &1000.into()));
    // The true cost of whatever was tested, and of what the baseline keeps that augments.
    for step in record["chain"].as_array().unwrap() {
        assert!(step["true_cost"].is_f64(), "{step}");
    }
    assert!(record["augmented"]["true_cost"].is_f64(), "{record}");
    assert!(record["models"].as_array().unwrap().iter().any(|row| row["role"] == "augmented"), "{record}");
    run(&[]);
    assert_eq!(std::fs::read_to_string(&records).unwrap(), first, "nothing is run again");
}

#[test]
fn ten_small_tasks_are_screened_beside_augmentation() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["reproduce", "screen-bench", "--budget", "smoke", "--results", "out", "--json"];
    let tables: serde_json::Value = serde_json::from_str(&expect(folder.path(), &args, 0).0).unwrap();
    let columns = tables[0]["columns"].as_array().unwrap();
    let rows = tables[0]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0]["cells"].as_array().unwrap().len()), (10, columns.len()));
    let column = |name: &str| columns.iter().position(|column| column.as_str().unwrap().starts_with(name)).unwrap();
    for name in ["chosen", "oracle", "plain", "augment", "guess"] {
        for row in rows {
            assert!(row["cells"][column(name)]["ours"]["mean"].is_f64(), "{name}: {row}");
        }
    }
    assert!(folder.path().join("out/screen-bench-smoke-extrapolation.md").is_file());
}

#[test]
fn images_share_records_between_their_tables() {
    let folder = tempfile::tempdir().unwrap();
    let run = |what: &'static str| expect(folder.path(), &["reproduce", what, "--budget", "smoke", "--results", "out"], 0).0;
    let out = run("images-lambda");
    assert!(out.contains("CG-reg. on mnist34") && out.contains("[94.89±7.49]"), "{out}");
    let records = folder.path().join("out/images-smoke.jsonl");
    // Two rows with two lambdas; the other methods come on top, and CG-reg. is not trained again.
    assert_eq!(std::fs::read_to_string(&records).unwrap().lines().count(), 4);
    let out = run("images");
    assert!(out.contains("Table 1, left half") && out.contains("rot,color,vflip") && out.contains("[97.19±1.02]"), "{out}");
    let text = std::fs::read_to_string(&records).unwrap();
    assert_eq!(text.lines().count(), 10);
    let record: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(record["layer"]["groups"].as_array().unwrap().len(), 3, "rot, color, vflip");
    assert_eq!(record["layer"]["later"].as_array().unwrap().len(), 5, "six convolutions in all");
}

#[test]
fn appendix_a_fails_on_quarter_turns_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &["reproduce", "appendix-a", "--results", "out", "--json"], 0);
    let tables: serde_json::Value = serde_json::from_str(&out).unwrap();
    let mean = |row: usize, column: usize| tables[0]["rows"][row]["cells"][column]["ours"]["mean"].as_f64().unwrap();
    assert!(mean(4, 0) > 99.0, "{out}");
    assert!(mean(0, 1) > 99.0 && mean(2, 1) > 99.0 && mean(4, 1) < 90.0, "{out}");
    assert!(folder.path().join("out/appendix-appendix_a.md").is_file());
}

/// Records in a fixed order, wall time left out.
fn without_time(text: &str) -> Vec<String> {
    let strip = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("seconds");
        record.to_string()
    };
    let mut lines: Vec<String> = text.lines().map(strip).collect();
    lines.sort();
    lines
}

#[test]
fn records_that_cannot_be_used_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let records = folder.path().join("out/sequences-smoke.jsonl");
    let foreign = "{\"not\": \"a record\"}\n";
    std::fs::write(&records, foreign).unwrap();
    let (_, err) = expect(folder.path(), &SMOKE, 1);
    assert!(err.contains("sequences-smoke.jsonl, line 1: not a record"), "{err}");
    assert_eq!(std::fs::read_to_string(&records).unwrap(), foreign);

    std::fs::remove_file(&records).unwrap();
    let file = std::fs::File::create(&records).unwrap();
    file.lock().unwrap();
    let (_, err) = expect(folder.path(), &SMOKE, 1);
    assert!(err.contains("another run is writing"), "{err}");
    drop(file);

    let (_, err) = expect(folder.path(), &["reproduce", "sequences", "--results", "nowhere", "--tables-only"], 1);
    assert!(err.contains("cannot read nowhere"), "{err}");
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(cargo_bin!("invar")).current_dir(folder.path()).args(SMOKE).spawn().unwrap();
    let records = folder.path().join("out/sequences-smoke.jsonl");
    let lines = || std::fs::read_to_string(&records).map_or(0, |text| text.lines().count());
    let start = Instant::now();
    while lines() < 3 && start.elapsed() < Duration::from_mins(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines() >= 3);
    expect(folder.path(), &SMOKE, 0);
    assert_eq!(lines(), SMOKE_FITS);
}

const SMALL: [&str; 12] =
    ["train", "sum", "--method", "cgreg", "--examples", "400", "--epochs", "3", "--lambda", "100", "--length", "4"];

#[test]
fn training_tells_what_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &SMALL, 0);
    for part in [
        "6 candidate symmetries",
        "plain network",
        "other environment",
        "kept: ",
        "true ones are missed",
        "level    6",
        "level    3",
    ] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    let json = |extra: &[&str]| {
        let (out, _) = expect(folder.path(), &[&SMALL[..], extra].concat(), 0);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let run = json(&["--json"]);
    let chosen =
        |run: &serde_json::Value| run["models"].as_array().unwrap().iter().find(|line| line["chosen"] == true).unwrap().clone();
    assert_eq!(chosen(&run)["name"], "lambda 100");
    assert_eq!(run["true_symmetry"].as_array().unwrap().len(), 6);
    assert_eq!(run["symmetries"].as_array().unwrap().len(), 6);
    assert_eq!(chosen(&run)["validation"], chosen(&json(&["--json", "--threads", "1", "--out", "again"]))["validation"]);

    let graph = ["train", "edges", "--method", "cgreg", "--examples", "300", "--epochs", "2", "--lambda", "1", "--length", "4"];
    assert!(expect(folder.path(), &graph, 0).0.contains("6 candidate symmetries"));
    let violations = [&SMALL[..], &["--penalty", "violations", "--head", "affine", "--schedule", "one-cycle"]].concat();
    assert!(expect(folder.path(), &violations, 0).0.contains("kept: "));
}

#[test]
fn wrong_requests_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], part: &str| {
        let (_, err) = expect(folder.path(), args, 2);
        assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {err}");
    };
    refused(&["train", "summ"], "did you mean");
    refused(&["train", "sum", "--length", "0"], "length");
    refused(&["train", "sum", "--examples", "0"], "examples");
    refused(&["train", "sum", "--epochs", "0"], "--epochs 0: [train] epochs: expected at least 1, got 0");
    refused(
        &["train", "sum", "--method", "cgreg", "--lambda", "-1"],
        "--lambda -1: [train] lambdas: expected at least one number, none below 0, got -1",
    );
    refused(&["train", "sum", "--method", "cgreg", "--lambda", "nan"], "[train] lambdas: expected");
    refused(
        &["train", "sum", "--method", "cgreg", "--lambda", "1", "--temperature", "0.5"],
        "[train] temperature: expected a number of at least 1",
    );
    refused(&["train", "sum", "--method", "cgreg", "--lambda", "1", "--rate", "-1"], "rate");
    refused(&["train"], "required");
    refused(&["reproduce", "sequences", "--budget", "huge"], "unknown budget `huge`");
    refused(&["reproduce", "everything"], "invalid value 'everything'");
    refused(&["reproduce", "screen-patches"], "invalid value 'screen-patches'");
    refused(&["reproduce", "rule-errors", "--only", "sum"], "--only should be left out");
    refused(
        &["train", "sum", "--method", "cgreg", "--network", "pairs", "--lambda", "1", "--epochs", "1"],
        "[train] learner should be screen for the kind pairs",
    );
    refused(&["train", "mnist34", "--invariant", "rot"], "rot");
    refused(&["train", "sum", "--invariant", "color"], "left out with sequences, graphs and arrays");
}

#[test]
fn bench_prints_one_json_line() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &["bench", "sequences", "--seconds", "0.2"], 0);
    let line: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(line["workload"], "sequences");
    assert!(line["rate"].as_f64().unwrap() > 1.0);
    assert!(expect(folder.path(), &["tasks"], 0).0.contains("even_minus_odd"));
    assert!(expect(folder.path(), &["tasks", "--json"], 0).0.contains("\"in_paper\": true"));
}

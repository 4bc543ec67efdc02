//! `invar train --method screen` and `invar reproduce screen-sequences` with the real binary, on data small enough for seconds.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::expect;
use serde_json::Value;

/// A task of which three symmetries hold and three cost nearly everything; on one fold and a fast schedule it takes seconds.
const SMALL: &str =
    "train sum2 --method screen --length 4 --examples 1000 --epochs 60 --rate 0.02 --folds 1 --network feedforward";

/// The words of a command.
fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

const VERDICTS: [&str; 5] = ["shown_harmless", "not_contradicted", "undecided", "contradicted", "cannot_tell"];

/// What a training tells of its screen as JSON, without the wall time.
fn record(folder: &Path, args: &[&str]) -> Value {
    let mut run: Value = serde_json::from_str(&expect(folder, args, 0).0).unwrap();
    let mut record = run["screen"].take();
    record.as_object_mut().unwrap().remove("seconds").expect("a wall time");
    record
}

fn screened(extra: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), &[&words(SMALL)[..], &["--seed", "11", "--json"], extra].concat())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What every record promises, whatever was found.
fn is_sound(record: &Value) {
    let (names, kept) = (list(&record["names"]).len(), list(&record["kept"]));
    let tolerance = record["config"]["rule"]["tolerance"].as_f64().unwrap();
    assert_eq!(list(&record["findings"]).len(), names);
    for (g, finding) in list(&record["findings"]).iter().enumerate() {
        let verdict = finding["verdict"].as_str().unwrap();
        assert!(VERDICTS.contains(&verdict), "{finding}");
        assert_eq!(finding["kept"], kept.contains(&g.into()), "{finding}");
        let Some(tested) = finding.get("tested").filter(|_| verdict != "cannot_tell") else { continue };
        let [points, lower, upper] = ["points", "lower", "upper"].map(|bound| tested["cost"][bound].as_f64().unwrap());
        assert!(lower <= points && points <= upper, "{finding}");
        assert!(list(&tested["set"]).contains(&g.into()), "{finding}");
        match verdict {
            "shown_harmless" => assert!(upper <= tolerance + 1e-6 && finding["kept"] == true, "{finding}"),
            "not_contradicted" => assert!(points <= tolerance + 1e-6 && upper > tolerance, "{finding}"),
            "contradicted" => assert!(lower > tolerance && finding["kept"] == false, "{finding}"),
            _ => assert_eq!(finding["kept"], false, "{finding}"),
        }
    }
    // Nested sets, smallest first, of which the last that the rule keeps is what is kept.
    let mut below: &[Value] = &[];
    for step in list(&record["chain"]) {
        let set = list(&step["set"]);
        assert!(below.iter().all(|one| set.contains(one)) && set.len() > below.len(), "{step}");
        below = set;
    }
    assert!(kept.is_empty() || list(&record["chain"]).iter().any(|step| step["set"] == record["kept"]), "{}", record["chain"]);
    assert_eq!(list(&record["models"]).iter().filter(|row| row["chosen"] == true).count(), 1);
    let chosen = list(&record["models"]).iter().find(|row| row["chosen"] == true).unwrap();
    assert_eq!(chosen["role"], "kept");
    let roles: Vec<&str> = list(&record["models"]).iter().map(|row| row["role"].as_str().unwrap()).collect();
    assert!(["plain", "guess", "oracle"].iter().all(|role| roles.contains(role)), "{roles:?}");
    assert!(kept.is_empty() || roles.contains(&"free"), "{roles:?}");
    let tried: Vec<&Value> = list(&record["networks"]).iter().map(|tried| &tried["kind"]).collect();
    assert!(tried.contains(&&record["decided_by"]), "{tried:?}");
}

#[test]
fn the_true_partition_of_a_small_task_is_found_on_any_number_of_threads() {
    let record = screened(&["--threads", "1"]);
    is_sound(&record);
    // Swaps (0,1) (0,2) (0,3) involve the position that does not count.
    assert_eq!(record["kept"], serde_json::json!([3, 4, 5]));
    assert_eq!(record["kept"], record["truth"]);
    let facts = &record["facts"];
    assert_eq!((&facts["label"], &facts["order"]), (&"1 | 2,3,4".into(), &"6".into()));
    assert_eq!(facts["blocks"], serde_json::json!([[0], [1, 2, 3]]));
    assert_eq!(facts["normality"]["normal"], false);
    for (g, finding) in list(&record["findings"]).iter().enumerate() {
        let points = finding["tested"]["cost"]["points"].as_f64().unwrap();
        assert_eq!(points > 20.0, g < 3, "group {g} costs {points} points");
        assert_eq!(finding["verdict"] == "contradicted", g < 3, "{finding}");
    }
    // What was kept is exact: coupled pairs are answered alike.
    for row in list(&record["models"]).iter().filter(|row| row["role"] == "kept") {
        assert!(row["consistency"].as_f64().unwrap() > 0.99, "{row}");
    }
    assert_eq!(screened(&["--threads", "2"]), record);
}

#[test]
fn people_get_a_table_and_the_models_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = "train edges --method screen --length 3 --examples 200 --epochs 4 --folds 1 --only-shown --evidence all --augment";
    let (out, _) = expect(folder.path(), &words(tiny), 0);
    for part in [
        "3 candidate symmetries",
        "cost with the others",
        "alone",
        "costs in percentage points of accuracy, with one-sided 95 % bounds",
        "kept symmetries imposed, linear output",
        "<- chosen",
        "oracle: true symmetries imposed",
        "plain network",
        "plain network, augmented by what does not hurt",
        "most frequent answer",
        "symmetries may cost up to 5 points, shown with 95 % confidence",
        "decided on 40 others",
    ] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    // Two epochs teach next to nothing, so that what is kept says little.
    let few = words("train sum --method screen --length 4 --examples 200 --epochs 2 --folds 1");
    let (out, _) = expect(folder.path(), &few, 0);
    assert!(
        out.contains("\nthe network cannot tell: with nothing imposed the network has") && out.contains("Try more epochs"),
        "{out}"
    );
    let unlearned = record(folder.path(), &[&few[..], &["--json"]].concat());
    is_sound(&unlearned);
    assert!(unlearned["weakness"].as_str().unwrap().contains("a guess has"), "{unlearned}");
    assert!(list(&unlearned["findings"]).iter().all(|finding| finding["verdict"] == "cannot_tell"), "{unlearned}");
}

#[test]
fn every_candidate_of_an_array_task_has_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let small = "train sensors --method screen --examples 1500 --epochs 15 --folds 2 --seed 3 --json";
    let found = record(folder.path(), &words(small));
    is_sound(&found);
    assert_eq!((list(&found["names"]).len(), list(&found["truth"]).len()), (15, 10));
    // In folds every labelled example decides once.
    let labelled = found["examples"][0].as_u64().unwrap() + found["examples"][1].as_u64().unwrap();
    let asked = list(&found["findings"]).iter().filter_map(|finding| finding.get("tested"));
    for tested in list(&found["chain"]).iter().chain(asked) {
        assert_eq!(tested["cost"]["examples"], labelled, "{tested}");
    }
    let models = list(&found["models"]);
    assert!(models.iter().any(|row| row.get("kind").is_some_and(|kind| kind == "averaged")), "averaged over views: {models:?}");
    let validation = |of: &dyn Fn(&Value) -> bool| models.iter().find(|row| of(row)).unwrap()["validation"]["accuracy"].as_f64();
    assert!(validation(&|row| row["chosen"] == true) > validation(&|row| row["role"] == "guess").map(|guess| guess + 0.1));
}

#[test]
fn folds_rules_and_networks_are_those_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let screened = |more: &str| {
        let found = record(folder.path(), &words(&format!("train sensors --method screen --json {more}")));
        is_sound(&found);
        found
    };
    // Few examples are decided on in folds, many on one split.
    assert_eq!(screened("--examples 100 --epochs 1")["config"]["folds"], 5);
    assert_eq!(screened("--examples 2000 --epochs 1 --network feedforward")["config"]["folds"], 1);
    let shown = screened("--examples 1500 --epochs 10 --seed 3 --only-shown --folds 1 --network pairs --evidence all");
    assert_eq!(shown["decided_by"]["network"]["kind"], "pairs");
    for finding in list(&shown["findings"]) {
        assert!(finding["alone"].is_object(), "fitted alone: {finding}");
        let shown_harmless = ["shown_harmless", "cannot_tell"].contains(&finding["verdict"].as_str().unwrap());
        assert!(finding["kept"] == false || shown_harmless, "{finding}");
    }
}

#[test]
fn wrong_requests_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], part: &str| {
        let args = [&["train", "sum", "--method", "screen"], args].concat();
        let (_, err) = expect(folder.path(), &args, 2);
        assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {err}");
    };
    refused(&["--tolerance", "-1"], "--tolerance -1.0: [train] tolerance: expected a number of points from 0 to 100, got -1");
    refused(&["--tolerance", "nan"], "[train] tolerance: expected");
    refused(&["--tolerance", "101"], "[train] tolerance: expected");
    refused(&["--epochs", "0"], "--epochs 0: [train] epochs: expected at least 1, got 0");
    refused(&["--folds", "0"], "expected a whole number, 1 or more");
    refused(
        &["--folds", "26", "--examples", "100"],
        "number of folds should be from 1 to 25, so that each has four examples, but is 26",
    );
    refused(&["--rate", "-1"], "--rate -1.0: [train] learning_rate: expected a number above 0, got -1");
    refused(&["--lambda", "1"], "[train] lambdas should be left out with the learner screen");
    refused(&["--head", "affine"], "[model] head should be left out");
    refused(&["--strict"], "unexpected argument '--strict'");
    refused(&["--length", "1"], "otherwise no two positions can be exchanged");
    let orbit = words("train triangles --method screen --length 6 --network orbit");
    let (_, err) = expect(folder.path(), &orbit, 2);
    assert!(err.contains("order of the group: expected at most 256 elements") && err.contains("got 720"), "{err}");
    for (option, shown) in [
        (&["--only-shown"][..], "[train] only_shown"),
        (&["--folds", "2"], "[train] folds"),
        (&["--evidence", "all"], "[train] evidence"),
        (&["--augment"], "[train] augment"),
    ] {
        let (_, err) = expect(folder.path(), &[&["train", "sum", "--method", "cgreg"], option].concat(), 2);
        assert!(err.contains(&format!("{shown} should be left out with the learner cgreg")), "{err}");
    }
    let (_, err) = expect(folder.path(), &["train", "sum", "--method", "guess"], 2);
    assert!(err.contains("invalid value 'guess'"), "{err}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was begun");
}

const SMOKE: [&str; 6] = ["reproduce", "screen-sequences", "--budget", "smoke", "--results", "out"];
/// Nine tasks on sequences and three on graphs.
const SMOKE_SCREENS: usize = 12;

#[test]
fn reproduction_records_every_screen_once_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &SMOKE, 0);
    assert!(out.contains("found") && out.contains("[71.85±26.61]") && out.contains("decided by"), "{out}");
    let records = folder.path().join("out/screen-sequences-smoke.jsonl");
    let first = std::fs::read_to_string(&records).unwrap();
    assert_eq!(first.lines().count(), SMOKE_SCREENS);
    assert!(!folder.path().join("out/screen-sequences-smoke.fits").exists(), "what was finished is recorded");
    for ending in ["txt", "md", "csv", "tex", "json"] {
        let path = folder.path().join(format!("out/screen-sequences-smoke-extrapolation.{ending}"));
        assert!(std::fs::metadata(&path).is_ok_and(|file| file.len() > 100), "{}", path.display());
    }
    // Tables are not emptied because records are of other data.
    let table = folder.path().join("out/screen-sequences-smoke-extrapolation.txt");
    let full = std::fs::read_to_string(&table).unwrap();
    std::fs::write(&records, first.replace("\"seed\":0", "\"seed\":7")).unwrap();
    let (_, err) = expect(folder.path(), &[&SMOKE[..], &["--tables-only"]].concat(), 0);
    let words = "out/screen-sequences-smoke-extrapolation.* are left as they are: of them nothing is recorded";
    assert!(err.contains(words) && err.contains(&format!("{SMOKE_SCREENS} screens still missing")), "{err}");
    assert_eq!(std::fs::read_to_string(&table).unwrap(), full);
    std::fs::write(&records, &first).unwrap();
    // A torn last line, left by a run that was killed, is dropped and its screen run again, with the same result.
    let whole: Vec<&str> = first.lines().take(SMOKE_SCREENS - 1).collect();
    std::fs::write(&records, whole.join("\n") + "\n" + &first.lines().nth(SMOKE_SCREENS - 1).unwrap()[..60]).unwrap();
    let (_, err) = expect(folder.path(), &[&SMOKE[..], &["--tables-only"]].concat(), 0);
    assert!(err.contains("1 screen still missing"), "{err}");
    expect(folder.path(), &SMOKE, 0);
    let sorted = |text: &str| {
        let strip = |line: &str| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("seconds");
            record.to_string()
        };
        let mut lines: Vec<String> = text.lines().map(strip).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&std::fs::read_to_string(&records).unwrap()), sorted(&first));
}

#[test]
fn a_screen_that_is_killed_goes_on_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let args = [&words(SMALL)[..], &["--json"]].concat();
    let kept = [&args[..], &["--out", "out/run"]].concat();
    let fits = folder.path().join("out/run/screen");
    let count = || std::fs::read_dir(&fits).map_or(0, Iterator::count);
    let start =
        || Command::new(cargo_bin!("invar")).args(&kept).current_dir(folder.path()).stdout(Stdio::null()).spawn().unwrap();
    let until = |enough: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !enough() && begun.elapsed() < Duration::from_mins(2) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let written = || -> Vec<_> {
        // What was half written is removed at the next start, perhaps while this looks.
        let files = std::fs::read_dir(&fits)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|file| file.path().extension().is_some_and(|ending| ending == "fit"));
        files.filter_map(|file| Some((file.file_name(), file.metadata().ok()?.modified().ok()?))).collect()
    };
    // SIGKILL: nothing can be tidied up.
    let killed_at = |more: usize| {
        let mut child = start();
        until(&|| written().len() >= more);
        child.kill().unwrap();
        child.wait().unwrap();
    };
    killed_at(2);
    let first = written();
    assert!(first.len() > 1, "nothing was kept");
    // What is there is not made again.
    killed_at(first.len() + 1);
    let second = written();
    assert!(second.len() > first.len() && first.iter().all(|file| second.contains(file)));
    // What is not ours stays.
    std::fs::write(fits.join("mine.txt"), "x").unwrap();
    assert!(!folder.path().join("out/run/run.json").exists(), "nothing is half written");
    assert_eq!(record(folder.path(), &kept), record(folder.path(), &args));
    assert!(count() == 1 && fits.join("mine.txt").exists());
    expect(folder.path(), &["report", "out/run"], 0);
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>") && page.contains("class=\"confusion\""));
}

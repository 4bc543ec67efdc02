//! `invar train --method screen` and `invar reproduce screen-sequences` with the real binary, on data small enough for seconds.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::expect;
use serde_json::Value;

const SMALL: [&str; 10] = ["train", "sum2", "--method", "screen", "--length", "4", "--examples", "1200", "--epochs", "120"];

fn screened(extra: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &[&SMALL[..], &["--seed", "11", "--json"], extra].concat(), 0);
    let mut record: Value = serde_json::from_str(&out).unwrap();
    record.as_object_mut().unwrap().remove("seconds");
    record
}

#[test]
fn the_true_partition_of_a_small_task_is_found_on_any_number_of_threads() {
    let record = screened(&["--threads", "1"]);
    let answer = &record["answers"][0];
    // Swaps (0,1) (0,2) (0,3) involve the position that does not count.
    assert_eq!(answer["kept"], serde_json::json!([3, 4, 5]));
    assert_eq!(answer["facts"]["label"], "all but position 1");
    assert_eq!(answer["facts"]["order"], "6");
    assert_eq!(answer["facts"]["blocks"], serde_json::json!([[0], [1, 2, 3]]));
    assert_eq!(answer["facts"]["normality"]["normal"], false);
    for (g, evidence) in record["evidence"].as_array().unwrap().iter().enumerate() {
        let points = evidence["cost"]["points"].as_f64().unwrap();
        assert_eq!(points > 20.0, g < 3, "group {g} costs {points} points");
        assert_eq!(answer["verdicts"][g]["verdict"] == "contradicted", g < 3);
    }
    // What was kept is exact: coupled pairs are answered alike.
    assert!(answer["heads"][1]["consistency"].as_f64().unwrap() > 0.99);
    assert_eq!(screened(&["--threads", "2"]), record);
}

#[test]
fn people_get_a_table_and_the_heads_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = ["train", "edges", "--method", "screen", "--length", "3", "--examples", "200", "--epochs", "4", "--strict"];
    let (out, _) = expect(folder.path(), &tiny, 0);
    for part in [
        "3 candidate symmetries",
        "cost in points",
        "no significant cost",
        "hidden head",
        "affine head",
        "the truth imposed",
        "plain network",
        "by tolerance, were it not strict",
    ] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    // Two epochs teach next to nothing, so that what is kept says little.
    let few = ["train", "sum", "--method", "screen", "--length", "4", "--examples", "200", "--epochs", "2"];
    let (out, _) = expect(folder.path(), &few, 0);
    assert!(out.contains("doubtful: with nothing imposed the network has") && out.contains("Train longer"), "{out}");
}

#[test]
fn wrong_requests_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], part: &str| {
        let args = [&["train", "sum", "--method", "screen"], args].concat();
        let (_, err) = expect(folder.path(), &args, 2);
        assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {err}");
    };
    refused(&["--tolerance", "-1"], "tolerance should be a number of points from 0 to 100, but is -1");
    refused(&["--tolerance", "nan"], "tolerance should be");
    refused(&["--tolerance", "101"], "tolerance should be");
    refused(&["--epochs", "0"], "number of epochs should be at least 1, but is 0");
    refused(&["--rate", "-1"], "learning rate");
    refused(&["--lambda", "1"], "--lambda should be left out with --method screen");
    refused(&["--head", "affine"], "--head should be left out");
    refused(&["--length", "1"], "otherwise no two positions can be exchanged");
    let (_, err) = expect(folder.path(), &["train", "triangles", "--method", "screen", "--length", "6"], 2);
    assert!(err.contains("order of the group: expected at most 256 elements") && err.contains("got 720"), "{err}");
    let (_, err) = expect(folder.path(), &["train", "sum", "--tolerance", "1"], 2);
    assert!(err.contains("--tolerance should be left out with --method cgreg"), "{err}");
    let (_, err) = expect(folder.path(), &["train", "sum", "--method", "guess"], 2);
    assert!(err.contains("invalid value 'guess'"), "{err}");
}

const SMOKE: [&str; 6] = ["reproduce", "screen-sequences", "--budget", "smoke", "--results", "out"];

#[test]
fn reproduction_records_every_screen_once_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &SMOKE, 0);
    assert!(out.contains("truth found") && out.contains("[71.85±26.61]") && out.contains("dearest that holds"), "{out}");
    let records = folder.path().join("out/screen-sequences-smoke.jsonl");
    let first = std::fs::read_to_string(&records).unwrap();
    assert_eq!(first.lines().count(), 11);
    for ending in ["txt", "md", "csv", "tex", "json"] {
        for table in ["extrapolation", "costs", "verdicts"] {
            let path = folder.path().join(format!("out/screen-sequences-smoke-{table}.{ending}"));
            assert!(std::fs::metadata(&path).is_ok_and(|file| file.len() > 100), "{}", path.display());
        }
    }
    // Tables are not emptied because records have other settings.
    let table = folder.path().join("out/screen-sequences-smoke-extrapolation.txt");
    let full = std::fs::read_to_string(&table).unwrap();
    std::fs::write(&records, first.replace("\"learning_rate\":0.", "\"learning_rate\":0.9")).unwrap();
    let (_, err) = expect(folder.path(), &[&SMOKE[..], &["--tables-only"]].concat(), 0);
    let words = "out/screen-sequences-smoke-extrapolation.* are left as they are: of them nothing is recorded";
    assert!(err.contains(words) && err.contains("11 screens still missing"), "{err}");
    assert_eq!(std::fs::read_to_string(&table).unwrap(), full);
    std::fs::write(&records, &first).unwrap();
    // A torn last line, left by a run that was killed, is dropped and its screen run again, with the same result.
    let whole: Vec<&str> = first.lines().take(10).collect();
    std::fs::write(&records, whole.join("\n") + "\n" + &first.lines().nth(10).unwrap()[..60]).unwrap();
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
    let args = ["train", "sum2", "--method", "screen", "--length", "4", "--examples", "1200", "--epochs", "60", "--json"];
    let kept = [&args[..], &["--out", "out/run"]].concat();
    let fits = folder.path().join("out/run/screen.fits");
    let count = || std::fs::read_dir(&fits).map_or(0, Iterator::count);
    let start =
        || Command::new(cargo_bin!("invar")).args(&kept).current_dir(folder.path()).stdout(Stdio::null()).spawn().unwrap();
    let until = |enough: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !enough() && begun.elapsed() < Duration::from_mins(2) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // SIGKILL: nothing can be tidied up.
    let killed_at = |more: usize| {
        let mut child = start();
        until(&|| count() >= more);
        child.kill().unwrap();
        child.wait().unwrap();
    };
    let written = || -> Vec<_> {
        let files = std::fs::read_dir(&fits).unwrap().map(|entry| entry.unwrap());
        files.map(|file| (file.file_name(), file.metadata().unwrap().modified().unwrap())).collect()
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
    let record = |args: &[&str]| {
        let mut record: Value = serde_json::from_str(&expect(folder.path(), args, 0).0).unwrap();
        record.as_object_mut().unwrap().remove("seconds");
        record
    };
    assert_eq!(record(&kept), record(&args));
    let written = std::fs::read_to_string(folder.path().join("out/run/screen.json")).unwrap();
    assert!(written.contains("\"by_tolerance\"") && count() == 1 && fits.join("mine.txt").exists());
    let page = std::fs::read_to_string(folder.path().join("out/run/screen.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>") && page.contains("class=\"confusion\""));
}

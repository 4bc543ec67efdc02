//! Sweeps with the real binary: workers that share a folder, workers that are killed, and what is refused.

mod common;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use common::expect;

/// Two lambdas and eight other methods on one task.
const FITS: usize = 10;

fn plan(folder: &Path) {
    let (out, _) = expect(folder, &["sweep", "plan", "sequences", "--budget", "smoke", "--only", "sum", "--folder", "shared"], 0);
    assert!(out.contains("10 fits missing of sequences-smoke") && out.contains("10 fits in shared/sweep.json"), "{out}");
}

fn worker(folder: &Path) -> Child {
    let mut worker = Command::new(cargo_bin!("invar"));
    worker.current_dir(folder).args(["sweep", "run", "shared", "--threads", "1", "--lease", "1", "--quiet"]);
    worker.stdout(Stdio::null()).spawn().unwrap()
}

fn files(folder: &Path, ending: &str) -> usize {
    let is = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(ending) && !name.to_string_lossy().starts_with('.');
    std::fs::read_dir(folder).unwrap().filter(|entry| is(&entry.as_ref().unwrap().file_name())).count()
}

/// Records without their times, in the order of the file.
fn records(path: &Path) -> Vec<serde_json::Value> {
    let line = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("seconds");
        record
    };
    std::fs::read_to_string(path).unwrap().lines().map(line).collect()
}

#[test]
fn killed_workers_lose_nothing_and_records_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    plan(path);
    for round in 1..=3 {
        let mut victim = worker(path);
        // Its first claim, or the first after those of the workers before it.
        while files(&path.join("shared/claims"), "") < 2 * round && files(&path.join("shared/done"), "") < FITS {
            std::thread::sleep(Duration::from_millis(5));
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    let mut others = [worker(path), worker(path)];
    assert!(others.iter_mut().all(|worker| worker.wait().unwrap().success()));
    assert_eq!(files(&path.join("shared/done"), ".json"), FITS);
    let (out, _) = expect(path, &["sweep", "gather", "shared", "--results", "swept"], 0);
    assert!(out.contains("10 records added to swept/sequences-smoke.jsonl, 0 were there"), "{out}");
    let (out, _) = expect(path, &["sweep", "gather", "shared", "--results", "swept"], 0);
    assert!(out.contains("0 records added") && out.contains("10 were there"), "{out}");

    expect(path, &["reproduce", "sequences", "--budget", "smoke", "--only", "sum", "--results", "alone"], 0);
    let text = |records: Vec<serde_json::Value>| records.iter().map(ToString::to_string).collect::<HashSet<_>>();
    let swept = text(records(&path.join("swept/sequences-smoke.jsonl")));
    assert_eq!(swept.len(), FITS);
    assert!(swept == text(records(&path.join("alone/sequences-smoke.jsonl"))));

    // What is recorded is not missing.
    let again = ["sweep", "plan", "sequences", "--budget", "smoke", "--only", "sum", "--results", "swept"];
    let (out, _) = expect(path, &again, 0);
    assert!(out.contains("0 fits missing"), "{out}");
}

#[test]
fn processes_of_this_machine_share_a_sweep_of_screens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let plan = ["sweep", "plan", "screen-bench", "--budget", "smoke", "--only", "sensors", "--folder", "shared"];
    expect(path, &plan, 0);
    let (out, _) = expect(path, &["sweep", "submit", "shared", "--at-once", "2", "--lease", "5"], 0);
    assert!(out.contains("1 of 1 fit done, 0 failed"), "{out}");
    let (out, _) = expect(path, &["sweep", "status", "shared", "--json"], 0);
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&status["done"], &status["open"], &status["fits"][0]["state"]), (&1.into(), &0.into(), &"done".into()));
    expect(path, &["sweep", "gather", "shared"], 0);
    let [record] = &records(&path.join("results/screen-bench-smoke.jsonl"))[..] else { panic!("one record") };
    assert_eq!(record["config"]["seed"], 0);
    assert!(
        !path.join("shared/fits").exists() || files(&path.join("shared/fits"), "") == 0,
        "fits of a finished screen are left"
    );
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (_, err) = expect(path, &["sweep", "run", "nowhere"], 1);
    assert!(err.contains("nowhere/sweep.json") && err.lines().count() == 1, "{err}");
    expect(path, &["sweep", "plan", "appendix-a"], 2);
    let (_, err) = expect(path, &["sweep", "plan", "sequences", "--only", "nothing"], 2);
    assert!(err.contains("part of the name of a row"), "{err}");
    plan(path);
    let (_, err) = expect(path, &["sweep", "run", "shared", "--only", "xyz"], 2);
    assert!(err.contains("`xyz`, which begins 0"), "{err}");
    let (_, err) = expect(path, &["sweep", "submit", "shared", "--", "--partition=short"], 2);
    assert!(err.contains("-- OPTIONS"), "{err}");
    let other = ["sweep", "plan", "lift", "--budget", "smoke", "--folder", "shared"];
    let (_, err) = expect(path, &other, 1);
    assert!(err.contains("a sweep of sequences-smoke, not of lift-smoke"), "{err}");
    let mut without_slurm = Command::new(cargo_bin!("invar"));
    let output =
        without_slurm.current_dir(path).env("PATH", "").args(["sweep", "submit", "shared", "--engine", "slurm"]).output();
    let output = output.unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && err.contains("cannot run scontrol; is Slurm installed here?"), "{err}");
}

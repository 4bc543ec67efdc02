//! Runs that are killed at random moments and started again end as runs that were left alone: equal models, records, tables and pages
//! but for times. `INVAR_KILLS=100` asks for more kills than the default; `.ci/long` does.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use assert_cmd::cargo::cargo_bin;
use common::expect;
use serde_json::Value;

const SHARED: &str = "[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n[task]\nkind = \"regression\"\n[symmetries]\n\
    candidates = [\"swaps(0)\"]\n[model]\nkind = \"feedforward\"\n[train]\n";

/// What is killed: a command that writes into `out`, what is done behind it, and the lines under `[train]` of its project.
struct Work {
    name: &'static str,
    command: &'static [&'static str],
    behind: Option<&'static [&'static str]>,
    settings: &'static str,
}

const WORKS: [Work; 4] = [
    Work {
        name: "train, learner cgreg",
        command: &["train", "invar.toml", "--out", "out"],
        behind: Some(&["report", "out", "-o", "out/page.html"]),
        settings: "learner = \"cgreg\"\nepochs = 150\nlambdas = [0, 0.1, 0.3, 0.9111111111111111, 1, 3, 10]\n",
    },
    Work {
        name: "train, learner screen",
        command: &["train", "invar.toml", "--out", "out"],
        behind: Some(&["report", "out", "-o", "out/page.html"]),
        settings: "learner = \"screen\"\nepochs = 40\nfolds = 2\nrestarts = 2\n",
    },
    Work {
        name: "reproduce sequences",
        command: &["reproduce", "sequences", "--budget", "smoke", "--only", "sum", "--results", "out"],
        behind: None,
        settings: "",
    },
    Work {
        name: "reproduce screen-sequences",
        command: &["reproduce", "screen-sequences", "--budget", "smoke", "--only", "sum", "--results", "out"],
        behind: None,
        settings: "",
    },
];

/// Rows a, b, c with y = a + b + 3 c.
fn rows() -> String {
    let mut text = String::from("a,b,c,y\n");
    for k in 0..120 {
        let [a, b, c] = [7, 11, 13].map(|factor| (k * factor % 17) as f32 / 17.0);
        let _ = writeln!(text, "{a},{b},{c},{}", a + b + 3.0 * c);
    }
    text
}

impl Work {
    /// A folder in which it can begin.
    fn folder(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), rows()).unwrap();
        std::fs::write(folder.path().join("invar.toml"), format!("{SHARED}{}", self.settings)).unwrap();
        folder
    }

    fn start(&self, folder: &Path) -> Child {
        let mut command = Command::new(cargo_bin!("invar"));
        command.args(self.command).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs it to its end, and tells what is there then.
    fn finish(&self, folder: &Path) -> BTreeMap<PathBuf, String> {
        expect(folder, self.command, 0);
        if let Some(behind) = self.behind {
            expect(folder, behind, 0);
        }
        let mut found = BTreeMap::new();
        collect(&folder.join("out"), Path::new(""), &mut found);
        found
    }
}

/// All files of a folder, by their paths, as they are but for times.
fn collect(at: &Path, name: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), name.join(entry.unwrap().file_name()));
        if path.is_dir() {
            found.insert(name.clone(), "a folder".into());
            collect(&path, &name, found);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(name, timeless(&path, &bytes));
        }
    }
}

/// The content without times: JSON without the keys `seconds`, records in one order, pages without the seconds
/// of fits, everything else by its bytes.
fn timeless(path: &Path, bytes: &[u8]) -> String {
    let json = |text: &str| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        drop_seconds(&mut value);
        value.to_string()
    };
    let text = || std::str::from_utf8(bytes).unwrap();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => json(text()),
        // Fits end in the order in which threads are free.
        Some("jsonl") => {
            let mut lines: Vec<String> = text().lines().map(json).collect();
            lines.sort();
            lines.join("\n")
        }
        Some("html") => invar_data::sha256(without_seconds(text()).as_bytes()),
        _ => invar_data::sha256(bytes),
    }
}

/// A page without the time that its run took.
fn without_seconds(page: &str) -> String {
    let (before, behind) = page.split_once(" seconds of fits").unwrap();
    format!("{}{behind}", before.trim_end_matches(|c: char| c.is_ascii_digit()))
}

fn drop_seconds(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.remove("seconds");
            entries.values_mut().for_each(drop_seconds);
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_seconds),
        _ => {}
    }
}

/// Draws moments.
struct Draw(u64);

impl Draw {
    /// A number from 0 to below 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }
}

/// How often each is killed.
fn kills() -> usize {
    std::env::var("INVAR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[test]
fn killed_runs_end_as_others_do() {
    let mut draw = Draw(29);
    for work in &WORKS {
        let folder = work.folder();
        let begun = Instant::now();
        let expected = work.finish(folder.path());
        let whole = begun.elapsed();
        let (mut killed, mut trials, mut finished) = (0, 0, 0);
        while killed < kills() {
            let folder = work.folder();
            // Up to four kills of one run: also of what goes on, and of what cleans up behind a kill.
            for _ in 0..=((4.0 * draw.next()) as usize) {
                let mut child = work.start(folder.path());
                std::thread::sleep(whole.mul_f64(draw.next()));
                finished += usize::from(child.try_wait().unwrap().is_some());
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
            }
            trials += 1;
            let found = work.finish(folder.path());
            let names = |files: &BTreeMap<PathBuf, String>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&found), names(&expected), "{}", work.name);
            for (name, content) in &expected {
                assert_eq!(&found[name], content, "{}: {}", work.name, name.display());
            }
            // What is finished stays as it is.
            assert_eq!(work.finish(folder.path()), expected, "{}", work.name);
        }
        println!(
            "{}: {killed} kills in {trials} runs, {finished} of them behind the end; {} files equal in each; a run takes {:.2} s",
            work.name,
            expected.len(),
            whole.as_secs_f64()
        );
    }
}

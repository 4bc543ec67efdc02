//! What must not go wrong whatever happens: numbers that survive records, folders that do not become data, files of other runs, damage,
//! letters that steer terminals, signals.

mod common;

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::expect;
use invar_data::write_png;
use serde_json::Value;

/// Rows a, b, c with y = a + b + 3 c, of numbers that look random.
fn rows(count: u64) -> String {
    let mut text = String::from("a,b,c,y\n");
    for k in 0..count {
        let [a, b, c] = [7, 11, 13].map(|factor| (k * factor % 17) as f32 / 17.0);
        let _ = writeln!(text, "{a},{b},{c},{}", a + b + 3.0 * c);
    }
    text
}

const CGREG: &str = "[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n[task]\nkind = \"regression\"\n[symmetries]\ncandidates = [\"swaps(0)\"]\n\
    [model]\nkind = \"feedforward\"\n[train]\nlearner = \"cgreg\"\nepochs = 2\nlambdas = [0, 1]\n";
const SCREEN: &str = "[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n[task]\nkind = \"regression\"\n[symmetries]\ncandidates = [\"swaps(0)\"]\n\
    [model]\nkind = \"feedforward\"\n[train]\nlearner = \"screen\"\nepochs = 2\nfolds = 1\nrestarts = 1\n";

/// A folder with rows and a project on them.
fn project(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), rows(120)).unwrap();
    std::fs::write(folder.path().join("invar.toml"), text).unwrap();
    folder
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The model files in a folder.
fn models(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "invar"));
    found.sort();
    found
}

#[test]
fn finished_runs_stay_finished_whatever_their_numbers_look_like() {
    let numbers = "[0, 0.9111111111111111, 0.9222222222222223, 0.9333333333333333]";
    let folder = project(&CGREG.replace("[0, 1]", numbers));
    let at = |name: &str| folder.path().join(name);
    expect(folder.path(), &["train", "invar.toml"], 0);
    let (records, run) = (text(&at("run/records.jsonl")), text(&at("run/run.json")));
    // Four strengths, a linear output and a plain network.
    assert_eq!(records.lines().count(), 6);
    for _ in 0..2 {
        expect(folder.path(), &["train", "invar.toml"], 0);
        assert_eq!((text(&at("run/records.jsonl")), text(&at("run/run.json"))), (records.clone(), run.clone()));
    }
    let folder = project(&SCREEN.replace("epochs", "tolerance = 0.9111111111111111\nepochs"));
    let at = |name: &str| folder.path().join(name);
    expect(folder.path(), &["train", "invar.toml"], 0);
    let first = (text(&at("run/screens.jsonl")), text(&at("run/run.json")));
    expect(folder.path(), &["train", "invar.toml"], 0);
    assert_eq!((text(&at("run/screens.jsonl")), text(&at("run/run.json"))), first);
}

#[test]
fn equal_runs_make_equal_models() {
    for project_text in [CGREG, SCREEN] {
        let folder = project(project_text);
        let made = ["one", "two"].map(|out| {
            expect(folder.path(), &["train", "invar.toml", "--out", out], 0);
            std::fs::read(folder.path().join(out).join("model.invar")).unwrap()
        });
        assert!(made[0] == made[1], "models of equal runs differ");
    }
}

/// Photos of two classes, in folders of these names.
fn photos(at: &Path, names: [&str; 2]) {
    for k in 0..24 {
        let class = at.join(names[k % 2]);
        std::fs::create_dir_all(&class).unwrap();
        let image: Vec<f32> =
            (0..64).map(|i| if k % 2 == 0 { (i % 8) as f32 / 8.0 } else { (i / 8 + k % 3) as f32 / 12.0 }).collect();
        write_png(&class.join(format!("{k}.png")), [1, 8, 8], &image).unwrap();
    }
}

const PHOTOS: &str = "[data]\ntrain = \".\"\nvalidation = 0.5\n[task]\nkind = \"classification\"\n[symmetries]\n\
    candidates = [\"flip(1)\"]\n[train]\nlearner = \"cgreg\"\nepochs = 1\nlambdas = [0]\n";

#[test]
fn what_invar_writes_does_not_become_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("photos");
    photos(&at, ["cat", "dog"]);
    expect(&at, &["init", "--data", "."], 0);
    std::fs::write(at.join("invar.toml"), PHOTOS).unwrap();
    for _ in 0..2 {
        let (out, _) = expect(&at, &["train", "invar.toml"], 0);
        assert!(out.contains("2 classes"), "{out}");
    }
    assert!(!at.join("run").exists() && folder.path().join("photos-run/model.invar").exists());
    // Also where it is told to write among them.
    for _ in 0..2 {
        let (out, _) = expect(&at, &["train", "invar.toml", "--out", "run"], 0);
        assert!(out.contains("2 classes"), "{out}");
    }
    assert!(at.join("run/model.invar").exists());
    expect(&at, &["check", "invar.toml"], 0);
}

#[test]
fn a_model_of_another_run_is_told_from_the_one_it_names() {
    let folder = project(CGREG);
    let at = |name: &str| folder.path().join(name);
    expect(folder.path(), &["train", "invar.toml", "--out", "one"], 0);
    std::fs::write(at("invar.toml"), CGREG.replace("epochs = 2", "epochs = 3")).unwrap();
    expect(folder.path(), &["train", "invar.toml", "--out", "two"], 0);
    expect(folder.path(), &["report", "one"], 0);
    let digest = |run: &str| {
        let run: Value = serde_json::from_str(&text(&at(run).join("run.json"))).unwrap();
        run["model"].as_str().unwrap().to_owned()
    };
    // As after a kill between the two writes: the model is new, the run is old.
    std::fs::copy(at("two/model.invar"), at("one/model.invar")).unwrap();
    let (_, err) = expect(folder.path(), &["report", "one"], 1);
    for part in ["one/model.invar", "one/run.json names the model", &digest("one"), &digest("two")] {
        assert!(err.contains(part), "{part}\n{err}");
    }
    std::fs::write(at("invar.toml"), CGREG).unwrap();
    expect(folder.path(), &["train", "invar.toml", "--out", "one"], 0);
    expect(folder.path(), &["report", "one"], 0);
}

#[test]
fn damaged_fits_are_made_again_with_a_word_about_it() {
    for project_text in [CGREG, SCREEN] {
        let folder = project(project_text);
        let run = folder.path().join("run");
        expect(folder.path(), &["train", "invar.toml"], 0);
        let (fits, model) = (models(&run.join("fits")), std::fs::read(run.join("model.invar")).unwrap());
        let damaged = std::fs::read(&fits[0]).unwrap();
        std::fs::write(&fits[0], &damaged[..damaged.len() / 2]).unwrap();
        std::fs::write(run.join(".invar-left.tmp"), "half").unwrap();
        let (_, err) = expect(folder.path(), &["train", "invar.toml"], 0);
        assert!(err.starts_with("warning: ") && err.contains("; this fit is made again\n"), "{err}");
        assert!(std::fs::read(&fits[0]).unwrap() == damaged && std::fs::read(run.join("model.invar")).unwrap() == model);
        assert!(!run.join(".invar-left.tmp").exists());
        assert_eq!(expect(folder.path(), &["train", "invar.toml"], 0).1, "");
    }
}

#[test]
fn names_do_not_steer_the_terminal() {
    const EVIL: &str = "evil\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}";
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("photos");
    photos(&at, [EVIL, "dog"]);
    std::fs::write(at.join("invar.toml"), PHOTOS).unwrap();
    let is_safe = |text: &str| text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}'));
    let run = |args: &[&str]| {
        let (out, err) = expect(&at, args, 0);
        assert!(is_safe(&out) && is_safe(&err), "{args:?}\n{out:?}\n{err:?}");
        out
    };
    run(&["init", "--data", ".", "other.toml"]);
    assert!(run(&["check", "invar.toml"]).contains(r"evil\u{1b}[2J"));
    run(&["train", "invar.toml", "--out", "../run"]);
    run(&["check", "invar.toml", "--json"]);
    let predict = ["predict", "../run/model.invar", "."];
    assert!(run(&predict).contains(r"evil\u{1b}[2J"));
    let csv = [&predict[..], &["--csv"]].concat();
    assert!(run(&csv).starts_with(r"file,example,class,dog,evil\u{1b}[2J"));
    let json = run(&[&predict[..], &["--json"]].concat());
    let answers = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(answers.into_iter().any(|answer| answer["example"].as_str().unwrap().starts_with(EVIL)), "JSON keeps names");
    // A file keeps them, too.
    let kept = folder.path().join("answers.csv");
    let status = Command::new(cargo_bin!("invar")).args(&csv).current_dir(&at).stdout(File::create(&kept).unwrap()).status();
    assert!(status.unwrap().success() && text(&kept).contains(EVIL));
    for args in
        [&["check", EVIL][..], &["predict", "../run/model.invar", &format!("{EVIL}.csv")], &["train", "sum", EVIL], &[EVIL]]
    {
        let output = Command::new(cargo_bin!("invar")).args(args).current_dir(&at).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && is_safe(&err) && err.contains("evil"), "{err:?}");
    }
    // Columns, in what is guessed and in what is wrong.
    let text = rows(40).replacen("a,b,c,y", "a,b,\"c\u{1b}[2J\nkept\",\"y\u{7}\"", 1);
    std::fs::write(at.join("a.csv"), &text).unwrap();
    let out = run(&["init", "--data", "a.csv", "third.toml"]);
    assert!(out.contains(r"labels are in the column `y\u{7}`"), "{out}");
    run(&["check", "third.toml"]);
    std::fs::write(at.join("a.csv"), text + "1,2,x,3\n").unwrap();
    let (_, err) = expect(&at, &["check", "third.toml"], 1);
    assert!(is_safe(&err) && err.contains(r"column `c\u{1b}[2J\nkept`: expected a number, got `x`"), "{err:?}");
}

#[test]
fn a_file_without_a_header_loses_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let all = rows(120);
    std::fs::write(at.join("a.csv"), all.split_once('\n').unwrap().1).unwrap();
    let (_, err) = expect(at, &["init", "--data", "a.csv"], 2);
    assert!(err.contains("line 1 holds a number (`0`)") && err.contains("--header no"), "{err}");
    let (out, _) = expect(at, &["init", "--data", "a.csv", "--header", "no"], 0);
    assert!(out.contains("labels are in the column `4`") && out.contains("120 examples of shape 3"), "{out}");
    let found: Value = serde_json::from_str(&expect(at, &["check", "--json"], 0).0).unwrap();
    let count = |part: usize| found["splits"][part]["summary"]["examples"].as_u64().unwrap();
    assert_eq!(count(0) + count(1), 120);
    std::fs::write(at.join("invar.toml"), CGREG.replace("label = \"y\"", "label = \"4\"\nheader = false")).unwrap();
    expect(at, &["train", "invar.toml"], 0);
    let (out, _) = expect(at, &["predict", "run/model.invar", "a.csv", "--csv"], 0);
    assert_eq!(out.lines().count(), 121);
    // Under a header it is asked for none.
    std::fs::write(at.join("named.csv"), &all).unwrap();
    expect(at, &["predict", "run/model.invar", "named.csv", "--header", "yes"], 2);
}

#[test]
fn small_things() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for only in ["", " "] {
        let (_, err) = expect(at, &["reproduce", "sequences", "--budget", "smoke", "--only", only], 2);
        assert!(err.contains("--only should be part of the name of a row"), "{err}");
    }
    let (out, _) = expect(at, &["init", "my project's/invar.toml"], 0);
    assert!(out.contains(r"next: invar check 'my project'\''s/invar.toml'"), "{out}");
    let begun = Instant::now();
    let (_, err) = expect(at, &["train", "sum", "--network", "orbit", "--length", "10", "--epochs", "100000"], 2);
    assert!(err.contains("at most 256 elements") && begun.elapsed() < Duration::from_mins(1), "{err}");
}

#[cfg(unix)]
#[test]
fn sigterm_stops_as_ctrl_c_does() {
    let folder = project(&CGREG.replace("epochs = 2", "epochs = 1000000"));
    std::fs::write(folder.path().join("invar.toml"), CGREG.replace("epochs = 2", "epochs = 100000")).unwrap();
    for signal in ["TERM", "INT"] {
        let child = Command::new(cargo_bin!("invar"))
            .args(["train", "invar.toml"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !folder.path().join("run/records.jsonl").exists() && begun.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{signal}: {err}");
        assert!(err.contains("stopped: what was finished is in") && err.contains("run the same command again"), "{err}");
        std::fs::remove_file(folder.path().join("run/records.jsonl")).unwrap();
    }
}

//! `invar data` with the real binary, in temporary folders.

mod common;

use std::io::Cursor;
use std::path::Path;

use common::expect;

/// The picture in a file: its width, and its pixels.
fn picture(path: &Path) -> (usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(Cursor::new(std::fs::read(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width as usize, bytes.as_chunks().0.to_vec())
}

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];

#[test]
fn a_sheet_shows_both_environments_in_true_colours() {
    let folder = tempfile::tempdir().unwrap();
    let show = |invariant: &str| {
        let args = ["data", "show", "--task", "mnist34", "--invariant", invariant, "--png", "digits.png"];
        let (out, err) = expect(folder.path(), &args, 0);
        assert_eq!(err, "");
        assert!(out.ends_with("\nwrote digits.png: 16 images of each environment\n"), "{out}");
        let (width, pixels) = picture(&folder.path().join("digits.png"));
        // The first environment is in the upper half, the other below.
        let rows = pixels.len() / width;
        let count = |from: usize, to: usize, colour| pixels[from * width..to * width].iter().filter(|&&p| p == colour).count();
        let halves = [(0, rows / 2), (rows / 2, rows)];
        (out, halves.map(|(from, to)| [RED, GREEN, BLUE].map(|colour| count(from, to, colour))))
    };
    let (out, [training, another]) = show("color");
    assert!(out.starts_with("mnist34: the label ignores color; 16 classes\n"), "{out}");
    assert!(training[0] > 10_000 && training[1] + training[2] == 0, "training digits are red: {training:?}");
    assert!(another[0] == 0 && another[1] > 1000 && another[2] > 1000, "no other digit is: {another:?}");
    let (out, [training, _]) = show("rot,vflip");
    assert!(out.starts_with("mnist34: the label ignores rot, vflip; 6 classes\n"), "{out}");
    assert!(training.iter().all(|&count| count > 1000), "the colour is part of the label: {training:?}");
    assert!(show("none").0.starts_with("mnist34: the label ignores nothing; 48 classes\n"));
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_seed_and_the_number_decide_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let show = |more: &[&str]| {
        expect(folder.path(), &[&["data", "show", "--task", "MNIST", "--png", "a.png"], more].concat(), 0);
        std::fs::read(folder.path().join("a.png")).unwrap()
    };
    let first = show(&[]);
    assert!(first == show(&["--invariant", "vflip,rot", "--seed", "0", "--count", "16"]), "the defaults, spelled out");
    assert_ne!(first, show(&["--seed", "1"]));
    let small = show(&["--count", "1"]);
    assert!(small.len() < first.len());
    assert!(picture(&folder.path().join("a.png")).0 > 500, "the headings need room");
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |task: &str, more: &[&str], code: i32, message: &str| {
        let args = [&["data", "show", "--task", task, "--png", "a.png"], more].concat();
        let (out, err) = expect(folder.path(), &args, code);
        assert!(out.is_empty() && err.starts_with("error: ") && err.contains(message), "{err}");
    };
    refused("mnist35", &[], 2, "unknown task `mnist35` (did you mean `mnist34`?)");
    refused("sum", &[], 2, "task should be an image task, mnist34 or mnist, but is sum");
    refused(
        "mnist",
        &["--invariant", "rot"],
        2,
        "unknown invariance `rot`; it is one of rot,color,vflip | rot,vflip | color | none",
    );
    refused("mnist", &["--count", "0"], 2, "0 is not in 1..=400");
    refused("mnist", &["--count", "5000"], 2, "5000 is not in 1..=400");
    refused("mnist", &["--seed=-1"], 2, "invalid value '-1' for '--seed <N>'");
    let args = ["data", "show", "--task", "mnist34", "--png", "missing/a.png"];
    let (out, err) = expect(folder.path(), &args, 1);
    assert!(out.is_empty() && err.starts_with("error: cannot write missing/a.png: "), "{err}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn help_shows_an_example_and_tasks_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = expect(folder.path(), &["data", "show", "--help"], 0);
    assert!(out.contains("invar data show --task mnist34 --invariant rot,vflip --png digits.png"), "{out}");
    let (out, _) = expect(folder.path(), &["tasks"], 0);
    assert!(out.contains("mnist34") && out.contains("rot=rot90(1,2) color=permute(0) vflip=flip(1)"), "{out}");
}

//! Files that are written, and certificates that are checked again.

use serde_json::Value;

use crate::run::{files, has_fields, invar_in};

#[test]
fn every_file_asked_for_appears_and_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["lattice", "--shape", "3x3", "rot90(0,1)", "--svg", "a.svg", "--html", "a.html", "--certificate", "a.json"];
    let run = invar_in(folder.path(), &args);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.ends_with("wrote a.svg\nwrote a.html\nwrote a.json\n"), "{}", run.out);
    assert_eq!(files(folder.path()), ["a.html", "a.json", "a.svg"]);
}

/// A folder with the certificate of turns and a mirror of a 3x3 patch.
fn certified() -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let run = invar_in(folder.path(), &["lattice", "--shape", "3x3", "rot90(0,1)", "flip(0)", "--certificate", "proof.json"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let proof = serde_json::from_slice(&std::fs::read(folder.path().join("proof.json")).unwrap()).unwrap();
    (folder, proof)
}

#[test]
fn a_certificate_is_checked_again() {
    let (folder, proof) = certified();
    has_fields(&proof, &["shape", "mode", "groups", "subspaces", "checks"]);
    has_fields(&proof["groups"][0], &["name", "generators"]);
    has_fields(&proof["subspaces"][0], &["groups", "dimension", "vectors"]);
    has_fields(&proof["checks"][0], &["law", "exact", "cases", "failures"]);
    let run = invar_in(folder.path(), &["verify", "proof.json"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.out, "shape 3x3, 2 groups, 3 subspaces\nverified: all 5 laws hold, in 38 cases\n");
    let checks: Vec<Value> = serde_json::from_str(&invar_in(folder.path(), &["verify", "proof.json", "--json"]).out).unwrap();
    assert_eq!(checks.len(), 5);
    assert!(checks.iter().all(|check| check["failures"] == serde_json::json!([]) && check["cases"].as_u64() > Some(0)));
}

#[test]
fn a_certificate_of_rational_or_real_matrices_is_checked_again() {
    for generator in ["[[1,-1],[1,0]]", "[[0,1/2],[2,0]]", "[[0.6,0.8],[0.8,-0.6]]"] {
        let folder = tempfile::tempdir().unwrap();
        let candidate = format!("generators([{generator}])");
        assert_eq!(invar_in(folder.path(), &["lattice", "--shape", "2", &candidate, "--certificate", "proof.json"]).code, 0);
        let run = invar_in(folder.path(), &["verify", "proof.json"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{candidate}: {}", run.out);
    }
}

type Tamper = fn(&mut Value);

#[test]
fn a_tampered_certificate_fails() {
    let tampers: [(&str, Tamper); 6] = [
        ("moves a vector", |proof| proof["subspaces"][0]["vectors"][0]["values"][0] = "7".into()),
        ("is invariant to flip(0)", |proof| proof["subspaces"][0]["groups"] = serde_json::json!([0])),
        ("the dimensions sum to 6", |proof| _ = proof["subspaces"].as_array_mut().unwrap().pop()),
        ("`seven` is not a number", |proof| proof["subspaces"][0]["vectors"][0]["values"][0] = "seven".into()),
        ("does not fit shape 3x3", |proof| proof["subspaces"][0]["vectors"][0]["entries"][0] = 99.into()),
        ("cannot read", |proof| proof["groups"][0]["generators"][0] = "[1,0".into()),
    ];
    for (expected, tamper) in tampers {
        let (folder, mut proof) = certified();
        tamper(&mut proof);
        std::fs::write(folder.path().join("proof.json"), proof.to_string()).unwrap();
        let run = invar_in(folder.path(), &["verify", "proof.json"]);
        assert_eq!(run.code, 1, "{expected}: {}{}", run.out, run.err);
        assert!(run.out.contains("NOT verified") || run.err.starts_with("error: proof.json: "), "{}{}", run.out, run.err);
        assert!(format!("{}{}", run.out, run.err).contains(expected), "{expected}: {}{}", run.out, run.err);
    }
}

#[test]
fn an_unreadable_certificate_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("other.json"), "{\"shape\": 3}").unwrap();
    std::fs::write(folder.path().join("bytes.json"), [0xff, 0xfe]).unwrap();
    for (file, part) in [
        ("missing.json", "cannot read missing.json"),
        (".", "cannot read ."),
        ("bytes.json", "cannot read bytes.json"),
        ("other.json", "other.json is not a certificate written by `invar lattice --certificate`"),
    ] {
        let run = invar_in(folder.path(), &["verify", file]);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{file}");
        assert!(run.err.starts_with(&format!("error: {part}")) && run.err.lines().count() == 1, "{file}: {}", run.err);
    }
}

/// Something without an end is not read to its end.
#[cfg(unix)]
#[test]
fn a_device_is_no_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let run = invar_in(folder.path(), &["verify", "/dev/zero"]);
    assert_eq!((run.code, run.err.as_str()), (1, "error: cannot read /dev/zero: expected a file, got a pipe or a device\n"));
}

#[test]
fn an_unwritable_path_leaves_nothing_behind() {
    for option in ["--certificate", "--svg", "--html"] {
        let folder = tempfile::tempdir().unwrap();
        let run = invar_in(folder.path(), &["lattice", "--shape", "4", "flip(0)", option, "missing/file"]);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{option}");
        assert!(run.err.starts_with("error: cannot write missing/file: ") && run.err.lines().count() == 1, "{}", run.err);
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        assert_eq!(invar_in(folder.path(), &["lattice", "--shape", "4", "flip(0)", option, "folder"]).code, 1);
        assert_eq!(files(folder.path()), ["folder"]);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_early_is_no_failure() {
    use std::process::{Command, Stdio};
    let args = ["lattice", "--shape", "3x7x7", "permute(0)", "--vectors"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_invar")).args(args).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

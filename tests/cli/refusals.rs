//! Bad input.

use insta::assert_snapshot;

use crate::run::{invar, invar_in, refused, refused_in_one_line};

#[test]
fn candidates_that_do_not_fit_the_shape() {
    for command in ["groups", "lattice"] {
        let refuse =
            |shape: &str, candidate: &str, part: &str| refused_in_one_line(&[command, "--shape", shape, candidate], 2, part);
        refuse("3x3", "rot90(1,2)", "rot90(1,2): axis 2 is out of range; shape 3x3 has axes 0 to 1");
        refuse("3x4", "rot90(0,1)", "a quarter turn needs equal sides, but axes 0 and 1 of shape 3x4 have 3 and 4");
        refuse("3x3", "rot90(0,0)", "axis 0 is named twice");
        refuse("3x4", "nodes(0,1)", "must be of one size");
        refuse("3", "swap(0;1,9)", "index 9 is out of range");
        refuse("3", "swap(0;1,1)", "the two indices must differ");
        refuse("2", "generators([[0,1,2]])", "generator 0: it lists 3 images, but shape 2 has 2 entries");
        refuse("2", "generators([[0,0]])", "generator 0: entries 0 and 1 both go to 0");
        refuse("2", "generators([[1,0],[[1,2],[2,4]]])", "generator 1: the matrix is not invertible");
        refuse("2", "generators([[[1,1],[0,1]]])", "generator 0: the group it generates looks infinite");
        refuse("2", "generators([[[2,0],[0,1]]])", "generator 0: the group it generates looks infinite");
        refuse("2", "generators([[[-1,1],[0,1]],[[1,0],[1,-1]],[[-1,0],[1,1]]])", "looks infinite");
        refuse("3x3", "product(flip(0),flip(0))", "share more than the identity");
        refuse("1", "swaps(0)", "there is nothing to swap");
    }
}

#[test]
fn shapes_without_entries() {
    for shape in ["0", "3x0", "", "x", "3x", "three", "-3", "99999x99999x99999"] {
        refused(&["lattice", "--shape", shape, "flip(0)"], 2, "");
    }
    refused_in_one_line(&["lattice", "--shape", "3x0", "flip(0)"], 2, "shape 3x0: axis 1 has size 0");
    refused(&["lattice", "flip(0)"], 2, "required arguments");
    refused(&["groups", "--shape", "3"], 2, "required arguments");
    refused(&["lattice", "--shape", "3", "flip(0)", "--mode", "papers"], 2, "invalid value 'papers'");
    refused(&["lattice", "--shape", "3", "flip(0)", "--no-verify", "--certificate", "a.json"], 2, "cannot be used with");
    refused(&["latice"], 2, "unrecognized subcommand");
}

#[test]
fn malformed_shorthand_is_shown_with_a_caret() {
    let shown = |text: &str| refused(&["lattice", "--shape", "3x3", text], 2, "cannot read `").err;
    assert_snapshot!(shown("rot90(0 1)"), @r"
    error: cannot read `rot90(0 1)` at column 9: expected `,`, `;` or `)`, found `1`
      rot90(0 1)
              ^
    ");
    assert_snapshot!(shown("turn=rto90(0,1)"), @r"
    error: cannot read `turn=rto90(0,1)` at column 6: unknown symmetry `rto90`; did you mean `rot90`?
      turn=rto90(0,1)
           ^
    ");
    assert_snapshot!(shown("rot90(0,1"), @r"
    error: cannot read `rot90(0,1` at column 10: expected `,`, `;` or `)`, found the end
      rot90(0,1
               ^
    ");
    for text in ["", "(", "rot90", "rot90()", "flip(-1)", "flip(0))", "a=b=flip(0)", "ünï(0)", "generators([[1,", "negate(0)"] {
        shown(text);
    }
}

#[test]
fn names_must_tell_candidates_apart() {
    refused_in_one_line(&["groups", "--shape", "4", "a=flip(0)", "a=cycle(0)"], 2, "two different groups are called `a`");
    refused_in_one_line(&["groups", "--shape", "4", "flip(0)", "--subset", "turn"], 2, "no candidate is called `turn`");
}

#[test]
fn numbers_that_options_cannot_take() {
    let refuse = |args: &[&str], part: &str| {
        let err = refused(args, 2, part).err;
        assert!(!err.contains("tip:"), "{err}");
    };
    refuse(&["train", "sum", "--seed", "-1"], "invalid value '-1' for '--seed <N>': expected a whole number, 0 or more");
    for option in ["--epochs", "--examples", "--length"] {
        let expected = format!("invalid value '-1' for '{option} <N>': expected a whole number, 1 or more");
        refuse(&["train", "sum", option, "-1"], &expected);
    }
    let positive = |option: &str| format!("for '{option} <N>': expected a whole number, 1 or more");
    for count in ["-1", "0", "many"] {
        refuse(&["train", "sum", "--threads", count], &positive("--threads"));
        refuse(&["lattice", "--shape", "3", "flip(0)", "--cap", count], &positive("--cap"));
    }
    for seconds in ["0", "-1", "nan", "inf"] {
        refuse(&["bench", "sequences", "--seconds", seconds], "'--seconds <SECONDS>': expected a number above 0");
    }
}

#[test]
fn files_that_would_overwrite_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let run = invar_in(folder.path(), &["lattice", "--shape", "3", "flip(0)", "--html", "a.html", "--svg", "./a.html"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert_eq!(run.err, "error: --html should be a file of its own, but is a.html, which is that of --svg\n");
    assert!(!folder.path().join("a.html").exists());
}

#[test]
fn places_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str| invar_in(folder.path(), &["lattice", "--shape", "3", "flip(0)", "--svg", path]);
    assert_eq!(write("no/x.svg").err, "error: cannot write no/x.svg: the folder no does not exist\n");
    assert_eq!((write(".").err.as_str(), write(".").code), ("error: cannot write .: . is a folder\n", 1));
}

#[test]
fn vectors_that_do_not_fit_are_refused_before_they_are_made() {
    let large = ["lattice", "--shape", "20000", "permute(0)", "--no-verify", "--memory", "1"];
    let run = invar(&large);
    assert!(run.out.contains("20,000 of 20,000 dimensions"), "{}", run.out);
    let run = invar(&[&large[..], &["--json"]].concat());
    assert_eq!(run.code, 1, "{}", run.err);
    let message = "error: writing out all vectors would bring the memory in use to 13 GB, but at most 1.0 GB may be used; \
                   raise the limit (--memory)";
    assert!(run.err.contains(message), "{}", run.err);
    assert!(run.out.is_empty(), "{}", run.out);
}

#[test]
fn a_lattice_above_the_cap_is_a_failure_that_names_the_option() {
    let family = ["lattice", "--shape", "6", "swaps(0)", "--mode", "complete", "--cap", "3"];
    refused_in_one_line(&family, 1, "more than 3 closed sets");
    refused_in_one_line(&["lattice", "--shape", "8", "swaps(0)", "cycle(0)", "--cap", "10"], 1, "raise the cap (--cap)");
}

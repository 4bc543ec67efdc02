//! The real binary, end to end, in temporary folders.

use std::path::Path;

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;

/// What one run printed.
struct Run {
    code: i32,
    out: String,
    err: String,
}

/// Runs the binary in a folder, without colours.
fn invar_in(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_invar"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let run = Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
    assert!(!run.err.contains("panicked"), "{args:?} panicked:\n{}", run.err);
    assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{args:?} printed colours");
    run
}

fn invar(args: &[&str]) -> Run {
    invar_in(&std::env::temp_dir(), args)
}

/// What a run that must succeed printed.
fn text(args: &[&str]) -> String {
    let run = invar(args);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}\n{}", run.out);
    run.out
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(args)).expect("--json prints JSON")
}

/// A run that must fail with this code and a first line that says this.
fn refused(args: &[&str], code: i32, part: &str) -> Run {
    let run = invar(args);
    let first = run.err.lines().next().unwrap_or_default();
    assert_eq!(run.code, code, "{args:?}: {}", run.err);
    assert!(first.starts_with("error: ") && first.contains(part), "{args:?}: expected {part:?} in {first:?}");
    assert_eq!(run.out, "", "{args:?} printed a result");
    run
}

/// The same, with nothing but that line.
fn refused_in_one_line(args: &[&str], code: i32, part: &str) {
    let run = refused(args, code, part);
    assert_eq!(run.err.lines().count(), 1, "{args:?}: {}", run.err);
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// ---- known answers -------------------------------------------------------------------------------------------------

#[test]
fn turns_and_colours_of_a_patch() {
    assert_snapshot!(text(&["lattice", "--shape", "3x3x3", "rot=rot90(1,2)", "color=permute(0)"]), @r"
    shape 3x3x3: 27 entries, 2 candidate groups

    level  invariant to exactly  dimension
        2  {rot, color}                  3
        1  {rot}                         6
        1  {color}                       6
        0  {}                           12

    4 subspaces, 27 of 27 dimensions
    verified: all 5 laws hold, in 132 cases
    ");
}

#[test]
fn turns_mirrors_and_colours_of_a_patch() {
    assert_snapshot!(text(&["lattice", "--shape", "3x3x3", "rot=rot90(1,2)", "flip=flip(1)", "color=permute(0)"]), @r"
    shape 3x3x3: 27 entries, 3 candidate groups

    level  invariant to exactly  dimension
        3  {rot, flip, color}            3
        2  {rot, flip}                   6
        2  {flip, color}                 3
        1  {flip}                        6
        1  {color}                       3
        0  {}                            6

    6 subspaces, 27 of 27 dimensions
    verified: all 5 laws hold, in 142 cases
    ");
}

#[test]
fn turns_and_a_mirror_with_eigenspaces_and_vectors() {
    let args = ["lattice", "--shape", "3x3", "rot=rot90(0,1)", "flip=flip(0)", "--eigenspaces", "--vectors"];
    assert_snapshot!(text(&args), @r"
    shape 3x3: 9 entries, 2 candidate groups

    group  order  dimension of W
    rot        4               3
    flip       2               6

    level  invariant to exactly  dimension
        2  {rot, flip}                   3
        1  {flip}                        3
        0  {}                            3

    3 subspaces, 9 of 9 dimensions
    {rot, flip}
      0:1 2:1 6:1 8:1
      1:1 3:1 5:1 7:1
      4:1
    {flip}
      0:1 2:-1 6:1 8:-1
      1:1 3:-2 7:1
      1:1 5:-2 7:1
    {}
      0:1 6:-1
      2:1 8:-1
      1:1 7:-1
    verified: all 5 laws hold, in 38 cases
    ");
}

#[test]
fn five_positions() {
    assert_snapshot!(text(&["lattice", "--shape", "5", "swaps(0)"]), @r"
    shape 5: 5 entries, 10 candidate groups

    level  invariant to exactly  dimension
       10  all positions alike           1
        6  all but position 1            1
        6  all but position 2            1
        6  all but position 3            1
        6  all but position 4            1

    5 subspaces, 5 of 5 dimensions
    verified: all 5 laws hold, in 67 cases
    ");
}

#[test]
fn ten_positions() {
    let out = text(&["lattice", "--shape", "10", "swaps(0)"]);
    let rows: Vec<Vec<&str>> = out.lines().skip(3).take(10).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["45", "all", "positions", "alike", "1"]);
    for (k, row) in rows[1..].iter().enumerate() {
        assert_eq!(row, &["36", "all", "but", "position", &(k + 1).to_string(), "1"]);
    }
    assert!(out.contains("10 subspaces, 10 of 10 dimensions"));
}

#[test]
fn node_swaps_sum_to_the_size_of_the_tensor_in_paper_mode_and_overlap_in_complete_mode() {
    let args = ["lattice", "--shape", "4x4", "node_swaps(0,1)"];
    assert!(text(&args).contains("16 of 16 dimensions\n"), "{}", text(&args));
    let complete = text(&[&args[..], &["--mode", "complete"]].concat());
    assert!(complete.contains("of 16 dimensions; they overlap\nverified"), "{complete}");
}

#[test]
fn node_permutations_of_a_graph_and_a_change_of_sign() {
    let graph = json(&["groups", "--shape", "4x4", "nodes(0,1)", "--json"]);
    assert_eq!((&graph["groups"][0]["orbits"], &graph["groups"][0]["order"]), (&2.into(), &"24".into()));
    let negate = json(&["lattice", "--shape", "4", "negate", "--json"]);
    assert_eq!(negate["subspaces"].as_array().unwrap().len(), 1);
    assert_eq!((&negate["subspaces"][0]["level"], &negate["subspaces"][0]["dimension"]), (&0.into(), &4.into()));
}

#[test]
fn what_symmetries_of_images_generate() {
    assert_snapshot!(text(&["groups", "--shape", "3x28x28", "rot90(1,2)", "flip(1)", "permute(0)"]), @r"
    shape 3x28x28: 2,352 entries, 3 candidate groups

    group       order  orbits  generators
    rot90(1,2)      4     588  axis 1 to axis 2; axis 2 to axis 1, mirrored
    flip(1)         2   1,176  axis 1 mirrored
    permute(0)      6     784  axis 0 swaps 0 and 1 | axis 0 shifted by 1

    rot90(1,2) and flip(1) generate a group of order 8
    rot90(1,2) and permute(0) commute and generate a group of order 24
    flip(1) and permute(0) commute and generate a group of order 12
    all together generate a group of order 48, with 105 orbits

    Normal in the whole? (Theorem 2: invariance to a normal subgroup is counterfactual invariance)
      {}                                 yes
      {rot90(1,2)}                       yes
      {flip(1)}                          no: g h g⁻¹ = [axis 2 mirrored] is outside, with g = [axis 1 to axis 2; axis 2 to axis 1, mirrored] from rot90(1,2) and h = [axis 1 mirrored]
      {permute(0)}                       yes
      {rot90(1,2), flip(1)}              yes
      {rot90(1,2), permute(0)}           yes
      {flip(1), permute(0)}              no: g h g⁻¹ = [axis 2 mirrored] is outside, with g = [axis 1 to axis 2; axis 2 to axis 1, mirrored] from rot90(1,2) and h = [axis 1 mirrored]
      {rot90(1,2), flip(1), permute(0)}  yes
    ");
}

#[test]
fn the_pair_of_appendix_a_is_not_normal_either_way() {
    let answer = json(&["groups", "--shape", "60x60", "rot=rot90(0,1)", "move=shift(1)", "--json"]);
    assert_eq!(answer["together"]["order"], "14400");
    for name in ["rot", "move"] {
        let asked = answer["normality"].as_array().unwrap().iter().find(|n| n["names"] == serde_json::json!([name])).unwrap();
        assert_eq!(asked["normal"], false);
        for field in ["from", "g", "h", "conjugate"] {
            assert!(asked["witness"][field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {asked}");
        }
    }
    let out = text(&["groups", "--shape", "60x60", "rot=rot90(0,1)", "move=shift(1)", "--subset", "move"]);
    let verdict = out.lines().last().unwrap();
    assert_eq!(
        verdict,
        "  {move}  no: g h g⁻¹ = [axis 0 shifted by 59] is outside, with g = [axis 0 to axis 1; axis 1 to axis 0, mirrored] \
         from rot and h = [axis 1 shifted by 1]"
    );
}

#[test]
fn one_group_alone_on_one_entry() {
    let run = invar(&["groups", "--shape", "1", "flip(0)"]);
    assert_eq!(run.err, "warning: flip(0) is trivial on this shape: it changes nothing and is always kept\n");
    assert_snapshot!(run.out, @r"
    shape 1: 1 entry, 1 candidate group

    group    order  orbits  generators
    flip(0)      1       1  identity

    Normal in the whole? (Theorem 2: invariance to a normal subgroup is counterfactual invariance)
      {}         yes
      {flip(0)}  yes
    ");
}

// ---- machine-readable output ---------------------------------------------------------------------------------------

fn has_fields(value: &Value, fields: &[&str]) {
    let mut found: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected = fields.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn groups_json_has_the_documented_fields() {
    let answer = json(&["groups", "--shape", "3x3", "rot90(0,1)", "flip(0)", "--json"]);
    has_fields(&answer, &["shape", "entries", "groups", "together", "pairs", "normality", "warnings"]);
    has_fields(&answer["groups"][0], &["name", "order", "orbits", "generators"]);
    has_fields(&answer["together"], &["order", "orbits"]);
    has_fields(&answer["pairs"][0], &["groups", "order", "commute"]);
    assert_eq!(answer["normality"].as_array().unwrap().len(), 4);
    has_fields(&answer["normality"][2], &["groups", "names", "normal", "witness"]);
    has_fields(&answer["normality"][2]["witness"], &["from", "g", "h", "conjugate"]);
    assert_eq!(
        json(&["groups", "--shape", "30", "permute(0)", "--json"])["groups"][0]["order"],
        "265252859812191058636308480000000"
    );
}

#[test]
fn lattice_json_has_the_documented_fields() {
    let answer = json(&["lattice", "--shape", "3x3x3", "rot90(1,2)", "permute(0)", "--eigenspaces", "--json"]);
    let fields = ["shape", "entries", "mode", "exact", "gap", "groups", "subspaces", "hasse", "verified", "warnings"];
    has_fields(&answer, &fields);
    has_fields(&answer["groups"][0], &["name", "order", "eigenspace"]);
    assert_eq!(answer["groups"][0]["eigenspace"].as_array().unwrap().len(), 9);
    has_fields(&answer["subspaces"][0], &["groups", "label", "level", "dimension", "basis", "spanned_by"]);
    has_fields(&answer["subspaces"][0]["basis"][0], &["entries", "values"]);
    let dimensions: Vec<u64> = answer["subspaces"].as_array().unwrap().iter().map(|s| s["dimension"].as_u64().unwrap()).collect();
    assert_eq!(dimensions, [3, 6, 6, 12]);
    assert_eq!(answer["hasse"], serde_json::json!([[0, 1], [0, 2], [1, 3], [2, 3]]));
    assert_eq!((&answer["exact"], &answer["verified"], &answer["gap"]), (&true.into(), &true.into(), &Value::Null));

    let unchecked = json(&["lattice", "--shape", "3", "flip(0)", "--no-verify", "--json"]);
    assert_eq!(unchecked["verified"], Value::Null);
    has_fields(&unchecked["groups"][0], &["name", "order"]);
}

#[test]
fn decimals_are_computed_in_floating_point_and_say_so() {
    let eighth = "generators([[[0.7071067811865476,-0.7071067811865476],[0.7071067811865476,0.7071067811865476]]])";
    let answer = json(&["lattice", "--shape", "2", eighth, "--json"]);
    assert_eq!((&answer["exact"], &answer["groups"][0]["order"]), (&false.into(), &"8".into()));
    assert!(answer["gap"].as_f64().unwrap() > 1e4);
}

#[test]
fn warnings_go_to_stderr_or_into_the_json() {
    let same = ["lattice", "--shape", "4", "a=flip(0)", "b=flip(0)"];
    let run = invar(&same);
    assert_eq!((run.code, run.err.as_str()), (0, "warning: a and b are the same group: it counts twice in every level\n"));
    let answer = json(&[&same[..], &["--json"]].concat());
    assert_eq!(answer["warnings"], serde_json::json!(["a and b are the same group: it counts twice in every level"]));

    let run = invar(&["lattice", "--shape", "1x4", "permute(0)", "flip(1)"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.err, "warning: permute(0) is trivial on this shape: it changes nothing and is always kept\n");
}

// ---- files ---------------------------------------------------------------------------------------------------------

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

// ---- bad input -----------------------------------------------------------------------------------------------------

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
fn a_lattice_above_the_cap_is_a_failure_that_names_the_option() {
    let family = ["lattice", "--shape", "6", "swaps(0)", "--mode", "complete", "--cap", "3"];
    refused_in_one_line(&family, 1, "more than 3 closed sets");
    refused_in_one_line(&["lattice", "--shape", "8", "swaps(0)", "cycle(0)", "--cap", "10"], 1, "raise the cap (--cap)");
}

// ---- help ----------------------------------------------------------------------------------------------------------

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in ["groups", "lattice", "verify", "completions"] {
        let help = text(&[command, "--help"]);
        assert!(
            help.contains("Example")
                && help.contains(&format!("\n  invar {}", if command == "verify" { "lattice" } else { command })),
            "{help}"
        );
    }
    let help = text(&["--help"]);
    assert!(["groups", "lattice", "verify", "completions"].iter().all(|command| help.contains(command)));
    assert!(text(&["--version"]).starts_with("invar "));
}

#[test]
fn examples_in_the_help_work() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["groups", "lattice"] {
        let help = text(&[command, "--help"]);
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  invar ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            // No example has a quote or a space inside an argument: dropping quotes is all the shell would do.
            let plain = example.replace('\'', "");
            let run = invar_in(folder.path(), &plain.split_whitespace().collect::<Vec<_>>());
            assert_eq!(run.code, 0, "{example}: {}", run.err);
        }
    }
}

#[test]
fn completions_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("lattice") && script.contains("shape"), "{shell}: {script}");
    }
    refused(&["completions", "cmd.exe"], 2, "invalid value");
}

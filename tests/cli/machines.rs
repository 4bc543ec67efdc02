//! What `--json` prints, and where warnings go.

use serde_json::Value;

use crate::run::{has_fields, invar, json};

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

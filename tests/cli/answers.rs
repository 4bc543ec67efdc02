//! Known answers.

use insta::assert_snapshot;

use crate::run::{invar, json, text};

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

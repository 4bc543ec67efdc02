//! Lattices whose dimensions are known, from the paper or by hand.

use invar_algebra::{GroupSet, Lattice, Mode, Options, Shape, Subspace, candidates};

fn lattice(shape: &str, groups: &[&str], mode: Mode) -> Lattice {
    let shape: Shape = shape.parse().unwrap();
    let groups = candidates(&shape, groups.iter().copied()).unwrap();
    let lattice = Lattice::new(groups, &Options { mode, ..Options::default() }).unwrap();
    let certificate = lattice.verify();
    assert!(certificate.holds(), "{:#?}", certificate.checks);
    assert!(
        certificate
            .checks
            .iter()
            .all(|check| check.cases > 0 || check.law.contains("superset") || check.law.contains("generator"))
    );
    lattice
}

/// (names of M, dimension) of every subspace.
fn dimensions(lattice: &Lattice) -> Vec<(String, usize)> {
    let names = |s: &Subspace| s.set().iter().map(|g| lattice.groups()[g].name()).collect::<Vec<_>>().join(",");
    lattice.subspaces().iter().map(|s| (names(s), s.dimension())).collect()
}

fn expect(found: &[(String, usize)], expected: &[(&str, usize)]) {
    let expected: Vec<(String, usize)> = expected.iter().map(|&(names, n)| (names.to_string(), n)).collect();
    assert_eq!(found, expected);
}

#[test]
fn turns_and_colours_of_a_patch() {
    for mode in [Mode::Paper, Mode::Complete] {
        let l = lattice("3x3x3", &["rot=rot90(1,2)", "color=permute(0)"], mode);
        expect(&dimensions(&l), &[("rot,color", 3), ("rot", 6), ("color", 6), ("", 12)]);
        assert_eq!(l.hasse_edges(), [(0, 1), (0, 2), (1, 3), (2, 3)]);
    }
}

#[test]
fn turns_and_a_mirror_of_a_patch() {
    let l = lattice("3x3", &["rot=rot90(0,1)", "flip=flip(0)"], Mode::Complete);
    expect(&dimensions(&l), &[("rot,flip", 3), ("flip", 3), ("", 3)]);
}

#[test]
fn turns_mirrors_and_colours_of_a_patch() {
    let l = lattice("3x3x3", &["rot=rot90(1,2)", "flip=flip(1)", "color=permute(0)"], Mode::Paper);
    let expected = [("rot,flip,color", 3), ("rot,flip", 6), ("flip,color", 3), ("flip", 6), ("color", 3), ("", 6)];
    expect(&dimensions(&l), &expected);
}

#[test]
fn sequences_in_paper_mode_are_all_but_one() {
    let l = lattice("5", &["swaps(0)"], Mode::Paper);
    let levels: Vec<(usize, usize)> = l.subspaces().iter().map(|s| (s.level(), s.dimension())).collect();
    assert_eq!(levels, [(10, 1), (6, 1), (6, 1), (6, 1), (6, 1)]);

    let l = lattice("10", &["swaps(0)"], Mode::Paper);
    assert_eq!(l.subspaces().len(), 10);
    for (p, subspace) in l.subspaces()[1..].iter().enumerate() {
        assert_eq!((subspace.level(), subspace.dimension()), (36, 1));
        let moves_p = |g: usize| [l.groups()[g].swap().unwrap().i, l.groups()[g].swap().unwrap().j].contains(&p);
        assert!(subspace.set().iter().all(|g| !moves_p(g)), "subspace {p} is all but position {p}");
        // Constant except at p.
        let basis = subspace.basis()[0].to_dense(10, 0.0);
        let others: Vec<f64> = (0..10).filter(|&i| i != p).map(|i| basis[i]).collect();
        assert!(others.iter().all(|x| (x - others[0]).abs() < 1e-12) && (basis[p] - others[0]).abs() > 0.5);
    }
}

#[test]
fn sequences_with_features_multiply_dimensions() {
    let l = lattice("5x3", &["swaps(0)"], Mode::Paper);
    assert_eq!(l.subspaces().iter().map(Subspace::dimension).collect::<Vec<_>>(), [3; 5]);
}

#[test]
fn node_swaps_stop_when_the_space_is_spanned() {
    // Algorithm 1 as printed would record 29 dimensions here; independent parts sum to 16.
    let l = lattice("4x4", &["node_swaps(0,1)"], Mode::Paper);
    assert_eq!(l.subspaces().iter().map(Subspace::dimension).sum::<usize>(), 16);
    assert_eq!(l.subspaces()[0].dimension(), 2);
    let all = lattice("4x4", &["node_swaps(0,1)"], Mode::Complete);
    assert!(all.subspaces().iter().map(Subspace::dimension).sum::<usize>() > 16);
}

#[test]
fn families_agree_with_the_general_enumeration() {
    // A trivial extra candidate hides the family, so that closed sets are found one by one.
    for shape in ["4", "5", "4x4", "3x3x2"] {
        let family = if shape.contains('x') { "node_swaps(0,1)" } else { "swaps(0)" };
        for mode in [Mode::Paper, Mode::Complete] {
            let lazy = lattice(shape, &[family], mode);
            let general = lattice(
                shape,
                &[family, "nothing=join(generators([[IDENTITY]]))".replace("[IDENTITY]", &identity(shape)).as_str()],
                mode,
            );
            let extra = lazy.groups().len();
            let key = |l: &Lattice| {
                let mut all: Vec<_> = l
                    .subspaces()
                    .iter()
                    .map(|s| (s.set().iter().filter(|&g| g != extra).collect::<Vec<_>>(), s.dimension()))
                    .collect();
                all.sort();
                all
            };
            if mode == Mode::Complete {
                assert_eq!(key(&lazy), key(&general), "{shape}");
            }
            assert_eq!(
                lazy.subspaces().iter().map(Subspace::dimension).sum::<usize>(),
                general.subspaces().iter().map(Subspace::dimension).sum::<usize>()
            );
        }
    }
}

fn identity(shape: &str) -> String {
    let d: usize = shape.split('x').map(|n| n.parse::<usize>().unwrap()).product();
    format!("[{}]", (0..d).map(|i| i.to_string()).collect::<Vec<_>>().join(","))
}

#[test]
fn graphs_under_all_relabellings_have_two_orbits() {
    let shape: Shape = "4x4".parse().unwrap();
    let nodes = candidates(&shape, ["nodes(0,1)"]).unwrap().remove(0);
    let members = nodes.orbits().unwrap().members();
    assert_eq!(members[0], [0, 5, 10, 15]);
    assert_eq!(members.len(), 2);
}

#[test]
fn negate_leaves_nothing() {
    let l = lattice("4", &["negate"], Mode::Paper);
    expect(&dimensions(&l), &[("", 4)]);
    // With a mirror beside it, what both fix is nothing, and what the mirror fixes is not fixed by negate.
    let l = lattice("4", &["negate", "flip(0)"], Mode::Paper);
    expect(&dimensions(&l), &[("flip(0)", 2), ("", 2)]);
}

#[test]
fn matrices_and_permutations_mix() {
    // The sheared swap [[1,0],[1,-1]] fixes weights (1,0); the swap fixes (1,1): neither contains the other.
    let l = lattice("2", &["sheared=generators([[[1,0],[1,-1]]])", "swap(0;0,1)"], Mode::Complete);
    expect(&dimensions(&l), &[("sheared", 1), ("swap(0;0,1)", 1)]);
    let l = lattice("2", &["sheared=generators([[[1,0],[1,-1]]])", "swap(0;0,1)"], Mode::Paper);
    assert_eq!(l.subspaces().len(), 2);
}

#[test]
fn real_generators_agree_with_exact_ones() {
    let exact = lattice("4", &["a=generators([[[0,1,0,0],[1,0,0,0],[0,0,1,0],[0,0,1,-1]]])", "flip(0)"], Mode::Paper);
    let real = lattice(
        "4",
        &["a=generators([[[0.0,1.0,0.0,0.0],[1.0,0.0,0.0,0.0],[0.0,0.0,1.0,0.0],[0.0,0.0,1.0,-1.0]]])", "flip(0)"],
        Mode::Paper,
    );
    assert_eq!(dimensions(&exact), dimensions(&real));
    assert!(real.gap().unwrap() > 1e8 && exact.gap().is_none());
    for (e, r) in exact.subspaces().iter().zip(real.subspaces()) {
        // Same subspace: every exact basis vector lies in the span of the real ones.
        for v in e.basis() {
            let v = v.to_dense(4, 0.0);
            let inside: f64 =
                r.basis().iter().map(|q| q.to_dense(4, 0.0).iter().zip(&v).map(|(a, b)| a * b).sum::<f64>().powi(2)).sum();
            assert!((inside - 1.0).abs() < 1e-10);
        }
    }
}

#[test]
fn an_eighth_turn_keeps_nothing_of_the_plane() {
    let h = std::f64::consts::FRAC_1_SQRT_2;
    let l = lattice("2", &[&format!("generators([[[{h:?},-{h:?}],[{h:?},{h:?}]]])")], Mode::Paper);
    assert_eq!(l.groups()[0].order(), 8u32.into());
    expect(&dimensions(&l), &[("", 2)]);
}

#[test]
fn where_signs_cancel_everything_every_other_group_is_implied() {
    let lattice = lattice("3", &["cancel=generators([[-0,-1,2]])", "exchange=swap(0;0,1)"], Mode::Paper);
    // Weights that keep both signs vanish in the first two places, so that these can be exchanged as well.
    assert_eq!(lattice.closure(&GroupSet::empty().with(0)).unwrap(), GroupSet::full(2));
    assert_eq!(lattice.closure(&GroupSet::empty().with(1)).unwrap(), GroupSet::empty().with(1));
}

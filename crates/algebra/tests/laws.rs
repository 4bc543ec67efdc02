//! Laws that hold for every group, checked on random ones against brute force.

use std::collections::HashSet;

use invar_algebra::{
    Action, Candidate, Certificate, Check, Error, Generator, Group, GroupRecord, GroupSet, IBig, Kind, Lattice, Mode, Number,
    Options, Orbits, Permutation, RBig, Reynolds, Shape, SignedPermutation, SubspaceRecord, Tolerance, VectorRecord, candidates,
    invariant_weights, linear,
};
use proptest::prelude::*;

/// A group on `shape`, chosen by two numbers; small enough to enumerate.
fn random_group(shape: &Shape, kind: usize, seed: u64) -> Group {
    let axes = shape.axes();
    let axis = seed as usize % axes;
    let side = shape.side(axis);
    let equal = (0..axes).flat_map(|b| (0..b).map(move |a| (a, b))).find(|&(a, b)| shape.side(a) == shape.side(b));
    let text = match (kind, equal) {
        (0, Some((a, b))) => format!("rot90({a},{b})"),
        (1, Some((a, b))) => format!("nodes({a},{b})"),
        (2, _) => format!("flip({axis})"),
        (3, _) => format!("permute({axis})"),
        (4, _) => format!("cycle({axis})"),
        (5, _) if side > 1 => format!("swap({axis};0,{})", 1 + seed as usize / 7 % (side - 1)),
        (6, _) => "negate".to_string(),
        _ => return signed_group(shape, seed, kind == 7),
    };
    candidates(shape, [text.as_str()]).unwrap().remove(0)
}

/// The group of one generator that moves few points, so that joins stay small.
fn signed_group(shape: &Shape, seed: u64, signs: bool) -> Group {
    let d = shape.len();
    let (a, b, c) = (seed as usize % d, seed as usize / 11 % d, seed as usize / 131 % d);
    let mut images: Vec<u32> = (0..d as u32).collect();
    images.swap(a, b);
    images.swap(b, c);
    let negative = (0..d).map(|i| signs && (seed >> (i % 60)) & 1 == 1).collect();
    let signed = SignedPermutation::new(Permutation::new(images).unwrap(), negative).unwrap();
    Group::new("signed", shape, vec![Action::Signed(signed)]).unwrap()
}

prop_compose! {
    fn random_candidates()(
        text in prop::sample::select(vec!["4", "6", "2x3", "3x3", "2x2x2", "3x2x2"]),
        picks in prop::collection::vec((0usize..9, any::<u64>()), 1..4),
    ) -> Vec<Group> {
        let shape: Shape = text.parse().unwrap();
        picks.iter().enumerate().map(|(k, &(kind, seed))| random_group(&shape, kind, seed).named(format!("g{k}"))).collect()
    }
}

/// Every element, as a list of (image, sign) per entry; none when there are more than `cap`.
fn enumerate(group: &Group, cap: usize) -> Option<HashSet<Vec<(usize, bool)>>> {
    let key = |action: &Action| match action {
        Action::Permutation(p) => p.images().iter().map(|&i| (i as usize, false)).collect::<Vec<_>>(),
        Action::Signed(s) => s.permutation().images().iter().zip(s.negative()).map(|(&i, &m)| (i as usize, m)).collect(),
        _ => unreachable!("random groups are signed permutations"),
    };
    let one = Action::identity(group.shape().len());
    let mut seen = HashSet::from([key(&one)]);
    let mut open = vec![one];
    while let Some(element) = open.pop() {
        for generator in group.generators() {
            let next = generator.after(&element);
            if seen.insert(key(&next)) {
                if seen.len() > cap {
                    return None;
                }
                open.push(next);
            }
        }
    }
    Some(seen)
}

/// The group S T S⁻¹ for the shear S that adds the second entry to the first.
fn sheared(group: &Group, shape: &Shape, number: impl Fn(i64) -> Number) -> Group {
    let d = shape.len();
    let matrix = |action: &Action| {
        let image = |j: usize| {
            // S⁻¹ e_j, moved by T, then S.
            let mut x = vec![0.0; d];
            x[j] = 1.0;
            if j == 1 {
                x[0] = -1.0;
            }
            let mut y = apply(action, &x);
            y[0] += y[1];
            y
        };
        let columns: Vec<Vec<f64>> = (0..d).map(image).collect();
        Generator::Matrix((0..d).map(|i| (0..d).map(|j| number(columns[j][i] as i64)).collect()).collect())
    };
    let list: Vec<Generator> = group.generators().iter().map(matrix).collect();
    if list.is_empty() {
        return group.clone();
    }
    let candidate = Candidate { name: Some(group.name().into()), kind: Kind::Generators { axes: vec![], list } };
    candidate.groups(shape).unwrap().remove(0)
}

fn apply(action: &Action, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    action.apply(x, &mut out);
    out
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9)
}

fn ramp(d: usize) -> Vec<f64> {
    (0..d).map(|i| (i as f64 * 1.7).sin() + i as f64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn reynolds_is_the_mean_of_all_elements(groups in random_candidates()) {
        let join = Group::join("join", &groups).unwrap();
        let d = join.shape().len();
        let r = Reynolds::new(&join, &Tolerance::default()).unwrap();
        let x = ramp(d);
        let mut mean = x.clone();
        r.apply(&mut mean);
        let mut twice = mean.clone();
        r.apply(&mut twice);
        prop_assert!(close(&mean, &twice), "idempotent");
        for generator in join.generators() {
            let mut moved = apply(generator, &x);
            r.apply(&mut moved);
            prop_assert!(close(&moved, &mean), "absorbs every generator");
            prop_assert!(close(&apply(generator, &mean), &mean), "its image is fixed");
        }
        if let Some(elements) = enumerate(&join, 3000) {
            let mut sum = vec![0.0; d];
            for element in &elements {
                element.iter().zip(&x).for_each(|(&(to, minus), v)| sum[to] += if minus { -v } else { *v });
            }
            let brute: Vec<f64> = sum.iter().map(|s| s / elements.len() as f64).collect();
            prop_assert!(close(&brute, &mean), "agrees with enumeration");
        }
        let matrix = r.matrix().unwrap();
        let rows: Vec<f64> = (0..d).map(|i| (0..d).map(|j| matrix.at(i, j).to_f64().value() * x[j]).sum()).collect();
        prop_assert!(close(&rows, &mean), "agrees with its matrix");
    }

    #[test]
    fn order_membership_and_orbits_agree_with_enumeration(groups in random_candidates(), seed in any::<u64>()) {
        let join = Group::join("join", &groups).unwrap();
        if let Some(elements) = enumerate(&join, 3000) {
            prop_assert_eq!(join.order(), elements.len().into());
            let other = signed_group(join.shape(), seed, seed % 2 == 0);
            let g = &other.generators()[0];
            let key: Vec<(usize, bool)> = match g {
                Action::Permutation(p) => p.images().iter().map(|&i| (i as usize, false)).collect(),
                Action::Signed(s) => s.permutation().images().iter().zip(s.negative()).map(|(&i, &m)| (i as usize, m)).collect(),
                _ => unreachable!(),
            };
            prop_assert_eq!(join.contains(g), elements.contains(&key));
            let orbits = join.orbits().unwrap();
            for i in 0..join.shape().len() {
                let reached: HashSet<usize> = elements.iter().map(|element| element[i].0).collect();
                prop_assert!((0..join.shape().len()).all(|j| reached.contains(&j) == (orbits.orbit(i) == orbits.orbit(j))));
                let reversed = elements.iter().any(|element| element[i] == (i, true));
                prop_assert_eq!(orbits.is_cancelled(orbits.orbit(i)), reversed);
            }
        }
        let joined = groups.iter().map(|g| g.orbits().unwrap()).reduce(|a, b| a.join(&b)).unwrap();
        prop_assert_eq!(joined, Orbits::of(join.shape().len(), join.generators()).unwrap());
    }

    #[test]
    fn normality_agrees_with_enumeration(groups in random_candidates()) {
        let join = Group::join("join", &groups).unwrap();
        let h = &groups[0];
        let witness = h.witness_against_normality(&groups);
        if let Some(w) = &witness {
            let moved = w.g.after(&w.h).after(&w.g.inverse().unwrap());
            prop_assert!(h.contains(&w.h) && join.contains(&w.g) && !h.contains(&moved));
        } else if enumerate(&join, 600).is_some() {
            let mut state = 1u64;
            let mut below = |k: usize| { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99); (state >> 33) as usize % k };
            for _ in 0..50 {
                let (g, h_element) = (join.sample(&mut below), h.sample(&mut below));
                prop_assert!(join.contains(&g) && h.contains(&h_element));
                prop_assert!(h.contains(&g.after(&h_element).after(&g.inverse().unwrap())));
            }
        }
    }

    #[test]
    fn every_lattice_proves_itself(groups in random_candidates(), complete in any::<bool>()) {
        let mode = if complete { Mode::Complete } else { Mode::Paper };
        let lattice = Lattice::new(groups, &Options { mode, ..Options::default() }).unwrap();
        let certificate = lattice.verify();
        prop_assert!(certificate.holds(), "{:#?}", certificate.checks);
        // Written down, read back and checked again from the file alone.
        let text = serde_json::to_string(&certificate).unwrap();
        let read: Certificate = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &certificate);
        let again = read.recheck().unwrap();
        prop_assert!(again.holds(), "{:#?}", again.checks);
    }

    #[test]
    fn sparse_subspaces_are_those_of_dense_elimination(groups in random_candidates()) {
        let d = groups[0].shape().len();
        // Row i of T: w is invariant when w · T e_i = w_i for every unit vector e_i.
        let rows = |group: &Group| -> Vec<Vec<IBig>> {
            let unit = |i: usize| (0..d).map(|k| f64::from(u8::from(k == i))).collect::<Vec<_>>();
            let row = |g: &Action, i: usize| apply(g, &unit(i)).iter().zip(unit(i)).map(|(a, b)| IBig::from((a - b) as i64)).collect();
            group.generators().iter().flat_map(|g| (0..d).map(move |i| row(g, i))).collect()
        };
        let lattice = Lattice::new(groups, &Options { mode: Mode::Complete, ..Options::default() }).unwrap();
        let groups = lattice.groups();
        let equations = |set: &GroupSet| set.iter().flat_map(|group| rows(&groups[group])).collect::<Vec<_>>();
        let mut spanned = 0;
        for subspace in lattice.subspaces() {
            let set = subspace.set();
            let outside = (0..groups.len()).filter(|&group| !set.contains(group));
            let more = outside.flat_map(|group| linear::null_space(equations(&set.with(group)), d));
            let dense = linear::null_space(equations(set).into_iter().chain(more), d);
            let found: Vec<Vec<IBig>> = subspace.exact().iter().map(|v| v.to_dense(d, IBig::ZERO)).collect();
            prop_assert_eq!(found.len(), dense.len());
            let together: Vec<Vec<IBig>> = found.iter().chain(&dense).cloned().collect();
            prop_assert_eq!((linear::rank(&found), linear::rank(&together)), (dense.len(), dense.len()));
            spanned += dense.len();
        }
        prop_assert!(spanned >= d);
    }

    #[test]
    fn closure_is_a_closure_operator(groups in random_candidates(), a in any::<u8>(), b in any::<u8>()) {
        let m = groups.len();
        let lattice = Lattice::new(groups, &Options::default()).unwrap();
        let set = |bits: u8| (0..m).filter(|i| bits >> i & 1 == 1).collect::<GroupSet>();
        let (small, large) = (set(a & b), set(b));
        let close = |s: &GroupSet| lattice.closure(s).unwrap();
        prop_assert!(small.is_subset(&close(&small)), "extensive");
        prop_assert!(close(&small).is_subset(&close(&large)), "monotone");
        prop_assert_eq!(close(&close(&large)), close(&large), "idempotent");
        for subspace in lattice.subspaces() {
            prop_assert_eq!(&close(subspace.set()), subspace.set(), "only closed sets have subspaces");
        }
        // By definition: the groups that take nothing away from the weights that are left.
        let rank = |s: &GroupSet| {
            let imposed = s.iter().map(|g| &lattice.groups()[g]);
            invariant_weights(lattice.shape(), imposed, &Tolerance::default()).unwrap().len()
        };
        let free: GroupSet = (0..m).filter(|&g| rank(&large.with(g)) == rank(&large)).collect();
        prop_assert_eq!(close(&large), free, "by rank");
    }

    #[test]
    fn the_matrix_path_agrees_with_the_orbit_path(groups in random_candidates()) {
        // The same transformations written as matrices with a decimal point go through singular values.
        let shape = groups[0].shape().clone();
        let real: Vec<Group> = groups.iter().map(|group| {
            let rows = |g: &Action| (0..shape.len()).map(|i| (0..shape.len()).map(|j| {
                let mut unit = vec![0.0; shape.len()];
                unit[j] = 1.0;
                Number::Real(apply(g, &unit)[i])
            }).collect()).collect();
            let list = group.generators().iter().map(|g| Generator::Matrix(rows(g))).collect::<Vec<_>>();
            if list.is_empty() { group.clone() } else {
                Candidate { name: Some(group.name().into()), kind: Kind::Generators { axes: vec![], list } }.groups(&shape).unwrap().remove(0)
            }
        }).collect();
        for (a, b) in groups.iter().zip(&real) {
            prop_assert_eq!(a.order(), b.order());
            prop_assert!(a.is_same_as(b));
        }
    }

    #[test]
    fn exact_and_real_lattices_agree(groups in random_candidates(), complete in any::<bool>()) {
        // Seen through a shear, permutations become matrices that are not orthogonal: once exact, once in decimals.
        let shape = groups[0].shape().clone();
        let exact: Vec<Group> = groups.iter().map(|group| sheared(group, &shape, |n| Number::Exact(RBig::from(n)))).collect();
        let real: Vec<Group> = groups.iter().map(|group| sheared(group, &shape, |n| Number::Real(n as f64))).collect();
        let mode = if complete { Mode::Complete } else { Mode::Paper };
        let build = |groups: Vec<Group>| {
            let lattice = Lattice::new(groups, &Options { mode, ..Options::default() }).unwrap();
            assert!(lattice.verify().holds(), "{:#?}", lattice.verify().checks);
            lattice.subspaces().iter().map(|s| (s.set().clone(), s.dimension())).collect::<Vec<_>>()
        };
        prop_assert_eq!(build(exact), build(real));
    }

    #[test]
    fn shorthand_never_panics(text in "\\PC{0,60}") {
        let _ = text.parse::<Candidate>();
    }

    #[test]
    fn shorthand_like_text_never_panics(text in "(rot90|flip|swap|swaps|generators|join|=|;|,|\\(|\\)|\\[|\\]|[0-9]{1,3}|-|/|\\.| ){0,25}") {
        if let Ok(candidate) = text.parse::<Candidate>() {
            prop_assert_eq!(&candidate.to_string().parse::<Candidate>().unwrap(), &candidate);
            for shape in ["4", "3x3", "2x2x2"] {
                let _ = candidate.groups(&shape.parse().unwrap());
            }
        }
    }

    #[test]
    fn shapes_never_panic(text in "[0-9x ]{0,30}") {
        let _ = text.parse::<Shape>();
    }
}

#[test]
fn every_basis_vector_may_pass_where_a_combination_fails() {
    // On two entries, neither (1,0) nor (0,1) is invariant to the swap, but their sum is: a claim that all of R² has no
    // invariance passes a test of basis vectors and must fail the rank condition.
    let shape: Shape = "2".parse().unwrap();
    let groups = candidates(&shape, ["swap(0;0,1)"]).unwrap();
    let one = |a: i64, b: i64| vec![IBig::from(a), IBig::from(b)];
    let false_claim =
        Lattice::from_parts(groups.clone(), Options::default(), vec![(GroupSet::empty(), vec![one(1, 0), one(0, 1)])]);
    let certificate = false_claim.verify();
    let failed: Vec<&str> = certificate.checks.iter().filter(|c| !c.holds()).map(|c| c.law.as_str()).collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].contains("no nonzero vector of B(M)"));

    let parts = vec![(GroupSet::full(1), vec![one(1, 1)]), (GroupSet::empty(), vec![one(1, -1)])];
    assert!(Lattice::from_parts(groups.clone(), Options::default(), parts).verify().holds());

    // Each other law is caught when broken, too.
    let broken = [
        (vec![(GroupSet::full(1), vec![one(1, 2)]), (GroupSet::empty(), vec![one(1, -1)])], "fixes B(M)"),
        (vec![(GroupSet::full(1), vec![one(1, 1)]), (GroupSet::empty(), vec![one(1, 0)])], "orthogonal to B(N)"),
        (vec![(GroupSet::full(1), vec![one(1, 1)])], "sum to d"),
    ];
    for (parts, law) in broken {
        let certificate = Lattice::from_parts(groups.clone(), Options::default(), parts).verify();
        assert!(certificate.checks.iter().any(|c| !c.holds() && c.law.contains(law)), "{law}: {:#?}", certificate.checks);
    }
}

#[test]
fn a_tampered_certificate_is_caught() {
    let shape: Shape = "3x3".parse().unwrap();
    let lattice = Lattice::new(candidates(&shape, ["rot90(0,1)", "flip(0)"]).unwrap(), &Options::default()).unwrap();
    let good = lattice.verify();
    assert!(good.recheck().unwrap().holds());
    let mut moved = good.clone();
    moved.subspaces[0].vectors[0].values[0] = "7".into();
    assert!(!moved.recheck().unwrap().holds());
    let mut missing = good.clone();
    missing.subspaces.pop();
    assert!(!missing.recheck().unwrap().holds());
    let mut damaged = good.clone();
    damaged.subspaces[0].vectors[0].values[0] = "seven".into();
    assert!(damaged.recheck().unwrap_err().to_string().contains("`seven` is not a number"));
    let mut beyond = good.clone();
    beyond.subspaces[0].vectors[0].entries[0] = 99;
    assert!(beyond.recheck().unwrap_err().to_string().contains("does not fit shape 3x3"));
    let mut twice = good;
    twice.subspaces.push(twice.subspaces[0].clone());
    assert!(twice.recheck().unwrap_err().to_string().contains("two subspaces name the same groups"));
}

/// Entries, and the values there.
type Sparse<'a> = (&'a [u32], &'a [i32]);
/// M, and vectors claimed to span B(M).
type Claim<'a> = (&'a [usize], &'a [Sparse<'a>]);

/// A certificate for one candidate with one generator.
fn certificate(shape: &str, generator: &str, subspaces: &[Claim]) -> Certificate {
    let vector = |&(entries, values): &Sparse| VectorRecord {
        entries: entries.to_vec(),
        values: values.iter().map(ToString::to_string).collect(),
    };
    let record = |(groups, vectors): &Claim| SubspaceRecord {
        groups: groups.iter().copied().collect(),
        dimension: vectors.len(),
        vectors: vectors.iter().map(vector).collect(),
    };
    Certificate {
        shape: shape.parse().unwrap(),
        mode: Mode::Paper,
        groups: vec![GroupRecord { name: "g".into(), generators: vec![generator.into()] }],
        subspaces: subspaces.iter().map(record).collect(),
        checks: Vec::new(),
    }
}

#[test]
fn a_certificate_cannot_hide_a_false_claim_in_its_layout() {
    let fails = |claim: Certificate, law: &str| {
        let found = claim.recheck().unwrap();
        assert!(found.checks.iter().any(|c| !c.holds() && c.law.contains(law)), "{law}: {:#?}", found.checks);
    };
    // g exchanges 0 and 1 and negates 2. The sum of the first and the last vector is invariant; the one between separates them.
    let apart: &[Sparse] = &[(&[0, 1], &[1, 0]), (&[2], &[1]), (&[0, 1], &[0, 1])];
    fails(certificate("3", "[1,0,-2]", &[(&[], apart)]), "no nonzero vector of B(M)");
    // The smaller set first: it is still not orthogonal to the larger one.
    let oblique: &[Claim] = &[(&[], &[(&[0, 1], &[1, 0])]), (&[0], &[(&[0, 1], &[1, 1])])];
    fails(certificate("2", "[1,0]", oblique), "orthogonal to B(N)");
    // Parts with as many entries as the tensor that still miss one of them.
    let overlap: &[Sparse] = &[(&[0, 1], &[1, 0]), (&[0, 1], &[0, 1]), (&[0], &[1])];
    assert!(certificate("3", "[-0,-1,-2]", &[(&[], overlap)]).recheck().is_err());
    // One entry listed twice in place of two.
    let doubled: &[Sparse] = &[(&[0, 0], &[1, 0]), (&[0, 0], &[0, 1])];
    assert!(certificate("2", "[-0,-1]", &[(&[], doubled)]).recheck().is_err());
    let honest: &[Claim] = &[(&[], &[(&[0, 1], &[1, -1])]), (&[0], &[(&[0, 1], &[1, 1])])];
    assert!(certificate("2", "[1,0]", honest).recheck().unwrap().holds());
}

#[test]
fn parts_that_a_group_mixes_are_refused() {
    // Vectors on single entries hide that their sum is invariant to the swap.
    let text = r#"{"shape":[2],"mode":"paper","groups":[{"name":"s","generators":["[1,0]"]}],"subspaces":[{"groups":[],"dimension":2,
        "vectors":[{"entries":[0],"values":["1"]},{"entries":[1],"values":["1"]}]}],"checks":[]}"#;
    let error = serde_json::from_str::<Certificate>(text).unwrap().recheck().unwrap_err().to_string();
    assert!(error.contains("s mixes entry 0 with entries of another part"), "{error}");
}

#[test]
fn an_overstated_dimension_is_caught() {
    // Three dependent vectors of a plane: orthonormalising them makes a third direction out of rounding noise.
    let shape: Shape = "3".parse().unwrap();
    let mirror = "generators([[[6/7,-2/7,-3/7],[-2/7,3/7,-6/7],[-3/7,-6/7,-2/7]]])";
    let groups = candidates(&shape, [mirror]).unwrap();
    let vector = |v: [i64; 3]| v.map(IBig::from).to_vec();
    let plane = vec![vector([3, 0, -1]), vector([1, 1, -1]), vector([-4, -7, 6])];
    let parts = |plane: Vec<Vec<IBig>>| vec![(GroupSet::full(1), plane), (GroupSet::empty(), vec![vector([1, 2, 3])])];
    let options = Options { mode: Mode::Complete, ..Options::default() };
    assert!(Lattice::from_parts(groups.clone(), options, parts(plane[..2].to_vec())).verify().holds());
    let certificate = Lattice::from_parts(groups, options, parts(plane)).verify();
    assert!(!certificate.holds(), "{:#?}", certificate.checks);
}

#[test]
fn the_cap_counts_closed_sets_whatever_their_shape() {
    let shape: Shape = "6x6".parse().unwrap();
    let groups = candidates(&shape, ["node_swaps(0,1)"]).unwrap();
    // Partitions of six nodes into at most three blocks: 1 + 31 + 90.
    for (cap, fits) in [(1, false), (36, false), (40, false), (46, false), (47, false), (121, false), (122, true)] {
        let lattice = Lattice::new(groups.clone(), &Options { mode: Mode::Complete, cap, ..Options::default() });
        assert_eq!(lattice.is_ok(), fits, "cap {cap}");
    }
    let flips = candidates(&"4".parse().unwrap(), ["flip(0)", "swap(0;0,1)"]).unwrap();
    assert!(Lattice::new(flips.clone(), &Options { cap: 1, ..Options::default() }).is_err());
    assert!(Lattice::new(flips, &Options { cap: 4, ..Options::default() }).is_ok());
}

#[test]
fn groups_as_large_as_s30_answer_questions() {
    let shape: Shape = "30".parse().unwrap();
    let groups = candidates(&shape, ["permute(0)", "cycle(0)", "flip(0)", "swap(0;3,17)"]).unwrap();
    assert_eq!(groups[0].order().to_string(), "265252859812191058636308480000000");
    assert!(groups[1].is_subgroup_of(&groups[0]) && !groups[0].is_subgroup_of(&groups[1]));
    // Cyclic shifts and the mirror generate the dihedral group of order 60, in which the shifts are normal.
    let dihedral = Group::join("dihedral", &groups[1..3]).unwrap();
    assert_eq!(dihedral.order(), 60u32.into());
    assert!(groups[1].witness_against_normality([&dihedral]).is_none());
    assert!(groups[2].witness_against_normality([&dihedral]).is_some());
    assert!(!groups[1].commutes_with(&groups[2]));
    let even = candidates(&shape, ["generators(0;[[1,2,0,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29],[0,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,1]])"]).unwrap().remove(0);
    assert_eq!((even.order() * dashu(2)).to_string(), "265252859812191058636308480000000");
    assert!(even.witness_against_normality(&groups).is_none());
}

fn dashu(n: u32) -> invar_algebra::UBig {
    n.into()
}

#[test]
fn rational_matrix_groups_are_exact() {
    // The symmetries of a regular hexagon lattice: order 12, a rational matrix group that is not orthogonal.
    let shape: Shape = "2".parse().unwrap();
    let hexagon = candidates(&shape, ["generators([[[1,-1],[1,0]],[[0,1],[1,0]]])"]).unwrap().remove(0);
    assert_eq!(hexagon.order(), 12u32.into());
    let half = RBig::from(1) / RBig::from(2);
    assert!(
        hexagon.contains(
            &Action::Rational(
                invar_algebra::RationalMatrix::new(vec![
                    vec![RBig::from(-1), RBig::from(0)],
                    vec![RBig::from(0), RBig::from(-1)]
                ])
                .unwrap()
            )
            .simplified()
        )
    );
    assert!(!hexagon.contains(&Action::Rational(
        invar_algebra::RationalMatrix::new(vec![vec![half, RBig::from(0)], vec![RBig::from(0), RBig::from(2)]]).unwrap()
    )));
}

#[test]
fn large_lattices_need_no_vectors_written_out() {
    let shape: Shape = "20000".parse().unwrap();
    let groups = || candidates(&shape, ["permute(0)", "flip(0)"]).unwrap();
    let options = Options { vectors: false, memory: 100_000_000, ..Options::default() };
    let lattice = Lattice::new(groups(), &options).unwrap();
    let found: Vec<(usize, usize)> = lattice.subspaces().iter().map(|s| (s.level(), s.dimension())).collect();
    assert_eq!(found, [(2, 1), (1, 9_999), (0, 10_000)]);
    let checks = lattice.check(&|_| {});
    assert!(checks.iter().all(Check::holds), "{checks:#?}");
    // The basis of level 1 would be 1.6 GB: it was not made, and the checks say so.
    assert!(checks[0].how.as_ref().is_some_and(|how| how.contains("not made")), "{checks:#?}");
    assert!(checks[1..].iter().all(|check| check.how.is_none() && check.cases > 0), "{checks:#?}");

    let refused = |result: Result<Lattice, Error>| match result {
        Err(Error::TooLarge { needed, limit, .. }) => (needed, limit),
        other => panic!("{other:?}"),
    };
    // 20,000 vectors of 20,000 numbers, as integers and in floating point.
    let (needed, limit) = refused(Lattice::new(groups(), &Options { vectors: true, ..options }));
    assert_eq!((needed / 1_000_000_000, limit), (12, 100_000_000));
    assert!(refused(Lattice::new(groups(), &Options { memory: 500_000, ..options })).0 > 500_000);
    assert!(matches!(lattice.admit_certificate(), Err(Error::TooLarge { .. })));
}

#[test]
fn all_laws_of_many_swaps_are_checked_and_seen_to_fail() {
    let shape: Shape = "40".parse().unwrap();
    let groups = candidates(&shape, ["swaps(0)"]).unwrap();
    let lattice = Lattice::new(groups.clone(), &Options::default()).unwrap();
    let checks = lattice.check(&|_| {});
    assert!(checks.iter().all(Check::holds));
    // One generator a swap: all 780 at the top, and 741 for each of "all but one".
    assert_eq!(checks[1].cases, 780 + 39 * 741);
    assert_eq!(checks[2].cases, 39 * 39);
    // The same vectors under sets with one swap too many, and under sets with one too few.
    for (change, law) in [(true, 1), (false, 2)] {
        let parts = lattice.subspaces().iter().enumerate().map(|(k, s)| {
            let mut set = s.set().clone();
            if k == 5 && change {
                set = set.with((0..780).find(|&group| !set.contains(group)).unwrap());
            } else if k == 5 {
                set = set.iter().skip(1).collect();
            }
            (set, s.exact().iter().map(|v| v.to_dense(40, IBig::ZERO)).collect())
        });
        let claimed = Lattice::from_parts(groups.clone(), Options::default(), parts.collect());
        let failed: Vec<usize> = claimed.check(&|_| {}).iter().map(|check| check.failures.len()).collect();
        assert_eq!(failed.iter().enumerate().map(|(k, &n)| usize::from(k == law) * n).sum::<usize>(), 1, "{failed:?}");
        assert_eq!(failed.iter().sum::<usize>(), 1, "{failed:?}");
    }
}

//! The Reynolds operator (Lemma 1): the mean of all elements of a group, and the spaces it fixes.

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::action::Action;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::linear::{self, Vector};
use crate::matrix::{RationalMatrix, RealMatrix};
use crate::numeric::{self, Gap};
use crate::orbits::Orbits;
use crate::shape::Shape;
use crate::tolerance::Tolerance;

/// Most bytes of the vectors that [`invariant_weights`] writes out.
const MOST_WEIGHTS: u64 = 4_000_000_000;

/// The operator R = (1/|G|) Σ T over all T in G, found without enumerating G.
///
/// For (signed) permutations it averages over orbits. For matrices it is the projection onto the right fixed space
/// F = {x : T x = x} along the annihilator of the left fixed space L = {w : wᵀT = wᵀ}: R = F (LᵀF)⁻¹ Lᵀ.
#[derive(Debug, Clone)]
pub struct Reynolds {
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Orbits(Orbits),
    Exact { matrix: RationalMatrix, real: RealMatrix, real_transpose: RealMatrix },
    Real { matrix: RealMatrix, transpose: RealMatrix, gap: Gap },
}

impl Reynolds {
    /// The operator of a group. Fails only for real matrices whose fixed space cannot be told from rounding.
    pub fn new(group: &Group, tolerance: &Tolerance) -> Result<Self> {
        let d = group.shape().len();
        if let Some(orbits) = group.orbits() {
            return Ok(Self { form: Form::Orbits(orbits) });
        }
        if group.generators().iter().any(|g| matches!(g, Action::Real(_))) {
            let (left, gap_left) = real_fixed_space(group, Side::Left, tolerance)?;
            let (right, gap_right) = real_fixed_space(group, Side::Right, tolerance)?;
            if left.len() != right.len() {
                // A finite group fixes as much from the left as from the right: one of the two ranks is wrong.
                let what = format!("the fixed-point equations of {}", group.name());
                let gap = gap_left.min(gap_right);
                return Err(Error::AmbiguousRank { what, nonzero: f64::NAN, zero: tolerance.zero, gap, wanted: tolerance.gap });
            }
            let matrix = oblique_projection(d, &right, &left);
            let transpose = RealMatrix::from_fn(d, |i, j| matrix.at(j, i));
            return Ok(Self { form: Form::Real { matrix, transpose, gap: gap_left.min(gap_right) } });
        }
        let matrix = exact_projection(d, &right_fixed_space(group), &left_fixed_space(group));
        let (real, real_transpose) = (matrix.to_real(), matrix.transpose().to_real());
        Ok(Self { form: Form::Exact { matrix, real, real_transpose } })
    }

    /// Replaces x by R x: its mean over the group.
    pub fn apply(&self, x: &mut [f64]) {
        match &self.form {
            Form::Orbits(orbits) => orbits.average(x, &mut vec![0.0; orbits.count()]),
            Form::Exact { real, .. } => x.copy_from_slice(&real.apply(x)),
            Form::Real { matrix, .. } => x.copy_from_slice(&matrix.apply(x)),
        }
    }

    /// Replaces w by Rᵀ w: weights act on inputs from the left, so this is how the operator acts on weights.
    ///
    /// The result is invariant: (Rᵀw)ᵀ T x = (Rᵀw)ᵀ x for every T in the group.
    pub fn apply_to_weights(&self, w: &mut [f64]) {
        match &self.form {
            // Permutations are orthogonal: R is symmetric.
            Form::Orbits(_) => self.apply(w),
            Form::Exact { real_transpose, .. } => w.copy_from_slice(&real_transpose.apply(w)),
            Form::Real { transpose, .. } => w.copy_from_slice(&transpose.apply(w)),
        }
    }

    /// The operator as an exact matrix; none when the generators are real. Meant for small d: it has d² entries.
    pub fn matrix(&self) -> Option<RationalMatrix> {
        match &self.form {
            Form::Exact { matrix, .. } => Some(matrix.clone()),
            Form::Real { .. } => None,
            Form::Orbits(orbits) => Some(RationalMatrix::from_fn(orbits.len(), |i, j| {
                let orbit = orbits.orbit(i);
                if orbits.orbit(j) != orbit || orbits.is_cancelled(orbit) {
                    return RBig::ZERO;
                }
                let mean = RBig::ONE / RBig::from(orbits.size(orbit));
                if orbits.is_reversed(i) == orbits.is_reversed(j) { mean } else { -mean }
            })),
        }
    }

    /// The singular-value gap behind the answer, when it was found in floating point.
    pub fn gap(&self) -> Option<f64> {
        match &self.form {
            Form::Real { gap, .. } => Some(*gap),
            _ => None,
        }
    }
}

/// W of the paper: a basis of all w with wᵀT = wᵀ for every T, the weights of invariant neurons (Lemma 2).
///
/// Exact; the group must not have real generators.
pub fn left_fixed_space(group: &Group) -> Vec<Vector> {
    fixed_space(group, Side::Left)
}

/// A basis of all x with T x = x for every T. Differs from the left one when the group is not orthogonal.
pub fn right_fixed_space(group: &Group) -> Vec<Vector> {
    fixed_space(group, Side::Right)
}

/// A basis of Bt(M) in floating point: all weights on this shape that every group of M leaves alone. Exact before it is rounded,
/// unless generators are real. The groups are not joined: together they may generate infinitely many elements. Refused when the
/// vectors would take more than 4 GB.
///
/// ```
/// # use invar_algebra::{Shape, Tolerance, candidates, invariant_weights};
/// let shape: Shape = "3".parse()?;
/// let swaps = candidates(&shape, ["swap(0;0,1)", "swap(0;1,2)"])?;
/// assert_eq!(invariant_weights(&shape, &swaps, &Tolerance::default())?, [[1.0, 1.0, 1.0]]);
/// # Ok::<(), invar_algebra::Error>(())
/// ```
pub fn invariant_weights<'a>(
    shape: &Shape,
    groups: impl IntoIterator<Item = &'a Group>,
    tolerance: &Tolerance,
) -> Result<Vec<Vec<f64>>> {
    let generators: Vec<&Action> = groups.into_iter().flat_map(Group::generators).collect();
    let d = shape.len();
    let rounded = |basis: Vec<Vector>| basis.iter().map(|v| v.iter().map(|x| x.to_f64().value()).collect()).collect();
    if let Some(orbits) = Orbits::of(d, generators.iter().copied()) {
        let entries = (orbits.invariant_dimension() as u64).saturating_mul(d as u64);
        Budget::new(MOST_WEIGHTS).admit("the invariant weights", entries, size_of::<IBig>() + size_of::<f64>())?;
        return Ok(rounded(orbit_vectors(&orbits)));
    }
    if generators.iter().any(|generator| matches!(generator, Action::Real(_))) {
        let rows: Vec<Vec<f64>> = generators.into_iter().flat_map(real_left_equations).collect();
        return Ok(numeric::null_space(&rows, d, tolerance, "the fixed-point equations of what is imposed")?.0);
    }
    Ok(rounded(linear::null_space(generators.into_iter().flat_map(left_equations), d)))
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn fixed_space(group: &Group, side: Side) -> Vec<Vector> {
    // Permutations, with signs or without, are orthogonal: both sides are spanned by what is constant on orbits.
    if let Some(orbits) = Orbits::of(group.shape().len(), group.generators()) {
        return orbit_vectors(&orbits);
    }
    eliminated(group, side)
}

fn eliminated(group: &Group, side: Side) -> Vec<Vector> {
    let equations = group.generators().iter().flat_map(|g| {
        let m = g.to_rational();
        match side {
            Side::Left => m.transpose().fixed_point_equations(),
            Side::Right => m.fixed_point_equations(),
        }
    });
    linear::null_space(equations, group.shape().len())
}

/// One vector of ones, or minus ones, for each orbit that does not cancel itself: the very vectors that elimination would find,
/// by the last entry of their orbit, which is positive.
fn orbit_vectors(orbits: &Orbits) -> Vec<Vector> {
    let mut members: Vec<Vec<usize>> =
        orbits.members().into_iter().filter(|m| !orbits.is_cancelled(orbits.orbit(m[0]))).collect();
    members.sort_by_key(|members| members.iter().copied().max());
    let vector = |members: &Vec<usize>| {
        let mut vector = vec![IBig::ZERO; orbits.len()];
        let last = members.iter().copied().max().is_some_and(|entry| orbits.is_reversed(entry));
        for &entry in members {
            vector[entry] = if orbits.is_reversed(entry) == last { IBig::ONE } else { IBig::NEG_ONE };
        }
        vector
    };
    members.iter().map(vector).collect()
}

/// Rows whose null space is the left fixed space of one action: (Tᵀ - I) w = 0.
pub(crate) fn left_equations(action: &Action) -> Vec<Vector> {
    action.to_rational().transpose().fixed_point_equations()
}

/// The same rows in floating point.
pub(crate) fn real_left_equations(action: &Action) -> Vec<Vec<f64>> {
    let m = action.to_real();
    let entry = |i: usize, j: usize| m.at(j, i) - if i == j { 1.0 } else { 0.0 };
    (0..m.len()).map(|i| (0..m.len()).map(|j| entry(i, j)).collect()).collect()
}

fn real_fixed_space(group: &Group, side: Side, tolerance: &Tolerance) -> Result<(Vec<Vec<f64>>, Gap)> {
    let d = group.shape().len();
    let mut rows = Vec::new();
    for generator in group.generators() {
        let equations = real_left_equations(generator);
        match side {
            Side::Left => rows.extend(equations),
            Side::Right => rows.extend((0..d).map(|i| (0..d).map(|j| equations[j][i]).collect())),
        }
    }
    numeric::null_space(&rows, d, tolerance, &format!("the fixed-point equations of {}", group.name()))
}

/// F (LᵀF)⁻¹ Lᵀ over the rationals.
fn exact_projection(d: usize, right: &[Vector], left: &[Vector]) -> RationalMatrix {
    let k = right.len();
    assert_eq!(k, left.len(), "left and right fixed spaces of a finite group have one dimension");
    if k == 0 {
        return RationalMatrix::from_fn(d, |_, _| RBig::ZERO);
    }
    let middle = RationalMatrix::from_fn(k, |a, b| RBig::from(linear::dot(&left[a], &right[b])));
    let middle = middle.inverse().expect("a finite group's fixed spaces are in duality");
    let entry = |i: usize, j: usize| {
        let mut sum = RBig::ZERO;
        for (a, f) in right.iter().enumerate().filter(|(_, f)| !f[i].is_zero()) {
            for (b, l) in left.iter().enumerate().filter(|(_, l)| !l[j].is_zero()) {
                sum += middle.at(a, b) * RBig::from(&f[i] * &l[j]);
            }
        }
        sum
    };
    RationalMatrix::from_fn(d, entry)
}

fn oblique_projection(d: usize, right: &[Vec<f64>], left: &[Vec<f64>]) -> RealMatrix {
    let k = right.len();
    let middle = RealMatrix::from_fn(k, |a, b| numeric::dot(&left[a], &right[b]));
    let middle = if k == 0 { Some(middle) } else { middle.inverse() };
    let middle = middle.expect("a finite group's fixed spaces are in duality");
    RealMatrix::from_fn(d, |i, j| {
        (0..k).flat_map(|a| (0..k).map(move |b| (a, b))).map(|(a, b)| right[a][i] * middle.at(a, b) * left[b][j]).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::candidates;

    fn group(shape: &str, text: &str) -> Group {
        candidates(&shape.parse().unwrap(), [text]).unwrap().remove(0)
    }

    #[test]
    fn orbits_give_the_vectors_that_elimination_gives() {
        let cases = [
            ("3x3x3", "rot90(1,2)"),
            ("3x3x3", "join(rot90(1,2),permute(0))"),
            ("10", "join(swap(0;0,2),swap(0;2,4),swap(0;1,9))"),
            ("4x4", "nodes(0,1)"),
            ("4", "negate"),
            ("5", "generators([[1,2,-0,3,4]])"),
            ("5", "generators([[2,-1,0,4,-3]])"),
        ];
        for (shape, text) in cases {
            let group = group(shape, text);
            for side in [Side::Left, Side::Right] {
                assert_eq!(fixed_space(&group, side), eliminated(&group, side), "{text} on {shape}");
            }
        }
    }

    #[test]
    fn left_and_right_differ_for_a_sheared_swap() {
        // A swap seen through the shear S = [[1,1],[0,1]]: T = S P S⁻¹ = [[1,0],[1,-1]].
        let sheared = group("2", "generators([[[1,0],[1,-1]]])");
        let one = |v: i64| IBig::from(v);
        assert_eq!(right_fixed_space(&sheared), vec![vec![one(2), one(1)]]);
        assert_eq!(left_fixed_space(&sheared), vec![vec![one(1), one(0)]]);
        // R = (I + T) / 2.
        let r = Reynolds::new(&sheared, &Tolerance::default()).unwrap();
        let half = |a: i64, b: i64| vec![RBig::from(a) / RBig::from(2), RBig::from(b) / RBig::from(2)];
        assert_eq!(r.matrix().unwrap(), RationalMatrix::new(vec![half(2, 0), half(1, 0)]).unwrap());
        let (mut x, mut w) = ([3.0, 5.0], [3.0, 5.0]);
        r.apply(&mut x);
        r.apply_to_weights(&mut w);
        assert_eq!((x, w), ([3.0, 1.5], [5.5, 0.0]));
    }

    #[test]
    fn exact_and_real_paths_agree() {
        let exact = group("2", "generators([[[1,0],[1,-1]]])");
        let real = group("2", "generators([[[1.0,0.0],[1.0,-1.0]]])");
        let tolerance = Tolerance::default();
        let (a, b) = (Reynolds::new(&exact, &tolerance).unwrap(), Reynolds::new(&real, &tolerance).unwrap());
        assert!(b.gap().unwrap() > 1e10 && a.gap().is_none());
        let (mut x, mut y) = ([0.3, -1.7], [0.3, -1.7]);
        a.apply_to_weights(&mut x);
        b.apply_to_weights(&mut y);
        assert!(x.iter().zip(&y).all(|(p, q)| (p - q).abs() < 1e-12));
    }

    #[test]
    fn weights_are_invariant_to_several_groups_whatever_they_generate() {
        let shape: Shape = "3".parse().unwrap();
        let of = |list: &[&str]| {
            let groups = candidates(&shape, list.iter().copied()).unwrap();
            invariant_weights(&shape, &groups, &Tolerance::default()).unwrap()
        };
        // Two mirrors of a plane at an angle that is no part of a full turn: together infinitely many, and each fixes the third axis.
        let mirrors = ["generators([[[3/5,4/5,0],[4/5,-3/5,0],[0,0,1]]])", "generators([[-0,1,2]])"];
        let groups = candidates(&shape, mirrors).unwrap();
        assert!(Group::join("both", &groups).is_err());
        assert_eq!(of(&mirrors), [[0.0, 0.0, 1.0]]);
        // The first of them in decimals: the same two dimensions.
        let (exact, real) = (of(&mirrors[..1]), of(&["generators([[[0.6,0.8,0.0],[0.8,-0.6,0.0],[0.0,0.0,1.0]]])"]));
        assert_eq!((exact.len(), real.len()), (2, 2));
        let fixed = |w: &[f64]| (0.6 * w[0] + 0.8 * w[1] - w[0]).abs() < 1e-12 && (0.8 * w[0] - 0.6 * w[1] - w[1]).abs() < 1e-12;
        assert!(exact.iter().chain(&real).all(|w| fixed(w)), "{exact:?} {real:?}");
        assert_eq!(of(&[]).len(), 3);
    }

    #[test]
    fn negate_fixes_nothing() {
        let r = Reynolds::new(&group("2x2", "negate"), &Tolerance::default()).unwrap();
        let mut x = [1.0, 2.0, 3.0, 4.0];
        r.apply(&mut x);
        assert_eq!(x.map(|x| x as i32), [0; 4]);
        assert!(left_fixed_space(&group("2x2", "negate")).is_empty());
    }
}

//! The groups that a candidate stands for on a given shape.

use std::collections::HashMap;

use crate::action::Action;
use crate::alias::Alias;
use crate::error::{Error, Result};
use crate::group::{Group, Swap};
use crate::matrix::{RationalMatrix, RealMatrix};
use crate::permutation::{Permutation, SignedPermutation};
use crate::shape::Shape;
use crate::spec::{Candidate, Generator, Kind, Number};

/// Most entries that the permutations of a family of swaps may have together: 1 GiB of memory.
const MAX_FAMILY_ENTRIES: usize = 1 << 28;
/// Largest dimension for which the user's matrices are accepted: exact elimination is cubic.
const MAX_MATRIX_SIDE: usize = 512;

impl Candidate {
    /// The groups that this candidate stands for: one, or one per pair of positions for `swaps` and `node_swaps`.
    pub fn groups(&self, shape: &Shape) -> Result<Vec<Group>> {
        let builder = Builder { shape, shown: self.kind.to_string() };
        let family = match &self.kind {
            Kind::Swaps { axis } => Some(vec![*axis]),
            Kind::NodeSwaps { axes } => Some(axes.clone()),
            _ => None,
        };
        let Some(axes) = family else {
            let group = builder.group(&self.kind)?;
            return Ok(vec![match &self.name {
                Some(name) => group.named(name),
                None => group,
            }]);
        };
        let n = builder.common_side(&axes)?;
        if n < 2 {
            return builder.wrong(format!("axis {} has size {n}: there is nothing to swap", axes[0]));
        }
        let entries = (n * (n - 1) / 2).saturating_mul(shape.len());
        if entries > MAX_FAMILY_ENTRIES {
            let reason =
                format!("{} swaps of {} entries are too many; permute or nodes needs no list", n * (n - 1) / 2, shape.len());
            return builder.wrong(reason);
        }
        let mut groups = Vec::with_capacity(n * (n - 1) / 2);
        for i in 0..n {
            for j in i + 1..n {
                let kind = Kind::Swap { axes: axes.clone(), pair: [i, j] };
                let name = self.name.as_ref().map_or_else(|| kind.to_string(), |name| format!("{name}({i},{j})"));
                groups.push(builder.swap(&axes, i, j)?.named(name));
            }
        }
        Ok(groups)
    }
}

/// Reads a list of candidates in shorthand and builds all their groups on one shape.
///
/// ```
/// # use invar_algebra::{candidates, Shape};
/// let shape: Shape = "3x28x28".parse()?;
/// let groups = candidates(&shape, ["rot=rot90(1,2)", "flip(1)", "permute(0)"])?;
/// assert_eq!(groups[0].name(), "rot");
/// assert_eq!(groups[2].order(), 6u32.into());
/// # Ok::<(), invar_algebra::Error>(())
/// ```
pub fn candidates<'a>(shape: &Shape, shorthand: impl IntoIterator<Item = &'a str>) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    for text in shorthand {
        groups.extend(text.parse::<Candidate>()?.groups(shape)?);
    }
    let mut named: HashMap<&str, &Group> = HashMap::new();
    for group in &groups {
        if named.insert(group.name(), group).is_some_and(|earlier| !earlier.is_same_as(group)) {
            return Err(Error::Candidates(format!("two different groups are called `{}`; give each its own name", group.name())));
        }
    }
    Ok(groups)
}

struct Builder<'a> {
    shape: &'a Shape,
    shown: String,
}

impl Builder<'_> {
    fn wrong<T>(&self, reason: String) -> Result<T> {
        Err(Error::Group { group: self.shown.clone(), reason })
    }

    fn check_axes(&self, axes: &[usize]) -> Result<()> {
        for (k, &axis) in axes.iter().enumerate() {
            if axis >= self.shape.axes() {
                let last = self.shape.axes() - 1;
                return self.wrong(format!("axis {axis} is out of range; shape {} has axes 0 to {last}", self.shape));
            }
            if axes[..k].contains(&axis) {
                return self.wrong(format!("axis {axis} is named twice"));
            }
        }
        Ok(())
    }

    fn common_side(&self, axes: &[usize]) -> Result<usize> {
        self.check_axes(axes)?;
        let n = self.shape.side(axes[0]);
        match axes.iter().find(|&&axis| self.shape.side(axis) != n) {
            Some(&axis) => {
                let (a, b) = (axes[0], self.shape.side(axis));
                self.wrong(format!("axes {a} and {axis} must be of one size, but shape {} has {n} and {b} there", self.shape))
            }
            None => Ok(n),
        }
    }

    /// The action that changes the index of every entry by `f`.
    fn moving(&self, mut f: impl FnMut(&mut [usize])) -> Action {
        let mut index = vec![0; self.shape.axes()];
        Action::Permutation(Permutation::from_fn(self.shape.len(), |entry| {
            self.shape.unflat(entry, &mut index);
            f(&mut index);
            self.shape.flat(&index)
        }))
    }

    /// The action that applies one permutation to the indices of several axes.
    fn along(&self, axes: &[usize], p: impl Fn(usize) -> usize) -> Action {
        self.moving(|index| axes.iter().for_each(|&axis| index[axis] = p(index[axis])))
    }

    fn flip(&self, axis: usize) -> Action {
        let n = self.shape.side(axis);
        self.along(&[axis], |i| n - 1 - i)
    }

    /// Two generators of the symmetric group: the exchange of the first two indices, and the cycle of all.
    fn symmetric(&self, axes: &[usize]) -> Vec<Action> {
        let n = self.shape.side(axes[0]);
        let mut generators = Vec::new();
        if n > 1 {
            generators.push(self.along(axes, |i| [1, 0].get(i).copied().unwrap_or(i)));
        }
        if n > 2 {
            generators.push(self.along(axes, |i| (i + 1) % n));
        }
        generators
    }

    fn swap(&self, axes: &[usize], i: usize, j: usize) -> Result<Group> {
        let n = self.common_side(axes)?;
        if let Some(index) = [i, j].into_iter().find(|&index| index >= n) {
            return self.wrong(format!("index {index} is out of range; axis {} has indices 0 to {}", axes[0], n - 1));
        }
        if i == j {
            return self.wrong(format!("the two indices must differ, but both are {i}"));
        }
        let (i, j) = (i.min(j), i.max(j));
        let exchange = self.along(axes, |k| {
            if k == i {
                j
            } else if k == j {
                i
            } else {
                k
            }
        });
        let group = Group::unchecked(self.shown.clone(), self.shape, vec![exchange]);
        Ok(group.with_swap(Swap { axes: axes.to_vec(), i, j }))
    }

    fn group(&self, kind: &Kind) -> Result<Group> {
        let made = |generators| Ok(Group::unchecked(self.shown.clone(), self.shape, generators));
        match kind {
            Kind::Rot90 { axes: [a, b] } => {
                self.check_axes(&[*a, *b])?;
                let (n, m) = (self.shape.side(*a), self.shape.side(*b));
                if n != m {
                    let shape = self.shape;
                    return self.wrong(format!(
                        "a quarter turn needs equal sides, but axes {a} and {b} of shape {shape} have {n} and {m}"
                    ));
                }
                // As numpy.rot90: the entry at (row, column) goes to (n - 1 - column, row).
                made(vec![self.moving(|index| (index[*a], index[*b]) = (n - 1 - index[*b], index[*a]))])
            }
            Kind::Flip { axis } => self.check_axes(&[*axis]).and_then(|()| made(vec![self.flip(*axis)])),
            Kind::Flips { axes } => {
                self.check_axes(axes)?;
                made(axes.iter().map(|&axis| self.flip(axis)).collect())
            }
            Kind::Permute { axis } => {
                self.check_axes(&[*axis])?;
                made(self.symmetric(&[*axis]))
            }
            Kind::Cycle { axis } | Kind::Shift { axis } => {
                self.check_axes(&[*axis])?;
                let n = self.shape.side(*axis);
                made(vec![self.along(&[*axis], |i| (i + 1) % n)])
            }
            Kind::Nodes { axes } => {
                self.common_side(axes)?;
                made(self.symmetric(axes))
            }
            Kind::Swap { axes, pair: [i, j] } => self.swap(axes, *i, *j),
            Kind::Negate => {
                let d = self.shape.len();
                let all = SignedPermutation::new(Permutation::identity(d), vec![true; d]).expect("one sign per entry");
                made(vec![Action::Signed(all)])
            }
            Kind::Alias(Alias::Half) => {
                // Both axes at once: one element, not the four of two mirrors.
                let Kind::Flips { axes } = self.alias(Alias::Half)? else { return self.wrong("it is no half turn".into()) };
                made(vec![
                    self.moving(|index| axes.iter().for_each(|&axis| index[axis] = self.shape.side(axis) - 1 - index[axis])),
                ])
            }
            Kind::Alias(alias) => self.group(&self.alias(*alias)?),
            Kind::Exchange { .. } => self.wrong("it says the names of columns, which a project on a table knows".into()),
            Kind::Generators { axes, list } => self.generators(axes, list),
            Kind::Join { of } | Kind::Product { of } => {
                let part = |kind: &Kind| Builder { shape: self.shape, shown: kind.to_string() }.group(kind);
                let parts = of.iter().map(part).collect::<Result<Vec<_>>>()?;
                match kind {
                    Kind::Join { .. } => Group::join(self.shown.clone(), &parts),
                    _ => Group::direct_product(self.shown.clone(), &parts),
                }
            }
            Kind::Swaps { .. } | Kind::NodeSwaps { .. } => {
                self.wrong("it stands for many candidates and cannot be joined; use permute or nodes".into())
            }
        }
    }

    fn alias(&self, alias: Alias) -> Result<Kind> {
        alias.on(self.shape).or_else(|reason| self.wrong(reason))
    }

    fn generators(&self, axes: &[usize], list: &[Generator]) -> Result<Group> {
        let n = if axes.is_empty() { self.shape.len() } else { self.common_side(axes)? };
        let action = |(index, generator): (usize, &Generator)| {
            let wrong = |reason: String| Error::Generator { group: self.shown.clone(), index, reason };
            let action = match generator {
                Generator::Images(images) => {
                    if images.len() != n {
                        let what =
                            if axes.is_empty() { format!("shape {} has", self.shape) } else { format!("axis {} has", axes[0]) };
                        return Err(wrong(format!("it lists {} images, but {what} {n} entries", images.len())));
                    }
                    let permutation =
                        Permutation::new(images.iter().map(|&(_, i)| u32::try_from(i).unwrap_or(u32::MAX)).collect());
                    let permutation = permutation.map_err(wrong)?;
                    let negative: Vec<bool> = images.iter().map(|&(minus, _)| minus).collect();
                    if axes.is_empty() {
                        Action::Signed(SignedPermutation::new(permutation, negative).map_err(wrong)?)
                    } else if negative.contains(&true) {
                        return Err(wrong("signs can change on the whole tensor only; leave the axes out".into()));
                    } else {
                        self.along(axes, |i| permutation.image(i))
                    }
                }
                Generator::Matrix(_) if !axes.is_empty() => {
                    return Err(wrong("a matrix acts on the whole flattened tensor; leave the axes out".into()));
                }
                Generator::Matrix(rows) => matrix(rows).map_err(wrong)?,
            };
            if matches!(action, Action::Rational(_) | Action::Real(_)) && n > MAX_MATRIX_SIDE {
                return Err(wrong(format!("matrices are accepted up to side {MAX_MATRIX_SIDE}; this shape has {n} entries")));
            }
            Ok(action)
        };
        let actions = list.iter().enumerate().map(action).collect::<Result<Vec<_>>>()?;
        Group::new(self.shown.clone(), self.shape, actions)
    }
}

fn matrix(rows: &[Vec<Number>]) -> std::result::Result<Action, String> {
    let exact = |number: &Number| match number {
        Number::Exact(value) => Some(value.clone()),
        Number::Real(_) => None,
    };
    let real = |number: &Number| match number {
        Number::Exact(value) => value.to_f64().value(),
        Number::Real(value) => *value,
    };
    let exact_rows: Option<Vec<Vec<_>>> = rows.iter().map(|row| row.iter().map(exact).collect()).collect();
    Ok(match exact_rows {
        Some(rows) => Action::Rational(RationalMatrix::new(rows)?),
        None => Action::Real(RealMatrix::new(rows.iter().map(|row| row.iter().map(real).collect()).collect())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(shape: &str, text: &str) -> Result<Group> {
        Ok(candidates(&shape.parse()?, [text])?.remove(0))
    }

    #[test]
    fn orders_of_the_built_in_groups() {
        for (shape, text, order) in [
            ("3x28x28", "rot90(1,2)", "4"),
            ("3x28x28", "flip(1)", "2"),
            ("3x28x28", "flips(1,2)", "4"),
            ("3x28x28", "permute(0)", "6"),
            ("3x28x28", "cycle(2)", "28"),
            ("3x28x28", "shift(2)", "28"),
            ("10", "swap(0;2,5)", "2"),
            ("30", "permute(0)", "265252859812191058636308480000000"),
            ("6x6x2", "nodes(0,1)", "720"),
            ("3x3", "negate", "2"),
            ("1x4", "permute(0)", "1"),
            ("3x3", "join(rot90(0,1),flip(0))", "8"),
            ("3x4x4", "product(permute(0),join(rot90(1,2),flip(1)),negate)", "96"),
            ("4", "generators([[1,2,3,0],[1,0,2,3]])", "24"),
            ("2", "generators([[[0,-1],[1,0]]])", "4"),
            ("2", "generators([[[1,-1],[1,0]]])", "6"),
            ("2", "generators([[[0.5,-0.8660254037844386],[0.8660254037844386,0.5]]])", "6"),
            ("4x5", "generators(1;[[1,0,2,3,4]])", "2"),
        ] {
            assert_eq!(one(shape, text).unwrap().order().to_string(), order, "{text} on {shape}");
        }
    }

    #[test]
    fn rot90_turns_as_numpy_does() {
        let group = one("2x2", "rot90(0,1)").unwrap();
        let mut out = [0.0; 4];
        group.generators()[0].apply(&[1.0, 2.0, 3.0, 4.0], &mut out);
        assert_eq!(out.map(|x| x as i32), [2, 4, 1, 3]);
    }

    #[test]
    fn families_expand_to_one_group_a_pair() {
        let shape: Shape = "4".parse().unwrap();
        let groups = candidates(&shape, ["p=swaps(0)"]).unwrap();
        let names: Vec<&str> = groups.iter().map(Group::name).collect();
        assert_eq!(names, ["p(0,1)", "p(0,2)", "p(0,3)", "p(1,2)", "p(1,3)", "p(2,3)"]);
    }

    #[test]
    fn groups_that_do_not_fit_say_why() {
        for (shape, text, part) in [
            ("3x28x28", "rot90(0,1)", "a quarter turn needs equal sides, but axes 0 and 1 of shape 3x28x28 have 3 and 28"),
            ("3x28x28", "flip(3)", "axis 3 is out of range; shape 3x28x28 has axes 0 to 2"),
            ("3x3", "rot90(1,1)", "axis 1 is named twice"),
            ("10", "swap(0;2,10)", "index 10 is out of range"),
            ("10", "swap(0;2,2)", "the two indices must differ"),
            ("4x5", "nodes(0,1)", "axes 0 and 1 must be of one size"),
            ("3", "generators([[1,0]])", "generator 0: it lists 2 images, but shape 3 has 3 entries"),
            ("3", "generators([[0,1,2],[1,1,2]])", "generator 1: entries 0 and 1 both go to 1"),
            ("2", "generators([[[1,2],[2,4]]])", "generator 0: the matrix is not invertible"),
            ("2", "generators([[[1,1],[0,1]]])", "generator 0: the group it generates looks infinite"),
            ("2", "generators([[[2,1],[1,1]]])", "generator 0: the group it generates looks infinite"),
            ("2", "generators([[[0,1],[1,0]],[[0,2],[1/2,0]]])", "looks infinite"),
            ("2", "generators([[[0.6,-0.8],[0.8,0.6]]])", "looks infinite"),
            ("3", "generators([[[1,0],[0,1]]])", "it acts on 2 entries, but shape 3 has 3"),
            ("2", "product(flip(0),generators([[1,0]]))", "share more than the identity"),
            ("3x3", "product(rot90(0,1),flip(0))", "do not commute"),
            ("1x4", "swaps(0)", "axis 0 has size 1: there is nothing to swap"),
            ("5000", "swaps(0)", "12497500 swaps of 5000 entries are too many"),
        ] {
            let error = one(shape, text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = candidates(&"4".parse().unwrap(), ["a=flip(0)", "a=cycle(0)"]).unwrap_err().to_string();
        assert!(error.contains("two different groups are called `a`"), "{error}");
    }

    #[test]
    fn appendix_a_pair_is_not_normal_either_way() {
        let shape: Shape = "60x60".parse().unwrap();
        let groups = candidates(&shape, ["rot90(0,1)", "shift(1)"]).unwrap();
        let whole = Group::join("all", &groups).unwrap();
        assert_eq!(whole.order(), 14400u32.into());
        for (group, other) in [(0, "shift(1)"), (1, "rot90(0,1)")] {
            let witness = groups[group].witness_against_normality(&groups).unwrap();
            assert_eq!(witness.of, other);
            let moved = witness.g.after(&witness.h).after(&witness.g.inverse().unwrap());
            assert!(groups[group].contains(&witness.h) && !groups[group].contains(&moved));
        }
        assert!(whole.witness_against_normality(&groups).is_none());
    }

    #[test]
    fn large_symmetric_groups_answer_at_once() {
        let shape: Shape = "1000".parse().unwrap();
        let groups = candidates(&shape, ["permute(0)", "swap(0;3,997)", "cycle(0)", "flip(0)"]).unwrap();
        assert!(groups[1..].iter().all(|group| group.is_subgroup_of(&groups[0])));
        assert!(groups[1].witness_against_normality(&groups).is_some());
        assert!(groups[0].witness_against_normality(&groups).is_none());
        assert_eq!(groups[0].order().to_string().len(), 2568);
    }
}

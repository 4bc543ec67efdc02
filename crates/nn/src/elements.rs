//! The elements of a small group, one by one: networks that look at an input from every side need them.

use std::collections::HashMap;

use invar_algebra::{Action, Group, Permutation, RationalMatrix, Shape, SignedPermutation, UBig};

use crate::lattices::LayerLattice;
use crate::{Error, Result};

/// All elements of a finite group, the identity first, each with its number.
#[derive(Debug, Clone)]
pub struct Elements {
    list: Vec<Action>,
    numbers: HashMap<Exact, usize>,
}

/// What an element is looked up by: equality of transformations is equality of these.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Exact {
    Permutation(Permutation),
    Signed(SignedPermutation),
    Rational(RationalMatrix),
}

impl Exact {
    fn of(action: &Action) -> Result<Self> {
        match action.clone().simplified() {
            Action::Permutation(permutation) => Ok(Self::Permutation(permutation)),
            Action::Signed(signed) => Ok(Self::Signed(signed)),
            Action::Rational(matrix) => Ok(Self::Rational(matrix)),
            // Products of rounded matrices never come back to where they began.
            Action::Real(_) => {
                let expected = "a permutation, with or without signs, or a matrix of integers and fractions";
                Err(Error::shape("generator of a candidate", expected, "a matrix with decimals"))
            }
        }
    }
}

impl Elements {
    /// Lists a group of at most `cap` elements: breadth first from the identity, generators in their order.
    pub fn of(group: &Group, cap: usize) -> Result<Self> {
        let order = group.order();
        if order > UBig::from(cap) {
            let expected = format!("at most {cap} elements, because the network looks at every one of them");
            return Err(Error::Shape { what: "order of the group", expected, got: order.to_string() });
        }
        let identity = Action::identity(group.shape().len());
        let mut elements = Self { numbers: HashMap::from([(Exact::of(&identity)?, 0)]), list: vec![identity] };
        let mut next = 0;
        while next < elements.list.len() {
            for generator in group.generators() {
                let product = generator.after(&elements.list[next]);
                let key = Exact::of(&product)?;
                if !elements.numbers.contains_key(&key) {
                    elements.numbers.insert(key, elements.list.len());
                    elements.list.push(product);
                }
            }
            next += 1;
        }
        Ok(elements)
    }

    /// The elements, the identity first.
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// The number of an element; none when it is not in the group.
    pub fn number(&self, element: &Action) -> Option<usize> {
        self.numbers.get(&Exact::of(element).ok()?).copied()
    }

    /// Left multiplication g -> h g as a permutation of the numbers; none when h is not in the group.
    pub fn left(&self, h: &Action) -> Option<Permutation> {
        let images = self.list.iter().map(|g| self.number(&h.after(g)).map(|n| n as u32)).collect::<Option<Vec<u32>>>()?;
        Permutation::new(images).ok()
    }

    /// The lattice on functions of the elements, R^|G|, on which a candidate acts by left multiplication: an equivariant
    /// network has one value for each element, and moving its input by h moves them from g to h g.
    pub(crate) fn lattice<'a>(&self, acting: impl Iterator<Item = (usize, &'a Group)>) -> Result<LayerLattice> {
        let shape = Shape::new(&[self.list.len()])?;
        let on_elements = |group: &Group| -> Result<Group> {
            let outside = || Error::shape("candidate", "elements of the network's group", group.name());
            let left = |generator: &Action| self.left(generator).map(Action::Permutation).ok_or_else(outside);
            let generators = group.generators().iter().map(left).collect::<Result<_>>()?;
            Ok(Group::new(group.name(), &shape, generators)?)
        };
        let acting = acting.map(|(i, group)| Ok((i, on_elements(group)?))).collect::<Result<_>>()?;
        LayerLattice::new(&shape, acting)
    }
}

/// The permutation an action is.
pub(crate) fn permutation(action: &Action) -> Result<Permutation> {
    match action {
        Action::Permutation(permutation) => Ok(permutation.clone()),
        other => Err(Error::shape("generator of a candidate", "a permutation of the entries", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::candidates;

    fn group(shape: &str, of: &[&str]) -> Group {
        let shape: Shape = shape.parse().unwrap();
        Group::join("all", &candidates(&shape, of.iter().copied()).unwrap()).unwrap()
    }

    #[test]
    fn the_table_of_products_is_a_group() {
        for (shape, of, order) in [
            ("3x3", vec!["rot90(0,1)", "flip(0)"], 8),
            ("4", vec!["permute(0)"], 24),
            ("2", vec!["permute(0)", "negate"], 4),
            // The turns and mirrors of a regular hexagon, in a basis in which they are integers.
            ("2", vec!["generators([[[0,-1],[1,1]]])", "permute(0)"], 12),
        ] {
            let elements = Elements::of(&group(shape, &of), 24).unwrap();
            assert_eq!(elements.list().len(), order, "{of:?}");
            assert!(elements.list()[0].is_identity());
            for (number, a) in elements.list().iter().enumerate() {
                assert_eq!(elements.number(a), Some(number));
                let left = elements.left(a).unwrap();
                for b in elements.list() {
                    // Left multiplication is a homomorphism, and only the identity fixes a number.
                    assert_eq!(elements.left(&a.after(b)).unwrap(), left.after(&elements.left(b).unwrap()));
                }
                assert!(a.is_identity() || (0..order).all(|n| left.image(n) != n));
            }
        }
        let square = Elements::of(&group("3x3", &["rot90(0,1)", "flip(0)"]), 8).unwrap();
        let other = Permutation::new(vec![1, 0, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert!(square.left(&Action::Permutation(other)).is_none());
    }

    #[test]
    fn large_groups_and_decimals_are_refused() {
        let message = Elements::of(&group("10", &["permute(0)"]), 256).unwrap_err().to_string();
        assert!(message.contains("at most 256 elements") && message.contains("got 3628800"), "{message}");
        let turn = "generators([[[0.5,-0.8660254037844386],[0.8660254037844386,0.5]]])";
        let message = Elements::of(&group("2", &[turn]), 256).unwrap_err().to_string();
        assert!(message.ends_with("integers and fractions, got a matrix with decimals"), "{message}");
    }
}

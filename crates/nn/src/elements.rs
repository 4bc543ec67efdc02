//! The elements of a small permutation group, one by one: networks that look at an input from every side need them.

use std::collections::HashMap;

use invar_algebra::{Action, Group, Permutation, Shape, UBig};

use crate::lattices::LayerLattice;
use crate::{Error, Result};

/// All elements of a permutation group, the identity first, each with its number.
#[derive(Debug, Clone)]
pub struct Elements {
    list: Vec<Permutation>,
    numbers: HashMap<Permutation, usize>,
}

impl Elements {
    /// Lists a group of at most `cap` elements: breadth first from the identity, generators in their order.
    pub fn of(group: &Group, cap: usize) -> Result<Self> {
        let order = group.order();
        if order > UBig::from(cap) {
            let expected = format!("at most {cap} elements, because the network looks at every one of them");
            return Err(Error::Shape { what: "order of the group", expected, got: order.to_string() });
        }
        let generators = group.generators().iter().map(permutation).collect::<Result<Vec<_>>>()?;
        let identity = Permutation::identity(group.shape().len());
        let mut elements = Self { numbers: HashMap::from([(identity.clone(), 0)]), list: vec![identity] };
        let mut next = 0;
        while next < elements.list.len() {
            for generator in &generators {
                let product = generator.after(&elements.list[next]);
                if !elements.numbers.contains_key(&product) {
                    elements.numbers.insert(product.clone(), elements.list.len());
                    elements.list.push(product);
                }
            }
            next += 1;
        }
        Ok(elements)
    }

    /// The elements, the identity first.
    pub fn list(&self) -> &[Permutation] {
        &self.list
    }

    /// The number of an element; none when it is not in the group.
    pub fn number(&self, element: &Permutation) -> Option<usize> {
        self.numbers.get(element).copied()
    }

    /// Left multiplication g -> h g as a permutation of the numbers; none when h is not in the group.
    pub fn left(&self, h: &Permutation) -> Option<Permutation> {
        let images = self.list.iter().map(|g| self.number(&h.after(g)).map(|n| n as u32)).collect::<Option<Vec<u32>>>()?;
        Permutation::new(images).ok()
    }
}

impl Elements {
    /// The lattice on functions of the elements, R^|G|, on which a candidate acts by left multiplication: an equivariant
    /// network has one value for each element, and moving its input by h moves them from g to h g.
    pub(crate) fn lattice<'a>(&self, acting: impl Iterator<Item = (usize, &'a Group)>) -> Result<LayerLattice> {
        let shape = Shape::new(&[self.list.len()])?;
        let on_elements = |group: &Group| -> Result<Group> {
            let left = |generator: &Action| -> Result<Action> {
                let outside = || Error::shape("candidate", "elements of the network's group", group.name());
                self.left(&permutation(generator)?).map(Action::Permutation).ok_or_else(outside)
            };
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
    fn the_square_has_eight_and_the_table_is_a_group() {
        let square = group("3x3", &["rot90(0,1)", "flip(0)"]);
        let elements = Elements::of(&square, 8).unwrap();
        assert_eq!(elements.list().len(), 8);
        assert!(elements.list()[0].is_identity());
        for a in elements.list() {
            let left = elements.left(a).unwrap();
            for b in elements.list() {
                // Left multiplication is a homomorphism, and only the identity fixes a number.
                assert_eq!(elements.left(&a.after(b)).unwrap(), left.after(&elements.left(b).unwrap()));
            }
            assert!(a.is_identity() || (0..8).all(|n| left.image(n) != n));
        }
        assert!(elements.left(&Permutation::new(vec![1, 0, 2, 3, 4, 5, 6, 7, 8]).unwrap()).is_none());
    }

    #[test]
    fn large_groups_and_matrices_are_refused() {
        let message = Elements::of(&group("10", &["permute(0)"]), 256).unwrap_err().to_string();
        assert!(message.contains("at most 256 elements") && message.contains("got 3628800"), "{message}");
        assert_eq!(Elements::of(&group("4", &["permute(0)"]), 256).unwrap().list().len(), 24);
        assert!(Elements::of(&group("3", &["negate"]), 256).unwrap_err().to_string().contains("a permutation of the entries"));
    }
}

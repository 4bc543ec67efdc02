//! Tensor shapes and the row-major correspondence between entries and flat indices.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The largest number of entries a shape may have: a permutation of them takes four bytes each, and orbits some more.
pub(crate) const MAX_ENTRIES: usize = 1 << 25;

/// A tensor shape, such as `3x28x28`: at least one axis, no axis empty.
///
/// ```
/// let shape: invar_algebra::Shape = "3x28x28".parse()?;
/// assert_eq!(shape.len(), 2352);
/// assert_eq!(shape.flat(&[1, 0, 2]), 786);
/// # Ok::<(), invar_algebra::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Shape(Box<[usize]>);

impl Shape {
    /// Checks the sides and makes a shape of them.
    pub fn new(sides: &[usize]) -> Result<Self> {
        let named = || sides.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
        let wrong = |reason: String| Error::Shape { shape: named(), reason };
        if sides.is_empty() {
            return Err(Error::Shape { shape: "()".into(), reason: "at least one axis is needed, such as 10 or 3x28x28".into() });
        }
        if let Some(axis) = sides.iter().position(|&n| n == 0) {
            return Err(wrong(format!("axis {axis} has size 0; every side must be at least 1")));
        }
        match sides.iter().try_fold(1usize, |all, &n| all.checked_mul(n)) {
            Some(entries) if entries <= MAX_ENTRIES => Ok(Self(sides.into())),
            _ => Err(wrong(format!("it has more than {MAX_ENTRIES} entries"))),
        }
    }

    /// Number of entries of the tensor, the `d` of the paper.
    #[expect(clippy::len_without_is_empty, reason = "a shape always has entries")]
    pub fn len(&self) -> usize {
        self.0.iter().product()
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.0.len()
    }

    /// The size of one axis.
    pub fn side(&self, axis: usize) -> usize {
        self.0[axis]
    }

    /// All sides, first axis first.
    pub fn sides(&self) -> &[usize] {
        &self.0
    }

    /// The flat index of an entry, last axis fastest.
    pub fn flat(&self, index: &[usize]) -> usize {
        debug_assert_eq!(index.len(), self.axes());
        index.iter().zip(&self.0).fold(0, |flat, (i, n)| flat * n + i)
    }

    /// The entry at a flat index, written into `index`.
    pub fn unflat(&self, mut flat: usize, index: &mut [usize]) {
        for (i, n) in index.iter_mut().zip(&self.0).rev() {
            *i = flat % n;
            flat /= n;
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&sides.join("x"))
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let side = |part: &str| {
            part.trim().parse::<usize>().map_err(|_| Error::Shape {
                shape: text.into(),
                reason: format!("`{}` is not a whole number; expected sides joined by x, such as 3x28x28", part.trim()),
            })
        };
        Self::new(&text.split(['x', 'X', '×']).map(side).collect::<Result<Vec<_>>>()?)
    }
}

impl TryFrom<Vec<usize>> for Shape {
    type Error = Error;

    fn try_from(sides: Vec<usize>) -> Result<Self> {
        Self::new(&sides)
    }
}

impl From<Shape> for Vec<usize> {
    fn from(shape: Shape) -> Self {
        shape.0.into_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_and_unflat_are_inverse() {
        let shape = Shape::new(&[2, 3, 4]).unwrap();
        let mut index = [0; 3];
        for flat in 0..shape.len() {
            shape.unflat(flat, &mut index);
            assert_eq!(shape.flat(&index), flat);
        }
        assert_eq!(index, [1, 2, 3]);
    }

    #[test]
    fn bad_shapes_say_what_is_wrong() {
        for (text, part) in [
            ("3x0x2", "axis 1 has size 0"),
            ("", "`` is not a whole number"),
            ("3x-1", "`-1` is not a whole number"),
            ("3xx3", "`` is not a whole number"),
            ("99999x99999x99999x99999", "more than"),
            ("18446744073709551616", "is not a whole number"),
        ] {
            let error = text.parse::<Shape>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Shape::new(&[]).is_err());
    }
}

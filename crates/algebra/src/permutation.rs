//! Permutations and signed permutations of the entries of a tensor.

use std::fmt;

/// A permutation p of 0..n: the transformation that moves entry i to place p(i), so `(T x)[p(i)] = x[i]`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Permutation(Box<[u32]>);

impl Permutation {
    /// The permutation that moves nothing.
    pub fn identity(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    /// The permutation with the given images, or what is wrong with them.
    pub fn new(images: Vec<u32>) -> Result<Self, String> {
        let n = images.len();
        let mut first = vec![u32::MAX; n];
        for (i, &image) in images.iter().enumerate() {
            match first.get_mut(image as usize) {
                None => return Err(format!("image {image} of entry {i} is out of range; expected 0 to {}", n.saturating_sub(1))),
                Some(seen) if *seen != u32::MAX => {
                    return Err(format!("entries {seen} and {i} both go to {image}; every place must be reached exactly once"));
                }
                Some(seen) => *seen = i as u32,
            }
        }
        Ok(Self(images.into()))
    }

    /// The permutation with images `f(0), f(1), ...`, which the caller knows to be a bijection.
    pub(crate) fn from_fn(n: usize, f: impl FnMut(usize) -> usize) -> Self {
        let mut f = f;
        let images: Box<[u32]> = (0..n).map(|i| f(i) as u32).collect();
        debug_assert!(Self::new(images.to_vec()).is_ok());
        Self(images)
    }

    /// Number of points.
    #[expect(clippy::len_without_is_empty, reason = "degree of a permutation, not a collection")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The image of a point.
    pub fn image(&self, i: usize) -> usize {
        self.0[i] as usize
    }

    /// All images, p(0) first.
    pub fn images(&self) -> &[u32] {
        &self.0
    }

    /// Whether nothing moves.
    pub fn is_identity(&self) -> bool {
        self.0.iter().enumerate().all(|(i, &p)| i == p as usize)
    }

    /// First `other`, then `self`: i goes to self(other(i)).
    #[must_use]
    pub fn after(&self, other: &Self) -> Self {
        Self(other.0.iter().map(|&i| self.0[i as usize]).collect())
    }

    /// The permutation that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = vec![0; self.len()];
        for (i, &p) in self.0.iter().enumerate() {
            inverse[p as usize] = i as u32;
        }
        Self(inverse.into())
    }

    /// The two points exchanged, if exactly two points move.
    pub(crate) fn transposition(&self) -> Option<(usize, usize)> {
        let mut moved = (0..self.len()).filter(|&i| self.image(i) != i);
        match (moved.next(), moved.next(), moved.next()) {
            (Some(a), Some(b), None) => Some((a, b)),
            _ => None,
        }
    }

    /// Cycles of length two or more, each from its smallest point.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.len()];
        let mut cycles = Vec::new();
        for start in 0..self.len() {
            let mut cycle = Vec::new();
            let mut i = start;
            while !seen[i] {
                seen[i] = true;
                cycle.push(i);
                i = self.image(i);
            }
            if cycle.len() > 1 {
                cycles.push(cycle);
            }
        }
        cycles
    }
}

/// Cycle notation, shortened when it would not fit on a line: `(0 2)(1 3)`.
impl fmt::Display for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 24;
        let cycles = self.cycles();
        if cycles.is_empty() {
            return f.write_str("identity");
        }
        let moved: usize = cycles.iter().map(Vec::len).sum();
        let mut left = SHOWN;
        for cycle in &cycles {
            if left == 0 {
                break;
            }
            f.write_str("(")?;
            for (k, i) in cycle.iter().enumerate() {
                if left == 0 {
                    f.write_str(" …")?;
                    break;
                }
                left -= 1;
                if k > 0 {
                    f.write_str(" ")?;
                }
                write!(f, "{i}")?;
            }
            f.write_str(")")?;
        }
        if moved > SHOWN {
            write!(f, "… ({moved} of {} entries move in {} cycles)", self.len(), cycles.len())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A permutation that may also change signs: `(T x)[p(i)] = x[i]` or `-x[i]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SignedPermutation {
    permutation: Permutation,
    negative: Box<[bool]>,
}

impl SignedPermutation {
    /// Entry i goes to `permutation(i)`, with its sign changed where `negative[i]`.
    pub fn new(permutation: Permutation, negative: Vec<bool>) -> Result<Self, String> {
        if negative.len() == permutation.len() {
            Ok(Self { permutation, negative: negative.into() })
        } else {
            Err(format!("{} signs for {} entries", negative.len(), permutation.len()))
        }
    }

    /// Where the entries go, signs aside.
    pub fn permutation(&self) -> &Permutation {
        &self.permutation
    }

    /// Which entries change sign on their way.
    pub fn negative(&self) -> &[bool] {
        &self.negative
    }

    /// The same transformation on the 2n points +e_i (point i) and -e_i (point n + i): faithful, and an ordinary permutation.
    pub(crate) fn doubled(&self) -> Permutation {
        let n = self.permutation.len();
        Permutation::from_fn(2 * n, |point| {
            let (i, minus) = (point % n, point >= n);
            self.permutation.image(i) + if minus == self.negative[i] { 0 } else { n }
        })
    }

    /// First `other`, then `self`.
    #[must_use]
    pub fn after(&self, other: &Self) -> Self {
        let negative =
            (0..other.negative.len()).map(|i| other.negative[i] != self.negative[other.permutation.image(i)]).collect();
        Self { permutation: self.permutation.after(&other.permutation), negative }
    }

    /// The signed permutation that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let permutation = self.permutation.inverse();
        let negative = permutation.images().iter().map(|&i| self.negative[i as usize]).collect();
        Self { permutation, negative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_inverses() {
        let p = Permutation::new(vec![1, 2, 0, 4, 3]).unwrap();
        assert!(p.after(&p.inverse()).is_identity());
        assert_eq!(p.after(&p).images(), [2, 0, 1, 3, 4]);
        assert_eq!(p.to_string(), "(0 1 2)(3 4)");
        let s = SignedPermutation::new(p, vec![true, false, false, true, false]).unwrap();
        let one = s.after(&s.inverse());
        assert!(one.permutation().is_identity() && one.negative().iter().all(|n| !n));
        assert_eq!(s.after(&s).doubled(), s.doubled().after(&s.doubled()));
        assert_eq!(s.inverse().doubled(), s.doubled().inverse());
    }

    #[test]
    fn images_that_are_no_bijection_are_named() {
        assert_eq!(Permutation::new(vec![0, 3, 1]).unwrap_err(), "image 3 of entry 1 is out of range; expected 0 to 2");
        assert!(Permutation::new(vec![1, 0, 1]).unwrap_err().contains("entries 0 and 2 both go to 1"));
    }
}

//! One linear transformation of the flattened tensor, in the simplest exact form it has.

use dashu_ratio::RBig;

use crate::matrix::{RationalMatrix, RealMatrix};
use crate::permutation::{Permutation, SignedPermutation};
use crate::tolerance::Tolerance;

/// An invertible linear transformation T of R^d.
///
/// Products and inverses come back in the simplest form: a matrix that permutes entries becomes a [`Permutation`], so
/// equality of exact actions is equality of values.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Moves entries.
    Permutation(Permutation),
    /// Moves entries and changes signs.
    Signed(SignedPermutation),
    /// Any linear map with rational entries.
    Rational(RationalMatrix),
    /// Any linear map, known to working precision only.
    Real(RealMatrix),
}

impl Action {
    /// The transformation that does nothing.
    pub fn identity(d: usize) -> Self {
        Self::Permutation(Permutation::identity(d))
    }

    /// Number of entries it acts on.
    #[expect(clippy::len_without_is_empty, reason = "dimension of a space, not a collection")]
    pub fn len(&self) -> usize {
        match self {
            Self::Permutation(p) => p.len(),
            Self::Signed(s) => s.permutation().len(),
            Self::Rational(m) => m.len(),
            Self::Real(m) => m.len(),
        }
    }

    /// Whether nothing changes.
    pub fn is_identity(&self) -> bool {
        match self {
            Self::Permutation(p) => p.is_identity(),
            Self::Signed(s) => s.permutation().is_identity() && s.negative().iter().all(|minus| !minus),
            matrix => matches!(matrix.clone().simplified(), Self::Permutation(p) if p.is_identity()),
        }
    }

    /// Writes `T x` into `out`.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert!(x.len() == self.len() && out.len() == self.len(), "an action on {} entries got {}", self.len(), x.len());
        match self {
            Self::Permutation(p) => p.images().iter().zip(x).for_each(|(&to, &from)| out[to as usize] = from),
            Self::Signed(s) => {
                for ((&to, &minus), &from) in s.permutation().images().iter().zip(s.negative()).zip(x) {
                    out[to as usize] = if minus { -from } else { from };
                }
            }
            Self::Rational(m) => out.copy_from_slice(&m.to_real().apply(x)),
            Self::Real(m) => out.copy_from_slice(&m.apply(x)),
        }
    }

    /// First `other`, then `self`.
    #[must_use]
    pub fn after(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Permutation(a), Self::Permutation(b)) => Self::Permutation(a.after(b)),
            (Self::Real(_), _) | (_, Self::Real(_)) => Self::Real(self.to_real().times(&other.to_real())).simplified(),
            (Self::Rational(_), _) | (_, Self::Rational(_)) => {
                Self::Rational(self.to_rational().times(&other.to_rational())).simplified()
            }
            _ => Self::Signed(self.to_signed().after(&other.to_signed())).simplified(),
        }
    }

    /// The transformation that undoes this one; none for a singular matrix.
    pub fn inverse(&self) -> Option<Self> {
        Some(match self {
            Self::Permutation(p) => Self::Permutation(p.inverse()),
            Self::Signed(s) => Self::Signed(s.inverse()),
            Self::Rational(m) => Self::Rational(m.inverse()?),
            Self::Real(m) => Self::Real(m.inverse()?),
        })
    }

    /// The same transformation in the simplest form it has.
    #[must_use]
    pub fn simplified(self) -> Self {
        match self {
            Self::Signed(s) if s.negative().iter().all(|minus| !minus) => Self::Permutation(s.permutation().clone()),
            Self::Rational(m) => {
                let sign = |i: usize, j: usize| unit(m.at(i, j));
                monomial(m.len(), sign).unwrap_or(Self::Rational(m))
            }
            Self::Real(m) => {
                let same = Tolerance::default().same;
                let sign = |i: usize, j: usize| {
                    let entry = m.at(i, j);
                    [0i8, 1, -1].into_iter().find(|&s| (entry - f64::from(s)).abs() <= same)
                };
                monomial(m.len(), sign).unwrap_or(Self::Real(m))
            }
            simple => simple,
        }
    }

    pub(crate) fn to_signed(&self) -> SignedPermutation {
        match self {
            Self::Permutation(p) => SignedPermutation::new(p.clone(), vec![false; p.len()]).expect("as many signs as points"),
            Self::Signed(s) => s.clone(),
            Self::Rational(_) | Self::Real(_) => unreachable!("a matrix is not asked for its signs"),
        }
    }

    /// As an exact matrix. Real matrices have none.
    pub(crate) fn to_rational(&self) -> RationalMatrix {
        if let Self::Rational(m) = self {
            return m.clone();
        }
        let s = self.to_signed();
        let value = |j: usize| if s.negative()[j] { RBig::NEG_ONE } else { RBig::ONE };
        RationalMatrix::from_fn(self.len(), |i, j| if s.permutation().image(j) == i { value(j) } else { RBig::ZERO })
    }

    pub(crate) fn to_real(&self) -> RealMatrix {
        match self {
            Self::Real(m) => m.clone(),
            _ => self.to_rational().to_real(),
        }
    }
}

fn unit(entry: &RBig) -> Option<i8> {
    [(RBig::ZERO, 0), (RBig::ONE, 1), (RBig::NEG_ONE, -1)].into_iter().find(|(value, _)| value == entry).map(|(_, sign)| sign)
}

/// The signed permutation with these entries, if every entry is 0 or ±1 and every row and column has exactly one ±1.
fn monomial(n: usize, sign: impl Fn(usize, usize) -> Option<i8>) -> Option<Action> {
    let mut images = Vec::with_capacity(n);
    let mut negative = Vec::with_capacity(n);
    for j in 0..n {
        let mut image = None;
        for i in 0..n {
            match (sign(i, j)?, image) {
                (0, _) => {}
                (s, None) => image = Some((i, s)),
                _ => return None,
            }
        }
        let (i, s) = image?;
        images.push(i as u32);
        negative.push(s < 0);
    }
    let permutation = Permutation::new(images).ok()?;
    SignedPermutation::new(permutation, negative).ok().map(|s| Action::Signed(s).simplified())
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Permutation(p) => write!(f, "{p}"),
            Self::Signed(s) if s.negative().iter().all(|&minus| minus) && s.permutation().is_identity() => {
                f.write_str("change every sign")
            }
            Self::Signed(s) => {
                let count = s.negative().iter().filter(|&&minus| minus).count();
                write!(f, "{} and change {count} of {} signs", s.permutation(), s.negative().len())
            }
            Self::Rational(m) => write!(f, "a rational {0}x{0} matrix", m.len()),
            Self::Real(m) => write!(f, "a real {0}x{0} matrix", m.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_come_back_in_the_simplest_form() {
        let p = Permutation::new(vec![1, 0, 2]).unwrap();
        let minus = Action::Signed(SignedPermutation::new(p.clone(), vec![true; 3]).unwrap());
        assert_eq!(minus.after(&minus), Action::identity(3));
        let matrix = Action::Rational(minus.to_rational()).simplified();
        assert_eq!(matrix, minus);
        let real = Action::Real(minus.to_real());
        assert!(real.after(&minus).is_identity());
        assert_eq!(Action::Permutation(p.clone()).after(&minus).after(&Action::Permutation(p.clone())), minus);
    }

    #[test]
    fn all_forms_move_a_vector_alike() {
        let signed =
            Action::Signed(SignedPermutation::new(Permutation::new(vec![2, 0, 1]).unwrap(), vec![true, false, false]).unwrap());
        for action in [signed.clone(), Action::Rational(signed.to_rational()), Action::Real(signed.to_real())] {
            let mut out = [0.0; 3];
            action.apply(&[1.0, 2.0, 3.0], &mut out);
            assert_eq!(out.map(|x| x as i32), [2, 3, -1]);
        }
    }
}

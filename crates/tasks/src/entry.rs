//! The numbers that examples are made of, and how an action moves them.

use invar_algebra::{Action, Group};

use crate::error::{Error, Result};

/// A type of entries: `u8` and `i32` for tokens, `f32` for arrays.
///
/// Permutations move entries of any type. A change of sign needs a signed type, a matrix needs `f32`.
pub trait Entry: Copy + Default + PartialEq + std::fmt::Debug {
    /// The name of the type in messages.
    const NAME: &'static str;

    /// The entry with its sign changed; none for unsigned types.
    fn negated(self) -> Option<Self> {
        None
    }

    /// `T x` for a matrix T; none for integers, which a matrix would leave.
    fn times(_matrix: &Action, _x: &[Self]) -> Option<Vec<Self>> {
        None
    }
}

impl Entry for u8 {
    const NAME: &'static str = "u8";
}

impl Entry for i32 {
    const NAME: &'static str = "i32";

    fn negated(self) -> Option<Self> {
        Some(self.wrapping_neg())
    }
}

impl Entry for f32 {
    const NAME: &'static str = "f32";

    fn negated(self) -> Option<Self> {
        Some(-self)
    }

    fn times(matrix: &Action, x: &[Self]) -> Option<Vec<Self>> {
        let x: Vec<f64> = x.iter().map(|&from| f64::from(from)).collect();
        let mut out = vec![0.0; x.len()];
        matrix.apply(&x, &mut out);
        Some(out.into_iter().map(|value| value as Self).collect())
    }
}

/// Checks that entries of type `T` can undergo every element of a group: products of permutations permute, products of
/// signed permutations at most change signs.
pub(crate) fn check<T: Entry>(group: &Group) -> Result<()> {
    let zero = T::default();
    let takes_matrices = || T::times(&Action::identity(1), &[zero]).is_some();
    for generator in group.generators() {
        let needs = match generator {
            Action::Permutation(_) => None,
            Action::Signed(_) => zero.negated().is_none().then_some("i32 or f32"),
            Action::Rational(_) | Action::Real(_) => (!takes_matrices()).then_some("f32"),
        };
        if let Some(expected) = needs {
            return Err(Error::Entries { what: group.name().to_string(), expected, got: T::NAME });
        }
    }
    Ok(())
}

/// `T x`, for an action that passed [`check`].
pub(crate) fn moved<T: Entry>(action: &Action, x: &[T]) -> Vec<T> {
    let known = "the type of entries was checked";
    let mut out = vec![T::default(); x.len()];
    match action {
        Action::Permutation(p) => p.images().iter().zip(x).for_each(|(&to, &from)| out[to as usize] = from),
        Action::Signed(s) => {
            for ((&to, &minus), &from) in s.permutation().images().iter().zip(s.negative()).zip(x) {
                out[to as usize] = if minus { from.negated().expect(known) } else { from };
            }
        }
        Action::Rational(_) | Action::Real(_) => out = T::times(action, x).expect(known),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_algebra::candidates;

    fn group(shape: &str, text: &str) -> Group {
        candidates(&shape.parse().unwrap(), [text]).unwrap().remove(0)
    }

    #[test]
    fn each_type_takes_the_actions_it_can() {
        let (swap, minus) = (group("3", "swap(0;0,2)"), group("3", "negate"));
        let matrix = group("2", "generators([[[1,-1],[1,0]]])");
        assert!(check::<u8>(&swap).is_ok() && check::<i32>(&minus).is_ok() && check::<f32>(&matrix).is_ok());
        assert_eq!(check::<u8>(&minus).unwrap_err().to_string(), "negate needs entries of type i32 or f32, got u8");
        assert!(check::<i32>(&matrix).unwrap_err().to_string().ends_with("needs entries of type f32, got i32"));
    }

    #[test]
    fn entries_move_as_the_algebra_says() {
        assert_eq!(moved(&group("3", "swap(0;0,2)").generators()[0], &[1u8, 2, 3]), [3, 2, 1]);
        assert_eq!(moved(&group("3", "cycle(0)").generators()[0], &[1, 2, 3]), [3, 1, 2]);
        assert_eq!(moved(&group("2", "negate").generators()[0], &[1, -2]), [-1, 2]);
        assert_eq!(moved(&group("2", "generators([[[1,-1],[1,0]]])").generators()[0], &[5.0f32, 3.0]), [2.0, 5.0]);
    }
}

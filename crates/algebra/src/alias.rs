//! Symmetries by what they do to a picture or a series, whatever the number of axes: `mirror(left-right)`, `reverse(time)`.

use std::fmt;

use crate::shape::Shape;
use crate::spec::Kind;

/// A symmetry in words. Pictures end with rows and columns, series with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alias {
    /// Exchanges left and right: the last axis is mirrored.
    LeftRight,
    /// Exchanges top and bottom: the last axis but one is mirrored.
    TopBottom,
    /// Turns a square picture by quarters.
    Quarter,
    /// Turns a picture upside down.
    Half,
    /// Exchanges the colours of a picture in every way.
    Colours,
    /// Lets time run backwards.
    ReverseTime,
    /// Begins a periodic series anywhere.
    ShiftTime,
}

/// Aliases with the word and the argument that name them.
pub(crate) const ALIASES: [(Alias, &str, &str); 7] = [
    (Alias::LeftRight, "mirror", "left-right"),
    (Alias::TopBottom, "mirror", "top-bottom"),
    (Alias::Quarter, "rotate", "quarter"),
    (Alias::Half, "rotate", "half"),
    (Alias::Colours, "exchange", "colours"),
    (Alias::ReverseTime, "reverse", "time"),
    (Alias::ShiftTime, "shift", "time"),
];

impl Alias {
    /// The alias that these words name; `colors` is another way to write it.
    pub(crate) fn named(word: &str, argument: &str) -> Option<Self> {
        let argument = if argument == "colors" { "colours" } else { argument };
        ALIASES.into_iter().find(|&(_, a, b)| (a, b) == (word, argument)).map(|(alias, ..)| alias)
    }

    /// Whether it is about series.
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::ReverseTime | Self::ShiftTime)
    }

    /// The same in axes of this shape.
    pub fn on(self, shape: &Shape) -> Result<Kind, String> {
        let axes = shape.axes();
        let fits = match self {
            Self::Colours => axes == 3,
            Self::ReverseTime | Self::ShiftTime => true,
            _ => axes >= 2,
        };
        if !fits {
            let wanted = if self == Self::Colours { "colours, rows and columns" } else { "rows and columns" };
            return Err(format!("it needs pictures of {wanted}, but examples have the shape {shape}"));
        }
        let last = axes - 1;
        Ok(match self {
            Self::LeftRight | Self::ReverseTime => Kind::Flip { axis: last },
            Self::TopBottom => Kind::Flip { axis: last - 1 },
            Self::Quarter => Kind::Rot90 { axes: [last - 1, last] },
            Self::Half => Kind::Flips { axes: vec![last - 1, last] },
            Self::Colours => Kind::Permute { axis: 0 },
            Self::ShiftTime => Kind::Shift { axis: last },
        })
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, word, argument) = ALIASES.iter().find(|(alias, ..)| alias == self).ok_or(fmt::Error)?;
        write!(f, "{word}({argument})")
    }
}

#[cfg(test)]
mod tests {
    use crate::candidates;
    use crate::group::Group;

    fn one(shape: &str, text: &str) -> crate::Result<Group> {
        Ok(candidates(&shape.parse()?, [text])?.remove(0))
    }

    #[test]
    fn aliases_are_the_groups_that_they_say_and_print_as_written() {
        for (shape, alias, plain) in [
            ("3x4x6", "mirror(left-right)", "flip(2)"),
            ("3x4x6", "mirror(top-bottom)", "flip(1)"),
            ("4x6", "mirror(top-bottom)", "flip(0)"),
            ("3x5x5", "rotate(quarter)", "rot90(1,2)"),
            ("2x3", "rotate(half)", "generators([[5,4,3,2,1,0]])"),
            ("3x4x6", "exchange(colours)", "permute(0)"),
            ("3x4x6", "exchange(colors)", "permute(0)"),
            ("2x8", "reverse(time)", "flip(1)"),
            ("8", "shift(time)", "shift(0)"),
            ("3x4x6", "join(mirror(left-right),exchange(colours))", "join(flip(2),permute(0))"),
        ] {
            let group = one(shape, alias).unwrap();
            assert!(group.is_same_as(&one(shape, plain).unwrap()), "{alias} on {shape}");
            assert_eq!(group.name(), alias.replace("colors", "colours"));
        }
        // A half turn is one change, not both mirrors.
        assert_eq!(one("3x4x6", "rotate(half)").unwrap().order(), 2u32.into());
    }

    #[test]
    fn aliases_on_other_shapes_say_what_they_need() {
        for (shape, text, part) in [
            ("8", "mirror(left-right)", "it needs pictures of rows and columns, but examples have the shape 8"),
            ("4x6", "exchange(colours)", "it needs pictures of colours, rows and columns"),
            ("3x4x6", "rotate(quarter)", "a quarter turn needs equal sides"),
            ("4", "exchange(a,b)", "names of columns, which a project on a table knows"),
        ] {
            let error = one(shape, text).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(text), "{text}: {error}");
        }
    }
}

//! One value of a table.

use crate::error::{Error, quote};

/// What people write where a value is missing.
const MISSING: [&str; 9] = ["", "na", "n/a", "nan", "null", "none", "?", "-", "<na>"];
/// Of these what may as well be the name of a class.
const NAMES: [&str; 2] = ["none", "-"];

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Missing,
    Number(f32),
    Date,
    Text,
}

impl Value {
    /// `decimal_commas`: commas do not separate fields, so that one may stand within a number.
    pub(super) fn of(text: &str, decimal_commas: bool) -> Self {
        if MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Self::Missing;
        }
        if let Ok(number) = text.parse() {
            return Self::Number(number);
        }
        if let Some(number) = decimal_commas.then(|| with_comma(text)).flatten() {
            return Self::Number(number);
        }
        if is_date(text) { Self::Date } else { Self::Text }
    }
}

/// A label that is a word, though the word may stand for a missing value elsewhere.
pub(super) fn is_class(text: &str) -> bool {
    NAMES.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// `1,5`, as half of the world writes 1.5.
fn with_comma(text: &str) -> Option<f32> {
    let (whole, rest) = text.split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sound = digits(whole.strip_prefix(['-', '+']).unwrap_or(whole)) && digits(rest.split(['e', 'E']).next().unwrap_or(rest));
    sound.then(|| format!("{whole}.{rest}").parse().ok()).flatten()
}

/// Year, month and day in any order, with or without a time behind: `2024-01-31`, `31.1.2024`, `1/31/24 10:00`.
fn is_date(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or(text);
    ['-', '/', '.'].into_iter().any(|mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        let short = |part: &&str| matches!(part.len(), 1 | 2);
        let year = |part: &&str| matches!(part.len(), 2 | 4);
        parts.len() == 3
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
            && short(&parts[1])
            && (year(&parts[0]) && short(&parts[2]) || short(&parts[0]) && year(&parts[2]))
    })
}

/// A value and its place.
pub(super) struct Cell<'a> {
    pub(super) origin: &'a str,
    pub(super) line: &'a dyn Fn() -> u64,
    pub(super) column: &'a str,
    pub(super) text: &'a str,
}

impl Cell<'_> {
    pub(super) fn wrong(&self, expected: &'static str, got: &str) -> Error {
        Error::Cell {
            origin: self.origin.to_owned(),
            line: (self.line)(),
            column: self.column.to_owned(),
            expected,
            got: got.to_owned(),
        }
    }

    pub(super) fn missing(&self, expected: &'static str) -> Error {
        let word = if self.text.is_empty() { String::new() } else { format!(" ({})", quote(self.text)) };
        self.wrong(expected, &format!("a missing value{word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_they_look_like() {
        for text in ["", "NA", "n/a", "NaN", "?", "-", "None", "<NA>"] {
            assert_eq!(Value::of(text, false), Value::Missing, "{text}");
        }
        for (text, number) in [("1", 1.0), ("-2.5e3", -2500.0), ("+7", 7.0)] {
            assert_eq!(Value::of(text, false), Value::Number(number));
        }
        for (text, number) in [("1,5", 1.5), ("-0,25", -0.25), ("1,5e2", 150.0)] {
            assert_eq!(Value::of(text, true), Value::Number(number));
            assert_eq!(Value::of(text, false), Value::Text);
        }
        for text in ["1,2,3", ",5", "1,", "a,b", "1,-5"] {
            assert_eq!(Value::of(text, true), Value::Text, "{text}");
        }
        for text in ["2024-01-31", "31.1.2024", "1/31/24", "2024-01-31 10:00", "2024-01-31T10:00:00Z"] {
            assert_eq!(Value::of(text, false), Value::Date, "{text}");
        }
        for text in ["1-2", "10.0.0.1", "a-b-c", "555-01-2345", "red", "--", "é.é.é"] {
            assert_eq!(Value::of(text, false), Value::Text, "{text}");
        }
    }
}

//! What stands between the fields of a row, and quotes that are left open.

use crate::error::{Error, Result, origin};
use std::path::Path;

use super::text::line_at;

/// Separators, those first that are taken in doubt.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Rows that are looked at to tell the separator.
const LOOKED_AT: usize = 50;
/// And bytes.
const BYTES: usize = 1 << 18;

/// The separator that cuts all rows into as many fields as the first, and that into most; else the one that cuts the first into most.
pub(super) fn separator(content: &str) -> u8 {
    let end = (0..=content.len().min(BYTES)).rev().find(|&at| content.is_char_boundary(at)).unwrap_or(0);
    let whole = if end < content.len() { content[..end].rfind('\n').unwrap_or(end) } else { end };
    let score = |separator: u8| {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.flexible(true).has_headers(false).delimiter(separator).from_reader(&content.as_bytes()[..whole]);
        let counts: Vec<usize> =
            reader.into_byte_records().take(LOOKED_AT).filter_map(|row| row.ok().map(|row| row.len())).collect();
        let first = counts.first().copied().unwrap_or(0);
        (first > 1 && counts.iter().all(|&count| count == first), first)
    };
    // The last of equals is taken, so the preferred comes last.
    SEPARATORS.into_iter().rev().max_by_key(|&separator| score(separator)).unwrap_or(b',')
}

/// Refuses a quote that nothing closes: it would make one value of all that follows.
pub(super) fn check_quotes(content: &str, separator: u8, path: &Path) -> Result<()> {
    let mut quotes = Quotes { separator, within: Within::Start, at: 0, opened: 0 };
    content.bytes().for_each(|byte| quotes.step(byte));
    if matches!(quotes.within, Within::Quotes) {
        let place = format!("line {}", line_at(content, quotes.opened));
        return Err(Error::malformed(&origin(path), place, "a quote at the end of the field that begins with one", "none"));
    }
    Ok(())
}

/// Follows the quotes of a file as the parser does.
struct Quotes {
    separator: u8,
    within: Within,
    /// Bytes so far.
    at: usize,
    /// Where the last quoted field begins.
    opened: usize,
}

/// What the next byte belongs to.
enum Within {
    /// The start of a field.
    Start,
    /// A field without quotes, or what follows them.
    Field,
    Quotes,
    /// A quoted field, after a quote: its end, or the first of two that stand for one.
    Closing,
}

impl Quotes {
    fn step(&mut self, byte: u8) {
        self.within = match (&self.within, byte) {
            (Within::Quotes, b'"') => Within::Closing,
            (Within::Quotes, _) | (Within::Closing, b'"') => Within::Quotes,
            (Within::Start, b'"') => {
                self.opened = self.at;
                Within::Quotes
            }
            (_, b'\n' | b'\r') => Within::Start,
            (_, byte) if byte == self.separator => Within::Start,
            _ => Within::Field,
        };
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_told_by_the_rows() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("a\n1\n", b','),
            ("", b','),
            // Decimal commas, and commas within texts.
            ("a;b\n1,5;2,5\n", b';'),
            ("name;b\n\"x, y, z\";2,5\n", b';'),
            ("name\tnote\nx, y\tz\nu\tv, w\n", b'\t'),
            ("a,\"b;c;d\"\n1,2\n", b','),
            // A row that is too short is no reason to look for another separator.
            ("a,b,c\n1,2,3\n4,5\n", b','),
        ] {
            assert_eq!(separator(text), expected, "{text:?}");
        }
        // A text that is longer than what is looked at is cut at a line.
        let long = format!("a;b\n{}", "1;2\n".repeat(BYTES / 2));
        assert_eq!(separator(&long), b';');
        assert_eq!(separator(&"é".repeat(BYTES)), b',');
    }
}

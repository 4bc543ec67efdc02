//! Everything that can be wrong with a file of the user's.

use std::io;
use std::path::Path;

use thiserror::Error;

/// The result of reading or writing a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Where it went wrong, what was expected, and what was there. `origin` is the file, with the array or entry inside it.
#[derive(Debug, Error)]
pub enum Error {
    /// The system refused.
    #[error("{origin}: cannot {action}: {cause}")]
    Io {
        /// The file.
        origin: String,
        /// What was attempted.
        action: &'static str,
        /// Why it failed; part of the message, so that it is no source to be told again.
        cause: io::Error,
    },

    /// A path that leads nowhere.
    #[error("{origin}: no such file or folder")]
    Missing {
        /// The path.
        origin: String,
    },

    /// More bytes than may be used; found out before they are allocated.
    #[error(
        "{origin}: {what} would take {}, but at most {} may be used; read fewer examples at once, or free some memory",
        size(*.needed),
        size(*.limit)
    )]
    TooLarge {
        /// The file.
        origin: String,
        /// What is too large.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },

    /// A file that is damaged, truncated, or not what its name says.
    #[error("{origin}: {place}: expected {expected}, got {got}")]
    Malformed {
        /// The file.
        origin: String,
        /// Where in the file.
        place: String,
        /// What should be there.
        expected: String,
        /// What is there.
        got: String,
    },

    /// A sound file with content that is not read here.
    #[error("{origin}: not supported: {what}; {advice}")]
    Unsupported {
        /// The file.
        origin: String,
        /// The content.
        what: String,
        /// What to do instead.
        advice: String,
    },

    /// A cell of a CSV file.
    #[error("{origin}, line {line}, column {}: expected {expected}, got {got}", quote(.column))]
    Cell {
        /// The file.
        origin: String,
        /// Its line, from 1.
        line: u64,
        /// The name of the column.
        column: String,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        got: String,
    },

    /// A row with more or fewer fields than the header.
    #[error("{origin}, line {line}: expected {expected} fields as in the header, got {got}")]
    Ragged {
        /// The file.
        origin: String,
        /// Its line, from 1.
        line: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        got: usize,
    },

    /// A column or array that is not there, or names that leave a choice.
    #[error("{origin}: {problem}{}; found {}", suggestion(.nearest.as_deref()), list(.found))]
    Name {
        /// The file.
        origin: String,
        /// What is missing or ambiguous.
        problem: String,
        /// The name it resembles, if any.
        nearest: Option<String>,
        /// All names.
        found: Vec<String>,
    },

    /// Inputs and labels, or files, that do not fit each other.
    #[error("{origin}: {what}: expected {expected}, got {got}")]
    Mismatch {
        /// The file.
        origin: String,
        /// What was compared.
        what: &'static str,
        /// What would fit.
        expected: String,
        /// What is there.
        got: String,
    },

    /// A number no network can use.
    #[error("{origin}: {place}: expected a finite number, got {got}")]
    NotFinite {
        /// The file.
        origin: String,
        /// Which example and which entry of it.
        place: String,
        /// NaN or an infinity.
        got: f32,
    },

    /// Labels that cannot be learned from.
    #[error("{origin}: {problem}")]
    Labels {
        /// The file.
        origin: String,
        /// What is wrong with them, and what to do.
        problem: String,
    },

    /// A format that could not be told, or an option that does not fit it.
    #[error("{origin}: {problem}")]
    Request {
        /// The file.
        origin: String,
        /// What is wrong with the request, and what to do.
        problem: String,
    },

    /// A model bundle that is damaged, foreign, or of another version.
    #[error("{origin}: {problem}")]
    Bundle {
        /// The file.
        origin: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },

    /// A graph that ONNX could not run.
    #[error("ONNX {node}: expected {expected}, got {got}")]
    Graph {
        /// The operator or value.
        node: String,
        /// What would fit.
        expected: String,
        /// What was given.
        got: String,
    },
}

impl Error {
    pub(crate) fn io(origin: &str, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let origin = origin.to_owned();
        move |cause| Self::Io { origin, action, cause }
    }

    /// The error of opening a file or folder.
    pub(crate) fn opening(origin: &str) -> impl FnOnce(io::Error) -> Self {
        let origin = origin.to_owned();
        move |cause| match cause.kind() {
            io::ErrorKind::NotFound => Self::Missing { origin },
            _ => Self::Io { origin, action: "open it", cause },
        }
    }

    pub(crate) fn malformed(origin: &str, place: impl Into<String>, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self::Malformed { origin: origin.to_owned(), place: place.into(), expected: expected.into(), got: got.into() }
    }

    pub(crate) fn unsupported(origin: &str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Unsupported { origin: origin.to_owned(), what: what.into(), advice: advice.into() }
    }

    pub(crate) fn mismatch(origin: &str, what: &'static str, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self::Mismatch { origin: origin.to_owned(), what, expected: expected.into(), got: got.into() }
    }

    pub(crate) fn labels(origin: &str, problem: impl Into<String>) -> Self {
        Self::Labels { origin: origin.to_owned(), problem: problem.into() }
    }

    pub(crate) fn request(origin: &str, problem: impl Into<String>) -> Self {
        Self::Request { origin: origin.to_owned(), problem: problem.into() }
    }

    pub(crate) fn name(origin: &str, problem: impl Into<String>, wanted: Option<&str>, found: Vec<String>) -> Self {
        let nearest = wanted.and_then(|wanted| nearest(wanted, &found));
        Self::Name { origin: origin.to_owned(), problem: problem.into(), nearest, found }
    }

    /// The error of a read that ended early, or failed: decompressors report damage as an error of input.
    pub(crate) fn reading(origin: &str, place: &str) -> impl FnOnce(io::Error) -> Self {
        let (origin, place) = (origin.to_owned(), place.to_owned());
        move |cause| match cause.kind() {
            io::ErrorKind::UnexpectedEof => Self::malformed(&origin, place, "more data", "the end of the file: it is truncated"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                Self::malformed(&origin, place, "sound data", one_line(&cause.to_string()))
            }
            _ => Self::Io { origin, action: "read it", cause },
        }
    }
}

/// How a path is shown in messages.
pub(crate) fn origin(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// Whether a letter would steer a terminal, or turn the direction of writing.
pub fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text of others as people may read it: what would [steer](steers) a terminal is shown by its code.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Text of the user's, short enough for a message and without control characters.
pub(crate) fn quote(text: &str) -> String {
    let short = printable(&text.chars().take(40).collect::<String>());
    if text.chars().nth(40).is_some() { format!("`{short}...`") } else { format!("`{short}`") }
}

/// What another library says, on one line and not too long.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(200).collect()
}

/// A shape as it is written on the command line.
pub(crate) fn dims(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    if sizes.is_empty() { "()".to_owned() } else { sizes.join("x") }
}

fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(unit, _)| bytes >= unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

fn nearest(wanted: &str, found: &[String]) -> Option<String> {
    let near = found.iter().map(|name| (strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()), name));
    near.filter(|&(score, _)| score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.clone())
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean {}?)", quote(name))).unwrap_or_default()
}

/// Names in a message, as many as fit in a line.
pub(crate) fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| quote(name)).collect();
    match names.len() {
        0 => "none".to_owned(),
        n if n > SHOWN => format!("{} and {} more", shown.join(", "), n - SHOWN),
        _ => shown.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(12), "12 bytes");
        assert_eq!(size(1 << 20), "1.0 MiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
    }

    #[test]
    fn names_are_listed_and_suggested() {
        let found = vec!["label".to_owned(), "x0".to_owned()];
        let error = Error::name("a.csv", "no column `labels`", Some("labels"), found);
        assert_eq!(error.to_string(), "a.csv: no column `labels` (did you mean `label`?); found `label`, `x0`");
        let many = (0..20).map(|i| i.to_string()).collect();
        assert!(Error::name("a", "b", None, many).to_string().ends_with("`11` and 8 more"));
    }

    #[test]
    fn causes_are_told_once() {
        let error = Error::io("a", "read it")(io::ErrorKind::PermissionDenied.into());
        assert_eq!(error.to_string(), "a: cannot read it: permission denied");
        assert!(std::error::Error::source(&error).is_none());
    }

    #[test]
    fn quoted_text_is_short_and_printable() {
        assert_eq!(quote("a\nb"), "`a\\nb`");
        // A title for the window, a direction of writing, and letters that are as good as others.
        assert_eq!(printable("\u{1b}]0;x\u{7}\u{9b}2J\u{202e}é\u{1f600}"), "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}é\u{1f600}");
        assert_eq!(origin(Path::new("a\u{1b}[2J")), "a\\u{1b}[2J");
        assert!(quote(&"x".repeat(1000)).len() < 50);
    }
}

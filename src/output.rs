//! How results, warnings and errors look on a terminal.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use invar_algebra::{Error, Group, ParseError, warnings};
use invar_lab::files;

const STRONG: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Text that stands out on a terminal.
pub(crate) fn strong(text: &str) -> String {
    format!("{STRONG}{text}{STRONG:#}")
}

/// A word that tells of an error.
pub(crate) fn red(text: &str) -> String {
    format!("{ERROR}{text}{ERROR:#}")
}

/// A word that tells of a warning.
pub(crate) fn yellow(text: &str) -> String {
    format!("{WARNING}{text}{WARNING:#}")
}

/// Prints an error with its causes, and the exit code it deserves: 2 for what the user asked, 1 for what went wrong.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    anstream::eprintln!("{ERROR}error{ERROR:#}: {}", causes.join(": "));
    if let Some(Error::Parse(ParseError { text, position, .. })) = error.downcast_ref() {
        let before = text[..*position].chars().count();
        anstream::eprintln!("  {text}\n  {}{ERROR}^{ERROR:#}", " ".repeat(before));
    }
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

/// Whether the user asked for something that cannot be, rather than something that went wrong.
fn is_usage(error: &anyhow::Error) -> bool {
    fn is_request(error: &invar_data::Error) -> bool {
        matches!(error, invar_data::Error::Request { .. } | invar_data::Error::Name { .. })
    }
    fn algebra(error: &Error) -> bool {
        !matches!(error, Error::TooManySets { .. } | Error::AmbiguousRank { .. } | Error::TooLarge { .. })
    }
    /// Sizes that no network can take are a wrong request, too.
    fn network(error: &invar_nn::Error) -> bool {
        match error {
            invar_nn::Error::Algebra(error) => algebra(error),
            invar_nn::Error::Setting { .. } | invar_nn::Error::Shape { .. } => true,
            _ => false,
        }
    }
    fn lab(error: &invar_lab::Error) -> bool {
        match error {
            invar_lab::Error::Algebra(error) => algebra(error),
            invar_lab::Error::Task(_) | invar_lab::Error::Setting { .. } | invar_lab::Error::Project { .. } => true,
            invar_lab::Error::Data(error) => is_request(error),
            invar_lab::Error::Network(error) => network(error),
            _ => false,
        }
    }
    fn program(error: &invar_program::Error) -> bool {
        match error {
            invar_program::Error::Algebra(error) => algebra(error),
            invar_program::Error::Data(error) => is_request(error),
            _ => false,
        }
    }
    error.downcast_ref().is_some_and(algebra)
        || error.downcast_ref().is_some_and(lab)
        || error.downcast_ref().is_some_and(program)
}

/// Prints what is odd about a list of candidates.
pub(crate) fn warn(groups: &[Group]) {
    for warning in warnings(groups) {
        anstream::eprintln!("{WARNING}warning{WARNING:#}: {warning}");
    }
}

/// Prints a value as JSON on standard output.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Prints text. A reader that stops reading, such as `head`, ends the program quietly.
pub(crate) fn line(text: &str) -> Result<()> {
    use std::io::Write;
    match writeln!(anstream::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        done => done.context("cannot write to standard output"),
    }
}

/// Writes a file whole, or says why not.
pub(crate) fn write(path: &Path, content: &str) -> Result<()> {
    files::write_whole(path, content.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses outputs, each with its option, that would overwrite each other or one of the inputs, each with what it is.
pub(crate) fn check_apart(outputs: &[(&'static str, Option<&Path>)], inputs: &[(&str, &Path)]) -> Result<()> {
    let mut taken: Vec<(String, PathBuf)> = inputs.iter().map(|(what, path)| ((*what).to_owned(), place(path))).collect();
    for (option, path) in outputs.iter().filter_map(|&(option, path)| Some((option, path?))) {
        let here = place(path);
        if let Some((what, _)) = taken.iter().find(|(_, other)| *other == here) {
            let got = format!("{}, which is {what}", path.display());
            return Err(invar_lab::Error::Setting { name: option, expected: "a file of its own".into(), got }.into());
        }
        taken.push((format!("that of {option}"), here));
    }
    Ok(())
}

/// Where a file is or would be, however it is written.
fn place(path: &Path) -> PathBuf {
    let would_be = || Some(invar_data::folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(would_be).unwrap_or_else(|| path.to_path_buf())
}

/// Rows under a header, columns aligned; the columns in `right` hold numbers.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let render = |cells: &[String]| {
        let cell = |(column, text): (usize, &String)| {
            let space = " ".repeat(widths[column] - text.chars().count());
            if right.contains(&column) { format!("{space}{text}") } else { format!("{text}{space}") }
        };
        cells.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    std::iter::once(strong(&render(&header))).chain(rows.iter().map(|row| render(row))).collect::<Vec<_>>().join("\n")
}

/// A number with separators for thousands.
pub(crate) fn thousands(n: &impl ToString) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// An order of a group: in full while a person can read it, else its leading digits and the number of digits.
pub(crate) fn order(n: &impl ToString) -> String {
    let digits = n.to_string();
    if digits.len() <= 15 { thousands(&digits) } else { format!("{}.{}e{}", &digits[..1], &digits[1..4], digits.len() - 1) }
}

/// "1 entry", "27 entries".
pub(crate) fn entries(n: usize) -> String {
    count_of(n, "entry", "entries")
}

/// "1 group", "2 groups".
pub(crate) fn count(n: usize, what: &str) -> String {
    count_of(n, what, &format!("{what}s"))
}

/// The same of what has no plural in s.
pub(crate) fn count_of(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(&n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(thousands(&1_234_567), "1,234,567");
        assert_eq!(thousands(&12), "12");
        assert_eq!(order(&"265252859812191058636308480000000"), "2.652e32");
        assert_eq!(count(1, "group"), "1 group");
    }

    #[test]
    fn files_are_told_apart_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("model"), "").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let check =
            |a: &str, b: &str| check_apart(&[("--a", Some(&at(a))), ("--b", Some(&at(b)))], &[("the model", &at("model"))]);
        assert!(check("x", "y").is_ok() && check("x", "sub/x").is_ok());
        let error = check("x", "sub/../x").unwrap_err().to_string();
        assert!(error.starts_with("--b should be a file of its own") && error.ends_with("which is that of --a"), "{error}");
        assert!(check("sub/../model", "x").unwrap_err().to_string().ends_with("which is the model"));
        assert!(check_apart(&[("--a", None), ("--b", None)], &[]).is_ok());
    }

    #[test]
    fn tables_are_aligned() {
        let rows = vec![vec!["a".into(), "10".into()], vec!["longer".into(), "7".into()]];
        let plain = anstream::adapter::strip_str(&table(&["name", "n"], &rows, &[1])).to_string();
        assert_eq!(plain, "name     n\na       10\nlonger   7");
    }
}

//! How results, warnings and errors look on a terminal.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use invar_algebra::{Error, Group, ParseError, warnings};
use invar_data::{printable, steers};
use invar_lab::files;

const STRONG: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What these are on a terminal: bold, red, yellow, and the end of them.
const OWN: [&str; 4] = ["\u{1b}[1m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[0m"];

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
    let causes: Vec<String> = error.chain().map(|cause| printable(&cause.to_string())).collect();
    note(&format!("{}: {}", red("error"), causes.join(": ")));
    if let Some(Error::Parse(ParseError { text, position, .. })) = error.downcast_ref() {
        let before = printable(&text[..*position]).chars().count();
        note(&format!("  {}\n  {}{}", printable(text), " ".repeat(before), red("^")));
    }
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

/// Prints help, the version, or what is wrong with the arguments.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Arguments may be names of files, put there by a shell; styles are dropped with them.
    let hostile = std::env::args_os().any(|argument| argument.to_string_lossy().contains(steers));
    if hostile {
        note(error.to_string().trim_end());
    } else {
        // A reader that stops reading, such as `head`, is no failure.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
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
            invar_lab::Error::Task(_)
            | invar_lab::Error::Setting { .. }
            | invar_lab::Error::Project { .. }
            | invar_lab::Error::Override { .. } => true,
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
    for one in warnings(groups) {
        warning(&one.to_string());
    }
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    note(&format!("{}: {}", yellow("warning"), printable(text)));
}

/// Prints text beside the answer, on standard error.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{}", guarded(text, &['\n']));
}

/// Text in which nothing steers the terminal but the styles of this file: whatever names of others have been put into it.
fn guarded(text: &str, plain: &[char]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let own = OWN.iter().find(|code| rest.starts_with(**code));
        let (taken, left) = rest.split_at(own.map_or(c.len_utf8(), |code| code.len()));
        if own.is_some() || plain.contains(&c) || !steers(c) {
            shown.push_str(taken);
        } else {
            shown.extend(c.escape_default());
        }
        rest = left;
    }
    shown
}

/// A path as people read it.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A path in a command that is suggested, so that it can be pasted into a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,@%:=".contains(c);
    match () {
        () if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) => text,
        () if !text.contains(steers) => format!("'{}'", text.replace('\'', r"'\''")),
        // Shells know letters by their codes in this form.
        () => {
            let one = |c: char| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
                c if steers(c) => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            };
            format!("$'{}'", text.chars().map(one).collect::<String>())
        }
    }
}

/// Prints a value as JSON on standard output.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<()> {
    line(&safe_json(&serde_json::to_string_pretty(value)?))
}

/// JSON that means the same, without letters that steer a terminal: JSON itself escapes only some of them.
pub(crate) fn safe_json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !steers(c) {
            safe.push(c);
        } else {
            let _ = write!(safe, "\\u{:04x}", u32::from(c));
        }
    }
    safe
}

/// Prints text. A reader that stops reading, such as `head`, ends the program quietly.
pub(crate) fn line(text: &str) -> Result<()> {
    use std::io::Write;
    match writeln!(anstream::stdout(), "{}", guarded(text, &['\n', '\t'])) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        done => done.context("cannot write to standard output"),
    }
}

/// Writes a file whole, or says why not.
pub(crate) fn write(path: &Path, content: &str) -> Result<()> {
    files::write_whole(path, content.as_bytes()).with_context(|| format!("cannot write {}", shown(path)))
}

/// Refuses outputs, each with its option, that would overwrite each other or one of the inputs, each with what it is.
pub(crate) fn check_apart(outputs: &[(&'static str, Option<&Path>)], inputs: &[(&str, &Path)]) -> Result<()> {
    let mut taken: Vec<(String, PathBuf)> = inputs.iter().map(|(what, path)| ((*what).to_owned(), place(path))).collect();
    for (option, path) in outputs.iter().filter_map(|&(option, path)| Some((option, path?))) {
        let here = place(path);
        if let Some((what, _)) = taken.iter().find(|(_, other)| *other == here) {
            let got = format!("{}, which is {what}", shown(path));
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
    // A name with a line end in it would make rows of its own.
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| guarded(cell, &[])).collect()).collect();
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
    fn nothing_but_our_own_styles_steers_the_terminal() {
        let text = format!("{} \u{1b}[2J\u{1b}]0;title\u{7}\u{1b}[31;1m\u{9b}2J\u{202e}\n", red("bad"));
        let shown = r" \u{1b}[2J\u{1b}]0;title\u{7}\u{1b}[31;1m\u{9b}2J\u{202e}";
        assert_eq!(guarded(&text, &['\n']), format!("{}{shown}\n", red("bad")));
        let rows = [vec!["a\nkept".to_owned(), "1".to_owned()]];
        assert!(table(&["name", "n"], &rows, &[1]).ends_with("\na\\nkept  1"));
        let json = serde_json::to_string(&["\u{1b}\u{9b}\u{202e}é"]).unwrap();
        assert_eq!(safe_json(&json), r#"["\u001b\u009b\u202eé"]"#);
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe_json(&json)).unwrap(), ["\u{1b}\u{9b}\u{202e}é"]);
    }

    #[test]
    fn paths_in_commands_can_be_pasted() {
        let quoted = |path: &str| quoted(Path::new(path));
        assert_eq!(quoted("runs/é-1.toml"), "runs/é-1.toml");
        assert_eq!(quoted("my run/it's"), r"'my run/it'\''s'");
        assert_eq!(quoted("$(x)"), "'$(x)'");
        assert_eq!(quoted("-x"), "'-x'");
        assert_eq!(quoted("a\u{1b}'b\u{202e}"), r"$'a\x1b\'b\u202e'");
    }

    #[test]
    fn tables_are_aligned() {
        let rows = vec![vec!["a".into(), "10".into()], vec!["longer".into(), "7".into()]];
        let plain = anstream::adapter::strip_str(&table(&["name", "n"], &rows, &[1])).to_string();
        assert_eq!(plain, "name     n\na       10\nlonger   7");
    }
}

//! Values for keys of a project file that are said elsewhere, as on the command line: `train.epochs=5`.

use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;

use toml::{Table, Value};

use super::file::Project;
use crate::error::{Error, Result};

/// A value for one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// As it was said, for messages.
    said: String,
    section: String,
    key: String,
    value: Value,
}

impl Setting {
    /// The value of a key in a section; `said` is what the user wrote.
    pub fn new(said: impl Into<String>, section: &str, key: &str, value: impl Into<Value>) -> Self {
        Self { said: said.into(), section: section.into(), key: key.into(), value: value.into() }
    }

    fn wrong(&self, problem: String) -> Error {
        Error::Override { said: self.said.clone(), problem }
    }
}

impl FromStr for Setting {
    type Err = Error;

    /// `section.key=value`, the value as it would stand in the file; what is none is taken for a text.
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('=').and_then(|(name, value)| Some((name.trim().split_once('.')?, value.trim())));
        let Some(((section, key), value)) = parts else {
            let problem = "expected section.key=value, such as train.epochs=5".into();
            return Err(Error::Override { said: format!("--set {text}"), problem });
        };
        let read = format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
        let value = read.unwrap_or_else(|| Value::String(value.into()));
        Ok(Self::new(format!("--set {text}"), section.trim(), key.trim(), value))
    }
}

impl Project {
    /// Reads a project file as [`Project::read`] does, with these values in place of what it says. A mistake in one of them is told with
    /// that, not with a line of the file.
    pub fn read_with(path: &Path, settings: &[Setting]) -> Result<Self> {
        let project = Self::read(path)?;
        if settings.is_empty() {
            return Ok(project);
        }
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { what: "read", path: path.into(), source })?;
        Self::parse_with(path, &text, settings)
    }

    /// This project with these values in place of what it says.
    pub fn with(&self, settings: &[Setting]) -> Result<Self> {
        let text = toml::to_string(self).map_err(|error| Error::Setting {
            name: "a project",
            expected: "one that can be written down".into(),
            got: error.to_string(),
        })?;
        Self::parse_with(&self.folder.join("invar.toml"), &text, settings)
    }

    /// The project that a text describes with these values in place of what it says; `path` is where it would stand.
    pub fn parse_with(path: &Path, text: &str, settings: &[Setting]) -> Result<Self> {
        let mut changed = Self::parse(path, text)?;
        // What was parsed as a project is TOML.
        let mut tree: Table = text.parse().unwrap_or_default();
        for setting in settings {
            let section = tree.entry(setting.section.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                section.insert(setting.key.clone(), setting.value.clone());
            }
            let text = toml::to_string(&tree).map_err(|error| setting.wrong(error.to_string()))?;
            changed = Self::parse(path, &text).map_err(|error| match error {
                Error::Project { problem, .. } => setting.wrong(problem),
                error => error,
            })?;
        }
        Ok(changed)
    }
}

/// The text of a project file with settings written into it: in place of the line of their key, even where that is a comment, else at
/// the end of their section. For texts that were written by a program, one key to a line.
pub fn write_into(text: &str, settings: &[Setting]) -> String {
    settings.iter().fold(text.to_owned(), |text, setting| write_one(&text, setting))
}

fn write_one(text: &str, setting: &Setting) -> String {
    let Setting { section, key, value, .. } = setting;
    let line = format!("{key} = {value}");
    let names = |line: &str, key: &str| {
        let rest = line.trim_start_matches(['#', ' ']).strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let start = lines.iter().position(|line| line.trim() == format!("[{section}]"));
    let Some(start) = start else {
        let mut text = text.to_owned();
        let _ = writeln!(text, "\n[{section}]\n{line}");
        return text;
    };
    let end = lines[start + 1..].iter().position(|line| line.starts_with('[')).map_or(lines.len(), |length| start + 1 + length);
    let found = (start + 1..end).filter(|&at| names(&lines[at], key));
    // A line that counts before one that is a comment.
    if let Some(at) = found.min_by_key(|&at| lines[at].starts_with('#')) {
        lines[at] = line;
    } else {
        let last = (start..end).rev().find(|&at| !lines[at].trim().is_empty()).unwrap_or(start);
        lines.insert(last + 1, line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[data]\ntrain = \"a.npz\"\n# test = \"other.npz\"\n\n[task]\nkind = \"classification\"\n[symmetries]\n\
        candidates = [\"flip(1)\"]\n";

    fn settings(texts: &[&str]) -> Vec<Setting> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn read(texts: &[&str]) -> Result<Project> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("invar.toml");
        std::fs::write(&path, FILE).unwrap();
        Project::read_with(&path, &settings(texts))
    }

    #[test]
    fn what_is_said_stands_in_for_the_file() {
        let project = read(&[
            "train.epochs=5",
            "data.label=y",
            "data.test = b.npz",
            "symmetries.candidates=[\"swaps(0)\"]",
            "train.epochs=6",
        ]);
        let project = project.unwrap();
        assert_eq!((project.train.epochs, project.data.label.as_deref()), (Some(6), Some("y")));
        assert_eq!(project.symmetries.candidates[0].to_string(), "swaps(0)");
        assert!(project.data.test.is_some());
    }

    #[test]
    fn what_is_wrong_is_told_as_it_was_said() {
        for (text, part) in [
            ("train.epochs=0", "--set train.epochs=0: [train] epochs: expected at least 1, got 0"),
            ("train.epoch=3", "--set train.epoch=3: unknown key `epoch` in [train] (did you mean `epochs`?)"),
            ("trian.epochs=3", "--set trian.epochs=3: unknown section [trian]"),
            ("train.epochs=many", "--set train.epochs=many: [train] epochs: invalid type: string"),
            ("symmetries.candidates=flip(1)", "--set symmetries.candidates=flip(1): [symmetries] candidates: invalid type"),
        ] {
            let error = read(&[text]).unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
        for text in ["epochs=3", "train.epochs", ""] {
            let error = text.parse::<Setting>().unwrap_err().to_string();
            assert_eq!(error, format!("--set {text}: expected section.key=value, such as train.epochs=5"));
        }
    }

    #[test]
    fn a_sketch_takes_settings_into_its_lines() {
        let text = write_into(FILE, &settings(&["data.test=b.csv", "data.limit=9", "task.kind=regression", "train.seed=3"]));
        assert_eq!(
            text,
            "[data]\ntrain = \"a.npz\"\ntest = \"b.csv\"\nlimit = 9\n\n[task]\nkind = \"regression\"\n[symmetries]\n\
             candidates = [\"flip(1)\"]\n\n[train]\nseed = 3\n"
        );
        assert!(Project::parse(Path::new("invar.toml"), &text).is_ok());
    }
}

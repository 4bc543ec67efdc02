//! Reading a project file: whatever is wrong is told with its line, its key and what was expected.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::file::{DataSection, Files, Project, TrainSection, Validation};
use crate::error::{Error, Result};

/// A project file is written by hand: more than this is something else.
const MAX_BYTES: u64 = 1 << 20;

/// More epochs than this are a slip of the hand: a fit would take months.
const MOST_EPOCHS: usize = 1_000_000;
/// More initialisations of one model are a mistake.
const MOST_RESTARTS: usize = 99;
/// More folds, too.
const MOST_FOLDS: usize = 100;
/// What counts are.
const WHOLE: &str = "expected a whole number, not negative and below 2^63";

/// The key that names a built-in task.
const TASK: &str = "task";
/// What is said about a built-in task alone.
const OF_TASKS: [&str; 3] = ["examples", "length", "invariant"];

/// The sections with their keys; the first of each is required where `true`, but for a built-in task, which is its own data.
const SECTIONS: [(&str, bool, &[&str]); 5] = [
    (
        "data",
        true,
        &[
            "train",
            "validation",
            "test",
            "format",
            "inputs",
            "label",
            "header",
            "ignore",
            "columns",
            "items",
            "shape",
            "layout",
            "pad",
            "resize",
            "limit",
            TASK,
            "examples",
            "length",
            "invariant",
        ],
    ),
    ("task", true, &["kind"]),
    ("symmetries", true, &["candidates"]),
    ("model", false, &["kind", "head"]),
    (
        "train",
        false,
        &[
            "learner",
            "lambdas",
            "penalty",
            "temperature",
            "schedule",
            "learning_rate",
            "epochs",
            "batch",
            "restarts",
            "tolerance",
            "only_shown",
            "folds",
            "require",
            "evidence",
            "augment",
            "seed",
        ],
    ),
];

impl Project {
    /// Reads and checks a project file. Its paths are relative to its folder.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |source| Error::File { what: "read", path: path.to_path_buf(), source };
        let found = std::fs::metadata(path).map_err(failed)?;
        if !found.is_file() || found.len() > MAX_BYTES {
            let got = match () {
                () if found.is_file() => format!("of {} bytes", found.len()),
                () if found.is_dir() => "a folder".into(),
                () => "a pipe or a device".into(),
            };
            let got = format!("{}, which is {got}", path.display());
            return Err(Error::Setting { name: "the project file", expected: "a file of at most 1 MiB".into(), got });
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::parse(path, &text)
    }

    /// The project that a text describes; `path` is where it would stand.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let place = Place { path, text };
        let tree = DeTable::parse(text).map_err(|error| place.wrong(error.span(), error.message()))?;
        place.check_keys(tree.get_ref())?;
        let mut project: Self = toml::from_str(text).map_err(|error| place.explain(tree.get_ref(), &error))?;
        project.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        project.check_values().map_err(|wrong| {
            let key = tree.get_ref().get(wrong.section).and_then(|section| section.get_ref().get(wrong.key));
            let problem = format!("[{}] {}: expected {}, got {}", wrong.section, wrong.key, wrong.expected, wrong.got);
            place.wrong(key.map(toml::Spanned::span), &problem)
        })?;
        Ok(project)
    }

    /// Refuses settings that cannot be, of a project that no file has told.
    pub fn check(&self) -> Result<()> {
        self.check_values().map_err(|Wrong { key, expected, got, .. }| Error::Setting { name: key, expected, got })
    }

    fn check_values(&self) -> std::result::Result<(), Wrong> {
        self.train.check()?;
        self.data.check()
    }
}

impl TrainSection {
    fn check(&self) -> std::result::Result<(), Wrong> {
        let wrong = |key, expected: String, got: String| Err(Wrong { section: "train", key, expected, got });
        let counts = [
            ("epochs", self.epochs, MOST_EPOCHS),
            ("batch", self.batch, usize::MAX),
            ("restarts", self.restarts, MOST_RESTARTS),
            ("folds", self.folds, MOST_FOLDS),
        ];
        for (key, value, most) in counts {
            match value {
                Some(0) => return wrong(key, "at least 1".into(), "0".into()),
                Some(value) if value > most => return wrong(key, format!("at most {most}"), value.to_string()),
                _ => {}
            }
        }
        let numbers = [
            ("learning_rate", self.learning_rate, f64::MIN_POSITIVE..=f64::MAX, "a number above 0"),
            ("tolerance", self.tolerance, 0.0..=100.0, "a number of points from 0 to 100"),
            ("temperature", self.temperature, 1.0..=f64::MAX, "a number of at least 1"),
        ];
        for (key, value, range, expected) in numbers {
            if let Some(value) = value.filter(|value| !range.contains(value)) {
                return wrong(key, expected.into(), value.to_string());
            }
        }
        if let Some(lambdas) = &self.lambdas {
            let bad = lambdas.iter().find(|lambda| !(**lambda >= 0.0 && lambda.is_finite()));
            if bad.is_some() || lambdas.is_empty() {
                let got = bad.map_or("none".into(), f64::to_string);
                return wrong("lambdas", "at least one number, none below 0".into(), got);
            }
        }
        Ok(())
    }
}

impl DataSection {
    fn check(&self) -> std::result::Result<(), Wrong> {
        let wrong = |key, expected: &str, got: String| Err(Wrong { section: "data", key, expected: expected.into(), got });
        if let Validation::Share(share) = self.validation
            && !(share > 0.0 && share < 1.0)
        {
            return wrong("validation", "a share between 0 and 1", share.to_string());
        }
        if let (Some(columns), Some(_)) = (&self.columns, &self.ignore) {
            return wrong("columns", "either `columns` or `ignore`", format!("both ({})", columns.join(", ")));
        }
        if self.columns.as_ref().is_some_and(Vec::is_empty) {
            return wrong("columns", "at least one column", "none".into());
        }
        let unlike =
            |items: &[Vec<String>]| items.len() < 2 || items.iter().any(|item| item.is_empty() || item.len() != items[0].len());
        if let Some((name, _)) = self.items.iter().flatten().find(|(_, items)| unlike(items)) {
            let expected = "two items or more of a kind, each with as many columns";
            return wrong("items", expected, format!("others for `{name}`"));
        }
        if self.limit == Some(0) {
            return wrong("limit", "at least 1", "0".into());
        }
        if let Some(shape) = &self.shape
            && (shape.is_empty() || shape.contains(&0))
        {
            return wrong("shape", "the sides of an example, such as [3, 28, 28]", format!("{shape:?}"));
        }
        let empty = |files: &Files| match files {
            Files::One(path) => path.as_os_str().is_empty(),
            Files::Two { inputs, labels } => [inputs, labels].iter().any(|path| path.as_os_str().is_empty()),
        };
        let validation = if let Validation::Files(files) = &self.validation { Some(files) } else { None };
        let named = [("train", self.train.as_ref()), ("validation", validation), ("test", self.test.as_ref())];
        match named.into_iter().find(|(_, files)| files.is_some_and(empty)) {
            Some((key, _)) => wrong(key, "a path", "an empty text".into()),
            None => Ok(()),
        }
    }
}

/// A value that is of the right type and still cannot be.
struct Wrong {
    section: &'static str,
    key: &'static str,
    expected: String,
    got: String,
}

/// The file, to tell where something is.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    fn wrong(&self, span: Option<Range<usize>>, problem: &str) -> Error {
        let before = span.map_or(0, |span| span.start.min(self.text.len()));
        let line = 1 + self.text.get(..before).unwrap_or_default().matches('\n').count();
        // Parsers write several lines; an error is one.
        let problem = problem.split_whitespace().collect::<Vec<_>>().join(" ");
        Error::Project { path: PathBuf::from(self.path), line, problem }
    }

    fn check_keys(&self, tree: &DeTable<'_>) -> Result<()> {
        for (name, section) in tree {
            let known = SECTIONS.iter().find(|(known, ..)| known == name.get_ref());
            let Some((_, _, keys)) = known else {
                let names = SECTIONS.map(|(name, ..)| name);
                let all = names.map(|name| format!("[{name}]")).join(", ");
                let problem = format!("unknown section [{}]{}; there are {all}", name.get_ref(), nearest(name.get_ref(), &names));
                return Err(self.wrong(Some(name.span()), &problem));
            };
            let DeValue::Table(entries) = section.get_ref() else {
                let problem =
                    format!("{name}: expected a section [{name}], got {}", section.get_ref().type_str(), name = name.get_ref());
                return Err(self.wrong(Some(name.span()), &problem));
            };
            if let Some(key) = entries.keys().find(|key| !keys.contains(&key.get_ref().as_ref())) {
                let (section, key, span) = (name.get_ref(), key.get_ref(), key.span());
                let problem = format!("unknown key `{key}` in [{section}]{}; it has {}", nearest(key, keys), keys.join(", "));
                return Err(self.wrong(Some(span), &problem));
            }
        }
        let data = tree.get("data").and_then(|section| section.get_ref().as_table());
        if let Some(data) = data.filter(|data| data.contains_key(TASK)) {
            let sized = |key: &str| key == TASK || OF_TASKS.contains(&key);
            if let Some(key) = data.keys().find(|key| !sized(key.get_ref())) {
                let problem =
                    format!("[data] {}: a built-in task has no files; it goes with {}", key.get_ref(), OF_TASKS.join(", "));
                return Err(self.wrong(Some(key.span()), &problem));
            }
            return match tree.get("task") {
                Some(section) => Err(self.wrong(Some(section.span()), "[task]: a built-in task knows what is to be predicted")),
                None => Ok(()),
            };
        }
        if let Some((key, _)) = data.and_then(|data| data.iter().find(|(key, _)| OF_TASKS.contains(&key.get_ref().as_ref()))) {
            let problem = format!("[data] {}: is for a built-in task, which `{TASK}` names", key.get_ref());
            return Err(self.wrong(Some(key.span()), &problem));
        }
        for (name, _, keys) in SECTIONS.into_iter().filter(|(_, required, _)| *required) {
            let Some(section) = tree.get(name) else {
                return Err(
                    self.wrong(None, &format!("expected a section [{name}] with the key `{}`; `invar init` writes one", keys[0]))
                );
            };
            if section.get_ref().get(keys[0]).is_none() {
                return Err(self.wrong(Some(section.span()), &format!("[{name}] needs the key `{}`", keys[0])));
            }
        }
        Ok(())
    }

    /// An error of the types: the key is the one whose value holds the place.
    fn explain(&self, tree: &DeTable<'_>, error: &toml::de::Error) -> Error {
        let Some(span) = error.span() else { return self.wrong(None, error.message()) };
        let entries = tree.iter().filter_map(|(name, section)| Some((name, section.get_ref().as_table()?)));
        let found = entries
            .flat_map(|(name, section)| section.iter().map(move |(key, value)| (name, key, value)))
            .find(|(_, key, value)| key.span().start <= span.start && span.start < value.span().end.max(key.span().end));
        // The types of a program say nothing to its users.
        let message = error.message();
        let count = ["expected u64", "expected usize"].iter().find_map(|kind| message.strip_suffix(kind));
        let message = count.map_or_else(|| message.to_owned(), |before| format!("{before}{WHOLE}"));
        match found {
            Some((section, key, _)) => self.wrong(Some(span), &format!("[{}] {}: {message}", section.get_ref(), key.get_ref())),
            None => self.wrong(Some(span), &message),
        }
    }
}

/// " (did you mean `train`?)", when something known is near.
fn nearest(name: &str, known: &[&str]) -> String {
    let best = known.iter().map(|other| (strsim::damerau_levenshtein(name, other), other)).min();
    match best {
        Some((distance, other)) if distance <= 1 + name.chars().count() / 3 => format!(" (did you mean `{other}`?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Goal, Learner, ModelKind};

    const SMALL: &str =
        "[data]\ntrain = \"a.npz\"\n[task]\nkind = \"classification\"\n[symmetries]\ncandidates = [\"flip(1)\"]\n";

    fn parse(text: &str) -> Result<Project> {
        Project::parse(Path::new("place/invar.toml"), text)
    }

    #[test]
    fn a_small_project_has_defaults() {
        let project = parse(SMALL).unwrap();
        assert_eq!(project.source(project.data.train.as_ref().unwrap()).path, Path::new("place/a.npz"));
        assert_eq!((project.task.as_ref().unwrap().kind, project.model.kind), (Goal::Classification, ModelKind::Auto));
        assert_eq!((project.data.validation.clone(), project.tolerance()), (Validation::Share(0.2), 5.0));
        assert_eq!(project.symmetries.candidates[0].to_string(), "flip(1)");
    }

    #[test]
    fn everything_can_be_said() {
        let text = "[data]\ntrain = { inputs = \"x.npy\", labels = \"y.npy\" }\nvalidation = \"v.csv\"\ntest = \"/t.csv\"\n\
            format = \"csv\"\nlabel = \"y\"\nheader = true\nshape = [2, 3]\nlayout = \"channels_last\"\nlimit = 7\nignore = [\"id\"]\npad = true\nresize = [8, 8]\nitems = { s = [[\"a\"], [\"b\"]] }\n[task]\nkind = \"regression\"\n\
            [symmetries]\ncandidates = [{ group = \"flip\", axis = 1, name = \"mirror\" }, \"swaps(0)\"]\n[model]\n\
            kind = \"feedforward\"\nhead = \"affine\"\n[train]\nlearner = \"screen\"\nlambdas = [0, 1.5]\npenalty = \"levels\"\n\
            temperature = 2\nschedule = \"constant\"\nlearning_rate = 0.01\nepochs = 3\nbatch = 4\nrestarts = 2\ntolerance = 1\n\
            only_shown = true\nfolds = 3\nrequire = [\"flip(1)\"]\nevidence = \"all\"\naugment = true\nseed = 9\n";
        let project = parse(text).unwrap();
        let source = project.source(project.data.train.as_ref().unwrap());
        assert_eq!((source.path.as_path(), source.labels.as_deref()), (Path::new("place/x.npy"), Some(Path::new("place/y.npy"))));
        let test = project.source(project.data.test.as_ref().unwrap());
        assert_eq!((test.path.as_path(), test.labels, test.limit), (Path::new("/t.csv"), None, Some(7)));
        assert_eq!((project.train.learner, project.train.seed), (Some(Learner::Screen), 9));
        let written = toml::to_string(&project).unwrap();
        assert_eq!(parse(&written).unwrap(), project);
        // Every key is known to the list that suggestions come from. Missing above are `inputs`, `columns`, which `ignore` replaces, and
        // what is said of tasks.
        let tree: toml::Table = written.parse().unwrap();
        for (name, _, keys) in SECTIONS {
            let missing = keys.iter().filter(|key| !tree[name].as_table().unwrap().contains_key(**key));
            let unsaid: &[&str] =
                if name == "data" { &["inputs", "columns", TASK, "examples", "length", "invariant"] } else { &[] };
            assert!(missing.eq(unsaid), "{name}");
        }
    }

    #[test]
    fn a_built_in_task_is_data_and_goal_in_one() {
        let project = parse("[data]\ntask = \"sum\"\nexamples = 500\nlength = 6\n[train]\nseed = 3\n").unwrap();
        let sizes = (project.data.task.as_deref(), project.data.examples, project.data.length);
        assert_eq!(sizes, (Some("sum"), Some(500), Some(6)));
        assert!(project.symmetries.candidates.is_empty() && project.data.train.is_none());
        assert_eq!(parse(&toml::to_string(&project).unwrap()).unwrap(), project);
        for (text, expected) in [
            (
                "[data]\ntask = \"sum\"\ntrain = \"a.csv\"\n",
                "line 3: [data] train: a built-in task has no files; it goes with examples",
            ),
            ("[data]\ntask = \"sum\"\n[task]\nkind = \"regression\"\n", "line 3: [task]: a built-in task knows what is to be"),
            (&SMALL.replace("[task]", "length = 3\n[task]"), "line 3: [data] length: is for a built-in task, which `task` names"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_key() {
        let with = |text: &str| format!("{SMALL}{text}");
        for (text, expected) in [
            ("[data\n".to_string(), "line 1:"),
            (with("[train]\nepoch = 3\n"), "line 8: unknown key `epoch` in [train] (did you mean `epochs`?); it has learner,"),
            (with("[trian]\n"), "line 7: unknown section [trian] (did you mean `train`?)"),
            (
                with("[train]\nepochs = \"many\"\n"),
                "line 8: [train] epochs: invalid type: string \"many\", expected a whole number, not negative and below 2^63",
            ),
            (with("[train]\nepochs = 1000001\n"), "line 8: [train] epochs: expected at most 1000000, got 1000001"),
            (with("[train]\nrestarts = 100\n"), "line 8: [train] restarts: expected at most 99, got 100"),
            (
                with("[train]\nseed = -1\n"),
                "line 8: [train] seed: invalid value: integer `-1`, expected a whole number, not negative and below 2^63",
            ),
            (
                SMALL.replace("train = \"a.npz\"", "train = \"a\"\nvalidation = \"\""),
                "line 3: [data] validation: expected a path, got an empty text",
            ),
            (with("[train]\nepochs = 0\n"), "line 8: [train] epochs: expected at least 1, got 0"),
            (with("[train]\nlearner = \"scren\"\n"), "line 8: [train] learner: unknown variant `scren`"),
            (
                with("[train]\n\nlambdas = [0, -1]\n"),
                "line 9: [train] lambdas: expected at least one number, none below 0, got -1",
            ),
            (with("[train]\ntolerance = 200\n"), "line 8: [train] tolerance: expected a number of points from 0 to 100, got 200"),
            (with("[model]\nkind = 3\n"), "line 8: [model] kind:"),
            (SMALL.replace("flip(1)", "flp(1)"), "line 6: [symmetries] candidates:"),
            (SMALL.replace("\"a.npz\"", "[1]"), "line 2: [data] train: a path in quotes"),
            (
                SMALL.replace("train = \"a.npz\"", "train = \"a\"\nvalidation = 1.5"),
                "line 3: [data] validation: expected a share",
            ),
            (SMALL.replace("[task]\nkind = \"classification\"\n", ""), "expected a section [task] with the key `kind`"),
            (SMALL.replace("kind = \"classification\"\n", ""), "line 3: [task] needs the key `kind`"),
            ("data = 3\n".into(), "line 1: data: expected a section [data], got integer"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(
                error.starts_with("place/invar.toml, line ") && error.contains(expected) && !error.contains('\n'),
                "{text}\n{error}"
            );
        }
    }
}

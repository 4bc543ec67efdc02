//! A first project file, with what the data tell filled in.

use std::path::Path;

use invar_data::{ColumnFacts, Format, Labels, Layout, Limits, Missing, Source, Summary, Table, Task, printable};

use super::families::Items;
use super::file::{Files, Goal};
use super::load::PATCH;
use super::plausible::{Plausible, of_arrays, of_columns, picture, unfit};
use crate::error::Result;
use crate::screen::Rule;

/// Labels are often called this.
const LABELS: [&str; 5] = ["label", "class", "target", "y", "labels"];

/// Images with a longer side than this are made smaller to begin with: training takes as long as there are pixels.
const LARGE: usize = 96;

/// A project file to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// The file.
    pub text: String,
    /// What was guessed from the data, in words.
    pub guesses: Vec<String>,
}

/// What to ask about examples in memory where nobody says anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The shape of one of them, channels first.
    pub shape: Vec<usize>,
    /// Where the channels are in those at hand.
    pub layout: Layout,
    /// Candidates that are often worth asking about, in shorthand.
    pub candidates: Vec<String>,
}

/// What the data tell.
#[derive(Debug)]
struct Guess {
    train: Files,
    format: Option<Format>,
    inputs: Option<String>,
    goal: Goal,
    label: Option<String>,
    header: Option<bool>,
    shape: Option<Vec<usize>>,
    layout: Layout,
    resize: Option<[usize; 2]>,
    /// Columns that are no inputs, with the reason.
    ignore: Vec<(String, String)>,
    plausible: Plausible,
    about: Vec<String>,
}

/// Writes a project file: for data if there are any, with what is said about them, else with values to be replaced.
pub fn sketch(data: Option<Source>) -> Result<Sketch> {
    let guess = match data {
        Some(source) => guess(source)?,
        None => Guess {
            train: Files::One("train.npz".into()),
            format: None,
            inputs: None,
            goal: Goal::Classification,
            label: None,
            header: None,
            shape: Some(vec![1, 28, 28]),
            layout: Layout::ChannelsFirst,
            resize: None,
            ignore: Vec::new(),
            plausible: Plausible {
                candidates: [("rotate(quarter)", "by quarters"), ("mirror(left-right)", "left and right exchanged")]
                    .map(|(candidate, reason)| (candidate.into(), reason.into()))
                    .to_vec(),
                ..Plausible::default()
            },
            about: Vec::new(),
        },
    };
    Ok(Sketch { text: write(&guess), guesses: guess.about })
}

fn guess(source: Source) -> Result<Guess> {
    let mut source = Source { missing: Missing::Keep, task: Task::Classification, ..source };
    let mut about = Vec::new();
    if source.label.is_none()
        && let Some(names) = source.header()?
    {
        source.label = label_column(names);
        if let Some(label) = &source.label {
            about.push(format!("labels are in the column `{}`", printable(label)));
        }
    }
    source.resize = source.common_size(LARGE)?;
    if let Some([height, width]) = source.resize {
        about.push(format!("images are of several sizes or large: each gets {height}x{width} pixels (height x width)"));
    }
    let facts = source.survey()?;
    let inputs: Vec<&ColumnFacts> = facts.iter().flatten().filter(|facts| Some(&facts.name) != source.label.as_ref()).collect();
    let ignore = unfit(&inputs);
    source.ignore = ignore.iter().map(|(name, _)| name.clone()).collect();
    for (name, why) in &ignore {
        about.push(format!("column `{}` is left out: {why}", printable(name)));
    }
    // Without the column of positions that is left out where the table is read.
    let is_input = |facts: &&ColumnFacts| !source.ignore.contains(&facts.name) && !facts.is_index;
    let inputs: Vec<&ColumnFacts> = inputs.into_iter().filter(is_input).collect();
    let (goal, table) = load(&mut source)?;
    let (shape, layout) = match picture(&inputs) {
        Some(shape) if facts.is_some() => (Some(shape), Layout::ChannelsFirst),
        _ => as_image(&table.shape),
    };
    let stored = channels_first(shape.as_ref().unwrap_or(&table.shape), layout);
    let dims = |sides: &[usize]| sides.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    about.push(format!("{} examples of shape {}", table.len(), dims(&stored)));
    match &table.labels {
        Labels::Classes { names, .. } => about.push(format!("{} classes", names.len())),
        _ => about.push("labels are numbers: regression".into()),
    }
    let summary = Summary::of(&table);
    if summary.missing + summary.infinite > 0 {
        about.push(format!("{} values are missing or infinite: `invar check` tells more", summary.missing + summary.infinite));
    }
    about.extend(table.notes.iter().cloned());
    let plausible = match &facts {
        Some(_) if shape.is_none() => of_columns(&inputs),
        _ => of_arrays(&stored, &table),
    };
    match &plausible.candidates[..] {
        [] => about.push("no symmetry is proposed: the file says how to ask about some".into()),
        some => about.extend(some.iter().map(|(candidate, why)| format!("{candidate}: {why}"))),
    }
    let Source { path, labels, format, inputs, label, has_header: header, resize, .. } = source;
    let train = match labels {
        Some(labels) => Files::Two { inputs: path, labels },
        None => Files::One(path),
    };
    Ok(Guess { train, format, inputs, goal, label, header, shape, layout, resize, ignore, plausible, about })
}

/// Classes if the labels can be, unless there are so many that a class has fewer than ten examples.
fn load(source: &mut Source) -> Result<(Goal, Table)> {
    let limits = Limits::of_this_machine();
    match source.load(limits) {
        Ok(table) => {
            let many =
                matches!(&table.labels, Labels::Classes { names, .. } if names.len() > 20 && 10 * names.len() > table.len());
            source.task = Task::Regression;
            match source.load(limits) {
                Ok(numbers) if many => Ok((Goal::Regression, numbers)),
                _ => Ok((Goal::Classification, table)),
            }
        }
        Err(error) => {
            source.task = Task::Regression;
            // If it is no regression either, what was wrong at first is what is wrong.
            let table = source.load(limits).map_err(|_| error)?;
            Ok((Goal::Regression, table))
        }
    }
}

/// The column that looks like labels: by its name, else the last.
fn label_column(names: Vec<String>) -> Option<String> {
    let known = LABELS.iter().find_map(|label| names.iter().find(|name| name.eq_ignore_ascii_case(label)));
    known.cloned().or_else(|| names.into_iter().next_back())
}

/// What a project file for examples like these would ask.
pub fn suggest(table: &Table) -> Suggestion {
    let (asked, layout) = as_image(&table.shape);
    let shape = channels_first(asked.as_ref().unwrap_or(&table.shape), layout);
    let candidates = of_arrays(&shape, table).candidates.into_iter().map(|(candidate, _)| candidate).collect();
    Suggestion { shape, layout, candidates }
}

/// A shape with its channels first, wherever they are.
fn channels_first(shape: &[usize], layout: Layout) -> Vec<usize> {
    match (layout, shape) {
        (Layout::ChannelsLast, [sides @ .., channels]) => [&[*channels], sides].concat(),
        _ => shape.to_vec(),
    }
}

/// The shape to ask for, where images have no channels or have them last.
fn as_image(shape: &[usize]) -> (Option<Vec<usize>>, Layout) {
    match *shape {
        [height, width] if height == width && height > PATCH => (Some(vec![1, height, width]), Layout::ChannelsFirst),
        [height, width, 1 | 3 | 4] if height > 4 && width > 4 => (Some(shape.to_vec()), Layout::ChannelsLast),
        _ => (None, Layout::ChannelsFirst),
    }
}

#[expect(clippy::too_many_lines, reason = "most of it is the text of the file")]
fn write(guess: &Guess) -> String {
    let quote = |text: &str| toml::Value::String(text.to_string()).to_string();
    let optional = |key: &str, value: Option<String>, example: &str| match value {
        Some(value) => format!("{key} = {value}"),
        None => format!("# {key} = {example}"),
    };
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let sides = |shape: &Vec<usize>| list(shape.iter().map(ToString::to_string).collect());
    let goal = match guess.goal {
        Goal::Classification => "classification",
        Goal::Regression => "regression",
    };
    let path = |path: &Path| quote(&path.to_string_lossy());
    let train = match &guess.train {
        Files::One(file) => path(file),
        Files::Two { inputs, labels } => format!("{{ inputs = {}, labels = {} }}", path(inputs), path(labels)),
    };
    let format = guess.format.map(|format| quote(format.name()));
    let layout = (guess.layout == Layout::ChannelsLast).then(|| quote("channels_last"));
    let names = |names: &[String]| list(names.iter().map(|name| quote(name)).collect());
    let ignored: Vec<String> = guess.ignore.iter().map(|(name, _)| name.clone()).collect();
    let ignore = (!ignored.is_empty()).then(|| names(&ignored));
    let kind = |items: &Items| format!("{} = {}", items.name, list(items.columns.iter().map(|item| names(item)).collect()));
    let kinds: Vec<String> = guess.plausible.items.iter().map(kind).collect();
    let items = (!kinds.is_empty()).then(|| format!("{{ {} }}", kinds.join(", ")));
    let tolerance = match guess.goal {
        Goal::Classification => Rule::ACCURACY.tolerance,
        Goal::Regression => Rule::NUMBERS.tolerance,
    };
    format!(
        "# A project of invar. `invar check` looks at data and groups, `invar train` trains, both with this file as argument.\n\
         # Paths are relative to this file.\n\
         \n\
         [data]\n\
         # NPZ, NPY, CSV or IDX file, or a folder of images by class. NPY and IDX: {{ inputs = \"x.npy\", labels = \"y.npy\" }}.\n\
         train = {train}\n\
         # The format of all files, where their names do not tell: \"npz\", \"npy\", \"csv\", \"idx\" or \"images\".\n\
         {format}\n\
         # To decide on: a share of the examples to hold out, of each class alike, or a file of your own.\n\
         validation = 0.2\n\
         # Examples of another environment, to see how the model extrapolates. Nothing is decided on them.\n\
         # test = \"other.npz\"\n\
         # CSV: the column with the labels. NPZ: the array.\n\
         {label}\n\
         # Tables: columns that are no inputs{why_ignored}\n\
         {ignore}\n\
         # Tables: columns that describe items of one kind, by its name: \"exchange(sensor)\" then asks about every two.\n\
         {items}\n\
         # CSV: whether the first line holds the names of the columns; without names they are called 1, 2, 3 and so on.\n\
         {header}\n\
         # NPZ: the array with the inputs.\n\
         {inputs}\n\
         # The shape of one example as it lies in the file; images are channels x height x width.\n\
         {shape}\n\
         # When the channels come last in the file:\n\
         {layout}\n\
         # Pictures: a border that makes squares of them, and one size for all.\n\
         # pad = true\n\
         {resize}\n\
         # Read at most so many examples of each file.\n\
         # limit = 10000\n\
         \n\
         [task]\n\
         kind = \"{goal}\"  # or \"{other}\"\n\
         \n\
         [symmetries]\n\
         # What might leave the answer alone, axes counted from 0. List what you doubt: what the data contradict is not kept.\n\
         # rotate(quarter) rotate(half) mirror(left-right) mirror(top-bottom) exchange(colours) reverse(time) shift(time) exchange(a,b)\n\
         # rot90(1,2) flip(1) flips(1,2) permute(0) cycle(0) swap(0;2,5) swaps(0) negate generators(0;[[1,0,2]]) join(...)\n\
         {reasons}candidates = {candidates}\n\
         \n\
         [model]\n\
         kind = \"auto\"  # or \"pairs\", \"orbit\" (small groups), \"feedforward\" (arrays), \"lift\" (square images), \"cnn\" (images)\n\
         \n\
         [train]\n\
         # screen: impose symmetries and measure what they cost. cgreg: the paper's penalty, its strength chosen from `lambdas`.\n\
         learner = \"screen\"\n\
         # The cost that you accept: percentage points of accuracy; for numbers percent of the error that is left.\n\
         # tolerance = {tolerance}\n\
         # only_shown = true  # keep only what is shown to be harmless\n\
         # folds = 1  # a quick look: below 2,000 examples five folds decide in turn\n\
         # epochs, learning_rate and batch follow the size of the data unless they are given.\n\
         seed = 0\n",
        format = optional("format", format, "\"csv\""),
        inputs = optional("inputs", guess.inputs.as_deref().map(quote), "\"x\""),
        label = optional("label", guess.label.as_deref().map(quote), "\"y\""),
        header = optional("header", guess.header.map(|header| header.to_string()), "false"),
        shape = optional("shape", guess.shape.as_ref().map(sides), "[3, 28, 28]"),
        layout = optional("layout", layout, "\"channels_last\""),
        resize = optional("resize", guess.resize.map(|[height, width]| format!("[{height}, {width}]")), "[64, 64]"),
        other = if guess.goal == Goal::Classification { "regression" } else { "classification" },
        why_ignored = why_ignored(&guess.ignore),
        ignore = optional("ignore", ignore, "[\"id\"]"),
        items = optional("items", items, "{ sensor = [[\"x1\", \"y1\"], [\"x2\", \"y2\"]] }"),
        reasons = reasons(&guess.plausible),
        candidates = list(guess.plausible.candidates.iter().map(|(candidate, _)| quote(candidate)).collect()),
    )
}

/// `: id counts up from row to row; ...`, on lines of their own.
fn why_ignored(ignore: &[(String, String)]) -> String {
    let lines: Vec<String> = ignore.iter().map(|(name, why)| format!("\n# - {}: {}", printable(name), printable(why))).collect();
    if lines.is_empty() { ".".into() } else { format!(":{}", lines.concat()) }
}

/// Why each candidate is proposed, and what is not.
fn reasons(plausible: &Plausible) -> String {
    let proposed = plausible.candidates.iter().map(|(candidate, why)| format!("# - {candidate}: {why}\n"));
    let hints = plausible.hints.iter().map(|hint| format!("# {}\n", printable(hint)));
    proposed.chain(hints).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Architecture, Loaded, Project};
    use invar_data::{Array, Packing, write_npy, write_npz};

    fn read(folder: &Path, path: Option<&Path>) -> (Project, Vec<String>) {
        told(folder, path.map(|path| Source::new(path, Task::Prediction)))
    }

    fn told(folder: &Path, data: Option<Source>) -> (Project, Vec<String>) {
        let Sketch { text, guesses } = sketch(data).unwrap();
        (Project::parse(&folder.join("invar.toml"), &text).unwrap(), guesses)
    }

    #[test]
    fn the_sketch_of_nothing_is_a_project() {
        let (project, guesses) = read(Path::new(""), None);
        assert_eq!((project.symmetries.candidates.len(), guesses.len()), (2, 0));
        assert_eq!(project.data.train, Some(Files::One("train.npz".into())));
    }

    #[test]
    fn csv_files_tell_their_label_and_task() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("with \"quotes\".csv");
        let rows: Vec<String> = (0..50).map(|k| format!("{},{},{}\n", k * 7 % 50, k * 3 % 50, ["red", "blue"][k % 2])).collect();
        std::fs::write(&path, format!("a,b,Class\n{}", rows.concat())).unwrap();
        let (project, guesses) = read(folder.path(), Some(&path));
        assert_eq!((project.data.label.as_deref(), project.task.as_ref().unwrap().kind), (Some("Class"), Goal::Classification));
        // Nothing in their names says that columns may be exchanged.
        assert!(project.symmetries.candidates.is_empty());
        assert!(guesses.contains(&"50 examples of shape 2".to_string()), "{guesses:?}");
        assert_eq!(Loaded::load(project, Missing::Refuse).unwrap().architecture, Architecture::Auto);
        let rows: Vec<String> = (0..50).map(|k| format!("{k},{}.5\n", k * 3)).collect();
        std::fs::write(&path, format!("a,value\n{}", rows.concat())).unwrap();
        let (project, _) = read(folder.path(), Some(&path));
        assert_eq!((project.data.label.as_deref(), project.task.as_ref().unwrap().kind), (Some("value"), Goal::Regression));
        // A comma inside quotes is part of a name.
        std::fs::write(&path, format!("a,\"value, in metres\"\n{}", rows.concat())).unwrap();
        let (project, _) = read(folder.path(), Some(&path));
        assert_eq!(project.data.label.as_deref(), Some("value, in metres"));
        std::fs::write(&path, b"a,gr\xf6\xdfe\n3,2\n4,5\n").unwrap();
        let (project, guesses) = read(folder.path(), Some(&path));
        assert_eq!(project.data.label.as_deref(), Some("größe"));
        assert!(guesses.iter().any(|guess| guess.contains("was read as Latin-1")), "{guesses:?}");
    }

    #[test]
    fn tables_as_people_have_them_need_no_editing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tsv");
        let row = |k: usize| {
            let sex = ["m", "f", "?"][k % 3];
            let numbers = format!("{}\t{}\t{}\t{}", k * 3 % 7, k % 5, k * 5 % 7, k % 4);
            format!("{k}\t{k}\tname {k}\t{numbers}\t2024-01-{:02}\t{sex}\t{}\n", k % 28 + 1, k % 2)
        };
        let rows: String = (0..40).map(row).collect();
        std::fs::write(&path, format!("\tnr\tname\tx1\ty1\tx2\ty2\tborn\tsex\tlabel\n{rows}")).unwrap();
        let (project, guesses) = read(folder.path(), Some(&path));
        assert_eq!(project.data.ignore.as_deref().unwrap(), ["nr", "name", "born"]);
        assert_eq!(project.data.items.as_ref().unwrap()["item"], [["x1", "y1"], ["x2", "y2"]]);
        assert_eq!(project.symmetries.candidates[0].to_string(), "exchange(item)");
        for part in ["column `born` is left out: dates such as 2024-01-01", "the first column has no name"] {
            assert!(guesses.iter().any(|guess| guess.contains(part)), "{part}: {guesses:?}");
        }
        let loaded = Loaded::load(project, Missing::Refuse).unwrap();
        assert_eq!(loaded.train.columns, ["x1", "y1", "x2", "y2", "sex = f", "sex = m", "sex missing"]);
        assert_eq!(loaded.groups[0].name(), "exchange(item;1,2)");
    }

    #[test]
    fn what_is_told_is_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let source = |name: &str| Source::new(at(name), Task::Prediction);
        std::fs::write(at("a.txt"), "p,q,r\n1,2,x\n3,4,y\n").unwrap();
        let (project, _) =
            told(folder.path(), Some(Source { format: Some(Format::Csv), label: Some("r".into()), ..source("a.txt") }));
        assert_eq!((project.data.format, project.data.label.as_deref()), (Some(Format::Csv), Some("r")));
        write_npz(
            &at("a.npz"),
            &[
                ("p", Array::Floats(&[2, 2], &[0.0; 4])),
                ("q", Array::Integers(&[2], &[0, 1])),
                ("r", Array::Integers(&[2], &[0, 1])),
            ],
            Packing::Stored,
        )
        .unwrap();
        let named = Source { inputs: Some("p".into()), label: Some("r".into()), ..source("a.npz") };
        let (project, _) = told(folder.path(), Some(named));
        assert_eq!((project.data.inputs.as_deref(), project.data.label.as_deref()), (Some("p"), Some("r")));
        write_npy(&at("x.npy"), &Array::Floats(&[2, 2], &[0.0; 4])).unwrap();
        write_npy(&at("y.npy"), &Array::Integers(&[2], &[0, 1])).unwrap();
        let (project, _) = told(folder.path(), Some(Source { labels: Some(at("y.npy")), ..source("x.npy") }));
        assert_eq!(project.data.train, Some(Files::Two { inputs: at("x.npy"), labels: at("y.npy") }));
        for name in ["nothing", "nothing.csv"] {
            let error = sketch(Some(source(name))).unwrap_err().to_string();
            assert!(error.ends_with(&format!("{name}: no such file or folder")), "{error}");
        }
    }

    #[test]
    fn square_arrays_are_images() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let labels: Vec<f32> = (0..12).map(|k| (k % 2) as f32).collect();
        for (shape, expected) in
            [(vec![12, 8, 8], vec![1, 8, 8]), (vec![12, 8, 8, 3], vec![3, 8, 8]), (vec![12, 3, 8, 8], vec![3, 8, 8])]
        {
            let x = vec![0.5f32; shape.iter().product()];
            let arrays = [("x", Array::Floats(&shape, &x)), ("y", Array::Floats(&[12], &labels))];
            write_npz(&path, &arrays, Packing::Stored).unwrap();
            let (project, _) = read(folder.path(), Some(&path));
            let loaded = Loaded::load(project, Missing::Refuse).unwrap();
            assert_eq!((loaded.train.shape.clone(), loaded.architecture), (expected, Architecture::Lift));
        }
    }
}

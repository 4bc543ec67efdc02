//! Where the user's data are, and how they are to be understood.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::assemble::{Raw, assemble};
use crate::error::{Error, Result, origin};
use crate::fit::Fit;
use crate::image::is_image;
use crate::limits::{Budget, Limits};
use crate::sheet::{self, ColumnFacts};
use crate::table::{Labels, Table};
use crate::{folder, idx, npy, npz};

/// A file or folder of the user's.
///
/// ```
/// # use invar_data::{Labels, Limits, Source, Task};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.csv");
/// std::fs::write(&path, "x,y,colour\n0,1,red\n1,0,blue\n").unwrap();
///
/// let table = Source { label: Some("colour".into()), ..Source::new(&path, Task::Classification) }.load(Limits::new(1 << 20))?;
/// assert_eq!(table.inputs, [0.0, 1.0, 1.0, 0.0]);
/// assert_eq!(table.labels, Labels::Classes { names: vec!["blue".into(), "red".into()], values: vec![1, 0] });
/// # Ok::<(), invar_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file, or the folder of images.
    pub path: PathBuf,
    /// What the labels are for.
    pub task: Task,
    /// The format; by default that of the extension, or images when the path is a folder.
    #[serde(default)]
    pub format: Option<Format>,
    /// NPZ: the array of inputs, by default one of the usual names, such as `x` or `X_train`.
    #[serde(default)]
    pub inputs: Option<String>,
    /// CSV: whether the first line holds the names of the columns. By default it does, and is refused when it looks like an example;
    /// without names the columns are called by their positions, from 1.
    #[serde(default)]
    pub has_header: Option<bool>,
    /// CSV: the columns of inputs, in the order wanted; others are not looked at. By default all but the label, as they stand.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// CSV: columns that are no inputs, where these are not named by `columns`.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// CSV: the categories of each of `columns`, none where it holds numbers. By default what the file tells.
    #[serde(default)]
    pub categories: Option<Vec<Vec<String>>>,
    /// The column (CSV) or array (NPZ, by default the partner of the inputs) of labels; it must be there.
    #[serde(default)]
    pub label: Option<String>,
    /// CSV: a column that is no input wherever it is there: the label of other files of the kind.
    #[serde(default)]
    pub leave_out: Option<String>,
    /// NPY and IDX: the second file, with the labels. For IDX by default the one named `labels` instead of `images`.
    #[serde(default)]
    pub labels: Option<PathBuf>,
    /// The shape of one example as it lies in the file, before the layout is looked at; by default that of the file.
    #[serde(default)]
    pub shape: Option<Vec<usize>>,
    /// Where the channels are.
    #[serde(default)]
    pub layout: Layout,
    /// Pictures: a border of zeros makes each a square.
    #[serde(default)]
    pub pad: bool,
    /// Pictures: then each gets this height and width, so that a folder may hold any sizes.
    #[serde(default)]
    pub resize: Option<[usize; 2]>,
    /// The classes a model already knows, in its order; labels must be among them.
    #[serde(default)]
    pub classes: Option<Vec<String>>,
    /// Read at most so many examples: the first ones, of images as many of each class as possible.
    #[serde(default)]
    pub limit: Option<usize>,
    /// What to do about values that are missing or not finite.
    #[serde(default)]
    pub missing: Missing,
}

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// One NumPy array.
    Npy,
    /// A NumPy archive of arrays.
    Npz,
    /// A table as text: commas, semicolons or tabs between the fields; also compressed with gzip.
    Csv,
    /// The format of MNIST, also compressed with gzip.
    Idx,
    /// A folder of images by class.
    Images,
}

impl Format {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Idx => "idx",
            Self::Images => "images",
        }
    }
}

/// What the data are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Labels are classes.
    Classification,
    /// Labels are numbers.
    Regression,
    /// There are no labels, or they are not looked at.
    Prediction,
}

/// Which axis of an example holds the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// The first, or there are none: examples are taken as they lie.
    #[default]
    ChannelsFirst,
    /// The last, which is moved to the front.
    ChannelsLast,
}

/// What to do about inputs that are missing, NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// An error that names the place.
    #[default]
    Refuse,
    /// CSV: what is missing is NaN, to be filled by a [`Coding`](crate::Coding); what is infinite is refused. As `Refuse` for others.
    Fill,
    /// Kept as NaN or infinity, so that [`crate::Summary`] can count them. Such data cannot be trained on.
    Keep,
}

impl Source {
    /// The file or folder at `path`, with every option at its default.
    pub fn new(path: impl Into<PathBuf>, task: Task) -> Self {
        Self {
            path: path.into(),
            task,
            format: None,
            inputs: None,
            has_header: None,
            columns: None,
            ignore: Vec::new(),
            categories: None,
            label: None,
            leave_out: None,
            labels: None,
            shape: None,
            layout: Layout::default(),
            pad: false,
            resize: None,
            classes: None,
            limit: None,
            missing: Missing::default(),
        }
    }

    /// The same, to stand beside this table: of its classes, and a CSV file with its columns and categories in their order.
    pub fn beside(self, table: &Table) -> Result<Self> {
        let classes = match &table.labels {
            Labels::Classes { names, .. } => Some(names.clone()),
            _ => None,
        };
        let named = !table.columns.is_empty() && self.format()? == Format::Csv;
        let categories = match &table.categories[..] {
            [] => vec![Vec::new(); table.columns.len()],
            categories => categories.to_vec(),
        };
        let columns = named.then(|| table.columns.clone());
        Ok(Self { classes, columns, categories: named.then_some(categories), ..self })
    }

    /// Reads everything, within the limits.
    pub fn load(&self, limits: Limits) -> Result<Table> {
        let format = self.format()?;
        self.check_options(format)?;
        let mut budget = Budget::new(limits);
        let raw: Raw = match format {
            Format::Npy => npy::read(self, &mut budget),
            Format::Npz => npz::read(self, &mut budget),
            Format::Csv => sheet::read(self, &mut budget),
            Format::Idx => idx::read(self, &mut budget),
            Format::Images => folder::read(self, &mut budget),
        }?;
        assemble(self, raw, &mut budget)
    }

    /// A size for a folder of pictures that have several, or sides of more than `most` pixels: height and width in the middle of
    /// theirs, at most so large. None for what needs no other size.
    pub fn common_size(&self, most: usize) -> Result<Option<[usize; 2]>> {
        if self.format()? != Format::Images || self.resize.is_some() {
            return Ok(None);
        }
        folder::common_size(self, most, &mut Budget::new(Limits::of_this_machine()))
    }

    /// The names of the columns of a CSV file; none of another.
    pub fn header(&self) -> Result<Option<Vec<String>>> {
        (self.format()? == Format::Csv).then(|| sheet::header(self)).transpose()
    }

    /// What each column of a CSV file holds, the label included; none of another.
    pub fn survey(&self) -> Result<Option<Vec<ColumnFacts>>> {
        (self.format()? == Format::Csv).then(|| sheet::survey(self)).transpose()
    }

    /// The format, given or guessed.
    pub fn format(&self) -> Result<Format> {
        match self.format {
            Some(format) => Ok(format),
            None => guess(&self.path),
        }
    }

    /// How the source is named in messages.
    pub(crate) fn origin(&self) -> String {
        origin(&self.path)
    }

    /// Where the label of an example stands, for messages.
    pub(crate) fn label_place(&self, example: usize) -> String {
        match self.format() {
            Ok(Format::Csv) => sheet::label_place(self, example),
            _ => format!("{}: label of example {example}", self.origin()),
        }
    }

    pub(crate) fn wants_labels(&self) -> bool {
        self.task != Task::Prediction
    }

    /// What is done to pictures.
    pub(crate) fn fit(&self) -> Fit {
        Fit { pad: self.pad, resize: self.resize }
    }

    /// How many of `rows` examples are to be read.
    pub(crate) fn rows(&self, rows: usize) -> usize {
        self.limit.map_or(rows, |limit| limit.min(rows))
    }

    /// Options that would silently do nothing are refused.
    fn check_options(&self, format: Format) -> Result<()> {
        let refuse = |problem: &str| Err(Error::request(&self.origin(), problem));
        self.fit().check(&self.origin())?;
        let second_file = matches!(format, Format::Npy | Format::Idx);
        match self {
            Self { limit: Some(0), .. } => refuse("the limit on the number of examples must be 1 or more, got 0"),
            Self { inputs: Some(_), .. } if format != Format::Npz => refuse("only NPZ files have arrays of inputs to name"),
            Self { columns: Some(_), .. } | Self { leave_out: Some(_), .. } if format != Format::Csv => {
                refuse("only CSV files have columns to name")
            }
            Self { ignore, .. } if !ignore.is_empty() && format != Format::Csv => refuse("only CSV files have columns to ignore"),
            Self { columns, categories: Some(known), .. } if columns.as_ref().map(Vec::len) != Some(known.len()) => {
                refuse("categories are those of named columns, a list for each")
            }
            Self { has_header: Some(_), .. } if format != Format::Csv => refuse("only CSV files have a header"),
            Self { labels: Some(_), .. } if !second_file => refuse("only NPY and IDX data have a second file with the labels"),
            Self { label: Some(_), .. } if !matches!(format, Format::Npz | Format::Csv) => {
                refuse("only NPZ arrays and CSV columns have a label by name")
            }
            Self { task: Task::Regression, .. } if format == Format::Images => {
                refuse("the sub-folders of images are classes: they serve classification, not regression")
            }
            Self { layout: Layout::ChannelsLast, .. } if format == Format::Images => {
                refuse("images are always read channels first; leave the layout out")
            }
            _ => Ok(()),
        }
    }
}

fn guess(path: &Path) -> Result<Format> {
    if path.is_dir() || is_image(path) {
        return Ok(Format::Images);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let ends = |endings: &[&str], name: &str| endings.iter().any(|ending| name.ends_with(ending));
    match () {
        () if ends(&["-ubyte", ".idx", "-idx"], plain) => Ok(Format::Idx),
        () if ends(&[".npy"], &name) => Ok(Format::Npy),
        () if ends(&[".npz"], &name) => Ok(Format::Npz),
        () if ends(&[".csv", ".tsv", ".tab"], plain) => Ok(Format::Csv),
        () if ends(&[".parquet", ".feather", ".arrow"], &name) => Err(Error::unsupported(
            &origin(path),
            "Parquet and Arrow",
            "save the table as CSV (`df.to_csv(path, index=False)`) or as NPZ",
        )),
        () if ends(&[".pkl", ".pickle", ".pt", ".pth"], &name) => Err(Error::unsupported(
            &origin(path),
            "a pickle, which can run any code when it is read",
            "save the arrays with `numpy.savez(path, x=x, y=y)`",
        )),
        () if !path.exists() => Err(Error::Missing { origin: origin(path) }),
        () => Err(Error::request(
            &origin(path),
            "cannot tell the format from the name: expected .npy, .npz, .csv or .tsv, IDX (-ubyte, .idx), these two also with .gz, or \
             a folder of images by class; name the format if the content is one of these",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_names() {
        let of = |name: &str| Source::new(name, Task::Prediction).format();
        assert_eq!(of("a/train-images-idx3-ubyte").unwrap(), Format::Idx);
        assert_eq!(of("train-images-idx3-ubyte.GZ").unwrap(), Format::Idx);
        assert_eq!(of("x.NPY").unwrap(), Format::Npy);
        assert_eq!(of("x.npz").unwrap(), Format::Npz);
        for name in ["x.csv", "x.TSV", "x.csv.gz", "x.tsv.gz"] {
            assert_eq!(of(name).unwrap(), Format::Csv);
        }
        assert_eq!(of(".").unwrap(), Format::Images);
        assert!(of("x.parquet").unwrap_err().to_string().contains("to_csv"));
        assert!(of("x.pkl").unwrap_err().to_string().contains("pickle"));
        assert_eq!(of("nothing").unwrap_err().to_string(), "nothing: no such file or folder");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy.gz");
        std::fs::write(&path, "").unwrap();
        assert!(Source::new(path, Task::Prediction).format().unwrap_err().to_string().contains("cannot tell the format"));
        for format in [Format::Images, Format::Csv, Format::Npz] {
            let missing = Source { format: Some(format), ..Source::new("nothing", Task::Prediction) };
            assert_eq!(missing.load(Limits::new(1)).unwrap_err().to_string(), "nothing: no such file or folder");
        }
        let forced = Source { format: Some(Format::Csv), ..Source::new("x.txt", Task::Prediction) };
        assert_eq!(forced.format().unwrap(), Format::Csv);
    }

    #[test]
    fn options_that_do_nothing_are_refused() {
        let refused = |source: Source| source.load(Limits::new(1)).unwrap_err().to_string();
        let csv = || Source::new("x.csv", Task::Classification);
        assert!(refused(Source { limit: Some(0), ..csv() }).contains("must be 1 or more"));
        assert!(refused(Source { inputs: Some("x".into()), ..csv() }).contains("only NPZ"));
        assert!(refused(Source { labels: Some("y".into()), ..csv() }).contains("second file"));
        let columns = Source { columns: Some(vec!["a".into()]), ..Source::new("x.npy", Task::Prediction) };
        assert!(refused(columns).contains("only CSV files have columns"));
        let header = Source { has_header: Some(false), ..Source::new("x.npy", Task::Prediction) };
        assert!(refused(header).contains("only CSV files have a header"));
        let npy = Source { label: Some("y".into()), ..Source::new("x.npy", Task::Regression) };
        assert!(refused(npy).contains("label by name"));
        assert!(refused(Source::new(".", Task::Regression)).contains("are classes"));
        let images = Source { layout: Layout::ChannelsLast, ..Source::new(".", Task::Classification) };
        assert!(refused(images).contains("channels first"));
    }
}

//! Tables of comma-separated values: a header unless there is none, then one example per row.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::StringRecord;

use crate::assemble::Raw;
use crate::element::Column;
use crate::error::{Error, Result, list, origin, quote};
use crate::limits::{Budget, Limits, open};
use crate::source::{Missing, Source};

/// What people write where a value is missing.
const MISSING: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", "?", "-"];
/// Of these what may as well be the name of a class.
const NAMES: [&str; 2] = ["none", "-"];

pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let origin = source.origin();
    let (mut file, length) = open(&source.path, budget)?;
    let lines = count_lines(&mut file, &source.path)?;
    let mut reader = reader(file, source);
    let header = names(source, &mut reader)?;
    let columns = Columns::new(source, &origin, &header)?;

    // Rows are at most the lines; values take two bytes at least, the value and what follows it.
    let rows = source.rows(lines + usize::from(!named(source)));
    let most = rows.saturating_mul(columns.inputs.len()).min(usize::try_from(length / 2 + 1).unwrap_or(usize::MAX));
    budget.take(&origin, "the inputs", most, size_of::<f32>())?;
    let mut inputs = Vec::with_capacity(most);
    let mut labels = Vec::new();
    let mut record = StringRecord::new();
    let mut read = 0;
    while read < rows && reader.read_record(&mut record).map_err(|error| wrong(&source.path, error))? {
        read += 1;
        let start = record.position().map_or(0, csv::Position::byte);
        if record.len() != header.len() {
            let line = line_at(&source.path, start);
            return Err(Error::Ragged { origin, line, expected: header.len(), got: record.len() });
        }
        let cell =
            |index: usize| Cell { path: &source.path, origin: &origin, start, column: &header[index], text: &record[index] };
        for &index in &columns.inputs {
            inputs.push(cell(index).number(source.missing)?);
        }
        if let Some(index) = columns.label.filter(|_| source.wants_labels()) {
            labels.push(cell(index).label(budget)?);
        }
    }
    inputs.shrink_to_fit();
    let column = source.wants_labels().then_some(Column::Texts(labels));
    let names = columns.inputs.iter().map(|&index| header[index].to_owned()).collect();
    Ok(Raw { shape: vec![columns.inputs.len()], inputs, column, names, ..Raw::default() })
}

/// Rows of any length, since those of a wrong one are told with their line.
fn reader(file: File, source: &Source) -> csv::Reader<BufReader<File>> {
    let mut builder = csv::ReaderBuilder::new();
    builder.flexible(true).trim(csv::Trim::All).has_headers(named(source)).from_reader(BufReader::new(file))
}

/// Whether the first line is taken for the names of the columns.
fn named(source: &Source) -> bool {
    source.has_header != Some(false)
}

/// The names of the columns: those of the first line, or where it is an example their positions.
fn names(source: &Source, reader: &mut csv::Reader<BufReader<File>>) -> Result<StringRecord> {
    let first = reader.headers().map_err(|error| wrong(&source.path, error))?;
    Ok(if named(source) { first.clone() } else { (1..=first.len()).map(|position| position.to_string()).collect() })
}

/// The names of the columns.
pub(crate) fn header(source: &Source) -> Result<Vec<String>> {
    let (file, _) = open(&source.path, &Budget::new(Limits::of_this_machine()))?;
    Ok(names(source, &mut reader(file, source))?.iter().map(ToOwned::to_owned).collect())
}

/// Which columns are what.
struct Columns {
    label: Option<usize>,
    /// In the order wanted.
    inputs: Vec<usize>,
}

impl Columns {
    fn new(source: &Source, origin: &str, header: &StringRecord) -> Result<Self> {
        let names = || header.iter().map(ToOwned::to_owned).collect::<Vec<_>>();
        let position = |name: &String| header.iter().position(|column| column == name);
        let wanted = source.columns.as_deref().unwrap_or_default();
        let missing: Vec<String> = wanted.iter().filter(|name| position(name).is_none()).cloned().collect();
        if header.is_empty() {
            return Err(Error::malformed(origin, "line 1", "a header with the names of the columns", "an empty file"));
        }
        // Names may be numbers when some are those that are wanted. Else taking them for names may lose an example.
        let known = missing.len() < wanted.len();
        let number = header.iter().find(|name| name.parse::<f64>().is_ok_and(f64::is_finite));
        if let (false, None, Some(number)) = (known, source.has_header, number) {
            let problem = format!(
                "line 1 holds a number ({}): is it the first example, or are these the names of the columns? Say `header = false` \
                 or `header = true` under [data] in the project file, or --header no or --header yes on the command line",
                quote(number)
            );
            return Err(Error::request(origin, problem));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = header.iter().find(|name| !seen.insert(*name)) {
            return Err(Error::malformed(origin, "line 1", "a name for each column", format!("{} twice", quote(twice))));
        }
        if let [first, ..] = &missing[..] {
            let problem = format!("expected the columns {}, of which {} missing", list(wanted), are(&missing));
            return Err(Error::name(origin, problem, Some(first), names()));
        }
        let label = match &source.label {
            Some(name) if wanted.contains(name) => {
                return Err(Error::name(
                    origin,
                    format!("the column {} is an input and not the label", quote(name)),
                    None,
                    names(),
                ));
            }
            Some(name) => {
                let none = || Error::name(origin, format!("no column {}", quote(name)), Some(name), names());
                Some(position(name).ok_or_else(none)?)
            }
            None if source.wants_labels() => {
                return Err(Error::name(origin, "no column is named as the label: name one", None, names()));
            }
            None => None,
        };
        let left_out = [label, source.leave_out.as_ref().and_then(position)];
        let inputs: Vec<usize> = match &source.columns {
            Some(wanted) => wanted.iter().filter_map(position).collect(),
            None => (0..header.len()).filter(|&index| !left_out.contains(&Some(index))).collect(),
        };
        if inputs.is_empty() {
            return Err(Error::name(origin, "no columns of inputs beside the label", None, names()));
        }
        Ok(Self { label, inputs })
    }
}

fn are(names: &[String]) -> String {
    if names.len() == 1 { format!("{} is", list(names)) } else { format!("{} are", list(names)) }
}

/// `a.csv, line 3, column `class``: where the label of an example stands. Found by reading again, for a message.
pub(crate) fn label_place(source: &Source, example: usize) -> String {
    let reader = File::open(&source.path).map(|file| reader(file, source));
    let record = reader.ok().and_then(|reader| reader.into_byte_records().nth(example)).and_then(std::result::Result::ok);
    let line = record.and_then(|record| record.position().map(|start| line_at(&source.path, start.byte())));
    let column = source.label.as_deref().map(|name| format!(", column {}", quote(name))).unwrap_or_default();
    format!("{}, line {}{column}", source.origin(), line.unwrap_or_default())
}

/// One value and its place.
struct Cell<'a> {
    path: &'a Path,
    origin: &'a str,
    /// Where its row starts.
    start: u64,
    column: &'a str,
    text: &'a str,
}

impl Cell<'_> {
    fn number(&self, missing: Missing) -> Result<f32> {
        if self.is_missing() {
            return match missing {
                Missing::Keep => Ok(f32::NAN),
                Missing::Refuse => Err(self.wrong("a number", "a missing value")),
            };
        }
        let value: f32 = self.text.parse().map_err(|_| self.wrong("a number", &quote(self.text)))?;
        if value.is_finite() || missing == Missing::Keep {
            return Ok(value);
        }
        Err(self.wrong("a finite number that f32 can hold", &quote(self.text)))
    }

    fn label(&self, budget: &mut Budget) -> Result<String> {
        if self.is_missing() && !NAMES.iter().any(|word| self.text.eq_ignore_ascii_case(word)) {
            let word = if self.text.is_empty() { String::new() } else { format!(" ({})", quote(self.text)) };
            return Err(self.wrong("a label", &format!("a missing value{word}")));
        }
        // More likely a quote that is closed some rows too late.
        if self.text.contains(['\n', '\r']) {
            return Err(self.wrong("a label on one line", &format!("{}: mind the quotes", quote(self.text))));
        }
        // A vector grows by doubling: its items count twice.
        budget.take(self.origin, "the labels", 1, self.text.len() + 2 * size_of::<String>())?;
        Ok(self.text.to_owned())
    }

    fn is_missing(&self) -> bool {
        MISSING.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    fn wrong(&self, expected: &'static str, got: &str) -> Error {
        Error::Cell {
            origin: self.origin.to_owned(),
            line: line_at(self.path, self.start),
            column: self.column.to_owned(),
            expected,
            got: got.to_owned(),
        }
    }
}

/// How many lines there are after the first; a row may span several, so this many rows at most. A quote that nothing closes would
/// make one value of all that follows, and is an error.
fn count_lines(file: &mut File, path: &Path) -> Result<usize> {
    let origin = &origin(path);
    let mut buffer = vec![0; 1 << 16];
    let mut quotes = Quotes::default();
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let count = file.read(&mut buffer).map_err(Error::io(origin, "read it"))?;
        let Some(&end) = buffer[..count].last() else { break };
        // Old files end their lines with a carriage return alone.
        lines += buffer[..count].iter().filter(|&&byte| matches!(byte, b'\n' | b'\r')).count();
        buffer[..count].iter().for_each(|&byte| quotes.step(byte));
        last = end;
    }
    if matches!(quotes.within, Within::Quotes) {
        let line = line_at(path, quotes.opened);
        return Err(Error::malformed(
            origin,
            format!("line {line}"),
            "a quote at the end of the field that begins with one",
            "none",
        ));
    }
    file.seek(SeekFrom::Start(0)).map_err(Error::io(origin, "read it"))?;
    Ok(lines + usize::from(!matches!(last, b'\n' | b'\r')))
}

/// Follows the quotes of a file as the parser does.
#[derive(Default)]
struct Quotes {
    within: Within,
    /// Bytes so far.
    at: u64,
    /// Where the last quoted field begins.
    opened: u64,
}

/// What the next byte belongs to.
#[derive(Default)]
enum Within {
    /// The start of a field.
    #[default]
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
            // The mark of UTF-8 is no part of the first field.
            (Within::Start, 0xef | 0xbb | 0xbf) if self.at < 3 => Within::Start,
            (_, b',' | b'\n' | b'\r') => Within::Start,
            _ => Within::Field,
        };
        self.at += 1;
    }
}

/// The line of the row that starts at a byte, or after line ends that follow it. Counted again for a message: the parser's own
/// count leaves out empty lines before a row and line ends of one carriage return.
fn line_at(path: &Path, start: u64) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let (mut line, mut last) = (1, 0);
    for (at, byte) in BufReader::new(file).bytes().map_while(std::result::Result::ok).enumerate() {
        match byte {
            b'\n' if last == b'\r' => {}
            b'\n' | b'\r' => line += 1,
            _ if at as u64 >= start => break,
            _ => {}
        }
        last = byte;
    }
    line
}

fn wrong(path: &Path, error: csv::Error) -> Error {
    let origin = &origin(path);
    let line = error.position().map_or(1, |position| line_at(path, position.byte()));
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => Error::Io { origin: origin.to_owned(), action: "read it", cause },
        csv::ErrorKind::Utf8 { err, .. } => {
            Error::malformed(origin, format!("line {line}"), "text in UTF-8", format!("other bytes in field {}", err.field() + 1))
        }
        other => Error::malformed(origin, format!("line {line}"), "comma-separated values", format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source::Task;
    use crate::table::{Labels, Table};

    fn load(text: &str, change: impl FnOnce(&mut Source)) -> Result<Table> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let mut source = Source { label: Some("class".into()), ..Source::new(path, Task::Classification) };
        change(&mut source);
        source.load(Limits::new(1 << 20))
    }

    fn message(text: &str) -> String {
        let error = load(text, |_| ()).unwrap_err().to_string();
        error.split_once("a.csv").unwrap().1.to_owned()
    }

    #[test]
    fn quotes_spaces_marks_and_line_ends_do_not_matter() {
        let expected = Labels::Classes { names: vec!["a, b".into(), "c".into()], values: vec![0, 1] };
        for text in [
            "x,class,y\n1,\"a, b\",2\n3,c,4\n",
            "\u{feff}x, class , y\r\n1,\"a, b\", 2\r\n\r\n3, c,4",
            "\"x\",class,y\r1,\"a, b\",2\r3,c,4\r",
        ] {
            let table = load(text, |_| ()).unwrap();
            assert_eq!(table.inputs, [1.0, 2.0, 3.0, 4.0], "{text:?}");
            assert_eq!(table.labels, expected, "{text:?}");
            assert_eq!(table.shape, [2]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        assert_eq!(message("x,class\n1,a\n,b\n"), ", line 3, column `x`: expected a number, got a missing value");
        assert_eq!(message("x,class\nNaN,b\n"), ", line 2, column `x`: expected a number, got a missing value");
        assert_eq!(message("x,class\n1,a\nabc,b\n"), ", line 3, column `x`: expected a number, got `abc`");
        assert_eq!(message("x,class\n-inf,b\n"), ", line 2, column `x`: expected a finite number that f32 can hold, got `-inf`");
        assert_eq!(message("x,class\n1e39,b\n"), ", line 2, column `x`: expected a finite number that f32 can hold, got `1e39`");
        assert_eq!(message("x,class\n1,\n"), ", line 2, column `class`: expected a label, got a missing value");
        assert_eq!(message("\u{feff}x,class\r\n\"1\r\n\",a\r\n\r\n2\r\n"), ", line 5: expected 2 fields as in the header, got 1");
        assert_eq!(message("x,class\r1,a\rz,b"), ", line 3, column `x`: expected a number, got `z`");
        assert_eq!(message("x,class\n1,a\n\n2\n"), ", line 4: expected 2 fields as in the header, got 1");
        assert!(message("x,label\n1,a\n").contains("no column `class`; found `x`, `label`"));
        assert!(message("").contains("expected a header"));
        assert!(message("x,x,class\n").contains("`x` twice"));
        assert!(message("class\na\n").contains("no columns of inputs"));
        assert!(message("x,class\n").contains("the number of examples: expected at least one"));
    }

    #[test]
    fn other_encodings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, b"x,class\n1,caf\xe9\n").unwrap();
        let source = Source { label: Some("class".into()), ..Source::new(path, Task::Classification) };
        let error = source.load(Limits::new(1 << 20)).unwrap_err().to_string();
        assert!(error.contains("line 2: expected text in UTF-8, got other bytes in field 2"), "{error}");
    }

    #[test]
    fn predictions_leave_the_label_out() {
        let predict = |text, label: Option<&str>| {
            load(text, |source| {
                source.task = Task::Prediction;
                source.label = label.map(ToOwned::to_owned);
            })
        };
        assert_eq!(predict("x,class\n1,a\n", Some("class")).unwrap().inputs, [1.0]);
        assert!(predict("x,class\n1,a\n", None).is_err());
        // A label that was asked for must be there.
        let error = predict("x,y\n1,2\n", Some("class")).unwrap_err().to_string();
        assert!(error.ends_with("no column `class`; found `x`, `y`"), "{error}");
        let leave_out = |text| {
            load(text, |source| {
                source.task = Task::Prediction;
                source.leave_out = source.label.take();
            })
        };
        assert_eq!(leave_out("x,class\n1,a\n").unwrap().inputs, [1.0]);
        assert_eq!(leave_out("x,y\n1,2\n").unwrap().inputs, [1.0, 2.0]);
    }

    #[test]
    fn a_first_line_with_numbers_is_asked_about() {
        let asked = message("5.1,3.5,class\n4.9,3.0,a\n");
        assert!(asked.starts_with(": line 1 holds a number (`5.1`): is it the first example, or are these the names"), "{asked}");
        assert!(asked.contains("`header = false`") && asked.contains("--header no"), "{asked}");
        assert!(message("x,2019,class\n1,2,a\n").contains("(`2019`)"));
        let named = load("x,2019,class\n1,2,a\n2,3,b\n", |source| source.has_header = Some(true)).unwrap();
        assert_eq!(named.columns, ["x", "2019"]);
        let plain = |text: &str, change: fn(&mut Source)| {
            load(text, |source| {
                (source.has_header, source.label) = (Some(false), Some("3".into()));
                change(source);
            })
        };
        let table = plain("5.1,3.5,a\n4.9,3.0,b\n", |_| ()).unwrap();
        assert_eq!((&table.inputs[..], &table.columns[..]), (&[5.1, 3.5, 4.9, 3.0][..], &["1".to_owned(), "2".to_owned()][..]));
        assert_eq!(plain("1,2,a\n3,4,b\n5,6,a", |source| source.limit = Some(2)).unwrap().inputs, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(plain("1,2,a\n3,4,b\n5,6,a", |_| ()).unwrap().len(), 3);
        let error = plain("5.1,x,a\n", |_| ()).unwrap_err().to_string();
        assert!(error.ends_with("a.csv, line 1, column `2`: expected a number, got `x`"), "{error}");
        let error = plain("1,2,1\n1,2,one\n", |source| source.task = Task::Regression).unwrap_err().to_string();
        assert!(error.ends_with("a.csv, line 2, column `3`: expected a number for regression, got `one`"), "{error}");
        assert!(plain("", |_| ()).unwrap_err().to_string().contains("an empty file"));
    }

    #[test]
    fn columns_are_found_by_name() {
        let beside = |text: &str, change: fn(&mut Source)| {
            load(text, |source| {
                source.columns = Some(vec!["1".into(), "0".into()]);
                change(source);
            })
        };
        let predict = |source: &mut Source| (source.task, source.label) = (Task::Prediction, None);
        let table = beside("id,0,class,1\nabc,5,a,6\n?,7,b,8\n", |_| ()).unwrap();
        assert_eq!((&table.inputs[..], &table.columns[..]), (&[6.0, 5.0, 8.0, 7.0][..], &["1".to_owned(), "0".to_owned()][..]));
        // Names may be numbers, once they are known.
        assert_eq!(beside("0,1\n5,6\n", predict).unwrap().inputs, [6.0, 5.0]);
        let error = |text: &str| beside(text, predict).unwrap_err().to_string();
        let missing = error("0,x\n5,6\n");
        assert!(missing.ends_with("expected the columns `1`, `0`, of which `1` is missing; found `0`, `x`"), "{missing}");
        let foreign = error("a,b\n5,6\n");
        assert!(foreign.ends_with("of which `1`, `0` are missing; found `a`, `b`"), "{foreign}");
        let label = beside("0,1\n5,6\n", |source| source.label = Some("0".into())).unwrap_err().to_string();
        assert!(label.contains("the column `0` is an input and not the label"), "{label}");
    }

    #[test]
    fn quotes_are_closed_and_labels_stand_on_one_line() {
        let unclosed = ": expected a quote at the end of the field that begins with one, got none";
        assert_eq!(message("x,class\n1,a\n2,\"b\n3,a\n4,b\n"), format!(": line 3{unclosed}"));
        assert_eq!(message("\u{feff}\"x,class\n1,a\n"), format!(": line 1{unclosed}"));
        assert_eq!(message("x,class\n1,a\n2,\"b\"\"\n"), format!(": line 3{unclosed}"));
        assert_eq!(
            message("x,class\n1,\"a\n2,b\n3,\"\n4,b\n"),
            ", line 2, column `class`: expected a label on one line, got `a\\n2,b\\n3,`: mind the quotes"
        );
        // Quotes that do not begin a field are letters.
        let table = load("x,class\n1,a\"\n2,\"b\"\"\"\n", |_| ()).unwrap();
        assert_eq!(table.labels, Labels::Classes { names: vec!["a\"".into(), "b\"".into()], values: vec![0, 1] });
    }

    #[test]
    fn labels_are_named_by_line_too() {
        for word in ["NA", "nan", "?"] {
            let expected = format!(", line 3, column `class`: expected a label, got a missing value (`{word}`)");
            assert_eq!(message(&format!("x,class\n1,a\n2,{word}\n3,b\n")), expected);
        }
        let table = load("x,class\n1,scratch\n2,none\n", |_| ()).unwrap();
        assert_eq!(table.labels, Labels::Classes { names: vec!["none".into(), "scratch".into()], values: vec![1, 0] });
        let refused = |change: fn(&mut Source)| {
            let error = load("x,class\n\n1,1\n\n2,two\n", change).unwrap_err().to_string();
            error.split_once("a.csv").unwrap().1.to_owned()
        };
        let number = refused(|source| source.task = Task::Regression);
        assert_eq!(number, ", line 5, column `class`: expected a number for regression, got `two`");
        let class = refused(|source| source.classes = Some(vec!["1".into(), "2".into()]));
        assert_eq!(class, ", line 5, column `class`: unknown class `two`; found `1`, `2`");
    }

    #[test]
    fn numbers_can_be_labels_and_values_can_be_kept_missing() {
        let table = load("x,class\n1,0.5\n?,2\n", |source| {
            source.task = Task::Regression;
            source.missing = Missing::Keep;
        });
        let table = table.unwrap();
        assert_eq!(table.labels, Labels::Values(vec![0.5, 2.0]));
        assert!(table.inputs[1].is_nan());
    }

    #[test]
    fn a_limit_reads_the_first_rows_only() {
        let table = load("x,class\n1,a\n2,b\nwrong\n", |source| source.limit = Some(2)).unwrap();
        assert_eq!(table.inputs, [1.0, 2.0]);
    }

    #[test]
    fn size_is_known_before_memory_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        // Two bytes a value in the file, four in memory.
        std::fs::write(&path, format!("x,y\n{}", "1,2\n".repeat(1000))).unwrap();
        let source = Source::new(path, Task::Prediction);
        let error = source.load(Limits::new(5000)).unwrap_err().to_string();
        assert!(error.contains("the inputs would take 7.8 KiB, but at most 4.9 KiB may be used"), "{error}");
        assert!(matches!(source.load(Limits::new(3000)), Err(Error::TooLarge { needed: 4004, .. })));
        assert!(source.load(Limits::new(9000)).is_ok());
    }
}

//! Tables as text: a header unless there is none, then one example per row, with commas, semicolons, tabs or bars between the fields.

mod cell;
mod columns;
mod dialect;
mod facts;
mod text;

use std::collections::{HashMap, HashSet};

use csv::StringRecord;

use crate::assemble::Raw;
use crate::element::Column;
use crate::error::{Error, Result, quote};
use crate::limits::{Budget, Limits};
use crate::source::{Missing, Source};

use cell::{Cell, Value};
use columns::Columns;
use facts::{Gathering, check_input};
use text::Text;

pub use facts::{ColumnFacts, ColumnKind};

/// Columns without a name are called so by those who write them: positions of the rows.
const UNNAMED: [&str; 2] = ["", "Unnamed: 0"];

pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let sheet = Sheet::open(source, budget)?;
    let Columns { label, inputs } = Columns::new(source, &sheet.origin, &sheet.header)?;
    let mut notes = sheet.text.notes.clone();
    let (inputs, categories) = match &source.categories {
        Some(known) => (inputs, known.clone()),
        None => sheet.categories(inputs, &mut notes, budget)?,
    };
    let name = |index: &usize| sheet.header[*index].to_owned();
    let names: Vec<String> = inputs.iter().map(name).collect();
    let mut rows = Rows { sheet: &sheet, inputs, label, coders: Coder::all(&categories), values: Vec::new(), labels: Vec::new() };
    rows.read(budget)?;
    notes.extend(rows.coders.iter().zip(&names).filter_map(|(coder, name)| coder.as_ref()?.note(name)));
    let Rows { values, labels, inputs, .. } = rows;
    let column = source.wants_labels().then_some(Column::Texts(labels));
    let categories = if categories.iter().all(Vec::is_empty) { Vec::new() } else { categories };
    Ok(Raw { shape: vec![inputs.len()], inputs: values, column, names, categories, notes, ..Raw::default() })
}

/// The names of the columns.
pub(crate) fn header(source: &Source) -> Result<Vec<String>> {
    let sheet = Sheet::open(source, &mut Budget::new(Limits::of_this_machine()))?;
    Ok(sheet.header.iter().map(ToOwned::to_owned).collect())
}

/// What all columns hold.
pub(crate) fn survey(source: &Source) -> Result<Vec<ColumnFacts>> {
    let budget = &mut Budget::new(Limits::of_this_machine());
    let sheet = Sheet::open(source, budget)?;
    sheet.facts(&(0..sheet.header.len()).collect::<Vec<_>>(), budget)
}

/// `a.csv, line 3, column `class``: where the label of an example stands. Found by reading again, for a message.
pub(crate) fn label_place(source: &Source, example: usize) -> String {
    let Ok(sheet) = Sheet::open(source, &mut Budget::new(Limits::of_this_machine())) else { return source.origin() };
    let record = sheet.reader().into_records().nth(example).and_then(std::result::Result::ok);
    let line = record.map(|record| sheet.line(&record)).unwrap_or_default();
    let column = source.label.as_deref().map(|name| format!(", column {}", quote(name))).unwrap_or_default();
    format!("{}, line {line}{column}", sheet.origin)
}

/// A table as text.
struct Sheet<'a> {
    source: &'a Source,
    origin: String,
    text: Text,
    separator: u8,
    header: StringRecord,
}

impl<'a> Sheet<'a> {
    fn open(source: &'a Source, budget: &mut Budget) -> Result<Self> {
        let text = Text::open(&source.path, budget)?;
        let separator = dialect::separator(&text.content);
        dialect::check_quotes(&text.content, separator, &source.path)?;
        let mut sheet = Self { source, origin: source.origin(), text, separator, header: StringRecord::new() };
        let first = sheet.reader().headers().map_err(|error| sheet.wrong(error))?.clone();
        // The names of the columns: those of the first line, or where it is an example their positions.
        let positions = || (1..=first.len()).map(|position| position.to_string()).collect();
        sheet.header = if sheet.is_named() { first } else { positions() };
        Ok(sheet)
    }

    /// Whether the first line is taken for the names of the columns.
    fn is_named(&self) -> bool {
        self.source.has_header != Some(false)
    }

    /// Rows of any length, since those of a wrong one are told with their line.
    fn reader(&self) -> csv::Reader<&[u8]> {
        let mut builder = csv::ReaderBuilder::new();
        builder.flexible(true).trim(csv::Trim::All).has_headers(self.is_named()).delimiter(self.separator);
        builder.from_reader(self.text.content.as_bytes())
    }

    /// As many rows as are asked for, each as long as the header.
    fn rows(&self) -> impl Iterator<Item = Result<StringRecord>> {
        let check = |row: csv::Result<StringRecord>| {
            let row = row.map_err(|error| self.wrong(error))?;
            if row.len() == self.header.len() {
                return Ok(row);
            }
            let (expected, got) = (self.header.len(), row.len());
            Err(Error::Ragged { origin: self.origin.clone(), line: self.line(&row), expected, got })
        };
        self.reader().into_records().take(self.source.rows(usize::MAX)).map(check)
    }

    /// The line of a row, from 1.
    fn line(&self, row: &StringRecord) -> u64 {
        let start = row.position().map_or(0, csv::Position::byte);
        text::line_at(&self.text.content, usize::try_from(start).unwrap_or(usize::MAX))
    }

    fn decimal_commas(&self) -> bool {
        self.separator != b','
    }

    fn facts(&self, positions: &[usize], budget: &mut Budget) -> Result<Vec<ColumnFacts>> {
        let all = Gathering::all(self.rows(), positions, self.decimal_commas(), &self.origin, budget)?;
        let mut facts: Vec<ColumnFacts> =
            all.into_iter().zip(positions).map(|(column, &index)| column.facts(&self.header[index])).collect();
        if let (Some(0), Some(first)) = (positions.first(), facts.first_mut())
            && UNNAMED.contains(&first.name.as_str())
            && (&first.kind, first.missing) == (&ColumnKind::Numbers, 0)
        {
            first.is_index = first.counts_up || self.numbers_rows(first.rows, budget)?;
        }
        Ok(facts)
    }

    /// Whether the first column holds whole numbers that are all different, as positions do after rows were drawn.
    fn numbers_rows(&self, rows: usize, budget: &mut Budget) -> Result<bool> {
        // A set keeps its items in tables that are not always full.
        budget.take(&self.origin, "the positions of rows", rows, 4 * size_of::<u64>())?;
        let mut seen = HashSet::with_capacity(rows);
        for row in self.rows() {
            let number = row?.get(0).and_then(|text| text.parse::<u64>().ok());
            if !number.is_some_and(|number| seen.insert(number)) {
                return Ok(false);
            }
        }
        Ok(rows > 1)
    }

    /// The inputs without a column of positions, and the categories of each; none where it holds numbers.
    fn categories(
        &self,
        mut inputs: Vec<usize>,
        notes: &mut Vec<String>,
        budget: &mut Budget,
    ) -> Result<(Vec<usize>, Vec<Vec<String>>)> {
        let mut facts = self.facts(&inputs, budget)?;
        if self.source.columns.is_none() && inputs.len() > 1 && facts[0].is_index {
            notes.push("the first column has no name and numbers the rows: it was left out".into());
            inputs.remove(0);
            facts.remove(0);
        }
        let category = |facts: ColumnFacts| match facts.kind {
            ColumnKind::Categories(names) => Ok(names),
            // What is mixed is told cell by cell, with the place of what is no number.
            ColumnKind::Numbers | ColumnKind::Mixed(_) => Ok(Vec::new()),
            ColumnKind::Empty if self.source.missing == Missing::Refuse || facts.rows == 0 => Ok(Vec::new()),
            _ => check_input(&self.origin, &facts).map(|()| Vec::new()),
        };
        Ok((inputs, facts.into_iter().map(category).collect::<Result<_>>()?))
    }

    fn wrong(&self, error: csv::Error) -> Error {
        let start = error.position().map_or(0, csv::Position::byte);
        let line = text::line_at(&self.text.content, usize::try_from(start).unwrap_or(usize::MAX));
        Error::malformed(&self.origin, format!("line {line}"), "a row of a table", format!("{:?}", error.into_kind()))
    }
}

/// The rows as numbers, while they are read.
struct Rows<'a> {
    sheet: &'a Sheet<'a>,
    inputs: Vec<usize>,
    label: Option<usize>,
    /// One per column of inputs; none where it holds numbers.
    coders: Vec<Option<Coder>>,
    values: Vec<f32>,
    labels: Vec<String>,
}

impl Rows<'_> {
    fn read(&mut self, budget: &mut Budget) -> Result<()> {
        let (sheet, source) = (self.sheet, self.sheet.source);
        // Rows are at most the lines; values take two bytes at least, the value and what follows it.
        let content = sheet.text.content.as_bytes();
        let lines = 1 + content.iter().filter(|&&byte| matches!(byte, b'\n' | b'\r')).count();
        let most = source.rows(lines).saturating_mul(self.inputs.len()).min(content.len() / 2 + 1);
        budget.take(&sheet.origin, "the inputs", most, size_of::<f32>())?;
        self.values.reserve_exact(most);
        for row in sheet.rows() {
            let row = row?;
            let line = || sheet.line(&row);
            let cell =
                |index: usize| Cell { origin: &sheet.origin, line: &line, column: &sheet.header[index], text: &row[index] };
            for (&index, coder) in self.inputs.iter().zip(&mut self.coders) {
                self.values.push(match coder {
                    Some(coder) => coder.code(&cell(index), source.missing)?,
                    None => number(&cell(index), sheet.decimal_commas(), source.missing)?,
                });
            }
            if let Some(index) = self.label.filter(|_| source.wants_labels()) {
                self.labels.push(label(&cell(index), sheet.decimal_commas(), budget)?);
            }
        }
        self.values.shrink_to_fit();
        Ok(())
    }
}

fn number(cell: &Cell<'_>, decimal_commas: bool, missing: Missing) -> Result<f32> {
    match Value::of(cell.text, decimal_commas) {
        Value::Missing if missing == Missing::Refuse => Err(cell.wrong("a number", "a missing value")),
        Value::Missing => Ok(f32::NAN),
        Value::Number(value) if value.is_finite() || missing == Missing::Keep => Ok(value),
        Value::Number(_) => Err(cell.wrong("a finite number that f32 can hold", &quote(cell.text))),
        Value::Date | Value::Text => Err(cell.wrong("a number", &quote(cell.text))),
    }
}

fn label(cell: &Cell<'_>, decimal_commas: bool, budget: &mut Budget) -> Result<String> {
    let value = Value::of(cell.text, decimal_commas);
    if value == Value::Missing && !cell::is_class(cell.text) {
        return Err(cell.missing("a label"));
    }
    // More likely a quote that is closed some rows too late.
    if cell.text.contains(['\n', '\r']) {
        return Err(cell.wrong("a label on one line", &format!("{}: mind the quotes", quote(cell.text))));
    }
    // A vector grows by doubling: its items count twice.
    budget.take(cell.origin, "the labels", 1, cell.text.len() + 2 * size_of::<String>())?;
    // Readers of numbers know the point only.
    let point = decimal_commas && cell.text.contains(',') && matches!(value, Value::Number(_));
    Ok(if point { cell.text.replace(',', ".") } else { cell.text.to_owned() })
}

/// Categories by their positions in a list.
struct Coder {
    positions: HashMap<String, u16>,
    unknown: usize,
    first: Option<String>,
}

impl Coder {
    /// One per column; none where there are no categories.
    fn all(categories: &[Vec<String>]) -> Vec<Option<Self>> {
        let coder = |names: &Vec<String>| {
            let positions = names.iter().cloned().zip(0..).collect();
            (!names.is_empty()).then_some(Self { positions, unknown: 0, first: None })
        };
        categories.iter().map(coder).collect()
    }

    /// A category that is not on the list counts as a missing value.
    fn code(&mut self, cell: &Cell<'_>, missing: Missing) -> Result<f32> {
        if let Some(&position) = self.positions.get(cell.text) {
            return Ok(f32::from(position));
        }
        let is_missing = Value::of(cell.text, false) == Value::Missing;
        match missing {
            Missing::Refuse if is_missing => Err(cell.missing("a category")),
            Missing::Refuse => Err(cell.wrong("a category that is known", &quote(cell.text))),
            Missing::Fill | Missing::Keep => {
                if !is_missing {
                    self.unknown += 1;
                    self.first.get_or_insert_with(|| cell.text.to_owned());
                }
                Ok(f32::NAN)
            }
        }
    }

    fn note(&self, column: &str) -> Option<String> {
        let (first, count) = (self.first.as_ref()?, self.unknown);
        let values = if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
        Some(format!("{values} of {} not known from training, such as {}: taken for missing", quote(column), quote(first)))
    }
}

#[cfg(test)]
mod tests;

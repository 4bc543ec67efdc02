//! What the columns of a table hold: numbers, categories, or what is neither.

use std::collections::BTreeSet;

use csv::StringRecord;
use serde::Serialize;

use super::cell::Value;
use crate::error::{Error, Result, printable, quote};
use crate::limits::Budget;

/// Most categories of a column.
const MOST_CATEGORIES: usize = 200;
/// Up to so many different texts are categories, however few rows there are.
const FEW_CATEGORIES: usize = 20;

/// What a column of a table holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnFacts {
    /// What it is called.
    pub name: String,
    /// Rows that were looked at.
    pub rows: usize,
    /// Of these, rows without a value.
    pub missing: usize,
    /// What the others hold.
    pub kind: ColumnKind,
    /// Whether whole numbers count up by one from row to row, as in a list of positions.
    pub counts_up: bool,
    /// Whether it only numbers the rows: the first column, without a name, of whole numbers that are all different.
    pub is_index: bool,
    /// The mean of the numbers.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

/// What the values of a column are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers.
    Numbers,
    /// Texts that come again and again: these, in order.
    Categories(Vec<String>),
    /// Numbers and texts; the first that is no number.
    Mixed(String),
    /// Dates, such as this.
    Dates(String),
    /// Texts of which most are different, as names and keys are.
    Texts,
    /// Nothing at all.
    Empty,
}

impl ColumnFacts {
    /// What an input cannot be, in words, and what to do about it.
    pub fn unfit(&self) -> Option<String> {
        let leave = format!("leave the column out: `ignore = [\"{}\"]` under [data]", printable(&self.name));
        match &self.kind {
            ColumnKind::Numbers | ColumnKind::Categories(_) => None,
            ColumnKind::Mixed(text) => Some(format!("numbers, and {} among them: mend it or {leave}", quote(text))),
            ColumnKind::Dates(date) => Some(format!(
                "dates ({}): make numbers of them, such as the month or the days since a start, or {leave}",
                quote(date)
            )),
            ColumnKind::Texts => Some(format!("texts of which most are different, as names are: {leave}")),
            ColumnKind::Empty => Some(format!("nothing at all: {leave}")),
        }
    }
}

/// Gathers what there is to know about a column.
#[derive(Default)]
pub(super) struct Gathering {
    rows: usize,
    missing: usize,
    numbers: usize,
    dates: usize,
    sum: f64,
    squares: f64,
    counting: Option<f64>,
    breaks: bool,
    texts: BTreeSet<String>,
    /// More texts than are kept.
    many: bool,
    first_text: Option<String>,
    first_date: Option<String>,
}

impl Gathering {
    /// What the columns at `positions` hold, in as many rows as are read.
    pub(super) fn all(
        rows: impl Iterator<Item = Result<StringRecord>>,
        positions: &[usize],
        decimal_commas: bool,
        origin: &str,
        budget: &mut Budget,
    ) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = positions.iter().map(|_| Self::default()).collect();
        for row in rows {
            let row = row?;
            for (column, &position) in all.iter_mut().zip(positions) {
                let text = row.get(position).unwrap_or_default();
                column.add(Value::of(text, decimal_commas), text, origin, budget)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, value: Value, text: &str, origin: &str, budget: &mut Budget) -> Result<()> {
        self.rows += 1;
        match value {
            Value::Missing => self.missing += 1,
            Value::Number(number) => {
                let number = f64::from(number);
                self.numbers += 1;
                self.sum += number;
                self.squares += number * number;
                let follows = self.counting.is_none_or(|last| (number - last - 1.0).abs() < 1e-6);
                self.breaks |= !follows || number.fract() != 0.0;
                self.counting = Some(number);
            }
            Value::Date => {
                self.dates += 1;
                self.first_date.get_or_insert_with(|| text.to_owned());
            }
            Value::Text => {}
        }
        if matches!(value, Value::Date | Value::Text) {
            self.first_text.get_or_insert_with(|| text.to_owned());
            if self.texts.len() > MOST_CATEGORIES {
                self.many = true;
            } else if !self.texts.contains(text) {
                // A set keeps its items in nodes that are not always full.
                budget.take(origin, "the categories", 1, text.len() + 3 * size_of::<String>())?;
                self.texts.insert(text.to_owned());
            }
        }
        Ok(())
    }

    pub(super) fn facts(self, name: &str) -> ColumnFacts {
        let present = self.rows - self.missing;
        let count = self.numbers.max(1) as f64;
        let mean = self.sum / count;
        let distinct = self.texts.len();
        let different = self.many || distinct > MOST_CATEGORIES || distinct > FEW_CATEGORIES && 2 * distinct > present;
        let kind = match (self.first_text, self.first_date) {
            _ if present == 0 => ColumnKind::Empty,
            (None, _) => ColumnKind::Numbers,
            (_, Some(date)) if 2 * self.dates > present => ColumnKind::Dates(date),
            (Some(text), _) if self.numbers > 0 => ColumnKind::Mixed(text),
            _ if different => ColumnKind::Texts,
            (Some(_), _) => ColumnKind::Categories(self.texts.into_iter().collect()),
        };
        ColumnFacts {
            name: name.to_owned(),
            rows: self.rows,
            missing: self.missing,
            counts_up: kind == ColumnKind::Numbers && self.missing == 0 && self.rows > 1 && !self.breaks,
            kind,
            is_index: false,
            mean,
            deviation: (self.squares / count - mean * mean).max(0.0).sqrt(),
        }
    }
}

/// Refuses a column that is no input.
pub(super) fn check_input(origin: &str, facts: &ColumnFacts) -> Result<()> {
    match facts.unfit() {
        Some(problem) => Err(Error::request(origin, format!("the column {} holds {problem}", quote(&facts.name)))),
        None => Ok(()),
    }
}

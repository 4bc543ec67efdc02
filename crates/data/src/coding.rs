//! From the columns of a table to the entries that a network takes: categories become one entry each, gaps are filled.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, list, quote};
use crate::limits::{Budget, Limits};
use crate::table::Table;

/// How the columns of a table become the entries of an example: column after column, a block of entries each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// The columns, in the order of their blocks.
    pub columns: Vec<Coded>,
}

/// How one column becomes entries: its value, or one entry for each of its categories; behind them, where it is asked for, whether the
/// value was missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coded {
    /// What the column is called.
    pub name: String,
    /// Its categories; none for numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// What stands in place of a missing value, and of a category that is not known: a number for each entry. Without any a missing value
    /// is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fill: Vec<f32>,
    /// Whether a further entry is 1 where the value was missing, else 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicator: bool,
}

impl Coded {
    /// A column of numbers as it is.
    pub fn number(name: &str) -> Self {
        Self { name: name.to_owned(), categories: Vec::new(), fill: Vec::new(), indicator: false }
    }

    /// Entries for the value alone.
    pub fn values(&self) -> usize {
        self.categories.len().max(1)
    }

    /// All its entries.
    pub fn width(&self) -> usize {
        self.values() + usize::from(self.indicator)
    }

    /// Whether an entry of one column may stand where that of the other does.
    pub fn is_like(&self, other: &Self) -> bool {
        self.categories == other.categories && self.indicator == other.indicator
    }

    /// Writes the entries of a value: a number, or the position of a category; NaN where it is missing.
    fn write(&self, value: f32, entries: &mut [f32]) -> bool {
        let (values, rest) = entries.split_at_mut(self.values());
        rest.fill(f32::from(u8::from(value.is_nan())));
        if value.is_nan() {
            let known = self.fill.len() == values.len();
            if known {
                values.copy_from_slice(&self.fill);
            }
            return known;
        }
        if self.categories.is_empty() {
            values[0] = value;
        } else {
            values.fill(0.0);
            // Whoever made the column took its positions from this list.
            if let Some(entry) = values.get_mut(value as usize) {
                *entry = 1.0;
            }
        }
        true
    }

    /// What its entries are called.
    fn entries(&self) -> impl Iterator<Item = String> {
        let plain = self.categories.is_empty().then(|| self.name.clone());
        let categories = self.categories.iter().map(|category| format!("{} = {category}", self.name));
        plain.into_iter().chain(categories).chain(self.indicator.then(|| format!("{} missing", self.name)))
    }
}

impl Coding {
    /// The entries of all columns together.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Coded::width).sum()
    }

    /// Where the block of each column lies.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let block = |column: &Coded| {
            end += column.width();
            end - column.width()..end
        };
        self.columns.iter().map(block).collect()
    }

    /// What the entries are called.
    pub fn entries(&self) -> Vec<String> {
        self.columns.iter().flat_map(Coded::entries).collect()
    }

    /// What the columns are called.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The categories of each column, as a [`Source`](crate::Source) takes them.
    pub fn categories(&self) -> Vec<Vec<String>> {
        self.columns.iter().map(|column| column.categories.clone()).collect()
    }

    /// Whether it fits together: what a model file says is not believed.
    pub fn check(&self) -> std::result::Result<(), String> {
        for Coded { name, categories, fill, .. } in &self.columns {
            let sound = fill.is_empty() || fill.len() == categories.len().max(1) && fill.iter().all(|value| value.is_finite());
            if !sound {
                return Err(format!("the column {} is filled with {} values", quote(name), fill.len()));
            }
        }
        if self.columns.is_empty() { Err("a table without columns".into()) } else { Ok(()) }
    }

    /// The table with entries in place of columns. Its shape is that of the columns where each is one entry.
    pub fn apply(&self, table: Table, limits: Limits) -> Result<Table> {
        let (columns, width) = (self.columns.len(), self.width());
        if table.columns != self.names() {
            return Err(Error::mismatch(&table.source, "the columns of inputs", list(&self.names()), list(&table.columns)));
        }
        let mut budget = Budget::new(limits);
        budget.take(&table.source, "the entries", table.len().saturating_mul(width), size_of::<f32>())?;
        let maps = self.maps(&table);
        let mut inputs = vec![0.0; table.len() * width];
        for (k, (row, example)) in table.inputs.chunks(columns).zip(inputs.chunks_mut(width)).enumerate() {
            let mut rest = example;
            for ((column, map), &value) in self.columns.iter().zip(&maps).zip(row) {
                let (entries, after) = rest.split_at_mut(column.width());
                let value = map
                    .as_ref()
                    .map_or(value, |map| map.get(value as usize).copied().filter(|_| !value.is_nan()).unwrap_or(f32::NAN));
                if !column.write(value, entries) {
                    let place = format!("example {}, column {}", k + 1, quote(&column.name));
                    let advice = "a value: none was missing in training, so there is nothing to fill it with";
                    return Err(Error::malformed(&table.source, place, advice, "a missing value"));
                }
                rest = after;
            }
        }
        let shape = if width == columns { table.shape.clone() } else { vec![width] };
        Ok(Table { shape, inputs, columns: self.entries(), categories: Vec::new(), ..table })
    }

    /// For each column of categories: from the positions in the table to those here.
    fn maps(&self, table: &Table) -> Vec<Option<Vec<f32>>> {
        let none = Vec::new();
        let map = |(k, column): (usize, &Coded)| {
            let places: HashMap<&str, u16> = column.categories.iter().map(String::as_str).zip(0..).collect();
            let place = |name: &String| places.get(name.as_str()).map_or(f32::NAN, |&place| f32::from(place));
            let names = table.categories.get(k).unwrap_or(&none);
            (!column.categories.is_empty()).then(|| names.iter().map(place).collect())
        };
        self.columns.iter().enumerate().map(map).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Labels;

    const LIMITS: Limits = Limits { bytes: 1 << 20 };

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn table(inputs: &[f32]) -> Table {
        Table {
            shape: vec![2],
            inputs: inputs.to_vec(),
            labels: Labels::None,
            columns: names(&["age", "colour"]),
            categories: vec![Vec::new(), names(&["red", "blue"])],
            stored: Vec::new(),
            ids: Vec::new(),
            notes: Vec::new(),
            source: "a.csv".into(),
        }
    }

    fn coding() -> Coding {
        let age = Coded { fill: vec![30.0], indicator: true, ..Coded::number("age") };
        let colour = Coded { categories: names(&["blue", "green", "red"]), fill: vec![0.5, 0.0, 0.5], ..Coded::number("colour") };
        Coding { columns: vec![age, colour] }
    }

    #[test]
    fn columns_become_blocks_of_entries() {
        let coded = coding().apply(table(&[20.0, 0.0, f32::NAN, 1.0, 40.0, f32::NAN]), LIMITS).unwrap();
        assert_eq!(coded.columns, ["age", "age missing", "colour = blue", "colour = green", "colour = red"]);
        assert_eq!((coded.shape, coding().blocks()), (vec![5], vec![0..2, 2..5]));
        assert_eq!(coded.inputs, [20.0, 0.0, 0.0, 0.0, 1.0, 30.0, 1.0, 1.0, 0.0, 0.0, 40.0, 0.0, 0.5, 0.0, 0.5]);
        assert!(coded.categories.is_empty());
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        let whole = Coding { columns: vec![Coded::number("age"), coding().columns[1].clone()] };
        let error = whole.apply(table(&[1.0, 0.0, f32::NAN, 1.0]), LIMITS).unwrap_err().to_string();
        assert!(error.starts_with("a.csv: example 2, column `age`: expected a value: none was missing in training"), "{error}");
        let other = Table { columns: names(&["age", "size"]), ..table(&[1.0, 0.0]) };
        assert!(whole.apply(other, LIMITS).unwrap_err().to_string().contains("expected `age`, `colour`, got `age`, `size`"));
        assert!(coding().apply(table(&[1.0, 0.0]), Limits { bytes: 8 }).unwrap_err().to_string().contains("would take"));
    }

    #[test]
    fn a_coding_survives_json_and_is_checked() {
        let text = serde_json::to_string(&coding()).unwrap();
        assert_eq!(serde_json::from_str::<Coding>(&text).unwrap(), coding());
        assert_eq!(coding().check(), Ok(()));
        let mut wrong = coding();
        wrong.columns[1].fill.pop();
        assert_eq!(wrong.check(), Err("the column `colour` is filled with 2 values".into()));
        assert!(Coding::default().check().is_err());
    }
}

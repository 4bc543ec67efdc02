//! The user's data in memory.

use crate::error::{Error, Result, dims, list};

/// Examples of one shape, with their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The shape of one example, channels first.
    pub shape: Vec<usize>,
    /// The entries of all examples, one example after the other, the last axis fastest.
    pub inputs: Vec<f32>,
    /// One label per example, or none at all.
    pub labels: Labels,
    /// What the file calls each entry of an example as it lies there; empty for formats that name none.
    pub columns: Vec<String>,
    /// The categories of each column: its entry is the position of one of them, or NaN. None for a column of numbers, and none at all
    /// when all columns are.
    pub categories: Vec<Vec<String>>,
    /// The shape of one example as it lies in the file, before it was made `shape`; empty where that is not known.
    pub stored: Vec<usize>,
    /// What the user calls each example, such as the name of its image; empty when they are only counted.
    pub ids: Vec<String>,
    /// What was done to the data that the user may want to know.
    pub notes: Vec<String>,
    /// The file or folder they come from.
    pub source: String,
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Labels {
    /// One of several classes.
    Classes {
        /// The names of the classes: whole numbers ascending, else texts in order of their characters.
        names: Vec<String>,
        /// The class of each example, as a position in `names`.
        values: Vec<usize>,
    },
    /// A number.
    Values(Vec<f32>),
    /// Nothing is known: examples to predict.
    None,
}

impl Table {
    /// Examples in memory: nothing is named, and nothing was done to them.
    pub fn new(shape: Vec<usize>, inputs: Vec<f32>, labels: Labels, source: impl Into<String>) -> Self {
        Self {
            shape,
            inputs,
            labels,
            columns: Vec::new(),
            categories: Vec::new(),
            stored: Vec::new(),
            ids: Vec::new(),
            notes: Vec::new(),
            source: source.into(),
        }
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.inputs.len() / self.width()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// How many entries one example has.
    pub fn width(&self) -> usize {
        self.shape.iter().product::<usize>().max(1)
    }

    /// The entries of one example.
    pub fn example(&self, index: usize) -> &[f32] {
        &self.inputs[index * self.width()..][..self.width()]
    }

    /// The examples at these positions, in this order; the classes stay the same.
    #[must_use]
    pub fn select(&self, positions: &[usize]) -> Self {
        Self {
            shape: self.shape.clone(),
            inputs: positions.iter().flat_map(|&i| self.example(i)).copied().collect(),
            labels: self.labels.select(positions),
            columns: self.columns.clone(),
            categories: self.categories.clone(),
            stored: self.stored.clone(),
            ids: if self.ids.is_empty() { Vec::new() } else { positions.iter().map(|&i| self.ids[i].clone()).collect() },
            notes: self.notes.clone(),
            source: self.source.clone(),
        }
    }

    /// What an example is called: by its file where it has one of its own, else by its position.
    pub fn name_of(&self, example: usize) -> String {
        self.ids.get(example).cloned().unwrap_or_else(|| example.to_string())
    }

    /// Refuses data that cannot stand beside this: another shape, other columns, other classes, or another kind of label.
    pub fn check_alike(&self, other: &Self) -> Result<()> {
        let named = !self.columns.is_empty() && !other.columns.is_empty();
        if named && self.columns != other.columns {
            let expected = format!("{} as in {}", list(&self.columns), self.source);
            return Err(Error::mismatch(&other.source, "the columns of inputs", expected, list(&other.columns)));
        }
        if self.shape != other.shape {
            return Err(Error::mismatch(
                &other.source,
                "the shape of an example",
                format!("{} as in {}", dims(&self.shape), self.source),
                dims(&other.shape),
            ));
        }
        match (&self.labels, &other.labels) {
            (Labels::Classes { names, .. }, Labels::Classes { names: others, .. }) if names != others => {
                let expected = format!("{} as in {}", names.join(", "), self.source);
                Err(Error::mismatch(&other.source, "the classes", expected, others.join(", ")))
            }
            (mine, theirs) if mine.kind() != theirs.kind() => {
                let expected = format!("{} as in {}", mine.kind(), self.source);
                Err(Error::mismatch(&other.source, "the labels", expected, theirs.kind()))
            }
            _ => Ok(()),
        }
    }
}

impl Labels {
    /// How many labels there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes { values, .. } => values.len(),
            Self::Values(values) => values.len(),
            Self::None => 0,
        }
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Classes { .. } => "classes",
            Self::Values(_) => "numbers",
            Self::None => "no labels",
        }
    }

    fn select(&self, positions: &[usize]) -> Self {
        match self {
            Self::Classes { names, values } => {
                Self::Classes { names: names.clone(), values: positions.iter().map(|&i| values[i]).collect() }
            }
            Self::Values(values) => Self::Values(positions.iter().map(|&i| values[i]).collect()),
            Self::None => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            shape: vec![2],
            inputs: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            labels: Labels::Classes { names: vec!["a".into(), "b".into()], values: vec![0, 1, 1] },
            columns: vec!["u".into(), "v".into()],
            categories: Vec::new(),
            stored: Vec::new(),
            ids: vec!["p".into(), "q".into(), "r".into()],
            notes: Vec::new(),
            source: "here".into(),
        }
    }

    #[test]
    fn selected_examples_keep_what_belongs_to_them() {
        let chosen = table().select(&[2, 0]);
        assert_eq!(chosen.len(), 2);
        assert_eq!(chosen.inputs, [4.0, 5.0, 0.0, 1.0]);
        assert_eq!(chosen.ids, ["r", "p"]);
        assert_eq!(chosen.columns, ["u", "v"]);
        assert_eq!(chosen.labels, Labels::Classes { names: vec!["a".into(), "b".into()], values: vec![1, 0] });
    }

    #[test]
    fn tables_that_differ_are_told_apart() {
        let (one, mut two) = (table(), table());
        assert!(one.check_alike(&two).is_ok());
        two.shape = vec![1];
        assert!(one.check_alike(&two).unwrap_err().to_string().contains("expected 2 as in here, got 1"));
        two.shape = vec![2];
        two.labels = Labels::Values(vec![0.0; 3]);
        assert!(one.check_alike(&two).unwrap_err().to_string().contains("expected classes as in here, got numbers"));
        two.labels = Labels::Classes { names: vec!["a".into(), "c".into()], values: vec![0, 1, 1] };
        assert!(one.check_alike(&two).unwrap_err().to_string().contains("got a, c"));
        let turned = Table { columns: vec!["v".into(), "u".into()], ..table() };
        let error = one.check_alike(&turned).unwrap_err().to_string();
        assert_eq!(error, "here: the columns of inputs: expected `u`, `v` as in here, got `v`, `u`");
        assert!(one.check_alike(&Table { columns: Vec::new(), ..table() }).is_ok());
    }
}

//! What to know about data before training on them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use crate::table::{Labels, Table};

/// Counts and ranges of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The file or folder.
    pub source: String,
    /// How many examples there are.
    pub examples: usize,
    /// The shape of one.
    pub shape: Vec<usize>,
    /// Examples per class, in the order of the classes; empty when labels are not classes.
    pub classes: Vec<ClassCount>,
    /// The range of the labels, when they are numbers.
    pub targets: Option<Range>,
    /// The range of the inputs that are finite.
    pub inputs: Option<Range>,
    /// Inputs that are missing (NaN).
    pub missing: usize,
    /// Inputs that are infinite.
    pub infinite: usize,
    /// Entries that have the same value in all examples, counted with the last axis fastest: nothing can be learned from them.
    pub constant: Vec<usize>,
    /// Examples whose inputs another example before them has as well.
    pub duplicates: usize,
    /// Of these, those with another label than the first of their kind.
    pub contradictions: usize,
    /// What reading them changed.
    pub notes: Vec<String>,
}

/// A class and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub name: String,
    /// Its examples.
    pub count: usize,
}

/// Where numbers lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// The smallest.
    pub min: f32,
    /// The largest.
    pub max: f32,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, over all numbers.
    pub deviation: f64,
}

/// Two examples with the same inputs, one in each of two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shared {
    /// The first such example in the first table.
    pub first: usize,
    /// The example in the second table.
    pub second: usize,
    /// Whether their labels are equal too.
    pub same_label: bool,
}

impl Summary {
    /// Looks at every number once.
    pub fn of(table: &Table) -> Self {
        let classes = match &table.labels {
            Labels::Classes { names, values } => {
                let mut counts = vec![0; names.len()];
                for &class in values {
                    counts[class] += 1;
                }
                names.iter().zip(counts).map(|(name, count)| ClassCount { name: name.clone(), count }).collect()
            }
            _ => Vec::new(),
        };
        let targets = match &table.labels {
            Labels::Values(values) => Range::of(values),
            _ => None,
        };
        let repeated = Index::new(table).repeated(table);
        Self {
            source: table.source.clone(),
            examples: table.len(),
            shape: table.shape.clone(),
            classes,
            targets,
            inputs: Range::of(&table.inputs),
            missing: table.inputs.iter().filter(|value| value.is_nan()).count(),
            infinite: table.inputs.iter().filter(|value| value.is_infinite()).count(),
            constant: constant(table),
            duplicates: repeated.len(),
            contradictions: repeated.iter().filter(|pair| !pair.same_label).count(),
            notes: table.notes.clone(),
        }
    }
}

/// Examples of the second table that the first has as well: validation on them proves nothing.
pub fn shared(first: &Table, second: &Table) -> Vec<Shared> {
    if first.shape != second.shape {
        return Vec::new();
    }
    let index = Index::new(first);
    let find = |i| index.find(first, second.example(i)).map(|found| Shared::new(first, found, second, i));
    (0..second.len()).filter_map(find).collect()
}

impl Range {
    fn of(values: &[f32]) -> Option<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let count = finite().count();
        let mean = finite().map(f64::from).sum::<f64>() / count as f64;
        let variance = finite().map(|value| (f64::from(value) - mean).powi(2)).sum::<f64>() / count as f64;
        Some(Self { min: finite().reduce(f32::min)?, max: finite().reduce(f32::max)?, mean, deviation: variance.sqrt() })
    }
}

impl Shared {
    fn new(a: &Table, first: usize, b: &Table, second: usize) -> Self {
        let same_label = match (&a.labels, &b.labels) {
            (Labels::Classes { names, values }, Labels::Classes { names: others, values: theirs }) => {
                names[values[first]] == others[theirs[second]]
            }
            (Labels::Values(values), Labels::Values(theirs)) => values[first].to_bits() == theirs[second].to_bits(),
            (a, b) => a.is_empty() && b.is_empty(),
        };
        Self { first, second, same_label }
    }
}

fn constant(table: &Table) -> Vec<usize> {
    if table.len() < 2 {
        return Vec::new();
    }
    let first = table.example(0);
    let mut same = vec![true; table.width()];
    for example in 1..table.len() {
        for ((same, a), b) in same.iter_mut().zip(first).zip(table.example(example)) {
            *same &= key(*a) == key(*b);
        }
    }
    (0..table.width()).filter(|&i| same[i]).collect()
}

/// Examples by their content.
struct Index(HashMap<u64, Vec<usize>>);

impl Index {
    fn new(table: &Table) -> Self {
        let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
        for i in 0..table.len() {
            index.entry(hash(table.example(i))).or_default().push(i);
        }
        Self(index)
    }

    /// The first example with this content.
    fn find(&self, table: &Table, content: &[f32]) -> Option<usize> {
        let candidates = self.0.get(&hash(content))?;
        candidates.iter().copied().find(|&i| equal(table.example(i), content))
    }

    /// Every example that is not the first of its content.
    fn repeated(&self, table: &Table) -> Vec<Shared> {
        let pair = |i| {
            let first = self.find(table, table.example(i)).filter(|&first| first != i)?;
            Some(Shared::new(table, first, table, i))
        };
        (0..table.len()).filter_map(pair).collect()
    }
}

fn hash(content: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for &value in content {
        key(value).hash(&mut hasher);
    }
    hasher.finish()
}

fn equal(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| key(a) == key(b))
}

/// The bits of a number; both zeros count as one, and so do all that are no number.
fn key(value: f32) -> u32 {
    if value == 0.0 {
        0
    } else if value.is_nan() {
        f32::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(inputs: &[f32], values: &[usize]) -> Table {
        Table {
            shape: vec![2],
            inputs: inputs.to_vec(),
            labels: Labels::Classes { names: vec!["a".into(), "b".into()], values: values.to_vec() },
            columns: Vec::new(),
            categories: Vec::new(),
            stored: Vec::new(),
            ids: Vec::new(),
            notes: vec!["note".into()],
            source: "here".into(),
        }
    }

    #[test]
    fn everything_is_counted() {
        let nan = f32::NAN;
        let inputs = [5.0, 0.0, 5.0, -0.0, 5.0, nan, 5.0, nan, 5.0, f32::INFINITY];
        let summary = Summary::of(&table(&inputs, &[0, 1, 0, 0, 0]));
        assert_eq!(summary.examples, 5);
        assert_eq!(summary.classes[0], ClassCount { name: "a".into(), count: 4 });
        assert_eq!((summary.missing, summary.infinite), (2, 1));
        assert_eq!(summary.constant, [0]);
        assert_eq!((summary.duplicates, summary.contradictions), (2, 1));
        let range = summary.inputs.unwrap();
        assert_eq!((range.min, range.max), (0.0, 5.0));
        assert!((range.mean - 25.0 / 7.0).abs() < 1e-9);
        assert_eq!(summary.notes, ["note"]);
    }

    #[test]
    fn examples_in_both_tables_are_found() {
        let train = table(&[1.0, 2.0, 3.0, 4.0, 3.0, 4.0], &[0, 1, 1]);
        let mut validation = table(&[3.0, 4.0, 9.0, 9.0, 1.0, 2.0], &[1, 0, 1]);
        let expected = [Shared { first: 1, second: 0, same_label: true }, Shared { first: 0, second: 2, same_label: false }];
        assert_eq!(shared(&train, &validation), expected);
        validation.shape = vec![1, 2];
        assert!(shared(&train, &validation).is_empty());
    }

    #[test]
    fn numbers_have_a_range() {
        let mut table = table(&[0.0; 4], &[0, 1]);
        table.labels = Labels::Values(vec![-1.0, 3.0]);
        let summary = Summary::of(&table);
        assert_eq!(summary.targets, Some(Range { min: -1.0, max: 3.0, mean: 1.0, deviation: 2.0 }));
        assert!(summary.classes.is_empty());
    }
}

//! From the labels in a file to classes or numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::element::Column;
use crate::error::{Error, Result, quote};
use crate::source::Task;
use crate::table::Labels;

/// Where the label of an example stands: how a message about it begins.
type Place<'a> = &'a dyn Fn(usize) -> String;

/// The labels of a column, for this task. `classes` are those a model already knows: others are then refused.
pub(crate) fn interpret(
    origin: &str,
    column: Column,
    task: Task,
    classes: Option<&[String]>,
    place: Place<'_>,
) -> Result<Labels> {
    match task {
        Task::Prediction => Ok(Labels::None),
        Task::Regression => numbers(column, place).map(Labels::Values),
        Task::Classification => self::classes(origin, column, classes, place),
    }
}

fn numbers(column: Column, place: Place<'_>) -> Result<Vec<f32>> {
    let values: Vec<f64> = match column {
        Column::Integers(values) => values.into_iter().map(|value| value as f64).collect(),
        Column::Numbers(values) => values,
        Column::Texts(texts) => {
            let wrong =
                |i, text: &str| Error::labels(&place(i), format!("expected a number for regression, got {}", quote(text)));
            let parse = |(i, text): (usize, &String)| text.trim().parse().map_err(|_| wrong(i, text));
            texts.iter().enumerate().map(parse).collect::<Result<_>>()?
        }
    };
    let finite = |(i, value): (usize, f64)| {
        let rounded = value as f32;
        let wrong = || Error::labels(&place(i), format!("expected a finite number, got {rounded}"));
        if rounded.is_finite() { Ok(rounded) } else { Err(wrong()) }
    };
    values.into_iter().enumerate().map(finite).collect()
}

fn classes(origin: &str, column: Column, known: Option<&[String]>, place: Place<'_>) -> Result<Labels> {
    let texts = match column {
        Column::Integers(values) => return assign(origin, &values, known, place),
        Column::Numbers(values) => return assign(origin, &as_whole(&values, place)?, known, place),
        Column::Texts(texts) => texts,
    };
    if let Some(missing) = texts.iter().position(String::is_empty) {
        return Err(Error::labels(&place(missing), "expected a class, got nothing"));
    }
    // `1` and `01` stay two classes: only texts that a number would print are numbers.
    let parse = |text: &String| text.parse::<i64>().ok().filter(|value| value.to_string() == *text);
    if let Some(values) = texts.iter().map(parse).collect::<Option<Vec<i64>>>() {
        return assign(origin, &values, known, place);
    }
    assign(origin, &texts, known, place)
}

/// Class numbers that are stored as floating-point numbers.
fn as_whole(values: &[f64], place: Place<'_>) -> Result<Vec<i64>> {
    let convert = |(i, &value): (usize, &f64)| {
        // Beyond 2^53 not every whole number exists, so two classes could fall together.
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return Ok(value as i64);
        }
        let advice = "whole numbers or names are classes; for regression ask for numbers";
        Err(Error::labels(&place(i), format!("expected a class, got {value}: {advice}")))
    };
    values.iter().enumerate().map(convert).collect()
}

/// Numbers the classes by their order, or by their position among the known ones.
fn assign<T: Ord + ToString>(origin: &str, labels: &[T], known: Option<&[String]>, place: Place<'_>) -> Result<Labels> {
    let distinct: BTreeSet<&T> = labels.iter().collect();
    let found: Vec<String> = distinct.iter().map(|label| label.to_string()).collect();
    if known.is_none() && found.len() < 2 {
        let only = found.first().map(|name| quote(name)).unwrap_or_default();
        return Err(Error::labels(origin, format!("expected two classes or more, got only {only}")));
    }
    let names = known.map_or_else(|| found.clone(), <[String]>::to_vec);
    let positions: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let mut index = BTreeMap::new();
    for (label, name) in distinct.into_iter().zip(&found) {
        let Some(&position) = positions.get(name.as_str()) else {
            let example = labels.iter().position(|other| other == label).unwrap_or_default();
            let problem = format!("unknown class {}", quote(name));
            return Err(Error::name(&place(example), problem, Some(name), names));
        };
        index.insert(label, position);
    }
    let values = labels.iter().map(|label| index[label]).collect();
    Ok(Labels::Classes { names, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(example: usize) -> String {
        format!("a: label of example {example}")
    }

    fn read(column: Column, task: Task) -> Result<Labels> {
        interpret("a", column, task, None, &place)
    }

    fn texts(texts: &[&str]) -> Column {
        Column::Texts(texts.iter().map(ToString::to_string).collect())
    }

    fn named(names: &[&str], values: &[usize]) -> Labels {
        Labels::Classes { names: names.iter().map(ToString::to_string).collect(), values: values.to_vec() }
    }

    #[test]
    fn classes_are_sorted_as_numbers_or_as_texts() {
        let class = Task::Classification;
        assert_eq!(read(Column::Integers(vec![10, -2, 9]), class).unwrap(), named(&["-2", "9", "10"], &[2, 0, 1]));
        assert_eq!(read(texts(&["10", "9"]), class).unwrap(), named(&["9", "10"], &[1, 0]));
        assert_eq!(read(texts(&["1", "01"]), class).unwrap(), named(&["01", "1"], &[1, 0]));
        assert_eq!(read(texts(&["cat", "ant", "cat"]), class).unwrap(), named(&["ant", "cat"], &[1, 0, 1]));
        assert_eq!(read(Column::Numbers(vec![1.0, 0.0]), class).unwrap(), named(&["0", "1"], &[1, 0]));
    }

    #[test]
    fn labels_that_teach_nothing_are_refused() {
        let message = |column, task| read(column, task).unwrap_err().to_string();
        let class = Task::Classification;
        assert_eq!(message(Column::Integers(vec![3, 3]), class), "a: expected two classes or more, got only `3`");
        assert_eq!(message(texts(&["x", ""]), class), "a: label of example 1: expected a class, got nothing");
        assert!(message(Column::Numbers(vec![1.0, 0.5]), class).contains("label of example 1: expected a class, got 0.5"));
        assert!(message(Column::Numbers(vec![f64::NAN, 0.5]), class).contains("got NaN"));
        assert!(message(texts(&["1.5", "x"]), Task::Regression).contains("label of example 1: expected a number"));
        assert!(message(Column::Numbers(vec![1e300]), Task::Regression).contains("expected a finite number, got inf"));
    }

    #[test]
    fn known_classes_decide() {
        let known: Vec<String> = vec!["cat".into(), "ant".into()];
        let labels = interpret("a", texts(&["ant"]), Task::Classification, Some(&known), &place).unwrap();
        assert_eq!(labels, named(&["cat", "ant"], &[1]));
        let error = interpret("a", texts(&["cats"]), Task::Classification, Some(&known), &place).unwrap_err().to_string();
        assert!(error.contains("label of example 0: unknown class `cats` (did you mean `cat`?)"), "{error}");
    }
}

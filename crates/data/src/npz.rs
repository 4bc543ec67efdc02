//! Archives of NumPy arrays (`.npz`).

use crate::archive::{Archive, Content};
use crate::assemble::{Raw, check_counts};
use crate::error::{Error, Result, quote};
use crate::limits::Budget;
use crate::npy::Array;
use crate::source::Source;

/// What inputs and labels are usually called.
const PAIRS: [(&str, &str); 12] = [
    ("x", "y"),
    ("X", "y"),
    ("X", "Y"),
    ("X", "target"),
    ("x_train", "y_train"),
    ("X_train", "y_train"),
    ("data", "target"),
    ("data", "labels"),
    ("images", "labels"),
    ("inputs", "labels"),
    ("inputs", "targets"),
    ("features", "labels"),
];
/// How to name others.
const NAME: &str = "name them: `inputs` and `label` under [data], --inputs and --label on the command line";

pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let origin = source.origin();
    let mut archive = Archive::open(&source.path, budget)?;
    let found = archive.names().iter().map(|name| array_name(name).to_owned()).collect();
    let names = Names::choose(source, &origin, found)?;
    // An archive hands out one array at a time: first the number of inputs, then the labels, then the inputs.
    let rows = array(&mut archive, &origin, &names.inputs, budget)?.rows();
    let column = match &names.labels {
        Some(name) => {
            let labels = array(&mut archive, &origin, name, budget)?;
            check_counts(&origin, rows, labels.rows())?;
            Some(labels.labels(source.rows(rows), budget)?)
        }
        None => None,
    };
    let inputs = array(&mut archive, &origin, &names.inputs, budget)?;
    let (shape, inputs) = inputs.inputs(source.rows(rows), budget)?;
    Ok(Raw { shape, inputs, column, ..Raw::default() })
}

fn array_name(entry: &str) -> &str {
    entry.strip_suffix(".npy").unwrap_or(entry)
}

fn array<'a>(archive: &'a mut Archive, origin: &str, name: &str, budget: &Budget) -> Result<Array<Content<'a>>> {
    let index = archive.names().iter().position(|entry| array_name(entry) == name);
    let index = index.ok_or_else(|| Error::name(origin, format!("no array {}", quote(name)), None, Vec::new()))?;
    let origin = format!("{origin}, array {}", quote(name));
    let (content, size) = archive.content(index, &origin, budget)?;
    Array::new(origin, content, size)
}

/// Which arrays to read.
#[derive(Debug, PartialEq)]
struct Names {
    inputs: String,
    labels: Option<String>,
}

impl Names {
    fn choose(source: &Source, origin: &str, found: Vec<String>) -> Result<Self> {
        let wants = source.wants_labels();
        for name in source.inputs.iter().chain(&source.label) {
            if !found.contains(name) {
                return Err(Error::name(origin, format!("no array {}", quote(name)), Some(name), found));
            }
        }
        let fits =
            |name: &str, given: Option<&String>| found.iter().any(|n| n == name) && given.is_none_or(|given| given == name);
        let mut pairs: Vec<(String, Option<String>)> = Vec::new();
        for (inputs, labels) in PAIRS {
            let inputs = source.inputs.as_deref().unwrap_or(inputs);
            let labels = source.label.as_deref().unwrap_or(labels);
            let pair = (inputs.to_owned(), wants.then(|| labels.to_owned()));
            if fits(inputs, source.inputs.as_ref()) && (!wants || fits(labels, source.label.as_ref())) && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        // An archive of one array leaves no choice.
        if let ([only], false, []) = (&found[..], wants, &pairs[..]) {
            pairs.push((only.clone(), None));
        }
        match pairs.len() {
            1 => {
                let (inputs, labels) = pairs.remove(0);
                Ok(Self { inputs, labels })
            }
            0 => Err(Error::name(origin, format!("no arrays {} by their usual names: {NAME}", wanted(wants)), None, found)),
            _ => Err(Error::name(origin, format!("several arrays could be {}: {NAME}", wanted(wants)), None, found)),
        }
    }
}

fn wanted(labels: bool) -> &'static str {
    if labels {
        "of inputs and labels (x and y, X and target, X_train and y_train, images and labels, and so on)"
    } else {
        "of inputs (x, X, X_train, data, images, inputs, features)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Task;

    fn choose(source: &Source, found: &[&str]) -> Result<Names> {
        Names::choose(source, "a", found.iter().map(ToString::to_string).collect())
    }

    fn names(inputs: &str, labels: Option<&str>) -> Names {
        Names { inputs: inputs.to_owned(), labels: labels.map(ToOwned::to_owned) }
    }

    #[test]
    fn usual_names_are_found_and_a_choice_is_refused() {
        let class = Source::new("a", Task::Classification);
        assert_eq!(choose(&class, &["X", "y", "ids"]).unwrap(), names("X", Some("y")));
        assert_eq!(choose(&class, &["target", "data"]).unwrap(), names("data", Some("target")));
        assert_eq!(choose(&class, &["X", "target"]).unwrap(), names("X", Some("target")));
        assert_eq!(choose(&class, &["x_train", "y_train", "x_test", "y_test"]).unwrap(), names("x_train", Some("y_train")));
        assert!(choose(&class, &["x", "X", "y"]).unwrap_err().to_string().contains("several arrays"));
        let error = choose(&class, &["x", "z"]).unwrap_err().to_string();
        assert!(error.ends_with("--inputs and --label on the command line; found `x`, `z`"), "{error}");
    }

    #[test]
    fn given_names_win() {
        let class = Source::new("a", Task::Classification);
        let given = Source { inputs: Some("a".into()), label: Some("b".into()), ..class.clone() };
        assert_eq!(choose(&given, &["a", "b", "x", "y"]).unwrap(), names("a", Some("b")));
        let half = Source { label: Some("z".into()), ..class.clone() };
        assert_eq!(choose(&half, &["x", "z"]).unwrap(), names("x", Some("z")));
        let wrong = Source { label: Some("lables".into()), ..class };
        assert!(choose(&wrong, &["x", "labels"]).unwrap_err().to_string().contains("did you mean `labels`"));
    }

    #[test]
    fn predictions_need_inputs_alone() {
        let predict = Source::new("a", Task::Prediction);
        assert_eq!(choose(&predict, &["x", "y"]).unwrap(), names("x", None));
        assert_eq!(choose(&predict, &["anything"]).unwrap(), names("anything", None));
        assert!(choose(&predict, &["a", "b"]).is_err());
        let error = choose(&Source { label: Some("z".into()), ..predict }, &["x", "y"]).unwrap_err().to_string();
        assert_eq!(error, "a: no array `z`; found `x`, `y`");
    }
}

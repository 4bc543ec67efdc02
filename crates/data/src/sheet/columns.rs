//! Which columns of a table are what.

use std::collections::HashSet;

use csv::StringRecord;

use crate::error::{Error, Result, list, quote};
use crate::source::Source;

/// The columns by their positions.
pub(super) struct Columns {
    pub(super) label: Option<usize>,
    /// In the order wanted.
    pub(super) inputs: Vec<usize>,
}

impl Columns {
    pub(super) fn new(source: &Source, origin: &str, header: &StringRecord) -> Result<Self> {
        let names = || header.iter().map(ToOwned::to_owned).collect::<Vec<_>>();
        let position = |name: &String| header.iter().position(|column| column == name);
        if header.is_empty() {
            return Err(Error::malformed(origin, "line 1", "a header with the names of the columns", "an empty file"));
        }
        check_header(source, origin, header)?;
        let wanted = source.columns.as_deref().unwrap_or_default();
        let missing: Vec<String> = wanted.iter().filter(|name| position(name).is_none()).cloned().collect();
        if let [first, ..] = &missing[..] {
            let problem = format!("expected the columns {}, of which {} missing", list(wanted), are(&missing));
            return Err(Error::name(origin, problem, Some(first), names()));
        }
        let absent = |name: &String| Error::name(origin, format!("no column {}", quote(name)), Some(name), names());
        let label = match &source.label {
            Some(name) if wanted.contains(name) => {
                let problem = format!("the column {} is an input and not the label", quote(name));
                return Err(Error::name(origin, problem, None, names()));
            }
            Some(name) => Some(position(name).ok_or_else(|| absent(name))?),
            None if source.wants_labels() => {
                return Err(Error::name(origin, "no column is named as the label: name one", None, names()));
            }
            None => None,
        };
        let mut left_out = vec![label, source.leave_out.as_ref().and_then(position)];
        // Other files than that of the training need not have what is not looked at.
        for name in source.ignore.iter().filter(|_| source.columns.is_none()) {
            left_out.push(Some(position(name).ok_or_else(|| absent(name))?));
        }
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

/// Refuses a first line that may be an example, and names that are not one's own.
fn check_header(source: &Source, origin: &str, header: &StringRecord) -> Result<()> {
    let known = source.columns.iter().flatten().any(|name| header.iter().any(|column| column == name));
    // Names may be numbers when some are those that are wanted. Else taking them for names may lose an example.
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
    match header.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => Err(Error::malformed(origin, "line 1", "a name for each column", format!("{} twice", quote(twice)))),
        None => Ok(()),
    }
}

fn are(names: &[String]) -> String {
    if names.len() == 1 { format!("{} is", list(names)) } else { format!("{} are", list(names)) }
}

//! Which candidates data suggest, and why: no more than names, shapes and spreads make plausible.

use invar_data::{ColumnFacts, ColumnKind, Table};

use super::families::{Items, families, items, pixels};
use super::load::PATCH;
use super::names::FEW_ITEMS;

/// Exchanged columns with spreads further apart than this are in other units.
pub(super) const OTHER_UNITS: f64 = 10.0;
/// A series has at least so many points in time.
const SHORT_SERIES: usize = 16;

/// A proposal for a project file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plausible {
    /// Candidates in shorthand, each with its reason.
    pub(super) candidates: Vec<(String, String)>,
    /// What is not proposed, and how to ask for it.
    pub(super) hints: Vec<String>,
    /// Items that columns describe.
    pub(super) items: Vec<Items>,
}

/// Columns to leave out, with the reason, as what they hold is no input.
pub(super) fn unfit(facts: &[&ColumnFacts]) -> Vec<(String, String)> {
    let is_key = |name: &str| {
        let lower = name.to_lowercase();
        lower == "id" || lower == "uuid" || lower.ends_with("_id") || lower.ends_with(" id") || name.ends_with("Id")
    };
    // One without a name is left out where the table is read.
    let first = facts.iter().position(|facts| !facts.is_index);
    let reason = |(place, facts): (usize, &&ColumnFacts)| {
        let why = match &facts.kind {
            ColumnKind::Dates(date) => format!("dates such as {date}: make numbers of them to use them"),
            ColumnKind::Texts => "texts of which most are different".into(),
            ColumnKind::Mixed(text) => format!("numbers and texts such as {text}: mend it to use it"),
            ColumnKind::Empty => "nothing at all".into(),
            ColumnKind::Numbers if facts.is_index => return None,
            ColumnKind::Numbers if Some(place) == first && facts.counts_up => "counts up from row to row".into(),
            _ if is_key(&facts.name) => "named as a key".into(),
            ColumnKind::Numbers | ColumnKind::Categories(_) => return None,
        };
        Some((facts.name.clone(), why))
    };
    let found: Vec<(String, String)> = facts.iter().enumerate().filter_map(reason).collect();
    // Better a doubtful input than none.
    if found.len() == facts.len() { Vec::new() } else { found }
}

/// The picture that the columns of a table are, if their names say so.
pub(super) fn picture(facts: &[&ColumnFacts]) -> Option<Vec<usize>> {
    let numbers = facts.iter().all(|facts| facts.kind == ColumnKind::Numbers && facts.missing == 0);
    let names: Vec<String> = facts.iter().map(|facts| facts.name.clone()).collect();
    let [height, width] = pixels(&names).filter(|_| numbers)?;
    Some(vec![1, height, width])
}

/// For a table by the names of its columns.
pub(super) fn of_columns(facts: &[&ColumnFacts]) -> Plausible {
    let names: Vec<String> = facts.iter().map(|facts| facts.name.clone()).collect();
    let mut plausible = Plausible::default();
    for found in items(&families(&names)) {
        let Items { name, columns } = &found;
        let (count, features) = (columns.len(), columns[0].len());
        let covers = count * features == names.len();
        let first = columns[0].join(", ");
        if let Some((a, b)) = other_units(facts, columns) {
            plausible.hints.push(format!("{first} and so on are numbered, but `{a}` and `{b}` spread differently: not proposed"));
        } else if features > 1 || covers {
            let what =
                if features > 1 { format!("{count} items of {features} columns each") } else { format!("{count} columns alike") };
            let how = if count > FEW_ITEMS { "exchanged all together" } else { "every two of them may be exchanged" };
            plausible.candidates.push((format!("exchange({name})"), format!("numbered names, {what}: {how}")));
            plausible.items.push(found);
        } else {
            plausible.hints.push(format!(
                "{first} to {} are numbered: if they are alike, ask with \"exchange({name})\"",
                columns[count - 1].join(", ")
            ));
        }
    }
    if plausible.candidates.is_empty() {
        plausible.hints.push("the columns of a table mean different things, and nothing is proposed for them".into());
        if let [a, b, ..] = &names[..] {
            let word = |name: &String| invar_algebra::quoted(name).replace('"', "\\\"");
            plausible.hints.push(format!(
                "ask about two columns with \"exchange({},{})\", about every two of up to ten with \"swaps(0)\"",
                word(a),
                word(b)
            ));
        }
    }
    plausible
}

/// Two columns of one feature whose spreads are not alike, of numbers.
fn other_units(facts: &[&ColumnFacts], columns: &[Vec<String>]) -> Option<(String, String)> {
    let feature = |k: usize| {
        let found = columns.iter().filter_map(|item| facts.iter().find(|facts| facts.name == item[k]));
        let mut found: Vec<&&ColumnFacts> = found.filter(|facts| facts.kind == ColumnKind::Numbers).collect();
        found.sort_by(|a, b| a.deviation.total_cmp(&b.deviation));
        let (narrow, wide) = (found.first()?, found.last()?);
        (wide.deviation > OTHER_UNITS * narrow.deviation).then(|| (narrow.name.clone(), wide.name.clone()))
    };
    (0..columns[0].len()).find_map(feature)
}

/// For arrays by their shape, channels first.
pub(super) fn of_arrays(shape: &[usize], table: &Table) -> Plausible {
    let mut plausible = Plausible::default();
    let mut propose = |candidate: &str, reason: &str| plausible.candidates.push((candidate.into(), reason.into()));
    match *shape {
        [channels @ 1..=4, height, width] if height >= PATCH && width >= PATCH => {
            if height == width {
                propose("rotate(quarter)", "square pictures can be turned by quarters");
            } else {
                propose("mirror(top-bottom)", "pictures may be seen from below");
            }
            propose("mirror(left-right)", "pictures may be seen in a mirror");
            if height != width {
                propose("rotate(half)", "pictures can be turned upside down");
                plausible
                    .hints
                    .push("quarter turns need squares: `pad = true` under [data] makes them, with a border of zeros".into());
            } else if channels == 3 {
                propose("exchange(colours)", "if only shapes matter, not colours");
            }
            if channels == 1 && table.shape.len() == 2 {
                plausible.hints.push(format!(
                    "examples of {height}x{width} numbers are taken for pictures; if they are {height} channels over time, say \
                     `shape = [{height}, {width}]` and ask with \"reverse(time)\""
                ));
            }
        }
        [channels, time] if time >= SHORT_SERIES && 2 * channels <= time => {
            propose("reverse(time)", "a series may run backwards");
            propose("shift(time)", "a periodic series may begin anywhere");
        }
        [rows, width] if rows > 1 && alike(table, width) => {
            let (candidate, reason) = match rows {
                ..=FEW_ITEMS => ("swaps(0)", "rows with the same spread: every two may be exchanged"),
                _ => ("permute(0)", "rows with the same spread may come in any order"),
            };
            propose(candidate, reason);
        }
        [entries, ..] if entries > 1 => {
            plausible.hints.push("entries without names may mean anything, and nothing is proposed for them".into());
            plausible
                .hints
                .push("ask about every two of up to ten with \"swaps(0)\", about any order of many with \"permute(0)\"".into());
        }
        _ => {}
    }
    plausible
}

/// Whether the rows of examples have about the same spread, column by column.
fn alike(table: &Table, width: usize) -> bool {
    let entries = table.width();
    let deviation = |entry: usize| {
        let values = || table.inputs.iter().skip(entry).step_by(entries).map(|&x| f64::from(x)).filter(|x| x.is_finite());
        let count = values().count().max(1) as f64;
        let mean = values().sum::<f64>() / count;
        (values().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt()
    };
    (0..width).all(|column| {
        let spreads = (column..entries).step_by(width).map(deviation);
        let (low, high) = spreads.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        high <= OTHER_UNITS * low
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use invar_data::Labels;

    fn column(name: &str, deviation: f64) -> ColumnFacts {
        let kind = ColumnKind::Numbers;
        ColumnFacts { name: name.into(), rows: 9, missing: 0, kind, counts_up: false, is_index: false, mean: 0.0, deviation }
    }

    fn proposed(names: &str, spread: impl Fn(usize) -> f64) -> Plausible {
        let facts: Vec<ColumnFacts> = names.split(' ').enumerate().map(|(k, name)| column(name, spread(k))).collect();
        of_columns(&facts.iter().collect::<Vec<_>>())
    }

    fn candidates(plausible: &Plausible) -> Vec<&str> {
        plausible.candidates.iter().map(|(candidate, _)| candidate.as_str()).collect()
    }

    #[test]
    fn tables_are_asked_about_where_names_say_so() {
        let grid = proposed("tau1 tau2 p1 p2 g1 g2", |_| 1.0);
        assert_eq!((candidates(&grid), grid.items.len()), (vec!["exchange(item)"], 1));
        assert_eq!(candidates(&proposed("sensor1 sensor2 sensor3", |_| 1.0)), ["exchange(sensor)"]);
        let other = proposed("sensor1 sensor2 sensor3", |k| [1.0, 30.0, 1.0][k]);
        assert!(
            candidates(&other).is_empty() && other.hints[0].contains("`sensor1` and `sensor2` spread differently"),
            "{other:?}"
        );
        let mixed = proposed("age s1 s2 s3", |_| 1.0);
        assert!(candidates(&mixed).is_empty());
        assert!(mixed.hints[0].contains("s1 to s3 are numbered: if they are alike, ask with \"exchange(s)\""), "{mixed:?}");
        let unlike = proposed("mean_radius \u{e9}t\u{e9} b", |_| 1.0);
        assert!(
            candidates(&unlike).is_empty() && unlike.hints[1].contains("\"exchange(mean_radius,\u{e9}t\u{e9})\""),
            "{unlike:?}"
        );
    }

    #[test]
    fn columns_that_are_no_inputs_are_left_out() {
        let with = |name: &str, kind| ColumnFacts { kind, ..column(name, 1.0) };
        let all = [
            ColumnFacts { counts_up: true, ..column("nr", 1.0) },
            with("when", ColumnKind::Dates("2024-01-01".into())),
            with("name", ColumnKind::Texts),
            column("customer_id", 1.0),
            ColumnFacts { counts_up: true, ..column("x", 1.0) },
            with("colour", ColumnKind::Categories(vec!["red".into()])),
        ];
        let found = unfit(&all.iter().collect::<Vec<_>>());
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["nr", "when", "name", "customer_id"]);
        assert!(unfit(&all.iter().take(1).collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn shapes_tell_pictures_series_and_rows() {
        let of = |shape: &[usize], values: &dyn Fn(usize) -> f32| {
            let width = shape.iter().product::<usize>();
            let table = Table::new(shape.to_vec(), (0..8 * width).map(values).collect(), Labels::None, "");
            let found = of_arrays(shape, &table);
            found.candidates.into_iter().map(|(candidate, _)| candidate).collect::<Vec<_>>()
        };
        let noise = |k: usize| (k * k * 7 % 31) as f32;
        assert_eq!(of(&[3, 8, 8], &noise), ["rotate(quarter)", "mirror(left-right)", "exchange(colours)"]);
        assert_eq!(of(&[3, 8, 6], &noise), ["mirror(top-bottom)", "mirror(left-right)", "rotate(half)"]);
        assert_eq!(of(&[1, 64], &noise), ["reverse(time)", "shift(time)"]);
        assert_eq!(of(&[5, 3], &noise), ["swaps(0)"]);
        assert_eq!(of(&[30, 3], &noise), ["permute(0)"]);
        assert!(of(&[5, 3], &|k| if k % 15 < 3 { 100.0 * noise(k) } else { noise(k) }).is_empty());
        assert!(of(&[10], &noise).is_empty());
    }
}

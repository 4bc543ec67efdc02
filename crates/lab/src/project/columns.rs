//! Columns of texts and columns with gaps, as entries that a network takes: what stands for them, and how candidates move that.

use std::collections::BTreeSet;

use invar_algebra::{Action, Candidate, Generator, Group, Kind, Orbits, Shape};
use invar_data::{Coded, Coding, Limits, Table};

use super::file::Project;
use super::load::on_shape;
use super::names::Names;
use crate::error::{Error, Result};

/// A gap is told by an entry of its own where it is no exception: in so many examples,
const MANY_GAPS: usize = 5;
/// and in this share of them.
const SHARE_OF_GAPS: f64 = 0.01;
/// Columns that notes tell one by one.
const TOLD: usize = 6;

/// Says candidates that name columns by their positions, and turns columns into entries where some are texts or have gaps: then the
/// candidates move blocks of entries. The first table is that of the training, and alone decides what gaps are filled with.
pub(super) fn encode(project: &mut Project, tables: &mut [&mut Table]) -> Result<Option<Coding>> {
    let Some(train) = tables.first() else { return Ok(None) };
    let names = Names { columns: &train.columns, items: project.data.items.as_ref(), flat: train.shape.len() == 1 };
    let candidates = names.resolve(&project.symmetries.candidates)?;
    let required = project.train.require.as_ref().map(|list| names.resolve(list)).transpose()?;
    let gaps = |table: &&mut Table| table.inputs.iter().any(|value| value.is_nan());
    let coded = !train.columns.is_empty() && (!train.categories.is_empty() || tables.iter().any(gaps));
    let all: Vec<&Table> = tables.iter().map(|table| &**table).collect();
    let columns = Columns { tables: &all, shape: Shape::new(&train.shape)? };
    let (coding, candidates, required) = if coded {
        let groups = columns.fitting(&candidates)?;
        let coding = columns.coding(&groups)?;
        let required = required.map(|list| moved(&list, &columns.fitting(&list)?, &coding)).transpose()?;
        (Some(coding.clone()), moved(&candidates, &groups, &coding)?, required)
    } else {
        (None, candidates, required)
    };
    project.symmetries.candidates = candidates;
    project.train.require = required;
    let Some(coding) = coding else { return Ok(None) };
    let notes = columns.notes(&coding);
    for table in tables.iter_mut() {
        **table = coding.apply(table.clone(), Limits::of_this_machine())?;
    }
    tables[0].notes.extend(notes);
    Ok(Some(coding))
}

/// The columns of all tables of a project.
struct Columns<'a> {
    /// That of the training first.
    tables: &'a [&'a Table],
    shape: Shape,
}

impl Columns<'_> {
    fn train(&self) -> &Table {
        self.tables[0]
    }

    fn categories(&self, column: usize) -> &[String] {
        self.train().categories.get(column).map_or(&[], Vec::as_slice)
    }

    /// The groups of each candidate on the columns. Of a family those are left out that exchange numbers with texts; a single candidate
    /// that does is an error.
    fn fitting(&self, candidates: &[Candidate]) -> Result<Vec<Vec<Group>>> {
        let fit = |candidate: &Candidate| -> Result<Vec<Group>> {
            let family = matches!(candidate.kind, Kind::Swaps { .. } | Kind::NodeSwaps { .. });
            let mut groups = on_shape(std::slice::from_ref(candidate), &self.shape)?;
            if family {
                groups.retain(|group| self.misfit(group).is_none());
            }
            match groups.iter().find_map(|group| self.misfit(group)) {
                Some([a, b]) => {
                    let names = &self.train().columns;
                    let is = |column: usize| if self.categories(column).is_empty() { "numbers" } else { "texts" };
                    let got = format!("{candidate}, and `{}` holds {}, `{}` {}", names[a], is(a), names[b], is(b));
                    let expected = "exchanges of columns with columns of their kind".into();
                    Err(Error::Setting { name: "[symmetries] candidates", expected, got })
                }
                None => Ok(groups),
            }
        };
        candidates.iter().map(fit).collect()
    }

    /// Two columns of different kinds of which one goes where the other was.
    fn misfit(&self, group: &Group) -> Option<[usize; 2]> {
        let unlike = |a: usize, b: usize| self.categories(a).is_empty() != self.categories(b).is_empty();
        let moved = group.generators().iter().filter_map(permutation);
        moved.flat_map(|images| images.iter().enumerate()).map(|(a, &b)| [a, b as usize]).find(|&[a, b]| unlike(a, b))
    }

    /// How columns become entries: alike where they are exchanged.
    fn coding(&self, groups: &[Vec<Group>]) -> Result<Coding> {
        let train = self.train();
        let all = || groups.iter().flatten().flat_map(Group::generators);
        // Where matrices act nothing is exchanged.
        let orbits = Orbits::of(train.width(), all())
            .map_or_else(|| (0..train.width()).map(|column| vec![column]).collect(), |orbits| orbits.members());
        let mut columns: Vec<Coded> = train.columns.iter().map(|name| Coded::number(name)).collect();
        for orbit in orbits {
            let texts: BTreeSet<&String> = orbit.iter().flat_map(|&column| self.categories(column)).collect();
            let categories: Vec<String> = texts.into_iter().cloned().collect();
            let gaps: usize = orbit.iter().map(|&column| missing(train, column)).sum();
            let any = self.tables.iter().any(|table| orbit.iter().any(|&column| missing(table, column) > 0));
            let share = gaps as f64 / (orbit.len() * train.len()).max(1) as f64;
            let indicator = gaps >= MANY_GAPS && share >= SHARE_OF_GAPS && self.shape.axes() == 1;
            let fill = if any || !categories.is_empty() { self.fill(&orbit, &categories)? } else { Vec::new() };
            for column in orbit {
                columns[column] =
                    Coded { categories: categories.clone(), fill: fill.clone(), indicator, ..columns[column].clone() };
            }
        }
        let coding = Coding { columns };
        if coding.width() != train.width() && self.shape.axes() > 1 {
            let expected = "left out where columns hold texts, which take several entries each".into();
            return Err(Error::Setting { name: "[data] shape", expected, got: self.shape.to_string() });
        }
        Ok(coding)
    }

    /// The mean over columns that are exchanged, over all training examples: of numbers, or how frequent each category is.
    fn fill(&self, orbit: &[usize], categories: &[String]) -> Result<Vec<f32>> {
        let train = self.train();
        let mut sums = vec![0.0; categories.len().max(1)];
        let mut count = 0.0;
        for &column in orbit {
            let own = self.categories(column);
            let places: Vec<usize> = own.iter().map(|name| categories.partition_point(|other| other < name)).collect();
            for value in values(train, column).filter(|value| value.is_finite()) {
                count += 1.0;
                match places.get(value as usize) {
                    _ if places.is_empty() => sums[0] += f64::from(value),
                    Some(&place) => sums[place] += 1.0,
                    None => {}
                }
            }
        }
        if count < 1.0 {
            let names: Vec<String> = orbit.iter().map(|&column| format!("`{}`", train.columns[column])).collect();
            let got = format!("nothing in {}: leave it out with `ignore`", names.join(", "));
            return Err(Error::Setting { name: "a column of inputs", expected: "values in the training examples".into(), got });
        }
        Ok(sums.into_iter().map(|sum| (sum / count) as f32).collect())
    }

    /// What was done, in words.
    fn notes(&self, coding: &Coding) -> Vec<String> {
        let examples: usize = self.tables.iter().map(|table| table.len()).sum();
        let tell = |(column, coded): (usize, &Coded)| {
            let Coded { name, categories, indicator, fill } = coded;
            let gaps: usize = self.tables.iter().map(|table| missing(table, column)).sum();
            let mut parts = Vec::new();
            if !categories.is_empty() {
                parts.push(format!("{} categories, an entry each", categories.len()));
            }
            if gaps > 0 {
                let with = match &fill[..] {
                    [mean] if categories.is_empty() => format!("the mean {mean}"),
                    _ => "how frequent each category is".into(),
                };
                let told = if *indicator { ", and an entry tells where" } else { "" };
                parts.push(format!("{gaps} of {examples} values are missing and filled with {with}{told}"));
            }
            (!parts.is_empty()).then(|| format!("column `{name}`: {}", parts.join("; ")))
        };
        let mut notes: Vec<String> = coding.columns.iter().enumerate().filter_map(tell).collect();
        let more = notes.len().saturating_sub(TOLD);
        notes.truncate(TOLD);
        if more > 0 {
            notes.push(format!("and {more} more columns with texts or gaps, treated alike"));
        }
        notes
    }
}

/// Where each entry goes.
fn permutation(action: &Action) -> Option<&[u32]> {
    match action {
        Action::Permutation(permutation) => Some(permutation.images()),
        _ => None,
    }
}

/// How many values of a column are missing.
fn missing(table: &Table, column: usize) -> usize {
    values(table, column).filter(|value| value.is_nan()).count()
}

/// The values of a column in a table.
fn values(table: &Table, column: usize) -> impl Iterator<Item = f32> {
    table.inputs.iter().skip(column).step_by(table.width()).copied()
}

/// The candidates as they move entries, by the names that they have on columns.
fn moved(candidates: &[Candidate], groups: &[Vec<Group>], coding: &Coding) -> Result<Vec<Candidate>> {
    let plain = |column: &Coded| column.categories.is_empty() && !column.indicator;
    if coding.columns.iter().all(plain) {
        return Ok(candidates.to_vec());
    }
    let blocks = coding.blocks();
    let lift = |action: &Action| {
        let images = permutation(action)?;
        let entries = blocks.iter().zip(images).flat_map(|(from, &to)| {
            let start = blocks[to as usize].start;
            (0..from.len()).map(move |k| (false, start + k))
        });
        Some(Generator::Images(entries.collect()))
    };
    let candidate = |group: &Group| {
        let list: Option<Vec<Generator>> = group.generators().iter().map(lift).collect();
        let list = list.filter(|list| !list.is_empty()).ok_or_else(|| {
            let expected = "permutations of columns where some hold texts or have gaps".into();
            Error::Setting { name: "[symmetries] candidates", expected, got: group.name().to_owned() }
        })?;
        Ok(Candidate { name: Some(group.name().to_owned()), kind: Kind::Generators { axes: Vec::new(), list } })
    };
    groups.iter().flatten().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Loaded;
    use invar_data::Missing;

    fn load(rows: &str, more: &str, candidates: &str) -> Result<Loaded> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), rows).unwrap();
        let text = format!(
            "[data]\ntrain = \"a.csv\"\nvalidation = \"a.csv\"\nlabel = \"y\"\n{more}\n[task]\nkind = \"classification\"\n\
             [symmetries]\ncandidates = {candidates}\n"
        );
        Loaded::load(Project::parse(&folder.path().join("invar.toml"), &text)?, Missing::Refuse)
    }

    fn names(loaded: &Loaded) -> Vec<&str> {
        loaded.groups.iter().map(Group::name).collect()
    }

    #[test]
    fn texts_move_as_blocks_and_gaps_are_filled_alike() {
        let rows = "a,left,b,right,y\n1,red,4,blue,no\n?,blue,6,green,yes\n3,red,,red,no\n";
        let loaded = load(rows, "", r#"["swaps(0)"]"#).unwrap();
        let entries = ["a", "left = blue", "left = green", "left = red", "b", "right = blue", "right = green", "right = red"];
        assert_eq!(loaded.train.columns, entries);
        // Numbers are not exchanged with texts.
        assert_eq!(names(&loaded), ["swap(0;0,2)", "swap(0;1,3)"]);
        // 3.5 is the mean of both columns, since they may be exchanged.
        assert_eq!(loaded.train.example(1), [3.5, 1.0, 0.0, 0.0, 6.0, 0.0, 1.0, 0.0]);
        assert_eq!(loaded.train.example(2)[4..5], [3.5]);
        let Action::Permutation(moved) = &loaded.groups[1].generators()[0] else { panic!("a permutation") };
        assert_eq!(moved.images(), [0, 5, 6, 7, 4, 1, 2, 3]);
        assert!(
            loaded.train.notes.iter().any(|note| note.contains("column `left`: 3 categories, an entry each")),
            "{:?}",
            loaded.train.notes
        );
        let error = load(rows, "", r#"["swap(0;0,1)"]"#).unwrap_err().to_string();
        assert!(error.contains("but is swap(0;0,1), and `a` holds numbers, `left` texts"), "{error}");
        let error = load(rows, "", r#"["negate"]"#).unwrap_err().to_string();
        assert!(error.contains("permutations of columns where some hold texts or have gaps, but is negate"), "{error}");
    }

    #[test]
    fn many_gaps_are_told_by_an_entry() {
        let rows: Vec<String> =
            (0..20).map(|k| format!("{},{k},{}\n", if k < 6 { "NA".into() } else { k.to_string() }, k % 2)).collect();
        let rows = format!("a,b,y\n{}", rows.concat());
        let loaded = load(&rows, "", r#"["exchange(a,b)"]"#).unwrap();
        assert_eq!(loaded.train.columns, ["a", "a missing", "b", "b missing"]);
        assert_eq!((loaded.train.example(0)[1], loaded.train.example(0)[3], loaded.train.example(7)[1]), (1.0, 0.0, 0.0));
        assert_eq!(names(&loaded), ["exchange(a,b)"]);
        // In a shape of its own a table has one entry a column.
        let loaded = load(&rows, "shape = [2, 1]", r#"["swaps(0)"]"#).unwrap();
        assert_eq!((loaded.train.shape.clone(), loaded.train.width()), (vec![2, 1], 2));
    }

    #[test]
    fn whole_tables_of_numbers_stay_as_they_are() {
        let loaded = load("a1,b1,a2,b2,y\n1,2,3,4,no\n5,6,7,8,yes\n", "", r#"["exchange(item)", "flip(0)"]"#).unwrap();
        assert_eq!((names(&loaded), loaded.train.columns.len()), (vec!["exchange(item;1,2)", "flip(0)"], 4));
        assert!(loaded.coding.is_none());
        let error = load("a,b,y\n1,,no\n5,,yes\n", "", r#"["swap(0;0,1)"]"#).map(|_| ()).err();
        assert!(error.is_some_and(|error| error.to_string().contains("column `b` holds nothing at all")));
    }

    #[test]
    fn columns_are_ignored_and_chosen() {
        let rows = "id,when,a,b,y\nx1,2024-01-01,1,2,no\nx2,2024-01-02,3,4,yes\n";
        let loaded = load(rows, "ignore = [\"id\", \"when\"]", r#"["exchange(a,b)"]"#).unwrap();
        assert_eq!(loaded.train.columns, ["a", "b"]);
        let loaded = load(rows, "columns = [\"b\", \"a\"]", r#"["exchange(a,b)"]"#).unwrap();
        assert_eq!(loaded.train.inputs, [2.0, 1.0, 4.0, 3.0]);
        let error = load(rows, "ignore = [\"id\"]", r#"["exchange(a,b)"]"#).unwrap_err().to_string();
        assert!(error.contains("the column `when` holds dates (`2024-01-01`): make numbers of them"), "{error}");
        let error = load(rows, "ignore = [\"ids\"]", r#"["exchange(a,b)"]"#).unwrap_err().to_string();
        assert!(error.contains("no column `ids` (did you mean `id`?)"), "{error}");
    }
}

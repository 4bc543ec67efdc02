//! Files of examples: NPY, NPZ, CSV, IDX, images.

use std::fs;

use invar_data::{Array, Format, Missing, Source, Summary, Table, Task, split, steers, write_npy};

use crate::{Desk, LIMITS, repair};

/// Reads a source; what it says must be sound, whether it answers or refuses.
fn read(desk: &Desk, source: &Source) -> bool {
    match source.load(LIMITS) {
        Ok(table) => {
            check_table(&table);
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(&*desk.path().to_string_lossy()), "the file is not named: {message}");
            assert!(message.len() < 4000 && !message.contains(steers), "{message:?}");
            false
        }
    }
}

/// What everything behind the readers takes for granted.
fn check_table(table: &Table) {
    assert!(!table.is_empty() && table.inputs.len() == table.len() * table.width());
    let summary = Summary::of(table);
    assert_eq!(summary.examples, table.len());
    assert_eq!(table.digest(), table.digest());
    if let Ok(parts) = split(table, 0.5, 1) {
        assert_eq!(parts.train.len() + parts.validation.len(), table.len());
    }
}

/// One array, as inputs and as labels beside six sound inputs.
pub(crate) fn npy(desk: &Desk, bytes: &[u8]) -> bool {
    let source = Source { format: Some(Format::Npy), ..Source::new(desk.put("a.npy", bytes), Task::Prediction) };
    let inputs = desk.at("six.npy");
    if !inputs.exists() {
        write_npy(&inputs, &Array::Floats(&[6, 1], &[0.5; 6])).expect("the folder can be written");
    }
    let labels = |task| Source { labels: Some(source.path.clone()), ..Source::new(&inputs, task) };
    let all = [source.clone(), labels(Task::Classification), labels(Task::Regression)];
    all.iter().filter(|source| read(desk, source)).count() > 0
}

/// An archive of arrays, with and without labels.
pub(crate) fn npz(desk: &Desk, bytes: &[u8]) -> bool {
    let path = desk.put("a.npz", bytes);
    let source = |task| Source { format: Some(Format::Npz), ..Source::new(&path, task) };
    let named = Source { inputs: Some("x".into()), missing: Missing::Keep, ..source(Task::Prediction) };
    let all = [source(Task::Prediction), source(Task::Classification), source(Task::Regression), named];
    all.iter().filter(|source| read(desk, source)).count() > 0
}

/// A table; its last column as classes, its first as numbers, and all of it without a header.
pub(crate) fn csv(desk: &Desk, bytes: &[u8]) -> bool {
    let path = desk.put("a.csv", bytes);
    let source = |task| Source { format: Some(Format::Csv), ..Source::new(&path, task) };
    let plain = Source { missing: Missing::Keep, ..source(Task::Prediction) };
    let bare = Source { has_header: Some(false), ..source(Task::Prediction) };
    let mut all = vec![plain.clone(), bare];
    if let Ok(Some(names)) = plain.header() {
        all.push(Source { label: names.last().cloned(), has_header: Some(true), ..source(Task::Classification) });
        all.push(Source { label: names.first().cloned(), limit: Some(2), ..source(Task::Regression) });
        all.push(Source { columns: Some(names), ..source(Task::Prediction) });
    }
    all.iter().filter(|source| read(desk, source)).count() > 0
}

/// A file of the format of MNIST, as it is or compressed, as inputs and as its own labels.
pub(crate) fn idx(desk: &Desk, bytes: &[u8]) -> bool {
    let name = if bytes.starts_with(&[0x1f, 0x8b]) { "a.idx.gz" } else { "a.idx" };
    let path = desk.put(name, bytes);
    let source = |task| Source { format: Some(Format::Idx), ..Source::new(&path, task) };
    let labelled = Source { labels: Some(path.clone()), ..source(Task::Classification) };
    [source(Task::Prediction), labelled].iter().filter(|source| read(desk, source)).count() > 0
}

/// A folder with one image. Checksums of a PNG would stop nearly every change: it is read again with sound ones.
pub(crate) fn images(desk: &Desk, bytes: &[u8]) -> bool {
    let folder = desk.at("images");
    fs::create_dir_all(&folder).expect("the folder can be written");
    let read = |bytes: &[u8]| {
        fs::write(folder.join("a.png"), bytes).expect("the folder can be written");
        read(desk, &Source { format: Some(Format::Images), ..Source::new(&folder, Task::Prediction) })
    };
    let accepted = read(bytes);
    repair::png(bytes).is_some_and(|repaired| read(&repaired)) || accepted
}

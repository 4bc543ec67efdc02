use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[test]
fn every_task_once_a_seed_and_nothing_recorded_is_missing() {
    let tables = ScreenTables { budget: Budget::Standard, field: Field::Sequences };
    assert_eq!((tables.tasks().len(), tables.missing(&[], Only::Everything).len()), (60, 60));
    let rows = |text| tables.missing(&[], Only::Rows(text)).len();
    // `sum` is the name of a row and part of another; `su` is part of both.
    assert_eq!((rows("sum"), rows("sum2"), rows("su"), rows("?")), (5, 5, 10, 0));
    assert_eq!(tables.missing(&[], Only::Paper).len(), 20);
    assert_eq!(ScreenTables { budget: Budget::Quick, ..tables }.tasks().len(), 12);
    assert_eq!(ScreenTables { field: Field::Images, ..tables }.tasks().len(), 8);
    let seeds: Vec<u64> = tables.plans().iter().map(|(seed, _)| *seed).collect();
    // Four tasks of the paper, eight others.
    assert_eq!((&seeds[..5], &seeds[19..29]), (&[0, 0, 0, 0, 1][..], &[4, 0, 0, 0, 0, 0, 0, 0, 0, 1][..]));
    let fold = ScreenTables { budget: Budget::Fold, field: Field::Images };
    assert_eq!(fold.tasks().len(), 4, "of MNIST alone");
    assert_eq!(ScreenTables { field: Field::Bench, ..tables }.tasks().len(), 30);
    // Nine tasks have a symmetry that can nearly hold: 10 + 2 x 9 combinations with conflicts, three noises, four sizes, two seeds.
    assert_eq!(ScreenTables { field: Field::Errors, ..tables }.tasks().len(), 28 * 3 * 4 * 2);
}

#[test]
fn screens_that_measure_errors_are_of_all_sizes_at_any_time() {
    let plans = ScreenTables { budget: Budget::Standard, field: Field::Errors }.plans();
    let size = |data: &Data| match data {
        Data::Arrays(arrays) => arrays.sizes.examples,
        _ => 0,
    };
    let of_size = |count: usize, wanted: usize| plans[..count].iter().filter(|(_, data)| size(data) == wanted).count();
    for count in [100, 200, 300] {
        let [few, some, many, most] = [50, 200, 1000, 25_000].map(|wanted| of_size(count, wanted));
        assert!(many > 0 && most > 0 && some >= 2 * many && few >= some, "{count}: {few} {some} {many} {most}");
    }
    let mut noises: Vec<u64> = plans[..30]
        .iter()
        .filter_map(|(_, data)| if let Data::Arrays(a) = data { Some(a.noise.to_bits()) } else { None })
        .collect();
    noises.sort_unstable();
    noises.dedup();
    assert_eq!(noises.len(), 3, "all noises among the first");
    assert_eq!(plans, ScreenTables { budget: Budget::Standard, field: Field::Errors }.plans());
}

/// A small screen in a folder until so many epochs were trained; the records, and how many epochs were.
fn run_until(data: Data, folder: &Path, until: usize) -> (Vec<ScreenRecord>, usize) {
    let (stop, trained) = (Stop::new(), AtomicUsize::new(0));
    // Epochs are heard one by one where they are trained, all at once where a fit is recalled.
    let listen = |_: usize, progress: Progress| {
        let one = usize::from(progress == Progress::Epochs(1));
        if trained.fetch_add(one, Ordering::Relaxed) + one >= until {
            stop.stop();
        }
    };
    let mut records = Records::open(&folder.join("screens.jsonl")).unwrap();
    let tables = ScreenTables { budget: Budget::Smoke, field: Field::Sequences };
    tables.run(&[(0, data)], &mut records, 1, &stop, &listen, |_, _| ()).unwrap();
    (records.all().to_vec(), trained.into_inner())
}

#[test]
fn a_screen_that_is_cut_short_goes_on_from_its_fits() {
    let sizes = Sizes { examples: 100, test: 20, ..Sizes::default() };
    let sequences = Data::Sequences(Sequences { length: 3, sizes, ..Sequences::new(SequenceTask::Sum) });
    let (parts, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (nothing, first) = run_until(sequences, parts.path(), 10);
    assert!(nothing.is_empty() && parts.path().join("screens.fits").is_dir());
    let (mut records, second) = run_until(sequences, parts.path(), usize::MAX);
    assert!(!parts.path().join("screens.fits").exists());
    let (mut at_once, all) = run_until(sequences, whole.path(), usize::MAX);
    (records[0].seconds, at_once[0].seconds) = (0.0, 0.0);
    assert_eq!(records, at_once);
    // The fit that was stopped is the only one of which epochs are trained twice.
    assert!(second < all && first + second < all + 3, "{first} and {second}, at once {all}");
}

#[test]
fn tables_of_nothing_are_empty_but_whole() {
    let smoke = ScreenTables { budget: Budget::Smoke, field: Field::Sequences };
    for (field, rows) in [(Field::Sequences, 12), (Field::Images, 2), (Field::Bench, 10), (Field::Errors, 0)] {
        let table = &ScreenTables { field, ..smoke }.tables(&[])[0];
        assert_eq!(table.rows.len(), rows);
        assert!(table.is_empty());
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len() && row.labels.len() == table.labels.len()));
    }
    let text = smoke.tables(&[])[0].text();
    assert!(text.contains("[71.85±26.61]") && text.contains("0 of 0"), "{text}");
}

#[test]
fn errors_are_counted_by_true_costs() {
    let errors = ScreenTables { budget: Budget::Smoke, field: Field::Errors };
    let folder = tempfile::tempdir().unwrap();
    let mut records = Records::open(&folder.path().join("screens.jsonl")).unwrap();
    let missing = errors.missing(&[], Only::Everything);
    errors.run(&missing, &mut records, 1, &Stop::new(), &|_, _| (), |_, _| ()).unwrap();
    let record = &records.all()[0];
    // Every set that was tested has a true cost, and the baseline has one.
    assert!(record.chain.iter().all(|step| step.true_cost.is_some()));
    let augmented = record.augmented.as_ref().unwrap();
    assert!(augmented.true_cost.is_some_and(|cost| cost.abs() <= 100.0));
    let mut record = record.clone();
    record.weakness = None;
    let table = &errors.tables(std::slice::from_ref(&record))[0];
    assert_eq!((table.rows.len(), &table.rows[0].labels[..3]), (1, &["50".to_string(), "10".into(), "1".into()][..]));
    assert_eq!(errors.missing(records.all(), Only::Everything), []);
    // What is shown harmless and costs more is counted as false.
    let [step] = &mut record.chain[..] else { return };
    (step.verdict, step.true_cost) = (crate::screen::Verdict::ShownHarmless, Some(99.0));
    let table = &errors.tables(std::slice::from_ref(&record))[0];
    assert!(table.rows[0].labels[3].starts_with("1 of "), "{:?}", table.rows[0]);
}

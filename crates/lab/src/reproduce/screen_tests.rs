use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use invar_tasks::Invariant;

use super::*;

#[test]
fn every_task_once_a_seed_and_nothing_recorded_is_missing() {
    let tables = ScreenTables { budget: Budget::Standard, field: Field::Sequences };
    assert_eq!((tables.configs().len(), tables.missing(&[], Only::Everything).len()), (55, 55));
    let rows = |text| tables.missing(&[], Only::Rows(text)).len();
    // `sum` is the name of a row and part of another; `su` is part of both.
    assert_eq!((rows("sum"), rows("sum2"), rows("su"), rows("?")), (5, 5, 10, 0));
    assert_eq!(tables.missing(&[], Only::Paper).len(), 20);
    assert_eq!(ScreenTables { budget: Budget::Quick, ..tables }.configs().len(), 11);
    assert_eq!(ScreenTables { field: Field::Images, ..tables }.configs().len(), 8);
    let seeds: Vec<u64> = tables.configs().iter().map(|config| config.seed).collect();
    // Four tasks of the paper, seven others.
    assert_eq!((&seeds[..5], &seeds[19..28]), (&[0, 0, 0, 0, 1][..], &[4, 0, 0, 0, 0, 0, 0, 0, 1][..]));
    let fold = ScreenTables { budget: Budget::Fold, field: Field::Images };
    assert_eq!(fold.configs().len(), 4, "of MNIST alone");
    assert_eq!(ScreenTables { field: Field::Errors, ..tables }.configs().len(), 40);
}

/// Screens in a folder until so many epochs were trained; the records, and how many epochs were.
fn run_until(config: &ScreenConfig, folder: &Path, until: usize) -> (Vec<ScreenRecord>, usize) {
    let (stop, trained) = (Stop::new(), AtomicUsize::new(0));
    // Epochs are heard one by one where they are trained, all at once where a fit is recalled.
    let listen = |_: usize, progress: Progress| {
        let one = usize::from(progress == Progress::Epochs(1));
        if trained.fetch_add(one, Ordering::Relaxed) + one >= until {
            stop.stop();
        }
    };
    let mut records = Records::open(&folder.join("screens.jsonl")).unwrap();
    ScreenTables::run(std::slice::from_ref(config), &mut records, 1, &stop, &listen, |_, _| ()).unwrap();
    (records.all().to_vec(), trained.into_inner())
}

#[test]
fn a_screen_that_is_cut_short_goes_on_from_its_fits() {
    let sizes = Sizes { examples: 100, test: 20, ..Sizes::default() };
    let sequences = Data::Sequences(Sequences { length: 3, sizes, ..Sequences::new(SequenceTask::Sum) });
    // Batch norm has statistics besides weights.
    let images = Images { count: Some(60), test_count: Some(20), ..Images::new(ImageTask::Mnist34) };
    let images = Data::Images(Images { invariant: Invariant::RotColorVflip, ..images });
    // Sequences: two affine fits with their refits, and a hidden one that has grown; images: two free fits and the control of one.
    for (data, until) in [(sequences, 13), (images, 8)] {
        let settings = Settings { epochs: 3, refit_epochs: 2, starts: 1, ..Settings::default() };
        let config = ScreenConfig { settings, ..ScreenConfig::new(data) };
        let (parts, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (nothing, first) = run_until(&config, parts.path(), until);
        assert!(nothing.is_empty() && parts.path().join("screens.fits").is_dir());
        let (mut records, second) = run_until(&config, parts.path(), usize::MAX);
        assert!(!parts.path().join("screens.fits").exists());
        let (mut at_once, all) = run_until(&config, whole.path(), usize::MAX);
        (records[0].seconds, at_once[0].seconds) = (0.0, 0.0);
        assert_eq!(records, at_once);
        assert_eq!(first + second, all, "what was finished is not trained again");
    }
}

#[test]
fn records_from_before_heads_grew_stand_until_all_of_a_task_is_screened_again() {
    let tables = ScreenTables { budget: Budget::Standard, field: Field::Sequences };
    let config = ScreenConfig {
        settings: Settings { epochs: 1, refit_epochs: 1, starts: 1, ..Settings::default() },
        ..tables.configs()[0].clone()
    };
    let Data::Sequences(sum) = config.data else { panic!("sum comes first") };
    let sizes = Sizes { examples: 40, test: 10, ..Sizes::default() };
    let small = Data::Sequences(Sequences { length: 3, sizes, ..sum });
    let record = ScreenConfig { data: small, ..config }.run(&small.problem(0).unwrap(), 1, &Stop::new(), &|_| ()).unwrap();
    let of = |seed: u64, grown: bool| {
        let config =
            tables.configs().into_iter().find(|config| config.data == Data::Sequences(sum) && config.seed == seed).unwrap();
        let settings = Settings { grown, ..config.settings };
        ScreenRecord { config: ScreenConfig { settings, ..config }, ..record.clone() }
    };
    let note = |records: &[ScreenRecord]| {
        tables.tables(records).iter().all(|table| table.notes[0].ends_with("fresh weights in the rows sum."))
    };
    let old: Vec<ScreenRecord> = (0..2).map(|seed| of(seed, false)).collect();
    let counted = |records: &[ScreenRecord]| tables.tables(records)[0].rows[0].labels[1].ends_with("of 2");
    assert!(note(&old) && counted(&old));
    let half: Vec<ScreenRecord> = old.iter().cloned().chain([of(0, true)]).collect();
    assert!(note(&half) && counted(&half));
    let all: Vec<ScreenRecord> = half.into_iter().chain([of(1, true)]).collect();
    assert!(!note(&all) && counted(&all));
    assert_eq!(tables.missing(&all, Only::Everything).len(), 53);
    // Of three candidates two hold; one of these is lost, and the third is kept, but not strictly.
    let mut told = all;
    for record in &mut told {
        record.truth = Some([0, 1].into_iter().collect());
        record.answers[0].kept = [1, 2].into_iter().collect();
        record.answers[1].kept = [1].into_iter().collect();
    }
    let row = &tables.tables(&told)[2].rows[0];
    assert_eq!(row.labels[1..], ["2 of 4", "2 of 2", "2 of 4", "0 of 2"]);
    let right: Vec<f64> = row.cells.iter().map(|cell| cell.ours.unwrap().mean).collect();
    assert!((right[0] - 100.0 / 3.0).abs() < 1e-9 && (right[1] - 200.0 / 3.0).abs() < 1e-9, "{right:?}");
    // A record without the word is one of those.
    let mut text: serde_json::Value = serde_json::to_value(&old[0]).unwrap();
    text["config"]["settings"].as_object_mut().unwrap().remove("grown");
    assert_eq!(serde_json::from_value::<ScreenRecord>(text).unwrap(), old[0]);
}

#[test]
fn tables_of_nothing_are_empty_but_whole() {
    let smoke = ScreenTables { budget: Budget::Smoke, field: Field::Sequences };
    let images = ScreenTables { field: Field::Images, ..smoke };
    for (table, rows) in smoke.tables(&[]).into_iter().zip([11; 3]).chain(images.tables(&[]).into_iter().zip([2; 3])) {
        assert_eq!(table.rows.len(), rows);
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len() && row.labels.len() == table.labels.len()));
    }
    let text = smoke.tables(&[])[0].text();
    assert!(text.contains("[71.85±26.61]") && text.contains("0 of 0"), "{text}");
}

#[test]
fn images_screened_without_a_norm_before_the_head_stand_until_they_are_screened_again() {
    let tables = ScreenTables { budget: Budget::Standard, field: Field::Images };
    let now = tables.configs()[0].clone();
    let small = Data::Images(Images { count: Some(60), test_count: Some(20), ..Images::new(ImageTask::Mnist34) });
    let settings = Settings { epochs: 1, refit_epochs: 1, ..now.settings };
    let run = ScreenConfig { data: small, settings, ..now.clone() };
    let record = run.run(&small.problem(0).unwrap(), 1, &Stop::new(), &|_| ()).unwrap();
    let old = ScreenRecord { config: ScreenConfig { backbone: None, ..now.clone() }, ..record.clone() };
    let new = ScreenRecord { config: now.clone(), ..record };
    let note = format!("no norm before the head in the rows {}.", now.data.row());
    let told = |records: &[ScreenRecord]| tables.tables(records).iter().all(|table| table.notes[0].ends_with(&note));
    assert!(told(std::slice::from_ref(&old)) && !told(&[old.clone(), new.clone()]));
    assert_eq!(tables.of(std::slice::from_ref(&old), now.data), [&old]);
    assert_eq!(tables.of(&[old.clone(), new.clone()], now.data), [&new]);
    // Older records say nothing of a norm.
    let text: Backbone = serde_json::from_str(r#"{"kind": "lift"}"#).unwrap();
    assert_eq!(text, Backbone::Lift { normed: false });
}

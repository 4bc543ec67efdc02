//! Workers on fits of milliseconds: everything is done once, whatever fails, stops or is lost.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use invar_nn::StoppingConfig;

use super::*;
use crate::fit::{FitConfig, Method};
use crate::problem::Data;
use crate::record::Record;
use crate::record::Records;
use crate::sweep::{Counts, Standing, Work};

fn job(seed: u64, epochs: usize) -> Job {
    let mut data = Data::by_name("sum").unwrap();
    data.set_examples(40);
    let config = FitConfig { seed, ..FitConfig::new(data, Method::Plain) };
    let stopping = StoppingConfig { patience: epochs, ..config.stopping };
    let config = FitConfig { max_epochs: epochs, stopping, ..config };
    let work = Work::Fit(Box::new(config));
    Job { id: work.id().unwrap(), name: work.name(), seconds: None, work }
}

/// One whose penalty no fit can have.
fn bad(seed: u64) -> Job {
    let Job { work: Work::Fit(config), .. } = job(seed, 1) else { unreachable!() };
    let work = Work::Fit(Box::new(FitConfig { lambda: -1.0, ..*config }));
    Job { id: work.id().unwrap(), name: work.name(), seconds: None, work }
}

fn options(lease: u64) -> Options {
    Options { threads: 2, lease: Duration::from_millis(lease), retry_failed: false, seat: None }
}

fn all(sweep: &Sweep, options: &Options) -> Summary {
    run(sweep, sweep.select(&[]).unwrap(), options, &Stop::new(), &|_| ()).unwrap()
}

#[test]
fn two_workers_share_a_sweep_and_its_records_are_gathered_once() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", (0..12).map(|seed| job(seed, 1)).collect()).unwrap();
    let began = AtomicUsize::new(0);
    let listen = |event: Event<'_>| {
        began.fetch_add(usize::from(matches!(event, Event::Began(_))), Ordering::Relaxed);
    };
    let work = || run(&sweep, sweep.select(&[]).unwrap(), &options(60_000), &Stop::new(), &listen).unwrap();
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        (work(), other.join().unwrap())
    });
    assert_eq!((a.done, b.done, a.finished + b.finished, began.into_inner()), (12, 12, 12, 12));
    let results = folder.path().join("results");
    let first = sweep.gather(&results).unwrap();
    let second = sweep.gather(&results).unwrap();
    assert_eq!(([first.added, first.known, first.missing], [second.added, second.known]), ([12, 0, 0], [0, 12]));
    let records: Vec<Record> = Records::read(&results.join("small.jsonl")).unwrap();
    assert_eq!(records.iter().map(|record| record.config.seed).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    // Planned again for more: what is done stays done.
    let more = Sweep::plan(folder.path(), "small", (10..14).map(|seed| job(seed, 1)).collect()).unwrap();
    assert_eq!(Counts::of(&more.standings().unwrap()), Counts { done: 12, open: 2, ..Counts::default() });
    assert!(Sweep::plan(folder.path(), "other", Vec::new()).unwrap_err().to_string().contains("a sweep of small"));
}

#[test]
fn a_lost_worker_is_followed_and_one_that_loses_all_of_them_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", vec![job(0, 1), job(1, 1)]).unwrap();
    let claims = Claims::open(&sweep.claims(), None).unwrap();
    claims.take(&sweep.jobs[0].id, 0).unwrap().unwrap();
    for turn in 0..5 {
        claims.take(&sweep.jobs[1].id, turn).unwrap().unwrap();
    }
    let summary = all(&sweep, &options(200));
    assert_eq!((summary.finished, summary.done), (1, 1));
    assert!(summary.failed[0].1.contains("lost 5 times"), "{summary:?}");
    // Asked for, it is tried again.
    let summary = all(&sweep, &Options { retry_failed: true, ..options(200) });
    assert_eq!((summary.finished, summary.done, summary.failed.len()), (1, 2, 0));
}

#[test]
fn what_fails_is_told_stops_nothing_and_is_retried_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", vec![bad(0), job(1, 1)]).unwrap();
    let failed = |summary: &Summary| summary.failed.iter().map(|(_, error)| error.contains("lambda")).collect::<Vec<_>>();
    let first = all(&sweep, &options(60_000));
    assert_eq!((first.finished, failed(&first)), (1, vec![true]));
    let standings = sweep.standings().unwrap();
    assert!(matches!(&standings[0], Standing::Failed(error) if error.contains("lambda")) && standings[1] == Standing::Done);
    let turns =
        |sweep: &Sweep| Claims::open(&sweep.claims(), None).unwrap().last(&sweep.jobs[0].id, None).unwrap().unwrap().number;
    all(&sweep, &options(60_000));
    assert_eq!(turns(&sweep), 0);
    // Once, though two threads look for it.
    let again = all(&sweep, &Options { retry_failed: true, ..options(60_000) });
    assert_eq!((failed(&again), turns(&sweep)), (vec![true], 1));
}

#[test]
fn a_stop_gives_fits_back_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", vec![job(0, 1_000_000)]).unwrap();
    let stop = Stop::new();
    let listen = |event: Event<'_>| {
        if matches!(event, Event::Began(_)) {
            stop.stop();
        }
    };
    let summary = run(&sweep, vec![0], &options(3_600_000), &stop, &listen).unwrap();
    assert_eq!((summary.done, summary.failed.len(), summary.of), (0, 0, 1));
    assert_eq!(sweep.standings().unwrap(), [Standing::Open]);
}

#[test]
fn an_owner_that_was_taken_for_lost_gives_up() {
    for finished in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let sweep = Sweep::plan(folder.path(), "small", vec![job(0, 1_000_000)]).unwrap();
        let (id, record) = (&sweep.jobs[0].id, sweep.record(&sweep.jobs[0]));
        let (other, stop) = (Claims::open(&sweep.claims(), None).unwrap(), Stop::new());
        let listen = |event: Event<'_>| match event {
            // Another takes over, or is even done with it.
            Event::Began(_) if finished => std::fs::write(&record, "{}").unwrap(),
            Event::Began(_) => assert!(other.take(id, 1).unwrap().is_some()),
            Event::Lost(_) if !finished => stop.stop(),
            Event::Lost(_) => {}
            Event::Finished(..) | Event::Failed(..) => panic!("it must give up"),
        };
        let one = Options { threads: 1, ..options(400) };
        let summary = run(&sweep, vec![0], &one, &stop, &listen).unwrap();
        assert_eq!((summary.finished, summary.done, summary.failed.len()), (0, usize::from(finished), 0));
        let expected = if finished { "Done" } else { "Claimed" };
        assert!(format!("{:?}", sweep.standings().unwrap()[0]).starts_with(expected));
        // What the other has written stays.
        assert!(!finished || std::fs::read(&record).unwrap() == b"{}");
    }
}

#[test]
fn a_record_without_a_last_word_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", vec![job(0, 1)]).unwrap();
    all(&sweep, &options(60_000));
    let record = std::fs::read(sweep.record(&sweep.jobs[0])).unwrap();
    // Its worker was killed after the record: the claim says that it works.
    let claims = Claims::open(&sweep.claims(), None).unwrap();
    std::fs::remove_file(sweep.claims().join(format!("{}.0", sweep.jobs[0].id))).unwrap();
    claims.take(&sweep.jobs[0].id, 0).unwrap().unwrap();
    let summary = all(&sweep, &options(100));
    assert_eq!((summary.finished, summary.done), (0, 1));
    assert_eq!(std::fs::read(sweep.record(&sweep.jobs[0])).unwrap(), record);
}

#[test]
fn plans_of_other_versions_and_unknown_fits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::plan(folder.path(), "small", vec![job(0, 1), job(1, 1)]).unwrap();
    let ids: HashSet<&str> = sweep.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(sweep.select(&[sweep.jobs[1].id[..6].into()]).unwrap(), [1]);
    for wrong in ["", "zz"] {
        assert!(sweep.select(&[wrong.into()]).unwrap_err().to_string().contains("--only"));
    }
    let path = folder.path().join("sweep.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"lambda\": 0.0", "\"lambda\": 0.5", 1)).unwrap();
    assert!(Sweep::open(folder.path()).unwrap_err().to_string().contains("to this version"));
    std::fs::write(&path, "{}").unwrap();
    assert!(Sweep::open(folder.path()).unwrap_err().to_string().contains("not the plan of a sweep"));
}

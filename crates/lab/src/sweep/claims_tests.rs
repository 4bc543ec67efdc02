//! Claims are given out once, are taken over when their owners are lost, and only then.

use std::time::SystemTime;

use proptest::prelude::*;

use super::*;

fn claims(folder: &Path) -> Claims {
    Claims::open(folder, None).unwrap()
}

#[test]
fn of_many_that_try_one_gets_each_turn() {
    let folder = tempfile::tempdir().unwrap();
    let taken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let claims = claims(folder.path());
                for k in 0..100 {
                    let first = claims.take(&format!("fit{k}"), 0).unwrap();
                    taken.fetch_add(u64::from(first.is_some()), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 100);
    // Nothing is left of those that came too late.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 100);
}

#[test]
fn a_lost_owner_is_followed_by_one_and_notices() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = [(); 3].map(|()| claims(folder.path()));
    let mut own = a.take("fit", 0).unwrap().unwrap();
    let lease = Duration::from_mins(1);
    let (mut watch, start) = (Watch::new(lease), Instant::now());
    let mut lost = |after: u64| watch.is_lost("fit", &b.last("fit", None).unwrap().unwrap(), start + Duration::from_secs(after));
    assert!(!lost(0) && !lost(59));
    assert!(own.beat().unwrap());
    // It is seen anew: the lease begins again.
    assert!(!lost(61) && !lost(120) && lost(121));
    assert_eq!((b.take("fit", 1).unwrap().is_some(), c.take("fit", 1).unwrap().is_some()), (true, false));
    assert!(!own.beat().unwrap(), "the first owner must notice");
    assert_eq!(c.last("fit", Some(1)).unwrap().unwrap().note.unwrap().key, b.key);
    assert_eq!((c.losses("fit", 0).unwrap(), c.losses("fit", 1).unwrap()), (1, 2));
}

#[test]
fn clocks_of_other_machines_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (claims(folder.path()), claims(folder.path()));
    let mut own = a.take("fit", 0).unwrap().unwrap();
    let (mut watch, start) = (Watch::new(Duration::from_mins(1)), Instant::now());
    let year = Duration::from_hours(24 * 365);
    for (round, stamp) in [SystemTime::UNIX_EPOCH, SystemTime::now() + year, SystemTime::now() - year].into_iter().enumerate() {
        assert!(own.beat().unwrap());
        let file = fs::File::options().write(true).open(a.path("fit", 0)).unwrap();
        file.set_modified(stamp).unwrap();
        let turn = b.last("fit", None).unwrap().unwrap();
        assert!(!watch.is_lost("fit", &turn, start + Duration::from_secs(59 * round as u64)));
    }
}

#[test]
fn whoever_sits_where_a_lost_worker_sat_need_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, restart| Claims::open(folder.path(), Some(Seat { name: name.into(), restart })).unwrap();
    let first = at("17_3", 0);
    first.take("fit", 0).unwrap().unwrap();
    let note = first.last("fit", None).unwrap().unwrap().note.unwrap();
    assert!(at("17_3", 1).is_predecessor(&note));
    assert!(!at("17_4", 1).is_predecessor(&note) && !at("17_3", 0).is_predecessor(&note));
    assert!(!claims(folder.path()).is_predecessor(&note));
}

#[test]
fn what_is_no_claim_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fit.0"), "{}").unwrap();
    let error = claims(folder.path()).last("fit", None).unwrap_err().to_string();
    assert!(error.contains("fit.0") && error.contains("not a claim"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Workers that come, go on, stall, give up and die in any order: a turn has one owner, an owner that beats within its lease keeps
    /// its fit, and of two that believe to own a fit the earlier one learns better with its next beat.
    #[test]
    fn every_fit_has_one_owner(moves in prop::collection::vec((0..3_usize, 0..5_u8, 0..50_u64), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let workers = [(); 3].map(|()| claims(folder.path()));
        let mut watches = [(); 3].map(|()| Watch::new(Duration::from_mins(1)));
        let mut own: [Option<Claim<'_>>; 3] = [None, None, None];
        let (mut now, mut beaten) = (Instant::now(), [Instant::now(); 3]);
        for (who, what, seconds) in moves {
            now += Duration::from_secs(seconds);
            match (what, own[who].take()) {
                (0 | 1, Some(mut claim)) => {
                    let last = workers[who].last("fit", None).unwrap().unwrap().number;
                    let still = claim.beat().unwrap();
                    prop_assert_eq!(still, last == claim.turn);
                    beaten[who] = now;
                    own[who] = still.then_some(claim);
                }
                (2, Some(claim)) => claim.end(State::Released).unwrap(),
                // Killed: its file stays as it is.
                (3, Some(_)) => {}
                (_, Some(claim)) => own[who] = Some(claim),
                (_, None) => {
                    let turn = workers[who].last("fit", None).unwrap();
                    let next = match &turn {
                        None => Some(0),
                        Some(turn) if turn.note.as_ref().unwrap().state == State::Released => Some(turn.number + 1),
                        Some(turn) => watches[who].is_lost("fit", turn, now).then_some(turn.number + 1),
                    };
                    if let Some(claim) = next.map(|turn| workers[who].take("fit", turn).unwrap()) {
                        for other in 0..3 {
                            let owner = own[other].as_ref();
                            prop_assert!(owner.is_none() || now - beaten[other] >= Duration::from_mins(1));
                        }
                        own[who] = claim;
                        beaten[who] = now;
                    }
                }
            }
        }
    }
}

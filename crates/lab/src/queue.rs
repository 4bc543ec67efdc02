//! Independent jobs on all cores, with progress and an orderly stop.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Set when the user asks to stop: running fits end, nothing new starts.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A switch that is off; `const`, so that a signal handler can reach it.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks everything to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What a fit looks at between steps.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// Whether this thread works on a job: it has a crew of one already.
    static IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Runs jobs on `threads` threads and hands every result to `collect`, on the calling thread, as it comes.
///
/// Each job is sequential, whatever it calls: one fit per core beats one fit on all cores. `collect` returning an error stops
/// the rest. A job that asks for one thread more stays on its own: threads cost more than small jobs.
pub fn run<J: Sync, R: Send, E>(
    jobs: &[J],
    threads: usize,
    stop: &Stop,
    work: impl Fn(&J) -> R + Sync,
    mut collect: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    if threads == 1 && IN_JOB.get() {
        for (k, job) in jobs.iter().enumerate() {
            if stop.is_stopped() {
                break;
            }
            collect(k, work(job))?;
        }
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let sender = sender.clone();
            let (next, failed, work) = (&next, &failed, &work);
            scope.spawn(move || {
                // Parallel code inside a job finds a crew of one, this thread. It cannot be refused: the thread is new.
                IN_JOB.set(true);
                let _crew = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= jobs.len() || failed.load(Ordering::Relaxed) || stop.is_stopped() {
                        break;
                    }
                    if sender.send((k, work(&jobs[k]))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for (k, result) in receiver {
            if outcome.is_ok() {
                outcome = collect(k, result);
                failed.store(outcome.is_err(), Ordering::Relaxed);
            }
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_on_any_number_of_threads() {
        let jobs: Vec<usize> = (0..50).collect();
        for threads in [1, 2, 7, 100] {
            let mut results = vec![0; 50];
            run(
                &jobs,
                threads,
                &Stop::new(),
                |j| j * j,
                |k, r| -> Result<(), ()> {
                    results[k] += r;
                    Ok(())
                },
            )
            .unwrap();
            assert!(results.iter().enumerate().all(|(k, r)| *r == k * k));
        }
    }

    #[test]
    fn parallel_code_inside_a_job_stays_on_its_thread() {
        use rayon::prelude::*;
        let work = |_: &usize| {
            let own = std::thread::current().id();
            (0..1000).into_par_iter().all(|_| std::thread::current().id() == own)
        };
        let mut calm = 0;
        let collect = |_, stayed: bool| -> Result<(), ()> {
            calm += usize::from(stayed);
            Ok(())
        };
        run(&[0, 1, 2], 2, &Stop::new(), work, collect).unwrap();
        assert_eq!(calm, 3);
    }

    #[test]
    fn a_job_that_runs_jobs_one_by_one_stays_on_its_thread() {
        let inner = |_: &usize| {
            let own = std::thread::current().id();
            let mut same = 0;
            let collect = |_, id| -> Result<(), ()> {
                same += usize::from(id == own);
                Ok(())
            };
            run(&[0, 1, 2], 1, &Stop::new(), |_| std::thread::current().id(), collect).unwrap();
            same
        };
        let mut all = 0;
        run(&[0, 1], 2, &Stop::new(), inner, |_, same| -> Result<(), ()> {
            all += same;
            Ok(())
        })
        .unwrap();
        assert_eq!(all, 6);
    }

    #[test]
    fn an_error_or_a_stop_ends_the_run() {
        let jobs: Vec<usize> = (0..1000).collect();
        let mut seen = 0;
        let outcome = run(
            &jobs,
            2,
            &Stop::new(),
            |j| *j,
            |_, _| {
                seen += 1;
                if seen == 3 { Err("full") } else { Ok(()) }
            },
        );
        assert_eq!((outcome, seen), (Err("full"), 3));
        let stop = Stop::new();
        let mut seen = 0;
        run(
            &jobs,
            1,
            &stop,
            |j| {
                if *j == 4 {
                    stop.stop();
                }
            },
            |_, ()| -> Result<(), ()> {
                seen += 1;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen, 5);
    }
}

//! Who works on which fit, told by files in a folder that several machines share.
//!
//! A claim is a file `ID.0`, made by a hard link: of all who try, on any machine, exactly one succeeds, on network file systems too, and
//! whoever reads it reads all of it. Nothing is ever removed and no clocks are compared. Its owner rewrites it from time to time with
//! another beat. One who sees the same beat for as long as a lease, by a clock of its own, takes the owner for lost and claims the next
//! turn, `ID.1`: again exactly one succeeds. An owner that was only slow finds that there is a turn behind its own, and gives up.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use invar_data::Digest;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A place that one worker at a time can have, such as a task of an array that is begun again when its node is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// Its name; no two workers with one name and restart run at the same time.
    pub name: String,
    /// How often it was begun again.
    pub restart: u64,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its owner works on it.
    Working,
    /// Its owner was asked to stop: anybody may go on.
    Released,
    /// There is a record.
    Finished,
    /// The fit ended with this error.
    Failed(String),
}

/// What stands in the file of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Machine and process, for people.
    pub worker: String,
    /// Unlike that of any other worker.
    pub key: String,
    /// Where the worker sits, if places are given out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// Changes for as long as the owner is there.
    pub beat: u64,
    /// What became of it.
    pub state: State,
}

/// The last turn of a fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Counted from 0.
    pub number: u32,
    /// What its file says; none while it cannot be read, as on a network file system that is behind.
    pub note: Option<Note>,
}

/// The claims in a folder, as one worker sees and makes them.
#[derive(Debug)]
pub struct Claims {
    folder: PathBuf,
    worker: String,
    key: String,
    seat: Option<Seat>,
    written: AtomicU64,
}

impl Claims {
    /// Those in a folder, which is created.
    pub fn open(folder: &Path, seat: Option<Seat>) -> Result<Self> {
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
        let worker = format!("{}:{}", host(), std::process::id());
        Ok(Self { folder: folder.to_path_buf(), key: key(&worker), worker, seat, written: AtomicU64::new(0) })
    }

    fn path(&self, id: &str, turn: u32) -> PathBuf {
        self.folder.join(format!("{id}.{turn}"))
    }

    fn note(&self, beat: u64, state: State) -> Note {
        Note { worker: self.worker.clone(), key: self.key.clone(), seat: self.seat.clone(), beat, state }
    }

    /// A name that nobody else gives to a file.
    fn own_name(&self) -> String {
        format!(".{}-{}", self.key, self.written.fetch_add(1, Ordering::Relaxed))
    }

    fn own_file(&self) -> PathBuf {
        self.folder.join(self.own_name())
    }

    /// The last turn of a fit, looked for from a turn that is known to be there.
    pub fn last(&self, id: &str, known: Option<u32>) -> Result<Option<Turn>> {
        let mut last = None;
        for number in known.unwrap_or(0).. {
            match self.read(id, number)? {
                Some(note) => last = Some(Turn { number, note }),
                None => break,
            }
        }
        Ok(last)
    }

    /// What a turn says; none if there is no such turn.
    #[expect(clippy::option_option, reason = "there, but not readable now, is a state of its own")]
    fn read(&self, id: &str, turn: u32) -> Result<Option<Option<Note>>> {
        let path = self.path(id, turn);
        match fs::read(&path) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(note) => Ok(Some(Some(note))),
                Err(error) => {
                    Err(Error::Sweep { path, problem: format!("not a claim ({error}); was it written by another version?") })
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // It was just replaced by its owner: there is another beat, whatever it is.
            Err(error) if error.kind() == ErrorKind::StaleNetworkFileHandle => Ok(Some(None)),
            Err(source) => Err(Error::File { what: "read", path, source }),
        }
    }

    /// Claims a turn; none if somebody else was quicker.
    pub fn take(&self, id: &str, turn: u32) -> Result<Option<Claim<'_>>> {
        let note = self.note(0, State::Working);
        let path = self.path(id, turn);
        let made = create_once(&self.own_file(), &path, &text(&note)?).map_err(failed("claim", &path))?;
        Ok(made.then(|| Claim { claims: self, id: id.into(), turn, beat: 0 }))
    }

    /// How often in a row up to this turn the worker was lost.
    pub fn losses(&self, id: &str, turn: u32) -> Result<usize> {
        let mut count = 0;
        for number in 0..=turn {
            match self.read(id, number)?.flatten().map(|note| note.state) {
                Some(State::Working) => count += 1,
                Some(State::Failed(_)) => count = 0,
                _ => {}
            }
        }
        Ok(count)
    }

    /// Whether the owner sat where this worker sits now, and so is there no longer.
    pub fn is_predecessor(&self, note: &Note) -> bool {
        let older = |(own, other): (&Seat, &Seat)| own.name == other.name && other.restart < own.restart;
        self.seat.as_ref().zip(note.seat.as_ref()).is_some_and(older)
    }
}

/// A claim that is one's own, until it is lost.
#[derive(Debug)]
pub struct Claim<'a> {
    claims: &'a Claims,
    /// The fit.
    pub id: String,
    /// Which turn.
    pub turn: u32,
    beat: u64,
}

impl Claim<'_> {
    /// Tells that the owner is still there; false if another has taken over.
    pub fn beat(&mut self) -> Result<bool> {
        self.beat += 1;
        self.write(State::Working)?;
        Ok(self.claims.read(&self.id, self.turn + 1)?.is_none())
    }

    /// A file that nobody else writes to, beside another.
    pub(super) fn file_beside(&self, path: &Path) -> PathBuf {
        path.with_file_name(self.claims.own_name())
    }

    /// Tells what became of it.
    pub fn end(mut self, state: State) -> Result<()> {
        self.beat += 1;
        self.write(state)
    }

    /// Nobody else ever writes to this file.
    fn write(&self, state: State) -> Result<()> {
        let (own, path) = (self.claims.own_file(), self.claims.path(&self.id, self.turn));
        let written = fs::write(&own, text(&self.claims.note(self.beat, state))?).and_then(|()| fs::rename(&own, &path));
        written.map_err(failed("renew", &path))
    }
}

/// The turn of a claim, what its owner had written there, and since when.
type Seen = (u32, Option<(String, u64)>, Instant);

/// Tells lost owners from slow ones, by one clock.
#[derive(Debug)]
pub struct Watch {
    lease: Duration,
    seen: HashMap<String, Seen>,
}

impl Watch {
    /// With a lease: how long an owner may be silent.
    pub fn new(lease: Duration) -> Self {
        Self { lease, seen: HashMap::new() }
    }

    /// Whether a turn has not changed for a whole lease.
    pub fn is_lost(&mut self, id: &str, turn: &Turn, now: Instant) -> bool {
        let mark = turn.note.as_ref().map(|note| (note.key.clone(), note.beat));
        match self.seen.get(id) {
            Some((number, seen, since)) if *number == turn.number && *seen == mark => now.duration_since(*since) >= self.lease,
            _ => {
                self.seen.insert(id.into(), (turn.number, mark, now));
                false
            }
        }
    }
}

/// Makes a file with a content unless there is one, whole or not at all, and on the disk before this returns; false if there is one.
pub(super) fn create_once(own: &Path, path: &Path, content: &[u8]) -> io::Result<bool> {
    let mut file = fs::File::create_new(own)?;
    file.write_all(content)?;
    file.sync_all()?;
    let linked = fs::hard_link(own, path);
    // An answer of a server can be lost, and the request be made a second time: then only the number of links tells.
    let there = links(own);
    fs::remove_file(own)?;
    match linked {
        Ok(()) => Ok(true),
        Err(_) if there == Some(2) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn links(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| file.nlink())
}

#[cfg(not(unix))]
fn links(_: &Path) -> Option<u64> {
    None
}

fn text(note: &Note) -> Result<Vec<u8>> {
    serde_json::to_vec(note).map_err(|error| Error::File { what: "write", path: PathBuf::from("a claim"), source: error.into() })
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
    move |source| Error::File { what, path: path.to_path_buf(), source }
}

/// The name of this machine, as far as it can be told.
fn host() -> String {
    let file = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = file.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map_or_else(|| "unknown".into(), |name| name.trim().to_owned())
}

/// Differs between processes that are alike in everything else: the standard library draws it for its tables.
fn key(worker: &str) -> String {
    use std::hash::{BuildHasher, RandomState};
    let drawn = RandomState::new().hash_one(worker).to_le_bytes();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos().to_le_bytes();
    Digest::of([worker.as_bytes(), &drawn, &now]).short()
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;

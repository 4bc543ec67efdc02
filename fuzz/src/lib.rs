//! What must hold for any file at all, one [`Target`] for each thing that is read: it is answered or refused, in so much memory and
//! without a panic, and what was accepted keeps its promises (what is written is read again, what is exported answers alike, a
//! certificate holds for the lattice that is there).
//!
//! The same functions serve twice. Tests replay `fuzz/corpus`, which grows; `.ci/fuzz SECONDS` looks for new files, guided by which
//! branches of this workspace they reach. A file that fails goes into the corpus with the mend.

mod algebra;
mod models;
mod project;
mod repair;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use invar_data::Limits;
use peak_alloc::PeakAlloc;
use tempfile::TempDir;

/// Counts the bytes in use.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What a reader may use.
const LIMITS: Limits = Limits { bytes: 1 << 20 };

/// One kind of file, and what must hold for it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Bytes that looking at one file may take at most.
    most: usize,
    /// Whether the file was accepted.
    look: fn(&Desk, &[u8]) -> bool,
}

/// A table of what a reader may use, and what is found out about its rows. (How much readers themselves take is bounded more strictly in
/// `crates/data/tests/corruption.rs`.)
const TABLE: usize = 32 << 20;
/// A model that is run, proved, written and read again, with its examples.
const MODEL: usize = 64 << 20;

/// Everything that reads what others wrote.
pub const TARGETS: [Target; 10] = [
    Target { name: "certificate", most: 64 << 20, look: algebra::certificate },
    Target { name: "csv", most: TABLE, look: tables::csv },
    Target { name: "idx", most: TABLE, look: tables::idx },
    Target { name: "images", most: TABLE, look: tables::images },
    Target { name: "model", most: MODEL, look: models::model },
    Target { name: "npy", most: TABLE, look: tables::npy },
    Target { name: "npz", most: TABLE, look: tables::npz },
    Target { name: "onnx", most: MODEL, look: models::onnx },
    Target { name: "project", most: 16 << 20, look: project::project },
    Target { name: "shorthand", most: 64 << 20, look: algebra::shorthand },
];

impl Target {
    /// The one of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Looks at one file; panics when something does not hold that should. Whether it was accepted.
    pub fn check(&self, desk: &Desk, bytes: &[u8]) -> bool {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let accepted = (self.look)(desk, bytes);
        let taken = MEMORY.peak_usage().saturating_sub(before);
        assert!(taken <= self.most, "{}: {taken} bytes were taken for a file of {}", self.name, bytes.len());
        accepted
    }
}

/// A folder to put files into.
#[derive(Debug)]
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    /// An empty one.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    /// A file of this name and content.
    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, bytes).expect("the folder can be written");
        path
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

//! What can go wrong in an experiment.

use std::path::PathBuf;

use thiserror::Error;

/// The result of an experiment.
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong, and where.
#[derive(Debug, Error)]
pub enum Error {
    /// From the algebra.
    #[error(transparent)]
    Algebra(#[from] invar_algebra::Error),

    /// From the tasks.
    #[error(transparent)]
    Task(#[from] invar_tasks::Error),

    /// From the user's files.
    #[error(transparent)]
    Data(#[from] invar_data::Error),

    /// From a network or its training.
    #[error(transparent)]
    Network(#[from] invar_nn::Error),

    /// From a model that is to be run or saved.
    #[error(transparent)]
    Program(#[from] invar_program::Error),

    /// A setting outside its range.
    #[error("{name} should be {expected}, but is {got}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// What would have been right.
        expected: String,
        /// What was given.
        got: String,
    },

    /// A project file that asks for something that cannot be.
    #[error("{path}, line {line}: {problem}", path = .path.display())]
    Project {
        /// The project file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The key, what was expected and what is there.
        problem: String,
    },

    /// A value for a key of the project file, said on the command line, that cannot be.
    #[error("{said}: {problem}")]
    Override {
        /// What the user wrote.
        said: String,
        /// What is wrong with it.
        problem: String,
    },

    /// A file that cannot be read or written.
    #[error("cannot {what} {path}", path = .path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },

    /// A line of a record file that is no record.
    #[error("{path}, line {line}: not a record ({reason}); move the file away or mend the line", path = .path.display())]
    Record {
        /// The record file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },

    /// The folder of a sweep that cannot be gone on with.
    #[error("{path}: {problem}", path = .path.display())]
    Sweep {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// Two programs on one record file.
    #[error("another run is writing {path}; wait for it, or choose another folder", path = .path.display())]
    Busy {
        /// The record file.
        path: PathBuf,
    },

    /// The file of a run that is damaged or of another version.
    #[error("{path}: not a run that can be read: {problem}", path = .path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// The user asked to stop before there was an answer.
    #[error("stopped before there was an answer")]
    Stopped,
}

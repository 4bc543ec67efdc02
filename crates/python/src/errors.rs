//! Errors of the crates as exceptions: what was asked wrongly is a `ValueError`.

use invar_data::Error as Data;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};

/// Which exception an error becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was asked cannot be.
    Value,
    /// A file that is not there.
    Missing,
    /// The system refused.
    System,
    /// More memory than may be used.
    Memory,
    /// Ctrl-C.
    Stopped,
    /// Everything else that went wrong.
    Failed,
}

/// Errors that know which exception they are.
pub(crate) trait Raised: std::error::Error + 'static {
    /// Which.
    fn kind(&self) -> Kind;
}

/// Results whose errors become exceptions.
pub(crate) trait OrRaise<T> {
    /// The answer, or the exception.
    fn or_raise(self) -> Result<T, PyErr>;
}

impl<T, E: Raised> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> Result<T, PyErr> {
        self.map_err(|error| raise(&error))
    }
}

/// The exception of an error, with its causes.
fn raise<E: Raised>(error: &E) -> PyErr {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        // A transparent error is its cause.
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    match error.kind() {
        Kind::Value => PyValueError::new_err(text),
        Kind::Missing => PyFileNotFoundError::new_err(text),
        Kind::System => PyOSError::new_err(text),
        Kind::Memory => PyMemoryError::new_err(text),
        Kind::Stopped => PyKeyboardInterrupt::new_err(text),
        Kind::Failed => PyRuntimeError::new_err(text),
    }
}

/// An exception about an argument.
pub(crate) fn wrong(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

impl Raised for invar_algebra::Error {
    fn kind(&self) -> Kind {
        if matches!(self, Self::TooLarge { .. }) { Kind::Memory } else { Kind::Value }
    }
}

impl Raised for Data {
    fn kind(&self) -> Kind {
        match self {
            Self::Missing { .. } => Kind::Missing,
            Self::Io { .. } => Kind::System,
            Self::TooLarge { .. } => Kind::Memory,
            _ => Kind::Value,
        }
    }
}

impl Raised for invar_program::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Data(error) => error.kind(),
            Self::Algebra(error) => error.kind(),
            Self::Kernel(_) => Kind::Failed,
            _ => Kind::Value,
        }
    }
}

impl Raised for invar_lab::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Data(error) => error.kind(),
            Self::Algebra(error) => error.kind(),
            Self::Program(error) => error.kind(),
            Self::Task(_) | Self::Setting { .. } | Self::Project { .. } | Self::Override { .. } => Kind::Value,
            Self::File { .. } => Kind::System,
            Self::Stopped => Kind::Stopped,
            // Of networks, records and folders: whatever there is, it was not the question.
            _ => Kind::Failed,
        }
    }
}

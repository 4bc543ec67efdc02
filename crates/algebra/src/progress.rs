//! How far a long construction is.

/// What is being done, and how much of it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The step, such as "finding subspaces".
    pub step: &'static str,
    /// How much is done.
    pub done: usize,
    /// How much there is to do, at most.
    pub of: usize,
}

//! What a thread keeps between kernel calls.

use crate::{Level, Result, buffer::Buffer, level::Arch};

/// The instruction set to compute with, and the scratch memory of the kernels.
///
/// Keep one per thread that calls kernels and pass it to every call: it grows to what the largest layer needs, and from then on
/// no call allocates. The kernels themselves run on all threads of the current rayon pool.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) arch: Arch,
    /// Weights, rearranged for the register blocks.
    pub(crate) weights: Buffer,
    /// Inputs and output gradients, rearranged for the weight gradient.
    pub(crate) inputs: Buffer,
    pub(crate) outputs: Buffer,
    /// What a batch norm multiplies with and adds, for each channel.
    pub(crate) coefficients: Buffer,
    /// Sums of parts of the batch.
    pub(crate) sums: Buffer,
}

impl Workspace {
    /// A workspace for the best level of this processor, or the one that `INVAR_SIMD` names.
    pub fn new() -> Result<Self> {
        Self::with_level(Level::current()?)
    }

    /// A workspace for a given level.
    pub fn with_level(level: Level) -> Result<Self> {
        let arch = Arch::new(level)?;
        let [weights, inputs, outputs, coefficients, sums] = std::array::from_fn(|_| Buffer::default());
        Ok(Self { arch, weights, inputs, outputs, coefficients, sums })
    }

    /// The instruction set in use.
    pub fn level(&self) -> Level {
        self.arch.level()
    }
}

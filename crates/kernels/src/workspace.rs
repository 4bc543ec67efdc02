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
    /// Whether convolutions may go through transforms.
    pub(crate) transforms: bool,
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
        Ok(Self { arch, weights, inputs, outputs, coefficients, sums, transforms: false })
    }

    /// Lets convolutions with many channels go through Winograd's transforms where these are faster, as training does.
    ///
    /// Their errors are small beside the largest outputs of a tile, not beside each output: what is computed with a bound on every
    /// single rounding must not use them.
    #[must_use]
    pub fn with_transforms(self) -> Self {
        Self { transforms: true, ..self }
    }

    /// The instruction set in use.
    pub fn level(&self) -> Level {
        self.arch.level()
    }
}

//! Which instructions the kernels may use, decided once at run time.
//!
//! Every kernel is written once, generic over the vectors of [`pulp::Simd`], and compiled for each [`Level`].

use std::{fmt, str::FromStr, sync::OnceLock};

use pulp::{Simd, WithSimd};

use crate::{Error, Result};

/// The environment variable that forces a level: `portable`, `neon`, `avx2` or `avx512`.
pub const ENVIRONMENT: &str = "INVAR_SIMD";

/// A set of instructions to compute with, from the slowest to the fastest.
///
/// Sums are accumulated in the same order at every level and for every number of threads, but levels round differently: those
/// with a fused multiply-add round once where the portable one rounds twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What every processor of the target has.
    Portable,
    /// 128-bit vectors on ARM.
    Neon,
    /// 256-bit vectors and fused multiply-add (x86-64-v3).
    Avx2,
    /// 512-bit vectors (x86-64-v4).
    Avx512,
}

impl Level {
    /// All levels, available here or not.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The levels that this processor can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| Arch::detect(*level).is_some())
    }

    /// The fastest level that this processor can run.
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }

    /// The level to use: the one named by `INVAR_SIMD` if that is set, else the best. The variable is read once.
    pub fn current() -> Result<Self> {
        static CURRENT: OnceLock<Result<Level>> = OnceLock::new();
        CURRENT.get_or_init(|| std::env::var(ENVIRONMENT).map_or_else(|_| Ok(Self::best()), |name| Self::forced(&name))).clone()
    }

    /// The level with this name, if this processor can run it.
    fn forced(name: &str) -> Result<Self> {
        let level = name.parse().and_then(|level| Arch::new(level).map(|_| level));
        level.map_err(|error| Error::Environment(Box::new(error)))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| Error::UnknownLevel { name: name.to_owned() })
    }
}

/// The register block of a level: the accumulators of `rows` x `lanes` outputs stay in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// Values that are broadcast: output pixels, or input channels for the weight gradient.
    pub(crate) rows: usize,
    /// Values that lie side by side in vectors: output channels.
    pub(crate) lanes: usize,
}

/// The most lanes of a register block.
pub(crate) const MAX_LANES: usize = 32;

/// A level together with the proof that this processor has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arch {
    Portable(pulp::Scalar),
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
}

/// A computation that is compiled once for each level, with `N` vectors side by side in a register block.
pub(crate) trait Kernel {
    fn run<S: Simd, const N: usize>(self, simd: S);
}

struct Vectors<const N: usize, K>(K);

impl<const N: usize, K: Kernel> WithSimd for Vectors<N, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.run::<S, N>(simd);
    }
}

impl Arch {
    pub(crate) fn new(level: Level) -> Result<Self> {
        Self::detect(level).ok_or_else(|| Error::Unavailable {
            level,
            available: Level::available().map(Level::name).collect::<Vec<_>>().join(", "),
        })
    }

    fn detect(level: Level) -> Option<Self> {
        match level {
            Level::Portable => Some(Self::Portable(pulp::Scalar)),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => pulp::aarch64::Neon::try_new().map(Self::Neon),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => pulp::x86::V3::try_new().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => pulp::x86::V4::try_new().map(Self::Avx512),
            #[allow(unreachable_patterns, reason = "which levels there are depends on the architecture")]
            _ => None,
        }
    }

    pub(crate) fn level(self) -> Level {
        match self {
            Self::Portable(_) => Level::Portable,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => Level::Neon,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Level::Avx512,
        }
    }

    /// Sized so that accumulators, one row of weights and a broadcast value fill the registers.
    pub(crate) fn block(self) -> Block {
        match self.level() {
            Level::Portable => Block { rows: 4, lanes: 8 },
            Level::Neon | Level::Avx2 => Block { rows: 6, lanes: 16 },
            Level::Avx512 => Block { rows: 12, lanes: 32 },
        }
    }

    /// Runs the kernel with the instructions of this level.
    #[inline]
    pub(crate) fn run(self, kernel: impl Kernel) {
        match self {
            Self::Portable(simd) => simd.vectorize(Vectors::<8, _>(kernel)),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(simd) => simd.vectorize(Vectors::<4, _>(kernel)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => Simd::vectorize(simd, Vectors::<2, _>(kernel)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(simd) => Simd::vectorize(simd, Vectors::<2, _>(kernel)),
        }
    }
}

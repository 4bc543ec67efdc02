//! What can be asked about groups and lattices.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use invar_algebra::{Group, Mode, Shape, candidates};

use super::at_least_one;

const SHORTHAND: &str = "\
Symmetries (axes count from 0; put NAME= in front to name one, as in color=permute(0)):
  rot90(1,2)   rotations by 90 degrees in a plane of equal sides
  flip(1)      mirror one axis                   flips(1,2)       mirror either or both
  permute(0)   all permutations along an axis    cycle(0)         cyclic shifts, also shift(0)
  swap(0;2,5)  one transposition along an axis   swaps(0)         each as its own candidate
  nodes(0,1)   one permutation of several axes   node_swaps(0,1)  each as its own candidate
  negate       change every sign
  rotate(quarter), rotate(half), mirror(left-right), mirror(top-bottom), exchange(colours)
               the same of pictures; reverse(time), shift(time) of series; in projects on
               tables exchange(a,b) and exchange(sensor), by the names of columns and items
  generators([[1,0,2]])          your own: images of the entries, -i to change a sign,
  generators([[[0,1/2],[2,0]]])  or the rows of a matrix: fractions are exact, decimals not
  generators(0;[[1,0,2]])        ... along an axis
  join(flip(0),flip(1))          what several generate; product(...) if independent";

/// The shape and the candidates: what every algebra command begins with.
#[derive(Debug, Args)]
pub(crate) struct Candidates {
    /// Shape of the tensor, such as 10 or 3x28x28.
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: String,

    /// Candidate symmetries, such as 'rot90(1,2)' 'color=permute(0)'.
    #[arg(required = true, value_name = "SYMMETRY")]
    pub(crate) symmetries: Vec<String>,
}

impl Candidates {
    /// The groups, all on one shape.
    pub(crate) fn groups(&self) -> invar_algebra::Result<Vec<Group>> {
        let shape: Shape = self.shape.parse()?;
        candidates(&shape, self.symmetries.iter().map(String::as_str))
    }
}

/// Arguments of `invar groups`.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "{SHORTHAND}\n\nExamples:\n  invar groups --shape 3x28x28 'rot90(1,2)' 'flip(1)' 'permute(0)'\n  \
     invar groups --shape 60x60 rot='rot90(0,1)' move='shift(1)' --subset move"
))]
pub(crate) struct GroupsArgs {
    #[command(flatten)]
    pub(crate) candidates: Candidates,

    /// Ask whether these groups together are normal in the whole, names joined by + (may be repeated).
    /// Without it: every subset, up to 6 candidates; beyond that each candidate alone.
    #[arg(long, value_name = "NAME+NAME")]
    pub(crate) subset: Vec<String>,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar lattice`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = format!(
    "{SHORTHAND}\n\nExamples:\n  invar lattice --shape 3x3x3 rot='rot90(1,2)' color='permute(0)' --html lattice.html\n  \
     invar lattice --shape 10 'swaps(0)'\n  \
     invar lattice --shape 4x4 'node_swaps(0,1)' --mode complete --certificate proof.json"
))]
pub(crate) struct LatticeArgs {
    #[command(flatten)]
    pub(crate) candidates: Candidates,

    /// Which subspaces: those of the paper's algorithm, or every one that is not zero.
    #[arg(long, value_enum, default_value = "paper")]
    pub(crate) mode: ModeArg,

    /// Also show each group's own space of invariants (the W of the paper).
    #[arg(long)]
    pub(crate) eigenspaces: bool,

    /// Also print vectors that span each subspace, exactly.
    #[arg(long)]
    pub(crate) vectors: bool,

    /// Most closed sets of candidates to visit.
    #[arg(long, default_value = "4096", value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) cap: usize,

    /// Most memory to use, in GB (10^9 bytes). Without it: half of what is free.
    #[arg(long, value_name = "GB", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) memory: Option<usize>,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,

    /// Draw the Hasse diagram.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a page with the Hasse diagram and the dimensions.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the certificate: generators, bases and checks, for `invar verify`.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// Do not check the result.
    #[arg(long, conflicts_with = "certificate")]
    pub(crate) no_verify: bool,
}

/// Arguments of `invar verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  invar lattice --shape 10 'swaps(0)' --certificate proof.json && invar verify proof.json")]
pub(crate) struct VerifyArgs {
    /// The certificate.
    pub(crate) file: PathBuf,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `--mode`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ModeArg {
    /// Independent subspaces, as Algorithm 1; dimensions sum to the size of the tensor.
    Paper,
    /// Every nonzero subspace.
    Complete,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Paper => Self::Paper,
            ModeArg::Complete => Self::Complete,
        }
    }
}

//! How files of the user's are read.

use clap::ValueEnum;
use invar_data::Format;

/// `--format`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    /// A NumPy archive of arrays.
    Npz,
    /// One NumPy array.
    Npy,
    /// Comma-separated values.
    Csv,
    /// The format of MNIST.
    Idx,
    /// A folder of images.
    Images,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Npz => Self::Npz,
            FormatArg::Npy => Self::Npy,
            FormatArg::Csv => Self::Csv,
            FormatArg::Idx => Self::Idx,
            FormatArg::Images => Self::Images,
        }
    }
}

/// `--header`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderArg {
    /// The first line holds names.
    Yes,
    /// It is an example.
    No,
}

impl HeaderArg {
    /// Whether there is one.
    pub(crate) fn is_there(self) -> bool {
        self == Self::Yes
    }
}

//! Arguments of the commands on models.

use std::path::PathBuf;

use clap::Args;
use invar_program::Told;
use invar_program::certify::tolerance::LIMIT;

use super::evaluate::Metric;
use crate::cli::{FormatArg, HeaderArg};

/// How files are read, where that differs from the training data.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// The format [default: that of the name, else as in training].
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatArg>,

    /// NPZ: the array of inputs [default: as in training].
    #[arg(long, value_name = "NAME")]
    inputs: Option<String>,

    /// The column or array of labels, which is left out [default: as in training].
    #[arg(long, value_name = "NAME")]
    label: Option<String>,

    /// CSV: whether the first line holds the names of the columns [default: as in training; asked when it holds numbers].
    #[arg(long, value_enum, value_name = "YES|NO")]
    header: Option<HeaderArg>,

    /// The channels of an example come last [default: as in training].
    #[arg(long)]
    channels_last: bool,
}

impl ReadingArgs {
    /// What it says about files.
    pub(crate) fn told(&self) -> Told {
        Told {
            format: self.format.map(Into::into),
            inputs: self.inputs.clone(),
            label: self.label.clone(),
            header: self.header.map(HeaderArg::is_there),
            channels_last: self.channels_last,
        }
    }
}

/// Arguments of `invar predict`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  invar predict model.invar new.npz\n  invar predict model.invar photos/ --csv > answers.csv\n  \
    invar predict model.invar cat.jpg\n  zcat new.csv.gz | invar predict model.invar - --csv\n  \
    invar predict model.invar a.csv b.csv --json | head -3"
)]
pub(crate) struct PredictArgs {
    /// The model, as `invar train` wrote it.
    pub(crate) model: PathBuf,

    /// Examples: .npz, .npy, .csv, IDX, a folder of images or a single one; - for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Print one JSON object a line (schema in docs/json.md).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print CSV with a header.
    #[arg(long)]
    pub(crate) csv: bool,
}

/// Arguments of `invar evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar evaluate model.invar test.csv\n  \
    invar evaluate model.invar photos/ --metric accuracy --at-least 0.95\n  invar evaluate model.invar x.npy --labels y.npy --json\n\n\
    Exit code 0, or 1 when the figure is beyond what was asked for: a regression test.")]
pub(crate) struct EvaluateArgs {
    /// The model, as `invar train` wrote it.
    pub(crate) model: PathBuf,

    /// Examples with their labels, all taken together: .npz, .npy, .csv, IDX, or a folder of images by class; - for standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// NPY and IDX: the file of labels.
    #[arg(long, value_name = "PATH")]
    pub(crate) labels: Option<PathBuf>,

    /// What to measure [default: accuracy, for numbers r2].
    #[arg(long, value_enum)]
    pub(crate) metric: Option<Metric>,

    /// Fail when the figure is smaller; accuracy lies between 0 and 1.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) at_least: Option<f64>,

    /// Fail when the figure is larger.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) at_most: Option<f64>,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar certify`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar certify model.invar                         # all that the model claims to keep\n  \
    invar certify model.invar --data test.npz         # the same, measured on data\n  \
    invar certify model.invar --group 'rot90(1,2)' --steps\n  \
    invar certify --onnx other.onnx --shape 3x32x32 --group 'flip(2)' --data test.npz\n\n\
    Exit code 0 when every group is certified, 1 when one is not or there is none: a regression test.")]
pub(crate) struct CertifyArgs {
    /// The model, as `invar train` wrote it.
    #[arg(required_unless_present = "onnx")]
    pub(crate) model: Option<PathBuf>,

    /// Any ONNX model of one input instead: it is measured only, on examples of --shape, for each --group.
    #[arg(long, value_name = "FILE", conflicts_with = "model", requires = "shape", requires = "group")]
    pub(crate) onnx: Option<PathBuf>,

    /// The shape of one example of the ONNX model, such as 3x28x28 or 3,28,28; with three axes it is an image from 0 to 1.
    #[arg(long, value_name = "SHAPE", requires = "onnx")]
    pub(crate) shape: Option<String>,

    /// Ask about these instead of what the model keeps: names of its candidates, or symmetries in shorthand.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) group: Vec<String>,

    /// Measure on these examples instead of random ones.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Examples to measure on.
    #[arg(long, default_value = "64", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_negative_numbers = true)]
    pub(crate) examples: u32,

    /// Billions of multiplications that it may take, by an estimate made beforehand; 300 are about a minute.
    #[arg(long, default_value_t = LIMIT, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) limit: u64,

    /// Show how each operation follows.
    #[arg(long, conflicts_with = "json")]
    pub(crate) steps: bool,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  invar export model.invar --onnx model.onnx\n  invar export model.invar --safetensors weights.safetensors"
)]
pub(crate) struct ExportArgs {
    /// The model, as `invar train` wrote it.
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

/// What is to be written: one or both.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Outputs {
    /// Write ONNX: ordinary nodes, operators of version 17, normalisation included.
    #[arg(long, value_name = "FILE")]
    pub(crate) onnx: Option<PathBuf>,

    /// Write the weights alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) safetensors: Option<PathBuf>,
}

//! What can be asked of `invar reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use invar_lab::reproduce::Budget;

use super::{MethodArg, at_least_one};

/// Arguments of `invar reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar reproduce sequences --budget quick        # about ten minutes on two cores\n  \
    invar reproduce sequences --budget standard     # two hours; stop with Ctrl-C, run again to go on\n  \
    invar reproduce sequences --budget standard --tables-only\n  \
    invar reproduce images --budget quick           # Table 1, left half, on small networks\n  \
    invar reproduce appendix-a                      # seconds\n  \
    invar reproduce screen-sequences --budget quick # the learner screen; ten minutes, 90 for standard\n  \
    invar reproduce screen-images --only 'mnist34, invariant to color'   # one row\n  \
    invar reproduce table1 --method screen --budget standard   # about three hours on two cores")]
pub(crate) struct ReproduceArgs {
    /// Which part of the paper.
    #[arg(value_enum)]
    pub(crate) what: ReproduceArg,

    /// table1: which learner to run and to show [default: cgreg].
    #[arg(long)]
    pub(crate) method: Option<MethodArg>,

    /// Run only the row of this name, such as `sum`, or else those whose name contains it, such as `mnist34, invariant to rot`.
    #[arg(long, value_name = "TEXT", conflicts_with = "tables_only")]
    pub(crate) only: Option<String>,

    /// How much: smoke (seconds), quick (ten minutes), standard (two to three hours), fold (images: all of MNIST in one fold, hours a row), paper
    /// (everything as printed).
    #[arg(long, default_value = "quick", value_parser = parse_budget)]
    pub(crate) budget: Budget,

    /// Folder for records and tables.
    #[arg(long, default_value = "results", value_name = "FOLDER")]
    pub(crate) results: PathBuf,

    /// Write tables from what is recorded; run nothing.
    #[arg(long)]
    pub(crate) tables_only: bool,

    /// Fits at once [default: number of cores].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,

    /// Print the tables as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_budget(text: &str) -> Result<Budget, String> {
    text.parse()
}

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReproduceArg {
    /// Table 1, right half, and the appendix's two tables on sequences.
    Sequences,
    /// CG-reg. on sequences with nothing behind the CG layer but the outputs, for `ablation`.
    SequencesAffine,
    /// Table 1, left half: VGG, G-CNN and CG-reg. on images.
    Images,
    /// The appendix's tables over lambda on images; shares its fits with `images`.
    ImagesLambda,
    /// CG-reg. on images with nothing behind the convolutions but the outputs, for `ablation`.
    ImagesAffine,
    /// CG-reg. on images with the lifted network and its hidden head.
    Lift,
    /// The same with the affine head; shares a file of records with `lift`.
    LiftAffine,
    /// Appendix A: invariance that does not survive another environment (seconds; one budget).
    AppendixA,
    /// The learner `screen` on sequences and graphs, beside the paper's figures.
    ScreenSequences,
    /// The learner `screen` on images with the lifted network, beside the paper's figures.
    ScreenImages,
    /// The learner `screen` on a bench of ten small tasks, beside augmentation.
    ScreenBench,
    /// How often the learner `screen` errs with networks, noise and symmetries that nearly hold (hours; resumes).
    ScreenErrors,
    /// How often its rule errs on simulated fits whose costs are known (under a minute; one budget).
    RuleErrors,
    /// Table 1 as a whole; --method screen runs and shows the learner `screen` beside the paper's.
    Table1,
    /// What network, learner and head contribute: draws together what the others have recorded.
    Ablation,
}

//! What can be asked of `invar sweep`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use invar_lab::reproduce::Budget;

use super::at_least_one;

/// Arguments of `invar sweep`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  invar sweep plan sequences --budget standard        # what is missing, and how long it takes\n  \
    invar sweep run sweeps/sequences-standard           # a worker; start as many as you like, on any machine\n  \
    invar sweep status sweeps/sequences-standard\n  \
    invar sweep submit sweeps/sequences-standard --engine slurm --at-once 20 -- --partition=short --time=1:00:00\n  \
    invar sweep gather sweeps/sequences-standard        # then: invar reproduce sequences --budget standard --tables-only"
)]
pub(crate) struct SweepArgs {
    /// What to do with a sweep.
    #[command(subcommand)]
    pub(crate) command: SweepCommand,
}

/// What can be done with a sweep.
#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Write down which fits of an experiment are missing, and estimate how long they take.
    Plan(PlanArgs),
    /// Work: claim fits, run them, and record them, until all are done. Any number of workers may share the folder.
    Run(RunArgs),
    /// Tell which fits are done, claimed, failed and open.
    Status(StatusArgs),
    /// Add the records of finished fits to the file that tables are made from.
    Gather(GatherArgs),
    /// Start workers: processes of this machine, or arrays of Slurm.
    Submit(SubmitArgs),
}

/// Arguments of `invar sweep plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Which experiment.
    #[arg(value_enum)]
    pub(crate) what: SweepArg,

    /// How much, as for `reproduce`.
    #[arg(long, default_value = "quick", value_parser = |text: &str| text.parse::<Budget>())]
    pub(crate) budget: Budget,

    /// Only the row of this name, or else those whose name contains it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// Seeds, or folds of images, from 0, instead of those of the budget.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000), allow_negative_numbers = true)]
    pub(crate) repeats: Option<u64>,

    /// Folder of what is recorded: those fits are not missing.
    #[arg(long, default_value = "results", value_name = "FOLDER")]
    pub(crate) results: PathBuf,

    /// The folder of the sweep, which workers share [default: sweeps/ and the name of the records].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How workers share.
#[derive(Debug, Args)]
pub(crate) struct SharingArgs {
    /// How long a worker may be silent until others take over its fits. On a network file system more than it keeps names in its
    /// cache, which is a minute.
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), allow_negative_numbers = true)]
    pub(crate) lease: u64,

    /// Begin fits again that have failed.
    #[arg(long)]
    pub(crate) retry_failed: bool,
}

/// Arguments of `invar sweep run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The folder of the sweep.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Only these fits, by the first digits of their names.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) only: Vec<String>,

    /// Fits at once [default: number of cores].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,

    /// How workers share.
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,

    /// The place of this worker, which no other has at the same time: its fits are taken over at once when it is begun again.
    #[arg(long, value_name = "NAME", hide = true, requires = "restart")]
    pub(crate) seat: Option<String>,

    /// How often it was begun again.
    #[arg(long, value_name = "N", hide = true, requires = "seat")]
    pub(crate) restart: Option<u64>,

    /// Tell only errors.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Arguments of `invar sweep status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The folder of the sweep.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// List every fit; without it only those that failed.
    #[arg(long)]
    pub(crate) all: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar sweep gather`.
#[derive(Debug, Args)]
pub(crate) struct GatherArgs {
    /// The folder of the sweep.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Folder for records.
    #[arg(long, default_value = "results", value_name = "FOLDER")]
    pub(crate) results: PathBuf,
}

/// Arguments of `invar sweep submit`.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// The folder of the sweep; for Slurm one that all nodes see under this name.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// What runs the workers.
    #[arg(long, value_enum, default_value_t = EngineArg::Local)]
    pub(crate) engine: EngineArg,

    /// local: processes [default: number of cores]. slurm: tasks at once [default: as many as Slurm allows].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) at_once: Option<usize>,

    /// slurm: fits of a task [default: as many as take about ten minutes, by the estimate].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) per_task: Option<usize>,

    /// slurm: how long before the time limit a task gives its fits back and is put into the queue again.
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=65_535), allow_negative_numbers = true)]
    pub(crate) notice: u64,

    /// slurm: how often that may happen to a task.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) requeues: usize,

    /// How workers share.
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,

    /// slurm: options for sbatch.
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

/// Engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// Processes on this machine; waits for them.
    Local,
    /// Arrays of Slurm, in chunks that it allows; returns at once.
    Slurm,
}

/// Experiments that consist of fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepArg {
    Sequences,
    SequencesAffine,
    Images,
    ImagesLambda,
    ImagesAffine,
    Lift,
    LiftAffine,
    ScreenSequences,
    ScreenImages,
    ScreenBench,
    ScreenErrors,
}

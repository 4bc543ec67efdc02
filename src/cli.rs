//! What can be asked for.

mod algebra;
mod overrides;
mod reading;
mod reproduce;
mod sweep;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use algebra::{GroupsArgs, LatticeArgs, VerifyArgs};
pub(crate) use overrides::{OverrideArgs, TrainingArgs, seen_from};
pub(crate) use reading::{FormatArg, HeaderArg};
pub(crate) use reproduce::{ReproduceArg, ReproduceArgs};
pub(crate) use sweep::{EngineArg, GatherArgs, PlanArgs, RunArgs, StatusArgs, SubmitArgs, SweepArg, SweepArgs, SweepCommand};

use crate::model::{CertifyArgs, EvaluateArgs, ExportArgs, PredictArgs};

/// Train networks that keep every symmetry the data does not contradict.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a project file, invar.toml, for data of your own.
    Init(InitArgs),
    /// Look at the data and the candidate symmetries of a project before any training.
    Check(CheckArgs),
    /// Train on data of your own or on a built-in task, and tell which symmetries were kept and how the network extrapolates.
    Train(TrainArgs),
    /// Write the report on a run as one web page.
    Report(ReportArgs),
    /// Regenerate tables of the paper, with its figures beside ours.
    Reproduce(ReproduceArgs),
    /// Run experiments with many fits on many machines that share a folder, or on a cluster.
    Sweep(SweepArgs),
    /// List the built-in tasks.
    Tasks(TasksArgs),
    /// Look at the data of a built-in task.
    Data(DataArgs),
    /// Measure training speed; one JSON line per workload.
    Bench(BenchArgs),
    /// Tell what candidate symmetries are: orders, orbits, what they generate, which subsets are normal.
    Groups(GroupsArgs),
    /// Build the lattice of invariant subspaces of candidate symmetries, exactly.
    Lattice(LatticeArgs),
    /// Check a certificate written by `invar lattice --certificate` again, from its data alone.
    Verify(VerifyArgs),
    /// Tell what a trained model says about examples.
    Predict(PredictArgs),
    /// Measure how good a trained model is on examples whose answers are known, and fail where it is not good enough.
    Evaluate(EvaluateArgs),
    /// Prove which symmetries a trained model has, operation by operation, and measure them.
    Certify(CertifyArgs),
    /// Write a trained model for other programs: ONNX, safetensors.
    Export(ExportArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  invar completions bash > ~/.local/share/bash-completion/completions/invar")]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Arguments of `invar init`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar init                        # a project file to fill in\n  \
    invar init --data digits.npz      # with shape, task and candidates guessed from the data\n  \
    invar init --data x.npy --labels y.npy\n  \
    invar init --data photos/ cats/invar.toml\n  \
    invar init --data train.csv --test shuffled.csv --candidates 'exchange(a,b)' --epochs 60")]
pub(crate) struct InitArgs {
    /// The project file to write; it must not exist.
    #[arg(default_value = "invar.toml", value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Training data to look at: an NPZ, NPY, CSV or IDX file, or a folder of images by class.
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,

    /// Their format, where the name does not tell.
    #[arg(long, value_enum, value_name = "FORMAT", requires = "data")]
    pub(crate) format: Option<FormatArg>,

    /// NPZ: the array of inputs.
    #[arg(long, value_name = "NAME", requires = "data")]
    pub(crate) inputs: Option<String>,

    /// CSV: the column of labels. NPZ: the array.
    #[arg(long, value_name = "NAME", requires = "data")]
    pub(crate) label: Option<String>,

    /// CSV: whether the first line holds the names of the columns; asked when it holds numbers [default: yes]. Without names the
    /// columns are called 1, 2, 3 and so on.
    #[arg(long, value_enum, value_name = "YES|NO", requires = "data")]
    pub(crate) header: Option<HeaderArg>,

    /// NPY and IDX: the file of labels.
    #[arg(long, value_name = "PATH", requires = "data")]
    pub(crate) labels: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,

    #[command(flatten)]
    pub(crate) training: TrainingArgs,
}

/// Arguments of `invar check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar check invar.toml\n  invar check --candidates 'exchange(a,b)' --set train.folds=5")]
pub(crate) struct CheckArgs {
    /// The project file.
    #[arg(default_value = "invar.toml", value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,

    #[command(flatten)]
    pub(crate) training: TrainingArgs,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar train invar.toml --out run    # data of your own; `invar init` writes the file\n  \
    invar train sensors                 # a built-in task, half a minute; invar tasks lists them all\n  \
    invar train even_minus_odd --out run           # a minute or two; stopped, it goes on from what is in the folder\n  \
    invar train invar.toml --epochs 50 --seed 1    # options go before what the file says\n  \
    invar train sum --method cgreg                 # the paper's learner: the whole grid over lambda, about a minute\n  \
    invar train even_minus_odd --method cgreg --lambda 10 --epochs 300")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct TrainArgs {
    /// A project file, or a built-in task (`invar tasks` lists those), which stands for a project on its examples. Options go before
    /// what the file says.
    #[arg(value_name = "PROJECT|TASK")]
    pub(crate) task: String,

    /// The folder for model.invar, run.json and records; a second run goes on where the first was cut short [default: TASK-run; for
    /// a project `run` beside its file, or PHOTOS-run beside a folder PHOTOS of data that holds it].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,

    /// How to decide which symmetries to keep [default: screen].
    #[arg(long, visible_alias = "learner", value_enum)]
    pub(crate) method: Option<MethodArg>,

    /// Which network [default: auto].
    #[arg(long, value_enum)]
    pub(crate) network: Option<NetworkArg>,

    /// cgreg: strength of the penalty. Without it: a grid, and the paper's rule (the largest within 5 points of the best
    /// validation accuracy).
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) lambda: Option<f64>,

    /// cgreg: which penalty [default: levels].
    #[arg(long, value_enum)]
    pub(crate) penalty: Option<PenaltyArg>,

    /// cgreg: temperature of the penalty's smooth indicator, at least 1 [default: 1, or 100 for violations].
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) temperature: Option<f64>,

    /// cgreg: what follows the CG layer [default: hidden; affine for lift and orbit].
    #[arg(long, value_enum)]
    pub(crate) head: Option<HeadArg>,

    /// cgreg: how the learning rate moves [default: constant for sequences and graphs, else one-cycle]. screen uses one-cycle.
    #[arg(long, value_enum)]
    pub(crate) schedule: Option<ScheduleArg>,

    /// What keeping symmetries may cost altogether [default: 5 percentage points of accuracy; screen on arrays 2, and for numbers
    /// on arrays 5 percent of the error that is left].
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,

    /// screen: keep only what is shown to be harmless.
    #[arg(long)]
    pub(crate) only_shown: bool,

    /// screen: folds that decide in turn; 1 for a single split, the quick look [default: 5 below 2,000 examples, else 1].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) folds: Option<usize>,

    /// screen: fit every candidate alone as well, for the picture of costs.
    #[arg(long, value_enum)]
    pub(crate) evidence: Option<EvidenceArg>,

    /// screen: compare with a plain network that is augmented by every candidate that does not hurt.
    #[arg(long)]
    pub(crate) augment: bool,

    /// Epochs of a fit [default: 150 on sequences and graphs (cgreg: 300), on arrays and images by the number of examples]. screen
    /// doubles them while the network is still learning.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) epochs: Option<usize>,

    /// Highest learning rate of Adam [default: 4e-3; cgreg: 1e-3 on sequences and graphs, 2e-3 on arrays].
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) rate: Option<f64>,

    /// Tasks: training and validation examples; at most as many are used for the test.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) examples: Option<usize>,

    /// Image tasks: what the label ignores: none, color, "rot,vflip" or "rot,color,vflip" [default: rot,vflip].
    #[arg(long, value_name = "GROUPS")]
    pub(crate) invariant: Option<String>,

    /// Tasks: positions of a sequence, or nodes of a graph.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) length: Option<usize>,

    /// Seed of everything random [default: 0].
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Fits at once [default: number of cores].
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,

    /// Tell nothing of progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print JSON (schema in docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar report`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  invar report run -o report.html")]
pub(crate) struct ReportArgs {
    /// The folder of a run of `invar train`.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// The page to write.
    #[arg(short, long, default_value = "report.html", value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Arguments of `invar tasks`.
#[derive(Debug, Args)]
pub(crate) struct TasksArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `invar data`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct DataArgs {
    /// What to do with the data.
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

/// What can be done with data.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Draw examples of an image task as a picture: what is trained on, and what is asked for in another environment.
    Show(ShowArgs),
}

/// Arguments of `invar data show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  invar data show --task mnist34 --invariant rot,vflip --png digits.png\n  \
    invar data show --task mnist --invariant none --count 24 --seed 1 --png all.png")]
pub(crate) struct ShowArgs {
    /// The image task: mnist34 or mnist.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: String,

    /// The groups that the label ignores: none, color, rot,vflip or rot,color,vflip.
    #[arg(long, default_value = "rot,vflip", value_name = "GROUPS")]
    pub(crate) invariant: String,

    /// The picture to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) png: PathBuf,

    /// Examples of each environment.
    #[arg(long, default_value = "16", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=400), allow_negative_numbers = true)]
    pub(crate) count: u16,

    /// Seed of everything random.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// Arguments of `invar bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  invar bench                                 all of them\n  invar bench images lift --seconds 5 --threads 2"
)]
pub(crate) struct BenchArgs {
    /// What to measure; without any, everything.
    #[arg(value_enum)]
    pub(crate) workloads: Vec<WorkloadArg>,

    /// For how long each.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = duration, allow_negative_numbers = true)]
    pub(crate) seconds: f64,

    /// Threads of a step; all cores without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), allow_negative_numbers = true)]
    pub(crate) threads: Option<u16>,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WorkloadArg {
    /// The VGG of six convolutions on 3x28x28, batch 64.
    Images,
    /// The same with CG-invariant filters.
    #[value(name = "images_cg")]
    ImagesCg,
    /// The p4m network 8-16-16-32, batch 64.
    Lift,
    /// The CG sequence network, batch 128.
    Sequences,
    /// The network on pairs of 10 entries, all swaps imposed, batch 128.
    #[value(name = "pairs_10")]
    Pairs10,
    /// The same with 30 entries.
    #[value(name = "pairs_30")]
    Pairs30,
}

/// A seed.
fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a whole number, 0 or more")
}

/// How many of something; zero is refused where that is known by name.
fn count(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, 1 or more")
}

/// A whole number, 1 or more.
fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|&n| n > 0).ok_or("expected a whole number, 1 or more")
}

/// Seconds, more than none.
fn duration(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && seconds.is_finite()).ok_or("expected a number above 0")
}

/// `--method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// The paper's: a penalty on every invariance that is broken, its strength chosen from a grid.
    Cgreg,
    /// Impose symmetries exactly and measure what that costs on held-out examples; keep what the data do not contradict.
    Screen,
}

/// `--network`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetworkArg {
    /// Lift for square images whose candidates it can take, else the one that learns most, by validation; cgreg: feedforward.
    Auto,
    /// Images: group convolutions with a head that decides for the whole network.
    Lift,
    /// Images: the paper's convolutions, whose filters decide.
    Cnn,
    /// Sequences and graphs: the paper's, in which a layer on all entries decides.
    Feedforward,
    /// Sequences, graphs and arrays: features of entries from weights on pairs, tied along what is imposed; screen only.
    Pairs,
    /// Short sequences and small graphs: a dense network that sees the input from every side of the group that all candidates
    /// generate, with a head that decides for the whole network; at most 256 elements.
    Orbit,
}

/// `--evidence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvidenceArg {
    /// Every candidate.
    All,
}

/// `--penalty`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PenaltyArg {
    /// The paper's: counts subspaces from the most invariant level down to the least invariant one used.
    Levels,
    /// A smooth count of the candidate groups that the layer breaks.
    Violations,
}

/// `--schedule`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ScheduleArg {
    /// Always the same, until validation loss stops improving.
    Constant,
    /// Up, then down to almost nothing at the last epoch.
    OneCycle,
}

/// `--head`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HeadArg {
    /// One hidden layer, as published.
    Hidden,
    /// None.
    Affine,
}

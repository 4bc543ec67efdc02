//! The command line as a library: reads arguments, calls a crate, prints. The program `invar` is [`run`], and so is the command of
//! the same name that comes with the Python package.

mod bench;
mod check;
mod cli;
mod data;
mod digits;
mod font;
mod groups;
mod init;
mod lattice;
mod model;
mod output;
mod progress;
mod report;
mod reproduce;
mod sheet;
mod sweep;
mod tasks;
mod together;
mod train;
mod verify;
mod view;
mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use invar_lab::queue::Stop;

use cli::{Cli, Command};

/// Set by Ctrl-C, and by the signal that asks a program to end.
static STOP: Stop = Stop::new();

/// Does what these arguments ask for, the name of the program first, and tells how it went as a program does.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let code = answer(arguments);
    // Outside of a program of its own nobody else writes out the last line. That a reader has left is told where it is written.
    let _ = std::io::stdout().flush();
    code
}

fn answer(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    bound_threads(&cli.command);
    let outcome = match cli.command {
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Tasks(args) => tasks::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Groups(args) => groups::run(&args),
        Command::Lattice(args) => lattice::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Predict(args) => model::predict(&args),
        Command::Evaluate(args) => model::evaluate(&args),
        Command::Certify(args) => model::certify(&args),
        Command::Export(args) => model::export(&args),
        Command::Completions { shell } => completions(shell),
    };
    outcome.unwrap_or_else(|error| output::report(&error))
}

/// Keeps the number of threads that the environment asks for within the cores: a hundred thousand would never get to work.
fn bound_threads(command: &Command) {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.trim().parse::<usize>().ok());
    // A bench that is told how many threads to use makes them itself.
    let told = matches!(command, Command::Bench(args) if args.threads.is_some());
    if asked.is_some_and(|asked| asked > cores) && !told {
        // It fails only where threads are there already, and then there is nothing to bound.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(cores).build_global();
    }
}

/// Made in memory: the generator panics where it cannot write.
fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "invar", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes Ctrl-C and SIGTERM stop fits in an orderly way, and fits run one to a core.
fn prepare_fits(threads: Option<usize>) -> usize {
    let _ = ctrlc::set_handler(|| stop(130));
    #[cfg(unix)]
    stop_on_termination();
    threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)).max(1)
}

/// The first time an orderly stop; a second time ends the program at once.
fn stop(code: i32) {
    if STOP.is_stopped() {
        std::process::exit(code);
    }
    STOP.stop();
}

/// What systems send to programs before they shut down, or to jobs whose time is over.
#[cfg(unix)]
fn stop_on_termination() {
    use signal_hook::{consts::SIGTERM, iterator::Signals};
    // Without it the signal ends the program, and the next run goes on from the fits that are finished.
    let Ok(mut signals) = Signals::new([SIGTERM]) else { return };
    std::thread::spawn(move || signals.forever().for_each(|_| stop(128 + SIGTERM)));
}

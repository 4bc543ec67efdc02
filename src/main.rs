//! The command line: reads arguments, calls a crate, prints.

mod cli;
mod groups;
mod lattice;
mod output;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Groups(args) => groups::run(&args),
        Command::Lattice(args) => lattice::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "invar", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|error| output::report(&error))
}

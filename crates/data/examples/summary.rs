//! Reads data of yours and prints what `Summary` knows about them:
//!
//! ```sh
//! cargo run -p invar-data --example summary -- flowers.csv classification species
//! cargo run -p invar-data --example summary -- photos classification
//! cargo run -p invar-data --example summary -- new.npz prediction
//! ```

use std::process::ExitCode;

use invar_data::{Limits, Missing, Result, Source, Summary, Task};

fn summary(path: &str, task: Task, label: Option<String>) -> Result<Summary> {
    let source = Source { label, missing: Missing::Keep, ..Source::new(path, task) };
    source.load(Limits::of_this_machine()).map(|table| Summary::of(&table))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next();
    let task = match arguments.next().as_deref() {
        Some("classification") => Some(Task::Classification),
        Some("regression") => Some(Task::Regression),
        Some("prediction") => Some(Task::Prediction),
        _ => None,
    };
    let (Some(path), Some(task)) = (path, task) else {
        eprintln!("usage: summary PATH classification|regression|prediction [LABEL]");
        return ExitCode::from(2);
    };
    match summary(&path, task, arguments.next()) {
        Ok(summary) => {
            println!("{summary:#?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

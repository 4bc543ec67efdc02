//! `invar tasks`: what there is to train on.

use std::process::ExitCode;

use anyhow::Result;
use invar_tasks::{Arrays, Graphs, Images, Sequences, Task};
use serde::Serialize;

use crate::cli::TasksArgs;
use crate::output;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    in_paper: bool,
    candidates: String,
    description: &'static str,
}

pub(crate) fn run(args: &TasksArgs) -> Result<ExitCode> {
    let row = |task: Task| {
        let (candidates, in_paper) = match task {
            Task::Sequence(task) => (Sequences::new(task).candidates(), task.in_paper()),
            Task::Image(task) => (Images::new(task).candidates(), true),
            Task::Graph(task) => (Graphs::new(task).candidates(), false),
            Task::Array(task) => (Arrays::new(task).candidates(), false),
        };
        Row { name: task.name(), in_paper, candidates: candidates.join(" "), description: task.description() }
    };
    let rows: Vec<Row> = Task::all().map(row).collect();
    if args.json {
        output::json(&rows)?;
    } else {
        let cells = |row: &Row| {
            let paper = if row.in_paper { "yes" } else { "" };
            vec![row.name.to_string(), paper.into(), row.candidates.clone(), row.description.to_string()]
        };
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        output::line(&output::table(&["task", "in the paper", "candidates", "what is predicted"], &rows, &[]))?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `invar tasks`: what there is to train on.

use std::process::ExitCode;

use anyhow::Result;
use invar_lab::problem::Data;
use invar_tasks::{SequenceTask, Task};
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
        let data = Data::by_name(task.name())?;
        let (candidates, in_paper) = match data {
            Data::Sequences(data) => (data.candidates().join(" "), SequenceTask::in_paper(data.task)),
            Data::Graphs(data) => (data.candidates().join(" "), false),
        };
        Ok(Row { name: task.name(), in_paper, candidates, description: task.description() })
    };
    let rows = Task::all().map(row).collect::<Result<Vec<_>>>()?;
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

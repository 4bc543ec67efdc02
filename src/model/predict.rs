//! `invar predict`: what a model says about examples, as they are computed.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use indicatif::ProgressBar;
use invar_data::{CsvWriter, Field, Limits, Table, printable};
use invar_program::{Program, Saved, Task};
use serde::Serialize;

use super::stdin::at_hand;
use super::{PredictArgs, check_finite};
use crate::digits::six;
use crate::output::{self, line};
use crate::progress::bar;

/// Examples that are computed before their answers are printed.
const AT_ONCE: usize = 256;

/// One example, for machines.
#[derive(Serialize)]
struct Answer<'a> {
    file: &'a str,
    example: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a [f32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f32>,
    outputs: &'a [f32],
}

/// How answers are printed.
enum Printer {
    People,
    Json,
    Csv(Box<CsvWriter<Standard>>),
}

/// A name of the user's as it is printed. JSON escapes what steers a terminal, and a file keeps it; what goes to a terminal, or through
/// a pipe that may end at one, people read.
fn name(args: &PredictArgs, name: &str) -> String {
    if args.json || args.csv && goes_to_a_file() { name.to_owned() } else { printable(name) }
}

/// Whether standard output is an ordinary file.
fn goes_to_a_file() -> bool {
    #[cfg(unix)]
    let output = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let output = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    output.map(File::from).and_then(|file| file.metadata()).is_ok_and(|found| found.is_file())
}

pub(crate) fn run(args: &PredictArgs) -> Result<ExitCode> {
    let model = Saved::load(&args.model)?;
    let program = model.whole()?;
    let classes: Vec<String> = match &model.task {
        Task::Regression => Vec::new(),
        Task::Classification { classes } => classes.iter().map(|class| name(args, class)).collect(),
    };
    let mut printer = match (args.json, args.csv) {
        (true, _) => Printer::Json,
        (_, true) => Printer::Csv(Box::new(CsvWriter::new(Standard, &header(&classes))?)),
        _ => Printer::People,
    };
    for path in &args.files {
        let file = at_hand(path, &model.reading, args.reading.told().format)?;
        let table = file.named(model.read(&args.reading.told(), file.path(), Limits::of_this_machine())?);
        table.notes.iter().for_each(|note| output::warning(&printable(note)));
        let bar = progress(table.len(), path);
        let source = name(args, file.shown(&table.source));
        let named = Named { source: &source, classes: &classes, example: &|index| name(args, &table.name_of(index)) };
        for start in (0..table.len()).step_by(AT_ONCE) {
            print(&mut printer, &named, &program, &table, start)?;
            bar.inc(AT_ONCE as u64);
        }
        bar.finish_and_clear();
    }
    if let Printer::Csv(writer) = printer {
        writer.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A bar while the answers go somewhere else; on a terminal they are their own progress.
fn progress(examples: usize, path: &Path) -> ProgressBar {
    if io::stdout().is_terminal() { ProgressBar::hidden() } else { bar(examples, &output::shown(path)) }
}

/// What things are called where they are printed.
struct Named<'a> {
    /// The file.
    source: &'a str,
    /// None for regression.
    classes: &'a [String],
    /// An example, by its position.
    example: &'a dyn Fn(usize) -> String,
}

fn header(classes: &[String]) -> Vec<&str> {
    match classes {
        [] => vec!["file", "example", "value"],
        classes => ["file", "example", "class"].into_iter().chain(classes.iter().map(String::as_str)).collect(),
    }
}

/// Computes and prints some examples from `start` on.
fn print(printer: &mut Printer, named: &Named<'_>, program: &Program, table: &Table, start: usize) -> Result<()> {
    let end = table.len().min(start + AT_ONCE);
    let outputs = program.run(&table.inputs[start * table.width()..end * table.width()])?;
    check_finite(&outputs, end - start, |index| format!("{}: example {}", table.source, table.name_of(start + index)))?;
    let each = outputs.len() / (end - start);
    let mut text = String::new();
    for (index, outputs) in (start..end).zip(outputs.chunks(each)) {
        let example = &(named.example)(index);
        let probabilities = softmax(outputs);
        let mut answer = Answer { file: named.source, example, class: None, probabilities: None, value: None, outputs };
        if named.classes.is_empty() {
            answer.value = outputs.first().copied();
        } else {
            answer.class = named.classes.get(largest(outputs)).map(String::as_str);
            answer.probabilities = Some(&probabilities);
        }
        match printer {
            Printer::People => text.push_str(&shown(&answer, largest(outputs))),
            Printer::Json => {
                text.push_str(&output::safe_json(&serde_json::to_string(&answer)?));
                text.push('\n');
            }
            Printer::Csv(writer) => writer.row(&fields(&answer))?,
        }
    }
    if text.is_empty() { Ok(()) } else { line(text.trim_end_matches('\n')) }
}

/// `photos  a.png  cat  98.1 %`.
fn shown(answer: &Answer, best: usize) -> String {
    let what = match (answer.class, answer.probabilities, answer.value) {
        (Some(class), Some(shares), _) => format!("{class}  {:.1} %", 100.0 * shares[best]),
        (_, _, value) => value.map(|value| six(f64::from(value))).unwrap_or_default(),
    };
    format!("{}  {}  {what}\n", answer.file, answer.example)
}

fn fields<'a>(answer: &Answer<'a>) -> Vec<Field<'a>> {
    let mut fields = vec![Field::Text(answer.file), Field::Text(answer.example)];
    fields.extend(answer.class.map(Field::Text));
    fields.extend(answer.probabilities.into_iter().flatten().map(|&share| Field::Number(share)));
    fields.extend(answer.value.map(Field::Number));
    fields
}

fn largest(values: &[f32]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

fn softmax(scores: &[f32]) -> Vec<f32> {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (score - top).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// Standard output. A reader that stops reading, such as `head`, ends the program quietly.
struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match io::stdout().write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            done => done,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match io::stdout().flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            done => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_large_scores() {
        let shares = softmax(&[1000.0, 1000.0, 0.0]);
        assert!((shares[0] - 0.5).abs() < 1e-6 && shares[2] < 1e-6);
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
    }
}

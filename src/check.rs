//! `invar check`: data and candidates of a project before any training.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use invar_data::{Missing, Range, printable};
use invar_lab::project::{Findings, Loaded, Project, Severity};

use crate::cli::CheckArgs;
use crate::digits::six;
use crate::output::{self, count, line, order, strong, thousands};

/// Most rows printed for people.
const SHOWN: usize = 20;
/// Most sets of candidates shown that are not normal.
const SETS_SHOWN: usize = 3;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut settings = args.overrides.settings(&args.file)?;
    settings.extend(args.training.settings());
    let project = Project::read_with(&args.file, &settings)?;
    let loaded = Loaded::load(project, Missing::Keep)?;
    let findings = Findings::of(&loaded)?;
    if args.json {
        output::json(&findings)?;
    } else {
        line(&render(&findings))?;
    }
    Ok(ExitCode::from(u8::from(!findings.is_sound())))
}

fn render(findings: &Findings) -> String {
    let mut text = vec![splits(findings), String::new(), classes(findings)];
    text.push(format!("{}: {}\n", strong("network"), findings.architecture.describe()));
    text.push(candidates(findings));
    text.push(String::new());
    let mark = |severity| match severity {
        Severity::Error => output::red("error"),
        Severity::Warning => output::yellow("warning"),
        Severity::Note => "note".to_string(),
    };
    text.extend(findings.findings.iter().map(|finding| format!("{}: {}", mark(finding.severity), printable(&finding.text))));
    let verdict = if findings.is_sound() { "ready to train" } else { "not fit to train on: see the errors above" };
    text.push(format!("\n{}", strong(verdict)));
    text.join("\n")
}

fn splits(findings: &Findings) -> String {
    let range =
        |range: Option<Range>| range.map_or("-".into(), |r| format!("{} to {}", six(f64::from(r.min)), six(f64::from(r.max))));
    let rows: Vec<Vec<String>> = findings
        .splits
        .iter()
        .map(|split| {
            let summary = &split.summary;
            let labels =
                if summary.classes.is_empty() { range(summary.targets) } else { format!("{} classes", summary.classes.len()) };
            let numbers = [summary.missing + summary.infinite, summary.duplicates, split.shared].map(|n| thousands(&n));
            let first = [split.part.to_string(), thousands(&summary.examples), range(summary.inputs), labels];
            first.into_iter().chain(numbers).collect()
        })
        .collect();
    let header = ["data", "examples", "inputs", "labels", "missing", "repeated", "in training"];
    format!("examples of shape {}\n{}", findings.shape, output::table(&header, &rows, &[1, 4, 5, 6]))
}

/// Classes with their counts in each part.
fn classes(findings: &Findings) -> String {
    let names = &findings.splits[0].summary.classes;
    if names.is_empty() {
        return String::new();
    }
    let row = |k: usize| {
        let counts = findings.splits.iter().map(|split| thousands(&split.summary.classes[k].count));
        std::iter::once(names[k].name.clone()).chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = (0..names.len().min(SHOWN)).map(row).collect();
    let header: Vec<&str> = std::iter::once("class").chain(findings.splits.iter().map(|split| split.part)).collect();
    let mut text = output::table(&header, &rows, &[1, 2, 3]);
    if names.len() > SHOWN {
        let _ = write!(text, "\n... and {} more (all of them with --json)", names.len() - SHOWN);
    }
    text + "\n"
}

fn candidates(findings: &Findings) -> String {
    let all = &findings.candidates;
    let orbits = |orbits: Option<usize>| orbits.map_or("-".into(), |n| thousands(&n));
    let rows: Vec<Vec<String>> =
        all.iter().take(SHOWN).map(|c| vec![c.name.clone(), order(&c.order), orbits(c.orbits)]).collect();
    let mut text = vec![output::table(&["candidate", "order", "orbits"], &rows, &[1, 2])];
    if all.len() > SHOWN {
        text.push(format!("... and {} more (all of them with --json)", all.len() - SHOWN));
    }
    if let Some(together) = &findings.order {
        text.push(format!("together they generate a group of order {}", order(together)));
    }
    let not = &findings.not_normal;
    if findings.sets > 0 {
        let normal = findings.sets - not.len();
        text.push(format!(
            "{normal} of {} are normal in the whole (Theorem 2: invariance to such a set is enough)",
            count(findings.sets, "set")
        ));
    }
    for set in not.iter().take(SETS_SHOWN) {
        text.push(format!("  not {{{}}}: {}", printable(&set.names.join(", ")), printable(&set.witness)));
    }
    if not.len() > SETS_SHOWN {
        text.push(format!("  ... and {} more (all of them with --json)", not.len() - SETS_SHOWN));
    }
    text.join("\n")
}

//! `invar evaluate`: how good a model is on examples whose answers are known, as a check that can fail.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use invar_data::{Labels, Limits, Table, printable};
use invar_lab::stats::proportion;
use invar_program::{Program, Saved, Task};
use serde::Serialize;

use super::args::EvaluateArgs;
use super::check_finite;
use super::stdin::at_hand;
use crate::digits::six;
use crate::output::{self, count, line};

/// Examples that are computed at once.
const AT_ONCE: usize = 256;

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metric {
    /// The share of right answers, from 0 to 1.
    Accuracy,
    /// The mean over the classes of the share of right answers among their examples.
    BalancedAccuracy,
    /// The share of the variance that is explained.
    R2,
    /// The root of the mean squared error.
    Rmse,
    /// The mean absolute error.
    Mae,
}

impl Metric {
    fn is_of_classes(self) -> bool {
        matches!(self, Self::Accuracy | Self::BalancedAccuracy)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced accuracy",
            Self::R2 => "R2",
            Self::Rmse => "RMSE",
            Self::Mae => "MAE",
        }
    }
}

/// A figure for machines.
#[derive(Serialize)]
struct Figure {
    metric: &'static str,
    value: f64,
    /// Wilson's 95 % interval, of accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
    examples: usize,
    /// Whether it is within the bounds asked for.
    passed: bool,
}

pub(crate) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let model = Saved::load(&args.model)?;
    let program = model.whole()?;
    let regression = model.task == Task::Regression;
    let metric = args.metric.unwrap_or(if regression { Metric::R2 } else { Metric::Accuracy });
    if metric.is_of_classes() == regression {
        let (what, fit) = if regression { ("numbers", "r2, rmse or mae") } else { ("classes", "accuracy or balanced-accuracy") };
        let got = metric.name().to_owned();
        let expected = format!("{fit} for a model that answers with {what}");
        return Err(invar_lab::Error::Setting { name: "--metric", expected, got }.into());
    }
    let mut pairs = Vec::new();
    for path in &args.files {
        let file = at_hand(path, &model.reading, args.reading.told().format)?;
        let table = model.read_labelled(&args.reading.told(), args.labels.as_deref(), file.path(), Limits::of_this_machine())?;
        table.notes.iter().for_each(|note| output::warning(&printable(note)));
        pairs.extend(answers(&program, &table)?);
    }
    let figure = measure(metric, &pairs, args);
    if args.json {
        output::json(&figure)?;
    } else {
        line(&shown(&figure, args))?;
    }
    Ok(ExitCode::from(u8::from(!figure.passed)))
}

/// What is true of each example, and what the model says.
fn answers(program: &Program, table: &Table) -> Result<Vec<(f64, f64)>> {
    let mut said = Vec::with_capacity(table.len());
    for start in (0..table.len()).step_by(AT_ONCE) {
        let end = table.len().min(start + AT_ONCE);
        let outputs = program.run(&table.inputs[start * table.width()..end * table.width()])?;
        check_finite(&outputs, end - start, |index| format!("{}: example {}", table.source, table.name_of(start + index)))?;
        let best = |scores: &[f32]| (0..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best }) as f64;
        let each = outputs.len() / (end - start);
        let classes = matches!(table.labels, Labels::Classes { .. });
        said.extend(outputs.chunks(each).map(|scores| if classes { best(scores) } else { f64::from(scores[0]) }));
    }
    let known: Vec<f64> = match &table.labels {
        Labels::Classes { values, .. } => values.iter().map(|&class| class as f64).collect(),
        Labels::Values(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Labels::None => return Err(anyhow!("{}: no labels to compare with", table.source)),
    };
    Ok(known.into_iter().zip(said).collect())
}

fn measure(metric: Metric, pairs: &[(f64, f64)], args: &EvaluateArgs) -> Figure {
    let count = pairs.len();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count as f64;
    let squares = || mean(&mut pairs.iter().map(|(known, said)| (known - said).powi(2)));
    let right = |pairs: &[(f64, f64)]| pairs.iter().filter(|(known, said)| known.total_cmp(said).is_eq()).count();
    let mut interval = None;
    let value = match metric {
        Metric::Accuracy => {
            interval = Some(proportion(right(pairs), count));
            right(pairs) as f64 / count as f64
        }
        Metric::BalancedAccuracy => {
            let mut sorted = pairs.to_vec();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let shares: Vec<f64> = sorted
                .chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
                .map(|class| right(class) as f64 / class.len() as f64)
                .collect();
            shares.iter().sum::<f64>() / shares.len() as f64
        }
        Metric::R2 => {
            let centre = mean(&mut pairs.iter().map(|(known, _)| *known));
            1.0 - squares() / mean(&mut pairs.iter().map(|(known, _)| (known - centre).powi(2)))
        }
        Metric::Rmse => squares().sqrt(),
        Metric::Mae => mean(&mut pairs.iter().map(|(known, said)| (known - said).abs())),
    };
    // No number is within no bounds, as where all labels are the same and R2 is none.
    let passed = args.at_least.is_none_or(|bound| value >= bound) && args.at_most.is_none_or(|bound| value <= bound);
    Figure { metric: metric.name(), value, interval, examples: count, passed }
}

fn shown(figure: &Figure, args: &EvaluateArgs) -> String {
    let Figure { metric, value, interval, examples, passed } = figure;
    let interval = interval.map(|[low, high]| format!(" (95 % interval {} to {})", six(low), six(high))).unwrap_or_default();
    let bound = match (args.at_least, args.at_most) {
        (None, None) => return format!("{metric} {} on {}{interval}", six(*value), count(*examples, "example")),
        (Some(low), None) => format!("at least {}", six(low)),
        (None, Some(high)) => format!("at most {}", six(high)),
        (Some(low), Some(high)) => format!("{} to {}", six(low), six(high)),
    };
    let verdict = if *passed { "passed" } else { "FAILED" };
    format!("{metric} {} on {}{interval}; {verdict}: asked for {bound}", six(*value), count(*examples, "example"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: EvaluateArgs,
    }

    fn of(metric: Metric, pairs: &[(f64, f64)], more: &[&str]) -> Figure {
        let Line { args } = Line::parse_from([&["invar", "m", "f"], more].concat());
        measure(metric, pairs, &args)
    }

    #[test]
    fn figures_are_those_of_their_definitions() {
        let classes = [(0.0, 0.0), (0.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
        let value = |metric| of(metric, &classes, &[]).value;
        assert!((value(Metric::Accuracy) - 0.75).abs() < 1e-12);
        assert!((value(Metric::BalancedAccuracy) - f64::midpoint(2.0 / 3.0, 1.0)).abs() < 1e-12);
        let numbers = [(1.0, 1.0), (2.0, 4.0), (3.0, 3.0)];
        let value = |metric| of(metric, &numbers, &[]).value;
        assert!((value(Metric::Rmse) - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((value(Metric::Mae) - 2.0 / 3.0).abs() < 1e-12);
        assert!((value(Metric::R2) - (1.0 - 4.0 / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn bounds_decide() {
        let classes = [(0.0, 0.0), (0.0, 1.0)];
        let passed = |more: &[&str]| of(Metric::Accuracy, &classes, more).passed;
        assert!(passed(&[]) && passed(&["--at-least", "0.5"]) && !passed(&["--at-least", "0.51"]));
        assert!(passed(&["--at-most", "0.5"]) && !passed(&["--at-most", "0.49"]));
        let none = of(Metric::R2, &[(1.0, 1.0), (1.0, 2.0)], &["--at-least=-100"]);
        assert!(!none.value.is_finite() && !none.passed);
    }
}

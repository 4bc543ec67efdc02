//! `invar certify`: proofs and measurements of the symmetries that a model claims to keep.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use invar_algebra::{Group, Shape, candidates};
use invar_data::{Limits, printable};
use invar_program::certify::numeric::{self, Deviations};
use invar_program::certify::{Certificate, Range, certificate_cost, certify_on, tolerance};
use invar_program::{Input, Interpreter, Reading, Saved};
use serde::Serialize;

use super::export::sides;
use super::{CertifyArgs, check_finite};
use crate::output::{self, line, table, thousands};
use crate::progress::bar;

/// Seed of the random examples: the same model has the same certificate.
const SEED: u64 = 0;

/// What was found about all groups, for machines.
#[derive(Serialize)]
struct Answer {
    model: String,
    /// Whether there are groups, and each is.
    certified: bool,
    /// A bound is small up to this part of what an output runs through.
    bound_share: f64,
    /// Part of the largest output that counts as rounding, where that is not computed.
    output_tolerance: f64,
    /// What was measured on: files, or nothing for random examples.
    data: Vec<String>,
    examples: usize,
    groups: Vec<Found>,
}

/// What was found about one group.
#[derive(Serialize)]
struct Found {
    name: String,
    /// Whether the model claims to keep it.
    kept: bool,
    /// What is known, in a word.
    result: Outcome,
    /// Proved, where that was tried, and measured to hold.
    certified: bool,
    /// Nothing for the models of others, which are only measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Certificate>,
    measured: Deviations,
}

/// What proof and measurement say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// Exactly.
    Proved,
    /// Up to a bound.
    ProvedWithin,
    NotProved,
    /// An input contradicts the proof: one of the two is wrong, and it counts for nothing.
    Contradicted,
    /// Nothing was proved, but measured to hold.
    Holds,
    /// The same, measured not to hold.
    Changes,
}

impl Outcome {
    fn of(proof: Option<&Certificate>, measured: &Deviations) -> Self {
        match (proof, measured.holds()) {
            (None, true) => Self::Holds,
            (None, false) => Self::Changes,
            (Some(proof), _) if !proof.is_proved() => Self::NotProved,
            (Some(_), false) => Self::Contradicted,
            (Some(proof), true) => {
                if proof.is_exact() {
                    Self::Proved
                } else {
                    Self::ProvedWithin
                }
            }
        }
    }

    fn is_certified(self) -> bool {
        matches!(self, Self::Proved | Self::ProvedWithin | Self::Holds)
    }
}

pub(crate) fn run(args: &CertifyArgs) -> Result<ExitCode> {
    let (answer, head) = match (&args.model, &args.onnx) {
        (Some(path), _) => saved(args, path)?,
        (None, Some(path)) => onnx(args, path)?,
        (None, None) => return Err(anyhow!("neither a model nor an ONNX file was named")),
    };
    if args.json {
        output::json(&answer)?;
    } else {
        line(&render(&answer, &head, args.steps))?;
    }
    Ok(ExitCode::from(u8::from(!answer.certified)))
}

/// Proofs and measurements of a model, and a line about it.
fn saved(args: &CertifyArgs, path: &Path) -> Result<(Answer, String)> {
    let model = Saved::load(path)?;
    let program = model.whole()?;
    let groups = groups(&model, &args.group)?;
    let examples = Examples::read(args, &program.input, &model.reading)?;
    let all: Vec<Group> = groups.iter().map(|(group, _)| group.clone()).collect();
    check_cost(args, certificate_cost(&program, &all, examples.inputs.len() / program.inputs())?)?;
    examples.check(|x| program.run(x))?;
    // Random examples lie in the usual range; those of files may not.
    let range = Range::of(&program, if args.data.is_empty() { &[] } else { &examples.inputs });
    let rounds = numeric::rounds(&program, all.iter().map(|group| group.generators().len()).sum())?;
    let examples = examples.inputs;
    let found = each(&groups, |group| {
        let proof = certify_on(&program, group, range)?;
        let measured = numeric::measure(&program, group, Some(&proof), &examples, rounds)?;
        Ok((Some(proof), measured))
    })?;
    let head = format!(
        "{} {}, {}, {} weights",
        program.input.kind(),
        sides(&program),
        output::count(program.operations(), "operation"),
        thousands(&program.parameters())
    );
    Ok((Answer::new(args, path, examples.len() / program.inputs(), found), head))
}

/// Refuses what would take too long, before it is begun.
fn check_cost(args: &CertifyArgs, multiplications: f64) -> Result<()> {
    let billions = multiplications / 1e9;
    if billions <= args.limit as f64 {
        return Ok(());
    }
    let expected = format!(
        "at least {:.0}, the billions of multiplications that this certificate takes by estimate (fewer with fewer \
         --examples, or one --group at a time)",
        billions.ceil()
    );
    Err(invar_lab::Error::Setting { name: "--limit", expected, got: args.limit.to_string() }.into())
}

/// Measurements of an ONNX model of anybody.
fn onnx(args: &CertifyArgs, path: &Path) -> Result<(Answer, String)> {
    let shape: Shape = args.shape.as_deref().unwrap_or_default().replace(',', "x").parse()?;
    let groups: Vec<(Group, bool)> =
        candidates(&shape, args.group.iter().map(String::as_str))?.into_iter().map(|group| (group, false)).collect();
    let model = Interpreter::load(path, Limits::of_this_machine())?.within(args.limit);
    if model.takes_integers() && args.data.is_empty() {
        let expected = format!("given: {} takes whole numbers, and random examples are none", output::shown(path));
        return Err(invar_lab::Error::Setting { name: "--data", expected, got: "nothing".into() }.into());
    }
    let input = match *shape.sides() {
        [channels, height, width] => Input::Images { channels, height, width },
        _ => Input::Array { shape: shape.sides().to_vec() },
    };
    let examples = Examples::read(args, &input, &Reading::default())?;
    model.check_shape(shape.sides())?;
    // Whole numbers of a meaning that is not known here cannot be searched among.
    let search = !model.takes_integers();
    let generators: usize = groups.iter().map(|(group, _)| group.generators().len()).sum();
    let runs = generators * numeric::runs_of_others(examples.inputs.len() / shape.len(), search);
    check_cost(args, runs as f64 * model.cost(shape.sides())?)?;
    let run = |x: &[f32]| model.run(shape.sides(), x);
    examples.check(run)?;
    let examples = examples.inputs;
    let found = each(&groups, |group| Ok((None, numeric::deviations_of(run, &input, group, &examples, search)?)))?;
    let head = format!("ONNX, {shape}; measured only, nothing is proved");
    Ok((Answer::new(args, path, examples.len() / shape.len(), found), head))
}

/// Asks about every group.
fn each(groups: &[(Group, bool)], ask: impl Fn(&Group) -> Result<(Option<Certificate>, Deviations)>) -> Result<Vec<Found>> {
    let progress = bar(groups.len(), "groups");
    let mut found = Vec::new();
    for (group, kept) in groups {
        let (proof, measured) = ask(group)?;
        let result = Outcome::of(proof.as_ref(), &measured);
        let certified = result.is_certified();
        found.push(Found { name: group.name().to_owned(), kept: *kept, result, certified, proof, measured });
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(found)
}

impl Answer {
    fn new(args: &CertifyArgs, path: &Path, examples: usize, groups: Vec<Found>) -> Self {
        Self {
            model: path.display().to_string(),
            certified: !groups.is_empty() && groups.iter().all(|group| group.certified),
            bound_share: tolerance::WITHIN,
            output_tolerance: tolerance::TOLERANCE,
            data: args.data.iter().map(|path| path.display().to_string()).collect(),
            examples,
            groups,
        }
    }
}

/// The groups asked about, each with whether the model claims to keep it.
fn groups(model: &Saved, asked: &[String]) -> Result<Vec<(Group, bool)>> {
    let known = model.groups()?;
    if asked.is_empty() {
        return Ok(known.into_iter().filter(|(_, member)| member.kept).map(|(group, _)| (group, true)).collect());
    }
    let shape = model.program.input.shape()?;
    let mut groups = Vec::new();
    for text in asked {
        if let Some((group, member)) = known.iter().find(|(group, _)| group.name() == text) {
            groups.push((group.clone(), member.kept));
            continue;
        }
        let names: Vec<&str> = known.iter().map(|(group, _)| group.name()).collect();
        let made = candidates(&shape, [text.as_str()]).with_context(|| {
            let has = if names.is_empty() { "no candidates".into() } else { names.join(", ") };
            format!("`{text}` is no candidate of this model (it has {has})")
        })?;
        let kept = |group: &Group| known.iter().any(|(other, member)| member.kept && other.is_same_as(group));
        groups.extend(made.into_iter().map(|group| (kept(&group), group)).map(|(kept, group)| (group, kept)));
    }
    Ok(groups)
}

/// What is measured on: the first examples of the files, or random ones.
struct Examples {
    inputs: Vec<f32>,
    /// What each example of the files is called.
    names: Vec<String>,
}

impl Examples {
    fn read(args: &CertifyArgs, input: &Input, reading: &Reading) -> Result<Self> {
        let (count, sides, limits) = (args.examples as usize, input.sides(), Limits::of_this_machine());
        let most = numeric::most_examples(input, limits);
        if args.data.is_empty() && count > most {
            let expected = format!("at most {} for the memory that is free", thousands(&most));
            return Err(invar_lab::Error::Setting { name: "--examples", expected, got: thousands(&count) }.into());
        }
        if args.data.is_empty() {
            return Ok(Self { inputs: numeric::random(input, count, SEED), names: Vec::new() });
        }
        let mut all = Self { inputs: Vec::new(), names: Vec::new() };
        for path in &args.data {
            let table = reading.read(&reading.source(&args.reading.told(), path)?, &sides, limits)?;
            all.names.extend((0..table.len()).map(|index| format!("{}: example {}", table.source, table.name_of(index))));
            all.inputs.extend(table.inputs);
        }
        all.names.truncate(count);
        all.inputs.truncate(count.saturating_mul(sides.iter().product()));
        Ok(all)
    }

    /// Refuses examples of the user's with outputs that cannot be compared.
    fn check(&self, run: impl Fn(&[f32]) -> invar_program::Result<Vec<f32>>) -> Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        check_finite(&run(&self.inputs)?, self.names.len(), |index| self.names[index].clone())
    }
}

fn render(answer: &Answer, head: &str, steps: bool) -> String {
    let head = format!("{}: {head}", printable(&answer.model));
    if answer.groups.is_empty() {
        return format!("{head}\nthe model keeps no symmetry: nothing to certify (ask about others with --group)");
    }
    let source = match &answer.data[..] {
        [] => output::count(answer.examples, "random example"),
        files => format!("{} of {}", output::count(answer.examples, "example"), printable(&files.join(", "))),
    };
    let proofs = answer.groups.iter().any(|found| found.proof.is_some());
    let measure = if proofs {
        format!("weights count as equal to the last bit; measured on {source} and on what a search from there finds")
    } else {
        format!(
            "outputs count as equal within {:.0e}, on {source} and on what a search from there finds",
            answer.output_tolerance
        )
    };
    let groups = output::count(answer.groups.len(), "group");
    let count = answer.groups.iter().filter(|found| found.certified).count();
    let (table, verdict) = if proofs {
        (proof_table(&answer.groups), format!("certified {count} of {groups}"))
    } else {
        (measure_table(&answer.groups), format!("measured to hold: {count} of {groups}"))
    };
    let mut parts = vec![format!("{head}\n{measure}"), table];
    parts.extend(
        answer
            .groups
            .iter()
            .filter(|found| steps || !matches!(found.result, Outcome::Proved | Outcome::Holds))
            .map(|found| why(found, steps)),
    );
    parts.push(verdict);
    parts.join("\n\n")
}

fn proof_table(groups: &[Found]) -> String {
    let row = |found: &Found| {
        let within = found.proof.as_ref().and_then(Certificate::within);
        let proof = match (found.result, within) {
            (Outcome::Proved, _) => "proved".into(),
            (Outcome::ProvedWithin, Some(within)) => format!("within {:.0e}", within.change),
            (Outcome::Contradicted, _) => "contradicted".into(),
            _ => "not proved".into(),
        };
        vec![found.name.clone(), yes(found.kept), proof, format!("{:.0e}", found.measured.relative()), yes(found.certified)]
    };
    let header = ["group", "kept", "proof", "outputs change by", "certified"];
    table(&header, &groups.iter().map(row).collect::<Vec<_>>(), &[3])
}

/// Where nothing is proved.
fn measure_table(groups: &[Found]) -> String {
    let row = |found: &Found| vec![found.name.clone(), format!("{:.0e}", found.measured.relative()), yes(found.measured.holds())];
    table(&["group", "outputs change by", "holds"], &groups.iter().map(row).collect::<Vec<_>>(), &[1])
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.into()
}

/// What a verdict rests on, and how the walk went.
fn why(found: &Found, steps: bool) -> String {
    let mut lines: Vec<String> = if found.result == Outcome::Contradicted {
        vec![format!("{}: not certified, a measurement contradicts the proof: please report this", found.name)]
    } else {
        found.proof.iter().map(ToString::to_string).collect()
    };
    if found.proof.as_ref().is_some_and(|proof| !proof.is_proved()) && found.measured.holds() {
        lines.push("  measured, outputs do not change: it may hold for reasons that no single operation shows".into());
    }
    if !found.measured.holds() {
        lines.push(format!("  measured, {}", found.measured));
    }
    for proof in found.proof.iter().flat_map(|proof| &proof.generators).filter(|_| steps) {
        lines.push(format!("  {}", proof.generator));
        lines.extend(proof.steps.iter().map(|step| format!("    {} {}: {}", step.op, step.name, step.how)));
        lines
            .extend(proof.broken.iter().map(|broken| format!("    {} {}: breaks it: {}", broken.op, broken.name, broken.reason)));
    }
    lines.join("\n")
}

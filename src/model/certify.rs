//! `invar certify`: proofs and measurements of the symmetries that a model claims to keep.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use invar_algebra::{Group, candidates};
use invar_data::Limits;
use invar_program::certify::numeric::{self, Deviations};
use invar_program::certify::{self, Certificate, certify};
use invar_program::{Program, Saved};
use serde::Serialize;

use super::CertifyArgs;
use super::export::sides;
use crate::output::{self, line, table, thousands};
use crate::reproduce::bar;

/// Seed of the random examples: the same model has the same certificate.
const SEED: u64 = 0;

/// What was found about all groups, for machines.
#[derive(Serialize)]
struct Answer {
    model: String,
    certified: bool,
    /// Part of the largest weight of an operation that counts as rounding.
    weight_tolerance: f64,
    /// Part of the largest output that counts as rounding.
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
    certified: bool,
    proof: Certificate,
    measured: Deviations,
}

pub(crate) fn run(args: &CertifyArgs) -> Result<ExitCode> {
    let model = Saved::load(&args.model)?;
    let program = model.whole()?;
    let groups = groups(&model, &args.group)?;
    let examples = examples(args, &model, &program)?;
    let progress = bar(groups.len(), "groups");
    let mut found = Vec::new();
    for (group, kept) in &groups {
        let (proof, measured) = (certify(&program, group)?, numeric::deviations(&program, group, &examples)?);
        let certified = proof.is_proved() && measured.holds();
        found.push(Found { name: group.name().to_owned(), kept: *kept, certified, proof, measured });
        progress.inc(1);
    }
    progress.finish_and_clear();
    let answer = Answer {
        model: args.model.display().to_string(),
        certified: found.iter().all(|group| group.certified),
        weight_tolerance: certify::TOLERANCE,
        output_tolerance: numeric::TOLERANCE,
        data: args.data.iter().map(|path| path.display().to_string()).collect(),
        examples: examples.len() / program.inputs(),
        groups: found,
    };
    if args.json {
        output::json(&answer)?;
    } else {
        line(&render(&answer, &program, args.steps))?;
    }
    Ok(ExitCode::from(u8::from(!answer.certified)))
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
fn examples(args: &CertifyArgs, model: &Saved, program: &Program) -> Result<Vec<f32>> {
    let count = args.examples as usize;
    if args.data.is_empty() {
        return Ok(numeric::random(&program.input, count, SEED));
    }
    let mut examples = Vec::new();
    for path in &args.data {
        examples.extend(read(args, model, path)?);
    }
    examples.truncate(count * program.inputs());
    Ok(examples)
}

fn read(args: &CertifyArgs, model: &Saved, path: &Path) -> Result<Vec<f32>> {
    Ok(model.read_as(&args.reading.of(model), path, Limits::of_this_machine())?.inputs)
}

fn render(answer: &Answer, program: &Program, steps: bool) -> String {
    let mut text = format!(
        "{}: {} {}, {}, {} weights\n",
        answer.model,
        program.input.kind(),
        sides(program),
        output::count(program.ops.len(), "operation"),
        thousands(&program.parameters())
    );
    if answer.groups.is_empty() {
        text += "the model keeps no symmetry: nothing to certify (ask about others with --group)";
        return text;
    }
    let source =
        if answer.data.is_empty() { "random examples".to_owned() } else { format!("examples of {}", answer.data.join(", ")) };
    text += &format!(
        "weights count as equal within {:.0e} of the largest; outputs within {:.0e}, on {} {source}\n\n",
        answer.weight_tolerance, answer.output_tolerance, answer.examples
    );
    let rows: Vec<Vec<String>> = answer.groups.iter().map(row).collect();
    text += &table(&["group", "kept", "proof", "weights differ by", "outputs change by", "certified"], &rows, &[3, 4]);
    for found in &answer.groups {
        if steps || !found.certified {
            text += &format!("\n\n{}", why(found, steps));
        }
    }
    let count = answer.groups.iter().filter(|found| found.certified).count();
    text + &format!("\n\ncertified {count} of {}", output::count(answer.groups.len(), "group"))
}

fn row(found: &Found) -> Vec<String> {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    vec![
        found.name.clone(),
        yes(found.kept),
        if found.proof.is_proved() { "proved".into() } else { "not proved".into() },
        if found.proof.is_proved() { format!("{:.0e}", found.proof.largest_difference()) } else { "-".into() },
        format!("{:.0e}", found.measured.relative()),
        yes(found.certified),
    ]
}

/// What a verdict rests on, and how the walk went.
fn why(found: &Found, steps: bool) -> String {
    let mut lines = vec![found.proof.to_string()];
    if !found.certified && found.measured.holds() {
        lines.push("  measured, outputs do not change: it may hold for reasons that no single operation shows".into());
    }
    if !found.measured.holds() {
        lines.push(format!("  measured, {}", found.measured));
    }
    for proof in found.proof.generators.iter().filter(|_| steps) {
        lines.push(format!("  {}", proof.generator));
        lines.extend(proof.steps.iter().map(|step| format!("    {} {}: {}", step.op, step.name, step.how)));
        lines
            .extend(proof.broken.iter().map(|broken| format!("    {} {}: breaks it: {}", broken.op, broken.name, broken.reason)));
    }
    lines.join("\n")
}

//! `invar lattice`: the subspaces of weights by how much invariance they have.

use std::process::ExitCode;

use anyhow::Result;
use invar_algebra::{Check, Error, Group, GroupSet, Lattice, Options, SparseVector, Subspace, left_fixed_space, warnings};
use invar_data::Limits;
use serde::Serialize;

use crate::cli::LatticeArgs;
use crate::output::{self, count, line, order, strong, thousands};
use crate::watch::Watch;

/// Most subspaces and vectors printed for people.
const SHOWN: usize = 60;

#[derive(Serialize)]
struct Answer {
    shape: String,
    entries: usize,
    mode: invar_algebra::Mode,
    /// Whether every rank was found in exact arithmetic.
    exact: bool,
    /// The smallest singular-value gap behind a rank, when it was not.
    gap: Option<f64>,
    groups: Vec<GroupAnswer>,
    subspaces: Vec<SubspaceAnswer>,
    /// Pairs (upper, lower) of positions in `subspaces`.
    hasse: Vec<(usize, usize)>,
    verified: Option<bool>,
    /// What is to be known about how it was verified, when there is anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct GroupAnswer {
    name: String,
    order: String,
    /// Vectors that span the group's own invariants, with `--eigenspaces`.
    #[serde(skip_serializing_if = "Option::is_none")]
    eigenspace: Option<Vec<VectorAnswer>>,
}

#[derive(Serialize)]
struct SubspaceAnswer {
    groups: GroupSet,
    label: String,
    level: usize,
    dimension: usize,
    basis: Vec<VectorAnswer>,
    spanned_by: Vec<VectorAnswer>,
}

/// Zero outside the listed flat indices; numbers in decimal when they are exact integers.
#[derive(Serialize)]
struct VectorAnswer {
    entries: Vec<u32>,
    values: Vec<serde_json::Value>,
}

impl VectorAnswer {
    fn of<T>(v: &SparseVector<T>, value: impl Fn(&T) -> serde_json::Value) -> Self {
        Self { entries: v.entries.to_vec(), values: v.values.iter().map(value).collect() }
    }
}

pub(crate) fn run(args: &LatticeArgs) -> Result<ExitCode> {
    let files = [("--svg", &args.svg), ("--html", &args.html), ("--certificate", &args.certificate)];
    output::check_apart(&files.map(|(option, path)| (option, path.as_deref())), &[])?;
    let groups = args.candidates.groups()?;
    let memory = args.memory.map_or_else(|| Limits::of_this_machine().bytes, |gb| (gb as u64).saturating_mul(1_000_000_000));
    let vectors = args.json || args.vectors || args.svg.is_some() || args.html.is_some();
    let options = Options { mode: args.mode.into(), cap: args.cap, memory, vectors, ..Options::default() };
    let watch = Watch::new();
    let lattice = Lattice::build(groups, &options, &|progress| watch.hear(progress))?;
    if args.json {
        // A value of the answer, its text and the integer it came from.
        lattice.admit_vectors(200)?;
        if args.eigenspaces {
            admit_eigenspaces(&lattice)?;
        }
    }
    if args.certificate.is_some() {
        lattice.admit_certificate()?;
    }
    let checks = (!args.no_verify).then(|| lattice.check(&|progress| watch.hear(progress)));
    watch.finish();

    let diagram = invar_lab::diagram::DiagramOptions { eigenspaces: args.eigenspaces, ..Default::default() };
    if let Some(path) = &args.svg {
        output::write(path, &invar_lab::diagram::svg(&lattice, &diagram))?;
    }
    if let Some(path) = &args.html {
        output::write(path, &invar_lab::diagram::html(&lattice, &diagram))?;
    }
    if let (Some(path), Some(checks)) = (&args.certificate, &checks) {
        output::write(path, &serde_json::to_string(&lattice.certificate(checks.clone()))?)?;
    }
    if args.json {
        output::json(&answer(&lattice, checks.as_deref(), args))?;
    } else {
        output::warn(lattice.groups());
        line(&render(&lattice, checks.as_deref(), args))?;
        for path in [&args.svg, &args.html, &args.certificate].into_iter().flatten() {
            line(&format!("wrote {}", output::shown(path)))?;
        }
    }
    let holds = checks.is_none_or(|checks| checks.iter().all(Check::holds));
    Ok(ExitCode::from(u8::from(!holds)))
}

/// Refuses to write out each group's own space of invariants when that would take more memory than the lattice may.
fn admit_eigenspaces(lattice: &Lattice) -> Result<()> {
    let dimension = |group: &Group| group.orbits().map_or(0, |orbits| orbits.invariant_dimension());
    let vectors: usize = lattice.groups().iter().map(dimension).sum();
    let needed = (vectors as u64).saturating_mul(40 * lattice.shape().len() as u64);
    let limit = lattice.options().memory;
    if needed > limit {
        return Err(Error::TooLarge { what: "writing out the spaces of all groups".into(), needed, limit }.into());
    }
    Ok(())
}

/// A group's own space of invariants W; none when generators are real.
fn eigenspace(group: &Group) -> Option<Vec<SparseVector<invar_algebra::IBig>>> {
    let real = group.generators().iter().any(|g| matches!(g, invar_algebra::Action::Real(_)));
    let entries: std::sync::Arc<[u32]> = (0..group.shape().len() as u32).collect();
    (!real).then(|| left_fixed_space(group).into_iter().map(|values| SparseVector { entries: entries.clone(), values }).collect())
}

fn answer(lattice: &Lattice, checks: Option<&[Check]>, args: &LatticeArgs) -> Answer {
    let integer = |x: &invar_algebra::IBig| serde_json::Value::from(x.to_string());
    let group = |group: &Group| GroupAnswer {
        name: group.name().into(),
        order: group.order().to_string(),
        eigenspace: args
            .eigenspaces
            .then(|| eigenspace(group))
            .flatten()
            .map(|vectors| vectors.iter().map(|v| VectorAnswer::of(v, integer)).collect()),
    };
    let subspace = |s: &Subspace| SubspaceAnswer {
        groups: s.set().clone(),
        label: lattice.label(s.set()),
        level: s.level(),
        dimension: s.dimension(),
        basis: s.basis().iter().map(|v| VectorAnswer::of(v, |x| (*x).into())).collect(),
        spanned_by: s.exact().iter().map(|v| VectorAnswer::of(v, integer)).collect(),
    };
    Answer {
        shape: lattice.shape().to_string(),
        entries: lattice.shape().len(),
        mode: lattice.options().mode,
        exact: lattice.gap().is_none(),
        gap: lattice.gap(),
        groups: lattice.groups().iter().map(group).collect(),
        subspaces: lattice.subspaces().iter().map(subspace).collect(),
        hasse: lattice.hasse_edges(),
        verified: checks.map(|checks| checks.iter().all(Check::holds)),
        notes: checks.into_iter().flatten().filter_map(|check| check.how.clone()).collect(),
        warnings: warnings(lattice.groups()).iter().map(ToString::to_string).collect(),
    }
}

fn render(lattice: &Lattice, checks: Option<&[Check]>, args: &LatticeArgs) -> String {
    let d = lattice.shape().len();
    let m = lattice.groups().len();
    let mut text = vec![format!("shape {}: {}, {}\n", lattice.shape(), output::entries(d), count(m, "candidate group"))];
    if args.eigenspaces {
        text.push(eigenspaces(lattice));
    }
    let subspaces = lattice.subspaces();
    let rows: Vec<Vec<String>> = subspaces
        .iter()
        .take(SHOWN)
        .map(|s| vec![s.level().to_string(), lattice.label(s.set()), s.dimension().to_string()])
        .collect();
    text.push(output::table(&["level", "invariant to exactly", "dimension"], &rows, &[0, 2]));
    if subspaces.len() > SHOWN {
        text.push(format!("... and {} more (all of them with --json)", subspaces.len() - SHOWN));
    }
    let sum: usize = subspaces.iter().map(Subspace::dimension).sum();
    let overlap = if sum > d { "; they overlap" } else { "" };
    text.push(format!("\n{}, {} of {} dimensions{overlap}", count(subspaces.len(), "subspace"), thousands(&sum), thousands(&d)));
    if args.vectors {
        text.push(vectors(lattice));
    }
    if let Some(gap) = lattice.gap() {
        text.push(format!("found in floating point: the smallest singular-value gap was {gap:.1e}"));
    }
    if let Some(checks) = checks {
        text.push(render_checks(checks));
    }
    text.join("\n")
}

fn eigenspaces(lattice: &Lattice) -> String {
    let row = |group: &Group| {
        let dimension = match group.orbits() {
            Some(orbits) => orbits.invariant_dimension().to_string(),
            None => eigenspace(group).map_or("-".into(), |vectors| vectors.len().to_string()),
        };
        vec![group.name().to_string(), order(&group.order()), dimension]
    };
    let rows: Vec<Vec<String>> = lattice.groups().iter().take(SHOWN).map(row).collect();
    let more = lattice.groups().len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!("\n... and {more} more (all of them with --json)") } else { String::new() };
    output::table(&["group", "order", "dimension of W"], &rows, &[1, 2]) + &rest + "\n"
}

/// The exact vectors, each as the values at the entries where it is not zero.
fn vectors(lattice: &Lattice) -> String {
    let mut text = Vec::new();
    for s in lattice.subspaces() {
        text.push(strong(&lattice.label(s.set())));
        let nonzero =
            |values: Vec<(u32, String)>| values.into_iter().map(|(e, v)| format!("{e}:{v}")).collect::<Vec<_>>().join(" ");
        if s.exact().is_empty() {
            for v in s.basis().iter().take(SHOWN) {
                let values =
                    v.entries.iter().zip(&v.values).filter(|(_, x)| x.abs() > 1e-12).map(|(&e, x)| (e, format!("{x:.6}")));
                text.push("  ".to_string() + &nonzero(values.collect()));
            }
        }
        for v in s.exact().iter().take(SHOWN) {
            let values = v.entries.iter().zip(&v.values).filter(|(_, x)| !x.is_zero()).map(|(&e, x)| (e, x.to_string()));
            text.push("  ".to_string() + &nonzero(values.collect()));
        }
        if s.dimension() > SHOWN {
            text.push(format!("  ... and {} more (all of them with --json)", s.dimension() - SHOWN));
        }
    }
    text.join("\n")
}

/// One line when all is well, else every law that fails; and what is to be known about how they were checked.
pub(crate) fn render_checks(checks: &[Check]) -> String {
    let notes = || checks.iter().filter_map(|check| check.how.as_ref()).map(|how| format!("  {how}"));
    if checks.iter().all(Check::holds) {
        let cases: usize = checks.iter().map(|check| check.cases).sum();
        // A law of which nothing could be checked is told of in the notes.
        let laws = checks.iter().filter(|check| check.cases > 0 || check.how.is_none()).count();
        let all =
            if laws == checks.len() { format!("all {laws} laws hold") } else { format!("{laws} of {} laws hold", checks.len()) };
        return std::iter::once(format!("verified: {all}, in {} cases", thousands(&cases)))
            .chain(notes())
            .collect::<Vec<_>>()
            .join("\n");
    }
    let failed = checks.iter().filter(|check| !check.holds());
    let tell = |check: &Check| {
        let more =
            if check.failures.len() > 5 { format!("\n    ... and {} more", check.failures.len() - 5) } else { String::new() };
        let first: Vec<String> = check.failures.iter().take(5).map(|failure| format!("    {failure}")).collect();
        format!("  does not hold: {}\n{}{more}", check.law, first.join("\n"))
    };
    std::iter::once("NOT verified".to_string()).chain(failed.map(tell)).chain(notes()).collect::<Vec<_>>().join("\n")
}

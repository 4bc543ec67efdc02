//! `invar groups`: what candidate symmetries are, alone and together.

use std::process::ExitCode;

use anyhow::Result;
use invar_algebra::{Error, Group, GroupSet, Witness, warnings};
use serde::Serialize;

use crate::cli::GroupsArgs;
use crate::output::{self, count, line, order, strong};

/// Most candidates for which every subset is examined.
const ALL_SUBSETS: usize = 6;
/// Most candidates for which every pair is examined.
const ALL_PAIRS: usize = 12;
/// Most rows printed for people.
const SHOWN: usize = 50;

#[derive(Serialize)]
struct Answer {
    shape: String,
    entries: usize,
    groups: Vec<GroupAnswer>,
    together: Together,
    pairs: Vec<Pair>,
    normality: Vec<Normality>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct GroupAnswer {
    name: String,
    /// In decimal: it may be larger than any machine number.
    order: String,
    /// Absent for groups of matrices.
    orbits: Option<usize>,
    generators: Vec<String>,
}

#[derive(Serialize)]
struct Together {
    order: String,
    orbits: Option<usize>,
}

#[derive(Serialize)]
struct Pair {
    groups: [usize; 2],
    order: String,
    commute: bool,
}

#[derive(Serialize)]
struct Normality {
    groups: GroupSet,
    names: Vec<String>,
    normal: bool,
    witness: Option<WitnessAnswer>,
}

#[derive(Serialize)]
struct WitnessAnswer {
    from: String,
    g: String,
    h: String,
    conjugate: String,
}

pub(crate) fn run(args: &GroupsArgs) -> Result<ExitCode> {
    let groups = args.candidates.groups()?;
    let subsets = subsets(&groups, &args.subset)?;
    let answer = examine(&groups, subsets)?;
    if args.json {
        output::json(&answer)?;
    } else {
        output::warn(&groups);
        line(&render(&answer, &groups))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The subsets asked for, or all of them, or each candidate alone when there are many.
fn subsets(groups: &[Group], asked: &[String]) -> Result<Vec<GroupSet>> {
    let m = groups.len();
    if asked.is_empty() && m <= ALL_SUBSETS {
        let mut all: Vec<GroupSet> = (0u32..1 << m).map(|bits| (0..m).filter(|i| bits >> i & 1 == 1).collect()).collect();
        all.sort_by_key(|set: &GroupSet| (set.len(), set.iter().collect::<Vec<_>>()));
        return Ok(all);
    }
    if asked.is_empty() {
        return Ok((0..m).map(|group| GroupSet::from_iter([group])).collect());
    }
    let find = |name: &str| {
        groups.iter().position(|group| group.name() == name.trim()).ok_or_else(|| {
            let names: Vec<&str> = groups.iter().take(12).map(Group::name).collect();
            Error::Candidates(format!("--subset: no candidate is called `{}`; there are {}", name.trim(), names.join(", ")))
        })
    };
    let subset = |text: &String| text.split('+').map(find).collect::<Result<GroupSet, _>>();
    Ok(asked.iter().map(subset).collect::<Result<_, _>>()?)
}

fn examine(groups: &[Group], subsets: Vec<GroupSet>) -> Result<Answer> {
    let whole = Group::join("all", groups)?;
    let alone = |group: &Group| GroupAnswer {
        name: group.name().into(),
        order: group.order().to_string(),
        orbits: group.orbits().map(|orbits| orbits.count()),
        generators: group.generators().iter().map(|g| group.describe(g)).collect(),
    };
    let mut pairs = Vec::new();
    for b in 0..if groups.len() <= ALL_PAIRS { groups.len() } else { 0 } {
        for a in 0..b {
            let joined = Group::join("pair", [&groups[a], &groups[b]])?;
            pairs.push(Pair { groups: [a, b], order: joined.order().to_string(), commute: groups[a].commutes_with(&groups[b]) });
        }
    }
    let mut normality = Vec::new();
    for set in subsets {
        let names: Vec<String> = set.iter().map(|group| groups[group].name().to_string()).collect();
        let witness = if set.is_empty() {
            None
        } else {
            Group::join(names.join("+"), set.iter().map(|group| &groups[group]))?.witness_against_normality(groups)
        };
        normality.push(Normality {
            groups: set,
            names,
            normal: witness.is_none(),
            witness: witness.map(|w| describe(&whole, &w)),
        });
    }
    Ok(Answer {
        shape: whole.shape().to_string(),
        entries: whole.shape().len(),
        groups: groups.iter().map(alone).collect(),
        together: Together { order: whole.order().to_string(), orbits: whole.orbits().map(|orbits| orbits.count()) },
        pairs,
        normality,
        warnings: warnings(groups).iter().map(ToString::to_string).collect(),
    })
}

fn describe(whole: &Group, witness: &Witness) -> WitnessAnswer {
    let undo = witness.g.inverse().expect("group elements are invertible");
    WitnessAnswer {
        from: witness.of.clone(),
        g: whole.describe(&witness.g),
        h: whole.describe(&witness.h),
        conjugate: whole.describe(&witness.g.after(&witness.h).after(&undo)),
    }
}

fn render(answer: &Answer, groups: &[Group]) -> String {
    let mut text = vec![format!(
        "shape {}: {}, {}\n",
        answer.shape,
        output::entries(answer.entries),
        count(answer.groups.len(), "candidate group")
    )];
    let orbits = |n: Option<usize>| n.map_or("-".to_string(), |n| output::thousands(&n));
    let row = |g: &GroupAnswer| vec![g.name.clone(), order(&g.order), orbits(g.orbits), g.generators.join(" | ")];
    let rows: Vec<Vec<String>> = answer.groups.iter().take(SHOWN).map(row).collect();
    text.push(output::table(&["group", "order", "orbits", "generators"], &rows, &[1, 2]));
    if answer.groups.len() > SHOWN {
        text.push(format!("... and {} more (all of them with --json)", answer.groups.len() - SHOWN));
    }

    let name = |group: usize| groups[group].name();
    text.push(String::new());
    for pair in answer.pairs.iter().filter(|_| answer.groups.len() > 2) {
        let [a, b] = pair.groups;
        let how = if pair.commute { "commute and " } else { "" };
        text.push(format!("{} and {} {how}generate a group of order {}", name(a), name(b), order(&pair.order)));
    }
    let whole = match (&answer.groups[..], &answer.pairs[..]) {
        ([_], _) => String::new(),
        ([a, b], [pair]) => {
            let how = if pair.commute { "commute and " } else { "" };
            format!("{} and {} {how}generate a group of order {}", a.name, b.name, order(&answer.together.order))
        }
        _ => format!("all together generate a group of order {}", order(&answer.together.order)),
    };
    if !whole.is_empty() {
        let orbits = answer.together.orbits.map_or(String::new(), |n| format!(", with {}", count(n, "orbit")));
        text.push(format!("{whole}{orbits}\n"));
    }

    text.push(strong("Normal in the whole?") + " (Theorem 2: invariance to a normal subgroup is counterfactual invariance)");
    let set_name = |n: &Normality| format!("{{{}}}", n.names.join(", "));
    let width = answer.normality.iter().take(SHOWN).map(|n| set_name(n).chars().count()).max().unwrap_or(0);
    for n in answer.normality.iter().take(SHOWN) {
        let verdict = match &n.witness {
            None => "yes".to_string(),
            Some(w) => {
                format!("no: g h g⁻¹ = [{}] is outside, with g = [{}] from {} and h = [{}]", w.conjugate, w.g, w.from, w.h)
            }
        };
        text.push(format!("  {:width$}  {verdict}", set_name(n)));
    }
    if answer.normality.len() > SHOWN {
        text.push(format!("  ... and {} more (all of them with --json)", answer.normality.len() - SHOWN));
    }
    text.join("\n")
}

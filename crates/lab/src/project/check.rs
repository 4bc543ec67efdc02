//! What there is to know about data and candidates before any training.

use invar_algebra::{Group, GroupSet, Lattice, Options, Orbits, warnings};
use invar_data::{Layout, Summary, shared};
use invar_nn::{ImageGroups, InnerConfig, LiftConfig, OrbitConfig, Points};
use serde::Serialize;

use super::file::{Learner, Validation};
use super::fits::check_screen;
use super::load::{Architecture, Loaded};
use super::plausible::OTHER_UNITS;
use super::train::learner;
use crate::error::Result;

/// Most candidates for which every set of them is asked whether it is normal.
const ALL_SUBSETS: usize = 5;
/// Below so many held-out examples hardly any cost can be told from chance.
const FEW_HELD_OUT: usize = 100;
/// A class with fewer training examples than this is hardly learned.
const FEW_OF_A_CLASS: usize = 5;

/// Inputs whose range is so many times smaller than in training are taken for those of another unit.
const OTHER_SCALE: f64 = 20.0;

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// The parts of the data: training, validation, and test if there is one.
    pub splits: Vec<SplitFinding>,
    /// The network that fits.
    pub architecture: Architecture,
    /// The shape of an example.
    pub shape: String,
    /// The candidates, one by one.
    pub candidates: Vec<CandidateFinding>,
    /// Order of the group that all candidates generate, in decimal digits; absent when that is not finite.
    pub order: Option<String>,
    /// Sets of candidates that are not normal in the whole.
    pub not_normal: Vec<NormalityFinding>,
    /// Number of sets that were asked.
    pub sets: usize,
    /// In plain words, what matters most first.
    pub findings: Vec<Finding>,
}

/// One part of the data.
#[derive(Debug, Serialize)]
pub struct SplitFinding {
    /// Which part.
    pub part: &'static str,
    /// Counts and ranges.
    pub summary: Summary,
    /// Examples of this part that are training examples too.
    pub shared: usize,
    /// Of these, those with another label.
    pub contradictions: usize,
}

/// One candidate.
#[derive(Debug, Serialize)]
pub struct CandidateFinding {
    /// Its name.
    pub name: String,
    /// Number of elements, in decimal digits.
    pub order: String,
    /// Orbits on the entries of an example; absent for groups of matrices.
    pub orbits: Option<usize>,
    /// Other candidates that every invariant layer of this kind is invariant to as well.
    pub implies: Vec<String>,
}

/// A set of candidates that is not normal in the group that all generate.
#[derive(Debug, Serialize)]
pub struct NormalityFinding {
    /// Their names.
    pub names: Vec<String>,
    /// Which element leads out of it, in words.
    pub witness: String,
}

/// Something found, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What it is.
    pub text: String,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Training would fail.
    Error,
    /// Training goes on, and the answer may mislead.
    Warning,
    /// Good to know.
    Note,
}

impl Findings {
    /// Looks at everything. The data should have been read with missing values kept, so that they can be counted.
    pub fn of(loaded: &Loaded) -> Result<Self> {
        // What training would refuse.
        if learner(loaded)? == Learner::Screen {
            check_screen(loaded)?;
        }
        let splits: Vec<SplitFinding> = loaded.parts().map(|(part, table)| split(loaded, part, table)).collect();
        let mut findings = Vec::new();
        for split in &splits {
            about_split(split, &mut findings);
        }
        about_ranges(loaded, &splits, &mut findings);
        about_units(loaded, &mut findings);
        about_task(loaded, &splits, &mut findings);
        let candidates = candidates(loaded)?;
        about_candidates(loaded, &mut findings);
        for candidate in candidates.iter().filter(|candidate| !candidate.implies.is_empty()) {
            let text = format!("a layer that keeps {} keeps {} as well", candidate.name, candidate.implies.join(", "));
            findings.push(Finding { severity: Severity::Note, text });
        }
        let warn = |text: String| Finding { severity: Severity::Warning, text };
        findings.extend(warnings(&loaded.groups).iter().map(|warning| warn(warning.to_string())));
        let whole = match Group::join("all", &loaded.groups) {
            _ if loaded.groups.is_empty() => None,
            Ok(whole) => Some(whole.order().to_string()),
            Err(error) => {
                findings.push(warn(format!("together the candidates generate no finite group: {error}")));
                None
            }
        };
        let (sets, not_normal) = if whole.is_some() { normality(&loaded.groups)? } else { (0, Vec::new()) };
        findings.sort_by_key(|finding| finding.severity);
        Ok(Self {
            splits,
            architecture: loaded.architecture,
            shape: loaded.shape.to_string(),
            candidates,
            order: whole,
            not_normal,
            sets,
            findings,
        })
    }

    /// Whether training can go on.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

fn split(loaded: &Loaded, part: &'static str, table: &invar_data::Table) -> SplitFinding {
    let common = if part == "training" { Vec::new() } else { shared(&loaded.train, table) };
    let contradictions = common.iter().filter(|pair| !pair.same_label).count();
    SplitFinding { part, summary: Summary::of(table), shared: common.len(), contradictions }
}

fn about_split(split: &SplitFinding, findings: &mut Vec<Finding>) {
    let SplitFinding { part, summary, shared, contradictions } = split;
    let mut add = |severity, text: String| findings.push(Finding { severity, text });
    if summary.missing + summary.infinite > 0 {
        let (missing, infinite) = (summary.missing, summary.infinite);
        add(
            Severity::Error,
            format!("{part} data: {missing} values are missing and {infinite} are infinite: fill them or leave them out"),
        );
    }
    if *shared > 0 {
        let of = summary.examples;
        add(Severity::Warning, format!("{shared} of {of} {part} examples are training examples too: they prove nothing"));
    }
    if *contradictions > 0 {
        add(Severity::Warning, format!("{contradictions} {part} examples have another label than the same inputs in training"));
    }
    if summary.contradictions > 0 {
        add(
            Severity::Warning,
            format!("{part} data: {} examples repeat earlier inputs with another label", summary.contradictions),
        );
    }
    if let Some(targets) = summary.targets
        && targets.min.total_cmp(&targets.max).is_eq()
    {
        let why = if *part == "training" { "there is nothing to learn" } else { "they have no variance to explain, so no R²" };
        add(Severity::Error, format!("every {part} label is {}: {why}", targets.min));
    }
    let mut there = summary.classes.iter().filter(|class| class.count > 0);
    if *part == "validation"
        && let (Some(only), None) = (there.next(), there.next())
    {
        add(
            Severity::Warning,
            format!("every validation example is of class `{}`: what answers so always is never wrong", only.name),
        );
    }
    if *part == "training" {
        if summary.duplicates > 0 {
            add(Severity::Note, format!("training data: {} examples repeat earlier inputs", summary.duplicates));
        }
        for class in summary.classes.iter().filter(|class| class.count < FEW_OF_A_CLASS) {
            let severity = if class.count == 0 { Severity::Error } else { Severity::Warning };
            add(severity, format!("class `{}` has {} training examples", class.name, class.count));
        }
        if !summary.constant.is_empty() {
            let (constant, entries) = (summary.constant.len(), summary.shape.iter().product::<usize>());
            add(Severity::Note, format!("{constant} of {entries} entries have the same value in every training example"));
        }
        summary.notes.iter().for_each(|note| add(Severity::Note, note.clone()));
    } else if *part == "test" {
        summary.notes.iter().for_each(|note| add(Severity::Note, format!("{part} data: {note}")));
    }
}

/// A candidate that moves nothing is a slip: whatever is trained keeps it.
fn about_candidates(loaded: &Loaded, findings: &mut Vec<Finding>) {
    for group in loaded.groups.iter().filter(|group| group.is_trivial()) {
        let text = format!("{} moves nothing in examples of shape {}: leave it out", group.name(), loaded.shape);
        findings.push(Finding { severity: Severity::Error, text });
    }
    if loaded.groups.is_empty() {
        let text = "no candidates are listed: nothing is imposed on the network".into();
        findings.push(Finding { severity: Severity::Note, text });
    }
}

/// Inputs on another scale than those of training mean other units, not another environment.
fn about_ranges(loaded: &Loaded, splits: &[SplitFinding], findings: &mut Vec<Finding>) {
    // What was held out of the same files has the same units, however far its largest value is.
    let held_out = matches!(loaded.project.data.validation, Validation::Share(_));
    let Some(seen) = splits[0].summary.inputs else { return };
    let width = f64::from(seen.max) - f64::from(seen.min);
    for SplitFinding { part, summary, .. } in splits.iter().skip(if held_out { 2 } else { 1 }) {
        let Some(range) = summary.inputs else { continue };
        let beyond = (f64::from(range.max) - f64::from(seen.max)).max(f64::from(seen.min) - f64::from(range.min));
        let narrow = f64::from(range.max) - f64::from(range.min) < width / OTHER_SCALE;
        if beyond > width || narrow {
            let text = format!(
                "{part} inputs lie between {} and {}, training inputs between {} and {}: are they in the same units?",
                range.min, range.max, seen.min, seen.max
            );
            findings.push(Finding { severity: Severity::Warning, text });
        }
    }
}

/// What candidates exchange is scaled alike. An entry in a much larger unit leaves nothing of the others to learn from.
fn about_units(loaded: &Loaded, findings: &mut Vec<Finding>) {
    if loaded.architecture.takes_images() {
        return;
    }
    let Some(orbits) = Orbits::of(loaded.train.width(), loaded.groups.iter().flat_map(Group::generators)) else { return };
    let widths = widths(&loaded.train);
    let in_orbit = |orbit: usize| (0..widths.len()).filter(|&entry| orbits.orbit(entry) == orbit).collect::<Vec<_>>();
    for orbit in 0..orbits.count() {
        let wide = |entry: &usize| widths[*entry] > 0.0;
        let by_width = |a: &usize, b: &usize| widths[*a].total_cmp(&widths[*b]);
        let entries = in_orbit(orbit).into_iter().filter(wide);
        let Some((narrow, widest)) = entries.clone().min_by(by_width).zip(entries.max_by(by_width)) else { continue };
        if widths[widest] > OTHER_UNITS * widths[narrow] {
            // Columns are named as they lie in the file, which is their order unless channels come last.
            let columns = if loaded.project.data.layout == Layout::ChannelsFirst { &loaded.train.columns[..] } else { &[] };
            let name = |entry: usize| columns.get(entry).map_or(format!("entry {}", entry + 1), |column| format!("`{column}`"));
            let text = format!(
                "candidates exchange {} and {}, which spread over {} and {}: are they in the same units?",
                name(narrow),
                name(widest),
                widths[narrow] as f32,
                widths[widest] as f32
            );
            findings.push(Finding { severity: Severity::Warning, text });
        }
    }
}

/// From the least to the largest value of each entry of an example.
fn widths(table: &invar_data::Table) -> Vec<f64> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); table.width()];
    for example in table.inputs.chunks(table.width().max(1)) {
        for (range, value) in ranges.iter_mut().zip(example.iter().map(|&x| f64::from(x))) {
            // Missing values are no numbers, and `min` and `max` pass over them.
            *range = (range.0.min(value), range.1.max(value));
        }
    }
    ranges.iter().map(|(low, high)| (high - low).max(0.0)).collect()
}

fn about_task(loaded: &Loaded, splits: &[SplitFinding], findings: &mut Vec<Finding>) {
    let mut add = |severity, text: String| findings.push(Finding { severity, text });
    let held_out = splits[1].summary.examples;
    if held_out < FEW_HELD_OUT {
        let text = format!(
            "only {held_out} validation examples: a symmetry that costs a few points cannot be told from one that is free"
        );
        add(Severity::Warning, text);
    }
    if let Validation::Share(share) = loaded.project.data.validation {
        let seed = loaded.project.train.seed;
        add(Severity::Note, format!("{held_out} examples are held out (a share of {share}, of each class alike, seed {seed})"));
    }
    if loaded.test.is_none() {
        let text = "no test set of another environment is given: the report will show consistency under the kept symmetries, which is \
            not extrapolation";
        add(Severity::Note, text.into());
    }
}

fn candidates(loaded: &Loaded) -> Result<Vec<CandidateFinding>> {
    let groups = &loaded.groups;
    let views = || OrbitConfig::new(InnerConfig::Array, 1).lattices(groups);
    let closure: Box<dyn Fn(usize) -> Result<GroupSet>> = match loaded.architecture {
        Architecture::Lift => {
            let acting = ImageGroups::new(&loaded.weight_groups()?)?;
            let weights = LiftConfig { channels: acting.channels(), ..LiftConfig::new(1) }.lattices(&acting)?;
            Box::new(move |k| Ok(weights.closure(&GroupSet::empty().with(k))?))
        }
        Architecture::Orbit | Architecture::OrbitImages => {
            let weights = views()?;
            Box::new(move |k| Ok(weights.closure(&GroupSet::empty().with(k))?))
        }
        Architecture::Auto | Architecture::Pairs if let Some(points) = Points::of(loaded.shape.len(), groups) => {
            Box::new(move |k| {
                let ties = points.ties([&groups[k]])?;
                let mut closed = GroupSet::empty().with(k);
                for (other, group) in groups.iter().enumerate() {
                    if points.implies(&ties, group)? {
                        closed.insert(other);
                    }
                }
                Ok(closed)
            })
        }
        // Matrices: what is left is a network on every view, or invariant weights where views cannot be listed.
        Architecture::Auto | Architecture::Pairs if let Ok(weights) = views() => {
            Box::new(move |k| Ok(weights.closure(&GroupSet::empty().with(k))?))
        }
        Architecture::Auto | Architecture::Pairs | Architecture::Cnn | Architecture::Feedforward => {
            let weights = Lattice::new(loaded.weight_groups()?, &Options::default())?;
            Box::new(move |k| Ok(weights.closure(&GroupSet::empty().with(k))?))
        }
    };
    let finding = |(k, group): (usize, &Group)| {
        let closed = closure(k)?;
        let implies = closed.iter().filter(|&other| other != k).map(|other| groups[other].name().to_string()).collect();
        let orbits = group.orbits().map(|orbits| orbits.count());
        Ok(CandidateFinding { name: group.name().into(), order: group.order().to_string(), orbits, implies })
    };
    groups.iter().enumerate().map(finding).collect()
}

/// Which sets of candidates are not normal in the whole: all sets of a few, each alone of many.
fn normality(groups: &[Group]) -> Result<(usize, Vec<NormalityFinding>)> {
    let m = groups.len();
    let sets: Vec<GroupSet> = if m <= ALL_SUBSETS {
        (1u32..1 << m).map(|bits| (0..m).filter(|i| bits >> i & 1 == 1).collect()).collect()
    } else {
        (0..m).map(|group| GroupSet::empty().with(group)).collect()
    };
    let mut found = Vec::new();
    for set in &sets {
        let joined = Group::join("set", set.iter().map(|group| &groups[group]))?;
        if let Some(witness) = joined.witness_against_normality(groups) {
            let names = set.iter().map(|group| groups[group].name().to_string()).collect();
            let witness = format!("{} moves \"{}\" out of it", witness.of, joined.describe(&witness.h));
            found.push(NormalityFinding { names, witness });
        }
    }
    Ok((sets.len(), found))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

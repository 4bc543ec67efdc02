//! A run for people to read on a terminal: what was gained first, then what was kept, why, and what was compared.

mod evidence;
mod models;
mod square;

use std::fmt::Write as _;
use std::path::Path;

use invar_algebra::GroupSet;
use invar_data::printable;
use invar_lab::project::{Goal, Learner, Run};
use invar_lab::record::Metrics;
use invar_lab::screen::{Role, ScreenRecord};
use invar_lab::symmetry::Symmetry;

use crate::output::{self, strong, thousands};

/// Most names in one line.
const NAMES: usize = 15;

/// Everything a run says. `folder` is where it was written.
pub(crate) fn render(run: &Run, folder: &Path) -> String {
    let mut text = vec![gain(run), kept(run), evidence::evidence(run), models::models(run)];
    text.extend(models::levels(run));
    text.push(asked(run));
    let (shown, quoted) = (output::shown(folder), output::quoted(folder));
    text.push(format!("wrote {shown}/model.invar and {shown}/run.json; next: invar report {quoted} -o report.html"));
    text.join("\n\n")
}

/// What the kept symmetries are good for.
fn gain(run: &Run) -> String {
    let what = match (run.data.description(), run.goal) {
        (Some(words), _) => words.to_owned(),
        (None, Goal::Classification) => output::count_of(run.classes.len(), "class", "classes"),
        (None, Goal::Regression) => "a number".into(),
    };
    let outside = run.chosen().is_some_and(|line| line.extrapolation.is_some());
    let score = |role: Option<Role>| {
        let line = role.map_or_else(|| run.chosen(), |role| run.model(role))?;
        let metrics: Option<Metrics> = if outside { line.extrapolation } else { line.validation };
        Some(run.measure.show(metrics?.accuracy))
    };
    let mut text = format!("{}: {what}", strong(&printable(&run.data_name())));
    if let Some(own) = score(None) {
        let place = if outside { "in the other environment" } else { "on validation examples" };
        let _ = write!(text, "\n{} {place}", strong(&own));
        let beside = [(Role::Free, "with nothing imposed"), (Role::Plain, "with a plain network")];
        for (role, words) in beside {
            let _ = write!(text, "{}", score(Some(role)).map_or(String::new(), |score| format!("; {score} {words}")));
        }
    }
    text
}

/// What was kept, what that is as a group, and what it costs.
fn kept(run: &Run) -> String {
    let names: Vec<String> = run.kept().map(Symmetry::shown).collect();
    let truth = run.true_symmetry.as_ref().map_or(String::new(), |truth| against(run, truth));
    let all = run.symmetries.len();
    let mut text = Vec::new();
    if names.is_empty() {
        text.push(format!("{}: none of {}{truth}", strong("kept"), output::count_of(all, "symmetry", "symmetries")));
    } else {
        let label = run.partition().unwrap_or_else(|| match names.len() {
            few if few <= NAMES => names.join(", "),
            many => format!("{} and {} more", names[..NAMES].join(", "), many - NAMES),
        });
        let order = run.group.order.as_ref();
        let order =
            order.map_or("no group that is known to be finite".into(), |n| format!("a group of order {}", output::order(n)));
        text.push(format!("{}: {} of {all}: {}\n  {order}{truth}", strong("kept"), names.len(), printable(&label)));
    }
    if let Some(cost) = run.kept_cost {
        let verdict = run.screen.as_ref().and_then(ScreenRecord::kept_cost).map(|tested| tested.verdict.in_words());
        let verdict = verdict.map_or(String::new(), |words| format!(": {words}"));
        let reference = match run.learner {
            Learner::Cgreg => "the best of the fits",
            Learner::Screen => "nothing imposed",
        };
        text.push(format!("  together they cost {cost} {} against {reference}{verdict}", run.measure.unit()));
    }
    if let Some(witness) = run.group.witness.as_ref().filter(|_| !names.is_empty()) {
        let words = "not normal if what was not kept acts on the data, so invariance may not be enough";
        text.push(format!("  {words}: {}", printable(witness)));
    }
    text.extend(run.screen.iter().flat_map(|record| rivals(run, record)));
    text.extend(run.weakness.iter().map(|reason| format!("{}: {reason}", strong("the network cannot tell"))));
    text.join("\n")
}

/// How the answer compares with the true symmetries, where these are known.
fn against(run: &Run, truth: &GroupSet) -> String {
    let missed = truth.iter().filter(|&g| !run.symmetries[g].kept).count();
    let wrong = (0..run.symmetries.len()).filter(|&g| run.symmetries[g].kept && !truth.contains(g)).count();
    match (missed, wrong) {
        (0, 0) => "; these are exactly the true symmetries".into(),
        _ => format!("; {missed} true ones are missed, {wrong} false ones are kept"),
    }
}

/// Sets that might have been kept as well.
fn rivals(run: &Run, record: &ScreenRecord) -> Vec<String> {
    let names = |set: &GroupSet| set.iter().take(6).map(|g| run.symmetries[g].shown()).collect::<Vec<_>>().join(", ");
    let line = |rival: &invar_lab::screen::Tested| {
        format!(
            "  as large, and not told apart by these examples: {} (cost {}); say which holds (`require`), or add examples",
            printable(&names(&rival.set)),
            rival.cost
        )
    };
    let exhausted = "  the search ended before every larger set was refused: more of them may hold";
    record.rivals.iter().map(line).chain(record.exhausted.then(|| exhausted.into())).collect()
}

/// What was asked, and how it was decided.
fn asked(run: &Run) -> String {
    let [train, validation, test] = run.examples.map(|count| thousands(&count));
    let candidates = output::count_of(run.symmetries.len(), "candidate symmetry", "candidate symmetries");
    let tested = if run.examples[2] > 0 { format!(", {test} of another environment") } else { String::new() };
    let data = format!("{candidates}; trained on {train} examples, {validation} for validation{tested}");
    let Some(record) = &run.screen else {
        let rule = format!("the largest lambda within {} points of the best", run.rule.tolerance);
        return format!("{data}\n{}\n{}: chosen on validation alone, {rule}", run.network, run.learner.name());
    };
    let [_, selected, decided] = record.fold.map(|count| thousands(&count));
    let [score, guess] = record.reference.map(|share| run.measure.show(share));
    let folds = match record.config.folds {
        1 => format!("selected on {selected} examples, decided on {decided} others"),
        folds => format!("selected and decided in {folds} folds of {decided} examples"),
    };
    format!(
        "{data}; {folds}, by a {}\nwith nothing imposed it has {score} there, a guess has {guess}; {}; {} fitted\n{}",
        record.decided_by.in_words(),
        run.rule.in_words(run.measure),
        output::count(record.fits, "set"),
        run.network,
    )
}

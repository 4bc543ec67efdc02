//! How often the learner `screen` errs, where errors can happen: on simulated fits, and on networks with noisy labels and symmetries
//! that nearly hold.

use std::collections::BTreeMap;

use invar_tasks::{ArrayTask, Arrays, Sizes};
use rand::seq::SliceRandom;

use super::budget::Budget;
use crate::error::Result;
use crate::problem::Data;
use crate::queue::Stop;
use crate::screen::{Costs, Rates, ScreenRecord, Verdict};
use crate::stats::exact_proportion;
use crate::table::{Row, Table};

/// Fresh examples of the training environment that true costs are measured on.
pub(super) const FRESH: usize = 50_000;
/// Shares of wrong labels, and of examples that contradict the true symmetry.
const NOISE: [f64; 3] = [0.0, 0.05, 0.2];
const CONFLICT: [f64; 3] = [0.0, 0.02, 0.05];
/// Stream of the seed that orders screens.
const ORDER: u64 = 0x0dde;
/// Examples that decide in a simulated screen.
const DECIDING: [usize; 4] = [50, 200, 1000, 5000];

/// The rule on simulated fits: `screens` for each number of examples that decide. `ended` hears of every row.
pub fn rule_errors(screens: usize, threads: usize, stop: &Stop, mut ended: impl FnMut()) -> Result<Table> {
    let mut rows = Vec::new();
    for costs in Costs::ALL {
        for examples in DECIDING {
            let rates = Rates::simulate(costs, examples, screens, threads, stop)?;
            let labels = vec![
                costs.in_words().into(),
                examples.to_string(),
                of(rates.shown[1], screens),
                of(rates.kept[1], screens),
                of(rates.contradicted[1], screens),
                of(rates.undecided[0], rates.undecided[1]),
            ];
            rows.push(Row { labels, cells: Vec::new() });
            ended();
        }
    }
    let note = format!(
        "{screens} simulated screens a row: six candidates whose costs add up or ten exchanges of five positions, tolerance 2 points, a reference with 90 % and 2 % of the \
         answers changed each way by chance. Falsely shown harmless: screens in which what is kept was shown harmless and truly costs \
         more; falsely kept: screens in which the default keeps a set that costs more; falsely contradicted: screens in which a set is \
         called contradicted that costs no more. Undecided: of all candidates. In brackets exact 95 % intervals."
    );
    Ok(Table {
        name: "errors".into(),
        title: "How often the rule of screen errs where true costs are known".into(),
        labels: ["costs", "examples that decide", "falsely shown harmless", "falsely kept", "falsely contradicted", "undecided"]
            .map(Into::into)
            .to_vec(),
        columns: Vec::new(),
        rows,
        notes: vec![note],
    })
}

/// The ten small tasks in several sizes, with noise and with symmetries that nearly hold.
pub(super) fn data(budget: Budget) -> Vec<Data> {
    let sizes: &[usize] = match budget {
        Budget::Smoke => &[50],
        Budget::Quick => &[50, 200],
        _ => &[50, 200, 1000, 25_000],
    };
    let few = budget == Budget::Smoke;
    let mut all = Vec::new();
    for (noise, conflict) in NOISE.into_iter().flat_map(|noise| CONFLICT.map(|conflict| (noise, conflict))) {
        for &examples in sizes {
            for task in ArrayTask::ALL {
                // What has no symmetry has none that nearly holds.
                let pointless = conflict > 0.0 && task.symmetry().is_empty();
                if !pointless && !(few && (noise > 0.0 || conflict > 0.0 || task != ArrayTask::Sensors)) {
                    let new = Arrays::new(task);
                    all.push(Data::Arrays(Arrays { sizes: Sizes { examples, ..new.sizes }, noise, conflict, ..new }));
                }
            }
        }
    }
    all
}

/// Screens in an order that has something of everything at any time: within a size at random, and of sizes by turns, cheap ones more
/// often.
pub(super) fn in_turn(mut plans: Vec<(u64, Data)>) -> Vec<(u64, Data)> {
    plans.shuffle(&mut invar_nn::rng(0, ORDER));
    // By experience: below 2,000 examples five folds decide, which is as much work as one split of many more.
    let work = |size: usize| match size {
        ..=50 => 1,
        51..=200 => 2,
        _ => 6,
    };
    let mut passed: BTreeMap<usize, usize> = BTreeMap::new();
    let mut placed: Vec<(usize, usize, (u64, Data))> = Vec::new();
    for plan in plans {
        let size = examples(plan.1);
        let before = passed.entry(size).or_default();
        *before += work(size);
        placed.push((*before, size, plan));
    }
    placed.sort_by_key(|(place, size, _)| (*place, *size));
    placed.into_iter().map(|(_, _, plan)| plan).collect()
}

/// Examples of a task.
fn examples(data: Data) -> usize {
    match data {
        Data::Arrays(arrays) => arrays.sizes.examples,
        _ => 0,
    }
}

/// The table of networks, by the number of examples.
pub(super) fn table(records: &[&ScreenRecord], describe: String) -> Table {
    let mut sizes: Vec<usize> = records.iter().map(|record| examples(record.config.data)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rows = sizes.into_iter().map(|size| {
        let of_size: Vec<&ScreenRecord> = records.iter().copied().filter(|record| examples(record.config.data) == size).collect();
        row(&of_size)
    });
    let fresh = records.first().map_or(FRESH, |record| record.config.fresh);
    let note = format!(
        "The ten small tasks with 0, 5 and 20 % noise on labels, and with 0, 2 and 5 % of training examples that contradict the true \
         symmetry. The true cost of a set is measured on {fresh} fresh examples of the training environment, between the two models \
         compared. Shown harmless, contradicted: claims about sets, of them false ones. Keeps too much: screens whose final set costs more \
         than the tolerance, for screen and for the baseline that augments and keeps what does not hurt validation. Keeps of what \
         holds: candidates kept among those that truly hold and cost no more together than the tolerance. Cannot tell: screens in which the \
         network has not learned the task. In brackets exact 95 % intervals."
    );
    let labels = [
        "examples",
        "decide",
        "screens",
        "falsely shown harmless",
        "falsely contradicted",
        "undecided",
        "cannot tell",
        "keeps too much",
        "augment: too much",
        "keeps of what holds",
        "augment: of what holds",
    ];
    Table {
        name: "errors".into(),
        title: "How often screen errs with networks, noise and symmetries that nearly hold".into(),
        labels: labels.map(Into::into).to_vec(),
        columns: Vec::new(),
        rows: rows.collect(),
        notes: vec![describe, note],
    }
}

fn row(records: &[&ScreenRecord]) -> Row {
    let tolerance = |record: &ScreenRecord| record.config.rule.tolerance;
    let (mut shown, mut contradicted) = ([0; 2], [0; 2]);
    let (mut undecided, mut weak) = (0, 0);
    let (mut kept, mut augmented) = ([0; 2], [0; 2]);
    let (mut holds, mut kept_of, mut augmented_of) = (0, 0, 0);
    for record in records {
        undecided += record.findings.iter().filter(|finding| finding.verdict == Verdict::Undecided).count();
        if record.weakness.is_some() {
            weak += 1;
        } else {
            for (verdict, cost) in claims(record) {
                match verdict {
                    Verdict::ShownHarmless => add(&mut shown, cost > tolerance(record)),
                    Verdict::Contradicted => add(&mut contradicted, cost <= tolerance(record)),
                    _ => {}
                }
            }
        }
        add(&mut kept, record.kept_cost().and_then(|tested| tested.true_cost).is_some_and(|cost| cost > tolerance(record)));
        let by_augmenting = record.augmented.as_ref();
        add(&mut augmented, by_augmenting.and_then(|kept| kept.true_cost).is_some_and(|cost| cost > tolerance(record)));
        if let Some(truth) = record.truth.as_ref().filter(|_| nearly_holds(record)) {
            holds += truth.len();
            kept_of += truth.iter().filter(|&one| record.kept.contains(one)).count();
            augmented_of += truth.iter().filter(|&one| by_augmenting.is_some_and(|by| by.kept.contains(one))).count();
        }
    }
    let candidates = records.iter().map(|record| record.findings.len()).sum();
    let first = records.first();
    let deciding =
        first.map_or(0, |record| if record.config.folds == 1 { record.fold[2] } else { record.examples[0] + record.examples[1] });
    let labels = vec![
        first.map_or(0, |record| examples(record.config.data)).to_string(),
        deciding.to_string(),
        records.len().to_string(),
        of(shown[1], shown[0]),
        of(contradicted[1], contradicted[0]),
        of(undecided, candidates),
        weak.to_string(),
        of(kept[1], kept[0]),
        of(augmented[1], augmented[0]),
        of(kept_of, holds),
        of(augmented_of, holds),
    ];
    Row { labels, cells: Vec::new() }
}

/// Every set that a verdict was given on, once, with its true cost.
fn claims(record: &ScreenRecord) -> Vec<(Verdict, f64)> {
    let tested = record.chain.iter().chain(record.findings.iter().filter_map(|finding| finding.tested.as_ref()));
    let mut sets = Vec::new();
    let mut claims = Vec::new();
    for step in tested {
        if let Some(cost) = step.true_cost.filter(|_| !sets.contains(&&step.set)) {
            sets.push(&step.set);
            claims.push((step.verdict, cost));
        }
    }
    claims
}

/// Whether what holds costs no more than the tolerance: contradicting examples are few enough. Each costs one answer at most.
fn nearly_holds(record: &ScreenRecord) -> bool {
    match record.config.data {
        Data::Arrays(arrays) => {
            100.0 * arrays.conflict <= record.config.rule.tolerance && arrays.task.classes().is_some() || arrays.conflict == 0.0
        }
        _ => false,
    }
}

fn add(count: &mut [usize; 2], is_false: bool) {
    count[0] += 1;
    count[1] += usize::from(is_false);
}

/// `3 of 120: 2.5 % (0.5 to 7.1)`.
fn of(hits: usize, count: usize) -> String {
    if count == 0 {
        return "none".into();
    }
    let [low, high] = exact_proportion(hits, count).map(|share| 100.0 * share);
    format!("{hits} of {count}: {:.1} % ({low:.1} to {high:.1})", 100.0 * hits as f64 / count as f64)
}

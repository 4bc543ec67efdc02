//! `invar reproduce table1` and `ablation`: tables drawn from what several experiments have recorded.

use std::process::ExitCode;

use anyhow::Result;
use invar_lab::record::{Recorded, Records};
use invar_lab::reproduce::{
    self, Budget, Experiment, Field, ImageTables, Learner, LiftTables, Only, Recordings, ScreenTables, SequenceTables,
};
use invar_lab::table::Table;
use invar_nn::Head;

use crate::cli::{MethodArg, ReproduceArgs};
use crate::output::{self, line};
use crate::reproduce::{create, recorded, screened, write};

/// Table 1 as a whole, after what its learner still lacks.
pub(crate) fn table1(args: &ReproduceArgs) -> Result<ExitCode> {
    let budget = args.budget;
    let (learner, needed): (_, &[&str]) = match args.method {
        Some(MethodArg::Screen) => (Learner::Screen, &["sequences", "images", "screen-sequences", "screen-images"]),
        Some(MethodArg::Cgreg) | None => (Learner::Cgreg, &["sequences", "images"]),
    };
    match learner {
        _ if args.tables_only => {}
        Learner::Cgreg => {
            recorded(args, &SequenceTables { budget, head: Head::Hidden }, true)?;
            recorded(args, &ImageTables::new(budget), true)?;
        }
        Learner::Screen => {
            screened(args, Field::Sequences, Only::Paper)?;
            screened(args, Field::Images, Only::Paper)?;
        }
    }
    let recordings = read(args)?;
    compose(args, "table1", &reproduce::table1(budget, learner, &recordings), &recordings, needed)
}

/// What each part contributes, as far as it is recorded.
pub(crate) fn ablation(args: &ReproduceArgs) -> Result<ExitCode> {
    let recordings = read(args)?;
    let needed =
        ["sequences", "sequences-affine", "images", "images-affine", "lift", "lift-affine", "screen-sequences", "screen-images"];
    compose(args, "ablation", &reproduce::ablation(args.budget, &recordings), &recordings, &needed)
}

/// What is recorded under a name; nothing where it was never begun.
fn known<R: Recorded>(args: &ReproduceArgs, name: &str) -> Result<Vec<R>> {
    let path = args.results.join(format!("{name}.jsonl"));
    if path.exists() { Ok(Records::read(&path)?) } else { Ok(Vec::new()) }
}

fn read(args: &ReproduceArgs) -> Result<Recordings> {
    let budget = args.budget;
    let sequences = |head| known(args, &SequenceTables { budget, head }.name());
    let images = |head| known(args, &ImageTables { head, ..ImageTables::new(budget) }.name());
    let screens = |field| known(args, &ScreenTables { budget, field }.name());
    // Beside the images of `standard`, which are few of MNIST.
    let whole = ScreenTables { budget: Budget::Fold, field: Field::Images };
    Ok(Recordings {
        sequences: [sequences(Head::Hidden)?, sequences(Head::Affine)?].concat(),
        images: [images(Head::Hidden)?, images(Head::Affine)?, known(args, &ImageTables::new(Budget::Fold).name())?].concat(),
        lift: known(args, &LiftTables::new(budget, Head::Hidden).name())?,
        screened_sequences: screens(Field::Sequences)?,
        screened_images: [screens(Field::Images)?, known(args, &whole.name())?].concat(),
    })
}

/// The parts that are not complete, by the names that `invar reproduce` knows them by.
fn incomplete(args: &ReproduceArgs, recordings: &Recordings) -> Vec<&'static str> {
    let budget = args.budget;
    let sequences = |head| reproduce::missing(&SequenceTables { budget, head }, &recordings.sequences);
    let lift = |head| reproduce::missing(&LiftTables::new(budget, head), &recordings.lift);
    let images = |head| reproduce::missing(&ImageTables { head, ..ImageTables::new(budget) }, &recordings.images);
    let screens = |field, records| ScreenTables { budget, field }.missing(records, Only::Paper).len();
    let parts = [
        ("sequences", sequences(Head::Hidden)),
        ("sequences-affine", sequences(Head::Affine)),
        ("images", images(Head::Hidden)),
        ("images-affine", images(Head::Affine)),
        ("lift", lift(Head::Hidden)),
        ("lift-affine", lift(Head::Affine)),
        ("screen-sequences", screens(Field::Sequences, &recordings.screened_sequences)),
        ("screen-images", screens(Field::Images, &recordings.screened_images)),
    ];
    parts.into_iter().filter(|(_, missing)| *missing > 0).map(|(name, _)| name).collect()
}

/// Writes and prints a table, and says which of the parts it needs are not complete.
fn compose(args: &ReproduceArgs, name: &str, table: &Table, recordings: &Recordings, needed: &[&str]) -> Result<ExitCode> {
    create(args)?;
    write(args, &format!("{name}-{}", args.budget.name()), table)?;
    if args.json {
        output::json(&[table])?;
    } else {
        line(&table.text())?;
    }
    let missing: Vec<&str> = incomplete(args, recordings).into_iter().filter(|part| needed.contains(part)).collect();
    if !missing.is_empty() {
        let (parts, budget) = (missing.join(", "), args.budget.name());
        output::note(&format!("not complete yet; run `invar reproduce PART --budget {budget}` for: {parts}"));
    }
    Ok(ExitCode::from(u8::from(crate::STOP.is_stopped())))
}

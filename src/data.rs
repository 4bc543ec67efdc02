//! `invar data`: a look at the data of a task.

use std::process::ExitCode;

use anyhow::{Context, Result};
use invar_lab::files;
use invar_tasks::{Environments, Examples, ImageTask, Images, Invariant, Task};

use crate::cli::{DataArgs, DataCommand, ShowArgs};
use crate::output;
use crate::sheet::Sheet;

pub(crate) fn run(args: &DataArgs) -> Result<ExitCode> {
    match &args.command {
        DataCommand::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result<ExitCode> {
    let task = image_task(&args.task)?;
    let invariant = Invariant::by_name(&args.invariant).map_err(invar_lab::Error::from)?;
    let images = Images { invariant, ..Images::new(task) };
    let samples = images.samples(args.count.into(), args.seed).map_err(invar_lab::Error::from)?;
    let picture = draw(&images, &samples)?;
    let shown = output::shown(&args.png);
    files::write_whole(&args.png, &picture).with_context(|| format!("cannot write {shown}"))?;
    let count = output::count(args.count.into(), "image");
    output::line(&format!("{}: {}; {} classes", task.name(), ignored(invariant), images.classes()))?;
    output::line(&format!("wrote {shown}: {count} of each environment"))?;
    Ok(ExitCode::SUCCESS)
}

/// The image task of this name.
fn image_task(name: &str) -> Result<ImageTask, invar_lab::Error> {
    match Task::by_name(name)? {
        Task::Image(task) => Ok(task),
        Task::Sequence(_) | Task::Graph(_) | Task::Array(_) => {
            let known = ImageTask::ALL.map(ImageTask::name).join(" or ");
            Err(invar_lab::Error::Setting { name: "task", expected: format!("an image task, {known}"), got: name.into() })
        }
    }
}

/// What the label ignores, in words.
fn ignored(invariant: Invariant) -> String {
    match invariant {
        Invariant::None => "the label ignores nothing".into(),
        some => format!("the label ignores {}", some.name().replace(',', ", ")),
    }
}

/// A picture of both environments, as a PNG file.
fn draw(images: &Images, samples: &Environments<f32>) -> Result<Vec<u8>> {
    let moved = match images.invariant {
        Invariant::None => "another environment: moved in the same way, as nothing is ignored".to_string(),
        some => format!("another environment: moved by {} as well", some.name().replace(',', ", ")),
    };
    let mut sheet = Sheet::new(samples.training.len());
    sheet.heading(&format!("{}: {}", images.task.name(), ignored(images.invariant)), 3);
    for (heading, set) in [("training environment", &samples.training), (moved.as_str(), &samples.another)] {
        sheet.heading(heading, 2);
        sheet.images(&captioned(images, set));
    }
    Ok(sheet.png()?)
}

/// Images with what their label says, a line for each word.
fn captioned<'a>(images: &Images, set: &'a Examples<f32>) -> Vec<(&'a [f32], Vec<String>)> {
    let lines = |class: f32| {
        let name = images.class_name(class as usize).unwrap_or_default();
        name.split(", ").map(String::from).collect()
    };
    set.iter().map(|(x, class)| (x, lines(class))).collect()
}

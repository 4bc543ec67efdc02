//! Training on examples in memory, while Python stays able to interrupt it.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use invar_data::{Format, Labels, Layout, Table, split};
use invar_lab::project::{Event, Loaded, Project, Run, RunOptions, Suggestion, Validation};
use invar_lab::queue::Stop;
use invar_lab::report::{Proof, html};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::convert::copied;
use crate::errors::{OrRaise, wrong};
use crate::model::Model;

/// How often somebody looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Examples by rows, with a number for each: of its class, or its value.
type Part<'py> = (PyReadonlyArray2<'py, f32>, PyReadonlyArray1<'py, f64>);

/// What is known about examples of all parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    /// The shape of one example.
    shape: Vec<usize>,
    /// The shape that the user gave it.
    stored: Vec<usize>,
    /// The names of its entries, if they have some.
    columns: Vec<String>,
    /// The names of the classes; nothing for regression.
    classes: Option<Vec<String>>,
}

impl About {
    /// A copy of examples with their labels.
    fn table(&self, source: &str, (inputs, labels): &Part<'_>) -> PyResult<Table> {
        let numbers: Vec<f64> = labels.as_array().iter().copied().collect();
        let labels = match &self.classes {
            None => Labels::Values(numbers.into_iter().map(|value| value as f32).collect()),
            Some(names) => {
                let class = |value: f64| Some(value as usize).filter(|&class| value >= 0.0 && class < names.len());
                let values = numbers.into_iter().map(class).collect::<Option<_>>();
                let values = values.ok_or_else(|| wrong(format!("{source}: expected the numbers of {} classes", names.len())))?;
                Labels::Classes { names: names.clone(), values }
            }
        };
        let table = self.inputs(source, inputs, labels)?;
        if table.len() == table.labels.len() {
            return Ok(table);
        }
        Err(wrong(format!("{source}: expected as many labels as examples, got {} and {}", table.labels.len(), table.len())))
    }

    /// A copy: nobody else can change it while the GIL is released.
    fn inputs(&self, source: &str, inputs: &PyReadonlyArray2<'_, f32>, labels: Labels) -> PyResult<Table> {
        Ok(Table {
            shape: self.shape.clone(),
            inputs: copied(inputs, self.shape.iter().product(), source)?,
            labels,
            columns: self.columns.clone(),
            categories: Vec::new(),
            stored: self.stored.clone(),
            ids: Vec::new(),
            notes: Vec::new(),
            source: source.into(),
        })
    }
}

/// Trains on a project (JSON of what a project file says) and examples in memory, in a folder where an earlier run may have been cut
/// short. `listen` is called with epochs done, epochs in all as far as it can be told, and what is going on. Returns what `run.json`
/// says.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "as Python calls it")]
pub(crate) fn train(
    py: Python<'_>,
    project: &str,
    about: &str,
    examples: Part<'_>,
    validation: Option<Part<'_>>,
    test: Option<Part<'_>>,
    folder: PathBuf,
    threads: usize,
    listen: Option<Py<PyAny>>,
) -> PyResult<String> {
    let project: Project = serde_json::from_str(project).map_err(|error| wrong(error.to_string()))?;
    project.check().or_raise()?;
    let about: About = serde_json::from_str(about).map_err(|error| wrong(error.to_string()))?;
    let examples = about.table("X", &examples)?;
    let validation = validation.map(|part| about.table("validation", &part)).transpose()?;
    let test = test.map(|part| about.table("test", &part)).transpose()?;
    let loaded = py.detach(|| load(project, examples, validation, test))?;
    let run = watched(py, &loaded, &folder, threads.max(1), listen.as_ref())?;
    serde_json::to_string(&run).map_err(|error| wrong(error.to_string()))
}

/// The data as a project has them; a share of the examples is held out where there is no validation data.
fn load(project: Project, examples: Table, validation: Option<Table>, test: Option<Table>) -> PyResult<Loaded> {
    let (train, validation) = match (validation, &project.data.validation) {
        (Some(validation), _) => (examples, validation),
        (None, Validation::Share(share)) => {
            let parts = split(&examples, *share, project.train.seed).or_raise()?;
            (examples.select(&parts.train), examples.select(&parts.validation))
        }
        (None, Validation::Files(_)) => return Err(wrong("validation: expected a share or examples")),
    };
    // As in training files whose names do not tell.
    let format = if train.columns.is_empty() { Format::Npy } else { Format::Csv };
    Loaded::of_tables(project, format, train, validation, test).or_raise()
}

/// Trains in a thread of its own, so that this one hears of Ctrl-C and tells of progress.
fn watched(py: Python<'_>, loaded: &Loaded, folder: &PathBuf, threads: usize, listen: Option<&Py<PyAny>>) -> PyResult<Run> {
    let stop = Stop::new();
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // It ends with the thread, which the other side hears.
            let sender = sender;
            let listen = |event| drop(sender.send(event));
            invar_lab::project::train(loaded, folder, RunOptions { threads, stop: &stop, listen: &listen })
        });
        let mut progress = Progress::default();
        let mut interrupted = None;
        while let Some(events) = py.detach(|| next(&receiver)) {
            if interrupted.is_none()
                && let Err(error) = py.check_signals().and_then(|()| progress.tell(py, events, listen))
            {
                stop.stop();
                interrupted = Some(error);
            }
        }
        let outcome = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match interrupted {
            Some(error) => Err(error),
            None => outcome.or_raise(),
        }
    })
}

/// What has been heard since the last time; nothing when there will be no more.
fn next(receiver: &Mutex<Receiver<Event>>) -> Option<Vec<Event>> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    match receiver.recv_timeout(TICK) {
        Ok(event) => Some(std::iter::once(event).chain(receiver.try_iter()).collect()),
        Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// How far it is.
#[derive(Default)]
struct Progress {
    done: usize,
    of: usize,
    what: String,
}

impl Progress {
    /// Passes events on: warnings as Python's, everything else in one call.
    fn tell(&mut self, py: Python<'_>, events: Vec<Event>, listen: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = !events.is_empty();
        for event in events {
            match event {
                Event::Left(epochs, what) => (self.of, self.what) = (self.done + epochs, what),
                Event::Epochs(count) => self.done += count,
                Event::Message(text) => self.what = text,
                Event::Warning(text) => {
                    let text = std::ffi::CString::new(text.replace('\0', " ")).map_err(|error| wrong(error.to_string()))?;
                    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
                }
            }
        }
        match listen.filter(|_| news) {
            Some(listen) => listen.call1(py, (self.done, self.of.max(self.done), self.what.as_str())).map(drop),
            None => Ok(()),
        }
    }
}

/// The report on a run as one web page; `run` is what `run.json` says.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, run: &str, model: &Model) -> PyResult<String> {
    let run: Run = serde_json::from_str(run).map_err(|error| wrong(error.to_string()))?;
    py.detach(|| html(&run, &Proof::of(model.saved()).or_raise()?).or_raise())
}

/// What a project file for examples like these would ask: the shape of one with channels first, whether they come last, and
/// candidates.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 hands over what it made")]
pub(crate) fn suggest(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f32>,
    shape: Vec<usize>,
) -> PyResult<(Vec<usize>, bool, Vec<String>)> {
    let about = About { stored: shape.clone(), shape, columns: Vec::new(), classes: None };
    let table = about.inputs("X", &inputs, Labels::None)?;
    let Suggestion { shape, layout, candidates } = py.detach(|| invar_lab::project::suggest(&table));
    Ok((shape, layout == Layout::ChannelsLast, candidates))
}

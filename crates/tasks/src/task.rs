//! All tasks by name.

use crate::array_task::ArrayTask;
use crate::error::{Error, Result};
use crate::graph_task::GraphTask;
use crate::image_task::ImageTask;
use crate::sequence_task::SequenceTask;

/// A task of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// On sequences of whole numbers.
    Sequence(SequenceTask),
    /// On images of digits.
    Image(ImageTask),
    /// On attributed graphs.
    Graph(GraphTask),
    /// On arrays of real numbers.
    Array(ArrayTask),
}

impl Task {
    /// All tasks.
    pub fn all() -> impl Iterator<Item = Self> {
        let (sequences, images) = (SequenceTask::ALL.into_iter(), ImageTask::ALL.into_iter());
        let (graphs, arrays) = (GraphTask::ALL.into_iter(), ArrayTask::ALL.into_iter());
        let published = sequences.map(Self::Sequence).chain(images.map(Self::Image));
        published.chain(graphs.map(Self::Graph)).chain(arrays.map(Self::Array))
    }

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequence(task) => task.name(),
            Self::Image(task) => task.name(),
            Self::Graph(task) => task.name(),
            Self::Array(task) => task.name(),
        }
    }

    /// What is computed and what may be exchanged, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Sequence(task) => task.description(),
            Self::Image(task) => task.description(),
            Self::Graph(task) => task.description(),
            Self::Array(task) => task.description(),
        }
    }

    /// The task of this name; upper case and hyphens do not matter.
    ///
    /// ```
    /// # use invar_tasks::Task;
    /// assert_eq!(Task::by_name("even-minus-odd")?.name(), "even_minus_odd");
    /// let error = Task::by_name("geometrc").unwrap_err().to_string();
    /// assert!(error.starts_with("unknown task `geometrc` (did you mean `geometric`?); the tasks are sum, sum2, "));
    /// # Ok::<(), invar_tasks::Error>(())
    /// ```
    pub fn by_name(name: &str) -> Result<Self> {
        let wanted = name.trim().to_lowercase().replace('-', "_");
        if let Some(task) = Self::all().find(|task| task.name() == wanted) {
            return Ok(task);
        }
        let known: Vec<&'static str> = Self::all().map(Self::name).collect();
        let distance = |known: &str| strsim::damerau_levenshtein(&wanted, known);
        let nearest = known.iter().copied().min_by_key(|known| distance(known));
        let nearest = nearest.filter(|known| distance(known) * 2 <= known.len());
        Err(Error::UnknownTask { name: name.to_string(), nearest, known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_by_its_own_name() {
        let names: std::collections::BTreeSet<&str> = Task::all().map(Task::name).collect();
        assert_eq!(names.len(), Task::all().count());
        for task in Task::all() {
            assert_eq!(Task::by_name(task.name()), Ok(task));
            assert!(!task.description().is_empty());
        }
        assert_eq!(Task::by_name(" Even-Minus-Odd "), Ok(Task::Sequence(SequenceTask::EvenMinusOdd)));
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        for (name, nearest) in [("summ", "sum"), ("abs-dif", "abs_diff"), ("triangle", "triangles"), ("degre", "degree")] {
            let error = Task::by_name(name).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{nearest}`?")), "{error}");
        }
        let error = Task::by_name("protein folding").unwrap_err().to_string();
        assert!(!error.contains("did you mean") && error.contains("the tasks are sum, sum2"), "{error}");
    }
}

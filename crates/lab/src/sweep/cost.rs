//! How long fits will take, from fits that are recorded.

use std::path::Path;

use super::work::Work;
use crate::fit::FitConfig;
use crate::problem::Data;
use crate::record::{Record, Records};

/// What is recorded of fits, as far as it tells how long others take.
#[derive(Debug, Default)]
pub struct Experience {
    records: Vec<Record>,
}

impl Experience {
    /// From every file of records of fits in a folder. Others, as those of screens, tell nothing.
    pub fn of(results: &Path) -> Self {
        let Ok(entries) = std::fs::read_dir(results) else { return Self::default() };
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        let records = files.iter().filter_map(|path| Records::read(path).ok()).flatten().collect();
        Self { records }
    }

    /// From these.
    pub fn from_records(records: Vec<Record>) -> Self {
        Self { records }
    }

    /// About how many seconds something takes on one core; none without anything like it. Early stopping is not foreseen: it is the
    /// most that it takes.
    pub fn seconds(&self, work: &Work) -> Option<f64> {
        let Work::Fit(config) = work else { return None };
        let alike = self.records.iter().filter(|record| record.epochs > 0 && is_alike(&record.config, config));
        let pace: Vec<f64> =
            alike.map(|record| record.seconds / (record.epochs as f64 * examples(&record.config.data))).collect();
        let mean = pace.iter().sum::<f64>() / pace.len() as f64;
        (!pace.is_empty()).then(|| mean * config.max_epochs as f64 * examples(&config.data))
    }
}

/// Whether an epoch of both costs the same for each example.
fn is_alike(a: &FitConfig, b: &FitConfig) -> bool {
    let same_data = match (a.data, b.data) {
        (Data::Sequences(a), Data::Sequences(b)) => a.task == b.task,
        (Data::Images(_), Data::Images(_)) => true,
        (a, b) => a.name() == b.name(),
    };
    same_data && a.method == b.method && a.backbone == b.backbone && a.head == b.head
}

/// About how many examples an epoch has.
fn examples(data: &Data) -> f64 {
    /// Of MNIST; some 12,000 of them are threes and fours.
    const IMAGES: [f64; 2] = [60_000.0, 12_000.0];
    match data {
        Data::Sequences(data) => data.sizes.examples as f64,
        Data::Graphs(data) => data.sizes.examples as f64,
        Data::Arrays(data) => data.sizes.examples as f64,
        Data::Images(data) => {
            data.count.map_or(IMAGES[usize::from(data.task == invar_tasks::ImageTask::Mnist34)], |count| count as f64)
        }
        Data::Files(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Method;
    use crate::reproduce::diverged;

    #[test]
    fn time_follows_epochs_and_examples_of_what_is_alike() {
        let config = FitConfig { max_epochs: 100, ..FitConfig::new(Data::by_name("sum").unwrap(), Method::Cgreg) };
        let record = Record { seconds: 10.0, epochs: 50, ..diverged(&config, 0.0) };
        let experience = Experience::from_records(vec![record]);
        let seconds = |config: &FitConfig| experience.seconds(&Work::Fit(Box::new(config.clone())));
        assert_eq!(seconds(&config), Some(20.0));
        let mut half = config.clone();
        half.data.set_examples(4000);
        assert_eq!(seconds(&half), Some(10.0));
        assert_eq!(seconds(&FitConfig { method: Method::Gru, ..config }), None);
    }
}

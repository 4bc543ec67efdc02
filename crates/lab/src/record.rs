//! Records: one JSON line per fit or screen, written as soon as it ends, so that nothing finished is ever lost.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use invar_data::Digest;
use invar_nn::{End, Epoch};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::claim;
use crate::fit::FitConfig;
use crate::identity::identity;

/// Most points of a learning curve that are written down.
const CURVE_POINTS: usize = 40;

/// What a fit was and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Everything that decided it.
    pub config: FitConfig,
    /// Number of trained parameters.
    pub parameters: usize,
    /// Epochs trained.
    pub epochs: usize,
    /// Epoch of the weights that were kept.
    pub best_epoch: usize,
    /// Why it ended.
    pub end: End,
    /// Wall time of the fit.
    pub seconds: f64,
    /// In the training environment, on held-out examples.
    pub validation: Metrics,
    /// In the other environment, if there is one. Never used for a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolation: Option<Metrics>,
    /// Share of coupled pairs answered alike (Definition 2); absent when nothing is irrelevant.
    pub consistency: Option<f64>,
    /// Accuracy of the most frequent training target: on the test set, or on validation examples without one.
    pub chance: f64,
    /// What the CG layer kept; absent for baselines.
    pub layer: Option<Layer>,
    /// The learning curve, thinned.
    pub curve: Vec<Epoch>,
}

/// Loss and accuracy (a share, 0 to 1; for numbers of the user's own R²).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Mean loss.
    pub loss: f64,
    /// Share answered right, or R².
    pub accuracy: f64,
}

/// What a CG layer kept and used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Per candidate group.
    pub groups: Vec<KeptGroup>,
    /// Norm of the coefficients of each subspace of the first CG layer, in the order of the lattice.
    pub norms: Vec<f64>,
    /// The same for every CG layer behind the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Vec<f64>>,
}

/// Whether a layer is invariant to a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGroup {
    /// Position in the list of candidates.
    pub group: usize,
    /// Whether the violation is within the tolerance.
    pub kept: bool,
    /// ||W (I - R)||² / ||W||².
    pub violation: f64,
}

impl Record {
    /// Accuracy in the other environment; not a number where there is none.
    pub fn extrapolation_accuracy(&self) -> f64 {
        self.extrapolation.map_or(f64::NAN, |metrics| metrics.accuracy)
    }

    /// What was minimised, on held-out examples: validation loss plus weighted penalty of the weights that were kept, as far as the
    /// curve tells.
    pub(crate) fn objective(&self) -> f64 {
        let kept = self.curve.iter().rev().find(|epoch| epoch.epoch <= self.best_epoch);
        self.validation.loss + self.config.lambda * kept.map_or(0.0, |epoch| epoch.penalty)
    }

    /// The first epochs, then ever fewer, and the last.
    pub(crate) fn thinned(curve: &[Epoch]) -> Vec<Epoch> {
        Self::thinned_with(curve, curve.len())
    }

    /// The same with one epoch more, counted from 1.
    pub(crate) fn thinned_with(curve: &[Epoch], epoch: usize) -> Vec<Epoch> {
        let last = curve.len().saturating_sub(1);
        let mut places: Vec<usize> = (0..CURVE_POINTS)
            .map(|k| ((last + 1) as f64).powf(k as f64 / (CURVE_POINTS - 1) as f64).round() as usize - 1)
            .chain([last, epoch.wrapping_sub(1)])
            .filter(|&place| place < curve.len())
            .collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| curve[place]).collect()
    }
}

/// Something that is written down once, under the configuration that decided it.
pub trait Recorded: Serialize + DeserializeOwned {
    /// Everything that decided it.
    type Config: Serialize;

    /// Its configuration.
    fn config(&self) -> &Self::Config;
}

impl Recorded for Record {
    type Config = FitConfig;

    fn config(&self) -> &FitConfig {
        &self.config
    }
}

/// An open record file: what it held, and a way to add to it. Locked against other runs while it is open.
#[derive(Debug)]
pub struct Records<R = Record> {
    path: PathBuf,
    file: File,
    known: Vec<R>,
    /// What each is known by.
    identities: Vec<Digest>,
}

impl<R: Recorded> Records<R> {
    /// Opens or creates a record file and reads what it holds.
    ///
    /// A last line without an end, left by a run that was killed while writing, is cut off: that fit was not finished.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |what| move |source| Error::File { what, path: path.to_path_buf(), source };
        if let Some(folder) = path.parent() {
            claim(folder).map_err(failed("create the folder of"))?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.to_path_buf() }),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed("read"))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let known: Vec<R> = parse(path, &text[..whole])?;
        let identities = known.iter().map(|record| identity(record.config())).collect::<Result<_>>()?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed("mend"))?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed("read"))?;
        Ok(Self { path: path.to_path_buf(), file, known, identities })
    }

    /// Reads a record file without locking it.
    pub fn read(path: &Path) -> Result<Vec<R>> {
        let text = std::fs::read(path).map_err(|source| Error::File { what: "read", path: path.to_path_buf(), source })?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        parse(path, &text[..whole])
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is recorded.
    pub fn all(&self) -> &[R] {
        &self.known
    }

    /// The record of a configuration, if there is one.
    pub fn find(&self, config: &R::Config) -> Option<&R> {
        let wanted = identity(config).ok()?;
        self.identities.iter().position(|known| *known == wanted).map(|place| &self.known[place])
    }

    /// Adds a record: on the disk before this returns.
    pub fn add(&mut self, record: R) -> Result<()> {
        let failed = |source| Error::File { what: "write", path: self.path.clone(), source };
        let identity = identity(record.config())?;
        let mut line = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        // One write per line: a reader sees whole lines, and a kill can only cut the last.
        self.file.write_all(&line).map_err(failed)?;
        self.file.sync_data().map_err(failed)?;
        self.known.push(record);
        self.identities.push(identity);
        Ok(())
    }
}

fn parse<R: Recorded>(path: &Path, text: &[u8]) -> Result<Vec<R>> {
    let lines = text.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(k, line)| {
            let wrong =
                |error: serde_json::Error| Error::Record { path: path.to_path_buf(), line: k + 1, reason: error.to_string() };
            serde_json::from_slice(line).map_err(wrong)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Method;
    use crate::problem::Data;

    fn record(seed: u64) -> Record {
        let metrics = Metrics { loss: 0.1, accuracy: 0.9 };
        Record {
            config: FitConfig { seed, ..FitConfig::new(Data::by_name("sum").unwrap(), Method::Plain) },
            parameters: 1,
            epochs: 2,
            best_epoch: 1,
            end: End::MaxEpochs,
            seconds: 0.5,
            validation: metrics,
            extrapolation: Some(metrics),
            consistency: None,
            chance: 0.0,
            layer: None,
            curve: Vec::new(),
        }
    }

    #[test]
    fn what_was_written_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/records.jsonl");
        let mut records = Records::open(&path).unwrap();
        records.add(record(1)).unwrap();
        records.add(record(2)).unwrap();
        drop(records);
        let records = Records::open(&path).unwrap();
        assert_eq!(records.all(), [record(1), record(2)]);
        assert_eq!(records.find(&record(2).config), Some(&record(2)));
        assert!(records.find(&record(3).config).is_none());
    }

    #[test]
    fn fits_are_found_again_whatever_their_numbers_look_like() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let at = |lambda: f64| {
            let record = record(1);
            Record {
                config: FitConfig { lambda, ..record.config },
                validation: Metrics { loss: lambda, accuracy: 0.5 },
                ..record
            }
        };
        // Readers that round to the nearest digits bring these back one unit off.
        let lambdas = [0.911_111_111_111_111_1, 0.922_222_222_222_222_3, 0.933_333_333_333_333_3, 5e-324, f64::MAX];
        let mut records = Records::open(&path).unwrap();
        for &lambda in &lambdas {
            records.add(at(lambda)).unwrap();
        }
        drop(records);
        let records = Records::open(&path).unwrap();
        for lambda in lambdas {
            assert_eq!(records.find(&at(lambda).config), Some(&at(lambda)));
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_rest_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        Records::open(&path).unwrap().add(record(1)).unwrap();
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"{\"config\":{\"da");
        std::fs::write(&path, text).unwrap();
        let mut records = Records::open(&path).unwrap();
        assert_eq!(records.all().len(), 1);
        records.add(record(2)).unwrap();
        assert_eq!(Records::<Record>::read(&path).unwrap(), [record(1), record(2)]);
    }

    #[test]
    fn garbage_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        Records::open(&path).unwrap().add(record(1)).unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("not json\n");
        std::fs::write(&path, &text).unwrap();
        let error = Records::<Record>::open(&path).unwrap_err().to_string();
        assert!(error.contains("line 2: not a record"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn two_writers_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let first = Records::<Record>::open(&path).unwrap();
        assert!(matches!(Records::<Record>::open(&path), Err(Error::Busy { .. })));
        drop(first);
        assert!(Records::<Record>::open(&path).is_ok());
    }

    #[test]
    fn curves_are_thinned_but_keep_their_ends() {
        let epoch = |epoch| Epoch { epoch, train_loss: 1.0, validation_loss: 1.0, validation_accuracy: 0.0, penalty: 0.0 };
        let curve: Vec<Epoch> = (1..=1000).map(epoch).collect();
        let thin = Record::thinned(&curve);
        assert!(thin.len() <= CURVE_POINTS + 1 && thin[0].epoch == 1 && thin.last().unwrap().epoch == 1000);
        assert!(thin.iter().all(|epoch| epoch.epoch != 901));
        assert!(Record::thinned_with(&curve, 901).iter().any(|epoch| epoch.epoch == 901));
        assert_eq!(Record::thinned(&curve[..3]).len(), 3);
        assert!(Record::thinned(&[]).is_empty());
    }
}

//! Finished fits of a screen on disk, so that a screen that is cut short goes on where it was. What is kept of a fit are its scores, to
//! the last bit, under a key that says everything that decided it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use invar_data::Digest;
use serde::{Deserialize, Serialize};

use super::config::ScreenConfig;
use super::cost::{PerExample, Scores};
use super::fitter::Fitted;
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::identity::identity;

/// How the names of its files end.
const ENDING: &str = "fit";

/// A folder of finished fits.
#[derive(Debug)]
pub struct Memory {
    folder: PathBuf,
    /// What identifies the screen.
    config: Digest,
}

/// Scores as a file has them: numbers by their bits, which decimals do not promise.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bits {
    right: Option<String>,
    errors: Option<Vec<u64>>,
    loss: u64,
}

impl Bits {
    fn of(scores: &Scores) -> Self {
        let (right, errors) = match &scores.each {
            PerExample::Right(right) => (Some(right.iter().map(|&right| if right { '1' } else { '0' }).collect()), None),
            PerExample::Error(errors) => (None, Some(errors.iter().map(|error| error.to_bits()).collect())),
        };
        Self { right, errors, loss: scores.loss.to_bits() }
    }

    fn scores(self) -> Option<Scores> {
        let each = match (self.right, self.errors) {
            (Some(right), None) => PerExample::Right(right.chars().map(|right| right == '1').collect()),
            (None, Some(errors)) => PerExample::Error(errors.into_iter().map(f64::from_bits).collect()),
            _ => return None,
        };
        Some(Scores { each, loss: f64::from_bits(self.loss) })
    }
}

impl Memory {
    /// Fits of one screen, in a folder that is created.
    pub fn open(folder: &Path, config: &ScreenConfig) -> Result<Self> {
        Self::create(folder.to_path_buf(), identity(config)?)
    }

    /// Fits of one screen of many, in a folder of its own among theirs.
    pub fn among(folder: &Path, config: &ScreenConfig) -> Result<Self> {
        let config = identity(config)?;
        Self::create(folder.join(config.short()), config)
    }

    /// Removes what a program that was killed left of screens that are done, in a folder of many.
    pub fn forget_done<'a>(folder: &Path, done: impl IntoIterator<Item = &'a ScreenConfig>) -> Result<()> {
        for config in done {
            let config = identity(config)?;
            let left = folder.join(config.short());
            if left.is_dir() {
                Self::create(left, config)?.forget()?;
            }
        }
        // It is there for as long as fits are in it.
        let _ = std::fs::remove_dir(folder);
        Ok(())
    }

    fn create(folder: PathBuf, config: Digest) -> Result<Self> {
        std::fs::create_dir_all(&folder).map_err(|source| Error::File { what: "create", path: folder.clone(), source })?;
        Ok(Self { folder, config })
    }

    /// Removes the fits: the screen is done. The folder goes with them unless there is something else in it.
    pub fn forget(self) -> Result<()> {
        let failed = |source| Error::File { what: "remove", path: self.folder.clone(), source };
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // A program that was killed may have left a file that it had begun.
            if path.extension().is_some_and(|ending| ending == ENDING || ending == "tmp") {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        let _ = std::fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The key of a fit, from everything besides the configuration that decides it. Without a fingerprint of the program there is
    /// none, and nothing is remembered.
    pub(super) fn key(&self, parts: &impl Serialize) -> Option<Digest> {
        Some(Digest::of([program()?.as_bytes(), self.config.bytes(), identity(parts).ok()?.bytes()]))
    }

    fn path(&self, key: &Digest) -> PathBuf {
        self.folder.join(format!("{}.{ENDING}", key.short()))
    }

    /// A finished fit; nothing when it is not there. A file that is damaged is one that is not there: the fit is made again.
    pub(super) fn recall(&self, key: &Digest) -> Option<Fitted> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        let ([selection, decision], fresh): ([Bits; 2], Option<u64>) = serde_json::from_str(&text).ok()?;
        Some(Fitted { selection: selection.scores()?, decision: decision.scores()?, fresh: fresh.map(f64::from_bits) })
    }

    /// Keeps a finished fit.
    pub(super) fn keep(&self, key: &Digest, fitted: &Fitted) -> Result<()> {
        let path = self.path(key);
        let failed = |source: std::io::Error| Error::File { what: "write", path: path.clone(), source };
        let bits = ([Bits::of(&fitted.selection), Bits::of(&fitted.decision)], fitted.fresh.map(f64::to_bits));
        let text = serde_json::to_string(&bits).map_err(|error| failed(error.into()))?;
        write_whole(&path, text.as_bytes()).map_err(failed)
    }
}

/// A fingerprint of this program: another one may train otherwise, and costs are differences between fits of one program.
fn program() -> Option<&'static str> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    let fingerprint = || {
        // What runs, even if its file has been replaced since.
        let own = Path::new("/proc/self/exe");
        let bytes = std::fs::read(own).or_else(|_| std::env::current_exe().and_then(std::fs::read));
        bytes.ok().map(|bytes| Digest::of([bytes]).to_string())
    };
    PROGRAM.get_or_init(fingerprint).as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Data;

    #[test]
    fn scores_come_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let mut data = Data::by_name("sum").unwrap();
        data.set_examples(100);
        let config = ScreenConfig::new(data, &data.problem(0).unwrap());
        let memory = Memory::open(&folder.path().join("deep"), &config).unwrap();
        let (one, other) = (memory.key(&("a", 1)).unwrap(), memory.key(&("a", 2)).unwrap());
        let fitted = Fitted {
            selection: Scores { each: PerExample::Right(vec![true, false, true]), loss: 1.0 / 3.0 },
            decision: Scores { each: PerExample::Error(vec![0.1, f64::MIN_POSITIVE]), loss: f64::MAX },
            fresh: Some(1.0 / 7.0),
        };
        memory.keep(&one, &fitted).unwrap();
        assert_eq!(memory.recall(&one), Some(fitted));
        assert_eq!(memory.recall(&other), None, "another fit");
        std::fs::write(memory.path(&one), b"damaged").unwrap();
        assert_eq!(memory.recall(&one), None);
        memory.forget().unwrap();
        assert!(!folder.path().join("deep").exists());
    }

    #[test]
    fn what_is_left_of_screens_that_are_done_goes_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path().join("screens.fits");
        let mut data = Data::by_name("sum").unwrap();
        data.set_examples(100);
        let done = ScreenConfig::new(data, &data.problem(0).unwrap());
        let open = ScreenConfig { seed: 1, ..done.clone() };
        for config in [&done, &open] {
            let memory = Memory::among(&all, config).unwrap();
            std::fs::write(memory.folder.join("a.fit"), b"x").unwrap();
            std::fs::write(memory.folder.join(".invar-x.tmp"), b"x").unwrap();
        }
        Memory::forget_done(&all, [&done]).unwrap();
        assert_eq!(std::fs::read_dir(&all).unwrap().count(), 1);
        Memory::forget_done(&all, [&done, &open]).unwrap();
        assert!(!all.exists());
        Memory::forget_done(&all, [&done]).unwrap();
    }
}

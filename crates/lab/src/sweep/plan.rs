//! What a sweep consists of: a list of fits in a file of its folder, each under a name that never changes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::work::Work;
use crate::error::{Error, Result};
use crate::files;

/// Of the file.
const VERSION: u32 = 1;
const FILE: &str = "sweep.json";

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The first digits of the digest of its configuration.
    pub id: String,
    /// What it is, for people.
    pub name: String,
    /// About how many seconds it takes on one core, where something like it is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Everything that decides it.
    pub work: Work,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    version: u32,
    records: String,
    jobs: Vec<Job>,
}

/// A sweep: the folder that its workers share, and what there is to do.
#[derive(Debug)]
pub struct Sweep {
    folder: PathBuf,
    /// The name of the file that its records are gathered in, without its ending.
    pub records: String,
    /// All of it, done or not.
    pub jobs: Vec<Job>,
}

impl Sweep {
    /// Writes down what is to be done. What the folder holds already stays: a sweep can be planned again for more.
    pub fn plan(folder: &Path, records: &str, jobs: Vec<Job>) -> Result<Self> {
        let mut all = if folder.join(FILE).exists() {
            let old = Self::open(folder)?;
            if old.records != records {
                let problem = format!("this is a sweep of {}, not of {records}; choose another folder", old.records);
                return Err(Error::Sweep { path: folder.to_path_buf(), problem });
            }
            old.jobs
        } else {
            Vec::new()
        };
        let known: HashSet<String> = all.iter().map(|job| job.id.clone()).collect();
        let mut new: HashSet<String> = HashSet::new();
        all.extend(jobs.into_iter().filter(|job| !known.contains(&job.id) && new.insert(job.id.clone())));
        let path = folder.join(FILE);
        let failed = |source| Error::File { what: "write", path: path.clone(), source };
        files::claim(folder).map_err(failed)?;
        let plan = Plan { version: VERSION, records: records.into(), jobs: all };
        let text = serde_json::to_vec_pretty(&plan).map_err(|error| failed(error.into()))?;
        files::write_whole(&path, &text).map_err(failed)?;
        for part in ["claims", "done"] {
            fs::create_dir_all(folder.join(part)).map_err(failed)?;
        }
        Ok(Self { folder: folder.to_path_buf(), records: plan.records, jobs: plan.jobs })
    }

    /// A sweep that was planned.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let wrong = |problem: String| Error::Sweep { path: path.clone(), problem };
        let text = fs::read(&path).map_err(|source| Error::File { what: "read", path: path.clone(), source })?;
        let plan: Plan = serde_json::from_slice(&text).map_err(|error| wrong(format!("not the plan of a sweep ({error})")))?;
        if plan.version != VERSION {
            return Err(wrong(format!("version {VERSION} was expected, but it has {}", plan.version)));
        }
        for job in &plan.jobs {
            // Else one version would take the fits of another for its own.
            let own = job.work.id()?;
            if job.id != own {
                return Err(wrong(format!(
                    "{} ({}) is {own} to this version of the program; plan it again in another folder",
                    job.id, job.name
                )));
            }
        }
        Ok(Self { folder: folder.to_path_buf(), records: plan.records, jobs: plan.jobs })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The places of these jobs, or of all; each may be given by the first digits of its name.
    pub fn select(&self, only: &[String]) -> Result<Vec<usize>> {
        if only.is_empty() {
            return Ok((0..self.jobs.len()).collect());
        }
        let mut places = Vec::new();
        for wanted in only {
            let found: Vec<usize> = (0..self.jobs.len()).filter(|&k| self.jobs[k].id.starts_with(wanted.as_str())).collect();
            match found[..] {
                [place] if !wanted.is_empty() => places.push(place),
                _ => {
                    let expected =
                        format!("the first digits of one of its {} fits, as `status --all` shows them", self.jobs.len());
                    let got = format!("`{wanted}`, which begins {}", found.len());
                    return Err(Error::Setting { name: "--only", expected, got });
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    pub(super) fn claims(&self) -> PathBuf {
        self.folder.join("claims")
    }

    /// The record of a job, once it is there.
    pub(super) fn record(&self, job: &Job) -> PathBuf {
        self.folder.join("done").join(format!("{}.json", job.id))
    }
}

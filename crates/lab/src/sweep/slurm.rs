//! Workers as tasks of Slurm arrays.

use std::fmt::Write as _;
use std::path::Path;

use super::plan::Job;

/// Fits that are short share a task: as many as take about so long together.
const TASK_SECONDS: f64 = 600.0;
/// Most fits of a task whose times are not known, or nearly nothing.
const MOST: usize = 100;

/// How fits become tasks of arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrays {
    /// The fits of every task.
    pub tasks: Vec<Vec<String>>,
    /// The arrays: the first task of each, and how many.
    pub chunks: Vec<[usize; 2]>,
}

impl Arrays {
    /// Packs fits into tasks, `per_task` each or as many as take about ten minutes, and tasks into arrays of at most `max_array_size`.
    pub fn of(jobs: &[&Job], per_task: Option<usize>, max_array_size: usize) -> Self {
        let mut tasks: Vec<Vec<String>> = Vec::new();
        let mut seconds = f64::INFINITY;
        for job in jobs {
            // One that nothing is known of gets a task of its own.
            let own = job.seconds.unwrap_or(TASK_SECONDS);
            let room = tasks.last().is_some_and(|task| match per_task {
                Some(count) => task.len() < count,
                None => task.len() < MOST && seconds + own <= TASK_SECONDS,
            });
            if let Some(task) = tasks.last_mut().filter(|_| room) {
                task.push(job.id.clone());
                seconds += own;
            } else {
                tasks.push(vec![job.id.clone()]);
                seconds = own;
            }
        }
        let size = max_array_size.max(1);
        let chunks = (0..tasks.len()).step_by(size).map(|first| [first, size.min(tasks.len() - first)]).collect();
        Self { tasks, chunks }
    }

    /// The fits of all tasks, one task to a line.
    pub fn list(&self) -> String {
        self.tasks.iter().fold(String::new(), |text, task| text + &task.join(" ") + "\n")
    }
}

/// What the script of an array is made of.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// The program.
    pub program: &'a Path,
    /// The folder of the sweep.
    pub folder: &'a Path,
    /// The list of tasks.
    pub list: &'a Path,
    /// How long a worker may be silent, in seconds.
    pub lease: u64,
    /// How often a task that ran out of time is put back into the queue.
    pub requeues: usize,
    /// Whether failed fits are begun again.
    pub retry_failed: bool,
}

impl Script<'_> {
    /// The script. Its first argument is the number of the array's first task.
    ///
    /// The signal before the time limit goes to the script alone, which asks the worker to stop: it gives its fits back at once. Then
    /// the task is put back into the queue. A task whose node is lost is put there by Slurm itself (`--requeue`).
    pub fn text(&self) -> String {
        let mut text = String::from(
            "#!/bin/bash\n# Written by invar sweep submit: one task of an array, with the fits in one line of a list.\n",
        );
        let Self { requeues, lease, .. } = self;
        let retry = if self.retry_failed { " --retry-failed" } else { "" };
        let [program, folder, list] = [self.program, self.folder, self.list].map(quoted);
        let _ = write!(
            text,
            r#"set -u
read -r -a fits < <(sed -n "$(($1 + SLURM_ARRAY_TASK_ID + 1))p" {list})
seat="$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID"
restart="${{SLURM_RESTART_COUNT:-0}}"
stopped=
{program} sweep run {folder} --quiet --threads "${{SLURM_CPUS_PER_TASK:-1}}" --lease {lease}{retry} \
    --seat "$seat" --restart "$restart" --only "${{fits[@]}}" &
worker=$!
trap 'stopped=yes; kill -TERM "$worker"' TERM
wait "$worker"
code=$?
# A signal ends the first wait, not the worker.
while kill -0 "$worker" 2>/dev/null; do
    wait "$worker"
    code=$?
done
if [ -n "$stopped" ] && [ "$restart" -lt {requeues} ]; then
    scontrol requeue "$seat"
fi
exit "$code"
"#
        );
        text
    }
}

/// For a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// The value of a setting in what `scontrol show config` prints.
pub fn setting(config: &str, name: &str) -> Option<usize> {
    let line = config.lines().find_map(|line| line.split_once('=').filter(|(key, _)| key.trim() == name))?;
    line.1.trim().parse().ok()
}

/// The number of a job in what `sbatch --parsable` prints.
pub fn job_number(printed: &str) -> Option<u64> {
    printed.lines().last()?.split(';').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{FitConfig, Method};
    use crate::problem::Data;
    use crate::sweep::Work;

    fn jobs(seconds: &[Option<f64>]) -> Vec<Job> {
        let job = |(k, &seconds): (usize, &Option<f64>)| {
            let config = FitConfig { seed: k as u64, ..FitConfig::new(Data::by_name("sum").unwrap(), Method::Plain) };
            let work = Work::Fit(Box::new(config));
            Job { id: work.id().unwrap(), name: work.name(), seconds, work }
        };
        seconds.iter().enumerate().map(job).collect()
    }

    #[test]
    fn every_fit_is_in_one_task_and_every_task_in_one_array() {
        let jobs = jobs(&[Some(1.0); 205]);
        let jobs: Vec<&Job> = jobs.iter().collect();
        let arrays = Arrays::of(&jobs, Some(2), 50);
        assert_eq!(arrays.chunks, [[0, 50], [50, 50], [100, 3]]);
        let all: Vec<&String> = arrays.tasks.iter().flatten().collect();
        assert_eq!(all, jobs.iter().map(|job| &job.id).collect::<Vec<_>>());
        assert_eq!(arrays.list().lines().count(), 103);
        assert!(arrays.tasks[..102].iter().all(|task| task.len() == 2));
    }

    #[test]
    fn short_fits_share_a_task_and_unknown_ones_do_not() {
        let jobs = jobs(&[Some(250.0), Some(250.0), Some(250.0), None, None, Some(900.0), Some(1.0)]);
        let arrays = Arrays::of(&jobs.iter().collect::<Vec<_>>(), None, 1001);
        let sizes: Vec<usize> = arrays.tasks.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 1, 1, 1, 1, 1]);
        assert_eq!(Arrays::of(&[], None, 1001).chunks.len(), 0);
    }

    #[test]
    fn answers_of_slurm_are_understood() {
        assert_eq!(setting("MaxArraySize            = 1001\nMaxJobCount = 10000", "MaxArraySize"), Some(1001));
        assert_eq!(setting("OtherMaxArraySize = 5", "MaxArraySize"), None);
        assert_eq!((job_number("17\n"), job_number("18;cluster\n"), job_number("")), (Some(17), Some(18), None));
    }

    #[test]
    fn the_script_quotes_names_for_the_shell() {
        let path = Path::new("/tmp/it's $HOME");
        let script = Script { program: path, folder: path, list: path, lease: 60, requeues: 3, retry_failed: false };
        assert_eq!(script.text().matches(r"'/tmp/it'\''s $HOME'").count(), 3);
    }
}

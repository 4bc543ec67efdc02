//! `invar sweep submit`: what runs the workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use invar_lab::sweep::slurm::{Arrays, Script, job_number, setting};
use invar_lab::sweep::{Counts, Job, Standing, Sweep};

use crate::cli::{EngineArg, SubmitArgs};
use crate::output::{self, count, line};

pub(super) fn submit(args: &SubmitArgs) -> Result<ExitCode> {
    let sweep = Sweep::open(&args.folder)?;
    match args.engine {
        EngineArg::Local => {
            let with = "the engine local";
            crate::train::refuse(with, [("--per-task", args.per_task.is_some()), ("-- OPTIONS", !args.options.is_empty())])?;
            local(args, &sweep)
        }
        EngineArg::Slurm => slurm(args, &sweep),
    }
}

/// Processes, one fit at a time each. One that dies is not replaced: the others take over its fits.
fn local(args: &SubmitArgs, sweep: &Sweep) -> Result<ExitCode> {
    let processes = crate::prepare_fits(args.at_once);
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let lease = args.sharing.lease.to_string();
    let start = |_| -> Result<Child> {
        let mut worker = Command::new(&program);
        worker.args(["sweep", "run", "--quiet", "--threads", "1", "--lease", &lease]).arg(&args.folder);
        if args.sharing.retry_failed {
            worker.arg("--retry-failed");
        }
        worker.spawn().context("cannot start a worker")
    };
    let mut workers: Vec<Child> = (0..processes).map(start).collect::<Result<_>>()?;
    let bar = crate::progress::bar(sweep.jobs.len(), "fits");
    let mut told = false;
    while !ended(&mut workers)? {
        std::thread::sleep(Duration::from_millis(200));
        if crate::STOP.is_stopped() && !told {
            told = true;
            workers.iter().for_each(ask_to_stop);
        }
        if !bar.is_hidden() {
            bar.set_position(Counts::of(&sweep.standings()?).done as u64);
        }
    }
    bar.finish_and_clear();
    let counts = Counts::of(&sweep.standings()?);
    line(&format!("{} of {} done, {} failed", counts.done, count(sweep.jobs.len(), "fit"), counts.failed))?;
    Ok(ExitCode::from(u8::from(counts.done < sweep.jobs.len())))
}

fn ended(workers: &mut [Child]) -> Result<bool> {
    for worker in workers {
        if worker.try_wait().context("cannot tell whether a worker has ended")?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// It gives its fit back. One that has ended cannot hear it.
fn ask_to_stop(worker: &Child) {
    let _ = Command::new("kill").args(["-TERM", &worker.id().to_string()]).status();
}

/// Arrays of what has no record yet.
fn slurm(args: &SubmitArgs, sweep: &Sweep) -> Result<ExitCode> {
    let standings = sweep.standings()?;
    let left: Vec<&Job> =
        sweep.jobs.iter().zip(&standings).filter(|(_, standing)| wanted(standing, args)).map(|(job, _)| job).collect();
    if left.is_empty() {
        line("nothing to submit: every fit has a record, or has failed (--retry-failed)")?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = answer(Command::new("scontrol").args(["show", "config"]))?;
    let largest = setting(&config, "MaxArraySize").context("scontrol show config does not tell MaxArraySize")?;
    let arrays = Arrays::of(&left, args.per_task, largest);
    let (script, folder) = write(args, sweep, &arrays)?;
    let mut before: Option<u64> = None;
    for [first, tasks] in &arrays.chunks {
        let mut sbatch = Command::new("sbatch");
        sbatch.args(["--parsable", "--requeue", "--open-mode=append"]);
        sbatch.arg(format!("--job-name=invar-{}", sweep.records)).arg(format!("--signal=B:TERM@{}", args.notice));
        sbatch.arg(format!("--output={}", folder.join("%A_%a.log").display()));
        let at_once = args.at_once.map_or(String::new(), |count| format!("%{count}"));
        sbatch.arg(format!("--array=0-{}{at_once}", tasks - 1));
        // So many at a time over all arrays.
        if let Some(before) = before.filter(|_| args.at_once.is_some()) {
            sbatch.arg(format!("--dependency=afterany:{before}"));
        }
        let printed = answer(sbatch.args(&args.options).arg(&script).arg(first.to_string()))?;
        let job = job_number(&printed).with_context(|| format!("sbatch printed no number of a job, but {printed:?}"))?;
        line(&format!("job {job}: {} from {}", count(*tasks, "task"), first))?;
        before = Some(job);
    }
    line(&format!(
        "{} in {}; what they print is in {}",
        count(left.len(), "fit"),
        count(arrays.tasks.len(), "task"),
        output::shown(&folder)
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(standing: &Standing, args: &SubmitArgs) -> bool {
    match standing {
        Standing::Done => false,
        Standing::Failed(_) => args.sharing.retry_failed,
        // Whoever has claimed it may be lost.
        Standing::Claimed(_) | Standing::Open => true,
    }
}

/// Writes the list of tasks and their script into a new folder of the sweep.
fn write(args: &SubmitArgs, sweep: &Sweep, arrays: &Arrays) -> Result<(PathBuf, PathBuf)> {
    let sweep_folder =
        fs::canonicalize(sweep.folder()).with_context(|| format!("cannot find {}", output::shown(sweep.folder())))?;
    let folder = new_folder(&sweep_folder.join("submitted"))?;
    let (list, script) = (folder.join("tasks"), folder.join("script"));
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    output::write(&list, &arrays.list())?;
    let text = Script {
        program: &program,
        folder: &sweep_folder,
        list: &list,
        lease: args.sharing.lease,
        requeues: args.requeues,
        retry_failed: args.sharing.retry_failed,
    }
    .text();
    output::write(&script, &text)?;
    Ok((script, folder))
}

/// The first number that no folder has yet.
fn new_folder(among: &Path) -> Result<PathBuf> {
    let failed = || format!("cannot create a folder in {}", output::shown(among));
    fs::create_dir_all(among).with_context(failed)?;
    for number in 1..=9999 {
        let folder = among.join(format!("{number:04}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(failed),
        }
    }
    bail!("{} has 9999 submissions", output::shown(among))
}

/// What a program prints; an error with what it complains about if it fails.
fn answer(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}; is Slurm installed here?"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

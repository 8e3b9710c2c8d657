//! A farm as a plain array of batch jobs, for sites that forbid pilots. Each task does its own share of the chunks, one
//! after the other, and publishes the results in a shared directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::farm::{Attempt, ChunkWorkers, FarmJob, Published, SharedFarm};
use anyhow::{Context, Result, bail};
use launcher::slurm::{Batch, SlurmJob, cancelling, jobs, submit};
use measure::Stopper;

use super::work::WorkerFactory;
use crate::ExitStatus;
use crate::output;

/// Interval at which Slurm is asked for the tasks.
const LOOK: Duration = Duration::from_secs(2);
/// Times that the array is handed in, as long as each time something was done.
const ROUNDS: u32 = 5;

/// Time for which Slurm lists no task before they count as ended: a controller that has just been restarted, or that
/// has just taken them, may list none. It lists ended ones for minutes (`MinJobAge`), so that few arrays wait for this.
const UNLISTED: Duration = Duration::from_secs(60);

/// Whether the tasks of an array are over, by what Slurm lists one time after the other.
#[derive(Debug, Default)]
struct TaskWatch {
    /// Since when its answers list no task.
    unlisted: Option<Instant>,
}

impl TaskWatch {
    /// Whether they are, after one more check; `None`: the controller did not answer, which is no evidence.
    fn over(&mut self, listed: Option<&[SlurmJob]>, now: Instant) -> bool {
        match listed {
            None => false,
            Some([]) => now.saturating_duration_since(*self.unlisted.get_or_insert(now)) >= UNLISTED,
            Some(tasks) => {
                self.unlisted = None;
                tasks.iter().all(SlurmJob::is_over)
            }
        }
    }
}

/// How tasks are started.
pub(super) struct ArrayPlan<'a> {
    /// Path of this program on the nodes.
    pub(super) program: String,
    /// Tasks.
    pub(super) tasks: u64,
    /// Chunks at a time in a task; 0: one for each CPU that it may use.
    pub(super) slots: u32,
    /// Options of the site.
    pub(super) options: Vec<String>,
    /// Time limit of a task.
    pub(super) limit: Duration,
    /// The shared directory, as all nodes see it.
    pub(super) folder: &'a Path,
}

impl ArrayPlan<'_> {
    fn words(&self) -> Vec<String> {
        let folder = self.folder.display().to_string();
        let (tasks, slots) = (self.tasks.to_string(), self.slots.to_string());
        ["farm", "task", &folder, "--of", &tasks, "--jobs", &slots].map(str::to_owned).to_vec()
    }

    fn batch(&self, name: &str) -> Batch {
        let mut options = self.options.clone();
        options.push(format!("--array=0-{}", self.tasks - 1));
        let mut command = vec![self.program.clone()];
        command.extend(self.words());
        // A percent sign begins a pattern of Slurm, unless it is doubled.
        let folder = self.folder.display().to_string().replace('%', "%%");
        let output = Some(format!("{folder}/task-%a.log"));
        Batch { name: name.to_owned(), time_limit: self.limit, options, command, output, ..Batch::default() }
    }

    /// The script for sbatch(1).
    pub(super) fn slurm(&self) -> Result<String> {
        Ok(self.batch("prony-farm").script()?)
    }

    /// The description for condor_submit(1): HTCondor Manual, "Submitting a job", with the new syntax of arguments.
    pub(super) fn condor(&self) -> Result<String> {
        // A submit file has one command a line.
        if self.folder.display().to_string().chars().any(char::is_control) || self.program.chars().any(char::is_control)
        {
            bail!("could not describe the tasks to HTCondor: a path has a control character");
        }
        let quoted = |word: &String| format!("'{}'", word.replace('\'', "''").replace('"', "\"\""));
        let words: Vec<String> = self.words().iter().map(quoted).collect();
        let folder = self.folder.display();
        Ok(format!(
            "universe = vanilla\nexecutable = {}\narguments = \"{} --index $(Process)\"\nrequest_cpus = {}\n\
             should_transfer_files = NO\nmax_retries = 3\noutput = {folder}/task-$(Process).log\n\
             error = {folder}/task-$(Process).log\nlog = {folder}/condor.log\n\
             +MaxRuntime = {}\nqueue {}\n",
            self.program,
            words.join(" "),
            self.slots.max(1),
            self.limit.as_secs(),
            self.tasks
        ))
    }

    /// Hands the array in, and again while chunks are left and something was done.
    pub(super) fn run(&self, job: &FarmJob, stopper: &Stopper) -> Result<()> {
        let who = format!("head-{}", channel::nonce()?);
        let shared = SharedFarm::join(self.folder, job, &who)?;
        let mut done = shared.totals()?.commits;
        for _ in 0..ROUNDS {
            let name = format!("prony-array-{}", &channel::nonce()?[..8]);
            let id = submit(&self.batch(&name), &[])?;
            output::remark(&format!("job {id} has {} tasks; their output is in {}", self.tasks, self.folder.display()));
            let mut watch = TaskWatch::default();
            loop {
                kernels::timer::sleep(LOOK);
                if stopper.asked() {
                    bail!("stopped; end the tasks with: {}", cancelling(&[id])[0].join(" "));
                }
                let listed = jobs(&name, id.cluster.as_deref()).ok();
                // Once all is done, unlisted tasks are not waited for.
                let nothing = listed.as_ref().is_some_and(Vec::is_empty);
                if watch.over(listed.as_deref(), Instant::now()) || nothing && shared.totals()?.commits == job.chunks()
                {
                    break;
                }
            }
            let now = shared.totals()?.commits;
            if now == job.chunks() || now == done {
                break;
            }
            done = now;
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct TaskArguments {
    /// The shared directory of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Number of this task, from 0 [default: that of the array of Slurm]
    #[arg(long, value_name = "I")]
    index: Option<u64>,
    /// Number of tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    of: u64,
    /// Chunks at a time; 0: one for each CPU that the task may use
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=4096))]
    jobs: u32,
}

pub(crate) fn task(arguments: &TaskArguments) -> Result<ExitStatus> {
    let index = match arguments.index {
        Some(index) => index,
        None => std::env::var("SLURM_ARRAY_TASK_ID")
            .ok()
            .and_then(|text| text.parse().ok())
            .context("could not find the number of this task: write --index, or hand it in as an array of Slurm")?,
    };
    if index >= arguments.of {
        bail!("could not be task {index} of {}: they are numbered from 0", arguments.of);
    }
    let cpus = kernels::affinity::allowed().map_or(1, |allowed| allowed.len());
    let slots = if arguments.jobs == 0 { cpus } else { arguments.jobs as usize };
    let host = measure::identity().host.replace('/', "_");
    let next = Arc::new(AtomicU64::new(index));
    let mut running = Vec::new();
    for _ in 0..slots {
        let who = format!("{host}-{}-{}", std::process::id(), &channel::nonce()?[..8]);
        let (folder, next, of) = (arguments.folder.clone(), Arc::clone(&next), arguments.of);
        let slot = move || slot(&folder, &who, &next, of);
        running
            .push(std::thread::Builder::new().name("slot".to_owned()).spawn(slot).context("could not start a thread")?);
    }
    let (mut counted, mut failed) = (0, Vec::new());
    for thread in running {
        let done = thread.join().map_err(|_| anyhow::anyhow!("could not go on: a slot died"))??;
        counted += done.0;
        failed.extend(done.1);
    }
    output::write(format!("{counted} chunks done, {} failed\n", failed.len()).as_bytes())?;
    match failed.first() {
        None => Ok(ExitStatus::Fine),
        Some(first) => bail!("could not do {} chunks: {first}", failed.len()),
    }
}

/// Does chunks of the task's share until none is left. Returns how many it did, and what failed.
fn slot(folder: &Path, who: &str, next: &AtomicU64, of: u64) -> Result<(u64, Vec<String>)> {
    let mut shared = SharedFarm::open(folder, who)?;
    let job = shared.job().clone();
    let mut worker = WorkerFactory::default().worker(&job).map_err(anyhow::Error::msg)?;
    let (mut counted, mut failed) = (0, Vec::new());
    while let Some(chunk) = job.cut(next.fetch_add(of, Ordering::SeqCst)) {
        if shared.is_done(chunk.index) {
            continue;
        }
        let attempt = Attempt { number: 0, out: None, stop: Arc::default() };
        match worker.perform(&chunk, &attempt) {
            Ok(done) => {
                shared.publish(&Published { chunk: chunk.index, node: who.to_owned(), done })?;
                counted += 1;
            }
            Err(reason) => failed.push(format!("chunk {}: {reason}", chunk.index)),
        }
    }
    Ok((counted, failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_over_when_slurm_lists_all_as_ended_or_none_for_a_minute() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let task = |state: &str| SlurmJob { id: 7, state: state.to_owned(), ..SlurmJob::default() };
        let mut watch = TaskWatch::default();
        // Just handed in, and listed nowhere yet; the controller is restarted, and lists them again.
        assert!(!watch.over(Some(&[]), at(0)) && !watch.over(Some(&[]), at(59)));
        assert!(!watch.over(Some(&[task("COMPLETED"), task("PENDING")]), at(61)));
        assert!(!watch.over(Some(&[]), at(100)) && !watch.over(None, at(159)));
        assert!(watch.over(Some(&[]), at(160)));
        assert!(TaskWatch::default().over(Some(&[task("COMPLETED"), task("CANCELLED")]), at(0)));
    }
}

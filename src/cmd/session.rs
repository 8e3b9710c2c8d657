//! One measuring session on this machine, the same for all commands that measure in rounds: signals, the claim on the
//! machine, a run to resume, progress, saving, and the output at the end.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use measure::{EndReason, MeasureSession, RunRequest, RunResult, Saver, Stopper, Subject};
use model::{BenchmarkResult, CHECKPOINTS, Outcome, ResultKey, Run};
use report::Document;
use report::view::RunContext;
use serve::Pusher;
use store::{Claim, Detail, MachineLock, Store};

use super::run_claim;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::progress::ProgressLine;
use crate::run_options::MeasureOptions;
use crate::run_saver::RunSaver;

/// Signals within this time of the first are one request: timeout(1) sends its signal to the program and to its group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The first Ctrl-C (or SIGTERM, or a closed terminal) ends the run in order; a further one, half a second later or
/// more, ends the program immediately. A closed terminal that the program was told to ignore, as by nohup(1), stays
/// ignored.
pub(crate) fn watch_for_signals() -> Result<Stopper> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let asked = Arc::new(AtomicBool::new(false));
    let watched = match os::signal::is_ignored(kernels::signal::Signal::HangUp) {
        true => vec![SIGINT, SIGTERM],
        false => vec![SIGINT, SIGTERM, SIGHUP],
    };
    let watch = || {
        // Set by the handler itself, which interrupts whatever the program waits in.
        for signal in &watched {
            signal_hook::flag::register(*signal, Arc::clone(&asked))?;
        }
        let mut signals = signal_hook::iterator::Signals::new(&watched)?;
        let wait = move || {
            let mut first: Option<Instant> = None;
            for _ in signals.forever() {
                match first {
                    Some(first) if first.elapsed() >= ONE_REQUEST => {
                        signal_hook::low_level::exit(ExitStatus::Stopped as i32)
                    }
                    Some(_) => {}
                    None => first = Some(Instant::now()),
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait)
    };
    watch().map_err(|error| {
        let limit = os::process::limit_behind(error.raw_os_error()).map(|limit| format!("; {limit}"));
        anyhow::anyhow!("could not watch for Ctrl-C: {error}{}", limit.unwrap_or_default())
    })?;
    Ok(Stopper::watching(asked))
}

/// Result of claiming the machine: the claim, or the other measurement.
pub(crate) struct MachineClaim {
    _lock: Option<MachineLock>,
    /// The other measurement, as text.
    pub(crate) other: Option<String>,
}

/// Concurrent runs disturb each other: the user is warned and decides; the run records it.
pub(crate) fn claim(purpose: &str) -> MachineClaim {
    match MachineLock::claim(&store::machine_lock_path(), &format!("prony {purpose}")) {
        Ok(Claim::Alone(lock)) => MachineClaim { _lock: Some(lock), other: None },
        Ok(Claim::Taken(holder)) => {
            let who = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            output::remark(&format!("warning: another run measures here, {who}; each disturbs the other's results"));
            MachineClaim { _lock: None, other: Some(who) }
        }
        // Whether there is another measurement is then unknown, which does not prevent measuring.
        Err(_) => MachineClaim { _lock: None, other: None },
    }
}

/// A session from its claim on the machine to its last line.
pub(crate) struct LocalSession<'a> {
    options: &'a MeasureOptions,
    common: &'a CommonOptions,
    /// Whether the user requested a stop.
    pub(crate) stopper: Stopper,
    saver: RunSaver,
    /// The site that gets the run.
    pusher: Option<Pusher>,
    claim: MachineClaim,
    /// Whether a new run in which nothing could be launched is kept: why a result is not measured is a result of its
    /// own.
    keep_empty: bool,
    /// Whether a run without any interval is inconclusive.
    needs_intervals: bool,
}

impl<'a> LocalSession<'a> {
    /// Opens everything that may fail before measuring begins.
    pub(crate) fn open(purpose: &str, options: &'a MeasureOptions, common: &'a CommonOptions) -> Result<Self> {
        let stopper = watch_for_signals()?;
        let saver = RunSaver::open(&options.saving, common)?;
        let pusher = options.push.as_deref().map(super::site::push::pusher_of_run).transpose()?;
        Ok(Self {
            options,
            common,
            stopper,
            saver,
            pusher,
            claim: claim(purpose),
            keep_empty: true,
            needs_intervals: false,
        })
    }

    /// Calls a run inconclusive that has nothing but ranges of a few samples: nothing can be compared with it.
    pub(crate) fn needing_intervals(self) -> Self {
        Self { needs_intervals: true, ..self }
    }

    /// Does not keep a new run in which nothing could be launched.
    pub(crate) fn keep_nothing_without_samples(self) -> Self {
        Self { keep_empty: false, ..self }
    }

    /// A new run with the options of this session.
    pub(crate) fn begin(&self, order: RunRequest) -> RunRequest {
        let saving = &self.options.saving;
        order
            .labelled(saving.label.clone())
            .asked_by(model::presentable(model::command_line()))
            .noting(saving.note.iter().cloned())
            .with_other(self.claim.other.clone())
            .at_most(self.options.max_samples)
    }

    /// A run to resume. Its plan is kept, except the target and the limits given now.
    pub(crate) fn resume(&self, run: Run) -> Result<RunRequest> {
        let options = self.options;
        let seed = run.plan.seed;
        anyhow::ensure!(
            options.rounds.seed.is_none_or(|other| other == seed),
            "could not resume {} with another seed than its own, {seed}; leave --seed out",
            run.name()
        );
        let allowed = kernels::affinity::allowed()?;
        let mut order = RunRequest::resume(run, &measure::identity(), allowed)?
            .labelled(options.saving.label.clone())
            .noting(options.saving.note.iter().cloned())
            .with_other(self.claim.other.clone())
            .targeting(options.rounds.target);
        if options.max_samples.is_some() {
            order = order.at_most(options.max_samples);
        }
        if options.rounds.time_limit.is_some() {
            order = order.limited_to(options.rounds.time_limit);
        }
        Ok(order)
    }

    /// A new run with results of a subject, or the run to be resumed instead.
    pub(crate) fn order(&self, fresh: Run, resumed: Option<Run>) -> Result<RunRequest> {
        match resumed {
            Some(run) => {
                super::resume::same_results(&run, &fresh)?;
                self.resume(run)
            }
            None => Ok(self.begin(RunRequest::of(fresh, kernels::affinity::allowed().unwrap_or_default())?)),
        }
    }

    /// Measures to the end, saving after every round.
    pub(crate) fn measure(&mut self, order: RunRequest, subject: &mut dyn Subject) -> Result<RunResult> {
        run_claim::claim(&order.run().id, "measure this run")?;
        let plan = &order.run().plan;
        benchmarks::remove_abandoned(plan.directory.iter().chain(&plan.more_directories).map(Path::new));
        let order = match order.run().plan.sensors {
            true => {
                let run = order.run();
                let earlier = earlier(self.saver.store(), &run.machine.fingerprint, &run.id);
                order.after(earlier.iter())
            }
            false => order,
        };
        let mut progress = ProgressLine::new(self.options.progress());
        let (saver, stopper) = (&mut self.saver, self.stopper.clone());
        Ok(MeasureSession::measure(order, subject, &mut progress, saver, stopper)?)
    }

    /// The command that resumes a run of this session, if it is in the store.
    pub(crate) fn resume_command(&self, run: &Run) -> Option<String> {
        report::words::resume_command(run, &self.saver.number?.to_string())
    }

    /// Saves the run, prints it with `draw`, and returns the exit code: success if the run `worked` and measured
    /// anything.
    pub(crate) fn conclude(
        mut self,
        result: RunResult,
        draw: impl FnOnce(&Run, &RunContext) -> Result<Document>,
        worked: impl Fn(&Run) -> bool,
    ) -> Result<ExitStatus> {
        let RunResult { run, ending } = result;
        let requested = || run.results.iter().filter(|result| !result.is_condition());
        let begun = requested().any(|result| !result.samples.is_empty());
        if matches!(ending, EndReason::Stopped) && !begun && self.options.resume.is_none() {
            self.saver.discard(&run)?;
            output::remark("stopped before anything was measured; nothing is kept");
            return Ok(ExitStatus::Stopped);
        }
        let empty = !begun && !self.keep_empty && self.options.resume.is_none();
        if empty {
            self.saver.discard(&run)?;
        }
        let ending = match ending {
            failed @ EndReason::NotSaved(_) => failed,
            ending if empty => ending,
            ending => self.saver.save(&run).err().map_or(ending, EndReason::NotSaved),
        };
        let saved = !matches!(ending, EndReason::NotSaved(_)) && !empty;
        let handle = self.saver.number.map(|number| number.to_string());
        let previous = previous(self.saver.store(), &run);
        let stored = saved && handle.is_some();
        let context =
            RunContext { catalogue: benchmarks::catalogue(), handle: handle.clone(), previous, stored, brief: false };
        let document = draw(&run, &context)?;
        output::print_run(&document, &run, self.common)?;
        if let (Some(pusher), Some(store), true) = (&self.pusher, self.saver.store_mut(), stored) {
            super::site::push::after_run(store, pusher, &run.id)?;
        }
        match ending {
            EndReason::NotSaved(reason) => {
                let instead = elsewhere(&run).unwrap_or_else(|| "what was measured stands above".to_owned());
                output::remark(&format!("the run could not be kept: {reason}; {instead}"));
                Ok(ExitStatus::Failed)
            }
            EndReason::Stopped => {
                let command = handle.and_then(|handle| report::words::resume_command(&run, &handle));
                let resume = command.map(|command| format!("; resume with: {command}")).unwrap_or_default();
                output::remark(&format!("stopped; what was measured is kept{resume}"));
                Ok(ExitStatus::Stopped)
            }
            EndReason::Complete | EndReason::TimeLimit if measured(&run) && worked(&run) => {
                let inconclusive = self.needs_intervals && !has_interval(&run);
                if inconclusive {
                    output::remark(
                        "nothing useful was measured: no result has an interval; use a longer --time-limit, or a less \
                         busy machine",
                    );
                }
                Ok(if inconclusive { ExitStatus::Inconclusive } else { ExitStatus::Fine })
            }
            EndReason::Complete | EndReason::TimeLimit => {
                let failed = |result: &&BenchmarkResult| matches!(result.outcome, Outcome::Failed(_));
                output::remark(&match (measured(&run), run.results.iter().filter(failed).count()) {
                    (true, failed) => format!("{failed} of {} results failed; the table says why", run.results.len()),
                    (false, _) if empty => {
                        "nothing could be measured, and nothing is kept; the table says why".to_owned()
                    }
                    (false, _) => "nothing could be measured; the table says why".to_owned(),
                });
                Ok(ExitStatus::Failed)
            }
        }
    }
}

/// Keeps a run that its store did not take as a document in the folder for temporary files, and says where; `None` if
/// that fails too.
fn elsewhere(run: &Run) -> Option<String> {
    let named = tempfile::Builder::new().prefix("prony-").suffix(".prony.json").tempfile().ok()?;
    let place = named.into_temp_path().keep().ok()?;
    match store::save_document(&place, run) {
        Ok(()) => Some(format!("all of it is in {0}, which `prony import {0}` keeps", place.display())),
        Err(_) => {
            // Nothing of use is in it.
            let _ = std::fs::remove_file(place);
            None
        }
    }
}

/// Whether any result has a value.
pub(crate) fn measured(run: &Run) -> bool {
    any_outcome(run, |outcome| matches!(outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_)))
}

/// Whether any result has an interval, a bound, or the samples of a first look.
fn has_interval(run: &Run) -> bool {
    any_outcome(run, |outcome| match outcome {
        Outcome::Measured(estimate) => !estimate.is_range() || estimate.samples >= CHECKPOINTS[0],
        Outcome::Below { .. } | Outcome::Modes(_) => true,
        Outcome::NotMeasured(_) | Outcome::Failed(_) => false,
    })
}

fn any_outcome(run: &Run, wanted: impl Fn(&Outcome) -> bool) -> bool {
    run.results.iter().any(|result| !result.is_condition() && wanted(&result.outcome))
}

/// The newest earlier runs of the machine with this fingerprint that read references, except the run `id`: they may
/// contain the ratio of its exclusive core.
fn earlier(store: Option<&dyn Store>, fingerprint: &str, id: &str) -> Vec<Run> {
    /// Enough that one of them probably had both a shared and an exclusive core.
    const NEWEST: usize = 5;
    /// Runs that are looked into: those of command lines and applications read no references.
    const LOOKED_INTO: usize = 50;
    let read = |store: &dyn Store| -> Option<Vec<Run>> {
        let mut same = store.summaries().ok()?;
        same.retain(|other| other.fingerprint == fingerprint && other.tool.is_none() && other.id != id);
        same.sort_by_key(|other| std::cmp::Reverse(other.number));
        let runs = same.iter().take(LOOKED_INTO).filter_map(|other| store.get(&other.id, Detail::Values).ok());
        Some(runs.filter(|run| run.session.sensors.is_some()).take(NEWEST).collect())
    };
    store.and_then(read).unwrap_or_default()
}

/// The newest earlier run of the same machine that can be compared, of the same suite if there is one: one that has a
/// result of this one.
fn previous(store: Option<&dyn Store>, run: &Run) -> Option<String> {
    /// Runs that are looked into.
    const NEWEST: usize = 5;
    let store = store?;
    let mut earlier = store.summaries().ok()?;
    earlier.retain(|other| {
        other.id != run.id && other.fingerprint == run.machine.fingerprint && other.tool.is_none() && other.measured > 0
    });
    earlier.sort_by_key(|other| std::cmp::Reverse((other.suite == run.plan.suite, other.number)));
    let keys: HashSet<ResultKey> =
        run.results.iter().filter(|result| !result.is_condition()).map(BenchmarkResult::key).collect();
    let shares = |other: &&store::Summary| {
        let read = store.get(&other.id, Detail::Values);
        read.is_ok_and(|other| other.results.iter().any(|result| keys.contains(&result.key())))
    };
    earlier.iter().take(NEWEST).find(shares).map(|other| other.number.to_string())
}

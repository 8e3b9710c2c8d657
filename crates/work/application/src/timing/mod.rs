//! Times command lines. A sample is a burst of executions, and the commands alternate in random order within rounds.

mod burst;
mod command_line;
mod duet;
mod gate;
mod pairs;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use measure::{Host, Reply, SampleError, Stopper, Subject, WorkerStep};
use model::{BenchmarkResult, Footprint, Metric, Parameters, PlanEntry, RECORD, Run, Sample, Unit};

pub use burst::{BURST_SPACING, BURSTS, BurstRule, COLD};
pub use command_line::{CommandLine, ShellChoice};
pub use duet::RATIO;
pub use gate::{FOUND, TimedGate, confirmed, timed_gate};
pub use pairs::{FEWEST_SAMPLES, TimedPair, build_pairs, timed_pairs};

use self::burst::{Pace, cold_result};
use self::duet::{RATIO_RESULT, both_failed, ratio_result};

use crate::Error;
use crate::campaign::{command_of, note_of_command, result, smallest_seen};
use crate::launch::{CopyOutput, CopyReport, LaunchSpec, Starter};

/// Benchmark of the wall time of a command.
pub const TIME: &str = "command.time";
/// Benchmark of its peak memory.
pub const MEMORY: &str = "command.memory";
/// Axis of both: the name of the command.
pub const AXIS: &str = "command";

/// Longest padding of the environment, bytes. The size of the environment shifts the stack, which changes the time of a
/// program (Mytkowicz et al., Producing wrong data without doing anything obviously wrong, 2009).
const PADDING: u64 = 4096;

/// A command to be timed, and what runs around it.
#[derive(Debug, Clone)]
pub struct TimedCommand {
    /// Its name in tables and documents.
    pub name: String,
    /// The command itself.
    pub line: CommandLine,
    /// Runs once before its first execution.
    pub setup: Option<CommandLine>,
    /// Runs before every execution, outside the clock.
    pub prepare: Option<CommandLine>,
    /// Runs after every execution, outside the clock.
    pub conclude: Option<CommandLine>,
    /// Runs once after its last execution.
    pub cleanup: Option<CommandLine>,
}

/// Input of [`Timing`].
#[derive(Debug, Clone)]
pub struct TimingOrder {
    /// The commands.
    pub commands: Vec<TimedCommand>,
    /// Working directory.
    pub directory: PathBuf,
    /// Executions of each command that are discarded at first.
    pub warmup: u32,
    /// Whether an exit status other than 0 counts as well.
    pub ignore_failure: bool,
    /// Time limit of an execution.
    pub limit: Duration,
    /// Executions of a sample. One where something runs before or after each of them, and in a duet.
    pub burst: BurstRule,
    /// CPUs on which the two commands run at the same time; else the commands alternate.
    pub duet: Option<[usize; 2]>,
}

/// Commands as an engine that a [`measure::MeasureSession`] samples.
pub struct Timing<'a> {
    order: TimingOrder,
    /// How each command is executed, once its setup was begun.
    paces: Vec<Option<Pace>>,
    /// The first executions of the bursts of each command, where they are apart.
    cold: Vec<Vec<Sample>>,
    /// Largest resident memory of a helper, bytes.
    hidden: u64,
    starter: &'a Starter,
}

/// Results of a command: its time, then its memory.
const RESULTS: usize = 2;
/// Group of the results of a duet: one sample measures all of them.
const DUET: &str = "duet";
/// Why a command is no result, and its report.
type RefusedCopies = (String, CopyReport);

impl<'a> Timing<'a> {
    /// The engine, and `run`, a document without results, with one for the time and one for the memory of every
    /// command.
    #[must_use]
    pub fn new(mut run: Run, mut order: TimingOrder, starter: &'a Starter) -> (Self, Run) {
        order.duet = order.duet.filter(|_| order.commands.len() == 2);
        for command in &order.commands {
            let parameters = Parameters::none().with(AXIS, command.name.clone());
            let wanted = [
                (TIME, "time", Metric::lower(Unit::Seconds, "execution")),
                (MEMORY, "peak memory", Metric::lower(Unit::Bytes, "process")),
            ];
            for (benchmark, title, metric) in wanted {
                let mut result = result(benchmark.to_owned(), parameters.clone(), title.to_owned(), metric);
                if benchmark == TIME {
                    result.notes.push(note_of_command(&command.line.text));
                }
                let shares = Some(if order.duet.is_some() { DUET.to_owned() } else { command.name.clone() });
                let (benchmark, target) = (benchmark.to_owned(), run.plan.target);
                run.plan.entries.push(PlanEntry { benchmark, parameters: parameters.clone(), target, shares });
                run.results.push(result);
            }
        }
        if let (Some(cpus), [first, second]) = (order.duet, &order.commands[..]) {
            let result = ratio_result([&first.name, &second.name], cpus);
            let (benchmark, parameters, target) =
                (result.benchmark.clone(), result.parameters.clone(), run.plan.target);
            run.plan.entries.push(PlanEntry { benchmark, parameters, target, shares: Some(DUET.to_owned()) });
            run.results.push(result);
        }
        let count = order.commands.len();
        (Self { order, paces: vec![None; count], cold: vec![Vec::new(); count], hidden: 0, starter }, run)
    }

    /// Checks that a run that is resumed timed the same commands, and takes over the first executions of its bursts.
    ///
    /// # Errors
    /// When a command line has changed.
    pub fn recall(&mut self, earlier: &Run, fresh: &Run) -> Result<(), Error> {
        for (command, cold) in self.order.commands.iter().zip(&mut self.cold) {
            let of_command = |result: &&BenchmarkResult| {
                result.benchmark == COLD && result.parameters.get(AXIS) == Some(command.name.as_str())
            };
            cold.extend(earlier.results.iter().filter(of_command).flat_map(|result| result.samples.clone()));
        }
        let changed =
            earlier.results.iter().zip(&fresh.results).find(|(then, now)| command_of(then) != command_of(now));
        changed.map_or(Ok(()), |(then, _)| {
            let application = then.parameters.get(AXIS).unwrap_or_default().to_owned();
            Err(Error::Changed { run: earlier.name().to_owned(), application })
        })
    }

    /// Runs the cleanup commands of all commands that were set up, also where a stop was requested; returns what
    /// failed.
    #[must_use]
    pub fn clean_up(&self) -> Vec<String> {
        let begun = self.order.commands.iter().zip(&self.paces).filter(|(_, pace)| pace.is_some());
        let cleanup = begun.filter_map(|(command, _)| Some(("--cleanup", command.cleanup.as_ref()?)));
        cleanup.filter_map(|(what, line)| self.undo(what, line).err()).map(|error| error.to_string()).collect()
    }

    /// One execution of a command line. Its output is discarded, because a reader would add to the time.
    fn spec(&self, line: &CommandLine, padding: u64) -> LaunchSpec {
        let padding = "x".repeat(usize::try_from(padding).unwrap_or(0));
        LaunchSpec {
            commands: vec![line.argv.clone()],
            directory: self.order.directory.clone(),
            environment: BTreeMap::from([("PRONY_PADDING".to_owned(), padding)]),
            patience: self.order.limit.as_secs_f64(),
            silent: true,
            ..LaunchSpec::default()
        }
    }

    /// Runs a command before or after the timed one.
    fn aside(&self, what: &str, line: &CommandLine, stopper: &Stopper) -> Result<(), Error> {
        let report = self.starter.launch(&LaunchSpec { silent: false, ..self.spec(line, 0) }, stopper)?;
        match trouble(&report, self.order.limit) {
            Some(reason) => Err(Error::Aside { what: what.to_owned(), command: line.text.clone(), reason }),
            None => Ok(()),
        }
    }

    /// Runs what tidies up after a command. A stop that was requested does not keep it from that.
    fn undo(&self, what: &str, line: &CommandLine) -> Result<(), Error> {
        self.aside(what, line, &Stopper::default())
    }

    /// Executions of a command, with what runs before and after them.
    fn execute(&self, command: &TimedCommand, spec: &LaunchSpec, stopper: &Stopper) -> Result<CopyReport, Error> {
        command.prepare.as_ref().map_or(Ok(()), |line| self.aside("--prepare", line, stopper))?;
        let report = self.starter.launch(spec, stopper);
        let concluded = command.conclude.as_ref().map_or(Ok(()), |line| self.undo("--conclude", line));
        report.and_then(|report| concluded.map(|()| report))
    }

    /// Why a report is no result, if so.
    fn refused(&self, report: &CopyReport) -> Option<String> {
        let ended_by_itself = report.copies.iter().all(|copy| matches!(copy.how, crate::ProcessEnd::Code(_)));
        trouble(report, self.order.limit).filter(|_| !(self.order.ignore_failure && ended_by_itself))
    }

    /// The rule for the bursts of a command. A command before or after an execution ends a burst.
    fn rule(&self, command: &TimedCommand) -> BurstRule {
        let single = self.order.duet.is_some() || command.prepare.is_some() || command.conclude.is_some();
        if single { BurstRule::Single } else { self.order.burst }
    }

    /// Sets a command up, discards its first executions and finds the number for a burst, if that is not done; returns
    /// notes on it.
    fn warm_up(&mut self, index: usize, stopper: &Stopper) -> Result<Result<Vec<Reply>, RefusedCopies>, Error> {
        let mut replies = Vec::new();
        if self.paces[index].is_some() {
            return Ok(Ok(replies));
        }
        self.paces[index] = Some(Pace::ONE);
        let command = &self.order.commands[index];
        command.setup.as_ref().map_or(Ok(()), |line| self.aside("--setup", line, stopper))?;
        let rule = self.rule(command);
        let bursts = rule != BurstRule::Single;
        let mut pace = Pace::ONE;
        for _ in 0..self.order.warmup.max(u32::from(bursts)) {
            // Its output explains a failure.
            let spec = LaunchSpec { silent: false, ..self.spec(&command.line, 0) };
            let report = self.execute(command, &spec, stopper)?;
            if let Some(reason) = self.refused(&report) {
                return Ok(Err((reason, report)));
            }
            let note = format!("{RECORD}discarded as warm-up: {:.3} s", report.wall());
            replies.push(Reply::Noted { result: index * RESULTS, note });
            pace = if bursts { Pace::of(report.wall()) } else { Pace::ONE };
        }
        if rule == BurstRule::Usual && pace != Pace::ONE {
            // Executions of a burst are faster than the first one.
            let report = self.execute(command, &pace.applied(self.spec(&command.line, 0)), stopper)?;
            if let Some(reason) = self.refused(&report) {
                return Ok(Err((reason, report)));
            }
            let walls = report.walls();
            pace = stats::median(pace.split(&walls).1).map_or(pace, Pace::of);
        }
        self.paces[index] = Some(pace);
        Ok(Ok(replies))
    }

    fn launch_command(&mut self, index: usize, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, Error> {
        let mut replies = match self.warm_up(index, stopper)? {
            Ok(replies) => replies,
            Err((reason, report)) => return Ok(failed(index, &reason, Some(&report))),
        };
        let command = &self.order.commands[index];
        let pace = self.paces[index].unwrap_or(Pace::ONE);
        let pace = Pace { counted: self.rule(command).in_round(step.round, pace.counted), ..pace };
        let spec = pace.applied(self.spec(&command.line, padding(step)));
        let report = self.execute(command, &spec, stopper)?;
        match self.refused(&report) {
            Some(reason) => replies.extend(failed(index, &reason, Some(&report))),
            None => replies.extend(self.launched(index, (step.round, pace), &report)),
        }
        Ok(replies)
    }

    fn launched(&mut self, index: usize, (round, pace): (u32, Pace), report: &CopyReport) -> Vec<Reply> {
        self.hidden = self.hidden.max(report.own_resident);
        let walls = report.walls();
        let (first, counted) = pace.split(&walls);
        let sample = Sample {
            value: counted.iter().sum::<f64>() / counted.len().max(1) as f64,
            nanos: counted.iter().map(|wall| (wall * 1e9) as u64).collect(),
            warmup: u32::from(first.is_some()),
            ..report.as_sample(round)
        };
        let operations = counted.len() as u64;
        let sample = Sample { footprint: Footprint { operations, ..sample.footprint.clone() }, ..sample };
        let memory = Sample { value: report.peak_resident as f64, ..report.as_sample(round) };
        if let Some(value) = first.filter(|_| sample.invalid.is_none()) {
            self.cold[index].push(Sample { round, wall: value, value, steady: true, ..Sample::default() });
        }
        let mut replies: Vec<Reply> = [sample, memory]
            .into_iter()
            .enumerate()
            .map(|(at, sample)| Reply::Launched { result: index * RESULTS + at, sample: Box::new(sample) })
            .collect();
        let codes = report.copies.iter().filter_map(|copy| copy.how.trouble(0.0));
        replies.extend(codes.map(|code| {
            let note = format!("{code} in at least one execution, which counts");
            Reply::Noted { result: index * RESULTS, note }
        }));
        replies.extend(report.leftovers().map(|note| Reply::Noted { result: index * RESULTS, note }));
        replies
    }
}

impl Host for Timing<'_> {}

impl Subject for Timing<'_> {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let Some(index) = step.tasks.first().map(|task| task.result / RESULTS) else { return Ok(vec![Reply::Done]) };
        let made = match self.order.duet {
            Some(cpus) => self.launch_duet(cpus, step, stopper),
            None => self.launch_command(index, step, stopper),
        };
        let mut replies = match made {
            Ok(replies) => replies,
            Err(Error::Stopped) => return Err(SampleError::Stopped),
            Err(error) if self.order.duet.is_some() => both_failed(index.min(1), &error.to_string(), None),
            Err(error) => failed(index, &error.to_string(), None),
        };
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// Samples are made for the time; of a duet for the ratio.
    fn leader(&self, result: usize) -> Option<usize> {
        let led_by = if self.order.duet.is_some() { RATIO_RESULT } else { result / RESULTS * RESULTS };
        (led_by != result).then_some(led_by)
    }

    fn conclude(&mut self, run: &mut Run) {
        for index in 0..self.order.commands.len() {
            smallest_seen(&mut run.results[index * RESULTS + 1], self.hidden as f64);
        }
        for (command, samples) in self.order.commands.iter().zip(&self.cold).filter(|(_, cold)| !cold.is_empty()) {
            let mut result = BenchmarkResult { samples: samples.clone(), ..cold_result(&command.name) };
            measure::judge(&mut result, &run.plan, run.plan.target, self.tick());
            measure::end_follower(&mut result, run.plan.target);
            run.results.push(result);
        }
    }
}

/// Padding of the environment in bytes: another in every sample, the same when the run is repeated with its seed.
fn padding(step: &WorkerStep) -> u64 {
    (step.seed ^ u64::from(step.round)).wrapping_mul(0x9E37_79B9_7F4A_7C15) % PADDING
}

/// Why a program ended badly, if it did.
fn trouble(report: &CopyReport, limit: Duration) -> Option<String> {
    report.copies.iter().find_map(|copy| copy.how.trouble(limit.as_secs_f64()))
}

/// A failure of both results, with the output of the command.
fn failed(index: usize, reason: &str, report: Option<&CopyReport>) -> Vec<Reply> {
    let outputs = report.and_then(|report| {
        let failed = |copy: &&CopyOutput| copy.how.trouble(0.0).is_some();
        report.copies.iter().find(failed).or(report.copies.first())
    });
    let said = outputs.map(|copy| crate::build::outputs(&copy.stdout, &copy.stderr)).unwrap_or_default();
    let notes = said.into_iter().map(|note| Reply::Noted { result: index * RESULTS, note });
    let ends = (0..RESULTS).map(|at| Reply::Failed { result: index * RESULTS + at, reason: reason.to_owned() });
    notes.chain(ends).collect()
}

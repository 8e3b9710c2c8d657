//! Times command lines: a launch is one execution, and the commands take turns in a random order of every round.

mod command_line;
mod duet;
mod pairs;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use measure::{Engine, EngineError, Reply, Stopper, WorkerStep};
use model::{Figure, Launch, Metric, PlanEntry, Point, RECORD, Run, Unit};

pub use command_line::{CommandLine, ShellChoice};
pub use duet::RATIO;
pub use pairs::{TimedPair, TimedVerdict, build_pairs, timed_pairs};

use self::duet::{RATIO_FIGURE, both_failed, ratio_figure};

use crate::Error;
use crate::campaign::{command_of, figure, note_of_command, smallest_seen};
use crate::launch::{CopyReport, LaunchSpec, Starter};

/// Probe of the wall time of a command.
pub const TIME: &str = "command.time";
/// Probe of its peak memory.
pub const MEMORY: &str = "command.memory";
/// Axis of both: the name of the command.
pub const AXIS: &str = "command";

/// Longest padding of the environment, bytes. The place of the stack depends on its size, and the time of a program on
/// the place of its stack (Mytkowicz et al., Producing wrong data without doing anything obviously wrong, 2009).
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
#[derive(Debug)]
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
    /// CPUs on which the two commands run side by side; else the commands run in turns.
    pub duet: Option<[usize; 2]>,
}

/// Commands as an engine that a [`measure::MeasureSession`] launches.
pub struct Timing<'a> {
    order: TimingOrder,
    /// Whether setup and warm-up of a command are done.
    warm: Vec<bool>,
    /// Largest resident memory of a helper, bytes.
    hidden: u64,
    starter: &'a Starter,
}

/// Figures of a command: its time, then its memory.
const FIGURES: usize = 2;
/// What the figures of a duet share: one launch measures all of them.
const DUET: &str = "duet";
/// Why a command is no result, and its report.
type RefusedCopies = (String, CopyReport);

impl<'a> Timing<'a> {
    /// The engine, and `run`, a document without figures, with one for the time and one for the memory of every
    /// command.
    #[must_use]
    pub fn new(mut run: Run, mut order: TimingOrder, starter: &'a Starter) -> (Self, Run) {
        order.duet = order.duet.filter(|_| order.commands.len() == 2);
        for command in &order.commands {
            let point = Point::origin().with(AXIS, command.name.clone());
            let wanted = [
                (TIME, "time", Metric::lower(Unit::Seconds, "execution")),
                (MEMORY, "peak memory", Metric::lower(Unit::Bytes, "process")),
            ];
            for (probe, title, metric) in wanted {
                let mut figure = figure(probe.to_owned(), point.clone(), title.to_owned(), metric);
                if probe == TIME {
                    figure.notes.push(note_of_command(&command.line.text));
                }
                let shares = Some(if order.duet.is_some() { DUET.to_owned() } else { command.name.clone() });
                let (probe, target) = (probe.to_owned(), run.plan.target);
                run.plan.entries.push(PlanEntry { probe, point: point.clone(), target, shares });
                run.figures.push(figure);
            }
        }
        if let (Some(cpus), [first, second]) = (order.duet, &order.commands[..]) {
            let figure = ratio_figure([&first.name, &second.name], cpus);
            let (probe, point, target) = (figure.probe.clone(), figure.point.clone(), run.plan.target);
            run.plan.entries.push(PlanEntry { probe, point, target, shares: Some(DUET.to_owned()) });
            run.figures.push(figure);
        }
        let warm = vec![false; order.commands.len()];
        (Self { order, warm, hidden: 0, starter }, run)
    }

    /// Checks that a run that is resumed timed the same commands.
    ///
    /// # Errors
    /// When a command line has changed.
    pub fn recall(&self, earlier: &Run, fresh: &Run) -> Result<(), Error> {
        let changed =
            earlier.figures.iter().zip(&fresh.figures).find(|(then, now)| command_of(then) != command_of(now));
        changed.map_or(Ok(()), |(then, _)| {
            let application = then.point.get(AXIS).unwrap_or_default().to_owned();
            Err(Error::Changed { run: earlier.name().to_owned(), application })
        })
    }

    /// Runs the cleanup commands of all commands that were set up, also where a stop was requested; returns what
    /// failed.
    #[must_use]
    pub fn clean_up(&self) -> Vec<String> {
        let begun = self.order.commands.iter().zip(&self.warm).filter(|(_, warm)| **warm);
        let cleanup = begun.filter_map(|(command, _)| Some(("--cleanup", command.cleanup.as_ref()?)));
        cleanup.filter_map(|(what, line)| self.undo(what, line).err()).map(|error| error.to_string()).collect()
    }

    fn spec(&self, line: &CommandLine, padding: u64) -> LaunchSpec {
        let padding = "x".repeat(usize::try_from(padding).unwrap_or(0));
        LaunchSpec {
            commands: vec![line.argv.clone()],
            directory: self.order.directory.clone(),
            environment: BTreeMap::from([("PRONY_PADDING".to_owned(), padding)]),
            patience: self.order.limit.as_secs_f64(),
            ..LaunchSpec::default()
        }
    }

    fn start(&self, line: &CommandLine, padding: u64, stopper: &Stopper) -> Result<CopyReport, Error> {
        self.starter.launch(&self.spec(line, padding), stopper)
    }

    /// Runs a command beside the timed one.
    fn aside(&self, what: &str, line: &CommandLine, stopper: &Stopper) -> Result<(), Error> {
        let report = self.start(line, 0, stopper)?;
        match trouble(&report, self.order.limit) {
            Some(reason) => Err(Error::Aside { what: what.to_owned(), command: line.text.clone(), reason }),
            None => Ok(()),
        }
    }

    /// Runs what tidies up after a command. A stop that was requested does not keep it from that.
    fn undo(&self, what: &str, line: &CommandLine) -> Result<(), Error> {
        self.aside(what, line, &Stopper::default())
    }

    /// One execution with what runs before and after it.
    fn execute(&self, command: &TimedCommand, padding: u64, stopper: &Stopper) -> Result<CopyReport, Error> {
        command.prepare.as_ref().map_or(Ok(()), |line| self.aside("--prepare", line, stopper))?;
        let report = self.start(&command.line, padding, stopper);
        let concluded = command.conclude.as_ref().map_or(Ok(()), |line| self.undo("--conclude", line));
        report.and_then(|report| concluded.map(|()| report))
    }

    /// Why a report is no result, if it is none.
    fn refused(&self, report: &CopyReport) -> Option<String> {
        let ended_by_itself = report.copies.iter().all(|copy| matches!(copy.how, crate::ProcessEnd::Code(_)));
        trouble(report, self.order.limit).filter(|_| !(self.order.ignore_failure && ended_by_itself))
    }

    /// Sets a command up and discards its first executions, if that is not done; returns notes on it.
    fn warm_up(&mut self, index: usize, stopper: &Stopper) -> Result<Result<Vec<Reply>, RefusedCopies>, Error> {
        let mut replies = Vec::new();
        if std::mem::replace(&mut self.warm[index], true) {
            return Ok(Ok(replies));
        }
        let command = &self.order.commands[index];
        command.setup.as_ref().map_or(Ok(()), |line| self.aside("--setup", line, stopper))?;
        for _ in 0..self.order.warmup {
            let report = self.execute(command, 0, stopper)?;
            if let Some(reason) = self.refused(&report) {
                return Ok(Err((reason, report)));
            }
            let note = format!("{RECORD}discarded as warm-up: {:.3} s", report.wall());
            replies.push(Reply::Noted { figure: index * FIGURES, note });
        }
        Ok(Ok(replies))
    }

    fn launch_command(&mut self, index: usize, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, Error> {
        let mut replies = match self.warm_up(index, stopper)? {
            Ok(replies) => replies,
            Err((reason, report)) => return Ok(failed(index, &reason, Some(&report))),
        };
        let report = self.execute(&self.order.commands[index], padding(step), stopper)?;
        match self.refused(&report) {
            Some(reason) => replies.extend(failed(index, &reason, Some(&report))),
            None => replies.extend(self.launched(index, step.round, &report)),
        }
        Ok(replies)
    }

    fn launched(&mut self, index: usize, round: u32, report: &CopyReport) -> Vec<Reply> {
        self.hidden = self.hidden.max(report.own_resident);
        let wall = report.wall();
        let launch = |value: f64| Launch { value, ..report.as_launch(round) };
        let mut replies: Vec<Reply> = [wall, report.peak_resident as f64]
            .into_iter()
            .enumerate()
            .map(|(at, value)| Reply::Launched { figure: index * FIGURES + at, launch: Box::new(launch(value)) })
            .collect();
        let codes = report.copies.iter().filter_map(|copy| copy.how.trouble(0.0));
        replies.extend(codes.map(|code| {
            let note = format!("{code} in at least one execution, which counts");
            Reply::Noted { figure: index * FIGURES, note }
        }));
        replies.extend(report.leftovers().map(|note| Reply::Noted { figure: index * FIGURES, note }));
        replies
    }
}

impl Engine for Timing<'_> {
    fn launch(&mut self, step: &WorkerStep, _: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError> {
        let Some(index) = step.tasks.first().map(|task| task.figure / FIGURES) else { return Ok(vec![Reply::Done]) };
        let made = match self.order.duet {
            Some(cpus) => self.launch_duet(cpus, step, stopper),
            None => self.launch_command(index, step, stopper),
        };
        let mut replies = match made {
            Ok(replies) => replies,
            Err(Error::Stopped) => return Err(EngineError::Stopped),
            Err(error) if self.order.duet.is_some() => both_failed(index.min(1), &error.to_string(), None),
            Err(error) => failed(index, &error.to_string(), None),
        };
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// The scheduler places the commands, and a duet its own.
    fn place(&self, _: &Figure, _: &model::Topology, _: &[usize]) -> Result<Vec<usize>, String> {
        Ok(Vec::new())
    }

    /// Launches are made for the time; of a duet for the ratio.
    fn leader(&self, figure: usize) -> Option<usize> {
        let led_by = if self.order.duet.is_some() { RATIO_FIGURE } else { figure / FIGURES * FIGURES };
        (led_by != figure).then_some(led_by)
    }

    fn conclude(&mut self, run: &mut Run) {
        for index in 0..self.order.commands.len() {
            smallest_seen(&mut run.figures[index * FIGURES + 1], self.hidden as f64);
        }
    }
}

/// Padding of the environment in bytes: another in every launch, the same when the run is repeated with its seed.
fn padding(step: &WorkerStep) -> u64 {
    (step.seed ^ u64::from(step.round)).wrapping_mul(0x9E37_79B9_7F4A_7C15) % PADDING
}

/// Why a program ended badly, if it did.
fn trouble(report: &CopyReport, limit: Duration) -> Option<String> {
    report.copies.iter().find_map(|copy| copy.how.trouble(limit.as_secs_f64()))
}

/// A failure of both figures, with the output of the command.
fn failed(index: usize, reason: &str, report: Option<&CopyReport>) -> Vec<Reply> {
    let outputs = report.and_then(|report| report.copies.first());
    let said = outputs.map(|copy| crate::build::outputs(&copy.stdout, &copy.stderr)).unwrap_or_default();
    let notes = said.into_iter().map(|note| Reply::Noted { figure: index * FIGURES, note });
    let ends = (0..FIGURES).map(|at| Reply::Failed { figure: index * FIGURES + at, reason: reason.to_owned() });
    notes.chain(ends).collect()
}

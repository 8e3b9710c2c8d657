//! Fresh processes: the worker is this same program.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use kernels::core_sensor::CoreSensors;
use model::{BenchmarkResult, SensorLengths, SensorReading, Topology};
use os::process::{Attended, Stream, Supervised, Supply, command_of};
use os::usage::{Usage, Who};

use super::{Description, Host, SampleError, Stopper, Subject};
use crate::worker::{Reply, WorkerStep};

/// Longest line of a worker: more than a sample of thousands of batches needs.
const LONGEST_LINE: usize = 4 << 20;
/// Most lines of one sample.
const MOST_LINES: usize = 4096;
/// Interval at which a waiting harness checks for a stop. Long, because it may share the CPU of the worker.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Time in which a worker must end after its last reply.
const EXIT_LIMIT: Duration = Duration::from_millis(50);
/// Times that an interrupted reading of the sensors is made.
const READING_ATTEMPTS: usize = 4;
/// Bytes kept of the last output of a crashed worker.
const OUTPUT_KEPT: usize = 600;

/// Starts one process per sample.
pub struct Workers {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Workers {
    /// A subject whose workers are `program arguments...`, which read a step on standard input and write replies on
    /// standard output.
    #[must_use]
    pub fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), arguments }
    }

    fn start(&self, step: Vec<u8>) -> Result<Supervised, SampleError> {
        // Its own process group: Ctrl-C reaches the harness alone, and a kill reaches everything that the worker
        // started.
        let supply = Supply { input: Some(step), own_group: true, ..Supply::default() };
        // Workers drop the caller's search path of the dynamic linker. Programs of benchmarks would search there for
        // every library (a third more cycles under `cargo run`, which sets it).
        let mut command = command_of(&self.program);
        command.args(&self.arguments).env_remove("LD_LIBRARY_PATH");
        Supervised::start(&mut command, supply).map_err(|error| {
            let limit = os::process::limit_behind(error.raw_os_error());
            let limit = limit.map(|limit| format!("; {limit}")).unwrap_or_default();
            SampleError::NotStarted(format!("{}: {error}{limit}", self.program.to_string_lossy()))
        })
    }
}

/// A reading without another task on the CPU, or the last of a few attempts: an interruption looks like a neighbour on
/// the core.
fn uninterrupted<T>(
    read: &mut dyn FnMut() -> kernels::Result<T>,
    switches: &mut dyn FnMut() -> Option<u64>,
) -> kernels::Result<T> {
    for _ in 1..READING_ATTEMPTS {
        let before = switches();
        let reading = read()?;
        if switches() == before {
            return Ok(reading);
        }
    }
    read()
}

/// Runs a closure on one CPU and restores the CPUs of this thread, which workers inherit.
fn on_cpu<T>(cpu: usize, act: impl FnOnce() -> kernels::Result<T>) -> kernels::Result<T> {
    let allowed = kernels::affinity::allowed()?;
    kernels::affinity::pin(&[cpu])?;
    let done = act();
    kernels::affinity::pin(&allowed)?;
    done
}

impl Host for Workers {
    fn calibrate_sensors(&mut self, cpu: usize) -> Option<Result<SensorLengths, String>> {
        let found = on_cpu(cpu, CoreSensors::calibrate);
        Some(found.map(|found| found.lengths()).map_err(|error| error.to_string()))
    }

    fn read_sensors(&mut self, lengths: SensorLengths, cpu: usize, readings: usize) -> Vec<SensorReading> {
        let read = || {
            let sensors = CoreSensors::of(lengths)?;
            let switches = || Usage::of(Who::Thread).ok().map(|used| used.involuntary_switches);
            (0..readings).map(|_| uninterrupted(&mut || sensors.read_all(), &mut &switches)).collect()
        };
        on_cpu(cpu, read).unwrap_or_default()
    }

    fn core_classes(&self, allowed: &[usize]) -> Vec<Vec<u32>> {
        let number = |cpu: usize| u32::try_from(cpu).unwrap_or(u32::MAX);
        let Ok(machine) = os::topology::read() else { return vec![allowed.iter().copied().map(number).collect()] };
        let mut classes: Vec<(usize, Vec<u32>)> = Vec::new();
        for cpu in allowed {
            let class = machine.class(*cpu);
            match classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, cpus)) => cpus.push(number(*cpu)),
                None => classes.push((class, vec![number(*cpu)])),
            }
        }
        classes.into_iter().map(|(_, cpus)| cpus).collect()
    }
}

impl Subject for Workers {
    fn describe(
        &self,
        result: &BenchmarkResult,
        suite: &str,
        machine: &Topology,
        allowed: &[usize],
    ) -> Result<Description, String> {
        Description::placed(result, suite, machine, allowed)
    }

    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let text = serde_json::to_vec(step).map_err(|error| SampleError::NotStarted(error.to_string()))?;
        let deadline = Instant::now() + step.patience;
        let mut worker = self.start(text)?;
        let mut output = WorkerLine::default();
        let attended = worker
            .read_until(deadline, CHECK_INTERVAL, &|| stopper.asked(), &mut |stream, bytes| output.take(stream, bytes));
        let status = worker.end(EXIT_LIMIT, &mut |stream, bytes| {
            if stream == Stream::Errors {
                output.keep(bytes);
            }
        });
        let owner = u32::try_from(worker.pid()).ok().filter(|_| status.is_some());
        let ended = match attended {
            Err(error) => Err(SampleError::Crashed(error.to_string())),
            Ok(Attended::Stopped) => Err(SampleError::Stopped),
            Ok(Attended::Late) => Err(SampleError::Hung(step.patience.as_secs())),
            Ok(Attended::Ended | Attended::Enough) => match output.invalid {
                Some(why) => Err(SampleError::InvalidReply(why)),
                None if output.replies.last() == Some(&Reply::Done) => Ok(output.replies),
                None if status.is_some_and(was_killed) => Err(SampleError::Killed(output.crash(status))),
                None => Err(SampleError::Crashed(output.crash(status))),
            },
        };
        if let (Err(_), Some(owner)) = (&ended, owner) {
            let own = step.tasks.iter().filter_map(|task| task.directory.as_deref());
            let directories: Vec<&Path> = own.chain([step.directory.as_path()]).collect();
            benchmarks::remove_scratch(owner, step.seed, &directories);
        }
        ended
    }
}

/// The output of a worker so far.
#[derive(Default)]
struct WorkerLine {
    line: Vec<u8>,
    replies: Vec<Reply>,
    /// Why its output is ignored from here on.
    invalid: Option<String>,
    stderr_tail: Vec<u8>,
}

impl WorkerLine {
    /// Adds a piece of output; the end is requested after the last reply or an invalid one.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> ControlFlow<()> {
        if stream == Stream::Errors {
            self.keep(bytes);
            return ControlFlow::Continue(());
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") || self.line.len() >= LONGEST_LINE {
                self.hear_line();
            }
            if self.invalid.is_some() || self.replies.last() == Some(&Reply::Done) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn hear_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        match serde_json::from_slice(&line) {
            Ok(reply) => self.replies.push(reply),
            Err(_) => {
                let start: String = String::from_utf8_lossy(&line).trim_end().chars().take(60).collect();
                self.invalid = Some(format!("it sent an invalid reply: {start}"));
            }
        }
        if self.replies.len() >= MOST_LINES {
            self.invalid = Some("it sent too many lines".to_owned());
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.stderr_tail.extend_from_slice(bytes);
        self.stderr_tail.drain(..self.stderr_tail.len().saturating_sub(OUTPUT_KEPT));
    }

    fn crash(&self, status: Option<ExitStatus>) -> String {
        let how = status.map_or_else(|| "it could not be killed".to_owned(), describe);
        let words = String::from_utf8_lossy(&self.stderr_tail).trim().replace('\n', "; ");
        if words.is_empty() { how } else { format!("{how}; its output: {words}") }
    }
}

/// Whether a signal ended it that a program can neither cause by a fault nor catch (SIGKILL).
fn was_killed(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    status.signal() == Some(KILL)
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_reading_is_made_again() {
        let found = |counts: &[u64]| {
            let (mut counts, mut reading) = (counts.iter(), 0);
            let mut read = || {
                reading += 1;
                Ok(reading)
            };
            uninterrupted(&mut read, &mut || counts.next().copied()).unwrap()
        };
        assert_eq!(found(&[7, 7]), 1);
        assert_eq!(found(&[7, 8, 8, 9, 9, 9]), 3, "twice another process ran");
        assert_eq!(found(&[1, 2, 3, 4, 5, 6]), 4, "the last of a few, so that it ends on a busy CPU");
        assert_eq!(found(&[]), 1, "where switches are not counted, a reading is one");
    }
}

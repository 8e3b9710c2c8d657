//! A node that measures itself for a driver on another host.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use measure::{EndReason as Ended, MeasureEvent, MeasureSession, Observer, Saver, Stopper, Workers};
use model::{Plan, Run};

use super::message::{LONGEST, NodeEnd, SuiteOrder, SuiteReply, SuiteRequest};
use crate::agent::Duty;
use crate::line::{receive, send};
use crate::{Error, Result};

/// The duty of measuring a suite on this node.
pub const DUTY: Duty = Duty { name: "measure", work: serve };

/// Interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of signs of life, which do not depend on progress. One takes some microseconds of one CPU, less than a
/// hundredth of what the kernel's own clock needs in that time.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);

fn serve(mut input: Box<dyn BufRead + Send>, output: &mut (dyn Write + Send)) -> Result<()> {
    let order = match receive(&mut *input, LONGEST)? {
        Some(SuiteRequest::Measure(order)) => order,
        Some(SuiteRequest::Stop) | None => return Ok(()),
    };
    let stopper = Stopper::default();
    let watched = stopper.clone();
    let listen = move || {
        // A request to stop, a malformed message and the end of input all end the run.
        let _ = receive::<SuiteRequest>(&mut *input, LONGEST);
        watched.stop();
    };
    std::thread::Builder::new().name("driver".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    let line = DriverLine { output: Mutex::new(output) };
    let result = beside_signs_of_life(&line, ALIVE_INTERVAL, || measure(order, &line, stopper))?;
    match result {
        Ok((run, ending)) => line.send(&SuiteReply::Ended(Box::new(run), ending)),
        Err(error) => line.send(&SuiteReply::Failed(error.to_string())),
    }
}

/// Works, and sends a sign of life at every interval until that has ended.
fn beside_signs_of_life<T>(line: &DriverLine<'_>, interval: Duration, work: impl FnOnce() -> T) -> Result<T> {
    let (working, ended) = channel::<()>();
    let beat = move || {
        while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            // A driver that has gone is seen by its input.
            let _ = line.send(&SuiteReply::Alive);
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("alive".to_owned());
        thread.spawn_scoped(scope, beat).map_err(Error::io("start a thread"))?;
        let result = work();
        drop(working);
        Ok(result)
    })
}

fn measure(order: SuiteOrder, line: &DriverLine<'_>, stopper: Stopper) -> Result<(Run, NodeEnd)> {
    let allowed = kernels::affinity::allowed()?;
    let entries = measure::select(order.suite.as_deref(), &order.benchmarks, order.target)?;
    let directory = PathBuf::from(order.directory.unwrap_or_else(|| ".".to_owned()));
    let directory =
        directory.canonicalize().map_err(Error::io(format!("find the directory {}", directory.display())))?;
    let plan = Plan {
        suite: order.suite.unwrap_or_else(|| "benchmarks".to_owned()),
        seed: order.seed,
        target: order.target,
        time_limit: order.time_limit,
        directory: Some(directory.to_string_lossy().into_owned()),
        entries,
        ..Plan::default()
    };
    let machine = measure::machine(&[directory]);
    let mut notes = measure::notes(&machine, &allowed);
    notes.push(order.note);
    let order = measure::RunRequest::new(plan, machine, measure::identity(), allowed)?
        .labelled(order.label)
        .asked_by(order.command)
        .noting(notes);
    let program = std::env::current_exe().map_err(Error::io("find the path of this program"))?;
    let mut subject = Workers::new(program, ["worker"]);
    let mut saver = line;
    let mut progress = AgentProgress { line, done: 0, of: 0, last: None };
    let ended = MeasureSession::measure(order, &mut subject, &mut progress, &mut saver, stopper)?;
    let ending = match ended.ending {
        Ended::Complete => NodeEnd::Complete,
        Ended::TimeLimit => NodeEnd::TimeLimit,
        Ended::Stopped => NodeEnd::Stopped,
        Ended::NotSaved(reason) => return Err(Error::Gone(reason)),
    };
    Ok((ended.run, ending))
}

/// The line to the driver, shared by progress, documents and signs of life.
struct DriverLine<'a> {
    output: Mutex<&'a mut (dyn Write + Send)>,
}

impl DriverLine<'_> {
    fn send(&self, message: &SuiteReply) -> Result<()> {
        send(&mut **self.output.lock().unwrap_or_else(PoisonError::into_inner), message)
    }
}

impl Saver for &DriverLine<'_> {
    fn save(&mut self, run: &Run) -> std::result::Result<(), String> {
        self.send(&SuiteReply::Saved(Box::new(run.clone()))).map_err(|error| error.to_string())
    }
}

struct AgentProgress<'a, 'b> {
    line: &'a DriverLine<'b>,
    done: usize,
    of: usize,
    last: Option<Instant>,
}

impl Observer for AgentProgress<'_, '_> {
    fn on_event(&mut self, event: &MeasureEvent<'_>) {
        let what = match event {
            MeasureEvent::Began(run) => {
                self.of = run.results.len();
                return;
            }
            MeasureEvent::Calibrating { key, .. } => format!("calibrating {key}"),
            MeasureEvent::Launching { keys, sample, .. } => {
                let name = keys.first().map(ToString::to_string).unwrap_or_default();
                format!("{name}, sample {sample}")
            }
            MeasureEvent::Finished { done, .. } => {
                self.done = *done;
                return;
            }
            _ => return,
        };
        if self.last.is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL) {
            self.last = Some(Instant::now());
            // If this is lost, the document will be lost too, which is reported as an error.
            let _ = self.line.send(&SuiteReply::Doing { done: self.done, of: self.of, what });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_life_come_during_work_without_progress_and_end_with_it() {
        let mut output = Vec::new();
        {
            let line = DriverLine { output: Mutex::new(&mut output) };
            let work = || std::thread::sleep(Duration::from_millis(300));
            beside_signs_of_life(&line, Duration::from_millis(10), work).unwrap();
            line.send(&SuiteReply::Failed("over".to_owned())).unwrap();
        }
        let mut output = &output[..];
        let mut replies = Vec::new();
        while let Some(reply) = receive::<SuiteReply>(&mut output, LONGEST).unwrap() {
            replies.push(reply);
        }
        let (last, before) = replies.split_last().unwrap();
        assert_eq!(*last, SuiteReply::Failed("over".to_owned()));
        assert!(!before.is_empty() && before.iter().all(|reply| *reply == SuiteReply::Alive), "{before:?}");
    }
}

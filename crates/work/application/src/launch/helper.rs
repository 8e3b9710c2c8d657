//! The helper process: this program, which performs one launch and ends.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use measure::Stopper;
use os::process::{Attended, Supervised, Supply, command_of};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{CopyReport, LaunchSpec, perform};
use crate::Error;

/// Longest launch specification and longest report, bytes.
const LIMIT: usize = 256 << 20;
/// Time that the helper gets beyond the copies' own.
const SPARE: Duration = Duration::from_secs(20);
/// Interval at which a waiting campaign checks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Performs the launch specified on `input` and writes its report to `output`.
///
/// # Errors
/// When the specification cannot be read or the report cannot be written; the other side is gone then.
pub fn serve(input: impl Read, output: impl Write) -> std::io::Result<()> {
    answer(input, output, |order: LaunchSpec| perform(&order))
}

/// Reads the request, performs it, and writes the answer.
pub(crate) fn answer<Q: DeserializeOwned, A: Serialize>(
    input: impl Read,
    mut output: impl Write,
    work: impl FnOnce(Q) -> A,
) -> std::io::Result<()> {
    let mut text = String::new();
    input.take(LIMIT as u64).read_to_string(&mut text)?;
    serde_json::to_writer(&mut output, &work(serde_json::from_str(&text)?))?;
    output.flush()
}

/// How helpers are started.
#[derive(Debug, Clone)]
pub struct Starter {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Starter {
    /// Helpers started as `program arguments...`, which must call [`serve`] on standard input and output.
    #[must_use]
    pub fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// Path of the program, for applications that run it too.
    #[must_use]
    pub fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Performs a launch in a process group, all of which is killed at the end.
    ///
    /// # Errors
    /// When the helper cannot be started or gives no valid report, or the user asked to stop.
    pub fn launch(&self, order: &LaunchSpec, stopper: &Stopper) -> Result<CopyReport, Error> {
        self.ask(order, order.time_of_all(), stopper)
    }

    /// Passes `question` to a helper that has `time` for it, and returns its answer.
    pub(crate) fn ask<A: DeserializeOwned>(
        &self,
        question: &impl Serialize,
        time: Duration,
        stopper: &Stopper,
    ) -> Result<A, Error> {
        let fail = |what: &str, error: &dyn std::fmt::Display| Error::Helper(format!("{what}: {error}"));
        let text = serde_json::to_vec(question).map_err(|error| fail("its specification", &error))?;
        let deadline = Instant::now() + time + SPARE;
        let supply = Supply { input: Some(text), own_group: true, discard_errors: true, ..Supply::default() };
        let mut helper = Supervised::start(command_of(&self.program).args(&self.arguments), supply)
            .map_err(|error| fail(&self.program(), &error))?;
        let mut answer = Vec::new();
        let attended = helper.read_until(deadline, LOOK, &|| stopper.asked(), &mut |_, bytes| {
            answer.extend_from_slice(bytes);
            if answer.len() > LIMIT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match attended.map_err(|error| fail("its helper", &error))? {
            Attended::Ended => serde_json::from_slice(&answer).map_err(|error| fail("the helper ended early", &error)),
            Attended::Stopped => Err(Error::Stopped),
            Attended::Late => Err(Error::Helper("the helper did not answer in time".to_owned())),
            Attended::Enough => Err(Error::Helper("the helper printed too much".to_owned())),
        }
    }
}

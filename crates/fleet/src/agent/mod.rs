//! The agent: what a launcher starts on a node. It says who and where it is and what it can do, hears which duty it has,
//! and does that one. Its input and output are its whole world: no port is agreed, no directory shared.

mod greet;

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

pub use greet::{ClockOffset, Greeted, Greeting, greet};

pub use crate::hello::{By, Duty, Hello, Interface};
pub use crate::launcher::MissingNode;
use crate::line::{receive, send};
use crate::{Error, Result};

/// What a driver says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum First {
    /// What is your clock?
    Clock,
    /// Begin this duty.
    Duty(String),
}

/// The answer to [`First::Clock`]: nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) clock: u64,
}

/// Longest first line of either side, bytes.
const LONGEST: u64 = 1 << 16;

/// Serves one driver. Returns when the duty is done or the driver is gone.
///
/// # Errors
/// When the driver is gone in the middle of something, asks for a duty that is not here, or says what cannot be
/// understood.
pub fn serve(
    mut input: Box<dyn BufRead + Send>,
    output: &mut (dyn Write + Send),
    by: By,
    duties: &[Duty],
) -> Result<()> {
    send(output, &Hello::here(by, duties))?;
    loop {
        match receive(&mut input, LONGEST)? {
            None => return Ok(()),
            Some(First::Clock) => send(output, &Clock { clock: sys::clock::realtime() })?,
            Some(First::Duty(duty)) => {
                let known = duties.iter().find(|known| known.name == duty);
                let known = known.ok_or_else(|| Error::Refused(format!("this agent knows no duty {duty:?}")))?;
                return (known.work)(input, output);
            }
        }
    }
}

//! The agent, which a launcher starts on a node. It sends its identity and the duties it offers, receives one duty, and
//! performs it. It communicates only over its standard input and output: it needs no port and no shared directory.

mod greet;

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

pub use greet::{ClockOffset, Greeted, Greeting, greet};

pub use crate::MissingNode;
pub use crate::hello::{By, Duty, Hello, Interface};
use crate::line::{receive, send};
use crate::{Error, Result};

/// The first message of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum First {
    /// Asks for the clock.
    Clock,
    /// Starts this duty.
    Duty(String),
}

/// Reply to [`First::Clock`]: nanoseconds of the batch clock, since the wall clock may be set at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) clock: u64,
}

/// Longest line of the greeting, bytes.
const LONGEST: u64 = 1 << 16;

/// Serves one driver. Returns when the duty is done or the driver has disconnected.
///
/// # Errors
/// When the driver disconnects midway, asks for an unknown duty, or sends a malformed message.
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
            Some(First::Clock) => send(output, &Clock { clock: kernels::clock::now() })?,
            Some(First::Duty(duty)) => {
                let known = duties.iter().find(|known| known.name == duty);
                let known = known.ok_or_else(|| Error::Refused(format!("this agent knows no duty {duty:?}")))?;
                return (known.work)(input, output);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall clock that is set between the questions and the start made one of the nodes seem hours late.
    #[test]
    fn the_clock_that_is_asked_for_is_the_one_that_nothing_sets() {
        let mut output = Vec::new();
        let before = kernels::clock::now();
        serve(Box::new(&b"\"clock\"\n"[..]), &mut output, By::Local, &[]).unwrap();
        let after = kernels::clock::now();
        let reply = output.split(|byte| *byte == b'\n').nth(1).unwrap();
        let Clock { clock } = serde_json::from_slice(reply).unwrap();
        assert!((before..=after).contains(&clock), "{before} {clock} {after}");
    }
}

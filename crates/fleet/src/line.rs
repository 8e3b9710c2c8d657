//! Messages between a driver and what it started: one JSON message a line.

use std::io::{BufRead, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// Writes a message as one line.
///
/// # Errors
/// When nobody reads it any more.
pub fn send<T: Serialize>(to: &mut dyn Write, message: &T) -> Result<()> {
    let mut line = serde_json::to_vec(message).map_err(|error| Error::Protocol(error.to_string()))?;
    line.push(b'\n');
    to.write_all(&line).and_then(|()| to.flush()).map_err(|error| Error::Gone(error.to_string()))
}

/// Reads a message whose line has at most so many bytes; `None` at the end.
///
/// # Errors
/// When the line is too long or no message.
pub fn receive<T: DeserializeOwned>(from: &mut dyn BufRead, longest: u64) -> Result<Option<T>> {
    let mut line = Vec::new();
    let count = from.take(longest).read_until(b'\n', &mut line).map_err(|error| Error::Gone(error.to_string()))?;
    if count == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(Error::Protocol("a line that is too long or cut off".to_owned()));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| Error::Protocol(format!("no message: {error}")))
}

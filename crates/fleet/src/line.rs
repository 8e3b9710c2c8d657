//! Messages between a driver and its agents: one JSON message on each line.

use std::io::{BufRead, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// Writes a message as one line.
///
/// # Errors
/// When the other side has closed its end.
pub fn send<T: Serialize>(to: &mut dyn Write, message: &T) -> Result<()> {
    let mut line = serde_json::to_vec(message).map_err(|error| Error::Protocol(error.to_string()))?;
    line.push(b'\n');
    to.write_all(&line).and_then(|()| to.flush()).map_err(|error| Error::Gone(error.to_string()))
}

/// Reads a message from a line of at most `longest` bytes; `None` at the end of input.
///
/// # Errors
/// When the line is too long or malformed.
pub fn receive<T: DeserializeOwned>(from: &mut dyn BufRead, longest: u64) -> Result<Option<T>> {
    let mut line = Vec::new();
    let count = from.take(longest).read_until(b'\n', &mut line).map_err(|error| Error::Gone(error.to_string()))?;
    if count == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(Error::Protocol("a line is too long or truncated".to_owned()));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| Error::Protocol(format!("not a valid message: {error}")))
}

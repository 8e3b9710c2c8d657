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
        let what = if count as u64 == longest { "a line is too long" } else { "a line was cut off" };
        return Err(Error::Protocol(format!("{what}; it begins with '{}'", beginning(&line))));
    }
    serde_json::from_slice(&line)
        .map(Some)
        .map_err(|error| Error::Protocol(format!("not a valid message: {error}; it sent '{}'", beginning(&line))))
}

/// The beginning of a line that was not understood, as text that can be printed anywhere.
fn beginning(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let shown = &line[..line.len().min(SHOWN)];
    let rest = if line.len() > SHOWN { "..." } else { "" };
    format!("{}{rest}", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_shown() {
        let said = |text: &[u8], longest| {
            let mut text = text;
            receive::<u32>(&mut text, longest).map_err(|error| error.to_string())
        };
        assert_eq!((said(b"7\n", 10), said(b"", 10)), (Ok(Some(7)), Ok(None)));
        let garbage = said(b"Segment\x1b[2J \xff fault\n", 100).unwrap_err();
        assert!(garbage.ends_with("it sent 'Segment\\x1b[2J \\xff fault'"), "{garbage}");
        let long = said(&[b"x".repeat(500), b"\n".to_vec()].concat(), 1000).unwrap_err();
        assert!(long.ends_with(&format!("it sent '{}...'", "x".repeat(80))), "{long}");
        assert!(said(b"1234567", 4).unwrap_err().contains("a line is too long; it begins with '1234'"));
        assert!(said(b"{\"bui", 100).unwrap_err().contains("a line was cut off; it begins with '{\\\"bui'"));
    }
}

//! Control messages: a length of four bytes, most significant first, and that much JSON, at most 1 MiB.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Report, Test};
use crate::{Error, Result};

/// Longest message, bytes.
pub const LONGEST: usize = 1 << 20;
/// Version of the protocol; both sides must speak the same.
pub const VERSION: u32 = 1;

/// What a server says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromServer {
    /// First of all: prove that you know the token.
    Challenge {
        /// Of the protocol.
        version: u32,
        /// Never used twice.
        nonce: String,
    },
    /// You do; so do I.
    Welcome {
        /// HMAC of both nonces.
        proof: String,
        /// What may be asked for.
        limits: super::Limits,
    },
    /// You do not.
    Denied {
        /// In words that help nobody who guesses.
        reason: String,
    },
    /// Others are measured now; wait.
    Queued {
        /// How many.
        ahead: usize,
    },
    /// It is your turn.
    Granted,
    /// Connect now.
    Ready {
        /// TCP port of data connections.
        tcp: u16,
        /// UDP port, where datagrams were asked for.
        udp: Option<u16>,
        /// What every data socket must say first.
        nonce: String,
    },
    /// I will not do that.
    Refused {
        /// Why.
        reason: String,
    },
    /// What I saw.
    Report(Box<Report>),
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromClient {
    /// The answer to the challenge.
    Proof {
        /// Never used twice.
        nonce: String,
        /// HMAC of both nonces.
        proof: String,
    },
    /// Measure this with me.
    Test(Test),
    /// The datagrams have been sent.
    Stop,
}

/// Reads one message from the front of some bytes: the message and how many bytes it took, or `None` when it is not all
/// there yet.
///
/// # Errors
/// When it is too long, or no message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<(T, usize)>> {
    let Some((head, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if length > LONGEST {
        return Err(Error::Protocol(format!("a message of {length} bytes; the longest has {LONGEST}")));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let message = serde_json::from_slice(body).map_err(|error| Error::Protocol(format!("no message: {error}")))?;
    Ok(Some((message, 4 + length)))
}

/// A message as bytes.
///
/// # Errors
/// When it would be too long.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>> {
    let body = serde_json::to_vec(message).map_err(|error| Error::Protocol(error.to_string()))?;
    if body.len() > LONGEST {
        return Err(Error::Protocol(format!("a message of {} bytes; the longest has {LONGEST}", body.len())));
    }
    let mut bytes = Vec::with_capacity(4 + body.len());
    bytes.extend_from_slice(&(body.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// Sends a message, within `patience`.
///
/// # Errors
/// When the other side is gone or does not take it.
pub fn send<T: Serialize>(stream: &mut TcpStream, message: &T, patience: Duration) -> Result<()> {
    let bytes = encode(message)?;
    let gone = |error: std::io::Error| Error::Gone(error.to_string());
    stream.set_write_timeout(Some(patience)).map_err(gone)?;
    stream.write_all(&bytes).map_err(gone)
}

/// Receives a message. The whole of it must be there within `patience`: bytes that drip do not keep a reader. `most`
/// bounds its length further.
///
/// # Errors
/// When the other side is gone, too slow, or says what is no message.
pub fn receive<T: DeserializeOwned>(stream: &mut TcpStream, patience: Duration, most: usize) -> Result<T> {
    let deadline = Instant::now() + patience;
    let mut head = [0; 4];
    fill(stream, &mut head, deadline)?;
    let length = u32::from_be_bytes(head) as usize;
    if length > LONGEST.min(most) {
        return Err(Error::Protocol(format!("a message of {length} bytes; the longest has {}", LONGEST.min(most))));
    }
    let mut body = vec![0; length];
    fill(stream, &mut body, deadline)?;
    serde_json::from_slice(&body).map_err(|error| Error::Protocol(format!("no message: {error}")))
}

fn fill(stream: &mut TcpStream, mut rest: &mut [u8], deadline: Instant) -> Result<()> {
    while !rest.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Gone("it said nothing, or too slowly".to_owned()));
        }
        stream.set_read_timeout(Some(left)).map_err(|error| Error::Gone(error.to_string()))?;
        match stream.read(rest) {
            Ok(0) => return Err(Error::Gone("it closed the connection".to_owned())),
            Ok(count) => rest = &mut rest[count..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(Error::Gone(error.to_string())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_read_back_and_parts_of_them_wait() {
        let message = FromServer::Queued { ahead: 3 };
        let bytes = encode(&message).unwrap();
        assert_eq!(decode::<FromServer>(&bytes).unwrap(), Some((message, bytes.len())));
        for end in 0..bytes.len() {
            assert_eq!(decode::<FromServer>(&bytes[..end]).unwrap(), None);
        }
        assert!(decode::<FromServer>(&u32::MAX.to_be_bytes()).is_err());
        assert!(encode(&"x".repeat(LONGEST)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0_u32..200) {
            let mut framed = length.to_be_bytes().to_vec();
            framed.extend(&bytes);
            let _ = decode::<FromClient>(&framed);
            let _ = decode::<FromServer>(&bytes);
        }
    }
}

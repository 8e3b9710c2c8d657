//! Acceptance of data connections. They carry plain bytes, because these are measured, and must present the ticket that
//! was sent over the control channel. If too many connections have no ticket, the oldest is dropped.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use channel::equal_in_constant_time;

use crate::{Error, Result};

/// Connections without a ticket that are kept, at most.
const MAX_CANDIDATES: usize = 256;
/// Connections accepted before waiting ones are read again.
const BURST: usize = 32;
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// A connection whose ticket is incomplete.
struct DataCandidate {
    stream: TcpStream,
    said: Vec<u8>,
    length: usize,
}

/// Accepts `wanted` connections within `patience`. Each presents the ticket and `more` bytes, from which `judge`
/// derives its purpose; `None` rejects the connection.
pub(crate) fn take<T>(
    listener: &TcpListener,
    ticket: &str,
    more: usize,
    wanted: usize,
    patience: Duration,
    judge: &mut dyn FnMut(&[u8]) -> Option<T>,
) -> Result<Vec<(T, TcpStream)>> {
    let deadline = Instant::now() + patience;
    let (mut candidates, mut taken, mut refused) = (VecDeque::new(), Vec::new(), String::new());
    listener.set_nonblocking(true).map_err(Error::io("wait for data connections"))?;
    while taken.len() < wanted {
        if Instant::now() > deadline {
            return Err(Error::Gone(format!("only {} of {wanted} data connections arrived{refused}", taken.len())));
        }
        for _ in 0..BURST {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // For example too many open files.
                Err(error) => {
                    refused = format!(": {error}");
                    break;
                }
            };
            if stream.set_nonblocking(true).is_ok() {
                candidates.push_back(DataCandidate { stream, said: vec![0; ticket.len() + more], length: 0 });
            }
        }
        let mut waiting = VecDeque::new();
        for mut candidate in candidates {
            match receive(&mut candidate) {
                Some(true) => {
                    let (said, rest) = candidate.said.split_at(ticket.len());
                    let use_of = equal_in_constant_time(said, ticket.as_bytes()).then(|| judge(rest)).flatten();
                    if let (Some(purpose), Ok(())) = (use_of, candidate.stream.set_nonblocking(false)) {
                        taken.push((purpose, candidate.stream));
                    }
                }
                Some(false) => waiting.push_back(candidate),
                None => {}
            }
        }
        waiting.drain(..waiting.len().saturating_sub(MAX_CANDIDATES));
        candidates = waiting;
        if taken.len() < wanted {
            kernels::timer::sleep(POLL_INTERVAL);
        }
    }
    Ok(taken)
}

/// Whether a candidate's ticket is complete; `None` when it has disconnected.
fn receive(candidate: &mut DataCandidate) -> Option<bool> {
    while candidate.length < candidate.said.len() {
        match candidate.stream.read(&mut candidate.said[candidate.length..]) {
            Ok(0) => return None,
            Ok(count) => candidate.length += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PRESENTED: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn silent_connections_keep_no_ticket_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let come = move || {
            let silent: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(address).unwrap()).collect();
            let present = |text: &str| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                stream
            };
            let wrong = present(&format!("{}x", PRESENTED.replace('a', "b")));
            let unwanted = present(&format!("{PRESENTED}y"));
            let right = [present(&format!("{PRESENTED}x")), present(&format!("{PRESENTED}x"))];
            (silent, wrong, unwanted, right)
        };
        let coming = std::thread::Builder::new().name("clients".to_owned()).spawn(come).unwrap();
        let mut judge = |rest: &[u8]| (rest == b"x").then_some(rest[0]);
        let taken = take(&listener, PRESENTED, 1, 2, Duration::from_secs(60), &mut judge).unwrap();
        assert_eq!(taken.iter().map(|(purpose, _)| *purpose).collect::<Vec<_>>(), [b'x', b'x']);
        let (_, _, _, right) = coming.join().unwrap();
        let ports = right.map(|stream| stream.local_addr().unwrap().port());
        assert!(taken.iter().all(|(_, stream)| ports.contains(&stream.peer_addr().unwrap().port())));
        assert!(take(&listener, PRESENTED, 1, 1, Duration::from_millis(20), &mut judge).is_err());
    }
}

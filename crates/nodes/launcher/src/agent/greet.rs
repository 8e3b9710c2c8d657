//! The driver's side of the greeting: starts all agents. An agent that does not answer in time is reported as missing,
//! with its name and the cause.

use std::io::{BufRead, Write};
use std::net::IpAddr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use measure::Stopper;

use super::{Clock, First, Hello, LONGEST};
use crate::line::{receive, send};
use crate::{Error, Result};
use crate::{Launcher, Link, MissingNode};

/// An agent that has answered and was given its duty.
pub struct Greeted {
    /// Index among the requested nodes, from 0.
    pub node: usize,
    /// The connection to it.
    pub link: Link,
    /// Its first message.
    pub hello: Hello,
    /// Offset of its clock from the driver's.
    pub clock: ClockOffset,
    /// Address to use for data.
    pub address: IpAddr,
}

/// Result of greeting all requested nodes.
#[derive(Default)]
pub struct Greeting {
    /// Nodes that answered, in order.
    pub greeted: Vec<Greeted>,
    /// Missing nodes, in order.
    pub missing: Vec<MissingNode>,
}

/// Offset of a node's clock. The question with the shortest round trip is the most precise, and half of that round trip
/// bounds the error (Cristian, Distributed Computing 3, 1989).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClockOffset {
    /// The driver's batch clock minus the node's, nanoseconds.
    pub ahead: f64,
    /// Bound of the error, nanoseconds.
    pub within: f64,
}

/// Starts the agents of nodes 0 to `count` and gives them their duty. Every node is in one of the two lists, each in
/// the order of nodes. The launcher sets the time limit of a node.
///
/// # Errors
/// When the user asked to stop.
pub fn greet(launcher: &mut dyn Launcher, count: usize, duty: &str, stopper: &Stopper) -> Result<Greeting> {
    let mut waiting: Vec<Option<Link>> = Vec::new();
    let mut missing: Vec<(usize, MissingNode)> = Vec::new();
    let (sender, results) = channel();
    // Three pipes of a node and what its start needs for a moment.
    os::process::allow_files(4 * count);
    for node in 0..count {
        match launcher.start(node) {
            Ok(mut link) => {
                meet(node, &mut link, duty, sender.clone())?;
                waiting.push(Some(link));
            }
            Err(error) => {
                missing.push((node, MissingNode { node: launcher.name(node), reason: error.to_string() }));
                waiting.push(None);
            }
        }
    }
    let patience = launcher.patience();
    let deadline = Instant::now() + patience;
    let mut greeted = Vec::new();
    while waiting.iter().any(Option::is_some) {
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let met = match results.recv_timeout(left.min(Duration::from_millis(100))) {
            Ok(met) => met,
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => continue,
            Err(_) => break,
        };
        let Some(mut link) = waiting[met.node].take() else { continue };
        match met.reply {
            Ok((hello, clock)) => {
                (link.input, link.output) = (met.input, met.output);
                let address = launcher.address(met.node, &hello);
                greeted.push(Greeted { node: met.node, link, hello, clock, address });
            }
            Err(error) => missing.push((met.node, absent(launcher, met.node, &link, &error))),
        }
    }
    for (node, link) in waiting.into_iter().enumerate() {
        if let Some(link) = link {
            let error = Error::Gone(format!("it sent nothing for {} s", patience.as_secs()));
            missing.push((node, absent(launcher, node, &link, &error)));
        }
    }
    greeted.sort_by_key(|one| one.node);
    missing.sort_by_key(|one| one.0);
    let missing = missing.into_iter().map(|(_, missing)| missing).collect();
    Ok(Greeting { greeted, missing })
}

fn absent(launcher: &dyn Launcher, node: usize, link: &Link, error: &Error) -> MissingNode {
    MissingNode { node: launcher.name(node), reason: launcher.why_missing(node, link, error) }
}

/// Result of greeting one agent.
struct Met {
    node: usize,
    input: Box<dyn Write + Send>,
    output: Box<dyn BufRead + Send>,
    reply: Result<(Hello, ClockOffset)>,
}

/// Greets an agent in a separate thread, since a read from a pipe has no time limit here. The thread ends with the
/// agent at the latest.
fn meet(node: usize, link: &mut Link, duty: &str, results: Sender<Met>) -> Result<()> {
    let mut output = std::mem::replace(&mut link.output, Box::new(std::io::empty()));
    let mut input = std::mem::replace(&mut link.input, Box::new(std::io::sink()));
    let duty = duty.to_owned();
    let exchange_all = move || {
        let reply = exchange(&mut *input, &mut *output, duty);
        // The receiver may be gone after the time limit.
        let _ = results.send(Met { node, input, output, reply });
    };
    std::thread::Builder::new().name("greeting".to_owned()).spawn(exchange_all).map_err(Error::io("start a thread"))?;
    Ok(())
}

/// Bytes that may come before the first message, at most.
const PREAMBLE: usize = 64 << 10;

/// Skips lines that a login shell prints before the agent begins: its messages are objects.
fn skip_preamble(output: &mut dyn BufRead) -> Result<()> {
    let (mut skipped, mut first, mut begins) = (0, Vec::new(), true);
    loop {
        let piece = output.fill_buf().map_err(|error| Error::Gone(error.to_string()))?;
        if begins && piece.first() == Some(&b'{') {
            return Ok(());
        }
        let end = piece.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        let count = end.unwrap_or(piece.len());
        first.extend_from_slice(&piece[..count.min(80_usize.saturating_sub(first.len()))]);
        if piece.is_empty() && skipped == 0 {
            return Ok(());
        }
        if piece.is_empty() || skipped > PREAMBLE {
            let said = String::from_utf8_lossy(&first);
            return Err(Error::Protocol(format!(
                "it is no agent: it printed '{}'",
                said.lines().next().unwrap_or_default()
            )));
        }
        begins = end.is_some();
        skipped += count;
        output.consume(count);
    }
}

fn exchange(input: &mut dyn Write, output: &mut dyn BufRead, duty: String) -> Result<(Hello, ClockOffset)> {
    /// Number of questions about the clock.
    const QUESTIONS: usize = 7;
    let ended = || Error::Gone("it ended before it was asked to".to_owned());
    skip_preamble(output)?;
    let hello: Hello = receive(output, LONGEST)?.ok_or_else(ended)?;
    let ours = env!("CARGO_PKG_VERSION");
    if hello.version != ours {
        let theirs = &hello.version;
        return Err(Error::Refused(format!("it has version {theirs} of this program, the driver has {ours}")));
    }
    if hello.can.iter().all(|can| *can != duty) {
        return Err(Error::Refused(format!("its program has no duty {duty}; use the same prony on both")));
    }
    let mut best: Option<ClockOffset> = None;
    for _ in 0..QUESTIONS {
        let asked = kernels::clock::now();
        send(input, &First::Clock)?;
        let Clock { clock } = receive(output, LONGEST)?.ok_or_else(ended)?;
        let within = (kernels::clock::now() - asked) as f64 / 2.0;
        if best.is_none_or(|best| within < best.within) {
            best = Some(ClockOffset { ahead: asked as f64 + within - clock as f64, within });
        }
    }
    send(input, &First::Duty(duty))?;
    Ok((hello, best.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_login_shell_prints_is_skipped_and_what_is_no_agent_is_quoted() {
        let rest = |text: &[u8]| {
            let mut text = std::io::BufReader::with_capacity(7, text);
            skip_preamble(&mut text).map(|()| std::io::read_to_string(text).unwrap_or_default())
        };
        for preamble in [&b""[..], b"Welcome {to} h\n", b"Universit\xe9\n\n -- {\n"] {
            assert_eq!(rest(&[preamble, b"{\"a\":1}\n"].concat()).unwrap(), "{\"a\":1}\n");
        }
        assert_eq!(rest(b"").unwrap(), "");
        for text in [b"prony: no such command\nx".to_vec(), b"prony: no such command\n".repeat(10_000)] {
            let said = rest(&text).unwrap_err().to_string();
            assert!(said.ends_with("it printed 'prony: no such command'"), "{said}");
        }
    }
}

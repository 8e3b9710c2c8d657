//! Whether the kernel audits what processes do, as it says itself to the privileged (`linux/audit.h`, auditctl(8)).
//!
//! An audited process takes the slow way through every system call. A kernel that audited before keeps that for
//! processes until the next boot, and reports it nowhere.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};

use model::Primitive;

use crate::error::{Error, Result, check};
use crate::facts::collector::{Collector, why};

const WHAT: &str = "ask the kernel what it audits";
const SOURCE: &str = "NETLINK_AUDIT";

/// The capability that it takes (`CAP_AUDIT_CONTROL`).
const AUDIT_CONTROL: u32 = 30;
/// Messages of `linux/audit.h` and `linux/netlink.h`.
const STATUS: u16 = 1000;
const LIST_RULES: u16 = 1013;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// A header: length, kind, flags, sequence and port.
const HEADER: usize = 16;
/// A rule for the beginning of tasks, and the action that exempts them.
const OF_TASKS: u32 = 1;
const NEVER: u32 = 0;
/// Rule flag of being first in its list.
const FIRST: u32 = 0x10;

/// Most messages that are read in answer to one question.
const MOST: usize = 4096;

/// What the kernel audits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct AuditState {
    /// Auditing is on.
    enabled: bool,
    /// Rules that are loaded.
    rules: u32,
    /// A rule exempts every process that begins.
    exempts: bool,
}

impl AuditState {
    /// Whether processes that begin now are audited.
    fn audits(self) -> bool {
        self.enabled && !self.exempts
    }

    /// Takes one message in; whether it ends the answer.
    fn take(&mut self, kind: u16, body: &[u8]) -> Result<bool> {
        let word = |at: usize| Some(u32::from_ne_bytes(body.get(4 * at..4 * at + 4)?.try_into().ok()?));
        let short = || Error::refused(WHAT, "its answer is cut short");
        match kind {
            ERROR => {
                let code = word(0).ok_or_else(short)?.cast_signed();
                // An acknowledgement is an error of nothing.
                if code == 0 { Ok(false) } else { Err(Error::os(WHAT, std::io::Error::from_raw_os_error(-code))) }
            }
            DONE => Ok(true),
            STATUS => {
                self.enabled = word(1).ok_or_else(short)? != 0;
                Ok(true)
            }
            LIST_RULES => {
                let (list, action) = word(0).zip(word(1)).ok_or_else(short)?;
                let conditions = word(2).ok_or_else(short)?;
                self.rules += 1;
                self.exempts |= list & !FIRST == OF_TASKS && action == NEVER && conditions == 0;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Takes a datagram of messages in; whether one of them ends the answer.
    fn take_all(&mut self, mut datagram: &[u8]) -> Result<bool> {
        while let Some(header) = datagram.get(..HEADER) {
            let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let kind = u16::from_ne_bytes([header[4], header[5]]);
            let body = datagram.get(HEADER..length).ok_or_else(|| Error::refused(WHAT, "its answer is cut short"))?;
            if self.take(kind, body)? {
                return Ok(true);
            }
            datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(false)
    }
}

pub(super) fn collect(facts: &mut Collector) {
    if !facts.is_here() {
        return;
    }
    let state = facts.may(AUDIT_CONTROL).and_then(|()| why(state()));
    let calls = &[Primitive::SyscallEntry];
    facts.truth("kernel.audit", state.clone().map(|state| state.audits()), SOURCE, calls);
    // Rules of what is not audited cost nothing.
    let rules = state.map(|state| if state.audits() { f64::from(state.rules) } else { 0.0 });
    facts.number("kernel.audit_rules", rules, "1", SOURCE, calls);
}

#[cfg(target_os = "linux")]
fn state() -> Result<AuditState> {
    let mut socket = open()?;
    let mut state = AuditState::default();
    for question in [STATUS, LIST_RULES] {
        let request = request(question);
        let io = |error| Error::os(WHAT, error);
        socket.write_all(&request).map_err(io)?;
        let mut buffer = [0; 1 << 14];
        let mut ended = false;
        for _ in 0..MOST {
            let length = socket.read(&mut buffer).map_err(io)?;
            ended = length == 0 || state.take_all(&buffer[..length])?;
            if ended {
                break;
            }
        }
        if !ended {
            return Err(Error::refused(WHAT, "its answer has no end"));
        }
    }
    Ok(state)
}

#[cfg(not(target_os = "linux"))]
fn state() -> Result<AuditState> {
    Err(Error::not_here(WHAT))
}

/// A question without a body, which wants an acknowledgement or a refusal.
fn request(kind: u16) -> Vec<u8> {
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    let mut request = (HEADER as u32).to_ne_bytes().to_vec();
    request.extend(kind.to_ne_bytes());
    request.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    request.extend([1_u32, 0].iter().flat_map(|word| word.to_ne_bytes()));
    request
}

/// A socket to the audit subsystem that waits at most a second for an answer.
#[cfg(target_os = "linux")]
fn open() -> Result<File> {
    // SAFETY: numbers only.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_AUDIT) };
    let fd = check(WHAT, fd)?;
    // SAFETY: the descriptor was just made and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let patience = libc::timeval { tv_sec: 1, tv_usec: 0 };
    let length = size_of_val(&patience) as libc::socklen_t;
    // SAFETY: the pointer is readable, and the length is that of the value.
    let answer =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const patience).cast(), length) };
    check(WHAT, answer).map(|_| File::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u32]) -> Vec<u8> {
        let mut made = ((HEADER + 4 * body.len()) as u32).to_ne_bytes().to_vec();
        made.extend(kind.to_ne_bytes());
        made.extend([0; 10]);
        made.extend(body.iter().flat_map(|word| word.to_ne_bytes()));
        made
    }

    fn told(datagrams: &[Vec<u8>]) -> Result<AuditState> {
        let mut state = AuditState::default();
        for datagram in datagrams {
            state.take_all(datagram)?;
        }
        Ok(state)
    }

    #[test]
    fn on_with_rules_and_on_for_no_process() {
        let on = message(STATUS, &[0, 1, 1, 300]);
        let watched = message(LIST_RULES, &[4, 2, 0, 0]);
        let exempt = message(LIST_RULES, &[OF_TASKS | FIRST, NEVER, 0, 0]);
        let of_one_user = message(LIST_RULES, &[OF_TASKS, NEVER, 1, 0]);
        let end = message(DONE, &[0]);
        let state = told(&[message(ERROR, &[0]), on.clone(), watched, of_one_user, end.clone()]).unwrap();
        assert_eq!(state, AuditState { enabled: true, rules: 2, exempts: false });
        assert!(state.audits());
        let together = [exempt, end].concat();
        let state = told(&[on, together]).unwrap();
        assert_eq!(state, AuditState { enabled: true, rules: 1, exempts: true });
        assert!(!state.audits());
    }

    #[test]
    fn refusals_and_answers_cut_short_are_errors() {
        let refused = message(ERROR, &[(-libc::EPERM).cast_unsigned()]);
        assert_eq!(told(&[refused]).unwrap_err().errno(), Some(libc::EPERM));
        let whole = message(STATUS, &[0, 1, 1]);
        for length in HEADER..whole.len() {
            assert!(told(&[whole[..length].to_vec()]).is_err(), "{length}");
        }
        let mut long = whole;
        long[0] = 255;
        assert!(told(&[long]).is_err());
        let mut empty = message(DONE, &[]);
        empty[0] = 0;
        assert!(told(&[empty]).is_err(), "a header of no length");
    }

    #[test]
    fn the_kernel_answers_or_refuses() {
        match state() {
            Ok(state) => assert!(state.rules < MOST as u32),
            Err(error) => assert!(error.to_string().contains(WHAT), "{error}"),
        }
    }
}

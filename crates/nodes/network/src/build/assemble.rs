//! A receiver over connections: one thread that polls all senders.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use kernels::poll::Epoll;

use super::control::{Control, SendReply, StartMoment, peers, start};
use super::count::Reports;
use super::message::{BuildJob, BuildOrder, BuildReply, BuildRequest, NodeCounters};
use super::payload::{Part, PayloadCheck};
use super::sizes::EventTimes;
use crate::data::{self, SocketOptions};
use crate::{Error, Result};

/// Bytes of one read, at most.
const READ: usize = 64 << 10;

/// Position of a connection in its stream of fragments.
struct FragmentSource {
    stream: TcpStream,
    sender: u32,
    head: [u8; 8],
    have: usize,
    /// The event whose fragment is next: a receiver's events come in order, whatever the pattern.
    next: u32,
    /// The fragment that has begun to come.
    part: Option<ComingPart>,
}

/// A partly received fragment.
struct ComingPart {
    event: u32,
    part: Part,
    /// Bytes of it that have come.
    came: usize,
    /// Whether some of these are wrong.
    wrong: bool,
}

pub(super) fn work(
    index: u32,
    order: &BuildOrder,
    window: Option<u32>,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    let job = &order.job;
    let (mut sources, mut epoll) = connected(index, order, window, requests, reply)?;
    let mut check = PayloadCheck::new();
    reply(BuildReply::Connected)?;
    let StartMoment { began, due } = start(requests)?;
    let mut counters = NodeCounters::new(began, job.senders as usize);
    let mut reports = Reports::new(due);
    let mut missing = vec![job.senders; job.events as usize];
    let mut firsts = vec![0_u64; job.events as usize];
    let mut buffer = vec![0; READ];
    let times = EventTimes::of(job);
    while !control.ended() {
        let ready: Vec<u64> = match epoll.wait(Some(Duration::from_millis(10))) {
            Ok(ready) => ready.collect(),
            Err(_) => continue,
        };
        let now = kernels::clock::now();
        for token in ready {
            let source = &mut sources[token as usize];
            let Some(count) = read(source, &epoll, &mut buffer)? else { continue };
            let sender = source.sender;
            source.take(&buffer[..count], job, &mut check, &mut |event, begun, whole| {
                let first = &mut firsts[event as usize];
                if begun && *first == 0 {
                    *first = now;
                }
                if whole {
                    counters.received += 1;
                    counters.moved(sender as usize, u64::from(job.length(event, sender)));
                    let left = &mut missing[event as usize];
                    let last = *left == 1;
                    *left = left.saturating_sub(1);
                    if last {
                        counters.completed_by(sender as usize);
                        let from = if job.rate.is_some() { times.due(began, event) } else { *first };
                        reports.built(event, kernels::clock::now(), from);
                    }
                }
            })?;
        }
        reports.reply(reply, false)?;
    }
    reports.reply(reply, true)?;
    counters.verified = check.seen;
    Ok(counters)
}

/// The connections of all senders, in their order, and what waits for any of them.
fn connected(
    index: u32,
    order: &BuildOrder,
    window: Option<u32>,
    requests: &Receiver<BuildRequest>,
    reply: SendReply,
) -> Result<(Vec<FragmentSource>, Epoll)> {
    let listener = SocketOptions { window, ..SocketOptions::default() }.listen(SocketAddr::new(order.address, 0))?;
    reply(BuildReply::Ready { address: listener.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    peers(requests)?;
    let senders = order.job.senders as usize;
    os::process::allow_files(senders);
    let sources = accept(&listener, index, order)?;
    let epoll = Epoll::new(senders)?;
    for (token, source) in sources.iter().enumerate() {
        epoll.add(&source.stream, token as u64)?;
    }
    Ok((sources, epoll))
}

/// Number of read bytes; `None` if there are none. A closed or broken connection is readable for ever: polling it would
/// take the CPU from the senders.
fn read(source: &mut FragmentSource, epoll: &Epoll, buffer: &mut [u8]) -> Result<Option<usize>> {
    match source.stream.read(buffer) {
        Ok(count) if count > 0 => return Ok(Some(count)),
        Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
        _ => epoll.remove(&source.stream)?,
    }
    Ok(None)
}

/// Accepts one connection of each sender, and no other.
fn accept(listener: &std::net::TcpListener, index: u32, order: &BuildOrder) -> Result<Vec<FragmentSource>> {
    /// Time limit for all senders to connect.
    const TIMEOUT: Duration = Duration::from_secs(30);
    let senders = order.job.senders;
    let mut here = vec![false; senders as usize];
    let mut judge = |said: &[u8]| {
        let sender = u32::from_le_bytes(*said.first_chunk()?);
        let new = here.get_mut(sender as usize).filter(|here| !**here)?;
        *new = true;
        Some(sender)
    };
    let taken = data::take(listener, &order.ticket, 4, senders as usize, TIMEOUT, &mut judge)?;
    let source = |(sender, stream): (u32, TcpStream)| {
        stream.set_nonblocking(true).map_err(Error::io("wait for fragments"))?;
        Ok(FragmentSource { stream, sender, head: [0; 8], have: 0, next: index, part: None })
    };
    taken.into_iter().map(source).collect()
}

impl FragmentSource {
    /// Consumes received bytes and verifies payload; calls `say` when a fragment of an event begins and when it is
    /// complete.
    fn take(
        &mut self,
        mut bytes: &[u8],
        job: &BuildJob,
        check: &mut PayloadCheck,
        say: &mut dyn FnMut(u32, bool, bool),
    ) -> Result<()> {
        while !bytes.is_empty() {
            let Some(coming) = &mut self.part else {
                let count = bytes.len().min(8 - self.have);
                self.head[self.have..self.have + count].copy_from_slice(&bytes[..count]);
                self.have += count;
                bytes = &bytes[count..];
                if self.have == 8 {
                    self.begin(job)?;
                }
                continue;
            };
            let (part, begun, from) = (coming.part, coming.came == 0, coming.came);
            let (these, others) = bytes.split_at(bytes.len().min(part.length() - from));
            check.piece(&part, from, these, &mut coming.wrong);
            coming.came += these.len();
            bytes = others;
            let (event, whole) = (coming.event, coming.came == part.length());
            if whole {
                self.part = None;
            }
            say(event, begun, whole);
        }
        Ok(())
    }

    /// Begins the fragment of a received header. Every sender has the events of a receiver in order, so a repeated or
    /// wrong fragment is not the expected one.
    fn begin(&mut self, job: &BuildJob) -> Result<()> {
        self.have = 0;
        let [event, length] = self.head.as_chunks::<4>().0 else { return Ok(()) };
        let [event, length] = [event, length].map(|word| u32::from_le_bytes(*word));
        if event != self.next || event >= job.events || length != job.length(event, self.sender) {
            let (sender, next) = (self.sender, self.next);
            return Err(Error::Protocol(format!(
                "sender {sender} sent {length} bytes of event {event}, and event {next} was due"
            )));
        }
        self.next += job.receivers;
        self.part = Some(ComingPart { event, part: Part::fragment(job, event, self.sender), came: 0, wrong: false });
        Ok(())
    }
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;

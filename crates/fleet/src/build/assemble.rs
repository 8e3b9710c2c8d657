//! A receiver over connections: one thread that polls all senders.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use sys::poll::Epoll;

use super::control::{Control, SendReply, StartMoment, peers, start};
use super::count::Reports;
use super::message::{BuildJob, BuildOrder, BuildReply, BuildRequest, NodeCounters};
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
    left: u32,
    event: u32,
    began: bool,
}

pub(super) fn work(
    order: &BuildOrder,
    window: Option<u32>,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    let job = &order.job;
    let listener = SocketOptions { window, ..SocketOptions::default() }.listen(SocketAddr::new(order.address, 0))?;
    reply(BuildReply::Ready { address: listener.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    peers(requests)?;
    sys::process::allow_files(job.senders as usize);
    let mut sources = accept(&listener, order)?;
    let mut epoll = Epoll::new(job.senders as usize)?;
    for (token, source) in sources.iter().enumerate() {
        epoll.add(&source.stream, token as u64)?;
    }
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
        let now = sys::clock::now();
        for token in ready {
            let source = &mut sources[token as usize];
            let Some(count) = read(source, &epoll, &mut buffer)? else { continue };
            let sender = source.sender;
            source.take(&buffer[..count], job, &mut |event, begun, whole| {
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
                        let from = if job.rate.is_some() { times.due(began, event) } else { *first };
                        reports.built(event, sys::clock::now(), from);
                    }
                }
            })?;
        }
        reports.reply(reply, false)?;
    }
    reports.reply(reply, true)?;
    Ok(counters)
}

/// Bytes that were read; `None` where there are none. A connection that is closed or broken is readable for ever:
/// polling it would take the CPU from those that send.
fn read(source: &mut FragmentSource, epoll: &Epoll, buffer: &mut [u8]) -> Result<Option<usize>> {
    match source.stream.read(buffer) {
        Ok(count) if count > 0 => return Ok(Some(count)),
        Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
        _ => epoll.remove(&source.stream)?,
    }
    Ok(None)
}

/// Accepts one connection of each sender, and no other.
fn accept(listener: &std::net::TcpListener, order: &BuildOrder) -> Result<Vec<FragmentSource>> {
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
        Ok(FragmentSource { stream, sender, head: [0; 8], have: 0, left: 0, event: 0, began: false })
    };
    taken.into_iter().map(source).collect()
}

impl FragmentSource {
    /// Consumes received bytes; calls `say` when a fragment of an event begins and when it is complete.
    fn take(&mut self, mut bytes: &[u8], job: &BuildJob, say: &mut dyn FnMut(u32, bool, bool)) -> Result<()> {
        while !bytes.is_empty() {
            if self.left == 0 {
                let count = bytes.len().min(8 - self.have);
                self.head[self.have..self.have + count].copy_from_slice(&bytes[..count]);
                self.have += count;
                bytes = &bytes[count..];
                if self.have < 8 {
                    return Ok(());
                }
                self.have = 0;
                let [event, length] = [0, 4].map(|at| {
                    u32::from_le_bytes([self.head[at], self.head[at + 1], self.head[at + 2], self.head[at + 3]])
                });
                if event >= job.events || length != job.length(event, self.sender) {
                    return Err(Error::Protocol(format!("a fragment of event {event} with {length} bytes")));
                }
                (self.event, self.left, self.began) = (event, length, true);
                continue;
            }
            let count = bytes.len().min(self.left as usize);
            self.left -= count as u32;
            bytes = &bytes[count..];
            say(self.event, std::mem::take(&mut self.began), self.left == 0);
        }
        Ok(())
    }
}

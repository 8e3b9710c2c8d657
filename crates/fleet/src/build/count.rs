//! A receiver of datagrams without retransmission: it builds complete events and counts the rest.

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::control::{Control, SendReply, peers, start};
use super::message::{BuildOrder, BuildReply, BuildRequest, CHUNK, DatagramHeader, HEAD, NodeCounters};
use super::sizes::EventTimes;
use crate::{Error, Result};

/// Receive buffer, bytes: datagrams that passed the switch must not be lost in the socket.
const BUFFER: usize = 8 << 20;
/// Interval of reports of built events, nanoseconds.
const REPORT: u64 = 20_000_000;

/// Built events that are not reported yet.
#[derive(Debug, Default)]
pub(super) struct Reports {
    events: Vec<(u32, u64)>,
    last: u64,
}

impl Reports {
    pub(super) fn built(&mut self, event: u32, nanos: u64) {
        self.events.push((event, nanos));
    }

    /// Sends a report when one is due, or if `must` is set.
    pub(super) fn reply(&mut self, reply: &mut dyn FnMut(BuildReply) -> Result<()>, must: bool) -> Result<()> {
        let now = sys::clock::now();
        if self.events.is_empty() || (!must && self.events.len() < 512 && now - self.last < REPORT) {
            return Ok(());
        }
        self.last = now;
        reply(BuildReply::Built { events: std::mem::take(&mut self.events) })
    }
}

pub(super) fn work(
    order: &BuildOrder,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    let job = &order.job;
    let socket = UdpSocket::bind(SocketAddr::new(order.address, 0)).map_err(Error::io("make a socket"))?;
    sys::socket::set_receive_buffer(&socket, BUFFER)?;
    socket.set_read_timeout(Some(Duration::from_millis(10))).map_err(Error::io("wait for datagrams"))?;
    reply(BuildReply::Ready { address: socket.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    peers(requests)?;
    reply(BuildReply::Connected)?;
    let (began, moment) = start(requests)?;
    let mut counters = NodeCounters::new(moment, job.senders as usize);
    let mut reports = Reports::default();
    let mut missing = (0..job.events).map(|event| job.datagrams(event)).collect::<Vec<_>>();
    let times = EventTimes::of(job);
    let mut datagram = [0; HEAD + CHUNK as usize];
    while !control.ended() {
        if let Ok(length) = socket.recv(&mut datagram)
            && let Some(head) = DatagramHeader::read(&datagram[..length], job)
        {
            counters.received += 1;
            counters.moved(head.sender as usize, (length - HEAD) as u64);
            let left = &mut missing[head.event as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                reports.built(head.event, sys::clock::now().saturating_sub(times.due(began, head.event)));
            }
        }
        reports.reply(reply, false)?;
    }
    reports.reply(reply, true)?;
    counters.socket_drops = sys::socket::drops(&socket).unwrap_or(0);
    Ok(counters)
}

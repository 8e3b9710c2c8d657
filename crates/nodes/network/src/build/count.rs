//! A receiver of datagrams without retransmission: it builds complete events and counts the rest.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::control::{Control, SendReply, StartMoment, peers, start};
use super::message::{BuildJob, BuildOrder, BuildReply, BuildRequest, CHUNK, DatagramHeader, HEAD, NodeCounters};
use super::payload::{Part, PayloadCheck};
use super::sizes::EventTimes;
use crate::{Error, Result};

/// Receive buffer, bytes: datagrams that passed the switch must not be lost in the socket.
const BUFFER: usize = 8 << 20;
/// Interval of reports of built events, nanoseconds.
const REPORT: u64 = 20_000_000;

/// Built events that are not reported yet.
#[derive(Debug)]
pub(super) struct Reports {
    events: Vec<(u32, u64)>,
    last: u64,
    /// When all nodes were to start, by the batch clock.
    due: u64,
    /// When the last event was built, by the batch clock.
    latest: u64,
}

impl Reports {
    pub(super) fn new(due: u64) -> Self {
        Self { events: Vec::new(), last: 0, due, latest: due }
    }

    /// Notes an event that was built at a moment of the batch clock, `from` which it took.
    pub(super) fn built(&mut self, event: u32, now: u64, from: u64) {
        self.latest = now;
        self.events.push((event, now.saturating_sub(from)));
    }

    /// Sends a report when one is due, or if `must` is set.
    pub(super) fn reply(&mut self, reply: &mut dyn FnMut(BuildReply) -> Result<()>, must: bool) -> Result<()> {
        let now = kernels::clock::now();
        if self.events.is_empty() || (!must && self.events.len() < 512 && now - self.last < REPORT) {
            return Ok(());
        }
        self.last = now;
        let ended = self.latest.saturating_sub(self.due);
        reply(BuildReply::Built { events: std::mem::take(&mut self.events), ended })
    }
}

/// Relation of a datagram to its event.
#[derive(Debug, PartialEq, Eq)]
enum DatagramArrival {
    /// A part that was missing, and others still are.
    Part,
    /// The last part that was missing.
    Last,
    /// A part that has been counted: networks may deliver a datagram twice.
    Again,
}

/// Received datagrams of unfinished events.
struct DatagramTally {
    /// Datagrams that are missing, by event.
    missing: Vec<u32>,
    /// A bit for each datagram of partly received events.
    seen: HashMap<u32, Vec<u64>>,
    /// Datagrams of a sender's fragment, at most.
    most: usize,
}

impl DatagramTally {
    fn of(job: &BuildJob) -> Self {
        let missing = (0..job.events).map(|event| job.datagrams(event)).collect();
        Self { missing, seen: HashMap::new(), most: job.most_chunks() as usize }
    }

    fn note(&mut self, head: DatagramHeader, job: &BuildJob) -> DatagramArrival {
        let left = &mut self.missing[head.event as usize];
        if *left == 0 {
            return DatagramArrival::Again;
        }
        let words = || vec![0; (job.senders as usize * self.most).div_ceil(64)];
        let place = head.sender as usize * self.most + head.chunk as usize;
        let word = &mut self.seen.entry(head.event).or_insert_with(words)[place / 64];
        if *word & 1 << (place % 64) != 0 {
            return DatagramArrival::Again;
        }
        *word |= 1 << (place % 64);
        *left -= 1;
        if *left > 0 {
            return DatagramArrival::Part;
        }
        self.seen.remove(&head.event);
        DatagramArrival::Last
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
    os::socket::set_receive_buffer(&socket, BUFFER)?;
    socket.set_read_timeout(Some(Duration::from_millis(10))).map_err(Error::io("wait for datagrams"))?;
    reply(BuildReply::Ready { address: socket.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    peers(requests)?;
    let mut check = PayloadCheck::new();
    reply(BuildReply::Connected)?;
    let StartMoment { began, due } = start(requests)?;
    let mut counters = NodeCounters::new(began, job.senders as usize);
    let mut reports = Reports::new(due);
    let mut arrivals = DatagramTally::of(job);
    let times = EventTimes::of(job);
    let mut datagram = [0; HEAD + CHUNK as usize];
    while !control.ended() {
        if let Ok(length) = socket.recv(&mut datagram)
            && let Some(head) = DatagramHeader::of_whole(&datagram[..length], job)
        {
            check.whole(&Part::datagram(job, head), &datagram[HEAD..length]);
            let arrival = arrivals.note(head, job);
            if arrival == DatagramArrival::Again {
                counters.needless += 1;
                continue;
            }
            counters.received += 1;
            counters.moved(head.sender as usize, (length - HEAD) as u64);
            if arrival == DatagramArrival::Last {
                counters.completed_by(head.sender as usize);
                reports.built(head.event, kernels::clock::now(), times.due(began, head.event));
            }
        }
        reports.reply(reply, false)?;
    }
    reports.reply(reply, true)?;
    counters.verified = check.seen;
    counters.socket_drops = os::socket::drops(&socket).unwrap_or(0);
    Ok(counters)
}

#[cfg(test)]
mod tests {
    use super::super::message::{self, PushPattern, SizeDistribution, Transport};
    use super::super::sizes::tests::job;
    use super::*;

    #[test]
    fn a_datagram_that_arrives_twice_completes_no_event() {
        for sizes in [SizeDistribution::Fixed, SizeDistribution::Exponential] {
            let job = BuildJob {
                senders: 3,
                fragment: 4_000,
                events: 50,
                pattern: PushPattern::Burst,
                transport: Transport::Datagrams,
                ..job(sizes, message::Arrivals::Regular)
            };
            let mut arrivals = DatagramTally::of(&job);
            for event in 0..job.events {
                let parts = (0..job.senders)
                    .flat_map(|sender| (0..job.chunks(event, sender)).map(move |chunk| (sender, chunk)));
                let heads: Vec<DatagramHeader> =
                    parts.map(|(sender, chunk)| DatagramHeader { seed: job.seed, event, sender, chunk }).collect();
                let (last, others) = heads.split_last().unwrap();
                for head in others {
                    assert_eq!(arrivals.note(*head, &job), DatagramArrival::Part);
                    assert_eq!(arrivals.note(*head, &job), DatagramArrival::Again);
                }
                assert_eq!(
                    (arrivals.note(*last, &job), arrivals.note(*last, &job)),
                    (DatagramArrival::Last, DatagramArrival::Again)
                );
                assert!(others.iter().all(|head| arrivals.note(*head, &job) == DatagramArrival::Again));
            }
            assert!(arrivals.seen.is_empty(), "finished events need no memory");
        }
    }

    #[test]
    fn a_datagram_without_its_whole_payload_is_no_part() {
        let job = BuildJob { fragment: 2_000, ..job(SizeDistribution::Fixed, message::Arrivals::Regular) };
        let mut datagram = [0; HEAD + CHUNK as usize + 1];
        for (chunk, payload) in [(0, CHUNK as usize), (1, 2_000 - CHUNK as usize)] {
            DatagramHeader { seed: job.seed, event: 7, sender: 1, chunk }.write(&mut datagram);
            let whole = |length: usize| DatagramHeader::of_whole(&datagram[..length], &job).is_some();
            assert!(whole(HEAD + payload));
            assert!(![0, HEAD, HEAD + payload - 1, HEAD + payload + 1].into_iter().any(whole), "{chunk}");
        }
        DatagramHeader { seed: job.seed + 1, event: 7, sender: 1, chunk: 0 }.write(&mut datagram);
        assert!(DatagramHeader::of_whole(&datagram[..HEAD + CHUNK as usize], &job).is_none(), "of another job");
    }

    #[test]
    fn a_report_tells_when_its_last_event_was_built_and_not_when_it_was_sent() {
        let due = kernels::clock::now().saturating_sub(1_000_000_000);
        let mut reports = Reports::new(due);
        let mut sent = Vec::new();
        let mut reply = |message: BuildReply| {
            sent.push(message);
            Ok(())
        };
        reports.built(4, due + 3_000, due + 1_000);
        reports.built(2, due + 5_000, due + 1_000);
        reports.reply(&mut reply, true).unwrap();
        reports.reply(&mut reply, true).unwrap();
        assert_eq!(sent, [BuildReply::Built { events: vec![(4, 2_000), (2, 4_000)], ended: 5_000 }]);
    }
}

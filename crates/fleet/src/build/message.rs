//! What a driver and its nodes say to each other: one JSON message a line.

use std::io::BufRead;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// In which order pushing senders serve the receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushPattern {
    /// Event after event, everybody the same: with a rate, every event is a burst into one port.
    Burst,
    /// The same as fast as the connections take it.
    RoundRobin,
    /// Every sender begins with another receiver.
    BarrelShift,
    /// Every sender in a random order of its own within each group of M events.
    Random,
    /// Receivers ask.
    Pull,
}

/// What carries fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Connections; receive buffers of this size bound their windows.
    Tcp {
        /// Receive buffer asked for, bytes; `None` leaves it to the system.
        window: Option<u32>,
    },
    /// Datagrams that nobody sends again.
    Datagrams,
    /// Datagrams asked for one by one, and again when they do not come.
    Credits {
        /// Requests that one receiver has open.
        credits: u32,
    },
}

/// How large fragments are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeDistribution {
    /// All alike.
    #[default]
    Fixed,
    /// Exponential about the job's fragment size: how much a detector part saw is random.
    Exponential,
    /// Drawn from measured ones, bytes.
    Measured(Vec<u32>),
}

/// When events happen, at a given rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    #[default]
    Regular,
    /// At random, as decays do.
    Poisson,
}

/// What is built, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildJob {
    /// Senders.
    pub senders: u32,
    /// Receivers.
    pub receivers: u32,
    /// Bytes of a fragment; the mean where sizes are random.
    pub fragment: u32,
    /// Events.
    pub events: u32,
    /// Events a second; `None`: as fast as it goes.
    pub rate: Option<f64>,
    /// Order.
    pub pattern: PushPattern,
    /// Transport.
    pub transport: Transport,
    /// Seed of random orders, and what tells this job's datagrams from others'.
    pub seed: u32,
    /// How large fragments are.
    #[serde(default)]
    pub sizes: SizeDistribution,
    /// When events happen.
    #[serde(default)]
    pub arrivals: Arrivals,
}

/// Payload of one datagram behind its head; with head it fills one frame.
pub(super) const CHUNK: u32 = 1456;
/// Bytes of the head of a datagram or request.
pub(super) const HEAD: usize = 16;

impl BuildJob {
    /// Datagrams of one sender's fragment of an event.
    #[must_use]
    pub fn chunks(&self, event: u32, sender: u32) -> u32 {
        self.length(event, sender).div_ceil(CHUNK)
    }

    /// Datagrams of an event.
    pub(super) fn datagrams(&self, event: u32) -> u32 {
        match self.sizes {
            SizeDistribution::Fixed => self.senders * self.chunks(event, 0),
            _ => (0..self.senders).map(|sender| self.chunks(event, sender)).sum(),
        }
    }

    /// Bytes of one of a fragment's datagrams, without its head.
    pub(super) fn chunk(&self, event: u32, sender: u32, number: u32) -> usize {
        (self.length(event, sender) - number * CHUNK).min(CHUNK) as usize
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// Says what does not.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Usage(text.to_owned()));
        if self.senders == 0 || self.receivers == 0 || self.events == 0 || self.senders > 1000 || self.receivers > 1000
        {
            return refuse("an event builder has 1 to 1000 senders, 1 to 1000 receivers and at least one event");
        }
        if self.fragment == 0 || self.fragment > 1 << 24 || self.events > 1 << 26 {
            return refuse("a fragment has 1 byte to 16 MiB, and at most 2^26 events are built");
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return refuse("a rate of events is above 0");
        }
        if matches!(&self.sizes, SizeDistribution::Measured(all) if all.is_empty() || all.len() > 10_000 || all.iter().any(|one| *one > 1 << 24))
        {
            return refuse("1 to 10000 measured sizes of at most 16 MiB can be drawn from");
        }
        if self.arrivals == Arrivals::Poisson && (self.rate.is_none() || self.events > 1 << 22) {
            return refuse("events at random moments need a rate, and are at most 2^22");
        }
        let asks = self.pattern == PushPattern::Pull;
        match self.transport {
            Transport::Credits { credits } if !asks || credits == 0 || credits > 4096 => {
                refuse("1 to 4096 credits go with the pattern pull")
            }
            Transport::Tcp { .. } | Transport::Datagrams if asks => refuse("receivers that pull need credits"),
            _ => Ok(()),
        }
    }
}

/// Head of a datagram: what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DatagramHeader {
    pub(super) seed: u32,
    pub(super) event: u32,
    pub(super) sender: u32,
    pub(super) chunk: u32,
}

impl DatagramHeader {
    pub(super) fn write(self, into: &mut [u8]) {
        for (place, word) in [self.seed, self.event, self.sender, self.chunk].into_iter().enumerate() {
            into[4 * place..4 * place + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// The head of a datagram of this job; `None` for anything else.
    pub(super) fn read(from: &[u8], job: &BuildJob) -> Option<Self> {
        let head = from.get(..HEAD)?.as_chunks::<4>().0;
        let word = |place: usize| u32::from_le_bytes(head[place]);
        let head = Self { seed: word(0), event: word(1), sender: word(2), chunk: word(3) };
        let ours = head.seed == job.seed && head.event < job.events && head.sender < job.senders;
        (ours && head.chunk < job.chunks(head.event, head.sender)).then_some(head)
    }
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// Source of fragments, counted from 0.
    Sender(u32),
    /// Builder of events, counted from 0.
    Receiver(u32),
}

/// The first order of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildOrder {
    /// What it is.
    pub role: NodeRole,
    /// What is built.
    pub job: BuildJob,
    /// Address to use.
    pub address: IpAddr,
    /// CPU to stay on.
    pub cpu: Option<usize>,
    /// What every data connection of this job presents first.
    pub ticket: String,
}

/// What a driver says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum BuildRequest {
    /// Be this.
    Be(BuildOrder),
    /// Where the nodes of the other role are, in order.
    Peers {
        /// Addresses.
        peers: Vec<SocketAddr>,
    },
    /// Begin at this moment, nanoseconds since 1970 by the node's own clock.
    Start {
        /// The moment.
        at: u64,
    },
    /// Build these events too.
    Take {
        /// Events.
        events: Vec<u32>,
    },
    /// Fail now, as if the node had lost its power.
    Die,
    /// That was all.
    Stop,
}

/// What a node counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeCounters {
    /// Moment at which it began, nanoseconds since 1970 by its own clock.
    pub began: u64,
    /// Fragments or datagrams sent or answered.
    pub sent: u64,
    /// Fragments or datagrams received.
    pub received: u64,
    /// Payload bytes sent or received.
    pub bytes: u64,
    /// The same by node of the other role, in order.
    #[serde(default)]
    pub pairs: Vec<u64>,
    /// Requests sent again.
    pub again: u64,
    /// Answers that were no longer wanted: the request had been sent again in vain.
    pub needless: u64,
    /// Datagrams that the receiving socket dropped.
    pub socket_drops: u64,
    /// Sends that the kernel refused because the card's queue was full.
    pub queue_full: u64,
    /// Segments retransmitted by its connections.
    pub retransmits: u64,
    /// Of these, really lost ones.
    pub losses: u64,
    /// Largest window that any receiver offered, bytes.
    pub window: u64,
    /// CPU time, seconds.
    pub cpu: f64,
}

impl NodeCounters {
    /// Nothing yet, beside so many nodes of the other role; `began` in nanoseconds since 1970.
    pub(super) fn new(began: u64, others: usize) -> Self {
        Self { began, pairs: vec![0; others], ..Self::default() }
    }

    /// Payload went to or came from a node of the other role.
    pub(super) fn moved(&mut self, other: usize, bytes: u64) {
        self.bytes += bytes;
        if let Some(pair) = self.pairs.get_mut(other) {
            *pair += bytes;
        }
    }
}

/// What a node says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum BuildReply {
    /// Others find me here.
    Ready {
        /// Address.
        address: SocketAddr,
    },
    /// I am connected with all others.
    Connected,
    /// Events that are complete, each with the nanoseconds that it took.
    Built {
        /// Event and latency.
        events: Vec<(u32, u64)>,
    },
    /// I have sent everything.
    Sent,
    /// What I counted.
    Done(NodeCounters),
    /// I cannot go on.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Longest line, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a message; `None` at the end.
pub(super) fn hear<T: DeserializeOwned>(from: &mut dyn BufRead) -> Result<Option<T>> {
    crate::line::receive(from, LONGEST)
}

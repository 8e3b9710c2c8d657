//! Messages between a driver and its nodes: one JSON message on each line.

use std::io::BufRead;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// The order in which pushing senders serve the receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushPattern {
    /// Event after event, the same order at every sender; with a rate, every event is a burst into one port.
    Burst,
    /// The same order, as fast as the connections allow.
    RoundRobin,
    /// Every sender begins with another receiver.
    BarrelShift,
    /// Every sender in its own random order within each group of M events.
    Random,
    /// As bursts, but each sender begins later than the one before.
    Staggered {
        /// By this time, nanoseconds: that of a fragment on the link keeps the receiver's port free of a queue.
        nanos: u64,
    },
    /// Receivers request fragments.
    Pull,
}

impl PushPattern {
    /// Nanoseconds by which a sender begins an event late.
    pub(super) fn later(self, sender: u32) -> u64 {
        if let Self::Staggered { nanos } = self { nanos.saturating_mul(u64::from(sender)) } else { 0 }
    }
}

/// Transport of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// TCP connections; receive buffers of this size bound their windows.
    Tcp {
        /// Receive buffer, bytes; `None` leaves it to the system.
        window: Option<u32>,
    },
    /// Datagrams without retransmission.
    Datagrams,
    /// Datagrams that are requested one by one, and again if lost.
    Credits {
        /// Open requests of one receiver.
        credits: u32,
    },
}

/// Distribution of fragment sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeDistribution {
    /// All equal.
    #[default]
    Fixed,
    /// Exponential with the job's fragment size as mean.
    Exponential,
    /// Drawn from measured sizes, bytes.
    Measured(Vec<u32>),
}

/// Distribution of the events' moments at a given rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal intervals.
    #[default]
    Regular,
    /// Random intervals (a Poisson process).
    Poisson,
}

/// Parameters of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildJob {
    /// Number of senders.
    pub senders: u32,
    /// Number of receivers.
    pub receivers: u32,
    /// Size of a fragment, bytes; the mean if sizes are random.
    pub fragment: u32,
    /// Number of events.
    pub events: u32,
    /// Events a second; `None`: as fast as possible.
    pub rate: Option<f64>,
    /// Order.
    pub pattern: PushPattern,
    /// Transport.
    pub transport: Transport,
    /// Seed of random orders; it also identifies the datagrams of this job.
    pub seed: u32,
    /// Distribution of fragment sizes.
    #[serde(default)]
    pub sizes: SizeDistribution,
    /// Distribution of the events' moments.
    #[serde(default)]
    pub arrivals: Arrivals,
}

/// Payload of one datagram, bytes; with its header it fills one frame.
pub(super) const CHUNK: u32 = 1456;
/// Size of the header of a datagram or request, bytes.
pub(super) const HEAD: usize = 16;

impl BuildJob {
    /// Datagrams of one sender's fragment of an event.
    #[must_use]
    pub fn chunks(&self, event: u32, sender: u32) -> u32 {
        self.length(event, sender).div_ceil(CHUNK)
    }

    pub(super) fn datagrams(&self, event: u32) -> u32 {
        match self.sizes {
            SizeDistribution::Fixed => self.senders * self.chunks(event, 0),
            _ => (0..self.senders).map(|sender| self.chunks(event, sender)).sum(),
        }
    }

    /// Payload of one of a fragment's datagrams, bytes.
    pub(super) fn chunk(&self, event: u32, sender: u32, number: u32) -> usize {
        (self.length(event, sender) - number * CHUNK).min(CHUNK) as usize
    }

    /// Checks whether a receiver can be lost: others must be there, to which its events are given.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn check_loss(&self, receiver: u32) -> Result<()> {
        let refuse = |text: String| Err(Error::Usage(text));
        if receiver >= self.receivers {
            return refuse(format!("there is no receiver {receiver} to lose; they are 0 to {}", self.receivers - 1));
        }
        if self.receivers < 2 {
            return refuse("a receiver can only be lost where another one is left".to_owned());
        }
        if !matches!(self.transport, Transport::Credits { .. }) {
            return refuse(
                "a receiver can only be lost with credits: what is pushed to it is asked for by no other".to_owned(),
            );
        }
        Ok(())
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the invalid one.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Usage(text.to_owned()));
        if self.senders == 0 || self.receivers == 0 || self.events == 0 || self.senders > 1000 || self.receivers > 1000
        {
            return refuse("an event builder needs 1 to 1000 senders, 1 to 1000 receivers and at least one event");
        }
        if self.fragment == 0 || self.fragment > 1 << 24 || self.events > 1 << 26 {
            return refuse("a fragment must have 1 byte to 16 MiB, and there can be at most 2^26 events");
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return refuse("the rate of events must be above 0");
        }
        if matches!(&self.sizes, SizeDistribution::Measured(all) if all.is_empty() || all.len() > 10_000 || all.iter().any(|one| *one > 1 << 24))
        {
            return refuse("there must be 1 to 10000 measured sizes of at most 16 MiB");
        }
        if self.arrivals == Arrivals::Poisson && (self.rate.is_none() || self.events > 1 << 22) {
            return refuse("events at random moments need a rate, and are at most 2^22");
        }
        let asks = self.pattern == PushPattern::Pull;
        match self.transport {
            Transport::Credits { credits } if !asks || credits == 0 || credits > 4096 => {
                refuse("credits must be 1 to 4096, with the pattern pull")
            }
            Transport::Tcp { .. } | Transport::Datagrams if asks => refuse("receivers that pull need credits"),
            _ => Ok(()),
        }
    }
}

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

    /// Parses the header of a datagram of this job; `None` for any other.
    pub(super) fn read(from: &[u8], job: &BuildJob) -> Option<Self> {
        let head = from.get(..HEAD)?.as_chunks::<4>().0;
        let word = |place: usize| u32::from_le_bytes(head[place]);
        let head = Self { seed: word(0), event: word(1), sender: word(2), chunk: word(3) };
        let ours = head.seed == job.seed && head.event < job.events && head.sender < job.senders;
        (ours && head.chunk < job.chunks(head.event, head.sender)).then_some(head)
    }

    /// Parses the header of a datagram with its payload; `None` also where that is not whole.
    pub(super) fn of_whole(datagram: &[u8], job: &BuildJob) -> Option<Self> {
        let head = Self::read(datagram, job)?;
        (datagram.len() == HEAD + job.chunk(head.event, head.sender, head.chunk)).then_some(head)
    }
}

/// Role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// Source of fragments, counted from 0.
    Sender(u32),
    /// Builder of events, counted from 0.
    Receiver(u32),
}

/// Configuration of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildOrder {
    /// Its role.
    pub role: NodeRole,
    /// The job.
    pub job: BuildJob,
    /// Address of its data sockets.
    pub address: IpAddr,
    /// CPU to pin to.
    pub cpu: Option<usize>,
    /// Ticket that every data connection of this job presents first.
    pub ticket: String,
}

/// A message of the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum BuildRequest {
    /// Take this role.
    Be(BuildOrder),
    /// Addresses of the nodes of the other role, in order.
    Peers {
        /// Addresses.
        peers: Vec<SocketAddr>,
    },
    /// Start at this moment.
    Start {
        /// Nanoseconds, by the node's own batch clock.
        at: u64,
    },
    /// Build these events as well.
    Take {
        /// Events.
        events: Vec<u32>,
    },
    /// Fail now, as if the power had failed.
    Die,
    /// The job is over.
    Stop,
}

/// A byte of a fragment that was not what its sender sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongByte {
    /// Event of the fragment.
    pub event: u32,
    /// Its sender.
    pub sender: u32,
    /// Place in the fragment, from 0.
    pub offset: u32,
    /// The byte that came.
    pub came: u8,
    /// The byte that was sent.
    pub sent: u8,
}

/// A receiver's result of verifying payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedPayload {
    /// Bytes compared.
    pub bytes: u64,
    /// Fragments or datagrams with wrong payload.
    pub wrong: u64,
    /// The first wrong byte of the first of these.
    pub first: Option<WrongByte>,
}

/// Counters of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeCounters {
    /// Start, nanoseconds by its own batch clock.
    pub began: u64,
    /// Fragments or datagrams sent.
    pub sent: u64,
    /// Fragments or datagrams received.
    pub received: u64,
    /// Payload bytes sent, or received and needed.
    pub bytes: u64,
    /// Payload bytes sent or received by node of the other role, in order.
    #[serde(default)]
    pub pairs: Vec<u64>,
    /// Events that a receiver completed by the fragment of each sender, in order: the slowest source has most.
    #[serde(default)]
    pub last_from: Vec<u64>,
    /// Requests sent again.
    pub again: u64,
    /// Late replies whose request had been repeated.
    pub needless: u64,
    /// Payload of these, bytes: it arrived, and is in `pairs`, but not in `bytes`.
    #[serde(default)]
    pub needless_bytes: u64,
    /// The result of verifying the payload.
    #[serde(default)]
    pub verified: VerifiedPayload,
    /// Datagrams dropped by the receiving socket.
    pub socket_drops: u64,
    /// Sends refused by the kernel because the card's queue was full.
    pub queue_full: u64,
    /// Segments retransmitted by its connections.
    pub retransmits: u64,
    /// Segments among these that were really lost.
    pub losses: u64,
    /// Largest window offered by any receiver, bytes.
    pub window: u64,
    /// CPU time, seconds.
    pub cpu: f64,
}

impl NodeCounters {
    /// Zero counters for `others` nodes of the other role; `began` in nanoseconds of the batch clock.
    pub(super) fn new(began: u64, others: usize) -> Self {
        Self { began, pairs: vec![0; others], last_from: vec![0; others], ..Self::default() }
    }

    /// Counts payload to or from a node of the other role.
    pub(super) fn moved(&mut self, other: usize, bytes: u64) {
        self.bytes += bytes;
        self.came(other, bytes);
    }

    /// Counts an event that was completed by a node of the other role.
    pub(super) fn completed_by(&mut self, other: usize) {
        if let Some(count) = self.last_from.get_mut(other) {
            *count += 1;
        }
    }

    /// Counts payload from a late reply.
    pub(super) fn not_needed(&mut self, other: usize, bytes: u64) {
        self.needless += 1;
        self.needless_bytes += bytes;
        self.came(other, bytes);
    }

    fn came(&mut self, other: usize, bytes: u64) {
        if let Some(pair) = self.pairs.get_mut(other) {
            *pair += bytes;
        }
    }
}

/// A message of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum BuildReply {
    /// The node listens at this address.
    Ready {
        /// Address.
        address: SocketAddr,
    },
    /// All its connections are established.
    Connected,
    /// Built events.
    Built {
        /// Event, and the nanoseconds that it took.
        events: Vec<(u32, u64)>,
        /// When the last of them was built: nanoseconds since the start that all nodes share.
        ended: u64,
    },
    /// All fragments are sent.
    Sent,
    /// Its counters.
    Done(NodeCounters),
    /// The node failed.
    Failed {
        /// The cause.
        reason: String,
    },
}

/// Longest line, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a message; `None` at the end of input.
pub(super) fn receive<T: DeserializeOwned>(from: &mut dyn BufRead) -> Result<Option<T>> {
    launcher::line::receive(from, LONGEST)
}

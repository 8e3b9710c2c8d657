//! Counters of queues, from `tc -s -j`.

use std::fs::File;

use serde::Deserialize;

use super::inside::batch;
use crate::{Error, Result};

/// Counters of one queue since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    /// Bytes sent, Ethernet headers included.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets dropped because the queue was full.
    pub drops: u64,
    /// Bytes in the queue now.
    pub backlog: u64,
}

impl Queue {
    /// Counts since `before`; the backlog is the current one.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            packets: self.packets - before.packets,
            drops: self.drops - before.drops,
            backlog: self.backlog,
        }
    }
}

/// Queues of a laboratory, one for each host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drops {
    /// The switch's output ports.
    pub ports: Vec<Queue>,
    /// The hosts' network cards.
    pub cards: Vec<Queue>,
}

impl Drops {
    /// Packets dropped by all ports.
    #[must_use]
    pub fn at_ports(&self) -> u64 {
        self.ports.iter().map(|queue| queue.drops).sum()
    }

    /// Packets dropped by all cards.
    #[must_use]
    pub fn at_cards(&self) -> u64 {
        self.cards.iter().map(|queue| queue.drops).sum()
    }

    /// Counts since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let each = |now: &[Queue], before: &[Queue]| now.iter().zip(before).map(|(now, b)| now.since(*b)).collect();
        Self { ports: each(&self.ports, &before.ports), cards: each(&self.cards, &before.cards) }
    }
}

#[derive(Deserialize)]
struct CountLine {
    kind: String,
    dev: String,
    bytes: u64,
    packets: u64,
    drops: u64,
    #[serde(default)]
    backlog: u64,
}

fn read(network: &File) -> Result<Vec<(String, Queue)>> {
    let text = batch(network, "tc", &["-s", "-j", "qdisc", "show"], "")?;
    let lines: Vec<CountLine> =
        serde_json::from_str(&text).map_err(|error| Error::Lab(format!("tc's counters cannot be read: {error}")))?;
    let queue = |line: CountLine| {
        let queue = Queue { bytes: line.bytes, packets: line.packets, drops: line.drops, backlog: line.backlog };
        (line.dev, queue)
    };
    Ok(lines.into_iter().filter(|line| line.kind == "tbf").map(queue).collect())
}

pub(super) fn switch(network: &File, hosts: usize) -> Result<Vec<Queue>> {
    let mut queues = vec![Queue::default(); hosts];
    for (device, queue) in read(network)? {
        let port = device.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
        if let Some(slot) = port.and_then(|port| queues.get_mut(port)) {
            *slot = queue;
        }
    }
    Ok(queues)
}

pub(super) fn card(network: &File) -> Result<Queue> {
    Ok(read(network)?.into_iter().find(|(device, _)| device == "eth0").map(|(_, queue)| queue).unwrap_or_default())
}

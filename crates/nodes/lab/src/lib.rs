//! A switch with finite buffers on one host: a bridge and token buckets between network namespaces.
//!
//! The bridge and every host have separate namespaces; a host's interface is one end of a veth pair. The token bucket
//! at the bridge's end (`tc-tbf(8)`) is the switch's output port, and its `limit` is the port's buffer. The one at the
//! host's end is the network card. The namespaces have no names: this process holds them open, so that the kernel
//! removes them with everything inside when the process ends. They use addresses reserved for benchmarks of network
//! devices (RFC 2544, 198.18.0.0/15), and cannot reach anything outside.
#![forbid(unsafe_code)]

mod build;
mod count;
mod inside;
mod medium;
mod privilege;
mod register;
mod wire;

use std::fs::File;
use std::net::Ipv4Addr;
use std::thread::JoinHandle;

use os::process::Finished;

pub use count::{Drops, Queue};
use medium::Medium;
pub use privilege::{Means, gain, means};
pub use register::{LabEntry, down, end_all_in, labs, sweep};
use wire::Wire;

pub use launcher::{Error, Result};

/// Parameters of a laboratory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabShape {
    /// Number of hosts.
    pub hosts: usize,
    /// Rate of every link, bits a second.
    pub bits_per_second: u64,
    /// Buffer of a switch port, bytes; a full frame counts as 1514.
    pub port_buffer: u64,
    /// Queue of a host's network card, bytes.
    pub host_queue: u64,
    /// MTU, bytes.
    pub mtu: u32,
    /// Whether the cards split and merge segments themselves (TSO, GSO, GRO).
    pub offloads: bool,
    /// Whether all hosts share one medium, on which frames collide, instead of a switch with a link in each direction.
    pub half_duplex: bool,
    /// Time that a frame travels, seconds.
    pub delay: f64,
    /// Share of the frames that are lost on their way.
    pub loss: f64,
}

impl Default for LabShape {
    fn default() -> Self {
        Self {
            hosts: 2,
            bits_per_second: 100_000_000,
            port_buffer: 160_000,
            host_queue: 4_000_000,
            mtu: 1500,
            offloads: false,
            half_duplex: false,
            delay: 0.0,
            loss: 0.0,
        }
    }
}

impl LabShape {
    /// Rate of a link, bytes a second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bits_per_second as f64 / 8.0
    }

    /// Depth of the token buckets. Two frames: a smaller bucket loses rate, a larger one blurs the onset of loss.
    const fn burst(&self) -> u64 {
        let frames = 2 * (self.mtu as u64 + 14) + 172;
        // Bytes that a timer may be late for, by 50 us, without losing rate.
        let late = self.bits_per_second / 8 / 20_000;
        if frames > late { frames } else { late }
    }

    /// Whether frames need time on their way or are lost there, which the kernel's switch does not do.
    fn is_far(&self) -> bool {
        self.delay > 0.0 || self.loss > 0.0
    }

    fn check(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Usage(text.to_owned()));
        if !(1..=MOST_HOSTS).contains(&self.hosts) {
            return refuse("a laboratory must have 1 to 1000 hosts");
        }
        if !(64_000..=400_000_000_000).contains(&self.bits_per_second) {
            return refuse("a link of the laboratory must have 64 kbit/s to 400 Gbit/s");
        }
        if !(576..=65_000).contains(&self.mtu) {
            return refuse("the largest packet must have 576 to 65000 bytes");
        }
        if !(0.0..=1.0).contains(&self.delay) || !(0.0..0.5).contains(&self.loss) {
            return refuse("frames travel for up to 1 s, and less than half of them are lost");
        }
        if self.half_duplex && self.is_far() {
            return refuse("frames on a common medium have no delay and no losses of their own");
        }
        if self.half_duplex && self.offloads {
            return refuse("frames on a common medium are those of the hosts: leave the offloads off");
        }
        if self.port_buffer < u64::from(self.mtu) + 14 || self.host_queue < u64::from(self.mtu) + 14 {
            return refuse("a buffer must hold at least one full frame");
        }
        Ok(())
    }
}

/// Hosts of one laboratory, at most.
pub const MOST_HOSTS: usize = 1000;

/// A laboratory, which exists as long as this value.
#[derive(Debug)]
pub struct Lab {
    shape: LabShape,
    switch: File,
    hosts: Vec<File>,
    _entry: LabEntry,
    _medium: Option<Medium>,
    wire: Option<Wire>,
}

impl Lab {
    /// Builds it, in some milliseconds for each host. Needs root, or a call of [`gain`] while the process had one
    /// thread.
    ///
    /// # Errors
    /// With the kernel's message when namespaces are refused, or that of `ip` or `tc`.
    pub fn up(shape: LabShape) -> Result<Self> {
        shape.check()?;
        sweep();
        means()?;
        let mut all = inside::new_networks(shape.hosts + 1)?;
        let switch = all.pop().ok_or_else(|| Error::Lab("no namespace was made".to_owned()))?;
        let stations = || -> Result<Vec<File>> {
            all.iter().enumerate().map(|(host, network)| build::station(network, host, &shape)).collect()
        };
        let (mut medium, mut wire) = (None, None);
        if shape.half_duplex {
            medium = Some(Medium::start(stations()?, shape.bits_per_second)?);
        } else if shape.is_far() {
            wire = Some(Wire::start(stations()?, shape)?);
        } else {
            build::switch(&switch, &all, &shape)?;
            for (host, network) in all.iter().enumerate() {
                build::host(network, host, &shape)?;
            }
            build::forwarding(&switch, shape.hosts)?;
        }
        let entry = LabEntry::new(&shape, &switch, &all)?;
        Ok(Self { shape, switch, hosts: all, _entry: entry, _medium: medium, wire })
    }

    /// Its parameters.
    #[must_use]
    pub const fn shape(&self) -> &LabShape {
        &self.shape
    }

    /// Address of a host, counted from 0.
    #[must_use]
    pub fn address(host: usize) -> Ipv4Addr {
        let [_, _, high, low] = u32::try_from(host + 1).unwrap_or(0).to_be_bytes();
        Ipv4Addr::new(198, 18, high, low)
    }

    /// Starts a thread at a host: its sockets, threads and children belong to that host.
    ///
    /// # Errors
    /// When there is no such host, or no thread can be started.
    pub fn spawn<T: Send + 'static>(
        &self,
        host: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<Result<T>>> {
        inside::spawn(self.host(host)?, format!("host {host}"), work)
    }

    /// Runs `work` at a host and waits for it.
    ///
    /// # Errors
    /// When there is no such host, or no thread can be started.
    pub fn at<T: Send>(&self, host: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
        inside::run(self.host(host)?, work)
    }

    /// Runs a program at a host and waits for it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, host: usize, program: &str, arguments: &[&str]) -> Result<Finished> {
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        self.at(host, move || inside::finish(&mut command, ""))?
            .map_err(Error::io(format!("run {program} in the laboratory")))
    }

    /// Counters of the switch's ports and the hosts' cards.
    ///
    /// # Errors
    /// When `tc` fails.
    pub fn drops(&self) -> Result<Drops> {
        let ports = self.port_drops()?;
        let cards = self.hosts.iter().map(count::card).collect::<Result<_>>()?;
        Ok(Drops { ports, cards })
    }

    /// Counters of the ports alone; those of the cards take a process for each host.
    ///
    /// # Errors
    /// When `tc` fails.
    pub fn port_drops(&self) -> Result<Vec<Queue>> {
        match &self.wire {
            Some(wire) => Ok(wire.ports()),
            None => count::switch(&self.switch, self.shape.hosts),
        }
    }

    fn host(&self, host: usize) -> Result<&File> {
        self.hosts
            .get(host)
            .ok_or_else(|| Error::Usage(format!("there is no host {host}; there are {}", self.hosts.len())))
    }
}

//! The first message of an agent: who and where it is, and which duties it can do.

use std::io::{BufRead, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use serde::{Deserialize, Serialize};

use crate::Result;

/// How an agent was started, which decides how it finds its address towards the driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// As a process of the same host: loopback.
    #[default]
    Local,
    /// By sshd: the address that the client connected to (`SSH_CONNECTION`, `ssh(1)`).
    Ssh,
    /// By Slurm: the address from which the node reaches the host of `srun` (`SLURM_LAUNCH_NODE_IPADDR`, `srun(1)`).
    Slurm,
}

impl By {
    /// Parses the word that [`By::word`] gives.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Local, Self::Ssh, Self::Slurm].into_iter().find(|by| by.word() == word)
    }

    /// Its name in arguments.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Slurm => "slurm",
        }
    }

    fn address(self) -> Option<IpAddr> {
        match self {
            Self::Local => None,
            Self::Ssh => ssh(&std::env::var("SSH_CONNECTION").ok()?),
            Self::Slurm => facing(std::env::var("SLURM_LAUNCH_NODE_IPADDR").ok()?.parse().ok()?),
        }
    }
}

/// The server's address of `SSH_CONNECTION`: client address, client port, server address, server port.
fn ssh(connection: &str) -> Option<IpAddr> {
    connection.split_whitespace().nth(2)?.split('%').next()?.parse().ok()
}

/// The local address from which packets to `other` would leave: connects a datagram socket, which sends nothing.
fn facing(other: IpAddr) -> Option<IpAddr> {
    let any: IpAddr =
        if other.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(other, 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_unspecified())
}

/// An address and its interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// One of its addresses.
    pub address: IpAddr,
}

/// Identity, addresses and duties of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the program.
    pub version: String,
    /// Host name.
    pub host: String,
    /// Process id.
    pub process: u32,
    /// Its clock now, nanoseconds since 1970.
    pub clock: u64,
    /// CPUs that it may use.
    pub cpus: usize,
    /// Its address towards the driver; loopback on the driver's own host.
    pub address: IpAddr,
    /// All addresses.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// Duties that it offers.
    pub can: Vec<String>,
}

impl Hello {
    pub(crate) fn here(by: By, duties: &[Duty]) -> Self {
        let interfaces = os::socket::interfaces().unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
            process: std::process::id(),
            clock: kernels::clock::realtime(),
            cpus: kernels::affinity::allowed().map_or(1, |cpus| cpus.len()),
            address: by.address().unwrap_or(Ipv4Addr::LOCALHOST.into()),
            interfaces: interfaces.into_iter().map(|(name, address)| Interface { name, address }).collect(),
            can: duties.iter().map(|duty| duty.name.to_owned()).collect(),
        }
    }

    /// Name of the interface that has an address.
    #[must_use]
    pub fn interface(&self, address: IpAddr) -> Option<&str> {
        self.interfaces.iter().find(|one| one.address == address).map(|one| one.name.as_str())
    }

    /// The first address of an interface, IPv4 before IPv6.
    #[must_use]
    pub fn address_of(&self, interface: &str) -> Option<IpAddr> {
        let mut of_it: Vec<IpAddr> =
            self.interfaces.iter().filter(|one| one.name == interface).map(|one| one.address).collect();
        of_it.sort_by_key(IpAddr::is_ipv6);
        of_it.first().copied()
    }
}

/// A task that an agent performs for its driver, over the same input and output, in a separate protocol.
pub struct Duty {
    /// Its name.
    pub name: &'static str,
    /// Performs it until it is done or the input ends.
    pub work: fn(Box<dyn BufRead + Send>, &mut (dyn Write + Send)) -> Result<()>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_from_the_launchers_environment() {
        assert_eq!(ssh("10.0.0.1 50022 10.0.0.2 22"), Some("10.0.0.2".parse().unwrap()));
        assert_eq!(ssh("fe80::1%eth0 50022 fe80::2%eth0 22"), Some("fe80::2".parse().unwrap()));
        assert_eq!(ssh("nonsense"), None);
        assert_eq!(facing(Ipv4Addr::LOCALHOST.into()), Some(Ipv4Addr::LOCALHOST.into()));
        for by in [By::Local, By::Ssh, By::Slurm] {
            assert_eq!(By::named(by.word()), Some(by));
        }
    }
}

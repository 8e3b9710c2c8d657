//! Counters of the network in the namespace of the calling thread (`/proc/net`).

use kernels::text;

use crate::error::Result;

/// Counters of an interface (`/proc/net/dev`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Its name.
    pub name: String,
    /// Bytes received and sent.
    pub bytes: [u64; 2],
    /// Packets that it dropped when receiving and when sending, with errors.
    pub drops: [u64; 2],
}

/// Counters of a host's network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Segments and datagrams dropped since a socket's buffer or backlog was full.
    pub socket_drops: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceCounters>,
}

/// Where the kernel counts what sockets drop: file, protocol and counter.
const SOCKET_DROPS: [(&str, &str); 6] = [
    ("TcpExt:", "TCPRcvQDrop"),
    ("TcpExt:", "TCPBacklogDrop"),
    ("TcpExt:", "PruneCalled"),
    ("TcpExt:", "TCPZeroWindowDrop"),
    ("Udp:", "RcvbufErrors"),
    ("Udp:", "SndbufErrors"),
];

impl NetworkCounters {
    /// Counters so far.
    ///
    /// # Errors
    /// If the kernel does not report them.
    pub fn now() -> Result<Self> {
        let read = |name: &str| text::read(format!("/proc/thread-self/net/{name}"));
        let tables = read("netstat")? + &read("snmp")?;
        let count = |(table, name): (&str, &str)| counter(&tables, table, name).unwrap_or(0);
        Ok(Self {
            socket_drops: SOCKET_DROPS.into_iter().map(count).sum(),
            retransmitted: count(("Tcp:", "RetransSegs")),
            interfaces: interfaces(&read("dev")?),
        })
    }

    /// Counts since `before`; an interface that is new has all of its own.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let each = |now: &InterfaceCounters| {
            let old = before.interfaces.iter().find(|old| old.name == now.name).cloned().unwrap_or_default();
            let less = |now: [u64; 2], old: [u64; 2]| [now[0].saturating_sub(old[0]), now[1].saturating_sub(old[1])];
            let (bytes, drops) = (less(now.bytes, old.bytes), less(now.drops, old.drops));
            InterfaceCounters { name: now.name.clone(), bytes, drops }
        };
        Self {
            socket_drops: self.socket_drops.saturating_sub(before.socket_drops),
            retransmitted: self.retransmitted.saturating_sub(before.retransmitted),
            interfaces: self.interfaces.iter().map(each).collect(),
        }
    }
}

/// A counter of tables that have a line of names and a line of values each.
fn counter(tables: &str, table: &str, name: &str) -> Option<u64> {
    let mut lines = tables.lines().filter(|line| line.starts_with(table));
    let names = lines.next()?.split_whitespace();
    names.zip(lines.next()?.split_whitespace()).find(|(this, _)| *this == name)?.1.parse().ok()
}

fn interfaces(text: &str) -> Vec<InterfaceCounters> {
    let row = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let numbers: Vec<u64> = rest.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // bytes packets errs drop fifo frame compressed multicast, twice.
        let [received, _, errors, dropped, _, _, _, _, sent, _, send_errors, send_dropped, ..] = numbers[..] else {
            return None;
        };
        let (bytes, drops) = ([received, sent], [errors + dropped, send_errors + send_dropped]);
        Some(InterfaceCounters { name: name.trim().to_owned(), bytes, drops })
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let tables = "TcpExt: SyncookiesSent TCPRcvQDrop\nTcpExt: 3 5\nTcp: RtoMin RetransSegs\nTcp: 200 7\n";
        assert_eq!(counter(tables, "TcpExt:", "TCPRcvQDrop"), Some(5));
        assert_eq!(counter(tables, "Tcp:", "RetransSegs"), Some(7));
        assert_eq!(counter(tables, "Udp:", "RcvbufErrors"), None);
        let text = "Inter-| Receive\n face |bytes\n  eth0: 10 1 2 3 0 0 0 0 20 1 4 5 0 0 0 0\n";
        let expected = InterfaceCounters { name: "eth0".to_owned(), bytes: [10, 20], drops: [5, 9] };
        assert_eq!(interfaces(text), [expected]);
        let now = NetworkCounters::now().unwrap();
        assert!(now.interfaces.iter().any(|one| one.name == "lo"), "{now:?}");
        assert_eq!(now.since(&now).interfaces[0].bytes, [0, 0]);
    }
}

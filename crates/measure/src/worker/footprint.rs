//! What the timed batches used, as the operating system counts it.

use std::path::Path;
use std::time::Duration;

use model::{Footprint, Hardware};
use sys::counters::{Counters, Event};
use sys::usage::{Io, Usage, Who};

/// The hardware events of a footprint, in its order.
#[cfg(not(test))]
const EVENTS: [Event; 5] =
    [Event::Cycles, Event::Instructions, Event::BranchMisses, Event::CacheMisses, Event::DataTlbMisses];
/// Tests count what the kernel counts itself: many virtual machines offer no hardware counter.
#[cfg(test)]
const EVENTS: [Event; 5] =
    [Event::PageFaults, Event::ContextSwitches, Event::CpuMigrations, Event::PageFaults, Event::ContextSwitches];

/// Counters of this process and the ones that it waited for, at one moment.
pub(super) struct Moment {
    own: Usage,
    children: Usage,
    events: [Option<u64>; EVENTS.len()],
}

impl Moment {
    /// The counters now, with the hardware's where they could be opened.
    pub(super) fn now(counters: Option<&Counters>) -> Option<Self> {
        let count = |event| counters?.read_one(event).ok().flatten().map(|count| count.value);
        Some(Self {
            own: Usage::of(Who::Process).ok()?,
            children: Usage::of(Who::Children).ok()?,
            events: EVENTS.map(count),
        })
    }
}

/// Adds up stretches between two moments; input and output are read once around all of them, because that costs more than a batch
/// may be disturbed by.
#[derive(Default)]
pub(super) struct Tally {
    /// In user mode and in the kernel.
    times: [Duration; 2],
    counts: [u64; 4],
    known: bool,
    counters: Option<Counters>,
    events: [Option<u64>; EVENTS.len()],
    /// Operations during which events were counted.
    events_of: u64,
    migrations: Option<u64>,
    io: Option<Io>,
    peers: Vec<Peer>,
    footprint: Footprint,
}

/// A party in another process, which is not among the children waited for while it lives.
struct Peer {
    pid: i32,
    times: Option<[Duration; 2]>,
    switches: Option<sys::usage::Switches>,
}

impl Peer {
    fn now(pid: i32) -> Self {
        Self::under(Path::new("/"), pid)
    }

    /// From a tree that holds a copy of a machine's `/proc`.
    fn under(root: &Path, pid: i32) -> Self {
        let stat = sys::usage::Stat::under(root, pid).ok();
        Self {
            pid,
            times: stat.map(|stat| [stat.user, stat.system]),
            switches: sys::usage::switches_under(root, pid).ok(),
        }
    }
}

impl Tally {
    /// Starts counting, with other processes that take part.
    pub(super) fn begin(&mut self, peers: impl Iterator<Item = i32>) {
        self.peers = peers.map(Peer::now).collect();
        self.io = Io::own().ok();
        self.known = true;
        self.migrations = own_migrations();
    }

    /// Opens the hardware's counters, after the timed batches: the kernel saves and restores them whenever it switches from one
    /// process to another, which costs a pipe's round trip a tenth and a context switch a sixth. False when this user can read
    /// none.
    pub(super) fn count_events(&mut self) -> bool {
        let counters = Counters::open(&EVENTS);
        let any = EVENTS.iter().any(|event| matches!(counters.read_one(*event), Ok(Some(_))));
        self.counters = any.then_some(counters);
        any
    }

    /// The counters at this moment.
    pub(super) fn moment(&self) -> Option<Moment> {
        Moment::now(self.counters.as_ref())
    }

    /// One batch.
    pub(super) fn add(&mut self, before: Option<Moment>, after: Option<Moment>, ops: u64) {
        self.footprint.operations += ops;
        let (Some(before), Some(after)) = (before, after) else {
            self.known = false;
            return;
        };
        for used in [after.own.since(&before.own), after.children.since(&before.children)] {
            self.times[0] += used.user;
            self.times[1] += used.system;
            self.counts[0] += used.voluntary_switches;
            self.counts[1] += used.involuntary_switches;
            self.counts[2] += used.minor_faults;
            self.counts[3] += used.major_faults;
        }
        if self.counters.is_some() {
            self.events_of += ops;
            for (sum, (before, after)) in self.events.iter_mut().zip(before.events.into_iter().zip(after.events)) {
                *sum = before.zip(after).map(|(before, after)| sum.unwrap_or(0) + after.saturating_sub(before));
            }
        }
    }

    /// Ends counting.
    pub(super) fn end(&mut self) {
        self.counters = None;
        self.footprint.migrations =
            self.migrations.zip(own_migrations()).map(|(before, now)| now.saturating_sub(before));
        let io = self.io.take().zip(Io::own().ok()).map(|(before, after)| after.since(&before));
        for peer in std::mem::take(&mut self.peers) {
            self.add_peer(&peer, &Peer::now(peer.pid));
        }
        self.footprint.read_bytes = io.map(|io| io.read_chars);
        self.footprint.write_bytes = io.map(|io| io.write_chars);
        self.footprint.read_calls = io.map(|io| io.read_calls);
        self.footprint.write_calls = io.map(|io| io.write_calls);
    }

    fn add_peer(&mut self, before: &Peer, after: &Peer) {
        if let (Some(before), Some(after)) = (before.times, after.times) {
            for (sum, (before, after)) in self.times.iter_mut().zip(before.into_iter().zip(after)) {
                *sum += after.saturating_sub(before);
            }
        }
        if let (Some(before), Some(after)) = (before.switches, after.switches) {
            self.counts[0] += after.voluntary.saturating_sub(before.voluntary);
            self.counts[1] += after.involuntary.saturating_sub(before.involuntary);
        }
    }

    /// The sum.
    pub(super) fn footprint(&self) -> Footprint {
        let counted = |value: u64| self.known.then_some(value);
        let [cycles, instructions, branch_misses, cache_misses, tlb_misses] =
            self.events.map(|sum| sum.map(|sum| self.of_all(sum)));
        let hardware = Hardware { cycles, instructions, branch_misses, cache_misses, tlb_misses };
        Footprint {
            user_seconds: self.known.then_some(self.times[0].as_secs_f64()),
            system_seconds: self.known.then_some(self.times[1].as_secs_f64()),
            voluntary_switches: counted(self.counts[0]),
            involuntary_switches: counted(self.counts[1]),
            minor_faults: counted(self.counts[2]),
            major_faults: counted(self.counts[3]),
            hardware: Some(hardware).filter(|hardware| *hardware != Hardware::default()),
            ..self.footprint.clone()
        }
    }

    /// Events of the batches in which they were counted, for all operations.
    fn of_all(&self, events: u64) -> u64 {
        let all = u128::from(events) * u128::from(self.footprint.operations) / u128::from(self.events_of.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

/// Moves of this process to another CPU so far.
fn own_migrations() -> Option<u64> {
    sys::usage::migrations_of(std::process::id().cast_signed()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    /// The files of a party as Linux writes them.
    fn recorded(root: &Path, ticks: [u64; 2], switches: [u64; 2]) {
        let folder = root.join("proc/77");
        std::fs::create_dir_all(&folder).unwrap();
        let stat = format!(
            "77 (ring) S 1 77 77 0 -1 4194304 100 0 0 0 {} {} 5 5 20 0 1 0 12345 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 \
             0 17 1 0 0 0 0 0\n",
            ticks[0], ticks[1]
        );
        std::fs::write(folder.join("stat"), stat).unwrap();
        let status = format!(
            "Name:\tring\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
            switches[0], switches[1]
        );
        std::fs::write(folder.join("status"), status).unwrap();
    }

    #[test]
    fn a_party_in_another_process_is_counted_in_this_systems_ticks() {
        let root = tempfile::tempdir().unwrap();
        recorded(root.path(), [700, 20], [10, 4]);
        let before = Peer::under(root.path(), 77);
        recorded(root.path(), [703, 28], [25, 5]);
        let after = Peer::under(root.path(), 77);
        let mut tally = Tally { known: true, ..Tally::default() };
        tally.add_peer(&before, &after);
        // A counter that stands lower than before has wrapped or is another process's: nothing is taken away.
        tally.add_peer(&after, &before);
        let tick = sys::usage::clock_tick().unwrap().as_secs_f64();
        let footprint = tally.footprint();
        assert!((footprint.user_seconds.unwrap() - 3.0 * tick).abs() < 1e-9);
        assert!((footprint.system_seconds.unwrap() - 8.0 * tick).abs() < 1e-9);
        assert_eq!((footprint.voluntary_switches, footprint.involuntary_switches), (Some(15), Some(1)));
    }

    #[test]
    fn a_party_that_is_gone_adds_nothing() {
        let root = tempfile::tempdir().unwrap();
        let gone = Peer::under(root.path(), 77);
        assert!(gone.times.is_none() && gone.switches.is_none());
        let mut tally = Tally { known: true, ..Tally::default() };
        tally.add_peer(&gone, &gone);
        assert_eq!(tally.footprint().user_seconds, Some(0.0));
    }
}

//! Resources used by the timed batches, as counted by the operating system.

use std::path::Path;
use std::time::Duration;

use model::{Footprint, Hardware};
use os::counters::{CounterEvent, Counters};
use os::usage::{Io, Usage, Who, migrations_of, migrations_under, threads_of};

/// The hardware events of a footprint, in its order.
#[cfg(not(test))]
const EVENTS: [CounterEvent; 5] = [
    CounterEvent::Cycles,
    CounterEvent::Instructions,
    CounterEvent::BranchMisses,
    CounterEvent::CacheMisses,
    CounterEvent::DataTlbMisses,
];
/// Tests count software events: many virtual machines have no hardware counter.
#[cfg(test)]
const EVENTS: [CounterEvent; 5] = [
    CounterEvent::PageFaults,
    CounterEvent::ContextSwitches,
    CounterEvent::CpuMigrations,
    CounterEvent::PageFaults,
    CounterEvent::ContextSwitches,
];

/// Counters of this process and the children that it waited for, at one moment.
pub(super) struct UsageMoment {
    own: Usage,
    children: Usage,
    events: [Option<u64>; EVENTS.len()],
}

impl UsageMoment {
    /// The counters now, with those of the hardware if they could be opened.
    pub(super) fn now(counters: Option<&Counters>) -> Option<Self> {
        let count = |event| counters?.read_one(event).ok().flatten();
        Some(Self {
            own: Usage::of(Who::Process).ok()?,
            children: Usage::of(Who::Children).ok()?,
            events: EVENTS.map(count),
        })
    }
}

/// Sums differences of counters between two moments. Input and output are read once around all batches, because that
/// read is too slow for each batch.
#[derive(Default)]
pub(super) struct FootprintTally {
    /// In user and kernel mode.
    times: Option<[Duration; 2]>,
    /// In both, to the nanosecond.
    cpu: Option<[Duration; 1]>,
    /// Voluntary and involuntary switches.
    switches: Option<[u64; 2]>,
    /// Minor and major faults.
    faults: Option<[u64; 2]>,
    /// Whether children were waited for, whose migrations are not reported.
    waited: bool,
    counters: Option<Counters>,
    events: [Option<u64>; EVENTS.len()],
    /// Operations during which events were counted.
    events_of: u64,
    migrations: Option<u64>,
    io: Option<Io>,
    peers: Vec<Peer>,
    footprint: Footprint,
}

/// A party in another process, which does not count among the waited-for children while it runs. Values that cannot be
/// read are unknown.
struct Peer {
    pid: i32,
    times: Option<[Duration; 2]>,
    /// In both modes, to the nanosecond.
    cpu: Option<[Duration; 1]>,
    /// Voluntary and involuntary switches.
    switches: Option<[u64; 2]>,
    /// Minor and major faults.
    faults: Option<[u64; 2]>,
    io: Option<Io>,
    migrations: Option<u64>,
}

/// Ticks of CPU time that a party must have for its parts to be known: an error of one tick is then 2%.
const FEWEST_TICKS: u32 = 50;

impl Peer {
    fn now(pid: i32) -> Self {
        Self::under(Path::new("/"), pid)
    }

    /// From a copy of a machine's `/proc`.
    fn under(root: &Path, pid: i32) -> Self {
        let stat = os::usage::Stat::under(root, pid).ok();
        let stat = stat.as_ref();
        // The kernel reports context switches and exact times of the first thread of a process only.
        let alone = stat.is_some_and(|stat| stat.threads == 1);
        let cpu = os::usage::cpu_time_under(root, pid).ok().filter(|_| alone);
        let switches = os::usage::switches_under(root, pid).ok().filter(|_| alone);
        Self {
            pid,
            times: stat.map(|stat| [stat.user, stat.system]),
            cpu: cpu.map(|time| [time]),
            switches: switches.map(|switches| [switches.voluntary, switches.involuntary]),
            faults: stat.map(|stat| [stat.minor_faults, stat.major_faults]),
            io: Io::under(root, pid).ok(),
            migrations: migrations_under(root, pid).ok(),
        }
    }
}

impl FootprintTally {
    /// Starts counting for this thread and the other parties. Parties that are threads of this process are part of its
    /// own counts.
    pub(super) fn begin(&mut self, parties: impl Iterator<Item = i32>) {
        let own = threads_of(own_pid()).unwrap_or_default();
        self.peers = parties.filter(|pid| !own.contains(pid)).map(Peer::now).collect();
        self.io = Io::own().ok();
        (self.times, self.switches, self.faults) = (Some(Default::default()), Some([0; 2]), Some([0; 2]));
        self.cpu = Some(Default::default());
        self.migrations = migrations_of(own_pid()).ok();
    }

    /// Opens the counters of the hardware after the timed batches: the kernel saves and restores them at every switch
    /// between processes, which adds a tenth to the round trip of a pipe and a sixth to a context switch. `false` if
    /// this user cannot read any.
    pub(super) fn count_events(&mut self) -> bool {
        let peers: Vec<i32> = self.peers.iter().map(|peer| peer.pid).collect();
        let counters = Counters::open_beside(&EVENTS, &peers);
        let any = EVENTS.iter().any(|event| matches!(counters.read_one(*event), Ok(Some(_))));
        self.counters = any.then_some(counters);
        any
    }

    /// The counters at this moment.
    pub(super) fn moment(&self) -> Option<UsageMoment> {
        UsageMoment::now(self.counters.as_ref())
    }

    /// Adds one batch.
    pub(super) fn add(&mut self, before: Option<UsageMoment>, after: Option<UsageMoment>, ops: u64) {
        self.footprint.operations += ops;
        let (Some(before), Some(after)) = (before, after) else {
            (self.times, self.cpu, self.switches, self.faults) = (None, None, None, None);
            return;
        };
        let children = after.children.since(&before.children);
        // Every process has page faults for at least its stack.
        self.waited |= children.minor_faults > 0;
        for used in [after.own.since(&before.own), children] {
            self.times = plus(self.times, Some([used.user, used.system]));
            self.cpu = plus(self.cpu, Some([used.user + used.system]));
            self.switches = plus(self.switches, Some([used.voluntary_switches, used.involuntary_switches]));
            self.faults = plus(self.faults, Some([used.minor_faults, used.major_faults]));
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
        let migrations = grown(self.migrations.map(|one| [one]), migrations_of(own_pid()).ok().map(|one| [one]));
        self.footprint.migrations = migrations.map(|[one]| one).filter(|_| !self.waited);
        let io = moved(self.io.as_ref(), Io::own().ok().as_ref());
        self.set_io(io);
        for peer in std::mem::take(&mut self.peers) {
            self.add_peer(&peer, &Peer::now(peer.pid));
        }
    }

    /// Bytes and calls of reading, bytes and calls of writing.
    fn set_io(&mut self, io: Option<[u64; 4]>) {
        let footprint = &mut self.footprint;
        footprint.read_bytes = io.map(|[bytes, ..]| bytes);
        footprint.read_calls = io.map(|[_, calls, ..]| calls);
        footprint.write_bytes = io.map(|[_, _, bytes, _]| bytes);
        footprint.write_calls = io.map(|[.., calls]| calls);
    }

    fn io(&self) -> Option<[u64; 4]> {
        let footprint = &self.footprint;
        Some([footprint.read_bytes?, footprint.read_calls?, footprint.write_bytes?, footprint.write_calls?])
    }

    /// Adds the values of a party in another process; a value unknown for the party is unknown in total.
    fn add_peer(&mut self, before: &Peer, after: &Peer) {
        // A time in ticks is known to one tick, which is more than many samples use.
        let fine = |times: &[Duration; 2]| times[0] + times[1] >= os::usage::clock_tick() * FEWEST_TICKS;
        self.times = plus(self.times, grown(before.times, after.times).filter(fine));
        self.cpu = plus(self.cpu, grown(before.cpu, after.cpu));
        self.switches = plus(self.switches, grown(before.switches, after.switches));
        self.faults = plus(self.faults, grown(before.faults, after.faults));
        let io = moved(before.io.as_ref(), after.io.as_ref());
        self.set_io(plus(self.io(), io));
        let migrations = grown(before.migrations.map(|one| [one]), after.migrations.map(|one| [one]));
        self.footprint.migrations = plus(self.footprint.migrations.map(|one| [one]), migrations).map(|[one]| one);
    }

    /// The sum.
    pub(super) fn footprint(&self) -> Footprint {
        let seconds = |at: usize| self.times.map(|times| times[at].as_secs_f64());
        let [cycles, instructions, branch_misses, cache_misses, tlb_misses] =
            self.events.map(|sum| sum.map(|sum| self.of_all(sum)));
        let hardware = Hardware { cycles, instructions, branch_misses, cache_misses, tlb_misses };
        Footprint {
            user_seconds: seconds(0),
            system_seconds: seconds(1),
            cpu_seconds: self.cpu.map(|[time]| time.as_secs_f64()),
            voluntary_switches: self.switches.map(|switches| switches[0]),
            involuntary_switches: self.switches.map(|switches| switches[1]),
            minor_faults: self.faults.map(|faults| faults[0]),
            major_faults: self.faults.map(|faults| faults[1]),
            hardware: Some(hardware).filter(|hardware| *hardware != Hardware::default()),
            ..self.footprint.clone()
        }
    }

    /// Events of the batches in which they were counted, scaled to all operations.
    fn of_all(&self, events: u64) -> u64 {
        let all = u128::from(events) * u128::from(self.footprint.operations) / u128::from(self.events_of.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// The sum, if both are known.
fn plus<T: Copy + std::ops::Add<Output = T>, const N: usize>(
    one: Option<[T; N]>,
    other: Option<[T; N]>,
) -> Option<[T; N]> {
    let (one, other) = (one?, other?);
    Some(std::array::from_fn(|at| one[at] + other[at]))
}

/// The difference between two moments, if both are known. A counter that has decreased belongs to another process.
fn grown<T: Copy + PartialOrd + std::ops::Sub<Output = T>, const N: usize>(
    before: Option<[T; N]>,
    after: Option<[T; N]>,
) -> Option<[T; N]> {
    let (before, after) = (before?, after?);
    before
        .iter()
        .zip(&after)
        .all(|(before, after)| before <= after)
        .then(|| std::array::from_fn(|at| after[at] - before[at]))
}

/// Bytes and calls of reading, bytes and calls of writing between two moments.
fn moved(before: Option<&Io>, after: Option<&Io>) -> Option<[u64; 4]> {
    let all = |io: &Io| [io.read_chars, io.read_calls, io.write_chars, io.write_calls];
    grown(before.map(all), after.map(all))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    /// The files of a party in the format of Linux.
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

    /// The sum for one party recorded at two moments.
    fn counted(root: &Path, ticks: [u64; 2], switches: [u64; 2]) -> Footprint {
        recorded(root, [700, 20], [10, 4]);
        let before = Peer::under(root, 77);
        recorded(root, ticks, switches);
        let mut tally = FootprintTally::default();
        tally.begin(std::iter::empty());
        tally.add_peer(&before, &Peer::under(root, 77));
        tally.footprint()
    }

    #[test]
    fn a_party_in_another_process_is_counted_in_this_systems_ticks() {
        let root = tempfile::tempdir().unwrap();
        let tick = os::usage::clock_tick().as_secs_f64();
        let footprint = counted(root.path(), [730, 60], [25, 5]);
        assert!((footprint.user_seconds.unwrap() - 30.0 * tick).abs() < 1e-9);
        assert!((footprint.system_seconds.unwrap() - 40.0 * tick).abs() < 1e-9);
        assert_eq!((footprint.voluntary_switches, footprint.involuntary_switches), (Some(15), Some(1)));
        assert_eq!((footprint.minor_faults, footprint.major_faults), (Some(0), Some(0)));
        // Its input and output were not recorded.
        assert_eq!((footprint.read_bytes, footprint.migrations), (None, None));
    }

    #[test]
    fn a_thread_of_this_process_is_counted_once() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let body = move || {
            tell.send(kernels::process::raw::gettid()).unwrap();
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().spawn(body).unwrap();
        let mut tally = FootprintTally::default();
        tally.begin([told.recv().unwrap(), 1].into_iter());
        let peers: Vec<i32> = tally.peers.iter().map(|peer| peer.pid).collect();
        assert_eq!(peers, [1], "the process's own usage holds what its threads use");
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn a_few_ticks_of_a_party_are_no_time_that_is_known() {
        let root = tempfile::tempdir().unwrap();
        let footprint = counted(root.path(), [703, 28], [25, 5]);
        assert_eq!((footprint.user_seconds, footprint.system_seconds), (None, None));
        assert_eq!(footprint.voluntary_switches, Some(15), "switches are counted one by one");
    }

    #[test]
    fn a_counter_that_fell_is_another_processs() {
        let root = tempfile::tempdir().unwrap();
        let footprint = counted(root.path(), [600, 10], [3, 4]);
        assert_eq!((footprint.user_seconds, footprint.voluntary_switches), (None, None));
    }

    #[test]
    fn a_party_that_is_gone_leaves_all_unknown() {
        let root = tempfile::tempdir().unwrap();
        let gone = Peer::under(root.path(), 77);
        let mut tally = FootprintTally::default();
        tally.begin(std::iter::empty());
        tally.add_peer(&gone, &gone);
        let footprint = tally.footprint();
        assert_eq!((footprint.user_seconds, footprint.voluntary_switches, footprint.minor_faults), (None, None, None));
    }
}

//! Classes of figures that drift alike from session to session.

use serde::{Deserialize, Serialize};

/// Class of a figure by its usual drift between sessions of one machine, for stores without a history.
///
/// The numbers were measured over sessions of one machine; see `docs/explain/intervals-and-verdicts.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Instructions, system calls and caches near the core.
    Compute,
    /// Page faults and mappings.
    Fault,
    /// Memory bandwidth.
    Bandwidth,
    /// Two pinned processes or threads: pipes, sockets, switches.
    Ipc,
    /// Latency of working sets beyond the caches near the core.
    MemoryLatency,
    /// Creation of processes and threads, exec, shell.
    Process,
    /// Metadata and durability on a disk-backed file system.
    FileMetadata,
    /// Data of files through the page cache or from the device.
    FileData,
    /// Whole applications.
    Application,
    /// Transfers over a network.
    Network,
}

impl Class {
    /// Default session floor: relative standard deviation between sessions of one machine.
    #[must_use]
    pub const fn session_floor(self) -> f64 {
        match self {
            Self::Compute | Self::Fault => 0.005,
            Self::Bandwidth | Self::Application => 0.01,
            Self::Ipc | Self::Network => 0.02,
            Self::MemoryLatency | Self::Process | Self::FileData => 0.05,
            Self::FileMetadata => 0.30,
        }
    }

    /// Default session floor on a guest, whose host has others: they take part of the memory's bandwidth, of a shared
    /// cache and of a core, and how much changes within minutes.
    ///
    /// Nine sessions within two hours of a guest of AMD EPYC whose cores were shared for 11 to 65% of the time, without
    /// what their own intervals explain: bandwidth 3 to 7.6%, latency of memory to 7.7%, data of files to 9%, builds
    /// and scripts 10 to 11%, hand-offs and timers in time 4 to 7%, and what the core alone decides 0.5% as elsewhere.
    #[must_use]
    pub const fn guest_floor(self) -> f64 {
        match self {
            Self::Bandwidth | Self::MemoryLatency => 0.06,
            Self::Ipc => 0.07,
            Self::FileData => 0.08,
            Self::Process | Self::Application => 0.11,
            _ => self.session_floor(),
        }
    }

    /// Default session floor of a figure in cycles of the core: relative standard deviation between sessions of one
    /// machine, whatever their clocks.
    ///
    /// Compute, faults and two parties: the largest differences of medians over five sessions of a guest, quiet to load
    /// 16, over 2.33, the range of five normal draws (system call 0.16%, integer mix 0.4%, chases in L1 and L2 0.03 and
    /// 0.1%; page fault 3.2%; TCP and pipe round trip on one CPU 3.3 and 6.6%). Latencies are in cycles only in the
    /// caches near the core; a set as large as the first cache took 4.02 to 4.10 cycles a load over fifteen sessions of
    /// another guest (standard deviation 0.6%), with all launches of a session alike. The other classes were not
    /// measured in cycles and have the floor of their time.
    #[must_use]
    pub const fn cycles_floor(self) -> f64 {
        match self {
            Self::Compute => 0.002,
            Self::MemoryLatency => 0.006,
            Self::Fault => 0.015,
            Self::Ipc => 0.03,
            _ => self.session_floor(),
        }
    }

    /// Default session floor of a figure in cycles of two sessions under one boot that had their CPUs to themselves:
    /// relative standard deviation.
    ///
    /// What 29 sessions of one boot of a guest (AMD EPYC, 12 hours, cores shared for 4 to 65% of the time) lay apart
    /// beyond what their own intervals explain, by the moments of Paule and Mandel (J. Res. NBS 87, 1982): two parties
    /// on one CPU 0 to 0.15%, page faults 0.22 and 0.31%, processes 0 to 0.45% and a shell's start 0.91%; twelve later
    /// ones 0 to 0.29%, 0 and 0.75%, and 0 to 0.49%. Beside two compilers round trips took 2 to 4% more cycles, and
    /// another boot lays the kernel elsewhere in memory, which was not measured: both have
    /// [`cycles_floor`](Self::cycles_floor).
    #[must_use]
    pub const fn boot_floor(self) -> f64 {
        match self {
            Self::Ipc | Self::MemoryLatency => 0.002,
            Self::Fault => 0.006,
            Self::Process => 0.01,
            _ => self.cycles_floor(),
        }
    }
}

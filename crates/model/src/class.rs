//! Classes of figures that drift alike from session to session.

use serde::{Deserialize, Serialize};

/// Class of a figure by its usual drift between sessions of one machine, for stores without a history.
///
/// The numbers were measured over sessions of one machine; see `METHODOLOGY.md`, "Session floor".
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

    /// Default session floor of a figure in cycles of the core: relative standard deviation between sessions of one machine,
    /// whatever their clocks.
    ///
    /// Compute, faults and two parties: the largest differences of medians over five sessions of a guest, quiet to load 16,
    /// over 2.33, the range of five normal draws (system call 0.16%, integer mix 0.4%, chases in L1 and L2 0.03 and 0.1%;
    /// page fault 3.2%; TCP and pipe round trip on one CPU 3.3 and 6.6%). Latencies are in cycles only in the caches near
    /// the core. The other classes were not measured in cycles and have the floor of their time.
    #[must_use]
    pub const fn cycles_floor(self) -> f64 {
        match self {
            Self::Compute | Self::MemoryLatency => 0.002,
            Self::Fault => 0.015,
            Self::Ipc => 0.03,
            _ => self.session_floor(),
        }
    }
}

//! Classes of results that drift alike from session to session.

use serde::{Deserialize, Serialize};

use crate::RULES;

/// Class of a result by its usual drift between sessions of one machine, for stores without a history.
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
    /// Work of an accelerator.
    Accelerator,
}

impl Class {
    /// Session noise of a result whose machine has too few sessions of it: relative standard deviation between sessions
    /// of one machine.
    #[must_use]
    pub const fn session_noise(self) -> f64 {
        let noise = &RULES.noise;
        match self {
            Self::Compute => noise.compute,
            Self::Fault => noise.fault,
            Self::Bandwidth => noise.bandwidth,
            Self::Ipc => noise.ipc,
            Self::MemoryLatency => noise.memory_latency,
            Self::Process => noise.process,
            Self::FileMetadata => noise.file_metadata,
            Self::FileData => noise.file_data,
            Self::Application => noise.application,
            Self::Network => noise.network,
            Self::Accelerator => noise.accelerator,
        }
    }
}

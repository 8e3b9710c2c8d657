//! Resources used by an operation, as counted by the operating system.

use serde::{Deserialize, Serialize};

/// Resources used over a sample's timed batches by all threads of this process, the processes that it waited for, and
/// the result's other processes. A count that is not available for all of them is absent, and never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Footprint {
    /// Operations over which the resources were counted.
    pub operations: u64,
    /// Time in user mode, seconds.
    pub user_seconds: Option<f64>,
    /// Time in the kernel, seconds.
    pub system_seconds: Option<f64>,
    /// Time on a CPU in both modes, seconds: known to the nanosecond, also where the two parts are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// Context switches because a process waited.
    pub voluntary_switches: Option<u64>,
    /// Context switches because the scheduler preempted a process.
    pub involuntary_switches: Option<u64>,
    /// Page faults without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults with I/O.
    pub major_faults: Option<u64>,
    /// Bytes passed to read calls.
    pub read_bytes: Option<u64>,
    /// Bytes passed to write calls.
    pub write_bytes: Option<u64>,
    /// Calls that read.
    pub read_calls: Option<u64>,
    /// Calls that wrote.
    pub write_calls: Option<u64>,
    /// Processes created.
    pub forks: Option<u64>,
    /// Moves between CPUs.
    pub migrations: Option<u64>,
    /// Hardware event counts, if the machine provides them.
    pub hardware: Option<Hardware>,
}

/// Hardware event counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// Core cycles.
    pub cycles: Option<u64>,
    /// Instructions retired.
    pub instructions: Option<u64>,
    /// Mispredicted branches.
    pub branch_misses: Option<u64>,
    /// Last-level cache misses.
    pub cache_misses: Option<u64>,
    /// Data TLB misses.
    pub tlb_misses: Option<u64>,
}

impl Footprint {
    /// Adds another footprint: a count is known only if both know it.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        fn sum<T: std::ops::Add<Output = T> + Copy>(a: Option<T>, b: Option<T>) -> Option<T> {
            Some(a? + b?)
        }
        Self {
            operations: self.operations + other.operations,
            user_seconds: sum(self.user_seconds, other.user_seconds),
            system_seconds: sum(self.system_seconds, other.system_seconds),
            cpu_seconds: sum(self.cpu_seconds, other.cpu_seconds),
            voluntary_switches: sum(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: sum(self.involuntary_switches, other.involuntary_switches),
            minor_faults: sum(self.minor_faults, other.minor_faults),
            major_faults: sum(self.major_faults, other.major_faults),
            read_bytes: sum(self.read_bytes, other.read_bytes),
            write_bytes: sum(self.write_bytes, other.write_bytes),
            read_calls: sum(self.read_calls, other.read_calls),
            write_calls: sum(self.write_calls, other.write_calls),
            forks: sum(self.forks, other.forks),
            migrations: sum(self.migrations, other.migrations),
            hardware: self.hardware.as_ref().zip(other.hardware.as_ref()).map(|(a, b)| Hardware {
                cycles: sum(a.cycles, b.cycles),
                instructions: sum(a.instructions, b.instructions),
                branch_misses: sum(a.branch_misses, b.branch_misses),
                cache_misses: sum(a.cache_misses, b.cache_misses),
                tlb_misses: sum(a.tlb_misses, b.tlb_misses),
            }),
        }
    }
}

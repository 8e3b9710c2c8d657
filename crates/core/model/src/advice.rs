//! Remedies that several commands give, in one place, so that they never differ.

/// The clock follows a saving governor.
pub const GOVERNOR: &str = "as root: cpupower frequency-set -g performance";

/// Transparent huge pages are off.
pub const HUGE_PAGES: &str = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";

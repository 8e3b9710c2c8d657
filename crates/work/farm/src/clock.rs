//! Time of a run: seconds since it began, by the monotonic clock. The wall clock is for people.

/// A moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stamp {
    /// By the wall clock, seconds since 1970. It may have been set since.
    pub at: f64,
    /// Seconds since the run began.
    pub since: f64,
}

/// The clocks of a coordinator's host; a trait, so that a test can set them.
pub trait FarmClock: Send + Sync + std::fmt::Debug {
    /// Seconds from a fixed moment before this host was started.
    fn monotonic(&self) -> f64;
    /// Seconds since 1970.
    fn wall(&self) -> f64;
    /// A name of the period in which [`FarmClock::monotonic`] has one origin; empty if there is none.
    fn boot(&self) -> String;
}

/// The clocks of this host: `CLOCK_BOOTTIME`, which continues during a suspension of the host, and `CLOCK_REALTIME`
/// (clock_gettime(2)).
#[derive(Debug, Clone, Copy, Default)]
pub struct HostClock;

impl FarmClock for HostClock {
    fn monotonic(&self) -> f64 {
        kernels::clock::boottime().unwrap_or_else(|_| kernels::clock::now()) as f64 * 1e-9
    }

    fn wall(&self) -> f64 {
        now()
    }

    fn boot(&self) -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
    }
}

/// Seconds since 1970.
#[must_use]
pub fn now() -> f64 {
    kernels::clock::realtime() as f64 * 1e-9
}

//! Clocks: the one that times batches, and those that show whether it can be trusted.
//!
//! Batches are timed by `CLOCK_MONOTONIC`. Every kernel provides it through the vDSO (without entering the kernel),
//! while `CLOCK_MONOTONIC_RAW` is a system call before Linux 5.3 and on hosts without a vDSO variant. It is the clock
//! of `clock_nanosleep`, of timers and of [`std::time::Instant`], so that the delay of a timer is a difference of two
//! readings of one clock. Its disadvantage is that time daemons may slew it by at most 500 ppm (`adjtimex(2)`), 40
//! times less than the 2% target of a result.

mod watch;

pub use watch::{Disturbed, Watch};

use std::time::Duration;

use crate::error::{Error, Result};

#[inline]
fn read(id: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec for the length of the call.
    let answer = unsafe { libc::clock_gettime(id, &raw mut time) };
    (answer == 0).then(|| (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64))
}

fn read_or(what: &'static str, id: libc::clockid_t) -> Result<u64> {
    read(id).ok_or_else(|| Error::last(what))
}

/// Nanoseconds of the batch clock since an arbitrary start, the same for all processes of this machine until it
/// reboots.
#[inline]
#[must_use]
pub fn now() -> u64 {
    // POSIX requires this clock of every system with clock_gettime; 0 is never returned.
    read(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Nanoseconds since 1970-01-01 (UTC, without leap seconds).
#[must_use]
pub fn realtime() -> u64 {
    read(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// CPU time of the calling thread.
pub fn thread_cpu() -> Result<Duration> {
    read_or("read the CPU time of this thread", libc::CLOCK_THREAD_CPUTIME_ID).map(Duration::from_nanos)
}

/// CPU time of this process with all its threads.
pub fn process_cpu() -> Result<Duration> {
    read_or("read the CPU time of this process", libc::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from_nanos)
}

/// Nanoseconds since boot, including the time for which the machine was suspended.
pub fn boottime() -> Result<u64> {
    read_or("read the boot clock", libc::CLOCK_BOOTTIME)
}

/// The smallest step between two successive readings that differ, in nanoseconds: a batch must be a thousand times
/// longer. It is an upper bound of the hardware's tick, because a reading takes time itself.
#[must_use]
pub fn tick() -> u64 {
    const STEPS: u32 = 2_000;
    const LONGEST: u64 = 200_000_000;
    let (start, mut last, mut smallest, mut seen) = (now(), now(), u64::MAX, 0);
    while seen < STEPS && last - start < LONGEST {
        let next = now();
        if next > last {
            smallest = smallest.min(next - last);
            seen += 1;
        }
        last = next;
    }
    smallest.min(LONGEST)
}

/// Cost of one reading, in nanoseconds: the median of 31 groups of 1000 readings.
#[must_use]
pub fn read_cost() -> f64 {
    const READS: u64 = 1_000;
    let mut groups: Vec<u64> = (0..31)
        .map(|_| {
            let start = now();
            for _ in 0..READS {
                std::hint::black_box(now());
            }
            now() - start
        })
        .collect();
    groups.sort_unstable();
    groups[15] as f64 / READS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_goes_back() {
        let mut last = now();
        assert!(last > 0);
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn tick_and_cost_are_sane() {
        assert!(tick() >= 1);
        let cost = read_cost();
        assert!(cost > 0.0 && cost < 1e6, "{cost}");
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let (thread, process) = (thread_cpu().unwrap(), process_cpu().unwrap());
        let mut sum = 0u64;
        while thread_cpu().unwrap() - thread < Duration::from_millis(2) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(process_cpu().unwrap() > process);
    }

    #[test]
    fn realtime_is_after_2020() {
        assert!(realtime() > 1_577_836_800_000_000_000);
    }
}

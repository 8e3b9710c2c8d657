//! Evidence that a period of time cannot be used: the machine was suspended, or the clock was set.

use std::time::Duration;

use crate::clock;
use crate::error::Result;

/// Events of the clocks during a watched period. Steps below a millisecond are not reported: a context switch between
/// the readings of two clocks looks the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbed {
    /// Time for which the machine was suspended, which the batch clock does not count.
    pub suspended: Option<Duration>,
    /// Amount by which the wall clock was set, forward or back.
    pub clock_jump: Option<Duration>,
}

impl Disturbed {
    /// Whether there was any event.
    #[must_use]
    pub fn any(self) -> bool {
        self.suspended.is_some() || self.clock_jump.is_some()
    }
}

/// Compares clocks that agree on an clean machine, from its start on.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    boot: Option<i128>,
    real: i128,
    start: u64,
}

const SMALLEST_STEP: u64 = 1_000_000;
/// Largest rate of slewing. Time daemons slew the wall clock and the batch clock equally; rounding and the kernel's own
/// slewing limit remain.
const SLEW: f64 = 500e-6;

impl Watch {
    /// Starts watching.
    #[must_use]
    pub fn start() -> Self {
        Self {
            boot: offset(clock::boottime).ok(),
            real: offset(|| Ok(clock::realtime())).unwrap_or(0),
            start: clock::now(),
        }
    }

    /// Events since the start. Suspension is not detected if the operating system has no boot clock.
    #[must_use]
    pub fn disturbed(&self) -> Disturbed {
        let elapsed = clock::now().saturating_sub(self.start);
        let suspended = match (self.boot, offset(clock::boottime)) {
            (Some(before), Ok(after)) => step(before, after, 0),
            _ => None,
        };
        // After a suspension the wall clock has advanced by its duration, which is not a jump.
        let slept = suspended.map_or(0, |s| s.as_nanos() as i128);
        let real = offset(|| Ok(clock::realtime())).unwrap_or(self.real) - slept;
        Disturbed { suspended, clock_jump: step(self.real, real, (elapsed as f64 * SLEW) as u64) }
    }
}

/// Offset of another clock from the batch clock in nanoseconds, by the tightest of several bracketed readings.
fn offset(other: impl Fn() -> Result<u64>) -> Result<i128> {
    let mut best = (u64::MAX, 0);
    for _ in 0..5 {
        let before = clock::now();
        let there = other()?;
        let after = clock::now();
        if after - before < best.0 {
            best = (after - before, i128::from(there) - i128::from(before / 2 + after / 2));
        }
    }
    Ok(best.1)
}

fn step(before: i128, after: i128, allowed: u64) -> Option<Duration> {
    let moved = u64::try_from((after - before).unsigned_abs()).unwrap_or(u64::MAX);
    (moved > SMALLEST_STEP + allowed).then(|| Duration::from_nanos(moved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_told_and_jitter_is_not() {
        assert_eq!(step(100, 900_000, 0), None);
        assert_eq!(step(0, -3_000_000_000, 0), Some(Duration::from_secs(3)));
        assert_eq!(step(0, 1_400_000, 500_000), None);
    }

    #[test]
    fn a_shifted_start_is_a_disturbance() {
        let mut watch = Watch::start();
        watch.real -= 5_000_000_000;
        let seen = watch.disturbed();
        assert!(seen.any());
        assert!(seen.clock_jump.is_some_and(|jump| jump > Duration::from_secs(4)));
    }
}

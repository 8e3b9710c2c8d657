//! Sleeping until a time of the batch clock, and periodic timers.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

pub use linux::PeriodicTimer;

use crate::error::Result;

/// Sleeps until [`crate::clock::now`] has reached `nanos`, also after interruptions; returns immediately if it has. The
/// delay is the difference to the clock on return.
#[inline]
pub fn sleep_until(nanos: u64) -> Result<()> {
    linux::sleep_until(nanos)
}

/// Nanoseconds by which the kernel may delay wake-ups of this thread to combine them (`PR_GET_TIMERSLACK`).
pub fn slack() -> Result<u64> {
    linux::slack()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::clock;
    use std::time::Duration;

    #[test]
    fn never_wakes_early() {
        for millis in [0, 1, 3] {
            let until = clock::now() + millis * 1_000_000;
            sleep_until(until).unwrap();
            assert!(clock::now() >= until);
        }
        sleep_until(0).unwrap();
        assert!(slack().unwrap() > 0);
    }

    #[test]
    fn a_timer_counts_what_was_missed() {
        let start = clock::now();
        let timer = PeriodicTimer::start(Duration::from_millis(1)).unwrap();
        let mut seen = timer.wait().unwrap();
        sleep_until(clock::now() + 5_000_000).unwrap();
        seen += timer.wait().unwrap();
        assert!(seen >= 5);
        assert!(seen <= (clock::now() - start) / 1_000_000);
        assert!(PeriodicTimer::start(Duration::ZERO).is_err());
    }
}

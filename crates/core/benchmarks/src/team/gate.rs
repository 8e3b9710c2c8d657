//! A number that threads wait for. They spin for a short time first, because waking a sleeping thread takes longer than
//! many batches. Then they sleep, so that more threads than CPUs do not block each other.

use std::sync::atomic::{AtomicU32, Ordering};

use kernels::futex::{FutexScope, wait, wake};

/// Loads between two readings of the clock.
const LOADS: u32 = 64;

/// The number, alone on its cache line and on the adjacent one that a prefetcher loads.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct StartGate {
    number: AtomicU32,
    sleepers: AtomicU32,
}

impl StartGate {
    /// Sets the number and wakes sleeping threads. Without a sleeping thread this is a store and a load.
    #[inline]
    pub(super) fn set(&self, number: u32) {
        // Sequentially consistent, like all accesses here: either the waiting thread sees the new number or it is seen
        // to sleep.
        self.number.store(number, Ordering::SeqCst);
        self.wake();
    }

    /// Sets the number to zero while no thread waits for it.
    pub(super) fn reset(&self) {
        self.number.store(0, Ordering::SeqCst);
    }

    /// Adds one, and wakes sleeping threads if the result is `goal`.
    #[inline]
    pub(super) fn add_towards(&self, goal: u32) {
        if self.number.fetch_add(1, Ordering::SeqCst) + 1 == goal {
            self.wake();
        }
    }

    #[inline]
    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // If a futex is unavailable, the waiting thread yields its CPU and loads again.
            let _ = wake(&self.number, i32::MAX as u32, FutexScope::Process);
        }
    }

    /// Waits until the number is as wanted and returns it: spins for a time in nanoseconds, then sleeps.
    #[inline]
    pub(super) fn wait(&self, wanted: impl Fn(u32) -> bool, spin_nanos: u64) -> u32 {
        if let Some(number) = self.spin(&wanted, spin_nanos) {
            return number;
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let number = loop {
            let number = self.number.load(Ordering::SeqCst);
            if wanted(number) {
                break number;
            }
            if wait(&self.number, number, None, FutexScope::Process).is_err() {
                std::thread::yield_now();
            }
        };
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        number
    }

    #[inline]
    fn spin(&self, wanted: &impl Fn(u32) -> bool, nanos: u64) -> Option<u32> {
        let mut until = None;
        loop {
            for _ in 0..LOADS {
                let number = self.number.load(Ordering::Acquire);
                if wanted(number) {
                    return Some(number);
                }
                if nanos == 0 {
                    return None;
                }
                std::hint::spin_loop();
            }
            let now = kernels::clock::now();
            if now >= *until.get_or_insert(now + nanos) {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number is waited for, whether the waiting thread spins, sleeps at once, or arrives late.
    #[test]
    fn no_number_is_missed() {
        for spin_nanos in [0, 100, 1_000_000] {
            let (ask, answer) = (StartGate::default(), StartGate::default());
            std::thread::scope(|scope| {
                let other = || (1..=500).for_each(|n| answer.set(ask.wait(|seen| seen >= n, spin_nanos)));
                std::thread::Builder::new().spawn_scoped(scope, other).unwrap();
                for n in 1..=500 {
                    ask.set(n);
                    assert_eq!(answer.wait(|seen| seen == n, spin_nanos), n);
                }
            });
        }
    }

    #[test]
    fn the_last_of_many_wakes_the_waiting_thread() {
        let gate = StartGate::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                std::thread::Builder::new().spawn_scoped(scope, || gate.add_towards(8)).unwrap();
            }
            assert_eq!(gate.wait(|seen| seen == 8, 0), 8);
        });
    }
}

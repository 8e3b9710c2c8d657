//! One cache line passed back and forth between two threads.
//!
//! The line holds a number. One side waits for even numbers, the other for odd ones, and each adds one, so that every
//! step moves the line from one CPU to the other. Two steps are a round trip.

use std::sync::atomic::{AtomicU64, Ordering};

use super::LoopCost;

/// One step: the line is read after its arrival, and written.
pub const STEP: LoopCost =
    LoopCost { elements: 1, bytes_read: 8, bytes_written: 8, loads: 1, stores: 1, flops: 0, ops: 1 };

/// A number alone on its cache line, and on the adjacent one that a prefetcher loads.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct HandoffLine(AtomicU64);

/// The numbers to which a side adds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Even numbers; this side begins.
    Even,
    /// Odd numbers.
    Odd,
}

/// Value that ends the exchange.
const OVER: u64 = u64::MAX;

impl HandoffLine {
    /// A line that holds zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Does `steps` steps of one side, and returns the last number it wrote (or, for no steps, the present number).
    /// `None` after [`HandoffLine::end`]. Spins without a pause, which would take as long as the step itself, so both
    /// sides need separate CPUs.
    #[inline(never)]
    pub fn play(&self, side: Side, steps: u64) -> Option<u64> {
        let mine = u64::from(side == Side::Odd);
        let mut last = self.0.load(Ordering::Acquire);
        for _ in 0..steps {
            let mut seen = self.0.load(Ordering::Acquire);
            while seen % 2 != mine || seen == OVER {
                if seen == OVER {
                    return None;
                }
                seen = self.0.load(Ordering::Acquire);
            }
            last = seen + 1;
            // Not a plain store: the end must not be overwritten.
            self.0.compare_exchange(seen, last, Ordering::AcqRel, Ordering::Acquire).ok()?;
        }
        Some(last)
    }

    /// Ends the exchange, so that a waiting side returns.
    pub fn end(&self) {
        self.0.store(OVER, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_every_step() {
        if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
            testing::lacks!("two CPUs are needed");
            return;
        }
        let line = HandoffLine::new();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| line.play(Side::Odd, 1000));
            assert_eq!(line.play(Side::Even, 1000), Some(1999));
            assert_eq!(other.join().unwrap(), Some(2000));
        });
    }

    #[test]
    fn the_end_wakes_a_waiting_side() {
        let line = HandoffLine::new();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| line.play(Side::Odd, 1));
            line.end();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(line.play(Side::Even, 1), None);
    }

    #[test]
    fn lines_do_not_share() {
        assert_eq!((size_of::<HandoffLine>(), align_of::<HandoffLine>()), (128, 128));
    }
}

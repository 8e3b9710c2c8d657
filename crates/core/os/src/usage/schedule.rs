//! Time that a thread ran, and that it waited for a CPU (`/proc/PID/schedstat`, sched-stats of the kernel).

use std::time::Duration;

use kernels::text;

use crate::error::{Error, Result};

/// Times of a thread so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadSchedule {
    /// On a CPU.
    pub ran: Duration,
    /// Ready to run, while others had the CPU.
    pub waited: Duration,
}

/// Times of the calling thread.
///
/// # Errors
/// If the kernel does not report them.
pub fn thread_schedule() -> Result<ThreadSchedule> {
    const PATH: &str = "/proc/thread-self/schedstat";
    parse(&text::read(PATH)?).ok_or_else(|| Error::refused("learn the times of a thread", format!("{PATH} is empty")))
}

fn parse(text: &str) -> Option<ThreadSchedule> {
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok()).map(Duration::from_nanos);
    Some(ThreadSchedule { ran: numbers.next()?, waited: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_and_waiting_are_told_apart() {
        let nanos = Duration::from_nanos;
        assert_eq!(parse("211395 121331 3\n"), Some(ThreadSchedule { ran: nanos(211_395), waited: nanos(121_331) }));
        assert_eq!(parse("1"), None);
        let before = thread_schedule().unwrap();
        std::hint::black_box((0..3_000_000_u64).fold(0, |sum, at| sum ^ at.wrapping_mul(sum | 1)));
        assert!(thread_schedule().unwrap().ran >= before.ran);
    }
}

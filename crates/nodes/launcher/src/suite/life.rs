//! Whether a node is there. Agents send signs of life during samples, which may last long.

use std::io::{BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A node that sends nothing for this long is lost: several signs of life, and the pauses of a network that heals.
pub(super) const SILENCE: Duration = Duration::from_secs(60);
/// Silence that is told.
const TOLD: Duration = Duration::from_secs(15);
/// A node that only gives signs of life is lost after this: longer than the time limit of any sample.
const NO_PROGRESS: Duration = Duration::from_secs(75 * 60);
/// A driver that did not check for this long was itself stopped, and has not yet read the nodes' messages.
const STOOD_STILL: Duration = Duration::from_secs(5);

/// When the last byte of a node arrived. A long document takes time on a slow line, and is no silence.
#[derive(Debug, Clone)]
pub(super) struct LastHeard(Arc<Mutex<Instant>>);

impl Default for LastHeard {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl LastHeard {
    fn set(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn get(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The output of a node, which notes when something arrives.
pub(super) struct WatchedInput {
    pub(super) input: Box<dyn BufRead + Send>,
    pub(super) heard: LastHeard,
}

impl Read for WatchedInput {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.heard.set();
        Ok(count)
    }
}

impl BufRead for WatchedInput {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        let piece = self.input.fill_buf()?;
        self.heard.set();
        Ok(piece)
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }
}

/// The report on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is there, or everything was reported already.
    Present,
    /// It has been silent for this many seconds.
    Silent(u64),
    /// It is lost; the cause.
    Lost(String),
}

/// Signs of life and progress of a node.
#[derive(Debug)]
pub(super) struct Life {
    heard: LastHeard,
    progress: Instant,
    told: u64,
}

impl Life {
    /// State of a node that has just begun.
    pub(super) fn new(heard: LastHeard) -> Self {
        Self { heard, progress: Instant::now(), told: 0 }
    }

    /// It has done something.
    pub(super) fn progressed(&mut self) {
        self.progress = Instant::now();
    }

    /// Time without checks by the driver does not count.
    pub(super) fn begin_again(&mut self) {
        self.heard.set();
        self.progress = Instant::now();
    }

    /// Its state now. Each second of a silence is reported once.
    pub(super) fn verdict(&mut self) -> Verdict {
        self.verdict_after(self.heard.get().elapsed(), self.progress.elapsed())
    }

    fn verdict_after(&mut self, silent: Duration, without_progress: Duration) -> Verdict {
        if silent > SILENCE {
            return Verdict::Lost(format!("it sent nothing for {} s", silent.as_secs()));
        }
        if without_progress > NO_PROGRESS {
            let minutes = without_progress.as_secs() / 60;
            return Verdict::Lost(format!("it did nothing for {minutes} min, although it is there"));
        }
        let seconds = if silent < TOLD { 0 } else { silent.as_secs() };
        if seconds == std::mem::replace(&mut self.told, seconds) || seconds == 0 {
            return Verdict::Present;
        }
        Verdict::Silent(seconds)
    }
}

/// Whether the driver itself stood still (stopped by Ctrl-Z, or by a store that was busy).
#[derive(Debug)]
pub(super) struct Pulse(Instant);

impl Default for Pulse {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Pulse {
    /// Records a check; true if the last one was too long ago.
    pub(super) fn beat(&mut self) -> bool {
        std::mem::replace(&mut self.0, Instant::now()).elapsed() > STOOD_STILL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn silence_is_told_each_second_and_ends_in_loss_but_a_long_sample_does_not() {
        let mut life = Life::new(LastHeard::default());
        assert_eq!(life.verdict_after(s(14), s(14)), Verdict::Present);
        assert_eq!(life.verdict_after(s(15), s(15)), Verdict::Silent(15));
        assert_eq!(life.verdict_after(s(15), s(15)), Verdict::Present, "told already");
        assert_eq!(life.verdict_after(s(59), s(59)), Verdict::Silent(59));
        assert_eq!(life.verdict_after(s(1), s(3_600)), Verdict::Present, "a sample may take an hour");
        assert_eq!(life.verdict_after(s(15), s(3_700)), Verdict::Silent(15), "of another silence");
        assert_eq!(life.verdict_after(s(61), s(61)), Verdict::Lost("it sent nothing for 61 s".to_owned()));
        let stuck = life.verdict_after(s(1), s(4_501));
        assert_eq!(stuck, Verdict::Lost("it did nothing for 75 min, although it is there".to_owned()));
    }

    #[test]
    fn any_byte_that_arrives_ends_a_silence() {
        let long_ago = Instant::now().checked_sub(s(50)).unwrap_or_else(Instant::now);
        let heard = LastHeard(Arc::new(Mutex::new(long_ago)));
        let mut input = WatchedInput { input: Box::new(&b"part of a doc"[..]), heard: heard.clone() };
        assert_eq!(heard.get(), long_ago);
        assert!(!input.fill_buf().unwrap().is_empty());
        assert!(heard.get() > long_ago);
    }

    #[test]
    fn a_driver_that_was_stopped_blames_no_node() {
        let mut pulse = Pulse(Instant::now().checked_sub(s(100)).unwrap());
        assert!(pulse.beat());
        let mut life = Life::new(LastHeard::default());
        *life.heard.0.lock().unwrap() = Instant::now().checked_sub(s(100)).unwrap();
        life.begin_again();
        assert_eq!(life.verdict(), Verdict::Present);
    }
}

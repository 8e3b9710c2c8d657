//! Time until a woken thread on another CPU runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use kernels::clock::now;
use kernels::futex::{FutexScope, wait, wake};

use crate::peer_thread::PeerThread;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.wake_cross_cpu",
    title: "cross-CPU wake-up",
    about: "The time from just before a thread is woken until it reads the clock on its own CPU, idle since the \
            thread fell asleep. It includes the interrupt, leaving the idle state, and the switch. The longer the \
            sleep, the deeper that state.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "wake-up"),
    class: Class::Ipc,
    domain: Some(|_| model::Domain::Timer),
    stresses: &[Primitive::Wakeup],
    usual: true,
    sources: &[DefinitionSource::new("Linux", "futex", "futex(2)")],
    parameters: &[
        Parameter::choice("asleep", &["50us", "1ms"], &["50us"]),
        Parameter::placed(&["cross_cpu"], &["cross_cpu"]),
    ],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

/// Readings of a batch.
const READINGS: usize = 16;
const END: u32 = u32::MAX;
/// Time without an answer after which the peer counts as ended, nanoseconds.
const TIMEOUT: u64 = 5_000_000_000;

#[derive(Default)]
struct Notifier {
    /// Incremented to wake the peer.
    notified: AtomicU32,
    /// Time at which the peer woke, clock nanoseconds.
    woke: AtomicU64,
    /// The value of `notified` for which it woke.
    woke_for: AtomicU32,
}

struct Wakeups {
    notifier: Arc<Notifier>,
    peer: Option<PeerThread>,
    asleep: Duration,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let asleep = Duration::from_micros(if at.choice("asleep")? == "50us" { 50 } else { 1000 });
    let notifier = Arc::new(Notifier::default());
    let theirs = Arc::clone(&notifier);
    let peer = PeerThread::start(context, 1, move || {
        let mut last = 0;
        loop {
            match theirs.notified.load(Ordering::Acquire) {
                END => return Ok(()),
                same if same == last => drop(wait(&theirs.notified, last, None, FutexScope::Process)?),
                notified => {
                    theirs.woke.store(now(), Ordering::Relaxed);
                    theirs.woke_for.store(notified, Ordering::Release);
                    last = notified;
                }
            }
        }
    })?;
    Ok(Trial::Readings(Box::new(Wakeups { notifier, peer: Some(peer), asleep })))
}

impl Wakeups {
    /// Seconds until the peer ran; `None` if it was not asleep.
    fn notify(&self) -> Result<Option<f64>, BenchmarkError> {
        let spin_until = |time: u64| {
            while now() < time {
                std::hint::spin_loop();
            }
        };
        spin_until(now() + self.asleep.as_nanos() as u64);
        let next = self.notifier.notified.load(Ordering::Relaxed) % (END - 1) + 1;
        let began = now();
        self.notifier.notified.store(next, Ordering::Release);
        let woken = wake(&self.notifier.notified, 1, FutexScope::Process)?;
        while self.notifier.woke_for.load(Ordering::Acquire) != next {
            if now() > began + TIMEOUT {
                return Err(BenchmarkError::new("the other thread did not wake"));
            }
            std::hint::spin_loop();
        }
        let woke = self.notifier.woke.load(Ordering::Relaxed);
        if woke < began {
            return Err(BenchmarkError::new("the clocks of the two CPUs disagree"));
        }
        Ok((woken == 1).then_some((woke - began) as f64 * 1e-9))
    }
}

impl Readings for Wakeups {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        let mut readings = Vec::with_capacity(READINGS);
        for _ in 0..100 * READINGS {
            readings.extend(self.notify()?);
            if readings.len() == READINGS {
                return Ok(readings);
            }
        }
        Err(BenchmarkError::new("the other thread was never asleep when it was woken"))
    }

    fn distribution(&self) -> bool {
        true
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.notifier.notified.store(END, Ordering::Release);
        // A peer that has ended needs no waking.
        let _ = wake(&self.notifier.notified, 1, FutexScope::Process);
        drop(self.peer.take());
    }
}

//! How long a sleeping thread on another CPU takes to run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use sys::clock::now;
use sys::futex::{FutexScope, wait, wake};

use crate::mate::PeerThread;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.wake_cross_cpu",
    title: "cross-CPU wake-up",
    about: "From just before a thread is woken until it reads the clock on its own CPU, which had nothing else to do since it fell \
            asleep: the interrupt, the way out of the idle state, the switch. The longer it slept, the deeper that state.",
    metric: ProbeMetric::lower(Unit::Seconds, "wake-up"),
    class: Class::Ipc,
    domain: Some(|_| model::Domain::Timer),
    stresses: &[Primitive::Wakeup],
    sources: &[DefinitionSource::new("Linux", "futex", "futex(2)")],
    axes: &[
        Axis::choice("asleep", &["50us", "1ms"], &["50us"]),
        Axis::placed(&["cross_cpu"], &["cross_cpu"]),
    ],
    parties: Parties::Placed,
    prepare,
    ..Probe::BLANK
};

/// Readings of a batch: a millisecond, or some.
const READINGS: usize = 16;
const END: u32 = u32::MAX;
/// An answer that takes this long means that the mate is gone.
const PATIENCE: u64 = 5_000_000_000;

#[derive(Default)]
struct Notifier {
    /// Rises by one when the mate shall wake.
    rung: AtomicU32,
    /// When the mate woke, clock nanoseconds.
    woke: AtomicU64,
    /// The ring that it woke for.
    heard: AtomicU32,
}

struct Wakeups {
    bell: Arc<Notifier>,
    mate: Option<PeerThread>,
    asleep: Duration,
}

fn prepare(at: &Point, bench: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let asleep = Duration::from_micros(if at.choice("asleep")? == "50us" { 50 } else { 1000 });
    let bell = Arc::new(Notifier::default());
    let theirs = Arc::clone(&bell);
    let mate = PeerThread::start(bench, 1, move || {
        let mut last = 0;
        loop {
            match theirs.rung.load(Ordering::Acquire) {
                END => return Ok(()),
                same if same == last => drop(wait(&theirs.rung, last, None, FutexScope::Process)?),
                rung => {
                    theirs.woke.store(now(), Ordering::Relaxed);
                    theirs.heard.store(rung, Ordering::Release);
                    last = rung;
                }
            }
        }
    })?;
    Ok(Trial::Readings(Box::new(Wakeups { bell, mate: Some(mate), asleep })))
}

impl Wakeups {
    /// Seconds until the mate ran; `None` when it was not asleep yet.
    fn ring(&self) -> Result<Option<f64>, ProbeError> {
        let spin_until = |time: u64| {
            while now() < time {
                std::hint::spin_loop();
            }
        };
        spin_until(now() + self.asleep.as_nanos() as u64);
        let next = self.bell.rung.load(Ordering::Relaxed) % (END - 1) + 1;
        let began = now();
        self.bell.rung.store(next, Ordering::Release);
        let woken = wake(&self.bell.rung, 1, FutexScope::Process)?;
        while self.bell.heard.load(Ordering::Acquire) != next {
            if now() > began + PATIENCE {
                return Err(ProbeError::new("the other thread did not wake"));
            }
            std::hint::spin_loop();
        }
        let woke = self.bell.woke.load(Ordering::Relaxed);
        if woke < began {
            return Err(ProbeError::new("the clocks of the two CPUs disagree"));
        }
        Ok((woken == 1).then_some((woke - began) as f64 * 1e-9))
    }
}

impl Readings for Wakeups {
    fn read(&mut self) -> Result<Vec<f64>, ProbeError> {
        let mut readings = Vec::with_capacity(READINGS);
        for _ in 0..100 * READINGS {
            readings.extend(self.ring()?);
            if readings.len() == READINGS {
                return Ok(readings);
            }
        }
        Err(ProbeError::new("the other thread was never asleep when it was woken"))
    }

    fn distribution(&self) -> bool {
        true
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.bell.rung.store(END, Ordering::Release);
        // A mate that ended already needs no waking.
        let _ = wake(&self.bell.rung, 1, FutexScope::Process);
        drop(self.mate.take());
    }
}

//! Delay of the wake-up of a periodic thread.

use kernels::clock::now;
use kernels::timer::{slack, sleep_until};

use crate::peer_process::PeerProcess;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.timer_wakeup",
    title: "timer wake-up lateness",
    about: "A thread of ordinary priority sleeps until a point of time every millisecond. The value is how late it \
            reads the clock. The machine is idle, or a process on every CPU computes without pause.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "wake-up"),
    class: Class::Ipc,
    domain: Some(|_| model::Domain::Timer),
    stresses: &[Primitive::Timer, Primitive::Wakeup],
    sources: &[
        DefinitionSource::new("BaBar", "(pseudo-)real-time responsiveness", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("rt-tests", "cyclictest", "cyclictest(8)"),
    ],
    parameters: &[Parameter::choice("load", &["idle", "busy"], &["idle", "busy"])],
    prepare,
    ..Benchmark::BLANK
};

const PERIOD: u64 = 1_000_000;
/// Wake-ups of a batch.
const READINGS: usize = 16;

struct Periodic {
    _load: Vec<PeerProcess>,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let mut load = Vec::new();
    if at.choice("load")? == "busy" {
        for cpu in context.allowed() {
            load.push(PeerProcess::fork(Some(*cpu), (), (), |()| compute())?.0);
        }
    }
    if let Ok(nanos) = slack() {
        context.note(format!(
            "timer slack: {nanos} ns, by which the kernel may delay a wake-up to combine it with others"
        ));
    }
    Ok(Trial::Readings(Box::new(Periodic { _load: load })))
}

/// Computes until killed, or until the parent has ended.
fn compute() -> Result<(), BenchmarkError> {
    let parent = os::process::parent_pid();
    let mut value = 1;
    while os::process::parent_pid() == parent {
        for _ in 0..1_000_000 {
            value = std::hint::black_box(crate::peer_process::answer(value));
        }
    }
    Ok(())
}

impl Readings for Periodic {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        let mut due = now();
        let mut late = Vec::with_capacity(READINGS);
        for _ in 0..READINGS {
            due += PERIOD;
            sleep_until(due)?;
            let woke = now();
            if woke < due {
                return Err(BenchmarkError::new("the timer fired early"));
            }
            late.push((woke - due) as f64 * 1e-9);
            // Missed periods are skipped.
            due += (woke - due) / PERIOD * PERIOD;
        }
        Ok(late)
    }

    fn distribution(&self) -> bool {
        true
    }
}

//! A thread on another CPU that reads the sensors there on request, and passes a cache line to and fro.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use benchmarks::BenchmarkError;
use kernels::core_sensor::{CoreReading, CoreSensors};
use kernels::handoff::{HandoffLine, Side};

/// Round trips of a burst of the distance sensor, and bursts of a reading: the shortest counts, which nothing else
/// interrupted. Near CPUs take 20 us for all, those on two packages 200 us.
const ROUND_TRIPS: u64 = 32;
const BURSTS: u64 = 8;
/// Round trips before them, in which the other side wakes up.
const FIRST: u64 = 8;

enum HelperTask {
    Read,
    Pass(Arc<HandoffLine>),
}

/// A thread on another CPU.
pub(crate) struct SensorHelper {
    cpu: usize,
    ask: Sender<HelperTask>,
    answers: Receiver<CoreReading>,
}

impl SensorHelper {
    pub(crate) fn start(cpu: usize, sensors: CoreSensors) -> Result<Self, BenchmarkError> {
        let (ask, asked) = channel();
        let (answer, answers) = channel();
        let body = move || {
            if kernels::affinity::pin(&[cpu]).is_err() {
                return;
            }
            while let Ok(task) = asked.recv() {
                match task {
                    HelperTask::Pass(line) => drop(line.play(Side::Odd, FIRST + BURSTS * ROUND_TRIPS)),
                    HelperTask::Read => {
                        let Ok(reading) = sensors.read() else { return };
                        if answer.send(reading).is_err() {
                            return;
                        }
                    }
                }
            }
        };
        std::thread::Builder::new().name(format!("references {cpu}")).spawn(body)?;
        Ok(Self { cpu, ask, answers })
    }

    pub(crate) const fn cpu(&self) -> usize {
        self.cpu
    }

    pub(crate) fn read(&self) -> Option<CoreReading> {
        self.ask.send(HelperTask::Read).ok()?;
        self.answers.recv().ok()
    }

    /// Picoseconds of a hand-over of a cache line between the caller's CPU and the helper's.
    pub(crate) fn distance(&self) -> Option<u32> {
        let line = Arc::new(HandoffLine::new());
        self.ask.send(HelperTask::Pass(Arc::clone(&line))).ok()?;
        line.play(Side::Even, FIRST)?;
        let mut shortest = u64::MAX;
        for _ in 0..BURSTS {
            let began = kernels::clock::now();
            line.play(Side::Even, ROUND_TRIPS)?;
            shortest = shortest.min(kernels::clock::now() - began);
        }
        u32::try_from(shortest.saturating_mul(1000) / (2 * ROUND_TRIPS)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_passes_a_line_and_reads_afterwards() {
        let allowed = kernels::affinity::allowed().unwrap();
        let [here, there, ..] = allowed[..] else {
            testing::lacks!("two CPUs are needed");
            return;
        };
        let body = move || {
            kernels::affinity::pin(&[here]).unwrap();
            let lengths = model::SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };
            let Ok(sensors) = CoreSensors::of(lengths) else { return None };
            let helper = SensorHelper::start(there, sensors).unwrap();
            let distances = [helper.distance().unwrap(), helper.distance().unwrap()];
            Some((helper.read().is_some(), distances))
        };
        let measured = std::thread::Builder::new().spawn(body).unwrap();
        let Some((read, distances)) = measured.join().unwrap() else {
            testing::lacks!("no references");
            return;
        };
        assert!(read && distances.iter().all(|picos| *picos > 100), "{distances:?}: no line is faster than light");
    }
}

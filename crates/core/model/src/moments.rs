//! Readings of the sensors as periods of time.

use crate::SessionSensors;

/// Distance from the ratio of the exclusive core above which another thread was on the core.
const SHARED: f64 = 0.05;
/// Readings on one CPU that lie closer together than this form one row, seconds.
const ROW: f64 = 2e-3;

/// One reading of the sensors, and the time that it represents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SensorMoment {
    /// When it was read, seconds of the session.
    pub began: f64,
    /// The time until the next reading on this CPU, seconds; readings in one row share it equally.
    pub seconds: f64,
    /// The CPU.
    pub cpu: u32,
    /// The clock, hertz.
    pub clock: f64,
    /// Whether another thread was on the core; `None` if the ratio of the exclusive core is unknown.
    pub shared: Option<bool>,
}

impl SessionSensors {
    /// The readings between samples as periods of time, for each CPU from its first reading to `end` (seconds of the
    /// session), CPU by CPU.
    #[must_use]
    pub fn moments(&self, end: f64) -> Vec<SensorMoment> {
        let mut cpus: Vec<u32> = Vec::new();
        for cpu in &self.samples.cpu.0 {
            if !cpus.contains(cpu) {
                cpus.push(*cpu);
            }
        }
        cpus.into_iter().flat_map(|cpu| self.moments_on(cpu, end)).collect()
    }

    fn moments_on(&self, wanted: u32, end: f64) -> Vec<SensorMoment> {
        let samples = &self.samples;
        let rows = samples.millis.0.iter().zip(&samples.cpu.0).zip(&samples.clock.0).zip(&samples.contention.0);
        let core = self.exclusive.iter().find(|core| core.cpus.contains(&wanted));
        let exclusive = core.and_then(|core| core.ratio);
        let mut moments: Vec<SensorMoment> = rows
            .filter(|(((_, cpu), _), _)| **cpu == wanted)
            .map(|(((millis, cpu), clock), contention)| SensorMoment {
                began: f64::from(*millis) * 1e-3,
                seconds: 0.0,
                cpu: *cpu,
                clock: self.lengths.hertz(*clock),
                shared: exclusive.map(|exclusive| self.lengths.ratio(*clock, *contention) > exclusive * (1.0 + SHARED)),
            })
            .collect();
        let ends: Vec<f64> = moments.iter().skip(1).map(|next| next.began).chain([end]).collect();
        for (moment, end) in moments.iter_mut().zip(ends) {
            moment.seconds = (end - moment.began).max(0.0);
        }
        for row in moments.chunk_by_mut(|one, next| next.began - one.began < ROW) {
            let each = row.iter().map(|moment| moment.seconds).sum::<f64>() / row.len() as f64;
            row.iter_mut().for_each(|moment| moment.seconds = each);
        }
        moments
    }
}

//! Classification of batches as clean.

use model::{RULES, SampleSensors, SensorTrack};

/// The rule by which a batch is clean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CleanRule {
    /// Ratio of the exclusive core on each track.
    pub(crate) exclusive: Vec<f64>,
    near: f64,
    steady: f64,
}

/// One batch of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BatchPlace {
    /// Its index, and the number of batches.
    pub(crate) at: usize,
    pub(crate) of: usize,
    /// The last batch before it that did the same.
    pub(crate) like: Option<usize>,
    /// Its duration, nanoseconds, to which time off the CPU is relative.
    pub(crate) nanos: u64,
}

impl CleanRule {
    /// The rule if the ratio of the exclusive core is known on each track.
    pub(crate) fn new(exclusive: Vec<f64>) -> Self {
        Self { exclusive, near: RULES.quality.near, steady: RULES.quality.steady }
    }

    /// The same rule with both thresholds set to `within`, to measure their effect on a value.
    pub(crate) fn within(&self, within: f64) -> Self {
        Self { exclusive: self.exclusive.clone(), near: within, steady: within.min(2.0 * RULES.quality.steady) }
    }

    /// The clock of a batch, hertz, if it is clean; of several CPUs that of the first.
    pub(crate) fn clock_of(&self, sensors: &SampleSensors, batch: BatchPlace) -> Option<f64> {
        if sensors.tracks.is_empty() || sensors.tracks.len() != self.exclusive.len() || interrupted(sensors, batch) {
            return None;
        }
        let mut clocks = Vec::with_capacity(sensors.tracks.len());
        for (track, exclusive) in sensors.tracks.iter().zip(&self.exclusive) {
            clocks.push(self.clock_on(sensors, track, *exclusive, batch)?);
        }
        clocks.first().copied()
    }

    fn clock_on(&self, sensors: &SampleSensors, track: &SensorTrack, exclusive: f64, batch: BatchPlace) -> Option<f64> {
        let [before, after] = sides(track, batch.at, batch.of)?;
        let alone = |(clock, contention)| is_near(sensors.lengths.ratio(clock, contention), exclusive, self.near);
        if !alone(before) || !alone(after) {
            return None;
        }
        let hertz = |reading: (u32, u32)| sensors.lengths.hertz(reading.0);
        if self.agree(before, after) {
            return Some((hertz(before) + hertz(after)) / 2.0);
        }
        // Compared with the same kind of batch: a step between before and after that occurs in every batch is caused by
        // the work itself, as with wide vectors.
        let [like_before, like_after] = sides(track, batch.like?, batch.of)?;
        (self.agree(before, like_before) && self.agree(after, like_after)).then(|| hertz(after))
    }

    fn agree(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        (f64::from(one.0) / f64::from(other.0.max(1)) - 1.0).abs() <= self.steady
    }
}

/// Whether a ratio is that of the exclusive core.
pub(crate) fn is_exclusive(ratio: f64, exclusive: f64) -> bool {
    is_near(ratio, exclusive, RULES.quality.near)
}

fn is_near(ratio: f64, exclusive: f64, near: f64) -> bool {
    (ratio / exclusive - 1.0).abs() <= near
}

/// The readings before and after a batch.
fn sides(track: &SensorTrack, at: usize, of: usize) -> Option<[(u32, u32); 2]> {
    let (clock, contention) = (&track.clock.0, &track.contention.0);
    let before = if clock.len() == of + 1 { at } else { 2 * at };
    let reading = |at: usize| Some((*clock.get(at)?, *contention.get(at)?));
    Some([reading(before)?, reading(before + 1)?])
}

/// Whether the scheduler preempted the only party, which had not yielded the CPU.
fn interrupted(sensors: &SampleSensors, batch: BatchPlace) -> bool {
    if sensors.tracks.len() != 1 || sensors.off_cpu.is_empty() {
        return false;
    }
    let of = |row: &model::SmallSteps| row.0.get(batch.at).copied().unwrap_or(0);
    let off = f64::from(of(&sensors.off_cpu));
    of(&sensors.waits) == 0
        && (of(&sensors.switches) > 0
            || off > RULES.quality.off_cpu_nanos.max(RULES.quality.off_cpu * batch.nanos as f64))
}

#[cfg(test)]
mod tests {
    use model::{SensorLengths, SmallSteps};

    use super::*;

    const LENGTHS: SensorLengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };

    fn sensors(readings: &[(u32, u32)]) -> SampleSensors {
        let track = SensorTrack {
            cpu: 1,
            clock: SmallSteps(readings.iter().map(|reading| reading.0).collect()),
            contention: SmallSteps(readings.iter().map(|reading| reading.1).collect()),
        };
        SampleSensors { lengths: LENGTHS, tracks: vec![track], ..SampleSensors::default() }
    }

    fn place(at: usize, of: usize) -> BatchPlace {
        BatchPlace { at, of, like: at.checked_sub(1), nanos: 200_000 }
    }

    fn clean(sensors: &SampleSensors, of: usize) -> Vec<usize> {
        let rule = CleanRule::new(vec![0.25]);
        (0..of).filter(|at| rule.clock_of(sensors, place(*at, of)).is_some()).collect()
    }

    #[test]
    fn a_batch_counts_when_both_sides_of_it_are_exclusive_at_one_clock() {
        // Exclusive 12500/10000; then another thread; then another clock; then an interrupt in the clock sensor.
        let row = [
            (10_000, 12_500),
            (10_010, 12_510),
            (10_000, 18_000),
            (10_000, 12_500),
            (10_400, 13_000),
            (10_400, 13_000),
        ];
        assert_eq!(clean(&sensors(&row), 5), [0, 4], "neighbours cost two batches, a step of the clock one");
        let clock = CleanRule::new(vec![0.25]).clock_of(&sensors(&row), place(0, 5)).unwrap_or(0.0);
        assert!((clock * 1e-9 - 3.598).abs() < 0.001, "{clock}");
        assert!(clean(&sensors(&[(20_000, 12_500), (10_000, 12_500)]), 1).is_empty(), "an interrupt");
        assert!(CleanRule::new(Vec::new()).clock_of(&sensors(&row), place(0, 5)).is_none(), "unknown");
    }

    #[test]
    fn a_step_that_every_batch_makes_is_the_works_own() {
        // Two readings per batch: before at 10000, after at 11000, repeatedly.
        let pair = [(10_000, 12_500), (11_000, 13_750)];
        let row: Vec<_> = [pair; 4].concat();
        assert_eq!(clean(&sensors(&row), 4), [1, 2, 3], "the first has none like it before it");
        let clock = CleanRule::new(vec![0.25]).clock_of(&sensors(&row), place(2, 4));
        assert!(clock.is_some_and(|clock| (clock - LENGTHS.hertz(11_000)).abs() < 1.0), "the one after: {clock:?}");
    }

    #[test]
    fn what_the_scheduler_took_is_outside_evidence_and_waiting_is_the_works_own() {
        let mut one = sensors(&[(10_000, 12_500); 4]);
        one.off_cpu = SmallSteps(vec![500, 90_000, 90_000]);
        one.waits = SmallSteps(vec![0, 0, 3]);
        assert_eq!(clean(&one, 3), [0, 2]);
        one.switches = SmallSteps(vec![1, 0, 1]);
        assert_eq!(clean(&one, 3), [2]);
        one.off_cpu = SmallSteps::default();
        assert_eq!(clean(&one, 3), [0, 1, 2], "not looked for");
    }

    #[test]
    fn every_party_needs_its_core_for_itself() {
        let mut two = sensors(&[(10_000, 12_500); 3]);
        let mut other = two.tracks[0].clone();
        other.contention.0[2] = 20_000;
        two.tracks.push(other);
        let rule = CleanRule::new(vec![0.25, 0.25]);
        let counts = |at: usize| rule.clock_of(&two, place(at, 2)).is_some();
        assert_eq!((counts(0), counts(1)), (true, false));
    }
}

//! What the host did over time: contention, levels of the clock and stolen time, as shares, spells and a picture.

use model::{HostRecord, ReferenceMoment, SessionReferences, Share, StolenSamples};
use serde::Serialize;

/// Readings of one CPU closer together than this are one row, seconds.
const ROW: f64 = 2e-3;
/// Smallest relative distance between readings of the clock that belong to different levels: real steps are of 3 to 4%,
/// and readings of one level agree within 0.3%.
const APART: f64 = 0.012;
/// Smallest share of the time of a level.
const LEAST_LEVEL: f64 = 0.02;

/// Periods in which something lasted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spells {
    /// Their number.
    pub count: usize,
    /// Median length, seconds. Lengths are known to the distance between readings; those at the ends of the record are
    /// lower bounds.
    pub median: f64,
    /// Longest, seconds.
    pub longest: f64,
}

/// A level of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClockLevel {
    /// Median, hertz.
    pub hertz: f64,
    /// Lowest and highest, hertz.
    pub range: [f64; 2],
    /// Share of the time at this level.
    pub share: Share,
    /// How long the clock stayed.
    pub spells: Spells,
}

/// Contention on a core.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SharedTime {
    /// Share of the time in which another thread was on the core.
    pub share: Share,
    /// How long it stayed.
    pub spells: Spells,
}

/// Time that the hypervisor took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StolenTime {
    /// Share of the time of the CPU.
    pub share: Share,
    /// Successive periods of counting in which some was taken.
    pub spells: Spells,
}

/// One column of the picture: means over its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HostCell {
    /// Mean clock, hertz.
    pub clock: Option<f64>,
    /// Share of its time in which the core was shared.
    pub shared: Option<Share>,
    /// Share of its time that was stolen.
    pub stolen: Option<Share>,
}

/// What happened on one CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuTimeline {
    /// The CPU.
    pub cpu: u32,
    /// Number of readings.
    pub readings: usize,
    /// Contention; `None` if the readings do not show what an unshared core is.
    pub shared: Option<SharedTime>,
    /// Levels of the clock with at least 2% of the time, the longest first.
    pub clock: Vec<ClockLevel>,
    /// Stolen time; `None` if it was not recorded.
    pub stolen: Option<StolenTime>,
    /// The picture, in equal parts of the time.
    pub cells: Vec<HostCell>,
}

/// One row of readings on a CPU.
#[derive(Debug, Clone, Copy)]
struct HostRow {
    began: f64,
    seconds: f64,
    clock: f64,
    shared: Option<bool>,
}

/// What a watch of the host saw on each CPU, with pictures of so many columns.
#[must_use]
pub fn timelines(record: &HostRecord, columns: usize) -> Vec<CpuTimeline> {
    let mut found = of_references(&record.references, record.seconds, columns);
    for timeline in &mut found {
        add_stolen(timeline, &record.stolen, record.seconds);
    }
    found
}

/// The same of the readings between the launches of a run, which lasted `seconds`.
#[must_use]
pub fn of_references(references: &SessionReferences, seconds: f64, columns: usize) -> Vec<CpuTimeline> {
    let moments = references.moments(seconds);
    moments.chunk_by(|one, next| one.cpu == next.cpu).map(|moments| timeline(moments, seconds, columns)).collect()
}

fn timeline(moments: &[ReferenceMoment], seconds: f64, columns: usize) -> CpuTimeline {
    let rows: Vec<HostRow> = moments.chunk_by(|one, next| next.began - one.began < ROW).filter_map(middle).collect();
    CpuTimeline {
        cpu: moments.first().map_or(0, |first| first.cpu),
        readings: moments.len(),
        shared: shared_time(&rows),
        clock: levels(&rows),
        stolen: None,
        cells: cells(&rows, seconds, columns),
    }
}

/// One row from its readings: the middle, which an interrupt in one of them does not change.
fn middle(moments: &[ReferenceMoment]) -> Option<HostRow> {
    let clocks: Vec<f64> = moments.iter().map(|moment| moment.clock).collect();
    let shared = moments.iter().filter(|moment| moment.shared == Some(true)).count();
    Some(HostRow {
        began: moments.first()?.began,
        seconds: moments.iter().map(|moment| moment.seconds).sum(),
        clock: stats::median(&clocks)?,
        shared: moments.first()?.shared.map(|_| 2 * shared > moments.len()),
    })
}

/// Spells of rows that agree in what `of` says, for one answer.
fn spells<T: PartialEq + Copy>(rows: &[HostRow], of: impl Fn(&HostRow) -> T, wanted: T) -> Spells {
    spells_of(&rows.iter().map(|row| (of(row) == wanted, row.seconds)).collect::<Vec<_>>())
}

/// Spells of what is so in successive periods, each with its length in seconds.
pub(crate) fn spells_of(periods: &[(bool, f64)]) -> Spells {
    let lengths: Vec<f64> = periods
        .chunk_by(|one, next| one.0 == next.0)
        .filter(|spell| spell.iter().all(|period| period.0))
        .map(|spell| spell.iter().map(|period| period.1).sum())
        .collect();
    Spells {
        count: lengths.len(),
        median: stats::median(&lengths).unwrap_or(0.0),
        longest: lengths.iter().copied().fold(0.0, f64::max),
    }
}

fn time_of<'a>(rows: impl Iterator<Item = &'a HostRow>) -> f64 {
    // Not `sum`, whose empty sum is -0.
    rows.fold(0.0, |sum, row| sum + row.seconds)
}

fn shared_time(rows: &[HostRow]) -> Option<SharedTime> {
    let known: Vec<HostRow> = rows.iter().copied().filter(|row| row.shared.is_some()).collect();
    let share = Share::of(time_of(known.iter().filter(|row| row.shared == Some(true))), time_of(known.iter()))?;
    Some(SharedTime { share, spells: spells(&known, |row| row.shared, Some(true)) })
}

/// Levels of the clock: readings between gaps that are wider than those within a level.
fn levels(rows: &[HostRow]) -> Vec<ClockLevel> {
    let mut sorted: Vec<HostRow> = rows.to_vec();
    sorted.sort_by(|one, other| one.clock.total_cmp(&other.clock));
    let whole = time_of(rows.iter());
    let mut found: Vec<ClockLevel> = sorted
        .chunk_by(|one, next| next.clock / one.clock - 1.0 < APART)
        .filter_map(|level| {
            let range = [level.first()?.clock, level.last()?.clock];
            let clocks: Vec<f64> = level.iter().map(|row| row.clock).collect();
            let inside = |row: &HostRow| (range[0]..=range[1]).contains(&row.clock);
            Some(ClockLevel {
                hertz: stats::median(&clocks)?,
                range,
                share: Share::of(time_of(level.iter()), whole)?,
                spells: spells(rows, inside, true),
            })
        })
        .filter(|level| level.share.get() >= LEAST_LEVEL)
        .collect();
    found.sort_by(|one, other| other.share.get().total_cmp(&one.share.get()));
    found
}

/// Equal parts of the time, with what lies in each.
fn cells(rows: &[HostRow], seconds: f64, columns: usize) -> Vec<HostCell> {
    let width = seconds / columns.max(1) as f64;
    let cell = |at: usize| {
        let (from, to) = (at as f64 * width, (at + 1) as f64 * width);
        let inside = |row: &HostRow| (row.began + row.seconds).min(to) - row.began.max(from);
        let (mut time, mut clock, mut known, mut shared) = (0.0, 0.0, 0.0, 0.0);
        for row in rows {
            let part = inside(row);
            if part > 0.0 {
                time += part;
                clock += part * row.clock;
                known += if row.shared.is_some() { part } else { 0.0 };
                shared += if row.shared == Some(true) { part } else { 0.0 };
            }
        }
        HostCell { clock: (time > 0.0).then(|| clock / time), shared: Share::of(shared, known), stolen: None }
    };
    (0..columns).map(cell).collect()
}

/// Adds the stolen time of this CPU.
fn add_stolen(timeline: &mut CpuTimeline, stolen: &StolenSamples, seconds: f64) {
    let rows = stolen.millis.0.iter().zip(&stolen.cpu.0).zip(&stolen.micros.0);
    let mut from = 0.0;
    let mut periods: Vec<(f64, f64, f64)> = Vec::new();
    for ((millis, _), micros) in rows.filter(|((_, cpu), _)| **cpu == timeline.cpu) {
        let to = f64::from(*millis) * 1e-3;
        periods.push((from, to, f64::from(*micros) * 1e-6));
        from = to;
    }
    let all = periods.iter().fold(0.0, |sum, (_, _, taken)| sum + taken);
    let taken: Vec<(bool, f64)> = periods.iter().map(|(from, to, taken)| (*taken > 0.0, to - from)).collect();
    timeline.stolen = Share::of(all, from).map(|share| StolenTime { share, spells: spells_of(&taken) });
    let width = seconds / timeline.cells.len().max(1) as f64;
    for (at, cell) in timeline.cells.iter_mut().enumerate() {
        let (low, high) = (at as f64 * width, (at + 1) as f64 * width);
        // Each period's time is spread evenly over it.
        let taken = periods.iter().fold(0.0, |sum, (from, to, taken)| {
            let part = to.min(high) - from.max(low);
            if part > 0.0 && to > from { sum + taken * part / (to - from) } else { sum }
        });
        cell.stolen = if periods.is_empty() { None } else { Share::of(taken, width) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::{ReferenceLengths, ReferenceSamples, SmallSteps, UnsharedCore, UnsharedSource};

    use super::*;

    /// Readings of two CPUs every 20 ms for 10 s: CPU 0 has a neighbour from 2 to 5 s and a clock that falls at 6 s,
    /// CPU 1 has neither; every fiftieth reading of CPU 0 holds an interrupt.
    fn record(ratio: Option<f64>) -> HostRecord {
        let lengths = ReferenceLengths { clock: 36_000, contention: 180_000, issue: 0 };
        let mut samples = ReferenceSamples::default();
        for at in 0..500_u32 {
            for cpu in 0..2_u32 {
                for reading in 0..3_u32 {
                    let seconds = f64::from(at) * 0.02;
                    let clock: f64 = if cpu == 0 && seconds >= 6.0 { 2.5 } else { 3.0 };
                    let shared = cpu == 0 && (2.0..5.0).contains(&seconds);
                    let nanos = 36_000.0 / clock;
                    let late = if cpu == 0 && (3 * at + reading).is_multiple_of(50) { 9_000.0 } else { 0.0 };
                    samples.millis.0.push(20 * at);
                    samples.cpu.0.push(cpu);
                    samples.clock.0.push(nanos as u32);
                    samples.contention.0.push((nanos * if shared { 1.8 } else { 1.25 } + late) as u32);
                }
            }
        }
        let core =
            UnsharedCore { cpus: vec![0, 1], ratio, source: UnsharedSource::LowerMode, ..UnsharedCore::default() };
        let references = SessionReferences { lengths, unshared: vec![core], samples, ..SessionReferences::default() };
        let stolen = StolenSamples {
            millis: SmallSteps((1..=50).map(|at| 200 * at).collect()),
            cpu: SmallSteps(vec![0; 50]),
            micros: SmallSteps((1..=50).map(|at| if (11..=15).contains(&at) { 100_000 } else { 0 }).collect()),
        };
        HostRecord { seconds: 10.0, references, stolen, ..HostRecord::default() }
    }

    #[test]
    fn a_neighbour_a_step_of_the_clock_and_stolen_time_are_found_with_their_lengths() {
        let found = timelines(&record(Some(0.25)), 10);
        let [zero, one] = &found[..] else { panic!("{found:?}") };
        let shared = zero.shared.unwrap();
        assert!((shared.share.get() - 0.3).abs() < 0.005, "{shared:?}");
        assert!(shared.spells.count == 1 && (shared.spells.longest - 3.0).abs() < 0.05, "interrupts are no neighbours");
        let [high, low] = &zero.clock[..] else { panic!("{:?}", zero.clock) };
        assert!((high.hertz - 3e9).abs() < 1e7 && (high.share.get() - 0.6).abs() < 0.01, "{high:?}");
        assert!((low.hertz - 2.5e9).abs() < 1e7 && low.spells.count == 1, "{low:?}");
        let stolen = zero.stolen.unwrap();
        assert!((stolen.share.get() - 0.05).abs() < 1e-9 && (stolen.spells.longest - 1.0).abs() < 1e-9, "{stolen:?}");
        let column = |at: usize| zero.cells[at];
        assert!(column(3).shared.unwrap().get() > 0.99 && column(7).shared.unwrap().get() < 0.01);
        assert!(column(2).stolen.unwrap().get() > 0.49 && column(9).clock.unwrap() < 2.51e9);
        assert_eq!(one.shared.unwrap().share, Share::NONE);
        assert!(one.shared.unwrap().share.get().is_sign_positive(), "never -0");
        assert_eq!((one.clock.len(), one.stolen), (1, None));
    }

    #[test]
    fn an_unknown_unshared_core_has_no_share() {
        let found = timelines(&record(None), 10);
        assert!(found.iter().all(|cpu| cpu.shared.is_none() && cpu.cells.iter().all(|cell| cell.shared.is_none())));
    }
}

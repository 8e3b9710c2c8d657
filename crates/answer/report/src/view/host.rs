//! What the host did during a run: a picture over time of the clock and of contention on each CPU.

use model::{Run, SensorMoment, Share};

use crate::words::duration;
use crate::{Block, Chart, ChartPlot, DocumentSection, Timeline, TimelineRow};

/// Columns of the picture.
const COLUMNS: usize = 120;
/// Smallest range of the clock that is drawn as one, relative: less is the error of a reading.
const FLAT: f64 = 0.005;
/// Readings of one CPU closer together than this are one row, seconds.
const ROW: f64 = 2e-3;

/// One row of readings on a CPU.
struct HostRow {
    began: f64,
    seconds: f64,
    clock: f64,
    shared: Option<bool>,
}

/// One column of the picture of a CPU: means over its time.
struct HostCell {
    /// Mean clock, hertz.
    clock: Option<f64>,
    /// Share of the time in which another thread was on the core.
    shared: Option<Share>,
}

/// The picture of the readings between the samples of a run, if it has any.
pub(super) fn strip(run: &Run) -> Option<DocumentSection> {
    let sensors = run.session.sensors.as_ref()?;
    let seconds = run.session.seconds;
    let moments = sensors.moments(seconds);
    let each = moments.chunk_by(|one, next| one.cpu == next.cpu);
    let rows: Vec<TimelineRow> = each.flat_map(|moments| rows_of(moments, seconds)).collect();
    let chart = Chart {
        title: "Clock and busy sibling hyperthreads".to_owned(),
        about: format!(
            "{} from left to right: clock of each CPU, and share of time with a busy sibling hyperthread. Only CPUs that ran samples.",
            duration(seconds)
        ),
        plot: ChartPlot::Timeline(Timeline { seconds, rows }),
    };
    (!moments.is_empty()).then(|| DocumentSection::of("Host activity", Block::Chart(chart)))
}

/// The rows of the picture for the readings of one CPU.
fn rows_of(moments: &[SensorMoment], seconds: f64) -> Vec<TimelineRow> {
    let Some(cpu) = moments.first().map(|first| first.cpu) else { return Vec::new() };
    let rows: Vec<HostRow> = moments.chunk_by(|one, next| next.began - one.began < ROW).filter_map(middle).collect();
    let cells = cells(&rows, seconds);
    let known = rows.iter().any(|row| row.shared.is_some());
    let shared = known.then(|| TimelineRow {
        label: format!("CPU {cpu} sibling"),
        range: "0 – 100%".to_owned(),
        heights: cells.iter().map(|cell| cell.shared.map(Share::get)).collect(),
        colour: 1,
    });
    [clock_row(cpu, &cells)].into_iter().chain(shared).collect()
}

/// One row from its readings: the middle, which an interrupt in one of them does not change.
fn middle(moments: &[SensorMoment]) -> Option<HostRow> {
    let clocks: Vec<f64> = moments.iter().map(|moment| moment.clock).collect();
    let shared = moments.iter().filter(|moment| moment.shared == Some(true)).count();
    Some(HostRow {
        began: moments.first()?.began,
        seconds: moments.iter().map(|moment| moment.seconds).sum(),
        clock: stats::median(&clocks)?,
        shared: moments.first()?.shared.map(|_| 2 * shared > moments.len()),
    })
}

/// Equal parts of the time, with what lies in each.
fn cells(rows: &[HostRow], seconds: f64) -> Vec<HostCell> {
    let width = seconds / COLUMNS as f64;
    let cell = |at: usize| {
        let (from, to) = (at as f64 * width, (at + 1) as f64 * width);
        let (mut time, mut clock, mut known, mut shared) = (0.0, 0.0, 0.0, 0.0);
        for row in rows {
            let part = ((row.began + row.seconds).min(to) - row.began.max(from)).max(0.0);
            time += part;
            clock += part * row.clock;
            known += if row.shared.is_some() { part } else { 0.0 };
            shared += if row.shared == Some(true) { part } else { 0.0 };
        }
        HostCell { clock: (time > 0.0).then(|| clock / time), shared: Share::of(shared, known) }
    };
    (0..COLUMNS).map(cell).collect()
}

/// The clock between its lowest and highest mean; a full row where it hardly moved.
fn clock_row(cpu: u32, cells: &[HostCell]) -> TimelineRow {
    let clocks = || cells.iter().filter_map(|cell| cell.clock);
    let (low, high) = (clocks().fold(f64::INFINITY, f64::min), clocks().fold(0.0, f64::max));
    let flat = high / low - 1.0 <= FLAT;
    // The lowest value is drawn as a thin line: an empty place would say that nothing ran.
    let height = |clock: f64| if flat { 1.0 } else { 0.1 + 0.9 * (clock - low) / (high - low) };
    let range = if flat {
        format!("{} GHz", gigahertz(high))
    } else {
        format!("{} – {} GHz", gigahertz(low), gigahertz(high))
    };
    TimelineRow {
        label: format!("CPU {cpu} clock"),
        range,
        heights: cells.iter().map(|cell| cell.clock.map(height)).collect(),
        colour: 0,
    }
}

fn gigahertz(hertz: f64) -> String {
    format!("{:.2}", hertz * 1e-9)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::{ExclusiveCore, ExclusiveSource, SensorLengths, SensorSamples, SessionSensors};

    use super::*;

    /// Ten seconds of one CPU: a neighbour from 2 to 5 s, a clock that falls at 6 s, an interrupt in one of 50 rows.
    fn rows(ratio: Option<f64>) -> Vec<TimelineRow> {
        let lengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };
        let mut samples = SensorSamples::default();
        for at in 0..1500_u32 {
            let clock = if at >= 900 { 14_400 } else { 12_000 };
            let late = if at.is_multiple_of(150) { 9_000 } else { 0 };
            samples.millis.0.push(20 * (at / 3));
            samples.cpu.0.push(3);
            samples.clock.0.push(clock);
            samples.contention.0.push(late + if (300..750).contains(&at) { clock * 9 / 5 } else { clock * 5 / 4 });
        }
        let core =
            ExclusiveCore { cpus: vec![3], ratio, source: ExclusiveSource::LowerMode, ..ExclusiveCore::default() };
        let sensors = SessionSensors { lengths, exclusive: vec![core], samples, ..SessionSensors::default() };
        rows_of(&sensors.moments(10.0), 10.0)
    }

    #[test]
    fn a_neighbour_and_a_step_of_the_clock_are_where_they_were() {
        let rows = rows(Some(0.25));
        let [clock, shared] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((clock.label.as_str(), shared.label.as_str()), ("CPU 3 clock", "CPU 3 sibling"));
        assert_eq!(clock.range, "2.50 – 3.00 GHz");
        let at = |row: &TimelineRow, second: usize| row.heights[second * COLUMNS / 10 + 6].unwrap();
        assert!(at(shared, 3) > 0.99 && at(shared, 1) < 0.01 && at(shared, 7) < 0.01, "interrupts are no neighbours");
        assert!(at(clock, 4) > 0.99 && at(clock, 8) < 0.11);
    }

    #[test]
    fn a_core_whose_state_is_unknown_has_a_clock_only() {
        assert_eq!(rows(None).len(), 1);
    }
}

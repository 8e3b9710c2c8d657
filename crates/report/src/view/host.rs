//! What the host did: contention, the clock and stolen time, as a table, sentences and a picture of time.

use analyse::host::{CpuTimeline, HostCell, of_references, timelines};
use analyse::places::{PairPlaces, places};
use model::{CorePair, CoreRelation, HostRecord, Run, UnsharedSource, percent};
use serde::Serialize;

use super::places::{distance_row, place};
use super::spells::lasting;
use crate::words::duration;
use crate::{
    Block, Cell, Chart, ChartPlot, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table,
    TableRow, Timeline, TimelineRow, Tone,
};

/// Columns of the picture.
const COLUMNS: usize = 120;
/// Smallest range of the clock that is drawn as one, relative: less is the error of a reading.
const FLAT: f64 = 0.005;

/// The data of the report.
#[derive(Serialize)]
struct HostFindings<'a> {
    cpus: &'a [CpuTimeline],
    pairs: &'a [PairPlaces],
    record: &'a HostRecord,
}

/// The report of a watch of the host; its JSON has the findings and the record.
#[must_use]
pub fn host(record: &HostRecord) -> Document {
    let found = timelines(record, COLUMNS);
    let mut document = Document::new(format!("What the host did in {}", duration(record.seconds)));
    document.notes = notes(record);
    document.sections.push(DocumentSection::of("", Block::Table(table(&found))));
    let pairs = places(record, COLUMNS);
    let mut over_time = picture(&found, record.seconds);
    if let ChartPlot::Timeline(timeline) = &mut over_time.plot {
        timeline.rows.extend(pairs.iter().map(distance_row));
    }
    document.sections.push(DocumentSection::of("Over time", Block::Chart(over_time)));
    if !pairs.is_empty() {
        let list = Block::List { numbered: false, items: pairs.iter().map(place).collect() };
        document.sections.push(DocumentSection::of("Where the host had the CPUs", list));
    }
    if !record.pairs.is_empty() {
        let items = record.pairs.iter().map(pair).collect();
        let list = Block::List { numbered: false, items };
        document.sections.push(DocumentSection::of("Threads of one core", list));
    }
    document.summary = summary(&found);
    document.data = EmbeddedJson::of(&HostFindings { cpus: &found, pairs: &pairs, record }).ok();
    document.records = Some(records(&found, record.seconds));
    document
}

/// The same picture of the readings between the launches of a run, if it has any.
pub(super) fn strip(run: &Run) -> Option<DocumentSection> {
    let references = run.session.references.as_ref().filter(|references| !references.samples.millis.is_empty())?;
    let found = of_references(references, run.session.seconds, COLUMNS);
    let chart = picture(&found, run.session.seconds);
    (!found.is_empty()).then(|| DocumentSection::of("The host meanwhile", Block::Chart(chart)))
}

fn notes(record: &HostRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if record.references.unshared.iter().any(|core| core.ratio.is_none()) {
        notes.push(
            "unshared core never seen: the readings have one mode, which is a core without neighbours or one that \
             always has one; a longer watch, or a stored run of this machine, may tell"
                .to_owned(),
        );
    }
    let known = record.references.unshared.iter().filter(|core| core.ratio.is_some());
    if let Some(core) = known.into_iter().find(|core| core.source != UnsharedSource::LowerMode) {
        let source = match core.source {
            UnsharedSource::EarlierRuns => "earlier runs of this machine",
            UnsharedSource::Table => "the program's table",
            UnsharedSource::IssueWidth => {
                "readings at which one thread passed as many instructions per cycle as the core can issue"
            }
            _ => "the machine, whose cores have no other thread",
        };
        notes.push(format!("what an unshared core is comes from {source}"));
    }
    if let Some(load) = record.own_load.filter(|load| load.get() > 0.05) {
        notes.push(format!(
            "this system's own processes used {} of its CPU time meanwhile: where its CPUs are threads of one core, they \
             are neighbours too",
            percent(load.get())
        ));
    }
    notes
}

fn table(found: &[CpuTimeline]) -> Table {
    let columns = [
        ("", ColumnKind::Label),
        ("core shared", ColumnKind::Words),
        ("clock", ColumnKind::Words),
        ("stolen", ColumnKind::Words),
    ];
    let columns = columns.into_iter().map(|(title, kind)| Column::new(title, kind)).collect();
    let row = |cpu: &CpuTimeline| {
        let shared = cpu.shared.map_or_else(
            || ("unknown".to_owned(), Tone::Muted),
            |shared| match shared.spells.count {
                0 => ("never".to_owned(), Tone::Good),
                _ => {
                    (format!("{} of the time, {}", percent(shared.share.get()), lasting(&shared.spells)), Tone::Caution)
                }
            },
        );
        let stolen = cpu.stolen.map_or_else(
            || ("unknown".to_owned(), Tone::Muted),
            |stolen| match stolen.spells.count {
                0 => ("nothing".to_owned(), Tone::Good),
                _ => (format!("{}, {}", percent(stolen.share.get()), lasting(&stolen.spells)), Tone::Caution),
            },
        );
        TableRow {
            cells: vec![
                Cell::text(format!("CPU {}", cpu.cpu)),
                Cell::Text(shared.0, shared.1),
                Cell::text(clock(cpu)),
                Cell::Text(stolen.0, stolen.1),
            ],
        }
    };
    Table::plain(columns, found.iter().map(row).collect())
}

/// `3.00 GHz 60% (in 2 spells, median 1.2 s, longest 3 s), 2.50 GHz 40%`
fn clock(cpu: &CpuTimeline) -> String {
    let level = |level: &analyse::host::ClockLevel| {
        let [low, high] = level.range;
        let wide = high / low - 1.0 > FLAT;
        let value = if wide { format!("{} – {}", gigahertz(low), gigahertz(high)) } else { gigahertz(level.hertz) };
        let time = if cpu.clock.len() > 1 {
            format!(" {} of the time, {}", percent(level.share.get()), lasting(&level.spells))
        } else {
            String::new()
        };
        format!("{value} GHz{time}")
    };
    if cpu.clock.is_empty() { "unknown".to_owned() } else { cpu.clock.iter().map(level).collect::<Vec<_>>().join("; ") }
}

fn gigahertz(hertz: f64) -> String {
    format!("{:.2}", hertz * 1e-9)
}

fn picture(found: &[CpuTimeline], seconds: f64) -> Chart {
    let mut rows = Vec::new();
    for cpu in found {
        let row = |what: &str, range: String, colour: usize, heights: Vec<Option<f64>>| TimelineRow {
            label: format!("CPU {} {what}", cpu.cpu),
            range,
            heights,
            colour,
        };
        let shares = |of: fn(&HostCell) -> Option<model::Share>| -> Vec<Option<f64>> {
            cpu.cells.iter().map(|cell| of(cell).map(model::Share::get)).collect()
        };
        rows.push(clock_row(cpu));
        if cpu.shared.is_some() {
            rows.push(row("shared", "0 – 100%".to_owned(), 1, shares(|cell| cell.shared)));
        }
        if cpu.stolen.is_some() {
            rows.push(row("stolen", "0 – 100%".to_owned(), 4, shares(|cell| cell.stolen)));
        }
    }
    Chart {
        title: "The host over time".to_owned(),
        about: format!(
            "From left to right {}: the clock of each CPU, the share of time in which another thread was on its core, and \
             the share that the hypervisor took.",
            duration(seconds)
        ),
        plot: ChartPlot::Timeline(Timeline { seconds, rows }),
    }
}

/// The clock between its lowest and highest mean; a full row where it hardly moved.
fn clock_row(cpu: &CpuTimeline) -> TimelineRow {
    let clocks = || cpu.cells.iter().filter_map(|cell| cell.clock);
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
        label: format!("CPU {} clock", cpu.cpu),
        range,
        heights: cpu.cells.iter().map(|cell| cell.clock.map(height)).collect(),
        colour: 0,
    }
}

fn pair(pair: &CorePair) -> String {
    let [own, other] = pair.cpus;
    let verdict = match pair.relation {
        CoreRelation::OneCore => format!("CPU {own} and CPU {other} are threads of one core"),
        CoreRelation::SeparateCores => format!("CPU {own} and CPU {other} are separate cores"),
        CoreRelation::Undecided => format!("whether CPU {own} and CPU {other} are threads of one core is not decided"),
    };
    let [idle, busy] = pair.turns;
    let why = match (pair.alone, pair.factor) {
        // The factor is then as much the neighbours' as the other CPU's.
        (Some([beside_idle, beside_busy]), _) => format!(
            ": CPU {own} had a core to itself in {beside_busy} of {busy} turns beside a busy CPU {other}, and in \
             {beside_idle} of {idle} beside an idle one, between neighbours that came and went"
        ),
        (None, Some([factor, low, high])) => format!(
            ": a busy CPU {other} slows CPU {own} down by {factor:.3}x ({low:.3} – {high:.3}, 99.9%), {} turns",
            idle + busy
        ),
        (None, None) => ", because the other CPU was never free".to_owned(),
    };
    let told = match (pair.told, pair.relation) {
        (Some(true), CoreRelation::SeparateCores) => "; the system is told that they are threads of one core",
        (Some(false), CoreRelation::OneCore) => "; the system is told that they are separate cores",
        _ => "",
    };
    format!("{verdict}{why}{told}")
}

fn summary(found: &[CpuTimeline]) -> Vec<String> {
    let known: Vec<f64> = found.iter().filter_map(|cpu| Some(cpu.shared?.share.get())).collect();
    let shared = match &known[..] {
        [] => "Whether cores were shared is unknown.".to_owned(),
        shares => {
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            format!("Cores were shared {} of the time.", percent(mean))
        }
    };
    vec![shared]
}

/// One row for each CPU and column of the picture.
fn records(found: &[CpuTimeline], seconds: f64) -> Records {
    let text = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = found.iter().flat_map(|cpu| {
        let width = seconds / cpu.cells.len().max(1) as f64;
        cpu.cells.iter().enumerate().map(move |(at, cell)| {
            vec![
                cpu.cpu.to_string(),
                (at as f64 * width).to_string(),
                width.to_string(),
                text(cell.clock),
                text(cell.shared.map(model::Share::get)),
                text(cell.stolen.map(model::Share::get)),
            ]
        })
    });
    Records { header: vec!["cpu", "began_seconds", "seconds", "clock_hertz", "shared", "stolen"], rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::{ReferenceLengths, ReferenceSamples, SessionReferences, UnsharedCore};

    use super::*;

    /// Ten seconds of one CPU: a neighbour from 2 to 5 s, a clock that falls at 6 s.
    fn record(ratio: Option<f64>) -> HostRecord {
        let lengths = ReferenceLengths { clock: 36_000, contention: 180_000, issue: 0 };
        let mut samples = ReferenceSamples::default();
        for at in 0..500_u32 {
            let clock = if at >= 300 { 14_400 } else { 12_000 };
            samples.millis.0.push(20 * at);
            samples.cpu.0.push(3);
            samples.clock.0.push(clock);
            samples.contention.0.push(if (100..250).contains(&at) { clock * 9 / 5 } else { clock * 5 / 4 });
        }
        let core = UnsharedCore { cpus: vec![3], ratio, source: UnsharedSource::LowerMode, ..UnsharedCore::default() };
        let pair = CorePair {
            cpus: [3, 7],
            relation: CoreRelation::OneCore,
            told: Some(false),
            turns: [20, 20],
            factor: Some([1.8, 1.7, 1.9]),
            alone: None,
        };
        HostRecord {
            seconds: 10.0,
            references: SessionReferences { lengths, unshared: vec![core], samples, ..SessionReferences::default() },
            pairs: vec![pair],
            ..HostRecord::default()
        }
    }

    fn rendered(format: &str, record: &HostRecord) -> String {
        let mut out = Vec::new();
        crate::by_name(format, 100, false).unwrap().render(&host(record), &mut out).unwrap();
        String::from_utf8(out).unwrap().replace('\u{a0}', " ")
    }

    #[test]
    fn what_neighbours_did_is_not_said_of_the_other_cpu() {
        let mut record = record(Some(0.25));
        let told = |record: &HostRecord| rendered("markdown", record).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told(&record).contains("a busy CPU 7 slows CPU 3 down by 1.800x"), "{}", told(&record));
        record.pairs[0].relation = CoreRelation::SeparateCores;
        record.pairs[0].factor = Some([1.35, 1.002, 1.8]);
        record.pairs[0].alone = Some([12, 9]);
        let text = told(&record);
        assert!(text.contains("to itself in 9 of 20 turns beside a busy CPU 7"), "{text}");
        assert!(!text.contains("slows"), "{text}");
    }

    #[test]
    fn every_format_has_the_share_the_clock_and_the_pairs() {
        let record = record(Some(0.25));
        for format in ["terminal", "markdown", "html"] {
            let text = rendered(format, &record).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("30% of the time, once for 3.0 s"), "{format}: {text}");
            // The terminal wraps cells beside each other.
            assert!(text.contains("3.00 GHz 60%") && (format == "terminal" || text.contains("2.50 GHz 40%")), "{text}");
            assert!(text.contains("CPU 3 and CPU 7 are threads of one core"), "{format}: {text}");
            assert!(text.contains("told that they are separate cores"), "{format}: {text}");
        }
        let terminal = rendered("terminal", &record);
        let shared = terminal.lines().find(|line| line.contains("CPU 3 shared")).unwrap();
        assert!(shared.contains("██████") && shared.contains("      "), "{shared}");
        assert!(terminal.lines().all(|line| line.chars().count() <= 100), "{terminal}");
        assert!(rendered("html", &record).contains("<svg"));
        let json: serde_json::Value = serde_json::from_str(&rendered("json", &record)).unwrap();
        assert!((json["cpus"][0]["shared"]["share"].as_f64().unwrap() - 0.3).abs() < 0.01);
        assert_eq!(json["record"]["pairs"][0]["relation"], "one_core");
        assert_eq!(rendered("csv", &record).lines().count(), 1 + COLUMNS);
    }

    #[test]
    fn cpus_that_the_host_moved_are_told_with_how_long() {
        let mut record = record(Some(0.25));
        for at in 0..50_u32 {
            record.distances.millis.0.push(200 * at);
            record.distances.cpu.0.push(7);
            record.distances.picos.0.push(if (20..35).contains(&at) { 180_000 } else { 40_300 });
        }
        let told = |record: &HostRecord| rendered("terminal", record).split_whitespace().collect::<Vec<_>>().join(" ");
        let text = told(&record);
        assert!(text.contains("40.3 ns for 70% of the readings, in 2 spells"), "{text}");
        assert!(text.contains("180 ns for 30% of the readings, once for 3.0 s"), "{text}");
        assert!(text.contains("the host moved them") && text.contains("CPUs 3, 7 apart"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&rendered("json", &record)).unwrap();
        assert_eq!(json["pairs"][0]["places"].as_array().unwrap().len(), 2);
        record.distances.picos.0.iter_mut().for_each(|picos| *picos = 40_300);
        let text = told(&record);
        assert!(text.contains("from one to the other took 40.3 ns") && !text.contains("moved them"), "{text}");
    }

    #[test]
    fn a_core_whose_state_is_unknown_has_no_share() {
        let text = rendered("terminal", &record(None));
        assert!(text.contains("unshared core never seen") && text.contains("is unknown"), "{text}");
        assert!(!text.contains("CPU 3 shared"), "{text}");
    }
}

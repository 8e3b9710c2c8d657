//! The history of a machine: what changed since when, and every metric as a small picture.

use history::{Event, History, Member, MetricHistory, MetricPoint, Shape};
use model::{Better, Unit};

use crate::words::{factor, label, plural};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, Document, EmbeddedJson, Mark, PrintedQuantity,
    Records, Series, TableRow, Tone,
};

/// What is shown of a history.
#[derive(Debug, Clone, Default)]
pub struct HistoryContext {
    /// Whether a metric is shown; all are searched.
    pub shown: Vec<bool>,
    /// First day that is shown, as `2026-11-03`; empty for all.
    pub since: String,
    /// Whether every metric gets a chart.
    pub charts: bool,
}

/// Metrics that the sentence of an event names.
const NAMED: usize = 3;

/// Ledger entries that it names.
const ENTRIES: usize = 4;

/// Parts into which a long history is divided for drawing: of each the least and the greatest value are drawn, so that
/// no spike is lost. The data hold all values.
const PARTS: usize = 150;

/// Runs in a sparkline.
const SPARKS: usize = 24;

/// The report of `prony history`; its JSON is the [`History`].
#[must_use]
pub fn history(history: &History, context: &HistoryContext) -> Document {
    let from = history.runs.partition_point(|run| run.started.get(..10).unwrap_or_default() < context.since.as_str());
    let shown = |metric: usize| context.shown.get(metric).copied().unwrap_or(true);
    let span = match (history.runs.get(from), history.runs.last()) {
        (Some(first), Some(last)) => format!("{} to {}", day(&first.started), day(&last.started)),
        _ => "no runs".to_owned(),
    };
    let mut document =
        Document::new(format!("{}: {}, {span}", history.machine, plural(history.runs.len() - from, "run")));
    let events: Vec<&Event> = history
        .events
        .iter()
        .filter(|event| event.run.max(event.end.unwrap_or(0)) >= from)
        .filter(|event| event.members.is_empty() || event.members.iter().any(|member| shown(member.metric)))
        .collect();
    let mut said: Vec<String> = events.iter().map(|event| sentence(history, event)).collect();
    said.extend(history.replaced.iter().filter(|at| **at >= from).map(|at| {
        format!(
            "Another machine of this name since {}: earlier values are not compared with later ones.",
            when(history, *at)
        )
    }));
    if said.is_empty() {
        said.push(nothing(history));
    }
    document.add("changes", Block::list(said));
    let metrics: Vec<(usize, &MetricHistory)> =
        history.metrics.iter().enumerate().filter(|(at, _)| shown(*at)).collect();
    let rows = metrics.iter().map(|(at, metric)| row(history, *at, metric, from)).collect();
    document.add("metrics", Block::table(Column::list("|history|#last value|changes|"), rows));
    if context.charts {
        let charts = metrics.iter().map(|(at, metric)| chart(history, *at, metric, from)).collect();
        document.add("", Block::Multiples(charts));
    }
    let ledger: Vec<(String, String)> = history
        .ledger
        .iter()
        .filter(|entry| entry.run >= from)
        .map(|entry| (when(history, entry.run), entry.words()))
        .collect();
    if !ledger.is_empty() {
        document.add("", Block::folded("what else changed", vec![Block::Facts(ledger)]));
    }
    document.data = EmbeddedJson::of(history).ok();
    document.records = Some(records(history, &metrics));
    document
}

/// Why nothing is said.
fn nothing(history: &History) -> String {
    const FEWEST: usize = 11;
    let longest = history.metrics.iter().map(|metric| metric.points.len()).max().unwrap_or(0);
    if longest < FEWEST {
        format!("No verdict: a change needs {FEWEST} runs of a metric, and there are {longest} at most.")
    } else {
        "No change was found.".to_owned()
    }
}

fn day(started: &str) -> &str {
    started.get(..10).unwrap_or(started)
}

/// `2026-11-03 (run 41)`.
fn when(history: &History, run: usize) -> String {
    history
        .runs
        .get(run)
        .map_or_else(|| "the end".to_owned(), |run| format!("{} (run {})", day(&run.started), run.handle))
}

/// `os.fork_exit 1.31x slower (1.28 – 1.34) since 2026-11-03 (run 41), at the same time: kernel.release 6.1.112 -> 6.1.119.`
fn sentence(history: &History, event: &Event) -> String {
    let what = what(history, event);
    let begin = when(history, event.run);
    let time = match (event.shape, event.end) {
        (Shape::Temporary, Some(end)) => format!("from {begin} to {}, went away again", when(history, end)),
        (Shape::Drift, Some(end)) => format!("little by little from {begin} to {}", when(history, end)),
        (Shape::Drift, None) => format!("little by little since {begin}"),
        _ => format!("since {begin}"),
    };
    let mut with: Vec<String> = event.with.iter().take(ENTRIES).map(|at| history.ledger[*at].words()).collect();
    if event.with.len() > ENTRIES {
        with.push(format!("and {} more", event.with.len() - ENTRIES));
    }
    let with = match (with.is_empty(), event.shape) {
        (true, Shape::Drift) => String::new(),
        (true, _) => "; nothing that was recorded changed with it".to_owned(),
        (false, _) => format!(", at the same time: {}", with.join("; ")),
    };
    format!("{what} {time}{with}.")
}

fn what(history: &History, event: &Event) -> String {
    let named = |member: &Member| format!("{} {}", name(&history.metrics[member.metric]), times(member));
    let count = event.members.len();
    match (&event.family, count) {
        (Some(family), 0) => format!("{family} changed together, each by too little to name,"),
        (_, 1) => named(&event.members[0]),
        _ => {
            let mut list: Vec<String> = event.members.iter().take(NAMED).map(named).collect();
            if count > NAMED {
                list.push(format!("and {} more", count - NAMED));
            }
            format!("{count} results changed together ({})", list.join("; "))
        }
    }
}

fn name(metric: &MetricHistory) -> String {
    label(&metric.title, &metric.metric, &metric.key.parameters)
}

/// `1.31x slower (1.28 – 1.34)`.
fn times(member: &Member) -> String {
    let gain = PrintedQuantity::ratio(1.0 / member.slower, 1.0 / member.high, 1.0 / member.low);
    factor(gain, Unit::Seconds).text_with_interval()
}

fn row(history: &History, at: usize, metric: &MetricHistory, from: usize) -> TableRow {
    let points: Vec<&MetricPoint> = metric.points.iter().filter(|point| point.run >= from).collect();
    let last = points.last().map_or(Cell::Empty, |point| Cell::Value(quantity(metric, point)));
    let changes = history.events.iter().filter(|event| event.run >= from);
    let own: Vec<(&Event, &Member)> =
        changes.filter_map(|event| Some((event, event.members.iter().find(|member| member.metric == at)?))).collect();
    let (words, tone) = match own.first() {
        Some((event, member)) => {
            let more = if own.len() > 1 { format!(", {} earlier", own.len() - 1) } else { String::new() };
            let tone = if member.slower > 1.0 && event.shape != Shape::Temporary { Tone::Bad } else { Tone::Plain };
            (format!("{} since {}{more}", times(member), day(&history.runs[event.run].started)), tone)
        }
        None => ("no change".to_owned(), Tone::Muted),
    };
    let spikes = metric.spikes.iter().filter(|run| **run >= from).count();
    let remark = if spikes > 0 { plural(spikes, "single spike") } else { String::new() };
    TableRow::of(vec![
        Cell::text(name(metric)),
        Cell::text(spark(&points)),
        last,
        Cell::Text(words, tone),
        Cell::Text(remark, Tone::Muted),
    ])
}

fn quantity(metric: &MetricHistory, point: &MetricPoint) -> PrintedQuantity {
    PrintedQuantity::interval(point.value, point.low, point.high, metric.metric.unit)
}

/// The values in block characters, from the least to the greatest.
fn spark(points: &[&MetricPoint]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = SPARKS.min(points.len());
    let medians: Vec<f64> = (0..columns)
        .filter_map(|at| {
            let part = &points[at * points.len() / columns..(at + 1) * points.len() / columns];
            stats::median(&part.iter().map(|point| point.value.ln()).collect::<Vec<_>>())
        })
        .collect();
    let (low, high) = medians.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let height = |value: &f64| (7.0 * (value - low) / (high - low).max(0.02)).round().clamp(0.0, 7.0) as usize;
    medians.iter().map(|value| BLOCKS[height(value)]).collect()
}

/// The values that are drawn, from the earliest.
fn thinned<'a>(points: &'a [&'a MetricPoint]) -> impl Iterator<Item = &'a MetricPoint> {
    let parts = if points.len() <= 2 * PARTS { points.len() } else { PARTS };
    (0..parts).flat_map(move |part| {
        let part = &points[part * points.len() / parts..(part + 1) * points.len() / parts];
        let by_value = |a: &&&MetricPoint, b: &&&MetricPoint| a.value.total_cmp(&b.value);
        let mut ends: Vec<&MetricPoint> =
            [part.iter().min_by(by_value), part.iter().max_by(by_value)].into_iter().flatten().copied().collect();
        ends.sort_by_key(|point| point.run);
        ends.dedup_by_key(|point| point.run);
        ends
    })
}

fn chart(history: &History, at: usize, metric: &MetricHistory, from: usize) -> Chart {
    let points: Vec<&MetricPoint> = metric.points.iter().filter(|point| point.run >= from).collect();
    let points = thinned(&points).map(|point| ((point.run - from) as f64, quantity(metric, point))).collect();
    let own = history
        .events
        .iter()
        .filter(|event| event.run >= from && event.members.iter().any(|member| member.metric == at));
    let mark =
        |event: &Event| Mark { x: (event.run - from) as f64, text: day(&history.runs[event.run].started).to_owned() };
    let better = if metric.metric.better == Better::Lower { "lower" } else { "higher" };
    Chart {
        title: name(metric),
        about: format!("Each dot is a run with its interval; {better} is better. Lines mark changes."),
        plot: ChartPlot::Curves(Curves {
            x: ChartAxis::new(
                format!("runs since {}", history.runs.get(from).map_or("", |run| day(&run.started))),
                Unit::Count,
                Division::Linear,
            ),
            y: ChartAxis::new("", metric.metric.unit, Division::Decades),
            series: vec![Series { name: name(metric), colour: 0, variant: 0, points }],
            marks: own.map(mark).collect(),
        }),
    }
}

/// One row for each value.
fn records(history: &History, metrics: &[(usize, &MetricHistory)]) -> Records {
    let mut rows = Vec::new();
    for (at, metric) in metrics {
        for point in &metric.points {
            let run = &history.runs[point.run];
            let change = history.events.iter().filter(|event| event.run == point.run).find_map(|event| {
                event.members.iter().find(|member| member.metric == *at).map(|member| member.slower.to_string())
            });
            let mut row = vec![metric.key.to_string(), run.handle.clone(), run.started.clone()];
            row.extend([point.value, point.low, point.high].map(|number| number.to_string()));
            row.push(change.unwrap_or_default());
            rows.push(row);
        }
    }
    Records { header: vec!["result", "run", "started", "value", "low", "high", "slower"], rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_for_drawing_and_keeps_its_spikes() {
        let value = |run: usize| match run {
            7777 => 9.0,
            1234 => 0.1,
            _ => 1.0 + (run % 10) as f64 * 0.01,
        };
        let all: Vec<MetricPoint> =
            (0..10_000).map(|run| MetricPoint { run, value: value(run), low: 0.9, high: 1.1 }).collect();
        let all: Vec<&MetricPoint> = all.iter().collect();
        let drawn: Vec<usize> = thinned(&all).map(|point| point.run).collect();
        assert!(drawn.len() <= 2 * PARTS && drawn.is_sorted());
        assert!(drawn.contains(&1234) && drawn.contains(&7777));
        assert_eq!(thinned(&all[..300]).count(), 300, "a short one is drawn as it is");
    }
}

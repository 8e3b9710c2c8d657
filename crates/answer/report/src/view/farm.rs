//! A farm's run beside its results: the nodes, events over time, and what happened.

use model::{FarmIncident, FarmNode, FarmRecord, FarmWindow, Unit};

use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, DocumentSection, Mark, PrintedQuantity, Series,
    TableRow, Timeline, TimelineRow,
};

/// Most nodes with a curve each, and most marks.
const CURVES: usize = 8;
/// Most nodes in the timeline.
const DRAWN: usize = 40;
/// Most incidents in the list.
const LISTED: usize = 200;
/// Incidents that the chart marks.
const MARKED: [&str; 2] = ["resumed", "ended"];

/// What the efficiencies of a table are that stands below results of the same name.
const EFFICIENCIES: &str = "CPU efficiency here is the CPU time of a node's chunks over their wall time. The results \
                            above are medians over its groups of chunks.";

/// The nodes, the timeline and the event log.
#[must_use]
pub fn farm(record: &FarmRecord) -> Vec<DocumentSection> {
    let nodes = DocumentSection { title: "Nodes".to_owned(), blocks: nodes(&record.nodes) };
    std::iter::once(nodes).chain(timeline(record)).chain(incidents(&record.incidents)).collect()
}

fn nodes(nodes: &[FarmNode]) -> Vec<Block> {
    let columns = Column::list("|#chunks|#events|#CPU efficiency|#duplicates|#failed|#mismatches|~input");
    let share = |ratio: f64| Cell::Value(PrintedQuantity { share: true, ..PrintedQuantity::bare(ratio, Unit::Ratio) });
    let row = |node: &FarmNode| {
        TableRow::of(vec![
            Cell::text(node.node.clone()),
            Cell::Count(node.chunks),
            Cell::Count(node.events),
            node.efficiency.map_or(Cell::Empty, share),
            Cell::Count(node.refused),
            Cell::Count(node.failed),
            Cell::Count(node.differing),
            Cell::text(node.input.join("; ")),
        ])
    };
    let table = Block::table(columns, nodes.iter().map(row).collect());
    let known = nodes.iter().any(|node| node.efficiency.is_some());
    std::iter::once(table).chain(known.then(|| Block::Text(EFFICIENCIES.to_owned()))).collect()
}

fn timeline(record: &FarmRecord) -> Option<DocumentSection> {
    let FarmRecord { nodes, windows, incidents } = record;
    let curve = |(colour, node): (usize, Option<usize>)| {
        let points = windows.iter().map(|window| {
            let events: u64 = node.map_or_else(
                || window.events.iter().sum(),
                |node| window.events.get(node).copied().unwrap_or_default(),
            );
            (window.began + window.wall / 2.0, PrintedQuantity::bare(events as f64 / window.wall, Unit::PerSecond))
        });
        let name = node.map_or_else(|| "all nodes".to_owned(), |node| nodes[node].node.clone());
        Series { name, colour, variant: 0, points: points.collect() }
    };
    let [_, .., last] = windows.as_slice() else { return None };
    let each = (0..nodes.len().min(CURVES)).map(Some);
    let series = std::iter::once(None).chain(each.filter(|_| nodes.len() > 1)).enumerate().map(curve).collect();
    let mark = |one: &FarmIncident| {
        let text = if one.node.is_empty() { one.what.clone() } else { format!("{} {}", one.node, one.what) };
        Mark { x: one.since, text }
    };
    let end = last.began + last.wall;
    let within = |one: &&FarmIncident| MARKED.contains(&one.what.as_str()) && one.since < end;
    let marks = incidents.iter().filter(within).take(CURVES).map(mark).collect();
    let parameter = |title: &str, unit| ChartAxis { title: title.to_owned(), unit, division: Division::Linear };
    let chart = Chart {
        title: "throughput over time".to_owned(),
        about: "Each chunk counts when it is committed.".to_owned(),
        plot: ChartPlot::Curves(Curves {
            x: parameter("since the start", Unit::Seconds),
            y: parameter("events", Unit::PerSecond),
            series,
            marks,
        }),
    };
    Some(DocumentSection {
        title: "Throughput".to_owned(),
        blocks: vec![Block::Chart(chart), Block::Chart(work(record, end))],
    })
}

/// What each node did over the same time, relative to the busiest moment of any.
fn work(record: &FarmRecord, end: f64) -> Chart {
    let rate =
        |window: &FarmWindow, node: usize| window.events.get(node).copied().unwrap_or_default() as f64 / window.wall;
    let all = || record.windows.iter().flat_map(|window| (0..record.nodes.len()).map(|node| rate(window, node)));
    let most = all().fold(f64::MIN_POSITIVE, f64::max);
    let row = |(node, of): (usize, &FarmNode)| {
        let rates: Vec<f64> = record.windows.iter().map(|window| rate(window, node)).collect();
        let best = rates.iter().copied().fold(0.0, f64::max);
        TimelineRow {
            label: of.node.clone(),
            range: format!("up to {}", PrintedQuantity::bare(best, Unit::PerSecond).short()),
            heights: rates.iter().map(|rate| Some(rate / most)).collect(),
            colour: node + 1,
        }
    };
    let rows = record.nodes.iter().enumerate().take(DRAWN).map(row).collect();
    Chart {
        title: "work of each node".to_owned(),
        about: "Events a second over the same time, all nodes on one scale.".to_owned(),
        plot: ChartPlot::Timeline(Timeline { seconds: end, rows }),
    }
}

fn incidents(all: &[FarmIncident]) -> Option<DocumentSection> {
    let line = |one: &FarmIncident| {
        let chunk = one.chunk.map_or_else(String::new, |chunk| format!(", chunk {chunk}"));
        let node = if one.node.is_empty() { String::new() } else { format!(" {}", one.node) };
        format!("{:.2} s: {}{node}{chunk}: {}", one.since, one.what, one.detail)
    };
    let mut items: Vec<String> = all.iter().take(LISTED).map(line).collect();
    if all.len() > LISTED {
        items.push(format!("and {} more; prony farm status --format json has them all", all.len() - LISTED));
    }
    let blocks = vec![Block::list(items)];
    (!all.is_empty()).then(|| DocumentSection { title: "Event log".to_owned(), blocks })
}

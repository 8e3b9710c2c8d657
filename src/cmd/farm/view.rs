//! The report of a farm.

use ::farm::Story;
use model::{Run, Unit};
use report::view::RunContext;
use report::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, ColumnKind, Curves, Division, Document, DocumentSection,
    EmbeddedJson, Mark, PrintedQuantity, Series, Table, TableRow,
};
use serde_json::json;

/// Most nodes with a curve each.
const CURVES: usize = 8;
/// Most incidents in the list.
const LISTED: usize = 200;

/// What the run was compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FarmChecked<'a> {
    /// The expected digest.
    pub(super) expected: Option<u64>,
    /// What is wrong with the products, where they were looked at.
    pub(super) products: &'a [String],
}

/// The invariants, the figures, the nodes, the timeline and the story.
pub(super) fn document(story: &Story, run: &Run, handle: Option<String>, checked: &FarmChecked<'_>) -> Document {
    let stored = handle.is_some();
    let mut document = report::view::run(run, &RunContext { handle, stored, ..RunContext::default() });
    document.title = format!("Farm {}: {} of {} events", story.farm.id, story.farm.job.name, story.farm.job.events);
    let invariants =
        DocumentSection::of("what must hold", Block::List { numbered: false, items: invariants(story, checked) });
    document.sections.insert(0, invariants);
    document.sections.push(DocumentSection { title: "nodes".to_owned(), blocks: nodes(story) });
    document.sections.extend(timeline(story));
    document.sections.extend(incidents(story));
    let totals = &story.invariants.totals;
    let data = json!({
        "farm": story.farm.id,
        "job": story.farm.job,
        "planned": story.invariants.planned,
        "totals": totals,
        "digest": format!("{:016x}", totals.digest),
        "broken": story.invariants.broken(),
        "seconds": story.seconds,
        "utilisation": story.utilisation(),
        "nodes": story.nodes.iter().map(|node| json!({ "node": node.node, "totals": node.totals })).collect::<Vec<_>>(),
        "windows": story.windows,
        "incidents": story.incidents,
        "suspects": story.suspects,
        "products": checked.products,
        "inputs": story.inputs("all"),
        "run": run,
    });
    document.data = EmbeddedJson::of(&data).ok();
    document
}

fn invariants(story: &Story, checked: &FarmChecked<'_>) -> Vec<String> {
    let (planned, events) = (story.invariants.planned, story.invariants.events);
    let totals = &story.invariants.totals;
    let mark = |holds: bool| if holds { "holds" } else { "DOES NOT HOLD" };
    let mut lines = vec![
        format!("chunks committed {} = planned {planned}: {}", totals.commits, mark(totals.commits == planned)),
        format!("all distinct, {} of {}: {}", totals.distinct, totals.commits, mark(totals.distinct == totals.commits)),
        format!("sum of events {} = planned {events}: {}", totals.events, mark(totals.events == events)),
        match checked.expected {
            Some(expected) => {
                format!("digest {:016x} = expected {expected:016x}: {}", totals.digest, mark(totals.digest == expected))
            }
            None => format!("digest {:016x}; --expect-digest compares it", totals.digest),
        },
    ];
    lines.push(format!(
        "{} duplicates refused, {:.2} s of CPU time wasted, {} of them with another result",
        totals.refused - totals.confirmed,
        totals.wasted,
        totals.differing
    ));
    if totals.confirmed > 0 {
        lines.push(format!("{} chunks done a second time on purpose, with the same result", totals.confirmed));
    }
    if let Some(folder) = &story.farm.job.products {
        let faults = checked.products.len();
        let verdict = if faults == 0 { String::new() } else { format!(": {faults} FAULTS, see prony farm verify") };
        lines.push(format!("products in {}{verdict}", folder.display()));
    }
    lines
}

/// What the efficiencies of a table are that stands below figures of the same name.
const EFFICIENCIES: &str = "Efficiency is here the CPU time of all chunks of a node over their time; the figures above \
                            are medians over its groups of chunks.";

fn nodes(story: &Story) -> Vec<Block> {
    let columns = vec![
        Column::new("", ColumnKind::Label),
        Column::new("chunks", ColumnKind::Number),
        Column::new("events", ColumnKind::Number),
        Column::new("efficiency", ColumnKind::Number),
        Column::new("refused", ColumnKind::Number),
        Column::new("failed", ColumnKind::Number),
        Column::new("differing", ColumnKind::Number),
        Column::new("input", ColumnKind::Remark),
    ];
    let row = |node: &::farm::NodeTotals| {
        let totals = &node.totals;
        let efficiency = if totals.wall > 0.0 {
            let efficiency = PrintedQuantity::bare(totals.cpu / totals.wall, Unit::Ratio);
            Cell::Value(PrintedQuantity { share: true, ..efficiency })
        } else {
            Cell::Empty
        };
        let cells = vec![
            Cell::text(node.node.clone()),
            Cell::Count(totals.commits),
            Cell::Count(totals.events),
            efficiency,
            Cell::Count(totals.refused),
            Cell::Count(totals.failed),
            Cell::Count(totals.differing),
            Cell::text(story.inputs(&node.node).join("; ")),
        ];
        TableRow { cells }
    };
    let table = Block::Table(Table::plain(columns, story.nodes.iter().map(row).collect()));
    let known = story.nodes.iter().any(|node| node.totals.wall > 0.0);
    std::iter::once(table).chain(known.then(|| Block::Text(EFFICIENCIES.to_owned()))).collect()
}

fn timeline(story: &Story) -> Option<DocumentSection> {
    let curve = |(colour, node): (usize, Option<usize>)| {
        let points = story.windows.iter().map(|window| {
            let events: u64 = node.map_or_else(|| window.events.iter().sum(), |node| window.events[node]);
            (window.began + window.wall / 2.0, PrintedQuantity::bare(events as f64 / window.wall, Unit::PerSecond))
        });
        let name = node.map_or_else(|| "all nodes".to_owned(), |node| story.nodes[node].node.clone());
        Series { name, colour, variant: 0, points: points.collect() }
    };
    if story.windows.len() < 2 {
        return None;
    }
    let each = (0..story.nodes.len().min(CURVES)).map(Some);
    let series = std::iter::once(None).chain(each.filter(|_| story.nodes.len() > 1)).enumerate().map(curve).collect();
    let told = ["resumed", "ended"];
    let mark = |one: &::farm::Incident| {
        let text = if one.node.is_empty() { one.what.clone() } else { format!("{} {}", one.node, one.what) };
        Mark { x: one.since, text }
    };
    let within = |one: &&::farm::Incident| told.contains(&one.what.as_str()) && one.since < story.seconds;
    let marks = story.incidents.iter().filter(within).take(CURVES).map(mark).collect();
    let axis = |title: &str, unit| ChartAxis { title: title.to_owned(), unit, division: Division::Linear };
    let chart = Chart {
        title: "events a second over time".to_owned(),
        about: "Events of chunks in the window in which they were counted.".to_owned(),
        plot: ChartPlot::Curves(Curves {
            x: axis("since the begin", Unit::Seconds),
            y: axis("events", Unit::PerSecond),
            series,
            marks,
        }),
    };
    Some(DocumentSection::of("timeline", Block::Chart(chart)))
}

fn incidents(story: &Story) -> Option<DocumentSection> {
    let line = |one: &::farm::Incident| {
        let chunk = one.chunk.map_or_else(String::new, |chunk| format!(", chunk {chunk}"));
        let node = if one.node.is_empty() { String::new() } else { format!(" {}", one.node) };
        format!("{:.2} s: {}{node}{chunk}: {}", one.since, one.what, one.detail)
    };
    let all = story.incidents.len();
    let mut items: Vec<String> = story.incidents.iter().take(LISTED).map(line).collect();
    if all > LISTED {
        items.push(format!("and {} more; prony farm status --json has them all", all - LISTED));
    }
    let list = Block::List { numbered: false, items };
    (all > 0)
        .then(|| DocumentSection::of("story", Block::Folded { title: format!("{all} incidents"), blocks: vec![list] }))
}

//! Whether machines are as fast as they should be: one screen for one machine, a list for a fleet.

use check::{CheckRow, CheckVerdict, FleetCheck, FleetFinding, MachineCheck};
use model::Estimate;

use crate::words::{duration, plural};
use crate::{
    Block, Cell, Column, Document, DocumentSection, EmbeddedJson, PrintedQuantity, Records, Table, TableRow, Tone,
};

/// Rows of one machine on one screen; what is in order and does not fit is counted.
const ROWS: usize = 11;
/// Findings of a fleet on one screen.
const FINDINGS: usize = 16;

/// The report of `prony check`; its JSON is the [`FleetCheck`].
#[must_use]
pub fn check(found: &FleetCheck) -> Document {
    let mut document = match found.nodes.as_slice() {
        [one] => machine(one),
        _ => fleet(found),
    };
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(records(found));
    document
}

fn machine(found: &MachineCheck) -> Document {
    let took = if found.seconds > 0.0 { format!(" ({})", duration(found.seconds)) } else { String::new() };
    let mut document = Document::new(format!("{}{took}", answer(found)));
    document.notes.push(found.summary.clone());
    let urgent = |row: &&CheckRow| !matches!(row.verdict, CheckVerdict::Ok | CheckVerdict::NoExpectation);
    let calm = found.rows.iter().filter(|row| !urgent(row)).count();
    let room = ROWS.saturating_sub(found.rows.len() - calm);
    let mut left = room;
    let shown = |row: &&CheckRow| {
        let fits = urgent(row) || left > 0;
        left = left.saturating_sub(usize::from(fits && !urgent(row)));
        fits
    };
    let rows = found.rows.iter().filter(shown).flat_map(lines).collect();
    document.add("", Block::Table(Table::plain(Column::list("|#measured|#expected|verdict"), rows)));
    if calm > room {
        document.add("", Block::Text(format!("{} more are in order or have no expectation.", calm - room)));
    }
    let look: Vec<String> = found
        .look
        .iter()
        .map(|one| format!("Worth a look: {}. {}.", one.because, crate::words::capital(&one.cure)))
        .collect();
    if !look.is_empty() {
        document.add("", Block::list(look));
    }
    document.summary.extend(first(found));
    document.summary.extend(found.hints.iter().cloned());
    document
}

/// The answer in a sentence.
fn answer(found: &MachineCheck) -> String {
    let busy = found.rows.iter().filter(|row| row.verdict == CheckVerdict::Busy).count();
    match found.low().count() {
        0 if !found.says_anything() && busy == 0 => "Nothing can be said: no result has an expectation here".to_owned(),
        0 if busy > 0 => format!("Nothing is low for sure; {} may be: the machine was busy", plural(busy, "result")),
        0 => "Nothing is low".to_owned(),
        low => plural(low, "finding"),
    }
}

/// The first thing to do, and what it may bring.
fn first(found: &MachineCheck) -> Option<String> {
    let row = found.low().find(|row| !row.causes.is_empty())?;
    let cause = row.causes.first()?;
    let gain = row.value.zip(row.expected.as_ref()).map(|(value, range)| {
        let ends = if value.value > range.high {
            [value.value / range.high, value.value / range.low]
        } else {
            [range.low / value.value, range.high / value.value]
        };
        format!(" Expected gain: {:.2}x to {:.2}x.", ends[0], ends[1])
    });
    Some(format!("First: {}.{}", cause.cure, gain.unwrap_or_default()))
}

/// One row, and for a row that is not in order a second one that says why.
fn lines(row: &CheckRow) -> Vec<TableRow> {
    let tone = match row.verdict {
        CheckVerdict::Ok => Tone::Good,
        CheckVerdict::Low | CheckVerdict::Impossible => Tone::Bad,
        CheckVerdict::Busy => Tone::Caution,
        CheckVerdict::NoExpectation => Tone::Muted,
    };
    let measured = match (&row.value, &row.metric) {
        (Some(value), Some(metric)) => Cell::Value(PrintedQuantity::of(value, metric.unit).in_metric(metric)),
        _ => Cell::text(&row.found),
    };
    let expected = match (&row.value, &row.expected, &row.metric) {
        // In the unit of the value beside it.
        (Some(value), Some(range), Some(metric)) => {
            Cell::Interval(PrintedQuantity::interval(value.value, range.low, range.high, metric.unit).in_metric(metric))
        }
        _ => Cell::text(&row.wanted),
    };
    let title = if row.value.is_some() && !row.found.is_empty() { row.found.clone() } else { row.title.clone() };
    let mut lines = vec![TableRow::of(vec![
        // Further parameters do not tell these few results apart; the data have them.
        Cell::text(title.split(", ").take(3).filter(|part| !part.ends_with("pages")).collect::<Vec<_>>().join(", ")),
        measured,
        expected,
        Cell::Text(row.verdict.word().to_owned(), tone),
    ])];
    let mut why = |text: String, tone| lines.push(TableRow::of(vec![Cell::text(""), Cell::Across(text, tone)]));
    if let [cause, rivals @ ..] = row.causes.as_slice() {
        let or = if rivals.is_empty() {
            String::new()
        } else {
            format!(" (or: {})", rivals.iter().map(|one| one.because.as_str()).collect::<Vec<_>>().join("; "))
        };
        why(format!("{}: {}{or}", cause.because, cause.cure), Tone::Strong);
    }
    if !row.note.is_empty() {
        why(row.note.clone(), Tone::Muted);
    }
    lines
}

fn fleet(found: &FleetCheck) -> Document {
    let named = match found.drain.len() {
        0 => "no node is low on its own".to_owned(),
        count => format!("{} low", plural(count, "node")),
    };
    let mut document = Document::new(format!("{}: {named}", plural(found.nodes.len(), "node")));
    let row = |finding: &FleetFinding| {
        TableRow::of(vec![
            Cell::text(&finding.node),
            Cell::text(&finding.part),
            Cell::Text(finding.says.clone(), Tone::Bad),
        ])
    };
    if !found.findings.is_empty() {
        let rows = found.findings.iter().take(FINDINGS).map(row).collect();
        document.add("", Block::table(Column::list("node|part|~finding"), rows));
    }
    if found.findings.len() > FINDINGS {
        document.add("", Block::Text(format!("{} more; --format json has all.", found.findings.len() - FINDINGS)));
    }
    let shared = found.shared.iter().map(|one| format!("{}: {}", one.part, one.says)).collect::<Vec<String>>();
    if !shared.is_empty() {
        document.sections.push(DocumentSection::of("on most nodes, so that no node is named", Block::list(shared)));
    }
    if !found.drain.is_empty() {
        document.summary.push(format!("To drain: {}", found.drain.join(",")));
    }
    document
}

fn records(found: &FleetCheck) -> Records {
    let header = "node id title value low high expected_low expected_high unit found wanted verdict p cause cure note"
        .split(' ')
        .collect();
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let of = |node: &MachineCheck, row: &CheckRow| {
        let end = |pick: fn(&Estimate) -> f64| number(row.value.as_ref().map(pick));
        let range = row.expected.as_ref();
        let cause = row.causes.first();
        vec![
            node.machine.clone(),
            row.id.clone(),
            row.title.clone(),
            end(|one| one.value),
            end(|one| one.low),
            end(|one| one.high),
            number(range.map(|range| range.low)),
            number(range.map(|range| range.high)),
            row.metric.as_ref().map_or_else(String::new, |metric| model::code(&metric.unit)),
            row.found.clone(),
            row.wanted.clone(),
            row.verdict.word().to_owned(),
            number(row.p),
            cause.map(|one| one.because.clone()).unwrap_or_default(),
            cause.map(|one| one.cure.clone()).unwrap_or_default(),
            row.note.clone(),
        ]
    };
    Records {
        header,
        rows: found.nodes.iter().flat_map(|node| node.rows.iter().map(move |row| of(node, row))).collect(),
    }
}

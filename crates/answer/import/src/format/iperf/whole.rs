//! The rows of a test that span the whole of it, by direction.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Metric, Unit};

use super::{IperfRow, IperfRun, IperfSide};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second};
use crate::text::parameter_value;

/// Which way the data of a row flow, and who counted them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct IperfFlow {
    received: bool,
    reverse: bool,
}

/// Rows that are summed by one row.
type IperfGroup<'a> = (IperfFlow, &'a str);

/// Names of the row of all streams: version 2.1 also writes `SUM-4`.
fn is_sum(row: &IperfRow) -> bool {
    row.stream.starts_with("SUM")
}

/// The rows over the whole test: of the sum of all streams where it is printed.
pub(super) fn finish(sheet: &mut SourceSheet, run: IperfRun) {
    let rows = whole(&run);
    let flows: Vec<Option<IperfFlow>> = flows(&run, &rows);
    let mut streams: HashMap<IperfGroup<'_>, usize> = HashMap::new();
    let mut summed: HashSet<IperfGroup<'_>> = HashSet::new();
    let mut own: BTreeSet<IperfFlow> = BTreeSet::new();
    for (row, flow) in rows.iter().zip(&flows) {
        let Some(flow) = *flow else { continue };
        if is_sum(row) {
            summed.insert((flow, &row.role));
        } else {
            *streams.entry((flow, &row.role)).or_default() += 1;
        }
        if row.side == IperfSide::Own {
            own.insert(flow);
        }
    }
    for (row, flow) in rows.iter().zip(&flows) {
        let Some(flow) = *flow else { continue };
        let group = (flow, row.role.as_str());
        if summed.contains(&group) && !is_sum(row) {
            continue;
        }
        let count = streams.get(&group).copied().unwrap_or(1);
        // Version 2.1 numbers the sum; below one stream alone there is none, so that the output was abridged.
        let summed = row.stream.strip_prefix("SUM-").and_then(|count| count.parse::<usize>().ok());
        let counted = match summed {
            Some(summed) => summed.to_string(),
            None if is_sum(row) && count < 2 => "unstated".to_owned(),
            None => count.to_string(),
        };
        let place = |reading: SourceReading| {
            // An excerpt may leave out what the protocol is.
            let reading = if run.protocol.is_empty() { reading } else { reading.at("protocol", run.protocol) };
            let reading = reading.at("streams", counted.clone());
            let reading = run.datagram.iter().fold(reading, |reading, size| reading.at("message", format!("{size}B")));
            let alone = is_sum(row) || count == 1;
            let reading = if alone { reading } else { reading.at("stream", parameter_value(&row.stream)) };
            let both = !row.role.is_empty() || own.len() > 1;
            let reading = if both { reading.at("bidirectional", "yes") } else { reading };
            if flow.reverse { reading.at("direction", "reverse") } else { reading }
        };
        sheet.readings.extend(readings(row, flow).into_iter().map(place));
    }
}

/// One row for each stream and side. Version 3 marks the rows of the result; in version 2 they end where the stream
/// does.
fn whole(run: &IperfRun) -> Vec<&IperfRow> {
    type Key<'a> = (&'a str, bool, &'a str, IperfSide);
    let key = |row: &'_ IperfRow| -> (String, bool, String, IperfSide) {
        (row.stream.clone(), row.starred, row.role.clone(), row.side)
    };
    let marked = run.rows.iter().any(|row| matches!(row.side, IperfSide::Sender | IperfSide::Receiver));
    let mut longest: HashMap<(String, bool, String, IperfSide), f64> = HashMap::new();
    for row in &run.rows {
        let end = longest.entry(key(row)).or_default();
        *end = end.max(row.end);
    }
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    let mut kept = Vec::new();
    for row in run.rows.iter().filter(|row| row.start < 0.01) {
        let result = match row.side {
            IperfSide::Sender | IperfSide::Receiver => true,
            _ => !marked && longest.get(&key(row)).is_some_and(|longest| row.end > 0.9 * longest),
        };
        if result && seen.insert((&row.stream, row.starred, &row.role, row.side)) {
            kept.push(row);
        }
    }
    kept
}

/// The flow of each row; none of a sum over both directions, which is the rate of neither.
fn flows(run: &IperfRun, rows: &[&IperfRow]) -> Vec<Option<IperfFlow>> {
    let connections: HashMap<&str, _> =
        run.connections.iter().map(|connection| (connection.stream.as_str(), connection)).collect();
    let listens = !run.connections.is_empty() && run.connections.iter().all(|connection| connection.accepted);
    let flow = |row: &IperfRow| match row.side {
        IperfSide::Sender | IperfSide::Receiver => {
            IperfFlow { received: row.side == IperfSide::Receiver, reverse: run.reverse || row.role.starts_with("RX") }
        }
        IperfSide::Reported => IperfFlow { received: true, reverse: false },
        // The result of datagrams in version 3 before 3.7 states what the other side sent, and what of it was lost.
        IperfSide::Own if run.reverse => IperfFlow { received: run.protocol != "udp", reverse: true },
        IperfSide::Own => {
            let connection = connections.get(row.stream.as_str());
            let accepted = connection.map_or(listens, |connection| connection.accepted);
            let reverse = row.starred || connection.is_some_and(|connection| connection.reverse);
            // The side that opened a connection sends, unless the data flow against it.
            IperfFlow { received: accepted != reverse, reverse }
        }
    };
    let parts = rows.iter().filter(|row| row.side == IperfSide::Own && !is_sum(row));
    let parts: BTreeSet<IperfFlow> = parts.map(|row| flow(row)).collect();
    let of = |row: &&IperfRow| match (row.side, parts.len()) {
        (IperfSide::Own, 1) if is_sum(row) => parts.first().copied(),
        (IperfSide::Own, 2..) if is_sum(row) => None,
        _ => Some(flow(row)),
    };
    rows.iter().map(of).collect()
}

fn readings(row: &IperfRow, flow: IperfFlow) -> Vec<SourceReading> {
    let name = if flow.received { "received" } else { "sent" };
    let id = format!("iperf.{name}");
    let mut readings = vec![SourceReading::new(id, name, row.bytes_per_second, bytes_per_second("bytes"))];
    let lower = |id: &str, value: f64, unit: Unit, per: &'static str| {
        SourceReading::new(id, id, value, Metric::lower(unit, per))
    };
    readings.extend(row.retransmits.map(|count| lower("iperf.retransmits", count, Unit::Count, "segments")));
    // The sender of datagrams does not know what arrived; a result without a side is of both.
    if row.side == IperfSide::Sender {
        return readings;
    }
    if let Some((text, jitter)) = row.jitter.as_ref().and_then(|text| Some((text, text.parse::<f64>().ok()?))) {
        let reading = lower("iperf.jitter", jitter * 1e-3, Unit::Seconds, "packet");
        readings.push(reading.printed_in(text, 1e-3));
    }
    readings.extend(row.lost.map(|share| lower("iperf.lost", share, Unit::Ratio, "packets")));
    readings
}

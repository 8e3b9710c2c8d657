//! pgbench: transactions a second and their latency.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, seconds};
use crate::text::{SourceFault, axis_value, lines, need, shown};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "pgbench",
    tool: "pgbench",
    about: "transactions a second without the time to connect, and mean latency; its deviation is of single transactions \
            and so a note",
    by_lines: true,
    detect: |head| sure(head, &["number of transactions actually processed", "tps = "]),
    parse,
};

/// Settings that define the figure.
const SETTINGS: [(&str, &str); 6] = [
    ("transaction type:", "type"),
    ("scaling factor:", "scale"),
    ("query mode:", "mode"),
    ("number of clients:", "clients"),
    ("number of threads:", "threads"),
    ("maximum number of tries:", "tries"),
];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut axes: Vec<(&str, String)> = Vec::new();
    let mut open = None;
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(version) = line.strip_prefix("pgbench (") {
            sheet.version = version.split([' ', ')']).next().map(str::to_owned);
        } else if let Some((name, axis, value)) =
            SETTINGS.iter().find_map(|(name, axis)| Some((*name, *axis, line.strip_prefix(name)?)))
        {
            if name == "transaction type:" {
                sheet.begin_process();
                axes.clear();
                if let Some(place) = open.replace(at) {
                    return Err(SourceFault::new("the run that begins here has no rate", place));
                }
            }
            if axis != "tries" {
                axes.push((axis, axis_value(value)));
            }
        } else if let Some(rest) = line.strip_prefix("latency average").or_else(|| line.strip_prefix("latency stddev"))
        {
            let deviation = line.starts_with("latency stddev");
            let (value, unit) = rest.trim_start_matches([' ', '=', ':']).split_once(' ').unwrap_or((rest, ""));
            if !unit.starts_with("ms") {
                return Err(SourceFault::new(format!("the unit '{}' of the latency is not known", shown(unit)), at));
            }
            if deviation {
                if let Some(last) = sheet.readings.last_mut() {
                    last.notes.push(format!("standard deviation of single transactions {} ms", need(value, at)?));
                }
            } else {
                let value_seconds = need(value, at)? * 1e-3;
                let reading =
                    SourceReading::new("pgbench.latency", "Mean latency", value_seconds, seconds("transaction"));
                sheet.readings.push(placed(reading.printed_in(value, 1e-3), &axes));
            }
        } else if let Some(rest) = line.strip_prefix("tps =") {
            let (value, which) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
            // The rate that includes connecting is printed besides by older versions.
            if !which.starts_with("(including") {
                let reading =
                    SourceReading::new("pgbench.transactions", "Transactions", need(value, at)?, rate("transactions"));
                sheet.readings.push(placed(reading.printed_in(value, 1.0), &axes));
                open = None;
            }
        } else if !is_detail(line) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no rate", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Counts behind the rate, progress during the run, and the scripts' statements.
fn is_detail(line: &str) -> bool {
    let begins = [
        "progress:",
        "duration:",
        "number of transactions",
        "number of failed",
        "initial connection time",
        "average connection time",
        "starting vacuum",
        "statement latencies",
        "SQL script",
        " - ",
    ];
    begins.iter().any(|begin| line.starts_with(begin))
}

fn placed(reading: SourceReading, axes: &[(&str, String)]) -> SourceReading {
    axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}
